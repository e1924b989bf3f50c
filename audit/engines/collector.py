"""How often Python looks for garbage in a process of ours."""

import gc


def collect_rarely() -> None:
    """Look for cycles of garbage after 50,000 new objects instead of 700. Only for processes that we start.

    The syntax trees of a file are many objects without cycles. They are freed without a search, and searching
    through them over and over took a fifth of the time of a suite.
    """
    gc.set_threshold(50_000, 20, 50)
