"""Names become objects when they are asked for: built-in ones, plug-ins, and objects of the user's project."""

import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from codeaudit.transforms.errors import CannotAudit, UsageError
from codeaudit.transforms.permission import permit
from codeaudit.transforms.registration import Entry, Registry, unknown
from tests.support.plugins import install

GROUP = "codeaudit.greeters"


class Greeter(Protocol):
    @property
    def name(self) -> str: ...

    def greet(self, whom: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Polite:
    """Says good day."""

    name: str = "polite"

    def greet(self, whom: str) -> str:
        return f"good day, {whom}"


POLITE = Polite()

GREETERS: Registry[Greeter] = Registry(
    "greeter",
    {"polite": Entry(f"{__name__}:POLITE", "says good day")},
    group=GROUP,
    expects=Greeter,
    project=True,
)

LOUD = '''
class Loud:
    """Shouts.

    Not for libraries."""
    name = "loud"
    def greet(self, whom):
        return "HEY " + whom
LOUD = Loud()
class Mute:
    name = "mute"
'''


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    known = set(sys.modules)
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)
    yield folder
    for name in set(sys.modules) - known:
        del sys.modules[name]


def test_a_built_in_name_is_imported_when_asked_for() -> None:
    assert GREETERS.get("polite") is POLITE
    assert GREETERS.summary("polite") == "says good day"
    assert "polite" in GREETERS
    assert "rude" not in GREETERS


def test_an_unknown_name_brings_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown greeter 'polit'; did you mean 'polite'"):
        GREETERS.get("polit")
    with pytest.raises(UsageError, match="unknown greeter 'xyz'; known: polite"):
        GREETERS.summary("xyz")
    many = [f"transform-{number}" for number in range(40)]
    message = unknown("transform", "xyz", many)
    assert message.endswith("; codeaudit list transforms shows all 40")
    assert len(message) < 120
    # What no command lists is shown as a whole.
    assert unknown("greeter", "xyz", many).count("transform-") == 40


def test_a_name_that_is_built_in_twice_is_an_error() -> None:
    table = {"polite": Entry("a:b", "")}
    with pytest.raises(ValueError, match="registered twice as a greeter: polite"):
        Registry("greeter", table, table)


def test_an_installed_plug_in_is_a_name_like_others(path: Path) -> None:
    install(path, "loud-plug-in", {GROUP: {"loud": "shouting:LOUD", "quiet": "shouting:Loud"}},
            {"shouting": LOUD})  # fmt: skip
    assert list(GREETERS) == ["polite", "loud", "quiet"]
    assert "shouting" not in sys.modules, "listing names imports no plug-in"
    assert GREETERS.get("loud").greet("you") == "HEY you"
    assert GREETERS.get("quiet").name == "quiet", (
        "a class is called, and has the name that it is registered by"
    )
    assert GREETERS.get("loud").name == "loud"
    assert GREETERS.summary("loud") == "Shouts."
    with pytest.raises(UsageError, match="did you mean 'loud'"):
        GREETERS.get("lound")


def test_a_built_in_wins_with_one_note(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    install(path, "taken", {GROUP: {"polite": "shouting:LOUD"}}, {"shouting": LOUD})
    with caplog.at_level(logging.WARNING):
        assert list(GREETERS) == ["polite"]
        assert list(GREETERS) == ["polite"]
        assert GREETERS.get("polite") is POLITE
    assert [record.getMessage() for record in caplog.records] == [
        f"codeaudit: plug-in 'polite' ({GROUP}) of 'taken' has no effect: the built-in one of this name is used"
    ]


def test_two_plug_ins_of_one_name_are_an_error_that_names_both(path: Path) -> None:
    install(path, "one", {GROUP: {"loud": "shouting:LOUD"}}, {"shouting": LOUD})
    install(path, "other", {GROUP: {"loud": "shouting:LOUD"}}, {})
    assert GREETERS.get("polite") is POLITE
    with pytest.raises(UsageError, match=r"'loud' .* is in 'one' and 'other'; uninstall all but one"):
        GREETERS.get("loud")


@pytest.mark.parametrize(
    ("target", "cause"),
    [
        ("no_such_module:X", "cannot import 'no_such_module': ModuleNotFoundError"),
        ("failing:X", "cannot import 'failing': ZeroDivisionError"),
        ("shouting:NOTHING", "module 'shouting' has no 'NOTHING'"),
        ("shouting:Mute", "a Mute is no greeter: it lacks greet"),
    ],
)
def test_a_broken_plug_in_stops_only_what_uses_it(path: Path, target: str, cause: str) -> None:
    install(path, "broken", {GROUP: {"bad": target, "loud": "shouting:LOUD"}},
            {"shouting": LOUD, "failing": "1 / 0"})  # fmt: skip
    assert GREETERS.get("loud").name == "loud"
    with pytest.raises(CannotAudit) as raised:
        GREETERS.get("bad")
    assert str(raised.value).startswith(f"plug-in 'bad' ({GROUP}) of 'broken' is broken: {cause}")


def test_an_object_of_the_project_needs_no_package(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path.parent / "mine.py").write_text(LOUD, "utf-8")
    before = list(sys.path)
    permit(*(f"py/mine:{name}" for name in ("LOUD", "Loud", "Mute", "X")))
    greeter = GREETERS.get("py/mine:LOUD")
    assert (greeter.name, greeter.greet("you")) == ("py/mine:LOUD", "HEY you")
    assert "py/mine:LOUD" in GREETERS
    assert GREETERS.get("py/mine:Loud").name == "py/mine:Loud"
    assert sys.path == before
    with pytest.raises(UsageError, match="greeter 'py/mine' must be py/MODULE:OBJECT"):
        GREETERS.get("py/mine")
    with pytest.raises(CannotAudit, match="greeter 'py/mine:Mute': a Mute is no greeter: it lacks greet"):
        GREETERS.get("py/mine:Mute")
    with pytest.raises(CannotAudit, match="greeter 'py/mine:X': module 'mine' has no 'X'"):
        GREETERS.get("py/mine:X")
