"""`-M batch=true`: whatever ends the process or befalls the batch, no request is paid for twice."""

import json
import os
import re
import signal
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.models.endpoints.batch_records import request_name
from codeaudit.audit.models.text_models import built_in
from codeaudit.audit.records import Query, Repeat
from codeaudit.cli.main import main
from tests.audit.models.test_openai import KEY
from tests.support.batches import Batches, Line, serving_batches
from tests.support.commands import start
from tests.support.endpoints import completion
from tests.support.preloaded import Forked


@pytest.fixture(autouse=True)
def _own_environment_of_endpoints(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def words(sources: Path, held: Batches, *more: str) -> list[str]:
    few = [
        "--transform",
        "rename",
        "--variants",
        "1",
        "--no-controls",
        "--workers",
        "1",
        "-M",
        "backoff=0.01",
    ]
    prices = ["-M", "price_in=1000", "-M", "price_out=1000"]
    model = ["--model", "openai/tiny", "--base-url", held.url, "-M", "batch=true", *prices]
    return ["run", "--corpus", str(sources), *few, *model, *more]


def manifest() -> dict[str, Any]:
    content = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def test_a_batch_costs_half_and_its_answers_come_in_any_order(
    sources: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with serving_batches() as held:
        held.answer = lambda line: {"status_code": 200, "body": json.loads(completion("[total] [t]"))}
        strange = {"custom_id": "nobody", "response": None, "error": None}
        held.shuffled = lambda lines: [*lines[::-1], lines[0], strange]
        assert main(words(sources, held, "--out", "out", "--dry-run")) == 0
        planned, *_ = (line for line in capfd.readouterr().out.splitlines() if "openai/tiny" in line)
        assert not held.calls
        assert main(words(sources, held, "--out", "out")) == 0
        err = capfd.readouterr().err + caplog.text
        assert "batch batch_0 has" in err
        assert "batch batch_0: 1 line of no request of it, ignored; 1 line for a request that had one" in err
        assert len(held.batches) == 1
        assert len(set(held.paid)) == len(held.paid)
        assert held.single == 1, "the first query is asked at once"
        (usage,) = manifest()["usage"]
        assert usage["requests"] == 1 + len(held.paid)
        assert usage["tokens_in"] + usage["tokens_out"] == 10 * usage["requests"]
        assert usage["cost"] == pytest.approx(0.01 * held.single + 0.005 * len(held.paid))
        into, out, cost = (float(cell.replace(",", "")) for cell in planned.replace("│", " ").split()[-3:])
        assert cost == pytest.approx((into + out) / 1000 / 2, abs=1e-4)
        # A new run asks the repeats anew, and nothing else.
        before = len(held.paid)
        assert main(words(sources, held, "--out", "other")) == 0
        assert 0 < len(held.paid) - before < before


MOMENTS = ["before POST /files", "after POST /files", "before POST /batches", "after POST /batches"]
LATER = ["after GET /batches/ID", "before GET /files/ID/content", "after GET /files/ID/content"]


def test_requests_that_differ_in_one_field_have_other_names() -> None:
    """The answer to one goes to all of one name."""
    prompt = built_in()["code-search"]
    whole: dict[str, Any] = {
        "task": "code-search", "language": "python", "source": "a", "labels": ("x",), "words": (("yes", "x"),),
        "other": "b", "candidates": ("c", "d"), "text": "find it",
    }  # fmt: skip
    assert whole.keys() == {field.name for field in fields(Query)}
    others = [Query(**{**whole, name: type(value)()}) for name, value in whole.items()]
    names = {request_name("model", prompt, query, 0) for query in (Query(**whole), *others)}
    names |= {request_name("model", prompt, Repeat(**whole, bucket=1, number=number), 0) for number in (0, 1)}
    assert len(names) == len(whole) + 3


@pytest.mark.slow
def test_a_kill_at_any_moment_costs_nothing_twice(sources: Path) -> None:
    child: list[Forked] = []
    moments = [*MOMENTS, *LATER]

    def kills(when: str) -> Any:
        def act(call: str) -> None:
            if moments and moments[0] == f"{when} {call}":
                moments.pop(0)
                os.kill(child[-1].pid, signal.SIGKILL)
                child[-1].wait()
                raise ConnectionResetError  # what was not worked on is not

        return act

    with serving_batches() as held:
        held.before, held.after = kills("before"), kills("after")
        ends: list[int] = []
        message = ""
        while len(ends) < 10 and (not ends or ends[-1] < 0):
            child.append(start(*words(sources, held, "--out", "out"), cwd=Path.cwd()))
            _, message = child[-1].communicate(timeout=60)
            ends.append(child[-1].wait())
        assert ends == [-signal.SIGKILL] * 7 + [0], message
        assert len(set(held.paid)) == len(held.paid)
        assert len(held.batches) == 1
        assert held.single == 1
        assert manifest()["spent"]["tokens"] == 10 * (1 + len(held.paid))


@pytest.mark.slow
def test_who_leaves_comes_back_with_the_same_command(
    sources: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with serving_batches() as held:
        held.status = lambda looks: "in_progress"
        assert main(words(sources, held, "-M", "batch_wait=0")) == 3
        err = capfd.readouterr().err + caplog.text
        assert re.search(
            r"batch batch_0 is in_progress \(0 of \d+\) after -M batch_wait=0; the same command", err
        )
        assert "Traceback" not in err
        held.status = lambda looks: "completed"
        assert main(words(sources, held)) == 0
        assert "batch batch_0, sent before, holds" in caplog.text
        assert len(held.batches) == 1


def test_what_expired_or_failed_is_counted_or_sent_again(
    sources: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def outcome(line: Line) -> Line:
        place = first.setdefault(line["custom_id"], len(first))
        if len(held.batches) == 1 and place == 0:
            return {"code": "batch_expired", "message": "too late"}
        if len(held.batches) == 1 and place == 1:
            return {"status_code": 503, "body": {"error": {"message": "busy"}}}
        if place == 2:
            return {"status_code": 400, "body": {"error": {"message": "strange"}}}
        if place == 3:
            return {}
        return {"status_code": 200, "body": json.loads(completion("[total] [t]"))}

    first: dict[str, int] = {}
    with serving_batches() as held:
        held.answer = outcome
        assert main(words(sources, held, "--out", "out")) == 0
        again = held.paid[len(first) :]
        assert sorted(first[name] for name in again) == [0, 1]
        (usage,) = manifest()["usage"]
        assert usage["failed"] == {"endpoint: 400": 1, "endpoint: not in the answers of its batch": 1}
        assert usage["retries"] == 2
        err = capfd.readouterr().err + caplog.text
        assert "1 request without a line, unjudged" in err


@pytest.mark.slow
def test_a_cancelled_batch_ends_the_run_and_is_sent_anew_by_the_next(
    sources: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with serving_batches() as held:
        answer = held.answer
        held.answer = lambda line: {} if line["custom_id"] in held.paid[1:] else answer(line)
        held.status = lambda looks: "cancelled"
        assert main(words(sources, held, "--out", "out")) == 3
        total = len(held.paid)
        pattern = rf"batch batch_0 was cancelled with {total - 1} of {total} requests open; start again"
        assert re.search(pattern, capfd.readouterr().err)
        held.answer, held.status = answer, lambda looks: "completed"
        assert main(words(sources, held, "--out", "out")) == 0
        assert len(held.paid) == 2 * total - 1


@pytest.mark.slow
@pytest.mark.parametrize("most", [2, 0])
def test_a_batch_that_is_too_much_is_sent_in_parts(
    sources: Path, most: int, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with serving_batches() as held:
        held.fault, held.most = "token_limit_exceeded", most
        assert main(words(sources, held, "--out", "out")) == (0 if most else 3)
        err = capfd.readouterr().err + caplog.text
        assert len(set(held.paid)) == len(held.paid)
        assert bool(held.paid) is bool(most)
        assert ("refuses batch" in err and "too much of it" in err) is not bool(most)
        assert "Traceback" not in err
