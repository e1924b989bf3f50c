"""Encoders of the `transformers` library inside the networks that read lines: `train --from hf/NAME`.

The encoder keeps its weights, and its attention learns what a head knows about pairs of lines: SPE's masks or
SYMC's distances (`lines.attention`). Its positions are those that the network gives: the place in the line,
or in the text. So an encoder with masks is equivariant to legal orders, as Theorem 4.6 of SPE attention says.

Only encoders fit whose positions are given from outside and are read once, at the embedding: relatives of
BERT. A decoder's causal mask sees the order of the lines.

Dimension key: B batch, T tokens, D width, H heads, V words.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
import transformers
from tokenizers import AddedToken, Tokenizer
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface

from codeaudit.audit.models.hf.heads import in_one_line, quiet
from codeaudit.audit.models.hf.load import Source, check_weights, digest_of, find_folder, tokenizer_of
from codeaudit.audit.papers.lines.attention import HeadGroup, attend
from codeaudit.transforms.errors import ModelError, UsageError

KINDS: Final = ("bert", "camembert", "roberta")
"""The architectures that fit, as a config names them. CodeBERT, GraphCodeBERT and UniXcoder are `roberta`."""
ATTENTION: Final = "codeaudit"
"""Under this name the library finds our attention."""
LARGEST_ID: Final = 2**16 - 1
"""The largest id of a word: the features of a corpus are kept in 16 bits."""


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: None,
    *,
    groups: Sequence[HeadGroup],
    **_: Any,
) -> tuple[Tensor, None]:
    """(B, H, T, D / H) each, to (B, T, H, D / H). Probabilities are not dropped in training."""
    return attend(query, key, value, groups).transpose(1, 2).contiguous(), None


AttentionInterface.register(ATTENTION, _attention)
# The head groups hide padding, so the library makes no mask.
AttentionMaskInterface.register(ATTENTION, lambda **_: None)


class Encoder(nn.Module):
    """The layers and positions of an encoder, without its table of words and its pooler."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """`config` is the content of a config.json of the library.

        Raises:
            ValueError: it is damaged, or of no encoder that fits.
        """
        super().__init__()
        settings = library_config(config)
        auto: Any = transformers.AutoModel
        try:
            with quiet():
                # One word and the padding: the table of words is not used.
                settings.vocab_size = int(settings.pad_token_id or 0) + 1
                self.network = stripped(
                    auto.from_config(settings, attn_implementation=ATTENTION, dtype=torch.float32)
                )
        except Exception as error:  # the library raises anything on damaged sizes
            raise ValueError(in_one_line(error)) from error
        self.first = first_place(settings)
        self.sizes = (settings.hidden_size, settings.num_hidden_layers, settings.num_attention_heads)
        """Width, layers and heads."""

    def forward(self, embedded: Tensor, places: Tensor, groups: Sequence[HeadGroup]) -> Tensor:
        """(B, T, D) words and (B, T) places, to the (B, T, D) states of the last layer."""
        states: Tensor = self.network(
            inputs_embeds=embedded, position_ids=places + self.first, groups=groups
        ).last_hidden_state
        return states


def library_config(config: Mapping[str, Any]) -> Any:
    """The config of the library with this content.

    Raises:
        ValueError: it is damaged, or of no encoder that fits.
    """
    if config.get("model_type") not in KINDS:
        raise ValueError(f"no encoder that fits: {config.get('model_type')!r}")
    try:
        return transformers.AutoConfig.for_model(**config)
    except Exception as error:  # the library raises anything on damaged values
        raise ValueError(in_one_line(error)) from error


def stripped(network: Any) -> Any:
    """A network without its pooler, and with one word only: ours are embedded outside of it."""
    network.pooler = None
    unused = nn.Embedding(1, network.config.hidden_size)
    nn.init.zeros_(unused.weight)
    network.set_input_embeddings(unused)
    return network


def first_place(config: Any) -> int:
    """The position of the first token: relatives of RoBERTa count from behind the padding index."""
    return 0 if config.model_type == "bert" else int(config.pad_token_id) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderStart:
    """A pretrained encoder to begin a training with."""

    place: str
    """The name that the user gave it."""
    digest: str
    config: Mapping[str, Any]
    """As of `Encoder`."""
    weights: Mapping[str, Tensor]
    """The weights of the stripped network."""
    vectors: Tensor
    """(V, D) those of its words."""
    tokenizer: Tokenizer

    @property
    def sizes(self) -> Mapping[str, int]:
        """Settings of a training that the encoder decides."""
        return {
            "width": self.config["hidden_size"],
            "layers": self.config["num_hidden_layers"],
            "heads": self.config["num_attention_heads"],
            "inner": self.config["intermediate_size"],
        }

    @property
    def longest(self) -> int:
        """Number of positions that it has."""
        return int(self.config["max_position_embeddings"]) - first_place(library_config(self.config))

    def speaking(self, words: Sequence[str]) -> Tokenizer:
        """The tokenizer with these as whole words.

        Raises:
            UsageError: there are more words than features can hold.
        """
        tokenizer = Tokenizer.from_str(self.tokenizer.to_str())
        # A word may be known, and still be read as another token, with a mark of where words begin.
        new = [
            word for word in dict.fromkeys(words) if _pieces(tokenizer, word) != [tokenizer.token_to_id(word)]
        ]
        # Only as a word of its own: `index` shall not be found in `indexed`.
        tokenizer.add_tokens([AddedToken(word, single_word=True, normalized=False) for word in new])
        size = tokenizer.get_vocab_size()
        if size > LARGEST_ID:
            raise UsageError(f"--from {self.place}: {size:,} words and labels, at most {LARGEST_ID:,} fit")
        return tokenizer

    @torch.no_grad()
    def fill(self, tokens: nn.Embedding, encoder: Encoder, tokenizer: Tokenizer) -> None:
        """Set the weights of an encoder, and the vectors of the words of `speaking`.

        A word that was added gets the mean of the vectors of its pieces.
        """
        encoder.network.load_state_dict(self.weights)
        tokens.weight[: len(self.vectors)] = self.vectors
        before = self.tokenizer.get_added_tokens_decoder()
        for number, word in tokenizer.get_added_tokens_decoder().items():
            if number not in before:
                pieces = _pieces(self.tokenizer, word.content)
                tokens.weight[number] = self.vectors[pieces].mean(0) if pieces else 0


def _pieces(tokenizer: Tokenizer, word: str) -> list[int]:
    """The tokens of a word, as the networks read it."""
    return list(tokenizer.encode([word], is_pretokenized=True, add_special_tokens=False).ids)


def opened(name: str) -> EncoderStart:
    """The encoder in a folder, or of that name on the hub.

    Raises:
        ModelError: it cannot be read.
        UsageError: it is no encoder that fits.
    """
    place = f"hf/{name}"
    folder = find_folder(name, revision=None, code=False)
    check_weights(folder, name)
    source = Source(name=place, folder=folder, purpose="begin from")
    with quiet():
        config = source.read(transformers.AutoConfig.from_pretrained)
        if config.model_type not in KINDS or config.is_decoder:
            raise UsageError(
                f"--from {place}: a {config.model_type!r} network; masks of lines fit encoders of these "
                f"kinds: {', '.join(KINDS)}"
            )
        network, report = source.read(
            transformers.AutoModel.from_pretrained,
            use_safetensors=True,
            output_loading_info=True,
            dtype=torch.float32,
        )
        reader = tokenizer_of(source)
    lost = [key for key in report["missing_keys"] if "pooler." not in key]
    flaw = _flaw(reader, network) or (f"it has no weights for {sorted(lost)[0]}" if lost else "")
    if flaw:
        raise ModelError(f"cannot begin from {place!r}: {flaw}")
    tokenizer = with_marks(reader.backend_tokenizer)
    vectors = network.get_input_embeddings().weight.detach().clone()[: tokenizer.get_vocab_size()]
    written = {
        key: value for key, value in config.to_dict().items() if not key.startswith(("_", "transformers"))
    }
    return EncoderStart(
        place=place,
        digest=digest_of(folder),
        config=written | {"model_type": config.model_type},
        weights=stripped(network).state_dict(),
        vectors=vectors,
        tokenizer=tokenizer,
    )


def _flaw(reader: Any, network: Any) -> str:
    """Why a tokenizer cannot be used with a network; empty if it can."""
    if not reader.is_fast:
        return "it has no tokenizer.json"
    places = reader.backend_tokenizer.get_vocab(with_added_tokens=True)
    rows = len(network.get_input_embeddings().weight)
    last = max(places.values())
    if last >= min(rows, len(places)):
        return f"a word has the number {last:,}; there are {len(places):,} words and {rows:,} vectors"
    # The networks take 0 for padding.
    if 0 not in reader.all_special_ids or reader.unk_token_id == 0:
        return "its first word is no mark, so that it would count as padding"
    return ""


def with_marks(tokenizer: Tokenizer) -> Tokenizer:
    """A copy that reads each word as one behind a blank, as in texts. It does not pad or cut."""
    content = json.loads(tokenizer.to_str())
    reading = content.get("pre_tokenizer") or {}
    for part in (reading, *reading.get("pretokenizers", ())):
        if part.get("type") == "ByteLevel":
            part["add_prefix_space"] = True
    copy = Tokenizer.from_str(json.dumps(content))
    copy.no_padding()
    copy.no_truncation()
    return copy
