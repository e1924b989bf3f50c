"""The model behind an endpoint: asks many queries at once, asks again where that may help, and ends the run
where nothing will.
"""

import asyncio
import logging
import os
import random
import threading
import time
import weakref
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlencode

from codeaudit.audit.models.openai.address import HOME, Address, address, asked_at
from codeaudit.audit.models.openai.arguments import Arguments, arguments
from codeaudit.audit.models.openai.meter import Meter
from codeaudit.audit.models.openai.replies import Reply, TroubleError
from codeaudit.audit.models.openai.throttle import Throttle
from codeaudit.audit.models.samples import joined
from codeaudit.audit.models.settings import Settings
from codeaudit.audit.records import CUT_OFF, Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError, UsageError

if TYPE_CHECKING:
    from codeaudit.audit.models.openai.client import Client

T = TypeVar("T")

LONGEST_BACKOFF: Final = 8.0
"""Seconds between two retries where the endpoint does not say how many."""
LONGEST_WAIT: Final = 60.0
"""Seconds that `Retry-After` is heeded for."""
KNOCKS: Final = 3
"""Connections that are tried before the first reply ever, until nobody is there."""
HOPELESS: Final = frozenset({401, 402})
"""Statuses that no other query would change: the key is wrong, or nothing is left to pay with."""
OF_THE_QUERY: Final = frozenset({400, 413, 422})
"""Statuses by which an endpoint in good health refuses one query."""
PULSE: Final = 0.5
"""Seconds after which a caller that waits looks up: not every platform wakes it for Ctrl-C."""
STOPPED: Final = Failed(reason="endpoint: stopped")
CUT: Final = Failed(reason=CUT_OFF)
REMEDIES: Final[Mapping[str, str]] = {
    "max_tokens": "try -M tokens_field=max_completion_tokens",
    "max_completion_tokens": "try -M tokens_field=max_tokens",
    "temperature": "leave it out with -M temperature=none",
    "seed": "leave it out with -M seed=none",
}
"""By the field that an endpoint does not take."""

_log = logging.getLogger(__name__)


class HopelessError(Exception):
    """No further query will be answered; the text is a line for the user."""


@dataclass(slots=True, kw_only=True)
class Sheet:
    """A query with what was had of its answers, of which it has one or several."""

    query: Query
    samples: int
    waiting: deque[int] = field(init=False)
    """The numbers of those that nobody has asked for yet."""
    had: dict[int, Prediction] = field(default_factory=dict)
    lost: Failed | None = None
    """Why one of them cannot be had, so that the others are of no use."""

    def __post_init__(self) -> None:
        self.waiting = deque(range(self.samples))

    @property
    def prediction(self) -> Prediction:
        """All of them together."""
        if self.lost is not None:
            return self.lost
        if len(self.had) < self.samples:
            return STOPPED
        return joined([self.had[number] for number in range(self.samples)])


class EndpointModel:
    """One model at one endpoint.

    Its event loop lives in a thread of its own, so that Ctrl-C meets a caller that waits and nothing else.
    """

    def __init__(self, name: str, where: Address, arguments: Arguments) -> None:
        self.name = f"openai/{name}"
        self.task: str | None = None
        self.parameters: int | None = None
        self.noise = 0.0
        self._model = name
        self._where = where
        self._arguments = arguments
        self._meter = Meter(prices=arguments.prices)
        self._throttle = Throttle(arguments.patience.concurrency)
        self._chance = random.Random()
        self._desk: Desk | None = None
        self._reached = False
        self._answered = False
        self._quiet = 0.0
        self._heard = 0.0
        self._end: str | None = None
        self._compared = False

    @property
    def samples(self) -> int:
        """How many answers a query has."""
        return self._arguments.decoding.samples

    @property
    def fingerprint(self) -> str:
        """What decides an answer, in plain text: model, address, decoding, prompts, the user's version."""
        asked = f"openai/{self._model}@{self._where.url}?{self._arguments.decoding}"
        version = {} if self._arguments.version is None else {"version": self._arguments.version}
        return f"{asked}&{urlencode({'prompts': self._arguments.prompts.digest, **version})}"

    @property
    def usage(self) -> Mapping[str, object]:
        """Requests, tokens, cost and failures so far."""
        return self._meter.as_mapping()

    @property
    def bill(self) -> str:
        """The same as a line for people."""
        return str(self._meter)

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query.

        If the endpoint is lost in the middle of a batch, the answers that were had are returned, and the next
        call raises.

        Raises:
            ModelError: nobody is there, the key or the model is refused, or no answer came for too long.
        """
        if self._end is not None:
            raise ModelError(self._end)
        if not queries:
            return []
        for query in queries:
            self._arguments.prompts.of(query)
        if self._desk is None:
            self._desk = Desk()
            weakref.finalize(self, self._desk.close)
        predictions, end = self._desk.wait_for(self._answers(self._desk, queries))
        if end is not None and not any(isinstance(one, Predicted) for one in predictions):
            raise ModelError(end)
        self._end = end
        return predictions

    async def _answers(self, desk: "Desk", queries: Sequence[Query]) -> tuple[list[Prediction], str | None]:
        """The predictions, and why there will be no more, if so."""
        client = desk.client or desk.opened(self._where, self._model, self._arguments)
        self._heard = time.monotonic() - self._quiet
        before = self._meter.failed.copy()
        sheets = [Sheet(query=query, samples=self.samples) for query in queries]
        beside = min(self.samples, self._arguments.patience.concurrency)
        tasks = [asyncio.create_task(self._answer(client, sheet)) for sheet in sheets for _ in range(beside)]
        end: str | None = None
        try:
            await asyncio.gather(*tasks)
        except HopelessError as hopeless:
            end = str(hopeless)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            self._quiet = time.monotonic() - self._heard
        predictions = [sheet.prediction for sheet in sheets]
        if end is None and not self._answered:
            end = self._unfit(predictions, self._meter.failed - before)
        self._compare(predictions)
        return predictions, end

    def _compare(self, predictions: Sequence[Prediction]) -> None:
        """Say it if all answers to each of the first queries are equal: not every endpoint samples."""
        told = [one.answer for one in predictions if isinstance(one, Predicted)]
        several = [answer for answer in told if isinstance(answer, tuple)]
        if several and not self._compared and all(len(set(answer)) == 1 for answer in several):
            _log.warning(
                "codeaudit: %s: all %d answers to each of the first queries are equal; does the endpoint "
                "sample? -M extra_body may have to ask for it",
                self.name,
                self.samples,
            )
        self._compared |= bool(several)

    async def _answer(self, client: "Client", sheet: Sheet) -> None:
        """Ask for one answer to a query after the other, until nobody needs to.

        Raises:
            HopelessError: neither this one nor any other will be had.
        """
        while sheet.waiting:
            number = sheet.waiting.popleft()
            found = await self._attempt(client, sheet, number)
            if found is not None:
                sheet.had[number] = found

    async def _attempt(self, client: "Client", sheet: Sheet, number: int) -> Prediction | None:
        """One answer to a query, after as many retries as it takes and may take; `None` where it has none.

        Raises:
            HopelessError: neither this one nor any other will be had.
        """
        prompt = self._arguments.prompts.of(sheet.query)
        retries = self._arguments.patience.retries
        for attempt in range(retries + 1):
            try:
                async with self._throttle.slot() as began:
                    if sheet.lost is not None:
                        return None
                    self._meter.requests += 1
                    self._meter.retries += attempt > 0
                    try:
                        reply = await client.ask(prompt, sheet.query, number)
                    except TroubleError as trouble:
                        self._note(trouble, attempt, began)
                        raise
                    self._throttle.granted()
            except TroubleError as trouble:
                if not trouble.again or attempt == retries:
                    self._lose(sheet, trouble.reason, trouble.message)
                    return None
                if not trouble.busy:
                    await asyncio.sleep(self._delay(trouble, attempt))
            else:
                return self._prediction(sheet, reply)
        raise AssertionError("the last attempt returns")

    def _prediction(self, sheet: Sheet, reply: Reply) -> Prediction | None:
        self._reached = self._answered = True
        self._heard = time.monotonic()
        self._meter.reply(reply.tokens, reply.served)
        found = self._arguments.prompts.of(sheet.query).read(reply.text, cut=reply.cut)
        if isinstance(found, Failed):
            self._lose(sheet, (CUT if reply.cut else found).reason)
            return None
        return found

    def _lose(self, sheet: Sheet, reason: str, message: str = "") -> None:
        """Count a query that has no answer, once, and ask for no more of it."""
        if sheet.lost is None:
            sheet.lost = Failed(reason=reason)
            sheet.waiting.clear()
            self._meter.failure(reason, message)

    def _note(self, trouble: TroubleError, attempt: int, began: float) -> None:
        """Learn from a request that went wrong.

        Raises:
            HopelessError: it says that no other will go right.
        """
        if trouble.busy:
            self._throttle.refused(began, self._delay(trouble, attempt))
        if trouble.status is not None:
            self._reached = True
        if trouble.status in OF_THE_QUERY:
            self._heard = time.monotonic()
        if trouble.status in HOPELESS:
            raise HopelessError(self._refused(trouble.status, trouble.message))
        if trouble.status in OF_THE_QUERY and (remedy := self._remedy(trouble.field)):
            raise HopelessError(
                f"{self._where.url} does not take {trouble.field!r} for model {self._model!r}"
                f"{_in_brackets(trouble.message)}; {remedy}"
            )
        if trouble.unreachable and not self._reached and attempt + 1 >= min(KNOCKS, self._tries):
            raise HopelessError(
                f"cannot reach {self._where.url}{_in_brackets(trouble.message or trouble.reason)}; "
                "is the server up? --base-url says where it is"
            )
        quiet = time.monotonic() - self._heard
        if quiet > self._arguments.patience.patience:
            raise HopelessError(
                f"{self._where.url} gave no answer for {quiet:,.0f} s, at last {trouble.reason!r}"
                f"{_in_brackets(trouble.message)}; start again to go on from here"
            )

    @property
    def _tries(self) -> int:
        return self._arguments.patience.retries + 1

    def _delay(self, trouble: TroubleError, attempt: int) -> float:
        """Seconds until the next attempt: those that the endpoint asks for, else ever more."""
        if trouble.wait > 0:
            return min(trouble.wait, LONGEST_WAIT)
        step = min(self._arguments.patience.backoff * 2.0**attempt, LONGEST_BACKOFF)
        return step * self._chance.uniform(0.75, 1.0)

    def _remedy(self, field: str) -> str:
        if field in self._arguments.decoding.extra_body:
            return "take it out of -M extra_body"
        return REMEDIES.get(field, "") if field in self._arguments.decoding.fields else ""

    def _unfit(self, predictions: Sequence[Prediction], failed: Mapping[str, int]) -> str | None:
        """Why nothing can be had here, if all of the first batch says: the wrong model or address."""
        statuses = {reason.removeprefix("endpoint: ") for reason in failed}
        unfit = {one for one in statuses if one.startswith(("3", "4"))} - {str(one) for one in OF_THE_QUERY}
        if not predictions or statuses != unfit or unfit & {"408", "409", "425", "429"}:
            return None
        reason, _ = max(failed.items(), key=lambda item: item[1])
        return self._refused(int(reason.removeprefix("endpoint: ")), self._meter.told.get(reason, ""))

    def _refused(self, status: int, message: str) -> str:
        url, told = self._where.url, _in_brackets(message)
        if status == 401:
            key = "the credentials" if self._where.basic else "OPENAI_API_KEY"
            if not (self._where.key or self._where.basic):
                return f"{url} asks for a key (401){told}; set OPENAI_API_KEY"
            return f"{url} does not accept {key} (401){told}"
        if status == 402:
            return f"{url}: nothing is left to pay with{told}; start again to go on from here"
        if status == 404:
            return (
                f"{url} has no model {self._model!r}, or it is the wrong address (404){told}; most end in /v1"
            )
        return f"{url} refuses to serve model {self._model!r} ({status}){told}"


def load(name: str, settings: Settings) -> EndpointModel:
    """The model of that name at `settings.base_url`, else at `OPENAI_BASE_URL`, else at OpenAI's.

    Nothing is asked yet. The key is taken from `OPENAI_API_KEY` and kept in memory alone.

    Raises:
        UsageError: there is no name, the address is none, or an argument has a wrong value.
        ModelError: OpenAI's own endpoint is meant and there is no key.
    """
    if not name.strip():
        raise UsageError("model 'openai/' names no model; write openai/MODEL")
    where = address(asked_at(settings.base_url), os.environ.get("OPENAI_API_KEY"))
    if where.url == HOME and not (where.key or where.basic):
        raise ModelError(
            f"{HOME} asks for a key: set OPENAI_API_KEY, or name another endpoint with --base-url"
        )
    return EndpointModel(name, where, arguments(settings))


class Desk:
    """An event loop in a thread and the client that it runs. It holds no model, so that the model can go."""

    def __init__(self) -> None:
        self.client: Client | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="endpoint", daemon=True)
        self._thread.start()

    def opened(self, where: Address, model: str, arguments: Arguments) -> "Client":
        """Make the client."""
        from codeaudit.audit.models.openai.client import (
            Client,  # half a second of imports, for those who ask only
        )

        self.client = Client(where, model, arguments.decoding, arguments.patience.timeout)
        return self.client

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine, which is cancelled where waiting for it ends otherwise."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            while not future.done():
                wait([future], timeout=PULSE)
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """End the connections, the loop and the thread."""
        if threading.current_thread() is self._thread:  # the loop let go of the model last
            self._loop.stop()
            return
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._ended(), self._loop).result(timeout=2)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=2)
        if not self._thread.is_alive():
            self._loop.close()

    async def _ended(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self.client is not None:
            await self.client.close()


def _in_brackets(message: str) -> str:
    return f" ({message})" if message else ""
