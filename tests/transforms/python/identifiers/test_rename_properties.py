"""What holds for every function: shown on the standard library and by running programs."""

import ast
import dis
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from types import CodeType
from typing import Any, get_args

import pytest

from codeaudit.transforms.interface import Refused, Rewritten, Transform
from codeaudit.transforms.naming import Strategy
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.python.analysis.scopes import resolve
from codeaudit.transforms.python.identifiers.definitions import RENAME_INNER_FUNCTIONS
from codeaudit.transforms.python.identifiers.merging import RENAME_MERGING
from codeaudit.transforms.python.identifiers.rename import RENAME, RENAME_PARAMETERS, PythonRename, collides
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.renaming import COLLISION
from tests.support.pure_functions import PROGRAMS, Program
from tests.support.stdlib import sample

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
TRANSFORMS = [replace(base, strategy=name) for base in (RENAME, RENAME_PARAMETERS) for name in STRATEGIES]
LOCAL = {"import alias", "except", "capture", "comprehension", "walrus", "local"}


def label(transform: PythonRename) -> str:
    return f"{transform.name}-{transform.strategy}"


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("transform", TRANSFORMS, ids=label)
def test_whatever_is_proposed_for_the_standard_library_applies(transform: PythonRename) -> None:
    outcomes: Counter[bool] = Counter()
    for number, source in enumerate(sample(300)):
        moves = transform.propose(source, Random(number))
        outcomes[isinstance(moves, Refused)] += 1
        if isinstance(moves, Refused):
            continue
        rewritten = transform.apply(source, moves)
        assert isinstance(rewritten, Rewritten), (rewritten, source)
        assert rewritten.evidence in {"analysis", "compiled"}
        assert rewritten.source != source
        assert len(ast.dump(ast.parse(rewritten.source))) > 0
        outside_names_nothing_changed(source, rewritten.source)
    assert outcomes[False] > 80


def outside_names_nothing_changed(before: str, after: str) -> None:
    old, new = resolve(before), resolve(after)
    assert gaps(old.source, places(before)) == gaps(new.source, places(after))


def places(source: str) -> list[tuple[int, int]]:
    occurrences = [place for binding in resolve(source).bindings for place in binding.occurrences]
    return sorted((place.start, place.end) for place in occurrences)


def gaps(source: bytes, spans: list[tuple[int, int]]) -> list[bytes]:
    ends = [0, *(end for _, end in spans)]
    return [source[end:start] for end, (start, _) in zip(ends, [*spans, (len(source), 0)], strict=True)]


@pytest.mark.weekly
@pytest.mark.thinned(1)
@pytest.mark.parametrize("transform", [RENAME, RENAME_PARAMETERS], ids=label)
def test_the_bytecode_is_the_same_but_for_names(transform: PythonRename) -> None:
    compared = 0
    for number, source in enumerate(sample(500)):
        moves = transform.propose(source, Random(number))
        before = compiled(source)
        if isinstance(moves, Refused) or before is None:
            continue
        rewritten = transform.apply(source, moves)
        assert isinstance(rewritten, Rewritten)
        after = compiled(rewritten.source)
        assert after is not None
        new_to_old: dict[object, str] = {move.value: move.note.partition(" -> ")[0] for move in moves}
        assert instructions(before, {}) == instructions(after, new_to_old), source
        compared += 1
    assert compared > 100


def compiled(source: str) -> CodeType | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            for node in ast.walk(tree):
                if isinstance(node, ast.arg):  # `__annotations__` holds parameters' names as text
                    node.annotation = None
            return compile(tree, "<unit>", "exec", dont_inherit=True)
    except SyntaxError:  # a nonlocal of the text around
        return None


def instructions(code: CodeType, names: dict[object, str]) -> list[object]:
    """Every instruction with its argument by value; runs over cells are in no order, as `__closure__` is."""
    parts: list[object] = []
    cells: list[str] = []
    free = {names.get(name, name) for name in code.co_cellvars + code.co_freevars}
    for operation, held, is_variable in single_instructions(code):
        name = names.get(held, held) if is_variable else held
        if name in free and operation in {"MAKE_CELL", "LOAD_CLOSURE", "LOAD_FAST"}:
            cells.append(str(name))
            continue
        parts += sorted(cells)
        cells = []
        parts.append((operation, instructions(held, names) if isinstance(held, CodeType) else name))
    return parts


def single_instructions(code: CodeType) -> Iterator[tuple[str, Any, bool]]:
    """Instructions without what depends on the places of names: jumps' goals and pairs made one."""
    for instruction in dis.get_instructions(code):
        if instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
            yield instruction.opname, None, False
        elif (
            instruction.opcode in dis.haslocal
            or instruction.opcode in dis.hasfree
            or instruction.opname == "MAKE_CELL"
        ):
            held = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
            parts = instruction.opname.removesuffix("_CHECK").removesuffix("_AND_CLEAR").split("_")
            for place, name in enumerate(held):
                yield "_".join(parts[2 * place : 2 * place + 2]), name, True
        else:
            yield instruction.opname, instruction.argval, False


def test_parts_of_a_proposal_apply_or_collide_and_nothing_else() -> None:
    applied: Counter[str] = Counter()
    for number, source in enumerate(sample(250)):
        rng = Random(number)
        for strategy in ("shuffle", "natural"):
            transform = replace(RENAME_PARAMETERS, strategy=strategy)
            moves = transform.propose(source, rng)
            if isinstance(moves, Refused):
                continue
            part = tuple(move for move in moves if rng.random() < 0.5)
            outcome = transform.apply(source, part)
            if isinstance(outcome, Refused):
                assert (strategy, outcome.reason) == ("shuffle", COLLISION)
            applied[f"{strategy} {type(outcome).__name__}"] += 1
    assert applied["natural Rewritten"] > 60
    assert applied["shuffle Refused"] > 10


def test_real_functions_never_collide_with_themselves() -> None:
    assert not any(collides(resolve(source), {}) for source in sample(400))


@pytest.mark.slow
def test_nine_of_ten_functions_with_a_local_are_renamed() -> None:
    outcomes: Counter[bool] = Counter()
    for source in sample(600):
        if any(binding.view in LOCAL for binding in resolve(source).bindings):
            outcomes[isinstance(RENAME.propose(source, Random(0)), Refused)] += 1
    assert outcomes[False] >= 0.9 * outcomes.total()


@pytest.mark.slow
@pytest.mark.parametrize("transform", TRANSFORMS, ids=label)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_programs_compute_the_same(program: Program, transform: PythonRename) -> None:
    expected = program.run()
    for seed in range(3):
        moves = transform.propose(program.source, Random(seed))
        if isinstance(moves, Refused):
            assert moves.reason in {
                "no two names to shuffle",
                "no local to rename",
                "parameter beside gathered keywords",
            }
            return
        rewritten = transform.apply(program.source, moves)
        assert isinstance(rewritten, Rewritten)
        assert program.run(rewritten.source) == expected, rewritten.source


def test_variants_differ() -> None:
    unit = Sample(
        id="x", language="python", source=PROGRAMS[0].source, label=None, origin=Origin(path="x", line=1)
    )
    outcomes = list(perturb_one(unit, RENAME, variants=6, seed=0))
    texts = {outcome.source for outcome in outcomes if isinstance(outcome, Perturbed)}
    assert len(texts) == 6


@pytest.mark.slow
def test_canonical_names_do_not_depend_on_the_names() -> None:
    canonical = replace(RENAME_PARAMETERS, strategy="canonical")
    compared = 0
    for number, source in enumerate(sample(200)):
        drawn = RENAME_PARAMETERS.propose(source, Random(number))
        first = canonical.propose(source, Random(0))
        if isinstance(drawn, Refused) or isinstance(first, Refused):
            continue
        renamed = RENAME_PARAMETERS.apply(source, drawn)
        assert isinstance(renamed, Rewritten)
        second = canonical.propose(renamed.source, Random(1))
        assert isinstance(second, tuple)
        one, other = canonical.apply(source, first), canonical.apply(renamed.source, second)
        assert isinstance(one, Rewritten)
        assert isinstance(other, Rewritten)
        assert one.source == other.source
        compared += 1
    assert compared > 50


@pytest.mark.slow
@pytest.mark.parametrize(
    "transform", [RENAME, RENAME_MERGING, RENAME_INNER_FUNCTIONS], ids=lambda transform: transform.name
)
def test_a_function_under_a_line_for_its_surroundings_is_treated_as_alone(transform: Transform) -> None:
    compared = 0
    nested = [source for source in sample(4000) if "    def " in source]
    for number, source in enumerate([*nested[::3], *sample(150)]):
        lines = source.splitlines(keepends=True)
        wrapped = "if 1:\n" + "".join(f" {line}" if line.strip() else line for line in lines)
        moves = transform.propose(source, Random(number))
        if '"""' in source or "'''" in source or isinstance(moves, Refused):
            continue
        assert transform.propose(wrapped, Random(number)) == moves
        alone, inside = transform.apply(source, moves), transform.apply(wrapped, moves)
        assert isinstance(alone, Rewritten)
        assert isinstance(inside, Rewritten)
        assert inside.evidence == alone.evidence
        lines = alone.source.splitlines(keepends=True)
        assert inside.source == "if 1:\n" + "".join(f" {line}" if line.strip() else line for line in lines)
        compared += 1
    assert compared > 1
