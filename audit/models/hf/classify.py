"""Heads of sequence classification: each output stands for an answer; a single output is a number."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Final

import torch

from codeaudit.audit.interface import (
    CLOSED,
    NameOfCode,
    OneLabel,
    OneNumber,
    OneWordOf,
    Ranking,
)
from codeaudit.audit.models.answers import ranked_by
from codeaudit.audit.models.hf.arguments import Arguments
from codeaudit.audit.models.hf.heads import NOT_FINITE, LoadedNetwork, Row, RowMemory, TokenizedQuery, ranked
from codeaudit.audit.probabilities import Scale
from codeaudit.audit.records import Answer, Failed, Predicted, Prediction, Query
from codeaudit.audit.registry import TASKS, answer_kind, tasks_answered_by
from codeaudit.audit.replies import is_value
from codeaudit.transforms.errors import ModelError, UsageError

MULTI_LABEL: Final = "multi_label_classification"


class ClassificationHead:
    """Answers with the label of the highest output. `-M labels=…` replaces labels that say nothing
    (`LABEL_0`, …), and `--label-map` says what each means.

    - Outputs with the same answer are added (log-sum-exp).
    - One output with two labels is the logit of the second label; that of the first is 0.
    - One output without labels is a number, for a task whose answers are numbers. For a task that ranks
      candidates it is the score of a pair of a query and a candidate, as rerankers give it.
    """

    kind = "Classification"

    def __init__(self, engine: LoadedNetwork, arguments: Arguments) -> None:
        """The head that the network's config describes.

        Raises:
            UsageError: the number of labels differs from that of the outputs.
        """
        config = engine.network.config
        outputs = int(config.num_labels)
        labels = [str(config.id2label[number]) for number in sorted(config.id2label)]
        if arguments.labels and len(arguments.labels) != max(outputs, 2):
            raise UsageError(
                f"{len(arguments.labels)} labels for {engine.name!r}, which has {_counted(outputs)}; name "
                f"{'the two that it decides between' if outputs == 1 else 'one for each, in their order'}"
            )
        self._engine = engine
        self._outputs = outputs
        self._labels = arguments.labels or (() if outputs == 1 else tuple(labels))
        self._several = config.problem_type == MULTI_LABEL
        self._template = arguments.template
        self._answers: dict[tuple[object, ...], tuple[Answer, ...]] = {}
        self._memory = RowMemory(self.scores)

    @property
    def task(self) -> str | None:
        """The task whose answers are numbers, or the only one whose words include all labels; else `None`."""
        if not self._labels:
            return tasks_answered_by(OneNumber)[0]
        # With several tasks that fit, the user has to say which one is meant.
        fitting = self._choices()
        return fitting[0] if len(fitting) == 1 else None

    @property
    def tasks(self) -> frozenset[str]:
        """Also every task of labels or words. `--label-map` may say what labels mean; of one output without
        labels the first question tells that it needs two."""
        own = frozenset() if self.task is None else frozenset({self.task})
        ranks = frozenset() if self._labels else frozenset(tasks_answered_by(Ranking))
        return own | ranks | frozenset(tasks_answered_by(OneLabel)) | frozenset(tasks_answered_by(OneWordOf))

    @property
    def scale(self) -> Scale:
        """Several labels have a probability each; else all together make a whole."""
        return "log-odds" if self._several else "logits"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of its outputs; empty if its one output is a number."""
        return self._labels

    @property
    def decides(self) -> Mapping[str, object]:
        """The meaning of the outputs, and the template."""
        return {"labels": self._labels, "template": self._template}

    def ask(self, query: Query) -> TokenizedQuery | Failed:
        """The tokens of the source, or of the template with the source.

        Raises:
            ModelError: the labels are not answers of the query's task.
        """
        if not self._labels and isinstance(answer_kind(query.task), Ranking):
            texts, text = self._engine.texts, query.text or query.source
            return texts.several(query, query.candidates, lambda code: texts.pair(text, code))
        self._meaning(query)
        return self._engine.texts.tokenized(query, self._template)

    def answer(self, batch: Sequence[TokenizedQuery]) -> list[Prediction]:
        """The answers with the highest scores, or the rankings of candidates."""
        if batch and batch[0].query.candidates and not self._labels:
            values = [[float(number) for number in row] for row in self._memory.of(batch)]
            return [ranked_by(row) if all(map(isfinite, row)) else NOT_FINITE for row in values]
        scores = self.scores([tokenized.rows[0] for tokenized in batch])
        return [self._prediction(tokenized.query, row) for tokenized, row in zip(batch, scores, strict=True)]

    def scores(self, rows: Sequence[Row]) -> torch.Tensor:
        """The outputs of the head; if one output decides between two labels, 0 and that output."""
        logits = self._engine.network(**self._engine.tensors(rows)).logits.double().cpu()
        if self._outputs == 1 and self._labels:
            # sigmoid(x) = softmax(0, x)[1]: one output of two classes is a pair whose first logit is 0.
            return torch.cat([torch.zeros_like(logits), logits], dim=1)
        return torch.as_tensor(logits)

    def _prediction(self, query: Query, scores: torch.Tensor) -> Prediction:
        if not scores.isfinite().all():
            return NOT_FINITE
        if not self._labels:
            return Predicted(answer=float(scores[0]))
        if self._several:
            return self._set(scores)
        meaning = self._meaning(query)
        answers = list(dict.fromkeys(meaning))
        # The probabilities of labels with one meaning (`bug`, `defect`) are added: log-sum-exp of the logits.
        alike = [[place for place, meant in enumerate(meaning) if meant == answer] for answer in answers]
        joint = torch.stack([scores[places].logsumexp(0) for places in alike])
        labels = [self._labels[meaning.index(answer)] for answer in answers]
        likely, margin = ranked(labels, joint)
        best = int(joint.argmax())
        # With a map of words the driver reads the label itself, and must not read a word of the task again.
        return Predicted(answer=labels[best] if query.words else answers[best], scores=likely, margin=margin)

    def _set(self, scores: torch.Tensor) -> Prediction:
        """All labels with a positive score, or the best label if there is none."""
        threshold = min(0.0, float(scores.max()))  # a logit of 0 is a probability of one half
        scored = zip(self._labels, scores.tolist(), strict=True)
        answer = tuple(label for label, score in scored if score >= threshold)
        likely, _ = ranked(self._labels, scores)
        return Predicted(answer=answer, scores=likely, margin=float(scores.abs().min()))

    def _choices(self) -> list[str]:
        # Numbers and truth values may be the classes of any task.
        if all(is_value(label) for label in self._labels):
            return []
        return [
            task
            for task in tasks_answered_by(OneWordOf)
            if all(TASKS.get(task).normalise(label) is not None for label in self._labels)
        ]

    def _meaning(self, query: Query) -> tuple[Answer, ...]:
        """The answer that each label stands for."""
        key = (query.task, query.labels, query.words)
        if key not in self._answers:
            self._answers[key] = self._read(query.task, query.labels, dict(query.words))
        return self._answers[key]

    def _read(self, task: str, labels: tuple[str, ...], words: Mapping[str, str]) -> tuple[Answer, ...]:
        name = self._engine.name
        if not self._labels:
            if not isinstance(answer_kind(task), OneNumber):
                example = ",".join(_numbered(task, 2)) or "…,…"
                raise ModelError(
                    f"model {name!r} has one output, a number; for the task {task!r} name the two labels "
                    f"that it decides between, as -M labels={example}; the second one is that of a positive "
                    "output"
                )
            return ()
        if isinstance(answer_kind(task), OneNumber):
            raise ModelError(
                f"model {name!r} has {_counted(self._outputs)} with labels, {_list(self._labels)}; the task "
                f"{task!r} asks for a number, which a head with one output and no labels gives"
            )
        about = TASKS.get(task).mapped(words).fitted(labels) if labels else TASKS.get(task).mapped(words)
        answers = [about.normalise(about.meant(label)) for label in self._labels]
        kind = about.answers
        if isinstance(kind, OneLabel) and any(answer is not None for answer in answers):
            # The corpus may lack a class of the model.
            answers = [
                label if answer is None else answer
                for label, answer in zip(self._labels, answers, strict=True)
            ]
        known = [answer for answer in answers if answer is not None]
        names = isinstance(kind, NameOfCode)
        # Every word is a name. So `clean` and `buggy` would pass as function names, though they are the
        # answers of another task.
        foreign = names and self._choices()
        if len(known) < len(answers) or foreign:
            hint = f", which takes {kind.accepted}" if isinstance(kind, CLOSED) else ""
            words_of = kind.labels if isinstance(kind, OneLabel) else getattr(kind, "words", ())
            numbered = _numbered(task, len(self._labels))
            example = ",".join(numbered or (words_of if len(words_of) == len(self._labels) else "…"))
            raise ModelError(
                f"the labels of {name!r} are {_list(self._labels)}, no answers to the task {task!r}{hint}; "
                f"name what they mean in this order, as -M labels={example}, or say what each means with "
                "--label-map WORD=LABEL,…"
            )
        if self._several and not names:
            raise ModelError(f"model {name!r} gives any number of labels, and the task {task!r} asks for one")
        if len(set(known)) < 2:
            raise ModelError(f"the labels of {name!r} are one answer to the task {task!r}, whatever it reads")
        return tuple(known)


def _numbered(task: str, count: int) -> tuple[str, ...]:
    """What the first numbers from 0 mean to a task, which most detectors have as their outputs; empty if they
    are not all of its words."""
    kind = answer_kind(task)
    if not isinstance(kind, OneWordOf):
        return ()
    words = [str(kind.read(number)) for number in range(count)]
    return tuple(words) if sorted(words) == sorted(kind.words) else ()


def _counted(outputs: int) -> str:
    return "one output" if outputs == 1 else f"{outputs} outputs"


def _list(labels: Sequence[str], most: int = 6) -> str:
    return ", ".join(labels[:most]) + (", …" if len(labels) > most else "")
