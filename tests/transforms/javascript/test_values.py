"""Literal values of JavaScript: which texts show one, and that equal values have equal texts, as node says."""

import json
import shutil
import subprocess

import pytest

from codeaudit.transforms.javascript.values import arguments_text, value_text

SHOWN = [
    ("{ b: 1, 'a': [null, undefined, true,] }", "{a: [null, undefined, true], b: 1}"),
    ("{b: 1, b: 2, 'c d': {}, 0x10: 3}", '{"16": 3, b: 2, "c d": {}}'),
    ("({a: (1)})", "{a: 1}"),
    (r"'it\'s \x41\u{1F600}\uD83D\uDE00 \ud800'", '"it\'s A😀😀 \\ud800"'),
    ('`a\r\n"b"`', r'"a\n\"b\""'),
    ("[-0, +0, - 1, .5, 5., 1e21, 1e-7, 0x1F, 1_000]", "[-0, 0, -1, 0.5, 5, 1e+21, 1e-7, 31, 1000]"),
    ("[NaN, -Infinity, 1e400, 123456789012345680000]", "[NaN, -Infinity, Infinity, 123456789012345680000]"),
    ("[10n, -0n, 0b11n]", "[10n, 0n, 3n]"),
]
"""Texts, and their values in one way of writing."""
NONE = [
    *("[1,,2]", "[,]", "{a}", "{...a}", "{[a]: 1}", "{__proto__: null}", "{'__proto__': 1}", "`${1}`"),
    *("010", "08.5", "1__0", "1_", "--1", "+1n", "1n.x", "f()", "a", "[1 2]", "1 2", "(1, 2)", "'a\nb'", ""),
    *(r"'\08'", r"'\u{110000}'", "new Map()", "None", "'a", "[" * 5000),
]


@pytest.mark.parametrize(("text", "form"), SHOWN)
def test_a_value_has_one_form(text: str, form: str) -> None:
    assert value_text(text) == form
    assert value_text(form) == form


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_literal_shows_no_value(text: str) -> None:
    assert value_text(text) is None


def test_arguments_keep_the_order_of_their_keys() -> None:
    text = "f({b: 1,\n a: '2'}, 3) + 1"
    assert arguments_text(text, 2) == ('{b: 1, a: "2"}, 3', text.index(" + 1"))
    assert arguments_text(")") == ("", 1)
    assert arguments_text("1, x)") is None


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_forms_are_equal_where_node_says_that_values_are() -> None:
    texts = (
        [text for text, _ in SHOWN] + [form for _, form in SHOWN] + ["[0]", "[-0]", "[NaN]", "1", "1n", "'1'"]
    )
    program = (
        f"const t = {json.dumps(texts)}.map((text) => eval('(' + text + ')'));"
        "const same = require('node:util').isDeepStrictEqual;"
        "console.log(JSON.stringify(t.map((a) => t.map((b) => same(a, b)))))"
    )
    done = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True, timeout=60)
    forms = [value_text(text) for text in texts]
    assert json.loads(done.stdout) == [[form == other for other in forms] for form in forms]
