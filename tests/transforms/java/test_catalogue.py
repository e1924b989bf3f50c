"""The whole catalogue of Java: on its examples, on methods full of traps that are run, and on real methods."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Final

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.language import JAVA
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Move, Origin, Perturbed, Sample
from codeaudit.transforms.registry import transform_for
from tests.support.data import data_set
from tests.support.java_methods import METHODS, Method
from tests.support.java_running import outputs

FAMILIES: Final = {"expressions", "control-flow", "declarations", "dead-code", "strings", "layout"}
ENTRIES: Final = {name: entry for name, entry in JAVA.transforms.items() if entry.family in FAMILIES}
PRESERVING: Final = [name for name, entry in ENTRIES.items() if entry.kind == "preserving"]
CONTROLS: Final = [name for name, entry in ENTRIES.items() if entry.kind == "control"]
ARGUMENTS: Final = {
    "int": ("0", "1", "7", "-3", "11"), "long": ("1L", "9L"), "double": ("2.0", "0.5", "-1.0"),
    "boolean": ("true", "false"), "String": ('"x"', '"ab"'), "int[]": ("new int[] {1, 5, 9}", "new int[0]"),
    "double[]": ("new double[] {3, 1, 2}", "new double[] {5, 1}"),
}  # fmt: skip
SLOT: Final = re.compile(r'"<(?:local|parameter)\d+>"')
"""A variable in the message of a NullPointerException: nobody reads which number it has."""


def _rule(name: str) -> Rewriting:
    rule = transform_for(name, "java")
    assert isinstance(rule, Rewriting)
    return rule


def _example(name: str) -> Perturbed:
    source = ENTRIES[name].example
    sample = Sample(id=name, language="java", source=source, label=None, origin=Origin(path="", line=1))
    (outcome,) = perturb_one(sample, _rule(name), variants=1, seed=0, sites="all")
    assert isinstance(outcome, Perturbed), (name, outcome.reason)
    return outcome


def _called(source: str) -> Method:
    """A method of an example with calls for it; what it does to an array is told, too."""
    head = source.partition(") {")[0]
    name = head.partition("(")[0].split()[-1]
    kinds = [part.split()[0] for part in head.partition("(")[2].split(",")]
    choices = [ARGUMENTS[kind] for kind in kinds]
    rng = Random(name)
    picked = {tuple(rng.choice(choice) for choice in choices) for _ in range(30)}
    return Method(source, tuple(f"{name}({', '.join(given)})" for given in sorted(picked)))


def test_examples_do_what_they_did_and_controls_do_not(tmp_path: Path) -> None:
    examples = {entry.example: f"Before{number}" for number, entry in enumerate(ENTRIES.values())}
    methods = {label: _called(example) for example, label in examples.items()}
    for number, name in enumerate(ENTRIES):
        variant = _example(name)
        assert variant.source != ENTRIES[name].example
        assert variant == _example(name)
        methods[f"After{number}"] = _called(ENTRIES[name].example)._replace(text=variant.source)
    printed = outputs(methods, tmp_path)
    for number, name in enumerate(ENTRIES):
        before, after = printed[examples[ENTRIES[name].example]], printed[f"After{number}"]
        assert len(before) > 30
        assert (before == after) == (name in PRESERVING), (name, methods[f"After{number}"].text, before)


def test_twins_are_controls() -> None:
    assert len(PRESERVING) >= 24
    assert len(CONTROLS) >= 6
    twins = {ENTRIES[name].twin for name in PRESERVING} - {None}
    assert twins <= set(CONTROLS)


@pytest.mark.slow
def test_methods_full_of_traps_do_what_they_did(tmp_path: Path) -> None:
    methods = {f"B{number}": method for number, method in enumerate(METHODS)}
    base: dict[str, str] = {}
    made: Counter[str] = Counter()
    for name in PRESERVING:
        rule = _rule(name)
        for number, method in enumerate(METHODS):
            for text in sorted(_variants(rule, method.text, seed=number)):
                label = f"V{len(methods)}"
                methods[label] = method._replace(text=text)
                base[label] = f"B{number}"
                made[name] += 1
    printed = {label: SLOT.sub("<>", text) for label, text in outputs(methods, tmp_path).items()}
    for label, original in base.items():
        expected = printed[original].replace(original, label)
        assert printed[label] == expected, f"{methods[label].text}\n{printed[label]}"
    assert set(made) == set(PRESERVING) - {"join-lines"}
    assert sum(made.values()) > 1500


def _variants(rule: Rewriting, source: str, *, seed: int) -> set[str]:
    """A method with an edit at every site, and with a single edit."""
    try:
        moves = rule.propose(source, Random(seed))
    except SourceError:
        return set()
    if isinstance(moves, Refused):
        return set()
    chosen: list[tuple[Move, ...]] = [moves]
    if rule.proof == "analysis" and len(moves) > 1:
        chosen.append((Random(seed).choice(moves),))
    texts = set()
    for some in chosen:
        result = rule.apply(source, some)
        assert isinstance(result, Rewritten), (rule.name, result, source)
        texts.add(result.source)
    return texts - {source}


@pytest.mark.slow
def test_rules_after_one_another(tmp_path: Path) -> None:
    methods = {f"B{number}": method for number, method in enumerate(METHODS)}
    for number, method in enumerate(METHODS):
        rng = Random(number)
        text = method.text
        for name in rng.sample(PRESERVING, 25):
            rule = _rule(name)
            moves = rule.propose(text, rng)
            if isinstance(moves, Refused):
                continue
            some = tuple(move for move in moves if rng.random() < 0.7)
            result = rule.apply(text, some)
            text = result.source if isinstance(result, Rewritten) else text
        assert text != method.text
        methods[f"V{number}"] = method._replace(text=text)
    printed = {label: SLOT.sub("<>", text) for label, text in outputs(methods, tmp_path).items()}
    for number in range(len(METHODS)):
        expected = printed[f"B{number}"].replace(f"B{number}", f"V{number}")
        assert printed[f"V{number}"] == expected, methods[f"V{number}"].text


@pytest.mark.weekly
def test_real_methods_still_parse_whatever_is_done_to_them() -> None:
    with gzip.open(data_set("java_methods.jsonl.gz"), "rt", encoding="utf-8") as lines:
        sources = [json.loads(line)["source"] for number, line in enumerate(lines) if number % 400 == 0]
    applied: Counter[str] = Counter()
    rng = Random(5)
    for source in sources:
        for name in ENTRIES:
            rule = _rule(name)
            moves = rule.propose(source, rng)
            if isinstance(moves, Refused):
                continue
            rewritten = rule.apply(source, moves)
            assert isinstance(rewritten, Rewritten), (name, rewritten, source)
            assert rewritten.source != source
            applied[name] += 1
            some = tuple(move for move in moves if rng.random() < 0.5)
            assert isinstance(rule.apply(source, some), Rewritten)
    assert len(applied) > 40


def test_a_file_is_rewritten_in_its_last_method_alone() -> None:
    source = "class A {\n    int g(int a) { return a + 1; }\n    int f(int a) { return a + 2; }\n}\n"
    sample = Sample(id="a", language="java", source=source, label=None, origin=Origin(path="", line=1))
    (outcome,) = perturb_one(sample, _rule("swap-operands"), variants=1, seed=0, sites="all")
    assert isinstance(outcome, Perturbed)
    assert outcome.source == source.replace("a + 2", "2 + a")


def test_moves_of_another_transform_and_clashing_edits_are_refused() -> None:
    rule = _rule("negate-comparisons")
    source = "static boolean f(int a, int b) { return a < b; }"
    moves = rule.propose(source, Random(0))
    assert isinstance(moves, tuple)
    (move,) = moves
    for wrong in (
        Move(kind="other", site=0, value=(0,), note=""),
        Move(kind=move.kind, site=3, value=(0,), note=""),
        Move(kind=move.kind, site=0, value=(9,), note=""),
        Move(kind=move.kind, site=0, value="x", note=""),
    ):
        assert rule.apply(source, (wrong,)) == Refused("not a move of this transform")
    nothing = rule.apply(source, ())
    assert isinstance(nothing, Rewritten)
    assert nothing.source == source


@pytest.mark.parametrize("text", ["int f(int a) { return '\\u0061' + 1; }", "int f( { return 1; }", ""])
def test_what_cannot_be_read_is_refused_or_no_source(text: str) -> None:
    rule = _rule("identity-arithmetic")
    try:
        assert isinstance(rule.propose(text, Random(0)), Refused)
    except SourceError:
        assert "\\u" not in text
