"""The tree of errors that the program raises on purpose.

    CodeauditError            one clear line for the user; `exit_code` says how the program ends
    ├── UsageError      (2)   the command line names something that does not exist or does not fit
    └── CannotAudit     (3)   a source, model, endpoint or data set could not be used
        ├── SourceError       code that cannot be read or parsed
        ├── CorpusError       a corpus that is missing, empty or malformed
        ├── ModelError        a model that cannot be loaded or does not fit the task
        │   ├── LimitError    a limit of the user ended a run
        │   └── WordsError    a model says other words than the labels of the task
        ├── RunError          a run folder that cannot be read or written
        └── NotAppliedError   a transform that cannot rewrite a text (`codeaudit.NotApplied`)

Every package raises these errors, and only `transforms` may be imported from everywhere. The command line
turns each into one line on stderr and the exit code in brackets.
"""

import os
import sysconfig
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

NOT_PARSED: Final = "source does not parse"
"""The reason for code that is not of its language, wherever reasons are counted."""
OTHER_NOT_PARSED: Final = "second unit does not parse in the language of the first"
"""The same for the second unit of a pair."""
TOO_DEEP: Final = "nested too deeply for this Python"
"""The reason for code that the running Python's parser cannot hold."""
RESULT_NOT_PARSED: Final = "result does not parse"
"""The reason for a variant that is not of its language."""


class CodeauditError(Exception):
    """An error whose text is meant for the user: it names the offending value and the remedy."""

    exit_code: int = 3


class UsageError(CodeauditError):
    """The command line names something that does not exist, or options that do not fit together."""

    exit_code = 2


class CannotAudit(CodeauditError):  # noqa: N818 - it names the outcome that the exit code reports
    """Something that the audit needs could not be used."""


class SourceError(CannotAudit):
    """Code that cannot be read or parsed."""


class UnknownSyntaxError(SourceError):
    """Code that parses, but holds syntax that the analysis does not know."""


class ReaderLimitError(SourceError):
    """Code that may be valid, and that this reader cannot read: it is of another version, or too deep.

    The message is a phrase without a place in the text, so that equal reasons can be counted.
    """


class NoFunctionError(SourceError):
    """Code that parses, but is not one function or method."""


class CorpusError(CannotAudit):
    """A corpus that is missing, empty or malformed."""


class ModelError(CannotAudit):
    """A model that cannot be loaded, or that does not fit the task."""


class LimitError(ModelError):
    """A limit of the user ended a run, which can go on with another limit."""

    def __init__(self, message: str, *, more: str) -> None:
        super().__init__(message)
        self.more = more
        """The option with which it goes on."""


class WordsError(ModelError):
    """A model says other words than the labels of the task. The same command would end in the same way."""


class RunError(CannotAudit):
    """A run folder that cannot be read or written."""


class NotAppliedError(CannotAudit):
    """A transform that cannot rewrite a text; the Python API exports it as `codeaudit.NotApplied`.

    `codeaudit.transform` raises it. `codeaudit.perturb` yields records instead and never this error: match
    its outcomes with `isinstance(outcome, codeaudit.Perturbed)`.
    """

    def __init__(self, reason: str, transform: str = "", hint: str = "") -> None:
        super().__init__(reason, transform)
        self.reason = reason
        """A short phrase without names or numbers of the text, so that equal reasons can be counted."""
        self.transform = transform
        self.hint = hint
        """What the caller may have meant, for the message."""

    def __str__(self) -> str:
        return (f"{self.transform}: {self.reason}" if self.transform else self.reason) + self.hint


def raised_at(error: BaseException) -> str:
    """The place as ` (model.py:3, in predict)`; empty if no frame is the user's.

    It is the innermost frame that lies neither in this package, nor in the standard library, nor in an
    installed package.
    """
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f" ({from_here(error.filename)}:{error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [
        frame for frame in frames if not frame.filename.startswith("<") and not _is_foreign(frame.filename)
    ]
    if not theirs:
        return ""
    last = theirs[-1]
    inside = "" if last.name.startswith("<") else f", in {last.name}"
    return f" ({from_here(last.filename)}:{last.lineno}{inside})"


def from_here(path: str) -> str:
    """A path as seen from the working directory, if it lies in it."""
    with suppress(ValueError, OSError):
        return str(Path(os.path.realpath(path)).relative_to(os.path.realpath(Path.cwd())))
    return path


def _is_foreign(path: str) -> bool:
    place = Path(os.path.realpath(path))
    # Compiled modules tell names of their sources, which are not here.
    if not place.is_file():
        return True
    # An environment may take packages of another one.
    if not {"site-packages", "dist-packages"}.isdisjoint(place.parts):
        return True
    return any(place.is_relative_to(folder) for folder in _foreign_folders())


@cache
def _foreign_folders() -> tuple[str, ...]:
    """The folders of this package, of installed packages and of the standard library."""
    ours = Path(__file__).absolute().parent.parent
    # In a checkout the subpackages are links to folders outside.
    parts = [ours, *(path for path in ours.iterdir() if path.is_symlink())]
    folders = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return tuple(os.path.realpath(place) for place in [*map(str, parts), *folders])
