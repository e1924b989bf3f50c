"""What networks read of a language: its lines with dependences, its variables, its syntax tree."""

from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.registration import Entry, Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageFeatures:
    """Each field but `operators` is a `module:attribute`, imported when first used. An empty one is not
    offered.
    """

    lines: str = ""
    """`(str, dependence) -> LineProgram` of `codeaudit.audit.papers.lines`: a function as lines with
    dependences."""
    operators: str = ""
    """A regular expression of operators of several characters that Python does not have, ending with `|`."""
    referents: str = ""
    """`str -> Marked` of `codeaudit.audit.papers.lines`: a function whose variables can be distinguished by
    number."""
    nodes: str = ""
    """`str -> nodes` of `codeaudit.audit.papers.tree_transformer`: a function's syntax tree."""


PYTHON: Final = LanguageFeatures(
    lines="codeaudit.transforms.python.analysis.program:analyse",
    referents="codeaudit.audit.papers.lines.encoding:marked",
    nodes="codeaudit.audit.papers.tree_transformer.nodes:python_nodes",
)
JAVA: Final = LanguageFeatures(
    lines="codeaudit.transforms.java.analysis.program:analyse",
    operators=r">>>=|>>>|&&|\|\||\+\+|--|::|",
    nodes="codeaudit.audit.papers.tree_transformer.nodes:java_nodes",
)
C: Final = LanguageFeatures(
    lines="codeaudit.transforms.c.analysis.program:analyse",
    operators=r"&&|\|\||\+\+|--|",
    nodes="codeaudit.audit.papers.tree_transformer.nodes:c_nodes",
)
CPP: Final = LanguageFeatures(
    lines="codeaudit.transforms.c.cpp.program:analyse",
    operators=r"<=>|->\*|&&|\|\||\+\+|--|::|",
    nodes="codeaudit.audit.papers.tree_transformer.nodes:cpp_nodes",
)

LANGUAGE_FEATURES: Final[Registry[LanguageFeatures]] = Registry(
    "language",
    {
        "python": Entry(f"{__name__}:PYTHON", "functions of Python files"),
        "java": Entry(f"{__name__}:JAVA", "methods of Java files"),
        "c": Entry(f"{__name__}:C", "functions of C files"),
        "cpp": Entry(f"{__name__}:CPP", "functions of C++ files"),
    },
    group="codeaudit.language_features",
    expects=LanguageFeatures,
)

_NOTHING: Final = LanguageFeatures()


def features_of(language: str) -> LanguageFeatures:
    """What networks read of a language; an empty record for one that nobody registered.

    Raises:
        CannotAudit: the record is a broken plug-in's.
    """
    return LANGUAGE_FEATURES.get(language) if language in LANGUAGE_FEATURES else _NOTHING
