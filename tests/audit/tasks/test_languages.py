"""Each cell of the page of tasks and languages: a row made by hand is asked about, or refused as the page says."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from typing_extensions import override

from codeaudit.audit.corpora.records import Corpus, raw_sample
from codeaudit.audit.interface import Task, TextLikelihood
from codeaudit.audit.labels import labels
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.prompt_cut import shown_of
from codeaudit.audit.records import Predicted, Query
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.toolchains import TOOLCHAINS
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Perturbed, Sample, TranslationTarget
from codeaudit.transforms.registry import entry_of, transform_for

BODY = "  {0} total = left {1} right;\n  {0} twice = total * {2};\n  return twice;\n}}\n"
TYPED = "/** {doc} */\nint scale{n}(int left, int right) {{\n", "int"
UNITS = {
    "java": ("/** {doc} */\nstatic int scale{n}(int left, int right) {{\n", "int"),
    "javascript": ("/** {doc} */\nfunction scale{n}(left, right) {{\n", "const"),
    "typescript": ("/** {doc} */\nfunction scale{n}(left: number, right: number): number {{\n", "const"),
    "c": TYPED,
    "cpp": TYPED,
}
PYTHON = (
    'def scale{n}(left, right):\n    """{doc}"""\n    total = left {sign} right\n'
    "    twice = total * {n}\n    return twice\n"
)
CHECKED = "int main(void) {{\n  assert(scale{n}(1, 2) == 3 * {n});\n  return 0;\n}}\n"
TESTS = {
    "python": "def check(candidate):\n    assert candidate(1, 2) == 3 * {n}\n",
    "javascript": "const assert = require('assert');\nassert.deepEqual(scale{n}(1, 2), 3 * {n});\n",
    "c": CHECKED,
    "cpp": "#include <cassert>\n" + CHECKED,
}
LABELS = {"classification": "sums", "error-detection": "clean", "vulnerability-detection": "safe"}
RUN = ("output-prediction", "input-prediction", "generation", "repair")
"""Tasks that execute programs in the language of the row."""

COMPILED = ("generation", "repair", "output-prediction", "input-prediction")


class Rows(Corpus):
    """Two units in one language."""

    def __init__(self, task: Task, language: str) -> None:
        self._task, self._language = task, language

    @property
    @override
    def spec(self) -> str:
        return "rows"

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        for n in (2, 3):
            right, wrong, doc = unit(self._language, n), unit(self._language, n, "-"), f"Scale a sum by {n}."
            given = LABELS.get(self._task.name)
            pair = self._task.name == "clone-detection"
            if self._task.name == "clone-search":  # two units of each class
                given = "sum" if n == 2 else "rest"
                again = unit(self._language, n + 4)
                yield raw_sample(again, language=self._language, label=given, path="rows", line=n)
            head = f"def scale{n}(left, right):\n"
            target = TranslationTarget(
                language="python",
                head=head,
                tests=f"assert scale{n}(1, 2) == 3 * {n}\n",
                solution=f"    return (left + right) * {n}\n",
            )
            yield raw_sample(
                right,
                language=self._language,
                label="clone" if pair else given,
                path="rows",
                line=n,
                tests=TESTS.get(self._language, "").format(n=n) or None,
                other=wrong if pair else "",
                other_side=wrong,
                documentation=doc,
                targets=(target,),
            )


def unit(language: str, n: int, sign: str = "+") -> str:
    doc = f"Scale a sum by {n}."
    if language == "python":
        return PYTHON.format(n=n, doc=doc, sign=sign)
    if language not in UNITS:
        return entry_of("rename", language).example
    head, kind = UNITS[language]
    return head.format(n=n, doc=doc) + BODY.format(kind, sign, n)


@pytest.mark.thinned(10)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in COMPILED else ()) for name in TASKS.built_in],
)
def test_each_cell_of_a_task_is_asked_about_or_refused(name: str, tmp_path: Path) -> None:
    task = TASKS.get(name)
    model = catalogue.load("fake/length", Settings(), {})
    source = labels(None, task, cache=tmp_path)
    refused = 0
    for language in LANGUAGES.built_in:
        if name in RUN and not task.refuses(language) and not runs(language):
            continue
        rows = Rows(task, language)
        if reason := task.refuses(language):
            assert [task.prepare(row) for row in rows.read(Counter())][:2] == [reason, reason]
            refused += 1
            continue
        read, prepare = source.examples(rows, task)
        sample = prepare(next(iter(read.read(Counter()))))
        assert isinstance(sample, Sample), (language, sample)
        (edit,) = perturb_one(sample, transform_for("rename", language), variants=1, seed=0)
        assert isinstance(edit, Perturbed), (language, edit)
        for shown in (shown_of(sample, sample.source), shown_of(sample, edit.source, edit)):
            known = ("sums", "other") if name == "classification" else ()
            query = Query(task=name, language=language, labels=known, **shown)
            (prediction,) = model.predict([query])
            assert isinstance(prediction, Predicted), (language, prediction)
            answer = 1.0 if isinstance(task.answers, TextLikelihood) else prediction.answer  # no fake has one
            assert task.normalise(answer) is not None, (language, answer)
    assert refused < len(LANGUAGES.built_in)


def runs(language: str) -> bool:
    return offered().enough and not (language in TOOLCHAINS and TOOLCHAINS[language].missing)
