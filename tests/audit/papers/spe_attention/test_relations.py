"""Masks under a relation: a network keeps its answer on the orders of the relation that its masks are made of."""

import json
from pathlib import Path

import pytest
import torch

from codeaudit.audit.papers.lines.encoding import EncodedLines, LineEncoder
from codeaudit.audit.papers.spe_attention.networks import NETWORKS
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.seeding import stream
from tests.support.commands import called
from tests.support.networks import logits, network, tokenizer

SOURCE = """\
def MASK(items, name):
    first = items.pop()
    second = items.pop()
    log(name)
    third = len(items)
    show(first)
    first = name
    first += third
    send(first)
    items = name
    return second, third, first, items
"""


def orders(dependence: Dependence) -> list[str]:
    transform = REORDER.under(dependence)
    sources = []
    for number in range(8):
        moves = transform.propose(SOURCE, stream(0, number))
        assert isinstance(moves, tuple), moves
        made = transform.apply(SOURCE, moves)
        assert isinstance(made, Rewritten)
        sources.append(made.source)
    return sources


def kept(kind: str, masks: Dependence, texts: list[str]) -> list[bool]:
    """Whether the answer of a network with these masks is that of the original."""
    relation = NETWORKS[kind].relation
    encoder = LineEncoder(tokenizer(), window=600, relation=relation, dependence=masks)
    before, *after = (encoder.encode(text) for text in (SOURCE, *texts))
    assert isinstance(before, EncodedLines)
    made = network(kind)
    return [
        torch.allclose(logits(made, before), logits(made, features), rtol=0, atol=1e-8)
        for features in after
        if isinstance(features, EncodedLines)
    ]


@pytest.mark.parametrize("kind", ["spe", "symc"])
def test_masks_of_the_paper_keep_the_answer_on_orders_of_the_paper(kind: str) -> None:
    """Although variables are written again: every order keeps which write a statement reads."""
    assert kept(kind, "paper", orders("paper")) == [True] * 8
    assert not all(kept(kind, "strict", orders("paper")))


@pytest.mark.slow
def test_a_checkpoint_records_its_relation_and_a_run_tells_another(tmp_path: Path) -> None:
    for number in range(40):
        text = SOURCE.replace("MASK", f"take_{number % 4}").replace("third", f"value_{number}")
        (tmp_path / f"part_{number}.py").write_text(text, encoding="utf-8")
    sizes = (
        "--width",
        "16",
        "--layers",
        "1",
        "--heads",
        "4",
        "--bag-epochs",
        "1",
        "--epochs",
        "1",
        "--rarest-label",
        "2",
    )
    done = called(
        "train",
        "spe",
        "--corpus",
        ".",
        "--dependence",
        "paper",
        "--out",
        "made",
        "--workers",
        "1",
        *sizes,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "made/config.json").read_text(encoding="utf-8"))["dependence"] == "paper"
    words = ("run", "--model", "./made", "--corpus", ".", "--transform", "reorder", "--limit", "5")
    done = called(*words, "--dependence", "paper", "--out", "same", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "was trained with the relation" not in done.stderr
    assert "0 %" in done.stdout
    done = called(*words, "--dependence", "returning", "--out", "other", cwd=tmp_path)
    assert "was trained with the relation 'paper'; here orders are of returning" in done.stderr


def test_a_confirmed_relation_cannot_make_masks(tmp_path: Path) -> None:
    done = called("train", "spe", "--corpus", ".", "--dependence", "confirmed", "--out", "made", cwd=tmp_path)
    assert done.returncode == 2
    assert "give strict, returning or paper" in done.stderr
