"""Training of the transformers over trees: scores by hand, deterministic, resumable, read by audits."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from safetensors.torch import load_file

from codeaudit.audit.papers.tree_transformer import completion, material, training
from codeaudit.audit.papers.tree_transformer.material import IGNORED, TreeRecipe, flat, values_and_targets
from codeaudit.audit.papers.tree_transformer.model import NOISE, TreeModel
from codeaudit.audit.papers.tree_transformer.networks import TREE_NETWORKS, Namer
from codeaudit.audit.papers.tree_transformer.nodes import SPECIALS, Tree, read
from codeaudit.audit.papers.tree_transformer.scores import (
    bleu,
    completions,
    most_frequent,
    multiset_f1,
    names,
    ranked,
    sentence_bleu,
)
from codeaudit.audit.papers.tree_transformer.training import NameLearner
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.audit.run import QueryBatch, batches, rebatches
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.audit.training import trainer
from codeaudit.audit.training.splits import Splits
from codeaudit.audit.training.trainer import Trained, TrainingProgress, recipe_of, train
from codeaudit.cli.main import main
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.records import Origin, Sample
from tests.support import stdlib

TINY = TreeRecipe(
    network="tree",
    width=16,
    layers=1,
    heads=2,
    embedding=4,
    batch=16,
    epochs=2,
    vocabulary=60,
    rarest_label=2,
)


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# ── scores, by hand ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "gold", "f1"),
    [
        ("get name", "get name", 1.0),
        ("name get", "get name", 1.0),
        ("get", "get name", 2 / 3),
        ("get get", "get name", 0.5),
        ("get get", "get", 2 / 3),
        ("a b", "c", 0.0),
        ("", "c", 0.0),
    ],
)
def test_f1_of_multisets(said: str, gold: str, f1: float) -> None:
    assert multiset_f1(said.split(), gold.split()) == pytest.approx(f1)


NAME_WORDS: Final = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=7)


@pytest.mark.slow
@given(NAME_WORDS, NAME_WORDS)
def test_sentence_bleu_agrees_with_a_library(said: list[str], gold: list[str]) -> None:
    """sacrebleu counts the runs and finds the brevity penalty; it adds nothing to single words, the paper's code does."""
    score = BLEU(tokenize="none", smooth_method="none").sentence_score(" ".join(said), [" ".join(gold)])
    precision = math.prod(
        (hits + 1) / (tries + 1) for hits, tries in zip(score.counts, score.totals, strict=True)
    )
    assert sentence_bleu(said, gold) == pytest.approx(score.bp * precision**0.25)


def test_bleu_is_the_mean_of_smoothed_sentence_bleu() -> None:
    said, gold = [["get", "the", "name"], ["stop"], []], [["get", "the", "size"], ["run"], ["x"]]
    # Words 2 of 3, pairs 1 of 2, runs of three 0 of 1, runs of four 0 of 0; of the wrong word 0 of 1.
    first = ((3 / 4) * (2 / 3) * (1 / 2) * (1 / 1)) ** 0.25
    assert bleu(said, gold) == pytest.approx((first + (1 / 2) ** 0.25 + 0.0) / 3)
    assert bleu(gold, gold) == 1.0


def test_scores_of_names() -> None:
    scores = names([("get", "get"), ("name", "set"), ("x",)], [("get", "name"), ("set", "name"), ("x",)])
    assert scores.f1 == pytest.approx((0.5 + 1 + 1) / 3)
    assert scores.exact == pytest.approx(1 / 3)
    assert scores.micro == pytest.approx(2 * 4 / (2 * 4 + 0 + 1))
    assert scores.macro == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert scores.count == 3


def test_scores_of_completions() -> None:
    unknown, empty = 1, 2
    types = torch.zeros(4, 20)
    types[:, 5] = 1.0  # right for the first two, and eleventh or worse for none of the others
    values = torch.zeros(4, 20) - torch.arange(20.0) / 100
    right_types = torch.tensor([5, 5, 7, 5])
    right_values = torch.tensor([0, empty, 3, unknown])
    scores = completions([ranked(types, values, right_types, right_values, unknown=unknown, empty=empty)])
    assert (scores.count, scores.valued) == (4, 3)
    assert scores.type_accuracy == 3 / 4
    assert scores.type_mrr == pytest.approx(3 / 4)  # nineteen others are as likely as the third
    assert scores.value_accuracy == pytest.approx(1 / 3)
    assert scores.value_mrr == pytest.approx((1 + 1 / 4 + 0) / 3)  # of an unknown value never anything
    assert scores.both == pytest.approx(1 / 3)
    assert scores.both_with_empty == pytest.approx(2 / 4)


def test_a_right_answer_behind_ten_others_is_worth_nothing() -> None:
    logits = -torch.arange(20.0)[None].expand(3, -1)
    right = torch.tensor([9, 10, 0])
    scores = completions([ranked(logits, logits, right, right, unknown=18, empty=19)])
    assert scores.type_mrr == pytest.approx((1 / 10 + 0 + 1) / 3)
    assert scores.value_mrr == pytest.approx((1 / 10 + 0 + 1) / 3)


def test_the_rule_without_a_network_says_what_is_frequent() -> None:
    train = [("get", "x"), ("get", "y"), ("set", "x")]
    rule = most_frequent(train, [("get", "x")], [("get", "z")])
    assert rule.subtokens == 2
    assert rule.test.micro == pytest.approx(0.5)


# ── examples ─────────────────────────────────────────────────────────────────────────────────────────────

SENTENCES = ("size", "name", "path", "text")


def sources(count: int, seed: int) -> list[Sample]:
    """Getters and setters, whose names can be read off their bodies."""
    rng = Random(seed)
    by_text: dict[str, Sample] = {}
    while len(by_text) < count:
        what = rng.choice(SENTENCES)
        other = rng.choice("abcdefgh")
        getter = f"def get_{what}(self, {other}):\n    return self.{what}[{rng.randrange(9)}]\n"
        setter = f"def set_{what}(self, {other}):\n    self.{what} = {other}\n    return {rng.randrange(9)}\n"
        text = rng.choice((getter, setter))
        raw = Sample(id=text, language="python", source=text, origin=Origin(path="a.py", line=1), label=None)
        sample = FUNCTION_NAME.prepare(raw)
        assert isinstance(sample, Sample)
        by_text.setdefault(text, sample)
    return list(by_text.values())


def splits() -> Splits[Sample]:
    samples = sources(180, 0)
    return Splits(train=samples[:120], valid=samples[120:150], test=samples[150:])


def prepared(recipe: TreeRecipe = TINY) -> material.TreeMaterial:
    return material.prepare(splits(), recipe, note=lambda text: None)


def test_names_are_told_word_by_word_and_unknown_words_are_no_targets() -> None:
    given, targets = values_and_targets([(2, -1, 1), (1,)], spoken=[9, 20, 30])
    begin = SPECIALS.index("<s>")
    assert given.tolist() == [[begin, 30, 1, 20], [begin, 20, 0, 0]]
    assert targets.tolist() == [[2, IGNORED, 1, 0], [1, 0, IGNORED, IGNORED]]


def test_what_is_said_are_values_and_what_is_rare_is_never_said() -> None:
    read_material = prepared()
    words = read_material.words
    assert set(words.labels) == {"get", "set", *SENTENCES}
    assert [words.values[value] for value in words.spoken[1:]] == list(words.labels)
    assert words.values[: len(SPECIALS)] == SPECIALS
    assert len(words.values) <= TINY.vocabulary
    assert read_material.train.gold[0] == splits().train[0].label
    rare = prepared(replace(TINY, rarest_label=40))
    assert all(-1 in name for name in rare.train.names)


def long_tree(statements: int) -> Tree:
    parsed = read("def f(a):\n" + "    a = a + 1\n" * statements, "python", limit=None)
    assert isinstance(parsed, Tree)
    return parsed


def test_long_trees_are_cut_into_pieces_that_overlap_and_each_node_counts_once() -> None:
    trees = [long_tree(1), long_tree(9), long_tree(4)]
    words = material.vocabulary(trees, (), size=100, spelling="whole")
    examples = flat(trees, words.reader("whole"), window=20)
    assert examples.lengths.max() <= 20
    for number, tree in enumerate(trees):
        pieces = examples.pieces[examples.pieces[:, 0] == number]
        counted = [node for _, _, stop, fresh in pieces for node in range(fresh, stop)]
        assert counted == list(range(len(tree)))
        assert all(later[1] - earlier[1] == 10 for earlier, later in pairwise(pieces))
    everything = np.arange(len(examples))
    assert int(examples.fresh(everything).sum()) == sum(map(len, trees))
    batch = examples.batch(everything, levels=8, degree="full")
    assert not (examples.fresh(everything) & ~batch.real).any()


def test_what_follows_a_node_is_the_next_one_that_counts() -> None:
    types = torch.tensor([[2, 3, 4, 0], [5, 6, 7, 8]])
    values = types[..., None] + 10
    fresh = torch.tensor([[True, True, True, False], [False, False, True, True]])
    targets = completion.following(types, values, fresh)
    assert targets.at.tolist() == [[True, True, False], [False, True, True]]
    assert targets.types.tolist() == [3, 4, 7, 8]
    assert targets.values.tolist() == [13, 14, 17, 18]


# ── training ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Silent:
    steps: int = 0

    def stepped(self, progress: TrainingProgress, loss: float) -> None:
        self.steps += 1
        assert math.isfinite(loss)

    def epoch(self, progress: TrainingProgress) -> None:
        pass


def trained(place: Path, recipe: TreeRecipe = TINY) -> Trained[Namer]:
    place.mkdir(exist_ok=True)
    return train(NameLearner(recipe, prepared(recipe)), folder=place, monitor=Silent(), stop=lambda: False)


@pytest.mark.slow
def test_a_small_network_learns_what_can_be_read_off(tmp_path: Path) -> None:
    recipe = replace(TINY, epochs=10, rate=4e-3, half=False, warm_up=5, width=32)
    read_material = prepared(recipe)
    fitted = train(NameLearner(recipe, read_material), folder=tmp_path, monitor=Silent(), stop=lambda: False)
    test = read_material.test
    reached = training.judged(fitted.network, read_material, test, np.arange(len(test)), recipe)
    assert reached.micro > 0.8 > most_frequent(read_material.train.gold, test.gold, test.gold).test.micro


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", ["tree", "tree-shaw"])
def test_an_interrupted_training_ends_as_one_that_was_not(name: str, tmp_path: Path) -> None:
    recipe = replace(TINY, network=name)
    whole = trained(tmp_path / "whole", recipe).network.state_dict()
    place = tmp_path / "parts"
    place.mkdir()
    monitor = Silent()
    for after in (3, 9):
        with pytest.raises(trainer.Interrupted):
            train(
                NameLearner(recipe, prepared(recipe)),
                folder=place,
                monitor=monitor,
                stop=lambda at=after: monitor.steps >= at,  # type: ignore[misc]
            )
    ended = trained(place, recipe).network.state_dict()
    assert all(torch.equal(whole[part], ended[part]) for part in whole)
    with pytest.raises(ModelError, match="other settings or data"):
        trained(place, replace(recipe, rate=1e-4))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", list(TREE_NETWORKS))
def test_every_network_is_trained_written_and_read(name: str, tmp_path: Path) -> None:
    recipe = replace(TINY, network=name, steps=5)
    fitted, read_material = trained(tmp_path / "out", recipe), prepared(recipe)
    NameLearner(recipe, read_material).write(tmp_path / "out", fitted, about={})
    model = TreeModel.load(str(tmp_path / "out"), device="cpu")
    assert model.parameters == sum(weight.numel() for weight in fitted.network.parameters())
    test = splits().test
    answers = model.predict(
        [Query(task="function-name", language="python", source=sample.source) for sample in test]
    )
    everything = np.arange(len(test))
    said = training.judged(fitted.network, read_material, read_material.test, everything, recipe)
    pairs = [
        (said.answer, sample)
        for said, sample in zip(answers, test, strict=True)
        if isinstance(said, Predicted)
    ]
    assert len(pairs) == len(test)
    assert FUNCTION_NAME.corpus_score(pairs) == pytest.approx(said.micro)
    if name == "tree-kim":
        assert model.module.scheme.known.any()


@pytest.mark.slow
def test_completers_are_trained_and_the_leak_is_a_choice(tmp_path: Path) -> None:
    for degree in ("full", "prefix"):
        recipe = replace(TINY, spelling="whole", degree=degree, epochs=3, rate=3e-3, warm_up=2)
        read_material = completion.prepare(splits(), recipe)
        place = tmp_path / degree
        place.mkdir()
        learner = completion.CompletionLearner(recipe, read_material)
        fitted = train(learner, folder=place, monitor=Silent(), stop=lambda: False)
        everything = np.arange(len(read_material.test))
        scores = completion.judged(
            fitted.network, read_material.test, everything, levels=recipe.levels, degree=recipe.degree
        )
        assert scores.count == int(read_material.test.lengths.sum()) - len(everything)
        assert 0 < scores.valued < scores.count
        types = read_material.test.nodes.types
        assert scores.type_accuracy > 1.2 * np.bincount(types).max() / len(types)
        assert scores.both <= scores.value_accuracy


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────


def test_options_of_other_networks_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "tree", "--augment", "3", "--corpus", "stdlib", "--out", "made"]) == 2
    assert "--augment is no option of tree" in capsys.readouterr().err
    with pytest.raises(UsageError, match="does not divide"):
        recipe_of(TreeRecipe, network="tree-kim", width=30, heads=4)


def test_train_and_run_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "src"
    place.mkdir()
    for number, sample in enumerate(sources(60, 1)):
        name = "_".join(sample.label) if isinstance(sample.label, tuple) else ""
        text = sample.source.replace("MASK", name).replace("\n    return", "\n    kept = 0\n    return")
        (place / f"m{number}.py").write_text(text, encoding="utf-8")
    words = ["--corpus", str(place), "--width", "16", "--heads", "2", "--layers", "1", "--steps", "4"]
    out = tmp_path / "mine"
    asked = [
        "train",
        "tree",
        *words,
        "--out",
        str(out),
        "--rarest-label",
        "2",
        "--workers",
        "1",
        "--threads",
        "1",
    ]
    assert main(asked) == 0
    assert "test F1" in capsys.readouterr().out
    card = json.loads((out / "model-card.json").read_text(encoding="utf-8"))
    assert card["task"] == "function-name"
    assert set(card["scores"]["test"]) >= {"f1", "exact", "bleu", "micro", "macro"}
    assert card["parameters"] > card["position_parameters"] > 0
    assert not (out / trainer.STATE_FILE).exists()
    run = ["run", "--model", str(out), "--corpus", str(place), "--workers", "1", "--limit", "10"]
    assert main([*run, "--out", str(tmp_path / "run"), "--transform", "rename"]) == 0


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tree")
    recipe = replace(TINY, epochs=3)
    NameLearner(recipe, prepared(recipe)).write(place, trained(place, recipe), about={})
    return place


def queries() -> list[Query]:
    return [Query(task="function-name", language="python", source=sample.source) for sample in splits().test]


def moved(predictions: Sequence[Prediction], other: Sequence[Prediction]) -> float:
    """The largest change of a score or a margin between equal answers."""
    worst = 0.0
    for one, two in zip(predictions, other, strict=True):
        assert isinstance(one, Predicted)
        assert isinstance(two, Predicted)
        assert one.answer == two.answer
        assert one.margin is not None
        assert two.margin is not None
        pairs = zip(one.scores, two.scores, strict=True)
        worst = max(worst, abs(one.margin - two.margin), *(abs(a - b) for (_, a), (_, b) in pairs))
    return worst


def real_queries() -> list[Query]:
    """Functions of the standard library that the bundled checkpoint can read."""
    reader = TreeModel.load("tree-checkpoint", device="cpu")
    asked = [Query(task="function-name", language="python", source=source) for source in stdlib.sample(40)]
    return [query for query in asked if reader.unreadable(query) is None]


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_what_is_asked_beside_moves_scores_by_less_than_the_declared_noise(precision: str) -> None:
    model = TreeModel.load("tree-checkpoint", device="cpu", precision=precision)
    asked = real_queries()
    assert len(asked) > 20
    together = model.predict(asked)
    alone = [model.predict([query])[0] for query in asked]
    some = [prediction for at in range(0, len(asked), 7) for prediction in model.predict(asked[at : at + 7])]
    # Declared with room for other processors, whose sums have other orders.
    assert 4 * max(moved(together, alone), moved(together, some)) <= model.noise
    assert model.noise <= NOISE["float32"]


@pytest.mark.slow
def test_the_unchanged_input_asked_again_flips_no_answer() -> None:
    model = TreeModel.load("tree-checkpoint", device="cpu")
    asked = real_queries()
    first = {query: prediction for plan in batches(asked, 32) for query, prediction in predicted(model, plan)}
    second = {
        query: said for plan in rebatches(asked, 32, padded=True) for query, said in predicted(model, plan)
    }
    assert first.keys() == second.keys() == set(asked)
    for query, prediction in first.items():
        again = second[query]
        assert isinstance(prediction, Predicted)
        assert isinstance(again, Predicted)
        assert prediction.answer == again.answer


def predicted(model: TreeModel, plan: QueryBatch) -> Iterator[tuple[Query, Prediction]]:
    """The answers to a batch without its company."""
    yield from list(zip(plan.queries, model.predict(plan.queries), strict=True))[plan.company :]


@pytest.mark.slow
def test_equal_trees_have_equal_answers_whatever_their_layout(checkpoint: Path) -> None:
    model = TreeModel.load(str(checkpoint), device="cpu")
    spaced = [
        replace(query, source=query.source.replace("\n    ", "\n\n      # so\n      ")) for query in queries()
    ]
    assert moved(model.predict(spaced), model.predict(queries())) <= model.noise


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_answers_are_the_same_on_any_number_of_cores(checkpoint: Path, threads: int) -> None:
    model = TreeModel.load(str(checkpoint), device="cpu")
    expected = model.predict(queries())
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert model.predict(queries()) == expected
    finally:
        torch.set_num_threads(before)


def test_an_answer_has_the_scores_of_its_words(checkpoint: Path) -> None:
    model = TreeModel.load(str(checkpoint), device="cpu")
    for said in model.predict(queries()):
        assert isinstance(said, Predicted)
        assert said.answer == tuple(label for label, _ in said.scores) == tuple(sorted(set(said.answer)))  # type: ignore[arg-type, type-var]
        assert said.answer
        assert said.margin is not None
        assert said.margin >= 0


def test_what_cannot_be_asked(checkpoint: Path) -> None:
    model = TreeModel.load(str(checkpoint), device="cpu")
    long = f"def MASK(a):\n    return [{', '.join('a' for _ in range(300))}]\n"
    texts = [("python", "def MASK(:"), ("python", long), ("java", "int MASK() { return 1; }")]
    asked = [Query(task="function-name", language=language, source=text) for language, text in texts]
    reasons = [prediction.reason for prediction in model.predict(asked) if isinstance(prediction, Failed)]
    assert reasons == ["source does not parse", "input too long", "not Python"]
    with pytest.raises(ModelError, match="made for task"):
        model.predict([Query(task="throughput", language="python", source="def f(): pass")])


def damaged(checkpoint: Path, place: Path, **changes: object) -> Path:
    place.mkdir()
    for path in checkpoint.iterdir():
        if path.name != trainer.STATE_FILE:
            (place / path.name).write_bytes(path.read_bytes())
    config = json.loads((place / "config.json").read_text(encoding="utf-8"))
    (place / "config.json").write_text(json.dumps({**config, **changes}), encoding="utf-8")
    return place


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": "tree-house"}, "network 'tree-house'"),
        ({"spelling": "letters"}, "spelling 'letters'"),
        ({"degree": "half"}, "degree 'half'"),
        ({"languages": ["cobol"]}, "language 'cobol'"),
        ({"labels": ["get"]}, "1 labels"),
        ({"types": ["If"]}, "does not fit"),
        ({"options": {"terms": "global"}}, "does not fit"),
    ],
)
def test_a_config_that_does_not_fit_is_one_line(
    changes: dict[str, object], message: str, checkpoint: Path, tmp_path: Path
) -> None:
    place = damaged(checkpoint, tmp_path / "damaged", **changes)
    with pytest.raises(ModelError) as caught:
        TreeModel.load(str(place), device="cpu")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_words_in_another_order_are_another_tokenizer(checkpoint: Path, tmp_path: Path) -> None:
    place = damaged(checkpoint, tmp_path / "damaged")
    path = place / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    words = content["model"]["vocab"]
    words["get"], words["self"] = words["self"], words["get"]
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ModelError, match="other words or labels"):
        TreeModel.load(str(place), device="cpu")


def test_the_weights_of_a_folder_are_rounded(checkpoint: Path) -> None:
    weights = load_file(checkpoint / "model.safetensors")
    assert {value.dtype for value in weights.values()} == {torch.float16, torch.int64}


@pytest.mark.parametrize(
    ("name", "answer", "cache"),
    [
        ("tree-checkpoint", ("cache", "get"), 2.60848),
        ("tree-large-checkpoint", ("cache",), 1.32454),
    ],
)
def test_a_bundled_checkpoint_answers_as_when_it_was_made(
    name: str, answer: tuple[str, ...], cache: float
) -> None:
    source = (
        "def MASK(name, value=None):\n    key = name.lower()\n    if value is None:\n"
        "        return CACHE.get(key)\n    CACHE[key] = value\n"
    )
    model = TreeModel.load(name, device="cpu")
    (prediction,) = model.predict([Query(task="function-name", language="python", source=source)])
    assert isinstance(prediction, Predicted)
    assert prediction.answer == answer
    assert dict(prediction.scores)["cache"] == pytest.approx(cache, abs=1e-3)
