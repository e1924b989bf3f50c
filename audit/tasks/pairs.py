"""What tasks share that ask about two units: how replies say one of two words, and pairs of programs that
solve one problem or two.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from typing_extensions import override

from codeaudit.audit.corpora.records import Corpus, CorpusAround, id_of
from codeaudit.audit.interface import OneWordOf
from codeaudit.audit.records import as_label
from codeaudit.audit.replies import AnswerShape, closed
from codeaudit.audit.tasks.function_name import name_of
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample


def two_words(
    answers: OneWordOf, sentences: Mapping[str, str], words: tuple[tuple[str, str], ...] = ()
) -> AnswerShape:
    """How replies say one of the words. `sentences` are other ways to say them that count in a sentence, too
    (`not the same`); `words` are those of `--label-map`."""
    shape = closed(
        answers.words,
        spellings=tuple(answers.spellings.items()),
        words=(*sentences.items(), *words),
        any_case=True,
    )
    return replace(shape, mapped=lambda more: two_words(answers, sentences, more))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedUnits(CorpusAround):
    """A corpus as pairs. Samples with a second unit stay as they are.

    Every other sample with a label, which names a class such as a problem, gets a partner of its language: of
    its own class, or of another one, each for about half of the samples. Hashes of the ids decide.
    """

    whole: Corpus
    same: str
    """The label of a pair of one class."""
    apart: str
    """The label of a pair of two classes."""

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        single: list[Sample] = []
        for sample in self.whole.read(skipped):
            if sample.other:
                yield sample
            else:
                single.append(sample)
        yield from self._pairs(single, skipped)

    def _pairs(self, samples: list[Sample], skipped: Counter[str]) -> Iterator[Sample]:
        classes: dict[str, dict[str, list[Sample]]] = {}
        for sample in samples:
            if (label := class_of(sample)) is not None:
                classes.setdefault(sample.language, {}).setdefault(label, []).append(sample)
        if samples and not any(len(members) > 2 for members in classes.values()):
            raise CorpusError(
                f"{self.spec} has no second units: a pair is a row with func1, func2 and label, or with a "
                "column that --columns other=COLUMN names; programs with the number of their problem (code, "
                "label) become pairs if there are at least three problems"
            )
        for sample in samples:
            label, by_label = class_of(sample), classes.get(sample.language, {})
            partner = None if label is None else self._partner(sample, label, by_label)
            if partner is None:
                skipped["program without a partner"] += 1
                continue
            yield replace(
                sample,
                id=id_of(sample.language, sample.source, beside=(partner.source,)),
                label=self.same if class_of(partner) == label else self.apart,
                other=partner.source,
            )

    def _partner(self, sample: Sample, label: str, by_label: Mapping[str, list[Sample]]) -> Sample | None:
        drawn = sha256(f"partner:{sample.id}".encode()).digest()
        if drawn[0] % 2:
            others = [other for other in by_label[label] if other.source != sample.source]
        else:
            names = sorted(by_label.keys() - {label})
            others = by_label[names[int.from_bytes(drawn[1:5], "big") % len(names)]] if names else []
        return others[int.from_bytes(drawn[5:9], "big") % len(others)] if others else None


def class_of(sample: Sample) -> str | None:
    """The class of a program; `None` without one. A function's own name, which corpora of sources give as the
    label, is none."""
    named = sample.label == name_of(sample.source, sample.language)
    return None if named else as_label(sample.label)
