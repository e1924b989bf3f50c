"""`--prompt`: each model of texts is asked in several ways, and the report says what the prompt changed."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import codeaudit
from codeaudit.cli.main import main
from codeaudit.merging import merge
from tests.support.endpoints import Act, Asked, says, serving

SOURCES = tuple(
    f"def f{number}(alpha, beta):\n    one = alpha + {number}\n    two = beta * {number}\n"
    f"    return one - two\n"
    for number in range(24)
)
WORDS = ("run", "--corpus", "sources", "--transform", "rename", "--variants", "2", "--no-controls")


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-FAKEfakeFAKEfake0123456789")
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "sources"
    folder.mkdir()
    for number, source in enumerate(SOURCES):
        (folder / f"f{number}.py").write_text(source, encoding="utf-8")


def summary(out: str = "out") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(out, "summary.json").read_text(encoding="utf-8"))
    return found


def manifest(out: str = "out") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(out, "manifest.json").read_text(encoding="utf-8"))
    return found


def run(*models: str, prompts: tuple[str, ...], out: str = "out", **options: Any) -> dict[str, Any]:
    settings = {"transforms": "rename", "variants": 2, "controls": False, "workers": 1, **options}
    codeaudit.run(list(models), corpus=list(SOURCES), prompt=prompts, out=out, **settings)
    return summary(out)


def by_way(asked: Asked) -> Act:
    """Another name where examples are shown, for a third of the functions. An edit changes nothing."""
    code = asked.text.rpartition("def ")[2]
    moved = "Solved examples" in asked.text and any(f"+ {n}\n" in code for n in range(0, 24, 3))
    return says("[other_name] [o]" if moved else "[same_name] [s]")


def test_a_model_with_a_prompt_is_a_model_of_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    Path("mine.txt").write_text("Name it, as [name] [short]:\n{code}", encoding="utf-8")
    ways = ("--prompt", "plain", "--prompt", "few-shot", "--prompt", "mine.txt")
    with serving(by_way) as endpoint:
        there = ("--model", "openai/tiny", "--base-url", endpoint.url)
        assert main([*WORDS, *there, *ways, "--out", "out"]) == 0
        first = len(endpoint.asked)
        names = ["openai/tiny@plain", "openai/tiny@few-shot", "openai/tiny@mine.txt"]
        assert [model["model"] for model in summary()["models"]] == names
        assert [model["prompt"] for model in manifest()["models"]] == ["plain", "few-shot", "mine.txt"]
        assert len({model["fingerprint"] for model in manifest()["models"]}) == 3
        assert set(pd.read_parquet("out/verdicts.parquet")["model"]) == set(names)
        assert set(pd.read_parquet("out/answers.parquet")["model"]) == set(names)
        firsts = {request.text.split("\n")[0][:30] for request in endpoint.asked}
        assert len(firsts) == 3
        printed = " ".join(capfd.readouterr().out.split())
        assert "openai/tiny: another prompt (plain, few-shot, mine.txt) changed 8/24" in printed
        assert "an effect is shown" in printed

        # A stranger's manifest does not send a file; typed, it does, and what is known is not asked again.
        assert main(["run", "--config", "out/manifest.json", "--out", "more"]) == 2
        assert "3:prompt=mine.txt" in capfd.readouterr().err
        again = ("-M", "1:prompt=plain", "-M", "2:prompt=few-shot", "-M", "3:prompt=mine.txt")
        assert main(["run", "--config", "out/manifest.json", "--out", "more", *there[2:], *again]) == 0
        repeats = 24 * 2 * 3
        assert len(endpoint.asked) == first + repeats, "the repeats alone are asked again"
    assert summary("more")["prompts"] == summary()["prompts"]


@pytest.mark.slow
def test_what_a_prompt_changes_stands_beside_what_edits_change(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(by_way) as endpoint:
        found = run("openai/tiny", prompts=("plain", "few-shot"), base_url=endpoint.url)
    (effect,) = found["prompts"]
    assert (effect["model"], effect["prompts"]) == ("openai/tiny", ["plain", "few-shot"])
    assert (effect["changed"]["count"], effect["changed"]["total"]) == (8, 24)
    assert (effect["noise"]["count"], effect["noise"]["total"]) == (0, 48)
    for name in ("excess", "pair_excess"):
        assert effect[name]["points"] == pytest.approx(1 / 3)
        assert 0.1 < effect[name]["low"] < 1 / 3 < effect[name]["high"] < 0.6
    assert effect["pair_excess"]["p"] < 0.01
    assert all(model["violations"]["count"] == 0 for model in found["models"])
    assert main(["report", "out", "--markdown", "out.md", "--html", "out.html"]) == 0
    for page in ("out.md", "out.html"):
        text = Path(page).read_text(encoding="utf-8")
        assert "What another prompt changed, beside what edits changed" in text
        assert "edits, asked with few-shot" in text


@pytest.mark.thinned(1)
@pytest.mark.parametrize(("model", "share"), [("fake/constant", 0), ("fake/chatty", 0), ("fake/hash", 1)])
def test_of_a_steady_model_every_difference_is_the_prompts(model: str, share: int) -> None:
    (effect,) = run(model, prompts=("plain", "reworded", "reasoning"))["prompts"]
    assert effect["changed"]["rate"] == effect["pair_excess"]["points"] == share
    assert (effect["pair_excess"]["p"] < 0.001) == bool(share)


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("seed", range(6))
def test_noise_is_not_the_prompts(seed: int) -> None:
    corpus = [source.replace("alpha", f"alpha{seed}") for source in SOURCES]
    codeaudit.run(
        "fake/noisy",
        corpus=corpus,
        prompt=["plain", "reworded", "native"],
        model_arguments={"p": 0.2},
        transforms="spacing",
        controls=False,
        repeats=4,
        workers=1,
        out="out",
    )
    (effect,) = summary()["prompts"]
    assert effect["changed"]["count"] > 3
    assert effect["noise"]["count"] > 3
    assert effect["pair_excess"]["low"] < 0 < effect["pair_excess"]["high"]
    assert effect["pair_excess"]["p"] > 0.01


@pytest.mark.slow
def test_a_merged_run_has_the_prompts_of_the_whole() -> None:
    settings: dict[str, Any] = {"prompts": ("plain", "few-shot"), "repeats": 2}
    whole = run("fake/noisy", "fake/hash", **settings)
    parts = [f"part{n}" for n in (1, 2)]
    for number, part in enumerate(parts, start=1):
        run_of_part(part, f"{number}/2", settings)
    merge([Path(part) for part in parts], Path("merged"), command=[])
    assert summary("merged")["prompts"] == whole["prompts"]
    assert [model["model"] for model in whole["models"]] == [
        "fake/noisy@plain", "fake/noisy@few-shot", "fake/hash@plain", "fake/hash@few-shot"
    ]  # fmt: skip


def run_of_part(out: str, shard: str, settings: dict[str, Any]) -> None:
    codeaudit.run(
        ["fake/noisy", "fake/hash"],
        corpus=list(SOURCES),
        prompt=settings["prompts"],
        repeats=settings["repeats"],
        transforms="rename",
        variants=2,
        controls=False,
        workers=1,
        shard=shard,
        out=out,
    )


@pytest.mark.slow
def test_arguments_of_one_model_stay_with_it_and_models_of_code_are_asked_once() -> None:
    found = run(
        "fake/length",
        "fake/noisy",
        "spe-checkpoint",
        prompts=("plain", "native"),
        model_arguments={"2:p": 0.5},
    )
    assert [model["model"] for model in found["models"]] == [
        "fake/length@plain", "fake/length@native", "fake/noisy@plain", "fake/noisy@native", "spe-checkpoint"
    ]  # fmt: skip
    assert ["p=0.5" in model["fingerprint"] for model in found["models"]] == [False, False, True, True, False]
    assert main(["explain", "out", "--model", "fake/length@native", "--limit", "1"]) in (0, 3)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--model", "fake/hash", "--prompt", "plian"), "unknown prompt 'plian'; did you mean 'plain'?"),
        (("--prompt", "plain"), "the bundled models read code and no prompt"),
        (("--model", "spe-checkpoint", "--prompt", "plain"), "no model here is asked with a prompt"),
        (
            ("--model", "openai/x", "--prompt", "plain", "-M", "system=Be brief."),
            "--prompt and -M system both say what 'openai/x' is asked; write one of them",
        ),
        (
            ("--model", "openai/x", "--prompt", "plain", "-M", "template=a.txt"),
            "--prompt and -M template both say what 'openai/x' is asked; write one of them",
        ),
        (
            ("--model", "fake/hash", "--prompt", "empty.txt"),
            "the template has no place for the code; write {code} or {source} in it",
        ),
        (
            ("--model", "fake/hash", "--prompt", "spe", "--task", "error-detection", "--corpus", "sources"),
            "the task 'error-detection' has no prompt 'spe'; it has plain, reworded, native",
        ),
        (
            ("--model", "fake/hash", "--prompt", "spe", "--prompt", "plain", "--corpus", "sources"),
            "the prompts spe and plain of the task 'function-name' are one; name one of them",
        ),
    ],
)
def test_what_does_not_go_together_is_one_line(
    words: tuple[str, ...], told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("empty.txt").write_text("What is this?", encoding="utf-8")
    assert main(["run", *words, "--out", "out"]) == 2
    last = capfd.readouterr().err.rstrip().split("\n")[-1]
    assert told in last
    assert last.startswith("codeaudit: ")


def test_a_prompt_is_forecast_with_its_own_words(capfd: pytest.CaptureFixture[str]) -> None:
    words = (*WORDS, "--model", "openai/tiny", "--base-url", "http://127.0.0.1:9/v1", "--dry-run")
    assert main([*words, "--prompt", "plain", "--prompt", "reasoning", "--format", "json"]) == 0
    plan = json.loads(capfd.readouterr().out)
    plain, thinking = plan["models"] if isinstance(plan, dict) else plan
    assert thinking["tokens_out"] > 20 * plain["tokens_out"]
