"""Random functions, renamed in every way and run in node before and after, strict and not."""

from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.javascript.identifiers.merging import RENAME_MERGING
from codeaudit.transforms.javascript.identifiers.rename import (
    RENAME_CANONICAL,
    RENAME_PARAMETERS,
    RENAME_SHUFFLE,
    JavaScriptRename,
)
from tests.support.javascript_running import needs_node, outputs
from tests.transforms.javascript.random_programs import program

SHUFFLE_ALL = JavaScriptRename(name="rename-shuffle", strategy="shuffle", parameters=True)
TRANSFORMS = (RENAME_PARAMETERS, RENAME_SHUFFLE, RENAME_CANONICAL, SHUFFLE_ALL)


def _pairs(seeds: range) -> list[tuple[str, str]]:
    pairs = []
    for seed in seeds:
        source, calls = program(seed)
        for transform in TRANSFORMS:
            moves = transform.propose(source, Random(seed))
            if isinstance(moves, Refused):
                continue
            made = {transform.apply(source, some) for some in (moves, moves[:1], moves[1::2]) if some}
            texts = {edit.source for edit in made if isinstance(edit, Rewritten)} - {source}
            mode = '"use strict";\n' if seed % 2 else ""
            pairs += [(f"{mode}{source}\n{calls}", f"{mode}{text}\n{calls}") for text in texts]
    return pairs


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize(
    "seeds", [range(30), pytest.param(range(60, 360), marks=pytest.mark.weekly)], ids=["few", "many"]
)
def test_random_functions_do_what_they_did(seeds: range) -> None:
    pairs = _pairs(seeds)
    printed = outputs([text for pair in pairs for text in pair])
    ran = 0
    for (before, after), one, other in zip(pairs, printed[::2], printed[1::2], strict=True):
        assert one == other, f"{before}\n----\n{after}"
        ran += len(one) > 5
    assert len(pairs) > 4 * len(seeds)
    assert ran > len(pairs) / 3


MERGED = (
    "function f(a) { let b = a + 1; let c = b * 2; return b + c; } print(f(1), f(2));",
    "function f(low, high) { var x = low; var y = high; g(x, y); return y - x; } function g() {} print(f(1, 5));",
    "function f(list) { let sum = 0; let last = 1; for (const one of list) { sum += one; } return [sum, last]; } "
    "print(f([2, 3]));",
)


@needs_node
def test_a_merge_changes_what_a_function_does() -> None:
    pairs = []
    for text in MERGED:
        end = text.index("} ", text.rindex("return")) + 1
        source, behind = text[:end], text[end:]
        moves = RENAME_MERGING.propose(source, Random(0))
        assert not isinstance(moves, Refused)
        rewritten = RENAME_MERGING.apply(source, moves)
        assert isinstance(rewritten, Rewritten)
        pairs += [text, rewritten.source + behind]
    printed = outputs(pairs)
    assert all(before != after for before, after in zip(printed[::2], printed[1::2], strict=True))


@pytest.mark.parametrize(
    "source",
    [
        "function f() { const b = 1; const c = 2; return b + c; }",
        "function f(o) { let b = 1; let c = 2; return { b, c }; }",
        "function f() { var b = 1; var c = 2; var b = 3; var c = 4; return b + c; }",
        "function f(a) { let b = a; return () => b; }",
        "function f(a) { let b = 1; return eval(a); }",
    ],
)
def test_what_cannot_be_merged(source: str) -> None:
    assert isinstance(RENAME_MERGING.propose(source, Random(0)), Refused)
