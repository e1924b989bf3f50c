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
        name, other = self.rng.choice(NAMES), self.rng.choice(NAMES)
        return self.rng.choice(
            (
                *(name, f"{name} + 1", str(self.rng.randrange(9)), f"typeof {name}", f"({name} , {other})"),
                *(f"{{ {name} }}.{name}".join("()"), f"[{name}, {other}][1]", f"`${{{name}}}`", f"{name} ?? {other}"),
                *(f"(({name}) => {name} + {other})({other})", f"(() => {name})()", f"{{ {name}: {other} }}.{name}".join("()")),
                *(f"(function {name}({other}) {{ return typeof {name}; }})(1)", f"{name} ? {other} : 2"),
            )
        )  # fmt: skip

    def pattern(self, names: list[str]) -> tuple[str, str]:
        """A pattern that declares these names, and a value for it."""
        name = names[0]
        if len(names) == 1:
            return self.rng.choice(
                (
                    (name, self.value()),
                    (f"{{ {name} = 7 }}", "{}"),
                    (f"{{ x: {name} }}", f"{{ x: {self.value()} }}"),
                )
            )
        other = names[1]
        return self.rng.choice(
            (
                (f"[{name}, {other} = 5]", f"[{self.value()}]"),
                (f"{{ {name}, ...{other} }}", f"{{ {name}: 4, q: 5 }}"),
                (f"{{ {name} = 2, r: {other} = {name} }}", "{}"),
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
        rng, name = self.rng, self.rng.choice(NAMES)
        nested = depth > 0 and self.left > 0
        kind = rng.randrange(14 if nested else 7)
        if kind == 0:
            names = self.declared(taken)
            if not names:
                return f"print({name});"
            taken |= set(names)
            left, right = self.pattern(names)
            return f"{rng.choice(('let', 'const'))} {left} = {right};"
        if kind == 1:
            return f"try {{ {name} = {self.value()}; }} catch (x) {{ print(x.name); }}"
        if kind in (2, 3):
            return f"print({name}, {self.value()});"
        if kind == 4:
            return f"try {{ ({{ {name}, s: {rng.choice(NAMES)} = 1 }} = {{ {name}: {self.value()} }}); }} catch (x) {{ }}"
        if kind == 5:
            return f"print({{ {name}, t: {self.value()} }});"
        if kind == 6:
            return f"print(typeof {name});"
        if kind == 7:
            return f"try {{\n{self.block(depth - 1, set())}\n}} catch ({name}) {{ print({name}.name); }}"
        if kind == 8:
            return f"for (let {name} = 0; {name} < 2; {name}++) {{\n{self.block(0, {name})}\n if ({name} > 3) break; }}"
        if kind == 9 and name not in self.labels:
            self.labels.append(name)
            inner = self.block(depth - 1, set())
            self.labels.pop()
            return f"{name}: for (const {name} of [1, 2]) {{\n{inner}\nif ({name} === 1) continue {name};\n}}"
        if kind == 10:
            inner = f"const g = ({name}, {{ h = {name} }} = {{}}) => {{\n{self.block(depth - 1, {name})}\nreturn h;\n}};"
            return f"{{ {inner} print(g(3)); }}"
        if kind == 11:
            return f"switch ({name}) {{ case 1: {self.statement(0, set('abcde'))} break; default: let {name} = 6; print({name}); }}"
        if kind == 12:
            return (
                f"{{ class k {{ m({name}) {{ return {{ {name} }}; }} static q = typeof {name}; }} "
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
