"""The registry of tasks: built-in, from plug-ins (entry points `codeaudit.tasks`), and `py/MODULE:OBJECT`."""

from functools import cache
from typing import Final

from codeaudit.audit.answer_kinds import AnswerKind, FreeText
from codeaudit.audit.interface import ContinuesPrompt, Task
from codeaudit.transforms.entries import Entry
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import PROJECT, Registry


class Tasks(Registry[Task]):
    """The tasks. Behind a colon may stand how much is shown of what is gone on with: `generation:0.25`."""

    def summary(self, name: str) -> str:
        """As `Registry.summary`."""
        return super().summary(name if name.startswith(PROJECT) else name.partition(":")[0])

    def get(self, name: str) -> Task:
        """The task behind a name. The share that it shows is no part of the task's own name, since suites
        keep what was shown.

        Raises:
            UsageError: no such task, or no such share of it.
        """
        head, colon, told = name.partition(":")
        if name.startswith(PROJECT):
            module, _, rest = name.partition(":")
            attribute, colon, told = rest.partition(":")
            head = f"{module}:{attribute}"
        task = super().get(head)
        if not colon:
            return task
        if not isinstance(task, ContinuesPrompt):
            raise UsageError(f"task {name!r}: {head!r} takes no share of what is shown")
        try:
            share = float(told)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise UsageError(f"task {name!r}: the share of statements that are shown is a number from 0 to 1")
        return task.showing(share)


DEFAULT_TASK: Final = "function-name"
"""The task of a run if neither the user nor a model names one."""

TASKS = Tasks(
    "task",
    {
        "function-name": Entry(
            "codeaudit.audit.tasks.function_name:FUNCTION_NAME",
            "predict the subtokens of a function's name from its body (F1)",
        ),
        "error-detection": Entry(
            "codeaudit.audit.tasks.error_detection:ERROR_DETECTION",
            "tell whether a function has a bug (F1 of the class `buggy`)",
        ),
        "derivative": Entry(
            "codeaudit.audit.tasks.derivative:DERIVATIVE",
            "tell whether one expression is the derivative of another (accuracy)",
        ),
        "output-prediction": Entry(
            "codeaudit.audit.tasks.output_prediction:OUTPUT_PREDICTION",
            "tell what a call of a function returns (accuracy)",
        ),
        "generation": Entry(
            "codeaudit.audit.tasks.generation:GENERATION",
            "write the rest of a function so that it passes its tests (pass@1)",
        ),
        "next-line": Entry(
            "codeaudit.audit.tasks.next_line:NEXT_LINE",
            "write the next line of a function (exact match)",
        ),
        "throughput": Entry(
            "codeaudit.audit.tasks.throughput:THROUGHPUT",
            "predict the cycles of an iteration of an x86-64 basic block (MAPE)",
        ),
        "code-modelling": Entry(
            "codeaudit.audit.tasks.code_modelling:CODE_MODELLING",
            "tell how likely a text is, token by token (bits per byte)",
        ),
    },
    group="codeaudit.tasks",
    expects=Task,
    project=True,
)


@cache
def answer_kind(task: str) -> AnswerKind:
    """What an answer to a task is. Of a task that is not registered, as in a model's own tests, it is a
    text."""
    try:
        return TASKS.get(task).answers
    except UsageError:
        return FreeText()


@cache
def tasks_answered_by(kind: type[AnswerKind]) -> tuple[str, ...]:
    """The built-in tasks whose answers are of a kind."""
    return tuple(name for name in TASKS.built_in if isinstance(answer_kind(name), kind))
