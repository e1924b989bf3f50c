"""Basic blocks for the tests of models: of the running Python, and small checkpoints that read them."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import torch
from safetensors.torch import save_file

from codeaudit.audit.papers.renamer.model import TermConfig
from codeaudit.audit.papers.renamer.networks import NETWORKS as TERM_NETWORKS
from codeaudit.audit.papers.renamer.networks import Renamer, TermSizes
from codeaudit.audit.papers.renamer.tasks import block_terms as terms
from codeaudit.audit.papers.renamer.tasks import block_words as words
from codeaudit.audit.papers.renamer.terms import TermReader, spelled, tokenizer_of
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.x86.rename import RegisterRename

FIGURE_A = "movq 64(%rsp), %rax\nsubl $1, 56(%rbp)\nmovl 16(%rax), %eax"
FIGURE_B = "movq 64(%rsp), %rbx\nsubl $1, 56(%rbp)\nmovl 16(%rbx), %ebx"
FIGURE_C = "movq 64(%rax), %rax\nsubl $1, 56(%ebp)\nmovl 16(%rax), %eax"
"""Renamer, Figure 1: original, invariant renaming, non-invariant renaming."""

BLOCKS = (
    FIGURE_A,
    "pushq %rbx\nmovq %rdi, %rbx\npopq %rcx",
    "xorl %eax, %eax\nmovb %ah, (%rcx,%rdx,4)\nincq %r9",
    "vaddps %ymm1, %ymm2, %ymm3\nvmovups %ymm3, 32(%rax)\naddq $32, %rax",
    "imulq %rsi, %rdi\nshlq %cl, %rdi\nadcq $0, %rdx",
    "lock\naddl %eax, (%rbx)\ncmpxchgq %rcx, (%rsi)",
    "divq %rcx\nmovzbl %dl, %r8d\nleaq (%r8,%r8,2), %r10",
    "paddd %mm1, %mm2\npxor %xmm4, %xmm4\nmovdqa %xmm4, 16(%rsp)",
)
"""Implied registers, high bytes, both kinds of vectors, `lock` on its own line, addresses."""


def renamings(source: str, count: int) -> Iterator[str]:
    """Random legal renamings of a block, `rsp` included where it may be."""
    rename = RegisterRename(stack=True)
    for seed in range(count):
        moves = rename.propose(source, Random(seed))
        if not isinstance(moves, Refused):
            variant = rename.apply(source, moves)
            assert isinstance(variant, Rewritten)
            yield variant.source


@cache
def network(name: str, readout: str = "sum") -> tuple[Renamer, TermReader]:
    """A network with generic random weights, and what reads for it."""
    entry = TERM_NETWORKS[name]
    tokenizer = tokenizer_of(_words(name))
    sizes = TermSizes(vocabulary=tokenizer.get_vocab_size(), width=32, readout=readout)  # type: ignore[arg-type]
    with torch.random.fork_rng():
        torch.manual_seed(1)
        made = entry.make(sizes)
        for weight in made.parameters():
            torch.nn.init.normal_(weight, std=0.3)
    return made.eval(), TermReader(tokenizer, entry.reading, window=sizes.window)


def write(folder: Path, name: str = "renamer") -> Path:
    """A checkpoint with random weights."""
    folder.mkdir()
    made, _ = network(name)
    tokenizer = tokenizer_of(_words(name))
    sizes = TermSizes(vocabulary=tokenizer.get_vocab_size(), width=32)
    config = TermConfig(task="throughput", network=name, sizes=sizes)
    (folder / "config.json").write_text(json.dumps(config.as_json()), encoding="utf-8")
    save_file(made.state_dict(), folder / "model.safetensors")
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _words(name: str) -> list[str]:
    reading = TERM_NETWORKS[name].reading
    return [*words(reading), *(word for block in BLOCKS for word in spelled(terms(block), reading))]
