"""What is known of an endpoint while it is asked: what it answered, what it refused, and when to give up."""

import logging
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

from codeaudit.audit.models.endpoints.arguments import Patience, Prices
from codeaudit.audit.models.endpoints.client import (
    TRANSIENT,
    EndpointAddress,
    EndpointClient,
    Reply,
    RequestError,
)
from codeaudit.audit.models.endpoints.ledger import Amount
from codeaudit.audit.models.endpoints.spending import (
    MARGIN,
    UNKNOWN_REPLY,
    Pace,
    Spending,
    tokens_of,
    tokens_of_prompt,
)
from codeaudit.audit.models.endpoints.throttle import Throttle
from codeaudit.audit.models.endpoints.traffic import Meter
from codeaudit.audit.models.text_models import Prompts, customised
from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import (
    CUT_BY_WINDOW,
    CUT_OFF,
    MALFORMED,
    SHOWN,
    Failed,
    Prediction,
    Query,
    RawReply,
    kept_reply,
    malformed,
)
from codeaudit.transforms.errors import LimitError, ModelError

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
FIRST: Final = 32
"""Failed queries, without any answer, after which the model or the address counts as wrong."""
SHORT: Final = 1000
"""Tokens of a prompt that every model reads. If it is refused for its size, the others will be, too."""
ALIKE: Final = 4
"""Queries refused with the same words, without any answer, after which all others would be refused, too."""
FAULTS: Final = frozenset({500, 501, 505})
"""Statuses of servers that fail at a request, with which some also refuse a field."""

NOBODY: Final = frozenset({400, 404, 405, 410, 415, 422, 501, 505})
"""Statuses of programs that have nothing at an address, such as web servers."""
SMALLEST_WINDOW: Final = 512
"""Tokens; no server has a smaller context."""
CUT_PROMPTS: Final = 3
"""Prompts of different lengths with one number of tokens after which the endpoint counts as cutting them."""
_NUMBER: Final = re.compile(r"\d+")

WAIT: Final = 0.05
"""Seconds between two looks if the spending has room for a request as soon as others have ended."""
ONE: Final = Amount(requests=1)
"""What is reserved for a request if nothing is limited."""

_log = logging.getLogger(__name__)


class EndpointLostError(Exception):
    """No further query will be answered; the text is a line for the user."""


@dataclass(eq=False, slots=True, kw_only=True)
class Forecast:
    """What a request under way will need."""

    into: int
    """Tokens of its prompt, by `tokens_of`."""
    reserved: Amount
    paced: list[float]
    """Its entry in the limit of tokens per minute."""


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
    is_own: bool = False
    """Whether the user runs the server, wherever that is."""
    patience: Patience = field(default_factory=Patience)
    prices: Prices | None = None
    spending: Spending = field(default_factory=Spending)
    """What all models of the run may spend together."""
    longest: Callable[[Prompt], int | None] = lambda _: None
    """The limit on the tokens of a reply; `None` without one."""
    remedy: Callable[[str], str] = lambda _: ""
    """By the field that the endpoint rejects, what the user can do; empty if it only concerns one query."""
    address_hint: str = ""
    """Added to the messages about an address that may be wrong."""
    refusal_hint: str = ""
    """Added to the message that all queries are refused alike."""
    size_hint: str = ""
    """The same if the words are about the size of the queries."""
    sampling_hint: str = ""
    """Added to the warning that all drawn answers are equal."""


class Session:
    """All that lasts from one stream of queries to the next. It belongs to one event loop."""

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        self.endpoint = endpoint
        self.name = name
        self.meter = Meter(model=endpoint.model, prices=endpoint.prices)
        self.throttle = Throttle(endpoint.patience.concurrency)
        self.end: ModelError | None = None
        """Why no further query will be answered."""
        patience = endpoint.patience
        self._requests = Pace(patience.rpm or inf)
        self._tokens = Pace(patience.tpm or inf)
        self._limited = bool(patience.rpm or patience.tpm or endpoint.spending.limited)
        """Whether requests have to be forecast."""
        self._forecast = self._metered = self._replied = self._replies = 0
        """Over all replies that tell their tokens: tokens of prompts by the forecast and by the endpoint,
        tokens of replies, and number."""
        self._unreadable = 0
        """Replies in a row without a readable answer."""
        self._failing = 0
        """Queries in a row without a reply."""
        self._url = endpoint.address.url
        proxy = endpoint.address.proxy
        self._through = "" if proxy is None else f" through the proxy of {proxy.shown}"
        # Unseeded: only waiting times depend on it, and clients that wait equally long would collide again.
        self._chance = random.Random()
        self._reached = False
        """Whether the endpoint has ever responded."""
        self._answered = False
        """Whether it has ever answered a query."""
        self._knocks = 0
        """Failed requests before the first answer."""
        self._refusals: Counter[tuple[int, str]] = Counter()
        """Queries refused before the first answer, by status and words without their numbers."""
        # Time in which nothing is asked must not count as silence.
        self._silence = 0.0
        """Seconds without an answer when the work last paused."""
        self._last_answer = 0.0
        self._last_error: RequestError | None = None
        """The last failure since the last answer."""
        self._compared = False
        self._told_loading = False
        self._most_tokens = 0
        """Largest number of tokens of a prompt that the endpoint has counted."""
        self._fullest: set[int] = set()
        """Sizes of the queries for which it counted so many."""

    def go_on(self) -> None:
        """Requests are sent again after a pause in the work."""
        self._last_answer = time.monotonic() - self._silence

    def rest(self) -> None:
        """No request is under way or waiting."""
        self._silence = time.monotonic() - self._last_answer

    def admit(self, query: Query) -> Forecast | float | None:
        """The forecast of a request that may be sent now, `None` if nothing is limited, or the seconds until
        it may be sent.

        Raises:
            LimitError: a limit of the run is reached.
        """
        if not self._limited:
            return None
        endpoint = self.endpoint
        prompt = endpoint.prompts.of(query)
        into = tokens_of_prompt(prompt, query)
        expected = into * self._metered / self._forecast if self._forecast else into
        # What such a reply needed so far; the reservation is for the longest one.
        usual = self._replied / self._replies if self._replies else 0.0
        if pause := max(self._requests.wait(1), self._tokens.wait(expected + usual)):
            return pause
        longest = endpoint.longest(prompt) or UNKNOWN_REPLY
        most = round(expected * MARGIN)
        cost = endpoint.prices.cost(most, longest) if endpoint.prices else 0.0
        reserved = Amount(requests=1, tokens=most + longest, cost=cost)
        if not endpoint.spending.reserve(reserved):
            return WAIT
        self._requests.take(1)
        return Forecast(into=into, reserved=reserved, paced=self._tokens.take(expected + usual))

    def send(self, forecast: Forecast | None, attempt: int) -> int:
        """A request is about to leave: count it, and write it into the ledger. Returns its number there.

        Raises:
            RunError: the ledger cannot be written; the request must not be sent.
        """
        spending = self.endpoint.spending
        if forecast is None:
            spending.reserve(ONE)  # nothing is limited, so it fits
        reserved = ONE if forecast is None else forecast.reserved
        number = spending.sent(self.name, reserved, again=attempt > 0)
        self.meter.requests += 1
        self.meter.retries += attempt > 0
        return number

    def settle(
        self,
        number: int,
        forecast: Forecast | None,
        tokens: tuple[int, int] | None,
        reported: tuple[int, int] | None = None,
    ) -> None:
        """The request of this number has ended; it needed so many tokens, or `None` if nobody says.

        `reported` are those that the endpoint reported.

        Raises:
            RunError: the ledger cannot be written.
        """
        into, out = tokens if tokens is not None else (0, 0)
        cost = self.endpoint.prices.cost(into, out) if self.endpoint.prices else 0.0
        spent = Amount(requests=1, tokens=into + out, cost=cost)
        spending = self.endpoint.spending
        spending.settle(ONE if forecast is None else forecast.reserved, spent)
        spending.ended(number, reported, spent)
        if forecast is not None:
            self._tokens.correct(forecast.paced, into + out)

    def tokens(self, forecast: Forecast | None, reply: Reply) -> tuple[int, int] | None:
        """The tokens of a request with its reply; if anything is limited, estimated if nobody tells them."""
        if forecast is None:
            return reply.tokens
        if reply.tokens is None:
            return forecast.into, tokens_of(reply.text)
        self._forecast += forecast.into
        self._metered += reply.tokens[0]
        self._replied += reply.tokens[1]
        self._replies += 1
        return reply.tokens

    def heard(self) -> None:
        """The endpoint has said something that is no answer."""
        self._reached = True
        self._last_answer = time.monotonic()

    def in_batch(self, query: Query) -> Amount:
        """What a request in a batch may need at most."""
        if not self._limited:
            return ONE
        endpoint = self.endpoint
        prompt = endpoint.prompts.of(query)
        into = round(tokens_of_prompt(prompt, query) * MARGIN)
        longest = endpoint.longest(prompt) or UNKNOWN_REPLY
        cost = endpoint.prices.cost(into, longest, batched=True) if endpoint.prices else 0.0
        return Amount(requests=1, tokens=into + longest, cost=cost)

    def settle_in_batch(self, reserved: Amount, tokens: tuple[int, int] | None, *, again: bool) -> None:
        """Count a request of a batch; a request that was not answered cost nothing.

        Raises:
            RunError: the ledger cannot be written.
        """
        into, out = tokens if tokens is not None else (0, 0)
        cost = self.endpoint.prices.cost(into, out, batched=True) if self.endpoint.prices else 0.0
        spent = Amount(requests=1, tokens=into + out, cost=cost)
        spending = self.endpoint.spending
        number = spending.sent(self.name, spent, again=again)
        spending.settle(reserved, spent)
        spending.ended(number, tokens, spent)
        self.meter.requests += 1
        self.meter.retries += again
        self.meter.batched_in += into
        self.meter.batched_out += out

    def read(self, query: Query, reply: Reply) -> Prediction:
        """Count a reply and read the answer in it."""
        self._reached = self._answered = True
        self._failing = 0
        self._last_answer = time.monotonic()
        self._last_error = None
        self.meter.reply(reply.tokens, reply.served)
        if reply.tokens is not None and reply.tokens[0] >= max(SMALLEST_WINDOW, self._most_tokens):
            self._check_whole(query, reply.tokens[0])
        content = reply.text if reply.inside is None else reply.inside
        # An object that is whole was not cut.
        prediction = self.endpoint.prompts.of(query).read(content, cut=reply.cut and reply.inside is None)
        # Scrubbed as a whole: a key that is cut in its middle would not be recognised.
        text = self.endpoint.address.scrub(reply.text)
        if not isinstance(prediction, Failed):
            kept = kept_reply(text)
            replies = tuple(RawReply(kept, raw.read) for raw in prediction.replies)
            return replace(prediction, replies=replies, margin=reply.margin, scores=reply.scores)
        if reply.cut:
            why = CUT_BY_WINDOW if self._fills_window(query, reply) else CUT_OFF
            return Failed(reason=why, replies=(RawReply(kept_reply(text), why),))
        if reply.thought:
            why = f"endpoint: no text but in {reply.thought!r}"
            return Failed(reason=why, replies=(RawReply(kept_reply(text), why),))
        return malformed(text, is_reply=True)

    def _fills_window(self, query: Query, reply: Reply) -> bool:
        """Whether a reply was cut long before its limit, so that another limit is to blame."""
        longest = self.endpoint.longest(self.endpoint.prompts.of(query))
        if reply.tokens is None or longest is None:
            return False
        return reply.tokens[1] < longest // 2 and sum(reply.tokens) >= SMALLEST_WINDOW

    def _check_whole(self, query: Query, tokens: int) -> None:
        """Tell once if the longest prompts differ and have one number of tokens: Ollama cuts them."""
        if tokens > self._most_tokens:
            self._most_tokens = tokens
            self._fullest.clear()
        self._fullest.add(query.size)
        shortest, longest = min(self._fullest), max(self._fullest)
        if len(self._fullest) == CUT_PROMPTS and longest > 1.1 * shortest:
            _log.warning(
                "codeaudit: %s: prompts of different lengths count %s tokens each: its server cuts longer "
                "ones without a word, and answers what is left; give it a larger context (Ollama: num_ctx or "
                "OLLAMA_CONTEXT_LENGTH)",
                self.name,
                f"{tokens:,}",
            )

    def readable(self, prediction: Prediction, text: str) -> None:
        """Count replies in a row without a readable answer.

        Raises:
            LimitError: there are too many.
        """
        if not isinstance(prediction, Failed):
            self._unreadable = 0
            return
        self._unreadable += 1
        most = self.endpoint.patience.unreadable
        if self._unreadable < most or not most:
            return
        line = " ".join(self.endpoint.address.scrub(text).split())
        line = line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
        why = f" ({prediction.reason})" if prediction.reason != MALFORMED else ""
        raise LimitError(
            f"{self._url}: the last {self._unreadable} replies have no readable answer{why}, "
            f"such as {line!r}; {_more_readable(prediction.reason)}. Start again to go on with the other "
            "queries; -M unreadable=0 goes on without an end",
            more="",
        )

    def note(self, error: RequestError, attempt: int, began: float) -> None:
        """Adapt to a failed request.

        Raises:
            EndpointLostError: every other request would fail, too.
        """
        if error.busy:
            self.throttle.refused(began, self.delay(error, attempt))
        if error.status is not None or error.unreadable:
            self._reached = True
        if error.status in OF_THE_QUERY:
            # The endpoint works and dislikes this query, so the patience starts anew.
            self._last_answer = time.monotonic()
            self._failing = 0
        if error.loading and not self._told_loading:
            self._told_loading = True
            _log.warning("codeaudit: %s: %s loads its model; waiting", self.name, self._url)
        if error.elsewhere:
            raise EndpointLostError(
                f"{self._url} redirects to another host, {error.elsewhere}, where nothing was sent; "
                "if it is the right one, name it with --base-url"
            )
        if error.status in HOPELESS:
            raise EndpointLostError(self._refused(error.status, error.message))
        if not self._answered:
            self._check_first(error, attempt)
        self._last_error = error
        self.check_patience()

    def _check_first(self, error: RequestError, attempt: int) -> None:
        """Check that a failure before the first answer is none that every other query would meet, too.

        Raises:
            EndpointLostError: it is.
        """
        self._knocks += 1
        tries = self.endpoint.patience.retries + 1
        # Without enough repetitions of one query, those of several count.
        knocks = KNOCKS if not error.again else attempt + 1 if tries >= KNOCKS else self._knocks
        if knocks < (min(KNOCKS, tries) if error.unreachable else KNOCKS):
            return
        hint, words = self.endpoint.address_hint, _in_brackets(error.message)
        if error.unloadable:
            raise EndpointLostError(f"{self._url} cannot load the model {self.endpoint.model!r}{words}")
        of_all = error.status in OF_THE_QUERY | FAULTS and not (error.sized or error.foreign)
        if of_all and (remedy := self.endpoint.remedy(error.field)):
            raise EndpointLostError(
                f"{self._url} does not take {error.field!r} for model {self.endpoint.model!r}{words}; "
                f"{remedy}"
            )
        if error.foreign and (error.status is None or error.status in NOBODY):
            status = "" if error.status is None else f" with status {error.status}"
            raise EndpointLostError(f"{self._url} answers{status}, but not in this protocol{words}{hint}")
        if (error.unreachable or error.broken) and not self._reached:
            raise EndpointLostError(
                f"cannot reach {self._url}{self._through}{_in_brackets(error.message or error.reason)}; "
                "is the server up? --base-url says where it is"
            )

    def _count_refusal(self, error: RequestError, query: Query) -> None:
        """Count a refused query before the first answer.

        Raises:
            EndpointLostError: so many were refused with the same words that all others would be, too.
        """
        if self._answered or error.status is None or error.again:
            return
        words = _NUMBER.sub("#", error.message)
        prompt = self.endpoint.prompts.of(query)
        # One short query weighs as much as several long ones.
        long = error.sized and tokens_of_prompt(prompt, query) > SHORT
        self._refusals[error.status, words] += 1 if long else FIRST // ALIKE
        if self._refusals[error.status, words] < FIRST:
            return
        hint = self.endpoint.size_hint if error.sized else self.endpoint.refusal_hint
        raise EndpointLostError(
            f"{self._url} refuses every query for model {self.endpoint.model!r} "
            f"({error.status}){_in_brackets(error.message)}{hint}"
        )

    def given_up(self, error: RequestError, query: Query, *, drained: bool) -> None:
        """Count a query that failed as often as it may.

        Raises:
            EndpointLostError: the endpoint is gone, or answers no query at all.
        """
        if error.status in OF_THE_QUERY:
            self._count_refusal(error, query)
        if not error.again or error.unreadable:  # `readable` counts those
            return
        self._failing += 1
        most = self.endpoint.patience.failures
        # A query may make a server fail, but no query makes it absent.
        gone = error.unreachable and drained
        if not gone and (self._failing < most or not most):
            return
        several = "query has" if self._failing == 1 else f"{self._failing} queries have"
        more = "" if gone else "; -M failures=0 goes on without an end"
        raise EndpointLostError(
            f"{self._url}: the last {several} no reply, at last {error.reason!r}"
            f"{_in_brackets(error.message)}; start again to go on from here{more}"
        )

    def delay(self, error: RequestError, attempt: int) -> float:
        """Seconds until the next attempt: those that the endpoint asks for, else exponential backoff.

        Never longer than the patience lasts.
        """
        if error.wait > 0:
            wait = min(error.wait, LONGEST_WAIT)
        else:
            # Spread by chance, so that requests that failed together do not come again together.
            step = min(self.endpoint.patience.backoff * 2.0**attempt, LONGEST_BACKOFF)
            wait = step * self._chance.uniform(0.75, 1.0)
        return min(wait, self.patience_left())

    def patience_left(self) -> float:
        """Seconds until the patience ends if no answer arrives; 0 if it has ended."""
        return max(0.0, self._last_answer + self.endpoint.patience.patience - time.monotonic())

    def check_patience(self) -> None:
        """Check that the last answer is not too long ago.

        Raises:
            EndpointLostError: it is.
        """
        if self.patience_left() > 0:
            return
        silence = time.monotonic() - self._last_answer
        patience = f"-M patience={self.endpoint.patience.patience:g}"
        parts = [f"{self._url} gave no answer for {silence:,.0f} s ({patience})"]
        if (error := self._last_error) is not None:
            parts.append(f", at last {error.reason!r}{_in_brackets(error.message)}")
            if error.wait > self.endpoint.patience.patience:
                parts.append(
                    f"; it asks to wait {error.wait:,.0f} s (Retry-After), and the patience is shorter"
                )
        raise EndpointLostError(f"{''.join(parts)}; start again to go on from here")

    def check_fit(self, *, drained: bool) -> None:
        """Check that the first queries were not all refused for a wrong model or address.

        Raises:
            EndpointLostError: they were.
        """
        failed = self.meter.failed
        if self._answered or not failed or (failed.total() < FIRST and not drained):
            return
        statuses = {reason.removeprefix("endpoint: ") for reason in failed}
        fit = {str(status) for status in OF_THE_QUERY | TRANSIENT}
        permanent = {str(status) for status in NOBODY if status >= 500}
        wrong = (
            status in permanent or (status.startswith(("3", "4")) and status not in fit)
            for status in statuses
        )
        if all(wrong):
            reason, _ = max(failed.items(), key=lambda item: item[1])
            raise EndpointLostError(
                self._refused(int(reason.removeprefix("endpoint: ")), self.meter.messages.get(reason, ""))
            )

    def compare(self, several: list[tuple[str, ...]]) -> None:
        """Warn once if all answers to each of the first queries are equal: some endpoints do not sample."""
        if several and not self._compared and all(len(set(answers)) == 1 for answers in several):
            _log.warning(
                "codeaudit: %s: all %d answers to each of the first queries are equal; does the endpoint "
                "sample?%s",
                self.name,
                self.endpoint.samples,
                self.endpoint.sampling_hint,
            )
        self._compared |= bool(several)

    def _refused(self, status: int, message: str) -> str:
        address, model, words = self.endpoint.address, self.endpoint.model, _in_brackets(message)
        match status:
            case 401 if not (address.key or address.basic):
                return f"{self._url} asks for a key (401){words}; set {address.key_name}"
            case 401:
                key = "the credentials" if address.basic else address.key_name
                return f"{self._url} does not accept {key} (401){words}"
            case 402:
                return f"{self._url}: nothing is left to pay with{words}; start again to go on from here"
            case 404:
                hint = self.endpoint.address_hint
                return f"{self._url} has no model {model!r}, or it is the wrong address (404){words}{hint}"
            case _:
                hint = self.endpoint.address_hint if status in NOBODY else ""
                return f"{self._url} refuses to serve model {model!r} ({status}){words}{hint}"


def _more_readable(reason: str) -> str:
    """What helps if the replies cannot be read for this reason."""
    if reason == CUT_OFF:
        return "a larger -M max_tokens leaves more room"
    if reason == CUT_BY_WINDOW:
        return "the prompts fill its context: give the server a larger one (Ollama: num_ctx, llama.cpp: -c)"
    if reason.endswith(("'tool_calls'", "'function_call'")):
        return "the model calls tools, which no request offers; does its server or its template add some?"
    if reason.startswith("endpoint: no text but in "):
        return (
            "the model only thinks: a larger -M max_tokens leaves room for the answer, and most servers have "
            "a field for -M extra_body that switches thinking off"
        )
    return "-M template=FILE and -M system=TEXT change what is asked"


def _in_brackets(message: str) -> str:
    return f" ({message})" if message else ""
