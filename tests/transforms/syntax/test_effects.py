"""Typed places: which parts of the state a statement reads and writes."""

from codeaudit.transforms.java.analysis.effects import CONTAINERS, JavaEffectCollector
from codeaudit.transforms.java.analysis.facts import Facts
from codeaudit.transforms.java.analysis.scopes import resolve
from codeaudit.transforms.syntax.effects import StatePlace


def _collected(statement: str, before: str = "") -> tuple[JavaEffectCollector, Facts]:
    """The effects of the last statement of a method with a parameter `a`."""
    facts = Facts(resolve(f"void f(int a, int[] v) {{ {before} {statement} }}"))
    last = facts.scopes.unit.part("body").children[-1]
    collector = JavaEffectCollector(facts)
    collector.visit(last.children[0])
    return collector, facts


def test_a_variable_has_its_number() -> None:
    collector, facts = _collected("a = v[0];")
    numbers = {binding.name: binding.number for binding in facts.scopes.bindings}
    assert StatePlace("variable", numbers["a"]) in collector.writes
    assert collector.reads == {StatePlace("variable", numbers["v"]), StatePlace("element", "int")}


def test_a_field_is_told_by_its_name() -> None:
    collector, _ = _collected("this.size = 3;")
    assert collector.writes == {StatePlace("field", "size")}


def test_a_container_that_nobody_else_reaches_is_a_place_of_its_own() -> None:
    own, facts = _collected("t.append(1);", "StringBuilder t = new StringBuilder();")
    number = next(binding.number for binding in facts.scopes.bindings if binding.name == "t")
    assert StatePlace("contents", number) in own.writes
    foreign, _ = _collected("t.append(1);", "StringBuilder t = g();")
    assert CONTAINERS in foreign.writes


def test_places_of_two_kinds_are_apart() -> None:
    assert StatePlace("field", "x") != StatePlace("doubt", "x")
    assert StatePlace("contents", 1) != StatePlace("variable", 1)
