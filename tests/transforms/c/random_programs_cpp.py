"""Random functions of C++ without undefined behaviour, made of those of C and of what C does not have.

What changes a variable by a reference stands in a statement of its own, so no result depends on an order of
evaluation that the language leaves open.
"""

import re
from typing import Final, NamedTuple

from tests.transforms.c.random_programs import Made, Maker

_PRELUDE: Final = """\
static int say(int n) { printf("<%d>", n & 255); return n & 7; }
struct pair { int x; int y; };
static int shared = 3;
static int *kept = &shared;
#define TWICE(n) ((n) + (n))
#define LIMIT 40
struct Loud {
    int n;
    explicit Loud(int n) : n(n & 255) { printf("+%d", this->n); }
    Loud(const Loud &other) : n(other.n) { printf("c%d", n); }
    Loud &operator=(const Loud &other) { printf("="); n = other.n; return *this; }
    ~Loud() { printf("-%d", n); }
    explicit operator bool() const { printf("?"); return n > 30; }
    bool operator!() const { printf("!"); return n > 20; }
    int get() const { return n; }
    void bump() { n = (n + 1) & 255; }
};
struct Num {
    int v;
    Num(int v = 0) : v(v & 255) {}
    Num &operator++() { v = (v + 1) & 255; return *this; }
    Num operator++(int) { Num old = *this; v = (v + 3) & 255; printf("p"); return old; }
    Num &operator+=(const Num &other) { v = (v * 2 + other.v) & 255; printf("+="); return *this; }
    Num &operator=(int n) { v = (n + 1) & 255; printf("="); return *this; }
};
static Num operator+(Num one, Num other) { return Num(one.v * 3 + other.v); }
static bool operator==(Num one, Num other) { return say(one.v) >= other.v; }
static bool operator!=(Num one, Num other) { return (one.v & 1) == (other.v & 1); }
static bool operator<(Num one, Num other) { return say(one.v) < say(other.v); }
static bool operator>(Num one, Num other) { return one.v > other.v + 9; }
static bool operator&&(Num one, bool other) { return (say(one.v) > 3) != other; }
enum class Color { red = 1, green, blue };
static Color color(int n) { return static_cast<Color>(1 + (n & 3) % 3); }
namespace outer {
static int deep = 4;
static int twist(int n) { return (n ^ 21) & 255; }
static int twist(Num n) { return n.v & 15; }
}
static int kind(int) { return 1; }
static int kind(char) { return 2; }
static int kind(bool) { return 3; }
static int kind(long) { return 4; }
static int kind(unsigned) { return 5; }
static int kind(short) { return 6; }
static int kind(double) { return 7; }
template <class T> T twice(T n) { return n + n; }
template <int N> int pick(int n) { return (n + N) & 255; }
static int fail(int n) { if ((n & 3) == 3) throw n & 255; return n & 7; }
static void change(int &n) { n = (n + 5) & 255; printf("r"); }
static void keep(int &n) { kept = &n; }
static void poke() { *kept = (*kept + 3) & 255; }
struct Seq {
    int cells[3];
    int *begin() { printf("b"); return cells; }
    int *end() { return cells + 3; }
    int &operator[](int n) { return cells[n % 3]; }
};
"""
_BOX: Final = """\
struct Box {
    int m = 6;
    mutable int seen = 2;
    static int count;
    Loud own{3};
    int size() const { seen = (seen + 1) & 255; return seen & 7; }
"""
_AFTER_BOX: Final = "};\nint Box::count = 1;\n"
_HEAD: Final = (
    "    int data[8] = { 1, 2, 3 };\n    struct pair pair{ 4, 5 };\n    struct pair *p = &pair;\n    int cells[4] = { 6, 7, 8, 9 };\n"
    "    int *q = cells;\n    kept = &shared;\n    Num num(7);\n    Loud loud(a);\n    Seq seq{ { 1, 2, 3 } };\n"
)
_CALL: Final = (
    "shared = 3; outer::deep = 4; {} for (int i = 0; i < 12; i++) try {{ int u = i * 23 & 255, w = i * i & 255; {}; }} "
    'catch (int e) {{ printf("!%d,", e); }}'
)


class _Form(NamedTuple):
    """What a function may be: its head, and what is around it and calls it."""

    head: str
    call: str
    before: str = ""
    behind: str = ""
    leaves: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()
    """Members that it may assign."""
    made: str = ""
    """What stands before the calls."""


_SHOW: Final = 'printf("%d,", {})'
_OF_BOX: Final = ("m", "this->m", "seen", "size()", "count", "Box::count", "own.get()")
_FORMS: Final = (
    _Form("int f(int a, int b)", _SHOW.format("f(u, w)")),
    _Form("static int f(int a, int b)", _SHOW.format("f(u, w)")),
    _Form("template <class T>\nint f(T a, T b)", _SHOW.format("f(u, w)"), leaves=("T(7)", "(int)sizeof(T)")),
    _Form("auto f(int a, int b) -> int", _SHOW.format("f(u, w)")),
    _Form("int f(int &a, int &&b)", _SHOW.format("f(u, int(w))")),
    _Form("int f(int a, int b)", _SHOW.format("box.f(u, w)"), _BOX, _AFTER_BOX, _OF_BOX,
          ("m", "seen", "count", "this->m", "Box::count"), "Box box;"),
    _Form("int f(int a, int b) const", _SHOW.format("box.f(u, w)"), _BOX, _AFTER_BOX, _OF_BOX, ("seen", "count"), "Box box;"),
    _Form("int Box::f(int a, int b)", _SHOW.format("box.f(u, w)"), _BOX + "    int f(int a, int b);\n" + _AFTER_BOX, "", _OF_BOX,
          ("m", "seen", "this->m"), "Box box;"),
    _Form("int operator()(int a, int b)", _SHOW.format("box(u, w)"), _BOX, _AFTER_BOX, _OF_BOX, ("m", "count"), "Box box;"),
    _Form("Box(int a, int b) : m(a), seen(this->m ^ b), own(b)", "Box box(u, w); " + _SHOW.format("box.m ^ box.seen"), _BOX, _AFTER_BOX,
          _OF_BOX, ("m", "seen", "count")),
    _Form("void f(int a, int b, int &out)", "int o = 0; f(u, w, o); " + _SHOW.format("o"), assigned=("out",)),
)  # fmt: skip
_RETURN: Final = "\x01"
"""Stands for the `return` of a lambda."""


class _CppMaker(Maker):
    fields = stores = ()

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.form = self.random.choice(_FORMS)
        self.ints = ["a", "b"]
        self.extra = ["num.v", "loud.get()", "loud.n", "seq.cells[1]", *self.form.leaves]
        self.louds = ["loud"]

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────────

    def leaf(self) -> str:
        random = self.random
        if random.random() < 0.7:
            return super().leaf()
        name = random.choice(self.known)
        return random.choice((
            random.choice(self.extra), random.choice(self.extra), f"twice({name})", f"pick<3>({name})", "outer::deep", f"outer::twist(Num({name}))",
            f"outer::twist(int({name}))", f"kind({name})", "kind('a')", f"kind(!{name})", f"kind({name} == 0)", "kind(5u)", "kind(12)",
            f"static_cast<int>({name})", f"int({name})", "true", "false", f"(num == Num({name}))", f"(Num({name}) + num).v", f"seq[{name} & 1]",
            f"[&] {{ {_RETURN} {name} & 31; }}()", "1'0", "0b101", f"(num < Num({name}))", f"bool({name})", f"fail({name})",
        ))  # fmt: skip

    def condition(self) -> str:
        random = self.random
        if random.random() < 0.75:
            return super().condition()
        name, loud = random.choice(self.known), random.choice(self.louds)
        return random.choice((
            loud, f"!{loud}", f"{loud} && {name}", f"!({loud} || !{name})", f"num == Num({name})", f"num != Num({name})", f"Num({name}) < num",
            f"num && ({name} > 3)", f"not {name} or {loud}", f"{name} and {name} not_eq 4", f"color({name}) == Color::red", "kept != nullptr",
            "!p", f"color({name}) != Color::blue", f"num > Num({name})", "q",
        ))  # fmt: skip

    # ── statements ───────────────────────────────────────────────────────────────────────────────────────

    def assignment(self) -> str:
        random = self.random
        if random.random() < 0.6:
            return super().assignment()
        name, number, loud = (random.choice(names) for names in (self.known, self.visible_ints, self.louds))
        options = [
            f"change({number});",
            f"change(++{number});",
            f"change({number} = {name});",
            f"keep(a = {name});",
            "keep(a ^= 3);",
            f"keep({random.choice(('a', 'shared', 'cells[2]'))});", "poke();", f"num += Num({name});", "num++;", "++num;",
            f"num = {name};", f"num = Num({name});", f"{loud}.bump();", f"loud = {loud};", f"outer::deep = {name} & 63;", f"Loud({name} & 15);",
            f"delete new Loud({name});", f"seq[{name} & 1] = {name};", f"{name} = fail({name});", f"[&, k = {name}] {{ {number} = k & 255; }}();",
            f"std::printf(\"x%d\", int({name}));", f"num = Num({name}) + num;", f"{name}++, {name} = {name} & 255;", f"static_cast<void>(say({name}));",
        ]  # fmt: skip
        options += [f"{target} = ({self.value()}) & 255;" for target in self.form.assigned]
        return random.choice(options)

    @property
    def visible_ints(self) -> list[str]:
        return [name for name in self.ints if name in self.known] or ["a"]

    def block(self, indent: str, depth: int, *, loop: bool = False) -> list[str]:
        extra, louds = list(self.extra), list(self.louds)
        lines = super().block(indent, depth, loop=loop)
        self.extra, self.louds = extra, louds
        return lines

    def named(self, indent: str, depth: int, name: str, *, loop: bool) -> list[str]:
        """A block in which a further number is known."""
        before = list(self.known)
        self.known.append(name)
        lines = self.block(f"{indent}    ", depth, loop=loop)
        self.known = before
        return lines

    def statement(self, indent: str, depth: int, *, loop: bool) -> list[str]:
        random = self.random
        if depth == 0 or random.random() < 0.55:
            return super().statement(indent, depth, loop=loop)
        self.fuel -= 1
        return random.choice((self.declaration, self.declaration, self.compound))(indent, depth, loop=loop)

    def declaration(self, indent: str, depth: int, *, loop: bool) -> list[str]:
        random = self.random
        name, other, value = self.name(), random.choice(self.known), f"({self.value()}) & 255"
        second = self.name()
        new, extra, texts = [], [], [""]
        match random.randrange(19):
            case 0 | 1:
                texts = [
                    random.choice(
                        (
                            f"Loud {name}({value});",
                            f"Loud {name}{{ int({value}) }};",
                            f"const Loud {name}({other});",
                        )
                    )
                ]
                extra = [f"{name}.get()", f"{name}.n"]
                self.louds.append(name) if "const" not in texts[0] else None
            case 2 | 3:
                texts, new = [f"auto &{name} = {other};"], [name]
            case 4:
                texts, new = [f"auto {name} = {value};"], [name]
            case 5:
                texts, extra = [f"const {random.choice(('auto', 'int'))} {name} = {value};"], [name]
            case 6:
                new = [name, second]
                texts = [
                    f"struct pair {name}of{{ int({value}), int({other}) }};",
                    f"auto [{name}, {second}] = {name}of;",
                ]
            case 7:
                texts, new = [f"auto &[{name}, {second}] = pair;"], [name, second]
            case 8:
                capture = random.choice(("=", other, f"{other}, {second} = {other}", f"{second} = {value}"))
                used = second if second in capture else other
                texts = [f"auto {name} = [{capture}](int k) {{ {_RETURN} (k + {used}) & 255; }};"]
                extra = [f"{name}({other})", f"{name}({random.choice(self.known)})"]
            case 9:
                target = random.choice(self.known)
                texts = [
                    f"auto {name} = [&](int {second}) {{",
                    f"    {target} = ({second} + {other}) & 255;",
                    f"    {_RETURN} {second} & 63;",
                    "};",
                    f"{other} = {name}({target}) & 255;",
                ]
            case 10:
                texts = [
                    f"auto {name} = [{other}]() mutable {{ {other} ^= 1; {_RETURN} {other} & 63; }};",
                    f"{other} = {name}();",
                ]
            case 11:
                texts, new = [f"static int {name} = 3;", f"{name} = ({name} + 1) & 255;"], [name]
            case 12:
                texts, extra = (
                    [f"Num {name}({value});", f"{name} += num;"],
                    [f"{name}.v", f"({name} + num).v"],
                )
            case 13:
                texts, new = [f"using {second} = int;", f"{second} {name} = {value};"], [name]
            case 14:
                texts, new = [f"int {name}({value}), {second}{{ 3 }};"], [name, second]
                self.ints += new
            case 15:
                first = random.choice(('"ab"', "{ 'a', 'b' }", f"{{ char({other}), 3 }}"))
                texts, extra = (
                    [f"char {name}[4] = {first};", f"const int {second}[2] = {{ 7, 100000 }};"],
                    [f"int({name}[1])", f"{second}[1]"],
                )
            case 16:
                texts, extra = (
                    [f"std::string {name};", f"std::vector<int> {second};"],
                    [f"int({name}.size())"],
                )
                texts += [f"{name} += char(97 + ({other} & 7));", f"{second}.push_back({value});"]
            case 17:
                texts, extra = (
                    [f"std::vector<Loud> {name};", f"{name}.emplace_back({value});"],
                    [f"{name}.back().n"],
                )
            case _:
                texts, new = [f"int {name} = {value};"], [name]
                self.ints += new
        self.known += new
        self.extra += extra
        return [f"{indent}{text}" for text in texts]

    def compound(self, indent: str, depth: int, *, loop: bool) -> list[str]:
        random = self.random
        name, other = self.name(), random.choice(self.known)

        def inside(*, loop: bool = loop) -> list[str]:
            return self.block(f"{indent}    ", depth - 1, loop=loop)

        match random.randrange(9):
            case 0 | 1:
                caught = self.named(indent, depth - 1, name, loop=loop) if random.random() < 0.7 else None
                opening = (
                    f"{indent}}} catch (int {name}) {{"
                    if caught is not None
                    else f"{indent}}} catch (...) {{"
                )
                thrown = random.choice(
                    (f"fail({other});", f"{other} = fail({other}) ^ 1;", f"if ({self.condition()}) throw 9;")
                )
                return [
                    f"{indent}try {{",
                    *inside(),
                    f"{indent}    {thrown}",
                    *inside(),
                    opening,
                    *(inside() if caught is None else caught),
                    f"{indent}}}",
                ]
            case 2:
                kind = random.choice(("int", "auto &", "const auto &", "auto &&"))
                opening = f"{indent}for ({kind} {name} : {random.choice(('cells', 'seq', 'data'))}) {{"
                if "const" in kind:
                    return [opening, f"{indent}    say({name});", *inside(loop=True), f"{indent}}}"]
                return [opening, *self.named(indent, depth - 1, name, loop=True), f"{indent}}}"]
            case 3:
                head = random.choice(
                    (
                        f"int {name} = ({self.value()}) & 255; {name} > 3",
                        f"int {name} = {self.leaf()} & 255",
                        f"Loud {name}({other}); {name}.n > 9",
                    )
                )
                if "Loud" in head:
                    return [
                        f"{indent}if ({head}) {{",
                        *inside(),
                        f"{indent}}} else {{",
                        *inside(),
                        f"{indent}}}",
                    ]
                return [
                    f"{indent}if ({head}) {{", *self.named(indent, depth - 1, name, loop=loop), f"{indent}}} else {{",
                    *self.named(indent, depth - 1, name, loop=loop), f"{indent}}}",
                ]  # fmt: skip
            case 4:
                return [
                    f"{indent}if constexpr (sizeof(int) {random.choice('<>')} 2) {{",
                    *inside(),
                    f"{indent}}} else {{",
                    *inside(),
                    f"{indent}}}",
                ]
            case 5:
                labels = random.sample(("red", "green", "blue"), 2)
                lines = [f"{indent}switch (color({other})) {{"]
                for label in labels:
                    lines += [f"{indent}case Color::{label}:", f"{indent}    {self.assignment()}"]
                    lines += [f"{indent}    break;"] if random.random() < 0.8 else []
                return [*lines, f"{indent}default:", f"{indent}    {self.assignment()}", f"{indent}}}"]
            case 6:
                step = random.choice(("it++", "++it")).replace("it", name)
                return [
                    f"{indent}for (auto {name} = seq.begin(); {name} != seq.end(); {step}) {{",
                    f"{indent}    *{name} = ({self.value()}) & 255;", *inside(loop=True), f"{indent}}}",
                ]  # fmt: skip
            case 7:
                return [f"{indent}if ({self.condition()}) throw {random.randrange(9)};"]
            case _:
                return [
                    f"{indent}{{",
                    f"{indent}    Loud {name}({other});",
                    *inside(),
                    f"{indent}    {name}.bump();",
                    f"{indent}}}",
                ]

    def made(self) -> Made:
        """The function with the file around it."""
        lines: list[str] = []
        while self.fuel > 0:
            lines += self.statement("    ", 3, loop=False)
        result = " ^ ".join([*self.known, "data[3]", "pair.x", "cells[1]", "num.v"])
        body = f"{_HEAD}{chr(10).join(lines)}\n    return ({result}) & 255;\n"
        if not self.form.head.startswith(("int", "static", "auto", "template")):
            target = self.form.assigned[0]
            body = re.sub(r"return ([^;]*);", rf"{{ {target} = (\1) & 255; return; }}", body)
        unit = f"{self.form.head}\n{{\n{body.replace(_RETURN, 'return')}}}\n"
        return Made(
            _PRELUDE, self.form.before, unit, self.form.behind, _CALL.format(self.form.made, self.form.call)
        )


def made(seed: int) -> Made:
    """A function of two numbers with the file around it."""
    return _CppMaker(seed).made()
