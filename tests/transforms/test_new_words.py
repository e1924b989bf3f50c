"""Texts with new words share one proof: it must say what a proof of their own would say."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import CodeType

import pytest

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.identifiers.rename import RENAME as RENAME_JAVA
from codeaudit.transforms.java.identifiers.rename import JavaVariables
from codeaudit.transforms.naming import Lexicon
from codeaudit.transforms.python.identifiers import rename as python_rename
from codeaudit.transforms.python.identifiers.names import PYTHON
from codeaudit.transforms.python.identifiers.rename import PythonVariables
from codeaudit.transforms.python.parsing import compiled
from codeaudit.transforms.renaming import NewWords, RenamableVariables, RenameVariables
from tests.support.stdlib import sample

JAVA: Sequence[str] = (
    "int f(int n) { int a = n; int b = a + 1; return a * b; }",
    "void g() { for (int i = 0; i < 3; i++) { String s = t; use(s, i); } for (int i = 9; i > 0; i--) use(i); }",
    "int h(Object o) { if (o instanceof String s && s.length() > 2) { int k = s.length(); return k; } return 0; }",
    "Runnable r(int p) { int q = p; return () -> { int z = q; System.out.println(z); }; }",
    "int x() { a: for (;;) { int a = 1; if (a > 0) break a; } return 0; }",
    "void c() { Object v = new Object() { int w = 1; int m(int u) { return w + u; } }; use(v); }",
)  # fmt: skip
CELLS = "def f(a):\n    x = y = a\n    return lambda: x + y\n"


def drawn(variables: RenamableVariables, rename: RenameVariables, source: str) -> list[Mapping[int, str]]:
    """Names of four variants, each with one half of its moves besides."""
    mappings: list[Mapping[int, str]] = []
    for seed in range(4):
        moves = rename.propose(source, Random(seed))
        if isinstance(moves, Refused):
            return []
        names = {move.site: str(move.value) for move in moves}
        mappings += [names, dict(list(names.items())[::2]), dict(list(names.items())[1::2])]
    # Old names of others: these are no new words.
    names = {number: variables.bindings[number].name for number in mappings[0]}
    mappings.append(dict(zip(names, [*list(names.values())[1:], "spare"], strict=True)))
    return [mapping for mapping in mappings if mapping]


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("made", "rename", "sources"),
    [
        (PythonVariables, python_rename.RENAME, lambda: (*sample(150), CELLS)),
        (PythonVariables, python_rename.RENAME_RANDOM, lambda: (*sample(60), CELLS)),
        (JavaVariables, RENAME_JAVA, lambda: JAVA),
    ],
    ids=["python", "random", "java"],
)
def test_a_shared_proof_says_what_an_own_one_says(
    made: Callable[[str], RenamableVariables], rename: RenameVariables, sources: Callable[[], Sequence[str]]
) -> None:
    agreed, texts = 0, sources()
    for source in texts:
        shared = made(source)
        for names in drawn(shared, rename, source):
            text = shared.rewritten(names)
            alone = made(source)
            assert alone.rewritten(names) == text
            assert shared.proof(text, names) == alone.proof(text, names), (source, names)
            agreed += 1
            # What was not made by these names has to prove itself.
            assert shared.proof(text + "\nx = 1", names) is None
            wrong = text.replace(next(iter(names.values())), "other", 1)
            assert shared.proof(wrong, names) == alone.proof(wrong, names)
    assert agreed > len(texts)


def test_one_text_is_compiled_for_all_with_new_words(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(text: str) -> CodeType | None:
        asked.append(text)
        return compiled(text)

    monkeypatch.setattr(python_rename, "compiled", counted)
    for source, expected in (("def f(a):\n    x = a\n    y = x\n    return y\n", 2), (CELLS, 5)):
        asked.clear()
        shared = PythonVariables(source)
        numbers = [binding.number for binding in shared.bindings if binding.view == "local"]
        for words in (("one", "two"), ("three", "four"), ("five",), ("six", "seven")):
            names = dict(zip(numbers, words, strict=False))
            assert shared.proof(shared.rewritten(names), names) is not None
        assert len(asked) == expected


WORDS = {"a", "b", "print"}


@pytest.mark.parametrize(
    "names",
    [
        {0: "a", 1: "new"},  # a word of the text
        {0: "same", 1: "same"},
        {0: "ﬁne", 1: "new"},  # the compiler reads "fine"
        {0: "if", 1: "new"},
        {0: "__private", 1: "new"},
        {0: "1st", 1: "new"},
        {0: "fresh", 2: "new"},  # a variable that no text has shown
    ],
)
def test_other_names_share_nothing(names: Mapping[int, str]) -> None:
    lexicon = Lexicon((), PYTHON.reserved)
    proofs = NewWords(lexicon)
    proofs.show({0: "one", 1: "two"}, WORDS)
    assert proofs.shows(proofs.remember("text", {0: "three"}), {0: "three"}, WORDS)
    assert not proofs.shows(proofs.remember("text", names), names, WORDS)
    assert not proofs.shows("another text", {0: "three"}, WORDS)
    # And a text with such names shows nothing for others.
    silent = NewWords(lexicon)
    silent.show(names, WORDS)
    assert 2 in names or not silent.shows(silent.remember("text", {0: "three"}), {0: "three"}, WORDS)
