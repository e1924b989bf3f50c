"""Training of language models: windows, determinism, resuming, the folder, and the audits that read it."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from codeaudit.audit.interface import Model
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.models.text_models import draws
from codeaudit.audit.papers import registry
from codeaudit.audit.papers.dependency_encoding import material
from codeaudit.audit.papers.dependency_encoding.material import NOTHING, StreamMaterial, StreamRecipe, learn
from codeaudit.audit.papers.dependency_encoding.model import LONGEST, DecoderModel
from codeaudit.audit.papers.dependency_encoding.networks import DECODERS
from codeaudit.audit.papers.dependency_encoding.training import (
    StreamLearner,
    batch_of,
    judged,
    of_texts,
    rules,
)
from codeaudit.audit.papers.dependency_encoding.trunk import Decoder
from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.audit.training import trainer
from codeaudit.audit.training.trainer import Trained, TrainingProgress, train
from codeaudit.cli.main import main
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.records import Origin, Sample

TINY = StreamRecipe(
    network="code", width=24, layers=3, heads=4, inner=32, window=32, features=8, vocabulary=330, batch=8,
    steps=12, stretch=5, warm_up=3, rate=1e-2, half=False,
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Networks as small as these wait for a second thread longer than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def sample(text: str, path: str, line: int = 1) -> Sample:
    return Sample(
        id=text[:40], language="python", source=text, label=None, origin=Origin(path=path, line=line)
    )


def functions(file: int) -> list[str]:
    return [
        f"def step_{file}_{number}(items, limit={number}):\n    total = {file}\n    for item in items:\n"
        f"        total += item * {number}\n    return min(total, limit)\n"
        for number in range(4)
    ]


def samples(files: int = 12) -> list[Sample]:
    return [
        sample(text, f"file{file}.py", 10 * line)
        for file in range(files)
        for line, text in enumerate(functions(file))
    ]


def made(recipe: StreamRecipe = TINY) -> StreamMaterial:
    return material.material(material.split(samples(), None, None, Counter()), recipe, {})


@dataclass
class Watcher:
    """Says stop after some steps."""

    after: int = -1
    steps: int = 0

    def stepped(self, progress: TrainingProgress, loss: float) -> None:
        self.steps += 1

    def epoch(self, progress: TrainingProgress) -> None:
        pass

    def stop(self) -> bool:
        return self.steps == self.after


def run(
    place: Path, prepared: StreamMaterial, recipe: StreamRecipe = TINY, *, after: int = -1
) -> Trained[Decoder]:
    place.mkdir(exist_ok=True)
    watcher = Watcher(after=after)
    return train(StreamLearner(recipe, prepared), folder=place, monitor=watcher, stop=watcher.stop)


def equal(one: Trained[Decoder], other: Trained[Decoder]) -> bool:
    left, right = one.network.state_dict(), other.network.state_dict()
    return all(torch.equal(left[name], right[name]) for name in left)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained checkpoint."""
    place = tmp_path_factory.mktemp("checkpoints") / "tiny"
    prepared = made()
    StreamLearner(TINY, prepared).write(place, run(place, prepared), about={"corpora": {"train": "made"}})
    return place


@pytest.fixture(scope="module")
def model(written: Path) -> DecoderModel:
    return DecoderModel.load(str(written), device="cpu")


def query(source: str, task: str = "code-modelling", language: str = "python") -> Query:
    return Query(task=task, language=language, source=source)


# ── material ─────────────────────────────────────────────────────────────────────────────────────────────


def test_no_file_and_no_text_is_in_two_splits() -> None:
    """A text that is learned is left out of what is tested, wherever it stands."""
    left_out: Counter[str] = Counter()
    splits = material.split(samples(), None, None, left_out)
    paths = [{file.origin.path for file in split} for split in splits]
    assert all(paths)
    assert not paths[0] & paths[1] | paths[0] & paths[2] | paths[1] & paths[2]
    again = material.split(samples(2), [*samples(3)], samples(4)[4:], left_out)
    assert {file.origin.path for file in again.valid} == {"file2.py"}
    assert {file.origin.path for file in again.test} == {"file2.py", "file3.py"}
    assert left_out[material.KNOWN] == 8 + 4


def test_windows_hold_every_token_of_every_file() -> None:
    """Behind a start, in the order of the lines, the end marked, with padding behind it only."""
    streams = learn([file.source for file in samples()], 330)
    rows = material.windows(list(reversed(samples(3))), streams, 32).rows
    assert (rows[:, 0] == streams.start).all()
    for file in range(3):
        whole = "\n".join(functions(file)) + "\n"
        ids = [*streams.ids(whole), streams.start]
        begins = {tuple(ids[:20])}
        mine, at = [], 0
        for row in rows.tolist():
            real = [token for token in row[1:] if token != NOTHING]
            if tuple(real[:20]) in begins:
                at = 0
                mine = [real]
            elif mine and ids[at:] and real == ids[ids.index(real[0], at + 1) :][: len(real)]:
                mine.append(real)
        assert mine, f"file {file} begins no window"
    covered = sum(int((row[1:] != NOTHING).sum()) for row in rows)
    total = sum(len(streams.ids("\n".join(functions(file)) + "\n")) + 1 for file in range(3))
    assert covered >= total
    assert all((row == NOTHING).tolist() == sorted((row == NOTHING).tolist()) for row in rows)


def test_the_next_window_begins_where_something_begins() -> None:
    """At a sample in the second half, else at a line, else at the cut; nothing is left out between."""
    newline, start, size = 1, 99, 8

    def cut(texts: list[list[int]]) -> list[list[int]]:
        rows = material._cut(texts, size, newline=newline, start=start)
        return [[token for token in row[1:] if token != NOTHING] for row in rows]

    assert cut([[2, 3, 4, 5, 6, 1], [7, 8, 9, 10, 1]]) == [[2, 3, 4, 5, 6, 1, 7, 8], [7, 8, 9, 10, 1]]
    assert cut([[2, 3, 4, 5, 6, 1, 7, 8, 9, 10]]) == [[2, 3, 4, 5, 6, 1, 7, 8], [7, 8, 9, 10]]
    assert cut([[2, 1, 3, 4, 5, 6, 7, 8, 9, 10]]) == [[2, 1, 3, 4, 5, 6, 7, 8], [9, 10]]
    assert cut([[2, 3, 4, 5, 6, 7, 8, 9]]) == [[2, 3, 4, 5, 6, 7, 8, 9]]


def test_too_little_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A corpus of one file has nothing to hold out."""
    (tmp_path / "only.py").write_text(f"{functions(0)[0]}", encoding="utf-8")
    assert main(["train", "rope", "--corpus", str(tmp_path), "--out", str(tmp_path / "m")]) == 3
    assert "three files" in capsys.readouterr().err


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────


def test_scores_are_those_of_a_naive_loop() -> None:
    """Perplexity, accuracy and bits per byte, padding left out."""
    prepared = made()
    torch.manual_seed(0)
    network = DECODERS["rope"].make(TINY.sizes(prepared.streams)).eval()
    scores = judged(network, prepared.valid)
    nats, right, tokens, text = 0.0, 0, 0, 0
    spelled = {number: token for token, number in prepared.streams.tokenizer.get_vocab().items()}
    for row in prepared.valid.rows:
        real = torch.from_numpy(row[row != NOTHING])[None]
        with torch.no_grad():
            logits = network(real[:, :-1])[0].double()
        for at, token in enumerate(real[0, 1:].tolist()):
            nats -= float(logits[at].log_softmax(0)[token])
            right += int(int(logits[at].argmax()) == token)
            tokens += 1
            text += len(spelled.get(token, ""))
    assert (scores.tokens, scores.right, scores.bytes) == (tokens, right, text)
    assert scores.perplexity == pytest.approx(math.exp(nats / tokens), rel=1e-4)
    assert scores.bits_per_byte == pytest.approx(nats / math.log(2) / text, rel=1e-4)


def test_tables_of_frequencies_are_probabilities() -> None:
    """A pair that is learned tells more than a token alone."""
    alone, pairs = rules(made())
    assert pairs.test.bits_per_byte < alone.test.bits_per_byte
    assert alone.test.tokens == pairs.test.tokens


# ── training ─────────────────────────────────────────────────────────────────────────────────────────────


def test_every_window_is_seen_once_in_an_epoch() -> None:
    """In another order in the next."""
    recipe, count = replace(TINY, steps=None, epochs=2), 21
    assert recipe.total_steps(count) == 6
    epochs = [
        np.concatenate([batch_of(recipe, count, 3 * epoch + at) for at in range(3)]) for epoch in (0, 1)
    ]
    assert all(sorted(epoch.tolist()) == list(range(count)) for epoch in epochs)
    assert epochs[0].tolist() != epochs[1].tolist()


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("network", list(DECODERS))
def test_a_training_learns_and_can_be_repeated(network: str, tmp_path: Path) -> None:
    """Every network: equal weights from equal seeds, others from others."""
    prepared, recipe = made(), replace(TINY, network=network)
    one, other = (run(tmp_path / name, prepared, recipe) for name in ("a", "b"))
    assert equal(one, other)
    first, *_, last = [epoch["loss"] for epoch in one.progress.epochs]
    assert last < first
    third = run(tmp_path / "c", prepared, replace(recipe, seed=1))
    assert not equal(one, third)


@pytest.mark.slow
def test_an_interrupted_training_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    """And does not go on with other settings."""
    prepared = made()
    whole = run(tmp_path / "whole", prepared)
    with pytest.raises(trainer.Interrupted):
        run(tmp_path / "parts", prepared, after=7)
    with pytest.raises(ModelError, match="other settings"):
        run(tmp_path / "parts", prepared, replace(TINY, rate=1e-3))
    assert equal(whole, run(tmp_path / "parts", prepared))


@pytest.mark.slow
def test_sparsity_makes_features_sparser(tmp_path: Path) -> None:
    """The L1 term is felt."""
    prepared = made()

    def active(network: Decoder) -> float:
        inputs, _ = prepared.valid.batch(np.arange(len(prepared.valid)))
        with torch.no_grad():
            _, places = network.hidden(inputs)
        return float(sum(codes[places.ends].sum() for codes in places.codes))

    free, held = (
        active(run(tmp_path / str(alpha), prepared, replace(TINY, sparsity=alpha)).network)
        for alpha in (0.0, 1.0)
    )
    assert held < 0.7 * free


# ── the folder as a model ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_folder_holds_what_its_card_says(written: Path, model: DecoderModel) -> None:
    """Weights in float16; the scores are those of the weights as they are written."""
    card = json.loads((written / "model-card.json").read_text(encoding="utf-8"))
    assert card["task"] == "code-modelling"
    assert card["parameters"] == model.parameters
    kinds = {value.dtype for value in load_file(written / "model.safetensors").values()}
    assert kinds == {torch.float16}
    network = model.module
    assert isinstance(network, Decoder)
    prepared = made()
    scores = of_texts(network, prepared.test, material.byte_counts(prepared.streams), longest=LONGEST)
    assert card["scores"]["test"]["bits_per_byte"] == pytest.approx(scores.bits_per_byte, rel=1e-6)


def test_bits_per_byte_are_those_of_a_loop(model: DecoderModel) -> None:
    """Token by token, from the logits of the tokens before."""
    text = "def f(x):\n    return 'é' * x\n"
    (prediction,) = model.predict([query(text)])
    assert isinstance(prediction, Predicted)
    ids = [model.streams.start, *model.streams.ids(text)]
    bits = 0.0
    with torch.no_grad():
        for at in range(1, len(ids)):
            logits = model.module(torch.tensor([ids[:at]]))[0, -1].double()
            bits -= float(logits.log_softmax(0)[ids[at]]) / math.log(2)
    assert prediction.answer == pytest.approx(bits / len(text.encode()), rel=1e-4)


def test_an_answer_depends_on_nothing_else_that_is_asked(model: DecoderModel) -> None:
    """Bit by bit."""
    texts = [query(text) for text in ("x = 1\n", "def g():\n    pass\n", "y")]
    assert model.predict(texts) == [model.predict([text])[0] for text in texts]
    assert model.predict(texts[::-1]) == model.predict(texts)[::-1]


def naive(model: DecoderModel, prompt: str, tokens: int) -> str:
    """Greedy writing that reads everything again for each token."""
    ids = [model.streams.start, *model.streams.ids(prompt)]
    before = len(ids)
    with torch.no_grad():
        for _ in range(tokens):
            best = int(model.module(torch.tensor([ids]))[0, -1].argmax())
            if best == model.streams.start:
                break
            ids.append(best)
    return model.streams.text(ids[before:])


def test_what_is_written_is_the_most_likely(model: DecoderModel) -> None:
    """As without a cache; up to the first of the texts that end it."""
    prompt = functions(3)[1][:60]
    whole = naive(model, prompt, 40)
    assert model.continued([prompt], tokens=40) == [whole]
    assert len(whole) > 3
    assert model.continued([prompt], tokens=40, stop=[whole[2:4]]) == [whole[: whole.index(whole[2:4])]]
    assert model.continued([prompt, prompt], tokens=0) == ["", ""]


def test_a_prompt_that_is_too_long_is_read_from_a_line_on(model: DecoderModel) -> None:
    """The end of it counts."""
    streams = model.streams
    ids = streams.ids("a = 1\n" * 50)
    kept = model._end_of(ids, 20)
    assert len(kept) <= 20
    assert streams.text(kept).startswith("a = 1\n")
    assert ids[-len(kept) :] == kept
    assert model._end_of([5] * 30, 20) == [5] * 20


@pytest.mark.slow
def test_it_takes_three_tasks(written: Path, model: DecoderModel) -> None:
    """Its own is `code-modelling`; a line is one line."""
    assert model.tasks
    assert model.task == "code-modelling" in model.tasks
    loaded: Model = catalogue.load(str(written), Settings(device="cpu", precision=None, base_url=None), {})
    assert isinstance(loaded, DecoderModel)
    source = "def step_1_1(items, limit=1):\n    total = 1\n"
    (line,) = model.predict([query(source, "next-line")])
    (text,) = model.predict([query(source, "generation")])
    assert isinstance(line, Predicted)
    assert isinstance(text, Predicted)
    assert isinstance(line.answer, str)
    assert "\n" not in line.answer
    assert isinstance(text.answer, str)
    with pytest.raises(ModelError, match="throughput"):
        model.predict([query(source, "throughput")])


def test_what_it_cannot_answer_is_a_failure(model: DecoderModel) -> None:
    """No exception, and no number."""
    predictions = model.predict(
        [query("int x;", language="java"), query("a" * 9 * LONGEST), query("x = '\ud800'"), query("")]
    )
    reasons = [prediction.reason for prediction in predictions if isinstance(prediction, Failed)]
    assert reasons == ["not Python", "input too long", "text that cannot be written in UTF-8", "empty text"]


def test_broken_folders_are_one_line(written: Path, tmp_path: Path) -> None:
    """What is wrong, and where."""

    def copy(name: str) -> Path:
        place = tmp_path / name
        place.mkdir()
        for path in written.iterdir():
            if path.is_file() and path.name != "training.safetensors":
                (place / path.name).write_bytes(path.read_bytes())
        return place

    place = copy("network")
    config = json.loads((place / "config.json").read_text(encoding="utf-8"))
    (place / "config.json").write_text(json.dumps({**config, "network": "ropes"}), encoding="utf-8")
    with pytest.raises(ModelError, match="'ropes'"):
        DecoderModel.load(str(place), device="cpu")
    (place / "config.json").write_text(json.dumps({**config, "network": "rope"}), encoding="utf-8")
    with pytest.raises(ModelError, match="does not fit"):
        DecoderModel.load(str(place), device="cpu")
    place = copy("weights")
    weights = load_file(place / "model.safetensors")
    weights["tokens.weight"] = weights["tokens.weight"][:-1]
    save_file(weights, place / "model.safetensors")
    with pytest.raises(ModelError, match="does not fit"):
        DecoderModel.load(str(place), device="cpu")
    place = copy("sizes")
    config["sizes"]["newline"] += 1
    (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ModelError, match="another tokenizer"):
        DecoderModel.load(str(place), device="cpu")


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────


def test_the_command_line_knows_the_networks() -> None:
    """The names stand there too, so that help needs no torch."""
    assert registry.family("code", "code-modelling")[0].networks == tuple(DECODERS)


def test_train_and_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From files to a report, with the bits before and under attack."""
    corpus = tmp_path / "code"
    corpus.mkdir()
    for file in range(4):
        (corpus / f"file{file}.py").write_text("\n\n".join(functions(file)), encoding="utf-8")
    out = tmp_path / "model"
    words = "--width 16 --layers 3 --heads 2 --window 32 --vocabulary 320 --batch 4 --steps 6 --seed 3"
    assert main(["train", "code", "--corpus", str(corpus), "--out", str(out), *words.split()]) == 0
    assert "bits per byte" in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == [
        "config.json", "learned.bin", "model-card.json", "model.safetensors", "tokenizer.json"
    ]  # fmt: skip
    audit = [
        "run",
        "--model",
        str(out),
        "--corpus",
        str(corpus),
        "--limit",
        "4",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main([*audit, "--transform", "rename"]) in (0, 1)
    assert "bits per byte" in capsys.readouterr().out.lower()
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    score = summary["models"][0]["score"]
    assert (summary["task"], score["better"]) == ("code-modelling", "lower")
    assert score["original"] > 0
    other = [*audit[:-1], str(tmp_path / "lines"), "--transform", "rename", "--task", "next-line:0.25"]
    main(other)  # renaming changes the next lines here, so nothing is judged
    summary = json.loads((tmp_path / "lines" / "summary.json").read_text(encoding="utf-8"))
    assert summary["task"] == "next-line"
    assert summary["models"][0]["samples"] == 4
    capsys.readouterr()
    assert main(["run", "--task", "function-name", "--model", str(out), "--corpus", str(corpus)]) == 3
    assert "made for the task 'code-modelling'" in capsys.readouterr().err


@pytest.mark.slow
@torch.no_grad()
def test_continuations_are_written_side_by_side_as_one_by_one() -> None:
    """Each one as a loop writes it that reads the whole text again for every token."""
    given = {"samples": "3", "temperature": "1.2"}
    model = catalogue.load("code-checkpoint", Settings(device="cpu"), given)
    assert isinstance(model, DecoderModel)
    prompt = query("def total(items):\n    result = 0\n    for item in items:\n", "next-line")
    expected = []
    for number in range(3):
        rng = draws(number)
        ids = [model.streams.start, *model.streams.ids(prompt.source)]
        read = len(ids)
        while "\n" not in model.streams.text(ids[read:]) and len(ids) < read + 64:
            logits = model.module(torch.tensor([ids]))[0, -1].double() / 1.2
            shares = logits.softmax(-1).cumsum(-1)
            token = int(torch.searchsorted(shares, rng.random() * float(shares[-1])))
            if token == model.streams.start:
                break
            ids.append(token)
        expected.append(model.streams.text(ids[read:]).partition("\n")[0])
    (prediction,) = model.predict([prompt])
    assert isinstance(prediction, Predicted)
    assert list(prediction.draws) == expected
    assert len({len(text) for text in expected}) > 1, "they end at different times"


@pytest.mark.slow
def test_several_continuations_are_drawn() -> None:
    """The same ones each time, other ones than those of another number; near temperature 0 the likeliest."""
    prompt = query("def total(items):\n    result = 0\n    for item in items:\n", "next-line")
    model = catalogue.load("code-checkpoint", Settings(device="cpu"), {})
    (likeliest,) = model.predict([prompt])
    texts = []
    for temperature in ("1.5", "1.5", "0.001"):
        given = {"samples": "4", "temperature": temperature}
        drawing = catalogue.load("code-checkpoint", Settings(device="cpu"), given)
        assert drawing.fingerprint != model.fingerprint
        (drawn,) = drawing.predict([prompt])
        assert isinstance(drawn, Predicted)
        texts.append(drawn.draws)
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 1
    assert isinstance(likeliest, Predicted)
    assert set(texts[2]) == {likeliest.answer}
    with pytest.raises(UsageError, match="'spe-checkpoint' is no language model, so it has no -M samples"):
        catalogue.load("spe-checkpoint", Settings(device="cpu"), {"samples": "4"})
