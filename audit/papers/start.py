"""A trained checkpoint as the beginning of another training: fine-tuning.

Words, labels and types are those of the new corpus. Rows of tables are taken over by what they stand for, so
a word that the checkpoint knows keeps its vector, and another one begins at random; so do places. What the
data decide, such as how frequent labels are, is that of the new corpus.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from codeaudit.audit import checkpoints
from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.checkpoint import CONFIG, TOKENIZER, WEIGHTS, CheckpointLearner
from codeaudit.audit.papers.presets import STRUCTURE
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.registration import nearest_or_all

BY_DATA: Final = frozenset(
    {
        *("trunk.label_tokens", "trunk.label_bias", "spoken", "bias"),
        *("trunk.word_head.mix.weight", "trunk.word_head.mix.bias", "trunk.word_head.bias"),
    }
)
"""Tensors that the new corpus decides, or that no checkpoint has."""
TABLES: Final = (
    *("trunk.tokens.weight", "embedded.values.weight", "words.weight"),
    *("tokens.weight", "out.weight"),
)
"""Tensors with a row for each word; the language models have one row more, for the start of a text."""
POSITIONS: Final = "positions.weight"
"""The table of the places. With a longer window, places that the checkpoint does not know begin at random."""
TYPES: Final = "embedded.types.weight"
"""The table of the types of nodes, behind two rows for padding and unknown types."""
EARLIER: Final = {"neighbours": 0, "copying": False}
"""Structural options that older files lack, and what their networks are."""
SIZES: Final = ("width", "layers", "heads", "inner", "window", "readout", "dependence")
"""Settings that are those of the checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A checkpoint to begin from."""

    place: str
    digest: str
    config: Mapping[str, Any]
    weights: Mapping[str, Tensor]
    words: Sequence[str]
    """By their ids."""

    def defaults(self, folder: str) -> tuple[dict[str, object], dict[str, object]]:
        """Settings and structural options that the checkpoint has, for those that are not given."""
        sizes = self.config.get("shape") or self.config.get("sizes") or {}
        options = dict(self.config.get("options") or {})
        values = {**EARLIER, **self.config, **sizes, **options}
        settings = {name: values[name] for name in SIZES if values.get(name) is not None}
        structure = {name: values[name] for name in STRUCTURE[folder] if values.get(name) is not None}
        return {**{name: options[name] for name in options if name not in structure}, **settings}, structure


def opened(place: str, network: str) -> Start:
    """A bundled checkpoint by name, or a folder.

    Raises:
        ModelError: it cannot be read.
        UsageError: it is of another network.
    """
    folder = checkpoint.folder_of(place)
    if not folder.exists():
        hint = nearest_or_all(place, checkpoints.names())
        raise ModelError(f"--from {place}: no such folder, and no bundled checkpoint; {hint}")
    config = checkpoint.read_json(folder / CONFIG)
    if config.get("network") != network:
        raise UsageError(f"--from {place}: a checkpoint of {config.get('network')}, not of {network}")
    if (config.get("shape") or {}).get("encoder"):
        raise UsageError(
            f"--from {place}: it was made of an encoder; begin with that one again: --from hf/NAME"
        )
    try:
        weights = load_file(folder / WEIGHTS)
        words = words_of(Tokenizer.from_file(str(folder / TOKENIZER)))
        digest = checkpoint.digest(folder)
    except Exception as error:  # the Rust libraries raise nothing more specific
        raise ModelError(f"cannot begin from {place!r}: {' '.join(str(error).split())[:200]}") from error
    return Start(place=place, digest=digest, config=config, weights=weights, words=words)


def words_of(tokenizer: Tokenizer) -> list[str]:
    """The words of a tokenizer by their ids."""
    places = tokenizer.get_vocab()
    return sorted(places, key=lambda word: places[word])


def begin(learner: CheckpointLearner[Any, Any], start: Start) -> None:
    """Make a training begin from a checkpoint.

    Raises:
        UsageError: the network of the training has other sizes.
    """
    learner.identity["start"] = start.digest
    make = learner.make

    def begun() -> nn.Module:
        network: nn.Module = make()
        take_over(network, start, words=learner.words, types=learner.types)
        return network

    learner.make = begun  # type: ignore[method-assign]


@torch.no_grad()
def take_over(network: nn.Module, start: Start, *, words: Sequence[str], types: Sequence[str]) -> None:
    """Set a network's weights to those of a checkpoint.

    Raises:
        UsageError: it has other sizes.
    """
    for name, tensor in network.state_dict().items():
        if name in BY_DATA:
            continue
        if name not in start.weights:
            raise UsageError(f"--from {start.place}: it has no {name}; give its structural options with -O")
        old = start.weights[name].to(tensor.dtype)
        if name in TABLES:
            _rows(tensor, old, words, start.words)
        elif name == TYPES:
            _rows(tensor, old, ("", " ", *types), ("", " ", *start.config["types"]))
        elif name == POSITIONS and tensor.shape[1:] == old.shape[1:]:
            count = min(len(tensor), len(old))
            tensor[:count] = old[:count]
        elif tensor.shape != old.shape:
            shapes = f"{tuple(old.shape)}, not {tuple(tensor.shape)}"
            raise UsageError(f"--from {start.place}: its {name} is of {shapes}; leave out options for sizes")
        else:
            tensor.copy_(old)


def _rows(table: Tensor, old: Tensor, names: Iterable[str], old_names: Iterable[str]) -> None:
    """Take over the rows of equal names; also the one behind all names, if there is one."""
    places = {name: number for number, name in enumerate(old_names)}
    pairs = [(number, places[name]) for number, name in enumerate(names) if name in places]
    if table.shape[1:] != old.shape[1:]:
        widths = f"{old.shape[-1]}, not {table.shape[-1]}"
        raise UsageError(f"--from: the checkpoint has width {widths}; leave out options for sizes")
    if not pairs:
        raise UsageError("--from: the checkpoint knows none of the corpus's words")
    own, known = (torch.tensor(column) for column in zip(*pairs, strict=True))
    table[own] = old[known]
    if len(old) > len(places):
        table[-1] = old[-1]
