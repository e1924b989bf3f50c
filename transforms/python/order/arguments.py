"""`reorder-keywords`: keyword arguments in another order; and its control, which exchanges two arguments.

A callee with `**kwargs` sees the order of keywords. Therefore a call is changed only if the callee is known:
a builtin, a function of the standard library that the text imports, a method of a certain type, or a function
or class of the same text. At most one of the values may do more than compute.

`reorder-keyword-only` puts the parameters behind `*` into another order. Callers give them by name; only the
signature shows their order, and the message of a TypeError for several that are missing.

No other module replaces the functions of a standard module (`builtins-meant`).
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import pairwise
from operator import or_
from typing import Final

from codeaudit.transforms.dependence.effects import Effects, conflicts
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site, Span
from codeaudit.transforms.python.analysis.capabilities import Sees, replaced_names
from codeaudit.transforms.python.analysis.index import index_in
from codeaudit.transforms.python.analysis.knowledge import BUILTINS
from codeaudit.transforms.python.analysis.modules import REGISTERING, SILENT
from codeaudit.transforms.python.identifiers.obstacles import mangled
from codeaudit.transforms.python.order.spelling import spelled_once
from codeaudit.transforms.python.parsing import FunctionNode, last_name
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import REFLECTION, binders, rearranged, reflects
from codeaudit.transforms.rules import MOST, free, permuted

KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "bytearray": "source encoding errors",
        "bytes": "source encoding errors",
        "compile": "source filename mode flags dont_inherit optimize",
        "complex": "real imag",
        "enumerate": "iterable start",
        "max": "key default",
        "min": "key default",
        "open": "file mode buffering encoding errors newline closefd opener",
        "pow": "base exp mod",
        "print": "sep end file flush",
        "property": "fget fset fdel doc",
        "round": "number ndigits",
        "sorted": "key reverse",
        "str": "object encoding errors",
    }.items()
}
"""Builtins that take no other keywords than these, and see no order in them."""

FUNCTIONS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "collections.namedtuple": "typename field_names rename defaults module",
        "csv.reader": "delimiter quotechar escapechar doublequote skipinitialspace lineterminator quoting",
        "csv.writer": "delimiter quotechar escapechar doublequote skipinitialspace lineterminator quoting",
        "dataclasses.dataclass": "init repr eq order unsafe_hash frozen match_args kw_only slots",
        "dataclasses.field": "default default_factory init repr hash compare metadata kw_only",
        "datetime.datetime": "year month day hour minute second microsecond tzinfo fold",
        "datetime.time": "hour minute second microsecond tzinfo fold",
        "datetime.timedelta": "days seconds microseconds milliseconds minutes hours weeks",
        "difflib.SequenceMatcher": "isjunk a b autojunk",
        "difflib.unified_diff": "a b fromfile tofile fromfiledate tofiledate n lineterm",
        "functools.lru_cache": "maxsize typed",
        "heapq.nlargest": "n iterable key",
        "heapq.nsmallest": "n iterable key",
        "itertools.groupby": "iterable key",
        "json.dump": "skipkeys ensure_ascii check_circular allow_nan indent separators default sort_keys",
        "json.dumps": "skipkeys ensure_ascii check_circular allow_nan indent separators default sort_keys",
        "logging.FileHandler": "filename mode encoding delay errors",
        "math.isclose": "rel_tol abs_tol",
        "os.makedirs": "name mode exist_ok",
        "os.walk": "top topdown onerror followlinks",
        "pprint.pformat": "object indent width depth compact sort_dicts underscore_numbers",
        "random.choices": "population weights cum_weights k",
        "re.compile": "pattern flags",
        "re.sub": "pattern repl string count flags",
        "shutil.copytree": "src dst symlinks ignore copy_function ignore_dangling_symlinks dirs_exist_ok",
        "shutil.rmtree": "path ignore_errors onerror",
        "socket.create_connection": "address timeout source_address all_errors",
        "subprocess.Popen": "stdin stdout stderr env cwd shell bufsize close_fds text encoding",
        "subprocess.run": "stdin stdout stderr env cwd shell timeout check text capture_output input",
        "subprocess.check_output": "stdin stderr env cwd shell timeout text encoding universal_newlines",
        "tempfile.NamedTemporaryFile": "mode buffering encoding newline suffix prefix dir delete errors",
        "tempfile.TemporaryDirectory": "suffix prefix dir ignore_cleanup_errors",
        "tempfile.mkdtemp": "suffix prefix dir",
        "tempfile.mkstemp": "suffix prefix dir text",
        "threading.Thread": "group target name args kwargs daemon",
        "urllib.parse.urlencode": "query doseq safe encoding errors quote_via",
        "urllib.request.Request": "url data headers origin_req_host unverifiable method",
        "warnings.warn": "message category stacklevel source",
    }.items()
}
"""Functions and classes of `SILENT` and `REGISTERING` modules, with keywords among which they see no order.
"""

METHODS: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("bytes", "decode"): frozenset(["encoding", "errors"]),
    ("bytes", "rsplit"): frozenset(["sep", "maxsplit"]),
    ("bytes", "split"): frozenset(["sep", "maxsplit"]),
    ("list", "sort"): frozenset(["key", "reverse"]),
    ("str", "encode"): frozenset(["encoding", "errors"]),
    ("str", "rsplit"): frozenset(["sep", "maxsplit"]),
    ("str", "split"): frozenset(["sep", "maxsplit"]),
}
"""Methods of builtin types, with their keywords."""

UNKNOWN: Final = "the callee may see the order of its keywords"
EFFECTS: Final = "the order of two values can be seen"
DECORATED: Final = "function is decorated"
COMMUTATIVE: Final = frozenset(
    ["max", "min", "gcd", "lcm", "hypot", "isclose", "samefile", "union", "intersection", "eq", "ne"]
)
"""Callees that may give the same for exchanged arguments."""


@spelled_once
def find_keywords(code: PythonSource) -> Iterator[Site | Refused]:
    """Calls with at least two keywords."""
    callees = _Callees(code)
    for node in code.nodes():
        if not isinstance(node, ast.Call) or len(node.keywords) < 2:
            continue
        first = code.start(node.keywords[0])
        # `f(a=1, *b)` processes `*b` first, though it stands behind the keyword.
        late = any(isinstance(value, ast.Starred) and code.start(value) > first for value in node.args)
        # A `**` has the name None, which is no keyword of a known callee.
        if late or not {word.arg for word in node.keywords} <= callees.keywords(node):
            yield Refused(UNKNOWN)
        elif not commute(code, [word.value for word in node.keywords]):
            yield Refused(EFFECTS)
        else:
            parts = [code.span(word) for word in node.keywords]
            site = rearranged(
                code, parts, free(len(parts)), f"keywords of {last_name(node.func) or 'a call'}"
            )
            yield site or Refused(UNKNOWN)


@spelled_once
def find_keyword_only(code: PythonSource) -> Iterator[Site | Refused]:
    """Functions with at least two keyword-only parameters."""
    for node in code.nodes():
        if not isinstance(node, FunctionNode) or len(node.args.kwonlyargs) < 2:
            continue
        if node.decorator_list:
            yield Refused(DECORATED)  # a decorator may read the signature
        elif reflects(code) or code.sees & Sees.PARAMETERS:
            yield Refused(REFLECTION)
        else:
            pairs = list(zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True))[:MOST]
            effects = [
                reduce(or_, map(code.effects, filter(None, (default, parameter.annotation))), Effects())
                for parameter, default in pairs
            ]
            parts = [
                Span(code.start(parameter), code.full(default).end if default else code.end(parameter))
                for parameter, default in pairs
            ]
            yield rearranged(code, parts, conflicts(effects, guarded=True), "parameters") or Refused(EFFECTS)


def find_swapped(code: PythonSource) -> Iterator[Site | Refused]:
    """Two neighbouring arguments of a call: positional ones, or the values of keywords."""
    for node in code.nodes():
        if not isinstance(node, ast.Call):
            continue
        # The control must change the meaning, and `max(b, a)` is `max(a, b)`.
        if last_name(node.func) in COMMUTATIVE:
            continue
        plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
        named = [word.value for word in node.keywords if word.arg is not None]
        for values in (plain if len(plain) == len(node.args) else [], named):
            for one, other in pairwise(values):
                if ast.dump(one) != ast.dump(other):
                    parts = [code.full(one), code.full(other)]
                    line = code.line(one)
                    yield Site(((permuted(parts, (1, 0)),),), "two arguments exchanged", line)


def commute(code: PythonSource, values: Sequence[ast.expr]) -> bool:
    """Whether the values of expressions do not depend on the order in which they are evaluated."""
    # Values that only compute may be evaluated in any order; one that acts may change what others read.
    acting = [value for value in values if not code.harmless(value)]
    if not acting:
        return True
    # `f(a=(n := 1), b=n)` binds what the other value reads.
    if len(acting) > 1 or any(isinstance(part, _BINDING) for part in ast.walk(acting[0])):
        return False
    return all(value is acting[0] or _fixed(value) for value in values)


_BINDING: Final = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def _fixed(node: ast.expr) -> bool:
    """Whether a harmless expression reads the contents of no object, so that no other expression can change
    its value.
    """
    match node:
        case ast.Constant() | ast.Name() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return all(_fixed(element) for element in elements)
        case ast.Lambda(args=args):
            return not args.defaults and not args.kw_defaults
        case _:
            return False


class _Callees:
    """The keywords of the callees that a text knows."""

    def __init__(self, code: PythonSource) -> None:
        self._code = code
        self._binders = binders(code.tree)
        self._imported: dict[str, tuple[str, ast.AST | None]] = {}
        self._defined: dict[str, FunctionNode | ast.ClassDef] = {}
        for node in code.nodes():
            if isinstance(node, ast.Import):
                for alias in node.names:
                    # `import os.path` binds `os`, so its full name is not that of the binding.
                    if alias.asname or "." not in alias.name:
                        self._imported[alias.asname or alias.name] = (alias.name, code.parent(node))
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    self._imported[alias.asname or alias.name] = (
                        f"{node.module}.{alias.name}",
                        code.parent(node),
                    )
            elif isinstance(node, FunctionNode | ast.ClassDef):
                self._defined[node.name] = node

    def keywords(self, call: ast.Call) -> frozenset[str]:
        """The keywords among which the callee sees no order; empty if the callee is unknown."""
        func = call.func
        if isinstance(func, ast.Attribute):
            listed = METHODS.get((self._code.kind(func.value) or "", func.attr))
            return listed if listed is not None else self._imported_keywords(func)
        if not isinstance(func, ast.Name):
            return frozenset()
        if func.id not in self._binders:
            keywords = KEYWORDS.get(func.id, frozenset()) if func.id in BUILTINS else frozenset()
            return keywords if keywords and self._keep_meaning(func.id) else frozenset()
        # A name that is bound twice may mean another function at the call. In a class, `__f` is `_C__f`.
        if self._binders[func.id] != 1 or mangled(func.id):
            return frozenset()
        if func.id in self._defined:
            return self._parameters(call, self._defined[func.id])
        return self._imported_keywords(func)

    @cached_property
    def _replaced(self) -> frozenset[str]:
        """The names to which the text may bind something else than its statements show; `*` for any name."""
        return frozenset(replaced_names(index_in(self._code.tree)))

    def _keep_meaning(self, *names: str) -> bool:
        """Whether names, and attributes of modules and classes, stand only for what statements show."""
        return "*" not in self._binders and self._replaced.isdisjoint(("*", *names))

    def _dotted(self, func: ast.expr) -> str | None:
        """The full name of an imported function; `None` if the expression may be something else."""
        match func:
            case ast.Name(id=name) if self._binders.get(name) == 1 and name in self._imported:
                path, holder = self._imported[name]
                return path if self._reaches(holder, func) else None
            case ast.Attribute(value=value, attr=attr):
                above = self._dotted(value)
                return f"{above}.{attr}" if above else None
            case _:
                return None

    def _imported_keywords(self, func: ast.Name | ast.Attribute) -> frozenset[str]:
        name = self._dotted(func)
        if name is None or name.partition(".")[0] not in SILENT | REGISTERING:
            return frozenset()
        keywords = FUNCTIONS.get(name, frozenset())
        root = next(part.id for part in ast.walk(func) if isinstance(part, ast.Name))
        return keywords if keywords and self._keep_meaning(root, *name.split(".")) else frozenset()

    def _parameters(self, call: ast.Call, node: FunctionNode | ast.ClassDef) -> frozenset[str]:
        """The parameters of a function of the text that a call may give by name; empty if another function
        may be called.
        """
        if not self._reaches(self._code.parent(node), call) or node.decorator_list:
            return frozenset()
        # `C.__init__ = other` gives `C` another signature.
        if not self._keep_meaning(node.name, "__init__", "__new__"):
            return frozenset()
        bound = 0
        if isinstance(node, ast.ClassDef):
            # A base may define `__new__`, a metaclass `__call__`: they see the keywords in their order.
            if node.bases or node.keywords or getattr(node, "type_params", []):
                return frozenset()
            methods = [part for part in node.body if isinstance(part, FunctionNode)]
            first = [part for part in methods if part.name == "__init__" and not part.decorator_list]
            names = binders(ast.Module(body=node.body, type_ignores=[]))
            if len(first) != 1 or "__new__" in names or names["__init__"] != 1:
                return frozenset()
            node, bound = first[0], 1
        args = node.args
        # `**kwargs` is a dict in the order of the call.
        if args.kwarg is not None or any(isinstance(argument, ast.Starred) for argument in call.args):
            return frozenset()
        positional = [*args.posonlyargs, *args.args]
        # A parameter that is already filled cannot be given by name.
        filled = bound + len(call.args)
        by_name = {arg.arg for arg in [*args.args, *args.kwonlyargs] if not mangled(arg.arg)}
        return frozenset(by_name - {arg.arg for arg in positional[:filled]})

    def _reaches(self, holder: ast.AST | None, node: ast.AST) -> bool:
        """Whether a name bound directly in the scope `holder` is the one that `node` sees."""
        # `if` and `try` at the top of a module bind names of the module.
        if isinstance(holder, ast.If | ast.Try | ast.With) and self._code.parent(holder) is self._code.tree:
            holder = self._code.tree
        if isinstance(holder, ast.Module):
            return True
        return isinstance(holder, FunctionNode) and any(
            above is holder for above in self._code.ancestors(node)
        )


REORDER_KEYWORDS: Final = PythonRule(
    name="reorder-keywords", find=find_keywords, nothing="no call with two keywords", unit="module"
)
REORDER_KEYWORD_ONLY: Final = PythonRule(
    name="reorder-keyword-only", find=find_keyword_only, nothing="no two keyword-only parameters"
)
ARGUMENTS_SWAPPED: Final = PythonRule(
    name="arguments-swapped", find=find_swapped, nothing="no two arguments that differ", kind="control"
)
