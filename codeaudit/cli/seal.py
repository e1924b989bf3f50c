"""The commands `codeaudit seal` and `codeaudit unseal`: checkpoints under a secret key."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from codeaudit.cli.options import real_path
from codeaudit.cli.output import note, show_text
from codeaudit.transforms.errors import CannotAudit, ModelError, UsageError

if TYPE_CHECKING:
    from codeaudit.transforms.columns.keys import Key
    from codeaudit.transforms.columns.layout import Layout

SCHEMES: Final = ("columns", "cipher")
"""Repeated here so that the help imports no framework; a test compares them with those of `sealing`."""
Command = TypeVar("Command", bound=Callable[..., object])

CIPHER: Final = "use --scheme cipher"
READABLE: Final = 0o077
"""The bits of a file's mode that let other users read it."""


def _key_option(text: str) -> Callable[[Command], Command]:
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option("--key", "key_file", type=kind, required=True, metavar="FILE", help=text)


_out_option: Final = click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="A new or empty folder."
)


@click.command()
@click.argument("checkpoint", metavar="CHECKPOINT")
@_key_option("The secret. A new one is written if there is no such file; only its owner can read it.")
@_out_option
@click.option(
    "--scheme",
    type=click.Choice(SCHEMES),
    default="columns",
    show_default=True,
    help="columns: permute the hidden columns of the blocks. The copy loads and answers worse; anyone "
    "with the base weights can reverse it. cipher: encrypt every number (AES-GCM); only the key reverses it.",
)
@click.option(
    "--inner/--no-inner",
    default=True,
    show_default=True,
    help="With columns: also permute the parts inside a block, such as heads. They lock nothing.",
)
def seal(checkpoint: str, key_file: Path, out: Path, scheme: str, inner: bool) -> int:
    """Permute or encrypt a checkpoint under a secret key.

    CHECKPOINT is a folder of Hugging Face (config.json and model.safetensors, or shards), a folder written by
    `codeaudit train`, or a bundled name. The copy in DIR keeps configuration and tokenizer in the clear.
    Only the key restores the weights: keep it, but not beside the copy.

    Columns only obfuscate. Use cipher if the weights have to stay secret.

    \b
    Examples:
      codeaudit seal spe-checkpoint --key my.key --out sealed/
      codeaudit seal ./my-model --key my.key --out sealed/ --scheme cipher
    """
    from codeaudit.transforms.columns import SEAL, sealing

    folder = _checkpoint(checkpoint)
    _check_places(folder, key_file, out)
    if (folder / SEAL).exists():  # before minutes of tracing
        raise ModelError(f"{str(folder)!r} is sealed already")
    layout, outside = sealing.EMPTY, frozenset[str]()
    if scheme == "columns":
        layout, outside = _planned(str(folder), inner)
    for name in sealing.left_behind(folder):
        note(f"not copied: {name}")
    with _key(key_file) as key:
        sealing.seal(folder, out, key, scheme=scheme, layout=layout, outside=outside)  # type: ignore[arg-type]
    show_text(f"sealed {checkpoint} in {out}; key {key_file}\n")
    return 0


@click.command()
@click.argument("sealed", metavar="SEALED", type=click.Path(path_type=Path))
@_key_option("The key that it was sealed with.")
@_out_option
def unseal(sealed: Path, key_file: Path, out: Path) -> int:
    """Restore a sealed checkpoint, bit for bit.

    With a wrong key, or where a file was changed, added or removed, nothing is written.

    \b
    Example:
      codeaudit unseal sealed/ --key my.key --out mine/
    """
    from codeaudit.transforms.columns import sealing
    from codeaudit.transforms.columns.keys import Key

    if not sealed.is_dir():
        raise ModelError(f"no sealed checkpoint at {str(sealed)!r}: there is no such folder")
    unsealed = sealing.unseal(sealed, out, Key.read(key_file))
    if unsealed.old_tags is not None:
        note("sealed by an earlier version, which covered the weights only; seal again to cover all files")
    show_text(f"unsealed {sealed} in {out}\n")
    return 0


def _checkpoint(place: str) -> Path:
    """The folder of a checkpoint; nothing is loaded."""
    from codeaudit.audit import checkpoints

    # A bundled name wins over a folder of that name here; `./NAME` is always the folder.
    bundled = checkpoints.FOLDER / place
    folder = (
        bundled
        if "/" not in place and (bundled / "config.json").is_file()
        else Path(os.path.expanduser(place))
    )
    if not folder.is_dir():
        raise ModelError(f"no checkpoint {place!r}: neither a folder nor a bundled name")
    if not (folder / "config.json").is_file():
        raise ModelError(f"{place!r} is no checkpoint: it has no config.json")
    return folder


def _check_places(folder: Path, key_file: Path, out: Path) -> None:
    """Check that nothing is overwritten, and that the key is not stored with the checkpoint."""
    # A key beside the weights is copied with them, and then locks nothing.
    for place, noun in ((out, "sealed"), (folder, "plain")):
        if real_path(key_file).is_relative_to(real_path(place)):
            raise UsageError(f"--key {str(key_file)!r} lies in the {noun} checkpoint; keep it elsewhere")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CannotAudit(f"{str(out)!r} exists and is not an empty folder")
    # A note and no refusal: some file systems know no modes.
    if key_file.exists() and key_file.stat().st_mode & READABLE:
        note(f"{key_file} can be read by others; chmod 600 keeps it to its owner")


def _planned(place: str, inner: bool) -> "tuple[Layout, frozenset[str]]":
    from codeaudit.audit.papers.permutation_equivariance.sealing import open_checkpoint, plan

    note("tracing the model, and proving that it computes the same when permuted")
    opened = open_checkpoint(place)
    try:
        planned = plan(opened, inner=inner)
    except ModelError as error:
        message = str(error)
        raise ModelError(message if CIPHER in message else f"{message}; {CIPHER}") from error
    moved = len(planned.layout.tensors) - len(planned.outside)
    note(
        f"permuted: {len(planned.layout.sizes)} groups in {moved} tensors, {planned.layout.bits:,.0f} bits; "
        f"of them against embeddings and head: {_bits(planned.layout, planned.locking):,.0f}"
    )
    note(
        f"proved in {'double' if planned.double else 'single'} precision: outputs differ by at most "
        f"{planned.proved.forward:.0e}, gradients by {planned.proved.backward:.0e}; without the key outputs "
        f"differ by {planned.change:.0%} of the largest"
    )
    return planned.layout, planned.outside


def _bits(layout: "Layout", groups: int) -> float:
    return layout.only({number: number for number in range(groups)}).bits


@contextmanager
def _key(path: Path) -> "Iterator[Key]":
    """The key in a file. A new key is written before use, and removed if nothing was sealed."""
    from codeaudit.transforms.columns.keys import Key

    if path.exists():
        yield Key.read(path)
        return
    key = Key.new()
    # Before the checkpoint: nothing could restore a sealed copy without its key.
    key.write(path)
    try:
        yield key
    except BaseException:
        # Nothing was sealed with it; an orphaned key would be taken for that of something.
        path.unlink(missing_ok=True)
        raise
    note(f"new key in {path}; nothing else restores the weights from the sealed copy")
