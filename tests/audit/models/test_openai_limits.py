"""What `openai/MODEL` may spend and send in a minute, and when replies that nobody can read end a run."""

import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints import spending as module
from codeaudit.audit.models.endpoints.ledger import Amount
from codeaudit.audit.models.endpoints.model import EndpointModel
from codeaudit.audit.models.endpoints.spending import Pace, Spending, spent_before, tokens_of
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.records import Failed, Predicted
from codeaudit.cli.main import main
from codeaudit.transforms.errors import LimitError, ModelError, UsageError
from tests.audit.models.test_openai import FEW_SECONDS, KEY, PAIR, load, number_of, queries
from tests.conftest import TOTALS, WORDS
from tests.support.endpoints import Act, Asked, disconnects, refuses, says, sends, serving


@pytest.fixture(autouse=True)
def _own_environment_of_endpoints(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr(module, "time", fake)
    return fake


@pytest.mark.parametrize("per_minute", [1, 3, 60, 200, 0.5])
def test_no_minute_has_more_requests_than_the_limit(per_minute: float, clock: Clock) -> None:
    pace, times = Pace(per_minute), []
    while clock.now < 400:
        if (pause := pace.wait(1)) == 0:
            pace.take(1)
            times.append(clock.now)
        clock.now += max(pause, 1e-3)
    for start in times:
        assert sum(start <= moment < start + 60 for moment in times) <= max(per_minute, 1)
    assert len(times) >= 0.95 * 400 * per_minute / 60
    if per_minute == 60:
        assert sum(moment < 10 for moment in times) <= 12, "they are spread, and not sent at once"


def test_no_minute_has_more_tokens_than_the_limit_although_they_are_known_late(clock: Clock) -> None:
    pace, taken = Pace(1000), []
    while clock.now < 600:
        if (pause := pace.wait(40)) == 0:
            entry = pace.take(40)
            taken.append((clock.now, 50))
            clock.now += 0.5
            pace.correct(entry, 50)
        clock.now += max(pause, 1e-3)
    for start, _ in taken:
        assert sum(tokens for at, tokens in taken if start <= at < start + 60) <= 1000
    assert sum(tokens for _, tokens in taken) > 0.9 * 10 * 1000


def test_a_request_larger_than_the_limit_is_sent_alone(clock: Clock) -> None:
    pace = Pace(100)
    assert pace.wait(500) == 0
    pace.take(500)
    assert pace.wait(1) > 60


@pytest.mark.slow
def test_limits_per_minute_slow_the_requests_down() -> None:
    with serving(lambda asked: says(PAIR)) as endpoint:
        assert load(endpoint.url, rpm="600").predict(queries(6))[0] == Predicted(answer="compute_mean")
    times = [request.at for request in endpoint.asked]
    assert 0.35 < times[-1] - times[0] < 3, "ten a second"
    with serving(lambda asked: says(PAIR, usage=(100, 20))) as endpoint:
        load(endpoint.url, tpm="30000").predict(queries(6))
    times = [request.at for request in endpoint.asked]
    assert 0.8 < times[-1] - times[1] < 4, "four a second as soon as the endpoint has told their tokens"


def spent(**limits: Any) -> Spending:
    return Spending(**{"max_requests": None, "max_tokens": None, "max_cost": None, **limits})


def test_a_limit_holds_for_what_is_under_way() -> None:
    budget = spent(max_requests=3, max_tokens=100)
    amount = Amount(requests=1, tokens=40)
    assert budget.reserve(amount)
    assert budget.reserve(amount)
    assert not budget.reserve(amount), "120 tokens"
    budget.settle(amount, Amount(requests=1, tokens=10))
    assert budget.reserve(amount)
    budget.settle(amount, Amount(requests=1, tokens=10))
    budget.settle(amount, Amount(requests=1, tokens=10))
    with pytest.raises(LimitError, match="--max-requests 3 is reached: 3 spent") as caught:
        budget.reserve(amount)
    assert caught.value.more == "--max-requests 6"
    assert budget.spent == Amount(requests=3, tokens=30)


def test_earlier_starts_count() -> None:
    usage: list[dict[str, object]] = [
        {"requests": 2, "tokens_in": 10, "tokens_out": 5, "cost": None},
        {"requests": 1, "cost": 0.5},
    ]
    assert spent_before({"usage": usage}) == Amount(requests=3, tokens=15, cost=0.5)
    spent = {"requests": 4, "tokens": 20, "cost": 0.75, "ledger": 99}
    assert spent_before({"usage": usage, "spent": spent}) == Amount(requests=4, tokens=20, cost=0.75)


def limited(url: str, given: dict[str, str] | None = None, **limits: Any) -> EndpointModel:
    settings = Settings(base_url=url, spending=spent(**limits), **limits)
    model = catalogue.load("openai/tiny", settings, {"backoff": "0.01", **(given or {})})
    assert isinstance(model, EndpointModel)
    return model


FREE = {"price_in": "1000", "price_out": "2000"}


@pytest.mark.parametrize(
    ("limits", "given"),
    [
        ({"max_requests": 7}, {}),
        ({"max_tokens": 1500}, {}),
        ({"max_tokens": 1500}, {"max_tokens": "none"}),
        ({"max_cost": 1.5}, FREE),
    ],
)
def test_no_limit_is_exceeded_and_every_answer_that_was_paid_for_is_had(
    limits: dict[str, Any], given: dict[str, str]
) -> None:
    def script(asked: Asked) -> Act:
        # Prompts are about 130 tokens for the estimate, and 20 % more for the endpoint.
        return says(PAIR, after=0.02, usage=(160, 20)) if asked.number % 5 else refuses(500)

    with serving(script) as endpoint:
        model = limited(endpoint.url, given, **limits)
        predictions = model.predict(queries(60))
        with pytest.raises(LimitError, match=f"--{next(iter(limits)).replace('_', '-')} .* is reached"):
            model.predict(queries(1))
        usage = model.usage
    answered = sum(isinstance(prediction, Predicted) for prediction in predictions)
    assert answered * 180 == usage["tokens_in"] + usage["tokens_out"]
    assert len(endpoint.asked) == usage["requests"]
    assert answered >= 2
    (name, limit) = next(iter(limits.items()))
    totals = {
        "max_requests": usage["requests"],
        "max_tokens": answered * 180,
        "max_cost": usage["cost"],
    }
    assert totals[name] <= limit
    if name == "max_requests":
        assert totals[name] == limit


def test_tokens_that_nobody_tells_are_estimated() -> None:
    with serving(lambda asked: says(PAIR, usage=None)) as endpoint:
        predictions = limited(endpoint.url, max_tokens=1500).predict(queries(60))
    assert 3 <= sum(isinstance(prediction, Predicted) for prediction in predictions) <= 12


def test_requests_that_may_have_been_worked_on_count() -> None:
    with serving(lambda asked: disconnects if asked.number else says(PAIR)) as endpoint:
        model = limited(endpoint.url, {"retries": "50"}, max_tokens=1500)
        model.predict(queries(1))
        with pytest.raises(LimitError, match="--max-tokens 1500 is reached"):
            model.predict(queries(4))
    assert len(endpoint.asked) < 15


def test_two_models_share_one_limit() -> None:
    with serving(lambda asked: says(PAIR)) as endpoint:
        both = spent(max_requests=5)
        settings = Settings(base_url=endpoint.url, spending=both)
        one, two = (catalogue.load(f"openai/{name}", settings, {}) for name in ("one", "two"))
        one.predict(queries(3))
        two.predict(queries(9))
        with pytest.raises(ModelError, match="--max-requests 5 is reached"):
            one.predict(queries(4))
    assert len(endpoint.asked) == 5


GARBAGE = "I am a teapot, short and stout; what a lovely function you have there"


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("act", "told"),
    [
        (says(GARBAGE), f"have no readable answer, such as '{GARBAGE}'; -M template=FILE and -M system=TEXT"),
        (says("[so lo", finish="length"), "such as '[so lo'; a larger -M max_tokens leaves more room"),
        (sends(200, "<html>login</html>", "text/html"), "such as 'a web page'"),
        (sends(200, '{"choices": []}'), "such as \"{'choices': []}\""),
        (sends(200, '{"choices": ['), "unreadable reply"),
    ],
    ids=["prose", "cut off", "a page", "other JSON", "no JSON"],
)
def test_twenty_unreadable_answers_in_a_row_end_the_run_and_one_is_shown(act: Act, told: str) -> None:
    began = time.monotonic()
    with serving(lambda asked: act if asked.number else says(PAIR)) as endpoint:
        model = load(endpoint.url, concurrency="4")
        model.predict(queries(1))
        with pytest.raises(LimitError) as caught:
            model.predict(queries(80))
    assert time.monotonic() - began < FEW_SECONDS
    message = str(caught.value)
    assert told in message
    assert "the last 20 replies have no readable answer" in message
    assert "Start again to go on with the other queries; -M unreadable=0 goes on without an end" in message
    assert 21 <= len(endpoint.asked) <= 21 + 4


@pytest.mark.slow
def test_one_readable_answer_begins_the_count_anew_and_nought_has_no_end() -> None:
    def script(asked: Asked) -> Act:
        return says(PAIR if number_of(asked) % 19 == 18 else GARBAGE)

    with serving(script) as endpoint:
        predictions = load(endpoint.url, concurrency="1").predict(queries(60))
        assert predictions.count(Failed(reason="no readable answer")) == 57
    with serving(lambda asked: says(GARBAGE)) as endpoint:
        load(endpoint.url, unreadable="0").predict(queries(60))
        with pytest.raises(LimitError, match="the last 3 replies"):
            load(endpoint.url, unreadable="3").predict(queries(9))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rpm": "0"}, "-M rpm=0 must be a number above 0"),
        ({"tpm": "many"}, "-M tpm=many must be a number above 0"),
        ({"unreadable": "-1"}, "-M unreadable=-1 must be a whole number of at least 0"),
    ],
)
def test_wrong_values_are_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load("http://127.0.0.1:1/v1", **given)


JAVA = """\
public static int indexOfDifference(final CharSequence... css) {
    if (ArrayUtils.getLength(css) <= 1) {
        return INDEX_NOT_FOUND;
    }
    return StringUtils.longestCommonPrefix(css, arrayLen - 1);
}
"""
ASSEMBLY = """\
movq 112(%rsp), %rax
movl %ecx, (%rax,%rdx,4)
addl $1, 120(%rsp)
leal 1(%rbp), %edx
"""


@pytest.mark.parametrize(
    ("text", "counts"),
    [(TOTALS, (128, 127)), (WORDS, (84, 84)), (JAVA, (48, 52)), (ASSEMBLY, (44, 46)), ("", (0, 0))],
    ids=["classes", "functions", "Java", "assembly", "nothing"],
)
def test_tokens_are_estimated_within_a_fifth_of_the_counts_of_two_vocabularies(
    text: str, counts: tuple[int, int]
) -> None:
    """The counts of cl100k_base and o200k_base."""
    assert all(abs(tokens_of(text) - count) <= 0.2 * count for count in counts)


# ── whole runs ───────────────────────────────────────────────────────────────────────────────────────────


def words(sources: Path, url: str, *more: str) -> list[str]:
    few = ["--transform", "rename", "--variants", "1", "--no-controls", "--workers", "1"]
    model = ["--model", "openai/tiny", "--base-url", url, "-M", "backoff=0.01", "-M", "concurrency=2"]
    return ["run", "--corpus", str(sources), *few, *model, "--out", "out", *more]


@pytest.mark.slow
def test_a_run_that_stops_at_a_limit_goes_on_with_a_higher_one(
    sources: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda asked: says("[total] [t]")) as endpoint:
        assert main(words(sources, endpoint.url, "--max-requests", "4")) == 3
        err = capfd.readouterr().err
        assert "codeaudit: --max-requests 4 is reached: 4 spent, and the next request may need 1" in err
        (again,) = re.findall(r"go on with: codeaudit (.*)\n", err)
        assert again.startswith(f"run --config out --out out --base-url {endpoint.url}")
        assert again.endswith(" --max-requests 8")
        assert len(endpoint.asked) == 4
        assert main(words(sources, endpoint.url, "--max-requests", "4")) == 3
        assert len(endpoint.asked) == 4, "earlier starts of the run count"
        assert main(f"{again}0".split()) == 0
        first = len(endpoint.asked)
        assert main([*words(sources, endpoint.url), "--cache", "fresh", "--out", "whole"]) == 0
    assert first == len(endpoint.asked) - first, "nothing was asked twice"
    summaries = [
        json.loads(Path(place, "summary.json").read_text(encoding="utf-8"))["models"]
        for place in ("out", "whole")
    ]
    assert summaries[0] == summaries[1]
    (one, two) = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))["usage"]
    assert (one["requests"], two["requests"]) == (4, first - 4)


def test_a_run_of_unreadable_answers_stops_and_the_same_command_goes_on(
    sources: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda asked: says(GARBAGE)) as endpoint:
        asked = words(sources, endpoint.url, "-M", "unreadable=3")
        assert main(asked) == 3
        assert GARBAGE in capfd.readouterr().err
        before = len(endpoint.asked)
        assert main(asked) == 3
    assert len(endpoint.asked) > before
    times = Counter(request.text for request in endpoint.asked)
    variants = pd.read_parquet("out/suite.parquet").query("kind != 'identity'")["variant"].max() + 1
    assert max(times.values()) <= 1 + variants, "answers that nobody can read are kept, too"


def test_a_limit_on_the_cost_needs_prices_and_every_limit_a_model_that_spends(
    sources: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "http://127.0.0.1:1/v1"
    for given in ([], ["-M", "price_in=1"]):
        assert main(words(sources, url, "--max-cost", "1", *given)) == 2
        assert "--max-cost needs both prices per million tokens: write -M" in capfd.readouterr().err
    fake = ["run", "--corpus", str(sources), "--model", "fake/hash", "--workers", "1"]
    for option in ("--max-requests", "--max-tokens", "--max-cost"):
        assert main([*fake, option, "5"]) == 2
        assert f"{option}: no model here accepts it; it goes with openai/MODEL" in capfd.readouterr().err
        assert main([*fake, option, "-1"]) == 2
    assert main([*fake, "--max-requests", "0"]) == 2
    monkeypatch.setenv("CODEAUDIT_MAX_REQUESTS", "5")
    few = ["--limit", "2", "--no-controls", "--transform", "rename"]
    assert main([*fake, *few]) == 0
