"""CoDE's tables: samples that are what they say, small tables from end to end, and what a network can copy."""

import contextlib
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from codeaudit.audit.papers.dependency_encoding import features
from codeaudit.audit.papers.dependency_encoding.comparison import (
    LAMBDAS,
    LONGEST,
    SHARP,
    completed,
    lengths,
    lines_of,
    made_task,
    retrieval,
)
from codeaudit.audit.papers.dependency_encoding.features import auroc, in_plane
from codeaudit.audit.papers.dependency_encoding.made_code import (
    ALPHABET,
    COPY_WORDS,
    commonest,
    copy_sample,
    counting_sample,
)
from codeaudit.audit.papers.dependency_encoding.material import learn
from codeaudit.audit.papers.dependency_encoding.networks import build
from codeaudit.audit.papers.dependency_encoding.trunk import Decoder, DecoderSizes
from codeaudit.audit.papers.experiments import Bench
from codeaudit.transforms.records import Origin, Sample


def printed(text: str) -> str:
    """What a program prints."""
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard):
        exec(text, {})
    return heard.getvalue().strip()


def test_copy_samples_print_their_answers() -> None:
    """As Python runs them; with as many functions of different names as are asked for."""
    rng = np.random.default_rng(0)
    answers = set()
    for _ in range(40):
        *pieces, answer = copy_sample(rng, 7)
        text = "".join(pieces)
        assert printed(text) == answer
        names = [line for line in text.splitlines() if line.startswith("def ")]
        assert len(set(names)) == len(names) == 7
        assert len(names[0]) == len("def func_abcd():")
        answers.add(answer)
    assert len(answers) > 5


def test_guessing_without_names_takes_the_commonest_digit() -> None:
    """By hand: 7 of 7, 7, 3 is right, 3 is not; of a tie each digit is right half of the time."""
    rows = []
    for digits, answer in (("773", "7"), ("773", "3"), ("7733", "3")):
        pieces = [
            word for digit in digits for word in ("def func_", "a", "():", "\n", "    return ", digit, "\n")
        ]
        rows.append(torch.tensor([COPY_WORDS.ids([*pieces, answer])]))
    assert [commonest(row) for row in rows] == [1.0, 0.0, 0.5]


def test_counting_samples_print_their_answers() -> None:
    """As Python runs them with `+= 1`; the operations are drawn 1 : 5 : n."""
    rng = np.random.default_rng(0)
    kinds = {"var0 = 0": 0, "var0++": 0, "pass": 0}
    for _ in range(200):
        *pieces, answer = counting_sample(rng, 30)
        text = "".join(pieces)
        assert printed(text.replace("++", " += 1")) == answer
        lines = text.splitlines()
        assert len(lines) == 31
        assert lines[0] == "var0 = 0"
        for line in lines[1:-1]:
            kinds[line] += 1
    total = sum(kinds.values())
    for kind, weight in zip(kinds, (1, 5, 30), strict=True):
        assert kinds[kind] / total == pytest.approx(weight / 36, abs=0.02)


def test_only_the_answer_is_learned() -> None:
    """Whatever the lengths in a batch; and no two steps or seeds are alike."""
    task = made_task("counting", {"counting": 6, "tested": 20, "batch": 5})
    inputs, targets = task.train(0, 0)
    assert ((targets != -1).sum(1) == 1).all()
    for row, wanted in zip(inputs, targets, strict=True):
        at = int((wanted != -1).nonzero())
        assert int(row[at]) == task.newline
    assert not all(np.array_equal(inputs, task.train(0, step)[0]) for step in (1, 2))


def source(number: int) -> str:
    """A long enough file."""
    return "\n\n".join(
        f"def part_{number}_{at}(items):\n    import math\n    total = {number}\n    for item in items:\n"
        f"        total += math.floor(item) * {at}\n    return total\n"
        for at in range(6)
    )


def test_auroc_counts_pairs() -> None:
    """With ties, as features that are not active have them."""
    rng = np.random.default_rng(0)
    values = np.maximum(rng.normal(size=(80, 3)), 0).round(1)
    marks = rng.random(80) < 0.3
    areas = auroc(values, marks)
    for column, area in zip(values.T, areas, strict=True):
        pairs = [(a > b) + 0.5 * (a == b) for a in column[marks] for b in column[~marks]]
        assert area == pytest.approx(sum(pairs) / len(pairs))


def test_lines_are_completed_greedily_behind_their_contexts() -> None:
    """As without a memory of what was read; no line stands in the context of a later one."""
    samples = [
        Sample(
            id=f"{number}",
            source=source(number),
            label=None,
            language="python",
            origin=Origin(path=f"{number}.py", line=1),
        )
        for number in range(3)
    ]
    streams = learn((sample.source for sample in samples), 300)
    lines = lines_of(samples, streams, 40)
    whole = "\n".join(sample.source for sample in samples)
    assert len(lines) >= 3
    for cut in lines:
        assert len(cut.context) == 40
        assert cut.context[-1] == streams.newline
        assert cut.before in " ".join(whole.split())
        assert f"{cut.before} {cut.text}" in " ".join(whole.split())
    sizes = DecoderSizes(
        vocabulary=streams.vocabulary, newline=streams.newline, start=streams.start, width=16, layers=3,
        heads=2, inner=16, window=8, features=8,
    )  # fmt: skip
    torch.manual_seed(1)
    network = build("code", sizes, {}).eval()
    completions = completed(network, lines, streams, 16)
    for (said, right), line in zip(completions, lines, strict=True):
        ids = [streams.start, *line.context[-16:]]
        for _ in range(LONGEST):
            with torch.no_grad():
                ids.append(int(network(torch.tensor([ids]))[0, -1].argmax()))
            if ids[-1] in (streams.newline, streams.start):
                break
        assert said == " ".join(streams.text(ids[17:]).split())
        assert right == line.text


def copier(functions: int) -> Decoder:
    """CoDE with weights set by hand, so that it copies.

    A line break holds the signs of its line (in-line layer). What encodes a `return` line is made of its anchor,
    the line break behind `def`, and so of the name's signs; the break behind the call asks for the same signs
    by term (b), and for digits by term (a).
    """
    ids = {sign: COPY_WORDS.ids([sign])[1] for sign in ALPHABET}
    vocabulary, digits = COPY_WORDS.size, [ids[digit] for digit in "0123456789"]
    sizes = DecoderSizes(
        vocabulary=vocabulary, newline=0, start=1, width=160, layers=3, heads=1, inner=8, features=64,
        window=64 * functions,
    )  # fmt: skip
    network = build("code", sizes, {}).eval()
    line, matching = network.blocks[0].attention, network.blocks[2].attention
    signs, encoded, digit = (
        vocabulary,
        vocabulary + len(ids),
        len(ids),
    )  # where each begins in a state or a head
    with torch.no_grad():
        for weight in network.blocks.parameters():
            if weight.dim() > 1:
                weight.zero_()
        network.tokens.weight.copy_(torch.eye(vocabulary, 160))
        for place, token in enumerate(ids.values()):
            line.value.weight[place, token] = line.outward.weight[signs + place, place] = 1.0
            matching.dictionary.encode.weight[place, signs + place] = 1.0
            matching.dictionary.decode[encoded + place, place] = 1.0
            matching.query.weight[place, signs + place] = 20.0
            matching.key.weight[place, encoded + place] = 20.0
        matching.query.weight[digit, sizes.newline] = 10.0
        for place, token in enumerate(digits):
            matching.key.weight[digit, token] = 4.0
            matching.value.weight[place, token] = 1.0
            matching.outward.weight[token, place] = 30.0
    return network


@pytest.mark.slow
@pytest.mark.parametrize("functions", [3, 50])
def test_code_can_copy(functions: int) -> None:
    """One line-wise layer is enough, so where training does not find it, that is training's affair."""
    network, rng = copier(functions), np.random.default_rng(1)
    right = 0
    for _ in range(40):
        ids = torch.tensor([COPY_WORDS.ids(copy_sample(rng, functions))])
        with torch.no_grad():
            right += int(network(ids[:, :-1])[0, -1].argmax() == ids[0, -1])
    assert right >= 36


def bench(tmp_path: Path, rows: list[str], data: Path | None = None, **settings: Any) -> Bench:
    """A bench with the smallest networks."""
    small = {
        "width": 16, "layers": 3, "heads": 2, "inner": 16, "features": 8, "alpha": 1e-5, "in_line": 1,
        "plain": 1, "tied": True, "half": False, "batch": 4, "steps": 2, "rate": 1e-3,
    }  # fmt: skip
    return Bench(
        name="own", rows=rows, settings={**small, **settings}, seeds=1, device="cpu", data=data,
        folder=tmp_path / "trials", tell=lambda _: None,
    )  # fmt: skip


@pytest.mark.slow
def test_copy_and_counting_from_end_to_end(tmp_path: Path) -> None:
    """NoPE brings NoPE_λ along; what is kept is not trained again."""
    asked = bench(
        tmp_path, ["nope", SHARP, "code"], tasks=["copy", "counting"], copy=3, counting=6, tested=20
    )
    trials = list(retrieval(asked))
    rules = ["the most frequent answer", "what most functions return"]
    assert [trial.row for trial in trials] == ["nope", SHARP, "code", *rules]
    assert trials[1].scores["copy lambda"] in LAMBDAS
    assert {f"{task} accuracy x{at}" for task in ("copy", "counting") for at in (1, 2, 3, 4)} <= set(
        trials[2].scores
    )
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "trials").iterdir()}
    assert list(retrieval(asked)) == trials
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "trials").iterdir()} == kept
    assert all(path.suffix == ".json" for path in kept)


@pytest.mark.slow
def test_lengths_from_end_to_end(tmp_path: Path) -> None:
    """On a table of functions of a few files."""
    table = tmp_path / "python_functions.jsonl"
    rows = [
        {"source": text, "name": "part", "file": f"{number}.py", "split": "test" if number > 9 else "train"}
        for number in range(18)
        for text in source(number).split("\n\n\n")
    ]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = bench(tmp_path, ["rope"], table, length=8, files=0, vocabulary=300, tested=4, lines=10)
    by_row = {length.row: length.scores for length in lengths(asked)}
    assert list(by_row) == ["rope", "frequencies of tokens", "the line before"]
    assert by_row["rope"]["perplexity x8"] > 1
    assert 0 <= by_row["rope"]["BLEU x1"] <= 1


def test_a_plane_keeps_the_longest_distances() -> None:
    points = np.array([[0.0, 0, 0], [9, 0, 0], [0, 4, 0], [0, 0, 0.1]])
    flat = in_plane(points)
    assert flat.shape == (4, 2)
    assert np.linalg.norm(flat[0] - flat[1]) == pytest.approx(9, abs=0.1)


@pytest.mark.slow
def test_features_of_the_bundled_network_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds of lines, pairs of features, and the operations of Counting."""
    monkeypatch.setattr(features, "FEWEST", 3)
    table = tmp_path / "python_functions.jsonl"
    rows = [
        {"source": text, "name": "part", "split": "test"}
        for at in range(8)
        for text in source(at).split("\n\n\n")
    ]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = bench(tmp_path, ["return"], table, model="code-checkpoint", functions=12, features=10)
    (trial,) = features.explained(asked)
    assert trial.scores["announced"] > 0.9
    assert "return total" in " ".join(trial.notes)
    *trials, whole = features.pairs(replace(asked, name="pairs", rows=features.PAIRS))
    scores = [trial.scores["(d)"] for trial in trials]
    assert scores == sorted(scores, reverse=True)
    assert len(whole.matrices["scores"]) == len(whole.series["plane"]) == 10
    counting = bench(tmp_path, ["pass"], counting=20, tested=20)
    (trial,) = features.operations(replace(counting, name="operations"))
    assert 0 <= trial.scores["read"] <= 1
