"""Controls on constants: where the text itself shows that an edit would change nothing, there is none."""

import pytest

import codeaudit

NUMBERS = ("0", "1", "2", "4", "-1", "2.0", "0.5", "10", "3", "1 + 1")
OPERATORS = ("-", "/", "//", "%", "**")
AUGMENTED = ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^")
RANGES = ("0, 10, 3", "0, 9, 3", "1, 2", "0, 1", "0, 0", "5, 1", "9, 0, -3", "9, 0, -2", "-1, 1", "0, 5, 1")
ITERATED = (
    "()",
    "[]",
    "(3,)",
    "[3]",
    "{3}",
    "(3, 4)",
    "'a'",
    "''",
    "'ab'",
    "range(0, 1)",
    "range(0, 2)",
    "range(3, 3)",
)


def seen(source: str, *arguments: object) -> list[object]:
    """What `f` does with each argument: its result, what it prints, or its error."""
    events: list[object] = []
    for argument in arguments:
        names: dict[str, object] = {"print": lambda *printed: events.append(printed)}
        try:
            exec(source, names)
            events.append(names["f"](argument))
        except Exception as error:
            events.append(type(error).__name__)
    return events


def edits(source: str, name: str) -> set[str]:
    """All texts that a control makes of a function."""
    texts = set()
    for seed in range(12):
        try:
            texts.add(codeaudit.transform(source, name, seed=seed))
        except codeaudit.NotApplied:
            break
    return texts


@pytest.mark.slow
def test_operands_whose_exchange_gives_the_same_are_left() -> None:
    applied = 0
    for left in NUMBERS:
        for right in NUMBERS:
            for sign in OPERATORS:
                source = f"def f(x):\n    return x, ({left}) {sign} ({right})\n"
                for made in edits(source, "operands-swapped-wrong"):
                    applied += 1
                    assert seen(made, 1) != seen(source, 1), made
    assert applied > 300


@pytest.mark.slow
def test_an_augmented_assignment_that_another_operator_would_not_change_is_left() -> None:
    applied = 0
    for right in NUMBERS:
        for sign in AUGMENTED:
            for text in (f"x {sign}= {right}", f"x = x {sign} ({right})"):
                source = f"def f(x):\n    {text}\n    return x\n"
                for made in edits(source, "augmented-wrong"):
                    applied += 1
                    assert seen(made, 2, 3, 7, 100) != seen(source, 2, 3, 7, 100), made
    assert applied > 150


def test_a_range_that_stays_the_same_is_left() -> None:
    applied = 0
    for bounds in RANGES:
        source = f"def f(x):\n    found = []\n    for n in range({bounds}):\n        found.append(n)\n    return found\n"
        for made in edits(source, "for-off-by-one"):
            applied += 1
            assert seen(made, 1) != seen(source, 1), made
    assert applied > 15


@pytest.mark.parametrize("end", ["", "    else:\n        print('all')\n"])
def test_a_loop_of_one_turn_is_left(end: str) -> None:
    applied = 0
    for iterated in ITERATED:
        source = f"def f(x):\n    for n in {iterated}:\n        print(n)\n{end}    return x\n"
        for made in edits(source, "loop-left-early"):
            applied += 1
            assert seen(made, 1) != seen(source, 1), made
    assert applied >= (7 if end else 3)


@pytest.mark.parametrize(
    "value", ["print(x)", "x.append(1)", "[].sort()", "setattr(f, 'a', x)", "None", "{}.clear()"]
)
def test_a_return_of_nothing_is_left(value: str) -> None:
    assert not edits(f"def f(x):\n    return {value}\n", "return-dropped")
    assert edits("def f(x):\n    return x.pop()\n", "return-dropped")
