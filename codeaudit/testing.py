"""`assert_invariant`: a test that a model's answers hold when the meaning of the code does not change.

    from codeaudit.testing import assert_invariant

    def test_names_do_not_matter():
        assert_invariant(predict, [Path("src")], transforms=["rename"])

Under pytest the fixture `assert_invariant` is the same function. Importing this module imports no transform
and no framework.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from codeaudit.edits import check_language, check_samples, most_frequent, prepared_samples
from codeaudit.keywords import says_what_is_meant
from codeaudit.option_table import declared
from codeaudit.options import DEFAULTS, check_values, listed
from codeaudit.transforms.errors import CannotAudit, UsageError
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.language import DEFAULT
from codeaudit.transforms.permission import permit
from codeaudit.transforms.records import Sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codeaudit.audit.interface import Model, Task
    from codeaudit.audit.models.callable import Answering, Predictor
    from codeaudit.audit.records import Audited, Violated

    Tested: TypeAlias = Model | Answering | Predictor | str

SHOWN: Final = 3
"""Number of violations that a failed assertion shows with their diffs."""


@says_what_is_meant
def assert_invariant(
    model: Tested,
    samples: Iterable[str | Path | Sample],
    *,
    transforms: Sequence[str] | str | None = None,
    task: str | None = None,
    language: str = DEFAULT,
    variants: int = DEFAULTS.variants,
    seed: int = DEFAULTS.seed,
    max_violation_rate: float = 0.0,
    max_unjudged: float = 0.2,
) -> list[Audited]:
    """Assert that a model's answers hold under transforms that keep the meaning.

    Parameters
    ----------
    model
        A callable from a list of queries (each with `source`, `language`, `task`) to a list of answers, an
        object with such a method `predict`, or a SPEC of the command line (`"spe-checkpoint"`,
        `"exec/./predict"`).
    samples
        Texts of a function each (in `language`; indented ones are moved to the left), paths of files or
        folders whose functions are taken, or samples.
    transforms
        Names or families, in a list or with commas between; the standard ones of the languages by default.
    task
        Decides how answers are read and compared. By default that of the model, else `function-name`, which
        masks the name of the function and compares answers as sets of subtokens.
    variants, seed
        How many variants of each sample and transform are tried, and which.
    max_violation_rate
        Largest share of judged variants, from 0 to 1, whose answer may change.
    max_unjudged
        Largest share of variants, from 0 to 1, whose answer may be missing.

    Returns
    -------
    One record per sample, with the verdicts.

    Raises
    ------
    AssertionError
        More answers changed. The message shows the first diffs with both answers.
    CannotAudit
        There is no sample, no variant, or too few answers, so that nothing can be asserted.
    UsageError
        There is no such model, task, transform or language, or a value has a wrong type or is out of range.

    Examples
    --------
    >>> codeaudit.assert_invariant(predict, [Path("src")], transforms=["rename"])  # doctest: +SKIP
    """
    # pytest shows the line of the test, not this one.
    __tracebackhide__ = True
    from codeaudit.audit.cache import NoMemory
    from codeaudit.audit.records import ANSWER_CHANGES, ANSWER_UNKNOWN, Failed, Held, Unjudged, Violated
    from codeaudit.audit.run import AuditSetup, NoMonitor, audit, malformed_message
    from codeaudit.audit.suite import SuitePlan, cases
    from codeaudit.reports.gate import Limits

    check_values(transforms=transforms, task=task, variants=variants, seed=seed)
    check_values(declared(Limits), max_violation_rate=max_violation_rate, max_unjudged=max_unjudged)
    permit(model, transforms, task)
    check_language(language)
    check_samples(samples)
    chosen = _model(model)
    asked = _task(task, chosen)
    prepared = list(prepared_samples(samples, language, asked))
    plan = SuitePlan(transforms=_names(transforms, prepared), variants=variants, seed=seed)
    # No cache: a test must see the model as it is now.
    setup = AuditSetup(
        model=chosen, task=asked, memory=NoMemory(), monitor=NoMonitor(), batch_size=DEFAULTS.batch_size
    )
    records = list(audit(cases(prepared, plan, workers=1), setup))
    verdicts = [verdict for record in records for verdict in record.verdicts]
    violated = [verdict for verdict in verdicts if isinstance(verdict, Violated)]
    judged = len(violated) + sum(isinstance(verdict, Held) for verdict in verdicts)
    reasons = Counter(verdict.reason for verdict in verdicts if isinstance(verdict, Unjudged))
    # Unjudged without fault of the model: the edit changes the right answer, or its effect is unknown.
    missing = reasons.total() - reasons[ANSWER_CHANGES] - reasons[ANSWER_UNKNOWN]
    wrong = next(
        (record.before for record in records if isinstance(record.before, Failed) and record.before.given),
        None,
    )
    hint = f"; {malformed_message(wrong, asked)}" if wrong else ""
    # Without a verdict the assertion would hold for nothing.
    if not judged:
        gaps = reasons or Counter(gap.reason for record in records for gap in record.not_applied)
        raise CannotAudit(f"{chosen.name}: nothing could be judged ({most_frequent(gaps)}){hint}")
    if missing > max_unjudged * len(verdicts):
        share = f"{missing} of {counted(len(verdicts), 'variant')}"
        raise CannotAudit(f"{chosen.name}: {share} could not be judged ({most_frequent(reasons)}){hint}")
    if len(violated) > max_violation_rate * judged:
        raise AssertionError(_message(chosen.name, violated, judged))
    return records


def _model(model: Tested) -> Model:
    if isinstance(model, str):
        from codeaudit.audit.models import catalogue
        from codeaudit.audit.models.provider import Settings

        catalogue.check(model)
        return catalogue.load(model, Settings(), {})
    from codeaudit.preparing import as_model

    return as_model(model)


def _task(name: str | None, model: Model) -> Task:
    from codeaudit.audit.registry import DEFAULT_TASK, TASKS

    return TASKS.get(name or model.task or DEFAULT_TASK)


def _names(transforms: Sequence[str] | str | None, samples: Sequence[Sample]) -> tuple[str, ...]:
    from codeaudit.audit.suite import standard_transforms
    from codeaudit.transforms.registry import entry_of, expand

    languages = {sample.language for sample in samples}
    if transforms is None:
        names = standard_transforms(languages, controls=False)
    else:
        names = expand(listed(transforms), languages=languages)
    # Under a control the answer should change; a test of the opposite is a mistake.
    if controls := [name for name in names if entry_of(name).kind == "control"]:
        raise UsageError(f"{controls[0]!r} changes the meaning: no answer has to hold under it")
    kept = tuple(name for name in names if entry_of(name).kind == "preserving")
    if not kept:
        raise UsageError(f"no transform that keeps the meaning for {', '.join(sorted(languages))}")
    return kept


def _message(name: str, violated: Sequence[Violated], judged: int) -> str:
    from codeaudit.audit.projects.files import text_diff

    samples = len({violation.perturbed.sample.id for violation in violated})
    counts = f"{len(violated)} of {counted(judged, 'variant')} ({counted(samples, 'sample')})"
    parts = [f"{name} changed its answer on {counts} although the meaning was kept"]
    for violation in violated[:SHOWN]:
        edit = violation.perturbed
        place = f"{edit.sample.origin.path}:{edit.sample.origin.line}"
        parts.append(
            f"{place} under {edit.transform}, variant {edit.variant}: "
            f"{violation.before.answer!r} became {violation.after.answer!r}\n"
            f"{text_diff(place, edit.sample.source, edit.source)}"
        )
    if len(violated) > SHOWN:
        parts.append(f"... and {len(violated) - SHOWN} more")
    return "\n\n".join(parts)
