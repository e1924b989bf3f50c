"""Random JavaScript functions full of branches and loops, in which every evaluation is printed."""

from random import Random


class Brancher:
    """Writes one function of two parameters. Every run of it ends: `step` and `tick` throw after some calls."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.left = 16
        self.label = 0

    def function(self) -> str:
        """The text of a function `f`."""
        return f"function f(a, b) {{\n{self.body(3, '    ', False)}\n    return [a, b];\n}}"

    def condition(self, depth: int = 2) -> str:
        """A condition whose parts are seen when they are evaluated."""
        rng = self.rng
        if depth and rng.random() < 0.5:
            one, other = self.condition(depth - 1), self.condition(depth - 1)
            return rng.choice(
                (f"({one}) && ({other})", f"({one}) || ({other})", f"!({one})", f"({one}) ?? ({other})",
                 f"({one}) ? {rng.choice('ab')} : ({other})", f"(step(5), {other})", f"!!({one})")
            )  # fmt: skip
        one = rng.choice("ab")
        return rng.choice(
            (f"step({one})", f"{one} === step(2)", f"{one} != 'x'", f"{one} < step(3)", f"{one} == null", f"{one}",
             f"!{one}", f"typeof {one} !== 'object'", f"step({one}) >= 2", f"'x' in Object({one})", f"({one} = step(1))",
             f"{one}++", f"!((c) => c === {one})(2)", "NaN", "`${a}` == b")
        )  # fmt: skip

    def body(self, depth: int, indent: str, loop: bool) -> str:
        """Some statements on lines of their own."""
        made = [self.statement(depth, indent, loop) for _ in range(self.rng.randrange(1, 4))]
        return "\n".join(indent + line for line in made)

    def block(self, depth: int, indent: str, loop: bool) -> str:
        """A body of a branch or a loop, with or without braces."""
        rng = self.rng
        if rng.random() < 0.3:
            return f"{self.simple(loop)}"
        if rng.random() < 0.2:
            return f"{{ {self.simple(loop)} }}"
        declared = rng.choice(("", "", f"{indent}    let a = step(4);\n", f"{indent}    const z = b;\n"))
        text = self.body(depth - 1, indent + "    ", loop)
        return f"{{\n{declared}{text}\n{indent}}}"

    def simple(self, loop: bool) -> str:
        """A statement without parts."""
        name = self.rng.choice("ab")
        plain = [f"print(a, b, step({name}));", f"{name} = 3;"]
        if self.rng.random() < 0.4:
            plain += [f"{name} += 1;", f"{name} = step(b);", "return a;", "throw b;"]
            plain += ["break;", "continue;"] if loop else []
        return self.rng.choice(plain)

    def statement(self, depth: int, indent: str, loop: bool) -> str:
        """One statement."""
        self.left -= 1
        rng = self.rng
        if not depth or self.left < 0:
            return self.simple(loop)
        kind, condition = rng.randrange(9), self.condition()
        if kind == 0:
            return f"if ({condition}) {self.block(depth, indent, loop)}"
        if kind in (1, 2):
            return f"if ({condition}) {self.block(depth, indent, loop)}\n{indent}else {self.block(depth, indent, loop)}"
        if kind == 3:
            other = f"if ({self.condition()}) {self.block(depth, indent, loop)}"
            return f"if ({condition}) {{\n{indent}    {other}\n{indent}}}"
        if kind == 4:
            return (
                f"if ({condition}) {self.block(depth, indent, loop)}\n{indent}else if ({self.condition()}) "
                f"{self.block(depth, indent, loop)}\n{indent}else {self.block(depth, indent, loop)}"
            )
        if kind == 5:
            return f"while (tick() && ({condition})) {self.block(depth, indent, True)}"
        if kind == 6:
            return f"do {self.block(depth, indent, True)} while (tick() && ({condition}));"
        if kind == 7:
            head = rng.choice(("let i = 0", "var i = 0", "a = 0", ""))
            step = (
                rng.choice(("tick(i++)", "tick(), i += 2", "tick()"))
                if head.endswith("i = 0")
                else "tick(a++)"
            )
            return f"for ({head}; {rng.choice((condition, condition, ''))}; {step}) {self.block(depth, indent, True)}"
        inner = self.block(depth, indent, True)
        return f"try {{ for (const k of [1, 2]) {inner} }} catch (e) {{ print('caught', e); if (e === done) throw e; }}"


CALLS = (
    "let count = 0, ticks = 0; const done = { done: 1 };\n"
    "function step(n) { if (++count > 60) throw done; print('step', n); return count % 3 ? n : count % 2; }\n"
    "function tick() { if (++ticks > 25) throw done; return true; }\n"
    + "\n".join(
        f"count = ticks = 0; try {{ print(f({given})); }} catch (e) {{ print('thrown', e === done ? 'done' : e && e.name); }}"
        for given in (
            "1, 2",
            "0, 'x'",
            "null, 3",
            "NaN, undefined",
            "'x', { valueOf() { print('v'); return 2; } }",
        )
    )
)


def program(seed: int) -> tuple[str, str]:
    """A function, and calls of it."""
    return Brancher(seed).function(), CALLS
