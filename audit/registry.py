"""The registry of tasks: built-in, from plug-ins (entry points `codeaudit.tasks`), and `py/MODULE:OBJECT`."""

from functools import cache
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import AnswerKind, FreeText, Task
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import PROJECT, Entry, Registry, overrides, unknown


class Tasks(Registry[Task]):
    """The tasks. `NAME:SHARE` is a task that shows another share of each function: `generation:0.25`.
    `NAME:SIDES` is a task about pairs or candidates that rewrites other units of them:
    `clone-detection:both`, `code-search:all`."""

    def plain(self, name: str) -> str:
        """The name without a share."""
        return _split(name)[0]

    @override
    def summary(self, name: str) -> str:
        """The line that describes a task; of a plug-in, its question.

        Raises:
            UsageError: no such task.
            CannotAudit: the task is a broken plug-in's.
        """
        plain = self.plain(name)
        return super().summary(plain) if plain in self.built_in else self.get(plain).question

    @override
    def get(self, name: str) -> Task:
        """The task behind a name. Its own name has no share and no sides, because suites keep them.

        Raises:
            UsageError: no such task, or no such share or sides of it.
            CannotAudit: the task is a broken plug-in's.
        """
        plain, share = _split(name)
        task = super().get(plain)
        if share is None:
            return task
        if task.choices:
            for sides in task.choices:
                if share == sides:
                    return task.rewriting(sides)
            raise UsageError(f"task {name!r}: {unknown('side', share, task.choices)}")
        if not overrides(task, Task.showing):
            raise UsageError(f"task {name!r}: {plain!r} takes no share of what is shown")
        try:
            value = float(share)
        except ValueError:
            value = -1.0  # no share, as any number outside of 0 to 1; `nan` fails the comparison below, too
        if not 0 <= value <= 1:
            raise UsageError(f"task {name!r}: the share of statements that are shown is a number from 0 to 1")
        return task.showing(value)


def _split(name: str) -> tuple[str, str | None]:
    """A task's name and its share; `py/MODULE:OBJECT` has one colon more."""
    # "generation:0.25", but "py/my_tasks:TASK:0.25": there the first colon belongs to the name.
    head, *rest = name.split(":", 2 if name.startswith(PROJECT) else 1)
    if name.startswith(PROJECT) and rest:
        head = f"{head}:{rest.pop(0)}"
    return head, rest[0] if rest else None


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
            "say whether a function has a bug (F1 of the class `buggy`)",
        ),
        "vulnerability-detection": Entry(
            "codeaudit.audit.tasks.vulnerability_detection:VULNERABILITY_DETECTION",
            "say whether a function has a vulnerability (F1 of the class `vulnerable`, accuracy, MCC)",
        ),
        "classification": Entry(
            "codeaudit.audit.tasks.classification:CLASSIFICATION",
            "say which label of a column a function has (accuracy, MCC, macro F1)",
        ),
        "clone-detection": Entry(
            "codeaudit.audit.tasks.clone_detection:CLONE_DETECTION",
            "say whether two functions are clones (F1 of the class `clone`, accuracy, MCC)",
        ),
        "equivalence": Entry(
            "codeaudit.audit.tasks.equivalence:EQUIVALENCE",
            "say whether a program and its variant do the same (accuracy)",
        ),
        "derivative": Entry(
            "codeaudit.audit.tasks.derivative:DERIVATIVE",
            "say whether one expression is the derivative of another (accuracy)",
        ),
        "output-prediction": Entry(
            "codeaudit.audit.tasks.output_prediction:OUTPUT_PREDICTION",
            "predict what a call of a function returns (accuracy)",
        ),
        "input-prediction": Entry(
            "codeaudit.audit.tasks.input_prediction:INPUT_PREDICTION",
            "give arguments with which a function returns a value (pass@1)",
        ),
        "generation": Entry(
            "codeaudit.audit.tasks.generation:GENERATION",
            "write the rest of a function so that it passes its tests (pass@1)",
        ),
        "repair": Entry(
            "codeaudit.audit.tasks.repair:REPAIR",
            "mend a function so that it passes its tests (pass@1)",
        ),
        "translation": Entry(
            "codeaudit.audit.tasks.translation:TRANSLATION",
            "write a program in another language so that it passes the tests there (pass@1)",
        ),
        "repair-match": Entry(
            "codeaudit.audit.tasks.matching:REPAIR_MATCH",
            "give the published fix of a function; nothing runs (exact match)",
        ),
        "translation-match": Entry(
            "codeaudit.audit.tasks.matching:TRANSLATION_MATCH",
            "give a data set's text of a function in another language; nothing runs (exact match)",
        ),
        "next-line": Entry(
            "codeaudit.audit.tasks.next_line:NEXT_LINE",
            "write the next line of a function (exact match)",
        ),
        "summarisation": Entry(
            "codeaudit.audit.tasks.summarisation:SUMMARISATION",
            "say in a sentence what a function does (smoothed BLEU-4, chrF, ROUGE-L)",
        ),
        "code-search": Entry(
            "codeaudit.audit.tasks.code_search:CODE_SEARCH",
            "find the function that a query in words describes, among twenty (MRR, recall@k, NDCG)",
        ),
        "clone-search": Entry(
            "codeaudit.audit.tasks.clone_search:CLONE_SEARCH",
            "find the functions that do the same as this one, among twenty (MAP@R)",
        ),
        "throughput": Entry(
            "codeaudit.audit.tasks.throughput:THROUGHPUT",
            "predict the cycles of an iteration of an x86-64 basic block (MAPE)",
        ),
        "code-modelling": Entry(
            "codeaudit.audit.tasks.code_modelling:CODE_MODELLING",
            "say how likely a text is, token by token (bits per byte)",
        ),
    },
    forms={"judge": "codeaudit.audit.judging:load"},
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
