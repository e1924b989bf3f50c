"""The command `codeaudit train`: one of the papers' networks, from a corpus to a checkpoint folder."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from os import cpu_count
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from audit.cli.progress import note
from transforms.errors import UsageError

if TYPE_CHECKING:
    from audit.training.folder import Finished
    from audit.training.recipe import Recipe
    from audit.training.state import Progress

NETWORKS: Final = ("spe", "symc", "vanilla")
"""Named here so that the help needs no torch; a test compares them with the registry."""
SPE_ONLY: Final = ("mask_mode", "all_heads", "line_positions")
LINE_EVERY: Final = 20.0
"""Seconds between lines where stderr is no terminal."""
POSITIVE: Final = click.IntRange(min=1)


@click.command()
@click.argument("model", type=click.Choice(NETWORKS))
@click.option("--task", default="function-name", show_default=True, metavar="NAME", help="What is learned.")
@click.option("--corpus", required=True, metavar="SPEC", help="Functions to learn from.")
@click.option("--valid", metavar="SPEC", help="Validation corpus.  [default: one file in 20 of the corpus]")
@click.option("--test", metavar="SPEC", help="Test corpus.  [default: another file in 20]")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Checkpoint folder."
)
@click.option("--bag-epochs", type=click.IntRange(min=0), help="Epochs without the blocks, at first.")
@click.option("--epochs", type=POSITIVE, help="Epochs with them.")
@click.option("--steps", type=POSITIVE, help="Steps with them, instead of --epochs.")
@click.option("--batch", type=POSITIVE, help="Functions a step.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Peak learning rate.")
@click.option("--width", type=POSITIVE, help="Of the hidden states.")
@click.option("--layers", type=POSITIVE, help="Blocks.")
@click.option("--heads", type=POSITIVE, help="Attention heads; must divide the width.")
@click.option("--dropout", type=click.FloatRange(min=0, max=1, max_open=True), help="Share left out.")
@click.option("--window", type=POSITIVE, help="Longest input in tokens; longer functions are left out.")
@click.option("--vocabulary", type=POSITIVE, help="Words known.")
@click.option("--rarest-label", type=POSITIVE, help="Names that a subtoken must stand in to be a label.")
@click.option("--patience", type=POSITIVE, help="Epochs without progress before it ends.")
@click.option(
    "--augment", "orders", type=click.IntRange(min=0), help="Legal orders per function to learn from."
)
@click.option("--mask-mode", type=click.Choice(["hadamard", "additive"]), help="spe: where the mask goes.")
@click.option("--all-heads", is_flag=True, default=None, help="spe: a mask in every head (Table 3).")
@click.option("--no-line-positions", "line_positions", flag_value=False, default=None, help="spe: w.o. pe.")
@click.option("--sign", type=click.Choice(["1", "-1"]), help="symc: whether far (1) or near (-1) lines gain.")
@click.option("--half/--full", default=None, help="Multiply in bfloat16 (default) or in float32.")
@click.option("--seed", type=int, help="Decides the weights and the order of the data.")
@click.option("--workers", type=POSITIVE, default=lambda: min(4, cpu_count() or 1), help="Reading processes.")
@click.option("--threads", type=POSITIVE, help="Of the arithmetic.  [default: torch's]")
@click.option("--cache", type=click.Path(path_type=Path), metavar="DIR", help="Where features are kept.")
def train(
    model: str,
    task: str,
    corpus: str,
    valid: str | None,
    test: str | None,
    out: Path,
    workers: int,
    threads: int | None,
    cache: Path | None,
    **given: Any,
) -> None:
    """Train MODEL on a corpus. Ctrl-C saves; the same command resumes."""
    recipe = _recipe(model, given)
    if task != "function-name":
        raise UsageError(f"no network is trained for task {task!r}; known: function-name")
    import torch

    from audit.cache import default_folder

    if threads is not None:
        torch.set_num_threads(threads)
    specs = {"train": corpus, "valid": valid, "test": test}
    found = _trained(
        recipe, task=task, specs=specs, out=out, cache=cache or default_folder(), workers=workers
    )
    micro = found.test.micro
    click.echo(f"{out}: test F1 {micro:.1%} on {found.test.count:,} functions")
    for baseline in found.baselines:
        click.echo(f"  {baseline.name}: {baseline.test.micro:.1%}")


def _recipe(model: str, given: dict[str, Any]) -> "Recipe":
    """The defaults with what was asked."""
    from audit.training.recipe import Recipe

    chosen = {name: value for name, value in given.items() if value is not None}
    options: dict[str, object] = {name: chosen.pop(name) for name in SPE_ONLY if name in chosen}
    if options and model != "spe":
        raise UsageError(f"--{next(iter(options)).replace('_', '-')} is an option of spe, not of {model}")
    if "sign" in chosen:
        if model != "symc":
            raise UsageError(f"--sign is an option of symc, not of {model}")
        options["sign"] = int(chosen.pop("sign"))
    recipe = Recipe(network=model, options=options, **chosen)
    if recipe.width % recipe.heads:
        raise UsageError(f"--heads {recipe.heads} does not divide --width {recipe.width}")
    return recipe


def _trained(
    recipe: "Recipe", *, task: str, specs: dict[str, str | None], out: Path, cache: Path, workers: int
) -> "Finished":
    from audit.cli.versions import versions
    from audit.corpora.specs import corpus
    from audit.registry import TASKS
    from audit.training import folder, loop, material
    from audit.training.state import FILE

    corpora = {name: corpus(spec) if spec is not None else None for name, spec in specs.items()}
    if corpora["train"] is None:
        raise UsageError("--corpus is missing")
    splits = material.read(TASKS.get(task), corpora["train"], corpora["valid"], corpora["test"])
    read = material.prepare(splits, recipe, cache=cache / "features", workers=workers, note=note)
    out.mkdir(parents=True, exist_ok=True)
    plan = loop.Plan.of(recipe, len(read.train))
    note(
        f"{recipe.network}: {len(read.train):,} functions, {len(read.labels):,} labels, {plan.total:,} steps"
    )
    try:
        with _Monitor(recipe.network, plan.total) as monitor, _asked_to_stop() as stop:
            trained = loop.train(recipe, read, folder=out, monitor=monitor, stop=stop)
    except ValueError as error:
        raise UsageError(f"these sizes do not fit together: {error}") from error
    except loop.Interrupted:
        raise KeyboardInterrupt(f"interrupted; the same command resumes from {str(out)!r}") from None
    about = {"corpora": specs, "versions": versions()}
    finished = folder.write(out, trained, read, task=task, recipe=recipe, about=about)
    (out / FILE).unlink(missing_ok=True)
    return finished


@contextmanager
def _asked_to_stop() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C is heard after the step in hand, so that what is saved is whole."""
    asked = False
    before: Any = None

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, before)
        note("finishing this step; Ctrl-C again ends without saving")

    try:
        before = signal.signal(signal.SIGINT, on_interrupt)
    except ValueError:  # not the main thread, where no signal arrives
        yield lambda: False
        return
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


class _Monitor:
    """Loss, validation F1, rate and time left: a bar on a terminal, lines elsewhere."""

    def __init__(self, label: str, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._label, self._total = label, total
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )
        self._shown = console.is_terminal
        self._task = self._bar.add_task(label, total=total)
        self._told = 0.0
        self._first: tuple[int, float] | None = None
        self._loss = 0.0

    def __enter__(self) -> "_Monitor":
        self._live = self._bar if self._shown else nullcontext()
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)

    def stepped(self, progress: "Progress", loss: float) -> None:
        """Show the step."""
        self._loss = loss if self._first is None else 0.98 * self._loss + 0.02 * loss
        self._first = self._first or (progress.step, progress.seconds)
        if self._shown:
            self._bar.update(self._task, completed=progress.step, description=self._line(progress))
        elif progress.seconds - self._told >= LINE_EVERY:
            self._told = progress.seconds
            note(self._line(progress))

    def epoch(self, progress: "Progress") -> None:
        """Tell the validation score."""
        last = progress.epochs[-1]
        note(
            f"{self._label}: epoch {last['epoch'] + 1:.0f}, loss {last['loss']:.2f}, "
            f"validation F1 {last['valid']:.1%} at threshold {last['threshold']:.1f}"
        )

    def _line(self, progress: "Progress") -> str:
        since, began = self._first or (0, 0.0)
        steps, seconds = progress.step - since, progress.seconds - began
        ahead = ""
        if steps and seconds:
            left = (self._total - progress.step) * seconds / steps
            ahead = f", {steps / seconds:.1f} steps/s, {left:,.0f} s left"
        return f"{self._label}: step {progress.step:,} of {self._total:,}, loss {self._loss:.2f}{ahead}"
