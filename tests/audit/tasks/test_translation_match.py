"""Translation by exact match: the rows of CodeXGLUE, and which variants are asked about."""

import json
from collections import Counter
from pathlib import Path

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.prompts import PLAIN
from codeaudit.audit.records import Predicted, Query
from codeaudit.audit.tasks.matching import (
    NO_REFERENCE,
    OTHER,
    OTHER_REFERENCE,
    REFERENCE,
    TRANSLATION_MATCH,
)
from codeaudit.audit.tasks.translation import NOT_TESTED, TRANSLATION
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import NotApplied, Perturbed, Sample
from codeaudit.transforms.registry import transform_for

JAVA = "public int half(int value) { int found = value / 2; return found; }"
SHARP = "public virtual int Half(int value){int found = value / 2;return found;}"


def sample(folder: Path, row: object) -> Sample:
    (folder / "rows.jsonl").write_text(f"{json.dumps(row)}\n")
    (raw,) = corpus(str(folder / "rows.jsonl"), None, None).read(Counter())
    return raw


def test_a_row_of_codexglue_is_graded_without_its_layout(tmp_path: Path) -> None:
    raw = sample(tmp_path, {"id": 1, "java": JAVA, "cs": SHARP})
    assert TRANSLATION.prepare(raw) == NOT_TESTED
    example = TRANSLATION_MATCH.prepare(raw)
    assert isinstance(example, Sample)
    assert (example.source, example.label, example.text) == (JAVA, SHARP, "C#")
    for text, grade in (
        (SHARP, REFERENCE),
        (SHARP.replace("{int", "{\n  // half\n  int"), REFERENCE),
        (JAVA, OTHER),
    ):
        said = TRANSLATION_MATCH.normalise(f"```csharp\n{text}\n```")
        assert said is not None
        prediction = TRANSLATION_MATCH.graded(Predicted(answer=said), JAVA, example)
        assert isinstance(prediction, Predicted)
        assert prediction.answer == grade
    prompt = TRANSLATION_MATCH.asked(PLAIN)
    assert prompt is not None
    query = Query(task="translation-match", language="java", source=JAVA, text="C#")
    assert "Java code into C#" in prompt.messages(query)[0].content
    plain = sample(tmp_path, {"source": JAVA, "language": "java"})
    assert TRANSLATION_MATCH.prepare(plain) == NO_REFERENCE


def test_only_layout_and_comments_leave_the_reference_right(tmp_path: Path) -> None:
    example = TRANSLATION_MATCH.prepare(sample(tmp_path, {"java": JAVA, "cs": SHARP}))
    assert isinstance(example, Sample)
    for name, kept in (("spacing", True), ("rename", False)):
        (made,) = perturb_one(example, transform_for(name, "java"), variants=1, seed=0)
        assert isinstance(made, Perturbed), made
        (asked,) = TRANSLATION_MATCH.askable(example, [made])
        assert isinstance(asked, Perturbed) is kept
        assert kept or (isinstance(asked, NotApplied) and asked.reason == OTHER_REFERENCE)
