"""What a run has spent is known after every end of its process, because it is written before a request leaves."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.models.endpoints.ledger import Amount, KilledStart, Ledger, read_ledger
from codeaudit.audit.store import LEDGER
from codeaudit.cli.main import main
from codeaudit.transforms.errors import RunError
from tests.audit.models.test_openai import KEY
from tests.audit.models.test_openai_limits import words
from tests.support.commands import start
from tests.support.endpoints import Act, Asked, Handler, refuses, says, serving
from tests.support.preloaded import Forked

ONE = Amount(requests=1, tokens=100, cost=0.5)


@pytest.fixture(autouse=True)
def _own_environment_of_endpoints(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def manifest() -> dict[str, Any]:
    content = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


FUNCTION = """\
def total_{number}(items):
    total = 0
    for item in items:
        total += item * {number}
    return total
"""


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """More functions than the limits below allow to ask for."""
    path = tmp_path / "many.py"
    path.write_text("\n\n".join(FUNCTION.format(number=number) for number in range(20)), encoding="utf-8")
    return path


@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "limit", "option"),
    [
        ("requests", 12, []),
        ("tokens", 4500, []),
        ("cost", 4.5, ["-M", "price_in=1000", "-M", "price_out=1000"]),
    ],
    ids=["requests", "tokens", "cost"],
)
def test_no_kill_makes_a_run_forget_what_it_has_spent(
    many: Path, name: str, limit: float, option: list[str]
) -> None:
    """Killed when a request arrives, when it is answered, and when it is sent again."""
    child: list[Forked] = []

    def kill() -> None:
        os.kill(child[-1].pid, signal.SIGKILL)

    def answered_and_killed(handler: Handler) -> None:
        says("[total] [t]", usage=(130, 10))(handler)
        kill()  # before or after the reply is read

    def script(asked: Asked) -> Act:
        if asked.number in (0, 6):
            kill()
        if asked.number == 3:
            return answered_and_killed
        return refuses(500) if asked.number in (2, 5, 7, 9) else says("[total] [t]", usage=(130, 10))

    with serving(script) as endpoint:
        asked = words(many, endpoint.url, f"--max-{name}", f"{limit:g}", "-M", "backoff=0", *option)
        ends: list[int] = []
        while len(ends) < 4:
            child.append(start(*asked, cwd=Path.cwd()))
            _, message = child[-1].communicate(timeout=60)
            ends.append(child[-1].wait())
        assert ends == [-signal.SIGKILL] * 3 + [3], message
        assert f"--max-{name} {limit:g} is reached" in message
        sent, content = len(endpoint.asked), manifest()
        answered = (sent - 4) * 140
        really = {"requests": sent, "tokens": answered, "cost": answered / 1000}
        assert sent >= 8
        assert really[name] <= content["spent"][name] <= limit
        # All that arrived is in the usage; so are requests that were written and not sent any more.
        written = sum(usage["requests"] for usage in content["usage"])
        assert sent <= written == content["spent"]["requests"] <= sent + 3
        assert sum(usage["retries"] for usage in content["usage"]) >= 1
        assert main(asked) == 3
        assert len(endpoint.asked) == sent


@pytest.mark.slow
def test_a_finished_run_keeps_its_usage_and_no_ledger(sources: Path) -> None:
    with serving(lambda asked: says("[total] [t]")) as endpoint:
        assert main(words(sources, endpoint.url)) == 0
        assert not Path("out", LEDGER).exists()
        assert manifest()["spent"]["requests"] == len(endpoint.asked)
        # Another run in the same place begins at nought.
        before = len(endpoint.asked)
        again = words(sources, endpoint.url, "--cache", "fresh", "--max-requests", str(before))
        assert main(again) == 0
        assert manifest()["spent"]["requests"] == len(endpoint.asked) - before == before


def test_what_was_under_way_counts_with_what_was_reserved(tmp_path: Path) -> None:
    path = tmp_path / LEDGER
    ledger = Ledger(path)
    assert ledger.size == 0
    assert read_ledger(path) == {}
    first = ledger.sent("a", ONE, again=False)
    second = ledger.sent("a", ONE, again=True)
    ledger.sent("b", ONE, again=False)
    ledger.ended(first, (30, 5), Amount(requests=1, tokens=35, cost=0.1))
    size = ledger.size
    ledger.ended(second, None, Amount(requests=1))
    ledger.close()
    assert read_ledger(path) == {
        "a": KilledStart(
            requests=2,
            retries=1,
            tokens_in=30,
            tokens_out=5,
            counted=Amount(requests=2, tokens=35, cost=0.1),
        ),
        "b": KilledStart(requests=1, under_way=1, counted=ONE),
    }
    assert read_ledger(path, size) == {}, "the manifest has the beginning"


def test_wherever_a_ledger_ends_no_request_that_left_is_missing(tmp_path: Path) -> None:
    path = tmp_path / LEDGER
    ledger = Ledger(path)
    lengths = []
    for number in range(4):
        ledger.sent("a", ONE, again=False)
        lengths.append(ledger.size)  # from here on it may leave
        ledger.ended(number, (1, 1), Amount(requests=1, tokens=2))
    ledger.close()
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        left = sum(length >= size for size in lengths)
        counted = read_ledger(path).get("a", KilledStart()).counted
        assert left <= counted.requests <= left + 1
        assert counted.tokens >= 2 * left
        more = Ledger(path)
        more.sent("a", ONE, again=False)
        more.close()
        assert read_ledger(path)["a"].counted.requests == counted.requests + 1, "the next start writes on"


@pytest.mark.parametrize(
    "line",
    [
        '{"sent": 0}',
        '{"sent": "x", "model": "a", "again": false, "tokens": 1, "cost": 0}',
        '{"sent": 0, "model": "a", "again": 5, "tokens": 1, "cost": 0}',
        '{"sent": 0, "model": "a", "again": true, "tokens": 1.5, "cost": 0}',
        '{"sent": 0, "model": "a", "again": true, "tokens": 1, "cost": NaN}',
        '{"ended": 0, "in": null, "out": 3, "tokens": 1, "cost": 0}',
        "{" * 100_000 + "}" * 100_000,
        "x}",
        "[]}",
    ],
)
def test_a_damaged_ledger_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / LEDGER
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(RunError, match=r"ledger.jsonl' is damaged, so nobody knows what the run has spent"):
        read_ledger(path)


def test_nothing_is_sent_that_cannot_be_written_down(
    sources: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(self: Ledger, line: object) -> None:
        raise RunError(f"cannot write {LEDGER!r}: No space left on device") from OSError()

    monkeypatch.setattr(Ledger, "_write", full)
    with serving(lambda asked: says("[total] [t]")) as endpoint:
        assert main(words(sources, endpoint.url)) == 3
        assert not endpoint.asked
    err = capfd.readouterr().err
    assert "codeaudit: cannot write 'ledger.jsonl': No space left on device\n" in err
    assert "Traceback" not in err
