"""Checkpoints of language models: CoDE and its baselines, written by `codeaudit train`.

One network answers three tasks. `code-modelling`: the bits per byte of the text. `next-line`: the next line
after the text. `generation`: a continuation of the text. It writes the most likely token, or draws one
(`-M samples=10`, `-M temperature=0.8`); the start token ends the continuation.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar, Final

import torch
import torch.nn.functional as F
from torch import Tensor
from typing_extensions import override

from codeaudit.audit.models.text_models import TEMPERATURE, draws, joined
from codeaudit.audit.papers.checkpoint import Config, Files, Known, PaperModel
from codeaudit.audit.papers.dependency_encoding.material import VERSION, Streams
from codeaudit.audit.papers.dependency_encoding.networks import DECODERS, build
from codeaudit.audit.papers.dependency_encoding.trunk import Cache, Decoder, DecoderSizes
from codeaudit.audit.papers.lines.words import readable_languages
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.audit.tasks.code_modelling import CODE_MODELLING, EMPTY, bits_per_byte
from codeaudit.audit.tasks.generation import GENERATION
from codeaudit.audit.tasks.next_line import NEXT_LINE
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.language import DEFAULT

TASKS: Final = frozenset({CODE_MODELLING.name, NEXT_LINE.name, GENERATION.name})

LONGEST: Final = 4096
"""Tokens that are read at once. Of longer prompts the end is read, from the start of a line."""
LINE_TOKENS: Final = 64
"""Tokens that a line is given."""
WRITTEN_TOKENS: Final = 256
"""Tokens that a completion is given."""
LEAVING: Final = ("\ndef ", "\nclass ", "\nif ", "\nprint", "\n#", "\n@", "\nimport ", "\nfrom ")
"""Texts that show that a completion has left the function."""

TOO_LONG: Final = Failed(reason="input too long")
UNREADABLE: Final = Failed(reason="text that cannot be written in UTF-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderConfig(Config):
    """The content of config.json."""

    size_type: ClassVar[type] = DecoderSizes

    task: str
    network: str
    options: Mapping[str, object] = field(default_factory=dict)
    sizes: DecoderSizes
    precision: str = "float32"
    languages: tuple[str, ...] = (DEFAULT,)

    @override
    def known(self) -> Sequence[Known]:
        return (
            Known("task", self.task, {CODE_MODELLING.name}),
            Known("network", self.network, DECODERS),
            *(Known("language", language, readable_languages()) for language in self.languages),
        )

    @property
    @override
    def words(self) -> int:
        """All tokens except `start`."""
        return self.sizes.vocabulary - 1

    @override
    def build(self) -> Decoder:
        return build(self.network, self.sizes, self.options)


class DecoderModel(PaperModel[DecoderConfig, Decoder]):
    """A trained language model.

    Each query is computed alone. So no answer depends on other queries, and equal inputs have equal answers.
    """

    config_type = DecoderConfig
    features_version = f"{VERSION}:{LONGEST}:{LINE_TOKENS}:{WRITTEN_TOKENS}"
    noise = 0.0
    """Other queries have no effect at all."""
    tasks = TASKS
    samples: int = 1
    more_tasks = TASKS

    def __init__(self, config: DecoderConfig, network: Decoder, files: Files, *, device: str) -> None:
        super().__init__(config, network, files, device=device)
        self.streams = Streams(files.tokenizer)
        if (self.streams.start, self.streams.newline) != (config.sizes.start, config.sizes.newline):
            raise ValueError("made with another tokenizer.json")

        self.temperature = 0.0

    def draw(self, *, samples: float | str = 1, temperature: float | str = TEMPERATURE) -> None:
        """From now on, draw so many continuations at a temperature; fingerprints tell them apart."""
        self.samples, self.temperature = int(samples), float(temperature)
        identity = f"{self.fingerprint}:{self.samples}:{self.temperature}"
        self.fingerprint = hashlib.sha256(identity.encode()).hexdigest()

    @override
    def unreadable(self, query: Query) -> Failed | None:
        """Only a measured text must fit the window; of a prompt the end is read."""
        try:
            ids = self.streams.ids(query.source) if query.task == CODE_MODELLING.name else []
        except SourceError:
            return UNREADABLE
        return self.refused(query) or (TOO_LONG if len(ids) > LONGEST else None)

    @override
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        return [self._predicted(query) for query in queries]

    def continued(self, prompts: Sequence[str], *, tokens: int, stop: Sequence[str] = ()) -> list[str]:
        """The continuation of each prompt: at most `tokens` most likely tokens, up to the first of the `stop`
        texts, which is left out.

        Raises:
            SourceError: a prompt that cannot be written in UTF-8.
        """
        return [self._continued(prompt, tokens=tokens, stop=stop)[0] for prompt in prompts]

    def _predicted(self, query: Query) -> Prediction:
        if refused := self.refused(query):
            return refused
        try:
            if query.task == CODE_MODELLING.name:
                return self._measured(query.source)
            if query.task == NEXT_LINE.name:
                written = self._continued(query.source, tokens=LINE_TOKENS, stop=["\n"])
            else:
                written = self._continued(query.source, tokens=WRITTEN_TOKENS, stop=LEAVING)
            return joined([Predicted(answer=text) for text in written])
        except SourceError:
            return UNREADABLE

    @torch.no_grad()
    def _measured(self, source: str) -> Prediction:
        """Bits per byte."""
        ids = self.streams.ids(source)
        if not ids:
            return Failed(reason=EMPTY)
        if len(ids) > LONGEST:
            return TOO_LONG
        row = torch.tensor([[self.streams.start, *ids]], device=self.device)
        # `start` is read and never predicted, so the bits are those of the text's own tokens.
        logits = self.module(row[:, :-1])[0].double()
        nats = float(F.cross_entropy(logits, row[0, 1:], reduction="sum"))
        return Predicted(answer=bits_per_byte(nats, source))

    @torch.no_grad()
    def _continued(self, prompt: str, *, tokens: int, stop: Sequence[str]) -> list[str]:
        """So many continuations as there are samples. The prompt is read once."""
        ids = self._end_of(self.streams.ids(prompt), LONGEST - tokens)
        cache = Cache()
        row = torch.tensor([[self.streams.start, *ids]], device=self.device)
        hidden, _ = self.module.hidden(row, cache)
        # All continuations are written side by side: one step of ten costs little more than one of one.
        cache.keep([0] * self.samples)
        logits = self.module.logits(hidden[:, -1]).expand(self.samples, -1)
        streams = [draws(number) for number in range(self.samples)]
        written: list[list[int]] = [[] for _ in streams]
        texts = [""] * self.samples
        writing = list(range(self.samples))
        for _ in range(tokens):
            chosen = self._next(logits, [streams[number] for number in writing])
            kept: list[int] = []
            for place, (number, token) in enumerate(zip(writing, chosen, strict=True)):
                if token == self.streams.start:
                    continue
                written[number].append(token)
                # On the text, not on tokens: the end may begin in one token and finish in the next.
                texts[number] = self.streams.text(written[number])
                if not any(end in texts[number] for end in stop):
                    kept.append(place)
            if not kept:
                break
            if len(kept) < len(writing):
                cache.keep(kept)
                writing = [writing[place] for place in kept]
            row = torch.tensor([[written[number][-1]] for number in writing], device=self.device)
            hidden, _ = self.module.hidden(row, cache)
            logits = self.module.logits(hidden[:, -1])
        return [
            text[: min((text.find(end) for end in stop if end in text), default=len(text))] for text in texts
        ]

    def _next(self, logits: Tensor, streams: Sequence[Random]) -> list[int]:
        """The likeliest token of each of (B, V) logits; under a temperature one that its stream draws, by the
        inverse of the distribution."""
        if not self.temperature:
            return logits.argmax(-1).tolist()
        sums = (logits.double() / self.temperature).softmax(-1).cumsum(-1).cpu()
        drawn = torch.tensor([[rng.random()] for rng in streams], dtype=torch.float64)
        tokens = torch.searchsorted(sums, drawn * sums[:, -1:])[:, 0]
        return tokens.clamp(max=sums.shape[1] - 1).tolist()

    def _end_of(self, ids: list[int], most: int) -> list[int]:
        """The last tokens, at most `most`, from the start of a line if they contain one."""
        if len(ids) <= most:
            return ids
        tail = ids[len(ids) - most :]
        # From the start of a line, because a network of lines would take half a line for a whole one.
        breaks = [place for place, token in enumerate(tail[:-1], start=1) if token == self.streams.newline]
        return tail[breaks[0] :] if breaks else tail
