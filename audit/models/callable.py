"""`py/MODULE:OBJECT`: a callable, or an object with `predict`, as a model. The Python API uses it, too."""

import hashlib
import inspect
import logging
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from typing_extensions import override

from codeaudit.audit.interface import BaseModel
from codeaudit.audit.models.answers import read_answer
from codeaudit.audit.models.provider import Provider, Settings
from codeaudit.audit.prompts import VERSION
from codeaudit.audit.records import Failed, Prediction, Query
from codeaudit.transforms.errors import CannotAudit, ModelError, UsageError, raised_at
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.permission import demand
from codeaudit.transforms.registration import importable, load_foreign, one_line

_log: Final = logging.getLogger(__name__)

Answering: TypeAlias = Callable[[list[Query]], object]
"""From a list of queries to a list of answers."""


class Predictor(Protocol):
    """An object that answers with `predict` instead of a call."""

    def predict(self, queries: list[Query], /) -> object:
        """A list of answers, one per query."""
        ...


def answering(target: object) -> Answering | None:
    """The function that answers queries: the object's `predict`, else the object; `None` without either.

    `predict` comes first, because a network is callable, too, and its call takes tensors. A class that is not
    callable with queries, because it has `predict`, is instantiated without arguments.
    """
    if isinstance(target, type) and hasattr(target, "predict"):
        target = target()
    answer = getattr(target, "predict", target)
    return answer if callable(answer) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallableModel(BaseModel):
    """Answers with `function(queries)`. A query has `source`, `language` and `task`.

    An answer is what the task takes (a text, a number, a list of subtokens), a mapping as programs give, or a
    `Prediction`. A call that raises is repeated query by query, so that one bad input fails alone. Text that
    the function prints goes to stderr, because stdout is for results.
    """

    name: str
    function: Answering
    fingerprint: str
    folder: Path | None = None
    """On the import path while `function` runs, because it may import further modules of its project."""
    task: None = None
    parameters: None = None
    noise: float = 0.0
    _warned: list[bool] = field(default_factory=list, init=False, repr=False, compare=False)
    """Not empty once the user knows that only single queries are answered."""

    @override
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query.

        Raises:
            ModelError: the callable does not give one answer per query.
        """
        try:
            with redirect_stdout(sys.stderr), importable(self.folder) if self.folder else nullcontext():
                answers = self.function(list(queries))
                # A generator runs here, where its errors are caught and its prints go to stderr. The letters
                # of a text and the keys of a mapping are no answers.
                if isinstance(answers, Iterable) and not isinstance(answers, str | bytes | Mapping):
                    answers = list(answers)
        except (Exception, SystemExit) as error:  # foreign code may raise anything; Ctrl-C is the user's
            if len(queries) == 1:
                return [Failed(reason=f"callable raised {_described(error)}")]
            alone = [self.predict([query])[0] for query in queries]
            if not self._warned and not any(isinstance(prediction, Failed) for prediction in alone):
                self._warned.append(True)
                _log.warning(
                    "codeaudit: %s raised %s; it gets its queries one by one, which is slower",
                    f"{self.name}: a list of {len(queries)} queries",
                    _described(error),
                )
            return alone
        if inspect.iscoroutine(answers):
            answers.close()
            raise ModelError(f"model {self.name!r} is asynchronous; write `def`, and `asyncio.run` in it")
        if not isinstance(answers, list) or len(answers) != len(queries):
            given = counted(len(answers), "answer") if isinstance(answers, list) else type(answers).__name__
            wanted = counted(len(queries), "answer")
            raise ModelError(f"model {self.name!r} must give a list of {wanted}; it gave {given}")
        return [read_answer(answer) for answer in answers]


def load(name: str, settings: Settings) -> CallableModel:
    """Import the callable or the object. The working directory is first on the import path.

    Raises:
        UsageError: the name is not `MODULE:OBJECT`, or only a file names it.
        ModelError: the module cannot be imported, or has no such callable or object with `predict`.
    """
    module, _, attribute = name.partition(":")
    if not (module and attribute):
        raise UsageError(f"model 'py/{name}' must be py/MODULE:CALLABLE")
    demand(f"py/{name}", noun="model")
    folder = Path.cwd()
    try:
        target = load_foreign(module, folder=folder)
        for part in attribute.split("."):
            target = getattr(target, part, None)
        with redirect_stdout(sys.stderr), importable(folder):
            function = answering(target)
    except CannotAudit as error:
        raise ModelError(str(error)) from error
    except Exception as error:  # the constructor is foreign code, which may raise anything
        raise ModelError(f"{name}() raised {one_line(error)}{raised_at(error)}") from error
    if function is None:
        raise ModelError(f"module {module!r} has no callable {attribute!r}")
    return CallableModel(
        name=f"py/{name}",
        function=function,
        fingerprint=_fingerprint(name, function, settings.arguments.get("version")),
        folder=folder,
    )


def _described(error: BaseException) -> str:
    """The type and the first line of an exception's text, short enough to be counted as a reason, and the
    line of the user's code that raised it."""
    text = str(error).encode("utf-8", "replace").decode().strip().partition("\n")[0][:80]
    hint = "; write query.source" if "'Query' object" in text else ""
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__) + hint + raised_at(error)


def _fingerprint(name: str, function: object, version: str | float | None) -> str:
    """With the user's version, answers are shared between runs; else they are kept for one run only."""
    if version is not None:
        return f"py/{name}@{version}?reading={VERSION}"
    # `inspect` raises TypeError for instances, and for functions that are written in C (`math.sqrt`).
    inner = inspect.unwrap(function) if inspect.isroutine(function) else None
    file = inspect.getsourcefile(inner) if inspect.isfunction(inner) or inspect.ismethod(inner) else None
    text = Path(file).read_bytes() if file and Path(file).is_file() else b""
    return f"volatile:py/{name}:{hashlib.sha256(text).hexdigest()[:16]}"


PROVIDER: Final = Provider(
    form="py/MODULE:CALLABLE",
    summary="a callable from a list of queries to a list of answers",
    load=load,
    arguments={"version": str},
    runs_here=True,
)
