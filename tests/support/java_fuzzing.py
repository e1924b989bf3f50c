"""Small random Java methods, and running many of them at once: what each prints, returns, raises and leaves."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from random import Random

_BASE = """\
import java.util.*;
abstract class Base {
    int f = 1, g = 2; String t = "t"; int[] data = {1, 2, 3}; Integer box; Base next;
    static StringBuilder out = new StringBuilder();
    static int log(String text) { out.append(text).append(';'); return text.length(); }
    static class K { int z; K(int z) { this.z = z; log("new K" + z); } }
    int act(String text, int x) {
        log(text + x); f += x & 3;
        if ((x & 7) == 6) throw new IllegalStateException(text + x);
        if (next != null) next.g++;
        return x ^ 1;
    }
    public String toString() { log("text"); return "P" + f; }
    abstract Object run(int a, int b, String s, int[] arr, Base other) throws Exception;
    static String state(Base p, int[] arr) {
        return p.f + "," + p.g + "," + p.t + "," + Arrays.toString(p.data) + "," + p.box + ","
            + Arrays.toString(arr);
    }
    String all(int a, int b, String s, int[] arr, Base other) {
        out.setLength(0); next = other; String told;
        try { told = String.valueOf(run(a, b, s, arr, other)); }
        catch (Throwable raised) { told = raised.getClass().getName() + ":" + raised.getMessage(); }
        return told + "|" + out + "|" + state(this, arr) + "|" + (other == null ? "" : state(other, null));
    }
    static Base make(String name) throws Exception {
        return (Base) Class.forName(name).getDeclaredConstructor().newInstance();
    }
    static String told(String name) throws Exception {
        Base self = make(name);
        return make(name).all(3, 1, "ab", new int[] {4, 5, 6}, null)
            + "\\n" + self.all(-2, 0, null, new int[] {7}, self)
            + "\\n" + make(name).all(14, 5, "", null, make(name));
    }
    public static void main(String[] names) throws Exception {
        for (String name : names) System.out.print("\\f" + name + "\\n" + told(name));
    }
}
"""
_CLASS = 'class %s extends Base {\n    static class H { static int c = log("init"); }\n%s\n}\n'
_IMPORTS = "import java.util.*;\nimport java.util.function.*;\n"
_IN_FILE = 100


def outcomes(methods: Mapping[str, str], folder: Path) -> dict[str, str]:
    """What each of these methods, by a name for its class, does with every input; one compiler, one run."""
    java, javac = shutil.which("java"), shutil.which("javac")
    assert java is not None
    assert javac is not None
    classes = [_CLASS % item for item in methods.items()]
    files = {"Base": _BASE}
    for number in range(0, len(classes), _IN_FILE):
        files[f"Some{number}"] = _IMPORTS + "".join(classes[number : number + _IN_FILE])
    for name, text in files.items():
        (folder / f"{name}.java").write_text(text, encoding="utf-8")
    built = subprocess.run(
        [javac, "-g", "-proc:none", "-nowarn", "-d", "classes", *(f"{name}.java" for name in files)],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr[:4000]
    done = subprocess.run(
        [java, "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", "classes", "Base", *methods],
        cwd=folder, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    told = {}
    for part in done.stdout.split("\f")[1:]:
        name, _, output = part.partition("\n")
        told[name] = output
    assert told.keys() == methods.keys()
    return told


class Writer:
    """Writes one method."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.count = 0
        self.ints = ["a", "b"]
        self.fixed = ["c"]
        self.texts = ["s"]
        self.buffers: list[str] = []
        self.lists: list[str] = []
        self.maps: list[str] = []
        self.arrays = ["arr", "data"]
        self.calls: list[str] = []
        self.loops = 0
        self.labels: list[str] = []

    def method(self) -> str:
        """The text of `run`."""
        body = "final int c = a - b;\n" + self.block(self.rng.randint(4, 9), 2)
        value = ' + "/" + '.join([*self.ints, *self.buffers, *self.lists, *self.maps])
        return (
            "    Object run(int a, int b, String s, int[] arr, Base other) throws Exception {\n"
            f"{body}return {value};\n}}"
        )

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def block(self, size: int, depth: int) -> str:
        return "".join(self.statement(depth) + "\n" for _ in range(size))

    def nested(self, depth: int) -> str:
        """A block of its own; what it declares is forgotten."""
        kept = [list(names) for names in self._known()]
        text = "{\n" + self.block(self.rng.randint(1, 4), depth - 1) + "}"
        for names, before in zip(self._known(), kept, strict=True):
            names[:] = before
        return text

    def _known(self) -> list[list[str]]:
        return [
            self.ints,
            self.fixed,
            self.texts,
            self.buffers,
            self.lists,
            self.maps,
            self.arrays,
            self.calls,
        ]

    def number(self, depth: int = 2) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return rng.choice([*self.ints, *self.fixed, str(rng.randint(0, 9)), "f", "this.g", *self.ints])
        one, other = self.number(depth - 1), self.number(depth - 1)
        return rng.choice(
            [
                f"({one} + {other})", f"({one} - {other})", f"({one} * {other})", f"({one} ^ {other})",
                f"({one} << {other})", f"({one} / {other})", f"({one} % 5)", f"Math.max({one}, {other})",
                f"({one} > {other} ? {one} : {other})", f"({one} / 3)", f"(int) (byte) (0 + {one})",
                f"act(\"e\", {one})", f"{rng.choice(self.arrays)}[{one} & 1]", "other.f", "this.box",
                f"{rng.choice(self.texts)}.length()", "H.c", "arr.length", f"new K({one}).z",
                f"(int) (Integer) (Object) {one}", f"new int[{one}].length", "((Base) (Object) other).g",
                *[f"{one}.getAsInt()" for one in self.calls], *[f"{one}.length()" for one in self.buffers],
                *[f"{one}.size()" for one in self.lists], *[f"{one}.get({other})" for one in self.lists],
                f"switch ({one}) {{ case 1 -> {other}; default -> f; }}", f"({one} & {other})",
            ]
        )  # fmt: skip

    def calm(self) -> str:
        """A number that raises nothing and calls nobody."""
        rng = self.rng
        known = [*self.ints, *self.fixed, str(rng.randint(0, 9)), "f", "this.g", "g"]
        return f"({rng.choice(known)} {rng.choice(['+', '-', '*', '&', '|'])} {rng.choice(known)})"

    def value(self) -> str:
        return self.calm() if self.rng.random() < 0.6 else self.number()

    def text(self) -> str:
        rng = self.rng
        return rng.choice(
            [f"\"x\" + {self.value()}", rng.choice(self.texts), "t", f"\"y\" + {rng.choice(self.texts)}",
             "\"p\" + other", f"String.valueOf({self.value()})", f"{rng.choice(self.texts)}.trim()", "null",
             f"{rng.choice(self.texts)} + {self.value()}", *[f"{one}.toString()" for one in self.buffers]]
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        kinds = [self.simple] * 9 + [self.made] * 4
        if depth > 0:
            kinds += [self.choice, self.loop, self.switch, self.guarded, self.scope]
        return self.rng.choice(kinds)(depth)

    def simple(self, depth: int) -> str:
        rng, value = self.rng, self.value()
        targets = self.ints
        choices = [
            f"f = {value};", f"this.g = {value};", f"other.f = {value};", f"t = {self.text()};",
            f"act(\"s\", {value});", f"arr[{value}] = {self.value()};", f"data[{rng.randint(0, 3)}] = {value};",
            f"log({self.text()});", f"box = {value};", "this.f++;", f"g += {value};", f"H.c = {value};",
            f"if ({value} > 3) return {self.value()};", f"if (s == null) throw new Exception(\"n\" + {value});",
            f"s = {self.text()};", f"System.arraycopy(data, 0, data, 1, {rng.randint(0, 3)});",
            f"int[] {self.name('un')} = {rng.choice(['data', 'arr', 'new int[] {1}'])};", "synchronized (this) { f--; }",
        ]  # fmt: skip
        if targets:
            target = rng.choice(targets)
            choices += [f"{target} = {value};", f"{target} += {value};", f"{target}++;"] * 4
        for one in self.buffers:
            choices += [f"{one}.append({value}).append({rng.choice(self.texts)});", f"{one}.append('c');"] * 2
            choices += [f"{one}.setLength({value});", f"{one}.append(other);", f"log({one}.toString());"]
        for one in self.lists:
            choices += [f"{one}.add({value});"] * 3 + [f"{one}.set({value}, 1);", f"{one}.clear();"]
        for one in self.maps:
            choices += [f"{one}.put({rng.choice(self.texts)}, {value});"] * 3
            choices += [f'log("m" + {one}.get({self.text()}));', f'{one}.put("" + other, {value});']
        choices += [f'log("r" + {one}.getAsInt());' for one in self.calls]
        if self.loops:
            choices += [f"if ({value} > 2) continue;", f"if ({value} < 0) break;"]
            choices += [f"if ({value} == 1) break {one};" for one in self.labels]
        return rng.choice(choices)

    def made(self, depth: int) -> str:
        rng = self.rng
        value, text = self.value(), self.text()
        match rng.randrange(11):
            case 0 | 1 | 2:
                name = self.name("v")
                self.ints.append(name)
                return f"int {name} = {value};"
            case 3:
                name = self.name("k")
                self.fixed.append(name)
                return f"final int {name} = {value};"
            case 4:
                name = self.name("w")
                self.texts.append(name)
                return f"String {name} = {text};"
            case 5:
                name = self.name("sb")
                self.buffers.append(name)
                return f"StringBuilder {name} = new StringBuilder();"
            case 6:
                name = self.name("l")
                self.lists.append(name)
                return f"List<Integer> {name} = new ArrayList<>();"
            case 7:
                name = self.name("m")
                self.maps.append(name)
                return f"Map<String, Integer> {name} = new LinkedHashMap<>();"
            case 8:
                name = self.name("w")
                self.texts.append(name)
                return f'String {name} = "z".concat("u" + {value}).trim();'
            case 9:
                name, used = self.name("r"), rng.choice(self.fixed)
                body = rng.choice([f"{used} + f", f'act("l", {used})', f"{used} / g", "g++"])
                self.calls.append(name)
                if rng.random() < 0.3:
                    inner = f"new IntSupplier() {{ public int getAsInt() {{ int f = {used}; return f + {body}; }} }}"
                    return f"IntSupplier {name} = {inner};"
                if rng.random() < 0.5:
                    kept, self.ints, loops, self.loops = self.ints, [], self.loops, 0
                    labels, self.labels = self.labels, []
                    fixed, self.fixed, self.texts, texts = self.fixed, [used], ["t"], self.texts
                    others = self.buffers, self.lists, self.arrays, self.calls
                    self.buffers, self.lists, self.arrays, self.calls = [], [], ["data"], []
                    first, second = self.name("v"), self.name("v")
                    body = (
                        f"{{ int {first} = {self.calm()};\nint {second} = {used};\nf = {first}; g++;\n"
                        f'log("b" + {second}); {second} += {self.calm()}; return {first} + {second}; }}'
                    )
                    self.ints, self.loops, self.labels, self.fixed, self.texts = (
                        kept,
                        loops,
                        labels,
                        fixed,
                        texts,
                    )
                    self.buffers, self.lists, self.arrays, self.calls = others
                return f"IntSupplier {name} = () -> {body};"
            case _:
                name = self.name("o")
                found = self.name("n")
                given = rng.choice([value, "other", "t"])
                text = (
                    f"Object {name} = {given};\n"
                    f'if (!({name} instanceof Integer {found})) {{ log("no"); return {self.value()}; }}'
                )
                self.fixed.append(found)
                return text

    def choice(self, depth: int) -> str:
        other = f" else {self.nested(depth)}" if self.rng.random() < 0.5 else ""
        return f"if ({self.value()} > {self.number(1)}) {self.nested(depth)}{other}"

    def loop(self, depth: int) -> str:
        name = self.name("i")
        label = ""
        if self.rng.random() < 0.3:
            label = self.name("out")
            self.labels.append(label)
        self.loops += 1
        self.fixed.append(name)
        body = self.nested(depth)
        self.fixed.remove(name)
        self.loops -= 1
        if label:
            self.labels.remove(label)
        # What runs in a loop is not captured: its counter changes.
        head = self.rng.choice([f"for (int {name} : data)", f"for (int {name} : new int[] {{1, 2}})"])
        return f"{label}: {head} {body}" if label else f"{head} {body}"

    def switch(self, depth: int) -> str:
        loops, self.loops = self.loops, 0
        labels, self.labels = self.labels, []
        if self.rng.random() < 0.5:
            text = (
                f"switch ({self.value()}) {{ case 1 -> {self.nested(depth)} case 2 -> f = {self.value()};\n"
                f"default -> {self.nested(depth)} }}"
            )
        else:
            first, second = self.nested(depth)[1:-1], self.nested(depth)[1:-1]
            end = self.rng.choice(["break;", ""])
            text = (
                f"switch ({self.value()} & 3) {{ case 0: case 1:\n{first}{end}\ncase 2:\n{second}\n"
                f'default: log("d"); }}'
            )
        self.loops, self.labels = loops, labels
        return text

    def guarded(self, depth: int) -> str:
        kind = self.rng.choice(["RuntimeException", "NullPointerException", "Exception"])
        name = self.name("x")
        target = self.rng.choice(self.ints)
        caught = f' catch ({kind} {name}) {{ log("c" + {name}.getMessage() + {target}); }}'
        last = f' finally {{ log("f" + {target}); {self.simple(0) if self.rng.random() < 0.3 else ""} }}'
        loops, self.loops, labels, self.labels = self.loops, 0, self.labels, []
        tail = self.rng.choice([caught, last, caught + last])
        text = f"try {self.nested(depth)}{tail}"
        self.loops, self.labels = loops, labels
        return text

    def scope(self, depth: int) -> str:
        """A field that a local of its name hides for the rest of a block."""
        name = self.rng.choice(["f", "g"])
        return f'{{ log("h" + {name}); {name} = {self.calm()};\nint {name} = {self.rng.randint(0, 9)};\nlog("i" + {name}); }}'
