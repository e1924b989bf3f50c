"""The provider of `hf/NAME_OR_PATH` and its `-M` arguments. Imports no framework, because lists read it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Self

from codeaudit.audit.models.provider import ArgumentReader, Provider, Settings, family
from codeaudit.audit.models.text_models import (
    CHAT_ARGUMENTS,
    TEMPERATURE,
    Prompts,
    chat_arguments,
    named,
    read_template,
    samples,
    temperature,
)
from codeaudit.transforms.errors import UsageError


class HeadKind(NamedTuple):
    """A kind of head."""

    words: str
    """Its name for messages."""
    loader: str
    """The class of `transformers` that loads a network with it."""
    arguments: frozenset[str]
    """The arguments that have an effect with some heads only."""


_WRITING: Final = frozenset(
    {"chat", "chat_template_kwargs.NAME", "max_new_tokens", "prompt", "samples", "system", "temperature"}
)
HEADS: Final[Mapping[str, HeadKind]] = {
    "classification": HeadKind(
        "sequence classification", "AutoModelForSequenceClassification", frozenset({"labels"})
    ),
    "causal": HeadKind("causal language modelling", "AutoModelForCausalLM", _WRITING),
    "seq2seq": HeadKind("sequence-to-sequence modelling", "AutoModelForSeq2SeqLM", _WRITING),
    "masked": HeadKind("masked language modelling", "AutoModelForMaskedLM", frozenset({"masks", "system"})),
    "embedding": HeadKind("embeddings", "AutoModel", frozenset({"names"})),
}
"""The kinds of heads."""


def _count(key: str, text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"-M {key}={text} must be a positive whole number")
    return int(text)


def _head(text: str) -> str:
    if text not in HEADS:
        raise UsageError(f"-M head={text} must be one of {', '.join(HEADS)}")
    return text


def _labels(text: str) -> str:
    labels = [label.strip() for label in text.split(",")]
    if len(labels) < 2 or not all(labels):
        raise UsageError(f"-M labels={text} must be words with commas between them, as labels=clean,buggy")
    return ",".join(labels)


def _device_map(text: str) -> str:
    if text not in DEVICE_MAPS:
        raise UsageError(f"-M device_map={text} must be one of {', '.join(DEVICE_MAPS)}")
    return text


def _quantize(text: str) -> str:
    if text not in BITS:
        raise UsageError(f"-M quantize={text} must be one of {', '.join(BITS)}")
    return text


BITS: Final = ("4bit", "8bit")
"""The widths to which weights can be quantised while they are loaded."""
DEVICE_MAPS: Final = ("auto", "balanced", "balanced_low_0", "sequential")
"""How the layers of a network are laid onto the GPUs of a machine, in the words of the library."""
ARGUMENTS: Final[Mapping[str, ArgumentReader]] = {
    "head": _head,
    "labels": _labels,
    "names": str,
    "template": str,
    "prompt": str,
    "system": str,
    "chat": bool,
    **CHAT_ARGUMENTS,
    "max_new_tokens": partial(_count, "max_new_tokens"),
    "samples": samples,
    "temperature": temperature,
    "masks": partial(_count, "masks"),
    "truncate": bool,
    "device_map": _device_map,
    "base": str,
    "quantize": _quantize,
    "revision": str,
    "trust_remote_code": bool,
}
"""The readers of the arguments."""

ALWAYS: Final = frozenset(
    {"base", "device_map", "head", "quantize", "revision", "template", "truncate", "trust_remote_code"}
)
"""Arguments that have an effect with every head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The arguments of one model; `None` or empty if the user gave none."""

    head: str | None = None
    """The head, if the config does not name it or the user wants another one."""
    labels: tuple[str, ...] = ()
    """The meaning of a classifier's outputs, in their order."""
    names: Path | None = None
    """A file with the names that an embedding is compared with, one per line."""
    template: str | None = None
    """The text that the model is shown, with the places of `codeaudit.audit.prompts`."""
    system: str | None = None
    """The system turn of the chat."""
    prompt: str = ""
    """The name or the file of a prompt, in the place of template and system turn."""
    chat: bool | None = None
    """Whether the tokenizer's chat template is used; `None`: if it has one."""
    chat_arguments: Mapping[str, object] = field(default_factory=dict)
    """Arguments of the chat template, beside the turns."""
    max_new_tokens: int = 128
    """Largest number of tokens of an answer."""
    samples: int = 1
    """How many answers are drawn for a query."""
    temperature: float | None = None
    """Temperature of the sampling; `None` for greedy decoding."""
    masks: int = 3
    """Largest number of tokens of a filled-in answer."""
    truncate: bool = False
    """Whether a source that is too long loses its end, instead of having no answer."""
    device_map: str | None = None
    """How the network is spread over several GPUs; `None`: it is on one device."""
    base: str | None = None
    """The base model of an adapter, in the place of the one that it names."""
    quantize: str | None = None
    """The width to which weights are quantised while they are loaded: `4bit` or `8bit`."""
    revision: str | None = None
    """A branch, a tag or a commit on the hub."""
    trust_remote_code: bool = False
    """Whether Python code of the model may run."""
    given: frozenset[str] = field(default_factory=frozenset)
    """The names of those that the user set."""

    @classmethod
    def read(cls, settings: Settings) -> Self:
        """The given arguments; defaults for the others.

        Raises:
            ModelError: the template cannot be read.
            UsageError: it has no place for the code.
        """
        arguments: dict[str, object] = {**settings.arguments, "given": frozenset(settings.arguments)}
        if chat := chat_arguments(arguments):
            arguments = {key: value for key, value in arguments.items() if family(key) not in CHAT_ARGUMENTS}
            arguments["chat_arguments"] = chat
        if "labels" in arguments:
            arguments["labels"] = tuple(str(arguments["labels"]).split(","))
        if "names" in arguments:
            arguments["names"] = Path(os.path.expanduser(str(arguments["names"])))
        if "template" in arguments:
            arguments["template"] = read_template(str(arguments["template"]))
        # Greedy decoding would give the same answer each time.
        if arguments.get("samples", 1) != 1:
            arguments.setdefault("temperature", TEMPERATURE)
        made = cls(**arguments)  # type: ignore[arg-type]
        _ = made.prompts  # raises now, before the weights are loaded
        return made

    @property
    def prompts(self) -> Prompts:
        """The prompts that the user named, or those with the user's template and system turn.

        Raises:
            UsageError: there is no such prompt, or the template has no place for the code.
            ModelError: the file cannot be read.
        """
        return named(self.prompt, template=self.template, system=self.system)

    def check(self, head: HeadKind, model: str) -> None:
        """Check that every given argument has an effect.

        Raises:
            UsageError: an argument has none on a model with this head.
        """
        accepted = ALWAYS | head.arguments
        if idle := sorted(key for key in self.given if family(key) not in accepted):
            known = ", ".join(sorted(accepted))
            raise UsageError(
                f"-M {idle[0]} has no effect on {model!r}, which answers by {head.words}; known: {known}"
            )


PROVIDER: Final = Provider(
    form="hf/NAME_OR_PATH",
    summary="a Hugging Face model: a folder, or a name on the hub",
    load="codeaudit.audit.models.hf.load:load",
    accepts=frozenset({"device", "precision", "batch_size"}),
    arguments=ARGUMENTS,
)
