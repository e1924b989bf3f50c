"""Training of CoDE and its baselines: decoders that predict the next token (sections 4 and 5)."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.dependency_encoding.material import NOTHING, StreamMaterial, byte_counts, read
from codeaudit.audit.papers.dependency_encoding.model import LONGEST, TASKS, DecoderConfig
from codeaudit.audit.papers.dependency_encoding.network import sparsity
from codeaudit.audit.papers.dependency_encoding.recipe import StreamRecipe
from codeaudit.audit.papers.dependency_encoding.registry import DECODERS, build
from codeaudit.audit.papers.dependency_encoding.scores import judged, of_texts, rules
from codeaudit.audit.papers.dependency_encoding.trunk import Decoder
from codeaudit.audit.papers.registry import TrainingRequest
from codeaudit.audit.training.recipe import recipe_of
from codeaudit.audit.training.trainer import Integers, Trained, Validation, adamw, cosine
from codeaudit.transforms.errors import UsageError


class StreamLearner(checkpoint.CheckpointLearner[Decoder, Integers]):
    """Learns the next token of each window; an epoch of the trainer is `stretch` steps."""

    lower_is_better = True

    def __init__(self, recipe: StreamRecipe, material: StreamMaterial, *, device: str = "cpu") -> None:
        super().__init__(recipe, material.hashes, len(material.train), device=device)
        self.recipe, self.material = recipe, material
        self.per_epoch = recipe.stretch

    def make(self) -> Decoder:
        """As of `Learner`."""
        return build(self.recipe.network, self.recipe.sizes(self.material.streams), self.recipe.options)

    def optimiser(self, network: Decoder) -> torch.optim.Optimizer:
        """As of `Learner`; the table of tokens does not decay."""
        return adamw(network, self.recipe, second_beta=0.95, tables=[network.tokens.weight])

    def rate(self, step: int) -> float:
        """As of `Learner`."""
        return cosine(self.recipe.rate, step, self.total, warm_up=self.recipe.warm_up, floor=0.05)

    def batches(self, epoch: int) -> list[Integers]:
        """As of `Learner`."""
        first = epoch * self.per_epoch
        count = len(self.material.train)
        return [batch_of(self.recipe, count, step) for step in range(first, first + self.per_epoch)]

    def loss(self, network: Decoder, batch: Integers, step: int) -> tuple[Tensor, int]:
        """The mean cross entropy of tokens; of CoDE also the L1 term of its features (section 3.2)."""
        inputs, targets = (one.to(self.device) for one in self.material.train.batch(batch))
        with self.autocast(enabled=self.recipe.half):
            hidden, places = network.hidden(inputs)
            logits = network.logits(hidden)
        loss = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=NOTHING)
        if places.codes and self.recipe.sparsity:
            loss = loss + self.recipe.sparsity * sparsity(places, targets != NOTHING)
        return loss, len(batch)

    def validate(self, network: Decoder) -> Validation:
        """As of `Learner`: bits per byte."""
        valid = self.material.valid
        found = judged(network, valid, self.validated(valid), device=self.device)
        bits = found.bits_per_byte
        return Validation(bits, {"valid": bits, "accuracy": found.accuracy})

    @property
    def size(self) -> str:
        """As of `Learner`."""
        return f"{self.material.streams.vocabulary:,} tokens, {len(self.material.train):,} windows"

    def told(self, epoch: Mapping[str, float]) -> str:
        """As of `Learner`."""
        return f"validation {epoch['valid']:.3f} bits per byte, accuracy {epoch['accuracy']:.1%}"

    def write(self, folder: Path, trained: Trained[Decoder], *, about: Mapping[str, object]) -> Sequence[str]:
        """As of `Learner`. The scores are those of the rounded weights, on test texts each alone."""
        recipe, material, network = self.recipe, self.material, trained.network
        weights = checkpoint.rounded(network)
        valid = judged(network, material.valid, self.validated(material.valid))
        test = of_texts(network, material.test, byte_counts(material.streams), longest=LONGEST)
        baselines = rules(material)
        card = {
            "task": recipe.task,
            "tasks": sorted(TASKS),
            "summary": f"{DECODERS.summary(recipe.network)}; test {test.bits_per_byte:.2f} bits per byte",
            "parameters": sum(weight.numel() for weight in network.parameters()),
            "score": "bits per byte",
            "scores": {"valid": valid.as_json(), "test": test.as_json()},
            "baselines": [rule.as_json() for rule in baselines],
            "languages": list(material.languages),
            "data": {
                name: {"hash": material.hashes[name], "functions": material.counts[name]}
                for name in material.hashes
            },
            "left_out": dict(material.left_out),
            "recipe": recipe.as_json(),
            **checkpoint.history(trained),
            **about,
        }
        config = DecoderConfig(
            task=recipe.task,
            network=recipe.network,
            options=recipe.options,
            sizes=network.sizes,
            languages=material.languages,
        )
        checkpoint.write(folder, weights, config=config, tokenizer=material.streams.tokenizer, card=card)
        own = (
            f"test {test.bits_per_byte:.3f} bits per byte, perplexity {test.perplexity:.2f}, "
            f"accuracy {test.accuracy:.1%} on {len(material.test):,} functions"
        )
        return [own, *(f"{rule.name}: {rule.test.bits_per_byte:.3f} bits per byte" for rule in baselines)]


def prepared(request: TrainingRequest) -> StreamLearner:
    """The training that `codeaudit train` asks for.

    Raises:
        UsageError: options that do not fit together.
        CorpusError: a corpus cannot be read, or holds too little.
    """
    settings = dict(request.options)
    device = checkpoint.usable_device(settings.pop("device", "cpu"))
    recipe = recipe_of(StreamRecipe, network=request.network, task=request.task.name, **settings)
    if recipe.vocabulary < 300:
        raise UsageError("--vocabulary must be 300 or more: the bytes alone are 256 tokens")
    if recipe.window < 8:
        raise UsageError("--window must be 8 or more")
    material = read(request.task, recipe, *request.corpora(), note=request.note)
    return StreamLearner(recipe, material, device=device)


def batch_of(recipe: StreamRecipe, count: int, step: int) -> Integers:
    """The windows of a step, out of `count`. Every pass over the windows has an order of its own."""
    epoch, place = divmod(step, recipe.per_epoch(count))
    return _order(recipe.seed, epoch, count)[place * recipe.batch : (place + 1) * recipe.batch]


@lru_cache(maxsize=2)
def _order(seed: int, epoch: int, count: int) -> Integers:
    return np.random.default_rng([seed, epoch]).permutation(count)
