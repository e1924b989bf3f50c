"""Finds the folder of a model: a local one, or a snapshot of the hub. Only safetensors are read."""

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.utils.tqdm import disable_progress_bars, enable_progress_bars

from codeaudit.audit.models.hf.quiet import in_one_line
from codeaudit.transforms.errors import ModelError, UsageError

TIMEOUT: Final = 10.0
"""Seconds that the hub has to answer whether it has a model."""

WEIGHTS: Final = "model.safetensors"
INDEX: Final = "model.safetensors.index.json"
"""The file that says which tensor is in which file, if there are several."""
_FOREIGN: Final = ("*.bin", "*.pt", "*.pth", "*.h5", "*.msgpack", "*.gguf", "*.onnx")
_ADAPTER: Final = "adapter_config.json"

_DECISIVE: Final = frozenset({".safetensors", ".json", ".txt", ".model", ".jinja", ".tiktoken", ".py"})
"""Endings of files that may decide an answer; the fingerprint covers them."""
_TEXTS: Final = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken")
_WEIGHTS: Final = (WEIGHTS, INDEX, "model-*-of-*.safetensors")
_ELSEWHERE: Final = ("*/*.safetensors", "onnx/*", "openvino/*", "original/*")

_HUB_NAME: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)?")


def find(name: str, *, revision: str | None, code: bool) -> Path:
    """The folder of a name; files that are not here yet are fetched. `code`: Python files, too.

    Raises:
        UsageError: there is no name, or a revision is given for a local folder.
        ModelError: there is no such folder or model, or the hub cannot be reached.
    """
    if not name:
        raise UsageError("model 'hf/' has no name; write hf/NAME, or hf/PATH of a folder")
    path = Path(name).expanduser()
    if path.is_dir():
        if revision is not None:
            raise UsageError(f"model 'hf/{name}' is a folder here and has no revision {revision!r}")
        return path
    if path.is_file():
        raise ModelError(f"model 'hf/{name}' is a file; name the folder that save_pretrained wrote")
    if name.startswith((".", "/", "~")) or not _HUB_NAME.fullmatch(name):
        raise ModelError(f"no folder {name!r} for model 'hf/{name}'")
    return _snapshot(name, revision, code)


def check_weights(folder: Path, name: str) -> None:
    """Check that the weights are there as safetensors.

    Raises:
        ModelError: they are not, or some of their files are missing.
    """
    if (folder / INDEX).is_file():
        try:
            shards = sorted(
                set(json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values())
            )
            lost = [shard for shard in shards if not (folder / shard).is_file()]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"cannot load {name!r}: {INDEX} is damaged; copy the model again") from error
        if lost:
            raise ModelError(f"cannot load {name!r}: {lost[0]} is missing; copy the model again")
    elif not (folder / WEIGHTS).is_file():
        other = sorted(path.name for pattern in _FOREIGN for path in folder.glob(pattern))
        if (folder / _ADAPTER).is_file():
            why = "it is an adapter; merge it into its model and save that"
        elif other:
            why = (
                f"only safetensors are read, and its weights are in {other[0]}; where you trust that file, "
                "load it with transformers and write it again with save_pretrained"
            )
        else:
            why = f"no {WEIGHTS} in {str(folder)!r}"
        raise ModelError(f"cannot load {name!r}: {why}")


def digest(folder: Path) -> str:
    """A hash over the files of a model that may decide an answer."""
    found = hashlib.sha256()
    for path in sorted(_decisive(folder)):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        found.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return found.hexdigest()


def _decisive(folder: Path) -> Iterator[Path]:
    """The deciding files of the folder, and the configs of a sentence encoder's parts below it."""
    for path in [*folder.iterdir(), *folder.glob("*/config.json")]:
        if path.suffix in _DECISIVE and path.is_file():
            yield path


def _snapshot(name: str, revision: str | None, code: bool) -> Path:
    wanted = [*_TEXTS, *_WEIGHTS, *(["*.py"] if code else [])]
    silence = _silence(name, revision)
    try:
        with _bars_on_terminals_only():
            found = snapshot_download(
                name,
                revision=revision,
                allow_patterns=wanted,
                ignore_patterns=list(_ELSEWHERE),
                etag_timeout=TIMEOUT,
                local_files_only=bool(silence),
            )
    except Exception as error:  # any proxy or network error
        why = f"the hub gave no answer ({silence})" if silence else in_one_line(error)
        raise ModelError(
            f"no folder {name!r}, and cannot get the model 'hf/{name}': {why}; go online, or name a folder"
        ) from error
    return Path(found)


def _silence(name: str, revision: str | None) -> str:
    """Why the hub cannot be reached, so that only an earlier snapshot can be used; empty if it can.

    Raises:
        ModelError: the hub knows no such model or revision, or does not give access to it.
    """
    try:
        HfApi().model_info(name, revision=revision, timeout=TIMEOUT)
    except RevisionNotFoundError as error:
        raise ModelError(f"the model 'hf/{name}' has no revision {revision!r} on the hub") from error
    except GatedRepoError as error:
        raise ModelError(
            f"the model 'hf/{name}' is gated; ask for access on the hub, and set HF_TOKEN"
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelError(f"no folder {name!r} here, and no model of that name on the hub") from error
    except Exception as error:  # offline, refused, timed out, a proxy's page, …
        return in_one_line(error, most=80)
    return ""


@contextmanager
def _bars_on_terminals_only() -> Iterator[None]:
    """Progress bars of downloads only if stderr is a terminal."""
    if sys.stderr.isatty():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()
