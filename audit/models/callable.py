"""`py/MODULE:CALLABLE`: a Python callable as a model."""

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from codeaudit.audit.models.answers import read_answer
from codeaudit.audit.models.settings import Settings
from codeaudit.audit.records import Failed, Prediction, Query
from codeaudit.transforms.errors import CannotAudit, ModelError, UsageError
from codeaudit.transforms.loading import importable, load_foreign

Answering: TypeAlias = Callable[[Sequence[Query]], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallableModel:
    """Calls `function(queries)`, where a query has `source`, `language` and `task`, for a list of answers.

    An answer is what the task takes (a text, a number, a list of subtokens) or a mapping as programs give.
    A call that raises is repeated query by query, so that one bad input fails alone. What it prints goes to
    stderr: stdout is for results.
    """

    name: str
    function: Answering
    fingerprint: str
    folder: Path | None = None
    """On the import path while `function` runs, because it may import modules of its own project then."""
    task: None = None
    parameters: None = None
    noise: float = 0.0

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query.

        Raises:
            ModelError: the callable does not give one answer per query.
        """
        try:
            with redirect_stdout(sys.stderr), importable(self.folder) if self.folder else nullcontext():
                answers = self.function(list(queries))
                if isinstance(answers, Iterable) and not isinstance(answers, str | bytes | Mapping):
                    answers = list(answers)
        except (Exception, SystemExit) as error:  # foreign code may raise anything
            if len(queries) == 1:
                return [Failed(reason=f"callable raised {type(error).__name__}")]
            return [self.predict([query])[0] for query in queries]
        if not isinstance(answers, list) or len(answers) != len(queries):
            given = f"{len(answers)} answers" if isinstance(answers, list) else type(answers).__name__
            raise ModelError(
                f"model {self.name!r} must give a list of {len(queries)} answers; it gave {given}"
            )
        return [read_answer(answer) for answer in answers]


def load(name: str, settings: Settings) -> CallableModel:
    """Import the callable. The working directory is searched first, as `python -m` does.

    Raises:
        UsageError: the name has no `MODULE:CALLABLE`.
        ModelError: the module cannot be imported or has no such callable.
    """
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise UsageError(f"model 'py/{name}' must be py/MODULE:CALLABLE")
    folder = Path.cwd()
    try:
        found = load_foreign(module_name, folder=folder)
    except CannotAudit as error:
        raise ModelError(str(error)) from error
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ModelError(f"module {module_name!r} has no callable {attribute!r}")
    return CallableModel(
        name=f"py/{name}",
        function=found,
        fingerprint=_fingerprint(name, found, settings.arguments.get("version")),
        folder=folder,
    )


def _fingerprint(name: str, function: object, version: str | float | None) -> str:
    """With a version the user vouches for it; without, answers are kept for one run only."""
    if version is not None:
        return f"py/{name}@{version}"
    file = inspect.getsourcefile(inspect.unwrap(function)) if inspect.isroutine(function) else None
    text = Path(file).read_bytes() if file and Path(file).is_file() else b""
    return f"volatile:py/{name}:{hashlib.sha256(text).hexdigest()[:16]}"
