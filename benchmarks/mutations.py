"""Mutations of files for `mutated_inputs.py`: as values, so that they survive the first parse, and as bytes.

`FORMS` names the formats. Each has a mutation of its values and the parser that a reader uses first.
"""

# ruff: noqa: E501 - tables of values

import ast
import csv
import gzip
import io
import json
import random
import re
import tokenize
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple


def values() -> list[Any]:
    """Values that a cell may wrongly hold."""
    deep: Any = 0
    for _ in range(80):
        deep = [deep]
    return [
        None, True, False, 0, -1, 1, 2, 2**31, 2**63, 10**400, -0.5, 1e308, 1.5, float("nan"), float("inf"), "", " ",
        "x", "²", "1", "1e999", "\0", "\x1b[31m", "\ud800", "\u202e", "a" * 5000, "../../etc/passwd", "python", "{}",
        "[]", "null", [], [None], [[]], ["x", 1], {}, {"a": 1}, {"failed": None}, {"answer": {}}, deep,
    ]  # fmt: skip


def places(value: Any, collected: list[tuple[Any, Any]] | None = None) -> list[tuple[Any, Any]]:
    """Every (container, key) inside a value of JSON."""
    collected = [] if collected is None else collected
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        collected.append((value, key))
        places(inner, collected)
    return collected


def change_value(rng: random.Random, value: Any) -> Any:
    """The value with one change: a place gets another value, loses its key, or changes place."""
    spots = places(value)
    if not spots or rng.random() < 0.03:
        return rng.choice(values())
    container, key = rng.choice(spots)
    inner = container[key]
    match rng.randrange(9):
        case 0:
            del container[key]
        case 1 if isinstance(container, dict):
            container[str(rng.choice(["x", key, f"{key} ", f"{key}_"]))] = container.pop(key)
        case 1 if isinstance(container, list):
            container.insert(key, inner)
        case 2:
            other, place = rng.choice(spots)
            if place in other if isinstance(other, dict) else place < len(other):
                container[key] = json.loads(json.dumps(other[place]))
        case 3 if isinstance(container, list):
            rng.shuffle(container)
        case 3 | 4 if isinstance(inner, str) and inner[:1] in '[{"0123456789n':
            # A cell that holds JSON itself.
            try:
                container[key] = json.dumps(change_value(rng, json.loads(inner)))
            except ValueError:
                container[key] = inner[: rng.randrange(len(inner) + 1)]
        case 5:
            container[key] = [inner]
        case 6 if isinstance(inner, int | float) and not isinstance(inner, bool):
            container[key] = rng.choice([-inner, inner + 1, inner * 1000, str(inner), float(inner) + 0.5])
        case 6 if isinstance(inner, str):
            container[key] = rng.choice([inner.upper(), inner + "\0", inner[1:], inner * 2, 0])
        case _:
            container[key] = rng.choice(values())
    return value


def dumped(rng: random.Random, value: Any) -> str:
    """JSON text; sometimes one key stands twice."""
    text = json.dumps(value)
    if isinstance(value, dict) and value and rng.random() < 0.05:
        key = rng.choice(list(value))
        text = f"{{{json.dumps(key)}: {json.dumps(rng.choice(values()))}, {text[1:]}"
    return text


def mutate_json(rng: random.Random, data: bytes) -> bytes:
    """One value of a JSON file."""
    return dumped(rng, change_value(rng, json.loads(data))).encode("utf-8", "surrogatepass")


def mutate_lines(rng: random.Random, data: bytes) -> bytes:
    """One row of a file of JSON lines."""
    rows = [json.loads(line) for line in data.splitlines() if line.strip()]
    change_rows(rng, rows)
    return "".join(dumped(rng, row) + "\n" for row in rows).encode("utf-8", "surrogatepass")


def change_rows(rng: random.Random, rows: list[Any]) -> None:
    """Rows swapped, dropped, repeated, or one of them changed; sometimes all rows in one cell."""
    if not rows:
        return
    number = rng.randrange(len(rows))
    match rng.randrange(8):
        case 0:
            rng.shuffle(rows)
        case 1:
            del rows[number]
        case 2:
            rows.insert(rng.randrange(len(rows) + 1), rows[number])
        case 3 if isinstance(rows[0], dict) and rows[0]:
            name, value = rng.choice(list(rows[0])), rng.choice(values())
            for row in rows:
                if isinstance(row, dict):
                    row[name] = value
        case _:
            rows[number] = change_value(rng, json.loads(json.dumps(rows[number])))


def mutate_csv(rng: random.Random, data: bytes) -> bytes:
    """A cell, a row or a column of a CSV file."""
    rows = list(csv.reader(io.StringIO(data.decode())))
    row = rng.choice(rows)
    place = rng.randrange(len(row)) if row else 0
    match rng.randrange(6):
        case 0:
            rows.remove(row)
        case 1:
            rows.insert(rng.randrange(len(rows)), row)
        case 2:
            for each in rows:
                del each[place : place + 1]
        case 3:
            row.append("x")
        case _ if row:
            row[place] = str(rng.choice(values()))
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode("utf-8", "surrogatepass")


def mutate_parquet(rng: random.Random, data: bytes) -> bytes:
    """A column of another type or name, cells of the same type, the order of rows, or the metadata."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(pa.BufferReader(data))
    metadata = dict(table.schema.metadata or {})
    name = rng.choice(table.column_names)
    place = table.column_names.index(name)
    cells = table.column(name).to_pylist()
    match rng.randrange(10):
        case 0:
            table = table.drop_columns([name])
        case 1:
            table = table.rename_columns(
                [each if each != name else f"{name}_" for each in table.column_names]
            )
        case 2 | 3:
            kinds = [
                pa.string(),
                pa.int64(),
                pa.float64(),
                pa.bool_(),
                pa.list_(pa.string()),
                pa.binary(),
                pa.null(),
            ]
            value: Any = rng.choice([None, "x", 1, -1.5, True, ["x"], {"a": 1}, b"\xff"])
            made = [value] * len(cells)
            with suppress(pa.ArrowException):
                table = table.set_column(place, name, pa.array(made, type=rng.choice([None, *kinds])))
        case 4 if cells:
            table = table.take(pa.array(rng.sample(range(len(cells)), len(cells))))
        case 5:
            table = table.slice(0, rng.randrange(len(cells) + 1)) if cells else table
        case 6 if metadata:
            key = rng.choice(list(metadata))
            with suppress(ValueError):
                metadata[key] = mutate_json(rng, metadata[key])
        case 7:
            table = pa.concat_tables([table, table.slice(0, 1)])
        case _ if cells:
            at = rng.randrange(len(cells))
            cell = cells[at]
            if isinstance(cell, str) and cell[:1] in '[{"0n' and rng.random() < 0.6:
                with suppress(ValueError):
                    cells[at] = dumped(rng, change_value(rng, json.loads(cell)))
            elif isinstance(cell, str) or cell is None:
                cells[at] = rng.choice(
                    [None, *(value for value in values() if isinstance(value, str) and value != "\ud800")]
                )
            elif isinstance(cell, int):
                cells[at] = rng.choice([None, -1, 0, 2**62, cell + 1])
            else:
                cells[at] = rng.choice([None, float("nan"), float("inf"), -1.0])
            with suppress(pa.ArrowException):
                table = table.set_column(
                    place, table.schema.field(name), pa.array(cells, type=table.schema.field(name).type)
                )
    out = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(metadata), out)
    return out.getvalue()


def mutate_tensors(rng: random.Random, data: bytes) -> bytes:
    """The header of a safetensors file: names, shapes, types, offsets."""
    size = int.from_bytes(data[:8], "little")
    header = mutate_json(rng, data[8 : 8 + size])
    return len(header).to_bytes(8, "little") + header + data[8 + size :]


def mutate_toml(rng: random.Random, data: bytes) -> bytes:
    """A value or a line of a TOML file."""
    lines = data.decode().splitlines()
    number = rng.randrange(len(lines))
    key, equals, _ = lines[number].partition("=")
    texts = ['""', '"x"', "-1", "0", "1.5", "true", "nan", "inf", "[]", "[1, 2]", '["a", 1]', "{}", "{a = 1}", "[[]]",
            "1979-05-27", "9999999999999999999", '"\\u0000"', '"\\u001b"', '["fake/hash", {a = []}]']  # fmt: skip
    match rng.randrange(6):
        case 0:
            del lines[number]
        case 1:
            lines[number] = "run = 3" if rng.random() < 0.3 else f"x{lines[number]}"
        case 2 if lines[number].startswith("["):
            lines[number] = f"[{lines[number]}]"
        case _ if equals:
            lines[number] = f"{key}= {rng.choice(texts)}"
        case _:
            lines.insert(
                number,
                f"{rng.choice(['device', 'cache', 'batch-size', 'labels', 'attack', 'task', 'wrap'])} = {rng.choice(texts)}",
            )
    return "\n".join(lines).encode()


ODD_NAMES: Final = (
    "_",
    "__x",
    "é",
    "𝕏",
    "ﬁ",
    "self",
    "print",
    "locals",
    "a" * 3000,
    "match",
    "type",
    "values",
    "result",
    "int",
)
ODD_NUMBERS: Final = (
    "0",
    "1_000",
    "0x" + "f" * 300,
    "1" * 4000,
    "1" * 4301,
    "1e400",
    "1j",
    "0b1",
    "1e-400",
    "-1",
    "0o17",
    "2**63",
)
ODD_TEXTS: Final = (
    '"\\ud800"', '"\\0"', 'b"\\xff"', '"\\N{BULLET}"', 'f"{result!r:>{count}}"', 'r"\\d"', '"\u202e"', '"\x1b[31m"',
    '""" \n # """', "'x' 'y'", 'f"{1}" "{}"', "u'x'", "f'{values=}'", 'f"{f\'{1}\'}"', "''", '"%s" % result', "b''",
)  # fmt: skip
"""Literals of Python that are valid nearly everywhere."""
STATEMENTS: Final = (
    "pass", "del count", "global total", "nonlocal_ = 1", "return", "return (yield)", "yield from ()", "raise", "raise x from y",
    "assert result, f'{result}'", "import os, sys as system", "from . import x", "from __future__ import annotations",
    "(a, *b), c = [1, 2], 3", "a = b = c = 0", "a: int", "a: 'x y' = 1", "a[b:c:d, ...] = 1", "a.b.c += 1", "x = lambda *a, b=1, **c: (yield)",
    "x = [y for z in x if z for y in z]", "x = {**a, 'b': 1}", "x = (y := 1)", "print(*a, **b)", "x = a if b else c", "x = not -~+1",
    "x = 1 < 2 in 3 is not 4", "x = ...", "x = a @ b", "x = `1`", "x = await y", "exec('x')", "locals()", "x = __debug__", "@x", ";;",
    "while True: break", "for x, in y: continue", "with a as b, c: pass", "with (a as b): pass", "try: pass\nfinally: pass", "if x: pass\nelif y: pass\nelse: pass",
    "match x:\n    case {'a': [1, *_], **r} if r: pass\n    case A(b=None) | 1 as z: pass", "try: pass\nexcept* E as e: pass", "class A(B, metaclass=C):\n    x = 1",
    "def f(a, /, b: int = 1, *, c=2) -> None: ...", "async def f():\n    async for x in y: await x", "@a.b(1)\ndef f(): return f", "type X = int", "def f[T](x: T): pass",
    "x = " + "(" * 80 + "0" + ")" * 80, "x = " + "-" * 300 + "1", "x = " + " + ".join(["1"] * 1200), "x = a" + ".b" * 400, "x = f" + "()" * 150,
    "x = " + "[" * 60 + "]" * 60, "x = " + "lambda: " * 60 + "0", "x = " + " if a else ".join(["1"] * 90), "x = " + " and ".join(["a"] * 2000),
    "# \u202e\x1b[2J", "# type: ignore", "# fmt: off", "# region x", "#!/bin/sh", "x = 1 # noqa", "\x0c", "x = 1; y = 2; z = 3", "\\", "x = ''" "'", "x = \\\n    1",
)  # fmt: skip
"""Statements of Python to insert. A few are no statements."""
JAVA_STATEMENTS: Final = (
    ";", "{ }", "return 1;", "var x = 1;", "int[] a = {1, 2,}, b[] = {};", "label: for (;;) break label;", "do { } while (false);", "throw null;", "assert true : \"x\";",
    "synchronized (this) { }", "try { } finally { }", "try (var r = x()) { } catch (A | B e) { }", "switch (1) { case 1: default: }", "int y = switch (1) { case 1 -> 2; default -> { yield 3; } };",
    "Runnable r = () -> { };", "java.util.function.Function<Integer, int[]> f = int[]::new;", "class Local { }", "record P(int x) { }", "Object o = new Object() { int z; };",
    "String t = \"\"\"\n    x\n    \"\"\";", 'char c = \'\\u0022\';', "if (o instanceof String s && s.isEmpty()) { }", "long l = 0xFFFF_FFFF_FFFFL;", "double d = 0x1.8p1;", "int i = 1 + -+-1;",
    "@Deprecated int q = 0;", "final int w; w = 1;", "i = i++ + ++i;", "a.b().<String>c(d)[1] = 2;", "int z = " + "(" * 80 + "0" + ")" * 80 + ";", "int m = " + " + ".join(["1"] * 800) + ";",
    "// \u202e", "/* x */", "int \\u0061 = 1;", "String s = \"\\ud800\";", "\u001a", "int é = 1;", "int $ = 1;", "goto x;", "int x = 09;", "String u = \"unclosed;",
)  # fmt: skip
INSTRUCTIONS: Final = (
    "nop", "ret", "jmp 0x10", "call foo", "leaq 8(%rax,%rbx,4), %rcx", "xorl %eax, %eax", "divq %rcx", "cmovne %rax, %rbx", "vaddps %ymm0, %ymm1, %ymm2", "lock incq (%rdi)",
    "rep movsb", "pushq %rbp", "popq %rbp", "cpuid", "rdtsc", "syscall", "movabsq $0x1122334455667788, %rax", "movq %fs:0, %rax", "vgatherdps %xmm2, (%rax,%xmm1,4), %xmm0",
    "movl $-1, 0x7fffffff(%rip)", "imull $3, %eax, %ebx", "setb %al", "xchgq %rax, %rbx", "ud2", "vpaddd %zmm0, %zmm1, %zmm2{%k1}{z}", ".byte 0x90", "label:", "# comment", "; x",
    "frobnicate %rax", "addq", "addq %rax", "addq %eax, %rbx", "addq $" + "9" * 400 + ", %rax", "mov %rax, (((%rbx)", "addq %r99, %rax", "movq (%rax,%rsp,3), %rbx", "\x1b[2J",
)  # fmt: skip
WORDS: Final = ("\0", "\x1b[2J", "\u202e", "\ufeff", "é", "𝕏", "(", ")", '"', "\\", "\t", "\f", "\r", "1" * 5000, "%", "$")  # fmt: skip


def mutate_python(rng: random.Random, data: bytes) -> bytes:
    """A statement or a token of a source of Python."""
    text = data.decode()
    if rng.random() < 0.6:
        return _statement(rng, text, STATEMENTS, "#").encode("utf-8", "surrogatepass")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return _statement(rng, text, STATEMENTS, "#").encode("utf-8", "surrogatepass")
    kinds = {tokenize.NAME: ODD_NAMES, tokenize.NUMBER: ODD_NUMBERS, tokenize.STRING: ODD_TEXTS, tokenize.OP: ("+", "<", "**", "@", "is", "//", "and", ",")}  # fmt: skip
    spots = [token for token in tokens if token.type in kinds and token.start[0] == token.end[0]]
    if not spots:
        return _statement(rng, text, STATEMENTS, "#").encode("utf-8", "surrogatepass")
    spot = rng.choice(spots)
    # Another operator nearly never fits, an operand nearly always does.
    if spot.type == tokenize.OP and spot.string not in ("+", "-", "*", ">", "<", "==", "+=", "%"):
        spot = rng.choice([spot for spot in spots if spot.type != tokenize.OP] or spots)
    chosen = rng.choice(
        [*kinds[spot.type], *(ODD_NUMBERS + ODD_TEXTS if spot.type == tokenize.NUMBER else ())]
    )
    lines = text.splitlines(keepends=True)
    row, (first, last) = spot.start[0] - 1, (spot.start[1], spot.end[1])
    lines[row] = lines[row][:first] + chosen + lines[row][last:]
    return "".join(lines).encode("utf-8", "surrogatepass")


def _statement(rng: random.Random, text: str, pool: tuple[str, ...], comment: str) -> str:
    """The text with a line repeated, or with a statement before a line, as far to the right as that line."""
    lines = text.splitlines(keepends=True)
    inner = [number for number, line in enumerate(lines) if line.startswith(" ") and line.strip()]
    if not inner:
        return text + rng.choice(pool) + "\n"
    number = rng.choice(inner)
    line = lines[number]
    blanks = line[: len(line) - len(line.lstrip())]
    match rng.randrange(10):
        case 0 if not line.rstrip().endswith((":", "{", "}")):
            lines[number] = f"{blanks}{comment} nothing\n" if comment == "//" else f"{blanks}pass\n"
        case 1 if not line.rstrip().endswith((":", "{", "}")):
            lines.insert(number, line)
        case _:
            made = rng.choice(pool).split("\n")
            lines[number:number] = [f"{blanks}{line}\n" for line in made]
    return "".join(lines)


def mutate_java(rng: random.Random, data: bytes) -> bytes:
    """A statement, a name or a number of a source of Java."""
    text = data.decode()
    if rng.random() < 0.6:
        return _statement(rng, text, JAVA_STATEMENTS, "//").encode("utf-8", "surrogatepass")
    spots = list(re.finditer(r"\b(?:values|start|result|count|value|total|[01])\b", text))
    if not spots:
        return data
    spot = rng.choice(spots)
    pool = ("0x7fffffff", "1L", "0b1", "1e3", "'x'", "07", "1_0", "-1") if spot[0].isdigit() else ("é", "$", "_a", "value", "total", "String", "a" * 3000, "record", "var")  # fmt: skip
    return (text[: spot.start()] + rng.choice(pool) + text[spot.end() :]).encode("utf-8", "surrogatepass")


def mutate_assembly(rng: random.Random, data: bytes) -> bytes:
    """An instruction of a file of assembly."""
    lines = data.decode().splitlines(keepends=True) or ["\n"]
    number = rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[number]
        case 1:
            rng.shuffle(lines)
        case 2:
            lines[number] = lines[number].replace("%r", rng.choice(["%e", "%x", "$", "%r1", "%xmm"]), 1)
        case _:
            lines.insert(number, rng.choice(INSTRUCTIONS) + "\n")
    return "".join(lines).encode("utf-8", "surrogatepass")


def mutate_text(rng: random.Random, data: bytes) -> bytes:
    """A line or a word of a text."""
    lines = data.decode().splitlines(keepends=True)
    number = rng.randrange(len(lines)) if lines else 0
    match rng.randrange(5):
        case 0 if lines:
            del lines[number]
        case 1 if lines:
            lines.insert(rng.randrange(len(lines)), lines[number])
        case 2:
            rng.shuffle(lines)
        case _ if lines:
            place = rng.randrange(len(lines[number]) + 1)
            lines[number] = lines[number][:place] + rng.choice(WORDS) + lines[number][place:]
    return "".join(lines).encode("utf-8", "surrogatepass")


def mutate_properties(rng: random.Random, data: bytes) -> bytes:
    """A value of a file of lines `key=value`."""
    lines = data.decode().splitlines(keepends=True)
    named = [number for number, line in enumerate(lines) if "=" in line]
    if not named or rng.random() < 0.2:
        return mutate_text(rng, data)
    number = rng.choice(named)
    key, _, value = lines[number].partition("=")
    odd = ("", "x", "1" * 400 + "b", "0f", "-1b", "../..", "/etc/passwd", "a,b,c", "²b", "\u202e", "1b 2f", "org.a.Clip$Inner", "\x1b[31m", "a" * 5000)  # fmt: skip
    lines[number] = f"{key}={rng.choice([value.strip() * 2, *odd])}\n"
    return "".join(lines).encode()


def mutate_patch(rng: random.Random, data: bytes) -> bytes:
    """A number in the head of a hunk, or a line of a patch."""
    text = data.decode()
    spots = list(re.finditer(r"(?m)(?<=[-+, ])\d+(?=[, ].*@@)", text))
    if not spots or rng.random() < 0.4:
        return mutate_text(rng, data)
    spot = rng.choice(spots)
    return (
        text[: spot.start()] + rng.choice(["0", "1", "9" * 30, "9" * 5000, "7"]) + text[spot.end() :]
    ).encode()


def mutate_program(rng: random.Random, data: bytes) -> bytes:
    """Bytes of a program behind its identification."""
    made = bytearray(data)
    for _ in range(rng.choice([1, 4, 40])):
        # Half of them in the headers, which say where everything is.
        made[rng.randrange(20, 4096 if rng.random() < 0.5 else len(made))] = rng.choice(
            [0, 1, 0x7F, 0xFF, rng.randrange(256)]
        )
    return bytes(made)


def mutate_zipped(rng: random.Random, data: bytes) -> bytes:
    """A row of a zipped file of JSON lines."""
    return gzip.compress(mutate_lines(rng, gzip.decompress(data)))


def mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    """Cut, flipped, repeated or foreign bytes."""
    if not data:
        return b"\0"
    place = rng.randrange(len(data))
    match rng.randrange(6):
        case 0:
            return data[:place]
        case 1:
            return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
        case 2:
            return data[:place] + data[place + rng.randrange(1, 40) :]
        case 3:
            return data[:place] + rng.randbytes(rng.randrange(1, 9)) + data[place:]
        case 4:
            return data[:place] + data[place - 20 :]
        case _:
            return rng.choice(
                [
                    b"",
                    b"\n",
                    b"\0" * 64,
                    b"\xef\xbb\xbf" + data,
                    data.replace(b"\n", b"\r\n"),
                    b"null",
                    b"[" * 100_000,
                ]
            )


class Form(NamedTuple):
    """A format of files."""

    mutate: Callable[[random.Random, bytes], bytes]
    parse: Callable[[bytes], object]
    """Raises for a file that does not survive the first parse."""


def _parsed_parquet(data: bytes) -> object:
    import pyarrow as pa
    from pyarrow import parquet

    return parquet.read_table(pa.BufferReader(data))


def _parsed_java(data: bytes) -> object:
    from codeaudit.transforms.java.parsing import read

    return read(data.decode())


def _parsed_assembly(data: bytes) -> object:
    from codeaudit.transforms.x86.reading import read

    blocks = [part for part in re.split(r"\n\s*\n", data.decode()) if part.strip()]
    # A block that cannot be read is left out, and the others are audited.
    return next(block for block in blocks if _readable(read, block))


def _readable(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except Exception:
        return False
    return True


def _lines(data: bytes) -> object:
    return [json.loads(line) for line in data.splitlines()]


def _magic(data: bytes) -> object:
    if data[:4] != b"\x7fELF":
        raise ValueError
    return data


FORMS: Final[Mapping[str, Form]] = {
    "json": Form(mutate_json, json.loads),
    "lines": Form(mutate_lines, _lines),
    "zipped": Form(mutate_zipped, lambda data: _lines(gzip.decompress(data))),
    "csv": Form(mutate_csv, lambda data: list(csv.reader(io.StringIO(data.decode())))),
    "parquet": Form(mutate_parquet, _parsed_parquet),
    "tensors": Form(
        mutate_tensors, lambda data: json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    ),
    "toml": Form(mutate_toml, lambda data: tomllib.loads(data.decode())),
    "python": Form(mutate_python, ast.parse),
    "java": Form(mutate_java, _parsed_java),
    "assembly": Form(mutate_assembly, _parsed_assembly),
    "program": Form(mutate_program, _magic),
    "properties": Form(mutate_properties, bytes.decode),
    "patch": Form(mutate_patch, bytes.decode),
    "text": Form(mutate_text, bytes.decode),
}


def parses(form: str, data: bytes) -> bool:
    """Whether the first parser of a format reads the data."""
    try:
        FORMS[form].parse(data)
    except Exception:
        return False
    return True


def mutated(rng: random.Random, form: str, data: bytes) -> tuple[bytes, bool]:
    """The mutant of a file, and whether it was changed as values."""
    if structured := rng.random() < 0.75:
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            # A value that cannot be changed once more, such as a table without rows, stays as it is.
            with suppress(
                ValueError, RecursionError, OverflowError, TypeError, LookupError, NotImplementedError
            ):
                data = FORMS[form].mutate(rng, data)
    else:
        data = mutate_bytes(rng, data)
    return data, structured
