"""What a summary keeps of a run: numbers, and no texts."""

import random
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

import pytest

from codeaudit.audit.records import Answer, Audited
from codeaudit.audit.tasks.code_modelling import CODE_MODELLING
from codeaudit.audit.tasks.error_detection import ERROR_DETECTION
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.reports.records import ModelHeader, RunHeader
from codeaudit.reports.shared_inputs import SharedInputs
from codeaudit.reports.summarise import summarise
from codeaudit.transforms.records import Sample
from tests.support.audited import Subtokens, audited, sample

HEADER = RunHeader(
    task="t",
    corpus="c",
    seed=0,
    models=tuple(ModelHeader(name=name, parameters=1, fingerprint="", noise=0.0) for name in "ab"),
)


def records(
    random: random.Random, answers: Sequence[Answer], labels: Sequence[Answer | None], samples: int
) -> list[Audited]:
    """Two models on samples under three transforms; some originals and some labels are missing."""
    made = []
    for number in range(samples):
        of = replace(sample(f"s{number}", ("x",)), source="x" * random.randint(0, 9))
        for model in "ab":
            after = {
                name: [random.choice(answers) for _ in range(random.randint(1, 4))]
                for name in random.sample(["reorder", "rename", "rename-merging"], 2)
            }
            record = audited(model, of, before=random.choice([*answers, None]), after=after, task=Equal())
            made.append(_labelled(record, random.choice(labels)))
    random.shuffle(made)
    return made


def _labelled(record: Audited, label: Answer | None) -> Audited:
    """The record with another label; the scores stay as they are."""
    of = replace(record.sample, label=label)  # type: ignore[arg-type]
    verdicts = [
        replace(verdict, perturbed=replace(verdict.perturbed, sample=of)) for verdict in record.verdicts
    ]
    return replace(record, sample=of, verdicts=tuple(verdicts))


class Equal(Subtokens):
    """Scores any answer."""

    def score(self, answer: Answer, sample: Sample) -> float | None:
        return len(str(answer)) / 10


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("task", "answers", "labels"),
    [
        (FUNCTION_NAME, [("a",), ("a", "b"), ("c",), ()], [("a", "b"), ("c", "d"), None]),
        (ERROR_DETECTION, ["buggy", "clean"], ["buggy", "clean", None]),
        (CODE_MODELLING, [1.25, 0.1, 3.7], [None]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_sums_of_parts_give_what_the_answers_give(
    task: object, answers: Sequence[Answer], labels: Sequence[Answer | None]
) -> None:
    """A task with a `corpus_score` of its own is given all answers; the others' parts are added."""

    class Own(type(task)):  # type: ignore[misc]
        def corpus_score(self, answers: Sequence[tuple[Answer, Sample]]) -> float | None:
            seen.append(len(answers))
            score: float | None = super().corpus_score(answers)
            return score

    seen: list[int] = []
    own = Own(**{each.name: getattr(task, each.name) for each in fields(task)})  # type: ignore[arg-type]
    for seed in range(10):
        made = records(random.Random(seed), answers, labels, samples=seed)
        whole = summarise([(0, made)], task=own, header=HEADER)
        assert summarise([(0, made)], task=task, header=HEADER) == whole  # type: ignore[arg-type]
    assert max(seen) > 3


@pytest.mark.slow
def test_texts_are_not_kept() -> None:
    """The texts of 300 samples would be 18 MB."""

    def stream() -> Iterator[Audited]:
        for number in range(300):
            of = sample(f"s{number}", ("x",))
            of = replace(of, source=f"{number}" * 20_000)
            for model in "ab":
                yield audited(model, of, after={"reorder": [("a",), ("b",)], "rename": [("a",)] * 4})

    tracemalloc.start()
    try:
        summary = summarise([(0, stream())], task=FUNCTION_NAME, header=HEADER)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert summary.models[0].pairs.total == 1800
    assert most < 3_000_000


def test_of_an_input_in_several_trials_the_last_answer_counts() -> None:
    inputs = SharedInputs()
    # The second trial comes first.
    inputs.add("a", "preserving", "s", ("rename", "x"), violated=False, part=(1, False))
    inputs.add("a", "preserving", "s", ("rename", "x"), violated=True, part=(0, False))
    inputs.add("a", "preserving", "s", ("rename", "y"), violated=True, part=(0, False))
    inputs.add("b", "preserving", "s", ("rename", "x"), violated=True, part=(0, False))
    assert inputs.outcomes("preserving") == {"a": [False], "b": [True]}
    inputs.add("b", "preserving", "s", ("rename", "y"), violated=False, part=(1, True))
    assert inputs.outcomes("preserving") == {"a": [True], "b": [True]}
    # The part with the samples drawn in addition is left out.
    assert inputs.outcomes("preserving", lambda model, part: not part[1]) == {"a": [False], "b": [True]}
    assert inputs.outcomes("control") == {}


def test_only_inputs_that_all_models_were_judged_on_count() -> None:
    inputs = SharedInputs()
    for model, samples in {"a": "su", "b": "st", "c": ""}.items():
        for name in samples:
            inputs.add(model, "preserving", name, ("rename", model), violated=True)
            inputs.add(model, "preserving", name, ("rename", "x"), violated=False)
    # Only of the sample s, and of it only the text x. The model c was never judged.
    assert inputs.outcomes("preserving") == {"a": [False], "b": [False]}
