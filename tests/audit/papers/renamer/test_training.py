"""Training of Renamer and its baselines: split by alpha class, deterministic, resumable, read by audits."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.labels import GivenLabels
from codeaudit.audit.papers.renamer import material
from codeaudit.audit.papers.renamer.material import TermExample, TermMaterial, TermRecipe
from codeaudit.audit.papers.renamer.networks import NETWORKS as TERM_NETWORKS
from codeaudit.audit.papers.renamer.networks import Renamer
from codeaudit.audit.papers.renamer.tasks import Cost
from codeaudit.audit.papers.renamer.tasks import block_terms as terms
from codeaudit.audit.papers.renamer.training import TermLearner, mean_error, recipe_for, rules
from codeaudit.audit.tasks.throughput import THROUGHPUT
from codeaudit.audit.training import trainer
from codeaudit.audit.training.splits import Splits
from codeaudit.audit.training.trainer import Trained, TrainingProgress, train
from codeaudit.cli.main import main
from codeaudit.transforms.errors import ModelError
from codeaudit.transforms.x86.reading import read as read_block
from tests.support.blocks import FIGURE_A, FIGURE_B, renamings
from tests.transforms.x86.support import own_blocks

TINY = TermRecipe(network="renamer", width=16, layers=2, heads=2, batch=16, epochs=2, warm_up=3, rate=3e-3)


def cost(source: str) -> float:
    """A made-up truth that no renaming changes."""
    return 0.25 + 0.5 * len(read_block(source).operations)


def examples() -> list[TermExample]:
    """Blocks of the running Python, each with a renaming of itself."""
    texts = [text for source in own_blocks(120) for text in {source, *renamings(source, 1)}]
    return [TermExample(text, terms(text), cost(text)) for text in texts if len(terms(text)) <= TINY.window]


def splits(given: list[TermExample] | None = None) -> Splits[TermExample]:
    return material.split(examples() if given is None else given, None, None, Counter())


def read(recipe: TermRecipe = TINY) -> TermMaterial:
    return material.material(splits(), recipe, {}, labels={})


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Networks as small as these wait for a second thread longer than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def made() -> TermMaterial:
    return read()


@dataclass
class Watcher:
    """Counts, and says stop after some steps."""

    after: int = -1
    steps: int = 0
    errors: list[float] = field(default_factory=list)

    def stepped(self, progress: TrainingProgress, loss: float) -> None:
        self.steps += 1

    def epoch(self, progress: TrainingProgress) -> None:
        self.errors.append(progress.epochs[-1]["valid"])

    def stop(self) -> bool:
        return self.steps == self.after


def run(
    folder: Path, prepared: TermMaterial, recipe: TermRecipe = TINY, *, after: int = -1
) -> tuple[Trained[Renamer], Watcher]:
    folder.mkdir(exist_ok=True)
    watcher = Watcher(after=after)
    return train(TermLearner(recipe, prepared), folder=folder, monitor=watcher, stop=watcher.stop), watcher


def equal(one: Trained[Renamer], other: Trained[Renamer]) -> bool:
    left, right = one.network.state_dict(), other.network.state_dict()
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


# ── splits ───────────────────────────────────────────────────────────────────────────────────────────


def test_no_alpha_class_is_in_two_splits() -> None:
    parts = splits()
    classes = [{example.alpha for example in split} for split in parts]
    assert all(classes)
    assert not classes[0] & classes[1]
    assert not classes[0] & classes[2]
    assert not classes[1] & classes[2]
    assert sum(map(len, parts)) == len(examples())
    renamed = sum(len(split) - len(known) for split, known in zip(parts, classes, strict=True))
    assert renamed > 30, "there were renamings that a random split would have torn apart"


def test_constants_and_names_make_no_class_of_their_own_and_dependences_do() -> None:
    first, second, other, apart = (
        TermExample(text, terms(text), 1.0)
        for text in (FIGURE_A, FIGURE_B, FIGURE_A.replace("64(", "72("), FIGURE_A.replace("(%rax)", "(%rcx)"))
    )
    assert first.alpha == second.alpha == other.alpha != apart.alpha


def test_renamings_of_training_blocks_are_left_out_of_a_given_test_set() -> None:
    left_out: Counter[str] = Counter()
    known, new = (
        TermExample(FIGURE_A, terms(FIGURE_A), 1.68),
        TermExample("incq %rax", terms("incq %rax"), 1.0),
    )
    again = TermExample(FIGURE_B, terms(FIGURE_B), 1.68)
    parts = material.split([known], [new], [again, new], left_out)
    assert (parts.train, parts.valid, parts.test) == ([known], [new], [new])
    assert left_out == {material.KNOWN: 1}


def test_the_split_does_not_depend_on_the_order_of_the_corpus() -> None:
    given = examples()
    shuffled = Random(1).sample(given, len(given))
    for one, other in zip(splits(given), splits(shuffled), strict=True):
        assert {example.source for example in one} == {example.source for example in other}


# ── the loop ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_one_seed_gives_one_network_and_another_seed_another(tmp_path: Path, made: TermMaterial) -> None:
    before = torch.get_rng_state()
    first, watcher = run(tmp_path / "a", made)
    again, _ = run(tmp_path / "b", made)
    other, _ = run(tmp_path / "c", made, replace(TINY, seed=1))
    assert watcher.steps == TermLearner(TINY, made).total
    assert equal(first, again)
    assert not equal(first, other)
    assert torch.equal(before, torch.get_rng_state()), "torch's global stream was moved"


@pytest.mark.weekly
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", sorted(TERM_NETWORKS))
def test_every_network_learns(tmp_path: Path, name: str) -> None:
    recipe = replace(TINY, network=name, epochs=8, rate=1e-2)
    prepared = read(recipe)
    trained, watcher = run(tmp_path / "a", prepared, recipe)
    constant = next(rule.test for rule in rules(prepared.train, prepared.test) if "constant" in rule.name)
    reached = mean_error(trained.network, prepared.test)
    assert watcher.errors[-1] < 0.7 * watcher.errors[0] or watcher.errors[0] < 0.1
    assert reached < constant
    progress = trained.progress
    assert progress.best == min(epoch["valid"] for epoch in progress.epochs)
    assert progress.epochs[progress.best_epoch]["valid"] == progress.best


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["renamer", "augmented"])
@pytest.mark.parametrize("after", [1, "an epoch", "more"])
def test_an_interrupted_training_goes_on_as_if_nothing_had_been(
    tmp_path: Path, name: str, after: int | str
) -> None:
    recipe = replace(TINY, network=name, dropout=0.1)
    prepared = read(recipe)
    whole, watcher = run(tmp_path / "whole", prepared, recipe)
    per = TermLearner(recipe, prepared).per_epoch
    steps = {1: 1, "an epoch": per, "more": per + 2}[after]
    with pytest.raises(trainer.Interrupted):
        run(tmp_path / "broken", prepared, recipe, after=steps)
    resumed, rest = run(tmp_path / "broken", prepared, recipe)
    assert rest.steps == watcher.steps - steps
    assert equal(whole, resumed)
    assert whole.progress.epochs == resumed.progress.epochs


@pytest.mark.slow
def test_a_state_of_another_training_is_not_continued(tmp_path: Path, made: TermMaterial) -> None:
    run(tmp_path / "a", made)
    with pytest.raises(ModelError, match="of a training with other settings or data"):
        run(tmp_path / "a", made, replace(TINY, rate=1e-4))
    again, watcher = run(tmp_path / "a", made)
    assert watcher.steps == 0
    assert again.progress.ended


def test_a_loss_that_is_no_number_ends_it(tmp_path: Path, made: TermMaterial) -> None:
    with pytest.raises(ModelError, match=r"diverged at step .*; take a smaller --rate"):
        run(tmp_path / "a", made, replace(TINY, rate=1e30, clip=1e30))


@pytest.mark.slow
def test_it_ends_early_when_validation_gets_no_better(tmp_path: Path, made: TermMaterial) -> None:
    trained, _ = run(tmp_path / "a", made, replace(TINY, epochs=50, patience=2, rate=1e-12))
    assert len(trained.progress.epochs) < 10


def test_an_epoch_has_every_block_once_in_its_own_order(made: TermMaterial) -> None:
    first, again, second = (np.concatenate(TermLearner(TINY, made).batches(epoch)) for epoch in (0, 0, 1))
    assert sorted(first) == list(range(len(made.train)))
    assert first.tolist() == again.tolist() != second.tolist()


def test_the_rate_rises_then_falls_to_a_fiftieth(made: TermMaterial) -> None:
    learner = TermLearner(replace(TINY, steps=100), made)
    rates = [learner.rate(step) for step in range(100)]
    assert rates[0] == pytest.approx(TINY.rate / 3, rel=0.01)
    assert max(rates) == pytest.approx(TINY.rate, rel=0.01)
    assert rates[-1] == pytest.approx(TINY.rate / 50, rel=0.05)


# ── augmentation and scores ──────────────────────────────────────────────────────────────────────────


def test_augmentation_shows_other_names_and_the_same_views() -> None:
    recipe = replace(TINY, network="augmented")
    prepared = read(recipe)
    chosen = np.arange(40)
    plain, _ = prepared.train.batch(chosen)
    first, labels = prepared.train.batch(chosen, Random(1))
    again, _ = prepared.train.batch(chosen, Random(1))
    other, _ = prepared.train.batch(chosen, Random(2))
    assert torch.equal(first.ids, again.ids)
    assert not torch.equal(first.ids, other.ids)
    assert not torch.equal(first.ids, plain.ids)
    assert torch.equal(first.referents, plain.referents), "the partition is that of the block"
    assert torch.equal(labels, prepared.train.labels[:40])
    unknown = prepared.tokenizer.token_to_id("<unk>")
    assert not (first.ids == unknown).any(), "names that no training block has are words too"  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_renaming_leaves_the_error_of_an_invariant_network(tmp_path: Path, made: TermMaterial) -> None:
    trained, _ = run(tmp_path / "a", made)
    plain = mean_error(trained.network, made.test)
    assert mean_error(trained.network, made.test, renaming=Random(3)) == plain
    recipe = replace(TINY, network="vanilla")
    vanilla = read(recipe)
    seeing, _ = run(tmp_path / "b", vanilla, recipe)
    renamed = mean_error(seeing.network, vanilla.test, renaming=Random(3))
    assert renamed != mean_error(seeing.network, vanilla.test)


def test_the_error_is_the_mean_share(made: TermMaterial) -> None:
    errors = Cost().errors(torch.tensor([3.0, 1.0]).log(), torch.tensor([2.0, 4.0]))
    assert errors.tolist() == pytest.approx([0.5, 0.75])
    always = mean_error(lambda batch: torch.zeros(len(batch.ids)), made.test)
    labels = made.test.labels.numpy()
    assert always == pytest.approx(float(np.mean(np.abs(1 - labels) / labels)), rel=1e-5)


def test_the_rules_are_the_best_of_their_kind(made: TermMaterial) -> None:
    """The truth here grows with the instructions, so the second rule is nearly right; neither can be improved."""
    constant, multiple = rules(made.train, made.train)
    assert multiple.test < constant.test
    labels = made.train.labels.double().numpy()
    assert constant.factor is not None
    for factor in np.linspace(0.5, 2, 31) * constant.factor:
        assert np.mean(np.abs(factor - labels) / labels) >= constant.test - 1e-9


# ── the command ──────────────────────────────────────────────────────────────────────────────────────


def table(path: Path) -> str:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["asm", "cycles"])
        writer.writerows([text, 100 * cost(text)] for text in own_blocks(150))
    return str(path)


SETTINGS = ["--width", "16", "--epochs", "2", "--batch", "16", "--threads", "1", "--cache", "cache"]


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shutil.which", lambda name: None)


@pytest.mark.weekly
@pytest.mark.usefixtures("_here")
def test_renamer_keeps_every_answer_and_its_twin_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    """The whole way without llvm: a table, two trainings, and a run on the running Python's own blocks."""
    given = ["--corpus", table(Path("blocks.csv")), "--labels", "cycles/100", *SETTINGS]
    assert main(["train", "renamer", "--out", "renamer", *given]) == 0
    assert main(["train", "vanilla", "--task", "throughput", "--out", "vanilla", *given]) == 0
    assert "test MAPE" in capsys.readouterr().out
    card = json.loads(Path("renamer/model-card.json").read_text(encoding="utf-8"))
    assert card["labels"] == {"column": "cycles", "divisor": 100.0}
    assert card["scores"]["test"] == card["scores"]["test_renamed"]
    assert card["data"]["train"]["alpha_classes"] <= card["data"]["train"]["blocks"]
    stored = load_file("renamer/model.safetensors")
    assert all(value.dtype == torch.float16 for value in stored.values())
    assert sorted(path.name for path in Path("renamer").iterdir()) == [
        "config.json", "learned.bin", "model-card.json", "model.safetensors", "tokenizer.json",
    ]  # fmt: skip

    audited = [
        "run",
        "--limit",
        "20",
        "--format",
        "json",
        "--cache",
        "cache",
        "--workers",
        "1",
        "--no-controls",
    ]
    assert main([*audited, "--model", "renamer", "--model", "vanilla", "--out", "made"]) == 0
    printed = capsys.readouterr()
    assert "corpus interpreter: 20 of 10,000 blocks" in printed.err
    models = {model["model"]: model for model in json.loads(printed.out)["models"]}
    by_name = {
        name: {row["transform"]: row for row in model["by_transform"]} for name, model in models.items()
    }
    for name, count in (("renamer", 0), ("vanilla", by_name["vanilla"]["rename"]["pairs"]["total"])):
        assert by_name[name]["rename"]["pairs"]["total"] > 50
        assert by_name[name]["rename"]["pairs"]["count"] == count
        assert by_name[name]["rename"]["max_deviation"] == 0 if name == "renamer" else True
        assert by_name[name]["identity"]["max_deviation"] == 0
        orders = by_name[name]["reorder"]
        assert orders["pairs"]["total"] == 0
        assert orders["unjudged"] == orders["applied"] > 0, "what an order costs is not known here"
        assert models[name]["score"]["original"] is None


@pytest.mark.usefixtures("_here")
def test_a_run_against_a_table_has_a_score(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "run",
        "--task",
        "throughput",
        "--model",
        "fake/constant",
        "--model",
        "fake/hash",
        "--workers",
        "1",
    ]
    blocks = ["--corpus", table(Path("blocks.csv")), "--labels", "cycles/100", "--limit", "30"]
    assert main([*words, *blocks, "--format", "json", "--out", "made", "--transform", "rename"]) == 0
    constant, hashed = json.loads(capsys.readouterr().out)["models"]
    assert constant["score"]["name"] == "mape"
    assert constant["score"]["better"] == "lower"
    assert 0 < constant["score"]["original"] == constant["score"]["attack_worst_sample"]
    assert hashed["score"]["attack_worst_sample"] > hashed["score"]["original"]
    assert constant["pairs"]["count"] == 0 < hashed["pairs"]["count"]
    manifest = json.loads(Path("made/manifest.json").read_text(encoding="utf-8"))
    assert manifest["corpus"]["labels"] == {"column": "cycles", "divisor": 100.0}


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["spe", "--task", "throughput"], 2, "spe is not trained for task 'throughput'; known: renamer"),
        (["augmented", "--task", "function-name"], 2, "augmented is not trained for task 'function-name'"),
        (["renamer", "--bag-epochs", "3"], 2, "--bag-epochs is no option of task 'throughput'"),
        (["renamer", "--augment", "3"], 2, "--augment is no option of task 'throughput'"),
        (["vanilla", "--size", "mini"], 2, "--size is no option of task 'function-name'"),
        (["spe", "--no-implied"], 2, "--no-implied is no option of task 'function-name'"),
        (["renamer", "--layers", "1"], 2, "--layers must be 2 or more"),
        (["renamer", "--size", "tiny", "--heads", "3"], 2, "--heads 3 does not divide --width 128"),
        (["renamer", "--device", "moon"], 2, "device 'moon' cannot be used"),
        (["renamer"], 3, "say what is true with --labels"),
        (
            ["renamer", "--labels", "nothing"],
            3,
            "table 'blocks.csv' has no column 'nothing'; known: asm, cycles",
        ),
        (["renamer", "--labels", "llvm-mca"], 3, "llvm-mca is not installed"),
    ],
)
def test_what_does_not_fit_is_one_clear_line(
    words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = table(Path("blocks.csv"))
    assert main(["train", *words, "--corpus", place, "--out", "made", "--cache", "cache"]) == code
    output = capsys.readouterr().err
    assert message in output
    assert "Traceback" not in output
    assert not Path("made").exists()


def test_sizes_are_berts_unless_told() -> None:
    assert recipe_for("renamer", "throughput", {"size": "small"}) == TermRecipe(
        network="renamer", width=512, layers=4, heads=8
    )
    assert recipe_for("renamer", "throughput", {"size": "mini", "layers": 2}).layers == 2


def test_implied_registers_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"addq %rax, {number}(%rbx)" for number in range(60)] + ["pushq %rax"]
    rows += [f"addq %rax, %rbx\n{'incq %rcx' + chr(10)}" * number for number in range(1, 40)]
    path.write_text("asm,label\n" + "".join(f'"{row}",2.0\n' for row in rows))
    prepared = material.read(
        THROUGHPUT,
        replace(TINY, implied=False),
        GivenLabels(costs=True),
        corpus(str(path)),
        note=lambda text: None,
    )
    assert prepared.left_out == {material.IMPLIED: 1, material.LONG: 39 - 18}
