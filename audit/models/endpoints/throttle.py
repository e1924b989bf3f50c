"""How many requests to an endpoint are under way at once."""

import time
from math import inf
from typing import Final

START: Final = 8
"""The first limit, if the user gave none."""
MOST: Final = 256
"""The largest limit, if the user gave none."""
ROUND: Final = 24
"""Fewest successes from which the rate under a limit is estimated."""
FASTER: Final = 1.25
"""A doubled limit is worth it if it makes the rate so many times larger; it would be 2 without a queue."""
SLOWER: Final = 0.6
"""Below this share of the best rate a limit is given up before its round ends."""
FLATS: Final = 2
"""Doublings in a row without a gain after which the search ends. One alone may be chance."""
ENOUGH: Final = 0.97
"""The search chooses the smallest limit with this share of the best rate: a longer queue only waits."""
HOLD: Final = 30.0
"""Seconds after a refusal during which the refused limit is not tried again."""
SEARCH_AGAIN: Final = 5.0
"""Seconds after the first search until the next one. A machine that was busy elsewhere may have misled it."""
LATEST: Final = 60.0
"""The same between later searches, each of which waits twice as long: an endpoint may get faster."""


class Throttle:
    """Says how many requests may be under way at once, and finds the best number.

    With a limit from the user, it begins there. Without one it doubles its limit as long as that makes the
    rate of answers larger. A refusal lowers the limit to one that was borne, and halves it if none is known;
    then it is bisected between the two. Until something succeeds again, one request at a time is sent. It
    belongs to one event loop and lasts from one stream to the next.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most or MOST
        self._searching = most is None
        self._active = 0
        self._opens = 0.0
        self._lowered = 0.0
        self._probing = False
        """Whether no request succeeded since the last refusal: then one at a time is sent."""
        self._borne = 0
        """The largest limit under which a whole round passed without a refusal; 0 for none."""
        self._refused: int | None = None
        """The limit under which the last refusal came, while it is remembered."""
        self._rates: dict[int, float] = {}
        """The rates of this search, by limit."""
        self._flats = 0
        self._settled = 0.0
        self._next_search = SEARCH_AGAIN
        self._first = True
        """Whether this is the first search. Later ones measure longer, and end with the first doubling that
        is not worth it."""
        self._change(most or START, time.monotonic())

    @property
    def limit(self) -> int:
        """How many requests may be under way at once."""
        return self._limit

    @property
    def active(self) -> int:
        """How many are under way."""
        return self._active

    def wait(self) -> float:
        """Seconds until the next request may be sent: infinite if another one has to end first."""
        if (pause := self._opens - time.monotonic()) > 0:
            return pause
        return 0.0 if self._active < (1 if self._probing else self._limit) else inf

    def begin(self) -> float:
        """Count a request as under way. Gives the time."""
        self._active += 1
        now = time.monotonic()
        self._running += 1
        self._begun += now
        return now

    def end(self, began: float) -> None:
        """Count a request, which began then, as ended."""
        self._active -= 1
        if began >= self._since:
            self._running -= 1
            self._begun -= began

    def idle(self) -> None:
        """Nothing is left to send. What was measured of this round counts no longer."""
        self._restart(time.monotonic())

    def granted(self, began: float) -> None:
        """A request that began then succeeded. To be called before `end`."""
        self._probing = False
        if began < self._since:  # it was sent under another limit
            return
        now = time.monotonic()
        self._successes += 1
        self._exposure += now - began
        fewest = (ROUND if self._first else 2 * ROUND) if self._searching else 1
        if self._successes >= max(self._limit, fewest) or self._fails(now):
            self._next(now)

    def refused(self, began: float, pause: float) -> None:
        """The endpoint refused a request as one too many: lower the limit, and pause for `pause` seconds.

        A request that began before the last lowering does not lower it again, because it was sent under the
        old limit.
        """
        now = time.monotonic()
        self._opens = max(self._opens, now + pause)
        self._probing = True
        if began < self._lowered:
            return
        self._lowered = now
        self._refused = self._limit
        self._searching = False
        self._settled = now
        if self._borne >= self._limit:  # it was borne once and is no longer
            self._borne = 0
        self._change(max(self._borne, self._limit // 2, 1), now)

    def _next(self, now: float) -> None:
        """The limit of the next round, after one without a refusal."""
        self._borne = limit = self._limit
        if self._refused is not None:
            # Half of the way to the refused limit; a longer pause forgets it, and a few more are tried.
            late = now - self._lowered > HOLD
            limit = limit + limit // 10 + 1 if late else (limit + self._refused) // 2
            self._refused = None if late else self._refused
        elif self._searching:
            limit = self._searched(now)
        elif now - self._settled > self._next_search:
            self._next_search = min(2 * self._next_search, LATEST)
            self._searching, self._first, self._rates, self._flats = True, False, {}, 0
        self._change(min(limit, self._most), now)

    def _fails(self, now: float) -> bool:
        """Whether the search is far above the best limit: requests pile up and take ever longer."""
        if not (self._searching and self._rates and self._successes >= ROUND // 2):
            return False
        best, limit = max((rate, limit) for limit, rate in self._rates.items())
        # Twice the mean time, because requests that take equally long all end at once.
        return now - self._since > 2 * limit / best and self._rate(now) < SLOWER * best

    def _rate(self, now: float) -> float:
        """Estimated successes per second in this round."""
        # The mean time of a request under this limit, from those that go on, too: the first that end are the
        # short ones (the estimate of a mean from censored observations). The limit divided by it is the rate.
        spent = self._exposure + self._running * now - self._begun
        return self._limit * self._successes / max(spent, 1e-9)

    def _searched(self, now: float) -> int:
        """The next limit of the search, or the result."""
        rate, best = self._rate(now), max(self._rates.values(), default=0.0)
        self._rates[self._limit] = rate
        self._flats = 0 if rate > FASTER * best else self._flats + 1
        flats = FLATS if self._first else 1
        if rate > SLOWER * best and self._flats < flats and self._limit < self._most:
            return self._limit * 2
        self._searching, self._settled = False, now
        best = max(self._rates.values())
        enough = ENOUGH if self._first else 1 / FASTER
        return min(limit for limit, measured in self._rates.items() if measured >= enough * best)

    def _change(self, limit: int, now: float) -> None:
        self._limit = limit
        self._restart(now)

    def _restart(self, now: float) -> None:
        """Begin a round: only requests that begin from now on are measured."""
        self._since = now
        self._successes = self._running = 0
        self._exposure = self._begun = 0.0
