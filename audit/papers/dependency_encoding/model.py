"""Checkpoints of language models: CoDE and its baselines, written by `codeaudit train`.

One network answers three tasks. `code-modelling`: bits per byte of the text, which starts as a text in
training does. `next-line`: the line that it writes behind the text. `generation`: what it writes behind the
text. It always writes the most likely token; the start token ends what it writes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import torch
import torch.nn.functional as F

from codeaudit.audit.papers import checkpoint as files
from codeaudit.audit.papers.dependency_encoding.registry import DECODERS, build
from codeaudit.audit.papers.dependency_encoding.streams import VERSION, Streams
from codeaudit.audit.papers.dependency_encoding.trunk import Cache, Decoder, Sizes
from codeaudit.audit.papers.lines.programs import readable_languages
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError, SourceError, UsageError
from codeaudit.transforms.languages import DEFAULT

MODELLING: Final = "code-modelling"
NEXT_LINE: Final = "next-line"
GENERATION: Final = "generation"
TASKS: Final = frozenset({MODELLING, NEXT_LINE, GENERATION})

LONGEST: Final = 4096
"""Tokens that are read at once. Of longer prompts the end is read, from the start of a line."""
LINE_TOKENS: Final = 64
"""Tokens that a line is given."""
WRITTEN_TOKENS: Final = 256
"""Tokens that a completion is given."""
LEAVING: Final = ("\ndef ", "\nclass ", "\nif ", "\nprint", "\n#", "\n@", "\nimport ", "\nfrom ")
"""What shows that a completion has left the function that it was to complete."""

TOO_LONG: Final = Failed(reason="input too long")
UNREADABLE: Final = Failed(reason="text that cannot be written in UTF-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderConfig:
    """What such a checkpoint's config.json says."""

    task: str
    network: str
    sizes: Sizes
    options: Mapping[str, object] = field(default_factory=dict)
    precision: str = "float32"
    languages: tuple[str, ...] = (DEFAULT,)

    def as_json(self) -> dict[str, object]:
        """The file's content."""
        return {
            "schema": files.SCHEMA,
            "task": self.task,
            "network": self.network,
            "options": dict(self.options),
            "sizes": asdict(self.sizes),
            "precision": self.precision,
            "languages": list(self.languages),
        }


def read_config(path: Path) -> DecoderConfig:
    """A config.json.

    Raises:
        ModelError: it is missing or not one of ours.
    """
    config = files.read_as(
        path,
        lambda found: DecoderConfig(
            task=str(found["task"]),
            network=str(found["network"]),
            options=dict(found["options"]),
            sizes=Sizes(**found["sizes"]),
            precision=str(found["precision"]),
            languages=tuple(map(str, found["languages"])),
        ),
    )
    files.check_known(
        path,
        ("task", config.task, {MODELLING}),
        ("network", config.network, DECODERS),
        ("precision", config.precision, files.PRECISIONS),
        *(("language", language, readable_languages()) for language in config.languages),
    )
    return config


class DecoderModel(files.Trained):
    """A trained language model. Each query is computed alone, so that no answer depends on what else is
    asked, and equal inputs have equal answers.
    """

    noise = 0.0
    """What a query is asked with has no effect at all."""
    tasks = TASKS

    def __init__(
        self,
        name: str,
        config: DecoderConfig,
        network: Decoder,
        streams: Streams,
        digest: str,
        *,
        device: str,
    ) -> None:
        shown = f"{VERSION}:{LONGEST}:{LINE_TOKENS}:{WRITTEN_TOKENS}"
        super().__init__(name, config.task, network, digest=digest, precision=config.precision, shown=shown)
        self.config = config
        self.device = device
        self.streams = streams
        self._network = network.to(device=device, dtype=files.PRECISIONS[config.precision]).eval()
        self._foreign = files.foreign(config.languages)

    @classmethod
    def load(cls, place: str, *, device: str = "auto", precision: str | None = None) -> "DecoderModel":
        """A bundled checkpoint by name, or a folder.

        Raises:
            ModelError: a file is missing, damaged, or does not fit the others.
            UsageError: no such device or precision.
        """
        folder = files.folder_of(place)
        config = read_config(folder / files.CONFIG)
        wanted = files.usable_precision(precision or config.precision)
        chosen = files.usable_device(device)
        tokenizer = files.read_tokenizer(folder / files.TOKENIZER, config.sizes.vocabulary - 1)
        weights = files.read_weights(folder / files.WEIGHTS)
        try:
            streams = Streams(tokenizer)
            if (streams.start, streams.newline) != (config.sizes.start, config.sizes.newline):
                raise ValueError(f"made with another {files.TOKENIZER}")
            network = build(config.network, config.sizes, config.options)
            network.load_state_dict(weights)
        except (RuntimeError, ValueError, TypeError, UsageError) as error:
            raise files.misfit(folder / files.WEIGHTS, error) from error
        used = DecoderConfig(
            task=config.task,
            network=config.network,
            options=config.options,
            sizes=config.sizes,
            precision=wanted,
            languages=config.languages,
        )
        return cls(place, used, network, streams, files.digest(folder), device=chosen)

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query, in the same order.

        Raises:
            ModelError: a query is about another task.
        """
        return [self._predicted(query) for query in queries]

    def continued(self, prompts: Sequence[str], *, tokens: int, stop: Sequence[str] = ()) -> list[str]:
        """What it writes behind each prompt: the most likely tokens, at most so many, up to the first of the
        `stop` texts, which is left out.

        Raises:
            SourceError: a prompt that cannot be written in UTF-8.
        """
        return [self._continued(prompt, tokens=tokens, stop=stop) for prompt in prompts]

    def _predicted(self, query: Query) -> Prediction:
        if query.task not in TASKS:
            raise ModelError(f"model {self.name!r} is made for task {self.task!r}, not {query.task!r}")
        if query.language not in self.config.languages:
            return self._foreign
        try:
            if query.task == MODELLING:
                return self._measured(query.source)
            if query.task == NEXT_LINE:
                (line,) = self.continued([query.source], tokens=LINE_TOKENS, stop=["\n"])
                return Predicted(answer=line)
            (text,) = self.continued([query.source], tokens=WRITTEN_TOKENS, stop=LEAVING)
            return Predicted(answer=text)
        except SourceError:
            return UNREADABLE

    @torch.no_grad()
    def _measured(self, source: str) -> Prediction:
        """Bits per byte."""
        ids = self.streams.ids(source)
        if not ids:
            return Failed(reason="empty text")
        if len(ids) > LONGEST:
            return TOO_LONG
        row = torch.tensor([[self.streams.start, *ids]], device=self.device)
        logits = self._network(row[:, :-1])[0].double()
        nats = float(F.cross_entropy(logits, row[0, 1:], reduction="sum"))
        return Predicted(answer=nats / math.log(2) / len(source.encode()))

    @torch.no_grad()
    def _continued(self, prompt: str, *, tokens: int, stop: Sequence[str]) -> str:
        ids = self._end_of(self.streams.ids(prompt), LONGEST - tokens)
        cache = Cache()
        row = torch.tensor([[self.streams.start, *ids]], device=self.device)
        written: list[int] = []
        for _ in range(tokens):
            hidden, _ = self._network.hidden(row, cache)
            best = int(self._network.logits(hidden[0, -1]).argmax())
            if best == self.streams.start:
                break
            written.append(best)
            text = self.streams.text(written)
            if any(end in text for end in stop):
                break
            row = torch.tensor([[best]], device=self.device)
        text = self.streams.text(written)
        return text[: min((text.find(end) for end in stop if end in text), default=len(text))]

    def _end_of(self, ids: list[int], most: int) -> list[int]:
        """The last tokens, at most so many, from the start of a line where they hold one."""
        if len(ids) <= most:
            return ids
        kept = ids[len(ids) - most :]
        breaks = [place for place, one in enumerate(kept[:-1], start=1) if one == self.streams.newline]
        return kept[breaks[0] :] if breaks else kept
