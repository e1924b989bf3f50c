"""Causes of unsound rewritings of JavaScript, each as a patch that puts it back. Random programs must find each
of them: they are the test of the campaign."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

from codeaudit.transforms import rules as site_rules
from codeaudit.transforms.javascript import parsing, rewriting
from codeaudit.transforms.javascript.analysis import effects, facts, program, scopes
from codeaudit.transforms.javascript.identifiers import rename
from codeaudit.transforms.strategies import dead_code
from codeaudit.transforms.syntax.reader import Node

_Collector: Final = effects.JavaScriptEffectCollector
_Source: Final = rewriting.JavaScriptSource


def _always(*_: Any) -> bool:
    return True


def _never(*_: Any) -> bool:
    return False


def _plain_read(self: effects.JavaScriptEffectCollector, node: Node) -> None:
    self.visit(node.part("object"))


CAUSES: Final[Mapping[str, tuple[str, Any, str, Any]]] = {
    "values of unknown kind are plain": ("reorder", _Collector, "take", lambda self, kinds: None),
    "calls do nothing": ("reorder", _Collector, "_method_invocation", lambda self, node: self.captured(node)),
    "nobody else sees variables": ("reorder", facts.JavaScriptFacts, "lasting", frozenset()),
    "constants can be assigned": ("reorder", facts.JavaScriptFacts, "is_constant", classmethod(_never)),
    "handlers see no variables": ("reorder", _Collector, "_expose", lambda self, binding: None),
    "properties are plain": ("reorder", _Collector, "_field_access", _plain_read),
    "variables have a value before their declaration": ("reorder", facts.JavaScriptFacts, "unset", frozenset()),
    "directives are statements": ("reorder", program, "BARRIER", 0),
    "a name of a function is only a name": ("rename-parameters", scopes._Walk, "gives_name", lambda *_: None),
    "a property of a short pair is only a variable": (
        "rename-parameters", rename.JavaScriptVariables, "written", lambda self, start, old, new: new,
    ),
    "every value is one of truth": ("de-morgan", _Source, "is_boolean", _always),
    "nothing is unordered": ("negate-comparisons", _Source, "has_opposite", _always),
    "plus commutes": ("swap-operands", _Source, "commutes", lambda self, node: None),
    "a name means one variable everywhere": ("dead-stores", dead_code, "_hides", _never),
    "unset variables are never seen": ("split-initialisers", _Source, "may_be_unset", _always),
}  # fmt: skip
"""By name: a transform that it makes unsound, and what replaces which attribute of a module or class."""


@contextmanager
def put_back(cause: str) -> Iterator[None]:
    """The engine with a cause."""
    _, holder, name, value = CAUSES[cause]
    _forget()
    with patch.object(holder, name, value):
        yield
    _forget()


def _forget() -> None:
    """These remember what the analysis said."""
    for cached in (
        parsing.read, parsing.read_unit, scopes.resolve, program.analyse, rewriting.study, site_rules._sites_of,
    ):  # fmt: skip
        cached.cache_clear()
