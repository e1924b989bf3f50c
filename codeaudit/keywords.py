"""Arguments of the Python API: functions whose arguments are a record, and messages about other names."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import nearest_or_all

P = ParamSpec("P")
A = TypeVar("A")
R = TypeVar("R")

ALIKE: Final[Mapping[str, tuple[str, ...]]] = {
    "transform": ("transforms", "name"),
    "transforms": ("name",),
    "model": ("models",),
    "models": ("model",),
    "samples": ("corpus", "source"),
    "source": ("samples", "corpus"),
    "corpus": ("samples",),
}
"""Words for one thing in several functions, which differ because one takes a single name and another many."""


def taking(record: Callable[P, A]) -> Callable[[Callable[[A], R]], Callable[P, R]]:
    """Let a function that takes a record be called with the fields of the record.

    So a signature stands once: editors, type checkers and `help` see the fields, with their defaults.
    """

    def decorated(function: Callable[[A], R]) -> Callable[P, R]:
        result = inspect.signature(function).return_annotation
        # Fields that the record inherits last.
        fields = inspect.signature(record).parameters.values()
        ordered = sorted(fields, key=lambda field: (field.kind, field.name not in record.__annotations__))
        signature = inspect.Signature(ordered, return_annotation=result)

        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            signature.bind(*args, **kwargs)  # its errors do not name the record
            return function(record(*args, **kwargs))

        called.__signature__ = signature  # type: ignore[attr-defined]
        return called

    return decorated


def says_what_is_meant(function: Callable[P, R]) -> Callable[P, R]:
    """A function that answers an argument that it does not have with the one that is meant.

    Raises:
        UsageError: there is such an argument.
    """

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        parameters = inspect.signature(function).parameters
        for name in kwargs.keys() - parameters.keys():
            meant = next((word for word in ALIKE.get(name, ()) if word in parameters), None)
            hint = f"did you mean {meant!r}?" if meant else nearest_or_all(name, parameters)
            raise UsageError(f"codeaudit.{function.__name__} takes no argument {name!r}; {hint}")
        return function(*args, **kwargs)

    return called
