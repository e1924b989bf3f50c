"""Loads `hf/NAME_OR_PATH`: config, tokenizer, weights, and the head that fits them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
import transformers

from codeaudit.audit.models.hf import place
from codeaudit.audit.models.hf.arguments import HEADS, Arguments
from codeaudit.audit.models.hf.classify import ClassificationHead
from codeaudit.audit.models.hf.embed import EmbeddingHead, sentence_window
from codeaudit.audit.models.hf.fill import MaskFillingHead
from codeaudit.audit.models.hf.generate import GenerationHead
from codeaudit.audit.models.hf.heads import Head, LoadedNetwork
from codeaudit.audit.models.hf.model import HubModel, room_on
from codeaudit.audit.models.hf.quiet import in_one_line, quiet
from codeaudit.audit.models.hf.texts import WindowedTokenizer, window_of
from codeaudit.audit.models.settings import Settings
from codeaudit.audit.papers.checkpoint import PRECISIONS, usable_device, usable_precision
from codeaudit.transforms.errors import ModelError

ENDINGS: Final = (
    ("ForSequenceClassification", "classification"),
    ("ForMaskedLM", "masked"),
    ("ForCausalLM", "causal"),
    ("LMHeadModel", "causal"),
    ("ForConditionalGeneration", "seq2seq"),
    ("Model", "embedding"),
)
"""The head by the ending of an architecture's name; the first one that matches counts."""

AUTO: Final[Mapping[str, str]] = {
    "classification": "AutoModelForSequenceClassification",
    "masked": "AutoModelForMaskedLM",
    "causal": "AutoModelForCausalLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "embedding": "AutoModel",
}
"""The class of `transformers` that loads a network for each head."""

TAKES: Final[Mapping[str, frozenset[str]]] = {
    "classification": frozenset({"labels"}),
    "masked": frozenset({"masks", "system"}),
    "causal": frozenset({"chat", "max_new_tokens", "samples", "system", "temperature"}),
    "seq2seq": frozenset({"chat", "max_new_tokens", "samples", "system", "temperature"}),
    "embedding": frozenset({"names"}),
}
"""The arguments that have an effect with some heads only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The folder that a model is loaded from."""

    name: str
    folder: Path
    arguments: Arguments

    def read(self, loader: Callable[..., Any], **settings: Any) -> Any:
        """The object that a loader of the library makes from the folder, without access to the hub.

        Raises:
            ModelError: it cannot.
        """
        trust = self.arguments.trust_remote_code
        try:
            return loader(self.folder, local_files_only=True, trust_remote_code=trust, **settings)
        except Exception as error:  # the library passes on errors of any type
            told = in_one_line(error)
            if "trust_remote_code" in str(error):
                told = "it needs code of its own; read that code, and run it with -M trust_remote_code=true"
            raise ModelError(f"cannot load {self.name!r}: {told}") from error


def load(name: str, settings: Settings) -> HubModel:
    """The model of a folder or of the hub.

    Raises:
        UsageError: there is no such device or precision, or an argument has no effect.
        ModelError: a file is missing or damaged, or no head fits the model.
    """
    arguments = Arguments.read(settings)
    device = usable_device(settings.device)
    if settings.precision is not None:
        usable_precision(settings.precision)
    with quiet():
        folder = place.find(name, revision=arguments.revision, code=arguments.trust_remote_code)
        source = _Source(name=f"hf/{name}", folder=folder, arguments=arguments)
        return _loaded(source, device, settings.precision)


def _loaded(source: _Source, device: str, precision: str | None) -> HubModel:
    name, folder, arguments = source.name, source.folder, source.arguments
    if not (folder / "config.json").is_file():
        raise ModelError(f"cannot load {name!r}: no config.json in {str(folder)!r}")
    config = source.read(transformers.AutoConfig.from_pretrained)
    head = arguments.head or _head_of(config, name)
    arguments.only(TAKES[head], model=name, head=head)
    place.check_weights(folder, name)
    tokenizer = _tokenizer(source)
    regression = head == "classification" and config.num_labels == 1 and not arguments.labels
    network = _network(source, head, "float64" if regression and precision is None else precision)
    words = network.get_input_embeddings().weight.shape[0]
    if tokenizer.vocab_size > words:
        raise ModelError(
            f"cannot load {name!r}: its tokenizer has {tokenizer.vocab_size:,} words, its network {words:,}; "
            f"they do not belong together"
        )
    pad = _pad(tokenizer, network, words)
    if head == "embedding" and network.config.is_encoder_decoder:
        network = network.get_encoder()
    sentence = sentence_window(folder, name) if head == "embedding" else None
    texts = WindowedTokenizer(
        tokenizer,
        window=window_of(tokenizer, network.config, network, sentence),
        words=words,
        truncate=arguments.truncate,
    )
    try:
        network = network.to(device)
    except torch.OutOfMemoryError as error:
        raise ModelError(
            f"model {name!r} does not fit into the memory of {device}; try --precision bfloat16, or "
            f"--device cpu"
        ) from error
    engine = LoadedNetwork(name=name, network=network.eval(), texts=texts, device=device, pad=pad)
    room = room_on(device, vocabulary=len(tokenizer) if head == "masked" else None)
    with torch.inference_mode():
        made = _made(head, engine, source, room)
    used = str(network.dtype).removeprefix("torch.")
    return HubModel(
        engine,
        made,
        digest=place.digest(folder),
        precision=used,
        room=room,
        samples=arguments.samples,
    )


def _made(head: str, engine: LoadedNetwork, source: _Source, room: float) -> Head:
    match head:
        case "classification":
            return ClassificationHead.make(engine, source.arguments)
        case "masked":
            return MaskFillingHead.make(engine, source.arguments)
        case "embedding":
            return EmbeddingHead.make(engine, source.folder, source.arguments, room=room)
        case _:
            return GenerationHead.make(engine, source.arguments)


def _head_of(config: Any, name: str) -> str:
    """The head for the architecture in a config.

    Raises:
        ModelError: the config names no architecture, or one without a head.
    """
    architecture = next(iter(config.architectures or ()), None)
    remedy = f"name its head with -M head={'|'.join(HEADS)}"
    if architecture is None:
        raise ModelError(f"cannot load {name!r}: its config.json names no architecture; {remedy}")
    found = next((head for ending, head in ENDINGS if architecture.endswith(ending)), None)
    if found == "causal" and config.is_encoder_decoder:
        return "seq2seq"
    if found is None or (found == "seq2seq" and not config.is_encoder_decoder):
        raise ModelError(f"cannot load {name!r}: its architecture {architecture} answers no task; {remedy}")
    return found


def _tokenizer(source: _Source) -> Any:
    """The tokenizer of the folder.

    Raises:
        ModelError: it has none. (The library would make one with an empty vocabulary.)
    """
    tokenizer = source.read(transformers.AutoTokenizer.from_pretrained)
    files = {"tokenizer.json", *type(tokenizer).vocab_files_names.values()}
    if type(tokenizer).vocab_files_names and not any((source.folder / file).is_file() for file in files):
        raise ModelError(
            f"cannot load {source.name!r}: no tokenizer in {str(source.folder)!r}; write it there with "
            f"save_pretrained"
        )
    return tokenizer


def _network(source: _Source, head: str, precision: str | None) -> Any:
    """The network with all its weights.

    Raises:
        ModelError: some are missing, like those of an untrained head. (The library would draw them.)
    """
    auto = getattr(transformers, AUTO[head])
    network, told = source.read(
        auto.from_pretrained,
        use_safetensors=True,
        output_loading_info=True,
        dtype="auto" if precision is None else PRECISIONS[precision],
    )
    missing = sorted(key for key in told["missing_keys"] if not (head == "embedding" and "pooler." in key))
    if missing:
        raise ModelError(
            f"cannot use {source.name!r} for {HEADS[head]}: it has no weights for {missing[0]}"
            + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
        )
    return network


def _pad(tokenizer: Any, network: Any, words: int) -> int:
    """The padding token. It is also set in the config, because some networks find the end of a text by it."""
    known = (tokenizer.pad_token_id, network.config.get_text_config().pad_token_id, tokenizer.eos_token_id)
    pad = next((token for token in known if isinstance(token, int) and 0 <= token < words), 0)
    network.config.get_text_config().pad_token_id = pad
    network.config.pad_token_id = pad
    return pad
