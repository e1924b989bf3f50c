"""Pairs of expressions for the tests of models: generated ones, their renamings, small networks and checkpoints."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import torch
from safetensors.torch import save_file

from codeaudit.audit.papers.renamer.model import TermConfig
from codeaudit.audit.papers.renamer.networks import NETWORKS as TERM_NETWORKS
from codeaudit.audit.papers.renamer.networks import Renamer, TermSizes, collate
from codeaudit.audit.papers.renamer.tasks import pair_renamings as choices
from codeaudit.audit.papers.renamer.tasks import pair_terms as terms
from codeaudit.audit.papers.renamer.tasks import pair_words as words
from codeaudit.audit.papers.renamer.terms import TermInput, TermReader, tokenizer_of
from codeaudit.transforms.algebra.views import movable, renamed
from tests.transforms.algebra.support import some

WINDOW = 256


def sources(count: int, *, movable_only: bool = False) -> list[str]:
    """Texts of the test set and of the extended one."""
    texts = [example.source for split in ("test", "extended") for example in some(split, count)]
    return [source for source in texts if len(movable(source)) > 1] if movable_only else texts


def renamings(source: str, count: int) -> Iterator[str]:
    """Random legal renamings of a pair."""
    legal = choices(source)
    return (renamed(source, legal.draw(Random(seed))) for seed in range(count))


@cache
def network(name: str) -> tuple[Renamer, TermReader]:
    """A network with generic random weights that gives either answer about equally often, and its reader."""
    entry = TERM_NETWORKS[name]
    reader = TermReader(tokenizer_of(words(entry.reading)), entry.reading, window=WINDOW)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        made = entry.make(_sizes(name))
        for weight in made.parameters():
            torch.nn.init.normal_(weight, std=0.3)
    inputs = [reader.read(terms(source)) for source in sources(20)]
    with torch.no_grad():
        made.head.bias -= made.eval()(collate([one for one in inputs if isinstance(one, TermInput)])).median()  # type: ignore[misc]
    return made, reader


def write(folder: Path, name: str = "renamer") -> Path:
    """A checkpoint with random weights."""
    folder.mkdir()
    made, _ = network(name)
    config = TermConfig(task="derivative", network=name, sizes=_sizes(name))
    (folder / "config.json").write_text(json.dumps(config.as_json()), encoding="utf-8")
    save_file(made.state_dict(), folder / "model.safetensors")
    tokenizer_of(words(TERM_NETWORKS[name].reading)).save(str(folder / "tokenizer.json"))
    return folder


def _sizes(name: str) -> TermSizes:
    count = tokenizer_of(words(TERM_NETWORKS[name].reading)).get_vocab_size()
    return TermSizes(vocabulary=count, width=32, window=WINDOW, readout="mean")
