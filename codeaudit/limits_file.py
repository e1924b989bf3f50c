"""Writes the limits that a good run suggests into a TOML file: `codeaudit gate RUN --write-limits FILE`."""

from collections.abc import Iterator
from math import ceil, floor, sqrt
from pathlib import Path
from typing import Final, NamedTuple

from codeaudit.finished_runs import write_file
from codeaudit.reports import wording
from codeaudit.reports.gate import FEW, limited_rows, noise_alpha, of_findings
from codeaudit.reports.judged import Judged
from codeaudit.reports.matching import effect_bound, may_be_noisy
from codeaudit.reports.records import ByTransform, ModelSummary
from codeaudit.reports.statistics.intervals import Z, wilson
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.grammar import counted

TABLE: Final = "gate"


class SuggestedLimit(NamedTuple):
    """A limit for `codeaudit gate`."""

    option: str
    """The name in the file: `max-violation-rate`."""
    value: str
    """A share in percent."""
    why: str
    """What the run measured, and why the limit is not that."""


def suggested(run: Judged, alpha: float) -> Iterator[SuggestedLimit]:
    """The limits that all models of a run keep, each as far from the measured value as other samples of
    the same size may lead. `alpha` is that of the gate."""
    summary = run.summary
    rates = [
        _beyond_noise(run, model, row, noise_alpha(summary, alpha)) or _measured(row)
        for model in summary.models
        for row in limited_rows(model)
        if row.kind == "preserving" and row.violations.high is not None
    ]
    if rates:
        high, _, why = max(rates)
        # A limit of 100 % holds nothing.
        if (most := ceil(100 * high)) < 100:
            yield SuggestedLimit("max-violation-rate", f"{most}%", why)
    missed = [
        _beyond_noise(some, flaws, row, noise_alpha(summary, alpha)) or _measured(row, "found flaws missed")
        for flaws, some in (of_findings(model, run) for model in summary.models)
        for row in limited_rows(flaws)
        if row.violations.high is not None
    ]
    if missed:
        high, _, why = max(missed)
        if (most := ceil(100 * high)) < 100:
            yield SuggestedLimit("max-missed", f"{most}%", why)
    drops = [
        (_lost(model), model.score.attack_worst_sample, model.score.scored)
        for model in summary.models
        if model.score.drop is not None and wording.is_share(model.score) and model.score.scored
    ]
    if drops:
        drop, worst, samples = max((drop or 0.0, worst or 0.0, samples) for drop, worst, samples in drops)
        # A score such as MAPE may exceed 1; its variance is then not that of a share.
        share = min(1.0, max(0.0, worst))
        spread = Z * sqrt(max(share * (1 - share), 1 / samples) / samples)
        yield SuggestedLimit(
            "max-f1-drop",
            f"{ceil(100 * (max(0.0, drop) + spread))}%",
            f"{wording.percent(drop)}; with {samples} samples a score varies by {wording.percent(spread)}",
        )
    lows = [
        (model.sensitivity.low - (model.noise_floor.rate or 0.0), model)
        for model in summary.models
        if summary.reacts and model.sensitivity.low is not None
    ]
    if lows:
        low, model = min(lows, key=lambda pair: pair[0])
        rate, noise = model.sensitivity, model.noise_floor
        if (least := floor(100 * low)) > 0:
            less = f", less the noise of {wording.percent(noise.rate)}" if noise.count else ""
            yield SuggestedLimit(
                "min-sensitivity",
                f"{least}%",
                f"{wording.percent(rate.rate)} ({wording.counts(rate)}); this is the lower end of its "
                f"95 % interval{less}",
            )


def _lost(model: ModelSummary) -> float | None:
    """The loss under attack that the gate compares."""
    beyond = model.score.drop_excess.points if model.noise_floor.count else None
    return model.score.drop if beyond is None else beyond


def _measured(row: ByTransform, what: str = "") -> tuple[float, str, str]:
    rate = row.violations
    counts = f"{wording.counts(rate)} {what}".strip()
    wide = f", which is wide: it comes from {counted(rate.total, 'sample')} only" if rate.total < FEW else ""
    why = (
        f"{wording.percent(rate.rate)} ({counts}) under {row.transform}; this is the upper end of its 95 % "
        f"interval{wide}"
    )
    return rate.high or 0.0, row.transform, why


def _beyond_noise(
    run: Judged, model: ModelSummary, row: ByTransform, alpha: float
) -> tuple[float, str, str] | None:
    """The limit for a noisy model, its transform, and what was measured."""
    bound = effect_bound(run, model.model, row.transform, alpha) if may_be_noisy(model) else None
    if bound is None:
        return None
    # The gate compares the share that noise cannot explain, which lies below this estimate.
    about = bound.about
    why = (
        f"about {wording.percent(about / bound.samples)} beyond noise ({about}/{bound.samples}) under "
        f"{row.transform}, of {wording.percent(row.violations.rate)} violated; this is the upper end of its "
        "95 % interval"
    )
    return wilson(about, bound.samples)[1], row.transform, why


def write_limits(path: Path, run: Judged, alpha: float) -> tuple[SuggestedLimit, ...]:
    """Write the limits into the table `[gate]` of a TOML file, which is made if it is missing. What else
    the file holds stays. Returns them.

    Raises:
        UsageError: the file is not TOML, or `gate` is no table.
        RunError: the run has nothing to take a limit from, or the file cannot be read or written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import Table

    limits = tuple(suggested(run, alpha))
    if not limits:
        raise RunError("no limit can be written: nothing was judged")
    try:
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
        document = tomlkit.parse(text)
    except OSError as error:
        raise RunError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    except (TOMLKitError, ValueError) as error:
        raise UsageError(f"{str(path)!r} is not TOML: {error}") from error
    table = document.get(TABLE)
    if table is None:
        document[TABLE] = tomlkit.table()
        table = document[TABLE]
    if not isinstance(table, Table):
        raise UsageError(f"{TABLE!r} in {str(path)!r} is no table; write [{TABLE}]")
    for option, value, why in limits:
        # Both spellings name the option; the file must not have it twice.
        table.pop(option.replace("-", "_"), None)
        item = tomlkit.string(value)
        item.comment(f"measured: {why}")
        table[option] = item
    write_file(path, tomlkit.dumps(document))
    return limits
