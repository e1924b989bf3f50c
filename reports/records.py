"""Records of a summary, a comparison and a run as reports read it, and their JSON.

Every record is frozen. `Summary` is the content of `summary.json`, the interface for programs.
"""

import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from codeaudit.audit.records import MovableDraw, NetworkProof
from codeaudit.audit.store import is_extra
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import Kind

T = TypeVar("T")


def encode(record: Any) -> str:
    """Return a record as indented JSON with a final newline. Equal records give equal texts.

    Raises:
        ValueError: a number is NaN or infinite; a record must use `None` for a missing number.
    """
    # `allow_nan=False`: NaN is no JSON, and other readers would fail on it.
    return json.dumps(asdict(record), indent=2, allow_nan=False) + "\n"


def decode(
    cls: type[T],
    text: str,
    *,
    schema: int | None = None,
    earlier: Mapping[int, Callable[[Any], Any]] | None = None,
) -> T:
    """Read a record of class `cls` from JSON text. Unknown keys are ignored. `earlier` holds, by an earlier
    schema, the function that turns its content into that of `schema`.

    Raises:
        RunError: malformed text, another schema, a missing field, or a value of the wrong type.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RunError(f"summary is not JSON ({error}); run the audit again to write it anew") from error
    written = value.get("schema") if isinstance(value, dict) else None
    if type(written) is int and written in (earlier or {}):
        value = (earlier or {})[written](value)
    elif schema is not None and written != schema:
        raise RunError(f"summary has schema {written!r}, this version reads {schema}; run the audit again")
    result: T = _read(cls, value, cls.__name__)
    return result


def _read(kind: Any, value: Any, where: str) -> Any:
    """Read one value, checked against the declared type of its field. `where` is its path, for messages."""
    if is_dataclass(kind) and isinstance(kind, type):
        return _record(kind, value, where)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        # `X | None` is the only union in a record.
        chosen = [argument for argument in arguments if argument is not NoneType]
        return None if value is None else _read(chosen[0], value, where)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(arguments[0], item, f"{where}[{n}]") for n, item in enumerate(value))
    if origin is Mapping and isinstance(value, dict):
        return {key: _read(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if origin is Literal and value in arguments:
        return value
    if origin is None:
        return _scalar(kind, value, where)
    raise _wrong(where, value)


def _record(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(where, value)
    hints = get_type_hints(kind)
    values = {}
    for each in fields(kind):
        # A key of a later version is ignored, and a field that an earlier version did not write takes its
        # default.
        if each.name in value:
            values[each.name] = _read(hints[each.name], value[each.name], f"{where}.{each.name}")
        elif each.default is MISSING and each.default_factory is MISSING:
            raise RunError(f"summary lacks {where}.{each.name}; run the audit again to write it anew")
    return kind(**values)


def _scalar(kind: Any, value: Any, where: str) -> Any:
    # JSON has one kind of number, so a whole one is a float here. `True` is an int in Python, but no number
    # in a summary.
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        # A whole number beyond every float has no float.
        with suppress(OverflowError):
            if math.isfinite(value):
                return float(value)
    elif isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise _wrong(where, value)


def _of_schema_2(value: dict[str, Any]) -> dict[str, Any]:
    """The content of a summary of schema 2: each sample was repeated once, and nothing has an excess."""
    for model in _dicts(value.get("models")):
        floor = model.get("noise_floor")
        if isinstance(floor, dict) and floor.get("total"):
            model.setdefault("repeats", {"per_sample": 1, "stages": 1})
    return value | {"schema": SCHEMA}


def _of_schema_1(value: dict[str, Any]) -> dict[str, Any]:
    """The content of a summary of schema 1, with the names of schema 2."""
    for model in _dicts(value.get("models")):
        for part in (model, *_dicts(model.get("trials"))):
            _rename(part, pairs="violations", all_samples="violated_samples", violations="violated_movable")
        for row in _dicts(model.get("by_transform")):
            _rename(row, pairs="violations", violations="samples")
    return _of_schema_2(value)


def _dicts(value: object) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _rename(row: dict[str, Any], **names: str) -> None:
    """Give values other names at once; `names` maps each new name to its old one."""
    renamed = {new: row[old] for new, old in names.items() if old in row}
    for old in names.values():
        row.pop(old, None)
    row.update(renamed)


def _wrong(where: str, value: object) -> RunError:
    return RunError(f"summary has {value!r:.60} at {where}; run the audit again to write it anew")


SCHEMA: Final = 3
"""Version of `summary.json`. It changes only if a reader of the old version would misread the new one."""

Better: TypeAlias = Literal["higher", "lower"]

UNITS: Final = frozenset({"mae", "mse", "rmse", "loss", "perplexity", "bits per byte"})
"""Scores with their own unit. Every other score is a share and is shown in percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share with its 95 % interval. For `total` 0, `rate`, `low` and `high` are `None`."""

    count: int
    total: int
    rate: float | None = None
    low: float | None = None
    high: float | None = None
    clusters: int = 0
    """Number of independent units (samples) behind `total`."""
    interval: str | None = None
    """Method of the interval: `wilson` or `clustered bootstrap`."""


NOTHING: Final = Rate(count=0, total=0)
"""The rate over nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """What an edit did beyond noise (`codeaudit.reports.statistics.excess`); `None` without samples."""

    points: float | None = None
    """A fraction, as `Rate.rate`; for a score in the unit of the score."""
    low: float | None = None
    """The lower end of the 95 % interval."""
    high: float | None = None
    p: float | None = None
    """Two-sided."""
    samples: int = 0
    interval: str | None = None
    """Method of the interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How often the unchanged input was asked again."""

    per_sample: int = 0
    """Number of repeated answers for each sample; 0 if none were asked."""
    stages: int = 0
    """1 if one repeat of each sample showed no noise, 2 if as many were asked as a sample has variants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The task's score before and under attack; fields are `None` without labels."""

    name: str
    better: Better = "higher"
    original: float | None = None
    macro: float | None = None
    """Mean over samples of each sample's own score."""
    attack_worst_sample: float | None = None
    """The corpus score with the worst answer of each sample, among its original and its variants."""
    attack_worst_round: float | None = None
    """The lowest corpus score among rounds. A round is one variant of one transform on all samples that it
    changes.
    """
    drop: float | None = None
    """Loss of `attack_worst_sample` against `original`. Positive means worse, whichever direction is
    better.
    """
    drop_worst_round: float | None = None
    """Loss of `attack_worst_round` against `original`."""
    repeat_worst_sample: float | None = None
    """The corpus score with the worst answer of each sample, among its original and as many repeats as
    variants; absent if nothing was asked again.
    """
    drop_excess: Excess = field(default_factory=Excess)
    """Loss of the worst of as many variants as repeats against `repeat_worst_sample`. Where no repeat changed
    and every variant counts, its points are `drop`.
    """
    rounds: int = 0
    """Number of rounds."""
    scored: int = 0
    """Number of samples with a label and an answer."""
    likeness: Mapping[str, float] = field(default_factory=dict)
    """Similarity of the original answers to the right answers, by measure, each from 0 to 1."""
    attack_likeness: Mapping[str, float] = field(default_factory=dict)
    """The same measures for the answers of `attack_worst_sample`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialRate:
    """The violation rate over some of the samples or edits. The fields mean the same as in `ByTransform`."""

    violations: Rate = NOTHING
    noise: Rate = NOTHING
    excess: Excess = field(default_factory=Excess)
    pair_excess: Excess = field(default_factory=Excess)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByLanguage:
    """The rates over the samples of one language."""

    samples: int = 0
    """Number of samples that got an answer."""
    edited: PartialRate = field(default_factory=PartialRate)
    """Under all meaning-keeping transforms together."""
    sensitivity: Rate = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Pairs of samples that are the two sides of one fix, by the answers to the originals. The four numbers
    are those of PrimeVul (arXiv 2403.18624): P-C, P-V, P-B and P-R."""

    correct: int = 0
    """Both answers are right."""
    both_found: int = 0
    """Both sides are called vulnerable."""
    both_missed: int = 0
    """Both sides are called safe."""
    reversed: int = 0
    """Both answers are wrong."""

    @property
    def total(self) -> int:
        """Number of pairs."""
        return self.correct + self.both_found + self.both_missed + self.reversed


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A share with its 95 % interval; `None` if it is unknown."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


UNKNOWN: Final = Estimate()
"""The estimate from nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByTransform:
    """Results of one model under one transform."""

    transform: str
    kind: Kind
    violations: Rate
    """The violation rate: the share of movable samples with at least one changed answer. A sample is movable
    if the transform changed it and a variant was judged."""
    pairs: Rate
    """Share of pairs (sample, variant) with a changed answer. For a control this is its sensitivity."""
    applied: int
    """Number of pairs, judged or not, in the plain draw."""
    unjudged: int
    """Number of pairs without a verdict, also of samples drawn in addition."""
    not_applied: Mapping[str, int]
    """Number of variants that could not be made in the plain draw, by reason."""
    evidence: Mapping[str, int]
    """Number of pairs in the plain draw by their strongest evidence."""
    max_deviation: float
    extra: int = 0
    """Number of distinct samples drawn in addition for this transform."""
    noise: Rate = NOTHING
    """Share of these samples of which some of as many repeats as variants got another answer."""
    excess: Excess = field(default_factory=Excess)
    """The share of samples of which some of as many variants as repeats got another answer, minus `noise`,
    over the samples with a repeat. Where noise is zero: `violations`."""
    pair_excess: Excess = field(default_factory=Excess)
    """As `excess`, over pairs of answers. Its p decides whether an effect is shown."""
    distance: Excess = field(default_factory=Excess)
    """How far the distribution of a sampled model's answers moved: half the squared distance of the two
    (`codeaudit.reports.statistics.distances`)."""
    moved: int = 0
    """Number of samples for which a test of their own shows that (p at most 0.05, adjusted by Holm)."""
    score_drop: Excess = field(default_factory=Excess)
    """By how much the mean score of a sampled model's draws is worse, in the unit of the score."""
    shift: Estimate = UNKNOWN
    """By how much the probability of the answer to the original differs under the edit: the mean over samples
    of the mean over their variants, from 0 to 1. Unknown if the model gives no probabilities."""
    violated_steady: int = 0
    """Number of samples that are violated and whose repeats all agree, those without a repeat included."""
    unsteady_kept: int = 0
    """Number of samples that are unsteady and not violated."""
    missed: PartialRate = field(default_factory=PartialRate)
    """For a task with a finding: over the samples that the original answer rightly found one in, or that have
    no label. A violation is a missed flaw."""
    raised: PartialRate = field(default_factory=PartialRate)
    """Over the samples that the original answer rightly found none in, or that have no label. A violation is
    a false alarm."""
    unmarked: PartialRate = field(default_factory=PartialRate)
    """The violation rate without the edits that touch a line of the fix."""
    marked: int = 0
    """Number of judged pairs with such an edit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByFamily:
    """The violation rate of one model under all meaning-keeping transforms of a family."""

    family: str
    violations: Rate
    noise: Rate = NOTHING
    """As in `ByTransform`, and so are the next two."""
    excess: Excess = field(default_factory=Excess)
    pair_excess: Excess = field(default_factory=Excess)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Results of one model in one trial. The fields mean the same as in `ModelSummary`."""

    seed: int
    score: Score
    violations: Rate
    pairs: Rate
    all_samples: Rate
    sensitivity: Rate
    noise_floor: Rate
    noise_samples: Rate = NOTHING
    excess: Excess = field(default_factory=Excess)
    pair_excess: Excess = field(default_factory=Excess)
    sensitivity_excess: Excess = field(default_factory=Excess)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """Results of one worst-case search on one model."""

    strategy: str
    budget: int
    violated: Rate
    """Share of samples for which the search found a violation within the budget, among samples with at least
    one query.
    """
    curve: tuple[int, ...]
    """Number of samples violated after 1, 2, … queries per sample, up to the budget."""
    certified: int
    """Number of samples for which every perturbation was tried and none changes the answer."""
    queries: int
    """Total number of queries."""
    not_attacked: Mapping[str, int]
    """Number of samples without a search, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustPass:
    """Robust pass@k of one model under one transform, over the problems that have a variant.

    The measures are those of ReCode (Wang et al. 2022, arXiv 2212.10264).
    """

    transform: str
    """Empty for all transforms together."""
    k: int
    attempts: int
    """Number n of attempts per prompt; pass@k is the unbiased estimate for k of n."""
    problems: int
    variants: int
    """Number of distinct perturbed prompts over all problems."""
    most_variants: int
    """Largest number s of variants of one problem."""
    nominal: Estimate
    """pass@k on the original prompts."""
    robust: Estimate
    """RP_s@k: pass@k if an attempt passes only if it passes on every variant."""
    drop: Estimate
    """RD_s@k: relative loss of robust pass@k against pass@k."""
    relative: Estimate
    """RR_s@k: share of attempts that some variant changes, from passed to failed or from failed to passed."""
    repeated: Estimate = UNKNOWN
    """RP@k over as many repeats of the prompt as variants; unknown if no prompt was asked again."""
    excess: Excess = field(default_factory=Excess)
    """`repeated` minus RP@k over as many variants as repeats: what the variants lose beyond noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The answers to the originals of the plain draw, and how they go with the labels, over all trials."""

    answers: int = 0
    """Number of answers."""
    commonest: str = ""
    """The commonest answer; empty if none was given twice."""
    commonest_answers: int = 0
    """Number of times that it was given."""
    labels: int = 0
    """Number of answered samples with a label."""
    commonest_labels: int = 0
    """Number of times that the commonest label occurs among them."""
    classes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For a closed set of labels: number of samples by label, then by answer. Else empty."""
    accuracy: float | None = None
    """Share of right answers; `None` without classes, as the next two."""
    macro_f1: float | None = None
    """Mean over the labels of the F1 of each; a label that is neither right nor said is in no mean."""
    mcc: float | None = None
    """Matthews' correlation coefficient of answers and labels; `None` if labels or answers are all equal."""
    p: float | None = None
    """How often chance alone gives such an `mcc` or a larger one; `None` without classes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How well scores tell whether answers to variants are right, where edits decide that."""

    answers: int = 0
    """Number of judged answers with scores."""
    brier: float | None = None
    """Mean squared difference of the probability of an answer and its rightness."""
    error: float | None = None
    """The expected calibration error, with ten bins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummary:
    """Results of one model over all trials. Rates are pooled and clustered on samples; scores are means."""

    model: str
    fingerprint: str
    parameters: int | None
    samples: int
    """Number of distinct samples in the plain random draw."""
    score: Score
    violations: Rate
    """Share of movable samples with a changed answer under any meaning-keeping variant. A sample is movable
    if some transform changed it and a variant was judged.
    """
    pairs: Rate
    """Share of judged pairs (sample, variant) under meaning-keeping transforms with a changed answer. A
    variant that could not be made is not a pair.
    """
    all_samples: Rate
    """The same share as `violations` over all answered samples. A sample that no transform could change
    counts as held.
    """
    sensitivity: Rate
    """Share of judged pairs under controls with a changed answer. Higher is better."""
    noise_floor: Rate
    """Share of changed answers among all repeats. It counts answers, and a violation rate counts samples:
    `noise_samples` and `excess` compare with that.
    """
    max_deviation: float
    """Largest absolute change of a score under a meaning-keeping transform."""
    noise_deviation: float
    """Largest absolute change of a score when the unchanged input is asked again."""
    noise: float
    """Arithmetic noise that the model declares, in the unit of its scores."""
    unjudged: int
    unjudged_reasons: Mapping[str, int]
    skipped: Mapping[str, int]
    """Number of samples whose original got no answer, by reason. They are in no rate."""
    truncated: int
    """Number of inputs that the model truncated."""
    by_transform: tuple[ByTransform, ...]
    trials: tuple[Trial, ...]
    shift: Estimate = UNKNOWN
    """As of `ByTransform`, over all meaning-keeping transforms."""
    noise_shift: Estimate = UNKNOWN
    """The same when the unchanged input is asked again."""
    may_move: bool = False
    """Whether its name is one that a vendor may give to another version of the model."""
    served: tuple[str, ...] = ()
    """The models, with versions, that the replies named."""
    by_family: tuple[ByFamily, ...] = ()
    """Families in the order of their first transform, if the run has several meaning-keeping transforms."""
    agreement: Agreement = field(default_factory=Agreement)
    """How far the original answers agree with the labels."""
    calibration: Calibration = field(default_factory=Calibration)
    """How well scores tell right answers to variants from wrong ones."""
    extra: int = 0
    """Number of distinct samples drawn in addition, each for the transforms that lacked movable ones. They
    count in the rates of these transforms, and in a pooled rate that has one transform only. All other
    numbers are of the plain draw.
    """
    attacks: tuple[Attack, ...] = ()
    """Worst-case searches; empty without `--attack`."""
    robust: tuple[RobustPass, ...] = ()
    """Empty unless the task's answers are attempts."""
    network: NetworkProof | None = None
    """What is known of the permuted network, in a run with `--wrap columns` or `rows`. How many answers it
    changed is in `by_transform`.
    """
    hosted: bool = False
    """Whether somebody else runs the model, so that its noise may go unseen."""
    draws: int = 0
    """Number of answers that were drawn to each query; 0 unless the model is sampled."""
    repeats: Repeats = field(default_factory=Repeats)
    noise_samples: Rate = NOTHING
    """Share of the samples of `violations` of which some of as many repeats as variants got another
    answer."""
    excess: Excess = field(default_factory=Excess)
    """The excess of `violations`, as in `ByTransform`."""
    pair_excess: Excess = field(default_factory=Excess)
    """As `excess`, over pairs of answers."""
    sensitivity_excess: Excess = field(default_factory=Excess)
    """The pair excess under controls."""
    missed: PartialRate = field(default_factory=PartialRate)
    """As in `ByTransform`, and so are the next three."""
    raised: PartialRate = field(default_factory=PartialRate)
    unmarked: PartialRate = field(default_factory=PartialRate)
    marked: int = 0
    sides: Sides = field(default_factory=Sides)
    criteria: Mapping[str, PartialRate] = field(default_factory=dict)
    """For a task with several rules of when two answers are the same, the violation rate by each; first that
    of all other rates."""
    languages: Mapping[str, ByLanguage] = field(default_factory=dict)
    """By language, the most samples first; empty if all samples are of one."""

    @property
    def judged(self) -> int:
        """Number of judged pairs under meaning-keeping transforms and controls."""
        return self.pairs.total + self.sensitivity.total


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptEffect:
    """How much of the answers of one model is the prompt's: on the originals of the plain draw, which were
    asked with several prompts."""

    model: str
    """Without a prompt; with one it is `MODEL@PROMPT` in `Summary.models`."""
    prompts: tuple[str, ...]
    changed: Rate
    """Share of samples to which some two prompts got different answers."""
    noise: Rate
    """Share of (sample, prompt) of which some of as many repeats as other prompts got another answer."""
    excess: Excess = field(default_factory=Excess)
    """Points by which more samples changed between prompts than between as many repeats."""
    pair_excess: Excess = field(default_factory=Excess)
    """As `excess`, over pairs of answers. Its p decides whether an effect is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """The result of a statistical test. If no test was possible, `p` is `None` and the notes say why."""

    __test__ = False  # no test case for pytest

    name: str
    method: str
    """How p was computed: `exact …` or `chi-square`."""
    statistic: float | None = None
    p: float | None = None
    asymptotic_p: float | None = None
    """The chi-square approximation, if `p` is exact."""
    smallest_p: float | None = None
    """The smallest p that data of this size can reach."""
    effect: float | None = None
    """Kruskal–Wallis: epsilon squared, the share of the variance of ranks between the groups, 0 to 1."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairwise:
    """Comparison of two groups after Kruskal–Wallis."""

    first: str
    second: str
    p: float
    p_adjusted: float
    """Holm-adjusted over all pairs."""
    method: str
    effect: float | None = None
    """Cliff's delta, -1 to 1: P(first > second) - P(first < second) over pairs of trials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The trials of one model on one metric."""

    name: str
    values: tuple[float, ...]
    mean: float | None
    error: float | None
    """Standard error of the mean; absent with fewer than two trials."""
    best: bool
    """Best, or indistinguishable from the best. Never set if the overall test does not reject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric over groups of trials."""

    name: str
    better: Better
    groups: tuple[Group, ...]
    test: Test
    percent: bool = True
    """Whether the values are shares, shown in percent."""
    pairs: tuple[Pairwise, ...] = ()
    ranks: Mapping[str, float] = field(default_factory=dict)
    """Mean rank of each group's trials among all trials; 1 is the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Paired comparison of two models on the same inputs."""

    first: str
    second: str
    only_first: int
    """Number of inputs on which only `first` changed its answer."""
    only_second: int
    both: int
    neither: int
    p: float
    p_adjusted: float
    """Holm-adjusted over all pairs."""
    smallest_p: float
    """The smallest p that this number of discordant inputs can reach."""
    difference: float | None
    """Rate of `first` minus rate of `second`."""
    low: float | None
    high: float | None
    odds_ratio: float | None
    """`only_first / only_second`; absent if either is 0."""
    detectable: float | None = None
    """The smallest difference of rates that this number of inputs detects with power 0.8; absent if there is
    none.
    """
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One model's row in a paired comparison."""

    model: str
    changed: Rate
    best: bool
    excess: Excess = field(default_factory=Excess)
    """What the edits changed beyond noise, in a comparison by the excess: points and interval count samples,
    p is of single answers."""
    unsteady: Rate = NOTHING
    """In a comparison by the excess: samples of which some of as many repeats got another answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Paired comparison of models on the same inputs.

    Each row is a sample; the outcome is whether any of its shared variants changed the answer.
    """

    name: str
    better: Better
    standings: tuple[Standing, ...]
    test: Test
    contrasts: tuple[Contrast, ...] = ()
    ranks: Mapping[str, float] = field(default_factory=dict)
    """Mean rank of each model over the inputs; ties share their mean rank; 1 is the best."""
    by_excess: bool = False
    """Whether some model is noisy: then differences, ranks and tests are of the excess. `difference` of a
    contrast counts samples, and its p is of single answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """Violated samples of one model, now and in the baseline: samples with a changed answer on any of the
    pairs that both runs judged."""

    method: str
    pairs: int
    """Number of (sample, transform, variant) pairs that both runs judged."""
    samples: int
    """Number of samples of these pairs."""
    before: int
    """Samples violated in the baseline."""
    now: int
    appeared: int
    """Samples violated now that held before."""
    gone: int
    """Samples violated before that hold now."""
    rise: float
    """Share of violated samples now minus the share before."""
    p: float
    """One-sided p-value: probability of a rise at least this large under no change."""
    detectable: float | None = None
    """The smallest rise that could have failed the gate; absent if no rise could have."""
    likely: float | None = None
    """The smallest true rise that fails in four of five runs; absent if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many verdicts a model has, and how many are missing because it gave no answer."""

    model: str
    verdicts: int
    """Number of pairs that should have a verdict, over all transforms. A pair whose right answer is another
    one needs none.
    """
    missing: int
    reasons: Mapping[str, int]
    """Number of missing verdicts by reason."""
    pairs: Rate
    """Share of judged pairs under meaning-keeping transforms with a changed answer."""
    missing_pairs: int
    """Number of such pairs without a verdict."""
    noise_floor: Rate
    excess: Excess = field(default_factory=Excess)
    """As of `ModelSummary`; absent for a model of several runs, and so is the next."""
    pair_excess: Excess = field(default_factory=Excess)
    shift: Estimate = UNKNOWN
    """As of `ModelSummary`; unknown for a model of several runs."""

    @property
    def share(self) -> float:
        """The share of missing verdicts; 0 without any verdict."""
        return self.missing / self.verdicts if self.verdicts else 0.0

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest share of changed answers that the missing ones leave possible."""
        total = self.pairs.total + self.missing_pairs
        if not total:
            return 0.0, 1.0
        return self.pairs.count / total, (self.pairs.count + self.missing_pairs) / total


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """The drop of a model's score under edits that keep the meaning: on a public set, and on held-out code.

    All scores are means of the samples' own. A drop is positive if the score got worse.
    """

    model: str
    public_run: str
    """The run on the public set, as the user named it."""
    held_out_run: str
    score: str
    better: Better
    public_original: float
    """The score on the originals."""
    held_out_original: float
    public_drop: Excess
    held_out_drop: Excess
    difference: Estimate
    """The drop on the public set less that on held-out code."""
    transforms: tuple[str, ...]
    """The edits that count: both runs have them."""
    public_shift: Estimate = UNKNOWN
    """As `ByTransform.shift`, over the same pairs; unknown if the model gives no probabilities."""
    held_out_shift: Estimate = UNKNOWN
    shift_difference: Estimate = UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Comparison of several models, over trials and on shared inputs."""

    metrics: tuple[Metric, ...] = ()
    paired: tuple[Paired, ...] = ()
    notes: tuple[str, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    """The coverage of each model, if runs were compared; empty within a run, whose summary has it."""
    held_out: tuple[HeldOut, ...] = ()
    """Each model that answered held-out code, too, if a run on such code was given."""

    def to_json(self) -> str:
        """Return the comparison as JSON text."""
        return encode(self)

    @classmethod
    def from_json(cls, text: str) -> "Comparison":
        """Read a comparison from the text that `to_json` wrote.

        Raises:
            RunError: the text is not a comparison.
        """
        return decode(cls, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeNoise:
    """How far a model can be trusted that judged if two answers say the same (`--judge`)."""

    model: str
    pairs: int
    """Pairs of different answers that it was shown, in both orders."""
    undecided: int
    """Pairs on which its two answers differ, or that it did not answer; they count in no rate."""
    swapped: Rate
    """Share of the pairs answered in both orders about which it said another thing in the other order."""
    changed: Rate
    """Share of the pairs asked again in the same order about which it said another thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The results of a run: the content of `summary.json`."""

    schema: int = SCHEMA
    task: str
    corpus: str
    seed: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Number of units in the corpus that are not samples of the task, by reason."""
    reacts: bool = True
    """Whether a good model answers otherwise under controls (`Task.reacts`)."""
    finding: str = ""
    """The answer that reports something (`Task.finding`)."""
    edits_decide: bool = False
    """Whether edits decide the right answers to variants (`Task.edits_decide`)."""
    tells_apart: str = ""
    """The answer that is counted then (`Task.tells_apart`); empty in summaries of earlier versions."""
    models: tuple[ModelSummary, ...]
    draws: tuple[MovableDraw, ...] = ()
    """How the samples of each trial were drawn, if samples were drawn in addition to the plain draw."""
    told_errors: tuple[str, ...] = ()
    """What is known of wrong labels of the data sets among the samples, a sentence for each."""
    prompts: tuple[PromptEffect, ...] = ()
    """The effect of prompts on each model that was asked with several."""
    judge: JudgeNoise | None = None
    """How far the model can be trusted that judged answers; `None` without one."""
    statistics: Comparison = field(default_factory=Comparison)

    @property
    def judged(self) -> int:
        """Number of judged pairs under meaning-keeping transforms and controls, over all models."""
        return sum(model.judged for model in self.models)

    def to_json(self) -> str:
        """Return the text of `summary.json`."""
        return encode(self)

    @classmethod
    def from_json(cls, text: str) -> "Summary":
        """Read a summary from the text that `to_json` wrote. Unknown keys are ignored.

        Summaries of schemas 1 and 2 are read, too. The `violations` of schema 1 were pairs, and neither has
        an excess.

        Raises:
            RunError: the text is not a summary, or has another schema.
        """
        return decode(cls, text, schema=SCHEMA, earlier={1: _of_schema_1, 2: _of_schema_2})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHeader:
    """Facts about a model that the verdicts do not contain."""

    name: str
    """As in `Audited.model`; unique within a run."""
    parameters: int | None
    fingerprint: str
    noise: float
    truncated: int = 0
    """Number of inputs that the model truncated, if it reports that."""
    network: NetworkProof | None = None
    """What is known of the permuted network, in a run with `--wrap columns` or `rows`."""
    hosted: bool = False
    """Whether somebody else runs the model."""
    prompt: str = ""
    """The prompt that the user named for it, which ends its name behind an `@`; empty without one."""
    scale: str = ""
    """What its scores are, as in `codeaudit.audit.probabilities`; empty if they are no probabilities."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "ModelHeader":
        """The header in a manifest.

        Raises:
            KeyError, TypeError, ValueError: it holds none.
        """
        proof = facts.get("network")
        return cls(**{**facts, "network": None if proof is None else NetworkProof(**proof)})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """Facts about a run that the verdicts do not contain."""

    task: str
    corpus: str
    seed: int
    models: tuple[ModelHeader, ...]
    """In the order of the rows. A model without records has a row, too."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Number of units in the corpus that are not samples of the task, by reason."""
    draws: tuple[MovableDraw, ...] = ()
    """As of `Summary`."""
    told_errors: tuple[str, ...] = ()
    """As of `Summary`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """One judged pair: a row of the table of verdicts."""

    model: str
    seed: int
    sample: str
    transform: str
    kind: Kind
    variant: int
    input: str
    """Hash of the perturbed source. Only equal inputs are paired."""
    violated: bool
    extra: bool = False
    """Whether the sample was drawn in addition."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Flip":
        """The pair of a row that was judged."""
        return cls(
            model=row["model"],
            seed=row["seed"],
            sample=row["sample"],
            transform=row["transform"],
            kind=row["kind"],
            variant=row["variant"],
            input=row["input"],
            violated=row["outcome"] == "violated",
            extra=is_extra(row),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPair:
    """One pair of the plain draw with scores before and after an edit that keeps the meaning."""

    model: str
    sample: str
    transform: str
    before: float
    after: float
    shift: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """A run as `compare` reads it back."""

    name: str
    """The name that the user gave it."""
    summary: Summary
    flips: tuple[Flip, ...] = ()
    scored: tuple[ScoredPair, ...] = ()
    """Empty unless drops of the score are compared."""
