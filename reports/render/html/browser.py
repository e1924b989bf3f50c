"""Packs samples, perturbed sources and answers for the page's browser of violations."""

import base64
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from codeaudit.audit.records import Answer, Audited, Predicted, Violated, answer_from_json
from codeaudit.reports.explanations import answer_text
from codeaudit.transforms.records import Sample

BUDGET: Final = 2_600_000
"""Maximum number of characters of packed data, so that a page stays below 3 MB."""
LARGE: Final = 20_000
"""Number of characters above which a text counts as large. Samples with large texts are dropped first."""
LONG: Final = 2_000
"""Maximum number of characters of an answer."""
SCORES: Final = 3

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A dependence graph to draw: the lines of a function, their direct dependences, and their layers."""

    lines: tuple[str, ...]
    after: tuple[tuple[int, ...], ...]
    """For each line, the lines that it directly depends on."""
    layers: tuple[int, ...]


@dataclass(slots=True)
class Browser:
    """The violations of a run, grouped by sample."""

    samples: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: int = 0
    """Number of violations that were dropped to keep the page small."""

    @property
    def total(self) -> int:
        """Number of all violations."""
        return len(self.rows) + self.left_out


def browser(
    audited: Iterable[tuple[int, Audited]],
    explanations: Sequence[Row],
    draw: Callable[[Sample], Drawing | None],
) -> Browser:
    """Collect every violation of a meaning-keeping transform: explained ones first, then by sample."""
    explained = {_name(row): row for row in explanations}
    found = Browser()
    places: dict[str, int] = {}
    texts: dict[tuple[int, str], int] = {}
    for seed, one in audited:
        for verdict in one.verdicts:
            if not isinstance(verdict, Violated) or verdict.perturbed.kind != "preserving":
                continue
            sample, perturbed = one.sample, verdict.perturbed
            if sample.id not in places:
                places[sample.id] = len(found.samples)
                found.samples.append(_sample(sample, draw))
            place = places[sample.id]
            row = {
                "model": one.model,
                "seed": seed,
                "place": place,
                "transform": perturbed.transform,
                "variant": perturbed.variant,
                "text": _text(found.samples[place], texts, place, perturbed.source),
                "notes": [move.note[:LONG] for move in perturbed.moves],
                "before": _told(verdict.before),
                "after": _told(verdict.after),
            }
            name = (one.model, seed, sample.id, perturbed.transform, perturbed.variant)
            if why := explained.get(name):
                row["least"] = {
                    "text": _text(found.samples[place], texts, place, why["perturbed"]),
                    "notes": [move["note"][:LONG] for move in why["moves"]],
                    "of": why["moves_before"],
                    "smallest": why["smallest"],
                    "queries": why["queries"],
                    "after": _shown(answer_from_json(why["after"])),
                }
            found.rows.append(row)
    found.rows.sort(key=lambda row: ("least" not in row, row["place"]))
    return found


def packed(found: Browser) -> str:
    """Return the data as base64 of deflated JSON. The last violations are dropped if there are too many."""
    code = _pack(found)
    if len(code) > BUDGET:
        longest = [max(map(len, (sample["source"], *sample["texts"]))) for sample in found.samples]
        _keep(found, [row for row in found.rows if longest[row["place"]] <= LARGE])
        code = _pack(found)
    while len(code) > BUDGET:
        _keep(found, found.rows[: int(0.95 * len(found.rows) * BUDGET / len(code))])
        code = _pack(found)
    return code


def _keep(found: Browser, rows: list[dict[str, Any]]) -> None:
    found.left_out += len(found.rows) - len(rows)
    found.rows = rows


def _pack(found: Browser) -> str:
    used = sorted({row["place"] for row in found.rows})
    number = {place: new for new, place in enumerate(used)}
    data = {
        "samples": [found.samples[place] for place in used],
        "rows": [{**row, "place": number[row["place"]]} for row in found.rows],
    }
    text = json.dumps(data, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")


def _sample(sample: Sample, draw: Callable[[Sample], Drawing | None]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": sample.id,
        "path": sample.origin.path,
        "line": sample.origin.line,
        "language": sample.language,
        "source": sample.source,
        "texts": [],
    }
    if sample.label is not None:
        made["label"] = _shown(sample.label)
    if graph := draw(sample):
        made["graph"] = {"lines": graph.lines, "after": graph.after, "layers": graph.layers}
    return made


def _text(sample: dict[str, Any], texts: dict[tuple[int, str], int], place: int, source: str) -> int:
    """Return the index of a perturbed source among those of its sample. Several models share one copy."""
    number = texts.setdefault((place, source), len(sample["texts"]))
    if number == len(sample["texts"]):
        sample["texts"].append(source)
    return number


def _told(predicted: Predicted) -> dict[str, Any]:
    best = sorted(predicted.scores, key=lambda pair: (-pair[1], pair[0]))[:SCORES]
    return {
        "answer": _shown(predicted.answer),
        "scores": [[label[:LONG], float(f"{score:.4g}")] for label, score in best],
    }


def _shown(answer: Answer) -> str:
    text = answer_text(answer)
    return text if len(text) <= LONG else f"{text[:LONG]}…"


def _name(row: Row) -> tuple[object, ...]:
    return row["model"], row["seed"], row["sample"], row["transform"], row["variant"]
