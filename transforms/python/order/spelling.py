"""Texts that spell one name in two ways.

Inside `class C`, the compiler takes `__x` for `_C__x`, so that `self.__x = 1` and `self._C__x = 2` bind one
attribute. The rules of this family compare names as they are spelled.
"""

import re
from collections.abc import Iterator
from functools import lru_cache, wraps
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site
from codeaudit.transforms.python.parsing import normalised
from codeaudit.transforms.python.rewriting import Finder
from codeaudit.transforms.python.source import PythonSource

TWO_SPELLINGS: Final = "a private name is spelled in two ways"
_PRIVATE: Final = re.compile(r"\b_\w*")


@lru_cache(maxsize=4)
def spells_twice(text: str) -> bool:
    """Whether a text may spell one name in two ways: inside `class C`, `__x` means `_C__x`.

    Any word counts, also in strings: `getattr(self, "_C__x")`.
    """
    words = set(_PRIVATE.findall(normalised(text)))
    hidden = tuple(word for word in words if word.startswith("__") and not word.endswith("__"))
    return any(word.endswith(hidden) and not word.startswith("__") for word in words)


def spelled_once(find: Finder) -> Finder:
    """The same `find`, which refuses its sites in a text that may spell one name in two ways."""

    @wraps(find)
    def checked(code: PythonSource) -> Iterator[Site | Refused]:
        for site in find(code):
            twice = isinstance(site, Site) and spells_twice(code.text)
            yield Refused(TWO_SPELLINGS) if twice else site

    return checked
