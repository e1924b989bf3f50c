"""A text that this Python cannot read says which Python reads it."""

import sys

import pytest

from codeaudit.transforms.errors import ReaderLimitError, SourceError
from codeaudit.transforms.python.files import PYTHON_FILES
from codeaudit.transforms.python.parsing import parse
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.source_files import TransformSeries, perturb_file

NEWER = {
    "type X = int\n": (3, 12),
    "type X[T: int] = list[T]\n": (3, 12),
    "def f[T](a: T) -> T:\n    return a\n": (3, 12),
    "async def f[T]():\n    return f'{d['a']}'\n": (3, 12),
    "class A[*Ts, **P](B):\n    pass\n": (3, 12),
    "x = f'{d['a']}'\n": (3, 12),
    "x = f'{'\\n'.join(a)}'\n": (3, 12),
    "x = f'''{\n a # c\n}'''\n": (3, 12),
    "x = f'{a!r:{'x'}}'\n": (3, 12),
    "x = f'{f'{f'{1}'}'}'\n": (3, 12),
    'f(1, f"{x["a"]}",\n  2)\n': (3, 12),
    "x = f'{\na}'\n": (3, 12),
    "x = '''f'{a['b']}' '''\ny = f'{d['k']:>{w['x']}}'\n": (3, 12),
    "x = f'{a!r}' f'{b:%H:%M}' f'{{{d['c']}}}'\n": (3, 12),
    "def f[T = int](a: T): return a\n": (3, 13),
    "def f[T: (int, str) = int](x): pass\n": (3, 13),
    "x = t'{a}'\n": (3, 14),
    "try:\n    pass\nexcept A, B:\n    pass\n": (3, 14),
}
"""By text: the first Python that reads it. (3.12 and 3.13 were asked.)"""
WRONG = (
    "def f(:\n", "type X == 3\n", "x = f'{a'\n", "x = f'{a b}'\n", "x = 1 +\n", "x = f'{lambda x: 1}'\n",
    "# f'{a['b']}'\ndef f(:\n", "x = f'{a['b']}'\ndef f(:\n", "def f[T(x): pass\n", "type = 3\nz = f'{a}' +\n",
    "x = f'{", "x = f'{a#", 'x = f"""{a', "except A, B:\n", "class A[", "x = f'{a:{b:{c:{d",
)  # fmt: skip
"""Texts that no Python reads."""


@pytest.mark.parametrize(("text", "version"), NEWER.items())
def test_what_a_newer_python_reads_says_which(text: str, version: tuple[int, int]) -> None:
    this = sys.version_info[:2]
    if this >= version:
        assert version >= (3, 14) or parse(text)
        return
    message = f"syntax of Python 3.{version[1]}; this Python is 3.{this[1]}"
    with pytest.raises(ReaderLimitError) as caught:
        parse(text)
    assert str(caught.value) == message
    # Both readers of files count it under this reason.
    series = TransformSeries(transforms=(transform_for("identity", "python"),), seed=0)
    edited = perturb_file(PYTHON_FILES, text.encode(), "m.py", series)
    assert edited.unread == message
    assert [getattr(record, "reason", None) for record in edited.records] == [message]


@pytest.mark.parametrize("text", WRONG)
def test_what_no_python_reads_is_wrong(text: str) -> None:
    with pytest.raises(SourceError, match="not valid Python") as caught:
        parse(text)
    assert not isinstance(caught.value, ReaderLimitError)


def test_python_2_is_named() -> None:
    with pytest.raises(ReaderLimitError, match=r"^syntax of Python 2; this Python is"):
        parse("def f():\n    print 'x'\n")


@pytest.mark.parametrize(
    "piece",
    ["def f[\n", "f'{", "f'{'{", "f'''{", "[", "type X[", "def f[", "except A, ", "'", "f'{a:", "f'{(#"],
)
def test_hostile_texts_take_no_time_and_end(piece: str) -> None:
    with pytest.raises(SourceError):
        parse("type X = int\n" + piece * 30_001)  # an even number of quotes may be a text


def test_what_python_cannot_hold_is_a_limit_of_its_reader() -> None:
    deep = "".join(f"{' ' * depth}if x:\n" for depth in range(150)) + " " * 150 + "pass\n"
    for text in ("x = " + "(" * 300 + ")" * 300, deep):
        with pytest.raises(ReaderLimitError, match="nested too deeply for this Python"):
            parse(text)
