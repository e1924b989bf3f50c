"""The table of transforms: every entry shows what it says, on its own example."""

import asyncio
import contextlib
import inspect
import io
import itertools
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.language import LANGUAGES, Language, TransformFamily, keeps
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.python import order
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import Origin, Outcome, Perturbed, Sample
from codeaudit.transforms.registry import (
    ALL,
    ENTRIES,
    TRANSFORMS,
    expand,
    families,
    languages_of,
    transform_for,
)

NAMES = list(PYTHON.transforms)
PRESERVING = [name for name in NAMES if ENTRIES[name].kind == "preserving"]
CONTROLS = [name for name in NAMES if ENTRIES[name].kind == "control"]

VALUES: tuple[Any, ...] = (
    0,
    3,
    -2,
    1.5,
    True,
    None,
    "ab",
    "a b,c",
    [],
    [3, 1, 2],
    ["b", "a"],
    {"a": 1},
    [[1, 2], [3]],
)
"""Arguments to call functions of examples with, of which each call gets fresh ones."""


@pytest.mark.thinned(40)
@pytest.mark.parametrize("name", NAMES)
def test_the_example_is_rewritten_and_always_in_the_same_way(name: str) -> None:
    outcome = _outcome(name)
    assert isinstance(outcome, Perturbed), outcome.reason
    assert outcome.source != ENTRIES[name].example
    assert outcome == _outcome(name)


@pytest.mark.thinned(30)
@pytest.mark.parametrize("name", PRESERVING)
def test_the_example_behaves_as_before(name: str) -> None:
    outcome = _outcome(name)
    assert isinstance(outcome, Perturbed)
    before, after = _behaviour(ENTRIES[name].example), _behaviour(outcome.source)
    assert before
    assert after == before, outcome.source


@pytest.mark.parametrize("name", CONTROLS)
def test_the_example_of_a_control_behaves_otherwise(name: str) -> None:
    outcome = _outcome(name)
    assert isinstance(outcome, Perturbed)
    assert _behaviour(outcome.source) != _behaviour(ENTRIES[name].example), outcome.source


@pytest.mark.thinned(18)
@pytest.mark.parametrize("name", [name for name in NAMES if ENTRIES[name].twin])
def test_a_twin_is_a_control(name: str) -> None:
    twin = ENTRIES[name].twin
    assert twin in CONTROLS
    assert ENTRIES[name].kind == "preserving"


@pytest.mark.thinned(58)
@pytest.mark.parametrize("name", ENTRIES)
def test_the_entry_agrees_with_the_transform(name: str) -> None:
    transform = TRANSFORMS.get(name)
    assert transform.name == name
    assert transform.kind == ENTRIES[name].kind
    assert "\n" not in ENTRIES[name].summary


def test_a_name_means_in_each_language_what_that_language_says() -> None:
    assert languages_of("rename")[:3] == ("python", "java", "x86")
    assert transform_for("rename", "x86").languages == {"x86"}
    assert transform_for("rename", "python") is TRANSFORMS.get("rename")
    assert transform_for("rename-random", "x86") is TRANSFORMS.get("rename-random")
    assert transform_for("identity", "x86") is TRANSFORMS.get("identity")
    assert languages_of("identity") == ()


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_the_transform_of_a_language_is_for_that_language(language: str) -> None:
    for name, entry in LANGUAGES.get(language).transforms.items():
        transform = transform_for(name, language)
        assert transform.languages == {language}
        assert (transform.name, transform.kind) == (name, entry.kind)


def test_no_name_is_registered_twice_in_a_language() -> None:
    with pytest.raises(ValueError, match=r"registered twice for Toy: .*reorder"):
        Language(name="toy", title="Toy", units="lines", families=(order.FAMILY, order.FAMILY))
    row = keeps("module:REORDER", "", "")
    with pytest.raises(ValueError, match="registered twice in family 'order': reorder"):
        TransformFamily.of("package", "order", "", row, row)
    known = {family.name for family in families()}
    assert not known & ENTRIES.keys()
    assert ALL not in {*ENTRIES, *known}


def test_families_are_expanded() -> None:
    assert expand(["order"], languages=["python"]) == tuple(
        name for name in PRESERVING if ENTRIES[name].family == "order"
    )
    assert "rename-parameters" in expand(["identifiers"])
    assert "rename-parameters" not in expand(["identifiers"], interface=False)
    assert expand([ALL]) == tuple(
        name
        for name, entry in ENTRIES.items()
        if entry.kind == "preserving" and not (entry.interface or entry.assumes)
    )
    assert expand(["x86"]) == ("rename", "reorder")
    assert expand(["rename", "order", "rename"])[:2] == ("rename", "reorder")
    assert expand(PYTHON.standard) == PYTHON.standard
    with pytest.raises(UsageError, match="did you mean 'order'"):
        expand(["ordre"])


def _outcome(name: str) -> Outcome:
    example = ENTRIES[name].example
    sample = Sample(id=name, language="python", source=example, label=None, origin=Origin(path="", line=1))
    (outcome,) = perturb_one(sample, TRANSFORMS.get(name), variants=1, seed=0, sites="all")
    return outcome


def _behaviour(source: str) -> list[tuple[str, ...]]:
    """What a text does when it is executed, and its functions when they are called with anything."""
    scope: dict[str, Any] = {"__name__": "example"}
    seen = [_told(lambda: exec(compile(source, "<example>", "exec"), scope))]
    own = [value for value in scope.values() if getattr(value, "__module__", None) == "example"]
    # Called by position, so neither names nor their order in the text matter.
    calls = sorted(_calls(value) for value in own if callable(value))
    return [*seen, *(call for group in calls for call in group)]


def _calls(value: Callable[..., Any]) -> list[tuple[str, ...]]:
    """What calling a function with each choice of arguments does; of a class, what its methods do."""
    if inspect.isclass(value):
        methods = [name for name in sorted(vars(value)) if callable(getattr(value, name))]
        return [_told(lambda name=name, given=given: _method(value, name, given)) for name in methods  # type: ignore[misc]
                for given in _arguments(getattr(value, name), skip=1)]  # fmt: skip
    return [_told(lambda given=given: value(*given)) for given in _arguments(value)]  # type: ignore[misc]


def _method(value: type, name: str, given: tuple[Any, ...]) -> object:
    made = value.__new__(value)  # type: ignore[call-overload]
    with contextlib.suppress(TypeError):
        made.__init__()
    result = getattr(made, name)(*given)
    return result, sorted(vars(made).items())


def _arguments(value: Callable[..., Any], *, skip: int = 0) -> Iterator[tuple[Any, ...]]:
    try:
        parameters = list(inspect.signature(value).parameters.values())[skip:]
    except (TypeError, ValueError):
        return
    count = sum(
        parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        for parameter in parameters
    )
    if count < 3:
        yield from (_fresh(given) for given in itertools.product(VALUES, repeat=count))
    else:
        every = VALUES * 2
        yield from (_fresh(every[first : first + count]) for first in range(len(VALUES)))
        yield from (_fresh((value,) * count) for value in VALUES)


def _fresh(given: tuple[Any, ...]) -> tuple[Any, ...]:
    fresh: tuple[Any, ...] = eval(repr(given))
    return fresh


def _told(action: Callable[[], object]) -> tuple[str, ...]:
    """What an action prints, gives and raises; addresses and the names in messages left out."""
    out, given, raised = io.StringIO(), "", ""
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            given = repr(_result(action()))
        except Exception as error:
            raised = (
                type(error).__name__ if isinstance(error, NameError) else f"{type(error).__name__}: {error}"
            )
    return re.sub(r"0x[0-9a-f]+", "0x", out.getvalue()), re.sub(r"0x[0-9a-f]+", "0x", given), raised


def _result(value: object) -> object:
    if inspect.iscoroutine(value):
        return asyncio.run(value)
    if inspect.isgenerator(value):
        return list(itertools.islice(value, 50))
    return value
