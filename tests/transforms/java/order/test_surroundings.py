"""`reorder` with the file around a method: what the file shows frees orders, and none of them is wrong."""

from itertools import islice
from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.dependence.orders import enumerate_orders
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.program import analyse
from codeaudit.transforms.java.files import REBOUND, obstacle_in_file, places
from codeaudit.transforms.java.order.reorder import REORDER, REORDER_BREAKING, JavaReorder
from codeaudit.transforms.java.parsing import callables, read
from codeaudit.transforms.records import Move
from tests.support.java_methods import Method
from tests.support.java_running import outputs

MOST = 24
"""Orders of a block that are run."""


def around(members: str) -> str:
    """The file of a class with these members."""
    return f"public class CLASS {{\n{members}\n}}\n"


def method_of(members: str) -> str:
    """The text of the method or constructor that is rewritten: the one that is called `tested`, or `Tested`."""
    reading = read(around(members))
    (node,) = (
        method for method in callables(reading) if reading.text(method.part("name")).lower() == "tested"
    )
    return reading.text(node)


def variants(members: str, transform: JavaReorder) -> list[str]:
    """The members with each other order of each block of the method."""
    source = method_of(members)
    transform = transform.within(around(members))
    ordering = transform.ordering(source)
    texts = []
    for site, block in enumerate(ordering.blocks if not ordering.obstacle else ()):
        for order in islice(enumerate_orders(block.predecessors), 1, MOST):
            move = Move(kind="order", site=site, value=order, note="")
            result = transform.apply(source, (move,))
            if isinstance(result, Rewritten):
                texts.append(members.replace(source, result.source))
    return texts


def free(members: str, *, alone: bool = False) -> bool:
    """Whether the two statements of the method may change places; with `alone`, if the file is unknown."""
    block = analyse(method_of(members), around="" if alone else around(members)).blocks[1]
    assert len(block.statements) == 2
    return not block.predecessors[1] & 1


FREE = {
    "a field of numbers": "int a; int b; void tested() { int n = a + 1; this.b = 2; }",
    "fields that are set": "int a; int b; Foo c; Foo d; void tested() { a = b; c = d; }",
    "text of fields": 'String a; String b; void tested(int n) { String t = "x" + a; b = a + n; }',
    "a method that looks": "int a; int b; private int size() { return a; } void tested() { int n = size(); b = 3; }",
    "a function": "static int twice(int n) { return 2 * n; } int a; void tested(int n) { int m = twice(n); a = n; }",
    "two functions": "static int one(int n) { return n; } static int two(int n) { return one(n) + 1; } "
    "int a; void tested(int n) { int m = two(n); a = two(1); }",
    "a final class": "static final class In { int a; int b; int get() { return a; } void tested() { int n = get(); b = 2; } }",
    "behind this": "int a; int b; final int get() { return this.a; } void tested() { this.b = 3; int n = this.get(); }",
    "exact types under a supertype": "static class Base { } static class In extends Base { int b; "
    "private int of(String s, int n) { return n; } void tested(String s) { int n = of(s, 3); b = 2; } }",
    "a method of the class around": "int a; private int get() { return a; } class In { int b; void tested() { int n = get(); b = 2; } }",
    "an enum": "enum E { A, B; int a; int b; int get() { return a; } void tested() { int n = get(); b = 2; } }",
    "a constructor that stores": "static class In { final int n; String t; In(int n, String t) { this.n = n; this.t = t; } int a; "
    "void tested(String s) { In x = new In(3, s); a = 2; } }",
    "a constructor of nobody": "static class In { int n = 4; int a; void tested() { In x = new In(); a = 2; } }",
    "two constructors": "static class In<T> { T n; int m; In(T n) { this.n = n; } In() { super(); m = 3; } int a; "
    "void tested(T t) { In<T> x = new In<>(t); a = 2; } }",
    "the constructor of a record": "record R(int n, String t) { static int a; void tested(String t) { R x = new R(1, t); a = 3; } }",
    "a record": "record R(int n) { static int a; int get() { return n; } void tested() { int m = get(); a = 3; } }",
}  # fmt: skip


@pytest.mark.parametrize("members", FREE.values(), ids=FREE)
def test_what_the_file_shows_frees_an_order(members: str) -> None:
    assert free(members)
    assert not free(members, alone=True)


LOG = """
static StringBuilder log = new StringBuilder();
static int seen(int n) { log.append(n).append(' '); return n; }
static int loud() { return seen(7); }
static Integer none() { return null; }
"""
"""What cases call: `seen` acts, and the log tells in which order."""
TRAPS: dict[str, tuple[str, str]] = {
    "a constructor that acts": (
        "static class In { int n; In(int n) { this.n = seen(n); } void tested() { In x = new In(1); seen(2); In y = new In(3); } }",
        "new In(0).tested()",
    ),
    "a field that acts": (
        "static class In { int n = seen(4); void tested() { In x = new In(); seen(2); In y = new In(); } }",
        "new In().tested()",
    ),
    "an initialiser that acts": (
        "static class In { { seen(5); } void tested() { In x = new In(); seen(2); In y = new In(); } }",
        "new In().tested()",
    ),
    "a constructor that counts": (
        "static class In { static int n; In() { n = 7; } void tested() { n = 1; In x = new In(); seen(n); n = 2; In y = new In(); seen(n); } }",
        "new In().tested()",
    ),
    "a constructor of the superclass": (
        "static class Base { Base() { seen(6); } } static class In extends Base { void tested() { In x = new In(); seen(2); In y = new In(); } }",
        "new In().tested()",
    ),
    "a constructor that calls another": (
        "static class In { In() { this(seen(8)); } In(int n) { } void tested() { In x = new In(); seen(2); In y = new In(); } }",
        "new In().tested()",
    ),
    "a record's constructor that acts": (
        "record In(int n) { In { seen(n); } void tested() { In x = new In(1); seen(2); In y = new In(3); } }",
        "new In(0).tested()",
    ),
    "a constructor that unboxes its argument": (
        "static class In { int n; int a; In(int n) { this.n = n; } void tested(Integer box) { a = 1; In x = new In(box); a = 2; } "
        "void run() { try { tested(null); } finally { seen(a); } } }",
        "new In(0).run()",
    ),
    "a constructor that unboxes what it stores": (
        "static class In { int n; int a; In(Integer n) { this.n = n; } void tested() { a = 1; In x = new In(null); a = 2; } "
        "void run() { try { tested(); } finally { seen(a); } } }",
        "new In(0).run()",
    ),
    "a field behind a parameter": (
        "static class In { static int m; int n; In(int n) { n = 3; m = n; } void tested() { m = 1; In x = new In(1); seen(m); m = 2; In y = new In(1); seen(m); } }",
        "new In(0).tested()",
    ),
    "an anonymous class that acts": (
        "static class In { int n; void tested() { In x = new In() { int m = seen(9); }; seen(2); In y = new In() { int m = seen(8); }; } }",
        "new In().tested()",
    ),
    "another class of the file that is not initialised": (
        "static class Out { static { seen(1); } } static class In { void tested() { seen(2); Out x = new Out(); seen(3); } }",
        "new In().tested()",
    ),
    "an overridden method": (
        "static class In { int a; int get() { return a; } void tested() { int n = get(); a = 5; seen(n); int m = get(); seen(8); } }"
        "static class Sub extends In { int get() { return seen(3); } }",
        "new Sub().tested()",
    ),
    "a private method that acts": (
        "static class In { int a; private int get() { return seen(a); } void tested() { int n = get(); a = 5; int m = get(); seen(m); } }",
        "new In().tested()",
    ),
    "a private method that stores": (
        "static class In { int a; private void set() { a = 4; } private int get() { return a; } "
        "void tested() { int n = get(); set(); int m = get(); a = 6; int k = get(); seen(n + 10 * m + 100 * k); } }",
        "new In().tested()",
    ),
    "a private method that raises": (
        "static class In { int a; private void check(int n) { if (n > 0) { throw new IllegalStateException(); } } "
        "void tested(int n) { a = 1; check(n); a = 2; } void run() { try { tested(1); } finally { seen(a); } } }",
        "new In().run()",
    ),
    "a private method that divides": (
        "static class In { int a; private int part(int n) { return 8 / n; } "
        "void tested(int n) { a = 1; int x = part(n); a = 2; } void run() { try { tested(0); } finally { seen(a); } } }",
        "new In().run()",
    ),
    "a boxed field": (
        "static class In { Integer box; int a; void tested() { a = 1; int n = box; a = 2; } void run() { try { tested(); } finally { seen(a); } } }",
        "new In().run()",
    ),
    "a boxed argument": (
        "static class In { int a; private int same(int n) { return n; } void tested(Integer box) { a = 1; int n = same(box); a = 2; } "
        "void run() { try { tested(null); } finally { seen(a); } } }",
        "new In().run()",
    ),
    "an inherited method that fits better": (
        "static class Base { int of(String s) { return seen(1); } } static class In extends Base { int a; "
        "private int of(Object o) { return 0; } void tested(String s) { int n = of(s); a = 2; int m = of(s); seen(3); } }",
        'new In().tested("")',
    ),
    "an inherited method for a literal": (
        "static class Base { static int of(int n) { return seen(1); } } static class In extends Base { int a; "
        "static int of(long n) { return 0; } void tested() { int n = of(1); a = 2; seen(4); int m = of(1); seen(3); } }",
        "new In().tested()",
    ),
    "an inherited method for an assignment": (
        "static class Base { int of(long n) { return seen(1); } } static class In extends Base { int a; long w; "
        "private int of(int n) { return 0; } void tested() { seen(2); int n = of(w = 3); seen(4); } }",
        "new In().tested()",
    ),
    "an inherited method for a box": (
        "static class Base { int of(Object n) { return seen(1); } } static class In extends Base { int a; "
        "private int of(int n) { return 0; } void tested(Integer i) { seen(2); int n = of(i++); seen(4); } }",
        "new In().tested(3)",
    ),
    "an inherited method for a choice": (
        "static class Base { int of(char n) { return seen(1); } } static class In extends Base { int a; "
        "private int of(int n) { return 0; } void tested(boolean b, char c) { seen(2); int n = of(b ? 1 : c); seen(4); } }",
        "new In().tested(true, 'x')",
    ),
    "an inherited method of a list": (
        "static class Base { int of(java.util.Collection<String> n) { return seen(1); } } static class In extends Base { "
        "private int of(java.util.List<Integer> n) { return 0; } void tested(java.util.List<String> l) { seen(2); int n = of(l); seen(4); } }",
        "new In().tested(null)",
    ),
    "a generic result": (
        "static class In { int a; private <T> T give() { return null; } void tested() { a = 1; int n = this.<Integer>give(); a = 2; } "
        "void run() { try { tested(); } finally { seen(a); } } }",
        "new In().run()",
    ),
    "a method of an anonymous class": (
        "static class Loud { int get() { return seen(9); } } static class In { private int get() { return 0; } "
        "void tested() { seen(1); new Loud() { void run() { int n = get(); seen(2); int m = get(); seen(3); } }.run(); } }",
        "new In().tested()",
    ),
    "a field of an anonymous class": (
        "static class Base { Integer n; } static class In { int n; int a; void tested() { "
        "new Base() { void run() { a = 1; int m = n; a = 2; } }.run(); } void run() { try { tested(); } finally { seen(a); } } }",
        "new In().run()",
    ),
    "a method that the local class declares": (
        "static class In { private static int get() { return 0; } void tested() { "
        "class Own { int get() { return seen(5); } void run() { seen(1); int n = get(); seen(2); int m = get(); } } new Own().run(); } }",
        "new In().tested()",
    ),
    "a method of a local enum": (
        "static class In { private static int get() { return 0; } void tested() { "
        "enum Own { A; int get() { return seen(5); } void run() { seen(1); int n = get(); seen(2); int m = get(); } } Own.A.run(); } }",
        "new In().tested()",
    ),
    "methods that call each other": (
        "static class In { private int one(int n) { return n == 0 ? seen(1) : two(n - 1); } private int two(int n) { return n == 0 ? 0 : one(n - 1); } "
        "void tested() { seen(4); int n = two(1); seen(5); int m = one(1); seen(6); int k = one(0); } }",
        "new In().tested()",
    ),
    "a class around that is not initialised": (
        "static class Out { static { seen(1); } private static int get() { return 0; } "
        "static class In { void tested() { seen(2); int n = get(); seen(3); } } }",
        "new Out.In().tested()",
    ),
    "a class around that an inherited method hides": (
        "static class Base { int get() { return seen(1); } } static class Out { private int get() { return 0; } "
        "class In extends Base { void tested() { seen(2); int n = get(); seen(3); } } }",
        "new Out().new In().tested()",
    ),
    "a field that an inherited one hides": (
        "static class Base { Integer n; } static class Out { int n; class In extends Base { int a; "
        "void tested() { a = 1; int m = n; a = 2; } void run() { try { tested(); } finally { seen(a); } } } }",
        "new Out().new In().run()",
    ),
    "an accessor of a record": (
        "static class Out { static int n() { return 0; } int n; record In(Integer n) { static int a; "
        "void tested() { a = 1; int m = n; a = 2; } void run() { try { tested(); } finally { seen(a); } } } }",
        "new Out.In(null).run()",
    ),
    "a function of several arguments": (
        "static int of(int... all) { return seen(1); } static int of(Object o) { return 0; } void tested() { seen(2); int n = of(1, 2); seen(3); }",
        "new CLASS().tested()",
    ),
    "well-known types that mean others": (
        "static class Math { static int abs(int n) { return seen(n); } } static class In { private int get() { return Math.abs(3); } "
        "void tested() { seen(2); int n = get(); seen(3); } }",
        "new In().tested()",
    ),
    "equal methods of two classes": (
        "static class Two { int a; Integer n; void tested() { a = 1; int m = n; a = 2; } void run() { try { tested(); } finally { seen(a); } } }",
        "new Two().run()",
    ),
    "the elements of an array": (
        "static class In { int[] all = {1, 2}; private void put(int[] to) { to[0] = 9; } private int first() { return all[0]; } "
        "void tested() { int n = first(); put(all); int m = first(); all[0] = 4; int k = first(); seen(n + 10 * m + 100 * k); } }",
        "new In().tested()",
    ),
    "text of an object": (
        "static class In { Object o = new Object() { public String toString() { return \"\" + seen(1); } }; private String text() { return \"\" + o; } "
        "void tested() { seen(2); String s = text(); seen(3); String t = \"x\" + o; } }",
        "new In().tested()",
    ),
    "a lazy value": (
        "static class Lazy { static { seen(5); } static int n = 1; } static class In { private int get() { return Lazy.n; } "
        "void tested() { seen(2); int n = get(); seen(3); } }",
        "new In().tested()",
    ),
    "a constructor": (
        "static class Tested { int a; int b; static int last; private static int next() { return ++last; } "
        "Tested() { a = next(); b = next(); int c = last; seen(a); seen(b + c); } }",
        "new Tested()",
    ),
    "an enum whose constants have bodies": (
        "enum E { A { int get() { return seen(1); } }; int get() { return 0; } void tested() { seen(2); int n = get(); seen(3); } }",
        "E.A.tested()",
    ),
    "a handler sees a store": (
        "static class In { int a; private void set(int n) { a = n; } private int get() { return a; } "
        "void tested(int[] none) { try { set(1); int n = none[0]; set(2); } catch (RuntimeException e) { seen(get()); } } }",
        "new In().tested(null)",
    ),
}  # fmt: skip
"""Members of a class with a method `tested`, and a call: each is a way in which the file might mislead."""


@pytest.mark.slow
def test_all_orders_do_what_the_method_did(tmp_path: Path) -> None:
    """Also the power: most cases notice orders of the relation of names."""
    methods: dict[str, Method] = {}
    origins: dict[str, str] = {}
    for number, (label, (text, call)) in enumerate((*TRAPS.items(), *_callable_free())):
        members = LOG + text
        plan = {
            "": [members],
            "S": variants(members, REORDER),
            "R": variants(members, REORDER.under("returning")),
            "N": variants(members, REORDER.under("paper")),
        }
        for kind, texts in plan.items():
            for place, variant in enumerate(texts):
                name = f"C{number}{kind}{place or ''}"
                run = f'static String told() {{ String e = ""; try {{ {call}; }} catch (RuntimeException x) {{ e = "" + x.getClass(); }} return log + e; }}'
                methods[name] = Method("", ("told()",), f"{variant}\n{run}")
                origins[name] = f"C{number} {label}"
    printed = outputs(methods, tmp_path)
    noticed = set()
    for name, origin in origins.items():
        before = printed[origin.split()[0]]
        same = printed[name] == before
        raises = "Exception" in before or "a handler" in origin
        if "S" in name or ("R" in name and not raises):
            assert same, f"{origin}\n{methods[name].members}"
        elif "N" in name and not same:
            noticed.add(origin)
    assert len(noticed) > len(TRAPS) // 2, "the oracle would not notice"
    moved = {origins[name].split(" ", 1)[1] for name in methods if "S" in name}
    assert moved >= {label for label, _ in _callable_free()}


def _callable_free() -> list[tuple[str, tuple[str, str]]]:
    """Cases of `FREE` that this test can call."""
    return [
        ("an enum", (FREE["an enum"], "E.A.b = 1; E.A.tested(); seen(E.A.b)")),
        ("a record", (FREE["a record"], "new R(1).tested(); seen(R.a)")),
        ("a final class", (FREE["a final class"], "In i = new In(); i.tested(); seen(i.b)")),
        ("a function", (FREE["a function"], "CLASS c = new CLASS(); c.tested(3); seen(c.a)")),
        ("behind this", (FREE["behind this"], "CLASS c = new CLASS(); c.tested(); seen(c.b)")),
        ("a field of numbers", (FREE["a field of numbers"], "CLASS c = new CLASS(); c.tested(); seen(c.b)")),
        ("exact types", (FREE["exact types under a supertype"], 'In i = new In(); i.tested("a"); seen(i.b)')),
        ("stores", (FREE["a constructor that stores"], 'In i = new In(1, ""); i.tested("s"); seen(i.a)')),
        ("two ways to store", (FREE["two constructors"], "In<String> i = new In<>(); i.tested(null); seen(i.a + i.m)")),
        ("a new record", (FREE["the constructor of a record"], 'new R(1, "").tested("t"); seen(R.a)')),
        ("around", (FREE["a method of the class around"], "In i = new CLASS().new In(); i.tested(); seen(i.b)")),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_long_chain_of_methods_is_followed_to_its_end() -> None:
    chain = " ".join(f"private int m{n}() {{ return m{n + 1}(); }}" for n in range(300))
    for end, frees in (("return a;", True), ("return m0();", False), ("return other.get();", False)):
        members = f"int a; int b; Foo other; {chain} private int m300() {{ {end} }}"
        for first in ("m0", "m150"):
            assert free(f"{members} void tested() {{ int n = {first}(); b = 2; }}") is frees


def test_members_alone_may_have_unknown_supertypes() -> None:
    helpers = "int of(Object o) { return 0; } private static int of() { return 0; } int b;"
    for text, frees in (("of(s)", False), ("of()", True)):
        method = f"void tested(String s) {{ int n = {text}; b = 2; }}"
        block = analyse(method, around=f"private static {helpers}\n{method}").blocks[1]
        assert (block.predecessors[1] == 0) is frees


BODIES = (
    "return a;", "a = n; return b;", "return seen(n);", "return 8 / n;", "return box;", "return all[n];",
    "all[0] = n; return n;", "if (n > 1) { throw new IllegalStateException(); } return n;", "return s.length();",
    's = s + n; return n;', "b += n; return a;", "box = n; return n;", "int k = a; while (k < 3) { k++; } return k;",
    "try { return all[n]; } catch (RuntimeException e) { return b; }", "Runnable r = () -> a = 3; r.run(); return n;",
    "return new Object() { int get() { return seen(a); } }.get();", "return last++;", "return n == 0 ? a : b;",
)  # fmt: skip
"""What methods of random classes do with their argument `n`."""
STATEMENTS = (
    "int X = CALL;", "a = NUM;", "b = NUM;", 's = "t" + a;', "box = NUM;", "box = null;", "all[1] = b;", "int X = a + box;", "a = CALL;",
    "int X = this.b;", "last = a;", "String X = s + b;", "boolean X = box == a;", "if (a > 2) { b = CALL; }", "this.a += b;", "CALL;",
)  # fmt: skip


def random_class(rng: Random) -> tuple[str, str]:
    """Members with a class whose methods call one another, and a call of its method `tested`."""
    count = 7
    methods = []
    for number in range(count):
        body = rng.choice(BODIES) if rng.random() < 0.7 else f"return m{rng.randrange(count)}(n);"
        words = rng.choice(("private", "private", "final", "", "private final"))
        methods.append(f"{words} int m{number}({rng.choice(('int', 'int', 'Integer'))} n) {{ {body} }}")
    call = lambda: f"m{rng.randrange(count)}({rng.choice(('0', '1', '2', 'a', 'b', 'box', 'i'))})"  # noqa: E731
    statements = []
    for number in range(6):
        text = rng.choice(STATEMENTS).replace("X", f"x{number}").replace("NUM", str(rng.randrange(4)))
        statements.append(text.replace("CALL", call()))
    open_ones = [n for n, text in enumerate(methods) if text.startswith(" int") and "(int n" in text]
    sub = " ".join(f"int m{n}(int n) {{ return seen(30 + n); }}" for n in open_ones)
    box, word, given = (rng.choice(choice) for choice in (("null", "1"), ("null", '"s"'), ("null", "1")))
    fields = f"int a = 1; int b = 2; Integer box = {box}; String s = {word}; int[] all = {{5, 6}}; static int last;"
    tested = f"void tested(Integer i) {{ {' '.join(statements)} }}"
    members = (
        f"static class In {{ {fields} {' '.join(methods)} {tested} }} static class Sub extends In {{ {sub} }}"
    )
    seen = 'log.append(in.a + " " + in.b + in.box + in.s + in.all[0] + in.all[1] + In.last)'
    run = f"In in = new {rng.choice(('In', 'Sub'))}(); try {{ in.tested({given}); }} finally {{ {seen}; }}"
    return members, run


@pytest.mark.slow
def test_random_classes_do_what_they_did(tmp_path: Path) -> None:
    methods: dict[str, Method] = {}
    for number in range(80):
        rng = Random(f"classes {number}")
        text, call = random_class(rng)
        members = LOG + text
        run = f'static String told() {{ String e = ""; try {{ {call} }} catch (RuntimeException x) {{ e = "" + x.getClass(); }} return log + e; }}'
        plan = (("", [members], 1), ("S", variants(members, REORDER), 3), ("R", variants(members, REORDER.under("returning")), 3),
                ("N", variants(members, REORDER.under("paper")), 1))  # fmt: skip
        for kind, texts, most in plan:
            for place, variant in enumerate(rng.sample(texts, min(most, len(texts)))):
                methods[f"C{number}{kind}{place or ''}"] = Method("", ("told()",), f"{variant}\n{run}")
    printed = outputs(methods, tmp_path)
    same: dict[str, list[bool]] = {"S": [], "R": [], "N": []}
    for name in methods:
        kind = next((kind for kind in same if kind in name), "")
        before = printed["C" + name[1:].partition(kind)[0]] if kind else ""
        if not kind or (
            kind == "R"
            and ("Exception" in before or "catch" in methods[name].members.partition("static class Sub")[0])
        ):
            continue
        same[kind].append(printed[name] == before)
        assert same[kind][-1] or kind == "N", f"{methods[name].members}\n{before}\n{printed[name]}"
    assert len(same["S"]) > 40
    assert len(same["R"]) > 20
    assert same["N"].count(False) > 15, "the oracle would not notice"


def test_a_file_that_gives_a_name_another_meaning_is_an_obstacle() -> None:
    method = "void tested(int a) { int x = Math.abs(a); int y = 2; }"
    other = f"import lib.Math; class A {{ {method} }}"
    assert obstacle_in_file(method, other) == REBOUND
    for transform in (REORDER, REORDER_BREAKING):
        assert transform.within(other).propose(method, Random(0)) == Refused(REBOUND)
    assert not isinstance(REORDER.within(f"class A {{ {method} }}").propose(method, Random(0)), Refused)
    assert not isinstance(REORDER.within("no Java {").propose(method, Random(0)), Refused)


def test_a_method_that_reaches_another_meaning_through_its_file_is_left_alone() -> None:
    text = "class A { int one() { return Math.abs(1); } int two() { return one(); } int three() { return two(); } int four() { return 4; } }"
    obstacles = {place.name: place.obstacle for place in places(text, frozenset({"Math"}))}
    assert obstacles == {"A.one": REBOUND, "A.two": REBOUND, "A.three": REBOUND, "A.four": None}
    assert not any(place.obstacle for place in places(text))
