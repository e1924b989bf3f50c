"""Random methods in drawn orders are compiled and run: they do what they did."""

from collections import Counter
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.order.reorder import REORDER, REORDER_BREAKING, JavaReorder
from tests.support.java_grammar import Writer, program_around
from tests.support.java_judge import JavaJudge, JavaUnit, jdks
from tests.support.java_methods import Method
from tests.support.java_running import outputs

PROGRAMS = 80
DRAWS = 2


def variants(source: str, transform: object, draws: int) -> set[str]:
    """Texts of several draws."""
    texts = set()
    for seed in range(draws):
        moves = transform.propose(source, Random(seed))  # type: ignore[attr-defined]
        if isinstance(moves, Refused):
            break
        result = transform.apply(source, moves)  # type: ignore[attr-defined]
        assert isinstance(result, Rewritten), result
        texts.add(result.source)
    return texts - {source}


@pytest.mark.weekly
@pytest.mark.skipif(not jdks(), reason="no Java")
def test_every_drawn_order_does_what_the_method_did() -> None:
    """Under `returning`, where nothing raises. Also the power: the paper's relation and the control are noticed."""
    release = max(jdks())
    plan: tuple[tuple[str, JavaReorder | object, int], ...] = (
        ("full", REORDER, DRAWS), ("returning", REORDER.under("returning"), DRAWS), ("paper", REORDER.under("paper"), 1), ("breaking", REORDER_BREAKING, 1),
    )  # fmt: skip
    texts: list[str] = []
    kinds: list[tuple[str, int]] = []
    for number in range(PROGRAMS):
        source = Writer(Random(f"order {number}"), release).method()
        origin = len(texts)
        texts.append(source)
        kinds.append(("", origin))
        for kind, transform, draws in plan:
            for text in sorted(variants(source, transform, draws)):
                texts.append(text)
                kinds.append((kind, origin))
    with JavaJudge(release, jdks()[release]) as judge:
        runs = judge.told([JavaUnit(program_around(text, release), (0,)) for text in texts])
    counts: Counter[tuple[str, bool]] = Counter()
    for text, (kind, origin), run in zip(texts, kinds, runs, strict=True):
        assert not runs[origin].error, f"{texts[origin]}\n{runs[origin].error}"
        same = run == runs[origin]
        assert same or kind != "full", f"{texts[origin]}\n\n{text}\n{runs[origin]}\n{run}"
        if kind == "returning":
            # It promises nothing where something raises, not even where that is caught.
            assert not run.error, f"{texts[origin]}\n\n{text}\n{run.error}"
            if "Exception" in str(runs[origin].outcomes) or "catch (" in texts[origin]:
                continue
            assert same, f"{texts[origin]}\n\n{text}\n{runs[origin]}\n{run}"
        counts[kind, same] += 1
    assert counts["full", True] > 1.5 * PROGRAMS
    assert counts["returning", True] > 0.3 * PROGRAMS
    assert counts["paper", False] > 0.3 * PROGRAMS, "the oracle would not notice"
    assert counts["breaking", False] > 0.15 * PROGRAMS
    raised = sum(
        "Exception" in str(run.outcomes) for run, (kind, _) in zip(runs, kinds, strict=True) if not kind
    )
    assert raised > 0.3 * PROGRAMS


MEMBERS = """\
static class Node extends RuntimeException implements AutoCloseable {
    Node next; Object code = "c"; Integer boxed; Node inherited;
    public void close() { }
}
static class Base { Node value; String word; void run() { } }
static int stored;
static Node next(Node node) { return node == null ? null : node.next; }
static String word(Object value) { return value == null ? null : null; }
static void raise() { throw new Node(); }
static String told(Runnable action) {
    stored = 0;
    String error = "none";
    try { action.run(); } catch (RuntimeException caught) { error = caught.getClass().getName(); }
    return error + stored;
}
"""
NODES = {
    "a parameter": "Node value = null; USE",
    "a value of a call": "Node value = next(new Node()); USE",
    "a second value": "Node value = new Node(); value = next(value); USE",
    "a value of two": "Node value = o == null ? new Node() : null; USE",
    "a value behind a cast": "Node value = (Node) (Object) next(new Node()); USE",
    "a value given in an expression": "Node value = new Node(); Node other = value = next(value); USE",
    "a circle of two": "Node value = new Node(), other = next(value); Node kept = value; value = other; other = kept; USE",
    "a caught exception": "try { raise(); } catch (Node value) { value = value.next; USE }",
    "a caught exception, later": "try { raise(); } catch (Node value) { for (int i = 0; i < 2; i++) { USE value = next(value); } }",
    "one of two exceptions": "try { raise(); } catch (RuntimeException e) { Node value = (Node) e; value = value.next; USE }",
    "a variable of a pattern": "if ((Object) new Node() instanceof Node value) { value = value.next; USE }",
    "a variable of a pattern, later": "if (!((Object) new Node() instanceof Node value)) { return; } value = next(value); USE",
    "a resource": "try (Node value = next(new Node())) { USE }",
    "an element": "Node[] all = {new Node(), null}; Node value = all[1]; USE",
    "an item": "for (Node value : new Node[] {new Node(), null}) { USE }",
    "an inherited field": "Node value = new Node(); Base base = new Base() { void run() { USE } }; base.run();",
    "an inherited field of a local class": "Node value = new Node(); class Sub extends Base { void run() { USE } } new Sub().run();",
    "a captured variable": "Node value = next(new Node()); Runnable action = () -> { USE }; action.run();",
    "a parameter of a lambda": "java.util.function.Consumer<Node> action = value -> { USE }; action.accept(null);",
}  # fmt: skip
"""Ways to a variable `value` that is null."""
OF_NODES = (
    "Object found = value.code; stored = 7;",
    "synchronized (value) { } stored = 7; Runnable run = value::close; stored = 8;",
)
"""Statements that raise for a null before others see a store."""
CALLS = (
    'new StringBuilder().append("abc", n, 9)', 'new StringBuilder("abc").append(w, 0, n)',
    'new StringBuilder("abc").insert(n + 9, 1)', 'new StringBuilder("abc").charAt(n + 9)',
    'new StringBuilder("abc").indexOf(w)', 'new StringBuilder(w)', 'new StringBuilder(n - 9)',
    '"abc".charAt(n + 9)', '"abc".substring(n + 9)', '"abc".repeat(n - 9)', '"abc".startsWith(w)',
    '"abc".contains(w)', '"abc".compareTo(w)', '"abc".concat(w)', '"abc".indexOf(w)', '"abc".replace("a", w)',
    '"abc".indexOf(box)', '"abc".replace(box, \'x\')', 'Character.toString(n - 9)', 'Character.isLetter(box)',
    'Math.floorMod(n, n)', 'Math.max(n, whole)', 'Math.abs(whole)', 'Integer.valueOf(w)', 'Integer.valueOf(whole)',
    'Integer.parseInt("x")', 'Integer.toString(whole, 2)', 'Integer.parseInt("abc", 2, n, 10)', 'Long.sum(1, whole)',
    'new IndexOutOfBoundsException(whole)', 'new java.util.ArrayList<Integer>().get(n)',
    'new java.util.LinkedList<Integer>().remove()', 'new java.util.ArrayList<Object>().remove(n)',
    'new java.util.ArrayList<Object>().set(n, w)', 'new int[n - 9]', 'new int[] {whole}', 'n / n', 'n % whole',
    'whole + 1', '-whole', '(int) whole', '(Integer) (Object) w.length()', '(String) (Object) n', 'w.isEmpty()',
)  # fmt: skip
"""Expressions that raise where `n` is 0 and `w`, `box` and `whole` are null."""


def _raising() -> dict[str, Method]:
    """Methods in which a statement raises before or behind others that store what its caller sees."""
    bodies = [way.replace("USE", use) for way in NODES.values() for use in OF_NODES]
    for call in CALLS:
        declared = "String w = word(o); Character box = o == null ? null : 'a'; "
        declared += "Integer whole = o == null ? null : 1; "
        bodies.append(
            f"{declared} stored = n; try {{ Object found = {call}; n = 5; }} finally {{ stored += n; }}"
        )
    return {
        f"R{number}": Method(
            f"static void f(Object o, int n) {{ {body} }}", ("told(() -> f(null, 0))", "told(() -> f(\"o\", 1))"), MEMBERS
        )
        for number, body in enumerate(bodies)
    }  # fmt: skip


@pytest.mark.slow
def test_a_statement_that_raises_passes_no_store_that_its_caller_sees(tmp_path: Path) -> None:
    methods = _raising()
    origin: dict[str, str] = {}
    for name, method in dict(methods).items():
        for number, moves in enumerate(islice(REORDER.every(method.text), 3)):
            result = REORDER.apply(method.text, moves)
            assert isinstance(result, Rewritten)
            methods[f"{name}v{number}"] = Method(result.source, method.calls, method.members)
            origin[f"{name}v{number}"] = name
    printed = outputs(methods, tmp_path)
    wrong = [name for name, before in origin.items() if printed[name] != printed[before]]
    assert not wrong, "\n".join(f"{methods[origin[name]].text}\n{methods[name].text}" for name in wrong)
    raised = sum(
        "Exception" in printed[name] or "Node" in printed[name] for name in methods.keys() - origin.keys()
    )
    assert raised > 0.8 * (len(methods) - len(origin)), "most of them raise"
    assert len(origin) > 40
