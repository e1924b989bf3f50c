"""Texts put together in other ways: the same text, the same calls in the same order."""

import itertools

import pytest

from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.python import strings
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.strings import from_f_strings, to_f_strings
from codeaudit.transforms.python.strings.from_f_strings import (
    F_STRING_TO_CONCAT,
    F_STRING_TO_FORMAT,
    FIELDS_SWAPPED,
)
from codeaudit.transforms.python.strings.to_f_strings import (
    CONCAT_TO_F_STRING,
    FORMAT_TO_F_STRING,
    PERCENT_TO_F_STRING,
)
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.registry import TRANSFORMS
from tests.support import stdlib
from tests.transforms.python.order.support import agrees, outcome, reasons, run, untouched, variants

BEFORE_AFTER: dict[str, tuple[PythonRule, str, str]] = {
    "fields": (F_STRING_TO_FORMAT, 'f"a{a}b{b!r}c{a:>5}"', '"a{}b{!r}c{:>5}".format(a, b, a)'),
    "braces": (F_STRING_TO_FORMAT, 'f"{{{a}}}"', '"{{{}}}".format(a)'),
    "a raw string": (F_STRING_TO_FORMAT, r'fr"\d{a}"', r'r"\d{}".format(a)'),
    "named characters": (F_STRING_TO_FORMAT, r'f"\N{EM DASH}{a}"', r'"\N{EM DASH}{}".format(a)'),
    "a tuple": (F_STRING_TO_FORMAT, 'f"{a, b}"', '"{}".format((a, b))'),
    "a tuple in parentheses": (F_STRING_TO_FORMAT, 'f"{(a, b)}"', '"{}".format((a, b))'),
    "a tuple and blanks": (F_STRING_TO_FORMAT, 'f"{ a, b !r}"', '"{!r}".format((a, b))'),
    "two pairs": (F_STRING_TO_FORMAT, 'f"{(a), (b)}"', '"{}".format(((a), (b)))'),
    "a lambda and blanks": (F_STRING_TO_FORMAT, 'f"{ (lambda: a) }"', '"{}".format((lambda: a))'),
    "equal texts": (F_STRING_TO_FORMAT, 'f"a {a} a"', '"a {} a".format(a)'),
    "wide characters": (F_STRING_TO_FORMAT, 'f"é{a}€{b}"', '"é{}€{}".format(a, b)'),
    "three quotes": (F_STRING_TO_FORMAT, 'f"""{a}\n{b}"""', '"""{}\n{}""".format(a, b)'),
    "a call": (FORMAT_TO_F_STRING, '"{} {!r:>5}".format(a, b)', 'f"{a} {b!r:>5}"'),
    "numbers and names": (FORMAT_TO_F_STRING, '"{0} {c}".format(a, c=b)', 'f"{a} {b}"'),
    "doubled braces": (FORMAT_TO_F_STRING, '"{{{}}}".format(a)', 'f"{{{a}}}"'),
    "other quotes inside": (FORMAT_TO_F_STRING, "\"{}\".format(a['b'])", "f\"{a['b']}\""),
    "a dictionary": (FORMAT_TO_F_STRING, '"{}".format({a: b})', 'f"{ {a: b}}"'),
    "another order": (FORMAT_TO_F_STRING, '"{1} {0} {1}".format(a, b)', 'f"{b} {a} {b}"'),
    "raw": (FORMAT_TO_F_STRING, r'r"\d{}".format(a)', r'fr"\d{a}"'),
    "escapes": (
        FORMAT_TO_F_STRING,
        r'"\n{}\N{EM DASH}".format(a)',
        r'f"\n{a}\N{EM DASH}"',
    ),
    "a generator": (FORMAT_TO_F_STRING, '"{}".format(a for a in b)', 'f"{(a for a in b)}"'),
    "an assignment expression": (FORMAT_TO_F_STRING, '"{}".format(c := a)', 'f"{(c := a)}"'),
    "percent": (PERCENT_TO_F_STRING, '"%s %r %%{}" % (a, b)', 'f"{a!s} {b!r} %{{}}"'),
    "widths": (PERCENT_TO_F_STRING, '"%5s|%-5r|%.2s" % (a, b, a)', 'f"{a!s:>5}|{b!r:<5}|{a!s:.2}"'),
    "numbers": (PERCENT_TO_F_STRING, '"%d %05d %x" % (n, n, n)', 'f"{n:d} {n:05d} {n:x}"'),
    "fractions": (PERCENT_TO_F_STRING, '"%.2f %g" % (x, x)', 'f"{x:.2f} {x:g}"'),
    "one value of a certain type": (PERCENT_TO_F_STRING, '"%s" % s', 'f"{s}"'),
    "a sum": (F_STRING_TO_CONCAT, 'f"a{s}b"', '("a" + s + "b")'),
    "a sum of numbers": (F_STRING_TO_CONCAT, 'f"{n}{s!r}"', "(str(n) + repr(s))"),
    "a sum with braces": (F_STRING_TO_CONCAT, 'f"{{{s}}}"', '("{" + s + "}")'),
    "a sum of raw texts": (F_STRING_TO_CONCAT, r'fr"\d{s}"', r'(r"\d" + s)'),
    "a condition in a sum": (F_STRING_TO_CONCAT, 'f"a{s if n else s}"', '("a" + (s if n else s))'),
    "a field": (CONCAT_TO_F_STRING, '"<" + s + ">"', 'f"<{s}>"'),
    "braces in a sum": (CONCAT_TO_F_STRING, '"{" + s', 'f"{{{s}"'),
    "texts in a row": (CONCAT_TO_F_STRING, 's + "a" + "b"', 'f"{s}ab"'),
    "an operation": (CONCAT_TO_F_STRING, '"a" + (s + s)', 'f"a{s + s}"'),
}


@pytest.mark.thinned(12)
@pytest.mark.parametrize("case", BEFORE_AFTER)
def test_before_and_after(case: str) -> None:
    rule, before, after = BEFORE_AFTER[case]
    source = _function(before)
    assert variants(rule, source) == {_function(after)}
    if case in ("a lambda and blanks", "a generator"):
        return  # the text holds an address
    calls = [f"f({a}, {b})" for a, b in itertools.product(("1", "'xy'", "None", "[2.5]", "(1, 2)"), repeat=2)]
    assert agrees(rule, source, *calls)


DECLINED: dict[str, tuple[PythonRule, str, str]] = {
    "a field that prints itself": (F_STRING_TO_FORMAT, 'f"{a=}"', from_f_strings.PRINTS_ITSELF),
    "a field in a format": (F_STRING_TO_FORMAT, 'f"{a:{b}}"', from_f_strings.NESTED),
    "pieces in a row": (F_STRING_TO_FORMAT, 'f"{a}" "b"', from_f_strings.SEVERAL),
    "no field": (F_STRING_TO_FORMAT, 'f"a"', from_f_strings.NO_FIELD),
    "an attribute may change what is formatted": (F_STRING_TO_FORMAT, 'f"{a} {a.b}"', from_f_strings.ORDER),
    "a call may change what is formatted": (
        FORMAT_TO_F_STRING,
        '"{} {}".format(a, a.pop())',
        from_f_strings.ORDER,
    ),
    "a brace by its number": (F_STRING_TO_FORMAT, r'f"\x7b{a}"', from_f_strings.DIFFERENT),
    "a brace by its number in a call": (FORMAT_TO_F_STRING, r'"\x7b}{}".format(a)', to_f_strings.BY_ESCAPE),
    "starred values": (FORMAT_TO_F_STRING, '"{}".format(*a)', to_f_strings.SPREAD),
    "starred names": (FORMAT_TO_F_STRING, '"{}".format(**a)', to_f_strings.SPREAD),
    "too few values": (FORMAT_TO_F_STRING, '"{} {}".format(a)', to_f_strings.COUNT),
    "attributes of values": (FORMAT_TO_F_STRING, '"{0.b}".format(a)', to_f_strings.LOOKS_INSIDE),
    "numbered and not": (FORMAT_TO_F_STRING, '"{} {0}".format(a)', to_f_strings.COUNT),
    "values used twice": (FORMAT_TO_F_STRING, '"{0} {0}".format(a())', to_f_strings.REUSED),
    "values not used": (FORMAT_TO_F_STRING, '"{0}".format(a, b())', to_f_strings.REUSED),
    "the same quote inside": (FORMAT_TO_F_STRING, '"{}".format(a["b"])', to_f_strings.QUOTES),
    "a backslash inside": (FORMAT_TO_F_STRING, "\"{}\".format(a['\\n'])", to_f_strings.QUOTES),
    "a comment inside": (FORMAT_TO_F_STRING, '"{}".format(a  # b\n)', from_f_strings.COMMENT),
    "a field in a field": (FORMAT_TO_F_STRING, '"{:{}}".format(a, b)', from_f_strings.NESTED),
    "a value that may be a tuple": (PERCENT_TO_F_STRING, '"%s" % a', to_f_strings.MAYBE_TUPLE),
    "a tuple": (PERCENT_TO_F_STRING, '"%s %s" % t', to_f_strings.MAYBE_TUPLE),
    "a dictionary": (PERCENT_TO_F_STRING, '"%(a)s" % {"a": a}', to_f_strings.CONVERSION),
    "a mapping's name": (PERCENT_TO_F_STRING, '"%(a)s" % (a,)', to_f_strings.CONVERSION),
    "an unknown number": (PERCENT_TO_F_STRING, '"%d" % (a,)', to_f_strings.UNCERTAIN),
    "a character": (PERCENT_TO_F_STRING, '"%c" % (n,)', to_f_strings.CONVERSION),
    "a width among the values": (PERCENT_TO_F_STRING, '"%*d" % (n, n)', to_f_strings.CONVERSION),
    "too many values": (PERCENT_TO_F_STRING, '"%s" % (a, b)', to_f_strings.COUNT),
    "a sign by its number": (PERCENT_TO_F_STRING, r'"\x25s %s" % (a,)', to_f_strings.BY_ESCAPE),
    "an unknown summand": (F_STRING_TO_CONCAT, 'f"a{a}"', from_f_strings.UNCERTAIN),
    "a formatted summand": (F_STRING_TO_CONCAT, 'f"a{n:>5}"', from_f_strings.UNCERTAIN),
    "a field alone": (F_STRING_TO_CONCAT, 'f"{s}"', from_f_strings.ONE_PART),
    "a sum of unknowns": (CONCAT_TO_F_STRING, '"a" + a', to_f_strings.UNCERTAIN),
    "a sum of what an object says that it is": (CONCAT_TO_F_STRING, '"a" + str(a)', to_f_strings.UNCERTAIN),
    "a sum of how an object is formatted": (CONCAT_TO_F_STRING, '"a" + f"{a}"', to_f_strings.UNCERTAIN),
    "a sum of bytes": (CONCAT_TO_F_STRING, '"a" + s + b', to_f_strings.UNCERTAIN),
    "a sum of names": (CONCAT_TO_F_STRING, "s + s", to_f_strings.NO_TEXT),
    "different quotes": (CONCAT_TO_F_STRING, "'a' + s + \"b\"", from_f_strings.DIFFERENT),
}


@pytest.mark.thinned(13)
@pytest.mark.parametrize("case", DECLINED)
def test_declined(case: str) -> None:
    rule, source, reason = DECLINED[case]
    text = _function(source)
    assert reason in reasons(rule, text)
    if case not in ("a sum of bytes", "different quotes"):  # the left part of which is rewritten
        assert untouched(rule, text)


def test_a_name_of_a_builtin_that_is_bound() -> None:
    source = "def f(a, str):\n    n = 1\n    return f'a{n}'\n"
    assert reasons(F_STRING_TO_CONCAT, source) == {from_f_strings.BINDS_STR}


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (CONCAT_TO_F_STRING, "'prefix' + a"),
        (CONCAT_TO_F_STRING, "'pre' + 'fix' + a"),
        (CONCAT_TO_F_STRING, "a + 'prefix' + ''"),
        (F_STRING_TO_CONCAT, "f'prefix{a}'"),
        (F_STRING_TO_CONCAT, "f'{c}{a}'"),
        (F_STRING_TO_FORMAT, "f'{c}'"),
        (F_STRING_TO_FORMAT, "f'{a}p'"),
        (FORMAT_TO_F_STRING, "'{}'.format(c)"),
        (PERCENT_TO_F_STRING, "'%s' % (c,)"),
        (PERCENT_TO_F_STRING, "'%%%s' % (c,)"),
    ],
)
@pytest.mark.parametrize("shown", ["b is c", "id(b) == id(c)", "[b is d for d in (c, 'p')]"])
def test_a_text_that_may_be_told_from_an_equal_one(rule: PythonRule, text: str, shown: str) -> None:
    source = f"def f():\n    a = ''; c = 'prefix'\n    b = {text}\n    return {shown}\n"
    assert untouched(rule, source)
    assert reasons(rule, source) == {from_f_strings.SEEN}
    assert not untouched(rule, source.replace(shown, "b == c or b is None"))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (CONCAT_TO_F_STRING, "'<' + a + '>'"),
        (F_STRING_TO_CONCAT, "f'<{a}>'"),
        (F_STRING_TO_FORMAT, "f'pre{a}'"),
        (FORMAT_TO_F_STRING, "'pre{}'.format(a)"),
        (PERCENT_TO_F_STRING, "'pre%s' % (a,)"),
    ],
)
def test_a_text_that_is_new_in_every_form(rule: PythonRule, text: str) -> None:
    source = f"def f():\n    a = ''; c = '<>'\n    b = {text}\n    return b, b is c, b is a, b is 'pre'\n"
    assert agrees(rule, source, "f()")


def test_words_stay_apart() -> None:
    source = "def f(a):\n    return 0 if a is None else'%s' % (a,)\n"
    assert variants(PERCENT_TO_F_STRING, source) == {"def f(a):\n    return 0 if a is None else f'{a!s}'\n"}


LOGGING = """\
log = []
class A:
    def __init__(self, name):
        self.name = name
    def __str__(self):
        log.append('str ' + self.name)
        return self.name
    def __repr__(self):
        log.append('repr ' + self.name)
        return self.name
    def __format__(self, spec):
        log.append('format ' + self.name + spec)
        return self.name + spec
    def __getattr__(self, name):
        log.append(name)
        return A(name)
class Bad(A):
    def __format__(self, spec):
        raise ValueError(spec)
    __str__ = __repr__ = __format__
"""


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (F_STRING_TO_FORMAT, 'f"{a.x} {b} {a!r:5} {b!s}"'),
        (FORMAT_TO_F_STRING, '"{} {} {!r:5}".format(a.x, b, a)'),
        (FORMAT_TO_F_STRING, '"{1:5} {0}".format(a, b)'),
        (PERCENT_TO_F_STRING, '"%s %r %5s" % (a.x, b, a)'),
    ],
)
def test_objects_are_asked_in_the_same_order(rule: PythonRule, text: str) -> None:
    source = LOGGING + f"def f(a, b):\n    return {text}\n"
    calls = [
        "(f(A('a'), A('b')), log)",
        "(f(Bad('a'), A('b')), log)",
        "[f(A('a'), Bad('b')), log]",
        "log if not f(A('a'), A('b')) else log",
    ]
    assert agrees(rule, source, *calls)


NUMBERS = {
    "int": ("0", "-7", "123456789", f"1{'0' * 30}"),
    "float": ("0.0", "-1.5", "1e300", "1e999 - 1e999", "-1e999", "123456.789"),
    "str": ("''", "'abc'", "'é€'"),
}


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("kind", NUMBERS)
def test_every_conversion_gives_the_same_text(kind: str) -> None:
    applied = 0
    letters = {"int": "diuxXosr", "float": "feEgGFsr", "str": "sra"}[kind]
    for flag, width, precision, letter in itertools.product(
        ("", "-", "0", "+"), ("", "1", "7"), ("", ".0", ".3"), letters
    ):
        for value in NUMBERS[kind]:
            source = f"def f():\n    v = {value}\n    return '[%{flag}{width}{precision}{letter}]' % (v,)\n"
            for text in variants(PERCENT_TO_F_STRING, source):
                applied += 1
                assert run(text, "f()") == run(source, "f()"), text
    assert applied > 50


def test_two_fields_are_swapped() -> None:
    for before, after in {
        "f'{a} {b:>5}'": "f'{b} {a:>5}'",
        "'{} {}'.format(a, b)": "'{} {}'.format(b, a)",
        "'%s %s' % (a, b)": "'%s %s' % (b, a)",
    }.items():
        assert variants(FIELDS_SWAPPED, _function(before)) == {_function(after)}
        assert run(_function(before), "f(1, 2)") != run(_function(after), "f(1, 2)")
    assert untouched(FIELDS_SWAPPED, _function("f'{a} {a}'"))


RULES = [name for name, entry in strings.FAMILY.transforms.items() if entry.kind == "preserving"]


@pytest.mark.weekly
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", RULES)
def test_ordinary_code_compiles_and_nothing_is_left_behind(name: str) -> None:
    rule = TRANSFORMS.get(name)
    assert isinstance(rule, PythonRule)
    applied = 0
    for source in filter(_mentions, stdlib.functions()[::3]):
        nothing = rule.apply(source, ())
        assert isinstance(nothing, Rewritten)
        assert nothing.source == source
        edit = outcome(rule, source)
        if isinstance(edit, Perturbed):
            applied += 1
            compile(edit.source, "<result>", "exec")
            assert edit.source.count("#") == source.count("#")
        else:
            assert edit.reason != "result does not compile", source
    assert applied


def _mentions(source: str) -> bool:
    if not any(mark in source for mark in ("f'", 'f"', ".format(", "' %", '" %', '" +', "+ '")):
        return False
    try:
        compile(source, "<source>", "exec")
    except SyntaxError:
        return False
    return True


def _function(text: str) -> str:
    return f"def f(a, b):\n    n = 3; x = 2.5; s = 'text'; t = (1, 2)\n    return {text}\n"
