"""Random functions `f(a, b, c)` full of conditions, branches and loops, to be run before and after an edit.

`a`, `b`, `c`, `u` and the global `g` are `Watched` objects or anything else; the other variables keep one
builtin type each.
"""

from random import Random

_INTS = ("i", "j")
_FLOATS = ("x", "y")
_UNKNOWN = ("a", "b", "c", "g", "u")


def program(rng: Random) -> str:
    """A function; the same one for the same state of the generator."""
    lines = ['"""Say what it does."""'] if rng.random() < 0.3 else []
    lines += ["i = 3", "j = -1", "x = 0.5", "y = 2.0", 's = "text"', "p = True", "q = not p", "u = a"]
    lines += ["items = [1, 2, 3]", "items.append(4)"]
    for _ in range(rng.randrange(3, 7)):
        lines += _statement(rng, 3, loop=False)
    lines.append("return i, j, x, y, s, p, q, u, items")
    return "def f(a, b, c):\n" + "".join(f"    {line}\n" for line in lines)


def _block(rng: Random, depth: int, *, loop: bool) -> list[str]:
    lines: list[str] = []
    if rng.random() < 0.3:
        lines.append(f"# above {rng.randrange(100)}")
    for _ in range(rng.choice((1, 1, 2, 3))):
        lines += _statement(rng, depth - 1, loop=loop)
    if loop and rng.random() < 0.25:
        lines.append(rng.choice(("break", "continue")))
    elif rng.random() < 0.06:
        lines.append(rng.choice(("return i", "raise KeyError(i)", f"return {_any(rng, 1)}")))
    if rng.random() < 0.1:
        lines.append(f"# below {rng.randrange(100)}")
    return ["    " + line for line in lines]


def _statement(rng: Random, depth: int, *, loop: bool) -> list[str]:
    if depth <= 0 or rng.random() < 0.4:
        return rng.choice((_assignment, _augmented, _call, _conditional, _short))(rng)
    return rng.choice((_if, _if, _if, _for, _for, _while, _try, _with, _function))(rng, depth, loop)


def _comment(rng: Random) -> str:
    return f"  # note {rng.randrange(100)}" if rng.random() < 0.2 else ""


# ── simple statements ────────────────────────────────────────────────────────────────────────────────────


def _assignment(rng: Random) -> list[str]:
    name, value = rng.choice(
        (
            (rng.choice(_INTS), _int(rng, 2)),
            (rng.choice(_FLOATS), _float(rng, 2)),
            ("s", _text(rng)),
            ("p", f"bool({rng.choice(_INTS)})"),
            ("u", _any(rng, 2)),
            ("u", _condition(rng, 2)),
            ("a.field", _condition(rng, 2)),
        )
    )
    return [f"{name} = {value}{_comment(rng)}"]


def _augmented(rng: Random) -> list[str]:
    name, value = rng.choice(
        ((rng.choice(_INTS), _int(rng, 1)), (rng.choice(_FLOATS), _float(rng, 1)), ("s", "'d'"))
    )
    sign = "+" if name == "s" else rng.choice("+-")
    match rng.randrange(3):
        case 0:
            return [f"{name} {sign}= {value}"]
        case 1:
            return [f"u {sign}= {rng.choice(_UNKNOWN)}" if rng.random() < 0.5 else f"u = u {sign} a"]
        case _:
            return [f"{name} = {name} {sign} ({value})"]


def _call(rng: Random) -> list[str]:
    return [f"emit({_any(rng, 2)}, {_condition(rng, 2)}){_comment(rng)}"]


def _conditional(rng: Random) -> list[str]:
    target, one, other = rng.choice(("u", "(u, a.x)", "b[i]")), _any(rng, 1), _any(rng, 1)
    if target[0] == "(":
        one, other = f"({one}, 1)", f"({other}, 2)"
    return [f"{target} = {one} if {_condition(rng, 2)} else {other}{_comment(rng)}"]


def _short(rng: Random) -> list[str]:
    head = rng.choice(("if", "while"))
    lines = [f"{head} {_condition(rng, 1)}: emit(i); emit(j){_comment(rng)}"]
    return [*lines, f"else: emit({_any(rng, 0)})"] if rng.random() < 0.4 else lines


# ── compound statements ──────────────────────────────────────────────────────────────────────────────────


def _if(rng: Random, depth: int, loop: bool) -> list[str]:
    if rng.random() < 0.15:
        target = rng.choice(("u = ", "a.y = ", "u = ", "return "))
        one, other = f"    {target}{_any(rng, 1)}", f"    {target}{_any(rng, 1)}"
        return [f"if {_condition(rng, 2)}:", one, "else:", other]
    lines = [f"if {_condition(rng, 2)}:{_comment(rng)}"]
    if rng.random() < 0.2:
        inner = [f"if {_condition(rng, 1)}:", *_block(rng, depth, loop=loop)]
        return [*lines, *("    " + line for line in inner)]
    lines += _block(rng, depth, loop=loop)
    while rng.random() < 0.3:
        lines += [f"elif {_condition(rng, 2)}:{_comment(rng)}", *_block(rng, depth, loop=loop)]
    if rng.random() < 0.5:
        if rng.random() < 0.2:
            lines.append(f"# otherwise {rng.randrange(100)}")
        lines += [f"else:{_comment(rng)}", *_block(rng, depth, loop=loop)]
    return lines


def _for(rng: Random, depth: int, _: bool) -> list[str]:
    over = rng.choice(
        (
            "range(3)", "range(i)", "range(1, i + 2)", "range(4, j, -1)", "range(len(b))", "range(0, 6, 2)",
            "items", "items", "s", "range(j)", "c", "range(i, 0, -2)", "(1, 2)",
        )
    )  # fmt: skip
    name = "i" if over.startswith("range") and rng.random() < 0.3 else "k"
    lines = [f"for {name} in {over}:{_comment(rng)}", f"    emit({name})"]
    if over == "items" and rng.random() < 0.5:
        lines += ["    if len(items) < 7:", "        items.append(i)"]
    lines += _block(rng, depth, loop=True)
    if rng.random() < 0.3:
        lines += ["else:", *_block(rng, depth, loop=False)]
    return [*lines, "emit(k)"] if name == "k" and rng.random() < 0.3 else lines


def _while(rng: Random, depth: int, _: bool) -> list[str]:
    lines = [f"while {_condition(rng, 2)}:", "    emit(i)", *_block(rng, depth, loop=True)]
    if rng.random() < 0.3:
        lines += ["else:", *_block(rng, depth, loop=False)]
    return lines


def _try(rng: Random, depth: int, loop: bool) -> list[str]:
    lines, handled = ["try:", *_block(rng, depth, loop=loop)], rng.random() < 0.8
    if handled:
        lines += ["except (KeyError, TypeError) as error:", "    emit(str(error))"]
        lines += _block(rng, depth, loop=loop)
        if rng.random() < 0.3:
            lines += ["else:", *_block(rng, depth, loop=loop)]
    last = ["finally:", *_block(rng, depth, loop=False)]
    if handled and rng.random() < 0.3:
        return ["try:", *("    " + line for line in lines), *last]
    return lines if handled and rng.random() < 0.5 else [*lines, *last]


def _with(rng: Random, depth: int, loop: bool) -> list[str]:
    body = _block(rng, depth, loop=loop)
    if rng.random() < 0.5:
        return ["with a as u, b, c(i) as a.z:", *body]
    return ["with a(i) as u:", "    with b as a.w:", *("    " + line for line in body)]


def _function(rng: Random, _: int, __: bool) -> list[str]:
    return [
        "def inner(n, m=2):",
        f"    emit(n, {rng.choice(_INTS)}, s)",
        f"    if n {rng.choice(('and', 'or'))} m:",
        "        return m + 1",
        "    return 0",
        f"emit(inner({_any(rng, 1)}))",
    ]


# ── expressions ──────────────────────────────────────────────────────────────────────────────────────────


def _int(rng: Random, depth: int) -> str:
    if depth <= 0 or rng.random() < 0.4:
        return rng.choice((*_INTS, "1", "2", "-3", "len(s)"))
    if rng.random() < 0.1:
        return f"({_int(rng, 0)} if {_condition(rng, 1)} else {_int(rng, 0)})"
    part = _int(rng, depth - 1)  # no product of variables: a loop would square it again and again
    return (
        f"{rng.choice(('2', '-3'))} * ({part})"
        if rng.random() < 0.3
        else f"{part} {rng.choice('+-')} ({_int(rng, depth - 1)})"
    )


def _float(rng: Random, depth: int) -> str:
    if depth <= 0 or rng.random() < 0.4:
        return rng.choice((*_FLOATS, "0.5", "-1.25", "1e300"))
    return f"{_float(rng, depth - 1)} {rng.choice('+-*')} {_float(rng, 0)}"


def _text(rng: Random) -> str:
    return rng.choice(("s", '"b"', '"a" + s', 's + "c"', "s.upper()", "(s or 'z')"))


def _any(rng: Random, depth: int) -> str:
    if depth <= 0 or rng.random() < 0.3:
        return rng.choice((*_UNKNOWN, *_INTS, *_FLOATS, "s", "p", "None", "emit(i)"))
    one, other = _any(rng, depth - 1), _any(rng, depth - 1)
    match rng.randrange(6):
        case 0:
            return f"emit({one})"
        case 1:
            return "(a + i)"
        case 2:
            return f"({_int(rng, 1)})"
        case 3:
            return f"({one} if {_condition(rng, 1)} else {other})"
        case 4:
            return f"[z for z in (1, 2, i) if {_condition(rng, 1)}]"
        case _:
            return f"({_condition(rng, depth - 1)})"


def _atom(rng: Random) -> str:
    match rng.randrange(13):
        case 0 | 1 | 2:
            return rng.choice(_UNKNOWN)
        case 3:
            return f"{_int(rng, 1)} {rng.choice(('<', '<=', '>', '>=', '==', '!='))} {_int(rng, 1)}"
        case 4:
            return f"{_float(rng, 1)} {rng.choice(('<', '>=', '==', '!='))} {_int(rng, 1)}"
        case 5:
            return f"a {rng.choice(('<', '==', '!=', 'is', 'is not'))} {rng.choice(('b', '1', 'None', 's'))}"
        case 6:
            return f"{rng.choice(('a', 's', 'i'))} {rng.choice(('in', 'not in'))} (1, 's', i)"
        case 7:
            return f"{rng.choice(('a', 'i'))} in b"
        case 8:
            return f"{_int(rng, 0)} < i <= {_int(rng, 0)}"
        case 9:
            return f"a < {rng.choice(('i', 'b', 'g'))} < c"
        case 10:
            return rng.choice(("p", "q", "True", "False", "(u := a)", "i", "s"))
        case 11:
            return f"a < i and i < {rng.choice(('c', 'b'))}"
        case _:
            return f"emit(a) {rng.choice(('==', 'is', '!='))} {rng.choice(('1', 'i', 's'))}"


def _condition(rng: Random, depth: int) -> str:
    if depth <= 0 or rng.random() < 0.3:
        return _atom(rng)
    one, other = f"({_condition(rng, depth - 1)})", f"({_condition(rng, depth - 1)})"
    match rng.randrange(7):
        case 0 | 1:
            return f"{one} and {other}"
        case 2 | 3:
            return f"{one} or {other}"
        case 4:
            return f"not {one}"
        case 5:
            return f"not {one} {rng.choice(('and', 'or'))} not {other}"
        case _:
            return f"not not {one}"
