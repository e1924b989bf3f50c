"""What a report holds. Everything is a frozen record that writes itself to JSON and reads itself back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from codeaudit.reports.codec import decode, encode
from codeaudit.transforms.records import Kind

SCHEMA: Final = 1
"""Version of `summary.json`; it grows only where a reader of the old one would go wrong."""

Better: TypeAlias = Literal["higher", "lower"]

LOWER_IS_BETTER: Final = frozenset({"mape", "mae", "mse", "rmse", "error", "loss", "bits per byte"})
"""Scores that are errors. Every other score is better when it is higher."""

UNITS: Final = frozenset({"mae", "mse", "rmse", "loss", "perplexity", "bits per byte"})
"""Scores in units of their own. Every other score is a share and shown as percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share with its 95 % interval. Over nothing there is no share: all three are `None`."""

    count: int
    total: int
    rate: float | None = None
    low: float | None = None
    high: float | None = None
    clusters: int = 0
    """Independent units (samples) behind `total`."""
    interval: str | None = None
    """How the interval was made: `wilson` or `clustered bootstrap`."""


NOTHING: Final = Rate(count=0, total=0)
"""The rate over nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The task's score before and under attack; `None` where there are no labels."""

    name: str
    better: Better = "higher"
    original: float | None = None
    macro: float | None = None
    """Mean over samples of the score of one sample."""
    attack_worst_sample: float | None = None
    """The corpus score when each sample keeps the worst of its original and its perturbed answers."""
    attack_worst_round: float | None = None
    """The worst corpus score of any round: one variant of one transform, applied wherever it can be."""
    drop: float | None = None
    """What `attack_worst_sample` loses against `original`; positive is worse for either kind of score."""
    drop_worst_round: float | None = None
    """What `attack_worst_round` loses against `original`."""
    rounds: int = 0
    """How many rounds the worst one was taken from."""
    scored: int = 0
    """Samples with a label and an answer."""
    likeness: Mapping[str, float] = field(default_factory=dict)
    """How near the original answers are to the right ones, by measures from 0 to 1."""
    attack_likeness: Mapping[str, float] = field(default_factory=dict)
    """The same of the answers of `attack_worst_sample`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByTransform:
    """One model under one transform."""

    transform: str
    kind: Kind
    violations: Rate
    """Changed answers per (sample, variant) pair; for a control that is the sensitivity."""
    samples: Rate
    """Samples with at least one changed answer, of those with a judged pair."""
    applied: int
    """Pairs that exist, judged or not."""
    unjudged: int
    not_applied: Mapping[str, int]
    """Pairs that do not exist, by reason."""
    evidence: Mapping[str, int]
    """Existing pairs by the evidence that they earned."""
    max_deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One model in one trial; the fields are those of `ModelSummary`."""

    seed: int
    score: Score
    violations: Rate
    violated_samples: Rate
    violated_movable: Rate
    sensitivity: Rate
    noise_floor: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One model under one worst-case search."""

    strategy: str
    budget: int
    violated: Rate
    """Attacked samples for which a violation was found within the budget; at least one text was tried."""
    curve: tuple[int, ...]
    """How many samples were violated after 1, 2, … queries each, up to the budget."""
    certified: int
    """Samples on which every perturbation was tried and none changes the answer."""
    queries: int
    """Texts asked about in all."""
    not_attacked: Mapping[str, int]
    """Samples without a search, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A share with its 95 % interval; `None` where it is unknown."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


UNKNOWN: Final = Estimate()
"""The estimate from nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustPass:
    """One model whose answers are attempts, under one transform; all over the problems with a variant.

    The names are those of ReCode (arXiv 2212.10264).
    """

    transform: str
    """Empty for all transforms together."""
    k: int
    attempts: int
    """So many were made for each prompt; k of them are drawn."""
    problems: int
    variants: int
    """Distinct perturbed prompts, over all problems."""
    most_variants: int
    """Of one problem: the s of the worst case over s variants."""
    nominal: Estimate
    """pass@k at the problems' own prompts."""
    robust: Estimate
    """RP_s@k: pass@k where an attempt passes only if it passes for every variant."""
    drop: Estimate
    """RD_s@k: what the worst case loses, of what there was."""
    relative: Estimate
    """RR_s@k: attempts that some variant changes for the worse, and those changed for the better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummary:
    """One model over all trials: rates are pooled and clustered on samples, scores are means."""

    model: str
    fingerprint: str
    parameters: int | None
    samples: int
    """Distinct samples that it was asked about."""
    score: Score
    violations: Rate
    """Judged (sample, variant) pairs under meaning-keeping transforms whose answer changed. A transform that
    could not be applied is no pair."""
    violated_samples: Rate
    """Samples whose answer changed under any variant, of all samples with an answer. A sample that no
    transform could change counts as kept."""
    violated_movable: Rate
    """The same, of the samples that some transform really changed."""
    sensitivity: Rate
    """Judged pairs under controls whose answer changed. A good model has many."""
    noise_floor: Rate
    """Changed answers for the unchanged input: what the violations are read against."""
    max_deviation: float
    """Largest change of a score under a meaning-keeping transform."""
    noise_deviation: float
    """Largest change of a score for the unchanged input."""
    noise: float
    """What the model declares as its arithmetic noise."""
    unjudged: int
    unjudged_reasons: Mapping[str, int]
    skipped: Mapping[str, int]
    """Samples whose original got no answer, by reason; they are in no rate."""
    truncated: int
    """Inputs that the model cut to fit."""
    by_transform: tuple[ByTransform, ...]
    trials: tuple[Trial, ...]
    attacks: tuple[Attack, ...] = ()
    """Worst-case searches, where they were asked for."""
    robust: tuple[RobustPass, ...] = ()
    """Where answers are attempts that pass or fail."""

    @property
    def judged(self) -> int:
        """Pairs with a verdict under a transform that changes the input."""
        return self.violations.total + self.sensitivity.total


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """The outcome of a test. Where none was possible, `p` is `None` and the notes say why."""

    __test__ = False  # no test case for pytest

    name: str
    method: str
    """How p was had: `exact …` or `chi-square`."""
    statistic: float | None = None
    p: float | None = None
    asymptotic_p: float | None = None
    """The chi-square approximation, beside an exact p."""
    smallest_p: float | None = None
    """The smallest p that data of this size could give."""
    effect: float | None = None
    """Kruskal-Wallis: epsilon squared, the share of the ranks' variance that the groups explain, 0 to 1."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairwise:
    """Two groups after Kruskal-Wallis."""

    first: str
    second: str
    p: float
    p_adjusted: float
    """Holm, over all pairs."""
    method: str
    effect: float | None = None
    """Cliff's delta: how much likelier a trial of `first` lies above one of `second` than below, -1 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One model's trials on one metric."""

    name: str
    values: tuple[float, ...]
    mean: float | None
    error: float | None
    """Standard error of the mean; absent for fewer than two trials."""
    best: bool
    """Best, or not distinguishable from the best; never set where the test does not reject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric over groups of trials."""

    name: str
    better: Better
    groups: tuple[Group, ...]
    test: Test
    percent: bool = True
    """Whether its values are shares, to be shown as percent."""
    pairs: tuple[Pairwise, ...] = ()
    ranks: Mapping[str, float] = field(default_factory=dict)
    """Mean rank of each group's trials among all trials; 1 is the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two models on the same inputs."""

    first: str
    second: str
    only_first: int
    """Inputs on which only `first` changed its answer."""
    only_second: int
    both: int
    neither: int
    p: float
    p_adjusted: float
    """Holm, over all pairs."""
    smallest_p: float
    """The smallest p that this many discordant inputs could give."""
    difference: float | None
    """Rate of `first` minus rate of `second`."""
    low: float | None
    high: float | None
    odds_ratio: float | None
    """`only_first / only_second`; absent where either is 0."""
    detectable: float | None = None
    """The smallest difference that as many inputs would show in four of five comparisons; absent where even
    the largest would not be."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One model in a paired table."""

    model: str
    changed: Rate
    best: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Models on the same inputs. A row is a sample: did any of its shared variants change the answer?"""

    name: str
    better: Better
    standings: tuple[Standing, ...]
    test: Test
    contrasts: tuple[Contrast, ...] = ()
    ranks: Mapping[str, float] = field(default_factory=dict)
    """Mean rank of each model over the inputs, models that do the same sharing ranks; 1 is the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Several models, over trials and on shared inputs."""

    metrics: tuple[Metric, ...] = ()
    paired: tuple[Paired, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The comparison as JSON text."""
        return encode(self)

    @classmethod
    def from_json(cls, text: str) -> "Comparison":
        """The comparison that `to_json` wrote.

        Raises:
            RunError: the text is no such comparison.
        """
        return decode(cls, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a run found; the content of `summary.json`."""

    schema: int = SCHEMA
    task: str
    corpus: str
    seed: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Samples of the corpus that are no example of the task, by reason."""
    models: tuple[ModelSummary, ...]
    statistics: Comparison = field(default_factory=Comparison)

    @property
    def judged(self) -> int:
        """Pairs with a verdict under a transform that changes the input, over all models."""
        return sum(model.judged for model in self.models)

    def to_json(self) -> str:
        """The text of `summary.json`."""
        return encode(self)

    @classmethod
    def from_json(cls, text: str) -> "Summary":
        """The summary that `to_json` wrote; keys that it does not know are ignored.

        Raises:
            RunError: the text is no summary, or one of another schema.
        """
        return decode(cls, text, schema=SCHEMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHeader:
    """What the verdicts do not say about a model."""

    name: str
    """As in `Audited.model`; unique within a run."""
    parameters: int | None
    fingerprint: str
    noise: float
    truncated: int = 0
    """Inputs that the model cut to fit, where it says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """What the verdicts do not say about a run."""

    task: str
    corpus: str
    seed: int
    models: tuple[ModelHeader, ...]
    """In the order of the rows. A model without any record still gets its row."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Samples of the corpus that are no example of the task, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """One judged pair as a row of a run's table of verdicts."""

    model: str
    seed: int
    sample: str
    transform: str
    kind: Kind
    variant: int
    input: str
    """A stable hash of the perturbed text: only the very same inputs are paired."""
    violated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as `compare` reads it back."""

    name: str
    """As the user named it."""
    summary: Summary
    flips: tuple[Flip, ...] = ()
