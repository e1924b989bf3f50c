"""Split learning with row permutation (Xu et al., 2024: Table 6, Figures 3 and 7), and a further attack.

A client embeds pictures and sends the embedded patches to a server, which has the blocks; the server tries to
get the pictures back. The pictures are procedural: one of six shapes, its place, size, slope, shades and
texture at random. The inversion model is a small transformer that learns from pairs of what the server
receives and pictures of the same kind, as an honest-but-curious server can make them.

`+` permutes the rows with a new permutation for each batch. It needs no training of its own: the weights
would be the same (theorem 4.2; measured by `classifiers`). The published attack (inversion) reads rows by
their place, so that permuted rows mean little to it. The positional attack looks first at which position is
written into each row, since position embeddings are added before the rows are permuted: it learns that by
ridge regression, puts the rows in order by linear assignment, and then inverts. It learns the positions from
rows that are not permuted, so it needs the client's embedding. The paper's attacker does not: it sees only
pairs of pictures and protected features.

SSIM has a Gaussian window of 11 x 11 and PSNR a peak of 1; low is private. F-SIM is not computed: it needs a
face recognition network, which is not at hand, and faces.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import torch
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn

from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.experiments import Bench, Matrix, PaperTrial

KINDS: Final = 6
NOISE: Final = 1.0
"""Standard deviation of the Gaussian noise, as a multiple of the features' own."""
KEPT: Final = 0.5
"""The share of rows that stay in their own picture under batch shuffling."""
SHOWN: Final = 6
"""Pictures of Figure 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of pictures and networks."""

    side: int
    patch: int
    width: int
    layers: int
    heads: int
    train: int
    """Pictures to learn from."""
    tested: int
    steps: int
    """Of the training of client and server."""
    attack_steps: int
    batch: int
    rate: float
    device: str

    @property
    def rows(self) -> int:
        """Patches of a picture."""
        return (self.side // self.patch) ** 2

    def generator(self, seed: int) -> torch.Generator:
        """Of random numbers."""
        return torch.Generator(self.device).manual_seed(seed)

    def pictures(self, count: int, seed: int) -> "Pictures":
        """Pictures, which are drawn on the device."""
        return Pictures.of(count, seed, self.side, self.device)


Defence = Callable[[Tensor, torch.Generator], Tensor]
"""Changes the client's features, (B, N, D), before they are sent."""


@dataclass(frozen=True, slots=True)
class Protection:
    """What the client does to its features."""

    defence: Defence
    permuted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """Pictures in shades from 0 to 1. They are drawn when they are asked for, so many need no memory."""

    kinds: Tensor
    """(N,) the shape in each."""
    numbers: Sequence[Tensor]
    """(N,) each: place, size and the like, as in `_RANGES`."""
    side: int

    @classmethod
    def of(cls, count: int, seed: int, side: int, device: str) -> "Pictures":
        """So many pictures, which a seed decides."""
        generator = torch.Generator().manual_seed(seed)
        kinds = torch.randint(0, KINDS, (count,), generator=generator)
        numbers = [low + (high - low) * torch.rand(count, generator=generator) for low, high in _RANGES]
        return cls(kinds=kinds.to(device), numbers=[number.to(device) for number in numbers], side=side)

    def __getitem__(self, chosen: Tensor | slice) -> Tensor:
        """(B, 1, side, side) the chosen pictures."""
        numbers = [number[chosen][:, None, None] for number in self.numbers]
        return _drawn(self.kinds[chosen], numbers, self.side)[:, None]

    def batches(self, size: int = 256) -> Iterator[tuple[Tensor, Tensor]]:
        """All pictures in their order, (B, 1, side, side), with their kinds, (B,). The size bounds memory."""
        for first in range(0, len(self.kinds), size):
            chosen = slice(first, first + size)
            yield self[chosen], self.kinds[chosen]


_RANGES: Final = (
    *((-0.4, 0.4), (-0.4, 0.4), (0, 0.5), (0.3, 0.6)),
    *((0.0, 0.4), (0.2, 1), (-1, 1), (0.75, 1.0)),
)
"""Of the numbers that a picture is drawn from, in the order of `_drawn`."""


def _drawn(kind: Tensor, numbers: Sequence[Tensor], side: int) -> Tensor:
    """(B, side, side) in 0 to 1; `numbers` are (B, 1, 1) each."""
    right, down, turn, size, ground, contrast, slope, shade = numbers
    axis = torch.linspace(-1, 1, side, device=kind.device)
    x, y = axis[None, None, :] - right, axis[None, :, None] - down
    across, along = x * turn.cos() + y * turn.sin(), -x * turn.sin() + y * turn.cos()
    radius = (across**2 + along**2).sqrt()
    masks = torch.stack(
        [
            radius < size,
            (radius < size) & (radius > size * 0.6),
            (across.abs() < size) & (along.abs() < size * 0.8),
            (across.abs() < size * 0.25) & (along.abs() < size * 1.6),
            (across.abs() < size * 0.25) | (along.abs() < size * 0.25),
            (along > -size * 0.6) & (across.abs() * 1.6 + along < size),
        ]
    )
    mask = masks[kind, torch.arange(len(kind), device=kind.device)]
    background = ground + 0.15 * contrast * (1 + torch.sin(9 * (x * slope + y)))
    return torch.where(mask, shade, background).clamp(0, 1)


def patches(images: Tensor, patch: int) -> Tensor:
    """(B, 1, side, side) to (B, N, patch²)."""
    return F.unfold(images, patch, stride=patch).transpose(1, 2)


def joined(rows: Tensor, side: int, patch: int) -> Tensor:
    """(B, N, patch²) to (B, 1, side, side)."""
    return F.fold(rows.transpose(1, 2), side, patch, stride=patch)


def blocks(shape: Shape, count: int) -> nn.Module:
    """Pre-norm transformer blocks without dropout: equivariant to the order of rows."""
    width = shape.width
    layer = nn.TransformerEncoderLayer(
        width, shape.heads, 2 * width, dropout=0.0, batch_first=True, norm_first=True
    )
    return nn.TransformerEncoder(layer, count, enable_nested_tensor=False)


class SplitClient(nn.Module):
    """F1 and F2: embedding with positions, and the head."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.patch = shape.patch
        self.embed = nn.Linear(shape.patch**2, shape.width)
        self.positions = nn.Parameter(torch.randn(1, shape.rows, shape.width) * 0.5)
        self.head = nn.Sequential(nn.LayerNorm(shape.width), nn.Linear(shape.width, KINDS))

    def features(self, images: Tensor) -> Tensor:
        """(B, N, D) before any defence."""
        features: Tensor = self.embed(patches(images, self.patch)) + self.positions
        return features

    def answer(self, rows: Tensor) -> Tensor:
        """(B, N, D) from the server to (B, K)."""
        answer: Tensor = self.head(rows.mean(1))
        return answer


class Inversion(nn.Module):
    """The server's inversion model: from rows to pictures."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.into = nn.Linear(shape.width, shape.width)
        self.positions = nn.Parameter(torch.zeros(1, shape.rows, shape.width))
        self.blocks = blocks(shape, max(2, shape.layers // 3))
        self.out = nn.Linear(shape.width, shape.patch**2)

    def forward(self, rows: Tensor) -> Tensor:
        """(B, N, D) to (B, 1, side, side)."""
        pieces = self.out(self.blocks(self.into(rows) + self.positions)).sigmoid()
        return joined(pieces, self.shape.side, self.shape.patch)


def nothing(rows: Tensor, generator: torch.Generator) -> Tensor:
    """Plain split learning."""
    return rows


def gaussian(rows: Tensor, generator: torch.Generator) -> Tensor:
    """GN: noise on the features."""
    return rows + NOISE * rows.detach().std() * torch.randn(
        rows.shape, generator=generator, device=rows.device
    )


def low_pass(rows: Tensor, generator: torch.Generator, radius: float) -> Tensor:
    """LP: the low frequencies of the (N, D) features."""
    spectrum = torch.fft.fftshift(torch.fft.fft2(rows), dim=(-2, -1))
    masks = [
        (torch.arange(size, device=rows.device) - size // 2).abs() <= radius * size for size in rows.shape[1:]
    ]
    low = spectrum * (masks[0][:, None] & masks[1][None, :])
    filtered: Tensor = torch.fft.ifft2(torch.fft.ifftshift(low, dim=(-2, -1))).real
    return filtered


def batch_shuffled(rows: Tensor, generator: torch.Generator) -> Tensor:
    """BS: rows in another order in each picture, and a share of them from other pictures of the batch."""
    return _exchanged(rows, generator)[0]


def _exchanged(rows: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Shuffled rows, and where each of them came from."""
    batch, count = rows.shape[:2]
    device = rows.device
    order = torch.rand(batch, count, generator=generator, device=device).argsort(1)
    source = torch.arange(batch, device=device)[:, None] * count + order
    first = int(KEPT * count)
    moving = source[:, first:]
    mixed = moving[torch.randperm(batch, generator=generator, device=device)] if batch > 1 else moving
    column = torch.rand(batch, count - first, generator=generator, device=device).argsort(0)
    source = torch.cat([source[:, :first], mixed.gather(0, column)], 1)
    return rows.flatten(0, 1)[source.flatten()].view_as(rows), source


def permuted(rows: Tensor, generator: torch.Generator) -> Tensor:
    """The rows of all pictures of a batch in one random order: P_R Z."""
    return rows[:, torch.randperm(rows.shape[1], generator=generator, device=rows.device)]


def passed(
    client: SplitClient, server: nn.Module, images: Tensor, row: Protection, generator: torch.Generator
) -> Tensor:
    """(B, K): through the client, the server, and the client again."""
    rows = client.features(images)
    source: Tensor | None = None
    if row.defence is batch_shuffled:
        rows, source = _exchanged(rows, generator)
    else:
        rows = row.defence(rows, generator)
    count, device = rows.shape[1], rows.device
    order = torch.arange(count, device=device)
    if row.permuted:
        order = torch.randperm(count, generator=generator, device=device)
    rows = server(rows[:, order])[:, order.argsort()]
    if source is not None:
        rows = rows.flatten(0, 1)[source.flatten().argsort()].view_as(rows)
    return client.answer(rows)


def trained(row: Protection, shape: Shape, seed: int) -> tuple[SplitClient, nn.Module]:
    """Client and server after training under a defence."""
    torch.manual_seed(100 * seed)
    client, server = SplitClient(shape).to(shape.device), blocks(shape, shape.layers).to(shape.device)
    generator = shape.generator(100 * seed + 1)
    images = shape.pictures(shape.train, 0)
    weights = [*client.parameters(), *server.parameters()]
    optimiser = torch.optim.AdamW(weights, lr=shape.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, shape.rate, total_steps=shape.steps + 1)
    for _ in range(shape.steps):
        batch = torch.randint(0, shape.train, (shape.batch,), generator=generator, device=shape.device)
        optimiser.zero_grad()
        loss = F.cross_entropy(passed(client, server, images[batch], row, generator), images.kinds[batch])
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
    return client, server


@torch.no_grad()
def accuracy(client: SplitClient, server: nn.Module, row: Protection, shape: Shape) -> float:
    """The accuracy on pictures that were not trained on."""
    generator = shape.generator(5)
    parts = [
        passed(client, server, part, row, generator).argmax(1) == kinds
        for part, kinds in shape.pictures(shape.tested, 1).batches(shape.batch)
    ]
    return float(torch.cat(parts).float().mean())


def received(client: SplitClient, images: Tensor, row: Protection, generator: torch.Generator) -> Tensor:
    """The features that the server receives for a batch."""
    with torch.no_grad():
        rows = row.defence(client.features(images), generator)
        return permuted(rows, generator) if row.permuted else rows


class PositionReader:
    """Which position is written into a row, by ridge regression on rows that are not permuted.

    An attacker who has such rows has the client's embedding, and is stronger than the paper's.
    """

    def __init__(
        self, client: SplitClient, row: Protection, images: Tensor, generator: torch.Generator
    ) -> None:
        rows = client.features(images).detach()
        if row.defence is not batch_shuffled:
            rows = row.defence(rows, generator)
        flat = F.pad(rows.flatten(0, 1), (0, 1), value=1.0)
        count, width = rows.shape[1:]
        targets = torch.eye(count, device=rows.device).repeat(len(images), 1)
        ridge = torch.eye(width + 1, device=rows.device)
        self._weights = torch.linalg.solve(flat.T @ flat + ridge, flat.T @ targets)

    def ordered(self, rows: Tensor, *, together: bool) -> Tensor:
        """Rows back in order; `together` where all pictures of a batch have one order."""
        likely = F.pad(rows, (0, 1), value=1.0) @ self._weights
        if together:
            likely = likely.mean(0, keepdim=True).expand_as(likely)
        ordered = []
        for chances, row in zip(likely, rows, strict=True):
            place = torch.from_numpy(linear_sum_assignment(-chances.T.cpu().numpy())[1])
            ordered.append(row[place])
        return torch.stack(ordered)


def attacked(client: SplitClient, row: Protection, shape: Shape, seed: int, *, positional: bool) -> Tensor:
    """What the server gets back of test pictures."""
    torch.manual_seed(100 * seed + 2)
    generator = shape.generator(100 * seed + 3)
    images = shape.pictures(shape.train, 2)
    model = Inversion(shape).to(shape.device)
    reader = PositionReader(client, row, images[:200], generator) if positional else None
    optimiser = torch.optim.AdamW(model.parameters(), lr=shape.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, shape.rate, total_steps=shape.attack_steps + 1)

    def rows_of(part: Tensor) -> Tensor:
        rows = received(client, part, row, generator)
        if reader is None:
            return rows
        return reader.ordered(rows, together=row.permuted and row.defence is not batch_shuffled)

    for _ in range(shape.attack_steps):
        batch = torch.randint(0, shape.train, (shape.batch,), generator=generator, device=shape.device)
        optimiser.zero_grad()
        wanted = images[batch]
        loss = F.mse_loss(model(rows_of(wanted)), wanted)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
    tested = shape.pictures(shape.tested, 4)
    with torch.no_grad():
        return torch.cat([model(rows_of(part)) for part, _ in tested.batches(shape.batch)])


def ssim(one: Tensor, other: Tensor) -> float:
    """Structural similarity (Wang et al. 2004), mean over pictures."""
    steps = torch.arange(11) - 5.0
    line = (-(steps**2) / (2 * 1.5**2)).exp()
    window = (line[:, None] * line[None, :] / line.sum() ** 2)[None, None].to(one.device)

    def mean(picture: Tensor) -> Tensor:
        return F.conv2d(picture, window)

    a, b = mean(one), mean(other)
    spread, other_spread, shared = mean(one**2) - a**2, mean(other**2) - b**2, mean(one * other) - a * b
    c, d = 0.01**2, 0.03**2
    similarity = (2 * a * b + c) * (2 * shared + d) / ((a**2 + b**2 + c) * (spread + other_spread + d))
    return float(similarity.mean())


def psnr(one: Tensor, other: Tensor) -> float:
    """Peak signal to noise in dB, mean over pictures."""
    return float((-10 * ((one - other) ** 2).flatten(1).mean(1).log10()).mean())


def protections(settings: Mapping[str, Any], name: str) -> Protection:
    """By the name of a row, such as `LP+` or `LP 0.3`."""
    plain, _, radius = name.removesuffix("+").partition(" ")
    filtered = partial(low_pass, radius=float(radius or settings["radius"]))
    by_name: dict[str, Defence] = {"SL": nothing, "GN": gaussian, "LP": filtered, "BS": batch_shuffled}
    return Protection(by_name[plain], permuted=name.endswith("+"))


def table(bench: Bench) -> Iterator[PaperTrial]:
    """The trials of defences, with and without permuted rows."""
    settings = {name: value for name, value in bench.settings.items() if name != "radius"}
    shape = Shape(**settings, device=checkpoint.usable_device(bench.device))
    by_key: dict[tuple[str, int], tuple[SplitClient, nn.Module]] = {}

    def measure(name: str, seed: int) -> list[PaperTrial]:
        row, key = protections(bench.settings, name), (name.removesuffix("+"), seed)
        if key not in by_key:
            by_key[key] = trained(Protection(row.defence, permuted=False), shape, seed)
        client, server = by_key[key]
        scores = {"accuracy": accuracy(client, server, row, shape)}
        matrices: dict[str, Matrix] = {}
        for label in ("", "positional "):
            guess = attacked(client, row, shape, seed, positional=bool(label))
            scores |= {f"{label}SSIM": ssim(guess, images), f"{label}PSNR": psnr(guess, images)}
            if not label:
                matrices["pictures"] = _side_by_side(guess)
        return [PaperTrial(row=name, seed=seed, scores=scores, matrices=matrices)]

    images = shape.pictures(shape.tested, 4)[:]
    if "SL" in bench.rows:
        yield PaperTrial(row=ORIGINAL, matrices={"pictures": _side_by_side(images)})
    yield from bench.trials(measure)
    sums = [part.sum(0, keepdim=True) for part, _ in shape.pictures(shape.train, 2).batches()]
    guess = (torch.cat(sums).sum(0, keepdim=True) / shape.train).expand(len(images), -1, -1, -1)
    yield PaperTrial(
        row="the mean picture", scores={"SSIM": ssim(guess, images), "PSNR": psnr(guess, images)}
    )


ORIGINAL: Final = "the pictures"
"""The row of what an attack wants to get back."""


def _side_by_side(images: Tensor) -> list[list[float]]:
    """The first pictures side by side."""
    numbers: list[list[float]] = torch.cat(list(images[:SHOWN, 0].cpu()), 1).round(decimals=3).tolist()
    return numbers
