"""The options in a manifest: `explain` and `merge` read what `run` wrote."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest

from codeaudit import running
from codeaudit.option_table import DeclaredOption
from codeaudit.options import TABLE, RunOptions
from codeaudit.transforms.errors import RunError

PLACE = Path("run/manifest.json")
SET: Final[dict[str, Any]] = {
    "model": ("fake/hash",), "model_argument": ("seed=1",), "base_url": "http://127.0.0.1/v1",
    "transform": "rename", "attack": "greedy", "shard": "1/2", "label_map": "LABEL_1=1",
    "prompt": ("few-shot",),
}  # fmt: skip
"""Values of options that not every value of their type may have."""


def another(option: DeclaredOption) -> Any:
    """A value of an option that is not the default."""
    if option.kind is bool:
        return not option.default
    if option.choices:
        return next(value for value in option.choices if value != option.default)
    return SET.get(option.name) or {int: 7, float: 5.5, Path: Path(option.name), str: "text"}[option.kind]


IN_PYTHON: Final = {"model": "models", "transform": "transforms", "model_argument": "model_arguments"}
"""Parameters of `codeaudit.run` with another name than the option."""
ONLY_COMMAND_LINE: Final = frozenset({"format"})
BECOMES_MODELS: Final = frozenset({"prompt"})
"""Becomes models with arguments before anything reads it (tests/codeaudit/test_prompts.py)."""


def kept(options: RunOptions) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(options.to_json(options.model)))
    return found


@pytest.mark.thinned(14)
@pytest.mark.parametrize("name", sorted(TABLE.keys() - ONLY_COMMAND_LINE - BECOMES_MODELS))
def test_every_option_can_be_set_in_python(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[RunOptions] = []

    def audited(options: RunOptions, **more: object) -> None:
        received.append(options)
        raise RunError("seen")

    monkeypatch.setattr(running, "audit_models", audited)
    value = {"seed": "1"} if name == "model_argument" else another(TABLE[name])
    given: dict[str, Any] = {IN_PYTHON.get(name, name): value}
    with pytest.raises(RunError, match="seen"):
        running.run(**given)
    assert getattr(received[0], name) == another(TABLE[name])


def test_a_proxy_is_neither_kept_nor_taken_from_a_manifest() -> None:
    """Who names one reads what is sent, so a manifest of a stranger must not."""
    options = RunOptions(model=("openai/tiny",), proxy="http://proxy:8080")
    assert kept(options)["proxy"] is None
    assert RunOptions.of_manifest({**kept(options), "proxy": "http://proxy:8080"}, PLACE).proxy is None


@pytest.mark.thinned(14)
@pytest.mark.parametrize("name", [field.name for field in fields(RunOptions) if TABLE[field.name].entry.kept])
def test_every_option_comes_back_from_a_manifest(name: str) -> None:
    value = another(TABLE[name])
    assert value != getattr(RunOptions(), name), "the value is not the default"
    # The address is kept if an endpoint is asked.
    options = RunOptions(**{"model": ("openai/tiny",), name: value})
    again = RunOptions.of_manifest(kept(options), PLACE)
    assert getattr(again, name) == value


def test_whole_costs_and_absent_options_come_back() -> None:
    assert RunOptions.of_manifest({**kept(RunOptions()), "max_cost": 5}, PLACE).max_cost == 5
    assert RunOptions.of_manifest(kept(RunOptions()), PLACE) == RunOptions()
    assert RunOptions.of_manifest({}, PLACE) == RunOptions()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_cost", "5"), ("max_cost", True), ("max_requests", 1.5), ("max_requests", "9"), ("labels", 3),
        ("cache", 3), ("variants", None), ("controls", 1), ("model", "fake/hash"), ("shard", 2),
    ],
)  # fmt: skip
def test_an_option_of_another_type_is_named(name: str, value: object) -> None:
    with pytest.raises(RunError, match=f"the option '{name}' is "):
        RunOptions.of_manifest({**kept(RunOptions()), name: value}, PLACE)
