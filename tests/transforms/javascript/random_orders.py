"""Random JavaScript functions in which much may change places, and hostile code looks at all that it can reach."""

from random import Random


class Orderer:
    """Writes one function of three parameters. Every run of it ends: `tick` throws after some calls.

    The arguments are numbers, texts, and objects that print when they are looked at. `spy` calls every function
    that was shown to it, so it sees the variables that these functions use, and changes them.
    """

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.left = 26
        self.number = 0
        self.names = ["a", "b", "c"]
        self.constants: list[str] = []
        self.kind = self.rng.choice(("function", "function", "function*", "arrow"))

    def function(self) -> str:
        """The text of a function `f`."""
        rng = self.rng
        head = rng.choice(("a, b, c", "a, b, c", "a, b = a, c", "a, b, ...c", "{ a, x: b = 1 }, c"))
        body = self.body(3, "    ", loop=False, label="")
        end = "    return [a, b, " + ", ".join(f"typeof {name}" for name in self.names[3:6]) + "];"
        if rng.random() < 0.15:
            body = f"    'use strict';\n{body}" if head in ("a, b, c",) else body
        if self.kind == "arrow":
            return f"const f = ({head}) => {{\n{body}\n{end}\n}};"
        return f"{self.kind} f({head}) {{\n{body}\n{end}\n}}"

    def name(self) -> str:
        """A variable, which may be unset here."""
        return self.rng.choice(self.names)

    def fresh(self) -> str:
        """A new name."""
        self.number += 1
        return f"v{self.number}"

    def plain(self) -> str:
        """An expression without a call."""
        rng, name, other = self.rng, self.name(), self.name()
        return rng.choice(
            (
                str(rng.randrange(5)), "'x'", "[]", "{}", "true", "null", "undefined", "1n", name, name, name, f"typeof {name}",
                f"!{name}", f"{name} === {other}", f"{name} == null", f"{name} || 3", f"{name} && {other}", f"{name} ?? 'd'",
                f"{name} + 1", f"{name} + {other}", f"-{name}", f"{name} < {other}", f"{name} == {other}", f"`${{{name}}}-`",
                f"[{name}, {other}]", f"{{ p: {name}, {other} }}", f"{{ [{name}]: 1 }}", f"{name} ? {other} : 2", f"{name}.p",
                f"{name}?.q", f"{name}[0]", f"() => {name}", f"() => ({name} = 5)", f"function () {{ return {other}; }}",
                f"({name}, {other})", f"void {name}", f"'x'.length + {rng.randrange(3)}", f"'q' in {name}", f"[...{name}]", "/x/g",
                f"{{ get p() {{ print('get'); return {name}; }} }}", f"{name} instanceof Object", f"({name} = {other})", f"{name}++",
                "NaN", "this", "outside", "outside", "nowhere", f"`${{{name}}}`", f"`<${{{name}}}>${{{other}}}`", "new.target" if self.kind != "arrow" else "null",
            )
        )  # fmt: skip

    def value(self) -> str:
        """Any expression."""
        rng = self.rng
        if rng.random() < 0.12:
            return f"spy({self.plain()})"
        if self.kind == "function*" and rng.random() < 0.06:
            return f"yield {self.name()}"
        return self.plain()

    def body(self, depth: int, indent: str, *, loop: bool, label: str) -> str:
        """Some statements on lines of their own."""
        count = self.rng.randrange(2, 7)
        return "\n".join(indent + self.statement(depth, indent, loop=loop, label=label) for _ in range(count))

    def block(self, depth: int, indent: str, *, loop: bool, label: str) -> str:
        """A block."""
        known = list(self.names)
        text = self.body(depth - 1, indent + "    ", loop=loop, label=label)
        if self.rng.random() < 0.7:  # else the names are used where they are not known
            self.names = known
        return f"{{\n{text}\n{indent}}}"

    def simple(self, *, loop: bool, label: str) -> str:
        """A statement without parts."""
        rng, name = self.rng, self.name()
        kind = rng.randrange(22)
        if kind < 8:
            new = self.fresh()
            text = f"{rng.choice(('let', 'const', 'var'))} {new} = {self.value()};"
            if rng.random() < 0.8:
                self.names.append(new)
            else:
                self.names.insert(rng.randrange(3, len(self.names) + 1), new)
            return text
        if kind < 14:
            return f"{name} = {self.value()};"
        jumps = [
            f"{name} += {self.plain()};",
            f"{name}++;",
            f"var {self.fresh()};",
            f"let {name}_{self.fresh()};",
        ]
        if rng.random() < 0.4:
            jumps += [
                f"return {self.value()};",
                f"throw {name};",
                f"print({name});",
                f"keep(() => {name});",
                f"spy({name});",
            ]
            jumps += ["break;", "continue;"] if loop else []
            jumps += [f"break {label};"] if label else []
        else:
            jumps += [
                f"{name}.p = {self.plain()};",
                f"{name} ||= 4;",
                f"void {name};",
                f"var {name if name[0] == 'v' else 'w'} = 1;",
            ]
        return rng.choice(jumps)

    def statement(self, depth: int, indent: str, *, loop: bool, label: str) -> str:
        """One statement."""
        self.left -= 1
        rng = self.rng
        if not depth or self.left < 0 or rng.random() < 0.55:
            return self.simple(loop=loop, label=label)
        kind, inner = rng.randrange(10), indent + "    "
        if kind < 2:
            other = f" else {self.block(depth, indent, loop=loop, label=label)}" if rng.random() < 0.4 else ""
            return f"if ({self.plain()}) {self.block(depth, indent, loop=loop, label=label)}{other}"
        if kind == 2:
            return f"while (tick() && ({self.plain()})) {self.block(depth, indent, loop=True, label=label)}"
        if kind == 3:
            new = self.fresh()
            head = rng.choice(
                (
                    f"for (let {new} = 0; tick() && {new} < 2; {new}++)",
                    f"for (const {new} of [1, 2])",
                    f"for (var {new} in {{ k: 1 }})",
                )
            )
            self.names.append(new)
            return f"{head} {self.block(depth, indent, loop=True, label=label)}"
        if kind == 4:
            clauses = rng.choice(
                (" catch (e) {C}", " finally {F}", " catch (e) {C} finally {F}", " catch {C}")
            )
            text = f"try {self.block(depth, indent, loop=loop, label=label)}"
            for mark in ("{C}", "{F}"):
                if mark in clauses:
                    known = f"{{\n{inner}print({', '.join(rng.sample(self.names, 2))});\n{inner}{self.simple(loop=loop, label=label)}\n{indent}}}"
                    clauses = clauses.replace(mark, known)
            return text + clauses
        if kind == 5:
            new = f"l{self.fresh()}"
            return f"{new}: {self.block(depth, indent, loop=loop, label=new)}"
        if kind == 6:
            cases = "\n".join(
                f"{inner}{rng.choice(('case ' + self.plain(), 'default' if number == 1 else 'case 1'))}:\n"
                + self.body(0, inner + "    ", loop=loop, label=label)
                for number in range(2)
            )
            return f"switch ({self.plain()}) {{\n{cases}\n{indent}}}"
        if kind == 7:
            new = f"g{self.fresh()}"
            kept, self.kind = self.kind, "arrow"
            head = rng.choice((f"const {new} = () =>", f"const {new} = function () ", f"function {new}() "))
            text = f"{head} {self.block(depth, indent, loop=False, label='')}{';' if head[0] == 'c' else ''}"
            self.kind = kept
            self.names.append(new)
            return f"{text}\n{indent}{rng.choice(('keep', 'spy'))}({new});"
        if kind == 8:
            name = self.name()
            return f"const {{ p: {self.fresh()}, ...{self.fresh()} }} = {name} ?? {{}};"
        return self.block(depth, indent, loop=loop, label=label)


HOSTILE = """\
Function.prototype.toString = () => "function";  // the ledger: nobody reads the text of a function
let ticks = 0, depth = 0, kept = [];
const done = { done: 1 };
function tick() { if (++ticks > 40) throw done; return true; }
function keep(g) { if (kept.length < 9) kept.push(g); return g; }
function told(x) {
    const t = typeof x;
    if (t === 'bigint' || t === 'symbol') return t;
    if (t !== 'object' && t !== 'function') return x;
    if (x === null) return null;
    return Array.isArray(x) ? 'array' + x.length : t === 'function' ? 'f' : x.id ?? 'o';
}
function spy(x) {
    tick();
    print('spy', told(x), kept.length);
    if (typeof x === 'function') keep(x);
    if (depth < 2) {
        depth++;
        try { for (const g of kept) { try { print(told(g())); } catch (e) { if (e === done) throw e; print('in', told(e)); } } }
        finally { depth--; }
    }
    if (ticks % 5 === 4) throw new RangeError('spy');
    return x;
}
Object.defineProperty(globalThis, 'outside', { get() { print('outside'); return spy(8); }, set(v) { spy(v); } });
const loud = (id) => ({
    id,
    valueOf() { print('valueOf', id); spy(1); return 7; },
    toString() { print('toString', id); spy(2); return 's' + id; },
    get p() { print('get p', id); spy(3); return this; },
    set p(v) { print('set p', told(v), id); spy(4); },
    get [Symbol.iterator]() { print('iterator', id); return [1][Symbol.iterator].bind([spy(5)]); },
});
const proxy = new Proxy({ id: 'proxy' }, {
    get(t, k) { if (k !== 'id') { print('get', String(k)); spy(6); } return t[k]; },
    has(t, k) { print('has', String(k)); return spy(true); },
    set(t, k, v) { print('set', String(k)); spy(7); return true; },
    getPrototypeOf() { print('prototype'); return spy(null); },
});
function run(...given) {
    ticks = 0; kept = [];
    try {
        const r = f(...given);
        if (r && typeof r === 'object' && r.next && !r.id) {
            for (let i = 0; i < 4; i++) { const n = i === 3 ? r.return(9) : r.next(i); spy(i); print('next', told(n.value), n.done); }
        } else print('result', Array.isArray(r) ? r.map(told) : told(r));
    } catch (e) { print('thrown', e === done ? 'done' : told(e), e && e.name); }
    for (const g of kept) { try { print('after', told(g())); } catch (e) { print('after', told(e)); } }
}
"""
CALLS = HOSTILE + "".join(
    f"run({given});\n"
    for given in (
        "1, 2, 3",
        "loud('A'), loud('B'), loud('C')",
        "proxy, null, 'x'",
        "undefined, 1n, [1]",
        "{ a: 0, x: loud('D') }, proxy, true",
    )
)


def program(seed: int) -> tuple[str, str]:
    """A function, and calls of it."""
    return Orderer(seed).function(), CALLS
