"""f-strings by the hundred: a name in the fields is renamed, the same letters in the text are not."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.analysis.scopes import resolve
from codeaudit.transforms.python.identifiers.rename import RENAME

TEXTS = ("x", " ", "{{", "}}", "é日", "=", ":", "!", "#x", "x=", "{{x}}", "\t")
ESCAPES = ("\\n", "\\\\", "\\N{BULLET}", "\\x41", "\\u0078")
FIELDS = (
    "{x}", "{ x }", "{x!r}", "{x!s:>9}", "{x:>{y}}", "{x:x<{y}}", "{x==y}", "{x!=y}", "{x<=y}", "{x<y}", "{(x)}",
    "{x,}", "{[x for x in [x]]}", "{(lambda x: x)(x)}", "{ {INNER: x}[INNER] }", "{x if y else x}",
    "{(z := x)}", "{F{x}xF}", "{F{x:>{y}}F:>{y}}", "{INNER}", "{x:{y}}{{", "{y:%x}",
)  # fmt: skip


@st.composite
def literals(draw: st.DrawFn) -> str:
    """A row of string literals, most of them f-strings."""
    rows = []
    for _ in range(draw(st.integers(1, 3))):
        prefix = draw(st.sampled_from(["f", "F", "rf", "fR", ""]))
        quote = draw(st.sampled_from(['"', "'", '"""', "'''"]))
        raw = "r" in prefix.lower()
        parts = draw(st.lists(st.sampled_from((*TEXTS, *FIELDS, *(() if raw else ESCAPES))), max_size=6))
        if len(quote) == 3:
            parts.append(draw(st.sampled_from(["", "\nx\n", "{\nx\n}", "\r\n{x}"])))
        inner = "'" if '"' in quote else '"'
        text = "".join(parts).replace("INNER", f"{inner}x{inner}")
        text = text.replace("{F", "{f" + inner).replace("F}", inner + "}").replace("F:", inner + ":")
        rows.append(f"{prefix}{quote}{text}{quote}")
    return draw(st.sampled_from([" ", "  # {x}\n ", " \\\n\t"])).join(rows)


def run(source: str) -> object:
    space: dict[str, object] = {}
    exec(compile(source, "<unit>", "exec", dont_inherit=True), space)
    try:
        return space["f"](7, 12)
    except ValueError as error:  # a format that numbers do not have
        return type(error)


@pytest.mark.slow
@settings(max_examples=120, deadline=None, derandomize=True)
@given(literals())
def test_a_renamed_f_string_says_the_same(text: str) -> None:
    source = f"def f(a, b):\n    x, y, z = a, b, 0\n    return (x, {text}, y)\n"
    moves = RENAME.propose(source, Random(1))
    assert isinstance(moves, tuple)
    rewritten = RENAME.apply(source, moves)
    assert isinstance(rewritten, Rewritten)
    assert run(rewritten.source) == run(source)
    assert all(binding.located for binding in resolve(source).bindings)


def test_a_field_that_prints_itself_inside_another_keeps_the_name() -> None:
    assert isinstance(RENAME.propose("def f(a):\n    x = a\n    return f\"{f'{x=}'}\"\n", Random(0)), Refused)
