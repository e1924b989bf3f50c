"""A tiny checkpoint with random weights: big enough to be loaded, asked and damaged."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from codeaudit.audit.papers.checkpoint import CONFIG, TOKENIZER, WEIGHTS
from codeaudit.audit.papers.lines.trunk import LineShape
from codeaudit.audit.papers.spe_attention.model import LineConfig
from codeaudit.audit.papers.spe_attention.networks import build

LABELS = ("count", "get", "join", "letters", "sum", "values", "words")
WORDS = ("[PAD]", "[UNK]", *LABELS, "return", "for", "in", "if", "=", "+", "(", ")", ":", "0", "1")


def write_checkpoint(
    folder: Path, *, network: str = "vanilla", seed: int = 0, languages: tuple[str, ...] = ("python",)
) -> Path:
    """Write the three files; equal seeds give equal weights."""
    folder.mkdir(parents=True)
    words = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.save(str(folder / TOKENIZER))
    shape = LineShape(
        vocabulary=len(words), labels=len(LABELS), width=16, layers=2, heads=4, neighbours=2, copying=True
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build(network, shape, {})
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.3)
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    weights["trunk.label_tokens"] = torch.tensor([words[label] for label in LABELS])
    save_file(weights, folder / WEIGHTS)
    config = LineConfig(
        task="function-name",
        network=network,
        options={},
        shape=shape,
        labels=LABELS,
        threshold=0.0,
        languages=languages,
    )
    (folder / CONFIG).write_text(json.dumps(config.as_json()), encoding="utf-8")
    return folder
