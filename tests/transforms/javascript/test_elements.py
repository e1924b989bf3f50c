"""Functions with elements (JSX, TSX): every edit keeps what the compiled program does."""

import json
import subprocess
from random import Random
from typing import Final

import pytest

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.javascript.files import JAVASCRIPT_FILES, TYPESCRIPT_FILES
from codeaudit.transforms.javascript.parsing import JAVASCRIPT, TYPESCRIPT
from codeaudit.transforms.javascript.types import Compiler, find_compiler
from codeaudit.transforms.registry import ALL, expand, transform_for

COMPILER: Final = find_compiler()
needs_compiler: Final = pytest.mark.skipif(COMPILER is None, reason="TypeScript is not installed")

ELEMENTS: Final = {
    "names of tags": "function f(o) { const Box = o.tag; const size = 2; return <Box size={size}><b/>{size}</Box>; }",
    "small letter": "function f(o) { const b = 'i', div = 1; return <b div={div}>{b}</b>; }",
    "member": "function f(o) { const ui = o, one = ui.tag; return <ui.tag id={one}><ui.tag/></ui.tag>; }",
    "spread": "function f(o) { const more = { a: 1, ...o }; const last = [<i key='1'/>]; return <b {...more}>{...last}</b>; }",
    "fragment": "function f(o) { const one = 1; let two = one + 1; return <><b>{one}</b>{two}{/* c */}</>; }",
    "text": "function f(o) { const text = 'a'; return <b title=\"a &amp; b\">text {text} isn't {'{'} a\n  b</b>; }",
    "children": "function f(o) { return <b>{o.list.map((one) => <i key={one}>{one > 1 ? one : null}</i>)}</b>; }",
    "branches": "function f(o) { let made; if (o.list.length > 1) { made = <b/>; } else { made = <i/>; } "
    "return o.list && made; }",
    "attribute": "function f(o) { const on = true; return <b on off={!on} a={<i/>} s={`x${on}`} data-on={on}/>; }",
    "closures": "function f(o) { function Inner(given) { const n = given.n + 1; return <i>{n}</i>; } "
    "return <Inner n={o.list[0]}/>; }",
    "lines": "function f(o) {\n  const a = 1;\n  const b = 2;\n  return (\n    <b\n      a={a}\n    >\n      {b}\n    </b>\n  );\n}",
}  # fmt: skip
TYPED: Final = {
    "generic arrow": "const f = <T,>(o: T): unknown => { const own: T = o; return <b a={(own as any).list}>{own as any}</b>; };",
    "bound": "const f = <T extends object>(o: T) => { const one = o as any; return <b {...one}/>; };",
    "type of a tag": "function f(o: any) { const Tag: any = o.tag; const n: number = 1; return <Tag<string> n={n as number}/>; }",
    "assertion": "function f(o: any): any { const list = o.list!; return <b a={list satisfies any}>{list[0]!}</b>; }",
}  # fmt: skip
_AROUND: Final = """
const React = { createElement: (type, given, ...children) => ({ type: typeof type === "function" ? type(given ?? {}) : type, given, children }), Fragment: "all" };
const show = (one) => JSON.stringify(one, (_, each) => (typeof each === "function" ? "f" : each));
"""
_CALL: Final = "show(f({ tag: 'u', list: [1, 2], a: 3 }))"


def printed(texts: list[str], typed: bool) -> list[str]:
    """What each function gives, compiled by TypeScript and run by node."""
    assert isinstance(COMPILER, Compiler)
    program = f"""
        const ts = require({json.dumps(str(COMPILER.folder))});
        const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
        const options = {{ fileName: "f.{"tsx" if typed else "jsx"}", reportDiagnostics: true, compilerOptions: {{ target: 99, module: 1, jsx: 2 }} }};
        console.log(JSON.stringify(texts.map((text) => {{
            const made = ts.transpileModule(text, options);
            if (made.diagnostics.length) return "! " + ts.flattenDiagnosticMessageText(made.diagnostics[0].messageText, " ");
            return require("vm").runInNewContext({json.dumps(_AROUND)} + made.outputText + "\\n;" + {json.dumps(_CALL)});
        }})));
    """
    done = subprocess.run(
        [COMPILER.node, "-e", program],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    lines: list[str] = json.loads(done.stdout)
    return lines


def variants(source: str, language: str) -> dict[str, str]:
    """The text after each transform that keeps the meaning and changes it."""
    texts = {}
    for name in expand([ALL], languages=[language]):
        rule = transform_for(name, language)
        moves = rule.propose(source, Random(0))
        made = moves if isinstance(moves, Refused) else rule.apply(source, moves)
        if not isinstance(made, Refused) and made.source != source:
            texts[name] = made.source
    return texts


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("language", [JAVASCRIPT, TYPESCRIPT])
def test_every_edit_keeps_what_elements_become(language: str) -> None:
    sources = {**ELEMENTS, **(TYPED if language == TYPESCRIPT else {})}
    made = {name: variants(source, language) for name, source in sources.items()}
    assert all(made.values())
    assert sum(map(len, made.values())) > 80
    texts = [text for name, source in sources.items() for text in (source, *made[name].values())]
    shown = iter(printed(texts, language == TYPESCRIPT))
    for name, ones in made.items():
        expected = next(shown)
        assert expected.startswith(("{", "[")), (name, expected)
        for rule in ones:
            assert next(shown) == expected, (name, rule, ones[rule])


def test_names_of_tags_keep_their_case_and_other_names_of_elements_are_renamed() -> None:
    text = variants(ELEMENTS["names of tags"], JAVASCRIPT)["rename"]
    assert "const Box = o.tag" in text
    assert "size={size}" not in text
    assert " size={" in text
    text = variants(ELEMENTS["small letter"], JAVASCRIPT)["rename"]
    assert text.endswith("</b>; }")
    assert "<b div={" in text
    assert "const b = 'i'" not in text


def test_files_with_elements_are_read() -> None:
    text = "\n".join(ELEMENTS.values())
    assert len(JAVASCRIPT_FILES.places(text)) == len(ELEMENTS)
    whole = "\n".join((*ELEMENTS.values(), *TYPED.values()))
    places = TYPESCRIPT_FILES.places(whole)
    assert len(places) == len(ELEMENTS) + len(TYPED)
    assert [place.obstacle for place in places if place.obstacle] == []
