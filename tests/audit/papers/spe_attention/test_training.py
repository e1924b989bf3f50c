"""Training on a handful of functions: deterministic, resumable, and written as audits read it."""

import json
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from codeaudit.audit.papers import registry
from codeaudit.audit.papers.dependency_encoding.networks import DECODERS
from codeaudit.audit.papers.lines.encoding import EncodedLines, LineEncoder
from codeaudit.audit.papers.lines.tasks import NAMING, read_splits
from codeaudit.audit.papers.lines.tasks import TASKS as LINE_TASKS
from codeaudit.audit.papers.lines.trunk import LineNetwork
from codeaudit.audit.papers.lines.words import VARIABLE
from codeaudit.audit.papers.renamer.networks import NETWORKS as TERM_NETWORKS
from codeaudit.audit.papers.renamer.tasks import TASKS
from codeaudit.audit.papers.spe_attention import material
from codeaudit.audit.papers.spe_attention.baselines import copying, most_frequent
from codeaudit.audit.papers.spe_attention.material import Examples, LineMaterial, LineRecipe
from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.papers.spe_attention.networks import NETWORKS, build
from codeaudit.audit.papers.spe_attention.scores import JudgedLogits, f1, scores, tune
from codeaudit.audit.papers.spe_attention.training import LineLearner, initialise, threshold_of
from codeaudit.audit.papers.tree_transformer.networks import TREE_NETWORKS
from codeaudit.audit.records import Query
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.audit.training import speed, trainer
from codeaudit.audit.training.splits import Splits
from codeaudit.audit.training.trainer import Trained, train
from codeaudit.cli.main import main
from codeaudit.transforms.errors import CorpusError, ModelError
from codeaudit.transforms.records import Origin, Sample
from tests.support import stdlib
from tests.support.commands import start

TINY = LineRecipe(
    network="spe",
    width=16,
    layers=1,
    heads=4,
    vocabulary=400,
    rarest_label=3,
    batch=8,
    bag_epochs=1,
    epochs=2,
    warm_up=3,
    validation=20,
    orders=1,
    window=128,
)


@dataclass
class Samples:
    """A corpus from texts."""

    sources: list[str]
    spec: str = "made"

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        for number, source in enumerate(self.sources):
            path = f"file{number % 97}.py"
            yield Sample(
                id=f"{number}", language="python", source=source, label=None, origin=Origin(path=path, line=1)
            )


@pytest.fixture(scope="module")
def splits() -> Splits[Sample]:
    return read_splits(FUNCTION_NAME, Samples(stdlib.sample(220)))


@pytest.fixture(scope="module")
def read(splits: Splits[Sample], tmp_path_factory: pytest.TempPathFactory) -> LineMaterial:
    return material.prepare(
        splits, TINY, cache=tmp_path_factory.mktemp("cache"), workers=1, note=lambda text: None
    )


@pytest.fixture(scope="module")
def unnamed(splits: Splits[Sample], tmp_path_factory: pytest.TempPathFactory) -> LineMaterial:
    """For the network that reads no names."""
    cache = tmp_path_factory.mktemp("cache")
    return material.prepare(
        splits, replace(TINY, network="renamer"), cache=cache, workers=1, note=lambda text: None
    )


@pytest.fixture(scope="module")
def ended(read: LineMaterial, tmp_path_factory: pytest.TempPathFactory) -> "Ended":
    """One training, for all tests that only look at its end."""
    folder = tmp_path_factory.mktemp("ended")
    return Ended(folder, *run(folder, read))


class Ended(NamedTuple):
    folder: Path
    trained: Trained[LineNetwork]
    watcher: "Watcher"

    def copy(self, place: Path) -> Path:
        """Its folder, to be damaged."""
        shutil.copytree(self.folder, place)
        return place


@dataclass
class Watcher:
    """Counts, and says stop after some steps."""

    after: int = -1
    steps: int = 0
    losses: list[float] = field(default_factory=list)

    def stepped(self, progress: trainer.TrainingProgress, loss: float) -> None:
        self.steps += 1
        self.losses.append(loss)

    def epoch(self, progress: trainer.TrainingProgress) -> None:
        row = progress.epochs[-1]
        assert 0 <= row.get("valid", row.get("words_found", -1)) <= 1

    def stop(self) -> bool:
        return self.steps == self.after


def run(
    folder: Path, read: LineMaterial, recipe: LineRecipe = TINY, *, after: int = -1
) -> tuple[Trained, Watcher]:  # type: ignore[type-arg]
    folder.mkdir(exist_ok=True)
    watcher = Watcher(after=after)
    learner = LineLearner(recipe, read)
    return train(learner, folder=folder, monitor=watcher, stop=watcher.stop), watcher


def weights(trained: Trained[LineNetwork]) -> dict[str, torch.Tensor]:
    return trained.network.state_dict()


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


# ── the loop ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_one_seed_gives_one_network_and_another_seed_another(
    tmp_path: Path, read: LineMaterial, ended: Ended
) -> None:
    before = torch.get_rng_state()
    again, _ = run(tmp_path / "a", read)
    other, _ = run(tmp_path / "b", read, replace(TINY, seed=1, epochs=1))
    assert ended.watcher.steps == LineLearner(TINY, read).total
    assert equal(weights(ended.trained), weights(again))
    assert not equal(weights(again), weights(other))
    assert threshold_of(ended.trained) == threshold_of(again)
    assert torch.equal(before, torch.get_rng_state()), "torch's global stream was moved"


@pytest.mark.slow
def test_the_loss_falls(tmp_path: Path, read: LineMaterial) -> None:
    recipe = replace(TINY, epochs=8, patience=8, rate=0.01, dropout=0.0)
    losses = [epoch["loss"] for epoch in run(tmp_path / "a", read, recipe)[0].progress.epochs]
    assert losses[-1] < 0.8 * losses[0], losses


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", sorted(NETWORKS))
def test_every_network_trains(tmp_path: Path, read: LineMaterial, unnamed: LineMaterial, kind: str) -> None:
    own = unnamed if kind == "renamer" else read
    recipe = replace(TINY, network=kind, layers=2, bag_epochs=0, epochs=1)
    trained, _ = run(tmp_path / "a", own, recipe)
    assert all(weight.isfinite().all() for weight in trained.network.parameters())
    assert trained.progress.best_epoch == 0


def test_names_and_variables_are_two_readings(
    tmp_path: Path,
    read: LineMaterial,
    unnamed: LineMaterial,
    splits: Splits,  # type: ignore[type-arg]
) -> None:
    assert unnamed.tokenizer.token_to_id(VARIABLE) is not None
    assert read.tokenizer.token_to_id(VARIABLE) is None
    assert read.labels == unnamed.labels
    encoder = LineEncoder(unnamed.tokenizer, window=TINY.window, relation="referents")
    plain = [lines for unit in splits.test if isinstance(lines := encoder.encode(unit.source), EncodedLines)]
    assert len(plain) == len(unnamed.test)
    for number, expected in enumerate(plain):
        actual = unnamed.test.encoded(number, "referents")
        assert (actual.ids == expected.ids).all()
        assert actual.referents is not None
        assert (actual.referents == expected.referents).all()
    for network, foreign in (("renamer", read), ("spe", unnamed)):
        with pytest.raises(ValueError, match=f"the features are not those of {network}"):
            run(tmp_path / network, foreign, replace(TINY, network=network))


def test_a_network_that_tells_variables_apart_learns_from_python_only(
    tmp_path: Path, splits: Splits[Sample]
) -> None:
    java = splits._replace(train=[replace(sample, language="java") for sample in splits.train])
    recipe = replace(TINY, network="renamer")
    with pytest.raises(CorpusError, match="renamer learns from Python only"):
        material.prepare(java, recipe, cache=tmp_path, workers=1, note=lambda text: None)


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, "a whole epoch", "in the second stage"])
def test_an_interrupted_training_goes_on_as_if_nothing_had_been(
    tmp_path: Path, read: LineMaterial, ended: Ended, after: int | str
) -> None:
    per_epoch = LineLearner(TINY, read).per_epoch
    steps = {1: 1, "a whole epoch": per_epoch, "in the second stage": per_epoch + 3}[after]
    with pytest.raises(trainer.Interrupted):
        run(tmp_path / "broken", read, after=steps)
    resumed, watcher = run(tmp_path / "broken", read)
    assert watcher.steps == ended.watcher.steps - steps
    assert equal(weights(ended.trained), weights(resumed))
    assert ended.trained.progress.samples == resumed.progress.samples
    assert ended.trained.progress.epochs == resumed.progress.epochs


@pytest.mark.slow
def test_a_finished_training_is_not_run_again(tmp_path: Path, read: LineMaterial, ended: Ended) -> None:
    again, watcher = run(ended.copy(tmp_path / "a"), read)
    assert watcher.steps == 0
    assert equal(weights(ended.trained), weights(again))


@pytest.mark.slow
def test_a_state_of_another_training_is_not_continued(
    tmp_path: Path, read: LineMaterial, ended: Ended
) -> None:
    with pytest.raises(ModelError, match="of a training with other settings or data; delete it"):
        run(ended.copy(tmp_path / "a"), read, replace(TINY, rate=1e-4))


@pytest.mark.parametrize("size", [0, 100, 5000])
def test_a_damaged_state_is_told(tmp_path: Path, read: LineMaterial, ended: Ended, size: int) -> None:
    path = ended.copy(tmp_path / "a") / trainer.STATE_FILE
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ModelError, match=r"cannot resume from .*; delete it to start from the beginning"):
        run(tmp_path / "a", read)


@pytest.mark.slow
def test_it_ends_early_when_validation_gets_no_better(tmp_path: Path, read: LineMaterial) -> None:
    trained, watcher = run(tmp_path / "a", read, replace(TINY, epochs=50, patience=2, rate=1e-12))
    assert len(trained.progress.epochs) == 4
    assert watcher.steps < LineLearner(replace(TINY, epochs=50), read).total


def test_a_loss_that_is_no_number_ends_it(tmp_path: Path, read: LineMaterial) -> None:
    with pytest.raises(ModelError, match=r"diverged at step .*; take a smaller --rate"):
        run(tmp_path / "a", read, replace(TINY, bag_epochs=0, rate=1e30, clip=1e30, half=False))


def test_blocks_that_join_change_nothing_at_first(read: LineMaterial) -> None:
    made = build("spe", TINY.shape(vocabulary=400, labels=len(read.labels)), {}).eval()
    initialise(made, read)
    batch = read.train.batch([0, 1], "mask")
    with torch.no_grad():
        whole = made(batch)
        made.trunk.bag = True
        assert torch.equal(whole, made(batch))
        assert torch.equal(whole, made(read.train.batch([0, 1], "none"))), "and they read no relation"


def test_the_rate_rises_then_falls_to_a_twentieth(read: LineMaterial) -> None:
    learner = LineLearner(replace(TINY, bag_epochs=0, steps=100), read)
    rates = [learner.rate(step) for step in range(100)]
    assert rates[0] == pytest.approx(TINY.rate / 3, rel=0.01)
    assert max(rates) == pytest.approx(TINY.rate, rel=0.01)
    assert rates[-1] == pytest.approx(TINY.rate / 20, rel=0.02)


# ── pretraining ──────────────────────────────────────────────────────────────────────────────────────────

PRETRAINED = replace(TINY, pretrain_epochs=2, bag_epochs=0, epochs=1)


@pytest.mark.weekly
@pytest.mark.parametrize("after", [3, "in pretraining's second epoch", "behind it"])
def test_pretraining_resumes_and_leaves_no_head_behind(
    tmp_path: Path, read: LineMaterial, after: int | str
) -> None:
    per_epoch = LineLearner(PRETRAINED, read).per_epoch
    steps = {3: 3, "in pretraining's second epoch": per_epoch + 2, "behind it": 2 * per_epoch + 1}[after]
    whole, watcher = run(tmp_path / "whole", read, PRETRAINED)
    assert watcher.steps == 3 * per_epoch
    with pytest.raises(trainer.Interrupted):
        run(tmp_path / "broken", read, PRETRAINED, after=steps)
    resumed, _ = run(tmp_path / "broken", read, PRETRAINED)
    assert equal(weights(whole), weights(resumed))
    assert [epoch.keys() & {"words_found", "valid"} for epoch in whole.progress.epochs] == [
        {"words_found"}, {"words_found"}, {"valid"},
    ]  # fmt: skip
    assert whole.progress.best_epoch == 2
    LineLearner(PRETRAINED, read).write(tmp_path, resumed, about={})
    stored = load_file(tmp_path / "model.safetensors")
    assert not any("word_head" in name for name in stored)
    card = json.loads((tmp_path / "model-card.json").read_text(encoding="utf-8"))
    assert card["parameters"] == sum(part.numel() for part in stored.values() if part.is_floating_point())
    LineModel.load(str(tmp_path), device="cpu")


@pytest.mark.slow
def test_pretraining_learns_to_find_words(tmp_path: Path, read: LineMaterial) -> None:
    recipe = replace(PRETRAINED, pretrain_epochs=12, rate=0.01, dropout=0.0)
    trained, _ = run(tmp_path / "a", read, recipe)
    losses = [epoch["loss"] for epoch in trained.progress.epochs[:-1]]
    assert losses[-1] < 0.8 * losses[0], losses


def test_words_are_hidden_everywhere_or_alone_and_nothing_else_is(read: LineMaterial) -> None:
    torch.manual_seed(0)
    learner = LineLearner(PRETRAINED, read)
    network = learner.make()
    shown: list[torch.Tensor] = []
    network.trunk.tokens.register_forward_pre_hook(lambda module, given: shown.append(given[0]))
    everywhere = alone = hidden = total = 0
    for batch in learner.batches(0):
        before = read.train.batch(batch.chosen, "mask", batch.orders).ids
        learner.loss(network, batch, 0)
        changed = shown[-1] != before
        assert set(shown[-1][changed].tolist()) <= {read.tokenizer.token_to_id("<unk>")}
        texts = [read.tokenizer.id_to_token(token) or "" for token in before[changed].tolist()]
        assert all(len(text) > 1 and text.isalpha() for text in texts)
        hidden, total = hidden + len(texts), total + int((before > 0).sum())
        for row, gone in zip(before, changed, strict=True):
            for word in set(row[gone].tolist()):
                places = row == word
                if places.sum() > 1:
                    everywhere += bool(gone[places].all())
                    alone += not gone[places].all()
    assert min(everywhere, alone) > 10
    assert 0.02 < hidden / total < 0.15


# ── examples and batches ─────────────────────────────────────────────────────────────────────────────


def test_an_epoch_has_every_example_once_in_its_own_order(read: LineMaterial) -> None:
    first, again, second = (LineLearner(TINY, read).batches(epoch) for epoch in (0, 0, 1))
    chosen = np.concatenate([batch for batch, _ in first])
    assert sorted(chosen) == list(range(len(read.train)))
    assert chosen.tolist() == np.concatenate([batch for batch, _ in again]).tolist()
    assert chosen.tolist() != np.concatenate([batch for batch, _ in second]).tolist()
    assert max(len(batch) for batch, _ in first) == TINY.batch
    assert all(orders is not None and (orders == 0).all() for _, orders in first)


def test_an_example_in_a_stored_order_has_the_same_lines(read: LineMaterial) -> None:
    moved = 0
    for number in range(len(read.train)):
        plain, drawn = (read.train.encoded(number, "mask", order) for order in (None, 0))
        assert sorted(plain.ids) == sorted(drawn.ids)
        assert plain.relation.sum() == drawn.relation.sum()
        moved += plain.ids.tolist() != drawn.ids.tolist()
    assert moved > 0


def test_examples_survive_the_disk_and_a_damaged_file_counts_as_none(
    tmp_path: Path, read: LineMaterial
) -> None:
    path = tmp_path / "features.npz"
    read.valid.save(path)
    examples = Examples.load(path)
    assert examples is not None
    assert (examples.ids == read.valid.ids).all()
    path.write_bytes(path.read_bytes()[:50])
    assert Examples.load(path) is None
    assert Examples.load(tmp_path / "none.npz") is None


@pytest.mark.slow
def test_features_are_made_once(splits: Splits[Sample], tmp_path: Path) -> None:
    notes: list[str] = []
    for _ in range(2):
        material.prepare(splits, TINY, cache=tmp_path, workers=1, note=notes.append)
    assert len(notes) == 3
    material.prepare(splits, replace(TINY, window=100), cache=tmp_path, workers=1, note=notes.append)
    assert len(notes) == 6


@pytest.mark.slow
def test_two_workers_read_what_one_reads(splits: Splits[Sample], read: LineMaterial, tmp_path: Path) -> None:
    prepared = material.prepare(splits, TINY, cache=tmp_path, workers=2, note=lambda text: None)
    assert (prepared.train.ids == read.train.ids).all()
    assert prepared.tokenizer.to_str() == read.tokenizer.to_str()


def test_files_are_held_out_as_a_whole(splits: Splits[Sample]) -> None:
    paths = [{sample.origin.path for sample in split} for split in splits]
    assert all(paths)
    assert not paths[0] & (paths[1] | paths[2])


def test_what_was_trained_on_is_left_out_of_the_other_corpora() -> None:
    sources = stdlib.sample(60)
    more = Samples([*sources, *sources[:20]], "more")
    parts = read_splits(FUNCTION_NAME, Samples(sources), more, more)
    new = {str(number) for number in range(len(sources), len(sources) + 20)}
    assert set() < {sample.id for sample in parts.valid} <= new
    assert {sample.id for sample in parts.test} == {sample.id for sample in parts.valid}


def test_a_corpus_that_is_too_small_is_told() -> None:
    with pytest.raises(CorpusError, match="no train examples of task 'function-name' in corpus 'made'"):
        read_splits(FUNCTION_NAME, Samples([]))
    with pytest.raises(
        CorpusError, match=r"each part of the 0 names occurs in fewer than 99 of them.* take a larger corpus"
    ):
        NAMING.labels([], rarest=99)


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────


def test_f1_counts_subtokens_that_are_no_labels_as_missed() -> None:
    said = torch.tensor([[True, True], [True, False]])
    truth = torch.tensor([[True, False], [False, True]])
    score = f1(said, truth, torch.tensor([2, 1]))
    assert score.micro == pytest.approx(2 * 1 / (3 + 3))
    assert score.macro == pytest.approx((2 / 4 + 0) / 2)


def test_the_threshold_is_the_best_one() -> None:
    logits = torch.tensor([[2.0, -1.05], [-3.0, 1.0], [0.0, -1.95]])
    truth = torch.tensor([[True, True], [False, True], [True, False]])
    judged = JudgedLogits(logits=logits, truth=truth, wanted=truth.sum(1))
    threshold = tune(judged)
    assert -1.95 <= threshold < -1.05
    assert scores(judged, threshold).micro == 1.0


def test_baselines_copy_and_count(read: LineMaterial) -> None:
    tokens = {label: read.tokenizer.token_to_id(label) or 0 for label in read.labels}
    frequent = most_frequent(read.train, read.valid, read.test, labels=len(read.labels))
    copied = copying(read.valid, read.test, tokens=tokens)
    for baseline in (frequent, copied):
        assert 1 <= baseline.subtokens <= 6
        assert 0 <= baseline.test.micro <= 1
        assert baseline.test.count == len(read.test)


# ── the command ──────────────────────────────────────────────────────────────────────────────────────


SETTINGS = [
    "--width",
    "16",
    "--layers",
    "1",
    "--vocabulary",
    "400",
    "--rarest-label",
    "3",
    "--batch",
    "16",
    "--bag-epochs",
    "1",
    "--workers",
    "1",
    "--threads",
    "1",
    "--cache",
    "cache",
    "--corpus",
    "stdlib:argparse,ast,inspect,pathlib,shutil",
]


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_registry_names_the_networks_that_there_are() -> None:
    lines, trees, terms, streams = registry.FAMILIES
    assert set(lines.networks) == set(NETWORKS)
    assert set(trees.networks) == set(TREE_NETWORKS)
    assert set(terms.networks) == set(TERM_NETWORKS)
    assert set(streams.networks) == set(DECODERS)
    assert lines.tasks.keys() == LINE_TASKS.keys()
    assert terms.tasks.keys() == TASKS.keys()


@pytest.mark.parametrize(
    ("network", "task"),
    [
        ("spe", "function-name"),
        ("renamer", "throughput"),
        ("code", "code-modelling"),
        ("vanilla", "function-name"),
    ],
)
def test_without_a_task_a_networks_own_paper_decides(network: str, task: str) -> None:
    assert registry.family(network, None)[1] == task


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_a_trained_folder_is_a_checkpoint_with_a_card(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "symc", "--out", "made", "--steps", "5", "--sign", "1", *SETTINGS]) == 0
    assert sorted(path.name for path in Path("made").iterdir()) == [
        "config.json", "learned.bin", "model-card.json", "model.safetensors", "tokenizer.json",
    ]  # fmt: skip
    card = json.loads(Path("made/model-card.json").read_text(encoding="utf-8"))
    assert card["recipe"]["options"] == {"sign": 1}
    assert card["scores"]["test"]["count"] == card["data"]["test"]["functions"] > 0
    assert [baseline["name"] for baseline in card["baselines"]] == [
        "most frequent subtokens",
        "copied subtokens",
    ]
    assert 0 < card["label_coverage"]["test"] <= 1
    assert card["versions"]["torch"]
    stored = load_file("made/model.safetensors")
    assert all(value.dtype == torch.float16 for value in stored.values() if value.is_floating_point())
    model = LineModel.load("made", device="cpu", precision=None)
    query = Query(task="function-name", language="python", source="def MASK(a):\n    return a\n")
    assert len(model.predict([query])) == 1
    assert model.parameters == card["parameters"]
    assert "test F1" in capsys.readouterr().out


@pytest.mark.usefixtures("_here")
def test_a_cache_that_cannot_be_used_is_told_before_anything_is_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("file").write_text("no folder", encoding="utf-8")
    assert main(["train", "vanilla", "--out", "made", *SETTINGS, "--cache", "file/cache"]) == 3
    text = "codeaudit: cannot use the cache 'file/cache': Not a directory; choose another with --cache"
    assert capsys.readouterr().err.splitlines()[-1] == text


@pytest.mark.weekly
@pytest.mark.usefixtures("_here")
def test_a_training_into_the_folder_of_a_model_keeps_that_model(capsys: pytest.CaptureFixture[str]) -> None:
    Path("made").mkdir()
    old = {"config.json": '{"model_type": "bert"}', "model.safetensors": "weights", "vocab.txt": "a"}
    for name, text in old.items():
        Path("made", name).write_text(text, encoding="utf-8")
    words = [
        "train",
        "vanilla",
        "--out",
        "made",
        "--steps",
        "60",
        "--patience",
        "1",
        "--rate",
        "1e-9",
        *SETTINGS,
    ]
    assert main(words) == 3
    refusal = (
        "'made' holds other files (config.json, model.safetensors, vocab.txt) and no training; give a new"
    )
    assert refusal in capsys.readouterr().err
    assert {path.name: path.read_text("utf-8") for path in Path("made").iterdir()} == old
    # A model that was trained here before gives way, and is kept.
    Path("made", "model-card.json").write_text("{}", "utf-8")
    for _ in range(2):
        before = {path.name: path.read_bytes() for path in Path("made").iterdir() if path.is_file()}
        assert main(words) == 0
        refusal = capsys.readouterr().err
        assert "the model that was in made is kept in made/previous" in refusal
        assert " steps: no better validation in 1 epoch (--patience)" in refusal
        assert "vanilla: kept the weights of epoch " in refusal
        kept = {path.name: path.read_bytes() for path in Path("made/previous").iterdir()}
        assert kept == {name: data for name, data in before.items() if name != "vocab.txt"}
        assert Path("made/vocab.txt").exists()


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["vanilla", "--mask-mode", "additive"], "--mask-mode is an option of spe, not of vanilla"),
        (["vanilla", "--all-heads"], "--all-heads is an option of spe"),
        (["spe", "--sign", "-1"], "--sign is an option of symc, not of spe"),
        (["spe", "--heads", "3"], "--heads 3 does not divide --width 128"),
        (["spe", "--task", "throughput"], "spe is not trained for task 'throughput'"),
    ],
)
def test_options_that_do_not_fit_are_usage_errors(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *words, "--corpus", "stdlib", "--out", "made"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_the_columns_of_a_table_can_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "rows.jsonl"
    rows = [{"func": text, "path": f"{number % 97}.py"} for number, text in enumerate(stdlib.sample(220))]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    words = ["train", "spe", "--corpus", str(table), "--out", str(tmp_path / "out"), "--workers", "1"]
    small = (
        "--bag-epochs 0 --steps 2 --batch 4 --width 16 --layers 1 --heads 4 --vocabulary 400 --rarest-label 3"
    )
    assert main([*words, *small.split()]) == 3
    assert "name them: --columns source=func" in capsys.readouterr().err.splitlines()[-1]
    assert main([*words, *small.split(), "--columns", "sauce=func"]) == 2
    assert main([*words, *small.split(), "--columns", "source=func,file=path"]) == 0
    assert (tmp_path / "out/model.safetensors").exists()


@pytest.mark.weekly
@pytest.mark.parametrize("faster", [True, False])
def test_without_a_precision_a_training_takes_the_faster_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], faster: bool
) -> None:
    monkeypatch.setattr(speed, "faster_in_half", lambda device: faster)

    def half(network: str, *words: str) -> bool:
        out = tmp_path / f"{network}{len(words)}"
        common = ["--out", str(out), "--batch", "4", "--workers", "1"]
        sizes = ["--width", "16", "--layers", "2", "--heads", "4", "--steps", "2"]
        assert main(["train", network, *common, *sizes, *words]) == 0
        chosen: bool = json.loads((out / "model-card.json").read_text("utf-8"))["recipe"]["half"]
        return chosen

    functions = ["--corpus", "stdlib:argparse,tarfile,ast", "--vocabulary", "400", "--bag-epochs", "0"]
    assert half("spe", *functions) == faster
    assert capsys.readouterr().err.count("codeaudit: precision: ") == 1
    assert half("spe", *functions, "--full") is False
    # The networks of Renamer's paper are so small that converting their numbers takes longer.
    expressions = [
        word
        for name in ("corpus", "valid", "test")
        for word in (f"--{name}", f"algebra:{name.replace('corpus', 'train')}:60")
    ]
    assert half("renamer", "--task", "derivative", *expressions) is False


@pytest.mark.parametrize(("half", "faster"), [(1.1, False), (1.5, True), (0.02, False)])
def test_bfloat16_has_to_be_faster_by_more_than_converting_costs(
    monkeypatch: pytest.MonkeyPatch, half: float, faster: bool
) -> None:
    reached = {True: half * 1e10, False: 1e10}
    monkeypatch.setattr(speed, "peak", lambda device, half: reached[half])
    assert speed.faster_in_half("cpu") is faster


@pytest.mark.weekly
def test_control_c_saves_and_nothing_is_left_half_done(tmp_path: Path) -> None:
    words = ["train", "spe", "--out", "made", "--steps", "100000", *SETTINGS]
    with start(*words, cwd=tmp_path) as process:
        assert process.stderr is not None
        try:
            line = next(line for line in process.stderr if "epoch 1" in line or "unexpected" in line)
            assert "validation F1" in line
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130, error
    assert "the same command resumes from 'made'" in error
    assert (tmp_path / "made" / trainer.STATE_FILE).is_file()
    assert not (tmp_path / "made" / "config.json").exists()
