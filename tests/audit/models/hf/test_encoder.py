"""`codeaudit train --from hf/NAME`: pretrained encoders inside the networks that read lines."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
import transformers

from codeaudit.audit.models.hf.heads import quiet
from codeaudit.audit.papers.lines.encoding import SPECIALS, EncodedLines, LineEncoder
from codeaudit.audit.papers.lines.trunk import Batch, LineShape, collate
from codeaudit.audit.papers.registry import load
from codeaudit.audit.papers.spe_attention.networks import build
from codeaudit.audit.records import Query
from codeaudit.cli.main import main
from codeaudit.transforms.errors import ModelError
from tests.audit.models.hf import networks as made
from tests.support import stdlib
from tests.support.networks import SMALL, legal_orders

if TYPE_CHECKING:  # what it imports takes seconds
    from codeaudit.audit.models.hf.encoder import EncoderStart

LABELS = ("get", "index", "quux")
LINES = ["--steps", "3", "--batch", "8", "--rarest-label", "3", "--workers", "1", "--full", "--limit", "120"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Encoders with four heads, as SPE needs three at least."""
    root = tmp_path_factory.mktemp("encoders")
    words = made.tokenizer(made.BERT, made.BERT_ENDS)
    sizes = {**made.SIZES, "num_attention_heads": 4}
    pad = words.pad_token_id
    bert = transformers.BertConfig(vocab_size=len(words), max_position_embeddings=made.WINDOW, **sizes)
    roberta = transformers.RobertaConfig(
        vocab_size=len(words), max_position_embeddings=made.WINDOW + pad + 1, pad_token_id=pad, **sizes
    )
    return {
        "bert": made.save(root / "bert", made.made("BertModel", bert), words),
        "roberta": made.save(root / "roberta", made.made("RobertaForMaskedLM", roberta), words),
    }


def network(folder: Path, kind: str, **options: object) -> "tuple[Any, EncoderStart]":
    """The network in float64, and the encoder that it begins with."""
    from codeaudit.audit.models.hf.encoder import opened

    start = opened(str(folder))
    tokenizer = start.speaking([*SPECIALS, *LABELS])
    shape = LineShape(
        vocabulary=tokenizer.get_vocab_size(), labels=3, width=32, layers=2, heads=4, encoder=start.config
    )
    model = build(kind, shape, options)
    start.fill(model.trunk.tokens, model.trunk.encoder, tokenizer)  # type: ignore[arg-type]
    return model.double().eval(), start


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_without_masks_the_states_are_those_of_the_library(folders: dict[str, Path], name: str) -> None:
    model, start = network(folders[name], "vanilla")
    auto: Any = transformers.AutoModel
    with quiet():
        other = auto.from_pretrained(folders[name]).double().eval()
    ids = torch.tensor([start.tokenizer.encode(made.TEXTS[0], add_special_tokens=False).ids])
    with torch.no_grad():
        wanted = other(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        states: list[torch.Tensor] = []
        model.trunk.encoder.register_forward_hook(lambda module, inputs, output: states.append(output))
        model(one_line(ids))
    assert (states[0] - wanted).abs().max() < 1e-12
    assert wanted.abs().max() > 0.1


def one_line(ids: torch.Tensor) -> Batch:
    """(1, T) tokens as an input."""
    zeros = torch.zeros_like(ids)
    return Batch(ids=ids, line=zeros, position=zeros, relation=torch.zeros(1, 0, 1, 1, dtype=torch.uint8))


def test_new_words_are_whole_words_with_the_mean_of_their_pieces(folders: dict[str, Path]) -> None:
    model, start = network(folders["bert"], "vanilla")
    tokenizer = start.speaking([*SPECIALS, *LABELS])
    number = tokenizer.token_to_id("quux")
    assert start.tokenizer.token_to_id("quux") is None

    def ids(word: str) -> list[int]:
        return list(tokenizer.encode([word], is_pretokenized=True, add_special_tokens=False).ids)

    assert [ids(label) for label in LABELS] == [[tokenizer.token_to_id(label)] for label in LABELS]
    assert number not in ids("quuxes"), "a part of another word is no label"
    pieces = start.tokenizer.encode(["quux"], is_pretokenized=True, add_special_tokens=False).ids
    wanted = start.vectors[pieces].mean(0).double()
    assert torch.equal(model.trunk.tokens.weight[number], wanted)


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("kind", ["spe", "symc", "vanilla"])
@pytest.mark.parametrize("mode", ["hadamard", "additive"])
def test_with_masks_an_encoder_is_equivariant_to_legal_orders(
    folders: dict[str, Path], kind: str, mode: str
) -> None:
    if kind != "spe" and mode == "additive":
        pytest.skip("an option of spe")
    model, start = network(folders["roberta"], kind, **({"mask_mode": mode} if kind == "spe" else {}))
    with torch.no_grad():
        model.trunk.mix.weight.normal_(0, 0.5)
        model.trunk.vote.weight.normal_(0, 0.5)
    relation: Any = {"spe": "mask", "symc": "distances", "vanilla": "none"}[kind]
    reader = LineEncoder(start.speaking([*SPECIALS, *LABELS]), window=300, relation=relation)
    moved = 0.0
    for source in SMALL:
        texts = [reader.encode(order.source) for order in legal_orders(source)]
        read = [text for text in texts if isinstance(text, EncodedLines)]
        assert len(read) == len(texts)
        with torch.no_grad():
            # Alone and beside a longer text: padding changes nothing either.
            logits = torch.cat([model(collate([encoded])) for encoded in read])
            padded = model(collate([*read, reader.encode(made.TEXTS[0])]))[:-1]  # type: ignore[list-item]
        assert (logits - padded).abs().max() < 1e-10
        moved = max(moved, float((logits - logits[:1]).abs().max()))
    assert (moved < 1e-10) == (kind != "vanilla")
    assert kind != "vanilla" or moved > 1e-3


@pytest.mark.weekly
@pytest.mark.parametrize("kind", ["spe", "vanilla"])
def test_a_training_begins_with_an_encoder_and_its_folder_is_a_model(
    folders: dict[str, Path], tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "rows.jsonl"
    rows = [{"source": text, "path": f"{number % 97}.py"} for number, text in enumerate(stdlib.sample(400))]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    words = ["train", kind, "--from", f"hf/{folders['roberta']}", "--corpus", str(table), *LINES]
    out = tmp_path / kind
    assert main([*words, "--out", str(out)]) == 0
    card = json.loads((out / "model-card.json").read_text("utf-8"))
    assert card["from"]["checkpoint"] == f"hf/{folders['roberta']}"
    assert card["recipe"]["rate"] == 1e-4
    assert card["recipe"]["window"] == (512 if kind == "spe" else made.WINDOW)
    assert card["recipe"]["encoder"]["hidden_dropout_prob"] == 0.1
    assert main([*words, "--recompute", "--out", str(tmp_path / "again")]) == 0
    assert (out / "model.safetensors").read_bytes() == (tmp_path / "again" / "model.safetensors").read_bytes()
    capsys.readouterr()
    # Everything stands in the folder: the encoder's own is not needed any more.
    model = load(str(out), device="cpu", precision=None)
    text = Query(task="function-name", language="python", source=SMALL[0])
    assert model.predict([text]) == load(str(out), device="cpu", precision=None).predict([text])
    run = ["run", "--model", str(out), "--corpus", str(table), "--transform", "reorder", "--limit", "200"]
    assert main([*run, "--format", "json", "--out", str(tmp_path / "run")]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["models"]
    (reordered,) = [row for row in entry["by_transform"] if row["transform"] == "reorder"]
    assert reordered["violations"]["total"] >= 3
    if kind == "spe":
        assert reordered["violations"]["count"] == 0
        assert entry["max_deviation"] < 1e-3
    config = json.loads((out / "config.json").read_text("utf-8"))
    damages = {"num_hidden_layers": 10**9, "hidden_size": "x", "num_attention_heads": 2, "model_type": "gpt2"}
    for name, value in damages.items():
        encoder = {**config["shape"]["encoder"], name: value}
        damaged = {**config, "shape": {**config["shape"], "encoder": encoder}}
        (out / "config.json").write_text(json.dumps(damaged), "utf-8")
        with pytest.raises(ModelError, match=r"does not fit config\.json"):
            load(str(out), device="cpu", precision=None)
    (out / "config.json").write_text(json.dumps(config), "utf-8")
    assert main(["train", kind, "--from", str(out), "--corpus", str(table), "--out", "x"]) == 2
    assert "--from hf/NAME" in capsys.readouterr().err


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["spe", "--from", "hf/{gpt2}"],
            2,
            "a 'gpt2' network; masks of lines fit encoders of these kinds: bert",
        ),
        (
            ["tree", "--from", "hf/{bert}"],
            2,
            "tree for 'function-name' cannot begin with an encoder of the library; spe",
        ),
        (["vanilla", "--from", "hf/{bert}", "--window", "999"], 2, "--window 999: hf/"),
        (["spe", "--from", "hf/{unknown}"], 3, "its first word is no mark"),
        (["spe", "--from", "hf/{bert}", "--width", "64"], 2, "--width does not go with --from"),
        (["spe", "--from", "hf/{bert}", "--pretrain-epochs", "2"], 2, "--pretrain-epochs does not go with"),
        (["spe", "--from", "hf/./nowhere"], 3, "no folder './nowhere'"),
        (["spe", "--from", "hf/{damaged}"], 3, "cannot begin from 'hf/"),
        (["spe", "--from", "hf/{wordless}"], 3, "no tokenizer in"),
    ],
)
def test_what_does_not_fit_is_one_line(
    folders: dict[str, Path],
    tmp_path: Path,
    words: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places = dict(folders)
    if "gpt2" in words[2]:
        tokenizer = made.tokenizer(made.GPT)
        places["gpt2"] = made.save(tmp_path / "gpt2", made.gpt2("GPT2LMHeadModel", tokenizer), tokenizer)
    if "unknown" in words[2]:
        tokenizer = made.tokenizer({"unk_token": "[UNK]", "pad_token": "[PAD]"})
        network = made.bert("BertModel", tokenizer, pad_token_id=1)
        places["unknown"] = made.save(tmp_path / "unknown", network, tokenizer)
    if "damaged" in words[2]:
        places["damaged"] = tmp_path / "damaged"
        places["damaged"].mkdir()
        for file in folders["bert"].iterdir():
            text = file.read_bytes()
            (places["damaged"] / file.name).write_bytes(text[:200] if file.suffix == ".safetensors" else text)
    if "wordless" in words[2]:
        places["wordless"] = tmp_path / "wordless"
        places["wordless"].mkdir()
        for part in ("config.json", "model.safetensors"):
            (places["wordless"] / part).write_bytes((folders["bert"] / part).read_bytes())
    words = [word.format(**{name: str(path) for name, path in places.items()}) for word in words]
    capsys.readouterr()
    assert main(["train", *words, "--corpus", "stdlib:argparse", "--out", str(tmp_path / "out")]) == code
    lines = [line for line in capsys.readouterr().err.splitlines() if "codeaudit:" in line]
    assert message in lines[-1]
    assert not (tmp_path / "out").exists()
