"""The command `codeaudit train`: one of the papers' networks, from a corpus to a checkpoint folder.

It shows progress, and stops on Ctrl-C with the state saved.
"""

import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from codeaudit.audit.corpora.tables import renaming
from codeaudit.audit.papers import presets, registry
from codeaudit.audit.papers.presets import PRESETS
from codeaudit.audit.registry import TASKS
from codeaudit.audit.store import put_aside
from codeaudit.auditing import versions
from codeaudit.cli.main import ending_signals
from codeaudit.cli.options import (
    POSITIVE,
    Real,
    Whole,
    complete_corpora,
    complete_tasks,
    completing,
    on_command_line,
    run_option,
)
from codeaudit.cli.output import Terminal, keep_clean, note
from codeaudit.cli.streams import beneath
from codeaudit.options import default_workers
from codeaudit.transforms.dependence.relations import DEPENDENCES, TRAINABLE
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.folders import reserved
from codeaudit.transforms.grammar import counted

if TYPE_CHECKING:
    from codeaudit.audit.models.hf.encoder import EncoderStart
    from codeaudit.audit.papers.checkpoint import CheckpointLearner
    from codeaudit.audit.papers.registry import TrainingRequest
    from codeaudit.audit.papers.start import Start
    from codeaudit.audit.training.logs import Moment
    from codeaudit.audit.training.trainer import Execution, Monitor, TrainingProgress


LINE_EVERY: Final = 20.0
"""Seconds between lines where stderr is no terminal."""


@contextmanager
def asked_to_stop() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C takes effect after the current step, so that the saved state is complete."""
    asked = False
    before: dict[signal.Signals, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        restore()
        # Not by `note`: the signal may arrive while sys.stderr is writing, which must not be entered twice.
        with suppress(BrokenPipeError):
            os.write(2, b"codeaudit: finishing this step; Ctrl-C again ends without saving\n")

    try:
        for number in ending_signals():
            before[number] = signal.signal(number, on_interrupt)
    except ValueError:  # not the main thread, where no signal arrives
        yield lambda: False
        return
    try:
        yield lambda: asked
    finally:
        restore()


class TrainingMonitor:
    """Loss, validation score, rate and time left: a bar on a terminal, lines elsewhere."""

    def __init__(
        self,
        label: str,
        learner: "CheckpointLearner[Any, Any]",
        others: "Sequence[Monitor]" = (),
        *,
        silent: bool = False,
    ) -> None:
        """`others` are told as well; a silent one shows nothing."""
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        from codeaudit.audit.training.logs import Moment, TrainingSpeed  # these bring torch
        from codeaudit.audit.training.speed import peak

        self._others, self._moment, self._pace = others, Moment.of, TrainingSpeed.between

        console = Terminal(beneath(sys.stderr))
        self._label, self._total, self._tell = label, learner.total, learner.epoch_line
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )
        self._silent = silent
        self._has_bar = console.is_terminal and not silent
        self._task = self._bar.add_task(label, total=learner.total)
        self._last_line = 0.0
        self._first: tuple[int, Moment] | None = None
        self._loss = 0.0
        self._peak = partial(peak, learner.device, half=learner.half)

    def __enter__(self) -> "TrainingMonitor":
        self._live = self._bar if self._has_bar else nullcontext()
        self._live.__enter__()
        keep_clean()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)

    def stepped(self, progress: "TrainingProgress", loss: float) -> None:
        """Show the step."""
        # A moving average over about fifty steps, because the loss of single batches jumps. The first step
        # starts it.
        self._loss = loss if self._first is None else 0.98 * self._loss + 0.02 * loss
        # Rate and time left count from the first step of this process: a resumed training has earlier steps
        # with their time.
        self._first = self._first or (progress.step, self._moment(progress))
        for monitor in self._others:
            monitor.stepped(progress, loss)
        if self._has_bar:
            self._bar.update(self._task, completed=progress.step, description=self._line(progress))
        elif progress.seconds - self._last_line >= LINE_EVERY and not self._silent:
            self._last_line = progress.seconds
            note(self._line(progress))

    def epoch(self, progress: "TrainingProgress") -> None:
        """Tell the validation score."""
        for monitor in self._others:
            monitor.epoch(progress)
        if self._silent:
            return
        last = progress.epochs[-1]
        note(f"{self._label}: epoch {last['epoch'] + 1:.0f}, loss {last['loss']:.2f}, {self._tell(last)}")

    def _line(self, progress: "TrainingProgress") -> str:
        ahead = ""
        if self._first is not None and progress.seconds > self._first[1].seconds:
            steps, began = progress.step - self._first[0], self._first[1]
            seconds = progress.seconds - began.seconds
            left = (self._total - progress.step) * seconds / steps
            ahead = f", {steps / seconds:.1f} steps/s, {self._speed(began, progress)}{left:,.0f} s left"
        return f"{self._label}: step {progress.step:,} of {self._total:,}, loss {self._loss:.2f}{ahead}"

    def _speed(self, began: "Moment", progress: "TrainingProgress") -> str:
        pace = self._pace(began, self._moment(progress))
        if not pace.tokens:
            return ""
        share = f" ({pace.operations / self._peak():.0%} of peak)" if pace.operations else ""
        return f"{pace.tokens:,.0f} tokens/s{share}, "


def trained(
    learner: "CheckpointLearner[Any, Any]",
    network: str,
    request: "TrainingRequest",
    out: Path,
    *,
    execution: "Execution",
    logs: Sequence[str] = (),
    start: "Start | EncoderStart | None" = None,
) -> Sequence[str]:
    """Train into a folder with progress on stderr, and write the checkpoint. Returns the results as lines.

    Raises:
        UsageError: the sizes of the network do not fit together.
        RunError: another training writes into the folder.
        KeyboardInterrupt: the user pressed Ctrl-C; the state is saved.
    """
    from codeaudit.audit.papers.checkpoint import CONFIG, FILES
    from codeaudit.audit.training import trainer  # brings torch
    from codeaudit.audit.training.logs import logged

    is_new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    if not execution.processes.first:
        logs = ()
    else:
        note(f"{network}: {learner.size}, {counted(learner.total, 'step')}")
    with reserved(out) if execution.processes.first else nullcontext():
        try:
            with (
                logged(logs, out, learner) as log,
                TrainingMonitor(
                    network, learner, [log] if logs else [], silent=not execution.processes.first
                ) as monitor,
                asked_to_stop() as stop,
            ):
                learned = trainer.train(
                    learner,
                    folder=out,
                    monitor=monitor,
                    stop=stop,
                    execution=execution,
                    tell=note if execution.processes.first else None,
                )
        except trainer.Interrupted:
            raise KeyboardInterrupt(f"interrupted; the same command resumes from {str(out)!r}") from None
        except ValueError as error:
            raise UsageError(f"these sizes do not fit together: {error}") from error
        finally:
            if is_new:
                _remove_if_empty(out)
        if not execution.processes.first:
            return ()
        progress = learned.progress
        if progress.step < learner.total:
            patience = learner.settings.patience
            note(
                f"{network}: ended after {progress.step:,} of {counted(learner.total, 'step')}: "
                f"no better validation in {counted(patience, 'epoch')} (--patience)"
            )
        if progress.epochs:
            note(f"{network}: kept the weights of epoch {progress.best_epoch + 1}")
        corpora = {"train": request.train, "valid": request.valid, "test": request.test}
        about: dict[str, object] = {
            "corpora": {split: spec and without_folders(spec) for split, spec in corpora.items()},
            "versions": versions(),
        }
        if start is not None:
            about["from"] = {"checkpoint": without_folders(start.place), "hash": start.digest}
        if (out / CONFIG).exists():
            note(f"the model that was in {out} is kept in {put_aside(out, FILES)}")
        lines = learner.write(out, learned, about=about)
        (out / trainer.STATE_FILE).unlink(missing_ok=True)
        return lines


def _remove_if_empty(folder: Path) -> None:
    """Remove the folder of a training that did not begin; what is in use or holds something stays."""
    with suppress(OSError):
        folder.rmdir()


def _usable(cache: Path) -> Path:
    """The folder of the cache, which exists then and can be written to."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache):
            pass
    except OSError as error:
        why = error.strerror or error
        raise RunError(f"cannot use the cache {str(cache)!r}: {why}; choose another with --cache") from error
    return cache


def _demand_own(out: Path) -> None:
    """Check that a training shares no folder with other files: its own have common names.

    Raises:
        RunError: the folder holds files and no training.
    """
    from codeaudit.audit.papers.checkpoint import CARD
    from codeaudit.audit.training.logs import LEFT
    from codeaudit.audit.training.trainer import STATE_FILE

    names = {path.name for path in out.iterdir()} if out.is_dir() else set[str]()
    others = sorted(name for name in names - LEFT if not name.startswith("."))
    if others and names.isdisjoint({CARD, STATE_FILE}):
        examples = ", ".join(others[:3] + ["…"] * (len(others) > 3))
        raise RunError(
            f"{str(out)!r} holds other files ({examples}) and no training; give a new folder as --out"
        )
    if out.exists() and not out.is_dir():
        raise RunError(f"{str(out)!r} is a file; give a folder as --out")


def without_folders(spec: str) -> str:
    """A corpus or checkpoint with the last part of an absolute path alone.

    A model card is published with its checkpoint, and need not tell where its files lay.
    """
    return ABSOLUTE.sub("", spec)


ABSOLUTE: Final = re.compile(r"(?:(?<=:)|^)(?:~|[A-Za-z]:)?[/\\](?:[^:]*[/\\])?(?=[^:/\\])")
"""The folders of an absolute path, which may stand behind the name of a kind of corpus."""
HUB: Final = "hf/"
OF_ENCODER: Final = ("width", "layers", "heads", "inner", "vocabulary", "pretrain_epochs", "bag_epochs")
"""Settings that a pretrained encoder decides, or that teach what it has learned."""
SPELLINGS: Final = {"orders": "augment", "line_positions": "no-line-positions", "implied": "no-implied"}
"""Options whose names on the command line are others."""


@click.command(epilog=f"NETWORK is one of {', '.join(registry.NETWORKS)}.")
@click.argument("model", metavar="NETWORK", type=click.Choice(registry.NETWORKS))
@click.option(
    "--task",
    metavar="NAME",
    shell_complete=complete_tasks,
    help="The task to learn.  [default: that of NETWORK's paper]",
)
@click.option(
    "--corpus", required=True, metavar="SPEC", shell_complete=complete_corpora, help="What to learn from."
)
@click.option(
    "--from",
    "start",
    metavar="CHECKPOINT",
    help="Fine-tune: begin with a folder or bundled checkpoint of NETWORK. "
    "spe, symc, vanilla: also with hf/NAME, an encoder such as CodeBERT.",
)
@click.option(
    "--valid",
    metavar="SPEC",
    help="Validation corpus.  [default: one file, or class of renamings, in 20; one group in 10]",
)
@click.option(
    "--test", metavar="SPEC", help="Test corpus.  [default: another file or class in 20; three groups in 10]"
)
@click.option(
    "--labels",
    metavar="SPEC",
    help="Renamer's: COLUMN[/DIVISOR] of the corpus; for throughput also llvm-mca[:PROCESSOR].  "
    "[default: the corpus's own, else llvm-mca]",
)
@run_option("columns")
@click.option("--size", type=click.Choice(["tiny", "mini", "small"]), help="Renamer's: that BERT's sizes.")
@click.option(
    "--readout", type=click.Choice(["sum", "mean", "cls"]), help="Renamer's: how terms become a number."
)
@click.option(
    "--no-implied",
    "implied",
    flag_value=False,
    default=None,
    help="throughput: leave out blocks with implied registers, as the paper does.",
)
@click.option("--device", metavar="NAME", help="Of the training: cpu, cuda, cuda:1, auto.  [default: cpu]")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Checkpoint folder."
)
@click.option(
    "--preset",
    metavar="NAME",
    shell_complete=completing(PRESETS),
    help=f"A paper's sizes and settings, which other options may change: {', '.join(PRESETS)}.",
)
@click.option(
    "-O",
    "--option",
    "structural",
    multiple=True,
    metavar="NAME=VALUE",
    help="Of the network's structure, such as in_line=2 or degree=prefix; may be repeated.",
)
@click.option("--pretrain-epochs", type=Whole(min=0), help="spe, …: epochs that find hidden words, at first.")
@click.option(
    "--bag-epochs", type=Whole(min=0), help="Epochs without the blocks of the network, before all others."
)
@click.option("--epochs", type=POSITIVE, help="Epochs with the blocks.")
@click.option(
    "--steps",
    type=POSITIVE,
    help="Steps with the blocks, instead of --epochs. --pretrain-epochs and --bag-epochs come before.",
)
@click.option("--batch", type=POSITIVE, help="Examples a step.")
@click.option(
    "--accumulate",
    type=POSITIVE,
    default=1,
    metavar="N",
    help="Compute a batch in N parts, one after the other: less memory, the same steps.",
)
@click.option("--rate", type=Real(min=0, min_open=True), help="Peak learning rate.")
@click.option("--width", type=POSITIVE, help="Of the hidden states.")
@click.option("--layers", type=POSITIVE, help="Blocks.")
@click.option("--inner", type=POSITIVE, help="Inner width of the feed-forward branches.")
@click.option("--heads", type=POSITIVE, help="Attention heads; must divide the width.")
@click.option("--dropout", type=Real(min=0, max=1, max_open=True), help="Share left out.")
@click.option("--window", type=POSITIVE, help="Longest input in tokens; longer ones are left out.")
@click.option("--vocabulary", type=POSITIVE, help="Words known.")
@click.option("--rarest-label", type=POSITIVE, help="Names that a subtoken must stand in to be a label.")
@click.option("--patience", type=POSITIVE, help="Epochs without progress before it ends.")
@click.option("--augment", "orders", type=Whole(min=0), help="Legal orders per function to learn from.")
@click.option(
    "--dependence",
    type=click.Choice(DEPENDENCES),
    help="spe, symc: the relation of the masks, as of `codeaudit run --dependence`.  [default: strict]",
)
@click.option("--mask-mode", type=click.Choice(["hadamard", "additive"]), help="spe: where the mask goes.")
@click.option("--all-heads", is_flag=True, default=None, help="spe: a mask in every head (Table 3).")
@click.option("--no-line-positions", "line_positions", flag_value=False, default=None, help="spe: w.o. pe.")
@click.option(
    "--pairwise",
    type=Real(min=0),
    metavar="WEIGHT",
    help="detection of flaws: of the loss that a bug has a higher logit than its fix.  [default: 0]",
)
@click.option(
    "--locate",
    type=Real(min=0),
    metavar="WEIGHT",
    help="detection of flaws: of the loss that the tokens of a bug have the highest logits.  [default: 0]",
)
@click.option("--sign", type=click.Choice(["1", "-1"]), help="symc: whether far (1) or near (-1) lines gain.")
@click.option(
    "--half/--full",
    default=None,
    help="Multiply in bfloat16 or in float32.  [default: --precision auto; Renamer on a CPU: --full]",
)
@click.option(
    "--precision",
    type=click.Choice(["auto", "bfloat16", "float32"]),
    help="The same. auto: bfloat16 where it is faster; on a CPU half a second of products decides.",
)
@click.option("--recompute", is_flag=True, help="Compute blocks again instead of keeping their insides.")
@click.option("--compile", "compiled", is_flag=True, help="Compile the blocks; worth it for long trainings.")
@click.option(
    "--limit",
    type=POSITIVE,
    metavar="N",
    help="For a trial: read only N samples of each corpus, spread over it.  [default: all]",
)
@click.option(
    "--test-limit",
    type=POSITIVE,
    metavar="N",
    help="For a trial: validate and test on only N samples of each corpus.  [default: all]",
)
@click.option(
    "--log",
    "logs",
    metavar="KIND,…",
    shell_complete=completing(("csv", "tensorboard", "wandb")),
    help="Write a row for each step: csv (DIR/training.csv), tensorboard, wandb (these need the package).",
)
@click.option("--seed", type=Whole(), help="Decides the weights and the order of the data.")
@click.option("--workers", type=POSITIVE, default=default_workers, help="Reading processes.")
@click.option("--threads", type=POSITIVE, help="Of the arithmetic.  [default: torch's]")
@click.option(
    "--cache",
    envvar="CODEAUDIT_CACHE",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where features are kept.  [default: the user's cache folder]",
)
def train(
    model: str,
    task: str | None,
    corpus: str,
    valid: str | None,
    test: str | None,
    out: Path,
    workers: int,
    threads: int | None,
    cache: Path | None,
    columns: str | None,
    accumulate: int,
    start: str | None,
    preset: str | None,
    structural: tuple[str, ...],
    precision: str | None,
    recompute: bool,
    compiled: bool,
    limit: int | None,
    test_limit: int | None,
    logs: str | None,
    **values: Any,
) -> None:
    """Train NETWORK on a corpus. Ctrl-C saves; the same command resumes.

    \b
    Examples:
      codeaudit train spe --corpus src/ --out my-spe
      codeaudit train vanilla --corpus table.jsonl.gz:train --valid table.jsonl.gz:valid --out my-vanilla
      codeaudit train spe --corpus table.parquet --columns source=code,name=func_name --out my-spe
      codeaudit train renamer --task throughput --corpus blocks.csv --labels llvm-mca --out my-renamer
      codeaudit train code --task code-modelling --corpus src/ --out my-code
      codeaudit train spe --from hf/./codebert --corpus src/ --out my-spe-codebert
    """
    family, task = registry.family(model, task)
    # `None` means not given: the defaults are those of the recipe of each paper.
    options = {
        name: value
        for name, value in values.items()
        if value is not None and (on_command_line(name) or not registry.foreign(family, task, name))
    }
    if values.get("steps") is not None and values.get("epochs") is not None and on_command_line("epochs"):
        raise UsageError("--steps goes instead of --epochs; leave one out")
    folder = family.home.rpartition(".")[2]
    structure = presets.structure(folder, structural)
    if preset is not None:
        chosen = presets.preset(preset, folder, model)
        options = {**_of_task(chosen.settings, family, task), **options}
        structure |= presets.fitting(chosen, structure, model)
        note(f"{preset}: weights in the paper {chosen.weights}")
    if options.get("dependence") not in (None, *TRAINABLE):
        raise UsageError(
            f"--dependence {options['dependence']}: masks need a relation that the analysis alone decides; "
            "give strict, returning or paper"
        )
    for name in options:
        if registry.foreign(family, task, name):
            # The message differs: an option of another network, or an option that no network takes for this
            # task.
            known = any(
                not registry.foreign(other, task, name) for other in registry.FAMILIES if task in other.tasks
            )
            flag = SPELLINGS.get(name, name).replace("_", "-")
            raise UsageError(f"--{flag} is no option of {model if known else f'task {task!r}'}")
    named = renaming(columns)
    # Here, so that `codeaudit train --help` and wrong options need no torch.
    import torch

    from codeaudit.audit.cache import default_folder
    from codeaudit.audit.papers.checkpoint import usable_device
    from codeaudit.audit.papers.start import begin, opened
    from codeaudit.audit.training.logs import log_kinds
    from codeaudit.audit.training.processes import joined, own_device
    from codeaudit.audit.training.trainer import Execution

    encoder = None
    if start is not None and start.startswith(HUB):
        encoder = _encoder(start, model, task, family, values)
    begun = None if start is None or encoder is not None else opened(start, model)
    if begun is not None:
        sizes, structure_before = begun.defaults(folder)
        # The first stage learns words without blocks, which are trained already.
        options = {**_of_task({"pretrain_epochs": 0, "bag_epochs": 0, **sizes}, family, task), **options}
        structure = {**structure_before, **structure}
    device = usable_device(own_device(options.get("device", "cpu")))
    kinds = () if logs is None else log_kinds(logs)
    if threads is not None:
        torch.set_num_threads(threads)
    _demand_own(out)
    cache = _usable(cache or default_folder())
    with joined(device) as processes:
        settings = _precision(precision, options, device, out, exact=family.exact)
        if "half" in settings:
            # Each process measures, and two may differ.
            settings["half"] = processes.from_first(settings["half"])
            if processes.first:
                note(f"precision: {'bfloat16' if settings['half'] else 'float32'}")
        request = registry.TrainingRequest(
            network=model,
            task=TASKS.get(task),
            options=options | settings,
            train=corpus,
            valid=valid,
            test=test,
            cache=cache,
            workers=workers,
            note=note if processes.first else lambda text: None,
            columns=named,
            limit=limit,
            test_limit=test_limit,
            structure=structure,
            encoder=encoder,
        )
        # The others are silent, and find in the cache what the first has read.
        with processes.first_alone():
            learner = registry.learner(family, request)
        if begun is not None:
            begin(learner, begun)
        execution = Execution(
            accumulate=accumulate, recompute=recompute, compile=compiled, processes=processes
        )
        before = begun or encoder
        results = trained(learner, model, request, out, execution=execution, logs=kinds, start=before)
    for number, line in enumerate(results):
        click.echo(f"  {line}" if number else f"{out}: {line}")


def _encoder(
    start: str, model: str, task: str, family: registry.NetworkFamily, values: Mapping[str, object]
) -> "EncoderStart":
    """The pretrained encoder of `--from hf/NAME`.

    Raises:
        UsageError: the network cannot begin with one, or an option is the encoder's.
        ModelError: it cannot be read.
    """
    if model not in family.encoders:
        able = ", ".join(encoder for other in registry.FAMILIES for encoder in other.encoders)
        raise UsageError(
            f"--from {start}: {model} for {task!r} cannot begin with an encoder of the library; "
            f"{able} for 'function-name' can"
        )
    for name in OF_ENCODER:
        if values.get(name):
            raise UsageError(
                f"--{name.replace('_', '-')} does not go with --from {start}: the encoder decides it"
            )
    from codeaudit.audit.models.hf.encoder import opened

    return opened(start.removeprefix(HUB))


def _of_task(settings: Mapping[str, object], family: registry.NetworkFamily, task: str) -> dict[str, object]:
    """The settings of a preset that the training for a task has."""
    return {name: value for name, value in settings.items() if not registry.foreign(family, task, name)}


def _precision(
    name: str | None, options: dict[str, Any], device: str, out: Path, *, exact: bool
) -> dict[str, Any]:
    """The settings `device` and `half` of the recipe; `exact`: float32 on a processor unless asked.

    Raises:
        UsageError: two precisions are asked for.
    """
    from codeaudit.audit.training.speed import faster_in_half
    from codeaudit.audit.training.trainer import STATE_FILE, saved_recipe

    if name is not None and "half" in options:
        raise UsageError(f"--precision {name} does not go with --half or --full; leave one out")
    settings: dict[str, Any] = {} if device == "cpu" else {"device": device}
    # A resumed training goes on in its precision, also if the measurement would say otherwise today.
    before = saved_recipe(out / STATE_FILE).get("half")
    if name == "auto" or (name is None and "half" not in options and (device != "cpu" or not exact)):
        return settings | {"half": faster_in_half(device) if before is None else before}
    return settings if name is None else settings | {"half": name == "bfloat16"}
