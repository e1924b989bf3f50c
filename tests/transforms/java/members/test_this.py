"""`this.` before members: javac makes the same classes with and without it."""

import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.files import JAVA_FILES
from codeaudit.transforms.java.members import FAMILY
from codeaudit.transforms.java.members.classes import MemberRewriting
from codeaudit.transforms.java.members.this import (
    CONSTANT,
    HIDDEN,
    INSERT_THIS,
    NO_OBJECT,
    OUTSIDE,
    REMOVE_THIS,
    SPECIAL,
    STATIC,
    THIS_DROPPED,
    UNDECLARED,
    UNKNOWN,
    UNSET,
)
from codeaudit.transforms.java.witnesses import find
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Move, Origin, Perturbed, Sample
from codeaudit.transforms.source_files import MODULE, Applied, Declined, TransformSeries, perturb_file

SETTING = re.compile(r"this\.(blank|value|door)")

TRAPS = """\
import java.util.function.*;

class Base { protected int kept = 4; static int shared(String s) { return 1; } }

class Traps extends Base {
    static int total;
    final int limit = 3;
    final boolean on = true;
    final Integer boxed = 3;
    final int blank;
    int plain, other = this.plain + 1, array[] = {1, 2};
    int late = this.later;
    int later = plain + this.other;
    Traps next;
    final AutoCloseable door = work(2) > 1 ? null : () -> { };
    Supplier<Integer> lazy = () -> plain + this.later;
    { plain = 2; this.later = 3; after = 1; this.after = 2; int q = this.last; }
    int after, last;
    static { total = 3; }

    Traps(int plain) {
        this(plain, total);
    }

    Traps(int plain, int more) {
        super();
        int seen = this.plain + other + this.other;
        this.plain = plain;
        blank = more;
        seen += this.blank;
        next = new Traps(blank + limit, 1) { int more = after; int read() { return more + this.more + plain; } };
        Runnable later = () -> { other++; this.other--; shared(1); this.shared(2); };
    }

    int shared(int a) { return a + kept + this.kept; }

    static int work(int a) { return total + a; }

    int fields(int other, Object o) throws Exception {
        plain += other + this.other;
        if (o instanceof Integer last && last > this.last) { return last + this.last; }
        last = 1;
        { int after = 1; after += this.after; }
        after++;
        for (int late = 0; late < this.late; late++) { this.plain--; }
        late = this.array[0] + array.length;
        next.plain = this.next.next.plain;
        try (door) { } finally { plain = 7; }
        byte b = limit;
        while (on) { if (plain > this.plain) break; }
        Object mixed = plain > 1 ? limit : b;
        Object same = plain > 1 ? this.limit : b;
        switch (other) { case limit: return 1; default: }
        boolean cast = (this.after) + 1 < (after) - 1;
        kept = 1;
        this.kept++;
        return boxed + this.boxed + work(1) + again(3) + this.again(4);
    }

    int again(int a) { return this.<Integer>pick(a) + pick(a) + this.yield() + Traps.this.yield(); }

    <T> T pick(T a) { return a; }

    int yield() { return 1; }

    class Inner {
        int own, plain;
        int mix() { return own + this.own + plain + this.plain + other + Traps.this.other + again(1) + twice(); }
        int twice() { return 2 * this.mix(); }
        Object anonymous() {
            return new Object() {
                int own = plain;
                public String toString() { return "" + own + this.own + Inner.this.own + twice() + hashCode(); }
            };
        }
    }

    class Heir extends Base {
        int other;
        int read() { this.kept = 1; return this.kept + kept + this.other + other + last; }
    }

    @SuppressWarnings("" + Names.WORD)
    static int local(int plain) {
        class Here { int plain = 2; int sum(int other) { return plain + this.plain + other; } }
        record Pair(int plain, int more) {
            static int made;
            Pair { if (plain > 3) { plain = 2; } made++; }
            Pair(int more) { this(more, made); }
            int sum() { return plain + this.more + more(); }
        }
        return new Here().sum(1) + new Pair(plain).sum();
    }
}

class Names { static final String WORD = "w"; final String own = "a" + "b"; boolean f() { return own == "ab"; } }

enum Colour {
    RED(1) { int bonus = 3; int worth() { return bonus + this.bonus + value(); } },
    BLUE(COUNT());
    private final int value;
    int seen = 2;
    Colour(int value) { this.value = value; seen += this.value; }
    static int COUNT() { return 2; }
    int value() { return value + this.value + ordinal() + this.seen + RED.seen; }
    int worth() { return this.value(); }
}

interface Shape {
    int SIDES = 4;
    int side();
    static int none() { return 0; }
    default int all() { return side() * SIDES + this.side() + none() + this.SIDES + secret(); }
    private int secret() { return all(); }
}
"""


def propose(rule: MemberRewriting, source: str, seed: int = 0) -> tuple[Move, ...]:
    moves = rule.propose(source, Random(seed))
    assert not isinstance(moves, Refused), moves
    return moves


def everything(rule: MemberRewriting, source: str) -> str:
    rewritten = rule.apply(source, propose(rule, source))
    assert isinstance(rewritten, Rewritten)
    return rewritten.source


def refused(rule: MemberRewriting, source: str) -> str:
    refusal = rule.propose(source, Random(0))
    assert isinstance(refusal, Refused), refusal
    return refusal.reason


def compiled(text: str, folder: Path) -> dict[str, bytes]:
    """The classes that javac makes of a file, by name."""
    javac = find()
    if javac is None:
        pytest.skip("no Java")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    quiet = type(javac)(executable=javac.executable, options=("-g:none",))
    assert not quiet.errors({"Traps.java": text}, classes=folder), text
    return {file.name: file.read_bytes() for file in folder.glob("*.class")}


@pytest.mark.weekly
def test_the_classes_are_the_same_byte_for_byte(tmp_path: Path) -> None:
    own = compiled(TRAPS, tmp_path / "own")
    rng = Random(1)
    for rule in (INSERT_THIS, REMOVE_THIS):
        moves = propose(rule, TRAPS)
        assert len(moves) > 30
        for some in (moves, tuple(move for move in moves if rng.random() < 0.5)):
            rewritten = rule.apply(TRAPS, some)
            assert isinstance(rewritten, Rewritten)
            after = compiled(rewritten.source, tmp_path / "after")
            assert after.keys() == own.keys()
            assert [name for name in own if own[name] != after[name]] == [], rewritten.source


def test_one_rule_takes_back_the_other() -> None:
    """But where a field may not be set yet."""
    bare = everything(REMOVE_THIS, TRAPS)
    again = everything(REMOVE_THIS, everything(INSERT_THIS, bare))
    assert SETTING.sub(r"\1", again) == SETTING.sub(r"\1", bare)


@pytest.mark.slow
def test_static_methods_that_the_text_does_not_show(tmp_path: Path) -> None:
    source = (
        "class Basis { static int g(String s) { return 1; } }\n"
        "class %s extends Basis { int g(int a) { return 2; } "
        'int f() { return g(1) + g("") + this.g(2) + this.g(""); } }\n'
    )
    variants = [everything(rule, source % rule.name.partition("-")[0]) for rule in (INSERT_THIS, REMOVE_THIS)]
    assert compiled("".join((variants[0], variants[1].partition("\n")[2])), tmp_path / "after")


INSERTED = {
    "a field": ("class A { int x; int f() { return x; } }", "return this.x;"),
    "a method": ("class A { void g() { } void f() { g(); } }", "this.g();"),
    "in a lambda": ("class A { int x; Runnable r = () -> x++; }", "() -> this.x++"),
    "of an inner class": (
        "class A { int x; class B { int x; int f() { return x; } } }", "return this.x;"),
    "of a record": ("record A(int x) { int f() { return x; } }", "return this.x;"),
    "a field named like a type": ("class A { int A; int f() { return A; } }", "return this.A;"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "part"), INSERTED.values(), ids=INSERTED.keys())
def test_what_gets_a_this(source: str, part: str) -> None:
    text = everything(INSERT_THIS, source)
    assert part in text
    assert everything(REMOVE_THIS, text) == source


KEPT = {
    "static": ("class A { static int x; int f() { return x; } }", STATIC),
    "a static overload": ("class A { void g() { } static void g(int a) { } void f() { g(); } }", STATIC),
    "of the class around": ("class A { int x; class B { int f() { return x; } } }", OUTSIDE),
    "inherited": ("class B { int x; } class A extends B { int f() { return x; } }", OUTSIDE),
    "in an anonymous class": ("class A { int x; Object o = new Object() { int y() { return x; } }; }", OUTSIDE),
    "a constant": ("class A { final int x = 1; int f() { return x; } }", CONSTANT),
    "in a constructor's first call": ("class A { int x; A() { super(g()); } int g() { return 1; } }", NO_OBJECT),
    "in a compact constructor": ("record A(int x) { A { x = 1; } }", NO_OBJECT),
    "as a resource": ("class A { final B x; void f() { try (x) { } } }", NO_OBJECT),
    "of members without a class": ("int x = 1;\nint f() { return x; }", UNDECLARED),
    "a bare method's own name": ("int f(int a) { return f(1); }", UNDECLARED),
    "a bare method": ("int f() { return x + g(); }", UNDECLARED),
}  # fmt: skip


@pytest.mark.parametrize(("source", "reason"), KEPT.values(), ids=KEPT.keys())
def test_what_gets_none(source: str, reason: str) -> None:
    assert refused(INSERT_THIS, source) == reason


NEEDED = {
    "a parameter": ("class A { int x; A(int x) { this.x = x; } }", HIDDEN),
    "a local": ("class A { int x; int f() { int x = 1; return this.x; } }", HIDDEN),
    "a pattern": ("class A { int x; int f(Object o) { return o instanceof B x ? this.x : 1; } }", HIDDEN),
    "a lambda's parameter": ("class A { int x; F f = x -> this.x; }", HIDDEN),
    "a variable around a local class": (
        "class A { void f(int x) { class B extends C { int g() { this.x = 1; return 1; } } } }", HIDDEN),
    "a constant": ("class A { final int x = 1; int f() { return this.x; } }", CONSTANT),
    "static": ("class A { static int x; int f() { return this.x; } }", STATIC),
    "not yet declared": ("class A { int y = this.x; int x = 1; }", UNSET),
    "its own value": ("class A { int x = this.x + 1; }", UNSET),
    "not yet set": ("class A { final int x; A() { f(this.x); this.x = 1; } }", UNSET),
    "not yet set in a record": ("record A(int x) { A(int y) { f(this.x); } }", UNSET),
    "inherited": ("class A extends B { int f() { return this.x; } }", UNKNOWN),
    "a field of members without a class": ("int x = 1;\nint f() { return this.x; }", UNKNOWN),
    "a bare method's field": ("int f() { return this.x; }", UNKNOWN),
    "a keyword of some places": ("class A { int yield() { return this.yield(); } }", SPECIAL),
    "types of a method": ("class A { int f() { return this.<B>f(); } }", SPECIAL),
}  # fmt: skip


@pytest.mark.parametrize(("source", "reason"), NEEDED.values(), ids=NEEDED.keys())
def test_what_keeps_its_this(source: str, reason: str) -> None:
    moves = REMOVE_THIS.propose(source, Random(0))
    if isinstance(moves, Refused):
        assert moves.reason == reason
    else:  # the assignment that shows that a field is no constant
        (move,) = moves
        rewritten = REMOVE_THIS.apply(source, moves)
        assert isinstance(rewritten, Rewritten)
        assert reason == UNSET
        assert "{ x = 1; }" in rewritten.source or rewritten.source.endswith("f(this.x); x = 1; } }"), move


def test_a_field_that_a_bare_method_sets_is_no_constant() -> None:
    assert everything(REMOVE_THIS, "void f(int a) { this.x = a; }") == "void f(int a) { x = a; }"
    assert everything(REMOVE_THIS, "A(int a) { this.x = a; this.g(); }") == "A(int a) { x = a; g(); }"
    assert everything(REMOVE_THIS, "A(int a) { this.x = a; f(this.x); }") == "A(int a) { x = a; f(this.x); }"


def test_characters_by_number_that_may_be_code_are_refused() -> None:
    assert refused(INSERT_THIS, 'class A { int x; String f() { return "\\u0022" + x; } }').startswith(
        "unicode"
    )
    text = 'class A { int x; String f() { return "\\u00e4" + x; } }'
    assert "this.x" in everything(INSERT_THIS, text)


@pytest.mark.slow
def test_examples_are_rewritten_and_run(tmp_path: Path) -> None:
    """What a counter that starts at 10 gives next; the control's start sets nothing."""
    rules = {"insert-this": INSERT_THIS, "remove-this": REMOVE_THIS, "this-dropped": THIS_DROPPED}
    assert rules.keys() == FAMILY.transforms.keys()
    texts = [FAMILY.transforms["insert-this"].example]
    for name, rule in rules.items():
        source = FAMILY.transforms[name].example
        sample = Sample(id=name, language="java", source=source, label=None, origin=Origin(path="", line=1))
        (outcome,) = perturb_one(sample, rule, variants=1, seed=0, sites="all")
        assert isinstance(outcome, Perturbed)
        assert outcome.source != source
        texts.append(outcome.source)
    named = [text.replace("Counter", f"Counter{number}") for number, text in enumerate(texts)]
    calls = "".join(
        f"Counter{number} c{number} = new Counter{number}(); c{number}.start(10); "
        f'System.out.print(c{number}.next() + " ");'
        for number in range(len(texts))
    )
    main = f"class Main {{ public static void main(String[] a) {{ {calls} }} }}"
    compiled("".join([*named, main]), tmp_path / "all")
    java = shutil.which("java")
    assert java is not None
    done = subprocess.run(
        [java, "-cp", str(tmp_path / "all"), "Main"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["24", "24", "24", "4"]


def test_a_file_is_rewritten_as_a_whole_and_nothing_else_in_it() -> None:
    data = b"\xef\xbb\xbfpackage p;\r\n\r\nclass A {\r\n\tint x;\r\n\tint f(int y) { return x + y; } // x\r\n}\r\n"
    series = TransformSeries(transforms=(INSERT_THIS, REMOVE_THIS, INSERT_THIS), seed=0)
    edited = perturb_file(JAVA_FILES, data, "A.java", series)
    assert edited.data == data.replace(b"return x", b"return this.x")
    # The first two leave nothing together.
    assert [type(record) for record in edited.records] == [Declined, Declined, Applied]
    assert {record.unit.name for record in edited.records} == {MODULE}
