"""Split learning with row permutation: Table 6 of Xu et al. (2024), scaled down, and an attack that it lacks.

    python benchmarks/split_learning.py
    python benchmarks/split_learning.py --radii 0.05,0.1,0.2,0.3,0.4 --curves FILE.svg

The second form is Figure 7: the low-pass filter alone, of several sizes.

A client embeds pictures and sends the embedded patches to a server, which has the blocks; the server tries to
get the pictures back. The pictures are procedural: 32 x 32, one of six shapes, its place, size, slope, shades
and texture at random. The inversion model is a small transformer that learns from pairs of what the server
receives and pictures of the same kind, as an honest-but-curious server can make them.

`+` permutes the rows with a new permutation for each batch. It needs no training of its own: the weights
would be the same (theorem 4.2; measured by `columns_equivariance.py`). The published
attack (`inversion`) reads rows by their place, so that permuted rows mean little to it. The `positional`
attack looks first at which position is written into each row, since position embeddings are added before
the rows are permuted: it learns that by ridge regression, puts the rows in order by linear assignment, and
then inverts. It learns the positions from rows that are not permuted, so it needs the client's embedding. The
paper's attacker does not: it sees only pairs of pictures and protected features.

SSIM has a Gaussian window of 11 x 11 and PSNR a peak of 1; low is private. F-SIM is not computed: it needs a
face recognition network, which is not at hand, and faces.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import torch
import torch.nn.functional as F
from curves import Panel, draw
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn

SIDE: Final = 32
PATCH: Final = 4
ROWS: Final = (SIDE // PATCH) ** 2
WIDTH: Final = 64
KINDS: Final = 6
TRAIN: Final = 4000
TEST: Final = 512
BATCH: Final = 32
STEPS: Final = 600
"""Training steps of the classifier."""
ATTACK_STEPS: Final = 350
NOISE: Final = 1.0
"""Standard deviation of the Gaussian noise, as a multiple of the features' own."""
RADIUS: Final = 0.2
"""Half the side of the square of frequencies that the low-pass filter keeps, as a share of the spectrum."""
KEPT: Final = 0.5
"""The share of rows that stay in their own picture under batch shuffling."""

Defence = Callable[[Tensor, torch.Generator], Tensor]
"""Changes the client's features, (B, N, D), before they are sent."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    name: str
    defence: Defence
    permuted: bool


def pictures(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """(count, 1, 32, 32) in 0 to 1, and the shape in each."""
    generator = torch.Generator().manual_seed(seed)

    def draw(low: float, high: float) -> Tensor:
        return (low + (high - low) * torch.rand(count, generator=generator))[:, None, None]

    kind = torch.randint(0, KINDS, (count,), generator=generator)
    axis = torch.linspace(-1, 1, SIDE)
    x, y = axis[None, None, :] - draw(-0.4, 0.4), axis[None, :, None] - draw(-0.4, 0.4)
    turn = draw(0, 0.5)
    across, along = x * turn.cos() + y * turn.sin(), -x * turn.sin() + y * turn.cos()
    size = draw(0.3, 0.6)
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
    mask = masks[kind, torch.arange(count)]
    ground = draw(0.0, 0.4) + 0.15 * draw(0.2, 1) * (1 + torch.sin(9 * (x * draw(-1, 1) + y)))
    shade = draw(0.75, 1.0)
    return torch.where(mask, shade, ground).clamp(0, 1)[:, None], kind


def patches(images: Tensor) -> Tensor:
    """(B, 1, 32, 32) to (B, N, 16)."""
    return F.unfold(images, PATCH, stride=PATCH).transpose(1, 2)


def joined(rows: Tensor) -> Tensor:
    """(B, N, 16) to (B, 1, 32, 32)."""
    return F.fold(rows.transpose(1, 2), SIDE, PATCH, stride=PATCH)


def blocks(count: int) -> nn.Module:
    """Pre-norm transformer blocks without dropout: equivariant to the order of rows."""
    layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, count, enable_nested_tensor=False)


class Client(nn.Module):
    """F1 and F2: embedding with positions, and the head."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(PATCH**2, WIDTH)
        self.positions = nn.Parameter(torch.randn(1, ROWS, WIDTH) * 0.5)
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, KINDS))

    def features(self, images: Tensor) -> Tensor:
        """(B, N, D) before any defence."""
        found: Tensor = self.embed(patches(images)) + self.positions
        return found

    def answer(self, rows: Tensor) -> Tensor:
        """(B, N, D) from the server to (B, K)."""
        found: Tensor = self.head(rows.mean(1))
        return found


class Inversion(nn.Module):
    """The server's inversion model: from rows to pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.into = nn.Linear(WIDTH, WIDTH)
        self.positions = nn.Parameter(torch.zeros(1, ROWS, WIDTH))
        self.blocks = blocks(2)
        self.out = nn.Linear(WIDTH, PATCH**2)

    def forward(self, rows: Tensor) -> Tensor:
        """(B, N, D) to (B, 1, 32, 32)."""
        return joined(self.out(self.blocks(self.into(rows) + self.positions)).sigmoid())


def nothing(rows: Tensor, generator: torch.Generator) -> Tensor:
    """Plain split learning."""
    return rows


def gaussian(rows: Tensor, generator: torch.Generator) -> Tensor:
    """GN: noise on the features."""
    return rows + NOISE * rows.detach().std() * torch.randn(rows.shape, generator=generator)


def low_pass(rows: Tensor, generator: torch.Generator, radius: float = RADIUS) -> Tensor:
    """LP: the low frequencies of the (N, D) features."""
    spectrum = torch.fft.fftshift(torch.fft.fft2(rows), dim=(-2, -1))
    masks = [(torch.arange(size) - size // 2).abs() <= radius * size for size in rows.shape[1:]]
    kept = spectrum * (masks[0][:, None] & masks[1][None, :])
    found: Tensor = torch.fft.ifft2(torch.fft.ifftshift(kept, dim=(-2, -1))).real
    return found


def batch_shuffled(rows: Tensor, generator: torch.Generator) -> Tensor:
    """BS: rows in another order in each picture, and a share of them from other pictures of the batch."""
    return _exchanged(rows, generator)[0]


def _exchanged(rows: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Shuffled rows, and where each of them came from."""
    batch, count = rows.shape[:2]
    order = torch.rand(batch, count, generator=generator).argsort(1)
    source = torch.arange(batch)[:, None] * count + order
    first = int(KEPT * count)
    moving = source[:, first:]
    mixed = moving[torch.randperm(batch, generator=generator)] if batch > 1 else moving
    column = torch.rand(batch, count - first, generator=generator).argsort(0)
    source = torch.cat([source[:, :first], mixed.gather(0, column)], 1)
    return rows.flatten(0, 1)[source.flatten()].view_as(rows), source


def permuted(rows: Tensor, generator: torch.Generator) -> Tensor:
    """The rows of all pictures of a batch in one random order: P_R Z."""
    return rows[:, torch.randperm(ROWS, generator=generator)]


def passed(client: Client, server: nn.Module, images: Tensor, row: Row, generator: torch.Generator) -> Tensor:
    """(B, K): through the client, the server, and the client again."""
    rows = client.features(images)
    source: Tensor | None = None
    if row.defence is batch_shuffled:
        rows, source = _exchanged(rows, generator)
    else:
        rows = row.defence(rows, generator)
    order = torch.randperm(ROWS, generator=generator) if row.permuted else torch.arange(ROWS)
    rows = server(rows[:, order])[:, order.argsort()]
    if source is not None:
        rows = rows.flatten(0, 1)[source.flatten().argsort()].view_as(rows)
    return client.answer(rows)


def trained(row: Row) -> tuple[Client, nn.Module]:
    """Client and server after training under a defence."""
    torch.manual_seed(0)
    client, server = Client(), blocks(3)
    generator = torch.Generator().manual_seed(1)
    images, kinds = pictures(TRAIN, 0)
    weights = [*client.parameters(), *server.parameters()]
    optimiser = torch.optim.AdamW(weights, lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=STEPS)
    for _ in range(STEPS):
        some = torch.randint(0, TRAIN, (BATCH,), generator=generator)
        optimiser.zero_grad()
        F.cross_entropy(passed(client, server, images[some], row, generator), kinds[some]).backward()
        optimiser.step()
        schedule.step()
    return client, server


@torch.no_grad()
def accuracy(client: Client, server: nn.Module, row: Row) -> float:
    """The accuracy on pictures that were not trained on."""
    generator = torch.Generator().manual_seed(5)
    images, kinds = pictures(TEST, 1)
    parts = [
        passed(client, server, part, row, generator).argmax(1) == kind
        for part, kind in zip(images.split(BATCH), kinds.split(BATCH), strict=True)
    ]
    return float(torch.cat(parts).float().mean())


def received(client: Client, images: Tensor, row: Row, generator: torch.Generator) -> Tensor:
    """The features that the server receives for a batch."""
    with torch.no_grad():
        rows = row.defence(client.features(images), generator)
        return permuted(rows, generator) if row.permuted else rows


class Positions:
    """Which position is written into a row, by ridge regression on rows that are not permuted.

    An attacker who has such rows has the client's embedding, and is stronger than the paper's.
    """

    def __init__(self, client: Client, row: Row, images: Tensor, generator: torch.Generator) -> None:
        rows = client.features(images).detach()
        if row.defence is not batch_shuffled:
            rows = row.defence(rows, generator)
        flat = F.pad(rows.flatten(0, 1), (0, 1), value=1.0)
        wanted = torch.eye(ROWS).repeat(len(images), 1)
        self._weights = torch.linalg.solve(flat.T @ flat + torch.eye(WIDTH + 1), flat.T @ wanted)

    def ordered(self, rows: Tensor, *, together: bool) -> Tensor:
        """Rows back in order; `together` where all pictures of a batch have one order."""
        likely = F.pad(rows, (0, 1), value=1.0) @ self._weights
        if together:
            likely = likely.mean(0, keepdim=True).expand_as(likely)
        found = []
        for one, some in zip(likely, rows, strict=True):
            place = torch.from_numpy(linear_sum_assignment(-one.T.numpy())[1])
            found.append(some[place])
        return torch.stack(found)


def attacked(client: Client, row: Row, *, positional: bool) -> tuple[float, float]:
    """SSIM and PSNR of what the server gets back."""
    torch.manual_seed(2)
    generator = torch.Generator().manual_seed(3)
    images, _ = pictures(TRAIN, 2)
    model = Inversion()
    reader = Positions(client, row, images[:200], generator) if positional else None
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=ATTACK_STEPS)

    def seen(part: Tensor) -> Tensor:
        rows = received(client, part, row, generator)
        if reader is None:
            return rows
        return reader.ordered(rows, together=row.permuted and row.defence is not batch_shuffled)

    for _ in range(ATTACK_STEPS):
        part = images[torch.randint(0, TRAIN, (BATCH,), generator=generator)]
        optimiser.zero_grad()
        F.mse_loss(model(seen(part)), part).backward()
        optimiser.step()
        schedule.step()
    images, _ = pictures(TEST, 4)
    with torch.no_grad():
        guess = torch.cat([model(seen(part)) for part in images.split(BATCH)])
    return ssim(guess, images), psnr(guess, images)


def ssim(one: Tensor, other: Tensor) -> float:
    """Structural similarity (Wang et al. 2004), mean over pictures."""
    steps = torch.arange(11) - 5.0
    line = (-(steps**2) / (2 * 1.5**2)).exp()
    window = (line[:, None] * line[None, :] / line.sum() ** 2)[None, None]

    def mean(picture: Tensor) -> Tensor:
        return F.conv2d(picture, window)

    a, b = mean(one), mean(other)
    spread, other_spread, shared = mean(one**2) - a**2, mean(other**2) - b**2, mean(one * other) - a * b
    c, d = 0.01**2, 0.03**2
    found = (2 * a * b + c) * (2 * shared + d) / ((a**2 + b**2 + c) * (spread + other_spread + d))
    return float(found.mean())


def psnr(one: Tensor, other: Tensor) -> float:
    """Peak signal to noise in dB, mean over pictures."""
    return float((-10 * ((one - other) ** 2).flatten(1).mean(1).log10()).mean())


def main(words: Sequence[str] | None = None) -> None:
    """Print the table, and draw the curves if there are several radii."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--radii", metavar="R,…", help="low-pass filters of these sizes in the place of all defences"
    )
    parser.add_argument("--curves", type=Path, metavar="FILE.svg", help="a picture; needs --radii")
    asked = parser.parse_args(words)
    torch.set_num_threads(1)
    began = time.process_time()
    defences: dict[str, Defence] = {"SL": nothing, "GN": gaussian, "LP": low_pass, "BS": batch_shuffled}
    if asked.curves and not asked.radii:
        parser.error("--curves needs --radii")
    if asked.radii:
        defences = {
            f"LP {radius}": partial(low_pass, radius=float(radius)) for radius in asked.radii.split(",")
        }
    print("| | accuracy | SSIM, inversion | PSNR, inversion | SSIM, positional | PSNR, positional |")
    print("|---|---|---|---|---|---|")
    points: dict[str, list[tuple[float, float]]] = {}
    for name, defence in defences.items():
        client, server = trained(Row(name, defence, permuted=False))
        for plus in (False, True):
            row = Row(name + "+" * plus, defence, permuted=plus)
            right = accuracy(client, server, row)
            cells = []
            for positional in (False, True):
                found = attacked(client, row, positional=positional)
                cells += [f"{one:.3f}" for one in found]
                kind = f"LP{'+' * plus}, {'positional' if positional else 'inversion'}"
                points.setdefault(kind, []).append((found[0], 100 * right))
            print(f"| {row.name} | {right:.1%} | {' | '.join(cells)} |", flush=True)
    images, _ = pictures(TRAIN, 2)
    guess = images.mean(0, keepdim=True).expand(TEST, -1, -1, -1)
    other, _ = pictures(TEST, 4)
    print(f"| the mean picture | | {ssim(guess, other):.3f} | {psnr(guess, other):.3f} | | |")
    if asked.curves:
        draw([Panel("SSIM of the attack (low is private)", "accuracy in percent", points)], asked.curves)
    print(f"\n{time.process_time() - began:.0f} CPU seconds")


if __name__ == "__main__":
    main()
