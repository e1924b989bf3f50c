"""The protocol of clients that send one request, and its results: a `Reply` or a `RequestError`."""

from dataclasses import dataclass
from typing import Protocol

from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer of the endpoint to one request."""

    text: str
    cut: bool = False
    """Whether the text ends at the limit on its tokens."""
    tokens: tuple[int, int] | None = None
    """Number of tokens of the prompt and of the reply; `None` if the endpoint does not say."""
    served: str = ""
    """The model, and its version, that the reply names."""


class RequestError(Exception):
    """A request without a usable reply. The fields say what the endpoint layer should do next.

    Args:
        reason: a few words that count together, without secrets: a status (`429`), `timeout`, …
        message: the endpoint's own words, in one line without secrets.
        again: whether the same request may succeed later.
        busy: whether there are too many requests at once.
        wait: seconds that the endpoint asks to wait; 0 if it does not say.
        status: HTTP status; `None` without a response.
        unreachable: whether no connection could be made.
        field: the field of the request that the endpoint rejects, if it says so.
    """

    def __init__(
        self,
        reason: str,
        *,
        message: str = "",
        again: bool = False,
        busy: bool = False,
        wait: float = 0.0,
        status: int | None = None,
        unreachable: bool = False,
        field: str = "",
    ) -> None:
        super().__init__(reason)
        self.reason = f"endpoint: {reason}"
        self.message = message
        self.again = again
        self.busy = busy
        self.wait = wait
        self.status = status
        self.unreachable = unreachable
        self.field = field


class EndpointClient(Protocol):
    """Sends requests for one model. It is made and used inside one event loop."""

    async def ask(self, prompt: Prompt, query: Query, attempt: int = 0) -> Reply:
        """Send one request and do not repeat it. `attempt` numbers the answers if several are drawn.

        Raises:
            RequestError: there is no usable reply.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
