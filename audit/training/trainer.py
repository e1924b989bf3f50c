"""What the training loops share: steps and epochs, saving, stopping, and going on where it stopped."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from codeaudit.audit.papers.spe_attention.examples import Integers
from codeaudit.audit.training import state
from codeaudit.audit.training.state import Standing
from codeaudit.transforms.errors import ModelError

BUCKET: Final = 50
"""Batches among which examples are sorted by length."""
SAVE_SECONDS: Final = 60.0

P = TypeVar("P", bound=Standing)
Watched = TypeVar("Watched", bound=Standing, contravariant=True)
Batch = TypeVar("Batch")


class Monitor(Protocol[Watched]):
    """Who watches."""

    def stepped(self, progress: Watched, loss: float) -> None:
        """After every step."""
        ...

    def epoch(self, progress: Watched) -> None:
        """After every epoch; the last entry of its `epochs` is new."""
        ...


class Sitting(ABC, Generic[P, Batch]):
    """A training from where it stands to its end, or to where it is stopped."""

    def __init__(
        self,
        network: torch.nn.Module,
        optimiser: torch.optim.Optimizer,
        *,
        progress: P,
        path: Path,
        identity: Mapping[str, object],
        per_epoch: int,
        total: int,
        clip: float,
        patience: int,
    ) -> None:
        """`identity` is what a saved state must have been made with; `progress` where a new training begins;
        `patience` is after how many epochs without a better one there is no more to be had.

        Raises:
            ModelError: the saved state cannot be used.
        """
        self._network, self._optimiser = network, optimiser
        self._progress, self._path, self._identity = progress, path, identity
        self._per_epoch, self._total, self._clip = per_epoch, total, clip
        self._patience = patience
        self._best: dict[str, Tensor] = {}
        self._network.train()
        self._resume()

    @abstractmethod
    def _batches(self, epoch: int) -> Sequence[Batch]:
        """Those of an epoch, always the same."""

    @abstractmethod
    def _step(self, batch: Batch) -> float:
        """Learn from one; gives the loss."""

    @abstractmethod
    def _finish_epoch(self) -> None:
        """Judge the weights, and keep them where they are the best so far."""

    def _is_tired(self) -> bool:
        """Whether nothing better came for too long."""
        progress = self._progress
        return len(progress.epochs) - 1 - max(progress.best_epoch, 0) >= self._patience

    def run(self, monitor: Monitor[P], stop: Callable[[], bool]) -> None:
        """Train on; `stop` is asked after every step.

        Raises:
            Interrupted: it said so; the state is saved.
        """
        began, before = time.monotonic(), self._progress.seconds
        saved = began
        progress = self._progress
        for batch in self._remaining():
            loss = self._step(batch)
            progress.seconds = before + time.monotonic() - began
            monitor.stepped(progress, loss)
            if progress.step % self._per_epoch == 0 or progress.step == self._total:
                self._finish_epoch()
                monitor.epoch(progress)
            if stop() and not self._over():
                self._save()
                raise state.Interrupted
            if time.monotonic() - saved >= SAVE_SECONDS:
                self._save()
                saved = time.monotonic()
        progress.ended = True
        self._save()

    def _remaining(self) -> Iterator[Batch]:
        """The batches from the present step to the last, or to where there is no more to be had."""
        while not self._over():
            epoch, done = divmod(self._progress.step, self._per_epoch)
            for batch in self._batches(epoch)[done:]:
                if self._over():
                    return
                yield batch

    def _over(self) -> bool:
        return self._progress.ended or self._progress.step >= self._total or self._is_tired()

    def _set_rate(self, rate: float) -> None:
        """The learning rate of what is learned next."""
        for group in self._optimiser.param_groups:
            group["lr"] = rate

    def _learn(self, loss: Tensor, count: int) -> float:
        """One step down the gradient of the loss of so many examples."""
        progress = self._progress
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), self._clip)
        self._optimiser.step()
        value = loss.item()
        if not math.isfinite(value):
            raise ModelError(
                f"training diverged at step {progress.step}: loss {value}; take a smaller --rate"
            )
        progress.step += 1
        progress.samples += count
        progress.loss_sum += value
        return value

    def _end_epoch(self) -> tuple[int, float]:
        """The number of the epoch that ends, and its mean loss."""
        progress = self._progress
        epoch = (progress.step - 1) // self._per_epoch
        loss = progress.loss_sum / (progress.step - epoch * self._per_epoch)
        progress.loss_sum = 0.0
        return epoch, loss

    def _keep(self) -> None:
        """Keep the present weights as the best."""
        self._best = {name: value.cpu().clone() for name, value in self._network.state_dict().items()}

    def _save(self) -> None:
        tensors = {f"now/{name}": value for name, value in self._network.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in self._best.items()}
        state.save(
            self._path,
            recipe=self._identity,
            progress=self._progress,
            tensors=tensors,
            optimiser=self._optimiser,
        )

    def _resume(self) -> None:
        kind = type(self._progress)
        found = state.load(self._path, recipe=self._identity, optimiser=self._optimiser, kind=kind)
        if found is not None:
            self._progress, tensors = found
            self._network.load_state_dict(_under("now/", tensors))
            self._best = _under("best/", tensors)


def cosine(peak: float, step: int, total: int, *, warm_up: int, floor: float) -> float:
    """The learning rate of a step counted from 0: up to the peak in a straight line, and down to that share
    of it by a half cosine.
    """
    fall = floor + (1 - floor) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, step / total)))
    return peak * min(1.0, (step + 1) / warm_up) * fall


def bucketed(lengths: Integers, size: int, rng: np.random.Generator) -> list[Integers]:
    """Batches of examples of like length, in an order that `rng` draws."""
    shuffled = rng.permutation(len(lengths))
    found: list[Integers] = []
    for start in range(0, len(shuffled), size * BUCKET):
        bucket = shuffled[start : start + size * BUCKET]
        bucket = bucket[np.argsort(lengths[bucket], kind="stable")]
        found += [bucket[at : at + size] for at in range(0, len(bucket), size)]
    return [found[number] for number in rng.permutation(len(found))]


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
