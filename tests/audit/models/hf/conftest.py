"""The networks of these tests, made once a session."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.hf.model import HubModel
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.records import Query
from tests.audit.models.hf import networks as made

Load = Callable[..., HubModel]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of each kind, by name."""
    root = tmp_path_factory.mktemp("networks")
    bert = made.tokenizer(made.BERT, made.BERT_ENDS)
    gpt = made.tokenizer(made.GPT)
    t5 = made.tokenizer(made.T5, "$A </s>")
    words = {"id2label": {0: "clean", 1: "buggy"}, "label2id": {"clean": 0, "buggy": 1}}
    networks = {
        "bert": (made.bert("BertForSequenceClassification", bert, **words), bert),
        "unnamed": (made.bert("BertForSequenceClassification", bert, num_labels=3), bert),
        "number": (made.bert("BertForSequenceClassification", bert, num_labels=1), bert),
        "gpt2-classifier": (made.gpt2("GPT2ForSequenceClassification", gpt), gpt),
        "roberta": (made.roberta("RobertaForMaskedLM", bert), bert),
        "modernbert": (made.modernbert("ModernBertForMaskedLM", bert), bert),
        "gpt2": (made.gpt2("GPT2LMHeadModel", gpt), gpt),
        "llama": (made.decoder("Llama", gpt), gpt),
        "qwen2": (made.decoder("Qwen2", gpt), gpt),
        "t5": (made.t5(t5), t5),
        "encoder": (made.bert("BertModel", bert), bert),
    }
    return {name: made.save(root / name, *parts) for name, parts in networks.items()}


@pytest.fixture(scope="session")
def load(folders: dict[str, Path]) -> Load:
    """A model by the name of its folder, or by a path; `-M` arguments as text."""

    def one(place: str | Path, *, precision: str | None = None, **given: str) -> HubModel:
        settings = Settings(device="cpu", precision=precision)
        model = catalogue.load(f"hf/{folders.get(str(place), place)}", settings, given)
        assert isinstance(model, HubModel)
        return model

    return one


SHORT = "def MASK(left, right):\n    total = left + right\n    return total\n"
SOURCES = (
    SHORT,
    "def MASK(x):\n    return x\n",
    "def MASK(items, wanted):\n    for place in items:\n        return place\n",
    "def MASK():\n    pass\n",
)
LONG = "def MASK(left):\n" + "    left = left + right\n" * 60


def asked(task: str, *sources: str, language: str = "python") -> list[Query]:
    return [Query(task=task, language=language, source=source) for source in sources or SOURCES]
