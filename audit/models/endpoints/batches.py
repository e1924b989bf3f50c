"""Queries that are asked as batches, at half the price: sent together, answered within a day.

A batch outlives the process that sent it. So its requests are written down before it leaves
(`BatchRecords`), under a key that the batch carries, too. Whenever a process ends, the next one finds the
batch by that key or by its number, and no request is sent twice. Each request has a name made from the model
and the query. So whoever asks the same query later waits for the batch that holds it.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future, TimeoutError, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Protocol, TypeVar, cast

from typing_extensions import override

from codeaudit.audit.interface import AnswerStream
from codeaudit.audit.models.endpoints.batch_records import BatchRecord, BatchRecords, request_name
from codeaudit.audit.models.endpoints.client import EndpointClient, Reply, RequestError
from codeaudit.audit.models.endpoints.ledger import NOTHING, Amount
from codeaudit.audit.models.endpoints.session import NOBODY, EndpointLostError, Session
from codeaudit.audit.models.endpoints.traffic import CLOSING, LoopThread
from codeaudit.audit.models.endpoints.window import PULSE, PendingQuery
from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Failed, Prediction, Query
from codeaudit.transforms.errors import LimitError, ModelError
from codeaudit.transforms.grammar import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """What a vendor says of a batch."""

    id: str
    status: str
    """In the vendor's word."""
    ended: bool
    """Whether no further answer will come."""
    done: int = 0
    total: int = 0
    expired: bool = False
    cancelled: bool = False
    fault: str = ""
    """Why the vendor refused the whole batch; nothing of it was answered or paid for."""
    too_large: bool = False
    """Whether it was refused because too much is waiting already."""
    files: tuple[str, ...] = ()
    """Where the answers are."""


class BatchClient(EndpointClient, Protocol):
    """A client that can also send batches."""

    async def line(self, name: str, prompt: Prompt, query: Query, number: int) -> bytes:
        """A request as a part of a batch."""
        ...

    async def submit(self, key: str, lines: Sequence[bytes]) -> str:
        """Send a batch that carries this key. Returns its number.

        Raises:
            RequestError: it was not made, or nobody knows.
        """
        ...

    async def find(self, key: str, *, made: float, count: int) -> str:
        """The number of the batch with this key; empty if there is none.

        `made` is a time before it was made, in seconds; `count` is the number of its requests.

        Raises:
            RequestError: the vendor does not say.
        """
        ...

    async def look(self, batch: str) -> BatchState:
        """How far a batch is.

        Raises:
            RequestError: the vendor does not say.
        """
        ...

    async def results(
        self, state: BatchState, prompt: Prompt, query: Query
    ) -> list[tuple[str, Reply | RequestError]]:
        """What came of the requests of an ended batch, by name; a name is empty if a line has none.

        One of its requests, by prompt and query, says which fields a refusal may be about.

        Raises:
            RequestError: the vendor does not give it.
        """
        ...


T = TypeVar("T")

AHEAD: Final = 100_000
"""Queries that are asked before the answers to them are needed: each wait is long."""
MOST: Final = 10_000
"""Largest number of requests in a batch; vendors take 50,000."""
MOST_BYTES: Final = 100 << 20
"""Largest size of a batch; vendors take 200 MB."""
FIRST_LOOK: Final = 1.0
"""Seconds from the sending of a batch to the first look, and half as many again for each further one."""
LATEST_LOOK: Final = 60.0
EXPIRED: Final = "expired in its batch"
ABSENT: Final = "not in the answers of its batch"

_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True, kw_only=True)
class BatchRequest:
    """A request, and the queries that its answer is for."""

    query: Query
    number: int
    """The number of the answer, if several are drawn."""
    pending: list[PendingQuery]
    attempt: int = 0
    """How many batches have failed to answer it."""
    held: Amount | None = None
    """What is reserved for it; `None` if it is in no batch."""


class BatchStream(AnswerStream):
    """An `AnswerStream` over batches. The caller's thread waits, the event loop works.

    Everything below `_work` belongs to the event loop, which rests whenever the caller is not waiting.
    """

    def __init__(
        self,
        loop: LoopThread,
        session: Session,
        records: BatchRecords,
        fingerprint: str,
        *,
        patience: float | None,
    ) -> None:
        self._loop = loop
        self._session = session
        self._records = records
        self._fingerprint = fingerprint
        self._patience = patience
        """Seconds to wait for batches; `None` without an end."""
        self._began = time.monotonic()
        self._count = 0
        self._taken = 0
        self._group: list[tuple[int, Prediction]] = []
        self._ready: list[tuple[int, Prediction]] = []
        self._requests: dict[str, BatchRequest] = {}
        """The requests without an answer, by name."""
        self._unsent: dict[str, None] = {}
        """The names of those that no batch is known to hold."""
        self._new: dict[str, None] = {}
        """The names of those that were not looked for in earlier batches."""
        self._open: dict[str, BatchRecord] = {}
        """The batches that are waited for, by key."""
        self._most = MOST
        self._full = False
        """Whether the vendor takes no further batch before one of ours has ended."""
        self._running: Future[None] | None = None

    @override
    def ask(self, queries: Sequence[Query]) -> None:
        endpoint = self._session.endpoint
        prompts = [endpoint.prompts.of(query) for query in queries]  # raises before anything is paid for
        for query, prompt in zip(queries, prompts, strict=True):
            pending = PendingQuery(place=self._count, query=query, samples=endpoint.samples)
            self._count += 1
            for number in range(endpoint.samples):
                name = request_name(self._fingerprint, prompt, query, number)
                if name in self._requests:
                    self._requests[name].pending.append(pending)
                else:
                    self._requests[name] = BatchRequest(query=query, number=number, pending=[pending])
                    self._new[name] = None

    @override
    def arrived(self) -> list[tuple[int, Prediction]]:
        self._taken += len(self._group)
        self._group = []
        if self._taken == self._count:
            return []
        if not self._ready:
            if self._session.end is not None:
                raise self._session.end
            self._running = self._loop.begin(self._work())
            while True:
                with suppress(TimeoutError):
                    self._running.result(timeout=PULSE)
                    break
            if not self._ready:
                raise self._session.end or ModelError("the batches of the endpoint were stopped")
        self._group, self._ready = self._ready, []
        return self._group

    @override
    def stop(self) -> list[tuple[int, Prediction]]:
        """Batches go on: the next start finds them."""
        if self._running is not None and not self._running.done():
            self._running.cancel()
            wait([self._running], timeout=CLOSING)
        spending = self._session.endpoint.spending
        for request in self._requests.values():
            if request.held is not None:
                # The start that takes the answer counts it.
                spending.settle(request.held, NOTHING)
                spending.waiting += 1
                request.held = None
        return [*self._group, *self._ready]

    # ── the event loop ───────────────────────────────────────────────────────────────────────────────────

    async def _work(self) -> None:
        """Send the open requests, and wait until a batch has answers."""
        pause = FIRST_LOOK
        try:
            client = cast("BatchClient", self._loop.client())
            self._session.heard()
            while not self._ready and self._session.end is None:
                await self._adopt(client)
                await self._send(client)
                states = [await self._look(client, record) for record in list(self._open.values())]
                if any(state.ended for state in states):
                    continue
                self._check_wait(states)
                await asyncio.sleep(pause)
                pause = min(1.5 * pause, LATEST_LOOK)
        except EndpointLostError as lost:
            self._session.end = self._session.end or ModelError(str(lost))
        except ModelError as error:
            self._session.end = self._session.end or error

    def _check_wait(self, states: Sequence[BatchState]) -> None:
        """Check that the user wants to wait on.

        Raises:
            LimitError: for no longer.
        """
        if self._patience is None or time.monotonic() - self._began < self._patience:
            return
        progress = ", ".join(
            f"{state.id} is {state.status} ({state.done} of {state.total})" for state in states
        )
        raise LimitError(
            f"{self._session.name}: batch {progress} after -M batch_wait={self._patience:g}; "
            "the same command fetches the answers later",
            more="",
        )

    async def _adopt(self, client: BatchClient) -> None:
        """Find the batches, of this start or of earlier ones, that hold new requests."""
        if not self._new:
            return
        holds: dict[str, BatchRecord] = {}
        for record in self._records.read():
            for name in record.names:
                if name in self._new:
                    request = self._requests[name]
                    request.attempt += name in record.lost
                    if self._records.holds(record, request.query, name):
                        holds[name] = record
                    else:
                        holds.pop(name, None)
        for record in {record.key: record for record in holds.values()}.values():
            if not record.id:
                record.id = await self._persisted(lambda record=record: _number_of(client, record))  # type: ignore[misc]
                if not record.id:  # the process ended before the batch left
                    self._records.drop(record)
                    continue
                self._records.write(record)
            names = [name for name, holder in holds.items() if holder is record]
            self._hold(names)
            self._open[record.key] = record
            _log.warning(
                "codeaudit: %s: batch %s, sent before, holds %s; nothing of it is sent again",
                self._session.name,
                record.id,
                counted(len(names), "answer"),
            )
        held = {name for name, record in holds.items() if record.key in self._open}
        self._unsent |= {name: None for name in self._new if name not in held}
        self._new = {}

    def _hold(self, names: Iterable[str]) -> None:
        """Reserve what requests that were sent before may cost, whatever the limits say."""
        for name in names:
            request = self._requests[name]
            request.held = self._session.in_batch(request.query)
            self._session.endpoint.spending.hold(request.held)

    async def _send(self, client: BatchClient) -> None:
        """Send the requests that no batch holds, as far as the limits of the run allow."""
        while not (self._full and self._open) and (names := self._fitting()):
            lines: list[bytes] = []
            size = 0
            for name in names:
                request = self._requests[name]
                prompt = self._session.endpoint.prompts.of(request.query)
                line = await client.line(name, prompt, request.query, request.number)
                size += len(line)
                if lines and size > MOST_BYTES:
                    break
                lines.append(line)
            for name in names[len(lines) :]:
                self._release(name)
            await self._sent(client, names[: len(lines)], lines)

    def _fitting(self) -> list[str]:
        """The names of the next requests that fit below the limits; what they may cost is reserved."""
        names: list[str] = []
        for name in islice(self._unsent, self._most):
            amount = self._session.in_batch(self._requests[name].query)
            if not self._session.endpoint.spending.reserve(amount):
                break
            self._requests[name].held = amount
            names.append(name)
        return names

    def _release(self, name: str) -> None:
        request = self._requests[name]
        if request.held is not None:
            self._session.endpoint.spending.settle(request.held, NOTHING)
            request.held = None

    async def _sent(self, client: BatchClient, names: list[str], lines: Sequence[bytes]) -> None:
        """Send one batch. It is written down before, and its number as soon as it is known."""
        record = BatchRecord(key=uuid.uuid4().hex, names=names)
        self._records.write(record)
        attempt = 0
        while not record.id:
            began = time.monotonic()
            try:
                record.id = await client.submit(record.key, lines)
            except RequestError as error:
                if error.status is not None and not error.again:  # else it may have been made
                    self._records.drop(record)
                if error.status in NOBODY and not error.again:
                    raise EndpointLostError(
                        f"{self._session.endpoint.address.url} takes no batch ({error.status}"
                        f"{f': {error.message}' if error.message else ''}); leave out -M batch"
                    ) from None
                await self._endured(error, attempt, began)
                attempt += 1
                # Nobody knows if it was made before the connection broke.
                record.id = await self._persisted(lambda: _number_of(client, record))
        self._records.write(record)
        for name in names:
            del self._unsent[name]
        self._open[record.key] = record
        _log.warning(
            "codeaudit: %s: batch %s has %s; answers may take a day. Ctrl-C leaves it there, and the same "
            "command fetches them",
            self._session.name,
            record.id,
            counted(len(names), "request"),
        )

    async def _persisted(self, call: Callable[[], Awaitable[T]], record: BatchRecord | None = None) -> T:
        """The result of a call that costs nothing, repeated as often as a request.

        Raises:
            EndpointLostError: the endpoint does not answer.
        """
        attempt = 0
        while True:
            began = time.monotonic()
            try:
                value = await call()
                self._session.heard()
                return value
            except RequestError as error:
                await self._endured(error, attempt, began, record)
                attempt += 1

    async def _endured(
        self, error: RequestError, attempt: int, began: float, record: BatchRecord | None = None
    ) -> None:
        """Wait after a failed call, which may be about a batch.

        Raises:
            EndpointLostError: it failed as often as it may.
        """
        self._session.note(error, attempt, began)
        if not error.again or attempt >= self._session.endpoint.patience.retries:
            words = f" ({error.message})" if error.message else ""
            more = "start again to go on from here"
            if record is not None and error.status == 404:
                place = str(self._records.path(record))
                more = (
                    f"if batch {record.id} is gone there, delete {place!r}, and its requests are sent again"
                )
            raise EndpointLostError(
                f"{self._session.endpoint.address.url}: batches: {error.reason}{words}; {more}"
            )
        await asyncio.sleep(self._session.delay(error, attempt))

    async def _look(self, client: BatchClient, record: BatchRecord) -> BatchState:
        """How far a batch is; if it has ended, its answers are taken."""
        state = await self._persisted(lambda: client.look(record.id), record)
        if state.ended:
            del self._open[record.key]
            self._full = False
            ours = [name for name in record.names if name in self._requests and self._is_in(record, name)]
            if state.fault:
                self._refused(record, state, ours)
            else:
                await self._take(client, record, state, ours)
        return state

    def _is_in(self, record: BatchRecord, name: str) -> bool:
        return name not in record.lost and self._requests[name].held is not None

    def _refused(self, record: BatchRecord, state: BatchState, ours: Sequence[str]) -> None:
        """The vendor took no request of a batch.

        Raises:
            EndpointLostError: it will take none of another one either.
        """
        self._records.drop(record)
        for name in ours:
            self._release(name)
            self._unsent[name] = None
        if state.too_large and len(ours) > 1:
            self._most, self._full = len(ours) // 2, True
            return
        raise EndpointLostError(
            f"{self._session.endpoint.address.url} refuses batch {state.id} ({state.fault}); nothing of it "
            "was paid for"
        )

    async def _take(
        self, client: BatchClient, record: BatchRecord, state: BatchState, ours: Sequence[str]
    ) -> None:
        """Read the answers of a batch, the good ones first: they show that the endpoint works."""
        if not ours:
            return
        first = self._requests[ours[0]].query
        prompt = self._session.endpoint.prompts.of(first)
        results = await self._persisted(lambda: client.results(state, prompt, first), record)
        names = set(record.names)
        outcomes: dict[str, Reply | RequestError] = {}
        strange = doubled = 0
        for name, outcome in results:
            if name not in names:
                strange += 1
            elif name in outcomes:
                doubled += 1
            else:
                outcomes[name] = outcome
        absent = [name for name in ours if name not in outcomes]
        for name in absent:
            # What has expired or was cancelled was not answered and is not paid for.
            again = state.expired or state.cancelled
            outcomes[name] = RequestError(EXPIRED if again else ABSENT, again=again)
        self._tell(state, strange, doubled, 0 if state.expired or state.cancelled else len(absent))
        retries = self._session.endpoint.patience.retries
        # None of these was paid for. What is not sent again now may be in the next start.
        lost = [name for name in ours if isinstance(error := outcomes[name], RequestError) and error.again]
        again_sent = [name for name in lost if state.cancelled or self._requests[name].attempt < retries]
        counted_before = set(record.counted)
        for name in ours:
            outcomes[name] = self._counted(
                self._requests[name], outcomes[name], before=name in counted_before
            )
        record.lost += lost
        record.taken_by = record.taken_by or self._records.run
        record.counted += [name for name in ours if name not in counted_before]
        self._records.write(record)
        for name in sorted(ours, key=lambda name: isinstance(outcomes[name], RequestError)):
            self._give(name, outcomes[name], again=name in again_sent)
        if state.cancelled and again_sent:
            self._session.end = ModelError(
                f"{self._session.name}: batch {state.id} was cancelled with {len(again_sent):,} of "
                f"{counted(len(record.names), 'request')} open; start again to send them in a new one"
            )

    def _tell(self, state: BatchState, strange: int, doubled: int, absent: int) -> None:
        """Warn of what is wrong with the answers of a batch."""
        faults = [
            f"{counted(number, 'line')} {what}"
            for number, what in (
                (strange, "of no request of it, ignored"),
                (doubled, "for a request that had one, ignored"),
            )
            if number
        ]
        faults += [f"{counted(absent, 'request')} without a line, unjudged"] if absent else []
        if faults:
            _log.warning("codeaudit: %s: batch %s: %s", self._session.name, state.id, "; ".join(faults))

    def _counted(
        self, request: BatchRequest, outcome: Reply | RequestError, *, before: bool
    ) -> Reply | RequestError:
        """Count what a request cost, unless an earlier start did it `before`, and was killed then."""
        if request.held is not None:
            tokens = outcome.tokens if isinstance(outcome, Reply) else None
            if before:
                self._session.endpoint.spending.settle(request.held, NOTHING)
            else:
                self._session.settle_in_batch(request.held, tokens, again=request.attempt > 0)
            request.held = None
        if before and isinstance(outcome, Reply):
            return replace(outcome, tokens=(0, 0))
        return outcome

    def _give(self, name: str, outcome: Reply | RequestError, *, again: bool) -> None:
        """Hand on the outcome of a request, or send it again."""
        session, request = self._session, self._requests[name]
        try:
            if isinstance(outcome, RequestError):
                if again:
                    request.attempt += 1
                    self._unsent[name] = None
                    return
                del self._requests[name]
                self._lose(request, Failed(reason=outcome.reason), outcome)
                return
            del self._requests[name]
            prediction = session.read(request.query, outcome)
            if isinstance(prediction, Failed):
                self._lose(request, prediction)
            else:
                for pending in request.pending:
                    pending.received[request.number] = prediction
                    if len(pending.received) == pending.samples and pending.lost is None:
                        self._ready.append((pending.place, pending.prediction))
            session.readable(prediction, outcome.text)
        except EndpointLostError as lost:  # after the answers that are paid for
            session.end = session.end or ModelError(str(lost))
        except LimitError as limit:
            session.end = session.end or limit

    def _lose(self, request: BatchRequest, failed: Failed, error: RequestError | None = None) -> None:
        """Count a query without an answer, once."""
        for pending in request.pending:
            if pending.lost is None:
                pending.lost = failed
                self._ready.append((pending.place, pending.prediction))
        self._session.meter.failure(failed.reason, "" if error is None else error.message)
        if error is not None:
            self._session.note(error, self._session.endpoint.patience.retries, time.monotonic())
            self._session.given_up(error, request.query, drained=not self._requests)
        self._session.check_fit(drained=not self._requests)


async def _number_of(client: BatchClient, record: BatchRecord) -> str:
    return await client.find(record.key, made=record.made / 1e9, count=len(record.names))
