r"""Shows control characters, marks of direction and lone surrogates as escapes: `\x1b`, `\u202e`, `\ud800`.

Sources, names and answers are somebody else's. Such a character can control a terminal, turn text around, end
a row of a table, or hide code. Every report format shows it in the same way.
"""

import json
import re
import unicodedata
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that show nothing and may change how other text is shown."""
_IN_TEXT: Final = re.compile(r"\r(?!\n)|[^\t\n\f\r\x20-\x7e]")
_IN_LINE: Final = re.compile(r"[^\x20-\x7e]")


def visible(text: str) -> str:
    """A text of several lines with escapes.

    Ends of lines, tabs and form feeds stay, so that the diff of an ordinary source can be applied.
    """
    return text if text.isprintable() else _IN_TEXT.sub(_escaped, text)


def plain(text: str) -> str:
    """A text on one line, such as a name, with escapes; ends of lines and tabs are escaped, too."""
    return text if text.isprintable() else _IN_LINE.sub(_escaped, text)


def in_json(text: str) -> str:
    """A text of JSON with escapes of JSON: its values stay the same."""
    # Below U+007F a writer of JSON escapes them all, and only texts in quotes hold other ones.
    return _IN_TEXT.sub(lambda found: json.dumps(found[0])[1:-1] if _is_hidden(found[0]) else found[0], text)


def _escaped(found: re.Match[str]) -> str:
    letter = found[0]
    return letter.encode("unicode_escape").decode("ascii") if _is_hidden(letter) else letter


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in _UNSEEN
