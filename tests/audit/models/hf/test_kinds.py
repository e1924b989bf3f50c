"""The kinds of models that a page claims for a task take it, and those that it does not claim refuse it."""

from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.interface import Task
from codeaudit.audit.models.kinds import BY_ANSWER, kinds_for
from codeaudit.audit.records import Query
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.errors import ModelError
from tests.audit.models.hf.conftest import SHORT, SOURCES, Load

ONE_TOKEN = "begins both with one token"
"""What a mask filler says of words that its vocabulary, which is tiny here, does not tell apart."""


def query_of(task: Task) -> Query:
    query = Query(task=task.name, language="python", source=SHORT)
    if task.name == "classification":
        return replace(query, labels=("clean", "buggy"))
    if task.name == "code-search":
        return replace(query, source="", candidates=SOURCES, text="return left and right")
    if task.name == "clone-search":
        return replace(query, candidates=SOURCES[1:])
    return replace(query, other=SOURCES[1] if task.beside else "")


@pytest.mark.slow
def test_each_kind_of_network_takes_what_is_claimed(load: Load, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("get_value\nadd\n")
    made = {
        "mask filler": load("roberta"),
        "embeddings": load("encoder", names=str(tmp_path / "names.txt")),
        "reranker": load("number"),
        "language model": load("t5", max_new_tokens="1"),
        "causal network": load("gpt2", max_new_tokens="1"),
    }
    assert {"classifier", *made} == {"language model", *BY_ANSWER}
    for name in TASKS.built_in:
        task, query = TASKS.get(name), query_of(TASKS.get(name))
        own = ("get_value", "add") if name == "function-name" else ("clean", "buggy")
        words = ",".join(getattr(task.answers, "words", own))
        classifier = made["reranker"] if name == "throughput" else load("bert", labels=words)
        for kind, model in {**made, "classifier": classifier}.items():
            if kind in kinds_for(task) or (kind == "causal network" and task.prompt):
                try:
                    model.predict([query])
                except ModelError as error:
                    assert kind == "mask filler" and ONE_TOKEN in str(error), (name, error)  # noqa: PT017, PT018
            elif kind in ("embeddings", "language model", "causal network"):
                with pytest.raises(ModelError):
                    model.predict([query])
