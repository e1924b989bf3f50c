"""Models around another model: their base, and `canonical/MODEL` (also `--wrap canonical`).

A canonical model sees canonical code only, so it is invariant by construction. It is the baseline for an
equivariant architecture: if canonical order and names cost the model nothing, the architecture must beat this
wrapper. (Renamer's `Canonicalized` baseline, extended to orders.) An x86 block in canonical order may take
another time than the block of the query.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from typing_extensions import override

from codeaudit.audit.interface import (
    AnswerStream,
    BaseModel,
    Model,
    is_rolling,
)
from codeaudit.audit.probabilities import Scale
from codeaudit.audit.records import UNPARSABLE, Failed, Prediction, Query
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.language import find_language
from codeaudit.transforms.perturb import function_context_of
from codeaudit.transforms.registration import load_target


class Wrapping(BaseModel):
    """A model with the properties of the model inside. Subclasses replace what they change."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        """The inner model's."""
        return self.inner.name

    @property
    def task(self) -> str | None:
        """The inner model's."""
        return self.inner.task

    @property
    def parameters(self) -> int | None:
        """The inner model's."""
        return self.inner.parameters

    @property
    def fingerprint(self) -> str:
        """The inner model's."""
        return self.inner.fingerprint

    @property
    def noise(self) -> float:
        """The inner model's."""
        return self.inner.noise

    @property
    @override
    def scale(self) -> Scale:
        """The inner model's."""
        return self.inner.scale

    @property
    @override
    def samples(self) -> int:
        """The inner model's: how many answers are drawn for a query."""
        return self.inner.samples

    @override
    def unreadable(self, query: Query) -> Failed | None:
        """Why the model inside cannot read the query; `None` if it can, or does not say."""
        return self.inner.unreadable(query)


def innermost(model: Model) -> Model:
    """The model inside all wrappers; the model itself without any."""
    while isinstance(model, Wrapping):
        model = model.inner
    return model


FORM = 3
"""Version of the canonical form; part of the fingerprint."""


class Canonical(Wrapping):
    """A model that sees the canonical form of each query, in a language that has one."""

    @property
    @override
    def name(self) -> str:
        """`canonical/` and the name of the model inside."""
        return f"canonical/{self.inner.name}"

    @property
    @override
    def fingerprint(self) -> str:
        """The fingerprint of the model inside and the version of the form; `volatile:` stays in front."""
        # The cache keeps answers of fingerprints with `volatile:` in front for one run only.
        head, mark, rest = self.inner.fingerprint.rpartition("volatile:")
        return f"{head}{mark}canonical-{FORM}({rest})"

    def form(self, query: Query) -> Query | Failed:
        """What the model inside is asked."""
        return canonical_query(query)

    @override
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """The answers of the model inside to the canonical forms. Equal forms are asked once per call."""
        forms = [canonical_query(query) for query in queries]
        distinct = list(dict.fromkeys(form for form in forms if isinstance(form, Query)))
        answers = dict(zip(distinct, self.inner.predict(distinct), strict=True)) if distinct else {}
        return [answers[form] if isinstance(form, Query) else form for form in forms]

    @override
    def unreadable(self, query: Query) -> Failed | None:
        """Why the model inside cannot read the canonical form."""
        form = canonical_query(query)
        return super().unreadable(form) if isinstance(form, Query) else form


class RollingCanonical(Canonical):
    """The same around a model that answers in any order."""

    @override
    def stream(self) -> AnswerStream:
        """Equal forms are asked once per call of `ask`."""
        return _CanonicalStream(self.inner.stream())

    @property
    @override
    def ahead(self) -> int:
        return self.inner.ahead


class _CanonicalStream(AnswerStream):
    """An `AnswerStream` that puts each query into its canonical form."""

    def __init__(self, inner: AnswerStream) -> None:
        self._inner = inner
        self._queries = 0
        self._forms = 0
        self._places: dict[int, list[int]] = {}
        """By the number of a form in the inner stream, the numbers of the queries that it stands for."""
        self._last: Sequence[int] = ()
        """The forms of the last answers."""
        self._without: list[tuple[int, Prediction]] = []
        """Failures of queries without a canonical form, since the last answers."""
        self._group: list[tuple[int, Prediction]] = []

    @override
    def ask(self, queries: Sequence[Query]) -> None:
        forms: dict[Query, list[int]] = {}
        without: list[tuple[int, Prediction]] = []
        for place, query in enumerate(queries, start=self._queries):
            form = canonical_query(query)
            if isinstance(form, Failed):
                without.append((place, form))
            else:
                forms.setdefault(form, []).append(place)
        self._inner.ask(list(forms))
        self._without += without
        self._queries += len(queries)
        self._places |= dict(enumerate(forms.values(), start=self._forms))
        self._forms += len(forms)

    @override
    def arrived(self) -> list[tuple[int, Prediction]]:
        self._group, self._without = self._without, []
        if not self._group:
            for form in self._last:
                del self._places[form]
            self._last = ()
            arrived = self._inner.arrived()
            self._last = [form for form, _ in arrived]
            self._group = self._placed(arrived)
        return self._group

    @override
    def stop(self) -> list[tuple[int, Prediction]]:
        return [*self._group, *self._without, *self._placed(self._inner.stop())]

    def _placed(self, arrived: Sequence[tuple[int, Prediction]]) -> list[tuple[int, Prediction]]:
        return [(place, prediction) for form, prediction in arrived for place in self._places[form]]


def canonical(model: Model) -> Canonical:
    """The model behind the canonical form."""
    return RollingCanonical(model) if is_rolling(model) else Canonical(model)


def canonical_query(query: Query) -> Query | Failed:
    """The query with its source in canonical form, and with the second unit of a pair and the candidates of a
    search; or why there is none."""
    language = find_language(query.language)
    if language is None or not language.canonical:
        return Failed(reason=f"no canonical form for {query.language}")
    units = (query.source, query.other, *query.candidates)
    # A search has no source, and most tasks have no second unit.
    forms = [_canonical_unit(text, query.language, language.canonical) if text else "" for text in units]
    if failed := next((form for form in forms if isinstance(form, Failed)), None):
        return failed
    source, other, *candidates = (str(form) for form in forms)
    return replace(query, source=source, other=other, candidates=tuple(candidates))


@lru_cache(maxsize=1024)  # the candidates of a search stay, and a variant changes one of them
def _canonical_unit(text: str, language: str, target: str) -> str | Failed:
    form: Callable[[str], str] = load_target(target)
    try:
        context = function_context_of(text, language)
        if context.obstacle is not None:
            return Failed(reason=context.obstacle)
        return context.before + form(context.source) + context.after
    except SourceError:
        return UNPARSABLE
