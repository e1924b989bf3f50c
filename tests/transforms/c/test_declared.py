"""What declarations around a C++ function say of names: which operators are built in, and what shares memory."""

from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.declared import DeclaredNames
from codeaudit.transforms.c.macros import Surroundings
from codeaudit.transforms.c.rewriting import study
from codeaudit.transforms.interface import Refused, Rewritten, placed
from codeaudit.transforms.registry import expand, transform_for
from tests.support.cpp_running import Program, needs_gpp, outputs

DECLARED = """
struct Plain {
    int whole; bool flag : 1; unsigned few : 3; Index many : 5; Mode one_of : 2; unsigned small, other; Plain *next; const char *text; mutable long seen; static short count;
    double ratio = 1.0; int given{3}; std::size_t size; int array[3]; int &alias; volatile int watched; Mode mode;
    Loud loud; int method(); int (*callback)(int); atomic<int> hits; Index index; Name name; union { int a; char b; };
};
enum Mode { OFF, ON };
struct Loud { Loud &operator=(int); };
typedef unsigned Index; using Name = const char *; typedef volatile int Port; using Same = Plain;
template <class T, int size_of = 3> struct Open { T whole_of; int known; };
Port port; int global, *pointer; extern long far; int function(); auto guessed = 3; Open<int> made;
namespace inner { struct Other : Plain { double small; Plain plain; Plain *to; Same same; }; }
template <class Element> struct Late { Element element; }; typedef int Element;
"""
TYPES = {
    "few": "number", "many": "number", "one_of": None, "whole": "int", "flag": "bool", "next": "pointer", "text": "pointer", "seen": "long", "count": "short",
    "ratio": "double", "given": "int", "size": "size_t", "callback": "pointer", "index": "unsigned int",
    "name": "pointer", "a": "int", "known": "int", "global": "int", "pointer": "pointer", "far": "long",
    "other": "unsigned int", "array": None, "alias": None, "watched": None, "mode": None, "loud": None, "hits": None,
    "method": None, "OFF": None, "whole_of": None, "port": None, "function": None, "guessed": None, "made": None,
    "small": None, "plain": None, "element": None, "size_of": None, "absent": None,
}  # fmt: skip


@pytest.mark.parametrize(("name", "known"), TYPES.items(), ids=TYPES)
def test_the_type_of_a_name_is_what_all_declarations_say(name: str, known: str | None) -> None:
    assert DeclaredNames([DECLARED], CPP).scalar(name) == known


def test_what_a_class_declares_hides_what_others_do() -> None:
    declared = DeclaredNames([DECLARED], CPP)
    assert (declared.scalar("small", "Plain"), declared.scalar("small", "Other")) == (
        "unsigned int",
        "double",
    )
    assert declared.scalar("whole", "Other") == "int"
    classes = [declared.class_of(member, "Other") for member in ("plain", "to", "same", "ratio")]
    assert classes == ["Plain", "Plain", "Plain", None]
    assert (declared.class_named("Open"), declared.class_named("Element"), declared.class_named("Mode")) == (
        None,
    ) * 3


def test_texts_of_headers_are_added_up() -> None:
    declared = DeclaredNames(["struct A { int same; int odd; };", "struct B { int same; A odd; };"], CPP)
    assert (declared.scalar("same"), declared.scalar("odd"), declared.scalar("odd", "A")) == (
        "int",
        None,
        "int",
    )


def test_a_type_may_have_any_name() -> None:
    assert (
        DeclaredNames(["typedef double object; struct A { object first; };"]).common("first", is_field=True)
        == "double"
    )


@pytest.mark.parametrize("language", ["c", CPP])
def test_types_inside_of_functions_count(language: str) -> None:
    text = "struct A { int first; }; int f() { if (1) { struct B { double first; } b; return b.first < 1; } return 0; }"
    assert DeclaredNames([text], language).common("first", is_field=True) is None


PLAIN = {
    "Same": True,
    "Element": True,
    "T": True,
    "Open": False,
    "Pair": False,
    "Kept": False,
    "absent": False,
}


@pytest.mark.parametrize(("name", "plain"), PLAIN.items(), ids=PLAIN)
def test_a_value_may_decide_what_the_name_of_a_template_stands_for(name: str, plain: bool) -> None:
    """`Open a{1}; Open b{2.5};` are of two types, and no declaration may have both ([dcl.type.class.deduct])."""
    templates = (
        "template <class T> using Pair = Open<T>; template <template <class...> class Kept> int f(Kept<int>);"
    )
    assert DeclaredNames([DECLARED, templates], CPP).is_plain_type(name) is plain


def test_aliases_are_told_as_typedefs_are() -> None:
    pairs = ("int **{}", "int &{}", "int (*{})(int)", "int {}(int)", "int {}[3]", "volatile int {}", "int {}")
    for number, form in enumerate(pairs):
        texts = f"typedef {form.format('T')};", f"using T = {form.format('')};"
        scalars = [DeclaredNames([f"{text} struct A {{ T first; }};"], CPP).scalar("first") for text in texts]
        assert scalars[0] == scalars[1], form
        assert scalars[0] == ("pointer", None, "pointer", None, None, None, "int")[number]


def test_only_what_is_declared_explains_a_word() -> None:
    text = "int a = B, c[D]; enum { E = F }; struct G { int h; } i; typedef int J; int k(int l) { return M; }"
    assert DeclaredNames([text]).all == {*"aceGhiJkE"} - {"e"}


def test_nothing_is_known_of_what_the_grammar_cannot_read() -> None:
    assert DeclaredNames(["struct A { int first; }; @ first @"], CPP).scalar("first") is None


FILE = """\
#include <cstdio>
#define HIDDEN(type) type made;
struct Loud {
    int v;
    Loud &operator=(int x) { std::printf("[=%d]", x); v = x; return *this; }
    bool operator!() const { std::printf("[!]"); return !v; }
    operator int() const { std::printf("[int]"); return v; }
};
enum Mode { OFF, ON };
static bool operator!(Mode m) { std::printf("[!m]"); return m == OFF; }
static bool operator<(Mode a, Mode b) { std::printf("[<]"); return (int)a > (int)b; }
struct Base { int level; int &alias; explicit Base(int &a) : level(1), alias(a) {} };
struct Thing : Base {
    int first, second; Loud loud; Mode mode; union { int word; unsigned char bytes[4]; }; Thing *next; unsigned small : 3;
    static int total; HIDDEN(Loud)
    Thing() : Base(first), first(0), second(0), loud{0}, mode(OFF), word(0), next(this), small(0), made{0} {}
    int run(int x, Thing *other);
};
int Thing::total = 0;
struct Odd { Loud first; int second; };
template <class B> struct Late : B { int own; int run(int x) { BODY; return own + this->second; } };
"""
STORES = {
    "members": "first = x; second = 4; total = x + 1; level = 2;",
    "tests of members": "if (!first && second < x) second++; if (first > 2 || !second) first -= 2; small = x; small++;",
    "member and its alias": "alias = 9; first += 1; level = alias;",
    "member of a class with operators": "loud = x; second = 4; if (!loud) second = 5; int k = loud; second += k;",
    "enumeration with operators": "if (!mode) second++; if (mode < ON) second += 2; mode = ON; first = 3;",
    "union": "word = x; bytes[0] = 7; second += word;",
    "member through a pointer": "int *p = &second; *p = 70; first = second; second = 1;",
    "same member of another object": "other->first = x; first = 8; second = other->first; next->second = 2; second += x;",
    "members of another object": "other->first = x; other->second = first; other->level = 3; other->loud = 4;",
    "member that a macro declares": "made = x; second = 2; if (!made) second = 3;",
    "order in a `try`": "try { first = x; if (x > 1) throw x; second = x; first = 5; } catch (int) { second = first; }",
    "lambda": "int k = x; auto f = [&] { first = k; k = 5; }; second = 2; k = 3; f(); second += k;",
    "local of a member's name": "int first = x; this->second = first; { int second = 3; first += second; } level = first;",
}


@needs_gpp
@pytest.mark.parametrize("name", STORES)
def test_edits_of_members_keep_what_a_program_does(name: str, tmp_path: Path) -> None:
    head = f"int Thing::run(int x, Thing *other) {{\n    {STORES[name]}\n    return first * 100 + second + level;\n}}"
    text = FILE.replace("BODY", "own = x") + head
    relations = ("reorder", "disjoint/reorder")
    texts = {text}
    for transform in (*expand(["all"], languages=[CPP]), *relations):
        rule = transform_for(transform, CPP).within(placed(text, str(tmp_path / "a.cpp")))
        for seed in range(3 if transform in relations else 1):
            moves = rule.propose(head, Random(seed))
            made = moves if isinstance(moves, Refused) else rule.apply(head, moves)
            if isinstance(made, Rewritten):
                texts.add(text.replace(head, made.source))
    calls = 'for (int i = 0; i < 4; i++) { Thing a, b; b.next = &a; printf("%d %d;", a.run(i, &b), b.run(i, &a)); }'
    shown = outputs([Program(text, calls) for text in sorted(texts)])
    assert len(texts) > 3
    assert len(set(shown)) == 1


DISJOINT = {
    "other->first = x; other->second = 2;": ("disjoint",),
    "first = x; second = 2;": ("strict", "disjoint"),
    "first = x; alias = 2;": (),
    "first = x; loud = 2;": (),
    "word = x; first = 2;": (),
    "first = x; next->first = 2;": (),
    "other->loud.v = x; other->second = 2;": ("disjoint",),
    "int a = first; int b = second; first = b; second = a + b;": ("strict", "disjoint"),
}


@needs_gpp
@pytest.mark.parametrize(("statements", "moved"), DISJOINT.items(), ids=DISJOINT)
def test_members_of_other_names_are_other_memory(
    statements: str, moved: tuple[str, ...], tmp_path: Path
) -> None:
    head = f"void Thing::run(int x, Thing *other) {{ {statements} }}"
    text = FILE.replace("BODY", "own = x") + head
    relations = []
    for relation in ("strict", "disjoint"):
        transform = transform_for("reorder" if relation == "strict" else f"{relation}/reorder", CPP)
        rule = transform.within(placed(text, str(tmp_path / "a.cpp")))
        if not isinstance(rule.propose(head, Random(0)), Refused):
            relations.append(relation)
    assert tuple(relations) == moved


@needs_gpp
def test_a_class_that_a_template_leaves_open_may_have_any_members(tmp_path: Path) -> None:
    body = "own = x; this->first = x + 1; this->second = own; if (!this->first) own = 3"
    text = FILE.replace("BODY", body)
    start = text.index("int run(int x) { own")
    head = text[start : text.index("}", start) + 1]
    code = study(head, Surroundings(text, str(tmp_path / "a.cpp"), "known", CPP))
    fields = [node for node in code.unit.walk() if node.kind == "field_access"]
    assert [code.type(field) for field in fields] == [None] * 4
