"""The short proof of a renaming holds only where the long one, which reads the text again, holds, too."""

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.identifiers.rename import JavaScriptVariables
from codeaudit.transforms.javascript.parsing import JAVASCRIPT, TYPESCRIPT
from codeaudit.transforms.syntax.scopes import renamed

TEXTS = (
    "function f(a, b) { const c = { a, b }; let { d, e = d } = c; return { d, e, a: a.b } }",
    "f({ a, b: [c] }) { for (const { d } of a) { let a = d; g({ a, c, d }) } return { c } }",
    "const f = ({ a }, b = () => ({ a })) => { ({ a, b } = h(a)); return [a, { b }] }",
    "async f(a) { try { await a } catch ({ b }) { return { a, b, ...a } } if (a < b) { let b = {}; b.a = { b } } }",
    "function f(a) { n: while (a) { let n = { a }; if (n) break n } return function (b) { return { a, b } } }",
)
NAMES = ("x", "y", "async", "get", "of", "let", "eval", "__proto__", "a", "g", "ü", "type")


def _holds(known: JavaScriptVariables, text: str, names: Mapping[int, str], *, short: bool) -> bool:
    try:
        if short:
            return known.proves_briefly(text, names)
        before = known.compared(names)
        return before is not None and renamed(before, known.resolve(text), names)
    except SourceError:
        return False


@pytest.mark.parametrize("language", [JAVASCRIPT, TYPESCRIPT])
def test_the_short_proof_implies_the_long_one(language: str) -> None:
    rng = Random(1)
    met: Counter[tuple[bool, bool]] = Counter()
    for source in TEXTS:
        known = JavaScriptVariables(source, language)
        bindings = [binding for binding in known.bindings if binding.occurrences]
        for _ in range(60):
            some = rng.sample(bindings, min(len(bindings), rng.randrange(1, 3)))
            pool = [binding.name for binding in bindings] + list(NAMES)
            names = {binding.number: rng.choice(pool) for binding in some}
            text = known.rewritten(names)
            long = _holds(known, text, names, short=False)
            short = _holds(known, text, names, short=True)
            assert long or not short, (text, names)
            met[long, short] += 1
    assert met[True, True] > 30
    assert met[False, False] > 30
    assert met[True, False] < met[True, True] / 5
