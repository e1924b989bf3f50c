"""`--wrap columns` and `rows` on networks of `transformers`: the permuted network answers as the plain one, the
broken one does not.
"""

from dataclasses import asdict

import pytest

from codeaudit.audit.papers.permutation_equivariance.wrapper import Permuted, PermutedColumns, PermutedRows
from codeaudit.audit.records import NetworkQuery, Predicted, Query
from codeaudit.transforms.columns.proof import EXACT
from codeaudit.transforms.errors import ModelError
from tests.audit.models.hf.conftest import Load, asked

TASKS = {
    "bert": "error-detection",
    "roberta": "function-name",
    "gpt2": "function-name",
    "llama": "function-name",
    "t5": "function-name",
}
WRAPS: dict[str, type[Permuted]] = {"columns": PermutedColumns, "rows": PermutedRows}


def of_network(queries: list[Query], name: str) -> list[Query]:
    return [NetworkQuery(**asdict(query), network=name) for query in queries]


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("name", TASKS)
def test_the_permuted_network_answers_alike_and_the_broken_one_does_not(
    load: Load, name: str, wrap: str
) -> None:
    given = {"max_new_tokens": "4"} if name in ("gpt2", "llama", "t5") else {}
    model = WRAPS[wrap](load(name, **given), seed=1)
    queries = asked(TASKS[name])
    try:
        proof = model.network
    except ModelError as error:
        assert wrap == "rows"
        pytest.skip(str(error))
    assert proof.wrap == wrap
    assert proof.groups > 0
    assert proof.bits > 1
    assert proof.forward <= EXACT
    assert proof.backward <= EXACT
    mixed = [*queries, *of_network(queries, wrap), *of_network(queries, f"{wrap}-broken")]
    predictions = model.predict(mixed)
    size = len(queries)
    plain, turned, broken = predictions[:size], predictions[size : 2 * size], predictions[2 * size :]
    assert plain == model.inner.predict(queries)
    for before, after in zip(plain, turned, strict=True):
        assert type(before) is type(after)
        if isinstance(before, Predicted) and isinstance(after, Predicted):
            assert before.answer == after.answer
            scores = dict(before.scores)
            assert all(abs(scores[label] - score) <= model.noise for label, score in after.scores)
    if any(isinstance(prediction, Predicted) for prediction in plain):
        assert broken != turned
    assert model.predict(queries) == plain, "the weights are as before"
