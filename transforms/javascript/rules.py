"""JavaScript's transforms that follow a strategy, by the name of the strategy; the families list them."""

from dataclasses import replace
from functools import cache
from typing import Final

from codeaudit.transforms.javascript.rewriting import JavaScriptRewriting, JavaScriptWords

PROSE_CASE: Final = JavaScriptWords(name="prose-case")
PROSE_SPACING: Final = JavaScriptWords(name="prose-spacing")
PROSE_TYPOS: Final = JavaScriptWords(name="prose-typos")
PROSE_PARAPHRASE: Final = JavaScriptWords(name="prose-paraphrase")

_MOVING: Final = ("RETURN_TO_ELSE", "ELSE_TO_RETURN")
"""They move statements into another block, where a name may mean another variable."""


@cache
def _rule(name: str) -> JavaScriptRewriting:
    rule = JavaScriptRewriting.named(name, "codeaudit.transforms.javascript.spellings")
    return replace(rule, same_names=True) if name in _MOVING else rule


def __getattr__(name: str) -> JavaScriptRewriting:
    """The strategy of this name as a transform of JavaScript, such as `rules.DE_MORGAN`.

    Raises:
        AttributeError: there is no such strategy.
    """
    return _rule(name)
