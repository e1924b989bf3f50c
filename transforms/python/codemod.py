"""`codemod/MODULE:CLASS`: a LibCST codemod as a transform of Python.

A codemod is somebody else's rewriting: nothing here shows that it keeps the meaning. Its variants therefore
have the evidence `none`, and the driver applies them only if execution confirms them (`--execute`).

LibCST is imported nowhere else.
"""

import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Final

from libcst.codemod import (
    Codemod,
    CodemodContext,
    TransformFailure,
    TransformSkip,
    TransformSuccess,
    transform_module,
)

from codeaudit.transforms.errors import CannotAudit, SourceError, UsageError
from codeaudit.transforms.interface import BaseTransform, Refused, Rewritten
from codeaudit.transforms.permission import demand
from codeaudit.transforms.python.parsing import parse
from codeaudit.transforms.records import Kind, Move, Unit
from codeaudit.transforms.registration import importable, load_foreign

FORM: Final = "codemod/"
NOTHING: Final = "codemod changes nothing"
SKIPPED: Final = "codemod skips the text"
BROKEN: Final = "codemod's result does not parse"
FOREIGN_MOVE: Final = "not a move of this transform"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodemodTransform(BaseTransform):
    """One codemod on a whole text. It has one variant per text, with a single move, because LibCST does not
    distinguish the edits of a codemod.
    """

    name: str
    command: type[Codemod]
    folder: Path
    """On the import path while the codemod runs, because it may import modules of its own project then."""
    kind: Kind = "preserving"
    unit: Unit = "module"
    languages: frozenset[str] = field(default=frozenset({"python"}))

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """The one move.

        Raises:
            SourceError: the source cannot be parsed.
        """
        rewritten = _rewritten(self, source)
        return rewritten if isinstance(rewritten, Refused) else (self._move,)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Run the codemod, with evidence `none`; without a move the text stays.

        Raises:
            SourceError: the source cannot be parsed.
        """
        if not moves:
            return Rewritten(source=source, evidence="none")
        return _rewritten(self, source) if moves == (self._move,) else Refused(FOREIGN_MOVE)

    @property
    def _move(self) -> Move:
        return Move(kind="codemod", site=0, value=(0,), note=self.command.__name__)


def load(name: str) -> CodemodTransform:
    """The transform that `codemod/MODULE:CLASS` names. The working directory is searched first.

    Raises:
        UsageError: the name is not of this form, or only a file names it.
        CannotAudit: the module cannot be imported, or its attribute is no codemod class.
    """
    target = name.removeprefix(FORM)
    module, _, attribute = target.partition(":")
    if not (module and attribute):
        raise UsageError(f"transform {name!r} must be {FORM}MODULE:CLASS")
    demand(name, noun="transform")
    folder = Path.cwd()
    try:
        command = load_foreign(target, folder=folder)
    except CannotAudit as error:
        raise CannotAudit(f"transform {name!r}: {error}") from error
    if not (isinstance(command, type) and issubclass(command, Codemod)):
        raise CannotAudit(f"transform {name!r}: {attribute!r} is no subclass of libcst.codemod.Codemod")
    return CodemodTransform(name=name, command=command, folder=folder)


@lru_cache(maxsize=8)
def _rewritten(transform: CodemodTransform, source: str) -> Rewritten | Refused:
    """Cached because the driver proposes a move and then applies it to the same text."""
    parse(source)
    try:
        # Standard output belongs to the report; a codemod may print to it.
        with redirect_stdout(sys.stderr), importable(transform.folder):
            # A command may ask for more arguments than the context; nothing can give them here.
            result = transform_module(transform.command(CodemodContext()), source)
    except Exception as error:  # a codemod is foreign code
        return Refused(f"codemod failed: {type(error).__name__}")
    match result:
        case TransformSuccess(code=code):
            if code == source:
                return Refused(NOTHING)
            try:
                parse(code)
            except SourceError:
                return Refused(BROKEN)
            return Rewritten(source=code, evidence="none")
        case TransformSkip():
            return Refused(SKIPPED)
        case TransformFailure(error=cause):
            return Refused(f"codemod failed: {type(cause).__name__}")
        case _:
            return Refused("codemod failed")
