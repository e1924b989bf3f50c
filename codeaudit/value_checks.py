"""The values that options accept: the Python API checks them here, and the command line reads them here.

Imports nothing heavy. What depends on several options, on the models or on the corpus is checked elsewhere.
"""

from collections.abc import Collection, Mapping
from numbers import Integral, Real
from reprlib import repr as shortened
from typing import Final, get_args

from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.records import Sites

SMALLEST: Final[Mapping[str, int | None]] = {
    "variants": 1,
    "variant": 0,
    "budget": 1,
    "limit": 0,
    "seed": None,
    "trials": 1,
    "batch_size": 1,
    "workers": 1,
}
"""Options that are whole numbers, with the smallest number; `None` if every number is accepted."""
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "sites": get_args(Sites),
    "wrap": ("canonical", "columns"),
    "precision": ("float32", "float64", "bfloat16", "float16"),
}
"""Options with fixed values."""
LARGEST: Final[Mapping[str, float | None]] = {
    "max_violation_rate": 1,
    "max_f1_drop": None,
    "min_sensitivity": 1,
    "margin": 1,
    "alpha": 1,
    "max_unjudged": 1,
}
"""Limits of a gate: numbers from 0, with the largest number; `None` if there is none."""
TEXTS: Final = frozenset({"source", "name", "language", "task", "labels", "base_url", "device"})
NAMES: Final = frozenset({"transforms", "attack"})
"""Options that are one text with commas between its names, or several names."""
OPTIONAL: Final = frozenset(
    {
        "attack",
        "base_url",
        "labels",
        "limit",
        "max_f1_drop",
        "max_violation_rate",
        "min_sensitivity",
        "precision",
        "task",
        "transforms",
        "wrap",
    }
)
"""Options that may be `None`."""


def check_values(**values: object) -> None:
    """Check each value against the rule for the option of its name.

    Raises:
        UsageError: the first value that does not fit, with the values that do.
    """
    for name, value in values.items():
        if value is None and name in OPTIONAL:
            continue
        fits, wanted = _rule(name, value)
        if not fits:
            raise UsageError(f"{name}={shown(value)} must be {wanted}")


def shown(value: object) -> str:
    """A value in one short line."""
    return " ".join(shortened(value).split())


def _rule(name: str, value: object) -> tuple[bool, str]:
    """Whether the value fits, and in words what does."""
    if name in SMALLEST:
        least = SMALLEST[name]
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        fits = whole and (least is None or int(value) >= least)  # type: ignore[call-overload]
        return fits, "a whole number" if least is None else f"a whole number, at least {least}"
    if name in CHOICES:
        return value in CHOICES[name], f"one of {', '.join(CHOICES[name])}"
    if name in LARGEST:
        most = LARGEST[name]
        number = isinstance(value, Real) and not isinstance(value, bool)
        fits = number and 0 <= float(value) <= (float("inf") if most is None else most)  # type: ignore[arg-type]
        return fits, "a number, at least 0" if most is None else f"a number from 0 to {most:g}"
    if name in NAMES:
        several = isinstance(value, Collection) and all(isinstance(one, str) for one in value)
        return several and not isinstance(value, bytes), "a name or a list of names"
    if name in TEXTS:
        return isinstance(value, str), "a text"
    raise KeyError(name)
