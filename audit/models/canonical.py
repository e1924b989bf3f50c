"""`canonical/MODEL` and `--wrap canonical`: any model, shown only canonical code. Invariant by construction.

The honest baseline for an equivariant architecture: if canonical order and names cost the model nothing,
the architecture has to beat this wrapper (Renamer's `Canonicalized` baseline, for orders as well). Of an x86
block in canonical order the cost may be another one than that of the block that was asked about.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from codeaudit.audit.models.wrapping import Wrapping
from codeaudit.audit.records import Failed, Prediction, Query
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.loading import load_target
from codeaudit.transforms.perturb import part_of

FORM = 3
"""Version of the canonical form; a part of the fingerprint."""

FORMS: Final[Mapping[str, str]] = {
    "python": "codeaudit.transforms.python.canonical:canonicalise",
    "java": "codeaudit.transforms.java.canonical:canonicalise",
    "x86": "codeaudit.transforms.x86.canonical:canonicalise",
    "algebra": "codeaudit.transforms.algebra.views:canonical",
}
"""What makes the canonical form of a language's code, imported when first asked for."""

UNPARSABLE = Failed(reason="source does not parse")


class Canonical(Wrapping):
    """A model that sees the canonical form of each query, in a language that has one."""

    @property
    def name(self) -> str:
        """The inner name, marked."""
        return f"canonical/{self.inner.name}"

    @property
    def fingerprint(self) -> str:
        """The inner one with the form's version, `volatile:` in front where the inner one is."""
        head, mark, rest = self.inner.fingerprint.rpartition("volatile:")
        return f"{head}{mark}canonical-{FORM}({rest})"

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """The inner model's answers to the canonical forms, each distinct form asked once per call."""
        forms = [_canonical(query) for query in queries]
        distinct = list(dict.fromkeys(form for form in forms if isinstance(form, Query)))
        answers = dict(zip(distinct, self.inner.predict(distinct), strict=True)) if distinct else {}
        return [answers[form] if isinstance(form, Query) else form for form in forms]


def _canonical(query: Query) -> Query | Failed:
    if query.language not in FORMS:
        return Failed(reason=f"no canonical form for {query.language}")
    try:
        part = part_of(query.source, query.language)
        if part.obstacle is not None:
            return Failed(reason=part.obstacle)
        return replace(query, source=part.before + _form(query.language)(part.source) + part.after)
    except SourceError:
        return UNPARSABLE


@cache
def _form(language: str) -> Callable[[str], str]:
    form: Callable[[str], str] = load_target(FORMS[language])
    return form
