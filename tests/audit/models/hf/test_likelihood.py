"""Bits per byte of causal models, compared with the library's own loss and with one pass per token."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from codeaudit.audit.models.hf.heads import quiet
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError
from tests.audit.models.hf.conftest import SOURCES, Load

TASK = "code-modelling"
LONG = "def add(left, right):\n    total = left + right\n    return total\n" * 40


def measured(text: str) -> Query:
    return Query(task=TASK, language="python", source=text)


def bits(prediction: Prediction) -> float:
    assert isinstance(prediction, Predicted), prediction
    assert isinstance(prediction.answer, float)
    return prediction.answer


def library(folder: Path) -> tuple[Any, Any]:
    with quiet():
        words = transformers.AutoTokenizer.from_pretrained(folder)
        network = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    return words, network


@pytest.mark.parametrize("name", ["gpt2", "llama", "qwen2"])
@torch.no_grad()
def test_bits_are_those_of_the_librarys_loss(name: str, folders: dict[str, Path], load: Load) -> None:
    words, network = library(folders[name])
    predictions = load(name).predict([measured(text) for text in SOURCES])
    for text, prediction in zip(SOURCES, predictions, strict=True):
        row = torch.tensor([[words.eos_token_id, *words.encode(text, add_special_tokens=False)]])
        loss = float(network(input_ids=row, labels=row).loss)
        expected = loss * (row.shape[1] - 1) / math.log(2) / len(text.encode())
        assert bits(prediction) == pytest.approx(expected, rel=1e-5)


@torch.no_grad()
def test_each_token_of_a_long_text_is_predicted_once_from_half_a_window(
    folders: dict[str, Path], load: Load
) -> None:
    words, network = library(folders["gpt2"])
    row = [words.eos_token_id, *words.encode(LONG, add_special_tokens=False)]
    window = load("gpt2")._engine.texts.window
    assert window is not None
    assert len(row) > 1.5 * window
    nats = 0.0
    step = window // 2
    for place in range(1, len(row)):
        # The window that holds the token first.
        start = max(0, math.ceil((place - window + 1) / step) * step)
        assert place - start >= min(place, step)
        logits = network(input_ids=torch.tensor([row[start:place]])).logits[0, -1]
        nats -= float(torch.log_softmax(logits.double(), -1)[row[place]])
    (prediction,) = load("gpt2").predict([measured(LONG)])
    assert bits(prediction) == pytest.approx(nats / math.log(2) / len(LONG.encode()), rel=1e-5)


def test_what_stands_beside_a_text_does_not_change_its_bits(load: Load) -> None:
    model = load("llama")
    queries = [measured(text) for text in (*SOURCES, LONG)]
    assert model.predict(queries) == [model.predict([query])[0] for query in queries]


@pytest.mark.parametrize("text", ["<|end|>", "x = '<|user|>'\n", "é\n"])
def test_marks_and_odd_characters_are_text(text: str, load: Load) -> None:
    assert bits(load("gpt2").predict([measured(text)])[0]) > 0


def test_an_empty_text_has_no_bits(load: Load) -> None:
    (prediction,) = load("gpt2").predict([measured("")])
    assert isinstance(prediction, Failed)


@pytest.mark.parametrize("name", ["t5", "roberta"])
def test_other_networks_say_which_ones_measure_texts(name: str, load: Load) -> None:
    with pytest.raises(ModelError, match=r"needs the probabilities of all tokens.* hf/NAME_OR_PATH"):
        load(name).predict([measured(SOURCES[0])])
