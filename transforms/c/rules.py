"""The strategies that C shares with other languages, and its own, as transforms of C."""

from functools import cache

from codeaudit.transforms.c.rewriting import CRewriting


@cache
def __getattr__(name: str) -> CRewriting:
    """The strategy of this name as a transform of C, such as `rules.DE_MORGAN`.

    Raises:
        AttributeError: there is no such strategy.
    """
    return CRewriting.named(name, "codeaudit.transforms.c.spellings")
