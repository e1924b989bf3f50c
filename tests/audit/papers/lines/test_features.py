"""Words, vocabulary and features of functions."""

from collections import Counter

import numpy as np
import pytest

from codeaudit.audit.papers.lines import encoding
from codeaudit.audit.papers.lines.encoding import (
    LINE_TOKENS,
    PAD,
    UNKNOWN,
    EncodedLines,
    LineEncoder,
    Relation,
    line_words,
    wordpiece_tokenizer,
)
from codeaudit.audit.papers.lines.words import LineProgram, analyse, masked_name, words
from codeaudit.audit.records import Failed
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.python.analysis.program import PythonLine
from tests.support import stdlib
from tests.support.networks import CHAIN, LABELS, SMALL, legal_orders, tokenizer


def said(text: str, *, depth: int = 0, name: str = "MASK") -> list[str]:
    return list(words(PythonLine(text=text, depth=depth, parent=-1), name))[1:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("return readText2(my_file)", ["return", "read", "text", "(", "my", "file", ")"]),
        ("x //= y ** 2 if a is not None else ...", ["x", "//=", "y", "**", "2", "if", "a", "is", "not", "none", "else", "..."]),
        ("n = 12345 + 0x1F + 10", ["n", "=", "<num>", "+", "<num>", "+", "10"]),
        ("raise ValueError('Not a valid file name here')", ["raise", "value", "error", "(", "<str>", "not", "valid", "file", "name", ")"]),
        ("return MASK(n - 1)", ["return", "<name>", "(", "n", "-", "1", ")"]),
        ("_ = __", ["_", "=", "_"]),
        ("été = 1", ["été", "=", "1"]),
    ],
)  # fmt: skip
def test_a_line_falls_into_words(text: str, expected: list[str]) -> None:
    assert said(text)[: len(expected)] == expected


@pytest.mark.parametrize(("depth", "word"), [(0, "<d0>"), (6, "<d6>"), (40, "<d6>")])
def test_the_depth_comes_first(depth: int, word: str) -> None:
    assert next(words(PythonLine(text="pass", depth=depth, parent=-1))) == word


def test_the_mask_is_the_name_even_where_it_had_to_be_numbered() -> None:
    assert masked_name("def MASK_2(MASK, a):") == "MASK_2"
    assert said("MASK_2(MASK)", name="MASK_2") == ["<name>", "(", "mask", ")"]
    assert masked_name("async def MASK(a):") == "MASK"
    assert masked_name("def read(a):") == "MASK"


def test_the_vocabulary_has_labels_whole_and_leaves_no_ascii_word_unknown() -> None:
    made = tokenizer()
    assert made.get_vocab_size() == 700
    assert made.token_to_id(PAD) == 0
    assert all(made.token_to_id(label) is not None for label in LABELS)
    known = set(made.get_vocab())
    for source in stdlib.sample(30):
        coded = made.encode(source.lower().split(), is_pretokenized=True).tokens
        assert set(coded) <= known - {UNKNOWN}


def test_the_vocabulary_depends_on_counts_alone_not_on_their_order() -> None:
    counts = Counter({"alpha": 3, "beta": 3, "gamma": 9, "unusual": 1})
    turned = Counter(dict(reversed(list(counts.items()))))
    assert (
        wordpiece_tokenizer(counts, ["get"], size=120).to_str()
        == wordpiece_tokenizer(turned, ["get"], size=120).to_str()
    )


def encoder(*, window: int = 256) -> LineEncoder:
    return LineEncoder(tokenizer(), window=window, relation="every")


def test_tokens_know_their_line_and_their_place_in_it() -> None:
    encoded = encoder().encode("def MASK(a):\n    return a\n")
    assert isinstance(encoded, EncodedLines)
    assert encoded.lines == 2
    assert encoded.line.tolist() == [0] * 7 + [1] * 3
    assert encoded.position.tolist() == [*range(7), *range(3)]
    assert encoded.relation.shape == (3, 2, 2)


def test_comments_docstrings_and_layout_are_not_seen() -> None:
    plain = encoder().encode("def MASK(a):\n    return a+1\n")
    dressed = encoder().encode(
        'def MASK( a ):\n    """What it does."""\n\n    # why\n    return (a +\n        1)\n'
    )
    assert isinstance(plain, EncodedLines)
    assert isinstance(dressed, EncodedLines)
    assert (plain.ids == dressed.ids).all()
    assert (plain.relation == dressed.relation).all()


def test_a_long_line_is_cut_inside_itself() -> None:
    encoded = encoder().encode(f"def MASK(a):\n    x = [{', '.join(['a'] * 90)}]\n    return x\n")
    assert isinstance(encoded, EncodedLines)
    assert np.bincount(encoded.line).tolist() == [7, LINE_TOKENS, 3]


@pytest.mark.parametrize("source", SMALL)
def test_no_legal_order_changes_whether_an_input_is_too_long(source: str) -> None:
    whole = encoder().encode(source)
    assert isinstance(whole, EncodedLines)
    length = len(whole.ids)
    for order in legal_orders(source):
        assert isinstance(encoder(window=length).encode(order.source), EncodedLines)
        assert encoder(window=length - 1).encode(order.source) == Failed(reason="input too long")


@pytest.mark.parametrize("source", ["def (", "", "# nothing\n", "x = '", "def f():\n\0", "\ud800"])
def test_what_does_not_parse_is_a_failure_not_an_exception(source: str) -> None:
    assert encoder().encode(source) == Failed(reason="source does not parse")


def test_permuting_lines_permutes_tokens_and_both_axes() -> None:
    encoded = encoder().encode(CHAIN)
    assert isinstance(encoded, EncodedLines)
    order = (0, 2, 1, 3, 4)
    moved = encoded.permuted(order)
    assert moved.relation[0].tolist() == encoded.relation[0][list(order)][:, list(order)].tolist()
    assert sorted(moved.ids.tolist()) == sorted(encoded.ids.tolist())
    assert (moved.permuted(order).ids == encoded.ids).all()


def test_every_relation_is_the_mask_and_both_distances() -> None:
    encoded = encoder().encode(CHAIN)
    assert isinstance(encoded, EncodedLines)
    mask, near, far = encoded.relation
    assert set(np.unique(mask)) <= {0, 1}
    assert (mask.diagonal() == 1).all()
    assert (near == far.T).all()
    assert (near.diagonal() == 0).all()


# ── words to copy ────────────────────────────────────────────────────────────────────────────────────────

COPIED = "def MASK(total, zyxwvut):\n    for one in zyxwvut:\n        total += one.value_2x\n    return total, zyxwvut\n"


def test_words_of_letters_that_are_no_labels_can_be_copied() -> None:
    encoded = LineEncoder(tokenizer(), window=256, relation="none", labels=LABELS).encode(COPIED)
    assert isinstance(encoded, EncodedLines)
    assert encoded.copies is not None
    assert encoded.words == ("def", "for", "in", "one", "return", "x", "zyxwvut")
    assert encoded.spoken == len(encoded.words)
    begun = [encoded.words[number - 1] for number in encoded.copies if number]
    assert Counter(begun) == {"def": 1, "zyxwvut": 3, "for": 1, "one": 2, "in": 1, "x": 1, "return": 1}
    # A rare word is several tokens; it begins at the first of them.
    pieces = tokenizer().encode(["zyxwvut"], is_pretokenized=True).ids
    assert len(pieces) > 1
    for place in np.flatnonzero(encoded.copies == encoded.words.index("zyxwvut") + 1):
        assert encoded.ids[place : place + len(pieces)].tolist() == pieces


def test_without_labels_nothing_is_copied() -> None:
    encoded = encoder().encode(COPIED)
    assert isinstance(encoded, EncodedLines)
    assert encoded.copies is None
    assert encoded.words == ()


def test_one_reader_serves_encoders_that_copy_and_that_do_not() -> None:
    plain = encoder().encode(COPIED)
    copying = LineEncoder(tokenizer(), window=256, relation="every", labels=LABELS)
    others = LineEncoder(tokenizer(), window=256, relation="every", labels=["zyxwvut"])
    encoded, more = copying.encode(COPIED), others.encode(COPIED)
    assert isinstance(plain, EncodedLines)
    assert isinstance(encoded, EncodedLines)
    assert isinstance(more, EncodedLines)
    assert (plain.ids == encoded.ids).all()
    assert set(more.words) == {*encoded.words, "total", "value"} - {"zyxwvut"}


@pytest.mark.parametrize("source", SMALL)
def test_a_legal_order_keeps_the_numbers_of_the_words_to_copy(source: str) -> None:
    copying = LineEncoder(tokenizer(), window=256, relation="none", labels=LABELS)
    original = copying.encode(source)
    assert isinstance(original, EncodedLines)
    assert original.spoken
    for order in legal_orders(source):
        encoded = copying.encode(order.source)
        assert isinstance(encoded, EncodedLines)
        assert encoded.words == original.words
        assert encoded.copies is not None
        assert encoded.copies.tolist() == np.asarray(original.permuted(order.lines).copies).tolist()


# ── reading each text once ───────────────────────────────────────────────────────────────────────────────

KINDS: tuple[Relation, ...] = ("mask", "none", "distances", "every")


def same(one: EncodedLines | Failed, other: EncodedLines | Failed) -> bool:
    if isinstance(one, Failed) or isinstance(other, Failed):
        return one == other
    names = ("ids", "line", "position", "relation")
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def test_encoders_of_one_kind_read_each_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()

    def counted(source: str, language: str, dependence: Dependence) -> LineProgram:
        read[source] += 1
        return analyse(source, language, dependence)

    texts = [CHAIN, *SMALL, "def MASK(:", *stdlib.sample(8)]
    alone = {
        kind: [LineEncoder(tokenizer(), window=256, relation=kind).encode(text) for text in texts]
        for kind in KINDS
    }
    monkeypatch.setattr(encoding, "analyse", counted)
    encoders = {kind: LineEncoder(tokenizer(), window=256, relation=kind) for kind in KINDS}
    for kind, reader in encoders.items():
        refused = [reader.refusal(text) for text in texts]
        encoded = [reader.encode(text) for text in texts]
        assert all(map(same, encoded, alone[kind]))
        assert refused == [each if isinstance(each, Failed) else None for each in encoded]
    assert read == Counter(texts)
    # Under another relation between statements, a text is another graph.
    LineEncoder(tokenizer(), window=256, relation="mask", dependence="returning").encode(CHAIN)
    assert read[CHAIN] == 2


@pytest.mark.parametrize("first", [("none", 256), ("mask", 10), ("none", 10), ("mask", 256)])
def test_an_encoder_that_needs_more_gets_it_whoever_came_before(first: tuple[Relation, int]) -> None:
    relation, window = first
    alone = LineEncoder(tokenizer(), window=256, relation="distances").encode(CHAIN)
    assert isinstance(alone, EncodedLines)
    before = LineEncoder(tokenizer(), window=window, relation=relation)
    early = before.encode(CHAIN)
    assert isinstance(early, Failed) == (window == 10)
    assert same(LineEncoder(tokenizer(), window=256, relation="distances").encode(CHAIN), alone)
    assert same(before.encode(CHAIN), early)


def test_only_the_latest_texts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "KEPT", 3)
    reader = encoder()
    texts = [f"def MASK(a):\n    return a + {number}" for number in range(5)]
    for text in texts:
        reader.encode(text)
    reader.encode(texts[2])
    reader.encode("def MASK(a):\n    return None")
    assert [source.splitlines()[1].split()[-1] for source, _ in reader._reader._read] == ["4", "2", "None"]


def test_words_are_tokens_as_the_tokenizer_makes_them_of_whole_lines() -> None:
    made = tokenizer()
    for source in [CHAIN, *SMALL, *stdlib.sample(20)]:
        encoded = encoder(window=4096).encode(source)
        assert isinstance(encoded, EncodedLines)
        lines = line_words(analyse(source, "python"), "python", "none")
        assert not isinstance(lines, Failed)
        for number, line in enumerate(lines):
            texts = [word.text for word in line]
            whole = made.encode(texts, is_pretokenized=True, add_special_tokens=False).ids
            assert encoded.ids[encoded.line == number].tolist() == whole[:LINE_TOKENS]
