"""Converts records to JSON text and back, checked against their declared field types."""

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from codeaudit.transforms.errors import RunError

T = TypeVar("T")


def encode(record: Any) -> str:
    """Return a record as indented JSON with a final newline. Equal records give equal texts.

    Raises:
        ValueError: a number is NaN or infinite; a record must use `None` for a missing number.
    """
    return json.dumps(asdict(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def decode(cls: type[T], text: str, *, schema: int | None = None) -> T:
    """Read a record of class `cls` from JSON text. Unknown keys are ignored.

    Raises:
        RunError: malformed text, another schema, a missing field, or a value of the wrong type.
    """
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise RunError(f"summary is not JSON ({error}); run the audit again to write it anew") from error
    found = value.get("schema") if isinstance(value, dict) else None
    if schema is not None and found != schema:
        raise RunError(f"summary has schema {found!r}, this version reads {schema}; run the audit again")
    result: T = _read(cls, value, cls.__name__)
    return result


def _read(kind: Any, value: Any, where: str) -> Any:
    """Read one value, checked against the declared type of its field. `where` is its path, for messages."""
    if is_dataclass(kind) and isinstance(kind, type):
        return _record(kind, value, where)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        chosen = [argument for argument in arguments if argument is not NoneType]
        return None if value is None else _read(chosen[0], value, where)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(arguments[0], item, f"{where}[{n}]") for n, item in enumerate(value))
    if origin is Mapping and isinstance(value, dict):
        return {key: _read(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if origin is Literal and value in arguments:
        return value
    if origin is None:
        return _scalar(kind, value, where)
    raise _wrong(where, value)


def _record(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(where, value)
    hints = get_type_hints(kind)
    known = {}
    for each in fields(kind):
        if each.name in value:
            known[each.name] = _read(hints[each.name], value[each.name], f"{where}.{each.name}")
        elif each.default is MISSING and each.default_factory is MISSING:
            raise RunError(f"summary lacks {where}.{each.name}; run the audit again to write it anew")
    return kind(**known)


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        if math.isfinite(value):
            return float(value)
    elif isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise _wrong(where, value)


def _wrong(where: str, value: object) -> RunError:
    return RunError(f"summary has {value!r:.60} at {where}; run the audit again to write it anew")
