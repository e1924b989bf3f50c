"""Makes characters visible that show nothing: they may steer a terminal, or change how other text is shown.

Every text of others goes through `visible` before a person sees it: names of files, code, answers of models,
messages of servers. For stdout and stderr `codeaudit.cli.streams` does that, whoever writes.
"""

import re
import unicodedata
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that show nothing and may change how other text is shown."""
_HIDDEN: Final = re.compile(r"\r(?!\n)|[^\t\n\f\r\x20-\x7e]")


def visible(text: str) -> str:
    r"""Write control characters, marks of direction and lone surrogates of a text as `\x1b` or `\u202e`.

    Ends of lines, tabs and form feeds stay, so that the diff of an ordinary source can be applied.
    """
    if text.isprintable():
        return text
    return _HIDDEN.sub(lambda found: _escaped(found[0]), text)


def _escaped(letter: str) -> str:
    hidden = unicodedata.category(letter) in _UNSEEN
    return letter.encode("unicode_escape").decode("ascii") if hidden else letter
