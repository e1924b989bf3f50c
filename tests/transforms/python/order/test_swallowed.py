"""Behind a `with` that swallows an exception the function goes on, and what came before the exception shows.

In each text a name, an attribute or a module is missing. By execution: no order may show that.
"""

import pytest

from codeaudit.transforms.python.analysis.knowledge import NEVER_SWALLOWING
from codeaudit.transforms.python.analysis.program import analyse
from tests.transforms.python.order.test_seen_by_others import assert_the_same

HEAD = """\
import asyncio, contextlib, unittest
from contextlib import ExitStack, contextmanager, suppress

class Quiet:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        return True
    async def __aenter__(self):
        return self
    async def __aexit__(self, *error):
        return True

@contextmanager
def quiet():
    try:
        yield
    except Exception:
        pass

class Test(unittest.TestCase):
    def runTest(self):
        pass

def stacked(stack):
    stack.enter_context(suppress(Exception))
    return stack

held = Quiet()
"""
STATEMENTS = {
    "a global and a missing name": (
        "", "global native, step\n        native = True\n        step = MISSING", "globals().get('native')"),
    "an attribute and a missing name": ("", "box._native = True\n        step = MISSING", "vars(box)"),
    "an attribute and a missing module": ("", "box._native = True\n        import missing", "vars(box)"),
    "an attribute and a missing attribute of a module": (
        "", "box._native = True\n        step = asyncio.missing", "vars(box)"),
    "an attribute and a missing attribute": ("", "self._native = True\n        step = self.missing", "vars(self)"),
    "a captured variable and a missing name": (
        "native = None\n    def seen():\n        return native\n    ",
        "native = True\n        step = MISSING", "seen()"),
}  # fmt: skip
MANAGERS = {
    "suppress": "suppress(NameError, AttributeError, ImportError)",
    "suppress of a module": "contextlib.suppress(Exception)",
    "a stack": "stacked(ExitStack())",
    "a class of the file": "Quiet()",
    "an object": "held",
    "a function under contextmanager": "quiet()",
    "assertRaises": "Test().assertRaises((NameError, AttributeError, ImportError))",
    "pytest.raises": "__import__('pytest').raises(Exception)",
    "the second of two": "open('/dev/null'), suppress(Exception)",
    "one that hides behind the name of a file": "(lambda open: open)(Quiet())",
}
PROGRAM = """\
{head}
class Box:
    def f(self, box):
        {before}with {manager}:
            {body}
        return {after}
box = Box()
print(box.f(Box()))
"""


def program(manager: str, statements: str) -> str:
    before, body, after = (part.replace("\n", "\n    ") for part in STATEMENTS[statements])
    manager = manager.replace("\n", "\n    ")
    return PROGRAM.format(head=HEAD, before=before, manager=manager, body=body, after=after)


@pytest.mark.thinned(15)
@pytest.mark.parametrize("statements", STATEMENTS)
@pytest.mark.parametrize("manager", MANAGERS.values(), ids=MANAGERS)
def test_what_was_done_before_an_exception_shows(
    manager: str, statements: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_the_same(program(manager, statements), capsys)


@pytest.mark.parametrize("statements", STATEMENTS)
def test_an_async_with_swallows(statements: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = program("Quiet()", statements).replace("with Q", "async with Q").replace("def f", "async def f")
    assert_the_same(text.replace("print(box.f(Box()))", "print(asyncio.run(box.f(Box())))"), capsys)


REBOUND = {
    "open": "def open(path):\n    return Quiet()\n",
    "threading": "class threading:\n    Lock = Quiet\n",
    "a module of another name": "threading = contextlib\nthreading.Lock = Quiet\n",
    "torch": "class torch:\n    no_grad = Quiet\n",
}
CALLS = {"open": "open('/dev/null')", "torch": "torch.no_grad()"}


@pytest.mark.parametrize("name", REBOUND)
def test_names_that_mean_something_else(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = program(CALLS.get(name, "threading.Lock()"), "an attribute and a missing name")
    assert_the_same(text.replace("held = Quiet()\n", f"held = Quiet()\n{REBOUND[name]}"), capsys)


def free(manager: str, head: str = "") -> bool:
    """Whether two statements of which one looks up a name may change places under a `with` of this."""
    text = f"def f(self):\n    with {manager}:\n        self._a = 1\n        b = LIMIT\n    return b\n"
    block = analyse(text, around=head + text).blocks[-1]
    return not block.predecessors[1] & 1


@pytest.mark.thinned(22)
@pytest.mark.parametrize("name", NEVER_SWALLOWING)
def test_under_a_manager_that_is_known_statements_stay_free(name: str) -> None:
    root = name.partition(".")[0]
    head = "" if root == name else f"import numpy as np, {name.rpartition('.')[0]}\n".replace(", np", "")
    assert free(f"{name}()", head)
    assert not free(f"{name}.more()", head)
    assert not free(name, head)


def test_imported_names_are_known() -> None:
    assert free("Lock()", "from threading import Lock\n")
    assert not free("Lock()", "from tools import Lock\n")
    assert not free("Lock()")
    assert not free("torch.no_grad()")
