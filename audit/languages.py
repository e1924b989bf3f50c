"""What audits add to a language: how its units are read, named, broken on purpose and executed.

The record of a language (`codeaudit.transforms.language`) knows its transforms and its files. No record names
a package above its own, so what audits know of a language stands here, and what networks read stands in
`codeaudit.audit.papers.languages`. Plug-ins register a record of each kind under the name of their language.
"""

import logging
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.errors import CodeauditError
from codeaudit.transforms.language import find_language, warn_of_broken_languages
from codeaudit.transforms.registration import Entry, Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageAudit:
    """Each field is a `module:attribute`, imported when first used. An empty one is not offered."""

    reader: str = ""
    """`(text, path, left_out) -> Iterator[Sample]`: the units of a file. `left_out` counts what is no sample,
    by reason."""
    unit_name: str = ""
    """`str -> str | None`: the name of the one function in a text."""
    body: str = ""
    """`str -> FunctionBody | str` of `codeaudit.audit.prompt_cut`: the last function of a text, to be cut, or
    the reason why there is none."""
    documentation: str = ""
    """`str -> Documented | None` of `codeaudit.audit.tasks.summarisation`: a unit and its documentation,
    apart; `None` where it cannot be taken out."""
    bugs: str = ""
    """A tuple of transforms that resemble mistakes of people, for seeded bugs."""
    executed: str = ""
    """A `BugExecution` of `codeaudit.audit.corpora.bugs`: how execution shows that a function has a bug."""
    probes: str = ""
    """A `Probes` of `codeaudit.audit.projects`: lets `verify` see what tests execute."""
    witness: str = ""
    """`Labels -> Witness` of `codeaudit.audit.evidence_check`: runs or measures variants."""


PYTHON: Final = LanguageAudit(
    reader="codeaudit.audit.corpora.functions:functions",
    unit_name="codeaudit.audit.tasks.function_name:function_name",
    body="codeaudit.audit.prompt_cut:body_in_python",
    documentation="codeaudit.audit.tasks.summarisation:of_python",
    bugs="codeaudit.transforms.python.defects:DEFECTS",
    executed="codeaudit.audit.corpora.bugs:PYTHON_EXECUTED",
    probes="codeaudit.audit.projects.probes.python:PROBES",
    witness="codeaudit.audit.witnesses.python:witness",
)
JAVA: Final = LanguageAudit(
    reader="codeaudit.audit.corpora.methods:methods",
    unit_name="codeaudit.audit.corpora.methods:method_name",
    documentation="codeaudit.audit.tasks.summarisation:of_comments",
    bugs="codeaudit.transforms.java.defects:DEFECTS",
    probes="codeaudit.audit.projects.probes.java:PROBES",
    witness="codeaudit.audit.witnesses.java:witness",
)
JAVASCRIPT: Final = LanguageAudit(
    reader="codeaudit.audit.corpora.scripts:functions",
    unit_name="codeaudit.audit.corpora.scripts:function_name",
    body="codeaudit.audit.corpora.scripts:last_function",
    bugs="codeaudit.transforms.javascript.defects:DEFECTS",
    probes="codeaudit.audit.projects.probes.javascript:JAVASCRIPT_PROBES",
    witness="codeaudit.audit.witnesses.javascript:witness",
    documentation="codeaudit.audit.tasks.summarisation:of_comments",
)
TYPESCRIPT: Final = LanguageAudit(
    reader="codeaudit.audit.corpora.scripts:functions_of_typescript",
    unit_name="codeaudit.audit.corpora.scripts:function_name_in_typescript",
    bugs="codeaudit.transforms.javascript.defects:DEFECTS_OF_TYPESCRIPT",
    probes="codeaudit.audit.projects.probes.javascript:TYPESCRIPT_PROBES",
    witness="codeaudit.audit.witnesses.javascript:witness_of_typescript",
    documentation="codeaudit.audit.tasks.summarisation:of_comments",
)
C: Final = LanguageAudit(
    reader="codeaudit.audit.corpora.c_files:functions",
    unit_name="codeaudit.audit.corpora.c_files:function_name",
    bugs="codeaudit.transforms.c.defects:DEFECTS",
    executed="codeaudit.audit.corpora.c_faults:C_EXECUTED",
    probes="codeaudit.audit.projects.probes.c:PROBES",
    documentation="codeaudit.audit.tasks.summarisation:of_comments",
    body="codeaudit.audit.corpora.c_files:last_function",
    witness="codeaudit.audit.witnesses.c:witness",
)
CPP: Final = LanguageAudit(
    reader="codeaudit.audit.corpora.c_files:functions_of_cpp",
    unit_name="codeaudit.audit.corpora.c_files:function_name_in_cpp",
    body="codeaudit.audit.corpora.c_files:last_function_of_cpp",
    bugs="codeaudit.transforms.c.defects:DEFECTS_OF_CPP",
    probes="codeaudit.audit.projects.probes.c:CPP_PROBES",
    witness="codeaudit.audit.witnesses.c:witness_of_cpp",
    documentation="codeaudit.audit.tasks.summarisation:of_comments",
)
X86: Final = LanguageAudit(witness="codeaudit.audit.witnesses.x86:witness")

LANGUAGE_AUDITS: Final[Registry[LanguageAudit]] = Registry(
    "language",
    {
        "python": Entry(f"{__name__}:PYTHON", "functions of Python files"),
        "java": Entry(f"{__name__}:JAVA", "methods of Java files"),
        "x86": Entry(f"{__name__}:X86", "basic blocks of x86-64 assembly"),
        "javascript": Entry(f"{__name__}:JAVASCRIPT", "functions of JavaScript files"),
        "typescript": Entry(f"{__name__}:TYPESCRIPT", "functions of TypeScript files"),
        "c": Entry(f"{__name__}:C", "functions of C files"),
        "cpp": Entry(f"{__name__}:CPP", "functions of C++ files"),
    },
    group="codeaudit.language_audits",
    expects=LanguageAudit,
)

NO_CODE: Final = "no function of a programming language"
_log: Final = logging.getLogger(__name__)
_NOTHING: Final = LanguageAudit()


def audit_of(language: str) -> LanguageAudit:
    """What audits know of a language; an empty record for one that nobody registered.

    Raises:
        CannotAudit: the record is a broken plug-in's.
    """
    return LANGUAGE_AUDITS.get(language) if language in LANGUAGE_AUDITS else _NOTHING


def reads_files(language: str) -> bool:
    """Whether units of a language are found in its files; false for a broken plug-in's."""
    try:
        return bool(audit_of(language).reader)
    except CodeauditError:
        return False


def is_programming(language: str) -> bool:
    """Whether a language has functions: its record has a parser. Blocks of x86 and terms are no functions."""
    record = find_language(language)
    return record is not None and bool(record.parse)


def warn_of_broken_readers() -> None:
    """Log a line for each broken plug-in. For callers that found no language: it may be one of these."""
    warn_of_broken_languages()
    for _ in LANGUAGE_AUDITS.working(lambda error: _log.warning("codeaudit: %s", error)):
        pass
