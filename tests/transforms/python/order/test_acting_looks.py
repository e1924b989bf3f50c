"""Looking at an object acts if a class of the text says so: no order of statements may then show it.

Each text has a class and a function `f` that looks at an object of it, and at what the class changes. Every
order that `reorder` allows is executed.
"""

import builtins
import textwrap
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import codeaudit
from codeaudit.transforms.errors import NotAppliedError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.perturb import perturb_one, reapply
from codeaudit.transforms.python.analysis.looks import METHODS, STORING
from codeaudit.transforms.python.analysis.program import analyse
from codeaudit.transforms.python.files import PYTHON_FILES
from codeaudit.transforms.python.function_context import function_context
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.records import NotApplied, Origin, Perturbed, Sample
from codeaudit.transforms.reordering import is_movable
from codeaudit.transforms.source_files import TransformSeries, perturb_file
from tests.transforms.python.order.support import run

ACTING = """\
import functools, operator, os

told = 0

def tell(*args):
    global told
    told += 1
    return {result}

class Meta(type):
{meta}
class C({base}, metaclass=Meta):
    def __init__(self, *args):
        pass
{member}
x = {instance}

def f(x):
    a = {look}
    b = told
    return b
"""


def text(
    look: str,
    *,
    member: str = "",
    meta: str = "",
    base: str = "object",
    result: str = "1",
    instance: str = "C()",
) -> str:
    """A file with a function `f` that looks at `x`, and sees in `told` whether the look acted."""
    return ACTING.format(
        look=look, member=indented(member), meta=indented(meta or "pass"), base=base, result=result,
        instance=instance,
    )  # fmt: skip


def indented(body: str) -> str:
    return "".join(f"    {line}\n" for line in body.splitlines())


def orders(source: str) -> Iterator[str]:
    """The whole text with its last function in each of the legal orders that differ from its own."""
    part = function_context(source)
    for moves in REORDER.within(source).every(part.source):
        made = REORDER.within(source).apply(part.source, moves)
        assert not isinstance(made, Refused)
        yield part.before + made.source + part.after


def ran(source: str, argument: str = "x") -> object:
    """What `f` does when it runs in a fresh module."""
    names: dict[str, object] = {"__builtins__": builtins}
    try:
        exec(compile(source, "<text>", "exec", dont_inherit=True), names)
        return eval(f"f({argument})", names)
    except Exception as error:  # what the text raises is what it does
        return repr(error)


def swapped(source: str) -> str:
    """The text with the last two statements of `f` before its `return` exchanged."""
    body = source.splitlines(keepends=True)
    last = max(number for number, line in enumerate(body) if line.strip().startswith("return"))
    first = body.index("    a = 0\n") + 1 if "    a = 0\n" in body else last - 2
    return "".join([*body[:first], body[last - 1], *body[first : last - 1], *body[last:]])


def movable(source: str, around: str) -> bool:
    return any(map(is_movable, analyse(function_context(source).source, around=around).blocks))


OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
LOOKS: dict[str, tuple[str, ...]] = {
    "__getattr__": ("x.size", "getattr(x, 'size')", "getattr(x, told and 'a' or 'b')"),
    "__getattribute__": ("x.size", "isinstance(x, int)", "getattr(x, 'size', None)"),
    "__getitem__": ("x[0]", "x['a']", "x[1:2]", "x[x]", "'%(a)s' % x", "operator.getitem(x, 1)",
                    "'{[a]}'.format(x)", "'a'.translate(x)"),
    "__bool__": ("not x", "bool(x)", "x and 1", "x or 1", "1 if x else 2", "any([x])", "all([x])",
                 "operator.not_(x)", "[1 for y in [x] if y]"),
    "__len__": ("len(x)", "not x", "bool(x)", "max([[1]], key=lambda y: len(x))", "max([x], key=len)"),
    "__hash__": ("hash(x)", "{x}", "{x: 1}", "{**{}, x: 1}", "{1: 2}.get(x)", "set([x])", "{y for y in [x]}",
                 "{y: 1 for y in [x]}", "dict([(x, 1)])", "frozenset([x])", "x in {1, 2}"),
    "__eq__": ("x == 1", "1 == x", "x in [1, 2]", "x in (1, 2)", "[x] == [1]", "(x,) != (1,)", "[1].count(x)",
               "1 < 2 == x", "operator.eq(x, 1)"),
    "__ne__": ("x != 1", "1 != x", "operator.ne(x, 1)"),
    "__lt__": ("x < 1", "1 > x", "sorted([x, x])", "min(x, x)", "min([x, x])"),
    "__le__": ("x <= 1", "1 >= x"),
    "__gt__": ("x > 1", "1 < x", "max(x, x)", "max([x, x])"),
    "__ge__": ("x >= 1", "1 <= x", "operator.ge(x, 1)"),
    "__str__": ("str(x)", "f'{x}'", "f'a{x}'", "'%s' % x", "'%s' % (x,)", "'{}'.format(x)", "format(x)",
                "f'{1}{x!s}'"),
    "__repr__": ("repr(x)", "f'{x!r}'", "str([x])", "'%r' % x", "ascii(x)", "str(x)", "f'{[x]}'"),
    "__format__": ("f'{x}'", "f'{x:5}'", "format(x, '5')", "'{}'.format(x)", "'{:5}'.format(x)",
                   "'{a}'.format(a=x)", "'{a}'.format_map({'a': x})"),
    "__abs__": ("abs(x)", "operator.abs(x)"),
    "__neg__": ("-x",),
    "__pos__": ("+x",),
    "__invert__": ("~x",),
    "__round__": ("round(x)", "round(x, 1)"),
    "__divmod__": ("divmod(x, 2)",),
    "__rdivmod__": ("divmod(2, x)",),
    "__fspath__": ("os.path.join(x)", "os.path.basename(x)"),
    **{f"__{name}__": (f"x {sign} 2",) for name, sign in OPERATORS.items()},
    **{f"__r{name}__": (f"2 {sign} x",) for name, sign in OPERATORS.items()},
}  # fmt: skip
"""Ways to look at `x` that run a method of it."""
LOOKS["__add__"] += ("sum([1], start=x)", "operator.add(x, 2)")
RESULTS = {
    "__len__": "1", "__hash__": "1", "__bool__": "True", "__str__": "'a'", "__repr__": "'a'",
    "__format__": "'a'", "__fspath__": "'a'", "__contains__": "True", "__add__": "args[0]",
    "__getattribute__": "int",
}  # fmt: skip
CASES = [
    *((f"{name}: {look}", text(look, member=f"{name} = tell", result=RESULTS.get(name, "1")))
      for name, looks in LOOKS.items() for look in looks),
    ("__missing__", text("x[0]", member="__missing__ = tell", base="dict")),
    ("__class_getitem__", text("x[0]", member="@classmethod\ndef __class_getitem__(cls, key):\n    return tell()",
                               instance="C")),
    ("truth of a comparison", text("x in [1]", member="def __eq__(self, other):\n    return self\n__hash__ = None\n"
                                   "__bool__ = tell", result="True")),
    ("index of a length", text("len(x)", member="def __len__(self):\n    return self\n__index__ = tell")),
    ("index in an unknown list", text("y[x]", member="__index__ = tell").replace(
        "def f(x)", "def f(x, y=[0, 1])")),
    ("items of a foreign base", text("x == D([1])", base="collections.abc.Set", member=(
        "def __iter__(self):\n    tell()\n    return iter([1])\ndef __contains__(self, one):\n    return True\n"
        "def __len__(self):\n    return 1")).replace("import functools", "import collections.abc, functools")
        .replace("type):", "type(collections.abc.Set)):").replace("D([1])", "{1}")),
    ("__instancecheck__", text("isinstance(1, x)", meta="__instancecheck__ = tell", instance="C")),
    ("__subclasscheck__", text("issubclass(int, x)", meta="__subclasscheck__ = tell", instance="C")),
    ("__subclasshook__", text("issubclass(int, x)", instance="C", meta=(
        "def __subclasscheck__(self, other):\n    return self.__subclasshook__(other)"),
        member="@classmethod\ndef __subclasshook__(cls, other):\n    return tell()")),
    *((f"__eq__ by the pattern {pattern}", text("x == 1", member=(
        f"match {subject}:\n    case {pattern}:\n        pass\n__hash__ = None"), result="True"))
      for subject, pattern in (("tell", "__eq__"), ("[tell]", "[__eq__]"), ("{1: tell}", "{1: __eq__}"),
                               ("tell", "_ if (__eq__ := tell)"))),
    ("__class__", text("isinstance(x, int)", member="__class__ = property(tell)", result="int")),
    ("attribute of the metaclass", text("x.size", meta="size = property(tell)", instance="C")),
    ("case with attribute", text("1", member="size = property(tell)").replace(
        "    a = 1\n", "    a = 0\n    match x:\n        case C(size=1):\n            pass\n")),
    ("case with value", text("1", member="__eq__ = tell\n__hash__ = None").replace(
        "    a = 1\n", "    a = 0\n    match x:\n        case 1:\n            pass\n")),
]  # fmt: skip
PROPERTIES = {
    "decorated": "@property\ndef size(self):\n    return tell()",
    "cached": "@functools.cached_property\ndef size(self):\n    return tell()",
    "caching": "_s = None\n@property\ndef size(self):\n    if self._s is None:\n        self._s = tell()\n    return self._s",
    "made of a function": "size = property(tell)",
    "made of a lambda": "size = property(lambda self: tell())",
    "made by keyword": "size = property(fget=tell)",
    "made of a method": "def read(self):\n    return tell()\nsize = property(read)",
    "with setter": "@property\ndef size(self):\n    return tell()\n@size.setter\ndef size(self, value):\n    pass",
    "with getter": "@property\ndef size(self):\n    pass\n@size.getter\ndef size(self):\n    return tell()",
    "under a condition": "if told == 0:\n    @property\n    def size(self):\n        return tell()",
    "another name": "@property\ndef other(self):\n    return tell()\nsize = other",
    "annotated": "size: int = property(tell)",
    "through another": "other = property(tell)\n@property\ndef size(self):\n    return self.other",
    "through a comparison": "__eq__ = tell\n@property\ndef size(self):\n    return self == 1",
    "a decorator": "def lazy(function):\n    return property(function)\n@lazy\ndef size(self):\n    return tell()",
    "bound by a walrus": "(size := property(tell))",
    "bound by a loop": "for size in [property(tell)]:\n    pass",
    "of a string": "other = property(tell)\nsize = property(operator.attrgetter('other'))",
    "subclass of property": "class Lazy(property):\n    pass\n@Lazy\ndef size(self):\n    return tell()",
    "subclass called": "class Lazy(property):\n    pass\nsize = Lazy(tell)",
    "table of properties": "class Lazy(property):\n    pass\nsize = {1: Lazy(tell)}[1]",
    "descriptor": "class Lazy:\n    def __get__(self, *args):\n        return tell()\nsize = Lazy()",
}
"""Ways in which a class may say that reading `size` acts."""
ATTACHED = {
    "to the class": "C.size = property(tell)",
    "by setattr": "setattr(C, 'size', property(tell))",
    "by a loop": "for name in ['size']:\n    setattr(C, name, property(lambda self: tell()))",
    "cached, to the class": "C.size = functools.cached_property(tell)\nC.size.__set_name__(C, 'size')",
    "a foreign descriptor": "import types\nC.size = types.DynamicClassAttribute(tell)",
    "a foreign descriptor by setattr": "import types\nsetattr(C, 'size', types.DynamicClassAttribute(tell))",
    "a foreign descriptor by a name": "import types\nfor n in ['size']:\n    setattr(C, n, types.DynamicClassAttribute(tell))",
    "a builtin of the function around": (
        "def make(len):\n    class D(C):\n        @property\n        def size(self):\n            return len('a')\n"
        "    return D\nx = make(tell)()"
    ),
    "to a subclass": "class D(C):\n    size = property(tell)\nx = D()",
    "by type": "x = type('D', (C,), {'size': property(tell)})()",
    "by a function": "def make():\n    class D(C):\n        @property\n        def size(self):\n            return tell()\n    return D\nx = make()()",
    "a property kept in a variable": "kept = property(tell)\nC.size = kept",
    "__getattr__ of the class": "C.__getattr__ = tell",
    "__getattr__ by setattr": "setattr(C, '__getattr__', tell)",
    "__getattr__ by setattr, spelled there": "for n in ['getattr']:\n    setattr(C, f'__{n}__', tell)",
    "__getattr__ by setattr, spelled before": "n = '__' + 'getattr' + '__'\nsetattr(C, n, tell)",
    "__getattr__ by setattr, spelled by %": "n = '__%s__' % 'getattr'\nsetattr(C, n, tell)",
    "__getattr__ by setattr, spelled in a function": (
        "def put(kind, name):\n    setattr(kind, name, tell)\nput(C, '__{}__'.format('getattr'))"
    ),
    "__getattr__ by type": "x = type('D', (C,), {'__getattr__': tell})()",
    "a decorated class": "def dress(cls):\n    cls.size = property(tell)\n    return cls\n@dress\nclass D(C):\n    pass\nx = D()",
}
CASES += [(f"property {name}", text("x.size", member=member)) for name, member in PROPERTIES.items()]
CASES.append(("property asked for", text("getattr(x, 'size', 0)", member=PROPERTIES["decorated"])))
CASES += [
    (f"attached {name}", text("x.size").replace("x = C()\n", f"x = C()\n{code}\n"))
    for name, code in ATTACHED.items()
]


@pytest.mark.thinned(40)
@pytest.mark.parametrize(("name", "source"), CASES, ids=[name for name, _ in CASES])
def test_no_order_shows_that_a_look_acts(name: str, source: str) -> None:
    expected = ran(source)
    assert {ran(order) for order in orders(source)} <= {expected}
    assert "Error" not in repr(expected)
    # The case tells something: another order would show it, and without the class it would be allowed.
    assert ran(swapped(source)) != expected
    assert movable(source, "")


def test_the_cases_name_every_method() -> None:
    named = {name.partition(":")[0] for name, _ in CASES}
    # These have a table of their own, or may do anything wherever they are called.
    own = {"__get__", "__contains__", "__bases__", "__class__", "__iter__", "__next__", "__reversed__"}
    converting = {"__int__", "__float__", "__complex__", "__index__", "__bytes__", "__length_hint__"}
    rounding = {"__floor__", "__ceil__", "__trunc__"}
    buffers = {"__buffer__", "__release_buffer__"}  # since Python 3.12; `test_operators` runs them
    assert METHODS - named - own - converting - rounding - buffers - STORING == set()


METHOD = """\
import collections

class D:
    def __get__(self, *args):
        return 0
    def __set__(self, to, value):
        to.told += 1

class C:
    def __init__(self):
        self.__dict__["told"] = 0
        self.__dict__["d"] = collections.defaultdict(int)
    @property
    def held(self):
        return len(self.d)
{member}
{method}
def f(x):
    return C().method(x)
"""
RECEIVERS = {
    "a public property": ("size = property(tell)", "a = self.size", "b = self.told"),
    "a private property": ("_size = property(tell)", "a = self._size", "b = self.told"),
    "a private property of a name that is stored": (
        "_size = property(tell, tell)", "self._size = 1", "b = self._size + self.told"),
    "a setter": ("_size = property(tell, tell)", "self._size = 1", "b = self.told"),
    "a decorated setter": (
        "@property\ndef _size(self):\n    pass\n@_size.setter\ndef _size(self, value):\n    self.told += 1",
        "self._size = 1", "b = self.told"),
    "a descriptor": ("_size = D()", "self._size = 1", "b = self.told"),
    "__setattr__": (
        "def __setattr__(self, name, value):\n    self.__dict__['told'] += 1", "self._size = 1", "b = self.told"),
    "__setattr__ that raises": (
        "def __setattr__(self, name, value):\n    raise KeyError(name)", "self._size = 1", "b = int(x)"),
    "__getattr__": ("__getattr__ = tell", "a = self.missing", "b = self.told"),
    "__getattr__ of a private name": ("__getattr__ = tell", "a = self._missing", "b = self.told"),
    "a property that raises": ("@property\ndef size(self):\n    raise KeyError(1)", "a = self.size", "b = int(x)"),
    "a property that may raise": ("@property\ndef size(self):\n    return {}[1]", "a = self.size", "b = int(x)"),
    "two properties that raise": (
        "@property\ndef one(self):\n    raise KeyError(1)\n@property\ndef two(self):\n    raise ValueError(2)",
        "a = self.one", "b = self.two"),
    "__getattr__ that raises": (
        "def __getattr__(self, name):\n    raise KeyError(name)", "a = self.missing", "b = int(x)"),
    "a property of a property": (
        "one = property(tell)\n@property\ndef two(self):\n    return self.one", "a = self.two", "b = self.told"),
    "defaultdict": ("", "a = self.d[0]", "b = self.held"),
}  # fmt: skip
"""A member of the class, and two statements of a method that must keep their order."""


def methods(first: str, second: str) -> Iterator[str]:
    """A method with these statements; then the same method with the statements exchanged."""
    for one, other in ((first, second), (second, first)):
        yield f"def method(self, x):\n    a = b = 0\n    {one}\n    {other}\n    return a, b\n"


def file_of(member: str, method: str) -> str:
    tell = "def tell(self, *args):\n    self.__dict__['told'] += 1\n    return 0\n"
    return METHOD.format(member=indented(tell + member), method=indented(method))


@pytest.mark.parametrize(("member", "first", "second"), RECEIVERS.values(), ids=RECEIVERS)
def test_no_order_of_a_method_shows_that_its_attributes_act(member: str, first: str, second: str) -> None:
    method, other = methods(first, second)
    file = file_of(member, method)
    argument = "'no number'" if "int(x)" in second else "1"
    expected = ran(file, argument)
    assert ran(file_of(member, other), argument) != expected
    known = REORDER.within(file)
    for moves in known.every(method):
        made = known.apply(method, moves)
        assert not isinstance(made, Refused)
        assert ran(file_of(member, made.source), argument) == expected


SHOWS_NOTHING = {
    "a property that only looks": "@property\ndef size(self):\n    return self._size\n_size = 1",
    "a property that makes a text": "@property\ndef size(self):\n    return f'{self.name}: {len(self.items)}'",
    "a property with setter": (
        "@property\ndef size(self):\n    return self.s\n@size.setter\ndef size(self, value):\n    tell()"),
    "another property": "@property\ndef other(self):\n    return tell()",
    "methods": "def size(self):\n    return tell()\n@staticmethod\ndef other():\n    return tell()",
    "no hash": "__hash__ = None",
    "__eq__ that compares": "def __eq__(self, other):\n    return (self.a, self.b) == (other.a, other.b)",
    "__getattr__ that says no": "def __getattr__(self, name):\n    raise AttributeError(name)",
    "__setattr__": "def __setattr__(self, name, value):\n    tell()",
    "an operator": "def __add__(self, other):\n    return tell()",
    "constants": "size = 1\nname = 'a'\nparts = [1, 2]",
    "a class inside": "class Inner:\n    pass",
}  # fmt: skip


@pytest.mark.parametrize("member", SHOWS_NOTHING.values(), ids=SHOWS_NOTHING)
def test_a_file_without_such_a_class_keeps_its_moves(member: str) -> None:
    source = text("x.size", member=member)
    assert len(list(orders(source))) == 1


def test_a_class_inside_the_function_counts() -> None:
    inner = "    class C:\n        size = property(tell)\n    x = C()\n"
    source = text("x.size").replace("def f(x):\n", f"def f(x):\n{inner}")
    assert ran(swapped(source)) != ran(source)
    assert movable(source.replace("size = property(tell)", "size = 1"), "")
    for order in orders(source):
        assert ran(order) == ran(source)
    alone = function_context(source).source
    assert list(REORDER.every(alone)) == list(REORDER.within(source).every(alone))


ACTS = text("x.size", member=PROPERTIES["decorated"])
LOOKS_ONLY = ACTS.replace("return tell()", "return 1")


def sample(source: str, context: str = "") -> Sample:
    return Sample(
        id="x", language="python", source=source, label=None, origin=Origin(path="-", line=1), context=context
    )


def test_a_text_of_several_definitions_shows_its_classes() -> None:
    assert codeaudit.transform(LOOKS_ONLY, "reorder") != LOOKS_ONLY
    with pytest.raises(NotAppliedError):
        codeaudit.transform(ACTS, "reorder")


def test_a_file_shows_its_classes_to_each_of_its_functions(tmp_path: Path) -> None:
    for name, source, kind in (("acts.py", ACTS, NotApplied), ("looks.py", LOOKS_ONLY, Perturbed)):
        path = tmp_path / name
        path.write_text(source)
        (edit,) = (
            edit
            for edit in codeaudit.perturb(path, "reorder", variants=1)
            if "a = x.size" in edit.sample.source
        )
        assert isinstance(edit, kind)


def test_a_project_shows_the_classes_of_each_file() -> None:
    series = TransformSeries(transforms=(REORDER,), seed=0)
    for source, changes in ((ACTS, False), (LOOKS_ONLY, True)):
        assert codeaudit.transform(LOOKS_ONLY, "reorder", whole_file=True)
        done = perturb_file(PYTHON_FILES, source.encode(), "a.py", series)
        assert (done.data != source.encode()) is changes


def test_moves_of_a_search_know_the_file() -> None:
    part = function_context(ACTS).source
    (free,) = perturb_one(sample(part), REORDER, variants=1, seed=0)
    (bound,) = perturb_one(sample(part, ACTS), REORDER, variants=1, seed=0)
    assert isinstance(free, Perturbed)
    assert isinstance(bound, NotApplied)
    made = reapply(sample(part, ACTS), REORDER, free.moves)
    assert isinstance(made, NotApplied)
    assert isinstance(REORDER.propose(part, Random(0)), tuple)


@pytest.mark.parametrize(
    "around",
    [
        "def make(math):\n    {f}    return f\nf = make(Fake())\n",
        "math = Fake()\nclass C:\n    {f}f = C.f\n",
        "def make(bool):\n    {f}    return f\nf = make(Fake().sqrt)\n",
    ],
)
def test_names_of_modules_that_the_text_around_binds_are_no_modules(around: str) -> None:
    fake = "told = 0\nclass Fake:\n    def sqrt(self, x):\n        global told\n        told += 1\n"
    call = "bool(x)" if "bool" in around else "math.sqrt(4)"
    inner = f"def f(x):\n        a = {call}\n        b = told\n        return b\n"
    source = fake + around.replace("{f}", inner)
    first, second = f"        a = {call}\n", "        b = told\n"
    other = source.replace(first + second, second + first)
    assert ran(source, "1") != ran(other, "1")
    for moves in REORDER.every(source):
        made = REORDER.apply(source, moves)
        assert not isinstance(made, Refused)
        assert ran(made.source, "1") == ran(source, "1")


@pytest.mark.parametrize("made", ["functools.cached_property(tell)", "property(tell)"])
def test_a_function_that_dresses_a_class_shows_it_without_its_file(made: str) -> None:
    alone = f"def f(cls, x, tell):\n    cls.size = {made}\n    a = x.size\n    b = told\n    return a, b\n"
    plain = alone.replace(made, "1")
    assert any(map(is_movable, analyse(plain).blocks))
    assert not any(map(is_movable, analyse(alone).blocks))


DRESSED = """\
import contextlib, functools

told = 0

def tell(*args):
    global told
    told += 1
    return told

{helper}
{before}
class C:
{member}
{after}
x = C()

def f(x):
    a = x.size
    b = told
    return a, b
"""
BASE = "class Base:\n    @property\n    def length(self):\n        return tell()\n"
KINDS = "KINDS = {'p': property}\n"
MAKER = "class Maker:\n    kind = property\n    def __call__(self):\n        return self.kind(tell)\n"
WRAP = "def wrap(kind, made):\n    return kind(made)\n"
PROPERTIES = {
    "property(tell)": "",
    "property(fget=tell)": "",
    "property(lambda self: tell())": "",
    "property(*[tell])": "",
    "property(**{'fget': tell})": "",
    "Base.length": BASE,
    "Base.length.setter(None)": BASE,
    "vars(Base)['length']": BASE,
    "getattr(Base, 'length')": BASE,
    "pick(Base)": f"{BASE}def pick(owner):\n    return owner.length\n",
    "wrap(property, tell)": WRAP,
    "wrap(made=tell, kind=property)": WRAP,
    "KINDS['p'](tell)": KINDS,
    "KINDS.get('p')(tell)": KINDS,
    "(KINDS or tell)['p'](tell)": KINDS,
    "functools.partial(property, tell)()": "",
    "functools.partial(property)(tell)": "",
    "list(map(property, [tell]))[0]": "",
    "next(iter([property(tell)]))": "",
    "[property(shown) for shown in [tell]][0]": "def shown():\n    return 1\n",
    "[kind(tell) for kind in [property]][0]": "",
    "(lambda kind: kind(tell))(property)": "",
    "maker()": f"{MAKER}maker = Maker()\n",
    "Maker()()": MAKER,
}
"""Expressions that give a property whose getter acts, with what they need."""
ROUTES = {
    "in the class": ("", "size = {made}", ""),
    "annotated": ("", "size: object = {made}", ""),
    "in a tuple": ("", "size, other = {made}, 1", ""),
    "in a loop of the class": ("", "for size in [{made}]: pass", ""),
    "by another name in the class": ("", "other = {made}\nsize = other", ""),
    "by a name": ("made = {made}", "size = made", ""),
    "by two names": ("first = {made}\nmade = first", "size = made", ""),
    "by a name in a branch": ("if told == 0:\n    made = {made}\nelse:\n    made = 1", "size = made", ""),
    "by a walrus": ("print((made := {made}), end='')", "size = made", ""),
    "by an unpacked list": ("made, *rest = [{made}, 1]", "size = made", ""),
    "by the rest of a list": ("one, *rest = [1, {made}]", "size = rest[0]", ""),
    "by a loop": ("for made in [{made}]: pass", "size = made", ""),
    "by a with": ("with contextlib.nullcontext({made}) as made: pass", "size = made", ""),
    "by a pattern": ("match {made}:\n    case made: pass", "size = made", ""),
    "by a dict": ("made = dict(a={made})", "size = made['a']", ""),
    "by an item": ("made = {{}}\nmade['a'] = {made}", "size = made['a']", ""),
    "by a method of a list": ("made = []\nmade.append({made})", "size = made[0]", ""),
    "by a method of a dict": ("made = {{}}\nmade.setdefault('a', {made})", "size = made.get('a')", ""),
    "by an added list": ("made = []\nmade += [{made}]", "size = made[0]", ""),
    "by an attribute": ("tell.made = {made}", "size = tell.made", ""),
    "by another class": ("class Other:\n    made = {made}", "size = Other.__dict__['made']", ""),
    "by a base": ("class Other:\n    size = {made}", "pass", "C = Other"),
    "by a global of a function": (
        "def fill():\n    global made\n    made = {made}\nfill()", "size = made", ""
    ),
    "by an argument": (
        "def fill(given):\n    global made\n    kept = given\n    made = kept\nfill({made})",
        "size = made",
        "",
    ),
    "by a keyword": ("def fill(given=None):\n    global made\n    made = given\nfill(given={made})", "size = made", ""),
    "by a default": ("def fill(given={made}):\n    global made\n    made = given\nfill()", "size = made", ""),
    "by an argument in a list": ("KEPT = []\ndef fill(given):\n    KEPT.append(given)\nfill({made})", "size = KEPT[0]", ""),
    "by an argument in an item": ("KEPT = {{}}\ndef fill(given):\n    KEPT['a'] = given\nfill({made})", "size = KEPT['a']", ""),
    "by an argument in an attribute": ("def fill(given):\n    tell.made = given\nfill({made})", "size = tell.made", ""),
    "by an object": (
        "class Holder:\n    def __init__(self, given):\n        self.made = given\nheld = Holder({made})",
        "size = held.made",
        "",
    ),
    "by a function of arguments": ("def same(given):\n    return given\nmade = same({made})", "size = made", ""),
    "by what a function keeps": (
        "def keep(given):\n    def back():\n        return given\n    return back\nmade = keep({made})",
        "size = made()",
        "",
    ),
    "put into the class": ("made = {made}", "pass", "C.size = made"),
    "set in the class": ("made = {made}", "pass", "setattr(C, 'size', made)"),
    "put by its function": ("made = {made}", "@classmethod\ndef put(cls): cls.size = made", "C.put()"),
    "a made class": ("made = {made}", "pass", "C = type('C', (), {{'size': made}})"),
}  # fmt: skip
"""Ways by which a class gets it."""


@pytest.mark.thinned(3)
@pytest.mark.parametrize("route", ROUTES)
def test_no_order_shows_where_a_property_comes_from(route: str) -> None:
    before, member, after = ROUTES[route]
    for made, helper in PROPERTIES.items():
        text = DRESSED.format(
            helper=helper,
            before=before.format(made=made),
            member=indented(member.format(made=made)),
            after=after.format(made=made),
        )
        usual = ran(text)
        assert usual == (1, 1), (made, usual)
        assert ran(swapped(text)) == (1, 0), "the order shows"
        assert not list(orders(text)), made


@pytest.mark.parametrize("helper", ["", BASE, KINDS, WRAP])
def test_a_plain_value_by_another_name_keeps_its_moves(helper: str) -> None:
    for made in ("3", "int('3')", "dict(a=1)", "[number for number in range(3)]", "functools.partial(int)()"):
        text = DRESSED.format(helper=helper, before=f"made = {made}", member="    size = made\n", after="")
        assert list(orders(text)), made


@pytest.mark.parametrize(
    "head",
    [
        "@dataclasses.dataclass(frozen=True)\nclass C:\n    n: int = 0\n",
        "@dataclass(frozen=FROZEN)\nclass C:\n    n: int = 0\n",
        "@dataclass(order=True, frozen=1)\nclass C:\n    n: int = 0\n",
        "class C(typing.NamedTuple):\n    n: int = 0\n",
        "class C(collections.namedtuple('C', [], defaults=())):\n    __slots__ = ()\n",
    ],
)
def test_stores_to_a_frozen_object_keep_their_order(head: str) -> None:
    imports = "import collections, dataclasses, typing\nfrom dataclasses import dataclass\nFROZEN = True\n"
    method = "    def bad(self):\n        self._a = 1\n        self._b = 2\n"
    text = imports + head + method
    before = run(text, "C().bad()")
    assert before[2]
    function = textwrap.dedent(method)
    assert REORDER.within(text).count(function) == 0
    free = "@dataclass(frozen=False)\nclass C:\n    n: int = 0\n"
    assert REORDER.within(imports + free + method).count(function) == 1
