"""What becomes of one request: a reply, or trouble."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model said."""

    text: str
    cut: bool
    """Whether it was cut off by the bound on its tokens."""
    tokens: tuple[int, int] | None
    """Of the prompt and of the reply; `None` if not told."""
    served: str
    """The model that it says it is from."""


class TroubleError(Exception):
    """A request without a reply that can be used."""

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
        """What the endpoint said, in one line without secrets."""
        self.again = again
        """Whether asking again may help."""
        self.busy = busy
        """Whether fewer requests at once may help."""
        self.wait = wait
        """Seconds that the endpoint asks to wait; 0 if it does not say."""
        self.status = status
        self.unreachable = unreachable
        """Whether not even a connection was had."""
        self.field = field
        """The field of the request that the endpoint does not take, where it tells."""
