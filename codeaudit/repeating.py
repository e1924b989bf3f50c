"""How often each model of a run is asked the unchanged inputs again.

A hosted model is asked as often as a sample has variants, because its noise may go unseen. A model of this
machine is asked once first. Only if some answer changed then, it is asked the other repeats too, for every
sample: asking only the samples that changed would bias the excess.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import Model, is_rolling
from codeaudit.audit.models.wrappers import innermost
from codeaudit.audit.run import ONCE, AnswerMonitor, Repeating
from codeaudit.transforms.grammar import counted

FIRST_STAGE: Final = "one repeat of each sample showed no noise"
SHARD_STAGE: Final = "a shard ends after the first stage; merge says whether the second is due"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatStages:
    """How often a model is asked again, and why."""

    repeating: Repeating
    stages: int
    why: str

    def about(self, repeats: int) -> Mapping[str, object]:
        """The entry of the manifest. `repeats`: the number of repeats of a sample in the suite."""
        most = self.repeating.most
        count = repeats if most is None else min(most, repeats)
        return {"per_sample": count, "stages": self.stages, "why": self.why}


def is_hosted(model: Model) -> bool:
    """Whether somebody else runs a model, as far as that can be seen."""
    return is_rolling(innermost(model))


def fixed(model: Model, *, repeats: int | None, shard: bool) -> RepeatStages | None:
    """The stages of a model where they do not depend on its answers; `None` where they do."""
    if (count := model.repeats) is not None:
        why = f"the file holds {counted(count, 'repeat')} of an input" if count else "the file answers once"
        return RepeatStages(repeating=Repeating(most=max(1, count)), stages=2 if count > 1 else 1, why=why)
    if repeats is not None:
        return RepeatStages(
            repeating=Repeating(most=repeats), stages=2 if repeats > 1 else 1, why="--repeats"
        )
    if is_hosted(model):
        return RepeatStages(repeating=Repeating(), stages=2, why="the model is hosted")
    if shard:
        return RepeatStages(repeating=ONCE, stages=1, why=SHARD_STAGE)
    return None


def after_first(unsteady: int, total: int) -> RepeatStages:
    """The stages of a model of this machine, by how many first repeats changed the answer."""
    if not unsteady:
        return RepeatStages(repeating=ONCE, stages=1, why=FIRST_STAGE)
    return RepeatStages(
        repeating=Repeating(), stages=2, why=f"the first repeat changed {unsteady:,} of {total:,} answers"
    )


class Forwarding(AnswerMonitor):
    """A monitor that tells another one everything."""

    def __init__(self, inner: AnswerMonitor) -> None:
        self._inner = inner

    @override
    def answered(self, count: int, *, recalled: bool) -> None:
        self._inner.answered(count, recalled=recalled)

    @override
    def malformed(self, message: str) -> None:
        self._inner.malformed(message)

    @override
    def expect(self, total: int) -> None:
        self._inner.expect(total)


class Counted(Forwarding):
    """A monitor that also counts."""

    total = 0

    @override
    def answered(self, count: int, *, recalled: bool) -> None:
        self.total += count
        super().answered(count, recalled=recalled)


class Remaining(Forwarding):
    """A monitor that leaves out what a first stage asked and counted, which is recalled now."""

    def __init__(self, inner: AnswerMonitor, counted_before: int) -> None:
        super().__init__(inner)
        self._counted = counted_before

    @override
    def answered(self, count: int, *, recalled: bool) -> None:
        if recalled:
            known = min(count, self._counted)
            self._counted -= known
            count -= known
        if count:
            super().answered(count, recalled=recalled)
