"""The reorder engine on text: what moves, what stays, what is refused."""

import re
from itertools import permutations
from random import Random

import pytest

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.dependence.blocks import NO_BLOCK
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.library import BOXES, CONSTANTS, KNOWN_TYPES, NEW, RAISED, STATIC
from codeaudit.transforms.java.analysis.program import analyse
from codeaudit.transforms.java.files import ESCAPED
from codeaudit.transforms.java.order.reorder import REORDER, REORDER_BREAKING
from codeaudit.transforms.java.parsing import read
from codeaudit.transforms.records import Move
from codeaudit.transforms.syntax.program import SHARED_LINE


def swapped(source: str, order: tuple[int, ...] = (1, 0), site: int = 1) -> str:
    """A source after one block is put into an order."""
    result = REORDER.apply(source, (Move(kind="order", site=site, value=order, note=""),))
    assert isinstance(result, Rewritten), result
    return result.source


def free(body: str, *, head: str = "void f(int a, int b, String s, int[] arr, Foo o, boolean ok)") -> bool:
    """Whether the first two statements of a body may change places."""
    block = analyse(f"{head} {{ {body} }}").blocks[1]
    assert len(block.statements) > 1
    return not block.predecessors[1] & 1


FREE = {
    "two constants": "int x = 1; int y = 2;",
    "arithmetic of primitive values": "int x = a + b * 3; boolean y = a < b && (a & 1) == 0;",
    "division by a number": "int x = a / 2; int y = b % 3;",
    "division of floats": "double x = a / 2.0; float y = b / 0f;",
    "texts": 'String x = "a" + s + a; String y = s + null;',
    "a call and a constant": "g(); int x = 1;",
    "a call and a variable": "g(a); b = a;",
    "new containers": "List<String> x = new ArrayList<>(); Map<String, Integer> y = new HashMap<>(16);",
    "containers that nobody else has": 'List<String> x = new ArrayList<>(); StringBuilder y = new StringBuilder("a");',
    "fields of this": "this.x = a; this.y = b;",
    "fields by their names": "x = a; y = s;",
    "a field is read, another stored": "Foo x = this.left; this.right = a;",
    "two fields are read": "Foo x = left; Foo y = this.left;",
    "lambdas": "Runnable x = () -> g(a); Runnable y = this::g;",
    "an anonymous class": "Runnable x = new Runnable() { int k; public void run() { g(a); } }; g();",
    "null checks": "boolean x = o == null; boolean y = arr != null;",
    "a division and a variable": "int x = a / b; int y = 1;",
    "known functions": "int x = Math.max(a, b); double y = Math.sqrt(a);",
    "constants of the JDK": "int x = Integer.MAX_VALUE; double y = Math.PI;",
    "a text's length, and a constant": "int x = s.length(); int y = 1;",
    "text of a literal": 'int x = "abc".length(); int y = "b".indexOf(s + a);',
    "new array": "int[] x = new int[3]; int[] y = {1, 2};",
    "length of an array that was made here": "int[] x = {a}; int y = b;",
    "exceptions are only made": 'Exception x = new IllegalStateException("a" + a); Error y = new Error();',
    "loops of numbers": "for (int i = 0; i < a; i++) { b += i; } int y = 1;",
    "two loops with one name": "for (int i = 0; i < 3; i++) { a += i; } for (int i = 0; i < 4; i++) { b += i; }",
    "branches": "if (a > 1) { b = 1; } else { b = 2; } int y = a;",
    "an exit and a variable": "if (a > 1) return; int y = a;",
    "a switch on a number": "switch (a) { case 1: b = 2; break; default: b = 3; } int y = a;",
    "a labelled loop that is left": "l: for (int i = 0; i < a; i++) { for (;;) { if (b > i) break l; b++; } } int y = a;",
    "a cast of numbers": "byte x = (byte) a; char y = (char) b;",
    "instanceof": "boolean x = o instanceof Bar; boolean y = o instanceof Baz;",
    "a ternary": "int x = a > b ? a : 1; int y = b < 0 ? 2 : b;",
    "a local try": "try { a = 1; } finally { a = 2; } int y = b;",
    "a class literal": "Class<?> x = Foo.class; Class<?> y = int[].class;",
    "a lambda in a field": "this.x = () -> 1; this.y = Foo::new;",
    "a catch's variable elsewhere": "try { g(); } catch (E e) { } int y = 1;",
    "a parameter that only casts up": "Object x = (Object) s; Object y = null;",
    "null or not": "if (o == null) g(); if (o != null) h();",
    "null or not, in other words": "if (!(o == null)) { g(); return; } if ((o) == null) throw new Error();",
    "two numbers": "if (a == 1) { g(); } if (a == 2 && h()) { this.y = 1; }",
    "a number and all others": "if (a != 1) g(); if (a == 1) h();",
    "a flag": "if (ok) g(); if (!ok) h();",
}  # fmt: skip

BOUND = {
    "two calls": "g(); h();",
    "SPAT's: int a = next(); int b = next();": "int x = next(); int y = next();",
    "two elements that may be one": "arr[a] = 1; other[b] = 2;",
    "elements of one array": "arr[0] = 1; arr[1] = 2;",
    "division by a variable": "int x = a / b; g();",
    "two that may raise": "int x = a / b; int y = b / a;",
    "null is unboxed": "this.x = a; int y = ok ? 5 : null;",
    "null is unboxed, the other way round": "this.x = a; int y = ok ? null : 'c';",
    "null is unboxed in a sum": "this.x = a; int y = 1 + (ok ? 5 : null);",
    "null is unboxed by a comparison": "this.x = a; boolean y = (ok ? 5L : null) == 5;",
    "null is unboxed by a comparison with a number": "this.x = a; boolean y = a == (ok ? null : 5);",
    "null is unboxed behind another choice": "this.x = a; int y = ok ? 1 : ok ? 5 : null;",
    "null is unboxed behind an assignment": "this.x = a; int y = box = null;",
    "null is unboxed as an index": "this.x = a; int y = new int[3][ok ? 1 : null].length;",
    "a boxed choice is unboxed": "this.x = a; boolean y = !(ok ? null : true);",
    "null is unboxed by a loop": "this.x = a; while (ok ? null : true) g();",
    "division by zero": "int x = a / 0; g();",
    "division of what is unknown": "int x = a / n; this.y = 1;",
    "array access and store": "int x = arr[0]; this.y = 1;",
    "a null dereference and a store": "Foo x = o.next; this.y = 1;",
    "a text that may be null": "int x = s.length(); this.y = 1;",
    "unboxing": "int x = box; this.y = 1;",
    "unboxing of a parameter": "int x = i + 1; this.y = 1;",
    "unboxing in a condition": "if (flag) { a = 1; } this.y = 1;",
    "a cast": "Bar x = (Bar) o; this.y = 1;",
    "negative size": "int[] x = new int[a]; this.y = 1;",
    "toString of an object": 'String x = "a" + o; this.y = 1;',
    "text or number": "Object x = left + right; this.y = 1;",
    "a constructor": "Foo x = new Foo(); this.y = 1;",
    "a static field": "Foo x = Bar.BAZ; this.y = 1;",
    "a qualified static field": "Foo x = p.Bar.BAZ; this.y = 1;",
    "a call and a field": "g(); Foo y = this.left;",
    "a call and a field's store": "g(); this.y = 1;",
    "one field read and stored": "Foo x = left; this.left = null;",
    "a field of two objects": "Foo x = this.left; o.left = null;",
    "a variable": "a = 1; b = a;",
    "write after read": "b = a; a = 1;",
    "write after write": "a = 1; a = 2;",
    "a declaration and its use": "int x; x = 1;",
    "a captured variable": "int x = 1; Runnable y = () -> g(x);",
    "an exit and a store": "if (a > 1) return; this.y = 1;",
    "an exit and a call": "if (a > 1) throw new IllegalStateException(); g();",
    "an assertion and a store": "assert a > 1; this.y = 1;",
    "a loop over a collection": "for (Foo x : all) { } this.y = 1;",
    "a loop over what may be null": "for (int x : arr) { } this.y = 1;",
    "a switch on a text": 'switch (s) { case "a": b = 1; } this.y = 1;',
    "synchronized": "synchronized (o) { } this.y = 1;",
    "a resource": "try (A x = open()) { } this.y = 1;",
    "a field that a local hides": "x = 1; int x = 2;",
    "a field read that a local hides": "Foo y = x; int x = 2;",
    "a local of a block that a later one would meet": "{ int x = 1; } int x = 2;",
    "a lambda's parameter that a local would meet": "F y = x -> 1; int x = 2;",
    "a caught exception that a local would meet": "try { g(); } catch (E e) { } int e = 1;",
    "a loop's variable that a local would meet": "for (int i = 0; i < 3; i++) { } int i = 1;",
    "a variable of a pattern": "if (!(o instanceof Bar x)) { return; } Bar y = x;",
    "a variable of a pattern that hides a field": "Foo y = x; if (!(o instanceof Bar x)) { return; }",
    "a constant of a switch": "final int x = 1; switch (a) { case x: break; }",
    "a container that was given away": "StringBuilder x = new StringBuilder(); x.append(g(x));",
    "a container that a lambda sees": "List<Foo> x = new ArrayList<>(); h(() -> x.add(null));",
    "two appends": 'StringBuilder x = y.append("a"); y.append("b");',
    "a text buffer of others": 'y.append("a"); this.z = 1;',
    "a local class": "class A { } int x = 1;",
    "an empty statement": "; int x = 1;",
    "an infinite loop at the end": "int x = 1; while (true) { }",
    "both tests may hold": "if (a == 1) g(); if (b == 2) h();",
    "one test twice": "if (o == null) g(); if (o == null) h();",
    "two numbers are excluded": "if (a != 1) g(); if (a != 2) h();",
    "the first assigns what both test": "if (o == null) o = g(); if (o != null) h();",
    "the second assigns what both test": "if (o == null) g(); if (o != null) o = null;",
    "a test with another way": "if (o == null) g(); else h(); if (o != null) k();",
    "a test behind another one": "if (g() && o == null) h(); if (o != null) k();",
    "either of two tests": "if (o == null || a > 1) h(); if (o != null) k();",
    "a field may be assigned by the call": "if (field == null) g(); if (field != null) h();",
    "a box may be null": "if (box == 1) g(); if (box == 2) h();",
    "a number and a character": "if (a == 97) g(); if (a == 'a') h();",
    "both ways end": "int x = 1; if (a > b) { return; } else { throw new Error(); }",
    "a switch's value": "int x = switch (a) { case 1 -> g(); default -> 2; }; this.y = 1;",
    "an explicit call of a constructor": "super(a); this.y = 1;",
    "a method reference of what may be null": "Runnable x = o::run; this.y = 1;",
    "a method reference of a constant": "Runnable x = LOG::run; this.y = 1;",
    "a value that is unboxed to be boxed": "Boolean x = Boolean.valueOf(flag); this.y = 1;",
    "a variable of a labelled loop's pattern": "Foo y = x; l: while (!(o instanceof Bar x)) { g(); }",
    "an assertion's text": "assert a > 1 : o; Foo x = left;",
    "a parse": "int x = Integer.parseInt(s); this.y = 1;",
    "a pattern's variable with another value": "if (o instanceof Bar x) { x = g(x); Object m = x.v; this.y = 1; }",
    "a caught exception with another value": "try { g(); } catch (E x) { x = x.self; Object m = x.v; this.y = 1; }",
    "a component of a record": "if (o instanceof P(Q x)) { Object n = x.v; this.y = 1; }",
    "an inner component of a record": "if (o instanceof P(P(Q x), var z)) { Object n = x.v; this.y = 1; }",
    "a component of a record in a switch": "switch (o) { case P(Q x): Object n = x.v; this.y = 1; }",
    "a name that may be an inherited field": "Foo x = new Foo(); h(new Bar() { void g() { Object n = x.v; this.y = 1; } });",
    "a part of a text is appended": "StringBuilder x = new StringBuilder(); x.append(s, a, b); this.y = 1;",
    "a search in a part of a text": "int m = \"abc\".indexOf('b', 3, a); this.y = 1;",
    "a character by its number": "String n = Character.toString(a); this.y = 1;",
    "a null in a text's place": "boolean n = \"a\".startsWith(s); this.y = 1;",
    "the first of a linked list": "LinkedList<Foo> x = new LinkedList<>(); x.remove(); this.y = 1;",
    "an exception of a number": "Exception x = new IndexOutOfBoundsException(i); this.y = 1;",
    "an unknown overload": "int x = Math.max(a, b, a); this.y = 1;",
    "a lower case that the locale tells": "String x = s.toLowerCase(); g();",
    "a class of the text's own": "Foo.bar(); this.y = 1;",
    "a hash table that may sort foreign keys": "Map<Object, Foo> x = new HashMap<>(); g(x); x.put(s, o); this.y = 1;",
    "a key that may be there": "Map<Object, Foo> x = new LinkedHashMap<>(9); x.put(o, o); x.putIfAbsent(a, o); this.y = 1;",
    "a set that may sort": "Set<Object> x = new HashSet<>(); x.add(o); x.add(a); this.y = 1;",
    "a linked set without types": "LinkedHashSet x = new LinkedHashSet(); x.add(o.v); x.add(a); this.y = 1;",
    "a table of texts that others reach": "Map<String, Foo> x = new HashMap<>(); g(x); x.put(s, o); this.y = 1;",
    "a table of texts from another": "Map<String, Foo> x = new HashMap<>(n); x.put(s, o); this.y = 1;",
    "an enum that nobody used before": "Kind k = null; switch (k) { case A: break; } this.y = 1;",
    "an enum that is there": "Kind k = Kind.A; switch (k) { case A: break; } this.y = 1;",
    "an enum that nobody used, new": "Kind k = null; switch (k) { case A -> a = 1; default -> { } } this.y = 1;",
}  # fmt: skip


@pytest.mark.thinned(15)
@pytest.mark.parametrize("name", FREE)
def test_what_may_change_places(name: str) -> None:
    assert free(FREE[name])


@pytest.mark.thinned(36)
@pytest.mark.parametrize("name", BOUND)
def test_what_may_not(name: str) -> None:
    body = BOUND[name]
    head = (
        "void f(int a, int b, String s, int[] arr, int[] other, Foo o, Integer i, StringBuilder y, Object n)"
    )
    if "super(" in body:
        head = "A(int a)"
    # The two in question are the last of the innermost block.
    block = [block for block in analyse(f"{head} {{ {body} }}").blocks if len(block.statements) > 1][-1]
    assert block.predecessors[-1] >> (len(block.statements) - 2) & 1


OWN = "List<String> l = new ArrayList<>(); StringBuilder sb = new StringBuilder(); "


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("l.add(s); sb.append(s);", True),
        ("l.add(s); g();", True),
        ("sb.append(s).append(1); this.x = 1;", True),
        ("sb.append(s); l.add(sb.toString());", False),
        ("sb.append(s); sb.append(a);", False),
        ("sb.append(o); g();", False),
        ("l.add(0, s); g();", False),
        ("l.get(0); g();", False),
        ("l.contains(o); g();", False),
        ('l.contains("a"); sb.append(1);', True),
        ("sb.append(s); g(sb);", False),
        ("h(sb.append(s)); l.add(s);", True),
        ("h(l.add(s)); sb.append(s);", True),
        ("h(); l.add(s); h(sb.append(s));", True),
        ("h(); sb.append(s); h(sb.append(s));", False),
        ("h(); l.add(s); this.x = l;", False),
        ("l.add(s); h(() -> l.clear());", False),
        ("l.add(s); h(l.add(l.size() > 1 ? s : l.get(0)));", False),
        ("for (String x : l) { a++; } sb.append(1);", True),
    ],
)
def test_containers_made_here(body: str, expected: bool) -> None:
    block = analyse(f"void f(int a, String s, Foo o) {{ {OWN}{body} }}").blocks[1]
    assert (not block.predecessors[3] >> 2 & 1) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Set<Object> x = new HashSet<>(); x.add(s); g();", True),
        ("Set<Object> x = new HashSet<>(); x.add(o); g();", False),
        ("Set<Object> x = new HashSet<>(); x.add(s); g(); x.add(o);", False),
        ("Set<Object> x = new HashSet<>(); x.add(s); g(); x.add(1); x.add(t); x.remove(s);", True),
        ("Set<Object> x = new HashSet<>(); x.add(s); g(); x.add(t.trim());", False),
        ("Set<String> x = new HashSet<>(); x.add(s); g(); x.add(t.trim());", True),
        ("Set<String> x = new HashSet<>(); x.add(s); g(); ((Set) x).add(o);", False),
        ("Map<String, Foo> x = new LinkedHashMap<>(16); x.put(s, o); g();", True),
        ("Map<String, Foo> x = new LinkedHashMap<>(16, 1f, true); x.get(s); x.get(t);", False),
        ("Set<Object> x = new TreeSet<>(); x.add(s); g();", False),
        ("Set<Object> x = new HashSet<>(); x.add(s); g(x);", False),
        ("Set<Object> x = o == null ? new HashSet<>() : y; x.add(s); g();", False),
    ],
)
def test_classes_of_containers(body: str, expected: bool) -> None:
    block = analyse(f"void f(String s, String t, Foo o, Set<Object> y) {{ {body} }}").blocks[1]
    assert (not block.predecessors[2] >> 1 & 1) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("try { a = 1; g(); } catch (E e) { h(a); }", False),
        ("try { a = 1; g(); } finally { h(a); }", False),
        ("try { int x = 1; g(); } finally { h(a); }", True),
        ("try { for (;;) { a = 1; g(); } } finally { }", False),
        ("try { Runnable r = null; g(); } catch (E e) { }", True),
        ("l.add(s); try { l.add(s); g(); } finally { }", False),
        ("try { } finally { a = 1; g(); }", False),
        ("if (a > 0) { a = 1; g(); }", True),
    ],
)
def test_handlers_see_variables(body: str, expected: bool) -> None:
    """After an exception only what a handler of the method can see matters."""
    program = analyse(f"void f(int a, String s) {{ List<String> l = new ArrayList<>(); {body} }}")
    block = next(block for block in program.blocks[2:] if len(block.statements) == 2)
    assert (not block.predecessors[1] & 1) is expected


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("C(int q) { this.k = q; this.r = () -> g(k); }", False),
        ("{ this.k = 1; this.r = () -> g(k); }", False),
        ("void h(int q) { this.n = q; this.r = () -> g(k); }", True),
        ("C(int q) { this.k = q; this.r = null; }", True),
    ],
)
def test_a_lambda_in_a_constructor_waits_for_the_fields_that_it_names(inner: str, expected: bool) -> None:
    parts = {
        "method": f"void f() {{ class C {{ final int k; int n; Runnable r; {inner} }} }}",
        "class of a field": f"Object f() {{ return new B() {{ final int k; int n; Runnable r; {inner} }}; }}",
    }
    if inner.startswith("C("):
        del parts["class of a field"]  # a class without a name has no constructors
    for text in parts.values():
        blocks = [block for block in analyse(text).blocks if len(block.statements) == 2]
        assert all((not block.predecessors[1] & 1) == expected for block in blocks)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("void f() {\n  int x = 1;\n  int y = 2;\n}", "void f() {\n  int y = 2;\n  int x = 1;\n}", id="plain"),
        pytest.param("void f() { int x = 1; int y = 2; }", "void f() { int y = 2; int x = 1; }", id="one line"),
        pytest.param("void f(){int x=1;int y=2;}", "void f(){int y=2;int x=1;}", id="no blanks"),
        pytest.param("void f() {\r\n\tint x = 1;\r\n\tint y = 2;\r\n}", "void f() {\r\n\tint y = 2;\r\n\tint x = 1;\r\n}", id="CRLF, tabs"),
        pytest.param(
            "void f() {\n  // of x\n  int x = 1; // x\n\n  /* of y */\n  int y = 2; /* y */\n}",
            "void f() {\n  /* of y */\n  int y = 2; /* y */\n\n  // of x\n  int x = 1; // x\n}",
            id="comments move with their statement",
        ),
        pytest.param(
            "void f() { // f\n  int x = 1;\n  // part\n\n  int y = 2;\n  // end\n}",
            "void f() { // f\n  int y = 2;\n  // part\n\n  int x = 1;\n  // end\n}",
            id="comments that stand apart stay",
        ),
        pytest.param(
            "void f() { int x = 1; /* y */ int y = 2; }",
            "void f() { /* y */ int y = 2; int x = 1; }",
            id="a comment in front on the line",
        ),
        pytest.param(
            'void f() {\n  String x = """\n    a; // no\n    """;\n  String é = "€";\n}',
            'void f() {\n  String é = "€";\n  String x = """\n    a; // no\n    """;\n}',
            id="text blocks and wide characters",
        ),
    ],
)  # fmt: skip
def test_only_the_moved_text_changes(before: str, after: str) -> None:
    assert swapped(before) == after


def test_a_comment_to_the_end_of_a_line_keeps_statements_of_one_line() -> None:
    for source in (
        "void f() { int x = 1; int y = 2; // y\n}",
        "void f() { int x = 1; // x\n int y = 2; }",
    ):
        assert REORDER.propose(source, Random(0)) == Refused(SHARED_LINE)
        move = Move(kind="order", site=1, value=(1, 0), note="")
        assert isinstance(REORDER.apply(source, (move,)), Refused)


def test_nested_blocks_are_permuted_inside_and_moved_as_a_whole() -> None:
    before = "void f(int a) {\n  int z = 0;\n  if (a > 0) {\n    int x = 1;\n    int y = 2;\n  }\n}"
    moves = tuple(Move(kind="order", site=site, value=(1, 0), note="") for site in (1, 2))
    result = REORDER.apply(before, moves)
    assert isinstance(result, Rewritten)
    assert (
        result.source
        == "void f(int a) {\n  if (a > 0) {\n    int y = 2;\n    int x = 1;\n  }\n  int z = 0;\n}"
    )


def test_statements_of_a_group_of_a_switch() -> None:
    before = "void f(int a) { switch (a) { case 1: int x = 1; int y = 2; case 2: y = 3; break; default: } }"
    sites = [site for site, block in enumerate(analyse(before).blocks) if len(block.statements) == 2]
    after = swapped(before, site=sites[0])
    assert "case 1: int y = 2; int x = 1; case 2: y = 3; break;" in after
    assert analyse(before).blocks[sites[1]].predecessors == (0, 1)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("void f(int a) { g(a); }", NO_BLOCK),
        ("abstract void f(int a);", NO_BLOCK),
        ("int f(int a) { int b = a; return b; }", "neighbours leave the block"),
        ("void f() { g(); h(); }", "a neighbour may run unknown code"),
        ("void f(int a) { int b = a; a = 1; }", "neighbours share a variable"),
        ("void f(Foo a) { a.x = 1; this.y = 2; }", "a neighbour stores what another may see"),
        ("void f(int a, int b) { int c = a / b; int d = b / a; }", "two neighbours may raise"),
        ('void f() { int a = 1; String b = "\\u0041"; }', ESCAPED),
    ],
)
def test_refusals_have_a_reason(source: str, reason: str) -> None:
    assert REORDER.propose(source, Random(0)) == Refused(reason)


@pytest.mark.parametrize(
    "move",
    [
        Move(kind="order", site=1, value=(1, 0, 2), note=""),
        Move(kind="order", site=9, value=(0, 1), note=""),
        Move(kind="rename", site=1, value="x", note=""),
        Move(kind="order", site=1, value=(0, 0, 1), note=""),
    ],
)
def test_illegal_moves_are_refused(move: Move) -> None:
    assert isinstance(REORDER.apply("int f(int a) { int x = a; int y = x; return y; }", (move,)), Refused)


def test_a_text_that_is_left_alone_has_no_orders() -> None:
    source = "void f() { int x = 1; int y = '\\u0041'; }"
    assert REORDER.propose(source, Random(0)) == Refused(ESCAPED)
    assert REORDER.count(source) == 0
    assert list(REORDER.every(source)) == []
    assert REORDER.count(source.replace("\\u0041", "A")) == 1


def test_every_legal_order_is_drawn_equally_often() -> None:
    source = "int f(int a) { int x = 1; int y = 2; int z = x; return x + y + z; }"
    legal = set(orders.enumerate_orders(analyse(source).blocks[1].predecessors))
    assert legal == {(0, 1, 2, 3), (1, 0, 2, 3), (0, 2, 1, 3)}
    drawn = [REORDER.propose(source, Random(seed)) for seed in range(300)]
    counts = {order: sum(moves[0].value == order for moves in drawn) for order in legal}
    assert counts.pop((0, 1, 2, 3)) == 0
    assert all(110 < count < 190 for count in counts.values())


@pytest.mark.slow
def test_the_relation_of_a_legal_order_is_the_permuted_relation() -> None:
    source = """void f(int a, String s) {
        int x = 1; this.p = a; List<String> l = new ArrayList<>(); for (int i = 0; i < 3; i++) { x += i; }
        if (a > 1) { this.q = s; } Runnable r = () -> g(a); l.add(s); int y = x;
    }"""
    program = analyse(source)
    block = program.blocks[1]
    rng = Random(5)
    for _ in range(20):
        order = orders.sample(block.predecessors, rng)
        moved = analyse(swapped(source, order)).blocks[1]
        place = {old: new for new, old in enumerate(order)}
        expected = tuple(
            sum(1 << place[before] for before in range(8) if block.predecessors[old] >> before & 1)
            for old in order
        )
        assert moved.predecessors == expected


def test_types_of_which_something_is_assumed_are_well_known() -> None:
    """Where the text around a method gives one of these names another meaning, the method is left alone."""
    assert NEW | RAISED | STATIC.keys() | CONSTANTS.keys() | BOXES.keys() <= KNOWN_TYPES


BREAKABLE = {
    "a variable": "int f(int a) { int b = a; b = b + 1; a = a * b; return a - b; }",
    "a field": "void f(int a) { count = a; Foo x = count; g(x); }",
    "this field": "void f(int a) { this.count = a; Foo x = this.count; g(x); }",
    "an exit": "void f(int a) { if (a < 0) throw new IllegalStateException(); g(a); }",
    "texts": 'String f() { StringBuilder b = new StringBuilder(); b.append("x"); b.append("y"); return b.toString(); }',
}
UNBREAKABLE = {
    "declarations": "int f(int a) { int b = a; int c = b; return c; }",
    "no value before": "int f(int a) { int b; b = a; g(b); return b; }",
    "both only update": "int f(int a) { a += a; a += 2; return a; }",
    "final fields of a constructor": "A(int a) { this.b = a; Foo c = this.b; }",
    "another object's field": "void f(Foo a) { a.b = 1; Foo c = this.b; }",
    "a variable of a pattern": "void f(Foo a) { if (!(a instanceof B b)) return; g(b); }",
    "a return": "int f(int a) { a = a + 1; return a; }",
}


@pytest.mark.parametrize("name", BREAKABLE)
def test_the_control_reverses_one_dependence(name: str) -> None:
    source = BREAKABLE[name]
    moves = REORDER_BREAKING.propose(source, Random(1))
    assert isinstance(moves, tuple), moves
    result = REORDER_BREAKING.apply(source, moves)
    assert isinstance(result, Rewritten)
    assert sorted(re.findall(r"\w+", result.source)) == sorted(re.findall(r"\w+", source))
    assert isinstance(REORDER.apply(source, moves), Refused)
    read(result.source)


@pytest.mark.parametrize("name", UNBREAKABLE)
def test_the_control_is_refused_where_it_could_not_compile_or_not_matter(name: str) -> None:
    source = UNBREAKABLE[name]
    assert isinstance(REORDER_BREAKING.propose(source, Random(1)), Refused)
    size = len(analyse(source).blocks[1].statements)
    for order in permutations(range(size)):
        move = Move(kind="order", site=1, value=order, note="")
        assert isinstance(REORDER_BREAKING.apply(source, (move,)), Refused)
