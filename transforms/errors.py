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
