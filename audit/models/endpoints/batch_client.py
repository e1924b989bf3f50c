"""What a vendor's client does to send batches of requests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from codeaudit.audit.models.endpoints.client import EndpointClient, Reply, RequestError
from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Query


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
