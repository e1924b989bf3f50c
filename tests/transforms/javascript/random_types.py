"""Random TypeScript functions on values that have their types, with tests before what may be missing."""

from collections.abc import Iterable
from random import Random
from typing import Final

HEAD: Final = """\
export interface P { x: number; y: number; next?: P; names: string[]; name: string }
export let log: string[] = [];
export function note(text: unknown): number { log.push(String(text)); return log.length; }
export function fail(text: string): never { throw new Error(text); }
"""
CALLS: Final = 4
_VALUES: Final = """\
const made = (x: number, next?: P): P => ({ x, y: x + 1, next, names: ["a" + x, "b"], name: "n" + x });
const same = made(5, made(6));
const given: [P, P, P | undefined, number[], string, RegExp][] = [
    [made(1), made(2), made(3, made(4)), [1, 2], "abc", /b/g], [same, same, same, [3], "b", /b/g],
    [made(1), same, undefined, [], "", /x/], [made(0), made(0, same), undefined, [0, 1, 2], "bbb", /b/y],
];
for (const one of given) {
    log = [];
    let told: unknown;
    try { told = f(...one); } catch (error) { told = String(error); }
    print(JSON.stringify([told, one.slice(0, 5), one[5].lastIndex, log]));
}
"""


class Writer:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.number = 0
        self.known: list[str] = []

    def fresh(self) -> str:
        """A new name."""
        self.number += 1
        return f"v{self.number}"

    def value(self) -> str:
        """An expression without a type that tells much."""
        name, other = self.rng.choice("pq"), self.rng.choice("pq")
        return self.rng.choice(
            (
                f"{name}.x", f"{name}.x + {other}.y", f"{name}.names", f"{name}.names[0]", f"{name}.next?.x", "o?.x", "xs[1]", "xs.length",
                f"{name}.names.length", "s.length", "s.trim()", "r.test(s)", "s.replace(r, 'z')", "r.exec(s)", "Math.max(1, xs.length)",
                "xs.includes(2)", "[...xs]", f"`${{{name}.name}}-`", f"{name} === {other}", "Object.keys(p)", f"{name}.next!.y",
                f"{name}.next", "{ x: 1 }", f"typeof {name}.x", f"note({name}.x)", "xs[0].toFixed()", "new Map()", "isNaN(p.y)",
            )
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        """One statement."""
        rng, name, new = self.rng, self.rng.choice("pq"), self.fresh()
        kind = rng.randrange(16)
        if kind < 6:
            self.known.append(new)
            return f"const {new} = {self.value()};"
        if kind == 6:
            self.known += [new, f"{new}b"]
            return f"const {{ x: {new}, names: {new}b }} = {name};"
        if kind == 7:
            self.known.append(new)
            return f"const [{new}] = {rng.choice(('xs', f'{name}.names'))};"
        if kind in (8, 9):
            return f"{name}.{rng.choice('xy')} {rng.choice(('=', '+='))} {rng.choice(('1', 'xs.length', 'p.y'))};"
        if kind == 10:
            return rng.choice(
                (
                    f"{name}.x++;",
                    f"{name}.names = [s];",
                    "xs[0] = 9;",
                    f"{name}.names.length = 1;",
                    f"delete {name}.next;",
                )
            )
        if kind == 11:
            return rng.choice(
                (
                    "if (!o) return [1];",
                    "if (o === undefined) fail('o');",
                    "if (!p.next) throw new Error('p');",
                )
            )
        if kind == 12 and depth:
            return f"if ({self.value()}) {{ {self.statement(0)} }}"
        if kind == 13 and depth:
            return f"for (const {new} of xs) {{ {self.statement(0)} {name}.x += {new}; }}"
        if kind == 14:
            return f"try {{ {name}.x = 7; note(o!.x); }} catch {{ {name}.y = 8; }}"
        return f"note({self.value()});"

    def function(self) -> str:
        """The text of a function."""
        body = [self.statement(1) for _ in range(self.rng.randrange(3, 8))]
        known = [
            name for name in self.known if any(f"const {name} " in line or name in line[:40] for line in body)
        ]
        return (
            "function f(p: P, q: P, o: P | undefined, xs: number[], s: string, r: RegExp) {\n    "
            + "\n    ".join(body)
            + f"\n    return [{', '.join(known)}];\n}}"
        )


def functions(seeds: Iterable[int]) -> list[str]:
    """The texts of functions, each another one."""
    return list(dict.fromkeys(Writer(seed).function() for seed in seeds))


def program(function: str) -> str:
    """A function with calls of it, which runs without a module."""
    return f"{HEAD}{function}\n{_VALUES}".replace("export ", "")
