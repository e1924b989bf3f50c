"""`codeaudit gate RUN --write-limits FILE`: the file stays the user's, and its limits let the run pass."""

import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from codeaudit.cli.gate import _loss, _share
from codeaudit.cli.main import main
from codeaudit.finished_runs import read_run
from codeaudit.limits_file import suggested, write_limits
from codeaudit.reports.gate import Limits, gate
from codeaudit.transforms.errors import RunError, UsageError
from tests.codeaudit.cli.test_gate import MODELS, sources
from tests.reports.test_gate import crowd, judged
from tests.support.audited import Subtokens, audited, sample

OPTIONS = ("max-violation-rate", "max-f1-drop", "min-sensitivity")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a model that reacts to the meaning alone, and one of a dead model."""
    place = tmp_path_factory.mktemp("limits")
    sources(place / "src")
    (place / "limited.py").write_text(MODELS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr(sys, "path", sys.path[:])
        for name in ("steady", "dead"):
            words = ["--model", f"py/limited:{name}", "--corpus", "src", "--workers", "1", "--out", name]
            assert main(["run", *words]) == 0
        sys.modules.pop("limited", None)
    return place


FILE = """\
# The limits of the project.
title = "ours"   # kept

[run]
model = "py/limited:steady"  # the one that we ship
limit = 200
corpus = [
    "src",  # our code
]

[gate] # read by CI
margin = "2%"   # agreed on
{old}

# What others read.
[tool.other]
key = {{ a = 1, b = [1, 2] }}
[[tool.list]]
name = "x"
"""


def written(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "old",
    [
        "",
        'max-violation-rate = "1%"',
        'max_violation_rate = "1%"  # too strict',
        'max_violation_rate = 0.01\nmin-sensitivity = "99%"\nmax_f1_drop = 0',
    ],
)
def test_the_rest_of_the_file_stays_as_it_was(
    old: str, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "codeaudit.toml"
    path.write_text(FILE.format(old=old), "utf-8")
    before = written(path)
    assert main(["gate", str(runs / "steady"), "--write-limits", str(path)]) == 0
    after = written(path)
    gated = after.pop("gate")
    assert {key: value for key, value in before.items() if key != "gate"} == after
    assert sorted(gated) == sorted(["margin", *OPTIONS]), "no option twice, under any spelling"
    assert gated["margin"] == "2%"
    # Every line but those of the options themselves, comments and blanks included, in the old order.
    kept = [line for line in FILE.format(old="").splitlines() if line]
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith(OPTIONS)]
    assert lines == kept
    # The terminal says what the file says.
    err = capsys.readouterr().err
    for option in OPTIONS:
        assert f"{path}: {option} = {gated[option]}  (" in err


@pytest.mark.slow
def test_a_second_time_nothing_is_added(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "codeaudit.toml"
    texts = []
    for _ in range(2):
        assert main(["gate", str(runs / "steady"), "--write-limits", str(path)]) == 0
        texts.append(path.read_text("utf-8"))
    assert texts[0] == texts[1]
    assert texts[0].count("max-violation-rate") == 1


def test_a_new_file_gates_the_run(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new" / "codeaudit.toml"
    assert main(["gate", str(runs / "steady"), "--write-limits", str(path)]) == 0
    assert list(written(path)) == ["gate"]
    capsys.readouterr()
    assert main(["gate", str(runs / "steady"), "--config", str(path)]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("violations", "f1 drop", "sensitivity"))
    assert main(["gate", str(runs / "dead"), "--config", str(path), "--allow-insensitive"]) == 1
    # The limits of the file hold while new ones are written.
    assert main(["gate", str(runs / "steady"), "--config", str(path), "--write-limits", str(path)]) == 0


def test_each_comment_says_what_was_measured_and_why_the_limit_is_another(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "codeaudit.toml"
    assert main(["gate", str(runs / "steady"), "--write-limits", str(path)]) == 0
    (model,) = read_run(runs / "steady").summary.models
    high = max(row.violations.high or 0 for row in model.by_transform if row.kind == "preserving")
    assert 0.13 < high < 0.14, "0 of 24"
    assert model.sensitivity.low is not None
    low = int(100 * model.sensitivity.low)
    lines = dict(
        line.split(" = ", 1) for line in path.read_text("utf-8").splitlines() if line.startswith(OPTIONS)
    )
    rate = 'max-violation-rate = "14%" # measured: 0 % (0/24) under '
    assert f"max-violation-rate = {lines['max-violation-rate']}".startswith(rate)
    assert lines["max-violation-rate"].endswith(
        "; this is the upper end of its 95 % interval, which is wide: it comes from 24 samples only"
    )
    counts = f"{model.sensitivity.count}/{model.sensitivity.total}"
    assert lines["min-sensitivity"].startswith(f'"{low}%" # measured: ')
    assert lines["min-sensitivity"].endswith(f"({counts}); this is the lower end of its 95 % interval")
    # 1.96 / 24, rounded up to a whole percent.
    assert lines["max-f1-drop"] == '"9%" # measured: 0 %; with 24 samples a score varies by 8.2 %'


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("before", [None, FILE.format(old="")])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["dead"], 1),
        (["steady", "--min-sensitivity", "100%", "--max-unjudged", "0", "--transform", "rename"], 0),
        (["steady", "--baseline", "dead", "--max-violation-rate", "0"], 0),
        (["dead", "--baseline", "steady"], 1),
        (["dead", "--max-violation-rate", "5%", "--min-sensitivity", "5%", "--allow-insensitive"], 1),
    ],
)
def test_only_a_run_that_passes_gives_limits(
    words: list[str],
    code: int,
    before: str | None,
    runs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(runs)
    path = tmp_path / "codeaudit.toml"
    if before is not None:
        path.write_text(before, "utf-8")
    assert main(["gate", *words, "--write-limits", str(path)]) == code
    message = f"{path}: no limits are written from a run that does not pass"
    if code:
        assert message in capsys.readouterr().err
        assert (path.read_text("utf-8") if path.exists() else None) == before
    else:
        assert message not in capsys.readouterr().err
        assert "max-violation-rate" in path.read_text("utf-8")


def test_a_run_that_cannot_be_judged_gives_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sources(tmp_path / "src")
    few = ["--corpus", "src", "--limit", "2", "--transform", "rename", "--no-controls", "--workers", "1"]
    assert main(["run", "--model", "fake/constant", *few, "--out", "few"]) == 0
    assert main(["gate", "few", "--write-limits", "codeaudit.toml"]) == 3
    assert "no limits are written from a run that does not pass" in capsys.readouterr().err
    assert not Path("codeaudit.toml").exists()


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("[gate\n", UsageError, "is not TOML"),
        ("gate = 3\n", UsageError, r"'gate' in .* is no table; write \[gate\]"),
        ("[[gate]]\na = 1\n", UsageError, r"is no table; write \[gate\]"),
        (b"\xff\xfe", UsageError, "is not TOML"),
    ],
)
def test_what_is_no_file_of_options_stays(
    text: str | bytes, error: type[Exception], told: str, tmp_path: Path
) -> None:
    path = tmp_path / "codeaudit.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    content = path.read_bytes()
    with pytest.raises(error, match=told):
        write_limits(path, judged(*crowd(3, 30)), 0.01)
    assert path.read_bytes() == content


def test_a_folder_is_one_line(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "folder.toml"
    place.mkdir()
    assert main(["gate", str(runs / "steady"), "--write-limits", str(place)]) in (2, 3)
    *_, last = capsys.readouterr().err.splitlines()
    assert str(place) in last
    assert "unexpected" not in last


def test_without_a_rate_there_is_no_limit(tmp_path: Path) -> None:
    lost = judged(audited("m", sample("a", None), before=None, after={"rename": [("get",)]}))
    with pytest.raises(RunError, match="nothing was judged"):
        write_limits(tmp_path / "x.toml", lost, 0.01)
    assert not (tmp_path / "x.toml").exists()


@pytest.mark.thinned(2)
@pytest.mark.parametrize("violated", [0, 1, 20, 58, 59, 60])
@pytest.mark.parametrize("reacting", [3, 30, 60])
def test_the_limits_of_a_run_let_it_pass(violated: int, reacting: int, tmp_path: Path) -> None:
    """Also where the interval ends at 100 % or near 0 %; such a limit would hold nothing and is left out."""
    run = judged(*crowd(violated, 60, reacting=reacting), *crowd(violated // 2, 60, model="n"))
    found = write_limits(tmp_path / "x.toml", run, 0.01)
    options = {limit.option.replace("-", "_"): limit.value for limit in found}
    assert options == {
        key.replace("-", "_"): value for key, value in written(tmp_path / "x.toml")["gate"].items()
    }
    assert ("max_violation_rate" in options) == (violated < 58)
    read = {"max_f1_drop": _loss, "max_violation_rate": _share, "min_sensitivity": _share}
    given: dict[str, Any] = {name: read[name](text) for name, text in options.items()}
    limits = Limits(allow_insensitive=True, **given)
    assert gate(run, limits).outcome == "passed"
    # A model that is clearly worse keeps none of them.
    if violated <= 20:
        worse = judged(*crowd(60, 60, reacting=0))
        failed = {check.name for check in gate(worse, limits).of("failed")}
        assert {"violations", "f1 drop"} <= failed


def test_a_task_without_a_reaction_has_no_limit_of_it() -> None:
    run = judged(*crowd(3, 60), task=Subtokens(reacts=False))
    assert "min-sensitivity" not in [limit.option for limit in suggested(run, 0.01)]
