"""`canonical/MODEL` and `--wrap canonical`: any model, shown only canonical code. Invariant by construction.

The honest baseline for an equivariant architecture: if canonical order and names cost the model nothing,
the architecture has to beat this wrapper (Renamer's `Canonicalized` baseline, for orders as well). Of an x86
block in canonical order the cost may be another one than that of the block that was asked about.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from codeaudit.audit.models.wrapping import Wrapping
from codeaudit.audit.records import Failed, Prediction, Query
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.languages import find_language
from codeaudit.transforms.loading import load_target
from codeaudit.transforms.perturb import function_context_of

FORM = 3
"""Version of the canonical form; a part of the fingerprint."""

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
    language = find_language(query.language)
    if language is None or not language.canonical:
        return Failed(reason=f"no canonical form for {query.language}")
    form: Callable[[str], str] = load_target(language.canonical)
    try:
        context = function_context_of(query.source, query.language)
        if context.obstacle is not None:
            return Failed(reason=context.obstacle)
        return replace(query, source=context.before + form(context.source) + context.after)
    except SourceError:
        return UNPARSABLE
