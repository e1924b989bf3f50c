"""Programs full of traps: every variant of their methods compiles, and does what the program did."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import pytest

from codeaudit.transforms.java.files import JAVA_FILES
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registry import transform_for
from tests.support.java_grammar import PARAMETERS
from tests.support.java_judge import JavaJudge, JavaUnit, Told, jdks

UNNAMED: Final = 22
"""The release of Java that has variables without a name, and the constructs before it."""


class Trap(NamedTuple):
    """Members of a class, and the transforms that must not fall into the trap."""

    transforms: tuple[str, ...]
    members: str
    """They have a method `go()`, which tells by its result what the others do."""
    types: str = ""
    """Types beside the class."""


RENAMINGS: Final = ("rename", "rename-misleading")
TRAPS: Final[Mapping[str, Trap]] = {
    "a name that several branches bring up": Trap(
        ("else-to-return",),
        """
        static int n = 7;
        static int field(boolean a, boolean b) {
            if (a) { return 1; } else { if (b) { return 2; } else { int n = 5; System.out.println(n); } }
            return n;
        }
        static int twice(boolean a, boolean b) {
            if (a) { return 1; } else {
                System.out.println();
                if (b) { return 2; } else { int k = 5; System.out.println(k); }
            }
            int k = 6;
            return k;
        }
        static int loop(int k) {
            int r = 0;
            for (int i = 0; i < k; i++) {
                if (i == 2) { continue; } else {
                    if (i == 3) { continue; } else {
                        if (i == 4) { break; } else { int n = i * 2; r += n; }
                    }
                }
                r += n;
            }
            return r;
        }
        static Object go() { return field(false, false) + " " + twice(false, false) + " " + loop(6); }
        """,
    ),
    "an arm that javac converts at once": Trap(
        (
            "insert-parentheses",
            "remove-parentheses",
            "ternary-to-if",
            "if-to-ternary",
            "expand-augmented",
            "contract-augmented",
        ),
        """
        static int whole = 16777217; static long large = 1234567890123L; static float real = 0.5f;
        static double bare(boolean c) { double d = c ? whole : real; return d; }
        static double given(boolean c) { return c ? large : real; }
        static double wrapped(boolean c) { return (c ? whole : real); }
        static double inner(boolean c) { double d; d = c ? (c ? large : real) : real; return d; }
        static double outer(boolean c) { return c ? c ? whole : real : 2.0f; }
        static double argument(boolean c) { return Math.abs(0.0 + own(c ? whole : real)); }
        static double own(double d) { return d; }
        static double added(boolean c) { double d = 0; d += c ? whole : real; d = d + (c ? whole : real); return d; }
        static double chosen(boolean c) { double d; if (c) { d = whole; } else { d = real; } return d; }
        static double alike(boolean c) { return c ? whole : 7; }
        static Object go() {
            return "" + bare(true) + given(true) + wrapped(true) + inner(true) + outer(true) + argument(true)
                + added(true) + chosen(true) + alike(true);
        }
        """,
    ),
    "a result that is unboxed": Trap(
        ("reorder",),
        """
        static Integer box; static Boolean flag; static Long whole; static int seen;
        private static int unboxed() { return box; }
        private static boolean test(boolean c) { if (c) { return flag; } return false; }
        private static long chosen() { return box == null ? whole : Long.valueOf(3); }
        private int own() { return Tested.unboxed(); }
        private double wider() { return this.given(null); }
        private int given(Character c) { return c; }
        static void first() { seen = 1; int k = unboxed(); seen += k; }
        static void second() { seen = 2; boolean b = test(true); seen += b ? 1 : 2; }
        static void third() { seen = 3; long l = chosen(); seen += (int) l; }
        static void fifth(boolean c) { seen = 5; Object o = c ? box : whole; seen += o.hashCode(); }
        void fourth() { seen = 4; double d = wider(); seen += (int) d; }
        static Object go() {
            StringBuilder told = new StringBuilder();
            try { first(); } catch (NullPointerException e) { told.append(seen); }
            try { second(); } catch (NullPointerException e) { told.append(seen); }
            try { third(); } catch (NullPointerException e) { told.append(seen); }
            try { new Tested().fourth(); } catch (NullPointerException e) { told.append(seen); }
            try { fifth(true); } catch (NullPointerException e) { told.append(seen); }
            return told;
        }
        """,
    ),
    "a value that Java casts": Trap(
        ("reorder",),
        """
        static int f;
        static class Base<T> { T value; }
        static class Sub extends Base<String> {
            void read() { f = 1; String s = value; System.out.println(s); }
            void inferred() { f = 5; var s = value; System.out.println(s); }
            private static int taken(String s) { return 3; }
            void given() { f = 2; int n = taken(value); System.out.println(n); }
        }
        static void local() {
            HashMap<String, String> m = new HashMap<>();
            Map raw = m;
            raw.put("k", 1);
            f = 3;
            String s = m.get("k");
            System.out.println(s);
        }
        static void compared(String t) {
            HashMap<String, String> m = new HashMap<>();
            Map raw = m;
            raw.put("k", 1);
            f = 4;
            boolean same = "a".equalsIgnoreCase(m.get("k"));
            System.out.println(same);
        }
        static int told(Runnable run) {
            try { run.run(); } catch (ClassCastException e) { return f; }
            return -1;
        }
        static Object go() {
            Sub s = new Sub();
            ((Base) s).value = 5;
            return "" + told(s::read) + told(s::given) + told(Tested::local) + told(() -> compared("b"))
                + told(s::inferred);
        }
        """,
    ),
    "a cast between types of one name": Trap(
        ("reorder",),
        """
        interface Foo { }
        static class Big implements Foo { }
        static int cast;
        static void local(Foo y) {
            class Foo implements Tested.Foo { }
            cast = 1;
            Foo z = (Foo) y;
            System.out.println(z == null);
        }
        static class Above { static class Foo extends Big { } }
        static void inherited(Foo y) {
            new Above() {
                void run() { cast = 2; Foo z = (Foo) y; System.out.println(z == null); }
            }.run();
        }
        static Object go() {
            String told = "";
            try { local(new Big()); } catch (ClassCastException e) { told += cast; }
            try { inherited(new Big()); } catch (ClassCastException e) { told += cast; }
            return told;
        }
        """,
    ),
    "a constant that an interface inherits": Trap(
        RENAMINGS,
        """
        static int spliterated() {
            int SIZED = 5;
            Spliterator.OfInt one = new Spliterator.OfInt() {
                public int characteristics() { return SIZED; }
                public long estimateSize() { return 0; }
                public Spliterator.OfInt trySplit() { return null; }
                public boolean tryAdvance(IntConsumer c) { return false; }
            };
            return one.characteristics() + SIZED * 1000;
        }
        static Object go() { return spliterated(); }
        """,
    ),
    "a superclass of a name that means several": Trap(
        RENAMINGS,
        """
        static class A { int x = 10; }
        static int behindBlock() {
            int x = 5;
            { class A { } System.out.println(new A()); }
            class B extends A { int get() { return x; } }
            return new B().get() + x * 100;
        }
        static int laterMember() {
            int y = 3;
            class A { }
            class L {
                class B extends A { int get() { return y; } }
                class A { int y = 10; }
                int go() { return new B().get(); }
            }
            return new L().go() + y * 100 + (new A() == null ? 1 : 0);
        }
        static class Holder { class C { int z = 20; } }
        static int inherited() {
            int z = 4;
            class C { }
            class L extends Holder {
                class B extends C { int get() { return z; } }
                int go() { return new B().get(); }
            }
            return new L().go() + z * 100 + (new C() == null ? 1 : 0);
        }
        static int inheritedHere() {
            int w = 6;
            class C { }
            class Held { static class C { int w = 30; } }
            class L extends Held {
                class B extends C { int get() { return w; } }
                int go() { return new B().get(); }
            }
            return new L().go() + w * 100 + (new C() == null ? 1 : 0);
        }
        static int otherFields() {
            int v = 8;
            class C { int v = 9; }
            class L extends Holder {
                class B extends C { int get() { return v; } }
                int go() { return new B().get(); }
            }
            return new L().go() + v * 100 + new C().v;
        }
        static Object go() {
            return behindBlock() + " " + laterMember() + " " + inherited() + " " + inheritedHere() + otherFields();
        }
        """,
    ),
    "a private field": Trap(
        RENAMINGS,
        """
        static int x = 99;
        static int kept() {
            int x = 5;
            class A { private int x = 7; int own() { return x; } }
            class B extends A { int get() { return x; } }
            return new B().get() + new A().own() * 100;
        }
        static Object go() { return kept(); }
        """,
    ),
    "a type with its package": Trap(
        ("insert-final", "remove-final", "ternary-to-if", "if-to-ternary", "insert-this"),
        """
        final java.lang . String spaced = "a";
        final java.lang./* of text */String commented = "a";
        boolean field() { return spaced + "b" == "ab"; }
        boolean field2() { return commented + "b" == "ab"; }
        static boolean inserted() { java.lang.String a = "a"; String b = a + "b"; return b == "ab"; }
        static boolean removed() { final java.lang . String a = "a"; String b = a + "b"; return b == "ab"; }
        static boolean commentedLocal() { java.lang./* */String a = "a"; String b = a + "b"; return b == "ab"; }
        static boolean inferred() { var a = (java.lang.String) "a"; var b = a + "b"; return b == "ab"; }
        static Object promoted(boolean c) { Object o = c ? new java.lang.Integer(1) : 2.0; return o; }
        static Object kept(boolean c) {
            if (c) { return new java.lang.Character('a'); } else { return 1; }
        }
        static Object go() {
            Tested t = new Tested();
            return "" + t.field() + t.field2() + inserted() + removed() + commentedLocal() + inferred()
                + promoted(true) + kept(true).getClass() + kept(false).getClass();
        }
        """,
    ),
    "a text that is null": Trap(
        ("if-to-switch",),
        """
        static String chosen(Object o) {
            String s = String.valueOf(o);
            String r;
            if ("a".equals(s)) { r = "first"; } else if ("b".equals(s)) { r = "second"; } else { r = "other"; }
            return r;
        }
        static String sure(int n, char[] c) {
            String s = String.valueOf(n) + String.valueOf(c);
            if ("1a".equals(s)) { return "first"; } else if ("2b".equals(s)) { return "second"; }
            return "other";
        }
        static Object go() {
            return chosen(new Object() { public String toString() { return null; } }) + chosen("b")
                + sure(2, new char[] {'b'});
        }
        """,
    ),
    "a variable without a name": Trap(
        ("reorder", "split-initialisers", "ternary-to-if", "join-declarations", "lambda-to-anonymous"),
        """
        static Integer box; static int mark, calls;
        static int call() { return ++calls; }
        static void stored() { mark = 1; int _ = box; System.out.println(); }
        static void each() {
            Integer[] boxes = {1, null};
            int n = 0;
            mark = 5;
            for (int _ : boxes) { n++; }
            System.out.println(n);
        }
        static int initialised(boolean c) {
            int _ = call();
            int _ = call();
            int _ = c ? 1 : 2;
            return calls;
        }
        static int lambda() {
            IntUnaryOperator one = (int _) -> 3;
            IntUnaryOperator two = _ -> 4;
            return one.applyAsInt(1) + two.applyAsInt(2);
        }
        static Object go() {
            calls = 0;
            String told = "";
            try { stored(); } catch (NullPointerException e) { told += mark; }
            try { each(); } catch (NullPointerException e) { told += mark; }
            return told + initialised(true) + lambda();
        }
        """,
    ),
    "a variable whose name is in doubt": Trap(
        ("reorder",),
        """
        static Integer box; static int mark;
        static void stored() {
            mark = 1;
            int k = box;
            class L extends Unseen { int get() { return k; } }
            System.out.println(new L().get());
        }
        static Object go() {
            try { stored(); } catch (NullPointerException e) { return mark; }
            return "none";
        }
        """,
        "class Unseen { }",
    ),
    "a label with the name of its enum": Trap(
        ("reorder",),
        """
        static int counter;
        static int other(E2 e) { switch (e) { case E2.R: return 1; default: return 2; } }
        static int direct(E1 e) {
            int b = 0;
            int a = counter;
            switch (e) { case E1.P: b = 1; break; default: b = 2; }
            return a * 100 + b;
        }
        static Object go() { return direct(E1.P); }
        """,
        "enum E1 { P, Q } enum E2 { R, S; static { Tested.counter += 10; } }",
    ),
    "a label with the name of its enum in a method that is called": Trap(
        ("reorder",),
        """
        static int counter;
        static int other(E2 e) { switch (e) { case R: return 1; default: return 2; } }
        private static int pick(E1 e) {
            if (e == null) return 0;
            switch (e) { case E1.P: return 1; default: return 2; }
        }
        static int called(E1 e) {
            int b = 3;
            int a = counter;
            int c = pick(e);
            return a * 100 + b + c;
        }
        static Object go() { return called(E1.P); }
        """,
        "enum E1 { P, Q } enum E2 { R, S; static { Tested.counter += 10; } }",
    ),
    "methods with labels of enums": Trap(
        ("reorder-methods",),
        """
        static String told = "";
        static int one(E1 e) {
            switch (e) { case E1.P: return 1; default: return 2; }
        }
        static int two(E2 e) {
            switch (e) { case E2.R: return 1; default: return 2; }
        }
        static Object go() {
            try { one(null); } catch (NullPointerException e) { told += "one"; }
            return told;
        }
        """,
        'enum E1 { P; static { Tested.told += "E1"; } } enum E2 { R; static { Tested.told += "E2"; } }',
    ),
    "a field between methods with labels of enums": Trap(
        ("reorder-methods",),
        """
        static String told = "";
        static int one(E1 e) {
            if (e == null) return 0;
            switch (e) { case P: return 1; default: return 2; }
        }
        static int g = new Object() {
            int go() {
                E2 e = null;
                try {
                    switch (e) { case R: return 1; default: return 3; }
                } catch (NullPointerException n) { return -1; }
            }
        }.go();
        static int three(int x) {
            return x;
        }
        static Object go() { return told + one(null) + three(3); }
        """,
        'enum E1 { P; static { Tested.told += "E1"; } } enum E2 { R; static { Tested.told += "E2"; } }',
    ),
    "a break that a finally stops": Trap(
        ("reorder", "redundant-jumps", "if-to-switch", "do-to-while-true"),
        """
        static int looped(int k) {
            int a = k + 1;
            while (true) { try { break; } finally { return 1; } }
        }
        static void nothing(int k) {
            System.out.println(k);
            while (true) {
                try { break; } finally { return; }
            }
        }
        static int switched(int k) {
            int a = k + 3;
            switch (k) { default: try { break; } finally { return a; } }
        }
        static int labelled(int k) {
            int b = k;
            int c = 7;
            out: { try { System.out.println(); } catch (RuntimeException e) { break out; } finally { return b; } }
        }
        static int going(int k) {
            int n = 0;
            for (int i = 0; i < k; i++) {
                n += i;
                out: {
                    try { break out; } finally { continue; }
                }
            }
            return n;
        }
        static int branch(int k) {
            int n = k;
            if (k == 1) { out: { try { break out; } finally { return n; } } } else if (k == 2) { n = 7; }
            return n;
        }
        static Object go() {
            nothing(2);
            return looped(1) + switched(3) + labelled(4) + going(3) + branch(1) + branch(2);
        }
        """,
    ),
    "a switch that names every case": Trap(
        ("reorder", "redundant-jumps"),
        """
        static int nulls(E e, int k) {
            int a = k + 1;
            switch (e) { case P: return 1; case Q: return 2; case null: return 3; }
        }
        static void jump(E e, int k) {
            System.out.println(k);
            switch (e) {
                case P: return;
                case Q: return;
                case null: return;
            }
        }
        static int constants(S s, int k) {
            int a = k + 1;
            switch (s) { case Z.A: return 1; case Z.B: return 2; case W.C: return 3; }
        }
        static int records(Pair o, int k) {
            int c = k + 1;
            switch (o) { case Pair(String a, Object b): return 1; case Pair(Object a, Object b): return 2; }
        }
        static Object go() { jump(null, 1); return nulls(E.Q, 1) + constants(W.C, 1) + records(new Pair(1, 2), 1); }
        """,
        "enum E { P, Q } sealed interface S permits Z, W { } enum Z implements S { A, B }"
        " enum W implements S { C } record Pair(Object a, Object b) { }",
    ),
    "two variables of patterns of one name": Trap(
        ("merge-conditions",),
        """
        static String two(Object o, Object q) {
            if (!(o instanceof String s)) { if (!(q instanceof Integer s)) { return "neither"; } }
            return "some";
        }
        static String three(Object o, Object q, boolean p) {
            if (!(o instanceof String s)) { if (p) { if (!(q instanceof Integer s)) { return "neither"; } } }
            return "some";
        }
        static Object go() { return two(1, "x") + two(1, 2) + three(1, "x", true); }
        """,
    ),
    "a type that another one hides": Trap(
        ("var-to-type", "type-to-var", "for-each-to-for", "lambda-to-anonymous"),
        """
        static class Foo { public String toString() { return "outer"; } }
        static String inferred(Foo y) {
            class Foo { }
            var x = y;
            return x.toString() + new Foo().getClass().getSimpleName();
        }
        static String items(Foo[] ys) {
            String all = "";
            class Foo { }
            for (Object y : ys) { all += y; }
            return all + new Foo().getClass().getSimpleName();
        }
        static <T> String parameter(T t) {
            class L<T> { String told() { var u = t; return "" + u; } }
            return new L<String>().told();
        }
        static class Above { static class Foo { } }
        static String inherited(Foo[] ys, Foo y) {
            return new Above() {
                String told() { String all = ""; var x = y; for (Object one : ys) { all += one; } return all + x; }
            }.told();
        }
        static int target() {
            Supplier<Foo> g;
            class Foo { }
            g = () -> null;
            return g.get() == null ? 1 : 0;
        }
        static Supplier<Foo> result(Foo y) {
            class Foo { }
            return () -> y;
        }
        static <T> String usual(T[] all) { String s = ""; for (T one : all) { s += one; } return s; }
        static Object go() {
            Foo[] all = {new Foo()};
            return inferred(all[0]) + items(all) + parameter(5) + inherited(all, all[0]) + target()
                + result(all[0]).get() + usual(all);
        }
        """,
    ),
    "a compact constructor": Trap(
        ("for-each-to-for", "unused-locals", "dead-stores", "unreachable-branches", "no-op-statements"),
        """
        record Grid(int spot, int row, int spare, int place, int cells, int extra, int unused) {
            Grid {
                int[] xs = {1, 2};
                for (int x : xs) {
                    System.out.println(x);
                }
                System.out.println("made");
            }
        }
        static Object go() { return new Grid(1, 2, 3, 4, 5, 6, 7); }
        """,
    ),
}


def program(trap: Trap) -> str:
    """The file of a trap."""
    return (
        "package p;\nimport fuzz.Base;\nimport java.util.*;\nimport java.util.function.*;\n"
        f"public class Main extends Base {{\n    public Object call(int which, {PARAMETERS}) {{\n"
        f"        return Tested.go();\n    }}\n}}\nclass Tested {{\n{trap.members}\n}}\n{trap.types}\n"
    )


def variants(text: str, name: str) -> Iterator[str]:
    """The file with one of its methods, or the whole of it, as a transform makes them."""
    transform = transform_for(name, "java")
    data = text.encode()
    spans = [(0, len(data))]
    if transform.unit == "function":
        spans = [
            (place.start, place.end)
            for place in JAVA_FILES.places(text, frozenset())
            if place.obstacle is None
        ]
    for start, end in spans:
        source = data[start:end].decode()
        sample = Sample(
            id="trap",
            language="java",
            source=source,
            label=None,
            origin=Origin(path="-", line=1),
            context=text,
        )
        for outcome in perturb_one(sample, transform, variants=6, seed=0):
            if isinstance(outcome, Perturbed):
                yield (data[:start] + outcome.source.encode() + data[end:]).decode()


@pytest.fixture(scope="module")
def judge() -> Iterator[JavaJudge]:
    """The newest Java of this machine."""
    release = max(jdks(), default=0)
    if release < UNNAMED:
        pytest.skip(f"no Java {UNNAMED}")
    with JavaJudge(release, jdks()[release]) as running:
        yield running


@pytest.mark.thinned(7)
@pytest.mark.parametrize("name", TRAPS)
def test_no_variant_does_anything_else(name: str, judge: JavaJudge) -> None:
    text = program(TRAPS[name])
    made = {variant: kind for kind in TRAPS[name].transforms for variant in variants(text, kind)}
    before, *after = judge.told([JavaUnit(variant, (0,)) for variant in (text, *made)])
    assert not before.error, before.error
    wrong: list[tuple[str, str, Told]] = [
        (kind, variant, run)
        for (variant, kind), run in zip(made.items(), after, strict=True)
        if run != before
    ]
    assert not wrong, "\n\n".join(f"{kind}\n{variant}\n{before}\n{run}" for kind, variant, run in wrong[:2])
