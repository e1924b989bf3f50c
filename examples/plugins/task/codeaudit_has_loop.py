"""The task `has-loop`: does a Python function have a loop? The label is read from the syntax tree."""

import ast
from dataclasses import dataclass, replace

from codeaudit.audit.interface import Expectation, OneWordOf
from codeaudit.audit.prompts import QuestionPrompt, one_of
from codeaudit.audit.tasks.scoring import ExactMatch
from codeaudit.transforms.records import Perturbed, Sample

WORDS = OneWordOf(("no", "yes"), spellings={"false": "no", "true": "yes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HasLoop(ExactMatch):
    """Does the function have a loop?"""

    def prepare(self, sample: Sample) -> Sample | str:
        """The sample with its label, or the reason why it is no example."""
        if sample.language != "python":
            return "not Python"
        label = _label(sample.source)
        return "source does not parse" if label is None else replace(sample, label=label)

    def normalise(self, answer: object) -> str | None:
        """`no` or `yes`."""
        return WORDS.read(answer)

    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """Whether the right answer changes. A transform may turn a loop into a comprehension."""
        return "same" if _label(perturbed.source) == sample.label else "other"


def _label(source: str) -> str | None:
    try:
        nodes = ast.walk(ast.parse(source))
    except SyntaxError:
        return None
    return "yes" if any(isinstance(node, ast.For | ast.AsyncFor | ast.While) for node in nodes) else "no"


HAS_LOOP = HasLoop(
    name="has-loop",
    question="Does the function have a loop?",
    answers=WORDS,
    score_name="accuracy",
    prompt=QuestionPrompt(
        template="Does this function have a for or while loop? Answer yes or no.\n\n{code}",
        reader=one_of("no", "yes"),
    ),
    version="1",
)
