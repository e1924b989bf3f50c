"""The base of models that wrap another model and change a part of it."""

from codeaudit.audit.interface import Model, SamplesAnswers


class Wrapping:
    """A model with the properties of the model inside. Subclasses replace what they change."""

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
        """The inner model's: how many answers are drawn for a query."""
        return self.inner.samples if isinstance(self.inner, SamplesAnswers) else 1


def innermost(model: Model) -> Model:
    """The model inside all wrappers; the model itself without any."""
    while isinstance(model, Wrapping):
        model = model.inner
    return model
