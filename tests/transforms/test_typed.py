"""Attributes of plug-ins' objects are held against the types that records and protocols declare."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest

from codeaudit.audit.interface import Task
from codeaudit.audit.models.catalogue import PROVIDERS
from codeaudit.audit.models.provider import Provider
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.interface import Identity, Transform
from codeaudit.transforms.language import LANGUAGES, Language
from codeaudit.transforms.registration import Registry, fits, wrong_member
from codeaudit.transforms.registry import TRANSFORMS


@pytest.mark.parametrize(
    ("registry", "declared"),
    [(TRANSFORMS, Transform), (LANGUAGES, Language), (TASKS, Task), (PROVIDERS, Provider)],
    ids=lambda registry: getattr(registry, "noun", None),
)
def test_all_that_is_built_in_fits(registry: Registry[object], declared: type) -> None:
    assert {wrong_member(registry.get(name), declared) for name in registry.built_in} == {""}


@pytest.mark.parametrize(
    ("value", "hint", "fit"),
    [
        ("a", str, True),
        (1, str, False),
        (1, float, True),
        ("1", float, False),
        (None, str | None, True),
        (1, str | None, False),
        ({"a"}, frozenset[str], True),
        (["a"], frozenset[str], False),
        ("python", frozenset[str], False),
        (frozenset({1}), frozenset[str], False),
        (("a", "b"), tuple[str, ...], True),
        (["a"], tuple[str, ...], False),
        ("ab", tuple[str, ...], False),
        (("a", 1), tuple[str, int], True),
        (("a", 1, 2), tuple[str, int], False),
        ((), tuple[str, ...], True),
        ({"a": "b"}, Mapping[str, str], True),
        ({"a": 1}, Mapping[str, str], False),
        ({"a": len}, Mapping[str, Callable[[str], int]], True),
        ({"a": 3}, Mapping[str, Callable[[str], int]], False),
        ("x", Literal["x", "y"], True),
        ("z", Literal["x", "y"], False),
        (3, Any, True),
        (3, Transform, True),
    ],
)
def test_a_value_fits_a_type(value: object, hint: object, fit: bool) -> None:
    assert fits(value, hint) is fit


def test_the_message_names_the_attribute_and_what_is_wanted() -> None:
    provider = Provider(form="a/B", summary="", load=print)  # type: ignore[arg-type]
    assert wrong_member(provider, Provider) == ""
    named = replace(provider, names=("a", "b"))  # type: ignore[arg-type]
    message = "its names is ('a', 'b'); it must be a mapping from text to text"
    assert wrong_member(named, Provider) == message
    unit = Identity(unit="line")  # type: ignore[arg-type]
    assert wrong_member(unit, Transform) == "its unit is 'line'; it must be one of function, module"
