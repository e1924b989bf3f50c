"""A judge: both orders, its noise, and what counts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from codeaudit.audit.cache import NoMemory
from codeaudit.audit.interface import BaseModel
from codeaudit.audit.judging import SAME_SUMMARY, Judge
from codeaudit.audit.records import Audited, Held, Predicted, Prediction, Query, Repeat, Violated
from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import AuditSetup, NoMonitor
from codeaudit.cli.main import main
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.records import Origin, Perturbed, Sample

SAMPLE = Sample(id="0" * 16, language="python", source="x", label="", origin=Origin(path="a", line=1))


@dataclass(slots=True)
class Opinions(BaseModel):
    """A judge whose answer to each ordered pair of texts is given."""

    said: dict[tuple[str, str], str]
    again: str = "same"
    asked: list[Query] = field(default_factory=list)
    name: str = "opinions"
    fingerprint: str = "opinions"
    task: None = None
    parameters: None = None
    noise: float = 0.0

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        self.asked += queries
        return [
            Predicted(
                answer=self.again
                if isinstance(query, Repeat)
                else self.said.get((query.source, query.other), "same")
            )
            for query in queries
        ]


def audited(before: str, *after: str) -> Audited:
    prediction, verdicts = Predicted(answer=before), []
    for number, text in enumerate(after):
        made = Perturbed(
            sample=SAMPLE, transform="rename", kind="preserving", variant=number, source=f"x{number}",
            moves=(), evidence="analysis",
        )  # fmt: skip
        kind = Held if text == before else Violated
        verdicts.append(kind(perturbed=made, before=prediction, after=Predicted(answer=text), deviation=0.0))
    return Audited(
        model="m", sample=SAMPLE, before=prediction, score=None, verdicts=tuple(verdicts),
        after_scores=(None,) * len(verdicts), not_applied=(),
    )  # fmt: skip


def judge(model: Opinions) -> Judge:
    return Judge(
        AuditSetup(model=model, task=SAME_SUMMARY, memory=NoMemory(), monitor=NoMonitor(), batch_size=8)
    )


def test_a_pair_is_decided_only_if_both_orders_agree() -> None:
    model = Opinions({("a", "b"): "different", ("b", "a"): "different", ("a", "c"): "different"})
    criterion = judge(model)
    criterion.hear([audited("a", "a", "b", "c", "d")])
    assert [criterion.same("a", text) for text in "abcd"] == [True, False, None, True]
    assert criterion.same("b", "a") is False
    said = criterion.record
    assert (said.pairs, said.answered, said.swapped, criterion.undecided) == (3, 3, 1, 1)
    assert (said.asked_twice, said.changed) == (3, 2)
    count = len(model.asked)
    criterion.hear([audited("a", "b")])
    assert len(model.asked) == count, "what it said of a pair is known"


def test_its_task_is_no_task_of_a_run() -> None:
    assert TASKS.get("judge/same-summary") is SAME_SUMMARY
    assert "judge/same-summary" not in TASKS.built_in
    with pytest.raises(UsageError):
        TASKS.get("judge/other")


def test_a_run_reports_all_rules_beside_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sacrebleu")
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "said.py").write_text(
        "def sums(queries):\n"
        "    return ['adds all ' + ('total' if 'total' in one.source else 'values') for one in queries]\n"
        "def judges(queries):\n"
        "    return ['same' for one in queries]\n"
    )
    (tmp_path / "code.py").write_text(
        'def add(a, b):\n    """Add two given numbers up."""\n    total = a + b\n    return total\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["run", "--corpus", str(tmp_path / "code.py"), "--model", "py/said:sums", "--workers", "1"]
    out = tmp_path / "out"
    asked = ["--judge", "py/said:judges", "--out", str(out), "--transform", "rename"]
    assert main([*words, "--task", "summarisation", *asked]) == 0
    assert main(["report", str(out), "--markdown", str(out / "a.md")]) == 0
    summary = json.loads((out / "summary.json").read_text())
    rates = {name: row["violations"]["count"] for name, row in summary["models"][0]["criteria"].items()}
    assert rates == {"same words": 1, "chrF of at least 70 %": 1, "judge py/said:judges": 0}
    assert summary["judge"]["swapped"]["total"] == summary["judge"]["changed"]["total"] == 1
    assert "judge py/said:judges was shown 1 pair" in (out / "a.md").read_text()
    assert json.loads((out / "manifest.json").read_text())["judge"]["name"] == "py/said:judges"
    assert main([*words, "--task", "function-name", "--judge", "fake/hash"]) == 2
    assert "needs no judge" in capsys.readouterr().err
    assert main([*words, "--task", "summarisation", "--judge", "fke/hash"]) == 2
    assert main([*words, "--task", "summarisation", "--judge", "fake/hash", "--shard", "1/2"]) == 2
    # What a file names is typed again.
    assert main(["run", "--config", str(out), "--out", str(tmp_path / "b"), "--model", "py/said:sums"]) == 2
