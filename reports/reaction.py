"""Whether a model reacts to its input at all: the checks that a dead or damaged model cannot pass.

A model that gives one answer to everything has no violation, no drop and no rise. So a gate also asks, of
every model and without any limit from the user:

- *sensitivity*: do controls change its answers? The lower end of a one-sided interval (Wilson, with the
  samples as its total) must lie above 0. Where a repeat changed, or somebody else runs the model, controls
  must change answers more often than repeats do: each sample's controls are held against as many repeats,
  and the test by sign flips over samples must reject. A model that does not react passes in at most alpha of
  runs, however its noise is spread over samples. With all controls against fewer repeats up to 15 % would
  pass (`benchmarks/gate_simulation.py`).
- *MCC*, for a closed set of labels with at least two of them present: do its answers go with the labels? Then
  sensitivity is not asked: an honest detector on a set with few bugs says "clean" nearly always.
- *one answer*, for all other tasks: does one answer stand for nearly all samples, though no label does?
"""

from collections.abc import Iterator
from fractions import Fraction
from statistics import NormalDist
from typing import Final

from codeaudit.reports import wording
from codeaudit.reports.checks import Check, Outcome
from codeaudit.reports.judged import Judged
from codeaudit.reports.matching import may_be_noisy, reaction_beyond
from codeaudit.reports.records import ModelSummary, Rate
from codeaudit.reports.statistics.agreement import chance
from codeaudit.reports.statistics.excess import flips
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.transforms.grammar import counted

CONTROLS: Final = 20
"""With fewer judged controls nothing can be said."""
NEARLY_ALL: Final = Fraction(95, 100)
"""The share of answers that makes one answer that for nearly everything."""
HALF: Final = Fraction(1, 2)
"""A label of that share explains such an answer."""
FEW: Final = 20
"""With fewer labelled answers their variety says nothing."""
SWITCH: Final = "--allow-insensitive switches this check off"


def reaction(run: Judged, model: ModelSummary, alpha: float) -> Iterator[Check]:
    """The checks of one model."""
    if len(model.agreement.classes) > 1:
        yield _correlated(model, alpha)
        return
    if run.summary.reacts:
        yield _sensitive(run, model, alpha)
    if not model.agreement.classes and model.agreement.labels >= FEW:
        yield _varied(model)


def lower(rate: Rate, alpha: float) -> float:
    """The lower end of the one-sided Wilson interval of a rate, with its samples as the total."""
    if not rate.count:
        return 0.0
    total = rate.clusters or rate.total
    return wilson((rate.rate or 0.0) * total, total, z=-NormalDist().inv_cdf(alpha))[0]


def _more_controls(run: Judged, model: ModelSummary) -> str:
    """How a run gets more judged controls."""
    controls = sum(row.applied for row in model.by_transform if row.kind == "control")
    if run.summary.edits_decide and controls and not model.sensitivity.total:
        return (
            "audit with --execute, because only controls that execution has shown to change the meaning count"
        )
    return "audit more samples, with --controls"


def _sensitive(run: Judged, model: ModelSummary, alpha: float) -> Check:
    rate, noise = model.sensitivity, model.noise_floor.rate or 0.0
    wanted = "above the noise" + (f" of {wording.percent(noise)}" if noise else "")
    if rate.total < CONTROLS:
        controls = counted(rate.total, "judged control") if rate.total else "no judged control"
        return Check(
            model=model.model,
            name="reaction",
            outcome="unknown",
            found=f"{controls}, fewer than {CONTROLS}",
            wanted=wanted,
            notes=(f"{_more_controls(run, model)}, or say that this is meant: {SWITCH}",),
        )
    dead = f"controls change the meaning, and its answers do not show it; {SWITCH}"
    if may_be_noisy(model) and (differences := reaction_beyond(run, model.model)):
        p = flips(differences, above=True)
        reacts = p <= alpha
        return Check(
            model=model.model,
            name="reaction",
            outcome="passed" if reacts else "failed",
            found=f"sensitivity {wording.percent(rate.rate)} ({wording.counts(rate)}), "
            f"p {wording.p_value(p)} against as many repeats",
            wanted=f"{wanted}, p at most {alpha:g}",
            value=float(sum(differences) / len(differences)),
            limit=0.0,
            notes=() if reacts else (dead,),
        )
    low = lower(rate, alpha) - noise
    outcome: Outcome = "passed" if low > 0 else "failed"
    return Check(
        model=model.model,
        name="reaction",
        outcome=outcome,
        found=f"sensitivity {wording.percent(rate.rate)} ({wording.counts(rate)}), "
        + (f"surely above {wording.percent(noise + low)}" if low > 0 else "not shown to lie above"),
        wanted=wanted,
        value=low,
        limit=0.0,
        notes=() if outcome == "passed" else (dead,),
    )


def _correlated(model: ModelSummary, alpha: float) -> Check:
    mcc, p = model.agreement.mcc, 1.0 if model.agreement.p is None else model.agreement.p
    outcome: Outcome = "passed" if mcc is not None and mcc > 0 and p <= alpha else "failed"
    labels = counted(model.agreement.labels, "labelled sample")
    wanted = f"above 0, p at most {alpha:g}"
    perfect = {name: {name: sum(row.values())} for name, row in model.agreement.classes.items()}
    if outcome == "failed" and chance(perfect) > alpha:
        return Check(
            model=model.model,
            name="MCC",
            outcome="unknown",
            found=f"{labels}: right answers to all of them could be chance",
            wanted=wanted,
            notes=(f"audit more samples, or say that this is meant: {SWITCH}",),
        )
    text = f"{mcc:.2f}, p {wording.p_value(p)}" if mcc is not None else "none: one answer to everything"
    return Check(
        model=model.model,
        name="MCC",
        outcome=outcome,
        found=f"{text} ({labels})",
        wanted=wanted,
        value=mcc,
        limit=0.0,
        notes=() if outcome == "passed" else (f"its answers do not go with the labels; {SWITCH}",),
    )


def _varied(model: ModelSummary) -> Check:
    agreement = model.agreement
    share = Fraction(agreement.commonest_answers, agreement.answers)
    explained = Fraction(agreement.commonest_labels, agreement.labels) >= HALF
    outcome: Outcome = "failed" if share >= NEARLY_ALL and not explained else "passed"
    answer = f"{wording.plain(agreement.commonest)!r:.60} is" if outcome == "failed" else "the commonest is"
    return Check(
        model=model.model,
        name="one answer",
        outcome=outcome,
        found=f"{answer} {wording.percent(float(share))} of its answers "
        f"({agreement.commonest_answers}/{agreement.answers})",
        wanted=f"below {wording.percent(float(NEARLY_ALL))}",
        value=float(share),
        limit=float(NEARLY_ALL),
        notes=() if outcome == "passed" else (f"it answers nearly everything alike; {SWITCH}",),
    )
