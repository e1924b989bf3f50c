"""Published suites: what stands in the table is here, and a run takes it."""

import json
from pathlib import Path

import pytest

from codeaudit.cli.main import main
from codeaudit.options import ATTACKS
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.language import every_language
from codeaudit.transforms.registry import expand, left_out
from codeaudit.transforms.suites import SUITES


def test_every_counterpart_is_a_transform_that_keeps_the_meaning() -> None:
    kinds = {
        (name, entry.kind) for language in every_language() for name, entry in language.transforms.items()
    }
    for suite in SUITES.values():
        assert set(filter(None, suite.attack.split(","))) <= {*ATTACKS}
        for original in suite.originals:
            assert original.ours or original.note, f"{original.name}: no counterpart and no reason"
            kind = "prose" if suite is SUITES["recode-docstring"] else "preserving"
            assert {(name, kind) for name in original.ours} <= kinds, original.name


def test_a_suite_stands_for_what_the_languages_have() -> None:
    assert "bool-literals" in expand(["suite/averloc"], languages=("java",))
    assert "bool-literals" not in expand(["suite/averloc"], languages=("c",))
    assert left_out("suite/averloc", ("c",))[-3:] == ("ReplaceTrueFalse", "UnrollWhiles", "WrapTryCatch")
    assert expand(["suite/alert"], languages=("x86",)) == (), "registers are no variables"
    assert expand(["suite/alert"], interface=False) == ("rename",)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("suite/codecrsh", "codecrash"), ("averloc", "suite/averloc"), ("suite:coda", "suite/coda")],
)
def test_a_wrong_name_gets_the_nearest(written: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean '{meant}'"):
        expand([written])


def test_a_run_records_our_transforms_and_tells_what_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "code.py").write_text(
        "def total(items):\n    found = 0\n    for one in items:\n        found += one\n    return found\n"
    )
    words = ["run", "--corpus", str(tmp_path / "code.py"), "--model", "fake/hash", "--workers", "1"]
    assert main([*words, "--transform", "suite/recode-syntax", "--out", str(tmp_path / "out")]) == 0
    output = capsys.readouterr().err
    assert "suite/recode-syntax without DeadCodeInserterLast: no counterpart in python" in output
    transforms = json.loads((tmp_path / "out" / "manifest.json").read_text())["transforms"]
    assert {"rename-canonical", "for-to-while", "identity"} <= {*transforms}
    assert not any("/" in name for name in transforms)


def test_list_shows_the_mapping(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "suites"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(SUITES)
    assert main(["list", "suites", "averloc"]) == 0
    shown = capsys.readouterr().out
    assert "RenameLocalVariables: rename (python, java" in shown
    assert "WrapTryCatch: none; " in shown
    assert main(["list", "suites", "averlok"]) == 2
    assert "did you mean 'averloc'?" in capsys.readouterr().err
    assert main(["list", "tasks", "averloc"]) == 2
