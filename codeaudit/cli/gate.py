"""The command `codeaudit gate`: its options and its output. `codeaudit.gating` decides."""

import os
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any, Final

import click

from codeaudit import __version__
from codeaudit.cli.options import (
    FORMATS,
    F,
    OutputFile,
    as_option,
    declared_option,
    file_option,
    format_option,
    from_file,
    option,
    path_option,
    read_toml,
    run_option,
    set_defaults,
    transform_option,
)
from codeaudit.cli.output import note, show_sheets, show_text
from codeaudit.finished_runs import write_file
from codeaudit.gating import GatedRun, decided, planned
from codeaudit.limits_file import write_limits as write_limits_of
from codeaudit.option_table import declared
from codeaudit.options import listed
from codeaudit.reports.cases import Place, ReportedCase, cases
from codeaudit.reports.checks import Gate, gate_sheets, verdict
from codeaudit.reports.gate import Limits, lasting
from codeaudit.reports.gate_plan import plan_sheets
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import CannotAudit, RunError, UsageError

LONGEST: Final = 40
"""Characters of a share, and digits before or behind its point."""


def _number(text: str, *, most: float) -> float:
    """A share as `0.05`, `5%` or `5 %`; the float that is nearest to it."""
    shown = str(text).strip()
    digits = shown.removesuffix("%").strip()
    try:
        # `1e99999999` has as many digits as it says.
        if len(digits) > LONGEST or abs(Decimal(digits).adjusted()) > LONGEST:
            raise ValueError
        # Not `float(digits) / 100`: 5.6 / 100 is below 0.056, and a run with exactly 7 of 125 would fail.
        value = inf if digits == "inf" else float(Fraction(Decimal(digits)) / (100 if shown != digits else 1))
    except (ArithmeticError, ValueError):
        raise click.BadParameter(f"{shown!r} is no share; write 0.05 or 5%") from None
    if value == 1 and shown == digits:
        raise click.BadParameter(f"{shown!r} may mean 1% or 100%; write one of them")
    if not 0 <= value <= most:
        # 5 was meant as 5 %, never as 500 %.
        hint = f"; did you mean {shown}%?" if 1 < value <= 100 and not shown.endswith("%") else ""
        raise click.BadParameter(f"{shown!r} is not between 0 and {most:g}{hint}")
    return value


def _share(text: str) -> float:
    return _number(text, most=1)


def _loss(text: str) -> float:
    return _number(text, most=inf)


def _configure(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Take options from the table `gate` of a TOML file."""
    if path is not None:
        known = from_file(ctx.command, but=param)
        settings = {name: as_option(value, False) for name, value in read_toml(path, known, "gate").items()}
        # The option is called --format, its parameter `form`.
        set_defaults(
            ctx, path, {**settings, **({"form": settings["format"]} if "format" in settings else {})}
        )


LIMITS: Final = declared(Limits)


def _limit(name: str, text: str, **changes: Any) -> Callable[[F], F]:
    """The option for a limit; a share unless `changes` say otherwise."""
    share = {} if LIMITS[name].kind is bool else {"type": _share, "metavar": "P"}
    return declared_option(LIMITS[name], text, **{**share, **changes})


FILE: Final = click.Path(path_type=Path, dir_okay=False)


@click.command("gate")
@click.argument("run", metavar="RUN", required=False, type=click.Path(path_type=Path))
@path_option("--baseline", "RUN|FILE", "An earlier run or its baseline file: fail if violations rose.")
@transform_option("Judge only these transforms or families.  [default: all that keep the meaning]")
@_limit("max_violation_rate", "Fail above this share of changed answers.")
@_limit(
    "max_f1_drop",
    "Fail if the task's score loses more under attack (worst variant of each sample).",
    type=_loss,
    metavar="D",
)
@_limit(
    "max_missed",
    "Fail above this share of flaws that are found before an edit and missed after it.",
)
@_limit(
    "max_score_drop",
    "Against a baseline: fail if the task's score (without attack) is worse by more.  [default: the margin]",
)
@_limit("min_sensitivity", "Fail below this share of answers that change under controls.")
@_limit("margin", "A rise up to this share passes.")
@_limit("alpha", "Rate of false alarms: how often an unchanged model may fail.")
@_limit("max_unjudged", "Decide nothing if more is unjudged.")
@_limit("max_newly_unjudged", "Decide nothing if more of the pairs that the baseline judged is unjudged now.")
@_limit("min_shared", "Decide nothing if the run has less of the pairs that the baseline judged.")
@_limit(
    "allow_insensitive",
    "Pass models that do not react to their input. Without it a model fails whose answers no control "
    "changes, do not go with the labels, or are nearly all equal.",
)
@_limit(
    "must_decide",
    "End with 3 where noise leaves open if a limit is exceeded. Without it such a run passes, and a "
    "note says so.",
)
@click.option(
    "--write-limits",
    type=OutputFile(".toml", makes_folder=True),
    metavar="FILE",
    help="If RUN passes, write its limits into the table [gate] of this TOML file, with what was measured.",
)
@click.option(
    "--plan/--no-plan",
    default=False,
    help="Judge nothing; say how many samples a rise needs to be seen. RUN may be a baseline or left out.",
)
@run_option(
    "dependence",
    "paper: judge the orders by names only of a run under that relation. Without it the gate does not "
    "judge such a run, because its orders may change the meaning.",
)
@run_option("sign_key", "Check that RUN and the baseline were signed with the secret in this file.")
@file_option("--junit", "Write a JUnit XML report.", ".xml", makes_folder=True)
@file_option("--sarif", "Write SARIF for code scanning.", ".sarif", ".json", makes_folder=True)
@option("--github/--no-github", default=False, help="Print annotations and write the step's summary.")
@format_option(*FORMATS)
@click.option(
    "--config",
    type=FILE,
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_configure,
    help="Read options from the table [gate] of a TOML file.",
)
def gate(
    run: Path | None,
    baseline: Path | None,
    transform: str | None,
    form: str,
    junit: Path | None,
    sarif: Path | None,
    github: bool,
    plan: bool,
    dependence: Dependence,
    sign_key: Path | None,
    write_limits: Path | None,
    **limited: Any,
) -> int:
    """Fail if a run is not good enough, or worse than an earlier one.

    A model that does not react to its input fails, too. Against a baseline, so does one that lost its
    score or its sensitivity.

    If the answers of a model change when the same input is repeated, what noise alone can explain is not held
    against it.

    Exit code 0 passed, 1 failed, 2 wrong usage, 3 could not be judged: files that do not belong together,
    too few answers, too few judged controls, too few inputs shared with the baseline, or too few samples to
    show any rise.

    \b
    Examples:
      codeaudit gate RUN --max-violation-rate 5%
      codeaudit gate RUN --baseline codeaudit-runs/main --junit gate.xml
      codeaudit gate RUN --write-limits codeaudit.toml
      codeaudit gate --plan
      codeaudit gate RUN --baseline codeaudit-runs/main --sarif gate.sarif --github
    """
    limits = Limits(**limited)
    names = None if transform is None else listed(transform)
    if plan:
        gate_plan = planned(run or baseline, limits, names, sign_key=sign_key)
        show_text(gate_plan.to_json()) if form == "json" else show_sheets(plan_sheets(gate_plan), form)
        return 0
    if run is None:
        raise UsageError("give the RUN to judge, or --plan")
    gated = decided(
        run,
        baseline,
        limits,
        names,
        dependence=dependence,
        sign_key=sign_key,
        bare=write_limits is not None,
    )
    _show(gated.gate, form)
    _write(gated, junit=junit, sarif=sarif, github=github, form=form)
    if write_limits is not None:
        _write_limits(gated, write_limits)
    # The reports are written by now; the error adds its line on stderr.
    if gated.gate.exit_code == CannotAudit.exit_code:
        raise CannotAudit(verdict(gated.gate))
    return gated.gate.exit_code


def _write_limits(gated: GatedRun, path: Path) -> None:
    if not gated.gate.passed:
        note(f"{path}: no limits are written from a run that does not pass")
        return
    for limit in write_limits_of(path, gated.now, gated.gate.alpha):
        note(f"{path}: {limit.option} = {limit.value}  ({limit.why})")


def _show(decision: Gate, form: str) -> None:
    if form == "json":
        show_text(decision.to_json())
    else:
        show_sheets(gate_sheets(decision), form)


def _write(gated: GatedRun, *, junit: Path | None, sarif: Path | None, github: bool, form: str) -> None:
    """Write the requested reports."""
    if not (junit or sarif or github):
        return
    run = gated.run
    # A list, because up to three reports go through the cases.
    every = list(cases(run.audited(gated.chosen), transforms=gated.chosen))
    if junit is not None:
        from codeaudit.reports.render.junit import junit as junit_report

        write_file(
            junit,
            junit_report(every, started=str(run.manifest.get("started", "")), checks=gated.gate.checks),
        )
    old = None if gated.baseline is None else lasting(gated.now, gated.baseline)
    locate = locator(gated.now.summary.corpus, Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()))
    if sarif is not None:
        from codeaudit.reports.render.sarif import sarif as sarif_report

        write_file(sarif, sarif_report(every, locate=locate, version=__version__, lasting=old))
    if github:
        violated = [case for case in every if case.state == "violated"]
        _github(form, gated.gate, violated, locate, old or frozenset())


def _github(
    form: str,
    decision: Gate,
    violated: Sequence[ReportedCase],
    locate: Callable[[str], str | None],
    old: frozenset[Place],
) -> None:
    from codeaudit.reports.render import github
    from codeaudit.reports.render.markdown import of_sheets

    lines = "".join(
        f"{line}\n" for line in github.annotations(decision, violated, locate=locate, lasting=old)
    )
    # The runner reads both streams; JSON on stdout is for another program.
    click.echo(lines, nl=False, err=True) if form == "json" else show_text(lines)
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if not place:
        note("no step summary: GITHUB_STEP_SUMMARY is not set")
        return
    path = Path(place)
    # GitHub's limit is for the whole summary of the step, and other commands may have written to it.
    size = path.stat().st_size if path.exists() else 0
    text = github.summary(
        of_sheets(gate_sheets(decision)), violated, lasting=old, room=max(0, github.SUMMARY - size)
    )
    try:
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise RunError(f"cannot write {place!r}: {error.strerror or error}") from error


def locator(corpus: str, root: Path) -> Callable[[str], str | None]:
    """From a sample's path to one below `root`, where the corpus is a file or folder that is still there."""
    # A corpus may be a path, several paths with blanks between, or a path with something before or behind a
    # colon, such as `bugs:20:src` and `table.jsonl:test`.
    specs = [corpus, *corpus.split(), corpus.rpartition(":")[2], corpus.rpartition(":")[0]]
    # `Path.exists` raises for a text that is longer than a name may be.
    places = [Path(spec) for spec in specs if spec and os.path.exists(spec)]
    bases = list(dict.fromkeys(place if place.is_dir() else place.parent for place in places))
    top = Path(os.path.realpath(root))

    def locate(path: str) -> str | None:
        for base in bases:
            try:
                file = Path(os.path.realpath(base / path))
                # An annotation outside the repository would be shown nowhere.
                if file.is_file() and file.is_relative_to(top):
                    return file.relative_to(top).as_posix()
            except (OSError, ValueError):
                continue
        return None

    return locate
