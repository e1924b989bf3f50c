"""How often a model is asked the unchanged input again: by what it is, by what it answers, and by `--repeats`."""

import hashlib
import json
import signal
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import codeaudit
from codeaudit.audit.records import NOT_REPEATED
from codeaudit.cli.main import main
from tests.support.commands import start
from tests.support.endpoints import Act, Asked, disconnects, says, serving
from tests.support.waiting import until

FUNCTIONS = 24
SOURCES = tuple(
    f"def f{number}(alpha, beta):\n    one = alpha + {number % 7}\n    two = beta * {number}\n"
    f"    return one - two\n"
    for number in range(FUNCTIONS)
)
NOISE = 0.2


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-FAKEfakeFAKEfake0123456789")
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


class Model:
    """A callable that gives one name; with `noise`, now and then another, by how often a text was asked."""

    def __init__(self, *, noise: float = 0.0, breaks_after: int | None = None) -> None:
        self.asked = Counter[str]()
        self.noise = noise
        self.left = breaks_after

    def __call__(self, queries: Sequence[codeaudit.Query]) -> list[str]:
        return [self.answer(query.source) for query in queries]

    def answer(self, text: str) -> str:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
        self.asked[text] += 1
        drawn = hashlib.sha256(f"{self.asked[text]} {text}".encode()).digest()
        return f"other_{drawn.hex()[:6]}" if drawn[0] < 256 * self.noise else "stable_name"


def run(model: Any, out: str = "out", **options: Any) -> pd.DataFrame:
    """The verdicts of a run."""
    settings: dict[str, Any] = {
        "corpus": list(SOURCES),
        "transforms": "rename",
        "controls": False,
        "workers": 1,
        **options,
    }
    codeaudit.run({"m": model} if callable(model) else model, out=out, **settings)
    return pd.read_parquet(Path(out, "verdicts.parquet"))


def told(out: str = "out") -> dict[str, Any]:
    (repeats,) = json.loads(Path(out, "manifest.json").read_text("utf-8"))["repeats"].values()
    assert isinstance(repeats, dict)
    return repeats


def numbers(verdicts: pd.DataFrame) -> dict[int, int]:
    """How many repeats of each number were asked."""
    kept = verdicts[(verdicts["kind"] == "identity") & (verdicts["reason"] != NOT_REPEATED)]
    return dict(kept.groupby("variant").size())


@pytest.mark.slow
def test_a_local_model_without_noise_is_asked_again_once() -> None:
    model = Model()
    verdicts = run(model)
    assert numbers(verdicts) == {0: FUNCTIONS}
    variants = verdicts[verdicts["kind"] == "preserving"]["input"].nunique()
    assert sum(model.asked.values()) == 2 * FUNCTIONS + variants
    assert told() == {"per_sample": 1, "stages": 1, "why": "one repeat of each sample showed no noise"}
    # The suite holds the others, so that a noisy model may be asked on it.
    suite = pd.read_parquet("out/suite.parquet")
    assert Counter(suite[suite["kind"] == "identity"]["variant"]) == dict.fromkeys(range(4), FUNCTIONS)


def test_a_local_model_with_noise_is_asked_as_often_as_it_has_variants() -> None:
    model = Model(noise=NOISE)
    verdicts = run(model)
    assert numbers(verdicts) == dict.fromkeys(range(4), FUNCTIONS), (
        "every sample, not only those that changed"
    )
    assert {model.asked[text] for text in set(pd.read_parquet("out/suite.parquet")["source"])} == {5}
    repeats = told()
    assert (repeats["per_sample"], repeats["stages"]) == (4, 2)
    changed = verdicts[(verdicts["variant"] == 0) & (verdicts["kind"] == "identity")]["outcome"] == "violated"
    assert repeats["why"] == f"the first repeat changed {changed.sum()} of {FUNCTIONS} answers"


@pytest.mark.thinned(1)
@pytest.mark.parametrize(("repeats", "variants"), [(1, 4), (2, 4), (6, 4), (3, 2)])
def test_the_user_decides(repeats: int, variants: int) -> None:
    verdicts = run(Model(), repeats=repeats, variants=variants)
    assert numbers(verdicts) == dict.fromkeys(range(repeats), FUNCTIONS)
    assert told() == {"per_sample": repeats, "stages": 2 if repeats > 1 else 1, "why": "--repeats"}


def test_trials_are_asked_equally_often() -> None:
    class Late(Model):
        """Its noise begins with the functions of the second trial."""

        def answer(self, text: str) -> str:
            self.noise = 0.5 if "* 7\n" in text else 0.0
            return super().answer(text)

    verdicts = run(Late(), trials=2, limit=12)
    by_trial = verdicts[(verdicts["kind"] == "identity") & (verdicts["reason"] != NOT_REPEATED)]
    assert by_trial.groupby("seed")["variant"].agg(set).map(len).nunique() == 1


@pytest.mark.slow
def test_a_run_that_was_stopped_between_the_stages_goes_on() -> None:
    whole = run(Model(noise=NOISE), "whole")
    noisy = Model(noise=NOISE, breaks_after=2 * FUNCTIONS)
    with pytest.raises(KeyboardInterrupt):
        run(noisy)
    assert set(noisy.asked.values()) == {2}
    noisy.left = None
    resumed = run(noisy)
    assert (
        sum(noisy.asked.values()) == 5 * FUNCTIONS + whole[whole["kind"] == "preserving"]["input"].nunique()
    )
    pd.testing.assert_frame_equal(resumed, whole)
    summaries = [Path(name, "summary.json").read_text("utf-8") for name in ("whole", "out")]
    assert summaries[0] == summaries[1]


class Hosted(Model):
    """The same behind an address."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.order: list[str] = []

    def act(self, asked: Asked) -> Act:
        self.order.append(asked.text)
        return says(self.answer(asked.text))


def test_a_hosted_model_is_asked_all_repeats_among_the_variants(sources: Path) -> None:
    model = Hosted()
    with serving(model.act) as endpoint:
        words = ["--model", "openai/tiny", "--base-url", endpoint.url, "-M", "concurrency=1"]
        assert main(["run", "--corpus", str(sources), *words, "--transform", "rename", "--out", "out"]) == 0
    verdicts = pd.read_parquet("out/verdicts.parquet")
    samples = verdicts["sample"].nunique()
    assert numbers(verdicts) == dict.fromkeys(range(4), samples)
    assert told() == {"per_sample": 4, "stages": 2, "why": "the model is hosted"}
    manifest = json.loads(Path("out/manifest.json").read_text("utf-8"))
    assert [entry["hosted"] for entry in manifest["models"]] == [True]
    # No text comes five times in a row: its repeats stand among its variants.
    again = [text for text, number in model.asked.items() if number == 5]
    assert len(again) == samples
    for text in again:
        places = [place for place, asked in enumerate(model.order) if asked == text]
        assert places[-1] - places[0] > len(places), "all in a row"


def gated(model: Any, seed: int) -> tuple[Any, Any]:
    """The summary of a model on many functions, and what the gate says of it at 10 %."""
    sources = [
        f"def f{number}(alpha, beta):\n    one = alpha + {number}\n    two = beta * {number % 9}\n"
        f"    return one - two\n"
        for number in range(150)
    ]
    transforms = ["rename", "rename-parameters"]
    settings: dict[str, Any] = {
        "corpus": sources,
        "transforms": transforms,
        "limit": None,
        "seed": seed,
        "workers": 1,
    }
    finished = codeaudit.run({"m": model}, out=f"run-{seed}", **settings)
    decided = codeaudit.gate(finished, max_violation_rate=0.1, allow_insensitive=True)
    return finished.summary.models[0], decided


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.thinned(1)
def test_noise_alone_is_no_effect_and_passes_the_gate(seed: int) -> None:
    """A model that ignores the code: a fifth of the samples seem violated, and nothing is shown."""
    summary, decided = gated(Model(noise=0.05), seed)
    rows = [row for row in summary.by_transform if row.kind == "preserving"]
    assert [row.violations.total for row in rows] == [150, 150]
    assert max(row.violations.rate for row in rows) > 0.1
    assert all(row.pair_excess.p > 0.01 and abs(row.excess.points) < 0.12 for row in rows)
    assert decided.passed, decided


@pytest.mark.weekly
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_effect_is_shown_beside_the_same_noise_and_fails_the_gate(seed: int) -> None:
    class Moves(Model):
        """It names a third of all texts by their characters."""

        def answer(self, text: str) -> str:
            said, own = super().answer(text), hashlib.sha256(text.encode()).digest()
            return f"name_{own[1]}" if said == "stable_name" and own[0] % 3 == 0 else said

    summary, decided = gated(Moves(noise=0.05), seed)
    rows = [row for row in summary.by_transform if row.kind == "preserving"]
    assert all(row.pair_excess.p < 0.01 and row.excess.points > 0.2 for row in rows)
    assert not decided.passed


@pytest.mark.slow
def test_a_run_of_a_hosted_model_that_was_killed_goes_on_and_is_the_same(sources: Path) -> None:
    options = ["-M", "concurrency=1", "-M", "backoff=0.01", "--transform", "rename", "--workers", "1"]
    killed: list[int] = []

    def command(url: str, out: str) -> list[str]:
        return [
            "run",
            "--corpus",
            str(sources),
            "--model",
            "openai/tiny",
            "--base-url",
            url,
            *options,
            "--out",
            out,
        ]

    whole, model = Hosted(noise=NOISE), Hosted(noise=NOISE)

    def stored() -> int:
        with closing(sqlite3.connect(Path("cache", "answers.sqlite"))) as opened:
            (count,) = opened.execute("SELECT count(*) FROM answers").fetchone()
        return int(count)

    def act(asked: Asked) -> Act:
        if not killed and sum(model.asked.values()) == 30:
            until(lambda: stored() >= before + 30)  # the next request leaves before an answer is stored
            killed.append(process.pid)
            process.send_signal(signal.SIGKILL)
            process.wait()
            return disconnects
        return model.act(asked)

    with serving(whole.act) as endpoint:
        assert main(command(endpoint.url, "whole")) == 0
    before = stored()
    with serving(act) as endpoint:
        process = start(*command(endpoint.url, "out"), cwd=Path.cwd())
        process.communicate()  # closes its streams
        assert process.returncode == -signal.SIGKILL
        assert killed
        assert main(command(endpoint.url, "out")) == 0
    assert model.asked == whole.asked, "nothing is asked twice"
    one, other = (json.loads(Path(name, "summary.json").read_text("utf-8")) for name in ("whole", "out"))
    for summary in (one, other):
        for each in summary["models"]:
            del each["fingerprint"]  # it has the address
    assert one == other
