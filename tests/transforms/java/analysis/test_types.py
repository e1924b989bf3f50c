"""The static types of Java's expressions, and what follows from them: as the text shows, and as javac says."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from shutil import which

import pytest

from codeaudit.transforms.java.analysis.scopes import resolve
from codeaudit.transforms.java.analysis.types import (
    INTEGRAL,
    NUMERIC,
    Types,
    assigned,
    is_movable_past,
    is_pure,
    is_reference,
    promoted,
    varies,
)
from codeaudit.transforms.syntax.reader import Node

PARAMETERS: Mapping[str, str] = {
    "b": "byte", "h": "short", "c": "char", "i": "int", "l": "long", "w": "float", "d": "double", "p": "boolean",
    "s": "String", "n": "Integer", "o": "Object", "v": "int[]", "t": "String[]", "vv": "long[][]",
    "xs": "List<String>", "m": "Map<String,Integer>", "sb": "StringBuilder", "sf": "StringBuffer",
    "ls": "LinkedList<int[]>",
}  # fmt: skip
LOCALS = (
    "int j[] = {1}; var k = 2L; final var x = \"a\"; final int y = 3; double z[][] = null, q = 1; "
    "List<? extends Number> g = null; @Deprecated int e = 1; int /* rows */ r = 1; java.lang.String u = s; "
    "var a = new int[2][];"
)  # fmt: skip


def parsed(expression: str, around: str = "{}") -> tuple[Types, Node]:
    """An expression behind declarations of variables of all types, in a statement of its own."""
    head = ", ".join(f"{kind} {name}" for name, kind in PARAMETERS.items())
    statement = around.replace("{}", f"Object it = {expression};")
    scopes = resolve(
        f"void f({head}, int... more) {{ {LOCALS} for (short every : new short[0]) {{ {statement} }} }}"
    )
    values = [node for node in scopes.reading.root.walk() if node.field == "value"]
    text = scopes.reading.text
    (node,) = [
        node
        for node in values
        if text(node) == expression and node.parent and text(node.parent).startswith("it ")
    ]
    return Types(scopes), node


TYPED: Mapping[str, str] = {
    # literals
    "1": "int", "1L": "long", "12l": "long", "0x1F": "int", "0xFL": "long", "017": "int", "017L": "long",
    "0b11": "int", "0b1L": "long", "12": "int", "1.5": "double", "1e3": "double", "1.5f": "float", "12F": "float",
    "12d": "double", "0x1p3": "double", "0x1.8p0f": "float", "'a'": "char", '"a"': "String", "true": "boolean",
    "false": "boolean",
    # variables and casts
    **{name: kind for name, kind in PARAMETERS.items() if "<" not in kind},
    "xs": "List<String>", "m": "Map<String,Integer>", "ls": "LinkedList<int[]>",
    "j": "int[]", "k": "long", "x": "String", "y": "int", "z": "double[][]", "q": "double", "every": "short", "e": "int", "r": "int",
    "a": "int[][]", "a[0]": "int[]", "j[0]": "int", "z[0]": "double[]", "z[0][0]": "double",
    "(byte) i": "byte", "(Integer) o": "Integer", "(long[]) o": "long[]", "(i)": "int", "((l))": "long",
    # unary operators
    "!p": "boolean", "-b": "int", "~c": "int", "+h": "int", "-l": "long", "-w": "float", "-d": "double",
    "b++": "byte", "--c": "char", "v[0]++": "int", "n++": "Integer", "b = 1": "byte", "v[0] += 1": "int",
    "s += 1": "String", "(c)--": "char",
    # binary operators
    "b + b": "int", "c + h": "int", "i + l": "long", "l * w": "float", "w / d": "double", "i % 2": "int",
    "l - i": "long", "d + l": "double", "w - w": "float", "s + i": "String", "i + s": "String", "c + s": "String",
    "null + s": "String", "s + null": "String", "s + o": "String", "c + c": "int", "'a' + 1": "int",
    "i << l": "int", "l << i": "long", "b >> 1": "int", "c >>> 1L": "int", "l >>> 1": "long", "i << n": "int",
    "i & l": "long", "b | c": "int", "p & p": "boolean", "p | p": "boolean", "p ^ p": "boolean", "i ^ i": "int",
    "i == l": "boolean", "o != null": "boolean", "i < d": "boolean", "i > d": "boolean", "i <= d": "boolean",
    "i >= d": "boolean", "p && p": "boolean", "p || p": "boolean", "o instanceof String": "boolean",
    # conditional
    "p ? i : j[0]": "int", "p ? s : x": "String", "p ? d : q": "double", "p ? p : !p": "boolean",
    # fields, objects and arrays
    "v.length": "int", "vv[0].length": "int", "vv.length": "int", "vv[0]": "long[]", "vv[0][1]": "long",
    "t[0]": "String", "new int[3]": "int[]", "new int[3][]": "int[][]",
    "new String[][] {{}}": "String[][]", "new Object()": "Object", "new ArrayList<String>()": "ArrayList<String>",
    "new long[1][2]": "long[][]", "new Integer[2][3][]": "Integer[][][]",
    # methods
    "s.length()": "int", "s.charAt(0)": "char", "s.isEmpty()": "boolean", "s.equals(o)": "boolean",
    "s.startsWith(x)": "boolean", "s.endsWith(x)": "boolean", "s.contains(x)": "boolean", "s.indexOf(x)": "int",
    "s.lastIndexOf(x)": "int", "s.trim()": "String", "s.substring(1)": "String", "s.toLowerCase()": "String",
    "s.toUpperCase()": "String", "s.replace('a', 'b')": "String", "s.compareTo(x)": "int",
    "s.equalsIgnoreCase(x)": "boolean", "s.concat(x)": "String", "s.hashCode()": "int",
    "s.replaceAll(x, x)": "String", "s.strip()": "String", "s.repeat(2)": "String", "s.isBlank()": "boolean",
    "s.matches(x)": "boolean", '"a".length()': "int", "(s + i).charAt(0)": "char", "t[0].trim()": "String",
    "sb.length()": "int", "sb.charAt(0)": "char", "sb.indexOf(s)": "int", "sf.length()": "int",
    "xs.size()": "int", "xs.isEmpty()": "boolean", "xs.contains(s)": "boolean", "m.containsKey(s)": "boolean",
    "m.size()": "int", "ls.size()": "int", "o.toString()": "String", "o.hashCode()": "int", "v.hashCode()": "int",
    "n.toString()": "String", "xs.get(0).toString()": "String",
    # static methods
    "Integer.parseInt(s)": "int", "Long.parseLong(s)": "long", "Double.parseDouble(s)": "double",
    "String.valueOf(i)": "String", "Integer.toString(i)": "String", "Long.toString(l)": "String",
    "System.currentTimeMillis()": "long", "System.nanoTime()": "long", "Math.sqrt(i)": "double",
    "Math.pow(i, i)": "double", "Math.floor(d)": "double", "Math.ceil(d)": "double",
    "Math.max(b, c)": "int", "Math.min(i, l)": "long", "Math.abs(w)": "float", "Math.max(l, d)": "double",
}  # fmt: skip
"""Expressions whose type the text determines. javac agrees (below)."""

UNKNOWN = (
    # Something may be boxed, inferred or promoted in a way that is left unknown.
    "p ? b : c", "p ? i : l", "p ? n : n", "p ? 1 : null", "p ? o : o", "p ? v : v", "n + n", "-n", "i + n",
    "n << 1", "o + o", "more", "more[0]", "p & n", "-o", "w << 1", "null + null", "p + p", "p - p", "n & p",
    # The declaration is outside, or is not what it seems.
    "field", "this.field", "this", "field[0]", "field.length", "o.length", "xs.length", "s.length", "v.size",
    "f()", "g(1)", "super.toString()", "o.equals(o)", "s.chars()", "xs.get(0)", "m.get(s)", "n.intValue()",
    "sb.isEmpty()", "v.length()", "g.getFirst()", "u", "field.trim()", "o.toString(1)",
    "Integer.hashCode(i)", "Math.round(d)", "Math.max(n, i)", "Math.max()", "integer.parseInt(s)", "Maths.abs(i)",
    "Unknown.parseInt(s)", "o.max(1, 2)", "new ArrayList<>()", "new Object() { }", "o.new Inner()",
    "(Runnable & Cloneable) o", "(java.lang.Integer) o", "(@A String) o", "() -> 1", "String::valueOf",
    "String.class", "o instanceof String[] z2 ? z2 : null", "v[0].length", "i[0]", "s[0]", "new java.lang.Integer(1)",
    "switch (i) { default -> 1; }",
)  # fmt: skip


@pytest.mark.parametrize(("expression", "kind"), TYPED.items(), ids=TYPED)
def test_an_expression_has_its_type(expression: str, kind: str) -> None:
    types, node = parsed(expression)
    assert types.of(node) == kind
    assert types.of(node) == kind, "asked again"
    assert types.numeric(node) == (kind if kind in NUMERIC else None)


@pytest.mark.parametrize("expression", UNKNOWN)
def test_a_type_that_the_text_does_not_determine_is_unknown(expression: str) -> None:
    types, node = parsed(expression)
    assert types.of(node) is None


def test_null_has_a_type_of_its_own() -> None:
    types, node = parsed("null")
    assert types.of(node) == "null"


DECLARED = (
    ("for (int one[] : rows) {}", "one", "int[]"),
    ("for (var one : rows) {}", "one", None),
    ("for (int one = 1;;) {}", "one", "int"),
    ("Fun one = (long two) -> { {} };", "two", "long"),
    ("Fun one = (two) -> { {} };", "two", None),
    ("Fun one = two -> { {} };", "two", None),
    ("Fun one = (long... two) -> { {} };", "two", None),
    ("try { } catch (Exception one) { {} }", "one", None),
    ("try (Reader one = null) { {} }", "one", None),
    ("if (o instanceof String one) { {} }", "one", None),
    ("var one = one + 1; {}", "one", None),
    ("var one; {}", "one", None),
    ("var one = s; {}", "one", "String"),
    ("var one = f(); {}", "one", None),
    ("Map</* key */ String, String> one; {}", "one", None),
    ("List<@A String> one; {}", "one", None),
    ("List<String> one; {}", "one", "List<String>"),
    ("java.util.List<String> one; {}", "one", "java.util.List<String>"),
    ("java.lang.Integer one = 1; {}", "one", None),
    # A local may be called as a class is.
    ("String System = s; {}", "System.length()", "int"),
    ("int[] Math = null; {}", "Math.sqrt(1)", None),
    ("int[] Math = null; {}", "Math.max(1, 2)", None),
    ("{}", "Math.max(1, 2)", "int"),
    # What the name means is in doubt: there is a cast to a type of this name.
    ("int one = 1; o = (one) o; {}", "one", None),
)


@pytest.mark.parametrize(("around", "expression", "kind"), DECLARED)
def test_a_variable_has_the_type_of_its_declaration(around: str, expression: str, kind: str | None) -> None:
    types, node = parsed(expression, around)
    assert types.of(node) == kind


def test_what_is_no_variable_has_no_declared_type() -> None:
    types, node = parsed("i + 1")
    assert types.declared(types.scopes.binding(node)) is None


@pytest.mark.slow
@pytest.mark.skipif(which("javac") is None, reason="no Java")
def test_javac_gives_an_expression_the_same_type(tmp_path: Path) -> None:
    """Each type has an overload of `told`, and each overload a result type of its own."""
    kinds = sorted({*TYPED.values(), "Object"})
    overloads = "".join(
        f"static class Told{number} {{}} static Told{number} told({kind} one) {{ return null; }}\n"
        for number, kind in enumerate(kinds)
    )
    head = ", ".join(f"{kind} {name}" for name, kind in PARAMETERS.items())
    asked = "".join(
        f"Told{kinds.index(kind)} told{number} = told({expression});\n"
        for number, (expression, kind) in enumerate(TYPED.items())
    )
    around = f"void f({head}, int... more) {{ {LOCALS} for (short every : new short[0]) {{\n{asked}}} }}\n"
    file = tmp_path / "Ask.java"
    file.write_text(f"import java.util.*;\nclass Ask {{\n{overloads}{around}}}\n")
    words = [
        "javac",
        "-J-Xmx256m",
        "-J-XX:+UseSerialGC",
        "-J-XX:TieredStopAtLevel=1",
        "-proc:none",
        "-Xmaxerrs",
        "9",
        str(file),
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


# ── what follows ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("first", sorted(NUMERIC))
@pytest.mark.parametrize("second", sorted(NUMERIC))
def test_the_wider_type_wins_and_nothing_is_narrower_than_int(first: str, second: str) -> None:
    order = ("int", "long", "float", "double")
    ranks = [order.index(name) if name in order else 0 for name in (first, second)]
    assert promoted(first, second) == order[max(ranks)]
    assert promoted(first) == order[ranks[0]]
    assert (first in INTEGRAL) == (first not in ("float", "double"))


VARYING = (
    "i", "i + 1", "g(1)", "o instanceof String", "new Object()", "v[0]", "this", "new int[1]", "null", "(k = 2)",
    "k++", "() -> 1", "String::valueOf", "String.class", "k", "every", "(p ? i : 1)", "switch (1) { default -> 1; }",
    "-k", "more", "(-k)",
)  # fmt: skip
CONSTANT = (
    "1",
    "1 + 2",
    '"a"',
    "'a'",
    "y",
    "x",
    "y + 1",
    "FIELD",
    "Other.FIELD",
    "(true)",
    "-1",
    "(byte) 1",
    "p2",
)


@pytest.mark.parametrize("expression", VARYING)
def test_what_is_no_constant(expression: str) -> None:
    types, node = parsed(expression)
    assert varies(types.scopes, node)


@pytest.mark.parametrize("expression", CONSTANT)
def test_what_may_be_a_constant(expression: str) -> None:
    types, node = parsed(expression)
    assert not varies(types.scopes, node)


def test_a_name_in_doubt_may_be_a_constant() -> None:
    for around, expected in (("int one = 1; {}", True), ("int one = 1; o = (one) o; {}", False)):
        types, node = parsed("one", around)
        assert varies(types.scopes, node) is expected


PURE = (
    "1", "1L", "0x1", "01", "0b1", "1.5", "0x1p1", "'a'", "true", "false", "i", "(i)", "-i", "~i", "!p", "i + l",
    "i * (b - 1)", "p ? i : 1", "p && i < 2", "(long) i", "(int) d", "d / 0", "1.0 / i", "d % i", "i << 2", "p ? p : !p",
    "i == 1 || p",
)  # fmt: skip
IMPURE = (
    "null", '"a"', "s", "n", "o", "v", "v[0]", "i / 2", "i % j[0]", "l / i", "l % 2", "n / 1", "s + i", "g(1)", "i++", "k = 1", "-n",
    "v.length", "n + 1", "(int) n", "(Integer) i", "field", "field + 1", "-field", "p ? n : 1", "p ? i : g(1)", "i + g(1)",
    "this", "new Object()", "o == o", "n == 1", "i == n", "!field", "p ? i : l", "field / 2", "field % 2",
)  # fmt: skip


@pytest.mark.parametrize("expression", PURE)
def test_an_operation_on_primitive_locals_is_pure(expression: str) -> None:
    types, node = parsed(expression)
    assert is_pure(types, node)


@pytest.mark.parametrize("expression", IMPURE)
def test_what_may_raise_or_act_is_not_pure(expression: str) -> None:
    types, node = parsed(expression)
    assert not is_pure(types, node)


@pytest.mark.parametrize(
    ("one", "other", "movable"),
    [
        ("1", "i++", True), ("null", "g(1)", True), ('"a"', "g(1)", True), ("this", "g(1)", True), ("(this)", "g(1)", True),
        ("i", "g(1)", True), ("i", "k++", True), ("i", "i++", False), ("i", "(i)--", False), ("(i)", "i = 1", False),
        ("i + b", "g(b += 1)", False), ("i + b", "l = 1", True), ("n", "g(1)", False), ("i", "v[i] = 1", True),
        ("field", "g(1)", False), ("field", "1", False), ("g(1)", "1", False), ("i / 2", "1", False),
    ],
)  # fmt: skip
def test_what_may_be_evaluated_before_or_after(one: str, other: str, movable: bool) -> None:
    types, node = parsed(f"pair({one}, {other})")
    first, second = node.part("arguments").children
    assert is_movable_past(types, first, second) is movable


@pytest.mark.parametrize(
    ("expression", "reference"),
    [
        ("null", True), ("this", True), ('"a"', True), ("(null)", True), ("s", True), ("v", True), ("(t)", True), ("x", True), ("vv", True),
        ("n", False), ("o", False), ("i", False), ("p", False), ("field", False), ("xs", False), ("s.trim()", False), ("t[0]", False),
        ("new int[1]", False), ("g(1)", False), ("s + 1", False), ("(String) o", False), ("1", False), ("true", False), ("vv[0]", False),
    ],
)  # fmt: skip
def test_what_is_certainly_never_unboxed(expression: str, reference: bool) -> None:
    types, node = parsed(expression)
    assert is_reference(types, node) is reference


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("i", ""), ("i + 1", ""), ("i = 1", "i"), ("i += l++", "i l"), ("g(--i, k = 2)", "i k"), ("(i)++", "i"), ("((i))--", "i"),
        ("v[i] = 1", ""), ("v[i++] = 1", "i"), ("field = i", "field"), ("i = k = 3", "i k"), ("-i", ""), ("this.i = 1", ""),
    ],
)  # fmt: skip
def test_the_variables_that_an_expression_assigns(expression: str, names: str) -> None:
    types, node = parsed(expression)
    bindings = types.scopes.bindings
    changed = {binding.name for binding in bindings if binding.number in assigned(types.scopes, node)}
    assert changed == set(names.split())
