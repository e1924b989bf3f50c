"""Audits code models: does the answer change when the code's meaning does not?

    import codeaudit

    codeaudit.transform("def f(a):\n    b = a\n    return b", "rename")
    run = codeaudit.run(my_model, corpus="src", transforms=["rename", "reorder"])
    run.violations()
    codeaudit.gate(run, max_violation_rate=0.05).passed

This module imports nothing heavy; each function imports what it needs when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from codeaudit.audit.records import Query
    from codeaudit.edits import perturb, transform
    from codeaudit.finished_runs import Run, open_run
    from codeaudit.gating import compare, gate
    from codeaudit.running import run
    from codeaudit.testing import assert_invariant
    from codeaudit.transforms.errors import (
        CannotAudit,
        CodeauditError,
        CorpusError,
        ModelError,
        RunError,
        SourceError,
        UsageError,
    )
    from codeaudit.transforms.errors import NotAppliedError as NotApplied
    from codeaudit.transforms.records import Perturbed, Sample

    __version__: str

__all__ = [
    "CannotAudit",
    "CodeauditError",
    "CorpusError",
    "ModelError",
    "NotApplied",
    "Perturbed",
    "Query",
    "Run",
    "RunError",
    "Sample",
    "SourceError",
    "UsageError",
    "__version__",
    "assert_invariant",
    "compare",
    "gate",
    "open_run",
    "perturb",
    "run",
    "transform",
]

_MODULES: Final = {
    "codeaudit.audit.records": ("Query",),
    "codeaudit.edits": ("perturb", "transform"),
    "codeaudit.finished_runs": ("Run", "open_run"),
    "codeaudit.gating": ("compare", "gate"),
    "codeaudit.running": ("run",),
    "codeaudit.testing": ("assert_invariant",),
    "codeaudit.transforms.records": ("Perturbed", "Sample"),
}
"""The public names by module; the others are errors."""


if not TYPE_CHECKING:  # a type checker must see that other names do not exist

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used."""
        # The version is read from the metadata of the distribution, so that only pyproject.toml says it.
        if name == "__version__":
            from codeaudit.transforms.distribution import version_of

            return version_of() or "0"  # a checkout that is not installed
        if name not in __all__:
            raise AttributeError(f"module 'codeaudit' has no attribute {name!r}")
        homes = (module for module, names in _MODULES.items() if name in names)
        module = import_module(next(homes, "codeaudit.transforms.errors"))
        value = getattr(module, "NotAppliedError" if name == "NotApplied" else name)
        # From now on Python finds the name without calling `__getattr__`.
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
