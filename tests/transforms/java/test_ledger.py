"""The ledger of Java, entry by entry, by execution.

For each entry another class does not keep to it, and an edit changes what the program does: so the entry is
needed. And for each entry a file shows the same itself, and the edit is refused.
"""

import shutil
import subprocess
from textwrap import dedent, indent
from typing import Any, Final, NamedTuple

import pytest

from codeaudit.transforms.java.ledger import LEDGER, shown_in
from codeaudit.transforms.java.strings.concat import IDENTITY
from codeaudit.transforms.perturb import DENIED, perturb_one
from codeaudit.transforms.records import NotApplied, Origin, Outcome, Perturbed, Sample
from codeaudit.transforms.registry import rests_on, transform_for

VARIANTS: Final = 3


class Program(NamedTuple):
    """A file with one method that a transform rewrites."""

    transform: str
    function: str
    file: str
    """The text around; `    §` stands for the method."""
    known: bool = True
    """Whether the transform gets the file around the method."""

    def text(self, function: str) -> str:
        """The file with this text in the place of the method."""
        return self.file.replace("    §\n", indent(function, "    "))

    def variants(self) -> list[tuple[Outcome, str]]:
        """What the transform makes of the method, each with the file after it."""
        transform = transform_for(self.transform, "java")
        file = self.text(self.function)
        whole = transform.unit == "module"
        sample = Sample(
            id="ledger",
            language="java",
            source=file if whole else self.function,
            label=None,
            context=file if self.known else "",
            origin=Origin(path="A.java", line=1),
        )
        return [
            (edit, file if isinstance(edit, NotApplied) else edit.source if whole else self.text(edit.source))
            for edit in perturb_one(sample, transform, variants=VARIANTS, seed=0)
        ]


def program(
    transform: str,
    function: str,
    *,
    head: str = "class A",
    members: str = "",
    before: str = "",
    known: bool = True,
) -> Program:
    """A program whose method stands in a class `A` with these members."""
    body = indent(dedent(members), "    ")
    return Program(
        transform, dedent(function).lstrip("\n"), f"{dedent(before)}{head} {{\n{body}    §\n}}\n", known
    )


# ── the methods ──────────────────────────────────────────────────────────────────────────────────────────

ABSOLUTES: Final = """
    int f(int a, int b) {
        int x = Math.abs(a);
        int y = Math.abs(b);
        return x - y;
    }
"""
BY_CUSTOM: Final = """
    int f() {
        int x = this.a;
        int y = foo.size;
        return x - y;
    }
"""
INHERITED: Final = """
    Integer f(int n) {
        this.a = n;
        Integer y = value;
        return y;
    }
"""
BOUNDED: Final = """
    int f(T n) {
        this.a = 1;
        int b = n;
        return b;
    }
"""
SWITCHES: Final = """
    String f(boolean p, Color c, Size s) {
        String x = "";
        if (p) {
            switch (c) { case RED: x = "r"; break; default: break; }
        } else {
            switch (s) { case BIG: x = "b"; break; default: break; }
        }
        return x;
    }
"""
ANONYMOUS: Final = """
    Runnable f() {
        Runnable r = new Runnable() { public void run() { g(); } };
        return r;
    }
"""
JOINED: Final = """
    boolean f(String b) {
        String s = "" + b;
        return s == "true";
    }
"""
RAISING: Final = """
    int f(int n) {
        int x = 1;
        throw new IllegalStateException("" + x);
    }
"""
FIRST: Final = """
    int f(int[] p) {
        int[] values = p;
        return values[0];
    }
"""
VALUE: Final = """
    int f(int value) {
        return value;
    }
"""
SLOW: Final = """
    void f() {
        long x = 0;
        for (int i = 0; i < 600000000; i++) {
            x ^= i * 31;
        }
        this.a = x | 1;
        this.ready = true;
    }
"""
MEMORY: Final = """
    int f(int n) {
        this.a = 1;
        int[] b = new int[2147483647];
        return b.length;
    }
"""
CONSTANTS: Final = "static final int X = 1;\nstatic final int Y = 2;\n"

# ── another class ────────────────────────────────────────────────────────────────────────────────────────

BROKEN: Final[dict[str, tuple[Program, str]]] = {
    "types-meant": (
        program("reorder", ABSOLUTES, head="class A extends Base"),
        """
        class Base { static class Math { static int abs(int a) { System.out.println(a); return a; } } }
        class Other { static void go() { new A().f(1, 2); } }
        """,
    ),
    "names-by-custom": (
        program("reorder", BY_CUSTOM, members="static int a;\n"),
        """
        class foo { static int size = A.a = 5; }
        class Other { static void go() { System.out.println(new A().f()); } }
        """,
    ),
    "fields-plain": (
        program("reorder", INHERITED, head="class A extends Box<Integer>", members="int a;\n", known=False),
        """
        class Box<T> { T value; }
        class Other {
            @SuppressWarnings("unchecked") static void go() {
                A a = new A();
                ((Box<Object>) (Object) a).value = "text";
                try { a.f(3); } catch (ClassCastException e) { System.out.println(a.a); }
            }
        }
        """,
    ),
    "bounds-reference": (
        program("reorder", BOUNDED, head="class A<T extends Integer>", members="int a;\n", known=False),
        """
        class Other {
            static void go() {
                A<Integer> a = new A<>();
                try { a.f(null); } catch (NullPointerException e) { System.out.println(a.a); }
            }
        }
        """,
    ),
    "initialisation-unseen": (
        program("invert-if", SWITCHES),
        """
        enum Color { RED; static { System.out.println("Color"); } }
        enum Size { BIG; static { System.out.println("Size"); } }
        class Other {
            static void go() {
                try { new A().f(true, null, null); } catch (NullPointerException e) { System.out.println("null"); }
            }
        }
        """,
    ),
    "identity-unread": (
        program("anonymous-to-lambda", ANONYMOUS, members="void g() { }\n"),
        "class Other { static void go() { System.out.println(new A().f().getClass().isAnonymousClass()); } }\n",
    ),
    "positions-unread": (
        program("insert-blank-lines", RAISING),
        """
        class Other {
            static void go() {
                try { new A().f(1); }
                catch (IllegalStateException e) { System.out.println(e.getStackTrace()[0].getLineNumber()); }
            }
        }
        """,
    ),
    "source-unread": (
        program("insert-comments", RAISING),
        """
        class Other {
            static void go() throws Exception {
                String place = Other.class.getPackageName() + "/A.java";
                System.out.println(java.nio.file.Files.readString(java.nio.file.Path.of(place)).length());
            }
        }
        """,
    ),
    "debug-names-unread": (
        program("rename", FIRST),
        """
        class Other {
            static void go() {
                try { new A().f(null); } catch (NullPointerException e) { System.out.println(e.getMessage()); }
            }
        }
        """,
    ),
    "parameter-names-unread": (
        program("rename-parameters", VALUE),
        """
        class Other {
            static void go() { System.out.println(A.class.getDeclaredMethods()[0].getParameters()[0].getName()); }
        }
        """,
    ),
    "members-unlisted": (
        Program("reorder-constants", "", f"class A {{\n{CONSTANTS}}}\n"),
        """
        class Other {
            static void go() { System.out.println(A.class.getDeclaredFields()[0].getName()); }
        }
        """,
    ),
    "nobody-between": (
        program("reorder", SLOW, head="class A extends Base"),
        """
        class Base { volatile long a; volatile boolean ready; }
        class Other {
            static void go() throws Exception {
                A a = new A();
                long[] seen = new long[1];
                Thread other = new Thread(() -> { while (!a.ready) Thread.onSpinWait(); seen[0] = a.a; });
                other.start();
                a.f();
                other.join();
                System.out.println(seen[0] != 0);
            }
        }
        """,
    ),
    "runs-through": (
        program("reorder", MEMORY, members="int a;\n"),
        """
        class Other {
            static void go() {
                A a = new A();
                try { a.f(1); } catch (OutOfMemoryError e) { System.out.println(a.a); }
            }
        }
        """,
    ),
}
"""By entry: a program, and other classes that do not keep to the entry."""

ALL: Final = """
public class All {
    public static void main(String[] names) throws Throwable {
        for (String name : names) {
            System.out.println("\\f" + name);
            var go = Class.forName(name + ".Other").getDeclaredMethod("go");
            go.setAccessible(true);
            go.invoke(null);
        }
    }
}
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the other class prints, by the number of the entry and of the text, from 0 for the original."""
    java, javac = shutil.which("java"), shutil.which("javac")
    if java is None or javac is None:
        pytest.skip("no Java")
    folder = tmp_path_factory.mktemp("ledger")
    files = {"All.java": ALL}
    for place, (subject, other) in enumerate(BROKEN.values()):
        texts = [
            subject.text(subject.function),
            *(text for edit, text in subject.variants() if isinstance(edit, Perturbed)),
        ]
        for number, text in enumerate(texts):
            name = f"p{place}_{number}"
            files[f"{name}/A.java"] = f"package {name}; {text}"
            files[f"{name}/Other.java"] = f"package {name}; {dedent(other)}"
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    options = (
        "-J-XX:TieredStopAtLevel=1",
        "-J-XX:+UseSerialGC",
        "-proc:none",
        "-nowarn",
        "-g",
        "-parameters",
    )
    made = subprocess.run(
        [javac, *options, *files], cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )
    assert not made.returncode, made.stderr
    names = sorted({name.partition("/")[0] for name in files if "/" in name})
    done = subprocess.run(
        [java, "-XX:TieredStopAtLevel=1", "-Xmx64m", "All", *names],
        cwd=folder, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return {name: text for name, _, text in (part.partition("\n") for part in done.stdout.split("\f")[1:])}


@pytest.mark.slow
@pytest.mark.thinned(5)
@pytest.mark.parametrize("name", LEDGER)
def test_an_edit_is_seen_where_an_entry_that_it_rests_on_is_false(name: str, told: dict[str, str]) -> None:
    edits = [edit for edit, _ in BROKEN[name][0].variants() if isinstance(edit, Perturbed)]
    assert edits
    assert all(name in {row.id for row in rests_on(edit)} for edit in edits)
    place = list(BROKEN).index(name)
    before = told[f"p{place}_0"]
    assert before
    assert {told[f"p{place}_{number}"] for number in range(1, len(edits) + 1)} != {before}


# ── the file itself ──────────────────────────────────────────────────────────────────────────────────────


def unseen(entry: str, made: Program, why: str) -> Any:
    """A case of `test_an_edit_is_refused…` in which the file shows what the engine does not see yet."""
    return pytest.param(
        entry, made, "", id=f"{entry}: {why}", marks=pytest.mark.xfail(strict=True, reason=f"not seen: {why}")
    )


MAY_ACT: Final = "a neighbour may run unknown code"
SHOWN: Final[list[Any]] = [
    (
        "types-meant",
        program("reorder", ABSOLUTES, before="class Math { static int abs(int a) { return a; } }\n"),
        "a well-known type's name means something else here",
    ),
    (
        "names-by-custom",
        program(
            "reorder", BY_CUSTOM, members="static int a;\nstatic class foo { static int size = A.a = 5; }\n"
        ),
        f"{DENIED}names-by-custom",
    ),
    (
        "fields-plain",
        program("reorder", INHERITED, head="class A extends Box<Integer>", members="int a;\n"),
        "a neighbour stores what another may see",
    ),
    (
        "bounds-reference",
        program("reorder", BOUNDED, head="class A<T extends Integer>", members="int a;\n"),
        f"{DENIED}bounds-reference",
    ),
    (
        "initialisation-unseen",
        program("reorder", BY_CUSTOM.replace("foo", "Foo"), members="static int a;\n"),
        MAY_ACT,
    ),
    ("identity-unread", program("concat-to-builder", JOINED), IDENTITY),
    (
        "identity-unread",
        program(
            "anonymous-to-lambda",
            ANONYMOUS,
            members="void g() { System.out.println(f().getClass().isAnonymousClass()); }\n",
        ),
        f"{DENIED}identity-unread",
    ),
    (
        "positions-unread",
        program(
            "insert-blank-lines",
            RAISING,
            members="int g(Exception e) { return e.getStackTrace()[0].getLineNumber(); }\n",
        ),
        f"{DENIED}positions-unread",
    ),
    (
        "positions-unread",
        program(
            "insert-blank-lines",
            RAISING,
            members="void g(Exception e) { var all = new StringWriter(); e.printStackTrace(new PrintWriter(all)); }\n",
        ),
        f"{DENIED}positions-unread",
    ),
    (
        "source-unread",
        program("remove-comments", "int f() {\n    // CHECKSTYLE:OFF\n    return 1;\n}\n"),
        "",
    ),
    (
        "debug-names-unread",
        program(
            "rename",
            FIRST,
            members='String g() { try { return "" + f(null); } catch (NullPointerException e) { return e.getMessage(); } }\n',
        ),
        f"{DENIED}debug-names-unread",
    ),
    *(
        (
            "debug-names-unread",
            program(
                "rename",
                FIRST,
                members=f"void g() {{ try {{ f(null); }} catch (NullPointerException e) {{ print({text}); }} }}\n",
            ),
            f"{DENIED}debug-names-unread",
        )
        for text in (
            "e",
            '"no list: " + e',
            "new Error(e)",
            "() -> { if (n > 1) { return e.getMessage(); } }",
        )
    ),
    (
        "parameter-names-unread",
        program("rename-parameters", f"@Named{VALUE}"),
        "",
    ),
    (
        "parameter-names-unread",
        program(
            "rename-parameters",
            VALUE,
            members="Object g() { return A.class.getDeclaredMethods()[0].getParameters(); }\n",
        ),
        f"{DENIED}parameter-names-unread",
    ),
    *(
        (
            "parameter-names-unread",
            program(
                name,
                f"int f({words}int n) {{\n    return n + 1;\n}}\n",
                members="Object g() { return A.class.getDeclaredMethods()[0].getParameters(); }\n",
            ),
            f"{DENIED}parameter-names-unread",
        )
        for name, words in (("insert-final", ""), ("remove-final", "final "))
    ),
    (
        "members-unlisted",
        Program(
            "reorder-constants",
            "",
            f"class A {{\n{CONSTANTS}Object g() {{ return A.class.getDeclaredFields(); }}\n}}\n",
        ),
        f"{DENIED}members-unlisted",
    ),
    (
        "nobody-between",
        program("reorder", SLOW, members="volatile long a;\nvolatile boolean ready;\n"),
        f"{DENIED}nobody-between",
    ),
    (
        "runs-through",
        program(
            "reorder",
            MEMORY,
            members="int a;\nvoid g() { try { f(1); } catch (OutOfMemoryError e) { a = 2; } }\n",
        ),
        f"{DENIED}runs-through",
    ),
]
"""By entry: a file that shows that it does not keep to it, and the reason to refuse the edit."""


@pytest.mark.parametrize(("entry", "made", "reason"), SHOWN)
def test_an_edit_is_refused_where_its_file_shows_that_an_entry_is_false(
    entry: str, made: Program, reason: str
) -> None:
    edits = [edit for edit, _ in made.variants()]
    reasons = [edit.reason for edit in edits if isinstance(edit, NotApplied)]
    assert len(reasons) == len(edits), "an edit is made"
    assert not reason or set(reasons) == {reason}


def test_a_handler_that_does_not_use_its_exception_reads_no_message() -> None:
    caught = "class A { boolean f(int[] a) { try { a[0]++; } catch (%s e) { if (a == null) { return false; } } return true; }"
    assert "debug-names-unread" not in shown_in(
        f"{caught % 'NullPointerException'} String g() {{ return e.toString(); }} }}\n"
    )
    assert "debug-names-unread" not in shown_in(
        f"{caught % 'ClassCastException | NullPointerException'} }}\n"
    )


def test_every_entry_has_its_programs() -> None:
    shown = {getattr(case, "values", case)[0] for case in SHOWN}
    assert BROKEN.keys() == LEDGER.keys()
    assert shown == {name for name, row in LEDGER.items() if row.shown}
    missing: dict[str, list[str]] = {}
    for case in SHOWN:
        if getattr(case, "marks", ()):
            name, _, why = case.id.partition(": ")
            missing.setdefault(name, []).append(why)
    reasons = {name: "; ".join(whys) for name, whys in missing.items()}
    assert reasons == {name: row.unseen for name, row in LEDGER.items() if row.unseen}
