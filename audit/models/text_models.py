"""What models that write text share: their prompts, and several sampled answers to one query.

Imports no framework. The random draws of an answer depend only on its number (common random numbers). So
equal queries have equal answers in every batch and order, and a difference between an original and its
variant comes from the model and not from chance.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from random import Random
from typing import Final

from codeaudit.audit import prompts
from codeaudit.audit.interface import TextLikelihood
from codeaudit.audit.prompts import CODE, PLAIN, SOURCE, Prompt
from codeaudit.audit.records import Answer, Failed, Predicted, Prediction, Query
from codeaudit.audit.registry import TASKS, answer_kind
from codeaudit.audit.tasks.wordings import SUMMARIES
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.registration import nearest
from codeaudit.transforms.seeding import stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """What one model is asked, by task."""

    template: str | None = None
    """The user's template, for all tasks; `None` for each task's own."""
    system: str | None = None
    """The user's system turn, for all tasks."""
    name: str = PLAIN
    """The name of each task's prompt (`Task.asked`)."""

    def of(self, query: Query) -> Prompt:
        """The prompt of a query's task.

        Raises:
            ModelError: the task has no prompt, or none of this name.
        """
        return _prompt(
            *(query.task, query.language, query.labels, query.words),
            *(self.name, self.template, self.system),
        )

    @property
    def digest(self) -> str:
        """A hash over the prompts of all built-in tasks, for fingerprints.

        A model is loaded before its task is known. A plug-in's prompt is not part of it, so that installing a
        plug-in changes no fingerprint (`codeaudit.audit.cache.answers_scope` keeps its answers apart).
        """
        by_task = {
            name: prompts.customised(prompt, template=self.template, system=self.system)
            for name, prompt in (built_in(self.name) | _spoken(self.name)).items()
        }
        parts = [f"{task}:{prompt.digest}" for task, prompt in sorted(by_task.items())]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def named(text: str, *, template: str | None = None, system: str | None = None) -> Prompts:
    """The prompts of `-M prompt=NAME|FILE`, or with the template and the system turn of the user.

    Raises:
        UsageError: there is no such prompt, a template or a system turn is given besides, or the template has
            no place for the source.
        ModelError: the file cannot be read.
    """
    if not text:
        return customised(template=template, system=system)
    if template is not None or system is not None:
        other = "template" if template is not None else "system"
        raise UsageError(f"--prompt and -M {other} both say what is asked; write one of them")
    if is_file(text):
        return customised(template=read_template(text, f"--prompt {text}"))
    if text not in prompt_names():
        near = nearest(text, prompt_names())
        hint = f"did you mean {near!r}?" if near else f"known: {', '.join(prompt_names())}, or a file"
        raise UsageError(f"unknown prompt {text!r}; {hint}")
    return Prompts(name=text)


def is_file(text: str) -> bool:
    """Whether a prompt is named by a file. A name of ours is no file, whatever lies in the folder."""
    return text not in prompt_names() and (
        any(sign in text for sign in (os.sep, ".")) or os.path.exists(os.path.expanduser(text))
    )


def shown_prompt(text: str) -> str:
    """What a prompt is called behind the name of its model: its name, or that of its file."""
    return Path(text).name if is_file(text) else text


def with_prompt(model: str, prompt: str) -> str:
    """The name of a model that is asked with a prompt: `openai/MODEL@few-shot`; as it is without one."""
    return f"{model}@{prompt}" if prompt else model


@cache
def prompt_names() -> tuple[str, ...]:
    """The names of the prompts of the built-in tasks; not every task has all."""
    return tuple(SUMMARIES)


def customised(*, template: str | None = None, system: str | None = None) -> Prompts:
    """The prompts with another template or system turn; replies are read in the task's own format.

    Raises:
        UsageError: the template has no place for the source.
    """
    if template is not None and CODE not in template and SOURCE not in template:
        raise UsageError(f"the template has no place for the code; write {CODE} or {SOURCE} in it")
    return Prompts(template=template, system=system)


def read_template(path: str, option: str = "") -> str:
    """The text of the file in `-M template=FILE`, or in another `option`, as the user wrote it.

    Raises:
        ModelError: it cannot be read.
    """
    try:
        return Path(os.path.expanduser(path)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ModelError(f"cannot read {option or f'-M template={path}'}: {why}") from error


@cache
def built_in(prompt: str = PLAIN) -> dict[str, Prompt]:
    """The prompts of this name of the built-in tasks, by task."""
    by_task = {name: TASKS.get(name).asked(prompt) for name in TASKS.built_in}
    return {name: prompt for name, prompt in by_task.items() if prompt is not None}


@cache
def _spoken(prompt: str) -> dict[str, Prompt]:
    """The same for each language in which a task asks otherwise, by task and language."""
    tasks = [TASKS.get(name) for name in TASKS.built_in]
    pairs = [(task, task.speaking(language), language) for task in tasks for language in LANGUAGES]
    by_task = {f"{task.name}:{of}": own.asked(prompt) for task, own, of in pairs if own is not task}
    return {name: prompt for name, prompt in by_task.items() if prompt is not None}


@cache
def _prompt(
    task: str,
    language: str,
    labels: tuple[str, ...],
    words: tuple[tuple[str, str], ...],
    name: str,
    template: str | None,
    system: str | None,
) -> Prompt:
    try:
        spoken = TASKS.get(task).mapped(dict(words)).speaking(language)
        fitted = spoken.fitted(labels) if labels else spoken
        prompt = fitted.asked(name)
        if prompt is None and fitted.prompt is not None:
            wordings = ", ".join((PLAIN, *fitted.wordings))
            raise ModelError(f"the task {task!r} has no prompt {name!r}; it has {wordings}")
    except UsageError:
        prompt = None
    if prompt is None and isinstance(answer_kind(task), TextLikelihood):
        raise ModelError(
            f"the task {task!r} needs the probabilities of all tokens, which no prompt asks for; a causal "
            "model gives them, as hf/NAME_OR_PATH"
        )
    if prompt is None:
        raise ModelError(f"no prompt for the task {task!r}; there is one for {', '.join(built_in())}")
    return prompts.customised(prompt, template=template, system=system)


def _chat_argument(text: str) -> str:
    key, _, value = text.partition("=")
    name = key.partition(".")[2]
    if not name.isidentifier():
        raise UsageError(f"-M {key}: {name!r} is no name that a chat template can read")
    return value


def _no_name(text: str) -> str:
    raise UsageError(
        "-M chat_template_kwargs has a name behind it: -M chat_template_kwargs.enable_thinking=false"
    )


KWARGS: Final = "chat_template_kwargs"
"""What servers and libraries call the arguments of a chat template."""
CHAT_ARGUMENTS: Final[Mapping[str, Callable[[str], str]]] = {
    f"{KWARGS}.NAME": _chat_argument,
    KWARGS: _no_name,
}
"""The readers of the `-M` arguments for chat templates."""


def chat_arguments(arguments: Mapping[str, object]) -> dict[str, object]:
    """What a chat template is told, by name: JSON, such as a number or a truth value, or else a text."""
    by_name: dict[str, object] = {}
    for key, value in arguments.items():
        head, dot, name = key.partition(".")
        if dot and head == KWARGS:
            try:
                by_name[name] = json.loads(str(value))
            except (ValueError, RecursionError):
                by_name[name] = value
    return by_name


MOST: Final = 1000
"""Largest number of answers to one query."""
TEMPERATURE: Final = 0.8
"""The default for several answers: the best one for pass@100 in Chen et al. (2021)."""


def samples(text: str) -> int:
    """The number of answers to a query, from the text of an argument.

    Raises:
        UsageError: it is not a whole number from 1 to `MOST`.
    """
    # The length first: `int` of a very long text raises a ValueError of its own.
    number = int(text) if text.isdecimal() and len(text) <= len(str(MOST)) else 0
    if not 1 <= number <= MOST:
        raise UsageError(f"-M samples={text} must be a whole number from 1 to {MOST}")
    return number


def temperature(text: str) -> float:
    """The temperature of draws, from the text of an argument.

    Raises:
        UsageError: it is not a number above 0.
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not isfinite(value) or value <= 0:
        raise UsageError(
            f"-M temperature={text} must be a number above 0; without it, the likeliest token is taken"
        )
    return value


def draws(attempt: int, *, seed: int = 0) -> Random:
    """The random stream of the answer with this number, from 0."""
    return stream(seed, "samples", attempt)


def joined(attempts: Sequence[Prediction]) -> Prediction:
    """All answers to one query as one, in their order; the first failure if there is one.

    No answer may be left out, because the remaining ones would no longer be the sample that was drawn. The
    task decides what they are: attempts, or draws of one answer (`codeaudit.audit.run`).
    """
    if len(attempts) == 1:
        return attempts[0]
    drawn: list[Answer] = []
    for attempt in attempts:
        if isinstance(attempt, Failed):
            return attempt
        drawn.append(attempt.answer)
    replies = tuple(reply for attempt in attempts for reply in attempt.replies)
    return Predicted(answer=drawn[0], draws=tuple(drawn), replies=replies)
