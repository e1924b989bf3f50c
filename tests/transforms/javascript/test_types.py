"""The relation `types`: what TypeScript concludes of expressions lets more statements change places."""

from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.dependence.blocks import StatementBlock
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.javascript import types
from codeaudit.transforms.javascript.analysis.program import analyse
from codeaudit.transforms.registry import languages_of, transform_for
from tests.support.javascript_running import needs_node, outputs
from tests.transforms.javascript import random_types

COMPILER = types.find_compiler()
needs_typescript = pytest.mark.skipif(COMPILER is None, reason="TypeScript is not installed")

FILE = """\
export interface Point { x: number; y: number; readonly next?: Point; names: string[]; get far(): number; lazy: number; any: any }
class Lazy { get lazy() { return 1; } }
function show(value: unknown): void {}
let last = 0;
export function plain(p: Point, q: Point) { const a = p.x; const b = q.y; last = a; return a + b; }
export function maybe(p: Point) { const a = p.next!.x; const b = p.next?.x; const c = p.next.y; return [a, b, c]; }
export function guarded(p: Point, q?: Point) { const a = p.x; if (!q) return a; const b = q.y; return b; }
export function getters(p: Point) { const a = p.far; const b = p.lazy; const c = p.any.x; return [a, b, c]; }
export function stored(p: Point, q: Point) { p.x = 1; q.y = 2; const a = q.x; const b = q.names; return [a, b]; }
export function items(p: Point, i: number) { const a = p.names[i]; const b = p.names[0].length; const [c] = p.names; return [a, b, c]; }
export function calls(s: string, r: RegExp, p: Point) { const a = s.trim(); const b = r.test(s); const c = p.names.map(show); return [a, b, c]; }
export function sums(p: Point, u: unknown) { const a = `${p.x}`; const b = `${u}`; const c = p.x + p.y; return [a, b, c]; }
export function twice() { return 1; }
"""
SOURCES = {
    line.split("(")[0].split()[-1]: line.removeprefix("export ")
    for line in FILE.splitlines()
    if line.startswith("export f")
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.ts").write_text(FILE)
    (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"strict": true}}')
    monkeypatch.setenv(types.PROJECT, str(tmp_path))
    if COMPILER is not None:
        monkeypatch.setenv(types.COMPILER, str(COMPILER.folder))
    types._worker.cache_clear()
    analyse.cache_clear()
    return tmp_path


EXPECTED = {
    "plain": ["", "", "any", ""],
    "maybe": ["any", "", "any", ""],
    "guarded": ["", "raise", "", ""],
    "getters": ["any", "any", "any", ""],
    "stored": ["store", "store", "", "", ""],
    "items": ["", "any", "", ""],
    "calls": ["", "store", "any", ""],
    "sums": ["", "any", "", ""],
}


def largest(name: str) -> StatementBlock:
    """The largest block of a function."""
    program = analyse(SOURCES[name], "typescript", dependence="types")
    return max(program.blocks, key=lambda block: len(block.statements))


def seen(name: str) -> list[str]:
    """What each statement of a function may do."""
    block = largest(name)
    words = {2: "any", 4: "raise", 64: "store"}
    return [
        next((word for flag, word in words.items() if effect.flags & flag), "") for effect in block.effects
    ]


@needs_node
@needs_typescript
def test_types_say_what_runs_no_code(project: Path) -> None:
    assert {name: seen(name) for name in EXPECTED} == EXPECTED
    stored = largest("stored")
    assert stored.predecessors[1] & 1  # the order of new properties is seen
    assert stored.predecessors[2] & 1  # both objects may be one
    guarded = largest("guarded")
    assert guarded.predecessors[2] & 2  # behind its guard
    rule = transform_for("types/reorder", "typescript")
    moves = rule.propose(SOURCES["plain"], Random(0))
    assert not isinstance(moves, Refused)
    made = rule.apply(SOURCES["plain"], moves)
    assert isinstance(made, Rewritten)
    assert made.evidence == "analysis (types hold)"
    assert isinstance(transform_for("reorder", "typescript").propose(SOURCES["plain"], Random(0)), Refused)
    # A function that the project does not hold has no types.
    other = SOURCES["plain"].replace("plain", "other")
    assert isinstance(rule.propose(other, Random(0)), Refused)


@needs_node
@needs_typescript
@pytest.mark.slow
def test_without_strict_null_checks_every_object_may_be_null(project: Path) -> None:
    (project / "tsconfig.json").write_text("{}")
    assert seen("plain")[:2] == ["any", "any"]


def test_without_a_compiler_one_line_says_so(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(types.COMPILER, str(project))
    monkeypatch.setattr(types, "_GLOBAL", ())
    with pytest.raises(CannotAudit, match=f"needs node and the package typescript.*{types.INSTALL}"):
        transform_for("types/reorder", "typescript")
    monkeypatch.delenv(types.COMPILER)
    monkeypatch.setenv(types.PROJECT, str(project))
    monkeypatch.delenv("NODE_PATH", raising=False)
    with pytest.raises(CannotAudit, match=types.INSTALL):
        transform_for("types/reorder", "typescript")
    assert languages_of("types/reorder") == ("typescript",)


@needs_node
@needs_typescript
@pytest.mark.slow
def test_random_functions_do_what_they_did(project: Path) -> None:
    assert COMPILER is not None
    functions = random_types.functions(range(150))
    (project / "a.ts").write_text(random_types.HEAD + "\n".join(functions))
    rule = transform_for("types/reorder", "typescript")
    pairs = []
    for source in functions:
        for number in range(3):
            moves = rule.propose(source, Random(number))
            rewritten = Refused("") if isinstance(moves, Refused) else rule.apply(source, moves)
            if isinstance(rewritten, Rewritten):
                pairs.append((source, rewritten.source))
    pairs = list(dict.fromkeys(pairs))
    assert len(pairs) > len(functions)
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    printed = outputs([random_types.program(text) for text in texts], typescript=COMPILER.folder)
    seen = dict(zip(texts, printed, strict=True))
    assert all(len(lines) == random_types.CALLS for lines in printed)
    assert [before for before, after in pairs if seen[before] != seen[after]] == []
