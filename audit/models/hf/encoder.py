"""Encoders of the `transformers` library inside the networks that read lines: `train --from hf/NAME`.

The encoder keeps its weights, and its attention learns what a head knows about pairs of lines: SPE's masks or
SYMC's distances (`lines.attention`). Its positions are those that the network gives: the place in the line,
or in the text. So an encoder with masks is equivariant to legal orders, as Theorem 4.6 of SPE attention says.

Only encoders fit whose positions are given from outside and are read once, at the embedding: relatives of
BERT. A decoder's causal mask sees the order of the lines.

Dimension key: B batch, T tokens, D width, H heads, V words.
"""

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
from codeaudit.audit.models.hf.load import check_weights, digest_of, find_folder
from codeaudit.audit.papers.lines.attention import HeadGroup, attend
from codeaudit.transforms.errors import ModelError, UsageError

KINDS: Final = ("bert", "camembert", "roberta")
"""The architectures that fit, as a config names them. CodeBERT, GraphCodeBERT and UniXcoder are `roberta`."""
ATTENTION: Final = "codeaudit"
"""Under this name the library finds our attention."""
LARGEST_ID: Final = 2**16 - 1
"""Of a word: the features of a corpus are kept in 16 bits."""


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
        """`config` is the content of a config.json of the library."""
        super().__init__()
        if config.get("model_type") not in KINDS:
            raise ValueError(f"no encoder that fits: {config.get('model_type')!r}")
        made = transformers.AutoConfig.for_model(**config)
        auto: Any = transformers.AutoModel
        with quiet():
            self.network = stripped(
                auto.from_config(made, attn_implementation=ATTENTION, dtype=torch.float32)
            )
        self.first = first_place(made)

    def forward(self, embedded: Tensor, places: Tensor, groups: Sequence[HeadGroup]) -> Tensor:
        """(B, T, D) words and (B, T) places, to the (B, T, D) states of the last layer."""
        states: Tensor = self.network(
            inputs_embeds=embedded, position_ids=places + self.first, groups=groups
        ).last_hidden_state
        return states


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
    """As the user named it."""
    digest: str
    config: Mapping[str, Any]
    """As of `Encoder`."""
    weights: Mapping[str, Tensor]
    """Of the stripped network."""
    words: Tensor
    """(V, D) the vectors of its words."""
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
        made = transformers.AutoConfig.for_model(**self.config)
        return int(self.config["max_position_embeddings"]) - first_place(made)

    def speaking(self, words: Sequence[str]) -> Tokenizer:
        """The tokenizer with these as whole words.

        Raises:
            UsageError: there are more words than features can hold.
        """
        tokenizer = Tokenizer.from_str(self.tokenizer.to_str())
        new = [word for word in dict.fromkeys(words) if tokenizer.token_to_id(word) is None]
        # Only as a word of its own: `index` shall not be found in `indexed`.
        tokenizer.add_tokens([AddedToken(word, single_word=True, normalized=False) for word in new])
        size = tokenizer.get_vocab_size()
        if size > LARGEST_ID:
            raise UsageError(f"--from {self.place}: {size:,} words and labels, at most {LARGEST_ID:,} fit")
        return tokenizer

    @torch.no_grad()
    def fill(self, tokens: nn.Embedding, encoder: Encoder, tokenizer: Tokenizer) -> None:
        """Set the weights of an encoder, and the vectors of the words of `speaking`.

        A new word gets the mean of the vectors of its pieces.
        """
        encoder.network.load_state_dict(self.weights)
        tokens.weight[: len(self.words)] = self.words
        for number in range(len(self.words), tokenizer.get_vocab_size()):
            word = tokenizer.id_to_token(number)
            pieces = self.tokenizer.encode([word], is_pretokenized=True, add_special_tokens=False).ids
            tokens.weight[number] = self.words[pieces].mean(0) if pieces else 0


def opened(name: str) -> EncoderStart:
    """The encoder in a folder, or of that name on the hub.

    Raises:
        ModelError: it cannot be read.
        UsageError: it is no encoder that fits.
    """
    place = f"hf/{name}"
    folder = find_folder(name, revision=None, code=False)
    check_weights(folder, name)
    try:
        with quiet():
            config = transformers.AutoConfig.from_pretrained(folder)
            if config.model_type not in KINDS or config.is_decoder:
                raise UsageError(
                    f"--from {place}: a {config.model_type!r} network; masks of lines fit encoders of these "
                    f"kinds: {', '.join(KINDS)}"
                )
            network, told = transformers.AutoModel.from_pretrained(
                folder, use_safetensors=True, output_loading_info=True, dtype=torch.float32
            )
            reader = transformers.AutoTokenizer.from_pretrained(folder)
    except UsageError:
        raise
    except Exception as error:  # the library raises anything on damaged files
        raise ModelError(f"cannot begin from {place!r}: {in_one_line(error)[:200]}") from error
    lost = [key for key in told["missing_keys"] if "pooler." not in key]
    if lost:
        raise ModelError(f"cannot begin from {place!r}: it has no weights for {sorted(lost)[0]}")
    if not reader.is_fast:
        raise ModelError(f"cannot begin from {place!r}: it has no tokenizer.json")
    tokenizer = Tokenizer.from_str(reader.backend_tokenizer.to_str())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    size = tokenizer.get_vocab_size()
    words = network.get_input_embeddings().weight.detach().clone()[:size]
    if len(words) != size or max(tokenizer.get_vocab().values()) != size - 1:
        raise ModelError(
            f"cannot begin from {place!r}: its tokenizer has {size:,} words, its network {len(words):,}"
        )
    written = {
        key: value for key, value in config.to_dict().items() if not key.startswith(("_", "transformers"))
    }
    return EncoderStart(
        place=place,
        digest=digest_of(folder),
        config=written | {"model_type": config.model_type},
        weights=stripped(network).state_dict(),
        words=words,
        tokenizer=tokenizer,
    )
