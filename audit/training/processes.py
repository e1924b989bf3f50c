"""Several processes that train one network together, as torchrun or accelerate start them.

Each computes some parts of a batch, and the gradients are added. So all take the step that one process would
take. They share the folder of the checkpoint; the first alone validates, and writes there.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeVar

import torch
from torch import Tensor, distributed, nn

from codeaudit.transforms.errors import UsageError

T = TypeVar("T")

PATIENCE: Final = timedelta(hours=2)
"""How long the others wait while the first reads a corpus or validates."""


@dataclass(frozen=True, slots=True)
class Processes:
    """This process among all."""

    rank: int = 0
    count: int = 1
    device: str = "cpu"
    """Where what they exchange lies."""

    @property
    def first(self) -> bool:
        """Whether this is the one that validates and writes."""
        return self.rank == 0

    def added(self, number: float) -> float:
        """The sum of each process's number."""
        if self.count == 1:
            return number
        total = torch.tensor(number, dtype=torch.float64, device=self.device)
        distributed.all_reduce(total)
        return total.item()

    def add_gradients(self, network: nn.Module) -> None:
        """Replace each gradient by the sum over all processes. One that no process has stays absent."""
        if self.count == 1:
            return
        weights = [weight for weight in network.parameters() if weight.requires_grad]
        has = torch.tensor([weight.grad is not None for weight in weights], device=self.device).int()
        distributed.all_reduce(has)
        present = [weight for weight, number in zip(weights, has.tolist(), strict=True) if number]
        if not present:
            return
        # One exchange for all, because each has a latency.
        flat = torch.cat(
            [
                (torch.zeros_like(weight) if weight.grad is None else weight.grad).flatten()
                for weight in present
            ]
        )
        distributed.all_reduce(flat)
        for weight, part in zip(
            present, torch.split(flat, [weight.numel() for weight in present]), strict=True
        ):
            weight.grad = part.view_as(weight)

    def from_first(self, value: T | None) -> T:
        """The value of the first process."""
        values: list[T | None] = [value]
        if self.count > 1:
            distributed.broadcast_object_list(values, device=torch.device(self.device))
        assert values[0] is not None
        return values[0]

    def gathered(self, tensor: Tensor) -> list[Tensor]:
        """The small tensors of all processes, on the first; the others get their own."""
        if self.count == 1:
            return [tensor]
        tensors: list[Tensor] = [tensor] * self.count
        distributed.all_gather_object(tensors, tensor)
        return tensors if self.first else [tensor]

    @contextmanager
    def first_alone(self) -> Iterator[None]:
        """The first process goes through the block before the others do."""
        if self.count > 1 and not self.first:
            distributed.barrier()
        yield
        if self.count > 1 and self.first:
            distributed.barrier()


ALONE: Final = Processes()


@contextmanager
def joined(device: str) -> Iterator[Processes]:
    """This process among those that torchrun started with it, if it did.

    Raises:
        UsageError: its variables are no numbers.
    """
    try:
        count, rank = (
            int(os.environ.get(name, default)) for name, default in (("WORLD_SIZE", "1"), ("RANK", "0"))
        )
    except ValueError as error:
        raise UsageError(f"WORLD_SIZE and RANK must be numbers: {error}; start with torchrun") from error
    if count == 1:
        yield ALONE
        return
    on_gpu = torch.device(device).type == "cuda"
    if on_gpu:
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if on_gpu else "gloo", timeout=PATIENCE)
    try:
        yield Processes(rank, count, device if on_gpu else "cpu")
    finally:
        distributed.destroy_process_group()


def own_device(device: str) -> str:
    """The device of this process: of several, each takes the GPU of its local number."""
    return f"cuda:{os.environ['LOCAL_RANK']}" if device == "cuda" and "LOCAL_RANK" in os.environ else device
