"""Masked language models: masks in the place of the answer."""

from pathlib import Path

import pytest
import torch
import transformers

from codeaudit.audit.models.hf.heads import quiet
from codeaudit.audit.models.text_models import built_in
from codeaudit.audit.records import Failed, Predicted
from codeaudit.cli.main import main
from codeaudit.transforms.errors import ModelError
from tests.audit.models.hf import networks as made
from tests.audit.models.hf.conftest import LONG, SHORT, SOURCES, Load, asked


@torch.no_grad()
def at_masks(folder: Path, text: str) -> tuple[torch.Tensor, transformers.PreTrainedTokenizerFast]:
    """The logarithms of the probabilities at every mask of one text alone."""
    with quiet():
        words = transformers.AutoTokenizer.from_pretrained(folder)
        network = transformers.AutoModelForMaskedLM.from_pretrained(folder)
        read = words(text, return_tensors="pt")
        logits = network(**read).logits[0]
    return logits[read["input_ids"][0] == words.mask_token_id].log_softmax(-1), words  # type: ignore[return-value]


@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", ["roberta", "modernbert"])
def test_a_name_is_filled_in_where_it_stands(name: str, folders: dict[str, Path], load: Load) -> None:
    model = load(name, masks="2")
    for source, prediction in zip(SOURCES, model.predict(asked("function-name")), strict=True):
        fillings = []
        for number in (1, 2):
            scores, words = at_masks(folders[name], source.replace("MASK", "[MASK]" * number))
            fillings.append((float(scores.amax(-1).mean()), words.decode(scores.argmax(-1))))
        assert isinstance(prediction, Predicted)
        assert prediction.answer == "_".join(max(fillings)[1].split())
        assert prediction.margin is not None


def test_every_place_of_the_name_is_masked_and_the_first_one_read(
    folders: dict[str, Path], load: Load
) -> None:
    source = "def MASK(n):\n    return MASK(n - 1)\n"
    (prediction,) = load("roberta", masks="1").predict(asked("function-name", source))
    scores, words = at_masks(folders["roberta"], source.replace("MASK", "[MASK]"))
    assert len(scores) == 2
    assert isinstance(prediction, Predicted)
    assert prediction.answer == words.decode(scores[0].argmax()).strip()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["roberta", "modernbert"])
def test_of_two_words_the_likelier_is_the_answer(name: str, folders: dict[str, Path], load: Load) -> None:
    queries = asked("error-detection")
    for query, prediction in zip(queries, load(name).predict(queries), strict=True):
        scores, words = at_masks(folders[name], built_in()["error-detection"].text(query) + " [MASK]")
        tokens = [words.encode(f" {word}", add_special_tokens=False)[0] for word in ("buggy", "clean")]
        buggy, clean = scores[0, tokens].tolist()
        assert isinstance(prediction, Predicted)
        assert prediction.answer == ("buggy" if buggy > clean else "clean")
        assert prediction.margin == pytest.approx(abs(buggy - clean), abs=1e-4)


def test_a_source_with_a_mask_of_its_own_is_not_answered(load: Load) -> None:
    predictions = load("roberta").predict(asked("function-name", "def MASK():\n    return '[MASK]'\n", SHORT))
    assert predictions[0] == Failed(reason="mask token in the source")
    assert isinstance(predictions[1], Predicted)


def test_a_source_without_the_place_of_a_name(load: Load) -> None:
    assert (
        load("roberta").predict(asked("function-name", "x = 1\n", "def f(:\n"))
        == [Failed(reason="no name to fill in")] * 2
    )


def test_an_input_longer_than_the_window(load: Load) -> None:
    (whole,) = load("roberta").predict(asked("function-name", LONG))
    assert whole == Failed(reason="input too long")
    model = load("roberta", truncate="true")
    tokenized = model._head.ask(asked("function-name", LONG)[0])
    assert not isinstance(tokenized, Failed)
    assert len(tokenized.rows) == 3
    assert made.WINDOW - 4 < max(map(len, tokenized.rows)) <= made.WINDOW
    assert {row[0] for row in tokenized.rows} == {model._engine.texts.tokenizer.cls_token_id}
    assert isinstance(model.predict(asked("function-name", LONG))[0], Predicted)


def test_a_tokenizer_without_a_mask(load: Load, tmp_path: Path) -> None:
    words = made.tokenizer({key: word for key, word in made.BERT.items() if key != "mask_token"})
    place = made.save(tmp_path / "m", made.bert("BertForMaskedLM", words), words)
    with pytest.raises(ModelError, match="its tokenizer has no mask token"):
        load(place)


def test_a_window_that_no_input_fits_into_is_told_the_remedy(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(f"    value_{number} = rows[{number}] + total * total - total\n" for number in range(50))
    (tmp_path / "long.py").write_text(f"def summed(rows, total):\n{lines}    return value_0\n")
    words = [
        "--corpus",
        str(tmp_path / "long.py"),
        "--transform",
        "rename",
        "--no-controls",
        "--variants",
        "1",
    ]
    model = ["--model", f"hf/{folders['roberta']}", "--task", "function-name", "--workers", "1"]
    assert main(["run", *model, *words, "--out", str(tmp_path / "run")]) == 3
    assert "× input too long); -M truncate=true cuts the end of the code" in capsys.readouterr().err
