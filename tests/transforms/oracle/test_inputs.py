"""Inputs that fit a function, drawn from its text alone."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.oracle.inputs import find, inputs
from codeaudit.transforms.oracle.oracle import Agreed, Oracle
from tests.support.pure_functions import PROGRAMS, Program


def kinds(source: str, place: int = 0) -> set[str]:
    """The kinds of one argument over many inputs."""
    names = set()
    for text in inputs(source, seed=0, count=40):
        call = ast.parse(f"call{text}", mode="eval").body
        assert isinstance(call, ast.Call)
        if place < len(call.args):
            node = call.args[place]
            if isinstance(node, ast.UnaryOp):
                node = node.operand
            value = type(node.value).__name__ if isinstance(node, ast.Constant) else type(node).__name__
            names.add(
                node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else value
            )
    return names


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x: int): pass", {"int"}),
        ("def f(x: 'str'): pass", {"str"}),
        ("def f(x: int | None): pass", {"int", "NoneType"}),
        ("def f(x: Optional[str]): pass", {"str", "NoneType"}),
        ("def f(x: typing.List[int]): pass", {"List"}),
        ("def f(x: dict[str, int]): pass", {"Dict"}),
        ("def f(x: tuple[int, str]): pass", {"Tuple"}),
        ("def f(x: set[int]): pass", {"Set", "set"}),
        ("def f(x: Iterator[int]): pass", {"iter"}),
        ("def f(x: Callable[[int], int]): pass", {"probe"}),
        ("def f(x: Literal['a', 3]): pass", {"str", "int"}),
        ("def f(x=3): pass", {"int"}),
        ("def f(x=''): pass", {"str"}),
        ("def f(x):\n    for y in x: pass", {"List"}),
        ("def f(x): return x.upper()", {"str"}),
        ("def f(x): return x['key']", {"Dict"}),
        ("def f(x): return x.items()", {"Dict"}),
        ("def f(x): return x.add(1)", {"Set", "set"}),
        ("def f(x): return x == 'a'", {"str"}),
        ("def f(x): return range(x)", {"int"}),
        ("def f(x): return x % 3 == 0", {"int"}),
        ("def f(x): return sum(x)", {"List"}),
        ("def f(x): return x(1)", {"probe"}),
        ("def f(x): return x.run()", {"probe"}),
        ("def f(self): return self", {"probe"}),
        ("def f(x):\n    with x: pass", {"probe"}),
        ("def f(x): return isinstance(x, (int, str))", {"int", "str"}),
    ],
)
def test_values_fit_what_is_known_of_the_parameter(source: str, expected: set[str]) -> None:
    names = kinds(source)
    assert names
    assert names <= expected | ({"nan", "inf", "Name", "float"} if "float" in expected else set())


def test_constants_that_are_compared_with_are_tried() -> None:
    texts = inputs("def f(x):\n    return x == 'needle' or x == 'hay'", seed=0, count=60)
    assert {"('needle',)", "('hay',)"} <= set(texts)
    numbers = inputs("def f(x: int):\n    return x > 4321", seed=0, count=80)
    assert {"(4320,)", "(4321,)", "(4322,)"} <= set(numbers)


def test_keys_that_are_asked_for_are_there() -> None:
    assert all("'key': " in text for text in inputs("def f(x): return x['key']", seed=0, count=20))


def test_items_are_of_a_kind_that_fits_too() -> None:
    for text in inputs(
        "def f(rows):\n    for name, n in rows:\n        name.upper(), n + 1", seed=0, count=30
    ):
        (rows,) = ast.literal_eval(text)
        assert all(isinstance(name, str) and isinstance(n, int) for name, n in rows)


def test_every_form_of_parameter_gets_its_argument() -> None:
    texts = inputs("def f(a: int, /, b: int, c=1, *rest: int, d: int, e=2, **more): pass", seed=0, count=40)
    for text in texts:
        call = ast.parse(f"call{text}", mode="eval").body
        assert isinstance(call, ast.Call)
        names = {keyword.arg for keyword in call.keywords}
        assert "d" in names
        assert names <= {"d", "e", "extra"}
        assert len(call.args) >= 2
    assert any("e=" in text for text in texts)
    assert any(len(ast.parse(f"call{text}", mode="eval").body.args) > 3 for text in texts)  # type: ignore[attr-defined]


def test_inputs_depend_on_text_and_seed_alone() -> None:
    source = "def f(x, y=1): return x.split(y)"
    assert inputs(source, seed=1, count=10) == inputs(source, seed=1, count=10)
    assert inputs(source, seed=1, count=10) != inputs(source, seed=2, count=10)
    assert len(set(inputs(source, seed=1, count=10))) == len(inputs(source, seed=1, count=10))


def test_inputs_do_not_depend_on_what_else_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "def f(x: int, y: str, z: float): return x, y, z"
    before = inputs(source, seed=0, count=200)
    (tmp_path / "constants_of_the_user.py").write_text(f"MANY = {[*range(3, 60), *map(str, range(300))]}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import_module("constants_of_the_user")
    assert inputs(source, seed=0, count=200) == before


def test_a_function_without_parameters_has_one_input() -> None:
    assert inputs("def f(): pass", seed=0, count=10) == ("()",)


def test_the_function_is_found() -> None:
    source = "def f(): pass\nasync def g(x: int): pass\nclass A:\n    def h(self): pass\n"
    function = find(source, None)
    assert function is not None
    assert function.name == "g"
    assert find(source, "h") is None
    assert inputs(source, function="h", seed=0, count=3) == ()
    with pytest.raises(SourceError):
        find("def", None)


def test_drawing_leaves_nothing_in_the_folder_where_it_runs(tmp_path: Path) -> None:
    """Hypothesis keeps tables in `.hypothesis`; a process that has its own settings gets them back."""
    program = (
        "from codeaudit.transforms.oracle.inputs import inputs\n"
        "from hypothesis import configuration\n"
        "configuration.set_hypothesis_home_dir('own')\n"
        "assert len(inputs('def f(name: str): return name.upper()', seed=0, count=5)) > 1\n"
        "print(configuration.storage_directory('x').home_directory)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "own\n"
    assert list(tmp_path.iterdir()) == []


def test_hypothesis_is_imported_when_inputs_are_drawn_and_not_before() -> None:
    program = (
        "import sys; import codeaudit.transforms.oracle.oracle as o; from codeaudit.transforms.oracle.inputs import inputs\n"
        "before = 'hypothesis' in sys.modules; inputs('def f(x): pass', seed=0, count=1)\n"
        "print(before, 'hypothesis' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]
    assert done.stderr == ""


@pytest.mark.thinned(1)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_pure_functions_return_on_some_drawn_input(program: Program) -> None:
    with Oracle() as oracle:
        verdict = oracle.judge(program.source, program.source)
    assert isinstance(verdict, Agreed)
    assert verdict.returned > 0 or program.run() == [UnboundLocalError] * len(program.inputs)
