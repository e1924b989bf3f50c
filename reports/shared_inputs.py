"""Which inputs several models were judged on, and where their answers changed; in a few bytes each."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from fractions import Fraction
from typing import TypeAlias

from codeaudit.reports.statistics.paired import SampleOutcome
from codeaudit.transforms.records import Kind

Part: TypeAlias = tuple[int, bool]
"""The seed of a trial, and whether the sample was drawn in addition."""
ALL: Part = (0, False)
HELD, VIOLATED = 1, 2


def input_key(kind: Kind, transform: str, text: str, variant: int) -> Hashable:
    """What tells the inputs of a sample apart: transform and text. All repeats have one text."""
    return (transform, text, variant) if kind == "identity" else (transform, text)


class SharedInputs:
    """The answers of models to the inputs of samples.

    An input is a transform and a text. The same input in several trials counts once, with the last answer.
    """

    def __init__(self) -> None:
        # By kind and sample: the inputs in order of appearance. Their hashes of 64 bits are plenty for the
        # inputs of one sample.
        self._inputs: defaultdict[tuple[Kind, str], array[int]] = defaultdict(lambda: array("q"))
        # By model, kind and part, then by sample: a byte for each input; 0 if it was not judged.
        self._states: defaultdict[tuple[str, Kind, Part], dict[str, bytearray]] = defaultdict(dict)
        # The number of the variant of each input.
        self._variants: defaultdict[tuple[Kind, str], array[int]] = defaultdict(lambda: array("I"))
        self.models: dict[str, None] = {}
        """The models in order of appearance."""

    def add(
        self,
        model: str,
        kind: Kind,
        sample: str,
        query: Hashable,
        *,
        violated: bool,
        variant: int = 0,
        part: Part = ALL,
    ) -> None:
        """Add a judged answer to an input; a later answer of the same part replaces an earlier one."""
        self.models.setdefault(model)
        keys, key = self._inputs[kind, sample], hash(query)
        try:
            place = keys.index(key)
        except ValueError:
            place = len(keys)
            keys.append(key)
            self._variants[kind, sample].append(variant)
        states = self._states[model, kind, part].setdefault(sample, bytearray())
        if place >= len(states):
            states.extend(bytes(place + 1 - len(states)))
        states[place] = VIOLATED if violated else HELD

    def outcomes(
        self, kind: Kind, counts: Callable[[str, Part], bool] = lambda model, part: True
    ) -> dict[str, list[bool]]:
        """By model, whether any answer changed, for the samples on which all models were judged.

        Of each sample only the inputs that every model was judged on count. All lists have the same order.
        Only the parts of a model that `counts` takes are read. A model that was never judged is left out.
        """
        tables = {model: self._table(model, kind, counts) for model in self.models}
        # A model that was never judged would leave the others nothing to share.
        tables = {model: table for model, table in tables.items() if table}
        if len(tables) < 2:
            return {}
        outcomes: dict[str, list[bool]] = {model: [] for model in tables}
        # Sorted, because the columns of all models must be in one order, and a set has none.
        for sample in sorted(set.intersection(*(set(table) for table in tables.values()))):
            states = [table[sample] for table in tables.values()]
            shared = [all(row) for row in zip(*states, strict=False)]
            if any(shared):
                for model, table in tables.items():
                    cells = zip(table[sample], shared, strict=False)
                    outcomes[model].append(any(state == VIOLATED for state, judged in cells if judged))
        return outcomes

    def beyond_noise(
        self,
        kind: Kind,
        steady: Collection[str],
        counts: Callable[[str, Part], bool] = lambda model, part: True,
    ) -> dict[str, list[SampleOutcome]]:
        """By model, what it did beside its repeats, unless it is `steady`.

        A sample that such a model has no repeat of is left out.
        """
        tables = {model: self._table(model, kind, counts) for model in self.models}
        tables = {model: table for model, table in tables.items() if table}
        if len(tables) < 2:
            return {}
        again = {model: self._table(model, "identity", counts) for model in tables if model not in steady}
        outcomes: dict[str, list[SampleOutcome]] = {model: [] for model in tables}
        for sample in sorted(
            set.intersection(*(set(table) for table in (*tables.values(), *again.values())))
        ):
            states = [table[sample] for table in tables.values()]
            shared = [place for place, row in enumerate(zip(*states, strict=False)) if all(row)]
            # By variant first, so that of several transforms the first variants come first.
            shared.sort(key=lambda place: (self._variants[kind, sample][place], place))
            repeats = {model: self._repeats(sample, table[sample]) for model, table in again.items()}
            most = min([len(shared), *map(len, repeats.values())])
            if most:
                for model, table in tables.items():
                    changed = [table[sample][place] == VIOLATED for place in shared]
                    outcomes[model].append(_outcome(changed, repeats.get(model, []), most))
        return outcomes

    def _repeats(self, sample: str, states: bytearray) -> list[bool]:
        """Whether the answer to each judged repeat is another one, in their order."""
        order = sorted(range(len(states)), key=lambda place: self._variants["identity", sample][place])
        return [states[place] == VIOLATED for place in order if states[place]]

    def _table(self, model: str, kind: Kind, counts: Callable[[str, Part], bool]) -> dict[str, bytearray]:
        """The last answers of a model, by sample."""
        parts = sorted(part for name, of, part in self._states if (name, of) == (model, kind))
        parts = [part for part in parts if counts(model, part)]
        if len(parts) == 1:
            return self._states[model, kind, parts[0]]
        table: dict[str, bytearray] = {}
        for part in parts:
            for sample, states in self._states[model, kind, part].items():
                old = table.get(sample, bytearray())
                table[sample] = bytearray(
                    (states[n] if n < len(states) else 0) or old[n] if n < len(old) else states[n]
                    for n in range(max(len(old), len(states)))
                )
        return table


def _outcome(changed: Sequence[bool], repeats: Sequence[bool], most: int) -> SampleOutcome:
    share = Fraction(sum(changed), len(changed))
    return SampleOutcome(
        violated=any(changed[:most]),
        unsteady=any(repeats[:most]),
        difference=share - Fraction(sum(repeats), len(repeats)) if repeats else share,
    )
