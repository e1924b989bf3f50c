"""The prompts of all tasks, as one model of text uses them: with the user's template or system turn."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codeaudit.audit import prompts
from codeaudit.audit.prompts import CODE, SOURCE, Prompt
from codeaudit.audit.records import Query
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.errors import ModelError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """What one model is asked, by task."""

    template: str | None = None
    """The user's template, for all tasks; `None` for each task's own."""
    system: str | None = None
    """The user's system turn, for all tasks."""

    def of(self, query: Query) -> Prompt:
        """The prompt of a query's task.

        Raises:
            ModelError: the task has no prompt.
        """
        return _prompt(query.task, self.template, self.system)

    @property
    def digest(self) -> str:
        """A hash over the prompts of all built-in tasks, for fingerprints.

        A model is loaded before its task is known. A plug-in's prompt is not part of it, so that installing a
        plug-in changes no fingerprint (`codeaudit.audit.cache.answers_scope` keeps its answers apart).
        """
        found = {
            name: prompts.customised(prompt, template=self.template, system=self.system)
            for name, prompt in built_in().items()
        }
        parts = [f"{task}:{prompt.digest}" for task, prompt in sorted(found.items())]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def customised(*, template: str | None = None, system: str | None = None) -> Prompts:
    """The prompts with another template or system turn; replies are read in the task's own format.

    Raises:
        UsageError: the template has no place for the source.
    """
    if template is not None and CODE not in template and SOURCE not in template:
        raise UsageError(f"the template has no place for the code; write {CODE} or {SOURCE} in it")
    return Prompts(template=template, system=system)


def read_template(path: str) -> str:
    """The text of the file in `-M template=FILE`.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"cannot read -M template={path}: {why}") from error


@cache
def built_in() -> dict[str, Prompt]:
    """The prompts of the built-in tasks by name."""
    found = {name: TASKS.get(name).prompt for name in TASKS.built_in}
    return {name: prompt for name, prompt in found.items() if prompt is not None}


@cache
def _prompt(task: str, template: str | None, system: str | None) -> Prompt:
    try:
        found = TASKS.get(task).prompt
    except UsageError:
        found = None
    if found is None:
        raise ModelError(f"no prompt for the task {task!r}; there is one for {', '.join(built_in())}")
    return prompts.customised(found, template=template, system=system)
