"""Training of Renamer and its baselines: costs of basic blocks, and derivatives (sections 5 and 6)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor

from codeaudit.audit.labels import SYNTAX, labels
from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.registry import TrainingRequest
from codeaudit.audit.papers.renamer.material import UNLABELLED, TermExamples, TermMaterial, read
from codeaudit.audit.papers.renamer.model import TermConfig
from codeaudit.audit.papers.renamer.network import BERT, NETWORKS, Renamer
from codeaudit.audit.papers.renamer.recipe import DEFAULTS, TermRecipe
from codeaudit.audit.papers.renamer.scores import mean_error, rules
from codeaudit.audit.papers.renamer.tasks import TASKS
from codeaudit.audit.training.recipe import recipe_of
from codeaudit.audit.training.trainer import Integers, Trained, Validation, adamw, bucketed, cosine
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

    def make(self) -> Renamer:
        """As of `Learner`. The first outputs are as large as the right ones."""
        network = NETWORKS[self.recipe.network].make(self.sizes)
        _begin_at(network, self.material.train)
        return network

    def optimiser(self, network: Renamer) -> torch.optim.Optimizer:
        """As of `Learner`."""
        return adamw(network, self.recipe, second_beta=0.999)

    def rate(self, step: int) -> float:
        """As of `Learner`."""
        return cosine(self.recipe.rate, step, self.total, warm_up=self.recipe.warm_up, floor=0.02)

    def batches(self, epoch: int) -> list[Integers]:
        """As of `Learner`; texts of similar length together."""
        rng = np.random.default_rng([self.recipe.seed, epoch])
        return bucketed(self.material.train.lengths, self.recipe.batch, rng)

    def loss(self, network: Renamer, batch: Integers, step: int) -> tuple[Tensor, int]:
        """The task's mean loss; an augmented network sees another renaming of each text in every step."""
        augmented = NETWORKS[self.recipe.network].augmented
        renaming = stream(self.recipe.seed, "renaming", "step", step) if augmented else None
        inputs, right = self.material.train.batch(batch, renaming)
        with self.autocast(enabled=self.recipe.autocast):
            outputs = network(inputs.to(self.device))
        return self.task.target.losses(outputs.float(), right.to(self.device)).mean(), len(batch)

    def validate(self, network: Renamer) -> Validation:
        """As of `Learner`: the mean error."""
        valid = self.material.valid
        error = mean_error(network, valid, self.validated(valid), device=self.device)
        return Validation(error, {"valid": error})

    @property
    def size(self) -> str:
        """As of `Learner`."""
        classes = self.material.classes["train"]
        return f"{len(self.material.train):,} {self.task.noun}, {classes:,} alpha classes"

    def told(self, epoch: Mapping[str, float]) -> str:
        """As of `Learner`."""
        target = self.task.target
        return f"validation {target.score_name} {target.score(epoch['valid']):.1%}"

    @torch.no_grad()
    def write(self, folder: Path, trained: Trained[Renamer], *, about: Mapping[str, object]) -> Sequence[str]:
        """As of `Learner`. The scores are those of the rounded weights, also on a renaming of each text."""
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
            "baselines": [asdict(one) for one in baselines],
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
        own = f"test {name} {test:.1%} on {len(material.test):,} {task.noun}, {renamed:.1%} renamed"
        return [own, *(f"{rule.name}: {rule.test:.1%}" for rule in baselines)]


def prepared(request: TrainingRequest) -> TermLearner:
    """The training that `codeaudit train` asks for.

    Raises:
        UsageError: options that do not fit together.
        CorpusError: a corpus cannot be read, or nothing in it has a label.
    """
    settings = dict(request.options)
    spec = settings.pop("labels", None)
    device = checkpoint.usable_device(settings.pop("device", "cpu"))
    recipe = recipe_for(request.network, request.task.name, settings)
    truth = labels(spec, request.task, cache=request.cache / "labels")
    try:
        material = read(request.task, recipe, truth, *request.corpora(truth.column), note=request.note)
    except CorpusError as error:
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
    if network.readout == "sum":
        right = right - torch.from_numpy(np.log(train.lengths)).float()
    network.head.bias.fill_(float(right.median()))
