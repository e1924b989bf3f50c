"""Training of the networks that read lines: to name functions, or to find bugs (SPE attention, section 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor
from typing_extensions import override

from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.lines.encoding import LINE_TOKENS, SPECIALS, UNKNOWN
from codeaudit.audit.papers.lines.tasks import TASKS, Detection
from codeaudit.audit.papers.lines.tasks import read_splits as read
from codeaudit.audit.papers.lines.tasks import splits_card as data
from codeaudit.audit.papers.lines.trunk import Batch, LineNetwork, WordHead
from codeaudit.audit.papers.registry import TrainingRequest
from codeaudit.audit.papers.spe_attention.baselines import (
    Baseline,
    always_buggy,
    copying,
    counts_alone,
    longer,
    most_frequent,
)
from codeaudit.audit.papers.spe_attention.material import (
    WINDOW,
    Examples,
    LineMaterial,
    LineRecipe,
    prepare,
)
from codeaudit.audit.papers.spe_attention.model import LineConfig
from codeaudit.audit.papers.spe_attention.networks import NETWORKS, build
from codeaudit.audit.papers.spe_attention.scores import AT_ONCE, Scores, judged, scores, tune
from codeaudit.audit.papers.spe_attention.twins import NONE, location_loss, pairwise_loss
from codeaudit.audit.training.trainer import (
    STATE_FILE,
    Integers,
    Trained,
    Validation,
    adamw,
    bucketed,
    cosine,
    demand_fitting,
    recipe_of,
    short_warm_up,
)
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.grammar import counted

if TYPE_CHECKING:
    from codeaudit.audit.models.hf.encoder import EncoderStart

NEIGHBOUR_SPREAD: Final = 0.3
"""Standard deviation of the initial factors of neighbours."""
POSITION_SPREAD: Final = 0.02
"""Standard deviation of the initial positions: far below that of words, which the first stage has to hear."""
HIDDEN_WORDS: Final = 0.15
"""Share of the words of a function that pretraining hides wherever they stand."""
HIDDEN_TOKENS: Final = 0.05
"""Share of the tokens that it hides as well."""
HIDDEN_SHARE: Final = 0.1
"""Of all tokens about so many are hidden; half of the tokens are no words of letters."""
NEVER: Final = -100.0
"""Logits end here: the loss of one that should be lower is 0 in float32."""
PRETRAINED: Final[Mapping[str, object]] = {
    "pretrain_epochs": 0,
    "bag_epochs": 0,
    "neighbours": 0,
    "rate": 1e-4,
    "word_factor": 1.0,
    "dropout": 0.1,
}
"""Settings of a training that begins with a pretrained encoder, which has learned words and neighbours."""
RAREST: Final = 1e-5
"""Smallest share of a label that its initial bias is computed from."""


class LineBatch(NamedTuple):
    """Numbers of examples."""

    chosen: Integers
    """(B,)"""
    orders: Integers | None
    """(B,) the stored order of each; `None` for the order of the text."""


class LineLearner(checkpoint.CheckpointLearner[LineNetwork, LineBatch]):
    """Trains in up to three stages, as `LineRecipe` says."""

    def __init__(
        self,
        recipe: LineRecipe,
        material: LineMaterial,
        *,
        device: str = "cpu",
        encoder: "EncoderStart | None" = None,
    ) -> None:
        """`encoder` is the pretrained one of the recipe."""
        twins = material.train.twins
        self.leads = np.flatnonzero((twins == NONE) | (material.train.known == 0) | (recipe.pairwise == 0))
        """The examples of an epoch. With a pairwise loss, a buggy one comes with its clean twin."""
        super().__init__(recipe, material.hashes, len(self.leads), device=device)
        self.recipe, self.material, self.encoder = recipe, material, encoder
        if encoder is not None:
            self.identity["start"] = encoder.digest
        self.relation = NETWORKS[recipe.network].relation
        self.first_stage = recipe.pretrain_epochs + recipe.bag_epochs
        self.pretrain_steps = recipe.pretrain_epochs * self.per_epoch
        self.early_steps = self.first_stage * self.per_epoch
        self.total += self.early_steps
        entries = sorted(material.tokenizer.get_vocab().items(), key=lambda entry: entry[1])
        self.hideable = torch.tensor([len(word) > 1 and word.isalpha() for word, _ in entries])
        self.shape = recipe.shape(
            vocabulary=material.tokenizer.get_vocab_size(),
            labels=len(material.labels),
            task=material.task,
        )

    @override
    def make(self) -> LineNetwork:
        """Also a ValueError where the material was prepared for another reading."""
        # Features with and without referents differ in their words, so one cannot stand for the other.
        if (self.relation == "referents") != bool(len(self.material.train.referents)):
            raise ValueError(
                f"the features are not those of {self.recipe.network}; prepare them with its recipe"
            )
        network = build(self.recipe.network, self.shape, self.recipe.options)
        initialise(network, self.material)
        if self.encoder is not None:
            assert network.trunk.encoder is not None
            self.encoder.fill(network.trunk.tokens, network.trunk.encoder, self.material.tokenizer)
        if self.recipe.pretrain_epochs:
            network.trunk.word_head = WordHead(self.shape.width, self.shape.vocabulary)
        return network

    def optimiser(self, network: LineNetwork) -> torch.optim.Optimizer:
        """Words and label biases learn faster and do not decay."""
        tables = [network.trunk.tokens.weight, network.trunk.label_bias]
        if network.trunk.word_head is not None:
            tables.append(network.trunk.word_head.bias)
        factor = self.recipe.word_factor
        return adamw(network, self.recipe, second_beta=0.98, tables=tables, table_factor=factor)

    @override
    def rate(self, step: int) -> float:
        # Each stage warms up anew, because parts of the network have not been trained yet.
        if step < self.pretrain_steps:
            return self.recipe.rate * min(1.0, (step + 1) / self.recipe.warm_up)
        if step < self.early_steps:
            return self.recipe.bag_rate * min(1.0, (step - self.pretrain_steps + 1) / 100)
        step, total = step - self.early_steps, self.total - self.early_steps
        warm_up = short_warm_up(self.recipe, total)
        return cosine(self.recipe.rate, step, total, warm_up=warm_up, floor=0.05)

    @override
    def batches(self, epoch: int) -> list[LineBatch]:
        """Where orders are stored, each example comes in one of them."""
        rng = np.random.default_rng([self.recipe.seed, epoch])
        leads = self.leads
        mixed = [leads[rows] for rows in bucketed(self.material.train.tokens[leads], self.recipe.batch, rng)]
        stored = len(self.material.train.orders)
        return [
            LineBatch(chosen, rng.integers(0, stored, len(chosen)) if stored else None) for chosen in mixed
        ]

    @override
    def examples(self, batch: LineBatch) -> int:
        return len(batch.chosen)

    @override
    def part(self, batch: LineBatch, rows: slice) -> LineBatch:
        return LineBatch(batch.chosen[rows], None if batch.orders is None else batch.orders[rows])

    @override
    def tokens(self, batch: LineBatch) -> int:
        return int(self.material.train.tokens[self.with_twins(batch).chosen].sum())

    def with_twins(self, batch: LineBatch) -> LineBatch:
        """The examples, and behind them their twins in the same stored orders."""
        if not self.recipe.pairwise:
            return batch
        twins = self.material.train.twins[batch.chosen]
        has = twins != NONE
        orders = None if batch.orders is None else np.concatenate([batch.orders, batch.orders[has]])
        return LineBatch(np.concatenate([batch.chosen, twins[has]]), orders)

    def loss(
        self, network: LineNetwork, batch: LineBatch, step: int, whole: LineBatch | None = None
    ) -> tuple[Tensor, int]:
        """Cross entropies: summed over labels and averaged over examples; of hidden words their mean.

        Of bugs two more are added with their weights: `pairwise`, the mean over pairs of
        log(1 + exp(clean - buggy)), and `locate`, the mean over bugs of the cross entropy of their place.
        """
        # Decided by the step alone, so that a resumed training goes on in the right stage.
        network.trunk.pretraining = step < self.pretrain_steps
        network.trunk.bag = self.pretrain_steps <= step < self.early_steps
        if network.trunk.pretraining:
            tokens = self.tokens(whole or batch)
            return self._word_loss(network, batch) / (HIDDEN_SHARE * tokens), len(batch.chosen)
        relation = "none" if network.trunk.bag else self.relation
        texts, all_texts = self.with_twins(batch), self.with_twins(whole or batch)
        inputs = self.material.train.batch(texts.chosen, relation, texts.orders)
        targets = self.material.train.targets(texts.chosen, len(self.material.labels))
        located = self.located(texts)
        with self.autocast(enabled=self.recipe.half):
            logits, at_tokens = self._answered(network, inputs.to(self.device), places=bool(len(located)))
        size = len(all_texts.chosen)
        # Summed over labels: their mean would shrink the gradient of each name with the number of labels.
        # Words to copy that an input lacks have no logit.
        lost = F.binary_cross_entropy_with_logits(
            logits.float().clamp_min(NEVER), targets.to(self.device), reduction="sum"
        )
        loss = lost / size
        pairs = size - self.examples(whole or batch)
        if pairs:
            places = torch.from_numpy(self.material.train.pairs(texts.chosen)).to(self.device)
            loss = loss + self.recipe.pairwise * pairwise_loss(logits[:, 0].float(), places) / pairs
        if at_tokens is not None:
            parts = [self.material.train.changed(int(example)) for example in texts.chosen[located]]
            rows = torch.from_numpy(located)
            lost = location_loss(at_tokens[rows].float(), inputs.real[rows].to(self.device), parts)
            loss = loss + self.recipe.locate * lost / len(self.located(all_texts))
        return loss, len(batch.chosen)

    def located(self, batch: LineBatch) -> Integers:
        """The places in the batch of bugs whose tokens are to stand out: those with twins."""
        train, chosen = self.material.train, batch.chosen
        mask = (train.twins[chosen] != NONE) & (train.known[chosen] > 0) & (self.recipe.locate > 0)
        return np.flatnonzero(mask)

    def _answered(self, network: LineNetwork, inputs: Batch, *, places: bool) -> tuple[Tensor, Tensor | None]:
        """The (B, K) logits, and with `places` the (B, T) logits of the tokens for the one label."""
        if not places:
            return network(inputs), None
        trunk = network.trunk
        trunk.pretraining = True
        states = network(inputs)
        trunk.pretraining = False
        return trunk.answered(states, inputs), trunk.logits(states)[:, :, 0]

    def _word_loss(self, network: LineNetwork, batch: LineBatch) -> Tensor:
        """The sum of the cross entropies of hidden words."""
        inputs = self.material.train.batch(batch.chosen, self.relation, batch.orders)
        hidden = self._hidden(inputs.ids)
        logits, words = self._word_logits(network, inputs, hidden)
        return F.cross_entropy(logits.float(), words, reduction="sum")

    def _hidden(self, ids: Tensor) -> Tensor:
        """(B, T) which tokens to hide: some words wherever they stand, and some single tokens."""
        # A word that stands elsewhere in the function could be copied from there. Both have to be learned.
        everywhere = torch.rand(len(ids), len(self.hideable)).gather(1, ids) < HIDDEN_WORDS
        return (everywhere | (torch.rand(ids.shape) < HIDDEN_TOKENS)) & self.hideable[ids]

    def _word_logits(self, network: LineNetwork, inputs: Batch, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """(N, V) logits and (N,) words of the hidden tokens."""
        masked = replace(inputs, ids=inputs.ids.masked_fill(hidden, SPECIALS.index(UNKNOWN)))
        head = network.trunk.word_head
        if head is None:
            raise ValueError("the network was made without pretraining")
        with self.autocast(enabled=self.recipe.half):
            states = network(masked.to(self.device))[hidden.to(self.device)]
            logits = head(states, network.trunk.tokens.weight)
        return logits, inputs.ids[hidden].to(self.device)

    @torch.no_grad()
    def _words_found(self, network: LineNetwork) -> float:
        """The share of hidden words of validation functions that the network finds."""
        valid, hits = self.material.valid, list[Tensor]()
        chosen = self.validated(valid)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            for start in range(0, len(chosen), AT_ONCE):
                inputs = valid.batch(chosen[start : start + AT_ONCE], self.relation)
                logits, words = self._word_logits(network, inputs, self._hidden(inputs.ids))
                hits.append((logits.argmax(1) == words).cpu())
        right = torch.cat(hits)
        return float(right.double().mean()) if len(right) else 0.0

    @override
    def validate(self, network: LineNetwork) -> Validation:
        """At the best threshold; in pretraining the share of hidden words that it finds."""
        if network.trunk.pretraining:
            return Validation(0.0, {"words_found": self._words_found(network)})
        valid, task = self.material.valid, self.material.task
        labels = len(self.material.labels)
        chosen = self.validated(valid)
        outputs = judged(network, valid, chosen, self.relation, labels, device=self.device)
        threshold = tune(outputs, task)
        reached = scores(outputs, threshold, task)
        chooses = {"balanced": reached.worth} if reached.worth != reached.headline else {}
        return Validation(reached.worth, {"valid": reached.headline, "threshold": threshold, **chooses})

    @property
    @override
    def tokenizer(self) -> Tokenizer:
        return self.material.tokenizer

    @property
    @override
    def size(self) -> str:
        labels = counted(len(self.material.labels), "label")
        return f"{counted(len(self.material.train), 'function')}, {labels}"

    @override
    def epoch_line(self, epoch: Mapping[str, float]) -> str:
        if "words_found" in epoch:
            return f"pretraining: {epoch['words_found']:.1%} of hidden words found"
        # Not the F1 of `buggy` chooses the weights.
        both = f", of both classes {epoch['balanced']:.1%}" if "balanced" in epoch else ""
        return f"validation F1 {epoch['valid']:.1%}{both} at threshold {epoch['threshold']:.1f}"

    @override
    def write(
        self, folder: Path, trained: Trained[LineNetwork], *, about: Mapping[str, object]
    ) -> Sequence[str]:
        """The scores are those of the rounded weights."""
        recipe, material = self.recipe, self.material
        trained.network.trunk.word_head = None
        config = LineConfig(
            task=material.task.name,
            network=recipe.network,
            options={**NETWORKS[recipe.network].options, **recipe.options},
            shape=self.shape,
            labels=material.labels,
            threshold=threshold_of(trained),
            languages=material.languages,
            dependence=recipe.dependence,
        )
        # Before anything is measured, because the file holds the rounded weights.
        weights = checkpoint.rounded(trained.network)
        splits = {"train": material.train, "valid": material.valid, "test": material.test}
        valid, test = (self._measured(trained, examples) for examples in (material.valid, material.test))
        rules = _baselines(trained.network, material)
        card = {
            "task": material.task.name,
            "summary": f"{NETWORKS[recipe.network].summary}; test {test.line}",
            "parameters": sum(weight.numel() for weight in trained.network.parameters()),
            "scores": {"valid": asdict(valid), "test": asdict(test)},
            "baselines": [asdict(rule) for rule in rules],
            "label_coverage": {"valid": coverage(material.valid), "test": coverage(material.test)},
            "languages": list(material.languages),
            "labels": len(material.labels),
            "threshold": config.threshold,
            "data": data(
                material.hashes,
                {name: (len(examples), examples.left_out) for name, examples in splits.items()},
            ),
            "recipe": recipe.as_json(),
            **checkpoint.history(trained),
            **about,
        }
        checkpoint.write(
            folder, weights, config=config, tokenizer=material.tokenizer, card=card, learned=material.learned
        )
        line = f"test {test.line} on {counted(test.count, 'function')}"
        return [line, *(f"{rule.name}: {rule.test.line}" for rule in rules)]

    def _measured(self, trained: Trained[LineNetwork], examples: Examples) -> Scores:
        everything = np.arange(len(examples))
        outputs = judged(trained.network, examples, everything, self.relation, len(self.material.labels))
        return scores(outputs, threshold_of(trained), self.material.task)


def prepared(request: TrainingRequest) -> LineLearner:
    """The training that `codeaudit train` asks for.

    Raises:
        UsageError: options that do not fit together.
        CorpusError: a corpus cannot be read, or holds too little.
    """
    settings = {**request.options, **request.structure}
    device = checkpoint.usable_device(settings.pop("device", "cpu"))
    own = NETWORKS[request.network].options
    options: dict[str, object] = {}
    # The command line has one set of options for all networks; those of another network are refused, because
    # they would have no effect.
    for owner, entry in NETWORKS.items():
        for name in [option for option in entry.options if option in settings]:
            if name not in own:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} is an option of {owner}, not of {request.network}")
            value = settings.pop(name)
            options[name] = int(value) if name == "sign" else value
    start = request.encoder
    if start is not None:
        settings = {**PRETRAINED, **settings, **start.sizes}
        settings["encoder"] = {**start.config, "hidden_dropout_prob": settings["dropout"]}
        settings["window"] = _window(request.network, settings.get("window"), start)
    recipe = recipe_of(LineRecipe, network=request.network, options=options, **settings)
    if recipe.locate and recipe.orders:
        raise UsageError("--locate needs the order of the text; leave out --augment")
    task = TASKS[request.task.name]
    shape = recipe.shape(vocabulary=recipe.vocabulary, labels=1, task=task)
    demand_fitting(lambda: build(recipe.network, shape, recipe.options))
    splits = read(request.task, *request.corpora())
    material = prepare(
        splits,
        recipe,
        cache=request.cache / "features",
        workers=request.workers,
        note=request.note,
        task=task,
        speaking=None if start is None else start.speaking,
    )
    return LineLearner(recipe, material, device=device, encoder=start)


def _window(network: str, window: int | None, start: "EncoderStart") -> int:
    """The longest input for a network with a pretrained encoder.

    Raises:
        UsageError: the encoder has fewer positions.
    """
    if network != "vanilla":  # its positions start again in every line
        if start.longest < LINE_TOKENS:
            raise UsageError(f"--from {start.place}: it has {start.longest} positions, a line {LINE_TOKENS}")
        return window or WINDOW
    if window is not None and window > start.longest:
        raise UsageError(f"--window {window}: {start.place} has {start.longest} positions")
    return window or min(WINDOW, start.longest)


@torch.no_grad()
def initialise(network: LineNetwork, material: LineMaterial) -> None:
    """Words of norm 1, output layers of zero, equal votes, biases at their log-odds."""
    trunk = network.trunk
    width = trunk.tokens.embedding_dim
    tokens = [material.tokenizer.token_to_id(label) for label in material.labels]
    trunk.label_tokens.copy_(torch.tensor(tokens))
    trunk.tokens.weight.normal_(0, width**-0.5)
    trunk.mix.weight.normal_(0, width**-0.5)
    if network.positions is not None:
        network.positions.weight.normal_(0, POSITION_SPREAD)
    # With output layers of zero a block adds nothing, so the second stage begins where the first ended.
    zeros = [trunk.mix.bias, trunk.vote.weight, trunk.vote.bias]
    for way_out in trunk.ways_out():
        zeros += [way_out.weight, way_out.bias]
    for weight in zeros:
        weight.zero_()
    counts = np.bincount(material.train.labels, minlength=len(material.labels))
    # At the log-odds of its share a label starts as probable as it is, and the first steps need not learn
    # that.
    share = torch.from_numpy(counts / len(material.train)).clamp(RAREST, 0.99)
    trunk.label_bias.copy_(torch.log(share / (1 - share)))
    if trunk.copy_bias is not None:
        # Of all words to copy, so many are in the name.
        copied = torch.tensor(float(material.train.named.mean()) if len(material.train.named) else 0.0)
        trunk.copy_bias.copy_(torch.logit(copied.clamp(RAREST, 0.99)))
    if trunk.neighbours is not None:
        trunk.neighbours.weight.normal_(0, NEIGHBOUR_SPREAD)


def threshold_of(trained: Trained[LineNetwork]) -> float:
    """The threshold that validation chose for the kept weights.

    Raises:
        ModelError: the training was resumed from a damaged state, which lacks it.
    """
    progress = trained.progress
    threshold = progress.epochs[progress.best_epoch].get("threshold")
    if threshold is None:
        raise ModelError(f"{STATE_FILE} is damaged: its best epoch has no threshold; delete it to start anew")
    return threshold


def coverage(examples: Examples) -> float:
    """The share of the names' subtokens that are labels or words to copy, and so could be answered."""
    return float((examples.known.sum() + examples.named.sum()) / max(1, examples.wanted.sum()))


def _baselines(network: LineNetwork, material: LineMaterial) -> tuple[Baseline, ...]:
    if isinstance(material.task, Detection):
        splits = material.train, material.valid, material.test
        return always_buggy(material.test), longer(*splits), counts_alone(*splits)
    spoken = network.trunk.label_tokens.tolist()
    return (
        most_frequent(material.train, material.valid, material.test, labels=len(material.labels)),
        copying(material.valid, material.test, tokens=dict(zip(material.labels, spoken, strict=True))),
    )
