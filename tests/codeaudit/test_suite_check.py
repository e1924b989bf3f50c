"""A suite that codeaudit would not draw is refused, also if its hashes were computed anew."""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from codeaudit.audit.store import MANIFEST, SUITE, VERDICTS
from codeaudit.cli.main import main
from tests.support.forgery import Row, edit_json, edit_rows, rebind

CODE = "".join(
    f"def spread_{n}(values):\n    low = min(values)\n    high = max(values)\n    return high - low + {n}\n\n\n"
    for n in range(8)
)
RUN = ["run", "--corpus", "code.py", "--transform", "reorder,rename", "--workers", "1", "--movable", "0"]

Forge = Callable[[Path], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("code.py").write_text(CODE, "utf-8")
        assert main([*RUN, "--model", "fake/hash", "--model", "fake/length", "--out", "run"]) == 0
    return folder


def both(change: Callable[[Iterable[Row]], Iterable[Row]]) -> Forge:
    """Edit the suite and the verdicts alike."""

    def forge(run: Path) -> None:
        for name in (SUITE, VERDICTS):
            edit_rows(run / name, change)

    return forge


def where(**wanted: object) -> Callable[[Row], bool]:
    return lambda row: all(row[name] == value for name, value in wanted.items())


def replaced(fits: Callable[[Row], bool], **fields: object) -> Forge:
    return both(lambda rows: [{**row, **fields} if fits(row) else row for row in rows])


def dropped(fits: Callable[[Row], bool]) -> Forge:
    return both(lambda rows: [row for row in rows if not fits(row)])


def with_originals_as_controls(run: Path) -> None:
    def change(rows: Iterable[Row]) -> Iterable[Row]:
        kept = list(rows)
        originals = {row["sample"]: row["input"] for row in kept if row["kind"] == "identity"}
        for row in kept:
            if row["kind"] == "control" and row["input"] is not None:
                row["input"] = originals[row["sample"]]
                if row.get("perturbed"):
                    row["perturbed"] = row["source"]
        return kept

    both(change)(run)


def without_a_model(run: Path) -> None:
    manifest = json.loads((run / MANIFEST).read_text("utf-8"))
    edit_json(run / MANIFEST, models=manifest["models"][:1])


def under_more_seeds(run: Path) -> None:
    both(lambda rows: [{**row, "seed": seed} for held in [list(rows)] for seed in range(3) for row in held])(
        run
    )


FORGERIES: dict[str, tuple[Forge, str]] = {
    "a kind of a transform": (replaced(where(transform="rename"), kind="control"), "it is 'preserving'"),
    "a control as a transform": (
        replaced(where(transform="rename-merging"), kind="preserving"), "it is 'control'",
    ),
    "a variant dropped": (dropped(where(transform="rename", variant=3)), "has 3 variants"),
    "a transform dropped of one sample": (
        both(lambda rows: [row for n, held in enumerate([list(rows)]) for row in held
             if not (row["transform"] == "rename" and row["sample"] == held[0]["sample"])]),
        "lacks the variants",
    ),
    "controls that are originals": (with_originals_as_controls, "has the original of sample"),
    "a model left out": (without_a_model, "another number of models"),
    "trials that were never drawn": (under_more_seeds, "has 3 trials of 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_suite_is_refused_by_every_reader(
    name: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forge, message = FORGERIES[name]
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made / "run", "forged")
    forge(Path("forged"))
    rebind(Path("forged"))
    for words in (
        ["gate", "forged", "--max-violation-rate", "99%"],
        ["report", "forged"],
        ["explain", "forged"],
    ):
        capsys.readouterr()
        assert main(words) == 3, name
        assert message in capsys.readouterr().err


def test_the_run_itself_is_read(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "other"))
    assert main(["report", str(made / "run")]) == 0
