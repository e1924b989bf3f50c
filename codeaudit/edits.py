"""Perturbs code without a model: `codeaudit.transform` for one text, `codeaudit.perturb` for many samples.

The functions import engines when they are called, so that importing this module is light. They keep no state:
equal arguments give equal results in every process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from codeaudit.keywords import says_what_is_meant
from codeaudit.options import DEFAULTS, check_values, listed, one_line, with_mixture
from codeaudit.transforms.errors import NOT_PARSED, CannotAudit, NotAppliedError, SourceError, UsageError
from codeaudit.transforms.grammar import counted_reasons
from codeaudit.transforms.language import DEFAULT, LANGUAGES
from codeaudit.transforms.permission import permit
from codeaudit.transforms.records import Outcome, Perturbed, Sample, Sites

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codeaudit.audit.interface import Task

# Far apart, so that the next variant is not what the next seed gives.
FILE_STREAM: Final = 1_000_003
"""Distance between the seeds of two variants of a file."""


@says_what_is_meant
def transform(
    source: str,
    name: str,
    seed: int = DEFAULTS.seed,
    *,
    language: str = DEFAULT,
    variant: int = 0,
    sites: Sites = DEFAULTS.sites,
    whole_file: bool = False,
) -> str:
    """Rewrite a text with one transform.

    Parameters
    ----------
    source
        One function, basic block or expression. Statements may stand around the function; of several
        functions the last is rewritten.
    name
        One transform, such as `"rename"` or `"reorder"`; `codeaudit list transforms` shows all. (`run`,
        `perturb` and `gate` take several: `transforms=["rename", "reorder"]`.)
    seed, variant
        Which of the possible edits is made. For one function, variants 0 to k are distinct texts.
    language
        `python`, `java`, `x86`, …
    sites
        `"auto"`: all places for variant 0, random subsets for the others; `"all"`; or `"one"` place.
    whole_file
        `source` is a file; every function in it is rewritten, as by `codeaudit transform`.

    Returns
    -------
    The rewritten text. It differs from `source`, except for the transform `"identity"`.

    Raises
    ------
    NotApplied
        The transform cannot rewrite this text; `reason` says why.
    UsageError
        There is no such transform or language, or an argument has a wrong type or is out of range.

    Examples
    --------
    >>> print(codeaudit.transform("def twice(x):\\n    y = x\\n    return y + y", "rename", seed=3))
    def twice(x):
        ...
    >>> data.map(lambda row: {"code": codeaudit.transform(row["code"], "reorder")})  # doctest: +SKIP
    """
    from codeaudit.audit.corpora.records import raw_sample
    from codeaudit.audit.suite import SuitePlan, case
    from codeaudit.transforms.perturb import NO_FUNCTION
    from codeaudit.transforms.registry import TRANSFORMS, expand, families
    from codeaudit.transforms.suites import SUITE

    check_values(source=source, name=name, seed=seed, variant=variant, sites=sites)
    permit(name)
    check_language(language)
    if "," in name:
        raise UsageError(f"{name!r} names several transforms; call transform for each, or call perturb")
    suite = name.startswith(f"{SUITE}/")
    if name not in TRANSFORMS and (suite or any(name == family.name for family in families())):
        members = ", ".join(expand([name], languages=(language,)))
        raise UsageError(
            f"{name!r} is a {SUITE if suite else 'family'}; name one of its transforms ({members}), "
            "or call perturb"
        )
    TRANSFORMS.summary(name)  # raises UsageError with the nearest name
    sample = raw_sample(source, language=language, label=None, path="<source>", line=1)
    if whole_file:
        return _file(source, name, language, seed + FILE_STREAM * variant, sites)
    # All variants up to this one, because each must differ from those before it.
    plan = SuitePlan(transforms=(name,), variants=variant + 1, seed=seed, sites=sites)
    outcome = case(sample, plan).outcomes[-1]
    if isinstance(outcome, Perturbed):
        return outcome.source
    other = _language_of(source, language) if outcome.reason == NOT_PARSED else None
    hint = f"; as {other} it does: language={other!r}" if other else ""
    if outcome.reason == NO_FUNCTION or _has_more(source, language):
        hint = "; only the last function of a text is rewritten: for a whole file write whole_file=True"
    raise NotAppliedError(outcome.reason, transform=name, hint=hint)


def _has_more(text: str, language: str) -> bool:
    """Whether a text holds more than the one function that is rewritten."""
    from codeaudit.transforms.perturb import function_context_of

    with suppress(SourceError):
        context = function_context_of(text, language)
        return bool((context.before + context.after).strip())
    return False


def _language_of(text: str, but: str) -> str | None:
    """A language other than `but` in whose syntax a text parses."""
    from codeaudit.transforms.language import every_language

    languages = (
        language
        for language in every_language()
        if language.name != but and language.parse and language.function_context
    )
    return next((language.name for language in languages if language.parses(text)), None)


@says_what_is_meant
def perturb(
    samples: Iterable[str | Path | Sample] | str | Path,
    transforms: Sequence[str] | str | None = None,
    *,
    mixed: Sequence[str] | str | None = None,
    variants: int = DEFAULTS.variants,
    seed: int = DEFAULTS.seed,
    language: str = DEFAULT,
    task: str | None = None,
    sites: Sites = DEFAULTS.sites,
    workers: int = DEFAULTS.workers,
) -> Iterator[Outcome]:
    """Perturb samples, one after the other; memory does not grow with their number.

    Parameters
    ----------
    samples
        Texts of one function each (in `language`; indented ones are moved to the left), paths of files or
        folders whose functions are taken, or `Sample` records.
    transforms
        Names or families, in a list or with commas between. By default the standard ones of each sample's
        language that keep the meaning.
    mixed
        As for `run`.
    variants, seed
        How many variants of each sample and transform, and which.
    task
        Prepare the samples for this task, as a run does: read the label and hide it in the text. Samples that
        are no example of the task are left out. By default they stay as they are.
    sites
        As for `transform`.
    workers
        Number of processes.

    Yields
    ------
    For each sample and transform, `variants` outcomes. A `Perturbed` has `sample`, `transform`, `variant`,
    `kind`, `source` (the rewritten text), `moves` and `evidence`. The others are not applied and have a
    `reason` instead of `source`. Tell them apart with `isinstance(outcome, codeaudit.Perturbed)`:
    `codeaudit.NotApplied` is the error that `transform` raises, and no outcome is an instance of it.

    Raises
    ------
    UsageError
        There is no such transform, task or language, or an argument has a wrong type or is out of range.
    CorpusError
        A path does not exist or cannot be read.

    Examples
    --------
    >>> for outcome in codeaudit.perturb(["def f(a):\\n    b = a\\n    return b"], "rename", variants=2):
    ...     if isinstance(outcome, codeaudit.Perturbed):
    ...         print(outcome.variant, outcome.transform)
    0 rename
    1 rename
    """
    from codeaudit.audit.registry import TASKS
    from codeaudit.transforms.registry import expand

    check_values(
        transforms=transforms,
        mixed=mixed,
        variants=variants,
        seed=seed,
        task=task,
        sites=sites,
        workers=workers,
    )
    permit(transforms, mixed, task)
    check_language(language)
    check_samples(samples)
    names = None if transforms is None else listed(transforms)
    # Now and not at the first outcome: this function is no generator, so that errors come from its call.
    if names is not None and not expand(names):
        raise UsageError("transforms names no transform; leave it out for the standard set")
    names = with_mixture(names, mixed)
    asked = None if task is None else TASKS.get(task)
    chosen = partial(_outcomes, names=names, variants=variants, seed=seed, sites=sites)
    return _perturbed(samples, language, asked, chosen, workers)


def check_language(name: str) -> None:
    """Check that texts of this language can be read.

    Raises:
        UsageError: there is no such language; with the nearest name.
    """
    check_values(language=name)
    LANGUAGES.summary(name)


def check_samples(samples: object) -> None:
    """Check that these are samples, as far as this can be seen without reading an iterator.

    Raises:
        UsageError: they are neither a path nor iterable.
    """
    if isinstance(samples, bytes) or not isinstance(samples, Path | Iterable):
        raise UsageError(f"samples {one_line(samples)} must be texts, paths or Sample records")


def raw_samples(
    samples: Iterable[str | Path | Sample] | str | Path, language: str, left_out: Counter[str]
) -> Iterator[Sample]:
    """Texts, paths and samples as samples without preparation; `left_out` counts what cannot be read.

    Raises:
        CorpusError: a path does not exist or cannot be read.
        UsageError: a sample is neither a text nor a path nor a `Sample`.
    """
    from textwrap import dedent

    from codeaudit.audit.corpora.records import raw_sample
    from codeaudit.audit.corpora.specs import corpus

    every = [samples] if isinstance(samples, str | Path) else samples
    for number, sample in enumerate(every, start=1):
        if isinstance(sample, Sample):
            yield sample
        elif isinstance(sample, Path):
            yield from corpus(str(sample)).read(left_out)
        elif not isinstance(sample, str):
            raise UsageError(f"sample {number} is {one_line(sample)}; it must be a text, a path or a Sample")
        else:
            if "\n" not in sample and _is_path(sample):
                raise UsageError(
                    f"sample {number} is a text; for the file of that name write Path({sample!r})"
                )
            # A method as it stands in its class is indented, and no Python parser would take it.
            text = dedent(sample).strip("\n")
            yield raw_sample(text, language=language, label=None, path=f"<sample {number}>", line=1)


def _is_path(text: str) -> bool:
    """Whether a text is certainly meant as a path: it names something that exists."""
    try:
        return bool(text) and Path(text).exists()
    except (OSError, ValueError):
        return False


def prepared_samples(
    samples: Iterable[str | Path | Sample] | str | Path, language: str, task: Task
) -> Iterator[Sample]:
    """The samples as the task asks about them, each once.

    Raises:
        CannotAudit: no sample is an example of the task.
        CorpusError: a path does not exist or cannot be read.
    """
    from codeaudit.audit.corpora.records import prepared

    left_out: Counter[str] = Counter()
    seen: set[str] = set()
    for raw in raw_samples(samples, language, left_out):
        ready = prepared(task.prepare, raw)
        if isinstance(ready, str):
            left_out[ready] += 1
        # A file that is named twice, or lies in two of the folders, must not count twice.
        elif ready.id not in seen:
            seen.add(ready.id)
            yield ready
    # Behind the loop, because the samples may be an iterator that nobody can look into before.
    if not seen:
        raise CannotAudit(f"no sample for the task {task.name!r} ({most_frequent(left_out)})")


def most_frequent(reasons: Counter[str]) -> str:
    """The three most frequent reasons with their counts."""
    return ", ".join(counted_reasons(reasons, most=3)) or "none given"


def _perturbed(
    samples: Iterable[str | Path | Sample] | str | Path,
    language: str,
    task: Task | None,
    chosen: partial[tuple[Outcome, ...]],
    workers: int,
) -> Iterator[Outcome]:
    from codeaudit.audit.engines.local import spread
    from codeaudit.audit.suite import CHUNK, FEW

    if task is None:
        prepared = raw_samples(samples, language, Counter())
    else:
        prepared = prepared_samples(samples, language, task)
    for outcomes in spread(chosen, prepared, workers=workers, chunk=CHUNK, few=FEW):
        yield from outcomes


def _outcomes(
    sample: Sample, *, names: tuple[str, ...] | None, variants: int, seed: int, sites: Sites
) -> tuple[Outcome, ...]:
    from codeaudit.audit.suite import SuitePlan, case, standard_transforms
    from codeaudit.transforms.registry import expand

    languages = (sample.language,)
    if names is None:
        # The identity is for the noise of a run. Here it would repeat each sample unchanged.
        transforms = tuple(
            name for name in standard_transforms(languages, controls=False) if name != "identity"
        )
    else:
        transforms = expand(names, languages=languages)
    return case(sample, SuitePlan(transforms=transforms, variants=variants, seed=seed, sites=sites)).outcomes


def _file(source: str, name: str, language: str, seed: int, sites: Sites) -> str:
    """A whole file after the transform.

    Raises:
        NotAppliedError: no function changed; with the most frequent reason.
        UsageError: files of the language cannot be rewritten in place.
    """
    from codeaudit.audit.projects.files import loaded, source_languages
    from codeaudit.transforms.registration import load_target
    from codeaudit.transforms.source_files import Declined, TransformSeries, perturb_file

    formats = {language.name: language.files for language in source_languages().values()}
    if language not in formats:
        raise UsageError(f"no whole files of {language!r}; known: {', '.join(formats)}")
    # A Python text may hold lone surrogates; they must come back as they were.
    data = source.encode("utf-8", "surrogatepass")
    series = TransformSeries(transforms=loaded((name,), language), seed=seed, sites=sites)
    perturbed = perturb_file(load_target(formats[language]), data, "<source>", series)
    if perturbed.data == data:
        reasons = Counter(record.reason for record in perturbed.records if isinstance(record, Declined))
        raise NotAppliedError(reasons.most_common(1)[0][0] if reasons else "no function", transform=name)
    return perturbed.data.decode("utf-8", "surrogatepass")
