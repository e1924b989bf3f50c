"""The ledger of JavaScript, entry by entry, by execution.

For each entry other code does not keep to it, and an edit changes what the program does: so the entry is
needed. And for each entry a file shows the same itself, and the edit is refused.
"""

from typing import Final, NamedTuple

import pytest

from codeaudit.transforms.javascript.ledger import LEDGER, shown_in
from codeaudit.transforms.perturb import DENIED, perturb_one
from codeaudit.transforms.records import NotApplied, Origin, Outcome, Perturbed, Sample
from codeaudit.transforms.registry import rests_on, transform_for
from tests.support.javascript_running import needs_node, outputs


class Program(NamedTuple):
    """A function that a transform rewrites, and other code."""

    transform: str
    function: str
    caller: str

    def variants(self, context: str = "") -> list[Outcome]:
        """What the transform makes of the function."""
        sample = Sample(
            id="ledger", language="javascript", source=self.function, label=None, context=context,
            origin=Origin(path="a.js", line=1),
        )  # fmt: skip
        return list(perturb_one(sample, transform_for(self.transform, "javascript"), variants=3, seed=0))


FIRST: Final = "function f(list) {\n    const all = list;\n    return [...all];\n}\n"
BROKEN: Final = {
    "source-unread": Program("rename", FIRST, "print(String(f));"),
    "positions-unread": Program(
        "insert-blank-lines", FIRST, "try { f(1); } catch (e) { print(e.stack.match(/:(\\d+):/)[1]); }"
    ),
    "columns-unread": Program(
        "rename",
        "function f(list) { const all = list; return all + null.x; }\n",
        "try { f(1); } catch (e) { print(e.stack.match(/:\\d+:(\\d+)/)[1]); }",
    ),
    "messages-unread": Program("rename", FIRST, "try { f(1); } catch (e) { print(e.message); }"),
    "frames-unread": Program(
        "reorder",
        "function f(a) {\n    a = 2;\n    for (const b of [1]) {\n        peek();\n    }\n    return a;\n}\n",
        "function peek() { print(f.arguments[0]); } f(1);",
    ),
    "parameter-names-unread": Program(
        "rename-parameters", FIRST, "print(/\\((.*?)\\)/.exec(Function.prototype.toString.call(f))[1]);"
    ),
}


def _read(name: str) -> tuple[str, ...]:
    """Handlers that read a property of an exception, in every form."""
    return (
        f"(e) {{ print(e.{name}); }}",
        f"(e) {{ print(e?.{name}); }}",
        f'(e) {{ print(e["{name}"]); }}',
        f"(e) {{ const {{ {name}, name }} = e; print({name}); }}",
        f"(e) {{ const {{ name, {name}: text = '' }} = e; print(text); }}",
        f"({{ {name} }}) {{ print({name}); }}",
    )


_AS_TEXT: Final = (
    "const text = String(f); print(text.indexOf('all'));",
    "const text = f.toString(); print(text.split('{')[0]);",
    "print(`${f}`);",
    "print('' + f);",
    "print(f + '');",
    "print(JSON.stringify({ f }, (key, value) => (typeof value === 'function' ? value.toString() : value)));",
    "const show = (x) => { if (typeof x === 'function') return `${x}`; }; print(show(f));",
    "class C { m() { return f; } n() { return this.m.toString(); } } print(new C().n());",
    "const body = (fn) => fn.toString(); print(body(f));",
    "const body = (callback) => String(callback); print(body(f));",
    "try { assert(f(1)); } catch (error) { print(error.message); }",
    "assert.throws(g, { generatedMessage: true });",
    "assert.throws(g, /The expression evaluated to a falsy value/);",
)
"""Other code that makes a text of a function, or reads one of a call."""
SHOWN: Final = (
    *(("source-unread", f"{FIRST}{text}\n") for text in _AS_TEXT),
    ("source-unread", FIRST + "print(Function.prototype.toString.call(f));\n"),
    ("source-unread", FIRST + "print(Function.toString.call(f));\n"),
    ("source-unread", FIRST + "for (const { type, object } of frame.scopeChain) print(type, object);\n"),
    *(
        ("source-unread", FIRST + f"print(f.toString().{cut});\n")
        for cut in ("match(/all/)", "indexOf('all')", "includes('all')")
    ),
    *(
        ("source-unread", FIRST + f"print({own});\n")
        for own in (
            "fs.readFileSync(__filename, 'utf8')",
            "readFileSync(path.resolve(__filename))",
            "statSync(__filename).size",
            "fs.createReadStream( __filename )",
            "await readFile(new URL(import.meta.url))",
            "readFileSync(process.argv[1], 'utf8')",
            "readFileSync(require.main.filename)",
            "readFileSync(module.filename)",
            "readFileSync(url.fileURLToPath(import.meta.url)).length",
            "await Deno.readTextFile(import.meta.filename)",
        )
    ),
    *(("positions-unread", FIRST + f"try {{ f(1); }} catch {text}\n") for text in _read("stack")),
    *(
        ("columns-unread", FIRST + f"try {{ f(1); }} catch {text}\nconst column = /:(\\d+):(\\d+)/;\n")
        for text in _read("stack")
    ),
    (
        "positions-unread",
        FIRST + "session.once('x', ({ params: { callFrames: [top] } }) => print(top.lineNumber));\n",
    ),
    ("columns-unread", FIRST + "parse(new Error().stack, (frame) => print(frame.columnNumber));\n"),
    ("columns-unread", FIRST + "Error.prepareStackTrace = (_, sites) => sites[0].getColumnNumber();\n"),
    *(
        (
            "messages-unread",
            FIRST + f"const own = (e) => e instanceof TypeError; try {{ f(1); }} catch {text}\n",
        )
        for text in _read("message")
    ),
    ("messages-unread", FIRST + "try { f(1); } catch (e) { print(/^list is not iterable/.test(e)); }\n"),
    *(
        ("messages-unread", FIRST + f"{text}\n")
        for text in (
            "expect(() => f(1)).toThrow('list is not iterable');",
            "expect(() => f(1)).toThrowErrorMatchingInlineSnapshot(`list is not iterable`);",
            "expect(() => f(1)).to.throw('list is not iterable');",
            "try { f(1); } catch (e) { assert.equal(String(e), 'TypeError: list is not iterable'); }",
        )
    ),
    ("messages-unread", FIRST + "assert.throws(() => f(1), { message: 'list is not iterable' });\n"),
    ("frames-unread", FIRST + "function g() { print(f.arguments.length); }\n"),
    ("frames-unread", FIRST + "function g() { print(f['arguments'].length); }\n"),
    ("frames-unread", FIRST + "function g() { const { arguments: list } = f; print(list); }\n"),
    ("parameter-names-unread", FIRST + "async.autoInject({ list: make, all: f });\n"),
    ("parameter-names-unread", FIRST + "angular.injector().invoke(f); f.$inject = ['list'];\n"),
)


@needs_node
@pytest.mark.parametrize("name", LEDGER)
def test_an_edit_is_seen_where_an_entry_that_it_rests_on_is_false(name: str) -> None:
    made = BROKEN[name]
    edits = [variant for variant in made.variants() if isinstance(variant, Perturbed)]
    assert edits
    assert all(name in {row.id for row in rests_on(edit)} for edit in edits)
    before, *after = outputs(
        [text + made.caller for text in (made.function, *(edit.source for edit in edits))]
    )
    assert before
    assert any(output != before for output in after)


@pytest.mark.parametrize(("entry", "file"), SHOWN)
def test_an_edit_is_refused_where_its_file_shows_that_an_entry_is_false(entry: str, file: str) -> None:
    outcomes = BROKEN[entry].variants(file)
    assert {outcome.reason for outcome in outcomes if isinstance(outcome, NotApplied)} == {f"{DENIED}{entry}"}
    assert not any(isinstance(outcome, Perturbed) for outcome in outcomes)


def test_a_text_of_what_may_be_no_function_shows_nothing() -> None:
    for text in (
        "const total = (f) => `${f}`;", "for (const f of [1]) print(f + '');", "const { f } = sizes; print(String(f));",
        "const text = n.toString(); print(text);", "print('' + f(1), `${f.length}`);",
        "if (typeof x === 'function') print(+x.size);",
        "class C { m() { } n() { this.m = 1; return this.m.toString(); } }",
        "class C { get m() { return 1; } n() { return `${this.m}`; } }",
        "print(Math.pow(10, Math.max(0, n)).toString().substr(1), data.toString().split('\\n'));",
        "print(lineNumber.toString().replace(/\\d/g, ''), stdout.toString().slice(1));",
        "const built = (g) => Function.toString.call(g).indexOf('[native code]') !== -1;",
    ):  # fmt: skip
        assert "source-unread" not in shown_in(f"{FIRST}{text}\n"), text


def test_a_name_that_means_no_function_by_custom_may_mean_one_of_the_file() -> None:
    assert "source-unread" in shown_in(
        "function data() { return 1; }\nprint(data.toString().split('\\n'));\n"
    )
    assert "source-unread" in shown_in("const cut = (task, n) => task.toString().slice(n);\n")
    assert "source-unread" in shown_in("print(Math.max(1, 2), (f).toString().slice(1));\n")
    tested = "const cut = (data) => (typeof data === 'function' ? data.toString().slice(1) : '');\n"
    assert "source-unread" in shown_in(tested)


def test_comments_show_nothing_and_lines_keep_their_numbers() -> None:
    comments = "// e.stack of Function.prototype\n/* f.arguments,\n   e.stack */\n"
    assert shown_in(f"{FIRST}{comments}") == {}
    assert "source-unread" in shown_in(f"{FIRST}print(typeof/**/Function.prototype);\n")
    written = f"{FIRST}{comments}print(e.stack);\n"
    assert shown_in(written)["positions-unread"] == written.count("\n")
    assert "positions-unread" in shown_in(f"{FIRST}const s = '//'; print(e.stack);\n")
    assert "positions-unread" in shown_in(f"{FIRST}const s = /[/*]/; print(e.stack); const t = /[*/]/;\n")
    assert "positions-unread" in shown_in(f"{FIRST}const s = `// ${{e.stack}}`;\n")
    assert "positions-unread" in shown_in(f"// {FIRST.splitlines()[0]}\n not JavaScript // e.stack\n")


def test_what_is_spread_or_written_is_not_read() -> None:
    for text in ("g(...arguments);", "g([...stack]);", "e.stack = '';", "Error.captureStackTrace(e, f);"):
        assert shown_in(f"{FIRST}{text}\n") == {}, text
    for text in ("print(g.arguments);", "e.stack += '';", "print(e.stack == '');", "g = (e) => e.stack;"):
        assert shown_in(f"{FIRST}{text}\n"), text


def test_every_entry_has_its_programs() -> None:
    assert BROKEN.keys() == LEDGER.keys() == {name for name, _ in SHOWN}
