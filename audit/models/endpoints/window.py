"""The rolling window of requests: whenever one ends the next is sent, up to the limit of the throttle."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import wait
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import AnswerStream
from codeaudit.audit.models.endpoints.client import EndpointClient, RequestError
from codeaudit.audit.models.endpoints.session import EndpointLostError, Forecast, Session
from codeaudit.audit.models.endpoints.traffic import CLOSING, LoopThread
from codeaudit.audit.models.text_models import joined
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import LimitError, ModelError

PULSE: Final = 0.5
"""Seconds between two looks of a waiting caller, because not every platform wakes it for Ctrl-C."""
GATHERED: Final = 0.02
"""Seconds from one group of answers to the next, so that the caller is not woken for each answer."""
COMPARED: Final = 32
"""Number of queries whose several answers are compared with one another."""


@dataclass(eq=False, slots=True, kw_only=True)
class PendingQuery:
    """A query and the answers received so far: one, or several when sampling."""

    place: int
    """Its number in the stream."""
    query: Query
    samples: int
    received: dict[int, Prediction] = field(default_factory=dict)
    lost: Failed | None = None
    """The failure of one answer, after which the others are not needed."""

    @property
    def prediction(self) -> Prediction:
        """All answers together."""
        return self.lost or joined([self.received[number] for number in range(self.samples)])


@dataclass(eq=False, slots=True, kw_only=True)
class PendingRequest:
    """A request that is still to be sent, or to be repeated."""

    pending: PendingQuery
    number: int
    """The number of the answer, if several are drawn."""
    attempt: int = 0
    """How often it was sent."""
    forecast: Forecast | None = None


class RollingWindow(AnswerStream):
    """An `AnswerStream`. The caller's thread asks and takes; one task in the event loop sends.

    Methods and fields below `_run` belong to the event loop, except for the deque of arrived answers.
    """

    def __init__(self, loop: LoopThread, session: Session) -> None:
        self._loop = loop
        self._session = session
        self._count = 0
        self._taken = 0
        self._group: list[tuple[int, Prediction]] = []
        """The last group: it counts as taken when the next one is asked for."""
        self._arrived: deque[tuple[int, Prediction]] = deque()
        self._news = threading.Event()
        self._last = 0.0
        self._waiting: deque[PendingRequest] = deque()
        self._later: list[tuple[float, int, PendingRequest]] = []
        """Requests to be repeated, by the time from which they may be sent."""
        self._order = count()
        self._tasks: set[asyncio.Task[None]] = set()
        self._several: list[tuple[str, ...]] = []
        self._open = 0
        """Queries without a prediction."""
        self._bell = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._stopped = False
        self._broken: BaseException | None = None
        """A mistake of ours in a request."""
        self._limit: LimitError | None = None
        """Why nothing more is sent, while what is under way goes on."""
        self._running = loop.begin(self._run())

    # ── the caller's thread ──────────────────────────────────────────────────────────────────────────────

    @override
    def ask(self, queries: Sequence[Query]) -> None:
        for query in queries:  # raises before the first request is paid for
            self._session.endpoint.prompts.of(query)
        samples = self._session.endpoint.samples
        new = [
            PendingQuery(place=place, query=query, samples=samples)
            for place, query in enumerate(queries, start=self._count)
        ]
        self._count += len(new)
        self._loop.call(self._add, new)

    @override
    def arrived(self) -> list[tuple[int, Prediction]]:
        self._taken += len(self._group)
        self._group = []
        while self._taken < self._count and not self._group:
            # Read before the answers: what arrives in between is taken, and the end is found the next time.
            ended = self._running.done()
            self._group = self._all()
            if not self._group:
                if ended:
                    self._running.result()  # a mistake of ours is raised here
                    raise self._session.end or ModelError("the requests to the endpoint were stopped")
                self._news.wait(PULSE)
                self._news.clear()
                if self._taken + len(self._arrived) < self._count:
                    time.sleep(max(0.0, min(GATHERED, self._last + GATHERED - time.monotonic())))
        self._last = time.monotonic()
        return self._group

    @override
    def stop(self) -> list[tuple[int, Prediction]]:
        self._loop.call(self._cancel)
        # Also after Ctrl-C: no request may go on, and cost, after the caller has gone.
        wait([self._running], timeout=CLOSING)
        self._session.compare(self._several)
        return [*self._group, *self._all()]

    def _all(self) -> list[tuple[int, Prediction]]:
        arrived = []
        while self._arrived:
            arrived.append(self._arrived.popleft())
        return arrived

    # ── the event loop ───────────────────────────────────────────────────────────────────────────────────

    async def _run(self) -> None:
        """Send until `stop`, or until the endpoint is lost."""
        self._pump = asyncio.current_task()
        try:
            client = self._loop.client()
            self._session.go_on()
            while not self._stopped and self._limit is None:
                await self._sent(client)
            if self._limit is not None:
                await self._ended(self._limit)
        except EndpointLostError as lost:
            self._session.end = ModelError(str(lost))
        except LimitError as limit:  # only if nothing is under way, which might leave something to spend
            self._session.end = limit
        except asyncio.CancelledError:
            pass
        finally:
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
            self._session.rest()
            self._news.set()
        if self._broken is not None:
            raise self._broken

    async def _sent(self, client: EndpointClient) -> None:
        """Send the next request, or wait until that may be possible."""
        throttle = self._session.throttle
        pause = self._next_after()
        if pause > 0:
            if not self._tasks and pause == inf:
                self._session.rest()
                await self._rung(inf)
                self._session.go_on()
                return
            throttle.idle()
        elif (pause := throttle.wait()) == 0:
            request = self._next()
            forecast = self._session.admit(request.pending.query)
            if not isinstance(forecast, float):
                request.forecast = forecast
                task = asyncio.create_task(self._request(client, request, throttle.begin()))
                self._tasks.add(task)
                task.add_done_callback(self._done)
                return
            self._waiting.appendleft(request)
            throttle.idle()
            if not self._tasks:  # a wait of our own is no silence of the endpoint
                self._session.rest()
                await self._rung(forecast)
                self._session.go_on()
                return
            pause = forecast
        # No wait outlasts the patience: not for an answer, a connection, `Retry-After` or a repetition.
        await self._rung(min(pause, self._session.patience_left()))
        self._session.check_patience()

    async def _ended(self, limit: LimitError) -> None:
        """Send nothing more, but wait for what is under way, because it is paid for."""
        self._session.end = limit
        while self._tasks and not self._stopped and (patience := self._session.patience_left()):
            await asyncio.wait(self._tasks, timeout=patience)

    async def _rung(self, seconds: float) -> None:
        """Wait until something has changed, at most so long."""
        alarm = None
        if seconds < inf:
            alarm = asyncio.get_running_loop().call_later(seconds, self._bell.set)
        await self._bell.wait()
        self._bell.clear()
        if alarm is not None:
            alarm.cancel()

    def _next_after(self) -> float:
        """Seconds until there is a request to be sent; infinite if there is none."""
        while self._waiting and self._waiting[0].pending.lost is not None:
            self._waiting.popleft()
        while self._later and self._later[0][2].pending.lost is not None:
            heappop(self._later)
        if self._waiting:
            return 0.0
        return max(0.0, self._later[0][0] - time.monotonic()) if self._later else inf

    def _next(self) -> PendingRequest:
        # Repetitions first: their queries have waited longest.
        if self._later and self._later[0][0] <= time.monotonic():
            return heappop(self._later)[2]
        return self._waiting.popleft()

    def _add(self, new: Sequence[PendingQuery]) -> None:
        self._open += len(new)
        for pending in new:
            for number in range(pending.samples):
                self._waiting.append(PendingRequest(pending=pending, number=number))
        self._bell.set()

    def _cancel(self) -> None:
        # Once: a second time would end the waiting for the cancelled requests.
        if self._pump is not None and not self._stopped:
            self._pump.cancel()
        self._stopped = True

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            if isinstance(error, LimitError):
                self._limit = self._limit or error
            else:
                if isinstance(error, EndpointLostError):
                    self._session.end = self._session.end or ModelError(str(error))
                else:
                    self._broken = error
                self._cancel()
        self._bell.set()

    async def _request(self, client: EndpointClient, request: PendingRequest, began: float) -> None:
        """Send one request and handle its outcome."""
        try:
            await self._exchange(client, request, began)
        finally:
            self._session.throttle.end(began)

    async def _exchange(self, client: EndpointClient, request: PendingRequest, began: float) -> None:
        session, pending = self._session, request.pending
        number = session.send(request.forecast, request.attempt)
        try:
            prompt = session.endpoint.prompts.of(pending.query)
            reply = await client.ask(prompt, pending.query, request.number)
        except RequestError as error:
            # Nobody knows if a request without a response was worked on; its prompt is counted.
            into = 0 if request.forecast is None else request.forecast.into
            unknown = error.status is None and not error.unreachable
            session.settle(number, request.forecast, (into, 0) if unknown else None)
            self._failed(request, error, began)
        except BaseException:  # cancelled
            session.settle(number, request.forecast, None)
            raise
        else:
            tokens = session.tokens(request.forecast, reply)
            session.settle(number, request.forecast, tokens, reply.tokens)
            session.throttle.granted(began)
            prediction = session.read(pending.query, reply)
            if isinstance(prediction, Failed):
                self._lose(pending, prediction)
            elif pending.lost is None:
                pending.received[request.number] = prediction
                if len(pending.received) == pending.samples:
                    self._answer(pending)
            session.readable(prediction, reply.text)

    def _failed(self, request: PendingRequest, error: RequestError, began: float) -> None:
        """Repeat a failed request later, or give up its query.

        Raises:
            EndpointLostError: every other request would fail, too.
            LimitError: too many replies in a row were unreadable.
        """
        session = self._session
        session.note(error, request.attempt, began)
        failed = Failed(reason=error.reason)
        if error.loading:  # it is no fault of the query; the patience ends the waiting
            heappush(self._later, (time.monotonic(), next(self._order), request))
        elif not error.again or request.attempt == session.endpoint.patience.retries:
            self._lose(request.pending, failed, error)
        else:
            # After a refusal the throttle pauses for all.
            delay = 0.0 if error.busy else session.delay(error, request.attempt)
            request.attempt += 1
            heappush(self._later, (time.monotonic() + delay, next(self._order), request))
        if error.unreadable:
            session.readable(failed, error.message)

    def _lose(self, pending: PendingQuery, failed: Failed, error: RequestError | None = None) -> None:
        """Count a query without an answer, once; no further request is sent for it.

        Raises:
            EndpointLostError: the endpoint is gone, or the model or the address is wrong.
        """
        if pending.lost is None:
            pending.lost = failed
            self._session.meter.failure(failed.reason, "" if error is None else error.message)
            self._session.check_fit(drained=self._open == 1)
            if error is not None:
                self._session.given_up(error, pending.query, drained=self._open == 1)
            self._answer(pending)

    def _answer(self, pending: PendingQuery) -> None:
        """Hand a query's prediction to the caller."""
        self._open -= 1
        prediction = pending.prediction
        if isinstance(prediction, Predicted) and prediction.draws:
            self._several.append(tuple(map(str, prediction.draws)))
            if len(self._several) == COMPARED:
                self._session.compare(self._several)
        self._arrived.append((pending.place, prediction))
        self._news.set()
