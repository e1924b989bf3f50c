"""Random JavaScript functions full of scopes: declarations that hide each other, patterns, closures, loops."""

from random import Random
from typing import Final

NAMES: Final = ("a", "b", "c", "d", "e")


class Writer:
    """Writes one function. Every run of it ends, and prints what its variables hold on the way."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.left = 22
        self.labels: list[str] = []

    def function(self) -> str:
        """The text of a function `f` with two parameters."""
        head = self.rng.choice(
            ("function f(a, b)", "function f(a, b = a)", "function f({ a, c: b = 3 }, ...d)", "function f(a, [b, c = a])")
        )  # fmt: skip
        return f"{head} {{\n{self.block(2, set())}\nreturn {{ {', '.join(self.rng.sample('ab', 2))} }};\n}}"

    def value(self) -> str:
        """An expression."""
        one, other = self.rng.choice(NAMES), self.rng.choice(NAMES)
        return self.rng.choice(
            (
                *(one, f"{one} + 1", str(self.rng.randrange(9)), f"typeof {one}", f"({one} , {other})"),
                *(f"{{ {one} }}.{one}".join("()"), f"[{one}, {other}][1]", f"`${{{one}}}`", f"{one} ?? {other}"),
                *(f"(({one}) => {one} + {other})({other})", f"(() => {one})()", f"{{ {one}: {other} }}.{one}".join("()")),
                *(f"(function {one}({other}) {{ return typeof {one}; }})(1)", f"{one} ? {other} : 2"),
            )
        )  # fmt: skip

    def pattern(self, names: list[str]) -> tuple[str, str]:
        """A pattern that declares these names, and a value for it."""
        one = names[0]
        if len(names) == 1:
            return self.rng.choice(
                (
                    (one, self.value()),
                    (f"{{ {one} = 7 }}", "{}"),
                    (f"{{ x: {one} }}", f"{{ x: {self.value()} }}"),
                )
            )
        other = names[1]
        return self.rng.choice(
            (
                (f"[{one}, {other} = 5]", f"[{self.value()}]"),
                (f"{{ {one}, ...{other} }}", f"{{ {one}: 4, q: 5 }}"),
                (f"{{ {one} = 2, r: {other} = {one} }}", "{}"),
            )
        )

    def declared(self, taken: set[str]) -> list[str]:
        """One or two names that a block has not declared."""
        free = [name for name in NAMES if name not in taken]
        return self.rng.sample(free, min(len(free), self.rng.choice((1, 1, 2))))

    def block(self, depth: int, taken: set[str]) -> str:
        """Statements; `taken` are the names that may not be declared in them."""
        taken = set(taken) | (set("abcd") if depth == 2 else set())
        return "\n".join(self.statement(depth, taken) for _ in range(self.rng.randrange(2, 6)))

    def statement(self, depth: int, taken: set[str]) -> str:
        """One statement."""
        self.left -= 1
        rng, one = self.rng, self.rng.choice(NAMES)
        nested = depth > 0 and self.left > 0
        kind = rng.randrange(14 if nested else 7)
        if kind == 0:
            names = self.declared(taken)
            if not names:
                return f"print({one});"
            taken |= set(names)
            left, right = self.pattern(names)
            return f"{rng.choice(('let', 'const'))} {left} = {right};"
        if kind == 1:
            return f"try {{ {one} = {self.value()}; }} catch (x) {{ print(x.name); }}"
        if kind in (2, 3):
            return f"print({one}, {self.value()});"
        if kind == 4:
            return f"try {{ ({{ {one}, s: {rng.choice(NAMES)} = 1 }} = {{ {one}: {self.value()} }}); }} catch (x) {{ }}"
        if kind == 5:
            return f"print({{ {one}, t: {self.value()} }});"
        if kind == 6:
            return f"print(typeof {one});"
        if kind == 7:
            return f"try {{\n{self.block(depth - 1, set())}\n}} catch ({one}) {{ print({one}.name); }}"
        if kind == 8:
            return f"for (let {one} = 0; {one} < 2; {one}++) {{\n{self.block(0, {one})}\n if ({one} > 3) break; }}"
        if kind == 9 and one not in self.labels:
            self.labels.append(one)
            inner = self.block(depth - 1, set())
            self.labels.pop()
            return f"{one}: for (const {one} of [1, 2]) {{\n{inner}\nif ({one} === 1) continue {one};\n}}"
        if kind == 10:
            inner = f"const g = ({one}, {{ h = {one} }} = {{}}) => {{\n{self.block(depth - 1, {one})}\nreturn h;\n}};"
            return f"{{ {inner} print(g(3)); }}"
        if kind == 11:
            return f"switch ({one}) {{ case 1: {self.statement(0, set('abcde'))} break; default: let {one} = 6; print({one}); }}"
        if kind == 12:
            return (
                f"{{ class k {{ m({one}) {{ return {{ {one} }}; }} static q = typeof {one}; }} "
                f"print(new k().m(2), k.q); }}"
            )
        return f"{{\n{self.block(depth - 1, set())}\n}}"


def program(seed: int) -> tuple[str, str]:
    """A function, and calls of it."""
    text = Writer(seed).function()
    calls = "; ".join(
        f"try {{ print(f({given})); }} catch (x) {{ print(x.name); }}"
        for given in ("1, 2", "{ a: 1, c: 2 }, [3]", "[1], [2, 3], 4")
    )
    return text, calls
