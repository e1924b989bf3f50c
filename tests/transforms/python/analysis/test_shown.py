"""What the text of a file shows of the objects that it looks at."""

import ast

import pytest

from codeaudit.transforms.python.analysis.looks import ShownLooks
from codeaudit.transforms.python.analysis.shown import looks_around, shown_looks

CLASS = "class C:\n    pass\n"


@pytest.mark.parametrize(
    "patch",
    [
        "type.__setattr__(C, '__lt__', act)",
        "with patch.object(C, '__lt__', act):\n    pass",
        "monkeypatch.setattr(C, '__lt__', act)",
        "C.__lt__ = act",
        "setattr(C, '__lt__', act)",
        "type('D', (C,), {'__lt__': act})",
    ],
)
def test_a_method_of_the_data_model_that_is_patched_in_may_do_anything(patch: str) -> None:
    text = f"from unittest.mock import patch\nfrom m import act, monkeypatch\n{CLASS}{patch}\n"
    assert shown_looks(text, ast.parse(text)).methods
    other = text.replace("__lt__", "_label")
    assert not shown_looks(other, ast.parse(other)).methods


SHOWN = {
    "x = 1": "",
    "class C:\n def f(self): self.n += 1": "",
    "class C:\n def __eq__(self, o): return True": "",
    "class C:\n def __eq__(self, o): self.n += 1": "methods",
    "class C:\n def __eq__(self, o): return self.n == o.n": "",
    "class C:\n def __eq__(self, o): return act(o)": "methods",
    "class C:\n def __init__(self): act()": "",
    "class C:\n @property\n def x(self): return self._x": "computed:x",
    "class C:\n @property\n def x(self): return 1": "computed:x",
    "class C:\n @property\n def x(self): return act()": "acting:x raising:x computed:x",
    "class C:\n @property\n def x(self): return self.y\n @property\n def y(self): return act()": "acting:x acting:y raising:x raising:y computed:x computed:y",
    "class C:\n @property\n def x(self): self._x = 1; return 1": "acting:x computed:x",
    "class C:\n @property\n def x(self): raise E": "raising:x computed:x",
    "class C:\n @x.setter\n def x(self, v): act()": "computed:x",
    "class C:\n @cached_property\n def x(self): return 1": "acting:x raising:x computed:x",
    "class C:\n @staticmethod\n def x(): act()": "",
    "class C:\n @abc.abstractmethod\n def x(self): act()": "",
    "class C:\n x = property(act)": "acting:x raising:x computed:x",
    "class C:\n x = property(lambda s: 1)": "computed:x",
    "class C:\n x = 1": "",
    "class C:\n x: int = Desc()": "computed:x",
    "class C:\n x: int": "",
    "class C:\n x, y = Desc(), 1": "computed:x",
    "class C:\n x, y = act": "acting:x acting:y raising:x raising:y computed:x computed:y",
    "class C:\n __eq__ = act": "methods",
    "class C:\n __eq__, y = act": "methods acting:__eq__ acting:y raising:__eq__ raising:y computed:__eq__ computed:y",
    "class C:\n x, *y = act, 1": "acting:x acting:y raising:x raising:y computed:x computed:y",
    "class C:\n for x in act: pass": "acting:x raising:x computed:x",
    "class C:\n import x": "acting:x raising:x computed:x",
    "class C:\n __slots__ = ()": "",
    "class P(property): pass\nclass C:\n x = P(act)": "stores acting:x raising:x computed:x",
    "class Q(P): pass\nclass P(property): pass\nclass C:\n x = Q(act)": "stores acting:x raising:x computed:x",
    "prop = property\nclass C: pass\nx = prop(act)": "stores acting:__getattribute__ raising:__getattribute__",
    "from m import property as prop\nx = prop(act)": "stores acting:__getattribute__ raising:__getattribute__",
    "from builtins import property as prop\nclass C:\n x = prop(lambda s: 1)": "acting:x raising:x computed:x",
    "from m import other as prop\nx = prop(act)": "",
    "import a.b as prop\nclass C: pass": "",
    "x = property(act)": "stores acting:__getattribute__ raising:__getattribute__",
    "hasattr(a, '__eq__')": "",
    "act('__eq__')": "methods",
    "act('m.C.__eq__')": "methods",
    "act('_eq_')": "",
    "act(__eq__=f)": "methods",
    "dict(a, __eq__=f)": "methods",
    "act(eq=f)": "",
    "act(**{'__eq__': f})": "methods",
    "type('D', (), {'__eq__': f})": "methods",
    "type('D', (), {'x': f})": "computed:x",
    "type('D', (), {'x': property(f)})": "acting:x raising:x computed:x",
    "type('D', (), {k: f})": "methods stores acting:__getattribute__ raising:__getattribute__",
    "type('D', (), dict(__eq__=f))": "methods",
    "type('D', (), dict(x=property(f)))": "acting:x raising:x computed:x",
    "type('D', (), dict(**a))": "methods stores acting:__getattribute__ raising:__getattribute__",
    "type('D', (), a)": "methods stores acting:__getattribute__ raising:__getattribute__",
    "type(a)": "",
    "class C: pass\nsetattr(C, 'x', f)": "stores computed:x",
    "class C: pass\nsetattr(C, 'x', 1)": "stores",
    "class C: pass\nsetattr(C, '__eq__', f)": "methods stores",
    "class C: pass\nsetattr(C, k, f)": "methods stores acting:__getattribute__ raising:__getattribute__",
    "class C: pass\nsetattr(D, k, f)": "",
    "class C: pass\nsetattr(D, f'__{k}__', f)": "methods stores acting:__getattribute__ raising:__getattribute__",
    "class C: pass\nC.x = Desc()": "computed:x",
    "class C: pass\nC.x = 1": "",
    "class C: pass\nC.__eq__ = f": "methods",
    "class C: pass\nD.x = 1": "",
    "class C: pass\nD.x = Desc()": "computed:x",
    "class C: pass\nself.x = Desc()": "",
    "class C: pass\nC.x, C.y = Desc(), 1": "computed:x",
    "class C: pass\nx[0], C.__eq__ = 1, f": "methods",
    "class C: pass\nx[0] = C.__eq__ = f": "methods",
    "class C: pass\nK = C\nK.x = act": "computed:x",
    "class C: pass\nfor C.__eq__ in a: pass": "methods",
    "class C: pass\nwith a as C.__eq__: pass": "methods",
    "class C: pass\nput = setattr": "methods stores acting:__getattribute__ raising:__getattribute__",
    "class C: pass\nfrom builtins import setattr as put": "methods stores acting:__getattribute__ raising:__getattribute__",
    "def __getattr__(name): act()": "acting:__getattr__ raising:__getattr__",
    "__getattr__ = act\ndef f(): pass": "acting:__getattr__ raising:__getattr__",
    "class C(Base): pass": "stores",
    "class C(torch.nn.Module): pass": "stores",
    "class C(Exception): pass": "",
    "class C(Base):\n def keys(self): act()": "methods stores",
    "class C:\n def keys(self): act()": "",
    "class C(metaclass=ABCMeta): pass": "",
    "class C(metaclass=Meta): pass": "stores",
    "class C(other=1): pass": "stores",
    "class C(other=ABCMeta): pass": "stores",
    "@dataclass\nclass C: pass": "",
    "from dataclasses import dataclass\n@dataclass\nclass C: pass": "",
    "from pydantic.dataclasses import dataclass\n@dataclass\nclass C: pass": "stores",
    "import dataclasses\n@dataclasses.dataclass\nclass C: pass": "",
    "from pydantic import dataclasses\n@dataclasses.dataclass\nclass C: pass": "stores",
    "@dataclass(frozen=True)\nclass C: pass": "stores",
    "@attrs.define\nclass C: pass": "stores",
    "class C:\n def __setattr__(self, n, v): act()": "stores",
    "class C:\n def __getattr__(self, n): return act()": "acting:__getattr__ raising:__getattr__",
    "class C:\n def __getattr__(self, n): return 1": "",
    "class C:\n def __missing__(self, n): act()": "methods",
    "defaultdict(act)": "methods",
    "new_class(a)": "methods stores acting:__getattribute__ raising:__getattribute__",
    "PropertyMock()": "methods stores acting:__getattribute__ raising:__getattribute__",
    "vars(x).items()": "listed",
    "x.__dict__.items()": "listed",
    "class C: pass\ndel C.x": "removed:x",
    "class C: pass\ndelattr(C, 'x')": "stores removed:x",
    "class C: pass\ndelattr(C, k)": "stores removed:*",
    "class C: pass\ndel a": "removed:a",
    "def f(): pass": "",
    "def f(property): pass\nclass C:\n @property\n def x(self): return 1": "computed:x",
    "def property(f): pass\nclass C:\n @property\n def x(self): return 1": "acting:x raising:x computed:x",
    "match x:\n case __eq__: pass": "",
    "class C:\n match x:\n  case __eq__: pass": "methods acting:__eq__ raising:__eq__ computed:__eq__",
    "class C:\n try: pass\n except E as __eq__: pass": "methods acting:__eq__ raising:__eq__ computed:__eq__",
    "class C:\n if a:\n  __eq__ = f": "methods",
    "class C:\n with a as x: pass": "acting:x raising:x computed:x",
    "class C:\n def __eq__(self, o): return self.f()\n def f(self): act()": "methods",
    "class C:\n def __eq__(self, o): return self.f()\n def f(self): return 1": "methods",
    "class C:\n def __len__(self): return self.x\n @property\n def x(self): return act()": "methods acting:x raising:x computed:x",
    "class C:\n def __bool__(self): raise E": "",
    "class C:\n x = [property(act)]": "stores acting:__getattribute__ raising:__getattribute__",
    "class C:\n x = f(property(act))": "stores acting:__getattribute__ raising:__getattribute__ computed:x",
    "class C:\n @other\n def __eq__(self, o): return True": "methods",
    "class C:\n @classmethod\n def __eq__(self, o): return True": "",
    "class C:\n def __iter__(self): yield act()": "methods",
    "class C:\n def __call__(self): act()": "",
    "class C:\n __hash__ = None": "",
    "class C:\n __eq__ = object.__eq__": "",
    "class C:\n x = cached_property(act)": "acting:x raising:x computed:x",
    "class C:\n def __class_getitem__(cls, k): act()": "methods",
    "with patch.object(C, 'x', act): pass": "",
    "with patch.object(C, k, act): pass": "",
    "type.__setattr__(C, 'x', act)": "acting:x raising:x computed:x",
    "type.__setattr__(C, 'x', 1)": "",
    "type.__setattr__(C, k, act)": "methods stores acting:* acting:__getattribute__ raising:* raising:__getattribute__ computed:*",
    "class C: pass\nx[0] = C.x = Desc()": "computed:x",
    "from m import other as prop\nclass C: pass\nx = prop(act)": "",
    "import pydantic.dataclasses as dataclasses\n@dataclasses.dataclass\nclass C: pass": "stores",
    "import tools.dataclasses\n@tools.dataclasses.dataclass\nclass C: pass": "stores",
    "class C: pass\nC.x, y = 1, 2": "",
    "class C: pass\nD.x, y = 1, 2": "",
    "class C: pass\nD.x, y = a, b": "",
    "class C: pass\nD.x, y = Desc(), b": "computed:x",
    "class C: pass\nD.x, (D.y, [D.z]) = 1, (2, [Desc()])": "computed:z",
    "class C: pass\nD.x, y = f": "",
    "class C: pass\nC.x, y = f": "acting:x raising:x computed:x",
    "class C: pass\nC.x, *C.y = Desc(), 1": "acting:x acting:y raising:x raising:y computed:x computed:y",
    "class C: pass\nC.x, C.y = Desc(), *a": "acting:x acting:y raising:x raising:y computed:x computed:y",
    "class C: pass\nC.__eq__, y = f": "methods acting:__eq__ raising:__eq__ computed:__eq__",
    "class C: pass\nD.__eq__, *y = f": "methods acting:__eq__ raising:__eq__ computed:__eq__",
    "class C: pass\nself.x, y = f": "",
    "class C: pass\nself.x, self.y = Desc(), Desc()": "",
    "class C: pass\nC.x: int = Desc()": "computed:x",
    "class C: pass\nC.x: int": "",
}
"""Texts with what they show: words of `ShownLooks`, and `FIELD:NAME` for each name in one of its sets."""


@pytest.mark.parametrize(("text", "found"), SHOWN.items(), ids=range(len(SHOWN)))
def test_a_text_shows_this_and_nothing_else(text: str, found: str) -> None:
    looks = shown_looks(f"{text}\n", ast.parse(text))
    words = {word for word in ("methods", "stores", "listed") if getattr(looks, word)}
    for field in ("acting", "raising", "computed", "removed"):
        words |= {f"{field}:{name}" for name in getattr(looks, field)}
    assert words == set(found.split())


def test_a_file_that_cannot_be_parsed_shows_what_it_binds() -> None:
    looks = looks_around("def f(:\n    len = 1\nclass C:\n    @property\n")
    assert looks == ShownLooks(rebound=looks.rebound)
    assert looks_around("x = 1\ndel x\n").removed == {"x"}


def test_only_a_text_of_several_statements_binds_names() -> None:
    def bound(text: str, name: str) -> bool:
        return shown_looks(text, ast.parse(text)).bindings.called(name) is not None

    assert not bound("def f(): return 1\n", "f")
    assert not bound("def f(a: int = __name__): return 1\n", "f")
    assert bound("def f(): return 1\ndef g(): return f()\n", "f")
    assert bound("class C: pass\ndef f(): return 1\n", "f")
    assert bound("def f(): return 1\nx = __name__\ny = 2\n", "f")
    assert shown_looks("import os\nx = 1\n", ast.parse("import os\nx = 1\n")).bindings.imports == {"os": "os"}
    text = "from os import path as p, sep\nfrom .a import b\nimport os.path\nclass C: pass\n"
    assert dict(shown_looks(text, ast.parse(text)).bindings.imports) == {
        "p": "os.path", "sep": "os.sep", "b": ".a.b", "os": "os",
    }  # fmt: skip
