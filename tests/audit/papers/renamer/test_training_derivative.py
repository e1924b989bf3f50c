"""Training of Renamer and its baselines on pairs of expressions: split by function, judged by accuracy."""

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch

from codeaudit.audit.papers.renamer import material
from codeaudit.audit.papers.renamer.material import TermExample, TermMaterial, TermRecipe
from codeaudit.audit.papers.renamer.networks import NETWORKS as TERM_NETWORKS
from codeaudit.audit.papers.renamer.networks import Renamer
from codeaudit.audit.papers.renamer.tasks import TASKS, Truth
from codeaudit.audit.papers.renamer.tasks import pair_renamings as choices
from codeaudit.audit.papers.renamer.training import TermLearner, mean_error, recipe_for, rules
from codeaudit.audit.training.splits import Splits
from codeaudit.audit.training.trainer import Trained, train
from codeaudit.cli.main import main
from codeaudit.transforms.algebra.expressions import ASKED
from codeaudit.transforms.algebra.generate import Split
from codeaudit.transforms.algebra.views import canonical, renamed
from tests.audit.papers.renamer.test_training import Watcher, equal
from tests.transforms.algebra.support import some

TASK = TASKS["derivative"]
TINY = TermRecipe(
    network="renamer", task="derivative", width=16, layers=2, heads=2, window=256, readout="mean",
    batch=16, epochs=2, warm_up=3, rate=3e-3,
)  # fmt: skip


def example(source: str, label: bool) -> TermExample:
    return material.example(TASK, source, float(label))


def examples(count: int = 200) -> list[TermExample]:
    """Generated pairs, each with a renaming of itself."""
    return [
        example(text, pair.label)
        for number, pair in enumerate(some("train", count))
        for text in dict.fromkeys(
            (pair.source, renamed(pair.source, choices(pair.source).draw(Random(number))))
        )
    ]


def read(recipe: TermRecipe = TINY, given: list[TermExample] | None = None) -> TermMaterial:
    splits = material.split(examples() if given is None else given, None, None, Counter())
    return material.material(splits, recipe, {}, labels={})


def run(folder: Path, prepared: TermMaterial, recipe: TermRecipe = TINY) -> tuple[Trained[Renamer], Watcher]:
    folder.mkdir(exist_ok=True)
    watcher = Watcher()
    return train(TermLearner(recipe, prepared), folder=folder, monitor=watcher, stop=watcher.stop), watcher


def function(source: str) -> str:
    return canonical(source.partition(f" {ASKED} ")[0])


# ── splits ───────────────────────────────────────────────────────────────────────────────────────────


def test_no_function_is_in_two_splits_under_any_names() -> None:
    given = examples(400)
    parts = material.split(given, None, None, Counter())
    functions = [{function(member.source) for member in split} for split in parts]
    assert all(functions)
    assert sum(map(len, functions)) == len(set().union(*functions)), "a function is in two splits"
    assert sum(map(len, parts)) == len(given)
    pairs = [{canonical(member.source) for member in split} for split in parts]
    assert sum(map(len, pairs)) == len(set().union(*pairs))


def test_what_is_proposed_makes_no_class_of_its_own() -> None:
    right, wrong, other = (
        example(text, False)
        for text in ("mul a0 x =? a0", "mul a1 x =? mul a1 x", "mul a0 mul a1 x =? mul a0 a1")
    )
    assert right.alpha == wrong.alpha != other.alpha
    left_out: Counter[str] = Counter()
    parts = material.split([right], [other], [wrong, other], left_out)
    assert (parts.train, parts.valid, parts.test) == ([right], [other], [other])
    assert left_out == {material.KNOWN: 1}


# ── learning ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.weekly
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", sorted(TERM_NETWORKS))
def test_every_network_learns_the_pairs_that_it_is_shown(tmp_path: Path, name: str) -> None:
    recipe = replace(TINY, network=name, width=32, epochs=20, rate=1e-2, batch=32)
    prepared = read(recipe, [example(pair.source, pair.label) for pair in some("train", 60)])
    trained, _ = run(tmp_path / "a", prepared, recipe)
    losses = [epoch["loss"] for epoch in trained.progress.epochs]
    assert losses[0] == pytest.approx(math.log(2), abs=0.15), "it begins undecided"
    assert min(losses) < 0.8 * losses[0]
    assert trained.progress.best == min(epoch["valid"] for epoch in trained.progress.epochs)


@pytest.mark.slow
def test_one_seed_gives_one_network(tmp_path: Path) -> None:
    prepared = read()
    first, watcher = run(tmp_path / "a", prepared)
    again, _ = run(tmp_path / "b", prepared)
    other, _ = run(tmp_path / "c", prepared, replace(TINY, seed=1))
    assert equal(first, again)
    assert not equal(first, other)
    assert all(0 <= error <= 1 for error in watcher.errors)


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", sorted(TERM_NETWORKS))
def test_a_renaming_changes_no_score_of_an_invariant_network(tmp_path: Path, name: str) -> None:
    recipe = replace(TINY, network=name)
    prepared = read(recipe)
    trained, _ = run(tmp_path / "a", prepared, recipe)
    everything = np.arange(len(prepared.train))
    with torch.no_grad():
        plain = trained.network(prepared.train.batch(everything)[0])
        moved = trained.network(prepared.train.batch(everything, Random(3))[0])
    invariant = name in ("renamer", "canonicalized")
    assert torch.equal(plain, moved) == invariant, "to the last bit, over hundreds of pairs"
    if invariant:
        assert mean_error(trained.network, prepared.test) == mean_error(
            trained.network, prepared.test, renaming=Random(1)
        )
    assert len(everything) > 300


def test_augmentation_shows_other_names_and_none_that_only_the_extended_set_has() -> None:
    prepared = read(replace(TINY, network="augmented"))
    chosen = np.arange(len(prepared.train))
    plain, labels = prepared.train.batch(chosen)
    first, same = prepared.train.batch(chosen, Random(1))
    assert not torch.equal(first.ids, plain.ids)
    assert torch.equal(first.referents, plain.referents)
    assert torch.equal(labels, same)
    assert set(labels.tolist()) == {0.0, 1.0}
    extra = prepared.tokenizer.token_to_id("coefficient a3")
    assert extra is not None
    assert not (first.ids == extra).any()


def test_loss_and_error_of_a_truth() -> None:
    truth = Truth()
    outputs, labels = torch.tensor([2.0, -1.0, 0.0]), torch.tensor([1.0, 1.0, 0.0])
    expected = [math.log1p(math.exp(-2)), math.log1p(math.e), math.log(2)]
    assert truth.losses(outputs, labels).tolist() == pytest.approx(expected)
    assert truth.errors(outputs, labels).tolist() == [0, 1, 0]
    assert [truth.label(label) for label in ("true", "false", "maybe", 1.0, None)] == [
        1.0,
        0.0,
        None,
        None,
        None,
    ]
    assert truth.score(0.25) == 0.75


@pytest.mark.slow
def test_the_rules_know_what_counts_tell_and_no_more() -> None:
    """A candidate that repeats the function is known by its counts; the constant is not."""

    def repeated(split: Split, count: int) -> list[TermExample]:
        functions = [pair.source.partition(f" {ASKED} ")[0] for pair in some(split, count)]
        return [
            example(f"{source} {ASKED} {source if number % 3 else 'x'}", number % 3 > 0)
            for number, source in enumerate(functions)
        ]

    splits = Splits(repeated("train", 300), repeated("valid", 3), repeated("test", 60))
    made = material.material(splits, TINY, {}, labels={})
    frequent, regression = rules(made.train, made.test)
    assert (frequent.name, frequent.test) == ("the more frequent answer", pytest.approx(2 / 3))  # type: ignore[comparison-overlap]
    assert regression.test > 0.95


# ── the command ──────────────────────────────────────────────────────────────────────────────────────

SETTINGS = ["--task", "derivative", "--width", "16", "--steps", "12", "--batch", "16", "--threads", "1"]
CORPORA = ["--corpus", "algebra:train:300", "--valid", "algebra:valid:40", "--test", "algebra:extended:40"]


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_the_whole_way_from_pairs_to_an_audit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "renamer", "--out", "renamer", *CORPORA, *SETTINGS]) == 0
    assert main(["train", "vanilla", "--out", "vanilla", *CORPORA, *SETTINGS]) == 0
    printed = capsys.readouterr()
    assert "renamer: test accuracy" in printed.out
    assert "a regression on counts of words" in printed.out
    assert "validation accuracy" in printed.err
    card = json.loads(Path("renamer/model-card.json").read_text(encoding="utf-8"))
    assert (card["task"], card["score"]) == ("derivative", "accuracy")
    assert card["scores"]["test"] == card["scores"]["test_renamed"]
    assert card["data"]["train"]["pairs"] == 300
    assert card["labels"] == {"corpus": "its own"}
    assert not card["left_out"], "all of the extended set fits the window"
    words = ["--model", "renamer", "--model", "vanilla", "--corpus", "algebra:test:40", "--workers", "1"]
    assert main(["run", "--task", "derivative", *words, "--format", "json", "--out", "made"]) == 0
    for model in json.loads(capsys.readouterr().out)["models"]:
        by_name = {row["transform"]: row for row in model["by_transform"]}
        assert by_name.keys() == {"identity", "rename", "rename-merging", "rename-views"}
        assert model["unjudged"] == 0
        assert model["score"]["name"] == "accuracy"
        assert by_name["rename"]["pairs"]["total"] > 50
        assert (by_name["rename"]["max_deviation"] == 0) == (model["model"] == "renamer")
        assert by_name["rename-merging"]["max_deviation"] > 0, "a merging is seen"


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["spe", "--task", "derivative"], 2, "spe is not trained for task 'derivative'; known: renamer"),
        (
            ["renamer", "--task", "derivative", "--no-implied"],
            2,
            "--no-implied is no option of task 'derivative'",
        ),
        (
            ["vanilla", "--task", "derivative", "--augment", "1"],
            2,
            "--augment is no option of task 'derivative'",
        ),
        (
            ["renamer", "--task", "derivative", "--labels", "llvm-mca"],
            2,
            "knows no labels of task 'derivative'",
        ),
        (["renamer"], 3, "no train examples of task 'throughput' in corpus 'algebra:train:40'"),
    ],
)
def test_what_does_not_fit_is_one_clear_line(
    words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["train", *words, "--corpus", "algebra:train:40", "--out", "made", "--cache", "cache"]) == code
    )
    output = capsys.readouterr().err
    assert message in output
    assert "Traceback" not in output
    assert not Path("made").exists()


def test_the_defaults_are_the_tasks() -> None:
    recipe = recipe_for("renamer", "derivative", {})
    assert (recipe.task, recipe.window, recipe.readout) == ("derivative", 256, "mean")
    assert recipe_for("renamer", "derivative", {"readout": "cls"}).readout == "cls"
    assert recipe_for("renamer", "throughput", {}) == TermRecipe(network="renamer")
