"""Training of Renamer and its baselines (sections 5 and 6), their scores, and rules without a network."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F
from typing_extensions import override

from codeaudit.audit.labels import SYNTAX, labels
from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.registry import TrainingRequest
from codeaudit.audit.papers.renamer.material import (
    DEFAULTS,
    UNLABELLED,
    TermExamples,
    TermMaterial,
    TermRecipe,
    read,
)
from codeaudit.audit.papers.renamer.model import TermConfig
from codeaudit.audit.papers.renamer.networks import BERT, NETWORKS, Renamer, TermBatch
from codeaudit.audit.papers.renamer.tasks import TASKS, Cost, Truth
from codeaudit.audit.papers.renamer.terms import Term, spelled
from codeaudit.audit.training.trainer import Integers, Trained, Validation, adamw, bucketed, cosine, recipe_of
from codeaudit.transforms.errors import CorpusError, UsageError
from codeaudit.transforms.seeding import stream


class TermLearner(checkpoint.CheckpointLearner[Renamer, Integers]):
    """Learns the one number of each text; a batch is the numbers of its examples."""

    lower_is_better = True

    def __init__(self, recipe: TermRecipe, material: TermMaterial, *, device: str = "cpu") -> None:
        super().__init__(recipe, material.hashes, len(material.train), device=device)
        self.recipe, self.material = recipe, material
        self.sizes = recipe.sizes(material.tokenizer.get_vocab_size())
        self.task = TASKS[recipe.task]

    @override
    def make(self) -> Renamer:
        """The first outputs are as large as the right ones."""
        network = NETWORKS[self.recipe.network].make(self.sizes)
        _begin_at(network, self.material.train)
        return network

    @override
    def optimiser(self, network: Renamer) -> torch.optim.Optimizer:
        return adamw(network, self.recipe, second_beta=0.999)

    @override
    def rate(self, step: int) -> float:
        return cosine(self.recipe.rate, step, self.total, warm_up=self.recipe.warm_up, floor=0.02)

    @override
    def batches(self, epoch: int) -> list[Integers]:
        """Texts of similar length together."""
        rng = np.random.default_rng([self.recipe.seed, epoch])
        return bucketed(self.material.train.lengths, self.recipe.batch, rng)

    @override
    def tokens(self, batch: Integers) -> int:
        """Terms."""
        return int(self.material.train.lengths[batch].sum())

    def loss(
        self, network: Renamer, batch: Integers, step: int, whole: Integers | None = None
    ) -> tuple[Tensor, int]:
        """The task's mean loss; an augmented network sees another renaming of each text in every step."""
        augmented = NETWORKS[self.recipe.network].augmented
        # The stream is that of the step, so a resumed training sees the same renamings.
        renaming = stream(self.recipe.seed, "renaming", "step", step) if augmented else None
        # Drawn for the whole batch, so that an example is renamed alike in whatever part it is.
        inputs, right = self.material.train.batch(batch if whole is None else whole, renaming)
        if whole is not None:
            mask = torch.from_numpy(np.isin(whole, batch))
            inputs, right = inputs.rows(mask), right[mask]
        with self.autocast(enabled=self.recipe.half):
            outputs = network(inputs.to(self.device))
        loss = self.task.target.losses(outputs.float(), right.to(self.device)).mean()
        return loss if whole is None else loss * (len(batch) / len(whole)), len(batch)

    @override
    def validate(self, network: Renamer) -> Validation:
        """The mean error."""
        valid = self.material.valid
        error = mean_error(network, valid, self.validated(valid), device=self.device)
        return Validation(error, {"valid": error})

    @property
    @override
    def tokenizer(self) -> Tokenizer:
        return self.material.tokenizer

    @property
    @override
    def size(self) -> str:
        classes = self.material.classes["train"]
        return f"{len(self.material.train):,} {self.task.noun}, {classes:,} alpha classes"

    @override
    def epoch_line(self, epoch: Mapping[str, float]) -> str:
        target = self.task.target
        return f"validation {target.score_name} {target.score(epoch['valid']):.1%}"

    @torch.no_grad()
    @override
    def write(self, folder: Path, trained: Trained[Renamer], *, about: Mapping[str, object]) -> Sequence[str]:
        """The scores are those of the rounded weights, also on a renaming of each text."""
        recipe, material, task = self.recipe, self.material, self.task

        def measured(examples: TermExamples, renaming: Random | None = None) -> float:
            return task.target.score(mean_error(trained.network, examples, renaming=renaming))

        weights = checkpoint.rounded(trained.network)
        test, renamed = measured(material.test), measured(material.test, Random(recipe.seed))
        baselines = rules(material.train, material.test)
        name = task.target.score_name
        splits = {"train": material.train, "valid": material.valid, "test": material.test}
        card = {
            "task": recipe.task,
            "summary": f"{NETWORKS[recipe.network].summary}; test {name} {test:.1%}",
            "parameters": sum(weight.numel() for weight in trained.network.parameters()),
            "score": name,
            "scores": {"valid": measured(material.valid), "test": test, "test_renamed": renamed},
            "baselines": [asdict(baseline) for baseline in baselines],
            "data": {
                split: {
                    "hash": material.hashes[split],
                    task.noun: len(examples),
                    "alpha_classes": material.classes[split],
                }
                for split, examples in splits.items()
            },
            "left_out": material.left_out,
            "recipe": recipe.as_json(),
            **checkpoint.history(trained),
            **{name: value for name, value in about.items() if name != "versions"},
            "labels": material.labels,
            **about,
        }
        config = TermConfig(task=recipe.task, network=recipe.network, sizes=self.sizes)
        checkpoint.write(folder, weights, config=config, tokenizer=material.tokenizer, card=card)
        line = f"test {name} {test:.1%} on {len(material.test):,} {task.noun}, {renamed:.1%} renamed"
        return [line, *(f"{rule.name}: {rule.test:.1%}" for rule in baselines)]


def prepared(request: TrainingRequest) -> TermLearner:
    """The training that `codeaudit train` asks for.

    Raises:
        UsageError: options that do not fit together.
        CorpusError: a corpus cannot be read, or nothing in it has a label.
    """
    settings = {**request.options, **request.structure}
    spec = settings.pop("labels", None)
    device = checkpoint.usable_device(settings.pop("device", "cpu"))
    recipe = recipe_for(request.network, request.task.name, settings)
    truth = labels(spec, request.task, cache=request.cache / "labels")
    try:
        material = read(request.task, recipe, truth, *request.corpora(truth.column), note=request.note)
    except CorpusError as error:
        # A corpus without any label is most often one whose labels stand elsewhere.
        if UNLABELLED in str(error):
            raise CorpusError(f"{error}; say what is true with --labels {SYNTAX}") from error
        raise
    return TermLearner(recipe, material, device=device)


def recipe_for(network: str, task: str, settings: Mapping[str, Any]) -> TermRecipe:
    """The recipe of a task with some settings; `size` names the sizes of a small BERT.

    Raises:
        UsageError: sizes that do not fit together.
    """
    chosen = dict(settings)
    if size := chosen.pop("size", None):
        chosen = {**dict(zip(("width", "layers", "heads"), BERT[size], strict=True)), **chosen}
    recipe = recipe_of(TermRecipe, network=network, task=task, **{**DEFAULTS.get(task, {}), **chosen})
    if recipe.layers < 2:
        raise UsageError("--layers must be 2 or more: with one, no term would see another")
    return recipe


@torch.no_grad()
def _begin_at(network: Renamer, train: TermExamples) -> None:
    """Set the bias so that outputs begin at the median: an overestimated cost has an unbounded error."""
    right = train.task.target.outputs(train.labels)
    # A sum over T terms starts at log T more than its bias.
    if network.readout == "sum":
        right = right - torch.from_numpy(np.log(train.lengths)).float()
    network.head.bias.fill_(float(right.median()))


AT_ONCE: Final = 256


@torch.no_grad()
def mean_error(
    network: Callable[[TermBatch], Tensor],
    examples: TermExamples,
    chosen: Integers | None = None,
    *,
    device: str = "cpu",
    renaming: Random | None = None,
) -> float:
    """The error on the chosen texts or on all, or on a legal renaming of each."""
    target = examples.task.target
    chosen = np.arange(len(examples)) if chosen is None else chosen
    ordered = chosen[np.argsort(examples.lengths[chosen], kind="stable")]
    total = 0.0
    for start in range(0, len(ordered), AT_ONCE):
        batch, labels = examples.batch(ordered[start : start + AT_ONCE], renaming)
        total += float(target.errors(network(batch.to(device)).float().cpu(), labels).sum())
    return total / len(ordered)


LEARNED: Final = 20_000
"""Examples that a regression is fitted to."""
PENALTY: Final = 1e-3
"""Of squared weights, on standardised counts."""
STEPS: Final = 200

Numbers: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TermRule:
    """A rule, and how good it is on the test set."""

    name: str
    test: float
    """Its score, as networks have it."""
    factor: float | None = None
    """The constant answer, or the factor, fitted to the training set."""


def rules(train: TermExamples, test: TermExamples) -> tuple[TermRule, ...]:
    """The rules of a task, fitted to the training set."""
    match train.task.target:
        case Cost():
            return _costs(train, test)
        case Truth():
            return _truths(train, test)


# ── costs ────────────────────────────────────────────────────────────────────────────────────────────────


def _costs(train: TermExamples, test: TermExamples) -> tuple[TermRule, ...]:
    """The best constant, and the best multiple of the number of instructions."""
    sizes = {"the best constant": _ones, "a multiple of the instructions": _instructions}
    costs = []
    for name, size in sizes.items():
        factor = _factor(size(train), train.labels.double().numpy())
        truth = test.labels.double().numpy()
        error = float(np.mean(np.abs(factor * size(test) - truth) / truth))
        costs.append(TermRule(name=name, factor=factor, test=error))
    return tuple(costs)


def _ones(examples: TermExamples) -> Numbers:
    return np.ones(len(examples))


def _instructions(examples: TermExamples) -> Numbers:
    counts = [sum(term.view == ";" for term in example.terms) for example in examples.examples]
    return np.array(counts, dtype=np.float64)


def _factor(sizes: Numbers, labels: Numbers) -> float:
    """The factor c with the least Σ |c·size - y| / y: the median of y / size, weighted with size / y."""
    ratios, weights = labels / sizes, sizes / labels
    # Σ |c·size - y| / y = Σ (size / y) |c - y / size|: least at the weighted median of y / size.
    order = np.argsort(ratios)
    half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    return float(ratios[order][min(int(half), len(ratios) - 1)])


# ── truths ───────────────────────────────────────────────────────────────────────────────────────────────


def _truths(train: TermExamples, test: TermExamples) -> tuple[TermRule, ...]:
    """The more frequent answer, and a logistic regression on how often each word stands on either side."""
    frequent = float(train.labels.mean() >= 0.5)
    words = {word: number for number, word in enumerate(sorted(train.task.language.words("names")))}
    table, labels = _counts(train, words)[:LEARNED], train.labels[:LEARNED]
    # Standardised, so that one penalty fits frequent and rare words. Constant columns would divide by zero.
    middle, width = table.mean(0), table.std(0) + 1e-9
    weights = _regression((table - middle) / width, labels)
    logits = ((_counts(test, words) - middle) / width) @ weights[:-1] + weights[-1]
    return (
        TermRule(name="the more frequent answer", test=float((test.labels == frequent).double().mean())),
        TermRule(
            name="a regression on counts of words",
            test=float(((logits > 0) == (test.labels > 0)).double().mean()),
        ),
    )


def _counts(examples: TermExamples, words: dict[str, int]) -> Tensor:
    """(N, 6 W + 2): of each word how often it stands on each side of the divider, whether it does, whether
    there are more on the right, and whether there are some there alone; then the lengths.
    """
    divider = examples.task.language.divider
    left, right = (np.zeros((len(examples), len(words) + 1)) for _ in range(2))
    for row, example in enumerate(examples.examples):
        place = next(n for n, term in enumerate(example.terms) if term.view == divider)
        for side, terms in ((left, example.terms[:place]), (right, example.terms[place:])):
            _count(side[row], terms, words)
    columns = [left, right, left > 0, right > 0, right > left, (right > 0) & (left == 0)]
    return torch.from_numpy(np.hstack(columns)).float()


def _count(row: Numbers, terms: Sequence[Term], words: dict[str, int]) -> None:
    for word in spelled(terms, "names"):
        if word in words:
            row[words[word]] += 1
    row[-1] = len(terms)


def _regression(table: Tensor, labels: Tensor) -> Tensor:
    """The weights of the columns, and the constant last."""
    weights = torch.zeros(table.shape[1] + 1, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        logits = table @ weights[:-1] + weights[-1]
        total = F.binary_cross_entropy_with_logits(logits, labels) + PENALTY * weights.square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    return weights.detach()
