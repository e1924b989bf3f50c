"""Whole Java files: what may be touched in them, and that every other byte stays."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import pytest

from codeaudit.transforms.errors import NOT_PARSED, RESULT_NOT_PARSED
from codeaudit.transforms.interface import BaseTransform, Refused, Rewritten, Transform
from codeaudit.transforms.java.files import (
    ESCAPED,
    JAVA_FILES,
    REBOUND,
    DecodedJava,
    declared_types,
    package_folder,
    places,
)
from codeaudit.transforms.perturb import EXHAUSTED
from codeaudit.transforms.records import Kind, Move, Unit
from codeaudit.transforms.source_files import (
    MODULE,
    WRAPPER_LOST,
    Applied,
    Declined,
    PerturbedFile,
    TransformSeries,
    changed_units,
    function_names,
    perturb_file,
)

FILE = """\
package p;

import java.util.function.IntSupplier;

/** Words. */
@Deprecated
public class Outer<T> {
    private final int base;
    private final IntSupplier field = new IntSupplier() {
        public int getAsInt() { return 1; }
    };

    /** More words. */
    public Outer(int base) { this.base = base; }
    Outer() { this(1); }

    @Override
    public String toString() {
        return "1" + new Object() { int inner() { return 1; } };
    }

    enum Kind {
        ONE { @Override int size() { return 1; } }, TWO;
        int size() { return 2; }
    }

    interface Sized { int size(); default int twice() { return 1 * size(); } }

    record Pair(int a, int b) { Pair { assert a > 1; } int sum() { return a + b + 1; } }
}

class Second { static int f(int a) { return a + 1; } static int f(long a) { return 1; } }
"""


@dataclass(frozen=True)
class Edit(BaseTransform):
    """A transform that does to a text whatever the test wants."""

    do: Callable[[str], str]
    name: str = "edit"
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default_factory=frozenset)
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        return (Move(kind="edit", site=0, value="", note=""),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        return Rewritten(source=self.do(source), evidence="analysis")


def one_to_two(text: str) -> str:
    return text.replace("1", "2")


def perturbed(
    text: str | bytes, *transforms: Transform, around: frozenset[str] = frozenset()
) -> PerturbedFile:
    data = text if isinstance(text, bytes) else text.encode()
    return perturb_file(
        JAVA_FILES, data, "p/Outer.java", TransformSeries(transforms=transforms, seed=0), around=around
    )


def reasons(file: PerturbedFile) -> list[str]:
    return [record.reason for record in file.records if isinstance(record, Declined)]


def test_methods_by_qualified_name() -> None:
    methods = {place.name: FILE.encode()[place.start : place.end].decode() for place in places(FILE)}
    assert list(methods) == [
        "Outer.Outer", "Outer.Outer#2", "Outer.toString", "Outer.Kind.ONE.size", "Outer.Kind.size",
        "Outer.Sized.size", "Outer.Sized.twice", "Outer.Pair.Pair", "Outer.Pair.sum", "Second.f", "Second.f#2",
    ]  # fmt: skip
    assert methods["Outer.Outer"] == "public Outer(int base) { this.base = base; }"
    assert methods["Outer.toString"].startswith("@Override\n    public String toString() {")
    assert methods["Second.f#2"] == "static int f(long a) { return 1; }"
    lines = {place.name: (place.first, place.last) for place in places(FILE)}
    assert lines["Outer.toString"] == (17, 20)
    assert lines["Second.f"] == lines["Second.f#2"] == (32, 32)
    assert function_names(JAVA_FILES, FILE.encode()) == tuple(methods)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_only_methods_change_and_every_other_byte_stays(newline: str, mark: bytes) -> None:
    text = FILE.replace("Words.", "Wörter.")
    data = mark + text.replace("\n", newline).encode()
    edited = perturbed(data, Edit(one_to_two))
    expected = text.encode()
    for place in reversed(places(text)):
        inside = expected[place.start : place.end].replace(b"1", b"2")
        expected = expected[: place.start] + inside + expected[place.end :]
    assert expected != text.encode()
    assert edited.data == mark + expected.decode().replace("\n", newline).encode()
    changed = changed_units(JAVA_FILES, data, edited.data)
    assert MODULE not in changed
    assert {record.unit.name for record in edited.records if isinstance(record, Applied)} == set(changed)


def test_ends_of_lines_that_differ_stay() -> None:
    data = b"class A {\r\n  int f() { return 1; }\n  int g() { return 1; }\r}\r\n"
    assert perturbed(data, Edit(one_to_two)).data == data.replace(b"1", b"2")


def test_a_transform_of_files_sees_all_of_it() -> None:
    seen: list[str] = []

    def noted(text: str) -> str:
        seen.append(text)
        return text + "\n"

    edited = perturbed(FILE, Edit(noted, unit="module"))
    assert seen == [FILE]
    assert [record.unit.name for record in edited.records] == [MODULE]


def test_what_does_not_read_is_not_applied() -> None:
    def broken(text: str) -> str:
        return text.replace("return 1", "return (")

    edited = perturbed(
        "class A { int f() { return 1; } int g() { return 2; } }", Edit(broken), Edit(one_to_two)
    )
    assert edited.data == b"class A { int f() { return 2; } int g() { return 2; } }"
    assert reasons(edited)[0] == RESULT_NOT_PARSED
    assert reasons(edited)[1:] == [EXHAUSTED] * 2
    whole = perturbed("class A { int f() { return 1; } }", Edit(broken, unit="module"))
    assert reasons(whole) == [RESULT_NOT_PARSED]


def test_more_than_the_method_is_not_applied() -> None:
    edited = perturbed(
        "class A { int f() { return 1; } }", Edit(lambda text: text + " int g() { return 2; }")
    )
    assert reasons(edited) == [WRAPPER_LOST]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"class A { int f( { }", NOT_PARSED),
        (b'class A { String f() { return "\xe9"; } }', "not UTF-8"),
        (b"class A { \0 }", "null bytes"),
    ],
)
def test_files_that_cannot_be_read_stay(data: bytes, reason: str) -> None:
    edited = perturbed(data, Edit(one_to_two))
    assert (edited.data, reasons(edited)) == (data, [reason])


@pytest.mark.parametrize(
    ("outside", "found"),
    [
        ('String s = "\\u00e9\\u0041\\t";', []),
        ("char c = '\\u0041'; // \\u0041", []),
        ('String s = "\\\\u0022";', []),
        ('String s = "\\u0022 + \\u0022x" + "";', []),
        ("/* \\u002a\\u002f int x; /* */", []),
        ("int \\u0061;", []),
        ("int caf\\u00e9;", []),
        ("// \\u000a int f() { return 1; }", [ESCAPED]),
        ("/* \\u002a\\u002f int g() { return 2; } /* */", [ESCAPED]),
        ('String s = "\\u0022; int g() { return 2; } String t = \\u0022";', [ESCAPED]),
        ('String s = "\\uu005c\\u0022";', [NOT_PARSED]),
        ('String s = "\\u005ct";', [ESCAPED]),
        ('String s = "\\ud83d\\ude00\\u0022 + \\u0022";', [ESCAPED]),
        ('String s = "\\u0022 + "x" + "";', [NOT_PARSED]),
    ],
)
def test_characters_by_number_cost_a_file_only_if_they_make_other_members(
    outside: str, found: list[str]
) -> None:
    text = f"class A {{\n{outside}\nint f() {{ return 1; }}\n}}"
    assert reasons(perturbed(text, Edit(one_to_two))) == found


def test_a_character_by_number_costs_its_own_method() -> None:
    text = 'class A { String f() { return "a\\u0022 + \\u0022b1"; } int g() { return 1; } int h() { int \\u0061 = 1; } }'
    edited = perturbed(text, Edit(one_to_two))
    assert reasons(edited) == [ESCAPED, ESCAPED]
    assert b"int g() { return 2; }" in edited.data


def test_a_type_that_is_spelt_by_numbers_gives_its_name_another_meaning() -> None:
    text = "class A { class \\u004dath { } int f(int a) { return Math.abs(a) + 1; } int g() { return 1; } }"
    edited = perturbed(text, Edit(one_to_two))
    assert reasons(edited) == [REBOUND]
    assert b"int g() { return 2; }" in edited.data


def test_a_method_with_characters_by_number_stays() -> None:
    edited = perturbed('class A { String f() { return "\\u00e91"; } }', Edit(one_to_two))
    assert reasons(edited) == [ESCAPED]


def test_a_well_known_name_of_the_file_or_of_one_beside_it() -> None:
    text = "class A { int f(int a) { return Math.abs(a) + 1; } int g() { return 1; } }"
    assert reasons(perturbed(text, Edit(one_to_two))) == []
    for edited in (
        perturbed(f"{text} class Math {{ }}", Edit(one_to_two)),
        perturbed(f"import q.Math; {text}", Edit(one_to_two)),
        perturbed(text, Edit(one_to_two), around=frozenset({"Math", "Other"})),
    ):
        assert reasons(edited) == [REBOUND]
        assert b"return 2" in edited.data


@pytest.mark.parametrize(
    ("text", "strange"),
    [
        ("class A extends Point2D { double f() { return Double.MAX_VALUE; } }", True),
        ("class A extends java.awt.geom.Line2D.Float { void f() { Float x = null; } }", True),
        ("class A { Object f() { return new Point2D() { Double x; }; } }", True),
        ("class A extends HTMLDocument { void f(Iterator x) { int a = 1; } }", True),
        ("class A extends Point2D { void f() { Integer x = null; } }", False),
        ("class A { void f(Point2D x) { Double y = null; } }", False),
    ],
)
def test_names_that_a_class_of_the_jdk_gives_to_those_that_extend_it(text: str, strange: bool) -> None:
    assert {place.obstacle for place in places(text)} == {REBOUND if strange else None}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("class A { void f(B b) { new C(); } }", ""),
        ("class A extends B<C> implements D, e.F { }", "A"),
        ("interface A extends B { } enum C implements D { E } record F() implements G { }", "BDG"),
        ("import p.Outer.B; import q.C; class A extends B { }", "B Outer p"),
        ("import p.Outer.*; import q.*; class A extends B { }", "B Outer q"),
        ("class A { Object f() { return new B() { }; } }", "B"),
        ("class A { ", ""),
        ("class \\u0041 \\u0065xtends B { }", "B"),
    ],
)
def test_files_that_may_declare_a_supertype(text: str, names: str) -> None:
    assert JAVA_FILES.supertypes is not None
    supertypes = JAVA_FILES.supertypes(text.encode())
    wanted = names.split() if " " in names else list(names)
    assert supertypes >= set(wanted) - {"A"}
    assert bool(supertypes) is bool(names)


def test_what_is_read_is_written() -> None:
    decoded = DecodedJava.read("class Ä { }\r\n".encode())
    assert (decoded.text, decoded.newline) == ("class Ä { }\n", "\r\n")
    assert decoded.compiles("class B { }")
    assert not decoded.compiles("class B {")


USES = "class A { int f(List a) { return 1; } int g() { return Math.abs(1); } int h() { return 1; } }"
"""Three methods: of one type that a file has to import, of one that it has not, and of none."""


@pytest.mark.parametrize(
    ("head", "strange"),
    [
        ("", ""),
        ("package p; import java.util.List;", ""),
        ("package p; import java.util.*;", ""),
        ("package p; import java.util.List; import p.shadow.*;", ""),
        ("import module java.base;", ""),
        ("import a.B; import module java.base;", ""),
        ("/* a */ package /* b */ p; import\tjava /* c */ . util . // d\n List ;", ""),
        ("package p;", "f"),
        ("import java.util.Map;", "f"),
        ("import p.shadow.*;", "f"),
        ("import static java.util.List.*;", "f"),
        ("import java.awt.List;", "f"),
        ("import java.util.Map; import java.awt.List;", "f"),
        ("import java.util.*; import q.List;", "f"),
        ("import java.util.*;import/* a */q . /* b */ List /* c */;", "f"),
        ("import java.util.*; import q // a\n.\nList;", "f"),
        ("import java.util.*; import static q.All.List;", "f"),
        ("import java.util.List; import p.shadow.Math;", "g"),
        ("import java.util.List; import a.B; /* b */ import q.Math;", "g"),
        ("import static q.All.Math; import q.List;", "fg"),
        ("import java.util.*; @interface Math { }", "g"),
        ("import java.util.*; class B<@X Math extends Number> { }", "g"),
        ("import java.util.*; class B<@X T extends Math> { }", ""),
        ("import java.util.*; record Math(int a) { }", "g"),
        ("/* import q.Math; */ import java.util.*; // import q.List;\n", ""),
    ],
)
def test_which_well_known_names_mean_another_type(head: str, strange: str) -> None:
    obstacles = {
        place.name[-1]: place.obstacle for place in places(f"{head} {USES}") if place.name[:2] == "A."
    }
    assert {name for name, obstacle in obstacles.items() if obstacle == REBOUND} == set(strange)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("List a;", True),
        ("Object a = List::new;", True),
        ("Object a = List.of();", True),
        ("Object a = new List<>();", True),
        ("@List int a;", True),
        ("Object a = x instanceof List;", True),
        ("List.Entry a;", True),
        ("java.util.List a;", False),
        ('// List\n/* List */ Object a = "List";', False),
        ("a.List(); b = a.List;", False),
    ],
)
def test_what_names_a_type(body: str, named: bool) -> None:
    (place,) = places(f"import q.List; class A {{ void f() {{ {body} }} }}")
    assert (place.obstacle == REBOUND) is named


def test_types_that_a_file_declares() -> None:
    text = """
        package p; class List { enum /* a */ Map { } } interface // b
        Set { } @interface Function { } class \\u004dath { } record Own(int a) { } // class Queue
    """
    data = text.replace("\\\\", "\\").encode()
    assert declared_types(data) == {"List", "Map", "Set", "Function", "Math"}
    # Of what does not parse, everything that looks like a declaration counts.
    assert declared_types(data + b"\nclass \xff { }{") == {"List", "Map", "Set", "Function", "Math", "Queue"}
    assert package_folder("package a /* x */ . b; class C { }") == "a/b"
    assert package_folder("/* x */ package/* y */ a; class C { }") == "a"
    assert package_folder("class C { }") == ""
