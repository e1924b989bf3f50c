"""The record of TypeScript, with TSX: the transforms of JavaScript, which read and write TypeScript here.

`__getattr__` gives each transform by its name in JavaScript's modules.
"""

from dataclasses import replace
from functools import cache
from typing import Any, Final

from codeaudit.transforms.javascript import language
from codeaudit.transforms.language import TransformFamily

_TYPED: Final = {
    "total(prices, tax)": "total(prices: number[], tax: number): { result: number; count: number }",
    "spread(first, last)": "spread(first: unknown, last: string): { text: string }",
    "area(width)": "area(width: number): number",
    "span(first, last)": "span(first: number, last: number): number",
    "clamp(value, low, high)": "clamp(value: number, low: number, high: number): number",
    "grade(value, limit)": "grade(value: number, limit: number): number",
    "sum(value, limit)": "sum(value: number, limit: number): number",
    "measure(value, limit)": "measure(value: number, limit: number): unknown",
    "rest(value, limit)": "rest(value: number, limit: number): number",
    "middle(values, name)": "middle(values: number[], name: string): number | string",
    "above(values, least)": "above(values: number[], least: number): number",
}
"""The heads of the examples, as people write them in TypeScript."""
_NAMED: Final = "JavaScript"


def _typed(example: str) -> str:
    for head, typed in _TYPED.items():
        example = example.replace(head, typed)
    return example


def _family(of: TransformFamily) -> TransformFamily:
    rows = {
        name: replace(
            entry, target=f"{__name__}:{entry.target.partition(':')[2]}", example=_typed(entry.example)
        )
        for name, entry in of.transforms.items()
    }
    return TransformFamily(of.name, of.summary.replace(_NAMED, "TypeScript"), rows)


TYPESCRIPT: Final = replace(
    language.JAVASCRIPT,
    name="typescript",
    title="TypeScript",
    statements="codeaudit.transforms.javascript.parsing:statements_of_typescript",
    fence="ts",
    example="function f(a: number, b: number): number {\n    let c = a + b;\n    b += c;\n    return b;\n}\n",
    families=tuple(_family(family) for family in language.JAVASCRIPT.families),
    parse="codeaudit.transforms.javascript.parsing:read_typescript",
    canonical="codeaudit.transforms.javascript.canonical:canonicalise_typescript",
    function_context="codeaudit.transforms.javascript.files:function_context_of_typescript",
    obstacle_in_file="codeaudit.transforms.javascript.files:obstacle_in_typescript",
    endings=(".ts", ".tsx", ".mts", ".cts"),
    files="codeaudit.transforms.javascript.files:TYPESCRIPT_FILES",
)
"""TypeScript: its types stay, and what they do not make certain keeps its name."""


@cache
def __getattr__(name: str) -> Any:
    """A transform of JavaScript, for TypeScript.

    Raises:
        AttributeError: JavaScript has none of this name.
    """
    from codeaudit.transforms.javascript import rules
    from codeaudit.transforms.javascript.identifiers import merging, rename
    from codeaudit.transforms.javascript.order import reorder

    for module in (rules, rename, merging, reorder):
        value: Any = getattr(module, name, None)
        if hasattr(value, "languages"):
            return replace(value, language=TYPESCRIPT.name, languages=frozenset({TYPESCRIPT.name}))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
