"""Networks that rank candidates: encoders by the cosine, cross-encoders by a score of each pair."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
import transformers
from torch.nn.functional import cosine_similarity

from codeaudit.audit.models.hf.heads import Row, RowMemory, TokenizedQuery, quiet
from codeaudit.audit.records import Failed, Predicted, Prediction, Query, Repeat
from tests.audit.models.hf.conftest import LONG, SHORT, SOURCES, Load
from tests.audit.models.hf.test_embed import states

WORDS = "return left and right"


@pytest.fixture
def names(tmp_path: Path) -> str:
    """Few, because each load embeds them."""
    (tmp_path / "names.txt").write_text("get_value\nadd\n")
    return str(tmp_path / "names.txt")


def searched(*candidates: str, text: str = WORDS) -> Query:
    return Query(
        task="code-search", language="python", source="", text=text, candidates=candidates or SOURCES
    )


def in_order(prediction: Prediction) -> None:
    assert isinstance(prediction, Predicted)
    scores = dict(prediction.scores)
    assert prediction.answer == tuple(sorted(scores, key=lambda name: (-scores[name], int(name))))


@pytest.mark.parametrize("starts", [False, True])
def test_an_encoder_ranks_by_the_cosine(
    folders: dict[str, Path], load: Load, tmp_path: Path, names: str, *, starts: bool
) -> None:
    place, words, code = folders["encoder"], "", ""
    if starts:
        words, code = "query: ", "passage: "
        place = Path(shutil.copytree(place, tmp_path / "m"))
        settings = {"prompts": {"query": words, "passage": code}}
        (place / "config_sentence_transformers.json").write_text(json.dumps(settings))
    model = load(place, names=names)
    assert {"function-name", "code-search"} <= model.tasks
    (prediction, other) = model.predict([searched(), searched(*SOURCES[:2], text="def")])
    query = states(place, words + WORDS).mean(0)
    near = [float(cosine_similarity(query, states(place, code + text).mean(0), dim=0)) for text in SOURCES]
    assert isinstance(prediction, Predicted)
    assert dict(prediction.scores) == pytest.approx(
        {str(n): score for n, score in enumerate(near, start=1)}, abs=model.noise
    )
    in_order(prediction)
    in_order(other)
    assert isinstance(other, Predicted)
    assert len(other.scores) == 2


@torch.no_grad()
def test_a_cross_encoder_ranks_by_the_score_of_each_pair(folders: dict[str, Path], load: Load) -> None:
    model = load("number")
    assert "code-search" in model.tasks
    (prediction,) = model.predict([searched()])
    with quiet():
        words = transformers.AutoTokenizer.from_pretrained(folders["number"])
        network = transformers.AutoModelForSequenceClassification.from_pretrained(
            folders["number"], dtype=torch.float64
        )
    wanted = {
        str(n): float(network(input_ids=torch.tensor([words.encode(WORDS, source)])).logits[0, 0])
        for n, source in enumerate(SOURCES, start=1)
    }
    assert isinstance(prediction, Predicted)
    assert dict(prediction.scores) == pytest.approx(wanted, abs=model.noise)
    in_order(prediction)


def test_a_candidate_beyond_the_window_fails_or_loses_its_end(load: Load, names: str) -> None:
    query = searched(SHORT, LONG)
    assert load("encoder", names=names).predict([query]) == [Failed(reason="input too long")]
    model = load("encoder", truncate="true", names=names)
    (prediction,) = model.predict([query])
    in_order(prediction)
    assert model.usage == {"truncated": 1}


def test_a_shared_candidate_is_read_once_and_that_of_a_repeat_anew() -> None:
    read: list[Row] = []

    def network(rows: Sequence[Row]) -> torch.Tensor:
        read.extend(rows)
        return torch.tensor([[float(sum(row))] for row in rows])

    def asked(query: Query, *rows: Row) -> TokenizedQuery:
        return TokenizedQuery(query=query, rows=rows)

    memory, one, two = RowMemory(network), searched(), searched("a", "b")
    again = Repeat(task=one.task, language="python", source="", text=WORDS, candidates=SOURCES, bucket=0)
    assert memory.of([asked(one, (1,), (2, 3)), asked(two, (2, 3))]) == [[1.0, 5.0], [5.0]]
    assert sorted(read) == [(1,), (2, 3)]
    assert memory.of([asked(two, (1,), (4,)), asked(again, (1,))]) == [[1.0, 4.0], [1.0]]
    assert sorted(read) == [(1,), (1,), (2, 3), (4,)]
