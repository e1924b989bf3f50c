"""What the tests of this family share: one text through one rule, and running it before and after."""

import contextlib
import io
import re
import warnings
from collections.abc import Callable
from typing import Any

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.patches import Site
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import read
from codeaudit.transforms.records import Move, Origin, Outcome, Perturbed, Sample
from tests.support.compiled import compiled


def outcome(rule: PythonRule, source: str, *, seed: int = 0) -> Outcome:
    """One variant with every site."""
    sample = Sample(id="s", language="python", source=source, label=None, origin=Origin(path="", line=1))
    (edit,) = perturb_one(sample, rule, variants=1, seed=seed, sites="all")
    return edit


def variants(rule: PythonRule, source: str) -> set[str]:
    """The text after each option of each site, one at a time."""
    texts = set()
    for number, site in enumerate(site for site in rule.find(read(source)) if isinstance(site, Site)):
        for option in range(len(site.options)):
            result = rule.apply(source, (Move(kind=rule.name, site=number, value=(option,), note=""),))
            assert isinstance(result, Rewritten), result
            texts.add(result.source)
    return texts


def reasons(rule: PythonRule, source: str) -> set[str]:
    """Why candidates were declined."""
    return {place.reason for place in rule.find(read(source)) if isinstance(place, Refused)}


def untouched(rule: PythonRule, source: str) -> bool:
    """Whether no site was found."""
    return not any(isinstance(place, Site) for place in rule.find(read(source)))


def run(source: str, call: str) -> tuple[str, str, str]:
    """What evaluating a call behind a text prints, gives and raises, without addresses."""
    out, scope, result, error = io.StringIO(), dict[str, Any](), "", ""
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compiled(source), scope)
            result = repr(eval(call, scope))
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    printed, result, error = (
        re.sub(r" at 0x[0-9a-f]+", "", text) for text in (out.getvalue(), result, error)
    )
    return printed, result, error


def agrees(rule: PythonRule, source: str, *calls: str) -> int:
    """Run every variant, and all edits at once, against the source; how many texts there were."""
    return alike(rule, source, lambda text: [run(text, call) for call in calls])


def alike(rule: PythonRule, source: str, behaviour: Callable[[str], object]) -> int:
    """Compare what every variant, and all edits at once, does with what the source does; how many texts
    there were.
    """
    texts = variants(rule, source)
    everything = outcome(rule, source)
    if isinstance(everything, Perturbed):
        texts.add(everything.source)
    before = behaviour(source) if texts else None
    for text in texts:
        assert behaviour(text) == before, text
    return len(texts)
