"""CoDE's tables: samples that are what they say, small tables from end to end, and their continuation."""

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from codeaudit.audit.papers.dependency_encoding.material import learn
from codeaudit.audit.papers.dependency_encoding.networks import build
from codeaudit.audit.papers.dependency_encoding.trunk import Decoder, DecoderSizes
from codeaudit.cli.main import main
from codeaudit.transforms.records import Origin, Sample

SMALL = [
    "--steps",
    "2",
    "--batch",
    "4",
    "--samples",
    "20",
    "--width",
    "16",
    "--layers",
    "3",
    "--heads",
    "2",
    "--inner",
    "16",
    "--features",
    "8",
]
RULES = ["the most frequent answer", "what most functions return"]


@pytest.fixture
def benchmark(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("code_modelling")


def printed(text: str) -> str:
    """What a program prints."""
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard):
        exec(text, {})
    return heard.getvalue().strip()


def test_copy_samples_print_their_answers(benchmark: ModuleType) -> None:
    """As Python runs them; with as many functions of different names as are asked for."""
    rng = np.random.default_rng(0)
    answers = set()
    for _ in range(40):
        *pieces, answer = benchmark.copy_sample(rng, 7)
        text = "".join(pieces)
        assert printed(text) == answer
        names = [line for line in text.splitlines() if line.startswith("def ")]
        assert len(set(names)) == len(names) == 7
        assert len(names[0]) == len("def func_abcd():")
        answers.add(answer)
    assert len(answers) > 5


def test_guessing_without_names_takes_the_commonest_digit(benchmark: ModuleType) -> None:
    """By hand: 7 of 7, 7, 3 is right, 3 is not; of a tie each digit is right half of the time."""
    rows = []
    for digits, answer in (("773", "7"), ("773", "3"), ("7733", "3")):
        pieces = [
            one for digit in digits for one in ("def func_", "a", "():", "\n", "    return ", digit, "\n")
        ]
        rows.append(torch.tensor([benchmark.COPY_WORDS.ids([*pieces, answer])]))
    assert [benchmark.commonest(row) for row in rows] == [1.0, 0.0, 0.5]


def test_counting_samples_print_their_answers(benchmark: ModuleType) -> None:
    """As Python runs them with `+= 1`; the operations are drawn 1 : 5 : n."""
    rng = np.random.default_rng(0)
    kinds = {"var0 = 0": 0, "var0++": 0, "pass": 0}
    for _ in range(200):
        *pieces, answer = benchmark.counting_sample(rng, 30)
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


def test_only_the_answer_is_learned(benchmark: ModuleType) -> None:
    """Whatever the lengths in a batch; and no two steps or seeds are alike."""
    parser_free = benchmark.Settings(
        command="counting", data="made", train=6, width=16, layers=3, heads=2, inner=16, features=8,
        alpha=0.0, steps=1, batch=5, rate=1e-3, test=20,
    )  # fmt: skip
    found = benchmark.made(parser_free)
    inputs, targets = found.train(0, 0)
    assert ((targets != -1).sum(1) == 1).all()
    for row, wanted in zip(inputs, targets, strict=True):
        at = int((wanted != -1).nonzero())
        assert int(row[at]) == found.newline
    assert not all(np.array_equal(inputs, found.train(0, step)[0]) for step in (1, 2))


@pytest.mark.weekly
def test_tables_are_made_and_gone_on_with(
    benchmark: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """NoPE brings NoPE_λ along; a second start trains nothing again."""
    words = ["copy", *SMALL, "--out", str(tmp_path)]
    assert benchmark.main([*words, "--networks", "nope,nope-lambda,code"]) == 0
    path = tmp_path / "copy.jsonl"
    trials = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [one["network"] for one in trials] == ["nope", "nope-lambda", "code", *RULES]
    assert trials[1]["scores"]["lambda"] in benchmark.LAMBDAS
    first = capsys.readouterr().out
    assert "| code |" in first
    assert "(100)" in first  # the paper's figure
    assert benchmark.main([*words, "--networks", "nope,nope-lambda,code"]) == 0
    assert capsys.readouterr().out == first
    assert len(path.read_text(encoding="utf-8").splitlines()) == 5
    with pytest.raises(SystemExit):
        benchmark.main([*words, "--networks", "roper"])


def source(number: int) -> str:
    """A long enough file."""
    return "\n\n".join(
        f"def part_{number}_{at}(items):\n    import math\n    total = {number}\n    for item in items:\n"
        f"        total += math.floor(item) * {at}\n    return total\n"
        for at in range(6)
    )


@pytest.mark.weekly
def test_lengths_and_features_from_end_to_end(
    benchmark: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On files of their own."""
    for name, numbers in (("train", range(8)), ("test", range(10, 18))):
        (tmp_path / name).mkdir()
        for number in numbers:
            (tmp_path / name / f"file{number}.py").write_text(source(number), encoding="utf-8")
    words = [
        "--train",
        str(tmp_path / "train"),
        "--test",
        str(tmp_path / "test"),
        "--out",
        str(tmp_path / "out"),
    ]
    small = [*SMALL, "--samples", "4", "--length", "8", "--vocabulary", "300"]
    assert benchmark.main(["lengths", *words, *small, "--networks", "rope,code"]) == 0
    assert "frequencies of tokens" in capsys.readouterr().out
    model = tmp_path / "model"
    sizes = [
        "--width",
        "16",
        "--layers",
        "4",
        "--heads",
        "2",
        "--window",
        "32",
        "--vocabulary",
        "300",
        "--batch",
        "4",
        "--steps",
        "3",
    ]
    assert main(["train", "code", "--corpus", str(tmp_path / "train"), "--out", str(model), *sizes]) == 0
    capsys.readouterr()
    asked = [
        "features",
        "--model",
        str(model),
        "--test",
        str(tmp_path / "test"),
        "--out",
        str(tmp_path / "out"),
    ]
    assert benchmark.main(asked) == 0
    told = capsys.readouterr().out
    assert "| import |" in told
    assert "- return, announced, " in told
    assert "`return total`" in told


def test_auroc_counts_pairs(script: Callable[[str], ModuleType]) -> None:
    """With ties, as features that are not active have them."""
    rng = np.random.default_rng(0)
    values = np.maximum(rng.normal(size=(80, 3)), 0).round(1)
    marks = rng.random(80) < 0.3
    found = script("code_features").auroc(values, marks)
    for column, one in zip(values.T, found, strict=True):
        pairs = [(a > b) + 0.5 * (a == b) for a in column[marks] for b in column[~marks]]
        assert one == pytest.approx(sum(pairs) / len(pairs))


def test_lines_are_completed_greedily_behind_their_contexts(benchmark: ModuleType) -> None:
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
    lines = benchmark.lines_of(samples, streams, 40)
    whole = "\n".join(sample.source for sample in samples)
    assert len(lines) >= 3
    for one in lines:
        assert len(one.context) == 40
        assert one.context[-1] == streams.newline
        assert one.before in " ".join(whole.split())
        assert f"{one.before} {one.text}" in " ".join(whole.split())
    sizes = DecoderSizes(
        vocabulary=streams.vocabulary, newline=streams.newline, start=streams.start, width=16, layers=3,
        heads=2, inner=16, window=8, features=8,
    )  # fmt: skip
    torch.manual_seed(1)
    network = build("code", sizes, {}).eval()
    found = benchmark.completed(network, lines, streams, 16)
    for (said, right), line in zip(found, lines, strict=True):
        ids = [streams.start, *line.context[-16:]]
        for _ in range(benchmark.LONGEST):
            with torch.no_grad():
                ids.append(int(network(torch.tensor([ids]))[0, -1].argmax()))
            if ids[-1] in (streams.newline, streams.start):
                break
        assert said == " ".join(streams.text(ids[17:]).split())
        assert right == line.text


@pytest.mark.weekly
def test_statistics_stand_below_a_table_of_several_trainings(benchmark: ModuleType) -> None:
    """Who is told from CoDE, by the score's own direction; a single training is not tested."""
    settings = benchmark.Settings(
        command="lengths", data="files", train=8, width=16, layers=3, heads=2, inner=16, features=8,
        alpha=0.0, steps=1, batch=5, rate=1e-3, test=20,
    )  # fmt: skip
    worths = {"rope": (50.0, 51.0, 52.0), "alibi": (10.0, 11.0, 12.0), "code": (20.0, 21.0, 22.0)}
    trials = [
        benchmark.Trial(
            network=name, size="micro", seed=seed, setting="", scores={"perplexity x1": worth, "weights": 5.0}
        )
        for name, some in worths.items()
        for seed, worth in enumerate(some)
    ]
    told = benchmark.table(trials, "perplexity", settings, (1,), "Perplexity")
    assert "| **11.00 ± 0.58** (4.68) |" in told
    assert "worse than code: rope; better: alibi." in told
    single = benchmark.table([one for one in trials if not one.seed], "perplexity", settings, (1,), "P")
    assert "worse" not in single
    assert "**" not in single


def copier(benchmark: ModuleType, functions: int) -> Decoder:
    """CoDE with weights set by hand, so that it copies.

    A line break holds the signs of its line (in-line layer). What encodes a `return` line is made of its anchor,
    the line break behind `def`, and so of the name's signs; the break behind the call asks for the same signs
    by term (b), and for digits by term (a).
    """
    ids = {sign: benchmark.COPY_WORDS.ids([sign])[1] for sign in benchmark.ALPHABET}
    vocabulary, digits = benchmark.COPY_WORDS.size, [ids[digit] for digit in "0123456789"]
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


@pytest.mark.weekly
@pytest.mark.parametrize("functions", [3, 50])
def test_code_can_copy(benchmark: ModuleType, functions: int) -> None:
    """One line-wise layer is enough, so where training does not find it, that is training's affair."""
    network, rng = copier(benchmark, functions), np.random.default_rng(1)
    right = 0
    for _ in range(40):
        ids = torch.tensor([benchmark.COPY_WORDS.ids(benchmark.copy_sample(rng, functions))])
        with torch.no_grad():
            right += int(network(ids[:, :-1])[0, -1].argmax() == ids[0, -1])
    assert right >= 36
