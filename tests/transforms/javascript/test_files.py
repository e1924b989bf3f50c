"""Files of JavaScript and TypeScript, rewritten in place."""

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.files import (
    JAVASCRIPT_FILES,
    REBOUND,
    TYPESCRIPT_FILES,
    function_context,
    hides_fixed,
    obstacle_in_file,
)
from codeaudit.transforms.javascript.parsing import read
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.source_files import (
    Applied,
    Declined,
    FileFormat,
    TransformSeries,
    perturb_file,
)


def rewritten(form: FileFormat, data: bytes, *names: str) -> tuple[bytes, dict[str, str]]:
    """The file, and by unit `applied` or the reason."""
    transforms = tuple(transform_for(name, form.language) for name in names)
    edited = perturb_file(form, data, "a.js", TransformSeries(transforms=transforms, seed=0, sites="all"))
    return edited.data, {
        record.unit.name: "applied" if isinstance(record, Applied) else record.reason
        for record in edited.records
        if isinstance(record, Applied | Declined)
    }


def test_every_byte_outside_of_functions_stays() -> None:
    data = (
        "\ufeff#!/usr/bin/env node\r\n'use strict'\r\nclass A {\r\n  f (a) { if (a) return 1 }\r\n  g = a => a\r\n}\r\n"
        "exports.h = function (b) { if (b) { return 2 } }  // é\r\n;(function () { function i(c) { if (c) i() } })()\r\n"
    ).encode()
    text, records = rewritten(JAVASCRIPT_FILES, data, "insert-braces")
    assert records == {
        "A.f": "applied",
        "A.g": "no body without braces",
        "h": "no body without braces",
        "i": "applied",
    }
    assert text == data.replace(b"return 1", b"{ return 1 }").replace(b" i() }", b" { i() } }")


def test_no_function_goes_on_with_the_line_behind_it() -> None:
    # Without its block the arrow would be divided by what stands on the next line.
    data = b"const f = () => { return a }\n/b/g\n"
    assert rewritten(JAVASCRIPT_FILES, data, "arrow-to-expression")[0] == data
    whole, good = rewritten(JAVASCRIPT_FILES, b"const f = () => { return a }\nb()\n", "arrow-to-expression")
    assert (whole, good) == (b"const f = () => (a)\nb()\n", {"f": "applied"})


def test_what_the_file_gives_another_meaning() -> None:
    file = "(function (window, undefined) {\n  function f() { return undefined; }\n  function g(a) { return a; }\n})();"
    _, records = rewritten(JAVASCRIPT_FILES, file.encode(), "indentation")
    assert records["f"] == REBOUND
    assert records["g"] != REBOUND
    assert obstacle_in_file("function f() { return undefined; }", file) == REBOUND
    assert obstacle_in_file("function f() { return undefined; }", "let a = undefined;") is None
    context = function_context("let a = 1;\nfunction f() { return a; }\nf();\n")
    assert (context.before, context.source, context.after) == (
        "let a = 1;\n",
        "function f() { return a; }",
        "\nf();\n",
    )


def test_files_that_are_not_read() -> None:
    with pytest.raises(SourceError, match="Flow"):
        JAVASCRIPT_FILES.places("/* @flow */\nfunction f() {}\n")
    with pytest.raises(SourceError, match="packed"):
        JAVASCRIPT_FILES.places("f();" * 1000)
    data = b"function f(a: number): number { return a < 1 ? <any>2 : 3; }\n"
    assert rewritten(TYPESCRIPT_FILES, data, "rename-parameters")[1] == {"f": "applied"}
    assert rewritten(JAVASCRIPT_FILES, data, "rename")[0] == data


def test_files_with_types_that_say_how_they_vary_are_read() -> None:
    text = """
interface A<in T = never> { (one: T): void }
interface B<out T, in out U> extends A<U> { b: T }
class C<
  // why
  out Output = unknown,
  /** of a tool */
  in Input = never,
> {
  m(a: number) { let b = a; return b; }
}
type D<const in out T> = T;
function f(a: number) { for (const b in [a]) return b; }
"""
    places = TYPESCRIPT_FILES.places(text)
    assert [place.name for place in places] == ["C.m", "f"]
    assert [text.encode()[place.start : place.end].decode().partition("(")[0] for place in places] == [
        "m",
        "function f",
    ]
    assert TYPESCRIPT_FILES.decode(text.encode()).compiles(
        text.replace("let b = a; return b", "let c = a; return c")
    )
    assert not TYPESCRIPT_FILES.decode(text.encode()).compiles(text.replace("in T = never", "out T = never"))


_HIDING = (
    "let # = 1;", "var a, # = 1;", "function f(#) {}", "function #() {}", "(a, #) => 1;", "({ # }) => 1;",
    "({ a: # }) => 1;", "([#]) => 1;", "(...#) => 1;", "(# = 1) => 1;", "let { a: # = 1 } = b;", "let [, #] = a;",
    "import # from 'a';", "import { a as # } from 'a';", "import * as # from 'a';", "class # {}", "for (const # of a);",
    "try { } catch (#) { }", "try { } catch ({ # }) { }", "let [a = 1, { # }] = b;", "function* #() {}",
    "x = function (#) {};", "class A { m(#) {} }", "var { ...# } = a;",
)  # fmt: skip
_USING = (
    "a === #;", "f(#, 1);", "let a = #;", "a = b ? # : 1;", "function f() { return #; }", "x = { a: # };", "x = [#];",
    "a.#;", "a.# = 1;", "(#);", "typeof #;", "// #", "x = '#';", "x = /#/;", "x = `#`;", "x = `${#}`;", "void #;",
)  # fmt: skip


@pytest.mark.parametrize("name", ["undefined", "NaN", "Infinity"])
@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_what_the_parsers_tree_tells_of_hidden_names_is_what_our_nodes_tell(name: str, language: str) -> None:
    use = f"function f() {{ return {name}; }}"
    used = [line.replace("#", name) for line in _USING]
    for number, form in enumerate(_HIDING):
        text = "\n".join([*used[: number % len(used)], form.replace("#", name), *used[number % len(used) :]])
        obstacle = obstacle_in_file(use, text, language=language)
        try:
            hidden = hides_fixed(read(text, language))
        except SourceError:
            hidden = frozenset()
        assert obstacle == (REBOUND if hidden else None), text
        assert obstacle == REBOUND or language == "typescript", text
    assert obstacle_in_file(use, "\n".join(used), language=language) is None
    assert (
        obstacle_in_file(use, f"{used[0]} '\udc80'; let {name};", language=language) is None
    )  # no file has it
