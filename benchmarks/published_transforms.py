"""How many variants of published transforms change the meaning, beside ours, on HumanEval.

    python benchmarks/published_transforms.py --problems HumanEval.jsonl.gz

The transforms here are references that keep no promise, written anew from the published descriptions (ReCode,
whose syntax group is NatGen's; averloc). They do what the description says and look at nothing else. They are
no part of codeaudit, and the authors' code may check more or less. Each variant edits one random place, as in
ReCode. A variant counts as changed if it fails the tests of its problem, or does not end in time. HumanEval's
tests look at results only: that a program prints more is not seen.
"""

import argparse
import ast
import copy
import gzip
import io
import json
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.tasks.solutions import Solutions
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.transforms.oracle.calls import Passed, TrialUnjudged
from codeaudit.transforms.oracle.tested import trial
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.registry import counterparts, transform_for
from codeaudit.transforms.suites import published

SECONDS: Final = 4.0

# ── references ───────────────────────────────────────────────────────────────────────────────────────────


def _places(tree: ast.AST, kind: type[ast.AST]) -> list[ast.AST]:
    return [node for node in ast.walk(tree) if isinstance(node, kind)]


class _Replace(ast.NodeTransformer):
    """Puts statements, or an expression, in the place of one node."""

    def __init__(self, node: ast.AST, new: ast.AST | list[ast.stmt]) -> None:
        self._node, self._new = node, new

    def visit(self, node: ast.AST) -> Any:
        """The node, or what stands in its place."""
        return self._new if node is self._node else self.generic_visit(node)


def _replaced(tree: ast.Module, node: ast.AST, new: ast.AST | list[ast.stmt]) -> str:
    return ast.unparse(ast.fix_missing_locations(_Replace(node, new).visit(tree)))


_MIRROR: Final[Mapping[type, type]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}


def operand_swap(source: str, rng: Random) -> str | None:
    """`a < b` becomes `b > a`, `a + b` becomes `b + a`, and so for `*` and `==`."""
    tree = ast.parse(source)
    nodes = [
        node
        for node in ast.walk(tree)
        if (isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _MIRROR)
        or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult))
    ]
    if not nodes:
        return None
    node = rng.choice(nodes)
    if isinstance(node, ast.Compare):
        operator = _MIRROR[type(node.ops[0])]()
        return _replaced(tree, node, ast.Compare(node.comparators[0], [operator], [node.left]))
    assert isinstance(node, ast.BinOp)
    return _replaced(tree, node, ast.BinOp(node.right, node.op, node.left))


def for_to_while(source: str, rng: Random) -> str | None:
    """`for i in range(a, b, c)` becomes a `while` that counts at the end of its body."""
    tree = ast.parse(source)
    loops = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.For)
        and isinstance(node.target, ast.Name)
        and isinstance(node.iter, ast.Call)
        and isinstance(node.iter.func, ast.Name)
        and node.iter.func.id == "range"
        and not node.orelse
    ]
    if not loops:
        return None
    node = rng.choice(loops)
    assert isinstance(node.target, ast.Name)
    assert isinstance(node.iter, ast.Call)
    name, given = node.target.id, node.iter.args
    start: ast.expr = given[0] if len(given) > 1 else ast.Constant(0)
    stop = given[1] if len(given) > 1 else given[0]
    step: ast.expr = given[2] if len(given) > 2 else ast.Constant(1)
    down = isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)
    test = ast.Compare(ast.Name(name, ast.Load()), [ast.Gt() if down else ast.Lt()], [stop])
    count = ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), step)
    return _replaced(
        tree,
        node,
        [
            ast.Assign([ast.Name(name, ast.Store())], start),
            ast.While(test, [*node.body, count], []),
        ],
    )


def block_swap(source: str, rng: Random) -> str | None:
    """The condition of an `if` with an `else` is negated, and its branches change places."""
    tree = ast.parse(source)
    branches = [node for node in ast.walk(tree) if isinstance(node, ast.If) and node.orelse]
    if not branches:
        return None
    node = rng.choice(branches)
    return _replaced(tree, node, [ast.If(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)])


def dead_code(source: str, rng: Random) -> str | None:
    """A copy of a node, in a loop or branch that never runs, somewhere in the last function."""
    tree = ast.parse(source)
    function = tree.body[-1]
    if not isinstance(function, ast.FunctionDef):
        return None
    inside = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function]
    copied = copy.deepcopy(rng.choice(inside))
    never = ast.Constant(False)
    block: ast.stmt = ast.While(never, [copied], []) if rng.random() < 0.5 else ast.If(never, [copied], [])
    bodies = [
        node.body for node in ast.walk(function) if isinstance(node, ast.FunctionDef | ast.For | ast.If)
    ]
    body = rng.choice(bodies)
    body.insert(rng.randint(0, len(body)), block)
    return ast.unparse(ast.fix_missing_locations(tree))


def frequent_renamed(source: str, rng: Random) -> str | None:
    """The most frequent variable becomes VAR_0, wherever its name stands: token by token."""
    tree = ast.parse(source)
    stored = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    counts = Counter(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in stored
    ).most_common(1)
    if not counts:
        return None
    tokens = [
        token._replace(string="VAR_0")
        if token.type == tokenize.NAME and token.string == counts[0][0]
        else token
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
    ]
    return tokenize.untokenize((token.type, token.string) for token in tokens)


def unrolled(source: str, rng: Random) -> str | None:
    """averloc's `UnrollWhiles`: the body before a copy of the loop, inside of a loop that runs once."""
    tree = ast.parse(source)
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.While) and not node.orelse]
    if not loops:
        return None
    node = rng.choice(loops)
    again = copy.deepcopy(node)
    return _replaced(tree, node, [ast.While(node.test, [*node.body, again, ast.Break()], [])])


def fresh_dead(source: str, rng: Random) -> str | None:
    """averloc's `AddDeadCode`: a branch that never runs, with a new variable."""
    tree = ast.parse(source)
    function = tree.body[-1]
    if not isinstance(function, ast.FunctionDef):
        return None
    never = ast.If(
        ast.Constant(False), [ast.Assign([ast.Name("unused_0", ast.Store())], ast.Constant(1))], []
    )
    function.body.insert(rng.randint(1, len(function.body)), never)
    return ast.unparse(ast.fix_missing_locations(tree))


REFERENCES: Final[Mapping[str, tuple[str, str, Callable[[str, Random], str | None]]]] = {
    "OperandSwap": ("ReCode", "recode-syntax", operand_swap),
    "ForWhileTransformer": ("ReCode", "recode-syntax", for_to_while),
    "BlockSwap": ("ReCode", "recode-syntax", block_swap),
    "DeadCodeInserter": ("ReCode", "recode-syntax", dead_code),
    "VarRenamerNaive": ("ReCode", "recode-syntax", frequent_renamed),
    "UnrollWhiles": ("averloc", "averloc", unrolled),
    "AddDeadCode": ("averloc", "averloc", fresh_dead),
}
"""By the original's name: whose it is, the suite with our counterpart, and the reference."""

# ── the measurement ──────────────────────────────────────────────────────────────────────────────────────


def references(name: str, source: str, variants: int) -> Iterator[str]:
    """The distinct variants of one problem under a reference."""
    _, _, rewrite = REFERENCES[name]
    seen = {ast.unparse(ast.parse(source)), source}
    for number in range(variants):
        variant = rewrite(source, Random(f"{name} {number}"))
        if variant is not None and variant not in seen:
            seen.add(variant)
            yield variant


def ours(name: str, source: str, variants: int) -> Iterator[str]:
    """The distinct variants of one problem under our counterparts."""
    _, suite, _ = REFERENCES[name]
    original = next(original for original in published(suite).originals if original.name == name)
    sample = raw_sample(source, language="python", label=None, path="HumanEval", line=1)
    for each in counterparts(original, ("python",)):
        made = perturb_one(sample, transform_for(each, "python"), variants=variants, seed=0)
        yield from dict.fromkeys(outcome.source for outcome in made if isinstance(outcome, Perturbed))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--problems", type=Path, required=True, help="HumanEval.jsonl.gz")
    parser.add_argument("--variants", type=int, default=4, help="of each problem under each transform")
    parser.add_argument("--limit", type=int, default=None, help="problems")
    asked = parser.parse_args()
    with gzip.open(asked.problems, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][: asked.limit]
    runner = Solutions(cpu_seconds=SECONDS)
    print("| transform | problems | variants | changed | ours: problems | variants | changed |")
    print("|---|---|---|---|---|---|---|")
    for name, (whose, _, _) in REFERENCES.items():
        cells = [f"{whose}: {name}"]
        for make in (references, ours):
            trials, problems = [], 0
            for row in rows:
                source = row["prompt"] + row["canonical_solution"]
                tests = f"{row['test']}\n\ncheck({row['entry_point']})\n"
                made = [trial(text, source, tests) for text in make(name, source, asked.variants)]
                problems += bool(made)
                trials += made
            judged = [
                outcome for outcome in runner.outcomes(trials) if not isinstance(outcome, TrialUnjudged)
            ]
            changed = sum(outcome != Passed() for outcome in judged)
            low, high = wilson(changed, len(judged)) if judged else (0.0, 1.0)
            share = f"{changed} ({100 * low:.1f}–{100 * high:.1f} %)"
            cells += [str(problems), str(len(judged)), share]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
