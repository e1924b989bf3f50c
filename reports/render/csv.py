"""Writes a summary as CSV: plain numbers for spreadsheets and plots."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from codeaudit.reports.records import Estimate, Excess, ModelSummary, Rate, Summary, Trial

# Columns that are fields of a record under the same name, in the order of the file.
SCORES: Final = ("original", "macro", "attack_worst_sample", "attack_worst_round", "drop")
RATES: Final = ("violations", "pairs", "all_samples", "sensitivity", "noise_floor", "noise_samples")
EXCESSES: Final = ("excess", "pair_excess", "sensitivity_excess")
BLOCK: Final = ("transform", "k", "attempts", "problems", "variants", "most_variants")


def tables(summary: Summary) -> dict[str, str]:
    """Return the text of each file by name: `models.csv`, `trials.csv`, `transforms.csv`, and, if the summary
    has several languages, searches or attempts, `languages.csv`, `attacks.csv` and `robust.csv`.

    A rate takes five columns: count, total, rate, low, high; an excess four: points, low, high, p. A missing
    value is an empty field.
    """
    files = {
        "models.csv": _text(map(_model, summary.models)),
        "trials.csv": _text(row for model in summary.models for row in _trials(model)),
        "transforms.csv": _text(row for model in summary.models for row in _transforms(model)),
    }
    if any(model.languages for model in summary.models):
        files["languages.csv"] = _text(row for model in summary.models for row in _languages(model))
    if any(model.attacks for model in summary.models):
        files["attacks.csv"] = _text(row for model in summary.models for row in _attacks(model))
    if any(model.robust for model in summary.models):
        files["robust.csv"] = _text(row for model in summary.models for row in _robust(model))
    return files


def _model(model: ModelSummary) -> Mapping[str, Any]:
    return {
        "model": model.model,
        "parameters": model.parameters,
        "samples": model.samples,
        "skipped": sum(model.skipped.values()),
        "unjudged": model.unjudged,
        "truncated": model.truncated,
        **_measured(model),
        "max_deviation": model.max_deviation,
        "fingerprint": model.fingerprint,
        **_estimate("shift", model.shift),
    }


def _trials(model: ModelSummary) -> Iterator[Mapping[str, Any]]:
    for trial in model.trials:
        yield {"model": model.model, "seed": trial.seed, **_measured(trial)}


def _measured(summary: ModelSummary | Trial) -> dict[str, Any]:
    fields: dict[str, Any] = {"score": summary.score.name}
    fields |= {name: getattr(summary.score, name) for name in SCORES}
    for name in RATES:
        fields |= _rate(name, getattr(summary, name))
    for name in EXCESSES:
        fields |= _excess(name, getattr(summary, name))
    return fields | _excess("drop_excess", summary.score.drop_excess)


def _transforms(model: ModelSummary) -> Iterator[Mapping[str, Any]]:
    for row in model.by_transform:
        yield {
            "model": model.model,
            "transform": row.transform,
            "kind": row.kind,
            **_rate("violations", row.violations),
            **_rate("pairs", row.pairs),
            "applied": row.applied,
            "not_applied": sum(row.not_applied.values()),
            "unjudged": row.unjudged,
            "max_deviation": row.max_deviation,
            **_rate("noise", row.noise),
            **_excess("excess", row.excess),
            **_excess("pair_excess", row.pair_excess),
            **_estimate("shift", row.shift),
        }


def _languages(model: ModelSummary) -> Iterator[Mapping[str, Any]]:
    for language, row in model.languages.items():
        yield {
            "model": model.model,
            "language": language,
            "samples": row.samples,
            **_rate("violations", row.edited.violations),
            **_rate("sensitivity", row.sensitivity),
            **_excess("excess", row.edited.excess),
            **_excess("pair_excess", row.edited.pair_excess),
        }


def _estimate(name: str, estimate: Estimate) -> dict[str, Any]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _attacks(model: ModelSummary) -> Iterator[Mapping[str, Any]]:
    for attack in model.attacks:
        for queries, count in enumerate(attack.curve, start=1):
            yield {
                "model": model.model,
                "strategy": attack.strategy,
                "queries": queries,
                "violated": count,
                "samples": attack.violated.total,
            }


def _robust(model: ModelSummary) -> Iterator[Mapping[str, Any]]:
    for block in model.robust:
        estimates = {
            "pass": block.nominal,
            "robust_pass": block.robust,
            "robust_drop": block.drop,
            "robust_relative": block.relative,
            "repeated": block.repeated,
        }
        yield {
            "model": model.model,
            **{name: getattr(block, name) for name in BLOCK},
            **{
                f"{name}_{end}": value
                for name, estimate in estimates.items()
                for end, value in asdict(estimate).items()
            },
            **_excess("excess", block.excess),
        }


def _rate(name: str, rate: Rate) -> dict[str, Any]:
    return {f"{name}_{part}": getattr(rate, part) for part in ("count", "total", "rate", "low", "high")}


def _excess(name: str, excess: Excess) -> dict[str, Any]:
    return {f"{name}_{part}": getattr(excess, part) for part in ("points", "low", "high", "p")}


def _text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as CSV text. A `'` is put before a text that a spreadsheet would run as a formula."""
    every = [{key: _plain(value) for key, value in row.items()} for row in rows]
    # All rows of a table have the same keys, because one function makes them.
    heads: Sequence[str] = list(every[0]) if every else []
    out = io.StringIO()
    writer = csv.DictWriter(out, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(every)
    return out.getvalue()


def _plain(value: Any) -> Any:
    # A model called `=cmd|...` is a formula for a spreadsheet. Numbers are no texts here, so -0.5 stays a
    # number.
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value
