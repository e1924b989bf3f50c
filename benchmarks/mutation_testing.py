"""Measures the power of the tests: how many changed lines of code do the nearest tests notice?

    pip install cosmic-ray
    python benchmarks/mutation_testing.py --mutants 300 --log mutants.jsonl

The sample is drawn from the modules that soundness and numbers rest on. First a module is drawn by its number
of places, then one of its places, then one of the changes that cosmic-ray knows for that place: another
operator, comparison, number, keyword or exception, a loop without a pass, a decorator less. What only checks
how code is written is not changed: annotations, `@abstractmethod`, `frozen=True`. Each mutant runs the tests
nearest to its module in a copy of the checkout: the quick ones, and if these pass, all of them. A mutant
survives if all of them pass. A log is resumed; survivors are printed as diffs, since whether one is equivalent
is for a reader to say.
"""

# ruff: noqa: E501 - a table of paths

import argparse
import ast
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any, Final, TypeAlias

ROOT: Final = Path(__file__).resolve().parents[1]
Position: TypeAlias = tuple[int, int]

LIMIT: Final = 20
"""A mutant is noticed by time if its tests take so many times as long as without it."""

CHECKS: Final = {"abstractmethod", "override", "overload", "final"}
"""Decorators without which the same code does the same."""

TARGETS: Final = {
    "reports/statistics/*.py": "tests/reports/statistics",
    "reports/gate.py": "tests/reports/test_gate.py tests/reports/test_noisy_gate.py tests/reports/test_gate_plan.py",
    "reports/summarise.py": "tests/reports/test_summarise.py tests/reports/test_beyond_noise.py tests/reports/test_noisy_gate.py",
    "reports/matching.py": "tests/reports/test_beyond_noise.py tests/reports/test_noisy_gate.py tests/reports/test_summarise.py",
    "reports/judged.py": "tests/reports/test_summarise.py tests/reports/test_beyond_noise.py",
    "audit/records.py": "tests/audit/test_store.py tests/audit/test_run.py tests/audit/test_cache.py tests/audit/test_rolling.py",
    "audit/movable.py": "tests/audit/test_movable.py",
    "transforms/patches.py": "tests/transforms/test_patches.py",
    "transforms/rules.py": "tests/transforms/test_rules.py tests/transforms/test_one_way.py tests/transforms/python/control_flow tests/transforms/strategies",
    "transforms/mixing.py": "tests/transforms/test_mixing.py",
    "transforms/permission.py": "tests/transforms/test_permission.py",
    "transforms/reordering.py": "tests/transforms/test_reordering.py tests/transforms/python/order",
    "transforms/renaming.py": "tests/transforms/python/identifiers tests/transforms/java/identifiers",
    "transforms/dependence/*.py": "tests/transforms/dependence tests/transforms/test_reordering.py",
    "transforms/python/analysis/*.py": "tests/transforms/python/analysis tests/transforms/python/order "
    "tests/transforms/python/test_hidden_effects.py tests/transforms/python/test_pitfalls.py",
    "transforms/python/identifiers/*.py": "tests/transforms/python/identifiers",
    "transforms/python/order/*.py": "tests/transforms/python/order",
    "transforms/syntax/*.py": "tests/transforms/syntax tests/transforms/strategies tests/transforms/java/analysis "
    "tests/transforms/java/order",
    "transforms/strategies/*.py": "tests/transforms/strategies tests/transforms/java/identifiers tests/transforms/java/order",
    "transforms/java/analysis/*.py": "tests/transforms/java/analysis tests/transforms/java/order",
    "transforms/java/identifiers/*.py": "tests/transforms/java/identifiers",
}
"""The nearest tests of each module."""


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the paths of the modules")
    parser.add_argument("--log", type=Path, default=Path("mutants.jsonl"))
    asked = parser.parse_args()
    # Imported here, so that `--help` works without it.
    from cosmic_ray.mutating import mutate_and_test

    done = (
        [json.loads(line) for line in asked.log.read_text("utf-8").splitlines()] if asked.log.exists() else []
    )
    known = {mutant["number"] for mutant in done}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "checkout")
        subprocess.run(["git", "worktree", "add", "-q", "--detach", copy], cwd=ROOT, check=True)
        try:
            limits: dict[str, float] = {}
            for number, (spec, tests) in enumerate(drawn(copy, asked.only, asked.seed, asked.mutants)):
                if number in known:
                    continue
                for words in (command(tests), f"{command(tests)} --full"):
                    if words not in limits:
                        limits[words] = max(60.0, LIMIT * seconds(copy, words))
                    with chdir(copy):
                        result = mutate_and_test([spec], words, limits[words])
                    if str(result.test_outcome and result.test_outcome.value) != "survived":
                        break
                mutant = {
                    "number": number,
                    "module": str(Path(spec.module_path).relative_to(copy)),
                    "operator": spec.operator_name,
                    "outcome": str(result.test_outcome and result.test_outcome.value),
                    "diff": result.diff,
                }
                done.append(mutant)
                with asked.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(mutant) + "\n")
                print(
                    f"{number}: {mutant['module']} {mutant['operator']}: {mutant['outcome']}",
                    file=sys.stderr,
                    flush=True,
                )
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", copy], cwd=ROOT, check=False)
    print(told(done))
    return 0


def drawn(root: Path, only: str, seed: int, count: int) -> Iterator[tuple[Any, str]]:
    """Mutants with their tests; the first ones do not depend on `count`."""
    from cosmic_ray.commands.init import init
    from cosmic_ray.work_db import WorkDB, use_db

    places: list[tuple[list[Any], str]] = []
    for pattern, tests in TARGETS.items():
        modules = [path for path in sorted(root.glob(pattern)) if only in str(path.relative_to(root))]
        for module in modules:
            skipped = unread(module.read_text("utf-8"))
            with (
                tempfile.TemporaryDirectory() as folder,
                use_db(Path(folder, "work"), WorkDB.Mode.create) as work,
            ):
                init([module], work, {})
                at: dict[tuple[int, int], list[Any]] = {}
                for item in work.work_items:
                    (spec,) = item.mutations
                    if not any(start <= spec.start_pos < end for start, end in skipped):
                        at.setdefault(spec.start_pos, []).append(spec)
            places += [(at[start], tests) for start in sorted(at)]
    rng = random.Random(seed)
    rng.shuffle(places)
    for specs, tests in places[:count]:
        yield rng.choice(specs), tests


def unread(text: str) -> list[tuple[Position, Position]]:
    """Where no change does anything when the code runs: annotations, heads of functions with annotations and
    nothing else, and what only checks how a class is written or used.
    """
    spans: list[tuple[Position, Position]] = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                spans.append(((node.lineno, 0), (node.body[0].lineno, 0)))
                checks = [decorator for decorator in node.decorator_list if ast.unparse(decorator) in CHECKS]
                spans += [((check.lineno, 0), (check.lineno + 1, 0)) for check in checks]
            case ast.AnnAssign(annotation=part) | ast.keyword(arg="frozen" | "slots" | "kw_only", value=part):
                end = (part.end_lineno or part.lineno, part.end_col_offset or 0)
                spans.append(((part.lineno, part.col_offset), end))
            case _:
                pass
    return spans


def command(tests: str) -> str:
    """The command that runs tests, in the working folder."""
    return f"{shlex.quote(sys.executable)} -m pytest -x -q -p no:cacheprovider {tests}"


def seconds(copy: Path, words: str) -> float:
    """How long a command takes without a mutant.

    Raises:
        SystemExit: it fails.
    """
    started = os.times().elapsed
    ended = subprocess.run(shlex.split(words), cwd=copy, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{words} fails without a mutant:\n{ended.stdout[-2000:]}")
    return os.times().elapsed - started


def told(done: Sequence[dict[str, Any]]) -> str:
    """The counts by module, and the survivors."""
    modules = Counter(mutant["module"] for mutant in done)
    alive = [mutant for mutant in done if mutant["outcome"] == "survived"]
    survived = Counter(mutant["module"] for mutant in alive)
    rows = [f"| {module} | {count} | {survived[module]} |" for module, count in sorted(modules.items())]
    total = f"| all | {len(done)} | {len(alive)} |"
    diffs = [f"mutant {mutant['number']}\n{mutant['diff']}" for mutant in alive]
    return "\n".join(["| module | mutants | survived |", "|---|---:|---:|", *rows, total, "", *diffs])


if __name__ == "__main__":
    sys.exit(main())
