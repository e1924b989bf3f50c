"""Pictures of learning curves, and the benchmarks that draw some."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

LOG = "step,loss,valid\n" + "".join(
    f"{step},{4 / step},{0.1 * step if step % 2 == 0 else ''}\n" for step in range(1, 7)
)


@pytest.mark.slow
def test_the_curves_of_trainings_are_drawn(script: Callable[[str], ModuleType], tmp_path: Path) -> None:
    curves = script("curves")
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "training.csv").write_text(LOG, encoding="utf-8")
    losses, valid = curves.read(tmp_path / "one")
    assert losses[:2] == [4.0, 2.0]
    assert [step for step, _ in valid] == [2, 4, 6]
    pictures = []
    for number in range(2):
        picture = tmp_path / f"{number}.svg"
        assert curves.main([str(tmp_path / "one"), str(tmp_path / "other"), "--out", str(picture)]) == 0
        pictures.append(picture.read_bytes())
    assert b"<svg" in pictures[0]
    assert pictures[0] == pictures[1]


def test_a_curve_is_the_mean_of_parts(script: Callable[[str], ModuleType]) -> None:
    means = script("curves").means
    assert means([1.0, 3.0, 5.0, 7.0, 9.0], 2) == [(2, 2.0), (4, 6.0)]
    assert means([1.0, 3.0], 100) == [(1, 1.0), (2, 3.0)]


def test_a_folder_without_a_log_is_one_line(
    script: Callable[[str], ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        script("curves").main([str(tmp_path), "--out", str(tmp_path / "x.svg")])
    assert "train with --log csv" in capsys.readouterr().err


@pytest.mark.weekly
def test_a_seal_is_measured_and_drawn(
    script: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seal = script("seal")
    for name in ("PUBLIC_STEPS", "OWNER_STEPS", "FURTHER_STEPS", "TIMED"):
        monkeypatch.setattr(seal, name, 3)
    monkeypatch.setattr(seal, "naming", lambda scratch: None)
    seal.main(["--curves", str(tmp_path / "curves.svg")])
    output = capsys.readouterr().out
    steps = output.partition("| a training step |")[2].partition("\n\n")[0].splitlines()[2:]
    operations = {line.split(" | ")[0]: line.split(" | ")[1] for line in steps}
    # Weights are permuted, not what is computed with them.
    assert operations["| normal"] == operations["| sealed, authorised"]
    assert "| sealed, unauthorised |" in output
    assert (tmp_path / "curves.svg").stat().st_size > 1000
