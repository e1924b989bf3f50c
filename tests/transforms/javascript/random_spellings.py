"""Random JavaScript functions of what can be written in two ways: assignments, declarations, properties, arrows."""

from tests.transforms.javascript.random_orders import CALLS, Orderer


class Speller(Orderer):
    """Writes one function of three parameters, with numbers, texts and objects of its own."""

    def own(self, kind: str) -> str:
        """A variable that holds a number or a text."""
        return self.rng.choice(
            [name for name in self.names if name[0] == kind] or ["1" if kind == "n" else "'t'"]
        )

    def function(self) -> str:
        """The text of a function `f`."""
        head = "    let n1 = 3, n2 = 0, s1 = 'u';\n    var n3;\n    n3 = 4;\n    let k1 = { p: 1 };\n"
        self.names += ["n1", "n2", "s1", "k1"]
        body = self.body(3, "    ", loop=False, label="")
        return f"function f(a, b, c) {{\n{head}{body}\n    return [n1, n2, n3, s1, a, b, told(k1)];\n}}"

    def plain(self) -> str:
        """An expression."""
        rng, n, m, s, name = self.rng, self.own("n"), self.own("n"), self.own("s"), self.name()
        return rng.choice(
            (
                f"{n} + {m}", f"{n} * {m}", f"{name} * {n}", f"{n} < {m}", f"{name} < {n}", f"{n} >= {name}", f"{name} === {m}",
                f"{name} == {s}", f"!({n} > {m})", f"!{name}", f"{n} > 1 ? {s} : {m}", f"{name} ? {n} : spy({m})", f"{s} + {n}",
                f"(x => x + {n})({m})", f"((x) => {{ return {{ x }}; }})({n}).x", f"((x) => {{ return x; }})({n})", f"{n} & {m}",
                f"{{ {n if n[0] == 'n' else 'a'} }}", f"{{ 'p': {n}, q: {m}, b: b }}", "k1['p']", "k1.p", "k1[\"q-r\"]", "undefined", "true", "false",
                f"a{rng.choice(('.p', '[0]'))}", f"{n} - {m}", f"({name}, {n})", f"[{n},\n            {m}]", "255", "'text'", f"spy(\n        {n}, {m})",
                f"({n}++, {n} + {m})" if n[0] == "n" else "1", f"{s}.length", f"-{n}", f"`${{{n}}}`", f"{name} in k1", "16",
            )
        )  # fmt: skip

    def simple(self, *, loop: bool, label: str) -> str:
        """A statement without parts."""
        rng, n, s, name = self.rng, self.own("n"), self.own("s"), self.name()
        kind, value = rng.randrange(16), self.plain()
        new = f"{rng.choice('ns')}{self.fresh()}"
        if kind < 3 and n[0] == "n":
            return rng.choice(
                (
                    f"{n} += {value};",
                    f"{n} = {n} * 2;",
                    f"{n} -= 1;",
                    f"{n}++;",
                    f"--{n};",
                    f"{n} += 1;",
                    f"{n} = {n} - {value};",
                )
            )
        if kind == 3 and s[0] == "s":
            return rng.choice((f"{s} += {value};", f"{s} = {s} + {value};"))
        if kind == 4:
            self.names.append(new)
            return f"let {new} = {1 if new[0] == 'n' else chr(39) + 'v' + chr(39)};"
        if kind == 5:
            return f"let z{new};\n    z{new} = {value};"
        if kind == 6:
            return f"let z{new} = {value}, y{new} = 2;"
        if kind == 7:
            return f"if ({value}) {name} = {self.plain()}; else {name} = {self.plain()};"
        if kind == 8:
            return (
                f"if ({value}) {{ {rng.choice(('return;', 'return 5;'))} }}"
                if self.rng.random() < 0.3
                else f"print({value});"
            )
        if kind == 9:
            return f"{name} = {value};"
        if kind == 10:
            return f"k1.p = {value};"
        if kind == 11:
            return f"keep((x) => {{ return {value}; }});"
        return f"print({value}, {self.plain()});" if kind < 14 else f"spy({value});"


def program(seed: int) -> tuple[str, str]:
    """A function, and calls of it."""
    writer = Speller(seed)
    writer.kind = "function"
    return writer.function(), CALLS
