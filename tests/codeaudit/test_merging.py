"""Shards and their merge: the whole run, as one process makes it."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import codeaudit
from codeaudit.audit.engines.shards import BUCKETS, Shard, bucket_of, read_shard
from codeaudit.audit.interface import BaseModel
from codeaudit.audit.records import Predicted, Prediction, Query, Repeat
from codeaudit.audit.run import SilentProgress
from codeaudit.merging import merge
from codeaudit.transforms.errors import RunError, UsageError
from tests.support.commands import called
from tests.support.endpoints import completion, sends, serving

SOURCES = tuple(
    f"def f{number}(alpha, beta):\n    one = alpha + {number % 7}\n    two = beta * {number}\n"
    f"    three = one - two\n    return three{' + one' * (number % 5)}\n"
    for number in range(48)
)
TABLES = ("suite.parquet", "verdicts.parquet", "attacks.parquet")


class Noisy(BaseModel):
    """A model whose answer to a repeated query depends on everything that is asked with it."""

    name, fingerprint, task, parameters, noise = "noisy", "noisy-1", None, None, 0.0

    def __init__(self, breaks_after: int | None = None, *, alone: bool = False) -> None:
        self.left = breaks_after
        self.alone = alone
        """Whether an answer depends on its own query alone."""

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
        batch = "\0".join(query.source for query in queries)
        texts = [batch if isinstance(query, Repeat) and not self.alone else query.source for query in queries]
        return [Predicted(answer="abcdefgh"[hashlib.sha256(text.encode()).digest()[0] % 8]) for text in texts]


def made(out: Path, shard: str | None = None, *, model: Noisy | None = None, **options: Any) -> Path:
    settings: dict[str, Any] = {
        "corpus": list(SOURCES),
        "transforms": ["rename", "reorder"],
        "variants": 2,
        "attack": ["greedy", "random"],
        "budget": 3,
        "batch_size": 4,
        "trials": 2,
        "limit": 40,
        "cache": out.with_name(f"{out.name}.cache"),
    }
    codeaudit.run(model or Noisy(), shard=shard, out=out, **{**settings, **options})
    return out


def shards(folder: Path, of: int, **options: Any) -> list[Path]:
    """Shards with both stages of repeats, which the whole run finds due by itself."""
    options = {"repeats": 2, **options}
    return [made(folder / f"r{number}", f"{number}/{of}", **options) for number in range(1, of + 1)]


def assert_same_results(one: Path, other: Path) -> None:
    assert (one / "summary.json").read_bytes() == (other / "summary.json").read_bytes()
    for name in TABLES:
        if (one / name).exists():
            pd.testing.assert_frame_equal(pd.read_parquet(one / name), pd.read_parquet(other / name))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("whole") / "run")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return shards(tmp_path_factory.mktemp("parts"), 3)


@pytest.fixture(scope="module")
def joined(parts: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("joined") / "run"
    merge(parts[::-1], out, command=["codeaudit", "merge"])
    return out


def test_a_merged_run_is_that_of_one_process(whole: Path, joined: Path) -> None:
    assert_same_results(whole, joined)
    rate = codeaudit.open_run(joined).summary.models[0].noise_floor
    # The company of the repeated queries decides: other batches would give another count.
    assert 0 < rate.count < rate.total


@pytest.mark.slow
def test_a_merged_run_names_all_versions_that_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "table.jsonl"
    table.write_text("".join(json.dumps({"source": text}) + "\n" for text in SOURCES), "utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(lambda _: sends(200, completion("[get]").replace("tiny-1", f"m-{number}"))) as endpoint:
        words = ["--model", "openai/m", "--base-url", endpoint.url, "--corpus", str(table), "--limit", "6"]
        for number in (1, 2):
            place = ["--shard", f"{number}/2", "--out", f"s{number}"]
            done = called("run", *words, "--transform", "rename", "--no-controls", *place, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    summary, _ = merge([tmp_path / "s1", tmp_path / "s2"], tmp_path / "all", command=["codeaudit", "merge"])
    assert summary.models[0].served == ("m-1", "m-2")


class Notes(SilentProgress):
    """A progress that keeps its notes."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, message: str) -> None:
        self.told.append(message)


@pytest.mark.slow
def test_a_shard_ends_after_the_first_stage_and_the_second_is_told(tmp_path: Path, joined: Path) -> None:
    folders = shards(tmp_path, 3, repeats=None)
    repeats = {path: json.loads((path / "manifest.json").read_text())["repeats"]["noisy"] for path in folders}
    assert {(repeat["per_sample"], repeat["stages"]) for repeat in repeats.values()} == {(1, 1)}
    notes = Notes()
    merge(folders, tmp_path / "run", command=[], progress=notes)
    (due,) = (line for line in notes.told if "second stage" in line)
    assert due.endswith("make the shards again with the same commands and --repeats 2, then merge them")
    assert_same_results(made(tmp_path / "once", repeats=1), tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert "the second stage was not asked" in manifest["repeats"]["noisy"]["why"]
    both = json.loads((joined / "manifest.json").read_text())
    assert both["repeats"]["noisy"] == {"per_sample": 2, "stages": 2, "why": "--repeats"}


def test_every_sample_is_in_one_shard(parts: list[Path], whole: Path) -> None:
    samples = [set(pd.read_parquet(path / "suite.parquet")["sample"]) for path in parts]
    assert all(samples)
    assert sum(map(len, samples)) == len(set().union(*samples))
    assert set().union(*samples) == set(pd.read_parquet(whole / "suite.parquet")["sample"])


@pytest.mark.weekly
@pytest.mark.parametrize(
    "options", [{"movable": 30, "limit": 10}, {"trials": 1, "attack": ()}, {"limit": None}]
)
def test_merged_runs_of_other_options(options: dict[str, Any], tmp_path: Path) -> None:
    expected = made(tmp_path / "whole", **options)
    merge(shards(tmp_path, 4, **options), tmp_path / "run", command=[])
    assert_same_results(expected, tmp_path / "run")


@pytest.mark.weekly
def test_copies_in_several_shards_are_left_out_of_the_merged_run(tmp_path: Path) -> None:
    copies = [text.replace("    one", '    """Adds."""\n    one', 1) for text in SOURCES[:30]]
    options: dict[str, Any] = {
        "corpus": [*SOURCES, *copies, "def g(): pass\n"],
        "model": Noisy(alone=True),
        "limit": None,
        "repeats": 1,
    }
    expected = made(tmp_path / "whole", **options)
    folders = shards(tmp_path, 5, **options)
    samples = [len(pd.read_parquet(path / "shard.parquet")) for path in folders]
    assert sum(samples) > 2 * len(SOURCES), "no copies in different shards"
    merge(folders, tmp_path / "run", command=[])
    assert_same_results(expected, tmp_path / "run")
    one, other = (json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("whole", "run"))
    assert one["corpus"] == other["corpus"]
    assert one["corpus"]["skipped"]["duplicate"] == 30


@pytest.mark.slow
def test_a_frozen_suite_is_divided_too_and_empty_shards_are_shards(tmp_path: Path) -> None:
    few = made(tmp_path / "few", limit=5)
    frozen: dict[str, Any] = {"suite": few / "suite.parquet", "corpus": None, "repeats": 2}
    expected = made(tmp_path / "whole", **frozen)
    folders = shards(tmp_path, 12, **frozen)
    assert any(not len(pd.read_parquet(path / "suite.parquet")) for path in folders)
    merge(folders, tmp_path / "run", command=[])
    assert_same_results(expected, tmp_path / "run")


@pytest.mark.slow
def test_a_shard_resumes(parts: list[Path], tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path / "r", "2/3", model=Noisy(breaks_after=9), repeats=2)
    again = made(tmp_path / "r", "2/3", repeats=2)
    assert_same_results(parts[1], again)
    manifest = json.loads((again / "manifest.json").read_text())
    assert manifest["state"] == "finished"
    # Another shard is another run: what was there is put aside.
    made(again, "1/3", repeats=2)
    assert_same_results(parts[0], again)
    assert (again / "previous" / "shard.parquet").exists()


def copies(parts: list[Path], folder: Path) -> list[Path]:
    return [Path(shutil.copytree(path, folder / path.name)) for path in parts]


def told(folders: Sequence[Path], out: Path) -> str:
    done = called("merge", *map(str, folders), "--out", str(out), cwd=out.parent)
    assert done.returncode == 3
    assert done.stdout == ""
    (line,) = (line for line in done.stderr.splitlines() if "cannot merge" in line or "no shard" in line)
    return line


def test_missing_and_repeated_shards_are_named(parts: list[Path], tmp_path: Path) -> None:
    twice = Path(shutil.copytree(parts[0], tmp_path / "twice"))
    line = told([parts[0], twice], tmp_path / "run")
    assert "missing: shard 2/3, 3/3" in line
    assert f"shard 1/3 is there 2 times: {parts[0]}, {twice}" in line


def test_a_shard_is_not_written_over(parts: list[Path], tmp_path: Path) -> None:
    own = copies(parts, tmp_path)
    before = {path.name: path.read_bytes() for path in own[0].iterdir() if path.is_file()}
    assert f"--out '{own[0]}' is shard 1/3; give another folder" in told(own, own[0])
    assert {path.name: path.read_bytes() for path in own[0].iterdir() if path.is_file()} == before


@pytest.mark.slow
def test_foreign_folders_are_named(parts: list[Path], whole: Path, tmp_path: Path) -> None:
    foreign = made(tmp_path / "foreign", "1/3", variants=1, repeats=2)
    halves = made(tmp_path / "half", "1/2", repeats=2)
    (tmp_path / "empty").mkdir()
    line = told([*parts, foreign, halves, whole, tmp_path / "empty"], tmp_path / "run")
    assert f"'{foreign}' is of another run than '{parts[0]}': variants" in line
    assert f"'{halves}' is shard 1/2, others are parts of 3" in line
    assert f"'{whole}' is a whole run, no shard" in line
    assert f"no run at '{tmp_path / 'empty'}'" in line
    assert "missing" not in line
    assert not (tmp_path / "run").exists()
    assert "is a whole run" in told([whole], tmp_path / "run")


@pytest.mark.parametrize("name", ["suite.parquet", "verdicts.parquet", "shard.parquet", "summary.json"])
def test_changed_files_are_found(name: str, parts: list[Path], tmp_path: Path) -> None:
    folders = copies(parts, tmp_path)
    shutil.copy(parts[0] / name, folders[1] / name)
    with pytest.raises(RunError, match=f"r2/{name}.*is not the file that this run wrote"):
        merge(folders, tmp_path / "run", command=[])


@pytest.mark.slow
def test_shards_of_other_draws_and_other_corpora_are_refused(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    rows = [json.dumps({"source": text, "language": "python", "label": "a"}) for text in SOURCES[:8]]

    def shard(number: int, *, text: Sequence[str] = rows, limit: int | None = None) -> Path:
        corpus.write_text("\n".join(text))
        options: dict[str, Any] = {"corpus": corpus, "limit": limit, "trials": 1, "attack": ()}
        return made(tmp_path / f"r{number}", f"{number}/3", **options)

    folders = [shard(number) for number in (1, 2, 3)]
    merge(folders, tmp_path / "run", command=[])
    for wrong, what in (
        ({"limit": 1000}, "corpus .hash."),
        ({"text": [*rows, "{bad"]}, "raw samples"),
        ({"text": [*rows[:-1], rows[-1].replace('"a"', '"b"')]}, "raw samples"),
    ):
        foreign = shard(3, **wrong)
        with pytest.raises(RunError, match=f"r3' is of another run than .*: .*{what}") as caught:
            merge([*folders[:2], foreign], tmp_path / "other", command=[])
        assert "missing" not in str(caught.value)
    shard(1, limit=1000)
    with pytest.raises(RunError, match="is of another run than"):
        merge(folders, tmp_path / "other", command=[])


@pytest.mark.slow
def test_a_file_of_answers_serves_all_shards(whole: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    inputs = pd.read_parquet(whole / "verdicts.parquet")["input"].unique()[:9]
    answers.write_text("".join(json.dumps({"id": key, "answer": "a"}) + "\n" for key in inputs))
    options: dict[str, Any] = {"corpus": list(SOURCES), "transforms": ["rename", "reorder"], "variants": 2}
    options |= {"limit": 40, "cache": tmp_path / "cache"}
    codeaudit.run(f"file/{answers}", out=tmp_path / "whole", **options)
    folders = [tmp_path / f"r{number}" for number in range(1, 41)]
    for number, out in enumerate(folders, start=1):
        codeaudit.run(f"file/{answers}", out=out, shard=f"{number}/40", **options)
    merge(folders, tmp_path / "run", command=[])
    assert_same_results(tmp_path / "whole", tmp_path / "run")


def test_an_unfinished_shard_is_named(parts: list[Path], tmp_path: Path) -> None:
    folders = copies(parts, tmp_path)
    place = folders[2] / "manifest.json"
    place.write_text(place.read_text().replace('"finished",', '"running",', 1))
    assert "shard 3/3, is not finished" in told(folders, tmp_path / "run")


@pytest.mark.slow
def test_merging_again_keeps_the_first_result(parts: list[Path], joined: Path, tmp_path: Path) -> None:
    folders = copies(parts, tmp_path)
    for _ in range(2):
        # As `codeaudit merge r* --out run`, whose pattern matches the result of the first time.
        merge([*folders, tmp_path / "run"], tmp_path / "run", command=[])
    assert_same_results(joined, tmp_path / "run")
    assert_same_results(joined, tmp_path / "run" / "previous")


@pytest.mark.slow
def test_a_merged_run_is_a_run_and_a_shard_is_none_for_the_gate(
    parts: list[Path], joined: Path, whole: Path, tmp_path: Path
) -> None:
    place = str(joined)
    assert (
        called("report", place, "--format", "json", cwd=tmp_path).stdout
        == called("report", str(whole), "--format", "json", cwd=tmp_path).stdout
    )
    for baseline in (whole, joined):
        passed = called(
            "gate", place, "--baseline", str(baseline), "--max-violation-rate", "100%", cwd=tmp_path
        )
        assert passed.returncode == 0, passed.stderr
    refused = called("gate", str(parts[1]), "--max-violation-rate", "100%", cwd=tmp_path)
    assert refused.returncode == 3
    assert "shard 2/3 of a run; join all shards first" in refused.stderr


@pytest.mark.slow
def test_keys_of_shards_are_checked(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"k" * 32)
    options: dict[str, Any] = {"trials": 1, "attack": (), "limit": 6}
    signed = [made(tmp_path / "r1", "1/2", sign_key=key, **options), made(tmp_path / "r2", "2/2", **options)]
    with pytest.raises(RunError, match="r2' has no signature"):
        merge(signed, tmp_path / "run", command=[], key=key.read_bytes())
    signed[1] = made(tmp_path / "r2", "2/2", sign_key=key, **options)
    merge(signed, tmp_path / "run", command=[], key=key.read_bytes())
    passed = called(
        "gate",
        "run",
        "--max-violation-rate",
        "100%",
        "--sign-key",
        "key",
        "--min-sensitivity",
        "0",
        cwd=tmp_path,
    )
    assert passed.returncode == 0, passed.stderr


def test_a_merged_run_without_a_verdict_is_no_success(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text("def f():\n    a = 1\n    b = 2\n    return 3\n")
    run = ("--corpus", "a.py", "--model", "fake/constant", "--transform", "reorder-breaking", "--no-controls")
    for number in (1, 2):
        done = called("run", *run, "--shard", f"{number}/2", "--out", f"r{number}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    merged = called("merge", "r1", "r2", "--out", "run", cwd=tmp_path)
    assert merged.returncode == 3
    assert "nothing could be judged" in merged.stderr


# ── names of shards ──────────────────────────────────────────────────────────────────────────────────────


def test_shards_divide_the_buckets() -> None:
    names = [f"sample {number}" for number in range(5000)]
    assert {bucket_of(name) for name in names} == set(range(BUCKETS))
    for of in (1, 2, 16, 240):
        for name in names[:500]:
            assert sum(Shard(number, of).has(name) for number in range(1, of + 1)) == 1
    assert read_shard("3/16") == Shard(3, 16)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("3", "must be I/N"),
        ("a/b", "must be I/N"),
        ("1/7", "7 does not divide 240; take 6 parts"),
        ("1/0", "0 does not divide 240"),
        ("0/4", "parts are 1 to 4"),
        ("5/4", "parts are 1 to 4"),
        ("-1/4", "must be I/N"),
        ("1/480", "480 does not divide 240; take 240 parts"),
    ],
)
def test_wrong_shards_are_usage_errors(text: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=what):
        read_shard(text)
    done = called("run", "--shard", text, "--out", "r", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert what in done.stderr
    assert not (tmp_path / "r").exists()


def test_merge_needs_shards_and_a_folder(tmp_path: Path) -> None:
    assert called("merge", "--out", "run", cwd=tmp_path).returncode == 2
    assert called("merge", "r1", cwd=tmp_path).returncode == 2
    assert called("merge", "r1", "--out", "run", cwd=tmp_path).returncode == 3
