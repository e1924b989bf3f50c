"""Answers made elsewhere: found by the suite's ids or by the text, and whatever is wrong with a file is told."""

import csv
import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.fake import load as fake
from codeaudit.audit.models.predictions import MISSING, ONCE, FileModel
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.records import NOT_REPEATED, Failed, Predicted, Query
from codeaudit.audit.rows import input_hash
from codeaudit.audit.store import read_rows
from codeaudit.cli.main import main
from codeaudit.transforms.errors import ModelError

ONE, OTHER = "def f(): pass", "def g(): pass"


def query(source: str, language: str = "python") -> Query:
    return Query(task="function-name", language=language, source=source)


def load(path: Path, **given: str) -> FileModel:
    model = catalogue.load(f"file/{path}", Settings(), given)
    assert isinstance(model, FileModel)
    return model


def lines(path: Path, rows: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "row",
    [
        {"id": input_hash("python", ONE)},
        {"input": input_hash("python", ONE)},
        {"source": ONE},
        {"source": ONE, "language": "python"},
        {"source": ONE, "language": None},
        {"id": "mine/3", "source": ONE},
        {"id": 3, "source": ONE},
        {"perturbed": ONE, "source": OTHER},
        {"input": input_hash("python", ONE), "perturbed": ONE, "source": OTHER, "status": "perturbed"},
        {"id": input_hash("python", ONE), "source": OTHER},
    ],
)
def test_a_row_says_what_it_answers(tmp_path: Path, row: dict[str, object]) -> None:
    model = load(lines(tmp_path / "p.jsonl", [{**row, "answer": "x"}]))
    assert model.predict([query(ONE), query(OTHER)]) == [Predicted(answer="x"), MISSING]


def test_a_language_that_is_told_counts(tmp_path: Path) -> None:
    model = load(lines(tmp_path / "p.jsonl", [{"source": ONE, "language": "java", "answer": "x"}]))
    assert model.predict([query(ONE), query(ONE, "java")]) == [MISSING, Predicted(answer="x")]


def test_answers_are_as_of_programs(tmp_path: Path) -> None:
    answers = [
        {"answer": ["b", "a"]},
        {"answer": 2},
        {"answer": "x", "score": 0.5},
        {"answer": "x", "scores": {"x": 1, "y": 0.25}},
        {"error": "too long: 512"},
        {"answer": None, "error": "gone"},
        {"answer": {"text": "x"}},
        {"answer": None},
    ]
    rows = [{"source": str(number), **row} for number, row in enumerate(answers)]  # type: ignore[dict-item]
    predictions = load(lines(tmp_path / "p.jsonl", rows)).predict([query(str(number)) for number in range(9)])
    assert predictions == [
        Predicted(answer=("b", "a")),
        Predicted(answer=2.0),
        Predicted(answer="x", scores=(("x", 0.5),)),
        Predicted(answer="x", scores=(("x", 1.0), ("y", 0.25))),
        Failed(reason="model: too long: 512"),
        Failed(reason="model: gone"),
        Failed(reason="no readable answer"),
        MISSING,
        MISSING,
    ]


def _gzipped(path: Path, rows: list[dict[str, Any]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def _csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows({**row, "scores": json.dumps(row["scores"])} for row in rows)


def _parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    import pandas as pd

    pd.DataFrame(rows).to_parquet(path)


@pytest.mark.parametrize(
    ("name", "write"), [("p.jsonl.gz", _gzipped), ("p.csv", _csv), ("p.parquet", _parquet)]
)
def test_every_format_says_the_same(
    tmp_path: Path, name: str, write: Callable[[Path, list[dict[str, Any]]], None]
) -> None:
    text = 'def f(a):\n    return "ä", a'
    write(
        tmp_path / name,
        [
            {"source": text, "answer": "two, or\nmore", "scores": {"a": 0.5}},
            {"source": OTHER, "answer": None, "scores": None},
        ],
    )
    assert load(tmp_path / name).predict([query(text), query(OTHER)]) == [
        Predicted(answer="two, or\nmore", scores=(("a", 0.5),)),
        MISSING,
    ]


def test_other_columns_may_be_named(tmp_path: Path) -> None:
    path = lines(tmp_path / "p.jsonl", [{"key": input_hash("python", ONE), "out": "x", "answer": "y"}])
    assert load(path, id="key", answer="out").predict([query(ONE)]) == [Predicted(answer="x")]
    assert load(path, id="key", answer="out").fingerprint != load(path, id="key").fingerprint


def test_the_fingerprint_is_that_of_the_content(tmp_path: Path) -> None:
    fingerprint = load(lines(tmp_path / "p.jsonl", [{"source": ONE, "answer": "x"}])).fingerprint
    assert load(lines(tmp_path / "q.jsonl", [{"source": ONE, "answer": "x"}])).fingerprint == fingerprint
    assert load(lines(tmp_path / "p.jsonl", [{"source": ONE, "answer": "z"}])).fingerprint != fingerprint


GOOD = b'{"source": "a", "answer": "x"}\n'


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("p.jsonl", GOOD + b"{rubbish\n", r"p\.jsonl:2 is not JSON$"),
        ("p.jsonl", GOOD + b'\n{"source": "b", "answ', r"p\.jsonl:3 is not JSON$"),
        ("p.jsonl", GOOD + b'{"source": "\xff", "answer": "x"}', r"p\.jsonl:2 is not JSON$"),
        ("p.jsonl", b"[" * 100_000, r"p\.jsonl:1 is not JSON$"),
        ("p.jsonl", GOOD + b"[1]\n", r"p\.jsonl:2 is no object$"),
        ("p.jsonl", GOOD + b'{"answer": "x"}\n', r"p\.jsonl:2 has neither 'id' nor 'source'$"),
        ("p.jsonl", GOOD + b'{"id": "", "answer": "x"}\n', r"p\.jsonl:2 has neither 'id' nor 'source'$"),
        ("p.jsonl", GOOD + b'{"source": "b", "anser": "x"}\n', r"p\.jsonl:2 has no 'answer'$"),
        (
            "p.jsonl",
            GOOD + b'{"source": "a", "answer": "y"}\n',
            r"p\.jsonl:2 and line 1 give one input diff",
        ),
        ("p.jsonl", b'{"source": "a", "answer": null}\n', "no answers in "),
        ("p.jsonl", b"", "no answers in "),
        ("p.csv", b"source,answer\na,x\nb,y,z\n", r"p\.csv:3 has more cells than there are columns$"),
        ("p.csv", b"source,answer,score\na,x,high\n", r"p\.csv:2 has no number or object in 'score'$"),
        ("p.csv", b'source,answer\na,"x\n', r"p\.csv:\d is not CSV: unexpected end of data"),
        ("p.parquet", b"PAR1", r"cannot read the answers of .*p\.parquet"),
        ("p.jsonl.gz", b"plain", r"cannot read the answers of .*p\.jsonl\.gz"),
        ("p.json", b"{}", r"answers stand in \.jsonl\[\.gz\], \.csv\[\.gz\] or \.parquet"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(
    tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ModelError, match=message) as raised:
        load(tmp_path / name)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot read the answers of .*No such file"):
        load(tmp_path / "nowhere.jsonl")


def test_an_answer_that_is_repeated_does_no_harm(tmp_path: Path) -> None:
    rows = [{"source": ONE, "answer": None}, {"source": ONE, "answer": "x"}, {"source": ONE, "answer": "x"}]
    assert load(lines(tmp_path / "p.jsonl", rows)).predict([query(ONE)]) == [Predicted(answer="x")]


def test_how_well_a_file_fits_is_counted(tmp_path: Path) -> None:
    rows = [
        {"source": ONE, "answer": "x"},
        {"id": "HumanEval/3", "answer": "y"},
        {"source": "h", "answer": "z"},
    ]
    model = load(lines(tmp_path / "p.jsonl", rows))
    message = model.fit([query(ONE), query(ONE), query(OTHER)])
    assert message == f"{model.name}: answers to 1 of 2 inputs; 2 rows answer none, first {model.path}:2"
    with pytest.raises(ModelError, match=r"none of the 3 rows .* give each the suite's `input` as its `id`"):
        model.fit([query(OTHER)])


@pytest.mark.thinned(1)
@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_answers_to_a_suite_are_judged_as_those_of_the_model_itself(
    tmp_path: Path,
    sources: Path,
    ending: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    suite = Path(f"suite{ending}")
    assert main(["transform", str(sources), "--suite", str(suite)]) == 0
    rows = [row for row in read_rows(suite) if row["status"] == "perturbed"]
    answers = [
        said.answer for said in fake("hash", Settings()).predict([query(row["perturbed"]) for row in rows])
    ]
    lines(
        Path("p.jsonl"),
        ({"id": row["input"], "answer": answer} for row, answer in zip(rows, answers, strict=True)),
    )
    line = ["run", "--suite", str(suite), "--model", "file/p.jsonl", "--model", "fake/hash", "--out", "out"]
    assert main(line) == 0
    inputs = len({row["input"] for row in rows})
    assert f"file/p.jsonl: answers to {inputs} of {inputs} inputs\n" in capsys.readouterr().err

    verdicts = list(read_rows(Path("out/verdicts.parquet")))
    kept = ("sample", "transform", "variant", "input", "outcome", "before", "after", "score_after")
    by_model = {
        model: [
            {name: row[name] for name in kept}
            for row in verdicts
            if row["model"] == model and row["kind"] != "identity"
        ]
        for model in ("file/p.jsonl", "fake/hash")
    }
    assert by_model["file/p.jsonl"] == by_model["fake/hash"] != []
    assert {row["outcome"] for row in by_model["file/p.jsonl"]} == {"violated"}

    summary = json.loads(Path("out/summary.json").read_text(encoding="utf-8"))
    (first,) = [model for model in summary["models"] if model["model"] == "file/p.jsonl"]
    idle = [row for row in verdicts if row["model"] == "file/p.jsonl" and row["kind"] == "identity"]
    # Of each sample one repeat counts as missing, and none of the others was due.
    assert {(row["outcome"], row["reason"]) for row in idle if not row["variant"]} == {("unjudged", ONCE)}
    assert {row["reason"] for row in idle if row["variant"]} == {NOT_REPEATED}
    assert first["unjudged_reasons"] == {ONCE: len({row["sample"] for row in idle})}
    assert first["noise_floor"]["total"] == 0
    assert first["noise_floor"]["rate"] is None


@pytest.mark.thinned(1)
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_the_rows_of_the_identity_are_the_original_and_its_repeats(
    tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    suite = Path("suite.parquet")
    assert main(["transform", str(sources), "--suite", str(suite), "--transform", "rename"]) == 0
    rows = pd.read_parquet(suite)
    rows = rows[rows["status"] == "perturbed"]
    assert set(rows[rows["transform"] == "identity"]["variant"]) == {0, 1, 2, 3}
    # The third repeat of each sample answers otherwise.
    other = (rows["transform"] == "identity") & (rows["variant"] == 3)
    rows["answer"] = ["other" if changed else "stable" for changed in other]
    path = Path(f"answers.{kind}")
    if kind == "parquet":
        rows.to_parquet(path)
    elif kind == "csv":
        rows.to_csv(path, index=False)
    else:
        rows.to_json(path, orient="records", lines=True)
    assert main(["run", "--suite", str(suite), "--model", f"file/{path}", "--out", "out"]) == 0
    verdicts = pd.read_parquet("out/verdicts.parquet")
    outcomes = verdicts[verdicts["kind"] == "identity"].groupby("variant")["outcome"].agg(set)
    assert outcomes.to_dict() == {0: {"held"}, 1: {"held"}, 2: {"violated"}, 3: {"unjudged"}}
    assert set(verdicts[verdicts["kind"] == "preserving"]["outcome"]) == {"held"}
    manifest = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))
    repeats = {"per_sample": 3, "stages": 2, "why": "the file holds 3 repeats of an input"}
    assert manifest["repeats"] == {f"file/{path}": repeats}


def test_answers_that_are_missing_are_no_verdicts(
    tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["transform", str(sources), "--suite", "suite.jsonl"]) == 0
    rows = [json.loads(line) for line in Path("suite.jsonl").read_text(encoding="utf-8").splitlines()]
    done = [{**row, "answer": "get_x"} for row in rows if row["transform"] in ("identity", "rename")]
    lines(Path("p.jsonl"), done)
    assert main(["run", "--suite", "suite.jsonl", "--model", "file/p.jsonl", "--out", "out"]) == 0
    (model,) = json.loads(Path("out/summary.json").read_text(encoding="utf-8"))["models"]
    judged = {row["transform"]: row["pairs"]["total"] for row in model["by_transform"]}
    assert judged["rename"] > 0
    assert judged["reorder-breaking"] == 0
    assert model["unjudged_reasons"]["no answer in the file"] > 0

    capsys.readouterr()
    lines(Path("q.jsonl"), [{"id": "0" * 16, "answer": "x"}])
    assert main(["run", "--suite", "suite.jsonl", "--model", "file/q.jsonl", "--out", "other"]) == 3
    assert capsys.readouterr().err.splitlines()[-1].startswith("codeaudit: none of the 1 rows of 'q.jsonl'")
