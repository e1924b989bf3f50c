"""The tables and figures of the papers: their records agree with themselves and with the commands they name."""

from itertools import pairwise
from pathlib import Path

import pytest

from codeaudit.audit.papers import published
from codeaudit.audit.papers.presets import PRESETS, preset
from codeaudit.audit.papers.published import Item, Measure, Request, data_sets, forecast, item, items, steps
from codeaudit.audit.papers.registry import FAMILIES, NETWORKS, family, foreign
from codeaudit.cli.run import run
from codeaudit.cli.train import train
from codeaudit.transforms.errors import CorpusError, UsageError

ROOT = Path(__file__).resolve().parents[3]
ALL = list(items())
MADE = [entry for entry in ALL if entry.rows and not entry.of]


def test_every_paper_has_tables_and_figures() -> None:
    assert {entry.name.partition("/")[0] for entry in ALL} == set(published.PAPERS)
    assert len({entry.name for entry in ALL}) == len(ALL) > 50


@pytest.mark.parametrize("entry", MADE, ids=lambda entry: entry.name)
def test_published_values_stand_in_columns_of_the_table(entry: Item) -> None:
    heads = [head for head, _, _ in entry.heads]
    assert len(set(heads)) == len(heads) > 0
    assert {head for values in entry.published.values() for head in values} <= set(heads)
    assert all(0 <= value <= 100 for values in entry.published.values() for value in values.values())


@pytest.mark.parametrize("preset", ["small", "paper"])
@pytest.mark.parametrize("entry", MADE, ids=lambda entry: entry.name)
def test_a_command_has_each_option_once(entry: Item, preset: published.PresetName) -> None:
    """But for models, and options that name what they set."""
    for step in steps(entry, Request(preset=preset, out=Path("out"), dry=True, steps=2)):
        given = [
            f"{word} {value.partition('=')[0]}" if "=" in value or word == "--model" else word
            for word, value in zip(step.words, (*step.words[1:], ""), strict=True)
            if word.startswith("-")
        ]
        assert len(set(given)) == len(given), given


@pytest.mark.parametrize("preset", ["small", "paper"])
@pytest.mark.parametrize("entry", MADE, ids=lambda entry: entry.name)
def test_a_try_counts_steps_and_no_epochs(entry: Item, preset: published.PresetName) -> None:
    """`train` refuses both, and an epoch before the steps may take hours."""
    made = steps(entry, Request(preset=preset, out=Path("out"), dry=True, steps=2))
    for words in [step.words for step in made if step.kind == "train"]:
        given = dict(pairwise(words))
        assert given["--steps"] == "2"
        assert "--epochs" not in given
        assert {value for word, value in given.items() if word.endswith("-epochs")} <= {"0"}, words


@pytest.mark.parametrize("preset", ["small", "paper"])
@pytest.mark.parametrize("entry", MADE, ids=lambda entry: entry.name)
def test_a_try_audits_few_samples(entry: Item, preset: published.PresetName) -> None:
    """An audit of all test samples by an untrained network of full size takes hours on a CPU. One of samples
    that no transform changes ends with an error.
    """
    made = steps(entry, Request(preset=preset, out=Path("out"), dry=True, steps=2))
    audits = [dict(pairwise(step.words)) for step in made if step.kind == "run"]
    assert all(0 < int(words["--limit"]) <= published.TRIED for words in audits)
    assert all(0 < int(words["--movable"]) <= published.TRIED for words in audits)
    whole = steps(entry, Request(preset=preset, out=Path("out"), dry=True, seeds=1))
    assert [step.kind for step in made] == [step.kind for step in whole]


@pytest.mark.parametrize("entry", MADE, ids=lambda entry: entry.name)
def test_a_try_trains_each_network_once_and_tests_few_samples(entry: Item) -> None:
    """On a CPU its batches are small, since one of full size takes minutes there. A GPU shows what fits."""
    for device, batch in ((None, str(published.TRIED)), ("cpu", str(published.TRIED)), ("cuda", None)):
        request = Request(preset="paper", out=Path("out"), dry=True, steps=2, device=device)
        made = steps(entry, request)
        trained = [dict(pairwise(step.words)) for step in made if step.kind == "train"]
        assert {words["--seed"] for words in trained} == {"0"}
        assert {words["--test-limit"] for words in trained} == {str(published.TRIED)}
        assert {words.get("--batch") for words in trained} == {batch}


@pytest.mark.parametrize("preset", ["small", "paper"])
@pytest.mark.parametrize("entry", MADE, ids=lambda entry: entry.name)
def test_a_training_has_options_of_its_task(entry: Item, preset: published.PresetName) -> None:
    """`train` refuses the others."""
    names = {word: str(param.name) for param in train.params for word in param.opts}
    of_tasks = {name for known in FAMILIES for options in known.tasks.values() for name in options}
    made = steps(entry, Request(preset=preset, out=Path("out"), dry=True))
    for words in [step.words for step in made if step.kind == "train"]:
        trained, task = family(words[1], entry.task)
        given = {names[word] for word in words if word in names}
        assert [name for name in given & of_tasks if foreign(trained, task, name)] == []


def test_the_last_of_equal_options_counts() -> None:
    words = ("--sign", "-1", "-O", "a=1", "--all-heads", "-O", "b=2", "--sign", "1", "-O", "a=3")
    assert published._once(words) == ("--sign", "1", "-O", "a=3", "--all-heads", "-O", "b=2")


@pytest.mark.parametrize(
    "entry",
    [entry for entry in ALL if entry.of and entry.x and not entry.series],
    ids=lambda entry: entry.name,
)
def test_a_figure_shows_columns_of_its_table(entry: Item) -> None:
    heads = [head for head, _, _ in item(entry.of).heads]
    assert {entry.x, entry.y} <= set(heads)


EXPERIMENTS = [entry for entry in ALL if entry.experiment is not None]


@pytest.mark.parametrize("entry", EXPERIMENTS, ids=lambda entry: entry.name)
def test_an_experiment_has_rows_columns_and_a_function(entry: Item) -> None:
    experiment = entry.experiment
    assert experiment is not None
    heads = [head for head, _, _ in entry.heads]
    assert len(set(heads)) == len(heads) > 0
    assert len(set(entry.names)) == len(entry.names) > 0
    assert set(entry.published) <= set(entry.names)
    assert {head for values in entry.published.values() for head in values} <= set(heads)
    module, _, function = experiment.target.partition(":")
    text = (ROOT / module.removeprefix("codeaudit.").replace(".", "/")).with_suffix(".py").read_text("utf-8")
    assert f"\ndef {function}(bench: Bench)" in text
    for scale in experiment.scales.values():
        assert scale["seeds"] > 0
    assert {experiment.data_of(name) for name in experiment.scales} <= {"", *data_sets()}


@pytest.mark.parametrize("entry", EXPERIMENTS, ids=lambda entry: entry.name)
def test_a_try_of_an_experiment_is_short(entry: Item) -> None:
    assert entry.experiment is not None
    for size in entry.experiment.scales:
        whole = Request(preset=size, out=Path("out")).settings(entry.experiment)
        tried = Request(preset=size, out=Path("out"), steps=2).settings(entry.experiment)
        assert list(tried) == list(whole), "a setting is changed, none added"
        assert {tried[name] for name in ("steps", "attack_steps") if name in tried} <= {2}
        few = [tried[name] for name in ("tested", "lines", "valid", "test", "batch") if name in tried]
        assert all(0 < number <= published.TRIED for number in few)
        sizes = ("width", "layers", "heads", "side", "window", "vocabulary", "length", "features")
        assert all(tried[name] == whole[name] for name in sizes if name in whole)


@pytest.mark.parametrize("size", ["small", "paper"])
@pytest.mark.parametrize("entry", MADE, ids=lambda entry: entry.name)
def test_the_commands_of_an_item_are_commands_of_codeaudit(entry: Item, size: str) -> None:
    request = Request(preset="paper" if size == "paper" else "small", out=Path("out"), dry=True, device="cpu")
    made = steps(entry, request)
    audited = any(not column.of_card for column in entry.columns)
    assert {step.kind for step in made} == ({"train", "run"} if audited else {"train"})
    for step in made:
        command = train if step.kind == "train" else run
        context = command.make_context(step.kind, list(step.words[1:]), resilient_parsing=False)
        assert context.params["out"] == step.out
        if step.kind == "train" and size == "paper":
            name = context.params["preset"]
            preset(name, PRESETS[name].folder, step.words[1])
            assert step.words[1] in NETWORKS


def test_items_with_one_training_share_its_folder() -> None:
    request = Request(preset="small", out=Path("out"), dry=True)
    trained = [{step.out for step in steps(item(name), request) if step.kind == "train"}
               for name in ("renamer/table-3", "renamer/table-4")]  # fmt: skip
    assert trained[0] == trained[1]


def test_trainings_that_differ_have_folders_of_their_own() -> None:
    request = Request(preset="small", out=Path("out"), dry=True, seeds=3)
    made = [step for step in steps(item("spe/table-3"), request) if step.kind == "train"]
    assert len({step.out for step in made}) == len(made) == 9


def test_data_that_is_not_there_is_named_with_its_source(tmp_path: Path) -> None:
    with pytest.raises(
        CorpusError, match=r"has no python_functions\.jsonl\.gz; needed: .*columns.*Python150k"
    ):
        steps(item("spe/table-1"), Request(preset="small", out=tmp_path, data=tmp_path))


@pytest.mark.parametrize(("name", "said"), [("spe/table-11", "table-1"), ("foo/table-1", "known:")])
def test_an_unknown_item_has_a_near_one(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        item(name)


def test_a_measure_is_a_path_or_its_complement() -> None:
    model = {"score": {"original": 0.9}, "all_samples": {"rate": None}}
    assert Measure(name="F1", measure="score.original").of(model) == 0.9
    assert Measure(name="error", measure="score.original", complement=True).of(model) == pytest.approx(0.1)
    assert Measure(name="rate", measure="all_samples.rate").of(model) is None
    assert Measure(name="rate", measure="pairs.rate").of(model) is None


def test_the_forecast_grows_with_seeds() -> None:
    one, three = forecast(item("spe/table-1"), 1), forecast(item("spe/table-1"), 3)
    assert one is not None
    assert three is not None
    assert three.hours == pytest.approx(3 * one.hours)
    assert 0.1 < one.hours < 24
    assert one.memory == three.memory


def test_every_data_set_is_of_some_item() -> None:
    groups = [group for entry in MADE for group in entry.groups]
    used = {name for group in groups for name in (group.data, group.paper_data, group.audited)}
    used -= {published.GENERATED, ""}
    for entry in EXPERIMENTS:
        if entry.experiment is not None:
            used |= {entry.experiment.data_of(name) for name in entry.experiment.scales} - {""}
    assert used == set(data_sets())
