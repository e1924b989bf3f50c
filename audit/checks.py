"""Checks of values that were read from files: each has the type and the range that its field promises.

Files of a run, a cache and a checkpoint may have been edited or damaged. Every reader checks what it reads
where it reads it, so that the rest of the program may trust its values.
"""

import gzip
import json
import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, Final

DAMAGED: Final = (
    KeyError,
    TypeError,
    ValueError,
    ArithmeticError,
    AttributeError,
    RecursionError,
    IndexError,
)
"""What reading a value of another shape raises; a reader turns it into an error that names the file."""


def what_is_damaged(error: BaseException) -> str:
    """What an error says of the file that raised it, on one line and without values of Python."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not {error.encoding.upper()}"
    if isinstance(error, gzip.BadGzipFile):
        return "it is not a gzip file"
    return " ".join(str(error).split())


SMALLEST_WHOLE, LARGEST_WHOLE = -(2**63), 2**63 - 1


def is_text(value: object) -> bool:
    """Whether a value is a text that a file can hold: one without half of a surrogate pair."""
    return isinstance(value, str) and (
        value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
    )


def is_whole(value: object) -> bool:
    """Whether a value is a whole number of 64 bits; `True` is none."""
    return isinstance(value, int) and not isinstance(value, bool) and SMALLEST_WHOLE <= value <= LARGEST_WHOLE


def is_number(value: object) -> bool:
    """Whether a value is a finite number; `True` is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False


def finite(value: object) -> float | None:
    """A number, or the text of one, as a float; `None` if it is none, not finite or beyond every float."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


KINDS: Final[Mapping[str, tuple[str, Callable[[object], bool]]]] = {
    "string": ("a text", is_text),
    "int64": ("a whole number", is_whole),
    "float64": ("a number", is_number),
    "bool": ("true or false", lambda value: isinstance(value, bool)),
}
"""By the type of a column: in words, and the check."""


def shown(value: object) -> str:
    """A value in a few words, for a message."""
    try:
        text = json.dumps(value)
    except (ValueError, TypeError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"


def load_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    try:
        # Some editors mark the encoding of a file; of bytes the library takes the mark away itself.
        return json.loads(text.removeprefix("\ufeff") if isinstance(text, str) else text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
