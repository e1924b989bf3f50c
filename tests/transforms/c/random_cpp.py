"""Random functions of C++ whose objects, operators, conversions, references and exceptions tell of themselves.

The functions of C (`random_programs`) with what only C++ has: objects that print when they are made, copied,
used by an operator and destroyed; calls that change an argument and keep its address; lambdas, references,
loops over items, handlers, declarations in conditions.
"""

from typing import Final

from tests.transforms.c.random_programs import Maker

CALLS: Final = (
    'shared = 3; for (int i = 0; i < 12; i++) { try { printf("%d,", f(i * 23 & 255, i * i & 255)); } '
    'catch (int e) { printf("thrown %d,", e); } }'
)
_OPERATORS: Final = ("+", "-", "*", "&", "|", "^", "==", "!=", "<", ">", "<=", ">=", "&&", "||")
_OPERATOR: Final = """
static int operator{0}(const Loud& x, int y) {{ printf("({0}"); return (x.v {0} y) & 255; }}
static int operator{0}(int x, const Loud& y) {{ printf("{0})"); return (x {0} y.v) & 255; }}
static int operator{0}(const Loud& x, const Loud& y) {{ printf("({0})"); return (x.v {0} y.v) & 255; }}
"""
PRELUDE: Final = """
static int say(int n) { printf("<%d>", n & 255); return n & 7; }
struct duo { int x; int y; };
static int shared = 3;
static int *kept = &shared;
struct Reset { ~Reset() { kept = &shared; } };
struct Loud {
    int v;
    Loud(int n) : v(n & 255) { printf("{%d ", v); }
    Loud(const Loud& o) : v(o.v) { printf("{c%d ", v); }
    ~Loud() { printf("%d} ", v); shared = (shared + v) & 31; }
    Loud& operator=(const Loud& o) { printf("="); v = o.v; return *this; }
    Loud& operator+=(int n) { printf("+="); v = (v + n + 1) & 255; return *this; }
    Loud& operator++() { printf("pre"); v = (v + 1) & 255; return *this; }
    Loud& operator++(int) { printf("post"); v = (v + 2) & 255; return *this; }
    int operator!() const { printf("!"); return v < 90; }
    int operator[](int n) const { printf("[]"); return (v + n) & 7; }
    int operator*() const { printf("*"); return v & 15; }
    const Loud* operator->() const { printf("->"); return this; }
    operator int() const { printf("int"); return v; }
};
static int keep(int& n) { kept = &n; n = (n + 1) & 255; return n & 63; }
static int poke(int n) { *kept = (*kept + n + 1) & 255; return n & 7; }
static int fail(int n) { if ((n & 7) == 5) throw n & 31; return n & 15; }
#define TWICE(n) ((n) + (n))
#define LIMIT 40
""" + "".join(_OPERATOR.format(one) for one in _OPERATORS)


class CppMaker(Maker):
    """Makes one function."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.lasting = ["a", "b"]
        self.objects: list[str] = []
        self.lambdas: list[str] = []
        self.level = 0

    def leaf(self) -> str:
        """An expression whose value is an `int`."""
        random = self.random
        if random.random() < 0.6:
            return super().leaf().replace("3u", "3")
        name = random.choice(self.known)
        told = [f"keep({random.choice(self.lasting)})", f"poke({name})", f"fail({name})", f"int({name})",
                f"static_cast<int>({name})", f"*Loud({name})"]  # fmt: skip
        if self.objects:
            one = random.choice(self.objects)
            told += [f"({one} {random.choice(_OPERATORS)} {name})", f"({name} {random.choice(_OPERATORS)} {one})",
                     f"!{one}", f"{one}->v", f"int({one})", f"{one}[{name} & 7]", f"*{one}"]  # fmt: skip
        if self.lambdas:
            told += [f"{random.choice(self.lambdas)}({name})"] * 2
        return random.choice(told)

    def condition(self) -> str:
        """A condition, which may be an object."""
        if self.objects and self.random.random() < 0.25:
            one, name = self.random.choice(self.objects), self.random.choice(self.known)
            return self.random.choice(
                (one, f"!{one}", f"{one} && {name}", f"!({one} || {name})", f"{name} == {one}")
            )
        return super().condition()

    def assignment(self) -> str:
        """A statement."""
        random = self.random
        if self.objects and random.random() < 0.25:
            one, name = random.choice(self.objects), random.choice(self.known)
            return random.choice((f"{one} = {name};", f"{one} += {name};", f"++{one};", f"{one}++;", f"{one} = Loud({name});",
                                  f"{one} = {random.choice(self.objects)};"))  # fmt: skip
        if random.random() < 0.2:
            return random.choice((f"keep({random.choice(self.lasting)});", f"poke({random.choice(self.known)});",
                                  f"Loud({random.choice(self.known)} + 1);", f"fail({random.choice(self.known)});"))  # fmt: skip
        return super().assignment()

    def block(self, indent: str, depth: int, *, loop: bool = False) -> list[str]:
        """The statements of a block, whose names end with it."""
        before = [*self.objects], [*self.lambdas]
        self.level += 1
        lines = super().block(indent, depth, loop=loop)
        self.level -= 1
        self.objects, self.lambdas = before
        return lines

    def statement(self, indent: str, depth: int, *, loop: bool) -> list[str]:
        """One of C, or of C++."""
        random = self.random
        if self.fuel < 0 or depth == 0 or random.random() < 0.5:
            return super().statement(indent, depth, loop=loop)
        self.fuel -= 1
        name, old = self.name(), random.choice(self.known)
        match random.randrange(8):
            case 0:
                self.objects.append(name)
                return [
                    f"{indent}Loud {name}{random.choice((f'({old})', f' = {old}', f'{{{old}}}', f'({old} + 1)'))};"
                ]
            case 1:
                found = [f"{indent}int& {name} = {random.choice(self.lasting)};"]
                self.known.append(name)
                return found
            case 2:
                found = [f"{indent}int {name}{random.choice((f'({old})', f' = {old}'))};"]
                self.known.append(name)
                if self.level == 0:
                    self.lasting.append(name)
                return found
            case 3:
                kept, other = random.choice(self.lasting), random.choice(self.lasting)
                self.lambdas.append(name)
                return [
                    f"{indent}auto {name} = "
                    + random.choice((
                        f"[&](int n) {{ {kept} = ({kept} + n) & 255; return {other} & 63; }};",
                        f"[=](int n) {{ return ({kept} + n) & 63; }};",
                        f"[&{kept}, k = {kept} + 1](int n) {{ if (n < k) return k & 63; {kept} = n & 255; return 3; }};",
                    ))
                ]  # fmt: skip
            case 4:
                lines = self.block(f"{indent}    ", depth - 1, loop=loop)
                return [f"{indent}try {{", *lines, f"{indent}    fail({old});", f"{indent}}} catch (int {name}) {{",
                        f"{indent}    say({name});", f"{indent}    {self.assignment()}", f"{indent}}}"]  # fmt: skip
            case 5:
                kind = random.choice(("int", "auto&", "const int&"))
                inner = f"{indent}    say({name});"
                return [f"{indent}for ({kind} {name} : data) {{", inner,
                        *self.block(f"{indent}    ", depth - 1, loop=True), f"{indent}}}"]  # fmt: skip
            case 6:
                kind = random.choice(("int", "Loud"))
                return [f"{indent}if ({kind} {name} = {old}) {{", *self.block(f"{indent}    ", depth - 1, loop=loop),
                        f"{indent}}}"]  # fmt: skip
            case _:
                other = self.name()
                found = [f"{indent}auto [{name}, {other}] = duo{{{old}, 3}};"]
                self.known += [name, other]
                return found

    def program(self) -> str:
        """The function."""
        text = super().program().replace(".y = 5", "5").replace("struct pair ", "duo ")
        return text.replace("{\n", "{\n    Reset reset;\n", 1)


def program(seed: int) -> str:
    """A function `f` of two numbers."""
    return CppMaker(seed).program()
