"""Imports objects by name: `package.module:attribute`.

Registries use it for built-in targets and for plug-ins, and the `py/MODULE:OBJECT` forms of the command line
use it for code of the user's project.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

from codeaudit.transforms.errors import CannotAudit


def load_target(target: str) -> Any:
    """The object behind `package.module:attribute`, for targets of our own; errors pass unchanged."""
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def load_foreign(target: str, *, folder: Path | None = None) -> Any:
    """The object behind `package.module:attribute`, for somebody else's code.

    What the import prints goes to stderr, because stdout is for results.

    Args:
        target: may name an inner attribute (`module:Class.member`) or, without a colon, the module itself.
        folder: first on the import path during the import, and only then.

    Raises:
        CannotAudit: the module cannot be imported or lacks the attribute.
    """
    module, _, attribute = target.partition(":")
    try:
        with redirect_stdout(sys.stderr), importable(folder) if folder else nullcontext():
            found: object = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # importing runs foreign code, which may raise anything
        raise CannotAudit(f"cannot import {module!r}: {one_line(error)}") from error
    for part in attribute.split(".") if attribute else ():
        if not hasattr(found, part):
            raise CannotAudit(f"module {module!r} has no {attribute!r}")
        found = getattr(found, part)
    return found


def one_line(error: BaseException) -> str:
    """The type and the text of somebody else's exception in one line, because a message here is one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Put a folder first on the import path for as long as the context lasts.

    Worker processes inherit the path. If the folder stayed, a module of the user's project could replace one
    of our dependencies in them, and in every later import of ours.
    """
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:  # foreign code may have removed it
            sys.path.remove(str(folder))
