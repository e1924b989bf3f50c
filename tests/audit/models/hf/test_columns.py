"""`--wrap columns` on networks of `transformers`: the permuted network answers as the plain one."""

import pytest

from codeaudit.audit.papers.permutation_equivariance.wrapper import Columns
from codeaudit.audit.records import Predicted
from tests.audit.models.hf.conftest import Load, asked

TASKS = {
    "bert": "error-detection",
    "roberta": "function-name",
    "gpt2": "function-name",
    "llama": "function-name",
    "t5": "function-name",
}


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", TASKS)
def test_repeated_queries_are_answered_alike_by_the_permuted_network(load: Load, name: str) -> None:
    given = {"max_new_tokens": "4"} if name in ("gpt2", "llama", "t5") else {}
    model = Columns(load(name, **given), seed=1)
    queries = asked(TASKS[name])
    plain, turned = model.predict(queries), model.again(queries)
    for before, after in zip(plain, turned, strict=True):
        assert type(before) is type(after)
        if isinstance(before, Predicted) and isinstance(after, Predicted):
            assert before.answer == after.answer
            scores = dict(before.scores)
            assert all(abs(scores[label] - score) <= model.noise for label, score in after.scores)
    assert model.predict(queries) == plain, "the weights are as before"
