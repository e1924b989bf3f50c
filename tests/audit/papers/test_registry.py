"""The networks of the papers by task: what a training reads."""

from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.papers.registry import TrainingRequest
from codeaudit.audit.registry import TASKS

SPLITS = ("train", "valid", "test")


@pytest.mark.parametrize(
    ("task", "spec"), [("function-name", "stdlib:bisect,heapq"), ("derivative", "algebra")]
)
def test_limits_of_a_trial(task: str, spec: str, tmp_path: Path) -> None:
    """`--limit` is for every corpus, `--test-limit` for those of validation and test; the lower one counts."""

    def read(limit: int | None, test_limit: int | None) -> list[int]:
        train, valid, test = (f"{spec}:{name}:30" if spec == "algebra" else spec for name in SPLITS)
        request = TrainingRequest(
            network="vanilla", task=TASKS.get(task), options={}, train=train, valid=valid, test=test,
            cache=tmp_path, workers=1, note=lambda text: None, limit=limit, test_limit=test_limit,
        )  # fmt: skip
        corpora = [corpus for corpus in request.corpora() if corpus is not None]
        return [sum(1 for _ in corpus.read(Counter())) for corpus in corpora]

    whole = read(None, None)[0]
    assert whole > 10
    assert read(None, 4) == [whole, 4, 4]
    assert read(7, 4) == [7, 4, 4]
    assert read(4, 7) == [4, 4, 4]
