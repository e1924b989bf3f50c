"""The ledger of Python, entry by entry, by execution.

For each entry another file does not keep to it, and an edit changes what the program does: so the entry is
needed. And for each entry a file shows the same itself, and the edit is refused.
"""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent
from typing import Final, NamedTuple

import pytest

from codeaudit.transforms.perturb import DENIED, perturb_one
from codeaudit.transforms.python.ledger import LEDGER
from codeaudit.transforms.records import NotApplied, Origin, Outcome, Perturbed, Sample
from codeaudit.transforms.registry import rests_on, transform_for

VARIANTS: Final = 3


class Program(NamedTuple):
    """A file with one function that a transform rewrites."""

    transform: str
    function: str
    file: str = "§"
    """The text around; `§` stands for the function, `    §` for the function as a method."""

    def text(self, function: str) -> str:
        """The file with this text in the place of the function."""
        return self.file.replace("    §", indent(function, "    ")).replace("§", function)

    def variants(self) -> list[tuple[Outcome, str]]:
        """What the transform makes of the function, each with the file after it."""
        transform = transform_for(self.transform, "python")
        file = self.text(self.function)
        whole = transform.unit == "module"
        sample = Sample(
            id="ledger",
            language="python",
            source=file if whole else self.function,
            label=None,
            context=file,
            origin=Origin(path="tools.py", line=1),
        )
        return [
            (edit, file if isinstance(edit, NotApplied) else edit.source if whole else self.text(edit.source))
            for edit in perturb_one(sample, transform, variants=VARIANTS, seed=0)
        ]


def program(transform: str, function: str, file: str = "§") -> Program:
    """A program from indented texts."""
    return Program(transform, dedent(function).lstrip("\n"), dedent(file).lstrip("\n"))


def method(transform: str, function: str, head: str = "", tail: str = "") -> Program:
    """A program whose function is a method of a class `C`."""
    return program(transform, function, f"{dedent(head)}class C:\n    _n = 0\n    §\n{dedent(tail)}")


def told(folder: Path, tools: str, other: str) -> str:
    """What `other` prints, which may import the file as `tools`."""
    folder.mkdir(exist_ok=True)
    (folder / "tools.py").write_text(tools, encoding="utf-8")
    (folder / "other.py").write_text(other, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-S", "-B", "-W", "ignore", "other.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not done.returncode, done.stderr
    return done.stdout


# ── the functions ────────────────────────────────────────────────────────────────────────────────────────

TWO_STORES: Final = """
    def f(self):
        self._a = 1
        self._b = 2
        return self
"""
CLEANED: Final = """
    def f():
        a = clean("a")
        b = clean("b")
        return a, b
"""
CLEAN: Final = "def clean(x):\n    return 1\n"
LENGTHS: Final = """
    def f():
        a = len("a")
        b = len("bb")
        return a, b
"""
LIMITED: Final = """
    def f(self):
        self._done = True
        limit = LIMIT
        return limit
"""
SIZED: Final = """
    def f(self):
        self._done = True
        size = self.size
        return size
"""
LOOKING: Final = """
    def f(self, a):
        n = self._n
        x = a.size
        return n, x
"""
LOOPING: Final = """
    def f(self, xs: list[int]):
        n = self._n
        for x in xs:
            pass
        return n
"""
SUM: Final = """
    def f(x, y):
        a = float(x)
        b = float(y)
        return a + b
"""
CALLING: Final = """
    def f(look):
        total = 1
        look()
        return total
"""
RAISING: Final = """
    def f():
        x = 1
        raise ValueError(x)
"""
DROPPING: Final = """
    def f(a, b, n):
        a = n
        b = n
        return a, b
"""
HALF: Final = "def _half(x):\n    return x / 2\n\ndef f(x):\n    return _half(x)\n"
INNER: Final = """
    def f(look):
        def helper():
            return look()
        return helper()
"""
METHODS: Final = "class C:\n    def a(self):\n        return 1\n    def b(self):\n        return 2\n"
IMPORTS: Final = "import json\nimport csv\n"
PUBLISHING: Final = """
    def f(self, rows):
        self._rows = rows
        self._ready = True
"""
DEEP: Final = """
    def f(self):
        self._a = 1
        b = clean(1)
        return b
"""
KEYWORDS: Final = "def f(show):\n    return show(x=1, y=2)\n"
PRODUCT: Final = "def f(a, b):\n    return a * b\n"
DOCUMENTED: Final = 'def f():\n    "Doc."\n    return 1\n'
ANNOTATED: Final = "def f(x: int):\n    return x\n"
VALUE: Final = "def f(value):\n    return value\n"

# ── another file ─────────────────────────────────────────────────────────────────────────────────────────

BROKEN: Final[dict[str, tuple[Program, str]]] = {
    "builtins-meant": (
        program("reorder", LENGTHS),
        "import builtins, tools\nbuiltins.len = print\ntools.f()\n",
    ),
    "definitions-kept": (
        program("reorder", CLEANED, f"{CLEAN}§\n"),
        "import tools\ntools.clean = print\ntools.f()\n",
    ),
    "lookups-exist": (
        method("reorder", LIMITED, "LIMIT = 3\n"),
        "import tools\ndel tools.LIMIT\nc = tools.C()\ntry:\n    c.f()\nexcept NameError:\n    print(vars(c))\n",
    ),
    "calls-by-position": (
        program("rename-parameters", VALUE),
        "import tools\ntry:\n    print(tools.f(value=1))\nexcept TypeError:\n    print('no value')\n",
    ),
    "definition-names-unread": (
        program("rename-functions", HALF),
        "import tools\nprint(hasattr(tools, '_half'))\n",
    ),
    "looks-quiet": (
        method("reorder", LOOKING),
        """
        import tools
        class A:
            @property
            def size(self):
                c._n += 1
        c = tools.C()
        print(c.f(A()))
        """,
    ),
    "attributes-plain": (
        method("reorder", TWO_STORES),
        """
        import tools
        class D(tools.C):
            def __setattr__(self, name, value):
                print(name)
        D().f()
        """,
    ),
    "annotations-hold": (
        method("reorder", LOOPING),
        """
        import tools
        class Odd(list):
            def __iter__(self):
                c._n += 1
                return super().__iter__()
        c = tools.C()
        print(c.f(Odd()))
        """,
    ),
    "identity-unread": (
        program("swap-operands", SUM),
        "import math, tools\nprint(math.copysign(1, tools.f('nan', '-nan')))\n",
    ),
    "frames-unread": (
        program("rename", CALLING),
        "import sys, tools\ntools.f(lambda: print(sorted(sys._getframe(1).f_locals)))\n",
    ),
    "positions-unread": (
        program("insert-blank-lines", RAISING),
        """
        import tools
        try:
            tools.f()
        except ValueError as error:
            print(error.__traceback__.tb_next.tb_lineno)
        """,
    ),
    "source-unread": (
        program("insert-comments", VALUE),
        "import inspect, tools\nprint(inspect.getsource(tools.f))\n",
    ),
    "notes-unread": (program("remove-docstrings", DOCUMENTED), "import tools\nprint(tools.f.__doc__)\n"),
    "release-unseen": (
        program("reorder", DROPPING),
        """
        import tools
        class Told:
            def __init__(self, name):
                self.name = name
            def __del__(self):
                print(self.name)
        tools.f(Told("a"), Told("b"), 1)
        """,
    ),
    "namespaces-unlisted": (
        program("reorder-methods", METHODS),
        "import tools\nprint(list(vars(tools.C)))\n",
    ),
    "imports-independent": (
        program("reorder-imports", IMPORTS),
        """
        import sys
        class Told:
            @staticmethod
            def find_spec(name, *_):
                print(name)
        sys.meta_path.insert(0, Told)
        import tools
        """,
    ),
    # A tracer stands for the other thread: it looks at the same moment in each run.
    "nobody-between": (
        method("reorder", PUBLISHING),
        """
        import sys, tools
        c = tools.C()
        def look(frame, event, argument):
            if frame.f_code.co_name == "f":
                print(sorted(vars(c)))
                return look
        sys.settrace(look)
        c.f(1)
        sys.settrace(None)
        """,
    ),
    "runs-through": (
        method("reorder", DEEP, CLEAN),
        """
        import sys, tools
        def deep(n):
            try:
                return c.f() if n == 0 else deep(n - 1)
            except RecursionError:
                pass
        for n in range(60):
            c = tools.C()
            sys.setrecursionlimit(50)
            deep(n)
            sys.setrecursionlimit(1000)
            print(n, vars(c))
        """,
    ),
    "parts-unordered": (
        program("reorder-any-keywords", KEYWORDS),
        "import tools\nprint(tools.f(lambda **k: list(k)))\n",
    ),
    "operands-commute": (
        program("swap-any-operands", PRODUCT),
        """
        import tools
        class M:
            def __init__(self, name):
                self.name = name
            def __mul__(self, other):
                return self.name + other.name
        print(tools.f(M("a"), M("b")))
        """,
    ),
}
"""By entry: a program, and another file that does not keep to the entry."""


@pytest.mark.parametrize("name", LEDGER)
def test_an_edit_is_seen_where_an_entry_that_it_rests_on_is_false(name: str, tmp_path: Path) -> None:
    subject, other = BROKEN[name]
    pairs = subject.variants()
    edits = [outcome for outcome, _ in pairs if isinstance(outcome, Perturbed)]
    assert edits
    assert all(name in {row.id for row in rests_on(edit)} for edit in edits)
    before = told(tmp_path, subject.text(subject.function), dedent(other))
    assert before
    assert {told(tmp_path, text, dedent(other)) for _, text in pairs} != {before}


# ── the file itself ──────────────────────────────────────────────────────────────────────────────────────


MAY_ACT: Final = "a neighbour may run unknown code"
STORED: Final = "a neighbour stores what another may see"
BETWEEN: Final = "somebody may look between two statements"
SHOWN: Final[list[tuple[str, Program, str]]] = [
    (
        "builtins-meant",
        program("reorder", LENGTHS, "import builtins\nbuiltins.len = print\n§"),
        MAY_ACT,
    ),
    ("builtins-meant", program("reorder", LENGTHS, "def len(x):\n    print(x)\n§"), MAY_ACT),
    (
        "definitions-kept",
        program("reorder", CLEANED, f"{CLEAN}§\ndef patch():\n    global clean\n    clean = print\n"),
        MAY_ACT,
    ),
    (
        "definitions-kept",
        program(
            "reorder", CLEANED, f'import sys\n{CLEAN}§\nsetattr(sys.modules[__name__], "clean", print)\n'
        ),
        MAY_ACT,
    ),
    (
        "lookups-exist",
        method(
            "reorder",
            """
            def f(self):
                with suppress(NameError):
                    self._done = True
                    limit = LIMIT
            """,
            "from contextlib import suppress\nLIMIT = 1\n",
        ),
        STORED,
    ),
    *(
        ("lookups-exist", method("reorder", code, f"import tools\nLIMIT = 3\n{head}"), STORED)
        for code, heads in {
            LIMITED: (
                "def drop():\n    global LIMIT\n    del LIMIT\n",
                "def drop():\n    del globals()['LIMIT']\n",
                "def drop():\n    globals().pop('LIMIT')\n",
                "def drop(name):\n    vars(tools).pop(name)\n",
                "def drop():\n    del tools.LIMIT\n",
                "def drop():\n    delattr(tools, 'LIMIT')\n",
                "drop = delattr\n",
            ),
            SIZED: (
                "def drop(one):\n    del one.size\n",
                "def drop(one):\n    del one.__dict__['size']\n",
                "def drop(one, name):\n    delattr(one, name)\n",
                "def drop(ones):\n    del ones[0].size, ones[1]\n",
            ),
        }.items()
        for head in heads
    ),
    (
        "calls-by-position",
        program("rename-parameters", VALUE, "§\nprint(f(value=1))\n"),
        "parameter passed by keyword",
    ),
    (
        "definition-names-unread",
        program("rename-functions", f"import sys\n{HALF}print(getattr(sys.modules[__name__], '_half'))\n"),
        "reflection on names",
    ),
    (
        "definition-names-unread",
        program(
            "rename-inner-functions", INNER, 'import logging\nlogging.basicConfig(format="%(funcName)s")\n§'
        ),
        "reflection on names",
    ),
    (
        "looks-quiet",
        method(
            "reorder",
            LOOKING,
            "class A:\n    @property\n    def size(self):\n        C._n += 1\n        return 1\n",
        ),
        MAY_ACT,
    ),
    (
        "attributes-plain",
        program(
            "reorder",
            TWO_STORES,
            "class C:\n    def __setattr__(self, name, value):\n        print(name)\n    §\n",
        ),
        MAY_ACT,
    ),
    (
        "attributes-plain",
        program("reorder", TWO_STORES, "from elsewhere import Base\nclass C(Base):\n    §\n"),
        MAY_ACT,
    ),
    (
        "annotations-hold",
        method(
            "reorder",
            LOOPING,
            "class list(list):\n    def __iter__(self):\n        print(1)\n        yield 1\n",
        ),
        MAY_ACT,
    ),
    (
        "annotations-hold",
        method(
            "reorder",
            LOOPING,
            "class Odd(list):\n    def __iter__(self):\n        C._n += 1\n        yield 1\n",
            "print(C().f(Odd([1])))\n",
        ),
        MAY_ACT,
    ),
    (
        "identity-unread",
        program("swap-operands", SUM, 'import math\n§print(math.copysign(1, f("nan", "-nan")))\n'),
        f"{DENIED}identity-unread",
    ),
    (
        "frames-unread",
        program(
            "rename", CALLING, "import sys\n§def look():\n    print(sys._getframe(1).f_locals)\nf(look)\n"
        ),
        "reflection on names",
    ),
    (
        "frames-unread",
        program(
            "unused-locals",
            CALLING,
            "import sys\n§def look():\n    print(sys._getframe(1).f_locals)\nf(look)\n",
        ),
        "reflection on names",
    ),
    (
        "positions-unread",
        program(
            "insert-blank-lines",
            RAISING,
            "§try:\n    f()\nexcept ValueError as e:\n    print(e.__traceback__.tb_next.tb_lineno)\n",
        ),
        "the file reads line numbers",
    ),
    (
        "source-unread",
        program("insert-comments", VALUE, "import inspect\n§print(inspect.getsource(f))\n"),
        "the file reads source text",
    ),
    (
        "source-unread",
        program("rename-parameters", VALUE, "import inspect\n§print(inspect.getsource(f))\n"),
        "the file reads source text",
    ),
    (
        "notes-unread",
        program("remove-docstrings", DOCUMENTED, "§print(f.__doc__)\n"),
        "text reads docstrings or annotations",
    ),
    (
        "notes-unread",
        program("remove-annotations", ANNOTATED, "§print(f.__annotations__)\n"),
        "text reads docstrings or annotations",
    ),
    (
        "release-unseen",
        method(
            "reorder",
            """
            def f(self, file):
                copy = [file]
                copy = None
                n = self._n
                return n
            """,
        ),
        MAY_ACT,
    ),
    (
        "release-unseen",
        program("reorder", DROPPING, "class Told:\n    def __del__(self):\n        print(1)\n§"),
        BETWEEN,
    ),
    (
        "release-unseen",
        program(
            "reorder",
            "def f(x):\n    y = x\n    n = sys.getrefcount(x)\n    return y, n\n",
            "import sys\n§print(f([]))\n",
        ),
        "the file counts references",
    ),
    (
        "namespaces-unlisted",
        program("reorder-methods", f"{METHODS}print(list(vars(C)))\n"),
        "the text reads a namespace in its order",
    ),
    (
        "imports-independent",
        program("reorder-imports", f"import sys\nsys.meta_path.insert(0, print)\n{IMPORTS}"),
        f"{DENIED}imports-independent",
    ),
    (
        "imports-independent",
        program("reorder-imports", f"{IMPORTS}import sys\nprint(list(sys.modules))\n"),
        f"{DENIED}imports-independent",
    ),
    (
        "nobody-between",
        method(
            "reorder", PUBLISHING, "import threading\n", "threading.Thread(target=C().f, args=(1,)).start()\n"
        ),
        BETWEEN,
    ),
    (
        "nobody-between",
        method("reorder", PUBLISHING, "import sys\n", "sys.settrace(print)\n"),
        "",
    ),
    (
        "runs-through",
        method("reorder", DEEP, CLEAN, "try:\n    C().f()\nexcept RecursionError:\n    pass\n"),
        BETWEEN,
    ),
    (
        "parts-unordered",
        program("reorder-any-keywords", "def f(show, a, b):\n    return show(x=a(), y=b())\n"),
        "the order of evaluation can be seen",
    ),
    (
        "parts-unordered",
        program("reorder-any-keywords", KEYWORDS, "§print(f(lambda **k: list(k)))\n"),
        "a function of the file takes its keywords as a dict",
    ),
    (
        "operands-commute",
        program("swap-any-operands", "def f(a, b):\n    return a() * b()\n"),
        "the order of evaluation can be seen",
    ),
    (
        "operands-commute",
        program(
            "swap-any-operands",
            PRODUCT,
            "class M:\n    def __mul__(self, other):\n        return 1\n    def __rmul__(self, other):\n        return 2\n§",
        ),
        "a class of the file defines the operator",
    ),
]
"""By entry: a file that shows that it does not keep to it, and the reason to refuse the edit."""


@pytest.mark.parametrize(("entry", "made", "reason"), SHOWN)
def test_an_edit_is_refused_where_its_file_shows_that_an_entry_is_false(
    entry: str, made: Program, reason: str
) -> None:
    outcomes = [outcome for outcome, _ in made.variants()]
    reasons = [outcome.reason for outcome in outcomes if isinstance(outcome, NotApplied)]
    assert len(reasons) == len(outcomes), "an edit is made"
    assert not reason or set(reasons) == {reason}


def test_every_entry_has_its_programs() -> None:
    assert BROKEN.keys() == LEDGER.keys()
    assert {entry for entry, _, _ in SHOWN} == {name for name, row in LEDGER.items() if row.shown}
