"""What to do when the reader of stdout has gone. Needs no other package."""

import os


def silence_stdout() -> None:
    """Redirect stdout to nothing, because the interpreter's last flush would fail on a closed pipe."""
    # The descriptor and not `sys.stdout`: what is still in a buffer is flushed into it at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
