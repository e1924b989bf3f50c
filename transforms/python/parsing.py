"""Reading Python text."""

import ast
import warnings
from typing import TypeAlias

from codeaudit.transforms.errors import SourceError

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def parse(source: str) -> ast.Module:
    """The tree of a text, the caller's own: some change theirs.

    What the parser warns of (`"\\d"`, `x is 1`) is the author's affair and kept quiet.

    Raises:
        SourceError: the text is not Python, or nested too deeply to be read.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        raise SourceError(f"not valid Python: line {error.lineno}: {error.msg}") from error
    except ValueError as error:
        raise SourceError(f"not valid Python: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise SourceError("not readable: nested too deeply") from error


def parameter_nodes(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters in the order of the text, `*args` and `**kwargs` included."""
    found = [
        *arguments.posonlyargs,
        *arguments.args,
        arguments.vararg,
        *arguments.kwonlyargs,
        arguments.kwarg,
    ]
    return [one for one in found if one is not None]


def parameter_names(arguments: ast.arguments) -> list[str]:
    """The names of all parameters in the order of the text."""
    return [one.arg for one in parameter_nodes(arguments)]
