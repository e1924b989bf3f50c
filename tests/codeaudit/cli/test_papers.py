"""`codeaudit papers`: a table of a paper from data to Markdown, by its own commands."""

import json
import random
import time
from pathlib import Path

import pytest

from codeaudit import reproducing
from codeaudit.audit.papers import published
from codeaudit.audit.papers.experiments import Bench, PaperTrial
from codeaudit.audit.papers.spe_attention import graph_times
from codeaudit.cli.main import main

SMALL = """
paper = "SPE attention"
[networks]
spe = { network = "spe", preset = "spe-paper" }
[presets.small]
train = ["--width", "16", "--layers", "1", "--heads", "4", "--epochs", "1", "--rarest-label", "1", "--bag-epochs", "0"]
run = ["--limit", "20"]
seeds = 1
[audit]
run = ["--transform", "reorder", "--variants", "1", "--no-controls"]
[table-1]
title = "Names"
task = "function-name"
rows = ["spe"]
groups = [{ data = "python_functions" }]
columns = [
    { name = "F1", measure = "score.original" },
    { name = "violation rate", measure = "all_samples.rate", better = "lower" },
]
differences = ["It is small."]
[table-1.published]
spe = { F1 = 37.1, "violation rate" = 0.0 }
code2seq = { F1 = 27.3 }
[figure-6]
title = "Names, drawn"
of = "table-1"
x = "violation rate"
y = "F1"
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of functions, and one item of one network in place of SPE's."""
    records = tmp_path / "items"
    records.mkdir()
    (records / "data.toml").write_text((published.ITEMS / "data.toml").read_text("utf-8"))
    (records / "spe.toml").write_text(SMALL)
    monkeypatch.setattr(published, "ITEMS", records)
    published._read.cache_clear()
    folder = tmp_path / "data"
    folder.mkdir()
    chance = random.Random(0)
    words = ["total", "mean", "first", "last", "count", "index", "value", "name"]
    with (folder / "python_functions.jsonl").open("w") as lines:
        for number in range(120):
            one, two = chance.sample(words, 2)
            source = (
                f"def {one}_{two}(values):\n    {one} = {number}\n    {two} = 2\n    return {one} + {two}\n"
            )
            split = ("train", "train", "valid", "test")[number % 4]
            lines.write(json.dumps({"source": source, "name": f"{one}_{two}", "split": split}) + "\n")
    return folder


@pytest.fixture(autouse=True)
def _forget() -> object:
    yield
    published._read.cache_clear()


@pytest.mark.slow
def test_a_table_is_made_once_and_stands_beside_the_paper(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["papers", "run", "spe/table-1", "--data", str(data)]
    assert main(command) == 0
    table = capsys.readouterr().out
    ours = next(line for line in table.splitlines() if line.startswith("| spe |"))
    cells = [cell.strip() for cell in ours.strip("|").split("|")]
    assert cells[2] == "37.1"
    assert cells[4] == "0"
    assert 0 <= float(cells[1]) <= 100
    assert float(cells[3]) == 0
    assert "| code2seq | – | 27.3 | – | – |" in table
    assert "It is small." in table
    folder = Path("codeaudit-papers", "spe-table-1")
    assert (folder / "table.md").read_text("utf-8") == table
    assert json.loads((folder / "table.json").read_text("utf-8"))["violation rate"] == {"spe": [0.0]}
    # What is complete is not done again.
    monkeypatch.setattr(reproducing, "carried_out", lambda _: pytest.fail("a step ran again"))
    assert main(command) == 0
    assert capsys.readouterr().out == table
    pytest.importorskip("matplotlib")
    assert main(["papers", "run", "spe/figure-6", "--data", str(data)]) == 0
    for ending in ("svg", "png"):
        assert Path("codeaudit-papers", "spe-figure-6", f"figure.{ending}").stat().st_size > 1000


@pytest.mark.slow
def test_the_graphs_are_timed_and_stand_beside_the_paper(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(graph_times, "FILES", 2)
    monkeypatch.setattr(graph_times, "CAP", 100)
    out = tmp_path / "out"
    assert main(["papers", "run", "spe/table-2", "--out", str(out)]) == 0
    table = capsys.readouterr().out
    assert [line.split("|")[1].strip() for line in table.splitlines() if "0.055" in line] == ["DLG", "PDG"]
    values = json.loads((out / "spe-table-2" / "table.json").read_text("utf-8"))["seconds"]
    assert {name: len(each) for name, each in values.items()} == {"DLG": 2, "PIG": 2, "PDG": 2}
    assert all(value > 0 for each in values.values() for value in each)
    # What is complete is not done again.
    monkeypatch.setattr(graph_times, "measure", lambda _: pytest.fail("a file is timed again"))
    assert main(["papers", "run", "spe/table-2", "--out", str(out)]) == 0
    assert capsys.readouterr().out == table


def test_time_that_others_take_from_the_processor_is_not_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "one.py").write_text("def one():\n    return 1\n")
    monkeypatch.setattr(graph_times, "build_dlg", lambda program: time.sleep(0.3))
    assert graph_times.measure(tmp_path / "one.py").dlg < 0.15


def test_a_dry_run_prints_the_commands_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["papers", "run", "spe/table-1", "--preset", "paper", "--device", "cuda", "--dry-run"]) == 0
    *commands, cost = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in commands] == ["train", "train", "train", "run"]
    assert all("--device cuda" in line for line in commands)
    assert "DIR/python_functions.jsonl.gz:train" in commands[0]
    assert "h of an H100" in cost
    assert "GiB" in cost
    assert list(tmp_path.iterdir()) == []


def test_the_list_says_what_makes_each_item(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("spe/table-1 ") and " run " in line for line in lines)
    assert any(line.startswith("spe/table-7 ") and " missing " in line for line in lines)
    assert not any(" script " in line for line in lines if "/" in line)
    assert main(["papers", "list", "tree"]) == 0
    assert all("tree/" in line for line in capsys.readouterr().out.split("\n\n")[0].splitlines())


@pytest.mark.parametrize("name", ["renamer/table-4", "spe/figure-7", "code/table-3", "columns/figure-8"])
def test_an_item_is_shown_with_what_it_needs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "show", name]) == 0
    assert name in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["spe/table-1"], 3, "no --data is given; needed: python_functions.jsonl.gz"),
        (["columns/figure-8", "--preset", "paper", "--device", "nowhere"], 2, "cannot be used"),
        (["spe/figure-1"], 2, "shows no experiment"),
        (["spe/table-7"], 2, "cannot be made: it fine-tunes CodeLlama"),
        (["spe/table-12"], 2, "unknown item of spe 'table-12'"),
        (["spe"], 2, "names a paper and no item, such as spe/table-1"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["papers", "run", *words]) == code
    printed = capsys.readouterr().err.strip()
    assert said in printed
    assert len(printed.splitlines()) == 1


def test_a_step_that_fails_ends_the_item(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reproducing, "carried_out", lambda _: 2)
    assert main(["papers", "run", "spe/table-1", "--data", str(data)]) == 3
    assert "step 1 of 2 failed with exit code 2" in capsys.readouterr().err


def test_an_interrupted_step_interrupts_the_item(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reproducing, "carried_out", lambda _: 130)
    assert main(["papers", "run", "spe/table-1", "--data", str(data)]) == 130
    assert "the same command goes on" in capsys.readouterr().err


def counted(bench: Bench) -> list[PaperTrial]:
    """An experiment that measures nothing."""
    return list(bench.trials(lambda row, seed: [PaperTrial(
        row=row, seed=seed, scores={"share": 0.5, "hops": seed + len(row)},
        series={"way": [(0.0, 1.0), (1.0, 2.0)]}, matrices={"map": [[0.0, 1.0], [1.0, 0.0]]}, notes=["It hops."],
    )]))  # fmt: skip


RECORDS = f"""
paper = "SPE attention"
[experiments.hops]
target = "{__name__}:counted"
small = {{ seeds = 2, steps = 9, minutes = 3 }}
paper = {{ seeds = 2, width = 64, layers = 2, heads = 2, window = 64, batch = 8, steps = 1000 }}
[table-1]
title = "Hops"
experiment = "hops"
rows = ["a", "bcd"]
columns = [{{ name = "share", measure = "share" }}, {{ name = "hops", measure = "hops", unit = "hops" }}]
published = {{ a = {{ share = inf, hops = 2 }} }}
[figure-1]
title = "The way"
of = "table-1"
series = "way"
x = "step"
y = "hops"
[figure-2]
title = "The map"
of = "table-1"
matrix = "map"
"""


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One experiment in place of all items of SPE."""
    (tmp_path / "items").mkdir()
    (tmp_path / "items" / "spe.toml").write_text(RECORDS)
    monkeypatch.setattr(published, "ITEMS", tmp_path / "items")
    monkeypatch.setattr(reproducing, "load_target", lambda _: counted)
    published._read.cache_clear()
    return tmp_path / "out"


def test_an_experiment_stands_beside_the_paper(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Shares in percent and other units as they are; all seeds; notes once; a larger value than 100 in words."""
    assert main(["papers", "run", "spe/table-1", "--out", str(experiment)]) == 0
    table = capsys.readouterr().out
    assert "| a | 50.00 ± 0.00 | > 100 | 1.5 ± 0.5 | 2 |" in table
    assert "share: in percent." in table
    assert table.count("It hops.") == 1
    told = json.loads((experiment / "spe-table-1" / "table.json").read_text("utf-8"))
    assert told["hops"] == {"a": [1, 2], "bcd": [3, 4]}
    assert len(list((experiment / "trials").iterdir())) == 4


@pytest.mark.slow
def test_figures_of_an_experiment_are_drawn_on_both_grounds(experiment: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("figure-1", "figure-2"):
        assert main(["papers", "run", f"spe/{name}", "--out", str(experiment)]) == 0
        drawn = sorted(path.name for path in (experiment / f"spe-{name}").glob("figure*"))
        assert drawn == ["figure-dark.png", "figure-dark.svg", "figure.png", "figure.svg"]


def test_a_dry_run_of_an_experiment_names_trainings_and_costs(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["papers", "run", "spe/table-1", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines[:4]] == [
        "a, seed 0",
        "bcd, seed 0",
        "a, seed 1",
        "bcd, seed 1",
    ]
    assert "about 3 minutes of two cores" in lines[4]
    assert not set("()[]{}'") & set("".join(lines[:4]))
    assert not {"None", "True", "False"} & set(" ".join(lines[:4]).replace(",", "").split())
    assert main(["papers", "run", "spe/table-1", "--preset", "paper", "--dry-run"]) == 0
    assert "h of an H100" in capsys.readouterr().out
    assert not experiment.exists()


def test_a_try_ends_trainings_early(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "run", "spe/table-1", "--steps", "2", "--out", str(experiment)]) == 0
    assert "trainings ended after 2 steps" in capsys.readouterr().out
