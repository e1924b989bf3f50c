"""`codeaudit.run`: turns Python values into the options of a run and carries it out."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, cast

from typing_extensions import override

from codeaudit.audit.corpora.records import BaseCorpus, Corpus
from codeaudit.audit.corpora.tables import renaming, samples_of
from codeaudit.audit.interface import Model
from codeaudit.audit.models.callable import Answering, CallableModel, Predictor
from codeaudit.audit.run import RunProgress
from codeaudit.auditing import audit_models, demand_verdicts
from codeaudit.edits import check_language, raw_samples
from codeaudit.finished_runs import Run, open_run
from codeaudit.keywords import says_what_is_meant, taking
from codeaudit.option_table import declared
from codeaudit.options import (
    DEFAULTS,
    TABLE,
    RunOptions,
    SharedOptions,
    check_values,
    marked,
    one_line,
    usual_movable,
)
from codeaudit.preparing import as_model
from codeaudit.prompting import prompted
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.language import DEFAULT
from codeaudit.transforms.permission import permit
from codeaudit.transforms.records import Sample

AnyModel: TypeAlias = str | Answering | Predictor | Model


class SupportsRows(Protocol):
    """A pandas DataFrame, or what gives its rows in the same way."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""
        ...

    def to_dict(self, orient: Any, /) -> Any:
        """The rows, for `"records"`."""
        ...


AnyCorpus: TypeAlias = (
    str | Path | Corpus | Iterable[str | Path | Sample | Mapping[str, object]] | SupportsRows
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSamples(BaseCorpus):
    """Samples from the caller, as a corpus."""

    samples: tuple[str | Path | Sample, ...]
    language: str
    spec: str = "samples given in Python"

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        yield from raw_samples(self.samples, self.language, skipped)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRows(BaseCorpus):
    """The rows of a table from the caller, such as a DataFrame, as a corpus."""

    table: tuple[Mapping[str, object], ...]
    columns: Mapping[str, str]
    spec: str = "table given in Python"

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        yield from samples_of(
            enumerate(self.table, start=1),
            place=self.spec,
            split=None,
            column=None,
            columns=self.columns,
            skipped=skipped,
        )


@dataclass(frozen=True, slots=True)
class RunArguments(SharedOptions):
    """The arguments of `codeaudit.run`. Those in this class are others than on the command line."""

    models: AnyModel | Sequence[AnyModel] | Mapping[str, AnyModel] | None = None
    _: KW_ONLY
    corpus: AnyCorpus | None = None
    transforms: str | Sequence[str] | None = None
    mixed: str | Sequence[str] | None = None
    limit: int | None = DEFAULTS.limit
    movable: int | None = None
    label_map: Mapping[str, object] | str | None = None
    prompt: str | Sequence[str] | None = None
    attack: str | Sequence[str] = ()
    suite: str | Path | None = None
    model_arguments: Mapping[str, object] | None = None
    cache: str | Path | None = None
    sign_key: str | Path | None = None
    out: str | Path | None = None
    language: str = DEFAULT
    progress: RunProgress | None = None


IN_PYTHON: Final = ("transforms", "mixed", "attack", "limit", "movable", "prompt")
"""Arguments that are checked as others of their names in the Python API."""


@says_what_is_meant
@taking(RunArguments)
def run(arguments: RunArguments) -> Run:
    """Audit models: perturb samples, ask the models, and write a run folder, as `codeaudit run` does.

    Parameters
    ----------
    models
        One model, several in a list, or a mapping from names to models. A model is a SPEC of the command line
        (`"spe-checkpoint"`, `"hf/NAME"`, a folder), a callable from a list of queries to a list of answers,
        or an object with a method `predict` that does the same. A query has `source`, `language` and `task`.
        An answer is a text, a number or a list of subtokens, as the task says. In a mapping, a model that
        is a SPEC must have the SPEC as its name. By default the bundled models.
    corpus
        A SPEC of the command line or a path; or a list of texts (in `language`), paths and `Sample` records;
        or a table: a pandas DataFrame or a list of rows, with columns as in a table file (`columns` names
        others). By default the task's own.
    task
        By default that of the models, else `"function-name"`.
    transforms
        Names or families, in a list or with commas between. By default the standard set of the language.
        (`codeaudit.transform` takes one name.)
    mixed
        Names or families, or `"all"`, whose moves are mixed in one variant. That is one more transform;
        without `transforms` it takes the place of the standard set.
    variants
        Number of variants per sample and transform.
    repeats
        How often the unchanged input is asked again, to measure noise. By default as often as a sample has
        variants; once of a model of this machine that answers the same.
    limit
        Largest number of samples in the plain random draw; None for all.
    movable
        Draw more samples until each transform changes that many, or the corpus ends; each of them is asked
        only for the transforms that it is drawn for. By default 100 if all models are bundled ones,
        checkpoints, `hf/`, callables or programs and `limit`, `suite` and `shard` are left out, else 0.
    seed, trials
        The run is repeated with the seeds `seed`, `seed` + 1, … They decide which samples and variants are
        drawn.
    controls
        Also measure sensitivity, with transforms that change the meaning.
    label_map
        What words of models and of the column of labels mean: `{"vulnerable": 1, "safe": 0}`.
    judge
        A model, by its SPEC, that judges if two answers say the same (task `"summarisation"`). It sees each
        pair in both orders, and its own noise is measured.
    prompt
        Names of prompts or files, in a list: each model of texts is asked with each.
    attack, budget
        Strategies of the search for a violation, and the number of texts that each may ask per sample.
    model_arguments
        The `-M` arguments of models that are named by a SPEC. `"2:price_in"` is for the second model only,
        `"headers.api-key": "$NAME"` sends the value of a variable.
    out
        The run folder. By default a new folder below `codeaudit-runs`. An unfinished run in it resumes.
    raw
        Keep what models of texts wrote, in `answers.parquet` of the run folder.
    progress
        Receives notes and counts; by default nothing is printed.
    others
        As the options of `codeaudit run --help` of the same names.

    Returns
    -------
    The finished run.

    Raises
    ------
    UsageError
        An argument has a wrong type, is out of range, has a value that does not exist or does not fit the
        others; or `models` is empty.
    CannotAudit
        The models, the corpus or the folder cannot be used, or nothing could be judged.

    Examples
    --------
    >>> def shortest(queries):
    ...     return [min(query.source.split(), key=len) for query in queries]
    >>> found = codeaudit.run(shortest, corpus="src", transforms=["rename"], limit=50)  # doctest: +SKIP
    >>> found.summary.models[0].violations.rate  # doctest: +SKIP
    0.31
    """
    words = arguments.label_map
    if isinstance(words, Mapping):
        words = ",".join(f"{word}={label}" for word, label in words.items())
    shared = {name: getattr(arguments, name) for name in declared(SharedOptions)}
    check_values(**{"label_map": words, **{name: getattr(arguments, name) for name in IN_PYTHON}}, **shared)
    permit(arguments.task, arguments.transforms, arguments.mixed)
    check_language(arguments.language)
    given: dict[str, Model] = {}
    names = tuple(_named(arguments.models, given))
    corpus = arguments.corpus
    samples = _given_samples(corpus, arguments.language, arguments.columns)
    movable = arguments.movable
    if movable is None:
        bounded = any(getattr(arguments, name) != TABLE[name].default for name in marked("bounds"))
        # A callable of the caller's is like one that `py/` names. What other models cost is not known.
        foreign = any(not isinstance(model, CallableModel) for model in given.values())
        specs = [name for name in names if name not in given]
        movable = 0 if foreign else usual_movable(specs, bounded=bounded)
    options = RunOptions(
        model=names,
        prompt=(arguments.prompt,) if isinstance(arguments.prompt, str) else tuple(arguments.prompt or ()),
        model_argument=tuple(
            f"{key}={str(value).lower() if isinstance(value, bool) else value}"
            for key, value in (arguments.model_arguments or {}).items()
        ),
        corpus=str(corpus) if isinstance(corpus, str | Path) else samples.spec if samples else None,
        label_map=words,
        limit=int(arguments.limit or 0),  # no limit is 0 in the options
        movable=int(movable),
        suite=_path(arguments.suite),
        transform=_joined(arguments.transforms),
        mixed=_joined(arguments.mixed),
        attack=_joined(arguments.attack) or None,
        out=_path(arguments.out),
        sign_key=_path(arguments.sign_key),
        cache=_path(arguments.cache),
        **{name: _plain(value, TABLE[name].kind) for name, value in shared.items()},
    )
    summary, folder = audit_models(
        prompted(options, given),
        given=given,
        corpus=samples,
        command=["codeaudit.run"],
        progress=arguments.progress,
    )
    if options.shard is not None:
        # It may have no sample, which is no finished run.
        return Run(folder.path.absolute())
    demand_verdicts(summary, options)
    return open_run(folder.path)


def _named(
    models: AnyModel | Sequence[AnyModel] | Mapping[str, AnyModel] | None, given: dict[str, Model]
) -> Iterator[str]:
    """The names of the models; those that are objects are added to `given`."""
    if models is None:
        return
    # An empty list comes from a filter that matched nothing. It must not audit the bundled models.
    if isinstance(models, Mapping | Sequence) and not models:
        raise UsageError("models is empty; leave it out to audit the bundled models")
    if isinstance(models, Mapping):
        pairs = list(models.items())
    else:
        several = models if isinstance(models, Sequence) and not isinstance(models, str) else [models]
        pairs = [("", entry) for entry in several]
    for name, entry in pairs:
        if not isinstance(name, str):
            raise UsageError(f"the name of a model must be a text, not {one_line(name)}")
        if isinstance(entry, str):
            # The manifest repeats a run by the SPECs of its models.
            if name not in ("", entry):
                raise UsageError(f"model {entry!r} has its SPEC as its name; it cannot be called {name!r}")
            permit(entry)
            yield entry
            continue
        model = as_model(entry, name=name)
        if model.name in given:
            raise UsageError(f"two models are called {model.name!r}; give them names in a mapping")
        given[model.name] = model
        yield model.name


def _given_samples(corpus: AnyCorpus | None, language: str, columns: str | None) -> Corpus | None:
    """The corpus, if it is no SPEC or path. A table is rows by the names of its columns.

    Raises:
        UsageError: it is no corpus, or one of its samples is none.
    """
    if isinstance(corpus, str | Path | None):
        return None
    if (rows := _rows(corpus)) is not None:
        return GivenRows(table=tuple(rows), columns=renaming(columns))
    if isinstance(corpus, Iterable):
        # Read at once, because each trial draws from all samples, and an iterator could be read only once.
        entries = tuple(corpus)
        if table := [row for row in entries if isinstance(row, Mapping)]:
            if len(table) < len(entries):
                raise UsageError("the corpus holds rows and texts; give one or the other")
            return GivenRows(table=tuple(table), columns=renaming(columns))
        samples = tuple(sample for sample in entries if not isinstance(sample, Mapping))
        for number, sample in enumerate(samples, start=1):
            if not isinstance(sample, str | Path | Sample):
                raise UsageError(
                    f"sample {number} is {one_line(sample)}; it must be a text, a path or a Sample"
                )
        return GivenSamples(samples=samples, language=language)
    if not (hasattr(corpus, "read") and hasattr(corpus, "spec")):
        raise UsageError(
            f"corpus={one_line(corpus)} must be a SPEC, a path, or a list of texts, paths and samples"
        )
    return cast("Corpus", corpus)


def _rows(corpus: Any) -> list[Mapping[str, object]] | None:
    """The rows of a table of pandas or pyarrow; `None` for everything else."""
    # A DataFrame would iterate over the names of its columns.
    if hasattr(corpus, "to_dict") and hasattr(corpus, "columns"):
        return list(corpus.to_dict("records"))
    return list(corpus.to_pylist()) if hasattr(corpus, "to_pylist") else None


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _plain(value: Any, kind: type) -> Any:
    """A number as one of Python, because a manifest cannot hold the numbers of numpy."""
    return kind(value) if value is not None and kind in (int, float) else value


def _joined(names: str | Sequence[str] | None) -> str | None:
    return names if names is None or isinstance(names, str) else ",".join(names)
