"""What the analysis says of types under operators, compared with what the interpreter does.

The tables `PLAIN`, `KNOWN`, `SEQUENCES`, `CONTAINERS` and `NUMBERS` of `knowledge` declare types. What they
declare is used wherever an operator, a comparison, an index, a test, a format, a loop or a store meets a value of
such a type, with a value of any type on the other side. Each of these forms runs with each type on each side.
"""

import gc
import itertools
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from random import Random
from typing import Final

import pytest

from codeaudit.transforms.dependence.effects import ACTS
from codeaudit.transforms.python.analysis import comparisons, expressions, knowledge
from tests.transforms.python.analysis.beliefs import (
    ANY,
    INTS,
    NAMES,
    Maker,
    believed_of,
    compiled_of,
    named,
    observed,
    shown,
    unclaimed,
)

TYPED: Final = ("i", "f", "k", "u", "o", "z", "p", "r", "g", "xs", "ys", "d", "h", "e", "s", "t")
"""Variables whose type the analysis knows."""
ANNOTATED: Final = ("n", "m", "w", "v", "y", "more", "kw")
LITERALS: Final = (
    "0",
    "2",
    "-1",
    "1.5",
    "True",
    "'ab'",
    "'%s'",
    "'%d %s'",
    "b'%s'",
    "None",
    "(1, 'a')",
    "[1]",
    "{1, 'k'}",
    "{'k': 1}",
    "...",
)
KNOWN: Final = (*TYPED, *ANNOTATED, *LITERALS)

BINARY: Final = ("+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^")
COMPARED: Final = ("==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in")
ONE: Final[dict[str, str]] = {
    "negative": "result = -{}", "positive": "result = +{}", "inverted": "result = ~{}", "not": "result = not {}",
    "text": "result = f'{{{}}}'", "text with more": "result = f'x{{{}}}'", "repr": "result = f'{{{}!r}}'",
    "wide text": "result = f'x{{{}:>5}}'", "number as text": "result = f'{{{}:d}}'", "percent": "result = '%s' % {}",
    "percent of a tuple": "result = '%s-%d' % ({}, 1)", "percent of two": "result = '%s-%d' % {}", "number in percent": "result = '%d' % {}",
    "and": "result = {} and 1", "or": "result = {} or 'x'", "choice": "result = 1 if {} else 2", "if": "if {}:\n    pass",
    "while": "while not {}:\n    break", "assert": "assert {}", "in a list": "result = [{}]", "in a set": "result = {{{}}}",
    "a key": "result = {{{}: 1}}", "a key and more": "result = {{1: 2, {}: 1}}", "spread": "result = [*{}]", "spread into a tuple": "result = (*{}, 1)", "spread into a set": "result = {{*{}}}",
    "spread into a dict": "result = {{**{}}}", "comprehension": "result = [j for j in {}]", "set comprehension": "result = {{j for j in {}}}",
    "pairs of a comprehension": "result = [j for j, l in {}]", "filtered": "result = [1 for j in [1, 2] if {}]",
    "loop": "for j in {}:\n    pass", "loop over pairs": "for j, l in {}:\n    pass",
    "unpacked": "j, l = {}", "unpacked with a rest": "j, *l = {}", "unpacked from a list": "[j] = {}",
    "item": "result = {}[0]", "last item": "result = {}[-1]", "key": "result = {}['k']", "slice": "result = {}[1:]", "steps": "result = {}[::-1]", "no steps": "result = {}[::2]",
    "index": "result = 'ab'[{}]", "index of a list": "result = xs[{}]", "index of a dict": "result = d[{}]", "index of a tuple": "result = p[{}]", "bound": "result = 'ab'[{}:]", "bound of a list": "result = xs[:{}]",
    "step": "result = 'ab'[::{}]", "store": "{}[0] = a", "store at": "xs[{}] = 1", "store in a dict": "d[{}] = 1", "store in another dict": "e[{}] = 1",
    "slice stored": "xs[1:] = {}", "stored slice": "{}[:1] = [1]", "deletion": "del {}[0]", "deletion at": "del xs[{}]", "deletion of a key": "del d[{}]",
    "walrus": "result = (j := {})", "between": "result = 0 < {} < 3", "text between": "result = 'a' <= {} <= 'b'", "match": "match {}:\n    case 1 | 'ab':\n        pass", "match of a sequence": "match {}:\n    case [j, l]:\n        pass",
    "match of a mapping": "match {}:\n    case {{'k': j}}:\n        pass", "match of a class": "match {}:\n    case int(j):\n        pass",
    "with": "with {}:\n    pass", "lambda": "result = lambda j={}: j", "decimals": "result = f'{{1.5:{{{}}}}}'",
    "added to itself": "{0} += {0}",
}  # fmt: skip
"""Statements with one operand."""
TWO: Final[dict[str, str]] = (
    {op: f"result = {{}} {op} {{}}" for op in (*BINARY, *COMPARED)}
    | {f"{op}=": f"{{}} {op}= {{}}" for op in BINARY}
    | {
        "item of": "result = {}[{}]", "slice of": "result = {}[{}:]", "slices by": "result = {}[::{}]", "store of": "{}[{}] = 1", "deletion of": "del {}[{}]",
        "chain": "result = {} < 2 < {}", "either": "result = {} if 1 else {}", "and then": "result = {} and {}", "wide": "result = f'{{{}:{{{}}}}}'",
        "keys": "result = {{{}: 1, {}: 2}}", "items": "result = {{{}, {}}}", "percents": "result = {} % ({}, 1)",
    }
)  # fmt: skip
"""Statements with two operands."""
MANY: Final = 150
"""From this number of pairs of values on, a statement runs with a random third of its pairs."""
ENDLESS: Final = {"**", "**="}
"""Operators that compute for hours with huge numbers."""
UNKNOWN: Final = frozenset({"a", "b", *ANNOTATED})
"""Variables whose type the analysis does not know."""
OTHER_OPERAND: Final = frozenset(
    {"__index__", "__int__", "__float__", "__complex__", "keys", "as_integer_ratio"}
)
"""What the class of an operand of unknown type may ask the other operand for, by assumption 1."""


def forms(name: str) -> Iterator[str]:
    """The statements of one form. Where it has two operands: all pairs of variables, and a random fifth of the pairs
    with a literal, which is one more value of a type that a variable has.
    """
    if name in ONE:
        for operand in (*KNOWN, "a"):
            yield ONE[name].format(operand)
        return
    pairs = list(itertools.product((*KNOWN, "a"), (*TYPED, *LITERALS, "n", "w", "a")))
    fixed = [pair for pair in pairs if not {*LITERALS}.isdisjoint(pair)]
    left_out = {*fixed} - {*Random(name).sample(fixed, len(fixed) // 5)}
    for left, right in pairs:
        if (left, right) not in left_out:
            yield TWO[name].format(left, right if (left, right) != ("a", "a") else "b")


def values(form: str, names: Sequence[str]) -> Iterator[Sequence[Maker]]:
    """Values for the variables of a statement."""
    left_out = INTS[3:] if form in ENDLESS else []
    few = {1: 1000, 2: 14, 3: 5}.get(len(names), 3)
    kept = [[maker for maker in NAMES[name].values if maker not in left_out] for name in names]
    # Where one side is known, everything stands on the other side.
    most = [len(operands) if operands[0] is ANY[0] and len(names) == 2 else few for operands in kept]
    every = list(itertools.product(*(operands[:count] for operands, count in zip(kept, most, strict=True))))
    yield from every if len(every) < MANY else Random(form).sample(every, len(every) // 3)


def mistakes(form: str, statement: str) -> Iterator[str]:
    """What one statement does and the analysis does not say."""
    try:
        code = compiled_of(statement)
    except SyntaxError:
        return
    belief = believed_of(statement)
    if belief.flags & ACTS and belief.kind is None and not belief.owned:
        return
    names = named(statement)
    # The left operand of `%` decides alone what becomes of the right one.
    deciding = names[:1] if form == "%" else names
    excused = OTHER_OPERAND if form in TWO and UNKNOWN.issuperset(deciding) else frozenset[str]()
    for makers in values(form, names):
        for seen in observed(code, names, makers, belief):
            for mistake in unclaimed(form, belief, seen, excused):
                inputs = ", ".join(
                    f"{name} = {shown(make())}" for name, make in zip(names, makers, strict=True)
                )
                yield f"{statement!r}: {mistake}  [{inputs}]"
                return


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.thinned(1)
@pytest.mark.parametrize("form", [*ONE, *TWO])
def test_what_is_seen_is_declared(form: str) -> None:
    faults = [mistake for statement in forms(form) for mistake in mistakes(form, statement)]
    assert not faults, "\n".join(faults[:40])


@pytest.mark.parametrize(
    ("table", "kind", "form"),
    [
        ("PLAIN", "tuple", "=="), ("PLAIN", "tuple", "in a set"), ("PLAIN", "list", "a key"), ("PLAIN", "dict", "text"),
        ("NUMBERS", "str", "+"), ("NUMBERS", "none", "negative"), ("SEQUENCES", "function", "loop"), ("SEQUENCES", "dict", "slice"),
    ],
)  # fmt: skip
def test_a_table_that_declares_too_much_fails(
    monkeypatch: pytest.MonkeyPatch, table: str, kind: str, form: str
) -> None:
    """The probe notices a type that does not belong into a table."""
    declared = getattr(knowledge, table) | {kind}
    monkeypatch.setattr(expressions, table, declared)
    monkeypatch.setattr(comparisons, table, declared, raising=False)
    assert any(mistake for statement in forms(form) for mistake in mistakes(form, statement))


def test_plain_values_hold_no_references() -> None:
    for name in ("i", "f", "k", "u", "o", "z"):
        assert not any(gc.get_referents(make()) for make in NAMES[name].values)


@pytest.mark.parametrize("name", ["k", "u", "p", "r"])
def test_sequences_never_change(name: str) -> None:
    """No method of the types in `SEQUENCES` changes the value that it is called on."""
    for make in NAMES[name].values:
        value = make()
        before = [id(item) for item in value] if isinstance(value, tuple) else repr(value)
        for method in dir(value):
            for arguments in ((), (1,), (value,), (0, 1)):
                with suppress(Exception):
                    getattr(value, method)(*arguments)
        assert before == ([id(item) for item in value] if isinstance(value, tuple) else repr(value))


def test_every_type_is_probed() -> None:
    kinds = {believed_of(f"result = {name}").kind for name in TYPED} | {"ellipsis"}
    assert kinds == knowledge.KNOWN >= {*knowledge.PLAIN, *knowledge.CONTAINERS, *knowledge.SEQUENCES}
    assert knowledge.PLAIN >= knowledge.NUMBERS
