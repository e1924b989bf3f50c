"""`-M samples=N` from end to end: pass@k with k above 1 of models that write text."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import codeaudit
from codeaudit.audit.store import read_rows
from codeaudit.cli.main import main
from tests.support.endpoints import Act, Asked, says, serving

NAMES = ("first", "second", "third")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    rows = [
        {
            "task_id": f"own/{name}",
            "prompt": f"def {name}(left, right):\n",
            "canonical_solution": (
                f'    """Add up, the {name} way."""\n    left = left + 0\n    total = left + right\n'
                "    total = total + 0\n    return total\n"
            ),
            "test": "def check(candidate):\n    assert candidate(3, 4) == 7\n",
            "entry_point": name,
        }
        for name in NAMES
    ]
    Path("own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def run(*words: str, task: str = "generation", out: str = "out") -> int:
    few = ["--transform", "rename,insert-comments", "--variants", "1", "--no-controls", "--workers", "1"]
    return main(["run", "--task", task, "--corpus", "own.jsonl", *few, "--out", out, *words])


def model_in(out: str = "out") -> Mapping[str, Any]:
    (found,) = json.loads(Path(out, "summary.json").read_text(encoding="utf-8"))["models"]
    assert isinstance(found, dict)
    return found


def answers(out: str = "out") -> dict[tuple[str, str], list[dict[str, str | None]]]:
    """The graded attempts by sample and transform; `""` for the original."""
    by_input = {}
    for row in read_rows(Path(out, "verdicts.parquet")):
        by_input[row["sample"], ""] = json.loads(row["before"])
        by_input[row["sample"], row["transform"]] = json.loads(row["after"])
    return by_input


def passed(attempts: list[dict[str, str | None]]) -> int:
    return sum(attempt["failure"] is None for attempt in attempts)


def half(folder: Path) -> Path:
    """A network that ends a function with `return total` or, as likely, with `return place`."""
    torch = pytest.importorskip("torch")
    made = pytest.importorskip("tests.audit.models.hf.networks", exc_type=ImportError)
    words = made.tokenizer(made.GPT)
    network = made.decoder("Llama", words)
    made.say(network, words, "\n", "    return total")
    total, place = (words.encode(word)[-1] for word in (" total", " place"))
    with torch.no_grad():
        network.lm_head.weight[place] = network.lm_head.weight[total]
        network.lm_head.weight[words.eos_token_id] += 10 * network.model.embed_tokens.weight[place]
    made.save(folder, network, words)
    return folder


@pytest.mark.slow
def test_a_network_that_solves_half_of_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    network = ("--model", f"hf/{half(Path('half'))}", "-M", "max_new_tokens=12")
    assert run(*network, "-M", "samples=5") == 0
    printed = capsys.readouterr()
    assert "1 of 5" in printed.out
    assert "5 of 5" in printed.out
    by_input = answers()
    assert all(len(attempts) == 5 for attempts in by_input.values())
    assert {attempt["text"] for attempts in by_input.values() for attempt in attempts} == {
        "    return total",
        "    return place",
    }
    own = [passed(by_input[sample, ""]) for sample, transform in by_input if not transform]
    assert 0 < sum(own) < 5 * len(NAMES)
    nominal = {
        block["k"]: block["nominal"]["value"] for block in model_in()["robust"] if not block["transform"]
    }
    assert nominal == {
        1: pytest.approx(sum(own) / 5 / len(NAMES)),
        5: pytest.approx(sum(map(bool, own)) / len(NAMES)),
    }
    assert model_in()["score"]["original"] == pytest.approx(nominal[1])
    for (sample, transform), texts in by_input.items():
        if transform == "identity":
            assert texts == by_input[sample, ""], "equal prompts have equal answers"
        if transform == "insert-comments":
            assert texts == by_input[sample, ""], "chance is no difference"
        if transform == "rename":
            assert passed(texts) == 0

    alone = ("--batch-size", "1", "--cache", "other")
    assert run(*network, "-M", "samples=5", *alone, out="alone") == 0
    assert answers("alone") == by_input
    assert run(*network, "-M", "samples=5", "-M", "temperature=0.01", out="cold") == 0
    assert run(*network, out="greedy") == 0
    assert {block["k"] for block in model_in("greedy")["robust"]} == {1}


@pytest.mark.slow
def test_an_endpoint_is_asked_for_as_many_and_not_twice(capsys: pytest.CaptureFixture[str]) -> None:
    def script(asked: Asked) -> Act:
        return says("    return total\n" if asked.body["seed"] % 2 else "    return left\n")

    with serving(script) as endpoint:
        words = (
            "--model",
            "openai/tiny",
            "--base-url",
            endpoint.url,
            "-M",
            "samples=5",
            "-M",
            "price_in=1000",
        )
        assert run(*words) == 0
        requests = len(endpoint.asked)
        by_input = answers()
        seeds = [request.body["seed"] for request in endpoint.asked]
        assert run(*words, out="more") == 0
        again = [request.body["seed"] for request in endpoint.asked[requests:]]
    assert requests == 5 * (2 + 2) * len(NAMES), "the original twice, and two variants"
    assert len(set(seeds)) == 5
    assert sorted(again) == sorted(len(NAMES) * [*set(seeds)]), "for the noise alone"
    printed = capsys.readouterr()
    assert f"openai/tiny: {requests} requests; {7 * requests} tokens in" in printed.err
    assert "5 of 5" in printed.out
    blocks = {(block["transform"], block["k"]): block for block in model_in()["robust"]}
    own = [passed(by_input[sample, ""]) for sample, transform in by_input if not transform]
    assert blocks["", 1]["nominal"]["value"] == pytest.approx(sum(own) / 5 / len(NAMES))
    assert blocks["", 5]["nominal"]["value"] == pytest.approx(sum(map(bool, own)) / len(NAMES))
    commented = [
        passed(by_input[sample, transform])
        for sample, transform in by_input
        if transform == "insert-comments"
    ]
    assert commented == own, "an endpoint that keeps to its seeds gives the same answers"
    assert 0 < sum(commented) < 5 * len(NAMES)
    assert blocks["insert-comments", 1]["robust"]["value"] == pytest.approx(sum(commented) / 5 / len(NAMES))


@pytest.mark.slow
def test_other_tasks_take_draws_of_one_answer(sources: Path) -> None:
    said = Counter[str]()

    def answer(asked: Asked) -> Act:
        said[asked.text] += 1
        return says(("total", "read_file", "total", "`sum`", "read_file")[said[asked.text] % 5])

    with serving(answer) as endpoint:
        words = [
            "--model",
            "openai/tiny",
            "--base-url",
            endpoint.url,
            "-M",
            "samples=5",
            "-M",
            "concurrency=1",
        ]
        few = ["--transform", "rename", "--variants", "1", "--no-controls", "--workers", "1"]
        assert main(["run", "--corpus", str(sources), *few, *words, "--out", "out"]) == 0
    rows = list(read_rows(Path("out", "verdicts.parquet")))
    answered = [row for row in rows if row["outcome"] != "unjudged"]
    assert answered
    for row in answered:
        for side in ("before", "after"):
            found = json.loads(row[side])
            assert Counter(map(tuple, found["draws"])) == {("total",): 2, ("file", "read"): 2, ("sum",): 1}
            assert found["answer"] in (["total"], ["file", "read"]), "the commonest, and of two the first"
            assert found["draws"].index(found["answer"]) == min(
                found["draws"].index(["total"]), found["draws"].index(["file", "read"])
            )
    assert (
        codeaudit.open_run("out").verdicts()["before"].map(tuple).isin([("total",), ("file", "read")]).all()
    )
    assert main(["report", "out"]) == 0


def test_one_sampled_answer_is_for_every_task(sources: Path) -> None:
    with serving(lambda asked: says("buggy")) as endpoint:
        words = [
            "--model",
            "openai/tiny",
            "--base-url",
            endpoint.url,
            "-M",
            "samples=1",
            "-M",
            "temperature=0.7",
        ]
        few = ["--transform", "rename", "--variants", "1", "--workers", "1", "--out", "out"]
        assert main(["run", "--task", "error-detection", "--corpus", str(sources), *few, *words]) == 0
    assert {request.body["temperature"] for request in endpoint.asked} == {0.7}
