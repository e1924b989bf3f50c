"""What a run may spend, how much may be sent in a minute, and how many tokens a request will need."""

import re
import threading
import time
from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, Final

from codeaudit.audit.models.endpoints.ledger import NOTHING, Amount, Ledger
from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Query
from codeaudit.transforms.errors import LimitError

if TYPE_CHECKING:
    from codeaudit.audit.models.endpoints.batch_records import BatchRecords

MINUTE: Final = 60.0
SLACK: Final = 0.1
"""Seconds by which a request may be sent early, because timers are late."""
MARGIN: Final = 1.25
"""Factor for the tokens of a prompt that a limit on the spending reserves."""
UNKNOWN_REPLY: Final = 1024
"""Tokens that are reserved for a reply without a limit of its own."""
TURN: Final = 6
"""Tokens of a chat around its text, about: endpoints put marks between the turns."""

# As the tokenizers of OpenAI's models cut a text before they look pieces up: a letter run with the character
# before it, up to three digits, marks, a line's end, blanks.
_PIECES: Final = re.compile(
    r"(?:[^\r\n\w]|_)?(?P<word>[^\W\d_]+)|\d{1,3}| ?(?:[^\s\w]|_){1,4}[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s"
)
_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\x00-\x7f]")
_VOWEL: Final = re.compile("[aeiouy]", re.I)


def tokens_of(text: str) -> int:
    """About how many tokens a text has for models of today, whose vocabularies were made of text and code.

    The prompts for Python, Java and assembly are within 4 % of `cl100k_base` and `o200k_base`, assembly alone
    within 15 % (`benchmarks/token_estimates.py`).
    """
    words = [piece["word"] for piece in _PIECES.finditer(text)]
    return round(sum(1.0 if word is None else _of_word(word) for word in words))


def tokens_of_prompt(prompt: Prompt, query: Query) -> int:
    """About how many tokens a chat has that asks a query."""
    return sum(tokens_of(turn.content) + TURN for turn in prompt.messages(query))


@lru_cache(maxsize=1 << 14)
def _of_word(word: str) -> float:
    """The parts of camelCase are tokens of their own; long ones are several, and mnemonics are not words."""
    return sum(
        len(part) / 2 if len(part) > 2 and not _VOWEL.search(part) else max(1.0, 0.4 + 0.1 * len(part))
        for part in _PARTS.findall(word)
    )


class Spending:
    """What all models of a run may spend together, with what they have spent.

    A request is sent only if it fits below every limit together with all that are under way. So a limit is
    never exceeded, if the estimates are right. Several threads may use it.

    With a ledger, each request is written there before it is sent.
    """

    def __init__(
        self,
        *,
        max_requests: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
    ) -> None:
        self.limits: Mapping[str, float] = {
            name: inf if limit is None else limit
            for name, limit in (("requests", max_requests), ("tokens", max_tokens), ("cost", max_cost))
        }
        self._lock = threading.Lock()
        self._spent = NOTHING
        self._reserved = NOTHING
        self.ledger: Ledger | None = None
        """Where requests are written; `None`: nowhere, because they belong to no run folder."""
        self.batches: BatchRecords | None = None
        """Where batches are written down; `None`: nowhere, because there is no run."""
        self.waiting = 0
        """Requests in batches whose answers a later start will take."""

    def __reduce__(self) -> tuple[type["Spending"], tuple[()]]:
        """In another process there are no endpoints, and nothing is spent."""
        return Spending, ()

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return any(limit < inf for limit in self.limits.values())

    @property
    def spent(self) -> Amount:
        """By all models, in earlier starts of the run, too, without what is under way."""
        return self._spent

    @property
    def committed(self) -> Amount:
        """What is spent, and what is reserved for the requests under way."""
        with self._lock:
            return self._spent + self._reserved

    def add(self, spent: Amount) -> None:
        """Count what was spent before."""
        with self._lock:
            self._spent += spent

    def reserve(self, amount: Amount) -> bool:
        """Take note that a request is sent, if it fits; if not, it may when others have ended.

        Raises:
            LimitError: it does not fit, and no other request is under way.
        """
        with self._lock:
            after = self._spent + self._reserved + amount
            exceeded = [name for name, limit in self.limits.items() if getattr(after, name) > limit]
            if not exceeded:
                self._reserved += amount
                return True
            if self._reserved.requests:
                return False
        name = exceeded[0]
        option = f"--max-{name}"
        spent, limit, next_one = (
            _as_text(name, value)
            for value in (getattr(self._spent, name), self.limits[name], getattr(amount, name))
        )
        higher = _as_text(name, 2 * self.limits[name])
        raise LimitError(
            f"{option} {limit} is reached: {spent} spent, and the next request may need {next_one}",
            more=f"{option} {higher}",
        )

    def hold(self, amount: Amount) -> None:
        """Take note of a request that an earlier start has sent, whatever the limits say."""
        with self._lock:
            self._reserved += amount

    def settle(self, reserved: Amount, spent: Amount) -> None:
        """A request has ended: what it really needed takes the place of what was reserved."""
        with self._lock:
            self._reserved -= reserved
            self._spent += spent

    def sent(self, model: str, reserved: Amount, *, again: bool) -> int:
        """Write that a request of a model is about to leave. Returns its number in the ledger.

        Raises:
            RunError: that cannot be written; the request must not be sent.
        """
        return 0 if self.ledger is None else self.ledger.sent(model, reserved, again=again)

    def ended(self, number: int, reported: tuple[int, int] | None, spent: Amount) -> None:
        """Write what a request needed, and the tokens that the endpoint told.

        Raises:
            RunError: that cannot be written.
        """
        if self.ledger is not None:
            self.ledger.ended(number, reported, spent)


def _as_text(name: str, value: float) -> str:
    return f"{value:.6g}" if name == "cost" else f"{value:.0f}"


def spent_before(manifest: Mapping[str, Any]) -> Amount:
    """What earlier starts of a run have spent, as its manifest says."""
    if "spent" in manifest:
        spent = manifest["spent"]
        return Amount(requests=int(spent["requests"]), tokens=int(spent["tokens"]), cost=float(spent["cost"]))
    # An earlier version wrote it with the usage of each model only.
    total = NOTHING
    for usage in manifest.get("usage", ()):
        requests, into, out, cost = (
            value if isinstance(value := usage.get(name), int | float) else 0
            for name in ("requests", "tokens_in", "tokens_out", "cost")
        )
        total += Amount(requests=int(requests), tokens=int(into) + int(out), cost=float(cost))
    return total


class Pace:
    """Spreads amounts evenly over time, at most `per_minute` within any minute."""

    def __init__(self, per_minute: float) -> None:
        self._most = per_minute
        self._free = 0.0
        """When the next amount is due."""
        self._recent: deque[list[float]] = deque()
        """Time and amount of the requests of the last minute."""
        self._sum = 0.0

    def wait(self, amount: float) -> float:
        """Seconds until a request of this amount may be sent."""
        now = time.monotonic()
        while self._recent and self._recent[0][0] <= now - MINUTE:
            self._sum -= self._recent.popleft()[1]
        pause = self._free - SLACK - now
        # A request larger than the limit is sent alone.
        if self._recent and self._sum + amount > self._most:
            pause = max(pause, self._recent[0][0] + MINUTE - now)
        return max(0.0, pause)

    def take(self, amount: float) -> list[float]:
        """A request of this amount is sent. Gives its entry for `correct`."""
        now = time.monotonic()
        self._free = max(self._free, now) + amount * MINUTE / self._most
        self._recent.append(entry := [now, amount])
        self._sum += amount
        return entry

    def correct(self, entry: list[float], amount: float) -> None:
        """The request really had this amount."""
        change = amount - entry[1]
        self._free += change * MINUTE / self._most
        if self._recent and entry[0] >= self._recent[0][0]:
            entry[1] = amount
            self._sum += change
