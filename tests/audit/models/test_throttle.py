"""How many requests run at once: simulated servers, whose time is not that of the clock."""

from collections import deque
from heapq import heappop, heappush
from itertools import count
from random import Random

import pytest

from codeaudit.audit.models.endpoints import throttle as module
from codeaudit.audit.models.endpoints.throttle import MOST, START, Throttle

PAUSE = 0.5
"""Seconds of backoff after a refusal."""


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr(module, "time", fake)
    return fake


class Server:
    """Serves `capacity` requests at once; what it does with more depends on its kind."""

    def __init__(self, clock: Clock, kind: str, capacity: int, *, mean: float, seed: int) -> None:
        self.clock, self.kind, self.capacity, self.mean = clock, kind, capacity, mean
        self.chance = Random(seed)
        self.active = 0
        self.queue: deque[float] = deque()
        self.events: list[tuple[float, int, float, bool]] = []
        """When a request ends, when it began, and whether it is answered."""
        self.order = count()
        self.answered: list[float] = []
        self.refusals = 0

    def delay(self) -> float:
        slower = max(1.0, self.active / self.capacity) ** 2 if self.kind == "thrash" else 1.0
        fixed = self.kind == "fixed"
        return self.mean if fixed else self.chance.expovariate(1 / self.mean) * slower

    def take(self, began: float) -> None:
        if self.kind in ("queue", "fixed") and self.active >= self.capacity:
            self.queue.append(began)
        elif self.kind == "refuse" and self.active >= self.capacity:
            heappush(self.events, (self.clock.now + 0.01, next(self.order), began, False))
        else:
            self.active += 1
            heappush(self.events, (self.clock.now + self.delay(), next(self.order), began, True))

    def run(self, throttle: Throttle, seconds: float) -> None:
        """Requests without end, for some seconds."""
        end = self.clock.now + seconds
        while self.clock.now < end:
            while (pause := throttle.wait()) == 0:
                self.take(throttle.begin())
            at, _, began, granted = self.events[0] if self.events else (float("inf"), 0, 0.0, False)
            if self.clock.now + pause < at:
                self.clock.now += pause + 1e-6
                continue
            heappop(self.events)
            self.clock.now = at
            if granted:
                self.active -= 1
                self.answered.append(at)
                throttle.granted(began)
                if self.queue:
                    self.take(self.queue.popleft())
            else:
                self.refusals += 1
                throttle.refused(began, PAUSE)
            throttle.end(began)


def rate(server: Server, since: float, seconds: float) -> float:
    return sum(since <= at < since + seconds for at in server.answered) / seconds


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("mean", [0.1, 0.5, 1.0])
@pytest.mark.parametrize(
    ("kind", "capacity"),
    [
        ("none", 0),
        ("queue", 1),
        ("queue", 16),
        ("queue", 60),
        ("fixed", 10),
        ("fixed", 1000),
        ("refuse", 12),
        ("refuse", 50),
        ("refuse", 200),
        ("thrash", 32),
    ],
)
@pytest.mark.thinned(1)
def test_the_best_number_is_found_within_ten_seconds(
    kind: str, capacity: int, mean: float, seed: int, clock: Clock
) -> None:
    server = Server(clock, kind, capacity, mean=mean, seed=seed)
    throttle = Throttle(None)
    server.run(throttle, 10)
    since = clock.now
    server.run(throttle, 20)
    if kind == "thrash":  # it takes long to get over the search
        assert throttle.limit in (capacity, 2 * capacity), "or it searches again"
        return
    best = min(capacity or MOST, MOST) / mean
    chance = 3 * (20 * best) ** 0.5
    assert 20 * rate(server, since, 20) > 0.9 * 20 * best - chance


def test_a_limit_of_the_user_is_the_first_one_and_the_largest(clock: Clock) -> None:
    server = Server(clock, "none", 0, mean=0.5, seed=1)
    throttle = Throttle(40)
    server.run(throttle, 30)
    assert throttle.limit == 40
    assert 39 <= server.active <= 40
    assert len(server.answered) > 30 * 40 / 0.5 * 0.9


def test_a_pause_of_the_machine_misleads_the_search_for_a_short_time_only(clock: Clock) -> None:
    after = []
    for tenth in range(5, 40, 5):
        server = Server(clock, "queue", 64, mean=0.5, seed=1)
        throttle = Throttle(None)
        server.run(throttle, tenth / 10)
        clock.now += 8  # nothing runs, and what is under way seems to take long
        server.run(throttle, 3)
        after.append(throttle.limit)
        server.run(throttle, 25)
        assert throttle.limit >= 64
    assert min(after) < 64


def test_searches_again_do_not_make_the_queue_longer_and_longer(clock: Clock) -> None:
    server = Server(clock, "queue", 16, mean=0.5, seed=1)
    throttle = Throttle(None)
    server.run(throttle, 10)
    first = throttle.limit
    server.run(throttle, 600)
    assert throttle.limit <= 2 * first


@pytest.mark.slow
def test_a_server_that_gets_slower_and_faster_is_followed(clock: Clock) -> None:
    server = Server(clock, "refuse", 64, mean=0.2, seed=1)
    throttle = Throttle(None)
    server.run(throttle, 10)
    assert 58 <= throttle.limit <= 64
    server.capacity = 8
    server.run(throttle, 10)
    assert 6 <= throttle.limit <= 8
    before = server.refusals
    server.run(throttle, 20)
    assert server.refusals - before < 10, "it is not tried all the time"
    server.capacity = 64
    server.run(throttle, 200)
    assert throttle.limit >= 48
    server.kind = "none"
    server.run(throttle, 300)
    assert throttle.limit >= 128, "a search begins anew"


def test_one_burst_of_refusals_halves_once(clock: Clock) -> None:
    throttle = Throttle(16)
    began = [throttle.begin() for _ in range(16)]
    assert throttle.wait() == float("inf")
    clock.now += 1
    for moment in began:
        throttle.refused(moment, 0.0)
        throttle.end(moment)
    assert throttle.limit == 8
    clock.now += 1
    for limit in (4, 2, 1, 1):
        moment = throttle.begin()
        clock.now += 1
        throttle.refused(moment, 0.0)
        throttle.end(moment)
        assert throttle.limit == limit


def test_nothing_is_sent_while_the_endpoint_wants_a_pause_and_one_probe_after_it(clock: Clock) -> None:
    throttle = Throttle(16)
    first, second = throttle.begin(), throttle.begin()
    throttle.refused(first, 5.0)
    throttle.end(first)
    throttle.end(second)
    assert throttle.wait() == 5.0
    clock.now += 5
    assert throttle.wait() == 0.0
    probe = throttle.begin()
    assert throttle.wait() == float("inf")
    throttle.granted(probe)
    assert throttle.wait() == 0.0


def test_a_lack_of_queries_is_no_limit_of_the_server(clock: Clock) -> None:
    throttle = Throttle(None)
    for _ in range(200):
        began = throttle.begin()
        throttle.idle()
        clock.now += 0.5
        throttle.granted(began)
        throttle.end(began)
    assert throttle.limit == START
