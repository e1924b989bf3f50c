"""What a name of C++ is, where several declarations have it: no edit takes an operator of a class for a built-in one.

Every row is a file in which a function names something that is no plain number, while something else of the
same name is one. Transforms rewrite the file, and what it prints must stay.
"""

import json
from pathlib import Path
from typing import Final

import pytest

from codeaudit.audit.projects.files import ProjectPlan, perturb_files
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.macros import Surroundings, macros_of
from tests.support.cpp_running import NO_CODE, Program, needs_gpp, outputs

TRANSFORMS: Final = (
    "contract-increments", "disjoint/reorder", "expand-increments", "flip-comparisons", "identity-arithmetic", "negate-comparisons",
    "not-to-zero", "reorder",
)  # fmt: skip
LOUD: Final = """#include <cstdio>
#define SHOW(x) std::printf("%d ", int(x))
struct Loud {
    int v;
    Loud(int v = 0) : v(v) {}
    Loud &operator=(int x) { SHOW(x); v = x; return *this; }
    Loud &operator+=(int x) { v += 10 * x; return *this; }
    bool operator!() const { SHOW(-1); return v > 2; }
    bool operator<(int x) const { SHOW(-2); return v > x; }
    bool operator>=(int x) const { SHOW(-3); return v > x; }
};
int n = 0;
"""
DO: Final = "{0} = 3; n = {0}.v; if (!{0}) n += 2; if ({0} < 2) n += 4; {0} += 1; return n + {0}.v;"
LOW: Final = "struct Low {{ int {0}; }};\n"
WORD: Final = "w = 300; b = 7; w = w + 1; b = 9; n = w; b = 1; return w + n;"
UNION: Final = "{{ int w; unsigned char b; int m() {{ " + WORD + " }} }};\n"


def _do(name: str) -> str:
    return DO.format(name)


RIGHT: Final = "struct Plain { int p, q; int m() { p = 3; q = 4; if (!p) q += 2; if (p < 2) q += 4; p += 1; q++; return p + q; } };\n"
"""What is to be edited."""
ROWS: Final = {
    "plain members": (RIGHT, "SHOW(Plain().m());"),
    "a class of the same name inherits": (
        "struct T { int a; };\nstruct Base { Loud a; };\nnamespace inner { struct T : Base {};\n"
        f"int f(T *t) {{ {_do('t->a')} }} }}\n",
        "inner::T t; SHOW(inner::f(&t));",
    ),
    "a class of the same name in a class": (
        "struct T { int a; };\nstruct Base { Loud a; };\nstruct Outer { struct T; };\nstruct Outer::T : Base {};\n"
        f"int f(Outer::T *t) {{ {_do('t->a')} }}\n",
        "Outer::T t; SHOW(f(&t));",
    ),
    "a namespace has the name of a class": (
        "struct Outer { struct T { int a; }; };\nnamespace T { Loud a; int f(); }\n"
        f"int T::f() {{ {_do('a')} }}\n",
        "SHOW(T::f());",
    ),
    "a typedef has the name of a class": (
        "struct Base { Loud a; };\nstruct Other : Base {};\nstruct T { int a; };\nnamespace inner {\n"
        f"typedef struct Other T;\nint f(T *t) {{ {_do('t->a')} }} }}\n",
        "inner::T t; SHOW(inner::f(&t));",
    ),
    "an object that looks like a function": (
        LOW.format("a") + f"int seed = 2;\nLoud a(seed);\nint f() {{ {_do('a')} }}\n",
        "SHOW(f());",
    ),
    "an object that looks like a function of a pointer": (
        LOW.format("a") + f"int seed = 2, two = 2;\nLoud a(seed * two);\nint f() {{ {_do('a')} }}\n",
        "SHOW(f());",
    ),
    "an object in parentheses": (
        LOW.format("a") + f"Loud (a);\nint f() {{ {_do('a')} }}\n",
        "SHOW(f());",
    ),
    "a member in parentheses": (
        LOW.format("a") + f"struct T {{ Loud (a); int m() {{ {_do('a')} }} }};\n",
        "SHOW(T().m());",
    ),
    "an arrow of a class": (
        "struct Odd { Loud a; };\nstruct Ptr { Odd *p; int a; Odd *operator->() { return p; } };\n"
        f"int f(Ptr t) {{ {_do('t->a')} }}\n",
        "Odd odd; SHOW(f(Ptr{&odd, 1}));",
    ),
    "an arrow of a class in a class": (
        "struct Odd { Loud a; };\nstruct Ptr { Odd *p; int a; Odd *operator->() { return p; } };\n"
        f"struct Has {{ Ptr ptr; }};\nint f(Has &t) {{ {_do('t.ptr->a')} }}\n",
        "Odd odd; Has has{{&odd, 1}}; SHOW(f(has));",
    ),
    "truth and number": (
        "struct Flag { bool a; };\nstruct Low { int a; };\n"
        "struct T : Flag { int m() { a = n > 1; a += 1; n += a; a += 1; return n + a; } };\n",
        "SHOW(T().m());",
    ),
    "a parameter of a template has the name of a member": (
        "enum class E { one };\nbool operator!(E) { return true; }\nstruct T { int a; template <E a> int m(); };\n"
        "template <E a> int T::m() { if (!a) n += 2; return n; }\n",
        "SHOW(T().m<E::one>());",
    ),
    "a class before the name of a function is of its result": (
        "struct T { using Number = int; int a; };\nLoud a;\nint two(int) { return 2; }\n"
        f"T::Number (*f())(int) {{ {_do('a').rpartition('return')[0]} return two; }}\n",
        "f(); SHOW(n);",
    ),
    "a class has the name of a word of the tables": (
        "struct object { int a; };\nstruct number { int a; };\nstruct Odd { Loud a; } odd;\nstruct Odd *t = &odd;\n"
        f"int f() {{ {_do('t->a')} }}\n",
        "SHOW(f());",
    ),
    "a class of the function": (
        f"struct T {{ int a; }};\nint f() {{ struct T {{ Loud a; }} t, *p = &t; {_do('p->a')} }}\n",
        "SHOW(f());",
    ),
    "a type of the function": (
        "struct Odd { Loud a; };\nstruct T { int a; };\n"
        f"int f() {{ using T = Odd; T t, *p = &t; {_do('p->a')} }}\n",
        "SHOW(f());",
    ),
    "a number of the function": (
        f"typedef int T;\nint f() {{ typedef Loud T; T t(1); {_do('t')} }}\n",
        "SHOW(f());",
    ),
    "a macro has the name of a type": (
        "struct Odd { Loud a; };\nstruct T { int a; };\n#define T Odd\n" + f"int f(T *t) {{ {_do('t->a')} }}\n",
        "Odd odd; SHOW(f(&odd));",
    ),
    "inherits from a class of a function": (
        LOW.format("a") + "auto make() { struct Hidden { Loud a; }; return Hidden(); }\n"
        f"struct T : decltype(make()) {{ int m() {{ {_do('a')} }} }};\n",
        "SHOW(T().m());",
    ),
    "inherits from what is not known yet": (
        LOW.format("a") + f"template <class B> struct T : B {{ using B::a; int m() {{ {_do('a')} }} }};\n",
        "struct Mine { Loud a; }; SHOW(T<Mine>().m());",
    ),
    "a reference in parentheses": (
        "struct Low { int b; };\nint w;\nint (&b) = w;\nint f() { " + WORD + " }\n",
        "SHOW(f());",
    ),
    "a union with an attribute": (
        "union __attribute__((packed)) U" + UNION.format() + "union alignas(8) V" + UNION.format(),
        "U u; SHOW(u.m()); V v; SHOW(v.m());",
    ),
    "structures in a union of the object": (
        "struct First { int first; };\nstruct Second { int second; };\nstruct T { union { First p; Second q; };\n"
        "int m() { p.first = 1; n = p.first; q.second = 2; n += q.second; p.first = 3; q.second = 4; return n + q.second; } };\n",
        "SHOW(T().m());",
    ),
    "a union by a macro with an argument": (
        "#define MADE(kind, name) kind name\nMADE(union, U) " + UNION.format(),
        "U u; SHOW(u.m());",
    ),
    "another name of a namespace": (
        "struct Outer { struct T { int a; }; };\nnamespace real { Loud a; int f(); }\nnamespace T = real;\n"
        f"int T::f() {{ {_do('a')} }}\n",
        "SHOW(T::f());",
    ),
    "another name of a class has members": (
        "struct T { int a; };\nnamespace x { struct Odd { Loud a; int m(); }; }\nnamespace y { using T = x::Odd; }\n"
        f"int y::T::m() {{ {_do('a')} }}\n",
        "SHOW(x::Odd().m());",
    ),
    "a typedef of a class has members": (
        "struct T { int a; };\nnamespace x { struct Odd { Loud a; int m(); }; }\nnamespace y { typedef x::Odd T; }\n"
        f"int y::T::m() {{ {_do('a')} }}\n",
        "SHOW(x::Odd().m());",
    ),
    "a macro has the name of the class of a function": (
        "struct T { int a; };\nstruct Odd { Loud a; int m(); };\n#define T Odd\n"
        f"int T::m() {{ {_do('a')} }}\n",
        "SHOW(Odd().m());",
    ),
    "an enumeration that a function uses": (
        "namespace x { enum E { a, b }; bool operator!(E e) { return e == b; }\n"
        "bool operator<(E e, int y) { return int(e) > y; } bool operator>=(E e, int y) { return int(e) > y; } }\n"
        "struct T { int a; int m(); };\n"
        "int T::m() { using enum x::E; if (!a) n += 2; if (a < 2) n += 4; return n; }\n",
        "SHOW(T().m());",
    ),
    "a namespace with an attribute": (
        "struct Low { int a; };\nnamespace x __attribute__((visibility(\"default\"))) { Loud a; }\nusing namespace x;\n"
        f"int f() {{ {_do('a')} }}\n",
        "SHOW(f());",
    ),
    "two names of one variable": (
        "extern \"C\" int w; int w; [[gnu::alias(\"w\")]] extern int b;\nint f() { " + WORD + " }\n",
        "SHOW(f());",
    ),
    "an assignment to what an increment gives": (
        "struct T { int a; int m() { ++a = 7; int b = 0; ++b += 2; return a + b; } };\n",
        "SHOW(T().m());",
    ),
    "a local in parentheses": (
        "struct T { int a; int m(); int k(); };\n"
        f"int T::m() {{ Loud (a); {_do('a')} }}\nint T::k() {{ Loud (a) = 3, b; b = 1; {_do('a')} }}\n",
        "SHOW(T().m()); SHOW(T().k());",
    ),
    "a local in parentheses by a macro": (
        "#define LOUD_OR Loud\n#define MADE(x) Loud (x)\nstruct T { int a; int m(); int k(); };\n"
        f"int T::m() {{ LOUD_OR (a); {_do('a')} }}\nint T::k() {{ MADE(a); {_do('a')} }}\n",
        "SHOW(T().m()); SHOW(T().k());",
    ),
    "a local in parentheses in a head": (
        "struct T { int a; int m() { for (Loud (a) = 2; n < 50; n += 20) { a += 1; if (a < 2) n += 5; } return n; } };\n",
        "SHOW(T().m());",
    ),
    "a template as a parameter of a template": (
        "typedef int T;\ntemplate <class> struct Any : Loud { Any(int x) : Loud(x) {} using Loud::operator=; };\n"
        "template <class X> Any(X) -> Any<X>;\n"
        f"template <template <class> class T> int f() {{ T a(2); {_do('a')} }}\n",
        "SHOW(f<Any>());",
    ),
    "a local in parentheses behind another one": (
        "struct T { int a; int m(); int k(); };\n"
        f"int T::m() {{ Loud (b), (a); {_do('a')} }}\nint T::k() {{ Loud (*b), a; {_do('a')} }}\n",
        "SHOW(T().m()); SHOW(T().k());",
    ),
    "the type of something before parentheses": (
        LOW.format("a") + "struct T { int a; int m(); int k(); };\nnamespace x { static __typeof__(Loud) (a);\n"
        f"int f() {{ {_do('a')} }} }}\nint T::m() {{ __typeof__(Loud) (a); {_do('a')} }}\n"
        f"int T::k() {{ static __typeof__(Loud) (a); {_do('a')} }}\n",
        "SHOW(x::f()); SHOW(T().m()); SHOW(T().k());",
    ),
    "an object of a class in the class": (
        LOW.format("a") + "struct T : Loud { using Loud::operator=; static T (a); int m(); };\nT T::a;\n"
        f"int T::m() {{ {_do('a')} }}\n",
        "SHOW(T().m());",
    ),
    **{
        f"a number of the library: {made}": (
            f"namespace x {{ {made}\n{before} int f({name} a) {{ {_do('a')} }} }}\n", f"SHOW(x::f{of}(Loud(2)));",
        )
        for made, name, before, of in (
            ("struct size_t : Loud { size_t(Loud l) : Loud(l) {} using Loud::operator=; };", "size_t", "", ""),
            ("typedef Loud uint8_t;", "uint8_t", "", ""),
            ("using intptr_t = Loud;", "intptr_t", "", ""),
            ("template <class T> using Same = T; using ssize_t = Same<Loud>;", "ssize_t", "", ""),
            ("template <class T> using int8_t = T;", "int8_t<Loud>", "", ""),
            ("", "uint32_t", "template <class uint32_t>", "<Loud>"),
        )
    },
}  # fmt: skip


LATE: Final = """int g = 1;
int begin() { return g; }
thread_local int late = begin();
int f() { g = 5; late = 6; return g + late; }
"""


def _made(folder: Path, files: dict[str, str], transform: str, seed: int) -> dict[str, str]:
    """The texts that a transform makes of files."""
    for name, text in files.items():
        (folder / name).write_text(text)
    plan = ProjectPlan(transforms=(transform,), seed=seed)
    return {file.path: file.after.decode() for file in perturb_files(folder, list(files), plan, workers=1)}


@needs_gpp
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 12), marks=pytest.mark.slow)])
def test_an_operator_of_a_class_is_not_taken_for_a_built_in_one(tmp_path: Path, seeds: range) -> None:
    files = {f"{place}.cpp": LOUD + row[0] for place, row in enumerate(ROWS.values())}
    variants = {name: {text: "itself"} for name, text in files.items()}
    for transform in TRANSFORMS:
        for seed in seeds:
            for name, text in _made(tmp_path, files, transform, seed).items():
                variants[name].setdefault(text, transform)
    rows = list(zip(ROWS, ROWS.values(), variants.values(), strict=True))
    programs = [Program(text, calls) for _, (_, calls), texts in rows for text in texts]
    printed = iter(outputs(programs, "-std=c++20"))
    wrong: dict[str, list[str]] = {}
    for name, _, texts in rows:
        before, *after = [(next(printed), transform) for transform in texts.values()]
        assert before[0] != NO_CODE, name
        wrong[name] = [transform for printed, transform in after if printed != before[0]]
    assert {name: some for name, some in wrong.items() if some} == {}
    assert set(TRANSFORMS) - {"reorder"} <= set(rows[0][2].values())


@needs_gpp
def test_a_variable_of_a_thread_keeps_its_place(tmp_path: Path) -> None:
    assert all(_made(tmp_path, {"a.cpp": LATE}, "reorder", seed)["a.cpp"] == LATE for seed in range(3))


@needs_gpp
@pytest.mark.parametrize("begun", ["Loud", "Loud *", "union", "Loud\n#pragma GCC poison other"])
def test_nothing_is_known_where_a_header_begins_a_declaration(begun: str, tmp_path: Path) -> None:
    (tmp_path / "begun.inc").write_text(f"{begun}\n")
    body = "a;" if begun != "union" else "{ int a; unsigned char b; };"
    text = f'{LOUD}struct Low {{ int a, b; }};\nstruct T {{\n#include "begun.inc"\n{body} int m() {{ {_do("a")} }} }};\n'
    around = Surroundings(text, str(tmp_path / "a.cpp"), "known", CPP)
    assert macros_of("int m() { return 1; }", around).declared.all == frozenset()


@needs_gpp
@pytest.mark.parametrize("count", range(1, 6))
def test_the_last_command_of_a_file_is_looked_at(count: int, tmp_path: Path) -> None:
    text = f"{LOUD}#ifdef LAST\ntypedef Loud T;\n#else\ntypedef int T;\n#endif\nT a;\nint f() {{ return a < 2; }}\n"
    rows = [
        {"directory": str(tmp_path), "file": "a.cpp", "arguments": ["g++", f"-DX{number}", "a.cpp"]}
        for number in range(count)
    ]
    rows[-1]["arguments"] = ["g++", "-DLAST", "a.cpp"]
    (tmp_path / "compile_commands.json").write_text(json.dumps(rows))
    assert _made(tmp_path, {"a.cpp": text}, "flip-comparisons", 0)["a.cpp"].endswith("return a < 2; }\n")
