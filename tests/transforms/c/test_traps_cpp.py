"""Ways to break C++ by an edit that looks right: each program is rewritten by every transform, compiled and run.

The numbers are those of a list of traps. What a program prints must stay; an edit that is refused is right, too.
Each trap has an edit by hand that looks right and is not: so what is printed shows the difference.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import pytest

from codeaudit.transforms.c.cpp.language import RECORD as CPP
from codeaudit.transforms.c.identifiers.rename import NATURAL
from tests.support.cpp_running import NO_CODE, Program, needs_gpp, outputs
from tests.transforms.c.test_traps import variants

PRESERVING: Final = [name for name, entry in CPP.transforms.items() if entry.kind == "preserving"]


class Trap(NamedTuple):
    """A function of a file, the statements that call it, and an edit that breaks it."""

    unit: str
    calls: str
    wrong: tuple[str, str]
    """A text of the function, and what an edit would make of it."""
    before: str = ""
    behind: str = ""

    def program(self, unit: str) -> Program:
        """The whole program with another text of the function."""
        return Program(f"{self.before}{unit}{self.behind}\n", self.calls)


P: Final = 'printf("%d ", int('
LOUD: Final = (
    'struct Loud {\n    int n;\n    Loud(int n) : n(n) { printf("+%d", n); }\n'
    '    Loud(const Loud &other) : n(other.n) { printf("c%d", n); }\n'
    '    Loud(Loud &&other) : n(other.n) { printf("m%d", n); }\n'
    '    Loud &operator=(int value) { printf("=%d", value); n = value; return *this; }\n'
    '    explicit operator bool() const { printf("?"); return n > 0; }\n'
    '    ~Loud() { printf("-%d", n); }\n};\n'
)
SAY: Final = 'static int say(int n) { printf("<%d>", n); return n; }\n'
FAIL: Final = "static int fail(int n) { if (n > 2) throw n; return n; }\n"
TRAPS: Final = {
    "0 sign behind a number that ends with E": Trap(
        "int f(int a) { int e = a+0x1E; e += 0xFE + 1; if (a+0xE > 0x2e - a) e++; return e*(0xE)-0x1e + 14; }",
        P + "f(3)));",
        ("a+0x1E", "0x1E+a"),
    ),
    "1 operators are functions": Trap(
        "int f(Num a, Num b) { int r = 0; if (a == b) r = 1; if (a != b) r += 2; if (!(a && b)) r += 4; a++; ++b; a += b; "
        "b = a; r += a.v; a = a + b; return r * 10 + (a < b); }",
        P + "f(Num{1}, Num{2}))); " + P + "f(Num{2}, Num{2})));",
        ("a += b", "a = a + b"),
        SAY + "struct Num { int v; Num &operator++() { v += 1; return *this; } Num operator++(int) { v += 10; return *this; }\n"
        '    Num &operator=(const Num &o) { printf("="); v = o.v; return *this; } Num &operator+=(Num o) { printf("+="); v -= o.v; return *this; } };\n'
        "static bool operator==(Num a, Num b) { return say(a.v) > b.v; }\nstatic bool operator!=(Num a, Num b) { return a.v == 1; }\n"
        "static bool operator<(Num a, Num b) { return say(a.v) > say(b.v); }\nstatic bool operator>(Num, Num) { return say(7); }\n"
        "static Num operator+(Num a, Num b) { return Num{a.v * 2 + b.v}; }\nstatic bool operator&&(Num a, Num b) { return say(b.v) == a.v; }\n",
    ),
    "2 functions for the end in brackets": Trap(
        "int f(int n) { [[gnu::cleanup(done)]] int a = n; int b = 4; n = a; a = 9; b += n; return n + b; }",
        P + "f(2)));",
        ("a = 9; b += n;", "b += n; done(&a); a = 9;"),
        'static void done(int *k) { printf("c%d", *k); }\n',
    ),
    "2 destructors": Trap(
        "int f(int n) { Loud a(n); Loud b(2); { Loud c(3); int k = n; k++; say(k); } if (n) { Loud d(4); } return n + b.n; }",
        P + "f(1))); " + P + "f(0)));",
        ("Loud a(n); Loud b(2);", "Loud b(2); Loud a(n);"),
        LOUD + SAY,
    ),
    "3 any call may throw": Trap(
        "int f(int n) { int done = 0; int other = 0; try { fail(n); done = 1; other = 2; fail(n + 1); done = 3; } "
        "catch (int e) { return done * 10 + other + e; } return done; }",
        P + "f(3))); " + P + "f(2))); " + P + "f(1)));",
        ("fail(n); done = 1;", "done = 1; fail(n);"),
        FAIL,
    ),
    "4 arguments by reference": Trap(
        "int f(int n) { int a = 1; int b = 2; int c = 3; change(b); c = b; keep(a); a = n; poke(); b = a; return a * 100 + b * 10 + c; }",
        P + "f(3)));",
        ("poke(); b = a;", "b = a; poke();"),
        "static int *kept;\nstatic void keep(int &n) { kept = &n; }\nstatic void poke() { *kept += 5; }\nstatic void change(int &n) { n += 4; }\n",
    ),
    "5 a variable or a function": Trap(
        "int f(int y) { int k = y; Box x(k); Box z(x); int w(k); Box q(Box()); Box u(Box(k)); k = 5; y = w; return x.v + z.v * 10 + w + k; }",
        P + "f(3)));",
        ("int k = y;", "int m = y;"),
        "struct Box { int v; Box(int v) : v(v) {} Box() : v(9) {} };\n",
    ),
    "6 template or comparison": Trap(
        "int f(int c) { const int b = 2; int a = 1; int r = pick<b>(c); int s = a < b > (c); type * t; t = &r; r = pick<2>(c) + pick<(3 > b)>(c); "
        "return *t + s + pick<b>(c); }",
        P + "f(0)));",
        ("a < b > (c)", "a < (b > (c))"),
        "typedef int type;\ntemplate <int N> int pick(int c) { return N * 100 + c; }\n",
    ),
    "6 arguments of templates": Trap(
        "int f(int c) { const int b = 2; int a = 3; int r = pick<b>(c); type * t; t = &r; r = pick<2>(c) + pick<(3 > b)>(c); array<int, b> d{ { a, 5 } }; "
        "for (int a : d.cells) r += a; return *t + pick<b>(c) + sizeof(array<type, b + 1>) / sizeof(type); }",
        P + "f(1)));",
        ("pick<b>(c) + sizeof", "pick<2 + (b > 1)>(c) + sizeof"),
        "typedef int type;\ntemplate <int N> int pick(int c) { return N * 100 + c; }\ntemplate <class T, int N> struct array { T cells[N]; };\n",
    ),
    "7 another name of an object": Trap(
        "int f(int n) { int x = n; int &r = x; r = 5; int y = x; auto &[a, b] = both; a = 7; y += both.a; b = y; int cells[2] = { 1, 2 }; "
        "for (auto &e : cells) e += y; const int &c = y; y = 3; n = c; return n + cells[0] * 10 + both.b; }",
        P + "f(3)));",
        ("r = 5; int y = x;", "int y = x; r = 5;"),
        "static struct { int a, b; } both;\n",
    ),
    "8 a bare name is a member": Trap(
        "    int f(int n) { total = 1; count_ = n; total = 2; step(); int r = total; count_ = r; return total + r; }",
        "Box box; " + P + "box.f(3)));",
        ("total = 1; count_ = n;", "count_ = n; total = 1;"),
        'static int total;\nstruct Watched { int v; Watched &operator=(int n) { printf("[%d]", total); v = n; return *this; } };\n'
        "struct Box {\n    Watched count_;\n    void step() { total += 3; }\n",
        "\n};",
    ),
    "9 overloads": Trap(
        "int f(int n) { char c = 'a'; unsigned u = 3; short s = 4; bool k = n; g(0); g('a'); g(c); g(u); g(s); g(k); g(10); g(10u); g(!n); "
        "g(n == 0); g(n && k); g(1.5); g(\"ab\"); if (g(s) && g(!k)) n++; return g(n < 3); }",
        P + "f(3)));",
        ("g(s); g(k)", "g(s + 0); g(k)"),
        "".join(f'static int g({kind}) {{ printf("{place} "); return {place}; }}\n'
                for place, kind in enumerate(("int", "char", "unsigned", "short", "bool", "const char *", "double", "long"))),
    ),
    "10 auto is a proxy": Trap(
        "int f(int n) { Bits v; auto b = v[0]; auto k = n; auto m = 2u; v.set(n); bool c = v[0]; n = b; auto e = b; v.set(0); "
        "return n + (e ? 10 : 20) + c * 100 + int(k + m); }",
        P + "f(1)));",
        ("auto b = v[0]", "bool b = v[0]"),
        "struct Bits { int at = 0; struct Ref { Bits *of; operator bool() const { return of->at; } }; Ref operator[](int) { return {this}; } "
        "void set(int n) { at = n; } };\n",
    ),
    "11 what is returned": Trap(
        "Loud f(int n) { Loud x(n); if (n > 2) { return x; } else { return Loud(n + 1); } }",
        P + "f(1).n)); " + P + "f(3).n));",
        ("{ return x; } else { return Loud(n + 1); }", "return n > 2 ? x : Loud(n + 1); return Loud(0);"),
        LOUD,
    ),
    "12 parentheses of decltype": Trap(
        "decltype(auto) f(int n) { static int x = 1; x += n; decltype((x)) r = x; r += 2; decltype(x) s = x; s += 5; return (x); }",
        "f(1) = 5; " + P + "f(0)));",
        ("return (x)", "return x"),
    ),
    "13 braces and narrowing": Trap(
        "int f(int n) { List a{3, 1}; List b(3, 1); const int k = 3; char c{k}; short s{5}; short t{s}; unsigned u{7}; int i{}; int j{n}; i += j; "
        "return a.v * 1000 + b.v * 100 + c + s + t + int(u) + i; }",
        P + "f(1)));",
        ("List b(3, 1)", "List b{3, 1}"),
        "#include <initializer_list>\nstruct List { int v; List(int a, int b) : v(a * b) {} List(std::initializer_list<int> l) : v(int(l.size())) {} };\n",
    ),
    "14 names in heads": Trap(
        "int f(int n) { int r = 0; for (int i = 0; i < n; i++) r += i; r += i; if (int i = n; i > 2) { r += i; } else { r -= i; } "
        "if (int k = r) r += k; while (int k = next()) { if (k == 2) continue; r += k; } r += i; for (int n = 0; n < 2; ++n) { int k = n; r += k; } return r + n; }",
        "left = 3; " + P + "f(3))); left = 3; " + P + "f(1)));",
        ("for (int i = 0; i < n; i++) r += i; r += i;", "int i = 0; while (i < n) { r += i; i++; } r += i;"),
        "static int i = 50;\nstatic int left;\nstatic int next() { return left ? left-- : 0; }\n",
    ),
    "15 const and moves": Trap(
        "int f(int n) { Loud a(n); Loud b(static_cast<Loud &&>(a)); const Loud c(2); Loud d(static_cast<const Loud &&>(c)); return b.n + d.n; }",
        P + "f(3)));",
        ("Loud a(n)", "const Loud a(n)"),
        LOUD,
    ),
    "16 const and deduction": Trap(
        "int f(int n) { int k = n; const int m = 2; auto g = [](auto &x) { return kind(x); }; auto h = [](auto x) { x++; return x; }; "
        "return g(k) * 10 + g(m) + h(m); }",
        P + "f(3)));",
        ("int k = n; const", "const int k = n; const"),
        "static int kind(int &) { return 1; }\nstatic int kind(const int &) { return 2; }\n",
    ),
    "17 captures": Trap(
        "int f(int n) { int k = 1; int m = 2; auto g = [k](int x) { return k + x; }; k = 2; auto h = [&k, m] { k++; return k * m; }; k = 3; "
        "auto j = [k = k + 1, n] { return k * n; }; auto all = [=]() mutable { k += 5; return k + m; }; auto refs = [&](int m) { k += m; return n; }; "
        "m = 7; k = 9; int r = g(1) + h() * 10; r += j() * 100; r += all() * 1000 + refs(2); return r + k + m; }",
        P + "f(3)));",
        ("auto g = [k](int x) { return k + x; }; k = 2;", "k = 2; auto g = [k](int x) { return k + x; };"),
    ),
    "18 static local of a template": Trap(
        "template <class T> int f(T n) { static int count = 5; static T last = 1; int a = int(n); count += a; last = n; { int count = 3; a += count; } return count + a; }",
        P + "f(1))); " + P + "f(2))); " + P + "f(2L)));",
        ("static int count", "int count"),
    ),
    "19 names of lambdas": Trap(
        "int f(int n) { int a = n; auto g = [](int x) { return x; }; struct Local { int a; }; auto h = [&] { return a; }; Local l{a}; a++; "
        "return g(1) + h() + l.a + last(typeid(g).name()) + last(typeid(h).name()) * 10; }",
        P + "f(3)));",
        ("int a = n;", "int a = n; [] {};"),
        "#include <typeinfo>\nstatic int last(const char *s) { int found = 0; for (; *s; s++) if (*s == 'E') found = s[1]; return found; }\n",
    ),
    "20 other ways to name": Trap(
        "template <int k, class T> int f(T n) { auto [a, b] = pair{k, int(n)}; T c = a; auto g = [a = b, c] { return a + c; }; b = 4; "
        "auto h = [](auto... all) { return (all + ... + 0); }; for (auto [x, y] : { pair{1, 2}, pair{3, 4} }) c += x * y; enum { a1 = 3 }; using type = T; type d = a1; "
        "return g() + h(a, b, c) + k + d; }",
        P + "(f<2, int>(3))));",
        ("[a = b, c]", "[a = a, c]"),
        "#include <initializer_list>\nstruct pair { int x, y; };\n",
    ),
    "21 initialisers of members": Trap(
        "    Box(int a, int c) : b(c), a(a + this->b), d{a} { this->a += 1; a = 7; b = b + Box::a + a; }",
        "Box box(1, 2); " + P + "box.a * 100 + box.b * 10 + box.d.n));",
        ("a(a + this->b)", "a(b + this->b)"),
        LOUD + "struct Box {\n    int b; int a; Loud d;\n",
        "\n};",
    ),
    "22 this and dependent names": Trap(
        "    int f(int n) { this->x = n; int y = this->x; int k = x; { int z = 3; this->z = z; y += this->z; } return y * 10 + k + z(); }",
        "Derived<Base> d; " + P + "d.f(3)));",
        ("int y = this->x", "int y = x"),
        "static int x = 50;\nstatic int z() { return 4; }\nstruct Base { int x; int z; };\ntemplate <class T> struct Derived : T {\n",
        "\n};",
    ),
    "23 two-phase look-up": Trap(
        "template <class T> int f(T n) { int a = g(2); int g(int k); int b = g(3); b += h(n); return a * 100 + b; }",
        P + "f(3)));",
        ("int a = g(2); int g(int k);", "int g(int k); int a = g(2);"),
        "static int g(double) { return 1; }\nstatic int h(double) { return 3; }\n",
        "\nint g(int k) { return 2; }\nstatic int h(int) { return 4; }",
    ),
    "24 words for operators": Trap(
        "int f(int a, int b) { int r = 0; if (a and not b) r = 1; if (a or b) r += 2; r ^= a bitand 3; r and_eq 7; if (not (a and b)) r += 8; "
        "if (a not_eq b) r += compl a; bool c = not a == b; while (r > 3 and not (r < 5)) r -= 3; return r * 10 + c; }",
        "for (int i = 0; i < 6; i++) " + P + "f(i / 2, i % 2)));",
        ("not a == b", "not (a == b)"),
    ),
    "25 jumps past a declaration": Trap(
        "int f(int n) { int r = 1; if (n == 1) goto out; int k; k = 4; r = k; switch (n) { case 0: int m; m = 3; r += m; break; case 2: r += 7; } out: return r + n; }",
        P + "f(0))); " + P + "f(1))); " + P + "f(2)));",
        ("int k; k = 4;", "int k = 4;"),
    ),
    "26 ends of life": Trap(
        "int f(int n) { int a = 1; Loud *p = new Loud(n); a = p->n; delete p; int b = 5; p = nullptr; Loud x(2); "
        "int c = x.n; take(x); c += x.n; drop(x); a += x.n; return a + b * 10 + c * 100; }",
        P + "f(3)));",
        ("take(x); c += x.n;", "c += x.n; take(x);"),
        LOUD + "static void take(Loud &l) { Loud other(static_cast<Loud &&>(l)); l.n = 8; }\nstatic void drop(Loud &l) { l.n = 0; }\n",
    ),
    "27 locks and volatile": Trap(
        "int f(int n) { int r = 0; int s = 1; { Guard g(lock); shared = n; r = lock; } s = lock; volatile int v = n; v = 2; s += v; v = s; plain = lock; return r * 100 + s * 10 + v; }",
        P + "f(3)));",
        ("Guard g(lock); shared = n;", "shared = n; Guard g(lock);"),
        "static int lock;\nstatic int plain;\nstruct Guard { int &at; Guard(int &at) : at(at) { at = 1; } ~Guard() { at = 0; } };\n"
        'struct Cell { void operator=(int n) { printf("[%d,%d]", lock, n); } };\nstatic Cell shared;\n',
    ),
    "28 temporaries": Trap(
        "int f(int n) { int p = Loud(n).n; say(1); const Loud &t = Loud(2); say(3); Loud &&m = Loud(4); p += Loud(5).n + Loud(6).n; return p + t.n + m.n; }",
        P + "f(3)));",
        ("int p = Loud(n).n;", "auto q = Loud(n); int p = q.n;"),
        LOUD + SAY,
    ),
    "29 variables of conditions": Trap(
        "int f(int n) { int r = 0; if (Loud x{n}) { r = x.n; } else { r = 2 - x.n; } say(r); while (Loud y{n--}) { r += y.n; if (r > 9) break; } say(n); "
        "switch (Loud z(n); z.n) { case 0: r++; break; default: r += 2; } return r; }",
        P + "f(0))); " + P + "f(2))); " + P + "f(7)));",
        ("if (Loud x{n}) { r = x.n; } else { r = 2 - x.n; }", "Loud x{n}; if (x) { r = x.n; } else { r = 2 - x.n; }"),
        LOUD + SAY,
    ),
    "30 iterators": Trap(
        "int f(int n) { Seq v{n}; int r = 0; for (It i = v.begin(); i != v.end(); i++) { r += *i; if (r < 3) v.n++; } It k = v.begin(); ++k; k++; "
        "for (auto x : v) r += x; return r * 10 + k.at; }",
        P + "f(3)));",
        ("i++)", "++i)"),
        SAY + 'struct It { int at; int operator*() const { return at; } It &operator++() { at++; return *this; } It operator++(int) { printf("post"); at++; return *this; } '
        "bool operator!=(It o) const { return at != o.at; } };\nstruct Seq { int n; It begin() { return It{0}; } It end() { return It{say(n)}; } };\n",
    ),
    "31 noexcept": Trap(
        "int f(int n) noexcept { int r = n; int k = 1; try { k = 2; fail(n); r = 3; } catch (int e) { r += e * k; } return r; }",
        P + "f(3))); " + P + "f(1)));",
        ("int r = n;", "int r = fail(n);"),
        FAIL,
    ),
    "32 constexpr": Trap(
        "constexpr int f(int n) { int r = 0; int k = 2; for (int i = 0; i < n; i++) { if (i == k) continue; r += i; } while (r > 20) r -= 3; "
        "if (r > 3) { return r; } else { return n; } }",
        "char a[f(5)]; " + P + "sizeof a)); static_assert(f(2) == 2); " + P + "f(4)));",
        ("int k = 2;", "int k; k = 2;"),
    ),
    "33 raw strings and own literals": Trap(
        'int f(int n) { const char *s = R"(a\\n"b" "c")"; const char *t = "a" "b\\x41" "B"; printf("%s%s", s, t); const char *u = R"x(\n)")x"; printf("%s", u); '
        'return 10_km + 0x10_km + "x"_id + "y" "z"_id + \'a\'_id + 1\'000 + 0b11 + n; }',
        P + "f(3)));",
        ("10_km + 0x10_km", "0xa_km + 0x10_km"),
        "static int operator\"\"_km(const char *s) { int n = 0; for (; *s; s++) n += *s; return n; }\n"
        "static int operator\"\"_id(const char *s, decltype(sizeof 0) n) { return s[0] * int(n); }\nstatic int operator\"\"_id(char c) { return c; }\n",
    ),
    "34 a macro line before a class": Trap(
        "int f(int n) { inner::node s{ &n, 2 }; *s.p = 4; int p = s.g(3); return n * 100 + p * 10 + s.k; }",
        P + "f(3)));",
        ("*s.p = 4; int p = s.g(3);", "int p = s.g(3); *s.p = 4;"),
        "#define M_BEGIN namespace inner {\n#define M_END }\nM_BEGIN\nstruct node { int* p; int k; int g(int p) { return p + *this->p; } };\nM_END\n",
    ),
    "35 macros beside the code": Trap(
        "int f(const char *s) { int n = 0; const char *other = s; SKIP(); n = int(s - other); s++; SKIP(); return n * 10 + int(s - other); }",
        P + 'f("  a b")));',
        ("int f(const char *s) { int n = 0; const char *other = s;", "int f(const char *t) { int n = 0; const char *s = 0, *other = t;"),
        "#define SKIP() while (*s == ' ') ++s\n",
    ),
    "lambdas in lambdas": Trap(
        "int f(int n) { int k = n; auto g = [&](int k) { auto h = [k, &n] { int n2 = n; n += k; return n2; }; return h() + [n] { return n; }(); }; int r = g(k); r += g(2); return r * 100 + n + k; }",
        P + "f(3)));",
        ("[n] { return n; }()", "[=] { return k; }()"),
    ),
    "results that are deduced": Trap(
        "auto f(int n) { if (n > 2) { return 1L; } else { return long(n); } }",
        P + "sizeof f(1))); " + P + "f(3)));",
        ("return 1L", "return 1"),
    ),
    "if constexpr": Trap(
        "template <class T> int f(T n) { if constexpr (sizeof(T) > 1) { return n.v; } else { return n; } }",
        P + "f('a'))); " + P + "f(Wide{3})));",
        ("if constexpr", "if"),
        "struct Wide { int v; int w; };\n",
    ),
    "tests of what is no number": Trap(
        "int f(Loud *p, const Loud &q) { int r = 0; if (q) r = 1; if (!q) r += 2; if (!p || q) r += 4; if (q && !p) r += 8; while (!q && r < 9) r += 5; "
        "bool b = q ? p != nullptr : !p; return r * 10 + b; }",
        "{ Loud a(1), b(0); " + P + "f(&a, a))); " + P + "f(nullptr, a))); " + P + "f(&a, b))); }",
        ("if (!q)", "if (q == 0)"),
        LOUD,
    ),
    "enumerations": Trap(
        "int f(Color c, int n) { int r = 0; switch (c) { case Color::red: r = 1; break; case Color::blue: r = n; break; default: r = 3; } if (c == Color::red) r += 10; "
        "else if (c == Color::blue) { r += 20; } else { r += 30; } old k = two; if (k == one) { r++; } else if (k == two) { r += 2; } return r + (c != Color::red); }",
        P + "f(Color::red, 5))); " + P + "f(Color::blue, 5)));",
        ("if (c == Color::red)", "if (!c)"),
        "enum class Color { red, blue, green };\nenum old { one, two };\n",
    ),
    "names with a place": Trap(
        "    int f(int n) { int v = n; int k = outer::v + Box::v; v += this->v; { using outer::w; v += w; } namespace o = outer; k += o::v; return v * 1000 + k; }",
        "Box box; " + P + "box.f(3)));",
        ("outer::v + Box::v", "v + Box::v"),
        "namespace outer { static int v = 2; static int w = 3; }\nstruct Box {\n    int v = 4;\n",
        "\n};",
    ),
    "members that look alike": Trap(
        "    int f(int n) const { int w = v; w += n; seen = w; auto g = [this, w] { return v + w; }; seen += g(); const int k = seen; seen = 0; return k + w + size(); }",
        "Box box; " + P + "box.f(3)));",
        ("seen += g(); const int k = seen;", "const int k = seen; seen += g();"),
        "struct Box {\n    int v = 4; mutable int seen = 0;\n    int size() const { return seen += 100; }\n",
        "\n};",
    ),
    "a method outside of its class": Trap(
        "int Box::f(int n) { int k = v; v = n; Inner in{k}; k = in.v + v; v += k; return k * 10 + count++; }",
        "Box box; " + P + "box.f(3))); " + P + "box.f(2)));",
        ("int k = v; v = n;", "v = n; int k = v;"),
        "struct Box { int v = 4; static int count; struct Inner { int v; }; int f(int n); };\nint Box::count = 7;\n",
    ),
    "a try around a body": Trap(
        "    Box(int n) try : v(fail(n)), d(n) { int k = fail(v + 1); v = k; } catch (int e) { int k = e; say(k); throw k + 1; }",
        "for (int i = 1; i < 4; i++) try { Box box(i); " + P + "box.v)); } catch (int e) { say(e); }",
        ("int k = fail(v + 1); v = k;", "int k = fail(v); v = k + 1;"),
        LOUD + SAY + FAIL + "struct Box {\n    int v; Loud d;\n",
        "\n};",
    ),
    "an operator": Trap(
        "Num operator+(const Num &a, const Num &b) { Num r = a; int k = b.v; r.v += k; if (a.v == b.v) r.v++; k = 0; return r; }",
        P + "(Num{2} + Num{2}).v)); " + P + "(Num{2} + Num{3}).v));",
        ("r.v += k; if", "r.v -= k; if"),
        "struct Num { int v; };\n",
    ),
    "commas, subscripts and calls": Trap(
        "int f(Fun g, int n) { int r = (g, n); r += g[n]; r += g(n); r += *g; r += g->v; r += -g; (*g.self()).v = 3; int *p = &n; r += *(p + 0) + p[0]; return r + *(g + 1) + (~g); }",
        P + "f(Fun{2}, 3)));",
        ("g[n]", "*(g + n)"),
        SAY + "struct Fun { int v; int operator,(int n) { return say(n); } int operator[](int n) { return say(n + 1); } int operator()(int n) { return say(n + 2); }\n"
        "    int operator*() { return 40; } Fun *operator->() { say(7); return this; } int operator-() { return 5; } Fun *self() { return this; }\n"
        "    int *operator+(int n) { static int k; k = say(n); return &k; } int operator~() { return 6; } };\n",
    ),
    "results that are the variable": Trap(
        "int f(int n) { int a = 1; int b = 2; int c = 3; int d = 4; keep(++a); a = n; poke(); int w = a; keep(b += 1); b = n; poke(); int x = b; keep(c = 2); c = n; poke(); int y = c; "
        "int &r = --d; r = 9; int z = d; return w + x * 10 + y * 100 + z * 1000; }",
        P + "f(3)));",
        ("poke(); int w = a;", "int w = a; poke();"),
        "static int *kept;\nstatic void keep(int &n) { kept = &n; }\nstatic void poke() { *kept += 5; }\n",
    ),
    "references in results and lambdas": Trap(
        "int f(int n) { int a = 1; int b = 2; int c = 3; auto at = [&]() -> int & { return a; }; at() = n; b = a; auto of = [&r = c] { r++; return r; }; of(); b += c; "
        "int *p = n ? &a : &b; *p = 7; c = a; int (&d)[2] = pairs; d[0] = n; b += pairs[0]; (n > 2 ? b : c) = 5; (a, c) += 2; return a + b * 10 + c * 100; }",
        P + "f(3))); " + P + "f(0)));",
        ("*p = 7; c = a;", "c = a; *p = 7;"),
        "static int pairs[2];\n",
    ),
    "overloads by const and by kind of value": Trap(
        "int f(int n) { int a = n; Two two; const Two &same = two; int r = two.get() + same.get() * 10; r += which(a) + which(a + 0) * 10 + which(3) * 100; r += which((a)) + which(two.n); "
        "r += which(static_cast<Two &&>(two)); unsigned u = 3; r += u > 2 ? which(-1) : which(+a); return r + which(!!a) + which(a, a) ; }",
        P + "f(3)));",
        ("which(a) + which(a + 0)", "which(a + 0) + which(a + 0)"),
        "struct Two { int n = 1; int get() { return 1; } int get() const { return 2; } };\nstatic int which(int &) { return 1; }\nstatic int which(int &&) { return 2; }\nstatic int which(Two &&) { return 3; }\n"
        "static int which(bool) { return 4; }\nstatic int which(int &, const int &) { return 5; }\nstatic int which(const int &, int &&) { return 6; }\n",
    ),
    "types of what is built in": Trap(
        "int f(short s, unsigned char c, bool k, long n, float q) { g(s); g(s + 0); g(-c); g(~c); g(c << 1); g(k); g(+k); g(!k); g(k & k); g(k == 1); g(n + s); g(q * s); g(q == s); g(s ? c : n); g(s ? s : s); "
        "g(c += 1); g(c++); g(s = 3); g((s, n)); g(sizeof s); g('a' + 0); g(1 ? k : k); g(k && k); g(s < n || k); g(c - 'a'); g(0); g(0L); g(10u); g(1.f); return s == 3 ? c : 1; }",
        P + "f(1, 2, true, 4, 1.5f)));",
        ("g(s); g(s + 0)", "g(s + 0); g(s + 0)"),
        "".join(f'static void g({kind}) {{ printf("{place} "); }}\n' for place, kind in
                enumerate(("int", "char", "unsigned", "short", "bool", "const char *", "double", "long", "float", "unsigned char", "unsigned long"))),
    ),
    "bool is a number of its own": Trap(
        "int f(bool k, int n) { bool m = n > 1; m |= n; m += 1; m = m + k; k &= m; n += 1; k = !k; k = k ^ m; char c = 'a'; c += 1; c = c + n; int r = -m + (m << 3); if (m == 1) r++; if (k != m) r += 2; return r * 10 + k + n + c; }",
        P + "f(true, 3))); " + P + "f(false, 0)));",
        ("m += 1; m = m + k;", "++m; m = m + k;"),
    ),
    "parentheses that mean something": Trap(
        "template <class... T> int f(T... all) { int n = (all + ...); Box q((Box())); Box w{(n, 2)}; auto g = [](auto... x) { return (x * ...) + sizeof...(x); }; int k = pick<(3 > 2)>((n, 4)); "
        "auto &&r = (n); r += 2; int s = sizeof(n) * (k) - (-n); void *p = (&q); Box *z = new (p) Box((7)); bool b = (n < k) > (2); return n * 100 + q.v + w.v + g(all...) + s + (z)->v + (*z).v + b; }",
        P + "f(1, 2, 3)));",
        ("Box q((Box()));", "Box q(Box());"),
        "#include <new>\nstruct Box { int v; Box(int v) : v(v) {} Box() : v(9) {} };\ntemplate <int N> int pick(int c) { return N * 100 + c; }\n",
    ),
    "attributes": Trap(
        "[[nodiscard]] int f(int n [[maybe_unused]]) { int r [[maybe_unused]] = 0; switch (n) { case 1: r = 1; [[fallthrough]]; case 2: r += 2; break; [[likely]] case 3: r = 9; break; default: r = 4; } "
        "if (n > 2) [[unlikely]] { r += 10; } else [[likely]] r += 20; [[maybe_unused]] auto g = [n]() noexcept { return n; }; return r + g(); }",
        "for (int i = 0; i < 5; i++) " + P + "f(i)));",
        ("[[fallthrough]];", "break;"),
    ),
    "objects in loops and branches": Trap(
        "int f(int n) { int r = 0; for (int i = 0; i < n; i++) { Loud a(i); if (i == 1) continue; if (i == 3) break; r += a.n; } do { Loud b(r); if (r > 3) continue; r += 2; } while (r++ < 5); while (r < 20) { Loud c(r); r += 7; } "
        "if (n > 2) { Loud d(1); return r; } else { Loud e(2); r++; } Loud g(3); if (n == 1) { r += 5; } else if (n == 2) { Loud h(4); r += g.n; } say(r); return r; }",
        "for (int i = 0; i < 5; i++) " + P + "f(i)));",
        ("else { Loud e(2); r++; } Loud g(3);", "Loud e(2); r++; Loud g(3);"),
        LOUD + SAY,
    ),
    "objects in a switch and under jumps": Trap(
        "int f(int n) { int r = 0; Loud a(9); switch (n) { case 0: { Loud b(1); r = 1; break; } case 1: r = 2; break; default: { Loud c(3); r = 3; } } again: { Loud d(r); r++; if (r < 4) goto again; } "
        "for (;;) { Loud e(r); if (r++ > 4) goto out; } out: say(r); return r; }",
        "for (int i = 0; i < 3; i++) " + P + "f(i)));",
        ("{ Loud d(r); r++; if (r < 4) goto again; }", "Loud d(r); r++; if (r < 4) goto again;"),
        LOUD + SAY,
    ),
    "results that are objects": Trap(
        "Loud f(int n, Loud a, const Loud &b) { Loud c(3); if (n == 1) return a; if (n == 2) { return b; } if (n == 3) return n > 2 ? c : a; Loud d = n == 4 ? Loud(5) : c; a = 6; if (n == 5) { return static_cast<Loud &&>(d); } else { return { n }; } }",
        "Loud b(8); for (int i = 1; i < 7; i++) " + P + "f(i, Loud(i), b).n));",
        ("if (n == 1) return a;", "if (n == 1) { Loud e = a; return e; }"),
        LOUD,
    ),
    "names of loops and references that live longer": Trap(
        "int f(int n) { int r = 0; pair all[2] = { { 1, 2 }, { 3, n } }; for (auto [a, b] : all) { r += a * b; a = 9; } for (auto &[a, b] : all) { b += a; int c = b; r += c; } const int &k = r + 1; int &&m = n + 2; r = 0; m++; const auto &[x, y] = all[1]; all[1].y = 50; "
        "int const *p = &k; r += *p; { int a = x; int b = a; r += b; } return r + k + m + y; }",
        P + "f(3)));",
        ("const int &k = r + 1; int &&m = n + 2; r = 0;", "r = 0; const int &k = r + 1; int &&m = n + 2;"),
        "struct pair { int x, y; };\n",
    ),
    "virtual calls and names of bases": Trap(
        "    int f(int n) override { int k = v; int w = this->Base::v; v = n; Base::v = k; k += Base::f(1); k += g(2) + tell(); Base &b = *this; b.v = 7; w += Base::v + v; return k * 100 + w + total++; }",
        "Derived d; " + P + "d.f(3))); Base &b = d; " + P + "b.f(4)));",
        ("b.v = 7; w += Base::v + v;", "w += Base::v + v; b.v = 7;"),
        SAY + "struct Base { int v = 1; static int total; virtual ~Base() {} virtual int f(int n) { return say(v + n); } int g(int n) { v += n; return v; } virtual int tell() { return 5; } };\nint Base::total = 7;\n"
        "struct Derived : Base {\n    int v = 2; int tell() override { return v; }\n",
        "\n};",
    ),
    "a destructor": Trap(
        "    ~Box() { int k = n; n = 0; { Loud a(k); int b = a.n; k += b; } if (k > 2) { say(k); } else if (!k) { return; } say(n); delete p; p = nullptr; }",
        "{ Box a{1}; Box b{2}; Box c{0}; }",
        ("int k = n; n = 0;", "n = 0; int k = n;"),
        LOUD + SAY + "struct Box {\n    int n; Loud *p = new Loud(7);\n    Box(int n) : n(n) {}\n",
        "\n};",
    ),
    "a conversion": Trap(
        "    explicit operator int() const && noexcept(true) { int k = n; const int m = k + 1; seen = m; k = seen; return k * 10 + m; }",
        P + "Box{3})); " + P + "Box{4}));",
        ("seen = m; k = seen;", "k = seen; seen = m;"),
        "struct Box {\n    int n; mutable int seen = 0;\n    Box(int n) : n(n) {}\n",
        "\n};",
    ),
    "a subscript and its neighbours": Trap(
        "    int &operator[](int at) { int k = at % 3; if (k < 0) { k += 3; } count++; int &r = cells[k]; r += 0; return (cells[k]); }\n",
        "Box box; box[1] = 4; box[-1] += 2; " + P + "box[1] + box[2] * 10 + box.count * 100));",
        ("int &r = cells[k]; r += 0;", "int r = cells[k]; r += 0; return cells[0];"),
        "struct Box {\n    int cells[3] = { 1, 2, 3 }; int count = 0;\n",
        "\n};",
    ),
    "strings with a kind": Trap(
        "int f(int n) { const wchar_t *w = L\"ab\" \"cd\"; const char16_t *u = u\"x\" u\"yz\"; const char *s = \"a?\" \"?/n\"; auto c = L'a'; auto d = u8'b'; auto e = '\\0'; n += sizeof(L\"abc\") + sizeof c + sizeof d + sizeof e + sizeof(\"ab\" \"c\"); "
        "printf(\"%s\" \"%d\", s, n); return n + w[3] + u[2] + (c == L'a') + (d < 'c'); }",
        P + "f(1)));",
        ("L\"ab\" \"cd\"", "L\"abce\""),
    ),
    "unions, bit-fields and casts": Trap(
        "int f(int n) { union { int i; unsigned char c[4]; } u; struct { unsigned a : 3; int b : 4; } s = { 5, 2 }; u.i = n; u.c[0] = 7; int k = u.i; s.a += 4; s.b = s.a; const int m = 3; const_cast<int &>(seen) = k; k += seen; "
        "long w = reinterpret_cast<unsigned char &>(k); Base *b = &derived; if (Derived *d = dynamic_cast<Derived *>(b)) { w += d->n; } w += static_cast<char>(300 + m) + int(2.9) + unsigned(-1) % 5; return int(w) + s.a * 10 + s.b * 100 + k; }",
        P + "f(3)));",
        ("u.c[0] = 7; int k = u.i;", "int k = u.i; u.c[0] = 7;"),
        "static int seen;\nstruct Base { virtual ~Base() {} };\nstruct Derived : Base { int n = 4; };\nstatic Derived derived;\n",
    ),
    "range for": Trap(
        "int f(int n) { int r = 0; int cells[3] = { 1, n, 3 }; for (int c : cells) { if (c == n) continue; r += c; cells[2] = 9; } for (const auto &c : Loud2{n}) { r += c; n = 7; } "
        "for (auto &&c : cells) c++; for (int i = 0; int c : { 4, 5 }) r += c * ++i; return r + cells[0] + n; }",
        P + "f(2)));",
        ("r += c; cells[2] = 9;", "cells[2] = 9; r += c + cells[2];"),
        "#include <initializer_list>\n" + SAY + 'struct Loud2 { int n; const int *begin() { say(n); return &n; } const int *end() { return &n + 1; } ~Loud2() { printf("~"); } };\n',
    ),
    "conversions": Trap(
        "Meters f(int n) { Meters m = n; Meters k(2); if (m.v > 3) m = 5; k = m; long w = k; w += n; const Meters c = w > 3 ? m : k; return n ? c : Meters(7); }",
        P + "f(3).v)); " + P + "f(0).v)); " + P + "f(9).v));",
        ("m = 5", "m = Meters(5)"),
        'struct Meters { int v; Meters(int v) : v(v) { printf("+"); } Meters &operator=(int n) { printf("="); v = n * 2; return *this; } operator long() const { printf("L"); return v; } '
        "Meters(const Meters &) = default; Meters &operator=(const Meters &) = default; };\n",
    ),
    "names of types beside names of variables": Trap(
        "int f(int node) { struct node n{ node }; struct Local { int x; } x{ n.node }; enum kind { node2 }; using k = int; k m = x.x; "
        "typedef int t; t u = m; u += node2; return u * 10 + node + sizeof(struct node); }",
        P + "f(3)));",
        ("struct node n{ node }", "node n{ node }"),
        "struct node { int node; };\n",
    ),
    "arguments that are absent": Trap(
        "int f(int n, int = 3, int m = 4) { int k = n; [[maybe_unused]] int z = 5; k += m; if ([[maybe_unused]] int q = k; k > 5) k++; m = k; return static_cast<int>(m) + int{k} + (int)n + z; }",
        P + "f(3))); " + P + "f(3, 1, 0)));",
        ("int m = 4)", "int m)"),
    ),
    "pointers to members": Trap(
        "int f(Pair o, int n) { int Pair::*p = &Pair::y; o.*p = n; o.*o.at = 4; o.x += o.*p; p = o.at; return o.x * 10 + o.*p; }",
        P + "f(Pair{1, 2, &Pair::x}, 3)));",
        ("o.*p = n; o.*o.at = 4;", "o.*o.at = 4; o.*p = n; o.x++;"),
        "struct Pair { int x, y; int Pair::*at; };\n",
    ),
    "what hides the definition of a macro": Trap(
        'int f(int n) { int value = n; int other = COUNT_UP(2) + value; total = SHOW_IT(other + 1) + FEW(3); value = total; return value + other + usage[0]; }',
        P + "f(3)));",
        ("total = SHOW_IT(other + 1)", "total = SHOW_IT(1 + other)"),
        'static const char *usage = R"(usage: "x\n src/*.cpp it\'s)";\nstatic int total;\n%:define COUNT_UP(n) (value += (n))\n'
        '#define FEW(n) (value++ + 1\'0) // don\'t count /* these\n%:define SHOW_IT(e) (printf("%s;", %:e), (e))\n/* more */\n',
    ),
    "parameters of the class around": Trap(
        "    int f(int n) { int r = n; auto g = [](int x) { return x; }; for (int i = 0; i < n; i++) r += g(i); return r; }",
        P + f"Grid<int, {', '.join('1' * 40)}>().f(3)));",
        ("int r = n;", "int r = n + 1;"),
        f"template <class item, int {', int '.join(NATURAL[:40])}> struct Grid {{\n",
        "\n};",
    ),
    "types as arguments": Trap(
        "template <class T> int f(T n) { int r = __is_class(T) + __is_base_of(Base, T) * 2 + __has_virtual_destructor(Base) * 4; if (typeid(Base) == typeid(T)) r += 8; "
        "r += typeid(n) == typeid(T); return r + (__is_same(T, Base) ? 16 : 0) + __builtin_offsetof(Pair, y); }",
        P + "f(3))); " + P + "f(Base{})));",
        ("typeid(Base) == typeid(T)", "typeid(Base) != typeid(T)"),
        "#include <typeinfo>\nstruct Base { virtual ~Base() {} };\nstruct Pair { int x, y; };\n",
    ),
    "a method of a template or two comparisons": Trap(
        "int f(Box b, int k) { int r = b.at<7>(3) + k; if (b.at<8>((k)) != 10) r++; b.at<1>((k + 1)); Box::Part<int> p; p.Box::Part<int>::put(k); return r * 10 + b.n + p.n; }",
        P + "f(Box{}, 3)));",
        ("b.at<7>(3) + k", "k + (b.at<7>(3) * 2)"),
        "struct Box { int n = 2; template <int I> int at(int j) { n++; return j + I; } template <class T> struct Part { T n = 1; void put(T m) { n += m; } }; };\n",
    ),
    "types that a value decides": Trap(
        "int f(int n) { Box a{n}; Box b{n * 2.5}; Grid c{1}; Grid d{2L}; Plain e{n}; Plain g(3); b.v += a.v; decltype(b)::Part h = e.v; "
        "const int k = decltype(e)::size + sizeof(d.v); return int(b.v * 10) + c.v + k + g.v + int(h * 10); }",
        P + "f(3)));",
        ("decltype(b)::Part h", "decltype(a)::Part h"),
        "template <class T> struct Box { using Part = T; T v; Box(T v) : v(v / 2) {} };\ntemplate <class T> struct Grid { T v; Grid(T v) : v(v) {} };\n"
        "struct Plain { static const int size = 4; double v; Plain(int n) : v(n * 2.5) {} };\n",
    ),
    "objects that are made of nothing": Trap(
        "int f(int n) { Num a = Num() + Num(); a = Num() - a; int r = (Num() * n).v + a.v; r += int() + n; r += now() - n; r = now() * r + unsigned() * 2; return r; }",
        P + "f(3)));",
        ("Num() - a", "a - Num()"),
        "struct Num { int v = 2; };\nstatic Num operator+(Num a, Num b) { return Num{a.v + b.v}; }\nstatic Num operator-(Num a, Num b) { return Num{a.v - b.v}; }\n"
        "static Num operator*(Num a, int b) { return Num{a.v * b}; }\nstatic int now() { return 7; }\n",
    ),
    "types of templates that hold pointers": Trap(
        "int f(int n) { int a = n; std::vector<int *> v(3); v[1] = &a; std::bitset<2 * 4> b; b[3] = 1; const std::vector<int *> &w = v; v[2] = v[1]; a += b[3] + b[1]; "
        "std::vector<int *> x = v; x[1] = 0; return a * 10 + (w[2] == v[1]) + (x[1] == v[1]); }",
        P + "f(3)));",
        ("v[2] = v[1]; a +=", "a +="),
        "#include <bitset>\n#include <vector>\n",
    ),
}  # fmt: skip
IN_20: Final = {
    "36 coroutines": Trap(
        "Steps f(int n, const int &r) { int a = 1; co_yield a; a = n; int b = 2; co_yield a; b += a; if (b > 3) { co_yield r; } else { co_return; } say(b); }",
        "{ int r = 4; Steps s = f(3, r); while (s.next()) " + P + "s.now())); r = 9; } { Steps s = f(1, 5); while (s.next()) " + P + "s.now())); }",
        ("co_yield a; a = n;", "a = n; co_yield a;"),
        "#include <coroutine>\n" + SAY + "struct Steps {\n    struct promise_type {\n        int value; Steps get_return_object() { return { std::coroutine_handle<promise_type>::from_promise(*this) }; }\n"
        "        std::suspend_always initial_suspend() { return {}; } std::suspend_always final_suspend() noexcept { return {}; }\n"
        "        std::suspend_always yield_value(int n) { value = n; return {}; } void return_void() {} void unhandled_exception() {}\n    };\n"
        "    std::coroutine_handle<promise_type> at; bool next() { at.resume(); return !at.done(); } int now() { return at.promise().value; } ~Steps() { at.destroy(); }\n};\n",
    ),
    "concepts": Trap(
        "template <class T> requires (sizeof(T) > 1) auto f(T n) -> decltype(n + 1) { T k = n; k += 2; auto g = [](auto x) { return x + 1; }; if (k > 3) k = g(k); return k; }",
        P + "f(3))); " + P + "f(1L)));",
        ("k > 3", "k < 3"),
    ),
}  # fmt: skip


@needs_gpp
@pytest.mark.slow
@pytest.mark.parametrize(("traps", "standard"), [(TRAPS, "gnu++17"), (IN_20, "gnu++20")], ids=["17", "20"])
def test_each_trap_shows_what_a_wrong_edit_changes(traps: dict[str, Trap], standard: str) -> None:
    for name, trap in traps.items():
        assert trap.unit.count(trap.wrong[0]) == 1, name
    right = outputs([trap.program(trap.unit) for trap in traps.values()], f"-std={standard}")
    wrong = [
        output
        for trap in traps.values()
        for output in outputs([trap.program(trap.unit.replace(*trap.wrong))], f"-std={standard}")
    ]
    for name, before, after in zip(traps, right, wrong, strict=True):
        assert before.strip(), name
        assert before != NO_CODE, name
        assert "ended" not in before, name
        assert after != before, name


def made(trap: Trap, names: Sequence[str], seeds: range) -> dict[str, str]:
    """The variants of a trap, with the transforms that made them."""
    unit = trap.unit.strip()
    return {
        text: name
        for name in names
        for text in sorted(variants(name, unit, trap.program(trap.unit).file, seeds, CPP.name))
    }


@needs_gpp
@pytest.mark.parametrize(
    ("part", "seeds"),
    [(5, range(1)), pytest.param(2, range(1, 2), marks=pytest.mark.slow)],
    ids=["some", "more"],
)
@pytest.mark.parametrize(("traps", "standard"), [(TRAPS, "gnu++17"), (IN_20, "gnu++20")], ids=["17", "20"])
def test_the_traps_keep_their_meaning(traps: dict[str, Trap], standard: str, part: int, seeds: range) -> None:
    rows = [
        (name, trap, made(trap, PRESERVING[number % part :: part], seeds))
        for number, (name, trap) in enumerate(traps.items())
    ]
    programs = [trap.program(unit) for _, trap, texts in rows for unit in (trap.unit, *texts)]
    told = iter(outputs(programs, f"-std={standard}", "-fwrapv"))
    for name, _, texts in rows:
        before = next(told)
        for text, transform in texts.items():
            assert next(told) == before, f"{name}: {transform}\n{text}"


@pytest.mark.slow
def test_most_traps_are_renamed() -> None:
    renamed = [name for name, trap in TRAPS.items() if made(trap, ["rename-parameters"], range(1))]
    assert len(renamed) > 0.7 * len(TRAPS), set(TRAPS) - set(renamed)
