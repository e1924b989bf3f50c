"""Code and programs are loaded only if somebody typed their names."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codeaudit.audit.engines.local import spread
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.registry import TASKS
from codeaudit.transforms import permission
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.permission import is_permitted, permit, permitted
from codeaudit.transforms.registry import TRANSFORMS


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("py/m:f", "py/m:f"),
        ("rename, py/m:f", "py/m:f"),
        ("--model=py/m:f", "py/m:f"),
        ("canonical/canonical/py/m:f", "py/m:f"),
        ("mixed/py/m:a+py/m:b", "py/m:a"),
        ("mixed/py/m:a+py/m:b", "py/m:b"),
        ("py/m:task:0.25", "py/m:task"),
        ("exec/sh -c 'a=1,b'", "exec/sh -c 'a=1,b'"),
        ("codemod/m:Command", "codemod/m:Command"),
        (["x", ("py/m:f",)], "py/m:f"),
    ],
)
def test_a_name_is_permitted_by_any_text_that_holds_it(typed: object, name: str) -> None:
    assert not is_permitted(name)
    permit(typed)
    assert is_permitted(name)


@pytest.mark.parametrize("typed", ["py/m:other", "py/m", "m:f", "py/m:f2", "xpy/m:f", None, 3, b"py/m:f"])
def test_another_name_permits_nothing(typed: object) -> None:
    permit(typed)
    assert not is_permitted("py/m:f")


LOADERS: dict[str, Callable[[str], object]] = {
    "model": lambda name: catalogue.load(name, Settings(), {}),
    "canonical model": lambda name: catalogue.load(f"canonical/{name}", Settings(), {}),
    "task": TASKS.get,
    "task with a share": lambda name: TASKS.get(f"{name}:0.25"),
    "transform": TRANSFORMS.get,
    "mixture": lambda name: TRANSFORMS.get(f"mixed/{name}+rename"),
    "codemod": lambda name: TRANSFORMS.get("codemod/traced_here:Thing"),
}


@pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
def test_nothing_is_imported_that_nobody_typed(
    load: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    Path("traced_here.py").write_text("open('imported', 'w').close()\n", "utf-8")
    with pytest.raises(UsageError, match="is code that a file names, and reading a file runs nothing"):
        load("py/traced_here:Thing")
    assert not Path("imported").exists()
    permit("py/traced_here:Thing", "codemod/traced_here:Thing")
    with pytest.raises(Exception, match="Thing"):
        load("py/traced_here:Thing")
    assert Path("imported").exists(), "the module, which has no such object"


def test_no_program_is_started_that_nobody_typed(tmp_path: Path) -> None:
    spec = f"exec/{sys.executable} -c \"open('{tmp_path / 'started'}', 'w')\""
    with pytest.raises(UsageError, match="is code that a file names"):
        catalogue.load(spec, Settings(), {})
    assert not (tmp_path / "started").exists()


def _in_worker(name: str) -> bool:
    return is_permitted(name)


@pytest.mark.slow
def test_a_worker_permits_what_its_parent_permits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permission, "_named", set())
    permit("py/m:f")
    assert permitted() == {"py/m:f"}
    asked = ["py/m:f", "py/m:g"] * 4
    assert list(spread(_in_worker, asked, workers=2, chunk=1, few=0)) == [True, False] * 4
