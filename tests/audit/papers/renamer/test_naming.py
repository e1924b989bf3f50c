"""Renamer's idea for functions: exactly invariant to renaming variables, and to nothing else."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
import torch

from codeaudit.audit.papers.lines.attention import SameKind
from codeaudit.audit.papers.lines.encoding import NO_REFERENTS, NOT_ONE, EncodedLines, LineEncoder
from codeaudit.audit.papers.lines.trunk import collate
from codeaudit.audit.papers.lines.words import VARIABLE
from codeaudit.audit.papers.renamer.networks import Referents
from codeaudit.audit.papers.spe_attention.networks import build
from codeaudit.audit.records import UNPARSABLE
from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.python.identifiers.rename import (
    RENAME,
    RENAME_MISLEADING,
    RENAME_PARAMETERS,
    RENAME_SHUFFLE,
    PythonRename,
)
from tests.support import stdlib
from tests.support.networks import CHAIN, encoded, legal_orders, logits, network, shape, tokenizer


def words_of(source: str) -> list[tuple[str, int]]:
    """The tokens with their variables; pieces of one word are joined."""
    features = encoded("renamer", source)
    assert features.referents is not None
    pieces = [tokenizer().id_to_token(int(token)) for token in features.ids]
    joined: list[tuple[str, int]] = []
    for piece, referent in zip(pieces, features.referents.tolist(), strict=True):
        if piece.startswith("##"):
            joined[-1] = (joined[-1][0] + piece[2:], referent)
        else:
            joined.append((piece, referent))  # type: ignore[arg-type]
    return joined


def variables_of(source: str) -> list[int]:
    """The numbers of the variables in their order."""
    words = words_of(source)
    assert all((word == VARIABLE) == (number > 0) for word, number in words)
    return [number for _, number in words if number]


def same(one: EncodedLines, other: EncodedLines) -> bool:
    assert one.referents is not None
    assert other.referents is not None
    return all(
        np.array_equal(first, second)
        for first, second in (
            (one.ids, other.ids),
            (one.line, other.line),
            (one.position, other.position),
            (one.referents, other.referents),
        )
    )


@pytest.mark.weekly
@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("transform", "functions"),
    [(RENAME, 200), (RENAME_PARAMETERS, 200), (RENAME_SHUFFLE, 40), (RENAME_MISLEADING, 40)],
)
def test_renaming_changes_no_bit_of_what_is_read_or_said(transform: PythonRename, functions: int) -> None:
    made = network("renamer")
    seen = 0
    for number, source in enumerate(stdlib.sample(900)):
        moves = transform.propose(source, Random(number))
        if not isinstance(moves, tuple):
            continue
        renamed = transform.apply(source, moves)
        if not isinstance(renamed, Rewritten) or renamed.source == source:
            continue
        before, after = encoded("renamer", source), encoded("renamer", renamed.source)
        assert same(before, after), renamed.source
        if seen < 20 and len(before.ids) < 256:
            assert torch.equal(logits(made, before), logits(made, after))
        seen += 1
        if seen == functions:
            break
    assert seen == functions


def test_a_variable_is_its_binding_not_its_name() -> None:
    assert variables_of("def MASK(a, b):\n    a = b\n    return a\n") == [1, 2, 1, 2, 1]
    inner = "def MASK(x):\n    return [x for x in x], (lambda x: x)\n"
    assert variables_of(inner) == [1, 2, 2, 1, 3, 3]


@pytest.mark.parametrize(
    "source",
    [
        "def MASK():\n    return items.items(items=1), MASK\n",
        "def MASK():\n    global total\n    total = 1\n",
        "def MASK():\n    import os\n    return os\n",
        "def MASK():\n    return 'items', items\n",
        "def MASK():\n    class A:\n        items = 1\n    return A\n",
    ],
)
def test_attributes_globals_keywords_and_texts_are_read_as_they_are(source: str) -> None:
    assert variables_of(source) == []


def test_other_names_are_read_beside_variables() -> None:
    words = words_of("def MASK(items):\n    return items.items(items=len(items))\n")
    assert [number for _, number in words if number] == [1, 1, 1]
    assert [word for word, _ in words].count("items") == 2


def test_the_fields_of_f_strings_are_code_and_texts_are_not() -> None:
    text = "def MASK(x, size):\n    return f'the {x} of {size:{x}} things it has got here {x}', 'x size'\n"
    assert variables_of(text) == [1, 2, 1, 2, 1, 1]
    assert [word for word, _ in words_of(text)].count("size") == 1
    assert variables_of("def MASK(x):\n    return f'{x=}'\n")[:2] == [1, 1]


def test_a_text_that_looks_like_a_mark_is_no_variable() -> None:
    assert variables_of("def MASK(a):\n    return referent_1_, 'referent_1_', a\n") == [1, 1]


def test_what_cannot_be_told_apart_is_a_failure() -> None:
    encoder = LineEncoder(tokenizer(), window=256, relation="referents")
    assert encoder.encode("int mask(int a) { return a; }", "java") == NO_REFERENTS
    assert encoder.encode("x = 1\ny = x\n") == NOT_ONE
    assert encoder.encode("def (") == UNPARSABLE


def test_the_first_layer_joins_occurrences_and_equal_words_only() -> None:
    features = encoded("renamer", CHAIN)
    made = Referents(shape())
    (bound,), (free,) = made.relate(collate([features]), torch.float64)
    assert isinstance(bound.bias, SameKind)
    everything = slice(0, len(features.ids))
    biases = bound.bias.block(everything, everything, torch.float64)
    assert features.referents is not None
    for i, (one, first) in enumerate(zip(features.ids, features.referents, strict=True)):
        for j, (other, second) in enumerate(zip(features.ids, features.referents, strict=True)):
            alike = first == second if first or second else one == other
            assert biases[0, 0, i, j] == (0 if alike else -torch.inf)
    assert free.bias is None


def test_which_occurrences_are_one_variable_is_seen() -> None:
    """The control: two variables change their places at one of their occurrences."""
    made = network("renamer")
    one = "def MASK(a, b):\n    c = a - b\n    return c + a\n"
    other = "def MASK(a, b):\n    c = a - b\n    return c + b\n"
    before, after = encoded("renamer", one), encoded("renamer", other)
    assert (before.ids == after.ids).all()
    assert (logits(made, before) - logits(made, after)).abs().max() > 1e-3


def test_the_order_is_seen() -> None:
    made = network("renamer")
    first, second = (encoded("renamer", order.source) for order in legal_orders(CHAIN))
    assert (logits(made, first) - logits(made, second)).abs().max() > 1e-3


def test_padding_and_the_rest_of_the_batch_change_nothing() -> None:
    made = network("renamer")
    inputs = [encoded("renamer", source) for source in (CHAIN, "def MASK(): pass\n")]
    alone = torch.cat([logits(made, features) for features in inputs])
    assert (logits(made, *inputs) - alone).abs().max() <= 1e-9


def test_permuting_lines_takes_the_variables_along() -> None:
    first, second = legal_orders(CHAIN)
    assert set(encoded("renamer", first.source).ids) == set(encoded("renamer", second.source).ids)
    moved = encoded("renamer", first.source).permuted(second.lines)
    original = encoded("renamer", first.source)
    assert moved.referents is not None
    assert original.referents is not None
    pairs = zip(moved.ids.tolist(), moved.referents.tolist(), strict=True)
    known = zip(original.ids.tolist(), original.referents.tolist(), strict=True)
    assert sorted(pairs) == sorted(known)


def test_features_of_another_reading_and_one_layer_are_refused() -> None:
    blind = replace(encoded("renamer", CHAIN), referents=None)
    with pytest.raises(ValueError, match="the batch has no referents"):
        network("renamer")(collate([blind]))
    with pytest.raises(ValueError, match="at least 2 layers, got 1"):
        build("renamer", shape(layers=1), {})
