"""The common part of the recipes of all papers. A recipe holds every number that determines a training."""

from dataclasses import asdict, fields
from typing import Any, TypeVar

from codeaudit.transforms.errors import UsageError

S = TypeVar("S")


class Recipe:
    """The settings that the trainer and every family of networks know.

    Each family derives a frozen dataclass that gives these their defaults and adds its own. A recipe and the
    training data determine the weights.
    """

    __slots__ = ()

    network: str
    width: int
    """Of the hidden states."""
    layers: int
    heads: int
    window: int
    """Longest input. Longer ones are left out or cut, depending on the family."""
    dropout: float
    batch: int
    """Examples of a step."""
    epochs: int
    steps: int | None
    """Replaces `epochs` where given."""
    rate: float
    """Peak learning rate."""
    warm_up: int
    """Steps in which the rate rises to its peak."""
    weight_decay: float
    """Of matrices only."""
    clip: float
    """Largest norm of the gradient."""
    patience: int
    """Epochs without a better validation before the training ends."""
    validation: int
    """Most validation examples."""
    seed: int

    def per_epoch(self, count: int) -> int:
        """Steps of an epoch of `count` examples."""
        return -(-count // self.batch)

    def total_steps(self, count: int) -> int:
        """Steps of a training with `count` examples."""
        return self.epochs * self.per_epoch(count) if self.steps is None else self.steps

    def sized(self, kind: type[S], **counted: Any) -> S:
        """The sizes of a network: those that the data decide, and the recipe's settings of equal names."""
        names = {one.name for one in fields(kind)} & {one.name for one in fields(self)} - counted.keys()  # type: ignore[arg-type]
        return kind(**counted, **{name: getattr(self, name) for name in names})

    def as_json(self) -> dict[str, object]:
        """For the model card, and to recognise an interrupted training."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]


R = TypeVar("R", bound=Recipe)


def recipe_of(kind: type[R], **settings: Any) -> R:
    """A recipe with the given settings, and defaults for the others.

    Raises:
        UsageError: the heads do not divide the width.
    """
    recipe = kind(**settings)
    if recipe.width % recipe.heads:
        raise UsageError(f"--heads {recipe.heads} does not divide --width {recipe.width}")
    return recipe
