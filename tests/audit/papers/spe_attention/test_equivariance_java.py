"""Equivariance on Java: what the reorder engine makes of a method, equivariant networks answer alike."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

import pytest
import torch

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.papers.lines.encoding import EncodedLines, LineEncoder
from codeaudit.audit.papers.spe_attention.networks import NETWORKS
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.registry import transform_for
from tests.support.data import data_set
from tests.support.networks import LABELS, logits, network, tokenizer

METHODS = (
    "int f(int a, int b) {\n    int x = a + 1;\n    int y = b * 2;\n    int z = a - b;\n    return x + y + z;\n}",
    "int g(int[] a, boolean c) {\n    int n = 0;\n    int m = 1;\n    if (c) {\n        n = 2;\n        m = 3;\n    } else {\n"
    "        int k = 4;\n        m = k;\n    }\n    return n + m;\n}",
)


def orders(samples: Iterator[Sample], variants: int) -> Iterator[Perturbed]:
    reorder = transform_for("reorder", "java")
    for sample in samples:
        for outcome in perturb_one(sample, reorder, variants=variants, seed=0):
            if isinstance(outcome, Perturbed):
                yield outcome


def compared(variants: list[Perturbed], kind: str) -> list[bool]:
    """Whether the answers are equal, of each pair that fits the window."""
    relation = NETWORKS[kind].relation
    encoder, made = LineEncoder(tokenizer(), window=600, relation=relation, labels=LABELS), network(kind)
    alike = []
    for variant in variants:
        before, after = (encoder.encode(text, "java") for text in (variant.sample.source, variant.source))
        assert isinstance(before, EncodedLines) == isinstance(after, EncodedLines), (
            "a reordering decides what fits"
        )
        if isinstance(before, EncodedLines) and isinstance(after, EncodedLines):
            alike.append(torch.allclose(logits(made, before), logits(made, after), rtol=0, atol=1e-8))
    return alike


@pytest.mark.parametrize("kind", ["spe", "symc"])
def test_other_orders_of_small_methods_change_nothing(kind: str) -> None:
    samples = (raw_sample(method, language="java", label=None, path="A.java", line=1) for method in METHODS)
    variants = list(orders(samples, 6))
    assert len(variants) >= 6
    assert compared(variants, kind) == [True] * len(variants)


def test_the_plain_network_tells_orders_apart() -> None:
    samples = (raw_sample(method, language="java", label=None, path="A.java", line=1) for method in METHODS)
    variants = list(orders(samples, 3))
    assert not all(compared(variants, "vanilla"))


@pytest.mark.parametrize("kind", ["spe", "symc"])
@pytest.mark.slow
def test_other_orders_of_real_methods_change_nothing(kind: str) -> None:
    path = data_set("defects4j_methods.jsonl.gz")
    variants = list(islice(orders(corpus(f"{path}:test").read(Counter()), 1), 30))
    alike = compared(variants, kind)
    assert len(alike) > 5
    assert all(alike)
