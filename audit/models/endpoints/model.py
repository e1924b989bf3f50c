"""The model behind an endpoint. It serves every provider, which describes its `Endpoint`."""

import weakref
from collections.abc import Mapping, Sequence
from typing import Final

from codeaudit.audit.models.endpoints.session import Endpoint, Session
from codeaudit.audit.models.endpoints.spending import tokens_of_prompt
from codeaudit.audit.models.endpoints.traffic import LoopThread
from codeaudit.audit.models.endpoints.window import RollingWindow
from codeaudit.audit.models.text_models import with_prompt
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError

STOPPED: Final = Failed(reason="endpoint: stopped")


class EndpointModel:
    """A model at an endpoint.

    Its event loop lives in a thread of its own, because Ctrl-C must interrupt the waiting caller only.
    """

    parameters: None = None

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        name: str,
        fingerprint: str,
        prompt: str = "",
        noise: float = 0.0,
        task: str | None = None,
    ) -> None:
        self.name = with_prompt(name, prompt)
        self.prompt = prompt
        """What the prompt is called that the user named for it; empty without one."""
        self.fingerprint = fingerprint
        self.noise = noise
        """How far the arithmetic of the server may move a log-probability, as far as the user knows it."""
        self.task = task
        """The only task that it can answer, such as embeddings; `None` for a model of text."""
        self.samples = endpoint.samples
        self._endpoint = endpoint
        self._session = Session(endpoint, self.name)
        self._loop: LoopThread | None = None

    @property
    def usage(self) -> Mapping[str, object]:
        """Requests, tokens, cost and failures so far."""
        return self._session.meter.as_mapping()

    @property
    def bill(self) -> str:
        """The usage as one line for the user."""
        return str(self._session.meter)

    def forecast(self, query: Query, reply: int) -> tuple[int, int, int]:
        """As `ForecastsUsage.forecast`."""
        prompt = self._endpoint.prompts.of(query)
        longest = self._endpoint.longest(prompt)
        into, out = tokens_of_prompt(prompt, query), reply if longest is None else min(reply, longest)
        return self.samples, self.samples * into, self.samples * out

    def cost(self, into: int, out: int) -> float | None:
        """As `ForecastsUsage.cost`."""
        return None if self._endpoint.prices is None else self._endpoint.prices.cost(into, out)

    def stream(self) -> RollingWindow:
        """As `AnswersInAnyOrder.stream`. One stream at a time."""
        if self._session.end is not None:
            raise self._session.end
        if self._loop is None:
            self._loop = LoopThread(self._endpoint.connect)
            weakref.finalize(self, self._loop.close)
        return RollingWindow(self._loop, self._session)

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query.

        If the endpoint is lost in the middle, the answers so far are returned and the next call raises.

        Raises:
            ModelError: the endpoint is absent, refuses the key or the model, gave no answer for too long, or
                has no prompt for the task.
        """
        stream = self.stream()
        found: dict[int, Prediction] = {}
        try:
            stream.ask(queries)
            while len(found) < len(queries):
                found |= stream.arrived()
        except ModelError:
            if self._session.end is None:
                raise
        finally:
            stream.stop()
        # Answers that were paid for are returned first.
        if self._session.end is not None and not any(isinstance(one, Predicted) for one in found.values()):
            raise self._session.end
        return [found.get(number, STOPPED) for number in range(len(queries))]
