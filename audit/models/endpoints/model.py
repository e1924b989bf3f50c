"""The model behind an endpoint. It serves every provider, which describes its `Endpoint`."""

import re
import weakref
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from typing_extensions import override

from codeaudit.audit.interface import BaseModel
from codeaudit.audit.models.endpoints.arguments import Batching
from codeaudit.audit.models.endpoints.batches import AHEAD, BatchStream
from codeaudit.audit.models.endpoints.proxies import is_loopback
from codeaudit.audit.models.endpoints.session import Endpoint, Session
from codeaudit.audit.models.endpoints.spending import tokens_of_prompt
from codeaudit.audit.models.endpoints.traffic import LoopThread
from codeaudit.audit.models.endpoints.window import RollingWindow
from codeaudit.audit.models.text_models import with_prompt
from codeaudit.audit.probabilities import Scale
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError

_DATED: Final = re.compile(r"\d{4}-\d\d-\d\d|(?<!\d)(?:20)?\d{6}(?!\d)|-\d{4}(?!\d)|-\d{3}(?!\d)|-v\d+:\d")
"""In the names of versions of models: a date, or a number that vendors count them by."""


def is_undated(model: str) -> bool:
    """Whether a name says no version: `…-latest`, or no date at all."""
    return "latest" in model or _DATED.search(model) is None


def _is_private(host: str) -> bool:
    """Whether an address is one of a network of the user's."""
    try:
        return ip_address(host).is_private
    except ValueError:
        return False


STOPPED: Final = Failed(reason="endpoint: stopped")


class EndpointModel(BaseModel):
    """A model at an endpoint.

    Its event loop lives in a thread of its own, because Ctrl-C must interrupt the waiting caller only.
    """

    parameters: None = None
    scale: Scale = "log-probabilities"
    """Of the first token of a reply, where the endpoint gives scores."""
    tasks: frozenset[str] = frozenset()
    """The only tasks that it can answer, such as embeddings; empty for a model of text."""
    samples: int = 1

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        name: str,
        fingerprint: str,
        prompt: str = "",
        noise: float = 0.0,
        batching: Batching | None = None,
        tasks: Sequence[str] = (),
    ) -> None:
        self.name = with_prompt(name, prompt)
        self.prompt = prompt
        """What the prompt is called that the user named for it; empty without one."""
        self.fingerprint = fingerprint
        self.noise = noise
        """How far the arithmetic of the server may move a log-probability, as far as the user knows it."""
        self.task = tasks[0] if tasks else None
        """The first of `tasks`; `None` for a model of text."""
        self.tasks = frozenset(tasks)
        self.samples = endpoint.samples
        host = urlsplit(endpoint.address.url).hostname or ""
        own = endpoint.is_own or is_loopback(host) or _is_private(host)
        self.may_move = not own and is_undated(endpoint.model)
        """Whether its vendor may give the name to another version of the model."""
        self._endpoint = endpoint
        self._session = Session(endpoint, self.name)
        self._batching = batching
        self._loop: LoopThread | None = None

    @property
    @override
    def ahead(self) -> int:
        return 0 if self._batching is None else AHEAD

    @property
    @override
    def usage(self) -> Mapping[str, object]:
        """Requests, tokens, cost and failures so far."""
        return self._session.meter.as_mapping()

    @property
    @override
    def bill(self) -> str:
        return str(self._session.meter)

    @override
    def forecast(self, query: Query, reply: int) -> tuple[int, int, int]:
        prompt = self._endpoint.prompts.of(query)
        longest = self._endpoint.longest(prompt)
        into, out = tokens_of_prompt(prompt, query), reply if longest is None else min(reply, longest)
        return self.samples, self.samples * into, self.samples * out

    @override
    def cost(self, into: int, out: int) -> float | None:
        prices = self._endpoint.prices
        return None if prices is None else prices.cost(into, out, batched=self._batching is not None)

    @override
    def stream(self) -> RollingWindow | BatchStream:
        """One stream at a time.

        Raises:
            ModelError: no query will be answered; or batches belong to no run.
        """
        if self._batching is None:
            return self._window()
        records = self._endpoint.spending.batches
        if records is None:
            raise ModelError(f"{self.name}: batches need a run that is written down; leave out -M batch here")
        loop = self._looping()
        return BatchStream(loop, self._session, records, self.fingerprint, patience=self._batching.wait)

    def _window(self) -> RollingWindow:
        return RollingWindow(self._looping(), self._session)

    def _looping(self) -> LoopThread:
        if self._session.end is not None:
            raise self._session.end
        if self._loop is None:
            self._loop = LoopThread(self._endpoint.connect)
            weakref.finalize(self, self._loop.close)
        return self._loop

    @override
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query, each asked by itself: nobody waits a day for a few.

        If the endpoint is lost in the middle, the answers so far are returned and the next call raises.

        Raises:
            ModelError: the endpoint is absent, refuses the key or the model, gave no answer for too long, or
                has no prompt for the task.
        """
        stream = self._window()
        predictions: dict[int, Prediction] = {}
        try:
            stream.ask(queries)
            while len(predictions) < len(queries):
                predictions |= stream.arrived()
        except ModelError:
            if self._session.end is None:
                raise
        finally:
            stream.stop()
        # Answers that were paid for are returned first.
        if self._session.end is not None and not any(
            isinstance(prediction, Predicted) for prediction in predictions.values()
        ):
            raise self._session.end
        return [predictions.get(number, STOPPED) for number in range(len(queries))]
