"""Random functions of C without undefined behaviour: every variable holds 0 to 255, every index is masked."""

from random import Random
from typing import Final, NamedTuple

_UNARY: Final = ("!{}", "-{}", "~{}", "({})", "+{}")
_BINARY: Final = ("{} + {}", "{} - {}", "{} & {}", "{} | {}", "{} ^ {}", "{} == {}", "{} != {}", "{} < {}", "{} >= {}", "{} > {}",
                  "{} <= {}", "{} && {}", "{} || {}")  # fmt: skip
_COMMENTS: Final = ("/* a note */", "// one", "/* two\n       lines */")
CALLS: Final = 'shared = 3; world = (struct nest){ 1, { 2, 3 }, { { 4 } }, &world }; for (int i = 0; i < 12; i++) printf("%d,", f(i * 23 & 255, i * i & 255));'
PRELUDE: Final = (
    'static int say(int n) { printf("<%d>", n & 255); return n & 7; }\n'
    "struct pair { int x; int y; };\nstatic int shared = 3;\n"
    "struct nest { int low; struct pair in; struct pair many[4]; struct nest *next; unsigned char flag : 8; };\n"
    "static struct nest world;\n#define TWICE(n) ((n) + (n))\n#define LIMIT 40\n"
)


class Made(NamedTuple):
    """A function with the file around it, and the statements that call it."""

    prelude: str
    """Begins the file. Several versions of the file may share it."""
    before: str
    unit: str
    behind: str
    calls: str

    def file(self, unit: str) -> str:
        """The file with another text of the function."""
        return f"{self.prelude}{self.before}{unit}{self.behind}"


class Maker:
    """Draws a function."""

    fields: tuple[str, ...] = (
        "w->low", "w->in.y", "w->next->in.x", "w->many[2].x", "world.flag", "(w->low ? w->flag : 2)",
    )  # fmt: skip
    """Values in structures."""
    stores: tuple[str, ...] = (
        "w->low = {};", "w->in.x = {} & 15;", "world.in.y = {};", "pair = w->in;", "w->many[{} & 3].x = 7;",
        "w->flag = {};", "w->next = &world;", "w->next->low = {} & 7;", "w->in = w->many[1];", "pair.y = {};",
    )  # fmt: skip
    """Stores to structures and their parts."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.known: list[str] = ["a", "b"]
        self.loops = 0
        self.fuel = 26
        self.names = 0
        self.lines: list[str] = []

    def name(self) -> str:
        self.names += 1
        return f"{self.random.choice(('n', 'count', 'left', 'sum', 'k'))}{self.names}"

    def leaf(self) -> str:
        choice = self.random.random()
        if choice < 0.55:
            return self.random.choice(self.known)
        if choice < 0.75:
            return self.random.choice(
                (str(self.random.randrange(100)), "0x1F", "017", "'a'", "LIMIT", "3u", "0")
            )
        if self.fields and choice < 0.85:
            return self.random.choice(self.fields)
        return self.random.choice(
            (f"data[{self.random.choice(self.known)} & 7]", "p->x", "(*p).y", "*(q + 1)", "q[2]", "shared", "(int)sizeof(data)",
             f"say({self.random.choice(self.known)})", f"TWICE({self.random.choice(self.known)})")
        )  # fmt: skip

    def small(self) -> str:
        return self.random.choice(
            (self.leaf(), f"{self.leaf()} * {self.random.choice(self.known)}", self.leaf())
        )

    def value(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.leaf()
        if self.random.random() < 0.12:
            return self.random.choice(_UNARY).format(self.leaf())
        if self.random.random() < 0.1:
            return f"({self.condition()} ? {self.leaf()} : {self.leaf()})"
        if self.random.random() < 0.15:
            return f"({self.leaf()} & 255) {self.random.choice(('/ 3', '% 5', '>> 2', '<< 3', '* 3'))}"
        form = self.random.choice(_BINARY)
        return form.format(*(f"({self.value(depth - 1)})" for _ in range(2)))

    def condition(self) -> str:
        return self.random.choice((
            f"{self.leaf()} {self.random.choice(('<', '>', '==', '!=', '<=', '>='))} {self.leaf()}",
            f"!{self.random.choice(self.known)}", self.random.choice(self.known), f"{self.random.choice(self.known)} != 0",
            f"{self.leaf()} > 3 && {self.leaf()} < 90", f"!({self.leaf()} || {self.random.choice(self.known)} == 0)",
        ))  # fmt: skip

    def block(self, indent: str, depth: int, *, loop: bool = False) -> list[str]:
        before = list(self.known)
        lines: list[str] = []
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement(indent, depth, loop=loop)
        self.known = before
        return lines

    def body(self, indent: str, depth: int, *, loop: bool = False) -> tuple[str, list[str]]:
        if self.random.random() < 0.3:
            return "", [f"{indent}    {self.assignment()}"]
        return " {", [*self.block(f"{indent}    ", depth, loop=loop), f"{indent}}}"]

    def assignment(self) -> str:
        name = self.random.choice([name for name in self.known if name != "i"])
        if self.stores and self.random.random() < 0.4:
            return self.random.choice(self.stores).format(name)
        return self.random.choice((
            f"{name} = ({self.value()}) & 255;", f"{name} = {self.random.choice(self.known)};", f"{name} ^= {self.leaf()} & 63;",
            f"{name} = {name} ^ {self.random.choice(self.known)};", f"{name} |= {self.random.choice(self.known)};",
            f"data[{name} & 7] = ({self.value()}) & 255;", f"p->x = ({self.value()}) & 255;", f"*(q + 1) = {name};",
            f"shared = {name} & 31;", f"say({name});", 'printf("s%d" "t\\n", a);',
        ))  # fmt: skip

    def statement(self, indent: str, depth: int, *, loop: bool) -> list[str]:
        self.fuel -= 1
        random = self.random
        choice = random.random()
        if self.fuel < 0 or depth == 0 or choice < 0.3:
            note = f"    {random.choice(_COMMENTS)}" if random.random() < 0.08 else ""
            return [f"{indent}{self.assignment()}{note}"]
        if choice < 0.5:
            name = self.name()
            kind = random.choice(("int", "int", "unsigned", "unsigned char", "long", "short", "int const"))
            value = f"({self.value()}) & 255"
            if random.random() < 0.2:
                other = self.name()
                text = f"{indent}int {name} = {value}, {other} = 2;"
                self.known += [name, other]
            elif random.random() < 0.2:
                text = f"{indent}int {name};\n{indent}{name} = {value};"
                self.known.append(name)
            else:
                text = f"{indent}{kind} {name} = {value};"
                self.known.append(name)
            if kind == "int const" and "const" in text:
                self.known.remove(name)
            return [text]
        if choice < 0.72:
            opening, lines = self.body(indent, depth - 1, loop=loop)
            statement = [f"{indent}if ({self.condition()}){opening}", *lines]
            if random.random() < 0.15:
                leave = random.choice(
                    ("return a;", "continue;", "break;")
                    if loop
                    else ("return a;", f"return {random.choice(self.known)};")
                )
                return [
                    f"{indent}if ({self.condition()}) {leave}",
                    *self.statement(indent, depth - 1, loop=loop),
                ]
            if random.random() < 0.6 and opening:
                if random.random() < 0.4:
                    statement[-1] += f" else if ({self.condition()}) {{"
                    statement += [*self.block(f"{indent}    ", depth - 1, loop=loop), f"{indent}}}"]
                statement[-1] += " else {"
                statement += [*self.block(f"{indent}    ", depth - 1, loop=loop), f"{indent}}}"]
            return statement
        if choice < 0.9 and self.loops < 3:
            self.loops += 1
            turn = f"t{self.loops}"
            inner = self.block(f"{indent}    ", depth - 1, loop=True)
            form = random.randrange(3)
            step = random.choice((f"{turn}++", f"++{turn}", f"{turn} += 1"))
            if form == 0:
                return [
                    f"{indent}for (int {turn} = 0; {turn} < {random.randrange(1, 5)}; {step}) {{",
                    *inner,
                    f"{indent}}}",
                ]
            if form == 1:
                return [
                    f"{indent}int {turn} = {random.randrange(1, 5)};",
                    f"{indent}while ({turn}-- > 0) {{",
                    *inner,
                    f"{indent}}}",
                ]
            return [
                f"{indent}int {turn} = {random.randrange(1, 4)};",
                f"{indent}do {{",
                *inner,
                f"{indent}}} while (--{turn} > 0);",
            ]
        if choice < 0.96:
            name = random.choice(self.known)
            statement = [f"{indent}switch ({name}) {{"]
            for value in random.sample(("0", "3", "'a'", "7", "40"), 2):
                statement += [f"{indent}case {value}:", f"{indent}    {self.assignment()}"]
                statement += [f"{indent}    break;"] if random.random() < 0.8 else []
            return [*statement, f"{indent}default:", f"{indent}    {self.assignment()}", f"{indent}}}"]
        return (
            [""]
            if random.random() < 0.5
            else [f"{indent}{{", *self.block(f"{indent}    ", depth - 1, loop=loop), f"{indent}}}"]
        )

    def program(self) -> str:
        lines: list[str] = []
        while self.fuel > 0:
            lines += self.statement("    ", 3, loop=False)
        tail = " ^ ".join([*self.known, "data[3]", "pair.x", "cells[1]", "w->low", "w->in.x", "w->many[1].x"])
        head = (
            "int f(int a, int b)\n{\n    int data[8] = { 1, 2, 3 };\n    struct pair pair = { 4, .y = 5 };\n    struct pair *p = &pair;\n"
            "    int cells[4] = { 6, 7, 8, 9 };\n    int *q = cells;\n    struct nest *w = &world;\n"
        )
        return f"{head}{chr(10).join(lines)}\n    return ({tail}) & 255;\n}}\n"


def program(seed: int) -> str:
    """A function `f` of two numbers."""
    return Maker(seed).program()


def made(seed: int) -> Made:
    """The same with the file around it."""
    return Made(PRELUDE, "", program(seed), "", CALLS)
