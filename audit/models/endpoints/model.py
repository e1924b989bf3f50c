"""The model behind an endpoint: sends many requests at once, repeats failed ones, and ends hopeless runs.

It serves every provider. A provider describes its `Endpoint`; the clients that it makes send the requests.
"""

import asyncio
import logging
import random
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from codeaudit.audit.models.endpoints.arguments import Patience, Prices
from codeaudit.audit.models.endpoints.client import EndpointAddress, EndpointClient, Reply, RequestError
from codeaudit.audit.models.endpoints.traffic import LoopThread, Meter, Throttle
from codeaudit.audit.models.text_models import Prompts, customised, joined
from codeaudit.audit.records import CUT_OFF, Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError

LONGEST_BACKOFF: Final = 8.0
"""Seconds between two attempts if the endpoint does not say how many."""
LONGEST_WAIT: Final = 60.0
"""Longest `Retry-After` in seconds that is obeyed."""
KNOCKS: Final = 3
"""Failed connections, before the first reply ever, after which the endpoint counts as absent."""
HOPELESS: Final = frozenset({401, 402})
"""Statuses that every other query would get, too: the key is wrong, or there is no credit left."""
OF_THE_QUERY: Final = frozenset({400, 413, 422})
"""Statuses with which a working endpoint refuses a single query."""
STOPPED: Final = Failed(reason="endpoint: stopped")

_log = logging.getLogger(__name__)


class EndpointLostError(Exception):
    """No further query will be answered; the text is a line for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One model at one address: everything that differs between providers."""

    model: str
    """Its name at the endpoint, for messages."""
    address: EndpointAddress
    connect: Callable[[], EndpointClient]
    """Makes the client; called inside the event loop, before the first request."""
    prompts: Prompts = field(default_factory=lambda: customised(template=None, system=None))
    """What is asked for each task, and how replies are read."""
    samples: int = 1
    """How many answers are drawn for a query; each is a request of its own."""
    patience: Patience = field(default_factory=Patience)
    prices: Prices | None = None
    remedy: Callable[[str], str] = lambda _: ""
    """By the field that the endpoint rejects, what the user can do; empty if it only concerns one query."""
    address_hint: str = ""
    """Added to the message about a model that is not found."""
    sampling_hint: str = ""
    """Added to the warning that all drawn answers are equal."""


@dataclass(slots=True, kw_only=True)
class PendingQuery:
    """A query and the answers received so far: one, or several when sampling."""

    query: Query
    samples: int
    waiting: deque[int] = field(init=False)
    """Numbers of the answers that no request was sent for."""
    received: dict[int, Prediction] = field(default_factory=dict)
    lost: Failed | None = None
    """The failure of one answer, after which the others are not needed."""

    def __post_init__(self) -> None:
        self.waiting = deque(range(self.samples))

    @property
    def prediction(self) -> Prediction:
        """All answers together."""
        if self.lost is not None:
            return self.lost
        if len(self.received) < self.samples:
            return STOPPED
        return joined([self.received[number] for number in range(self.samples)])


class EndpointModel:
    """A model at an endpoint.

    Its event loop lives in a thread of its own, because Ctrl-C must interrupt the waiting caller only.
    """

    task: None = None
    parameters: None = None
    noise = 0.0
    apart = True

    def __init__(self, endpoint: Endpoint, *, name: str, fingerprint: str) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.samples = endpoint.samples
        self._endpoint = endpoint
        self._url = endpoint.address.url
        self._meter = Meter(prices=endpoint.prices)
        self._throttle = Throttle(endpoint.patience.concurrency)
        # Unseeded: only waiting times depend on it, and clients that wait equally long would collide again.
        self._chance = random.Random()
        self._loop: LoopThread | None = None
        self._reached = False
        """Whether the endpoint has ever responded."""
        self._answered = False
        """Whether it has ever answered a query."""
        # Time between batches, when nothing is asked, must not count as silence.
        self._silence = 0.0
        """Seconds without an answer at the end of the last batch."""
        self._last_answer = 0.0
        self._end: str | None = None
        """Why the next call of `predict` raises."""
        self._compared = False

    @property
    def usage(self) -> Mapping[str, object]:
        """Requests, tokens, cost and failures so far."""
        return self._meter.as_mapping()

    @property
    def bill(self) -> str:
        """The usage as one line for the user."""
        return str(self._meter)

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query.

        If the endpoint is lost in the middle of a batch, the answers so far are returned and the next call
        raises.

        Raises:
            ModelError: the endpoint is absent, refuses the key or the model, gave no answer for too long, or
                has no prompt for the task.
        """
        if self._end is not None:
            raise ModelError(self._end)
        if not queries:
            return []
        for query in queries:  # raises before the first request is paid for
            self._endpoint.prompts.of(query)
        if self._loop is None:
            self._loop = LoopThread(self._endpoint.connect)
            weakref.finalize(self, self._loop.close)
        predictions, end = self._loop.wait_for(self._answers(self._loop, queries))
        # Answers that were paid for are returned first.
        if end is not None and not any(isinstance(one, Predicted) for one in predictions):
            raise ModelError(end)
        self._end = end
        return predictions

    async def _answers(
        self, loop: LoopThread, queries: Sequence[Query]
    ) -> tuple[list[Prediction], str | None]:
        """The predictions, and the reason why there will be no more, if so."""
        client = loop.client()
        self._last_answer = time.monotonic() - self._silence
        before = self._meter.failed.copy()
        pending = [PendingQuery(query=query, samples=self.samples) for query in queries]
        # Several tasks take the numbers of one query's answers from its queue.
        beside = min(self.samples, self._endpoint.patience.concurrency)
        tasks = [asyncio.create_task(self._answer(client, one)) for one in pending for _ in range(beside)]
        end: str | None = None
        try:
            await asyncio.gather(*tasks)
        except EndpointLostError as lost:
            end = str(lost)
        finally:
            # Also after Ctrl-C: no request may go on, and cost, after the caller has gone.
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            self._silence = time.monotonic() - self._last_answer
        predictions = [one.prediction for one in pending]
        if end is None and not self._answered:
            end = self._unfit(predictions, self._meter.failed - before)
        self._compare(predictions)
        return predictions, end

    def _compare(self, predictions: Sequence[Prediction]) -> None:
        """Warn once if all answers to each of the first queries are equal: some endpoints do not sample."""
        answers = [one.answer for one in predictions if isinstance(one, Predicted)]
        several = [answer for answer in answers if isinstance(answer, tuple)]
        if several and not self._compared and all(len(set(answer)) == 1 for answer in several):
            _log.warning(
                "codeaudit: %s: all %d answers to each of the first queries are equal; does the endpoint "
                "sample?%s",
                self.name,
                self.samples,
                self._endpoint.sampling_hint,
            )
        self._compared |= bool(several)

    async def _answer(self, client: EndpointClient, pending: PendingQuery) -> None:
        """Ask for the answers to a query that no other task asks for.

        Raises:
            EndpointLostError: neither this query nor any other will be answered.
        """
        while pending.waiting:
            number = pending.waiting.popleft()
            found = await self._attempt(client, pending, number)
            if found is not None:
                pending.received[number] = found

    async def _attempt(self, client: EndpointClient, pending: PendingQuery, number: int) -> Prediction | None:
        """One answer to a query after up to `patience.retries` repetitions; `None` if there is none.

        Raises:
            EndpointLostError: neither this query nor any other will be answered.
        """
        prompt = self._endpoint.prompts.of(pending.query)
        retries = self._endpoint.patience.retries
        for attempt in range(retries + 1):
            try:
                async with self._throttle.slot() as began:
                    if pending.lost is not None:  # while this one waited for its slot
                        return None
                    self._meter.requests += 1
                    self._meter.retries += attempt > 0
                    try:
                        reply = await client.ask(prompt, pending.query, number)
                    except RequestError as error:
                        # Inside of the slot, so that the limit falls before another request gets the slot.
                        self._note(error, attempt, began)
                        raise
                    self._throttle.granted()
            except RequestError as error:
                if not error.again or attempt == retries:
                    self._lose(pending, error.reason, error.message)
                    return None
                if not error.busy:
                    await asyncio.sleep(self._delay(error, attempt))
            else:
                return self._prediction(pending, reply)
        raise AssertionError("the last attempt returns")

    def _prediction(self, pending: PendingQuery, reply: Reply) -> Prediction | None:
        self._reached = self._answered = True
        self._last_answer = time.monotonic()
        self._meter.reply(reply.tokens, reply.served)
        found = self._endpoint.prompts.of(pending.query).read(reply.text, cut=reply.cut)
        if isinstance(found, Failed):
            self._lose(pending, CUT_OFF if reply.cut else found.reason)
            return None
        return found

    def _lose(self, pending: PendingQuery, reason: str, message: str = "") -> None:
        """Count a query without an answer, once, and send no further request for it."""
        if pending.lost is None:
            pending.lost = Failed(reason=reason)
            pending.waiting.clear()
            self._meter.failure(reason, message)

    def _note(self, error: RequestError, attempt: int, began: float) -> None:
        """Adapt to a failed request.

        Raises:
            EndpointLostError: every other request would fail, too.
        """
        if error.busy:
            self._throttle.refused(began, self._delay(error, attempt))
        if error.status is not None:
            self._reached = True
        if error.status in OF_THE_QUERY:
            # The endpoint works and dislikes this query, so the patience starts anew.
            self._last_answer = time.monotonic()
        if error.elsewhere:
            raise EndpointLostError(
                f"{self._url} redirects to another host, {error.elsewhere}, where nothing was sent; "
                "if it is the right one, name it with --base-url"
            )
        if error.status in HOPELESS:
            raise EndpointLostError(self._refused(error.status, error.message))
        if error.status in OF_THE_QUERY and (remedy := self._endpoint.remedy(error.field)):
            raise EndpointLostError(
                f"{self._url} does not take {error.field!r} for model {self._endpoint.model!r}"
                f"{_in_brackets(error.message)}; {remedy}"
            )
        patience = self._endpoint.patience
        if error.unreachable and not self._reached and attempt + 1 >= min(KNOCKS, patience.retries + 1):
            raise EndpointLostError(
                f"cannot reach {self._url}{_in_brackets(error.message or error.reason)}; "
                "is the server up? --base-url says where it is"
            )
        silence = time.monotonic() - self._last_answer
        if silence > patience.patience:
            raise EndpointLostError(
                f"{self._url} gave no answer for {silence:,.0f} s, at last {error.reason!r}"
                f"{_in_brackets(error.message)}; start again to go on from here"
            )

    def _delay(self, error: RequestError, attempt: int) -> float:
        """Seconds until the next attempt: those that the endpoint asks for, else exponential backoff."""
        if error.wait > 0:
            return min(error.wait, LONGEST_WAIT)
        # Spread by chance, so that requests that failed together do not come again together.
        step = min(self._endpoint.patience.backoff * 2.0**attempt, LONGEST_BACKOFF)
        return step * self._chance.uniform(0.75, 1.0)

    def _unfit(self, predictions: Sequence[Prediction], failed: Mapping[str, int]) -> str | None:
        """The reason if the whole first batch was refused for a wrong model or address."""
        statuses = {reason.removeprefix("endpoint: ") for reason in failed}
        unfit = {one for one in statuses if one.startswith(("3", "4"))} - {str(one) for one in OF_THE_QUERY}
        if not predictions or statuses != unfit or unfit & {"408", "409", "425", "429"}:
            return None
        reason, _ = max(failed.items(), key=lambda item: item[1])
        return self._refused(int(reason.removeprefix("endpoint: ")), self._meter.told.get(reason, ""))

    def _refused(self, status: int, message: str) -> str:
        address, model, told = self._endpoint.address, self._endpoint.model, _in_brackets(message)
        match status:
            case 401 if not (address.key or address.basic):
                return f"{self._url} asks for a key (401){told}; set {address.key_name}"
            case 401:
                key = "the credentials" if address.basic else address.key_name
                return f"{self._url} does not accept {key} (401){told}"
            case 402:
                return f"{self._url}: nothing is left to pay with{told}; start again to go on from here"
            case 404:
                hint = self._endpoint.address_hint
                return f"{self._url} has no model {model!r}, or it is the wrong address (404){told}{hint}"
            case _:
                return f"{self._url} refuses to serve model {model!r} ({status}){told}"


def _in_brackets(message: str) -> str:
    return f" ({message})" if message else ""
