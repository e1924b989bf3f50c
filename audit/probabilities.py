"""How far an edit moves the probability that a model gives to its answer to the original.

Models give scores of several kinds. Each says of which (`BaseModel.scale`), and those of other models are
no probabilities.
"""

from collections.abc import Mapping
from math import exp
from typing import Final, Literal, TypeAlias

from codeaudit.audit.records import Predicted

Scale: TypeAlias = Literal["", "log-probabilities", "log-odds", "logits"]
"""What scores are. `log-probabilities`: of the words or of the first tokens of an answer. `log-odds`: of each
label by itself. `logits`: of labels of which one is right, in a softmax. Empty: something else."""
MOST: Final = 16
"""Largest number of labels whose scores a prediction keeps; of more only the best ones are kept."""

LEAST: Final = -700.0
"""Log-odds below which `exp` would overflow."""


def shift(before: Predicted, after: Predicted, scale: Scale) -> float | None:
    """By how much the probability of the answer `before` differs in `after`, from 0 to 1; `None` if nobody
    knows.

    Of an answer with several labels it is the mean over its labels. A label that is not among the best ones
    afterwards counts with the largest probability that it can have. So the shift is never overstated.
    """
    if not scale or isinstance(before.answer, int | float):
        return None
    old, new = dict(before.scores), dict(after.scores)
    if not old or not new:
        return None
    if scale == "logits" and (old.keys() != new.keys() or len(old) >= MOST):
        return None  # a softmax needs the scores of all labels
    if isinstance(before.answer, tuple):
        labels = [label for label in map(str, before.answer) if label in old]
    else:
        labels = [max(old, key=lambda label: old[label])]
    if not labels:
        return None
    moved = [abs(_probability(label, old, scale) - _probability(label, new, scale)) for label in labels]
    return sum(moved) / len(moved)


def _probability(label: str, scores: Mapping[str, float], scale: Scale) -> float:
    score = scores.get(label, min(scores.values()))
    if scale == "logits":
        top = max(scores.values())
        return exp(score - top) / sum(exp(logit - top) for logit in scores.values())
    if scale == "log-probabilities":
        # What is left for a label outside of the list is no more than that.
        left = 1.0 if label in scores else max(0.0, 1.0 - sum(exp(min(log, 0.0)) for log in scores.values()))
        return min(exp(min(score, 0.0)), left)
    return 1 / (1 + exp(-max(score, LEAST)))
