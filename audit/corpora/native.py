"""Reads rows of well-known data sets in their own columns, as they lie on the Hugging Face hub.

A row of a data set becomes a row with the columns that `tables` knows, with tests (a Python text, which the
task `generation` executes) and with calls (which `output-prediction` asks about).

Sources: EvalPlus (Liu et al., NeurIPS 2023), MBPP (Austin et al., 2021), CRUXEval (Gu et al., 2024),
LiveCodeBench (Jain et al., 2024), CodeSearchNet (Husain et al., 2019), HumanEval-X (Zheng et al., KDD 2023),
BigCodeBench (Zhuo et al., ICLR 2025), MBXP (Athiwaratkun et al., ICLR 2023), ClassEval (Du et al., 2023),
CodeNet (Puri et al., NeurIPS 2021).
"""

import ast
import builtins
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Final, TypeAlias

from codeaudit.audit.corpora import clones
from codeaudit.audit.corpora.calls import asserted_calls
from codeaudit.audit.corpora.translations import as_target
from codeaudit.audit.corpora.vulnerabilities import OTHER_SIDE, big_vul, function, sven, truth
from codeaudit.audit.languages import audit_of
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.java.language import JAVA
from codeaudit.transforms.javascript.language import JAVASCRIPT
from codeaudit.transforms.language import LANGUAGES, NO_ENGINE, by_ending, without_engine
from codeaudit.transforms.oracle.toolchains import toolchain
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.registration import load_target

Row: TypeAlias = Mapping[str, object]

CALLS: Final = "\0calls"
TESTS: Final = "\0tests"
DOCUMENTATION: Final = "\0documentation"
QUERY: Final = "\0query"
"""Keys that no column has: what a data set gives besides the columns of a table."""
MOST_INPUTS: Final = 100
"""Inputs of EvalPlus that a sample's tests use; some problems have thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A data set that is recognised by its columns."""

    name: str
    place: str
    """Its name on the hub."""
    columns: tuple[str, ...]
    """Columns that show that a row is one of its rows."""
    licence: str
    known_errors: str
    """What is known about wrong labels and tests; empty if nothing is known."""
    told: bool = False
    """Whether a run repeats the known errors beside its score."""
    read: Callable[[Row], Row | str | tuple[Row, ...]]
    """A row with the columns of a table, several of them, or the reason why the row is no sample."""
    others: tuple[str, ...] = ()
    """Further columns that are read."""


def told_errors(names: Iterable[str]) -> tuple[str, ...]:
    """What a run says of the labels of each of the data sets with these names.

    A data set is known by its columns alone, and a table of the user's own may have them. So the first
    sentence speaks of columns, and the second one of the published set.
    """
    sets = (
        data_set
        for name in dict.fromkeys(names)
        for data_set in DATA_SETS
        if data_set.name == name and data_set.told
    )
    return tuple(
        f"The rows have the columns of {data_set.name}. "
        f"Known of that data set: {data_set.known_errors}. {CHANGES}"
        for data_set in sets
    )


CHANGES: Final = "What is measured is a change of answer, which needs no right label; the score needs one."


def data_set_of(names: Collection[str]) -> DataSet | None:
    """The known data set that has rows with these columns; `None` if there is none."""
    return next(
        (data_set for data_set in DATA_SETS if all(column in names for column in data_set.columns)), None
    )


def native(row: Row, data_set: DataSet | None) -> tuple[Row | str, ...]:
    """What a row of a known data set is with the columns of a table: one row, two for the sides of a fix, or
    the reason why it is no sample. Every other row is unchanged."""
    try:
        read = row if data_set is None else data_set.read(row)
    except SourceError:  # a reader that looks for the function in the text
        return (NOT_PARSED,)
    return read if isinstance(read, tuple) else (read,)


# ── MBPP ─────────────────────────────────────────────────────────────────────────────────────────────────


def _mbpp(row: Row) -> Row | str:
    asserts = _texts(row.get("test_list"))
    calls = tuple(asserted_calls(asserts))
    setup = [*_texts(row.get("test_imports")), _text(row.get("test_setup_code"))]
    tests = "\n".join([*filter(None, setup), *asserts])
    return {**row, TESTS: tests if asserts else None, CALLS: calls}


# ── EvalPlus ─────────────────────────────────────────────────────────────────────────────────────────────


def _evalplus(row: Row) -> Row | str:
    name, solution = _text(row.get("entry_point")), _text(row.get("canonical_solution"))
    if not name.isidentifier() or not solution:
        return "row without source"
    # The solution of HumanEval+ goes on where the prompt ends. That of MBPP+ is the whole function.
    is_whole = re.search(rf"^def {re.escape(name)}\b", solution, re.MULTILINE) is not None
    source = solution.strip("\n") + "\n" if is_whole else _text(row.get("prompt")) + solution
    base, plus = (_inputs(row.get(column)) for column in ("base_input", "plus_input"))
    if base is None or plus is None:
        return "inputs that cannot be read"
    inputs = [*base, *plus[: max(0, MOST_INPUTS - len(base))]]
    calls = tuple((f"{name}({', '.join(map(repr, arguments))})", "") for arguments in base)
    atol = row.get("atol")
    tests = _REFERENCE_TESTS.format(
        source=source, name=name, inputs=inputs, atol=atol if isinstance(atol, int | float) else 0
    )
    return {**row, "source": source, "language": PYTHON.name, TESTS: tests, CALLS: calls}


_REFERENCE_TESTS: Final = """\
import copy
import math

_space = {{}}
exec({source!r}, _space)
_reference = _space[{name!r}]
_inputs = {inputs!r}


def _same(one, other):
    if isinstance(one, float) or isinstance(other, float):
        try:
            return one == other or math.isclose(one, other, rel_tol=1e-7, abs_tol=max({atol!r}, 1e-6))
        except TypeError:
            return False
    if isinstance(one, (list, tuple)) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other


def check(candidate):
    for given in _inputs:
        try:
            wanted = _reference(*copy.deepcopy(given))
        except Exception:
            continue
        assert _same(candidate(*copy.deepcopy(given)), wanted)
"""
"""The candidate must give what the reference gives, as in EvalPlus; inputs that the reference refuses are
passed over."""


def _inputs(value: object) -> list[list[object]] | None:
    """Lists of arguments; also as JSON text, as some copies hold them."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, list) or not all(isinstance(entry, list) for entry in value):
        return None
    return value


def _mbppplus(row: Row) -> Row | str:
    """MBPP+ as on the hub: its tests are a text that needs numpy, with lists of inputs and results."""
    calls = tuple(asserted_calls(_texts(row.get("test_list"))))
    name = calls[0][0].partition("(")[0] if calls else ""
    lists = _lists(_text(row.get("test")))
    if not name.isidentifier() or lists is None:
        return _mbpp(row)
    inputs, results = lists
    pairs = list(zip(inputs, results, strict=False))[:MOST_INPUTS]
    tests = _RESULT_TESTS.format(pairs=pairs)
    return {**row, "entry_point": name, TESTS: tests, CALLS: calls}


_RESULT_TESTS: Final = """\
import math

_pairs = {pairs!r}


def _same(one, other):
    if isinstance(one, float) or isinstance(other, float):
        try:
            return one == other or math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-6)
        except TypeError:
            return False
    if isinstance(one, (list, tuple)) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other


def check(candidate):
    for given, wanted in _pairs:
        assert _same(candidate(*given), wanted)
"""


def _lists(test: str) -> tuple[list[object], list[object]] | None:
    """The literal lists `inputs` and `results` in a text."""
    try:
        body = ast.parse(test).body
        lists = {
            node.targets[0].id: ast.literal_eval(node.value)
            for node in body
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in ("inputs", "results")
        }
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    inputs, results = lists.get("inputs"), lists.get("results")
    if not isinstance(inputs, list) or not isinstance(results, list) or not inputs:
        return None
    return inputs, results


# ── calls with their results ─────────────────────────────────────────────────────────────────────────────


def _cruxeval(row: Row) -> Row | str:
    arguments, result = _text(row.get("input")), _text(row.get("output"))
    return {**row, CALLS: ((f"f({arguments})", result),) if result else ()}


def _livecodebench(row: Row) -> Row | str:
    """A row of the execution set: `input` is a whole call, often with the names of its arguments."""
    code, name = _text(row.get("code")), _text(row.get("function_name"))
    call = _positional(_text(row.get("input")), code, name)
    if call is None:
        return "the call in its table is no call of a function in the text"
    calls = ((call, _text(row.get("output"))),)
    return {**row, "source": _with_imports(code), "entry_point": name, CALLS: calls}


def _positional(call: str, code: str, name: str) -> str | None:
    """The call with its arguments by position; `None` if the text does not show their order."""
    try:
        body = ast.parse(call, mode="eval").body
        tree = ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if not isinstance(body, ast.Call) or name not in functions:
        return None
    parameters = [
        argument.arg for argument in (*functions[name].args.posonlyargs, *functions[name].args.args)
    ]
    by_name = {keyword.arg: keyword.value for keyword in body.keywords}
    places = parameters[len(body.args) : len(body.args) + len(by_name)]
    if by_name.keys() != set(places):
        return None
    return f"{name}({', '.join(map(ast.unparse, [*body.args, *(by_name[place] for place in places)]))})"


_IMPORTED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("Any", "Callable", "Dict", "Iterable", "Iterator", "List", "Optional"), "typing"),
    **dict.fromkeys(("Sequence", "Set", "Tuple", "Union", "Deque", "DefaultDict"), "typing"),
    **dict.fromkeys(("Counter", "OrderedDict", "defaultdict", "deque"), "collections"),
    **dict.fromkeys(("accumulate", "chain", "combinations", "permutations", "product"), "itertools"),
    **dict.fromkeys(("groupby", "pairwise", "zip_longest", "count", "starmap"), "itertools"),
    **dict.fromkeys(("cache", "lru_cache", "reduce", "cmp_to_key"), "functools"),
    **dict.fromkeys(("bisect", "bisect_left", "bisect_right", "insort"), "bisect"),
    **dict.fromkeys(("heapify", "heappop", "heappush", "heappushpop", "heapreplace"), "heapq"),
    **dict.fromkeys(("ceil", "comb", "factorial", "floor", "gcd", "inf", "isqrt", "log2", "sqrt"), "math"),
}
"""Names that LiveCodeBench imports before it executes a text, by their modules."""


def _with_imports(code: str) -> str:
    """The text with the imports that LiveCodeBench executes it with, as far as it reads their names."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return code
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)} | set(dir(builtins))
    bound |= {node.asname or node.name for node in ast.walk(tree) if isinstance(node, ast.alias)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    needed = sorted({node.id for node in names} & _IMPORTED.keys() - bound)
    lines = [f"from {_IMPORTED[name]} import {name}\n" for name in needed]
    return "".join(lines) + ("\n\n" if lines else "") + code


# ── functions and problems in several languages ──────────────────────────────────────────────────────────


def _code_search_net(row: Row) -> Row | str:
    language = _text(row.get("language")).lower()
    if language and language not in LANGUAGES:
        return f"row in {without_engine(name=language) or language}{NO_ENGINE}"
    texts = ("whole_func_string", "func_code_string", "code", "original_string")
    source = next(filter(None, (row.get(column) for column in texts)), None)
    # The label is the name alone: `Class.method` stands for a method.
    name = _text(row.get("func_name")).rpartition(".")[2]
    split = row.get("split_name") or row.get("partition")
    group = row.get("repository_name") or row.get("repo")
    words = row.get("func_documentation_string") or row.get("docstring")
    cells = {"source": source, "language": language or PYTHON.name, "func_name": name, DOCUMENTATION: words}
    return {**row, **cells, "group": group, **({"split": split} if split else {})}


def _cosqa(row: Row) -> Row | str:
    """A query of a search engine with a function of Python. Only pairs that fit have a right answer."""
    fits = truth(row.get("label"))
    if fits not in (0, 1):
        return "pair without a label"
    if not fits:
        return "code that does not answer its query"
    return {**row, "label": None, "language": PYTHON.name, QUERY: row.get("doc")}


def _humaneval_x(row: Row) -> Row | str:
    kind = _text(row.get("task_id")).partition("/")[0].lower()
    prompt, declaration = _text(row.get("prompt")), _text(row.get("declaration"))
    solution, test = _text(row.get("canonical_solution")), _text(row.get("test"))
    if kind == PYTHON.name or toolchain(kind) is not None:
        return {**row, "source": prompt + solution, "language": kind, TESTS: test or None}
    if kind != JAVA.name:
        return f"row in {without_engine(name=kind) or kind}{NO_ENGINE}"
    # The declaration is the prompt without its comment, up to the opened body of the method.
    named = re.findall(r"(\w+)\s*\(", declaration)
    return _method(row, declaration + solution, named[-1] if named else "")


def _method(row: Row, program: str, name: str) -> Row | str:
    """A row with the method of this name of a class of Java. Tests of Java are not executed."""
    methods = load_target(audit_of(JAVA.name).reader)(program, "", Counter())
    chosen = next((method for method in methods if method.label == name), None)
    if chosen is None:
        return "no method"
    return {**row, "source": chosen.source, "language": JAVA.name, "name": name, TESTS: None}


def _humaneval_pack(row: Row) -> Row | str:
    """The reference, with the buggy solution as the other side of its fix."""
    # What precedes a prompt of Python is in it; what other languages need stands in columns of their own.
    setup, wrong = _text(row.get("test_setup")), _text(row.get("buggy_solution"))
    imports, test = _text(row.get("import")), _text(row.get("test"))
    prompt = _text(row.get("prompt"))
    before = f"{imports.rstrip()}\n" if imports.strip() and imports.strip() not in prompt else ""
    table_row = _humaneval_x({**row, "prompt": before + prompt})
    if isinstance(table_row, str) or table_row.get(TESTS) is None:
        return table_row
    tests = f"{setup.rstrip()}\n{test}" if setup.strip() and setup.strip() not in test else test
    return {**table_row, TESTS: tests, OTHER_SIDE: before + prompt + wrong if wrong else None}


def _multipl_e(row: Row) -> Row | str:
    """A row with a solution, which a user has added: the published rows have none."""
    kind = _text(row.get("language"))
    language = by_ending(f".{kind}")
    named = kind if language is None else language.name
    source = _text(row.get("prompt")) + _text(row.get("canonical_solution"))
    tests = _text(row.get("tests")).lstrip()
    if tests.startswith("}"):  # in C++ they begin with the brace that ends the function
        tests = tests.removeprefix("}")
        source = source if re.search(r"^\}\s*\Z", source, re.MULTILINE) else f"{source.rstrip()}\n}}\n"
    name = re.sub(r"^\w+?_\d+_", "", _text(row.get("name")))
    return {**row, "source": source, "language": named, "name": name, TESTS: tests or None}


def _quixbugs(row: Row) -> Row | str:
    """The solution, with the buggy program as the other side of its fix."""
    source, wrong = (_text(row.get(column)).strip("\n") for column in ("solution", "buggy_program"))
    if not source or not wrong:
        return "row without source"
    return {
        **row,
        "source": f"{source}\n",
        "language": PYTHON.name,
        TESTS: _text(row.get("tests")) or None,
        OTHER_SIDE: f"{wrong}\n",
    }


def _refinement(row: Row) -> Row | str:
    """The mended method, with the faulty one as the other side of its fix."""
    source, wrong = (_text(row.get(column)).strip() for column in ("fixed", "buggy"))
    if not source or not wrong:
        return "row without source"
    return {**row, "source": source, "language": JAVA.name, OTHER_SIDE: wrong}


def _translated_pair(row: Row) -> Row | str:
    """The method of Java, with what it is in C#."""
    source, other = (_text(row.get(column)).strip() for column in ("java", "cs"))
    if not source or not other:
        return "row without source"
    return {**row, "source": source, "language": JAVA.name, **as_target("c#", other)}


def _mxeval(row: Row) -> Row | str:
    """A row of MBXP, or of the other data sets of its authors. In some languages few rows have a solution."""
    solution, name = _text(row.get("canonical_solution")), _text(row.get("entry_point"))
    if not solution.strip():
        return "problem without a solution"
    source, language = _text(row.get("prompt")) + solution, _text(row.get("language")).lower()
    if language == JAVA.name:
        return _method(row, source, name)
    test = _text(row.get("test"))
    if language == JAVASCRIPT.name:
        test = test.replace(_LODASH, _IS_EQUAL)
    return {**row, "source": source, "language": language, "name": name, TESTS: test or None}


_LODASH: Final = 'const _ = require("lodash")'
"""Its `isEqual` is all that the tests use of it."""
_IS_EQUAL: Final = """\
const _ = { isEqual(one, other) {
    const plain = (value) => Object.prototype.toString.call(value) === '[object Object]';
    if (Array.isArray(one) && Array.isArray(other))
        return one.length === other.length && Array.from(one).every((each, at) => _.isEqual(each, other[at]));
    const made = 'constructor' in Object(one) && 'constructor' in Object(other);
    if (plain(one) && plain(other) && !(made && one.constructor !== other.constructor)) {
        const [names, others] = [Object.keys(one), Object.keys(other)];
        return names.length === others.length
            && names.every((name) => others.includes(name) && _.isEqual(one[name], other[name]));
    }
    return one === other || require("node:util").isDeepStrictEqual(one, other);
} }"""
"""The same for the values of these tests: 0 is -0, as in lodash. The sandbox has no packages of node."""


# ── problems with unit tests of Python ───────────────────────────────────────────────────────────────────


def _big_code_bench(row: Row) -> Row | str:
    source = _text(row.get("complete_prompt")) + _text(row.get("canonical_solution"))
    test = _text(row.get("test"))
    if not source or not test:
        return "row without source"
    if not _imported_by(source) | _imported_by(test) <= sys.stdlib_module_names:
        return "row that needs libraries beyond Python's own, which the sandbox does not have"
    return {**row, "source": source, "language": PYTHON.name, TESTS: f"{test.rstrip()}\n{_UNIT_TESTS}"}


_UNIT_TESTS: Final = """\


import unittest as _unittest

_result = _unittest.TestResult()
for _one in list(globals().values()):
    if isinstance(_one, type) and issubclass(_one, _unittest.TestCase):
        _unittest.defaultTestLoader.loadTestsFromTestCase(_one).run(_result)
assert _result.testsRun > len(_result.skipped) and _result.wasSuccessful()
"""
"""Runs the classes of unit tests before it."""


def _imported_by(text: str) -> set[str]:
    """The packages that a text imports anywhere; none if it does not parse."""
    packages: set[str] = set()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return packages
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            packages.add(node.module.partition(".")[0])
    return packages


def _class_eval(row: Row) -> tuple[Row, ...] | str:
    """The methods of a class, without tests: those of the class make objects, and a program that is tested
    is in another process."""
    methods = row.get("methods_info")
    kept = [method for method in methods if isinstance(method, dict)] if isinstance(methods, list) else []
    return tuple(_class_method(row, method) for method in kept) or "class without methods"


def _class_method(row: Row, method: Row) -> Row:
    """A method as a text of its own. The group keeps the methods of a class on one side of a split."""
    # The first line of a method has no indentation; the others have that of the class.
    source = dedent(f"    {_text(method.get('solution_code')).strip()}\n")
    return {
        "source": source,
        "language": PYTHON.name,
        "name": method.get("method_name"),
        "group": row.get("task_id"),
    }


# ── submissions to judges ────────────────────────────────────────────────────────────────────────────────


def _code_net(row: Row) -> Row | str:
    """A submission that was accepted, with the number of its problem as the label, as in POJ-104."""
    status, ending = row.get("status"), _text(row.get("filename_ext")).lower().lstrip(".")
    if status != "Accepted":
        return "submission that was not accepted" if isinstance(status, str) else "status that is no word"
    language = by_ending(f".{ending}")
    if language is None:
        return f"row in {without_engine(ending=f'.{ending}') or ending}{NO_ENGINE}"
    problem = _text(row.get("problem_id")) or _text(row.get("p_id"))
    number = problem.removeprefix("p")
    return {**row, "language": language.name, "label": int(number) if number.isdecimal() else problem}


def _texts(value: object) -> Sequence[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_WRONG: Final = (
    "of four sets of vulnerabilities from real projects 20 to 71 % of the labels were found wrong and "
    "17 to 99 % of the rows duplicated (arXiv 2301.05456)"
)
_RIGHT: Final = "{share} of its vulnerable functions were found to be vulnerable (arXiv 2411.17274)"
_FLAWED: Final = "the reference of 18 problems is wrong (EvalPlus, section 4)"
_DOCUMENTED: Final = (
    "documentation stands for a summary and for a query: some says little about the code, or is not English "
    "(arXiv 1909.09436, section 2)"
)
DATA_SETS: Final[Sequence[DataSet]] = (
    DataSet(
        name="HumanEval+ and MBPP+ (EvalPlus files)",
        place="EvalPlus's HumanEvalPlus.jsonl and MbppPlus.jsonl",
        columns=("canonical_solution", "entry_point", "base_input", "plus_input"),
        others=("prompt", "atol"),
        licence="Apache-2.0",
        known_errors="",
        read=_evalplus,
    ),
    DataSet(
        name="HumanEvalPack",
        place="bigcode/humanevalpack (configurations python, js, java, cpp)",
        columns=("task_id", "declaration", "canonical_solution", "buggy_solution", "test"),
        others=("prompt", "import", "test_setup", "entry_point"),
        licence="MIT",
        known_errors="from HumanEval-X: " + _FLAWED + "; the faults were put in by hand",
        read=_humaneval_pack,
    ),
    DataSet(
        name="MultiPL-E, with solutions of your own",
        place="nuprl/MultiPL-E, with a column canonical_solution",
        columns=("prompt", "canonical_solution", "tests", "stop_tokens"),
        others=("name", "language"),
        licence="MIT",
        known_errors="translated from HumanEval and MBPP by a program, with their errors",
        read=_multipl_e,
    ),
    DataSet(
        name="QuixBugs",
        place="Muennighoff/quixbugs",
        columns=("buggy_program", "solution", "tests"),
        others=("docstring",),
        licence="MIT",
        known_errors="40 classic algorithms with one wrong line each, so models may know them",
        read=_quixbugs,
    ),
    DataSet(
        name="CodeXGLUE code refinement",
        place="google/code_x_glue_cc_code_refinement (configurations small, medium)",
        columns=("buggy", "fixed"),
        licence="C-UDA (CodeXGLUE); the code, that of each project",
        known_errors="methods of commits whose message speaks of a fix, with abstracted names and without "
        "tests: the fix may be one of several, or none",
        told=True,
        read=_refinement,
    ),
    DataSet(
        name="CodeXGLUE code translation",
        place="google/code_x_glue_cc_code_to_code_trans",
        columns=("java", "cs"),
        licence="C-UDA (CodeXGLUE); the code, that of each project",
        known_errors="methods of equal names in projects that exist in both languages, without tests: they "
        "may do different things",
        told=True,
        read=_translated_pair,
    ),
    DataSet(
        name="HumanEval-X",
        place="zai-org/humaneval-x",
        columns=("task_id", "declaration", "canonical_solution", "test"),
        others=("prompt",),
        licence="Apache-2.0",
        known_errors="translated from HumanEval: "
        + _FLAWED
        + "; in JavaScript the references of two problems fail their tests, and one needs js-md5",
        read=_humaneval_x,
    ),
    DataSet(
        name="BigCodeBench",
        place="bigcode/bigcodebench, bigcode/bigcodebench-hard",
        columns=("complete_prompt", "canonical_solution", "entry_point", "test", "libs"),
        licence="Apache-2.0",
        known_errors="only rows that need no library beyond Python's own are read; a review by programs "
        "found faults in 768 of its 1,140 tasks, with 358 wrong tests (bubbleresearch/bigcodebench-plus)",
        read=_big_code_bench,
    ),
    DataSet(
        name="MBXP, Multi-HumanEval, MathQA-X",
        place="mxeval/mbxp, mxeval/multi-humaneval, mxeval/mathqa-x; mbjsp_release_v1.2.jsonl, …",
        columns=("task_id", "language", "prompt", "test", "entry_point", "canonical_solution", "description"),
        licence="Apache-2.0",
        known_errors="translated from MBPP, HumanEval and MathQA by a program, with their errors; solutions "
        "in other languages than Python were written by a model (arXiv 2210.14868); some fit only the tests",
        read=_mxeval,
    ),
    DataSet(
        name="ClassEval",
        place="FudanSELab/ClassEval; ClassEval_data.json: a row for each method",
        columns=("class_name", "solution_code", "methods_info", "test_classes"),
        licence="MIT",
        known_errors="its tests are not read: they make objects of the class, and tests here call functions",
        read=_class_eval,
    ),
    DataSet(
        name="HumanEval, HumanEval+",
        place="openai/openai_humaneval, evalplus/humanevalplus",
        columns=("prompt", "canonical_solution", "entry_point", "test"),
        licence="MIT (HumanEval+: Apache-2.0)",
        known_errors="HumanEval: " + _FLAWED + "; HumanEval+ corrects them",
        read=lambda row: {**row, TESTS: row.get("test")},
    ),
    DataSet(
        name="MBPP+",
        place="evalplus/mbppplus",
        columns=("code", "test_list", "test"),
        others=("test_imports",),
        licence="Apache-2.0",
        known_errors="",
        read=_mbppplus,
    ),
    DataSet(
        name="MBPP",
        place="google-research-datasets/mbpp",
        columns=("code", "test_list"),
        others=("test_imports", "test_setup_code"),
        licence="CC-BY-4.0",
        known_errors="974 problems, of which its authors checked 427 by hand (the configuration `sanitized`)",
        read=_mbpp,
    ),
    DataSet(
        name="LiveCodeBench, execution",
        place="livecodebench/execution-v2",
        columns=("code", "input", "output", "function_name"),
        licence="see its card",
        known_errors="",
        read=_livecodebench,
    ),
    DataSet(
        name="CRUXEval",
        place="cruxeval-org/cruxeval",
        columns=("code", "input", "output"),
        licence="MIT",
        known_errors="",
        read=_cruxeval,
    ),
    DataSet(
        name="PrimeVul",
        place="colin/PrimeVul (configurations default, paired); primevul_test.jsonl, …",
        columns=("idx", "func", "target", "cwe"),
        others=("project", "commit_id", "file_name"),
        licence="MIT; the code, that of each project",
        known_errors=_RIGHT.format(share="86 %"),
        told=True,
        read=function,
    ),
    DataSet(
        name="DiverseVul",
        place="bstee615/diversevul; diversevul_20230702.json",
        columns=("func", "target", "cwe"),
        others=("project", "commit_id"),
        licence="none stated; the code, that of each project",
        known_errors="not measured; " + _WRONG,
        told=True,
        read=function,
    ),
    DataSet(
        name="Devign, CodeXGLUE defect detection",
        place="google/code_x_glue_cc_defect_detection; function.json, train.jsonl, valid.jsonl, test.jsonl",
        columns=("func", "target", "project", "commit_id"),
        licence="C-UDA (CodeXGLUE); Devign: none stated; the code, that of each project",
        known_errors=_WRONG,
        told=True,
        read=function,
    ),
    DataSet(
        name="BigVul",
        place="bstee615/bigvul; MSR_data_cleaned.csv",
        columns=("func_before", "func_after", "vul"),
        others=("lang", "project", "commit_id"),
        licence="MIT; the code, that of each project",
        known_errors=_WRONG,
        told=True,
        read=big_vul,
    ),
    DataSet(
        name="SVEN",
        place="bstee615/sven; data_train_val/val/cwe-089.jsonl, …",
        columns=("func_src_before", "func_src_after", "vul_type"),
        others=("file_name", "commit_link"),
        licence="MIT; the code, that of each project",
        known_errors=_RIGHT.format(share="94 %"),
        told=True,
        read=sven,
    ),
    DataSet(
        name="BigCloneBench, CodeXGLUE clone detection",
        place="google/code_x_glue_cc_clone_detection_big_clone_bench; train.txt, valid.txt or test.txt "
        "beside data.jsonl",
        columns=(*clones.COLUMNS, "id1", "id2"),
        others=("language",),
        licence="C-UDA (CodeXGLUE); the code, that of each project",
        known_errors="a clone is a pair of methods that were tagged with the same of 43 functionalities; of "
        "406 weak clones (types 3 and 4, 95 % of its clones) that were checked by hand 93 % do not do the "
        "same (arXiv 2505.04311)",
        told=True,
        read=clones.functions,
    ),
    DataSet(
        name="POJ-104",
        place="CodeXGLUE's train.jsonl, valid.jsonl and test.jsonl; on the hub with id in place of index: "
        "--columns language=c",
        columns=("index", "code", "label"),
        others=("language",),
        licence="C-UDA (CodeXGLUE)",
        known_errors="the label is the problem (1 to 104) that a program was handed in for; we know of no "
        "published check of the labels, or of near copies among the programs of a problem",
        read=clones.program,
    ),
    DataSet(
        name="CodeNet, with code",
        place="iNeil77/CodeNet; other copies of its metadata with a column code",
        columns=("code", "status", "filename_ext", "original_language"),
        others=("problem_id", "p_id"),
        licence="not stated there; the code, that of its authors",
        known_errors="the label is the problem that a program was handed in for; of identical problems and "
        "near copies its authors give lists (derived/), which are not applied here",
        read=_code_net,
    ),
    DataSet(
        name="Pairs of functions",
        place="tables with func1, func2 and label (1 for clones), perhaps language; else Java",
        columns=clones.COLUMNS,
        others=("language",),
        licence="yours",
        known_errors="",
        read=clones.functions,
    ),
    DataSet(
        name="CodeSearchNet",
        place="code-search-net/code_search_net",
        columns=("func_name", "whole_func_string"),
        others=(
            *("func_code_string", "func_documentation_string"),
            *("language", "repository_name", "split_name"),
        ),
        licence="that of each repository",
        known_errors=_DOCUMENTED,
        read=_code_search_net,
    ),
    DataSet(
        name="CodeSearchNet (its own files), CodeXGLUE code-to-text (its own files)",
        place="the files of its first release; train.jsonl, valid.jsonl, test.jsonl",
        columns=("func_name", "code", "partition"),
        others=("original_string", "docstring", "language", "repo"),
        licence="that of each repository; CodeXGLUE: C-UDA",
        known_errors=_DOCUMENTED,
        read=_code_search_net,
    ),
    DataSet(
        name="CodeXGLUE code-to-text",
        place="google/code_x_glue_ct_code_to_text",
        columns=("func_name", "code", "docstring", "repo"),
        others=("original_string", "language"),
        licence="C-UDA; the code, that of each repository",
        known_errors=_DOCUMENTED,
        read=_code_search_net,
    ),
    DataSet(
        name="CoSQA, CodeXGLUE code search (WebQuery)",
        place="gonglinyuan/CoSQA; cosqa-train.json, cosqa-dev.json",
        columns=("doc", "code", "label"),
        licence="C-UDA (CodeXGLUE); the code, that of each repository",
        known_errors="people judged single pairs, so other code may answer a query, too, and counts as wrong "
        "(arXiv 2406.11589)",
        read=_cosqa,
    ),
)
"""In this order: the first one whose columns a row has counts."""
PAIRED: Final = tuple(data_set for data_set in DATA_SETS if data_set.read in (_refinement, _translated_pair))
"""Data sets whose rows have two texts: `--columns source=COLUMN` chooses one of them for another task."""
COLUMNS: Final[Collection[str]] = frozenset(
    column for data_set in DATA_SETS for column in (*data_set.columns, *data_set.others)
)

_PROBLEMS: Final = (
    "it has problems of LiveCodeBench without solutions, and codeaudit rewrites code: take "
    "hfds:livecodebench/execution-v2@test, whose rows have it, or add columns with solutions of your own: "
    "prompt, canonical_solution, entry_point and test, as in HumanEval"
)
WITHOUT_CODE: Final[Mapping[Collection[str], str]] = {
    ("question_content", "public_test_cases"): _PROBLEMS,  # livecodebench/code_generation_lite
    ("question_content", "test_id", "test"): _PROBLEMS,  # livecodebench/test_generation
    ("func", "idx"): "of BigCloneBench name a file of pairs beside it, train.txt, valid.txt or test.txt; of "
    "another set the column of code: --columns source=func",
    (
        "prompt",
        "tests",
        "stop_tokens",
    ): "rows of MultiPL-E have no solutions, and codeaudit rewrites code: add a "
    "column canonical_solution that goes on where the prompt ends",
    (
        "instance_id",
        "base_commit",
        "patch",
    ): "rows of SWE-bench have patches of repositories and no functions: check out a repository at "
    "base_commit and name its folder",
    (
        "submission_id",
        "problem_id",
        "filename_ext",
    ): "it has metadata of CodeNet, whose programs lie in files of their own: name their folder, such as "
    "data/p00001/Python",
    ("question_id", "code_list"): "it has answers of models to problems of LiveCodeBench, several in a row: "
    "write one row for each, with a column `code`",
}
"""What to do with tables of known data sets that have no column of code, by columns that show them."""
