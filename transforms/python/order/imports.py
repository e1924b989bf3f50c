"""`reorder-imports` and `reorder-import-names`: imports from the standard library in another order.

Only modules whose import is known to have no visible effect change places. Any other import stays where it
is, and no import moves past it.

Names imported from the standard library exist (`lookups-exist`), unless a `try` or `with` could notice that
they do not.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from codeaudit.transforms.dependence.effects import ACTS, BARRIER, Effects, conflicts
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site
from codeaudit.transforms.python.analysis.builder import SHARED_LINE
from codeaudit.transforms.python.analysis.facts import bound_by
from codeaudit.transforms.python.analysis.modules import REGISTERING, SILENT, imported_modules
from codeaudit.transforms.python.order.definitions import NAMESPACE_READ, reads_module
from codeaudit.transforms.python.order.spelling import spelled_once
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import bodies, heading, line_above, rearranged, runs, stacked

Import: TypeAlias = ast.Import | ast.ImportFrom

UNKNOWN: Final = "a module that may do anything when it is imported"
GUARDED: Final = "an import in a try or with may fail"
ONE_ORDER: Final = "imports of one name keep their order"


@spelled_once
def find_imports(code: PythonSource) -> Iterator[Site | Refused]:
    """Runs of import statements, in modules and functions."""
    if reads_module(code):
        yield Refused(NAMESPACE_READ)
        return
    dropped = _dropped(code.tree)
    for node in code.nodes():
        # A metaclass may see in which order a class body binds its names.
        if isinstance(node, ast.ClassDef):
            continue
        for body in bodies(node):
            yield from _body(code, node, body, dropped)


@spelled_once
def find_names(code: PythonSource) -> Iterator[Site | Refused]:
    """The names of one import statement."""
    if reads_module(code):
        yield Refused(NAMESPACE_READ)
        return
    dropped = _dropped(code.tree)
    for node in code.nodes():
        if not isinstance(node, Import) or len(node.names) < 2:
            continue
        if _guarded(code, node):
            yield Refused(GUARDED)
            continue
        effects = [_effects(node, [alias], dropped) for alias in node.names]
        if any(effect.flags & BARRIER for effect in effects):
            yield Refused(UNKNOWN)
            continue
        parts = [code.span(alias) for alias in node.names]
        yield rearranged(code, parts, conflicts(effects), "imported names") or Refused(ONE_ORDER)


def _body(
    code: PythonSource, holder: ast.AST, body: list[ast.stmt], dropped: frozenset[str]
) -> Iterator[Site | Refused]:
    """The sites of one list of statements."""
    above = heading(code) if isinstance(holder, ast.Module) else line_above(code, body)
    for start, end, line in runs(body, _is_import, above):
        if end - start > 1:
            yield _run(code, [node for node in body[start:end] if isinstance(node, Import)], line, dropped)


def _is_import(node: ast.stmt) -> bool:
    # `from __future__ import …` must stay first in its module.
    return isinstance(node, Import) and not (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _run(code: PythonSource, run: list[Import], above: int, dropped: frozenset[str]) -> Site | Refused:
    """The site of one run of imports, or the reason why it keeps its order."""
    if _guarded(code, run[0]):
        return Refused(GUARDED)
    if not all(code.alone(node) for node in run):
        return Refused(SHARED_LINE)
    effects = [_effects(node, node.names, dropped) for node in run]
    parts = stacked(code, run, above)
    # The reason says what would have to change: with two known modules it is the names that they bind.
    known = [effect for effect in effects if not effect.flags & BARRIER]
    site = rearranged(code, parts, conflicts(effects), f"{len(run)} imports")
    return site or Refused(ONE_ORDER if len(known) > 1 else UNKNOWN)


def _effects(node: Import, names: Iterable[ast.alias], dropped: frozenset[str]) -> Effects:
    """The effects of importing these names of a statement."""
    names = list(names)
    bound = frozenset(alias.asname or alias.name.partition(".")[0] for alias in names)
    modules = imported_modules(node, names)
    # `import *` binds names that are not in the text; a relative import (`.x`) is no standard module.
    if not modules <= SILENT | REGISTERING or "*" in bound:
        return Effects(writes=bound, flags=BARRIER)
    # Functions registered to run at exit run in the reverse order of the imports.
    acts = bool(modules & REGISTERING) or bool(bound & dropped)
    return Effects(writes=bound, flags=ACTS if acts else 0)


def _dropped(tree: ast.Module) -> frozenset[str]:
    """Names that are also bound in other ways than by an import: rebinding them may drop an object with a
    finaliser.
    """
    return frozenset(
        name for node in ast.walk(tree) if not isinstance(node, Import) for name in bound_by(node)
    )


# The except clause of `try: import a; import b` sees which of the two was bound before the other one failed.
def _guarded(code: PythonSource, node: ast.AST) -> bool:
    """Whether a statement around it may catch its exception and go on."""
    guards = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)
    return any(isinstance(above, guards) for above in code.ancestors(node))


REORDER_IMPORTS: Final = PythonRule(
    name="reorder-imports", find=find_imports, nothing="no two imports side by side", unit="module"
)
REORDER_IMPORT_NAMES: Final = PythonRule(
    name="reorder-import-names", find=find_names, nothing="no import of two names", unit="module"
)
