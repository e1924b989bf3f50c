"""Other readers of JavaScript and TypeScript: what they see in a variant and in its original. No code runs.

- Trees: acorn, which node has inside, reads JavaScript; TypeScript's compiler reads JSX and TypeScript, if it
  is found. A renamed function must have the same tree when each variable is a number, and a reordered one the
  same statements in its blocks. Neither reader shares code with ours: the compiler's binder and the scopes of
  `javascript_readers.js` say which names are one variable. Of other edits an equal tree confirms, and another
  one says nothing. Without such a reader our own rules resolve both texts anew: this can refuse, and confirms
  nothing.
- node's parser must take a variant in JavaScript wherever it takes the original: as a script, as a module, as
  a member of a class.
- The compiler must tell of a variant in TypeScript what it tells of the original, in its file if that is
  known: as many diagnostics of each code.

A control need not be refused for another tree, so the readers are not asked about controls.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

from codeaudit.audit.evidence_check import BehavesDifferently, BehavesSame, Undecided, WitnessFinding
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.identifiers.rename import JavaScriptVariables
from codeaudit.transforms.javascript.parsing import JAVASCRIPT
from codeaudit.transforms.javascript.types import NodeWorker, find_compiler
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.syntax.scopes import renamed

OTHER_TREE: Final = "another program to a second reader"
OTHER_NAMES: Final = "names resolved anew are other variables"
NOT_PARSED: Final = "node does not parse the variant"
OTHER_DIAGNOSTICS: Final = "tsc tells something else of the variant"
TOO_NEW: Final = "beyond node's parser"
UNREAD: Final = "beyond the second reader"
_PROGRAM: Final = Path(__file__).with_suffix(".js")
_FLAGS: Final = ("--expose-internals", "--experimental-vm-modules", "--no-warnings")
_LONGEST_FILE: Final = 20_000
"""Characters of a file whose types are checked around a function."""

Reading: TypeAlias = Callable[[Sequence[Perturbed]], Iterator[list[WitnessFinding]]]
"""From variants to what each reader finds of each."""


def compilers() -> Iterator[dict[str, object]]:
    """TypeScript's compiler, if it is found, for manifests."""
    if (compiler := find_compiler()) is not None:
        package = json.loads((compiler.folder / "package.json").read_text(encoding="utf-8"))
        yield {"tool": "typescript", "version": str(package["version"])}


@contextmanager
def reading(language: str) -> Iterator[Reading]:
    """The readers of this machine. Their process ends with the context."""
    node, compiler = shutil.which("node"), find_compiler()
    worker = None
    if node is not None:
        worker = NodeWorker(node, _PROGRAM, *([str(compiler.folder)] if compiler else []), flags=_FLAGS)

    def read(variants: Sequence[Perturbed]) -> Iterator[list[WitnessFinding]]:
        asked = [variant for variant in variants if variant.kind != "control"]
        answers = iter(
            (worker.ask([_question(variant) for variant in asked]) if worker and asked else None) or []
        )
        for variant in variants:
            yield (
                []
                if variant.kind == "control"
                else list(_findings(variant, language, *next(answers, (None,) * 3)))
            )

    try:
        yield read
    finally:
        if worker is not None:
            worker.close()


def _question(variant: Perturbed) -> list[str]:
    before, after, around = variant.sample.source, variant.source, variant.sample.context
    in_file = len(around) <= _LONGEST_FILE and around.count(before) == 1
    files = [around, around.replace(before, after)] if in_file else ["", ""]
    return [variant.sample.language, before, after, _rule(variant), *files]


def _rule(variant: Perturbed) -> str:
    """What must stay: `rename`, all but the names of variables; `order`, the statements of each block."""
    kinds = {move.kind for move in variant.moves}
    return kinds.pop() if kinds in ({"rename"}, {"order"}) else ""


def _findings(
    variant: Perturbed, language: str, trees: int | None, parses: int | None, diagnostics: int | None
) -> Iterator[WitnessFinding]:
    rule = _rule(variant)
    if trees == 1:
        yield BehavesSame("parsed")
    elif rule and trees == 0:
        yield BehavesDifferently("parsed", OTHER_TREE)
    elif rule:
        yield Undecided(UNREAD)
        if rule == "rename" and not resolved_again(variant, language):
            yield BehavesDifferently("parsed", OTHER_NAMES)
    if parses == 0:
        yield BehavesDifferently("parsed", NOT_PARSED)
    elif parses is None and language == JAVASCRIPT:
        yield Undecided(TOO_NEW)
    if diagnostics == 0:
        yield BehavesDifferently("parsed", OTHER_DIAGNOSTICS)


def resolved_again(variant: Perturbed, language: str) -> bool:
    """Whether a renamed text, resolved anew, is its original with exactly the new names of its moves."""
    names: dict[int, Any] = {move.site: move.value for move in variant.moves}
    try:
        before = JavaScriptVariables(variant.sample.source, language)
        spelt = before.compared(names)
        return spelt is not None and renamed(spelt, before.resolve(variant.source), names)
    except SourceError:
        return False
