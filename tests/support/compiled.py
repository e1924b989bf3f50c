"""Texts of Python that run many times."""

from functools import lru_cache
from types import CodeType


@lru_cache(maxsize=64)
def compiled(source: str) -> CodeType:
    """The code of a text, without the `__future__` of any module of the tests.

    Raises:
        SyntaxError: the text is not Python.
    """
    return compile(source, "<text>", "exec", dont_inherit=True)
