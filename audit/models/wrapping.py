"""What every model around another model has in common: it is that model, but for what it changes."""

from codeaudit.audit.interface import Model, SamplesAnswers


class Wrapping:
    """A model that says of itself what the inner one does."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        """The inner model's."""
        return self.inner.name

    @property
    def task(self) -> str | None:
        """The inner model's."""
        return self.inner.task

    @property
    def parameters(self) -> int | None:
        """The inner model's."""
        return self.inner.parameters

    @property
    def fingerprint(self) -> str:
        """The inner model's."""
        return self.inner.fingerprint

    @property
    def noise(self) -> float:
        """The inner model's."""
        return self.inner.noise

    @property
    def samples(self) -> int:
        """How many answers of the inner model a query has."""
        return self.inner.samples if isinstance(self.inner, SamplesAnswers) else 1
