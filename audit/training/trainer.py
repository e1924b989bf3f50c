"""The training loop of all papers' networks, its recipe, and the state of an unfinished training.

A `Learner` provides the network, data and loss of one family. A step depends only on the recipe, the data
and the number of the step. So two trainings with one recipe give equal weights on one machine, interrupted
or not. The state is one safetensors file (no pickle) with everything that the next step depends on.
"""

import json
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sized
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as packed
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from codeaudit.audit.checks import DAMAGED, is_number, is_whole, load_json
from codeaudit.audit.training.memory import give_back
from codeaudit.audit.training.processes import ALONE, Processes
from codeaudit.transforms.errors import ModelError, UsageError

S = TypeVar("S")


class Recipe:
    """The settings that the trainer and every family of networks know.

    Each family derives a frozen dataclass that gives these their defaults and adds its own. A recipe and the
    training data determine the weights.
    """

    __slots__ = ()

    network: str
    width: int
    """Of the hidden states."""
    layers: int
    heads: int
    window: int
    """Longest input. Longer ones are left out or cut, depending on the family."""
    dropout: float
    batch: int
    """Examples of a step."""
    epochs: int
    steps: int | None
    """Replaces `epochs` where given."""
    rate: float
    """Peak learning rate."""
    warm_up: int
    """Steps in which the rate rises to its peak."""
    weight_decay: float
    """Of matrices only."""
    clip: float
    """Largest norm of the gradient."""
    patience: int
    """Epochs without a better validation before the training ends."""
    validation: int
    """Most validation examples."""
    seed: int

    def per_epoch(self, count: int) -> int:
        """Steps of an epoch of `count` examples."""
        return -(-count // self.batch)

    def total_steps(self, count: int) -> int:
        """Steps of a training with `count` examples."""
        return self.epochs * self.per_epoch(count) if self.steps is None else self.steps

    def sized(self, kind: type[S], **counted: Any) -> S:
        """The sizes of a network: those that the data decide, and the recipe's settings of equal names."""
        names = {size.name for size in fields(kind)} & {entry.name for entry in fields(self)} - counted.keys()  # type: ignore[arg-type]
        return kind(**counted, **{name: getattr(self, name) for name in names})

    def as_json(self) -> dict[str, object]:
        """For the model card, and to recognise an interrupted training."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]


R = TypeVar("R", bound=Recipe)


def recipe_of(kind: type[R], **settings: Any) -> R:
    """A recipe with the given settings, and defaults for the others.

    Raises:
        UsageError: the heads do not divide the width.
    """
    recipe = kind(**settings)
    if recipe.width % recipe.heads:
        raise UsageError(f"--heads {recipe.heads} does not divide --width {recipe.width}")
    return recipe


def demand_fitting(make: Callable[[], nn.Module]) -> None:
    """Make a network without memory: reading a corpus takes long, and sizes decide more than their widths.

    Raises:
        UsageError: no network has these sizes.
    """
    try:
        with torch.device("meta"):
            make()
    except ValueError as error:
        raise UsageError(f"these sizes do not fit together: {error}") from error


STATE_FILE: Final = "training.safetensors"


class Interrupted(Exception):  # noqa: N818 - an outcome, which the command line reports
    """The training was asked to stop; its state is saved."""


@dataclass(slots=True, kw_only=True)
class TrainingProgress:
    """How far a training is."""

    step: int = 0
    """Steps done, of all stages."""
    samples: int = 0
    """Examples seen, repetitions included."""
    tokens: int = 0
    """Tokens of these, padding excluded."""
    operations: float = 0.0
    """Floating-point operations of the steps: of products of matrices, without fused attention."""
    loss_sum: float = 0.0
    """Over the steps of the current epoch."""
    best: float
    """Validation result of the kept weights; before there are any, the worst possible value."""
    best_epoch: int = -1
    ended: bool = False
    seconds: float = 0.0
    """Wall time, interruptions excluded."""
    epochs: list[dict[str, float]] = field(default_factory=list)
    """Of each finished epoch its number, its mean loss, and the validation results."""


def save_state(
    path: Path,
    *,
    identity: object,
    progress: TrainingProgress,
    tensors: dict[str, Tensor],
    optimiser: torch.optim.Optimizer,
    random: Mapping[str, Tensor] | None = None,
) -> None:
    """Write the state, completely or not at all; `random` are the states of more random streams."""
    saved = {f"given/{name}": tensor.contiguous() for name, tensor in tensors.items()}
    state = optimiser.state_dict()["state"]
    for number, values in state.items():
        for name, value in values.items():
            saved[f"optimiser/{number}/{name}"] = value.contiguous()
    saved["random"] = torch.get_rng_state()  # the next step's dropout depends on it
    saved |= {f"random/{name}": value for name, value in (random or {}).items()}
    part = path.with_suffix(".part")
    # A weight that never had a gradient has no state, so the file says which ones have.
    about = {
        "recipe": json.dumps(identity),
        "progress": json.dumps(asdict(progress)),
        "moments": json.dumps(sorted(state)),
    }
    part.write_bytes(packed(saved, about))
    part.replace(path)


def load_state(
    path: Path, *, identity: object, optimiser: torch.optim.Optimizer, rank: int = 0, device: str = "cpu"
) -> tuple[TrainingProgress, dict[str, Tensor]] | None:
    """The saved progress and tensors; `None` where nothing was saved.

    Also sets the optimiser and torch's global random streams, those of the process `rank`, to their saved
    states.

    Raises:
        ModelError: the file is damaged, or belongs to a training with another recipe or other data.
    """
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata()
            saved = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        recipe = load_json(about["recipe"])
        progress = _progress(load_json(about["progress"]))
        moments = load_json(about["moments"])
    except (SafetensorError, OSError, *DAMAGED) as error:
        raise _unusable(path, error) from error
    # Compared as JSON has them, where a tuple is a list.
    if recipe != json.loads(json.dumps(identity)):
        raise ModelError(
            f"{str(path)!r} is of a training with other settings or data; delete it, or take another --out"
        )
    try:
        _restore(optimiser, saved, moments)
        torch.set_rng_state(saved[f"random/cpu {rank}" if rank else "random"])
        if torch.device(device).type == "cuda":
            torch.cuda.set_rng_state(saved[f"random/cuda {rank}"], device)
    except (RuntimeError, *DAMAGED) as error:
        raise _unusable(path, error) from error
    return progress, under("given/", saved)


def saved_recipe(path: Path) -> Mapping[str, object]:
    """The recipe of a saved state; empty where there is none that can be read."""
    try:
        with safe_open(path, framework="pt") as file:
            recipe = load_json(file.metadata()["recipe"])["recipe"]
            return recipe if isinstance(recipe, dict) else {}
    except (SafetensorError, OSError, *DAMAGED):
        return {}


def _unusable(path: Path, error: BaseException) -> ModelError:
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return ModelError(f"cannot resume from {str(path)!r}: {reason}; delete it to start from the beginning")


def _progress(values: Mapping[str, Any]) -> TrainingProgress:
    """The progress in a file.

    Raises:
        ValueError, KeyError, TypeError: a value is missing or of another type.
    """
    progress = TrainingProgress(**{entry.name: values[entry.name] for entry in fields(TrainingProgress)})
    counts = (progress.step, progress.samples, progress.tokens, progress.best_epoch + 1)
    # `best` is infinite at the start of a training that wants small values.
    sums = (progress.loss_sum, progress.operations, progress.seconds)
    numbers = isinstance(progress.best, int | float) and all(map(is_number, sums))
    epochs = isinstance(progress.epochs, list) and all(map(_is_epoch, progress.epochs))
    sane = all(is_whole(number) and number >= 0 for number in counts) and numbers and epochs
    if not sane or progress.best_epoch >= len(progress.epochs):
        raise ValueError("its progress is damaged")
    return progress


def _is_epoch(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() >= {"epoch", "loss"}
        and all(isinstance(number, int | float) for number in value.values())
    )


def under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _restore(optimiser: torch.optim.Optimizer, saved: dict[str, Tensor], moments: object) -> None:
    """Set the optimiser to a saved state; `moments` are the numbers of the weights that had one."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in under("optimiser/", saved).items():
        number, _, kind = name.partition("/")
        state.setdefault(int(number), {})[kind] = value
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    # Checked here, because the optimiser would only fail in its next step.
    for place, values in state.items():
        if values.keys() != _MOMENTS or any(
            tensor.shape not in ((), weights[place].shape) or not tensor.isfinite().all()
            for tensor in values.values()
        ):
            raise ValueError(f"the optimiser's state of weight {place} is damaged")
    if sorted(state) != moments:
        raise ValueError("the optimiser's state lacks a weight")
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})


_MOMENTS: Final = frozenset({"step", "exp_avg", "exp_avg_sq"})
"""What AdamW keeps of a weight; all trainings use it."""
BUCKET: Final = 50
"""Batches among which examples are sorted by length."""
GIVE_BACK_STEPS: Final = 20
"""After so many steps memory that is free goes back to the system."""
SAVE_SECONDS: Final = 60.0

Integers: TypeAlias = npt.NDArray[np.int64]
N = TypeVar("N", bound=nn.Module)
B = TypeVar("B")


class Monitor(Protocol):
    """Receives the progress of a training."""

    def stepped(self, progress: TrainingProgress, loss: float) -> None:
        """After every step."""
        ...

    def epoch(self, progress: TrainingProgress) -> None:
        """After every epoch; the last entry of `progress.epochs` is new."""
        ...


class Validation(NamedTuple):
    """How good the present weights are."""

    worth: float
    """The number that decides which weights are kept."""
    scores: Mapping[str, float]
    """Kept in `TrainingProgress.epochs` and in the model card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained(Generic[N]):
    """The best weights, on the CPU."""

    network: N
    progress: TrainingProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How the steps of a training are computed. They stay the same steps, up to rounding and dropout."""

    accumulate: int = 1
    """Parts of a batch that are computed one after the other, so that one part has to fit into memory."""
    recompute: bool = False
    """Keep only the input of each block, and compute the block again in the backward pass."""
    compile: bool = False
    """Compile the blocks, and again for inputs of other shapes."""
    processes: Processes = ALONE

    @property
    def parts(self) -> int:
        """Of a batch, over all processes."""
        return self.accumulate * self.processes.count

    def as_json(self) -> dict[str, object]:
        """What changes the last bits of the weights, where it is not the default."""
        settings = {
            "accumulate": self.accumulate,
            "compile": self.compile,
            "processes": self.processes.count,
        }
        return {name: value for name, value in settings.items() if value not in (1, False)}


PLAIN: Final = Execution()


class Learner(ABC, Generic[N, B]):
    """One training of one family of networks. `N` is its network, `B` a batch."""

    lower_is_better: ClassVar[bool] = False
    """Whether a smaller `Validation.worth` is a better one."""
    first_stage: int = 0
    """Epochs of a first stage. Its weights are kept only until the second stage has a validation."""

    def __init__(self, recipe: Recipe, hashes: Mapping[str, str], count: int, *, device: str = "cpu") -> None:
        """`hashes` identify the data of each split; `count` is the number of training examples."""
        self.device = device
        self.identity = {"recipe": recipe.as_json(), "data": dict(hashes)}
        self.settings = recipe
        self.per_epoch = recipe.per_epoch(count)
        self.total = recipe.total_steps(count)

    @abstractmethod
    def make(self) -> N:
        """The network with its initial weights. Called with torch's global stream seeded.

        Raises:
            ValueError: the recipe's sizes do not fit together.
        """

    @abstractmethod
    def optimiser(self, network: N) -> torch.optim.Optimizer:
        """The optimiser. A group of parameters may have a `factor` for its learning rate."""

    @abstractmethod
    def rate(self, step: int) -> float:
        """The learning rate of a step counted from 0."""

    @abstractmethod
    def batches(self, epoch: int) -> Iterable[B]:
        """The batches of an epoch, always the same."""

    @abstractmethod
    def loss(self, network: N, batch: B, step: int, whole: B | None = None) -> tuple[Tensor, int]:
        """The loss of a batch and the number of its examples.

        With `whole`, the batch is a part of that one, and the loss is its share of the loss of `whole`: the
        shares of all parts add up to it.
        """

    def examples(self, batch: B) -> int:
        """How many examples a batch has."""
        return len(batch)  # type: ignore[arg-type]

    def part(self, batch: B, rows: slice) -> B:
        """Some examples of a batch."""
        return batch[rows]  # type: ignore[index, no-any-return]

    def tokens(self, batch: B) -> int:
        """How many tokens a batch has, padding excluded; 0 where the family does not count them."""
        return 0

    def parts(self, batch: B, count: int) -> list[B]:
        """A batch in so many parts of similar size, or fewer where it has fewer examples."""
        if count == 1:
            return [batch]
        size = self.examples(batch)
        bounds = [size * number // count for number in range(count + 1)]
        return [self.part(batch, slice(first, end)) for first, end in pairwise(bounds) if end > first]

    @property
    def half(self) -> bool:
        """Whether matrices are multiplied in bfloat16."""
        return bool(getattr(self.settings, "half", False))

    @abstractmethod
    def validate(self, network: N) -> Validation:
        """How good a network in evaluation mode is on validation data."""

    def validated(self, examples: Sized) -> Integers:
        """The validation examples that judge the weights, always the same."""
        return np.random.default_rng(1).permutation(len(examples))[: self.settings.validation]

    def autocast(self, *, enabled: bool) -> torch.autocast:
        """Multiplies matrices in bfloat16 where enabled; weights stay in float32."""
        return torch.autocast(torch.device(self.device).type, dtype=torch.bfloat16, enabled=enabled)


def train(
    learner: Learner[N, Any],
    *,
    folder: Path,
    monitor: Monitor,
    stop: Callable[[], bool],
    execution: Execution = PLAIN,
    tell: Callable[[str], None] | None = None,
) -> Trained[N]:
    """Train a network, or go on with a training whose state lies in the folder.

    `stop` is called after every step, and `tell` before the first one with an estimate of the memory. Torch's
    global random stream is as before afterwards.

    Raises:
        Interrupted: `stop` returned true. The state is saved, and the same call resumes.
        ModelError: the saved state cannot be used, or the loss is not finite.
        ValueError: the recipe's sizes do not fit together.
    """
    # Dropout draws from torch's global stream. It is forked, so that the caller's own draws do not change.
    with torch.random.fork_rng(devices=_generators(learner.device)):
        torch.manual_seed(learner.settings.seed)
        trainer = _Trainer(learner, folder / STATE_FILE, execution)
        if tell is not None:
            tell(trainer.memory())
        trainer.run(monitor, stop)
        return trainer.result()


class _Trainer(Generic[N]):
    def __init__(self, learner: Learner[N, Any], path: Path, execution: Execution) -> None:
        self._learner, self._path, self._execution = learner, path, execution
        # States of older versions, and of plain trainings, do not name the execution.
        settings = execution.as_json()
        self._identity = {**learner.identity, "execution": settings} if settings else learner.identity
        self._per_token = 0.0
        self._processes = execution.processes
        # Always made anew, also to resume: the optimiser needs the parameters that its saved state belongs
        # to.
        self._network = learner.make().to(learner.device)
        self._optimiser = learner.optimiser(self._network)
        self._progress = TrainingProgress(best=math.inf if learner.lower_is_better else -1.0)
        self._best: dict[str, Tensor] = {}
        self._network.train()
        rank = execution.processes.rank
        if rank:
            # Every process draws its own dropout; the networks began alike.
            torch.manual_seed(hash((learner.settings.seed, rank)))
        state = load_state(
            path, identity=self._identity, optimiser=self._optimiser, rank=rank, device=learner.device
        )
        if state is not None:
            self._progress, tensors = state
            self._best = under("best/", tensors)
            try:
                if self._best:
                    self._network.load_state_dict(self._best)
                elif self._progress.epochs or self._over():
                    raise ValueError("it has no best weights")
                self._network.load_state_dict(under("now/", tensors))
            except (RuntimeError, *DAMAGED) as error:
                raise _unusable(path, error) from error

    def run(self, monitor: Monitor, stop: Callable[[], bool]) -> None:
        began, before = time.monotonic(), self._progress.seconds
        saved = began
        progress, learner = self._progress, self._learner
        undo = _prepare(self._network, self._execution)
        for batch in self._remaining():
            loss = self._step(batch)
            progress.seconds = before + time.monotonic() - began
            monitor.stepped(progress, loss)
            if progress.step % GIVE_BACK_STEPS == 0:
                give_back()
            if progress.step % learner.per_epoch == 0 or progress.step == learner.total:
                self._finish_epoch()
                monitor.epoch(progress)
            # Behind the last step there is nothing to resume: the training ends as if nobody had asked.
            if self._processes.added(stop()) and not self._over():
                self._save()
                raise Interrupted
            # The first process decides, because all have to send their random streams.
            late = self._processes.first and time.monotonic() - saved >= SAVE_SECONDS
            if self._processes.added(late):
                self._save()
                saved = time.monotonic()
        undo()
        progress.ended = True
        self._save()

    def memory(self) -> str:
        """In words, what the device has to hold: measured on one example, the rest is multiplied."""
        learner, weights = self._learner, list(self._network.parameters())
        numbers = sum(weight.numel() for weight in weights)
        # Each weight with its gradient and the two moments of AdamW.
        fixed = 4 * sum(weight.numel() * weight.element_size() for weight in weights)
        batches = list(islice(learner.batches(0), 200))
        longest = max(batches, key=lambda batch: learner.tokens(batch) / learner.examples(batch))
        part = -(-max(map(learner.examples, batches)) // self._execution.parts)
        insides = part * self._memory_of(learner.parts(longest, learner.examples(longest))[0])
        return (
            f"{numbers:,} weights; memory: {_gigabytes(fixed)} for weights, gradients and optimiser, "
            f"about {_gigabytes(insides)} for the insides of the layers of {part:,} examples"
        )

    def _memory_of(self, example: Any) -> int:
        """The bytes that the backward pass of one example needs."""
        learner, sizes = self._learner, dict[int, int]()
        weights = {weight.data_ptr() for weight in self._network.parameters()}

        def pack(tensor: Tensor) -> Tensor:
            place = tensor.untyped_storage().data_ptr()
            if place not in weights:
                sizes[place] = tensor.untyped_storage().nbytes()
            return tensor

        layers = blocks(self._network)
        most = inputs = inside = before = 0

        def enter(module: nn.Module, arguments: tuple[Any, ...]) -> None:
            nonlocal before, inputs
            before = sum(sizes.values())
            inputs += arguments[0].numel() * arguments[0].element_size()

        def leave(module: nn.Module, arguments: tuple[Any, ...], result: Any) -> None:
            nonlocal most, inside
            own_bytes = sum(sizes.values()) - before
            inside += own_bytes
            most = max(most, own_bytes)

        hooks = [layer.register_forward_pre_hook(enter) for layer in layers]
        hooks += [layer.register_forward_hook(leave) for layer in layers]
        try:
            with (
                torch.random.fork_rng(devices=_generators(learner.device)),
                torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
            ):
                loss = learner.loss(self._network, example, learner.total - 1)
                total = sum(sizes.values())
                del loss
        finally:
            for hook in hooks:
                hook.remove()
        # Computed again, one block at a time needs its insides, and of all only what goes in is kept.
        return total - inside + most + inputs if self._execution.recompute else total

    def result(self) -> Trained[N]:
        self._network.load_state_dict(self._best)
        return Trained(network=self._network.cpu().eval(), progress=self._progress)

    def _remaining(self) -> Iterator[Any]:
        """The batches from the present step to the last, or until patience is exhausted."""
        while not self._over():
            epoch, done = divmod(self._progress.step, self._learner.per_epoch)
            for batch in islice(self._learner.batches(epoch), done, None):
                if self._over():
                    return
                yield batch

    def _over(self) -> bool:
        progress, learner = self._progress, self._learner
        if progress.ended or progress.step >= learner.total:
            return True
        # Patience counts from the second stage on; the first one cannot exhaust it.
        waited = len(progress.epochs) - 1 - max(progress.best_epoch, learner.first_stage)
        return waited >= learner.settings.patience

    def _step(self, batch: Any) -> float:
        progress, learner = self._progress, self._learner
        rate = learner.rate(progress.step)
        # Set in every step instead of by a scheduler, which would be one more state to save.
        for group in self._optimiser.param_groups:
            group["lr"] = rate * group.get("factor", 1.0)
        parts = learner.parts(batch, self._execution.parts)
        whole = batch if len(parts) > 1 else None
        first = self._processes.rank * self._execution.accumulate
        tokens, count = learner.tokens(batch), learner.examples(batch)
        if not self._per_token or progress.step % learner.per_epoch == 0:
            self._per_token = self._operations(parts[0])
        value = 0.0
        self._optimiser.zero_grad()
        for part in parts[first : first + self._execution.accumulate]:
            try:
                loss, _ = learner.loss(self._network, part, progress.step, whole)
                loss.backward()  # type: ignore[no-untyped-call]
            except RuntimeError as error:
                # By name: importing the compiler takes a second, which others need not wait for.
                if not type(error).__module__.startswith(("torch._dynamo", "torch._inductor")):
                    raise
                reason = " ".join(str(error).split())[:200]
                raise ModelError(f"cannot compile the network: {reason}; leave out --compile") from error
            value += loss.item()
        value = self._processes.added(value)
        self._processes.add_gradients(self._network)
        nn.utils.clip_grad_norm_(self._network.parameters(), learner.settings.clip)
        self._optimiser.step()
        # A NaN in the weights would go on silently, and the best weights would be those of an earlier epoch.
        if not math.isfinite(value):
            raise ModelError(
                f"training diverged at step {progress.step}: loss {value}; take a smaller --rate"
            )
        progress.step += 1
        progress.samples += count
        progress.tokens += tokens
        progress.operations += tokens * self._per_token
        progress.loss_sum += value
        return value

    def _operations(self, batch: Any) -> float:
        """Floating-point operations for a token of a batch, counted in a forward pass; 0 without tokens."""
        learner = self._learner
        tokens = learner.tokens(batch)
        if not tokens:
            return 0.0
        with (
            torch.random.fork_rng(devices=_generators(learner.device)),
            torch.no_grad(),
            self._not_compiled(),
            FlopCounterMode(display=False) as counter,
        ):
            learner.loss(self._network, batch, self._progress.step)
        return BACKWARD * float(counter.get_total_flops()) / tokens

    def _not_compiled(self) -> AbstractContextManager[object]:
        """A context in which compiled blocks compute as written."""
        return torch.compiler.set_stance("force_eager") if self._execution.compile else nullcontext()

    def _finish_epoch(self) -> None:
        """Validate the weights, and keep them if they are the best so far."""
        progress, learner = self._progress, self._learner
        pair: tuple[float, dict[str, float]] | None = None
        if self._processes.first:
            self._network.eval()
            # Without gradients and word by word, blocks would be compiled again for many shapes.
            with self._not_compiled():
                judged = learner.validate(self._network)
            pair = judged.worth, dict(judged.scores)
            self._network.train()
        worth, scores = self._processes.from_first(pair)
        epoch = (progress.step - 1) // learner.per_epoch
        loss = progress.loss_sum / (progress.step - epoch * learner.per_epoch)
        progress.loss_sum = 0.0
        progress.epochs.append({"epoch": epoch, "loss": loss, **scores})
        better = worth < progress.best if learner.lower_is_better else worth > progress.best
        # The first epoch of the second stage is kept in any case: a first stage is no result of its own.
        if better or progress.best_epoch < learner.first_stage <= epoch:
            progress.best, progress.best_epoch = worth, epoch
            self._best = {name: value.cpu().clone() for name, value in self._network.state_dict().items()}

    def _save(self) -> None:
        device = self._learner.device
        streams = {"cpu": torch.get_rng_state()}
        if torch.device(device).type == "cuda":
            streams["cuda"] = torch.cuda.get_rng_state(device)
        random = {
            f"{name} {rank}": state
            for name, stream in streams.items()
            for rank, state in enumerate(self._processes.gathered(stream))
            if rank or name != "cpu"
        }
        if not self._processes.first:
            return
        tensors = {f"now/{name}": value for name, value in self._network.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in self._best.items()}
        save_state(
            self._path,
            identity=self._identity,
            progress=self._progress,
            tensors=tensors,
            optimiser=self._optimiser,
            random=random,
        )


def blocks(network: nn.Module) -> list[nn.Module]:
    """The layers of a network: the members of its outermost lists of modules."""
    layers: list[nn.Module] = []
    for child in network.children():
        layers += list(child) if isinstance(child, nn.ModuleList) else blocks(child)
    return layers


def _prepare(network: nn.Module, execution: Execution) -> Callable[[], None]:
    """Make the blocks compute as the execution says; what is returned takes it back."""
    changed = blocks(network) if execution.recompute or execution.compile else []
    for block in changed:
        computed: Callable[..., Any] = block.forward
        if execution.compile:
            computed = torch.compile(computed, dynamic=True)
        if execution.recompute:
            computed = partial(_recomputed, computed)
        # On the instance, so that its class and other networks are as before.
        block.forward = computed

    def undo() -> None:
        for block in changed:
            del block.forward

    return undo


def _recomputed(computed: Callable[..., Any], *args: Any, **named: Any) -> Any:
    if not torch.is_grad_enabled():
        return computed(*args, **named)
    return checkpoint(computed, *args, use_reentrant=False, **named)


def _gigabytes(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


def _generators(device: str) -> list[str]:
    """The devices whose random streams a training draws from, beside the processor's."""
    return [device] if torch.device(device).type == "cuda" else []


BACKWARD: Final = 3.0
"""A step costs about three forward passes: the gradients by inputs and by weights take one each."""


def adamw(
    network: nn.Module,
    recipe: Recipe,
    *,
    second_beta: float,
    tables: Collection[Tensor] = (),
    table_factor: float | None = None,
) -> torch.optim.AdamW:
    """AdamW that decays matrices only.

    `tables` are not decayed. With a `table_factor` their learning rate is multiplied by it.
    """
    # By identity, because comparing tensors compares their numbers. Decay pulls a weight towards 0, which is
    # no neutral value of a norm's scale or of a rare word's embedding, so both are spared.
    spared = {id(weight) for weight in tables}
    groups: dict[str, list[nn.Parameter]] = {"matrices": [], "vectors": [], "tables": []}
    for weight in network.parameters():
        apart = id(weight) in spared
        kind = "tables" if table_factor is not None else "vectors"
        groups[kind if apart else "matrices" if weight.dim() == 2 else "vectors"].append(weight)
    settings = [
        {
            "params": weights,
            "weight_decay": recipe.weight_decay if name == "matrices" else 0.0,
            "factor": (table_factor or 1.0) if name == "tables" else 1.0,
        }
        for name, weights in groups.items()
        if weights
    ]
    return torch.optim.AdamW(settings, lr=recipe.rate, betas=(0.9, second_beta))


def cosine(peak: float, step: int, total: int, *, warm_up: int, floor: float) -> float:
    """The learning rate of a step counted from 0: a linear rise to the peak, then a half cosine.

    `floor` is the share of the peak at which the cosine ends.
    """
    fall = floor + (1 - floor) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, step / total)))
    return peak * min(1.0, (step + 1) / warm_up) * fall


def short_warm_up(recipe: Recipe, total: int) -> int:
    """The recipe's warm-up, at most a fifth of all steps: a small corpus has few."""
    return min(recipe.warm_up, max(1, total // 5))


def bucketed(lengths: Integers, size: int, rng: np.random.Generator) -> list[Integers]:
    """Batches of examples of similar length, in an order drawn from `rng`."""
    # Sorted within groups of batches only: sorted as a whole, equal lengths would always meet in one batch.
    shuffled = rng.permutation(len(lengths))
    batches: list[Integers] = []
    for start in range(0, len(shuffled), size * BUCKET):
        bucket = shuffled[start : start + size * BUCKET]
        bucket = bucket[np.argsort(lengths[bucket], kind="stable")]
        batches += [bucket[at : at + size] for at in range(0, len(bucket), size)]
    return [batches[number] for number in rng.permutation(len(batches))]
