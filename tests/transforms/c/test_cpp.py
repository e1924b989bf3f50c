"""C++ as the second dialect of C: what is read, what changes, what is refused, and random functions that run."""

from random import Random
from typing import Final

import pytest

from codeaudit.transforms.c.cpp.language import RECORD
from codeaudit.transforms.c.cpp.reading import name_of, own_name
from codeaudit.transforms.c.cpp.rewriting import DIALECT_OF_CPP, FITTING, CppSource
from codeaudit.transforms.c.files import CPP_FILES
from codeaudit.transforms.c.macros import Surroundings
from codeaudit.transforms.c.parsing import places, read_unit
from codeaudit.transforms.c.rewriting import CAST_OR_CALL
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten, is_surrounded
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.strategies.dialect import CodeStrategy, lacking

PRESERVING: Final = [name for name, entry in RECORD.transforms.items() if entry.kind == "preserving"]


def applied(name: str, source: str, file: str = "", seed: int = 0) -> Rewritten | Refused:
    """What a transform makes of a function of a file, with an edit at every site."""
    transform = transform_for(name, "cpp")
    if is_surrounded(transform):
        transform = transform.within(file or source)
    try:
        moves = transform.propose(source, Random(seed))
    except SourceError as error:
        return Refused(str(error))
    return moves if isinstance(moves, Refused) else transform.apply(source, moves)


def edited(name: str, source: str, seed: int = 0) -> str | None:
    """The text after an edit at every site, with single blanks; `None` if there is none."""
    rewritten = applied(name, source, seed=seed)
    return " ".join(rewritten.source.split()) if isinstance(rewritten, Rewritten) else None


@pytest.mark.parametrize("sign", ["&", "*", "-", "+"])
@pytest.mark.parametrize("name", ["n::at", "Box<int>::size"])
def test_a_qualified_name_in_parentheses_may_be_a_value(name: str, sign: str) -> None:
    """The grammar reads `(n::at) - (b)` as a cast of `-(b)`, which binds tighter than a difference."""
    source = f"int f(int b) {{ return (({name}) {sign} (b)) != 3; }}"
    assert applied("remove-parentheses", source) == Refused(CAST_OR_CALL)
    pointer = f"int f(int b) {{ return (({name} *) {sign} b) != g((int) (b)); }}"
    assert isinstance(applied("remove-parentheses", pointer), Rewritten)


FILE: Final = """\
template <class T>
struct WIDE_API Box : Base {
    Box(int n) : size_(n), kept{n} { grow(n); }
    ~Box() { drop(); }
    explicit operator bool() const { return size_ > 0; }
    bool operator==(const Box& o) const noexcept { return size_ == o.size_; }
    template <int n> auto at(int i) -> int { return i + n; }
    virtual int get() const override { return size_; }
    int later(int);
    Box(Box&&) = default;
};
BEGIN_NAMESPACE
template <class T> template <class U> int Box<T>::later(U u) { return size_ + u; }
namespace n { FORCED int free_one(int a, Options o = {}) { return a; } }
extern "C" int of_c(int a) { return a; }
"""


def test_functions_are_found_in_classes_and_templates() -> None:
    units = list(places(FILE.encode(), "cpp"))
    assert [unit.name for unit in units] == [
        "Box", "~Box", "operator bool", "operator==", "at", "get", "Box<T>::later", "free_one", "of_c",
    ]  # fmt: skip
    for unit in units:
        reading, function = read_unit(FILE[unit.start : unit.end], "cpp")
        assert name_of(reading.source, function) == unit.name
    assert FILE[units[4].start :].startswith("template <int n> auto at")
    assert [place.obstacle for place in CPP_FILES.places(FILE, frozenset())] == [None] * 9
    assert [own_name(unit.name) for unit in units][5:] == ["get", "later", "free_one", "of_c"]
    assert {own_name(name) for name in ("A::A", "A::~A", "n::operator<<", "operator int")} == {None}


RENAMED: Final = (
    ("int f(int a) { T x(a); return x.y + a; }", "int f(int v0) { T v1(v0); return v1.y + v0; }"),
    ("int f(int a) { T x(a * b, a); x(); }", "int f(int v0) { T v1(v0 * b, v0); v1(); }"),
    ("int f(int a) { array<int, a> x; return x[a]; }", "int f(int v0) { array<int, v0> v1; return v1[v0]; }"),
    ("int f(int n) { auto g = [n, m = n](int k) { return n + m + k; }; n = 2; return g(n); }",
     "int f(int v0) { auto v1 = [v0, v2 = v0](int v3) { return v0 + v2 + v3; }; v0 = 2; return v1(v0); }"),
    ("int f(int n) { auto g = [n = n] { return n; }; return g() + n; }",
     "int f(int v0) { auto v1 = [v2 = v0] { return v2; }; return v1() + v0; }"),
    ("int f(M m) { for (auto& [k, v] : m) if (auto q = g(k); q) v = q; else v = -q; }",
     "int f(M v0) { for (auto& [v1, v2] : v0) if (auto v3 = g(v1); v3) v2 = v3; else v2 = -v3; }"),
    ("A::A(int x) : x(x), y{x + 1} { this->x = x; }", "A::A(int v0) : x(v0), y{v0 + 1} { this->x = v0; }"),
    ("int f(int x) { try { g(x); } catch (const E& x) { return x.y; } return x::z + x; }",
     "int f(int v0) { try { g(v0); } catch (const E& v1) { return v1.y; } return x::z + v0; }"),
    ("template <class... T> auto f(T&&... a) noexcept(noexcept(g(a...))) -> decltype(g(a...)) { return g(sizeof...(a), a...); }",
     "template <class... T> auto f(T&&... v0) noexcept(noexcept(g(v0...))) -> decltype(g(v0...)) { return g(sizeof...(v0), v0...); }"),
    ("void f(int n) { static int s; using std::swap; swap(n, s); T g(U(n)); }",
     "void f(int v0) { static int s; using std::swap; swap(v0, s); T g(U(v0)); }"),
    ("int f(T a) { decltype(a)::type b = decltype(a + 1)::of(a); return b + decltype(b)::n::m + S<decltype(a)::k>::n; }",
     "int f(T v0) { decltype(v0)::type v1 = decltype(v0 + 1)::of(v0); return v1 + decltype(v1)::n::m + S<decltype(v0)::k>::n; }"),
)  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), RENAMED)
def test_names(source: str, expected: str) -> None:
    """Every parameter and local gets the name that `rename-canonical` and the parameters' order give it."""
    from codeaudit.transforms.c.identifiers.rename import variables

    survey = variables(source, Surroundings(language="cpp"))
    movable = survey.movable(parameters=True)
    if isinstance(movable, Refused):
        movable = survey.movable(parameters=False)
    assert not isinstance(movable, Refused)
    names = {number: f"v{place}" for place, number in enumerate(sorted(movable))}
    text = survey.text_with(names)
    assert text == expected
    assert survey.proof(text, names) is not None


EDITS: Final = (
    ("invert-if", "int f(int a) { if (a) g(); else h(); }", "int f(int a) { if (!a) { h(); } else g(); }"),
    ("flip-comparisons", "int f(const int& a) { int b = 2; return a < b; }", "int f(const int& a) { int b = 2; return b > a; }"),
    ("swap-operands", "int f(int a, char* p) { return a + p[0]; }", "int f(int a, char* p) { return p[0] + a; }"),
    ("expand-increments", "void f(I a, int n) { ++a; n++; }", "void f(I a, int n) { ++a; ++n; }"),
    ("identity-arithmetic", "int f(int a) { g(a, 1); return a; }", "int f(int a) { g(a, 1); return a + 0; }"),
    ("for-to-while", "void f() { for (T i = b(); i != e(); ++i) g(*i); }",
     "void f() { { T i = b(); while (i != e()) { g(*i); ++i; } } }"),
    ("else-to-return", "int f(int a) { if (a) { return 1; } else { int b = g(); return b; } }",
     "int f(int a) { if (a) { return 1; } int b = g(); return b; }"),
    ("arrow-to-star", "int f(T* p, S s) { return p->a + s->a; }", "int f(T* p, S s) { return (*p).a + s->a; }"),
    ("while-to-while-true", "void f(int a) { while (a) a--; }", "void f(int a) { while (true) { if (!a) break; a--; } }"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "source", "expected"), EDITS)
def test_edits(name: str, source: str, expected: str) -> None:
    made = {edited(name, source, seed) for seed in range(4)}
    assert expected in made, made


KEPT: Final = (
    ("invert-if", "int f(T a) { if (a) g(); else h(); }"),
    ("invert-if", "int f(int a) { if (int b = g(a)) g(b); else h(); }"),
    ("invert-if", "void f(int a) { if constexpr (true) g(); else h(); }"),
    ("de-morgan", "bool f(T a, int b) { return a && b; }"),
    ("negate-comparisons", "bool f(T a, int b) { return a == b; }"),
    ("flip-comparisons", "bool f(int a) { return a < g(); }"),
    ("swap-operands", "int f(int a) { return a + m_; }"),
    ("split-conditions", "void f(T a, int b) { if (a && b) g(); }"),
    ("merge-conditions", "void f(T a, int b) { if (a) if (b) g(); }"),
    ("expand-increments", "void f(T i) { i++; }"),
    ("expand-augmented", "void f(int a, T b) { a += b; }"),
    ("expand-augmented", "void f(int a) { g(a); a += 2; }"),
    ("identity-arithmetic", "void f(int a) { g(a, 0); T t{a}; t = a; }"),
    ("index-to-pointer", "int f(T a, int i) { return a[i]; }"),
    ("index-to-pointer", "int f(int* p, int i) { return p[i, 1]; }"),
    ("join-declarations", "void f() { pair a{1, 2}; pair b{1, 2.5}; }"),
    ("arrow-to-star", "int f(T a) { return a->b; }"),
    ("not-to-zero", "bool f(T a) { return !a; }"),
    ("zero-to-not", "bool f(T a) { return a == 0; }"),
    ("else-to-return", "void f(int a) { if (a) { return; } else { Lock l(m); g(); } h(); }"),
    ("else-to-return", "void f(int a) { if (a) { goto end; } if (a < 3) return; else { int b = 1; g(b); } end: h(); }"),
    ("for-to-while", "void f(int a) { for (; a; a--) { Lock l(m); g(); } }"),
    ("do-to-while-true", "void f(int a) { do { Lock l; g(); } while (a); }"),
    ("split-initialisers", "int f(T b) { const int a = 1; auto c = a; int& d = b.x; T e = b; return c; }"),
    ("if-to-ternary", "T f(T a, T b, int c) { if (c) return a; else return b; }"),
    ("insert-parentheses", "T f(T a) { return a; }"),
    ("remove-parentheses", "decltype(auto) f(int a) { return (a); }"),
    ("remove-parentheses", "int f(T a) { return (g)(a); }"),
    ("split-strings", 'void f() { g(R"(a\\n)", "ab"_x); }'),
    ("literal-bases", "void f() { g(10_km, 1'000, h<10>()); }"),
    ("unused-locals", "constexpr int f(int a)\n{\n    return a;\n}"),
    ("unused-locals", "task f(int a)\n{\n    co_return a;\n}"),
    ("reorder", "void f() { Lock l(m); File g(n); }"),
    ("reorder", "void f(int n) { g(n); n = 1; h(); }"),
    ("reorder", "void f(int n) { int& r = n; r = 1; n = 2; }"),
    ("reorder", "void f(int n) { auto g = [n] { return n; }; n = 2; g(); }"),
    ("reorder", "void f() { a = b; c = d; }"),
    ("reorder", "void f() { std::string a; Lock l; }"),
    ("reorder", "void f() { Lock l; std::vector<int> a; }"),
    ("reorder", "void f() { std::vector<Lock> a; std::string b; }"),
    ("reorder", "void f() { std::string a(g()); std::string b = h(); }"),
    ("reorder", "void f(T t) { int a[2] = {t, 1}; g(); }"),
    ("reorder", "void f(int n) { int a[n]; g(); }"),
    ("reorder", "void f(int n) { volatile int a[2]; g(); }"),
    ("reorder", "void f(T t) { t = 10.5; t = \"ab\"; }"),
    ("reorder", "void f() { g(); { T t; std::string a; T u; } }"),
    ("reorder", "void f(int y) { T x(y); y = 2; }"),
    ("reorder", "int f(int* p, int* q) { int a = *p; int b = *q; return a - b; }"),
    ("reorder", "void f() { const int n = 2; array<int, n> a; }"),
    ("reorder", "int f() { int n = 0; try { n = 1; g(); } catch (...) { return n; } return 0; }"),
    ("reorder", "void f() { using T = int; T* p = nullptr; p++; }"),
    ("reorder", "task f() { int a = 1; int b = 2; co_await g(a, b); }"),
)  # fmt: skip


@pytest.mark.thinned(13)
@pytest.mark.parametrize(("name", "source"), KEPT)
def test_what_may_be_a_function_is_left_alone(name: str, source: str) -> None:
    assert {edited(name, source, seed) for seed in range(4)} == {None}


MOVED: Final = {
    "arrays": ("int f() { char a[3]; g(); return 1; }", "int f() { g(); char a[3]; return 1; }"),
    "text": ('int f() { Lock l; char a[] = "ab"; return 1; }', 'int f() { char a[] = "ab"; Lock l; return 1; }'),
    "list": (
        "int f(unsigned n) { unsigned b = n; const int a[] = {1, -2}; return b; }",
        "int f(unsigned n) { const int a[] = {1, -2}; unsigned b = n; return b; }",
    ),
    "strings": (
        "int f() { std::string a; std::vector<const char*> b; return 1; }",
        "int f() { std::vector<const char*> b; std::string a; return 1; }",
    ),
    "string and call": ("int f() { std::vector<std::string> a; g(); return 1; }", "int f() { g(); std::vector<std::string> a; return 1; }"),
    "large numbers": ("int f() { double a = 1e9; g(); return 1; }", "int f() { g(); double a = 1e9; return 1; }"),
    "pointer to a text": ('int f() { const char* a = "ab" "c"; g(); return 1; }', 'int f() { g(); const char* a = "ab" "c"; return 1; }'),
    "beside a variable that looks like a function": (
        "int f(int y) { T x(y); int a = 1; return a; }",
        "int f(int y) { int a = 1; T x(y); return a; }",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
def test_what_does_nothing_that_others_see_moves(name: str) -> None:
    before, after = MOVED[name]
    assert after in {edited("reorder", before, seed) for seed in range(4)}


def test_what_nobody_sees_moves() -> None:
    source = "int f(int a) { int b = a ^ 1; Lock l(m); int c = b ^ 2; g(); return b ^ c; }"
    made = {edited("reorder", source, seed) for seed in range(8)}
    assert "int f(int a) { Lock l(m); int b = a ^ 1; int c = b ^ 2; g(); return b ^ c; }" in made
    assert all(text is None or text.index("Lock") < text.index("g()") for text in made)


def test_every_example_changes_and_every_transform_is_offered() -> None:
    for name, entry in RECORD.transforms.items():
        rewritten = applied(name, entry.example)
        assert isinstance(rewritten, Rewritten), (name, rewritten)
        assert rewritten.source != entry.example
    assert len(PRESERVING) >= 60
    assert FITTING.keys() <= RECORD.transforms.keys()
    asked = CodeStrategy(
        name="all", find=lambda code: (), nothing="", needs=("type", "is_unordered", "fillers")
    )
    assert lacking(asked, CppSource, DIALECT_OF_CPP) == ()


NOT_READ: Final = ("A::A(double x) { __real__ s = x; }", "int f(int a) { _Complex int b; return a; }",
                   "int f(int a) { ({ union { __typeof__ (a) __b; int c; } u; u.c; }); return a; }",
                   "A::A(int x) try : y(x) { } catch (...) { }", "int f() { struct L { void g() { } }; }",
                   "int f(int a) { a < b > (c); a<d>(c); }", "int f(int a) { return [](auto x) requires C<T> {}; ")  # fmt: skip


@pytest.mark.parametrize("source", NOT_READ)
def test_not_read(source: str) -> None:
    assert isinstance(applied("rename-parameters", source), Refused)
