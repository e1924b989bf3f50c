"""Heads of encoders: a function gets the name whose embedding is nearest to that of its code."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch
from torch.nn.functional import normalize

from codeaudit.audit.checks import load_json
from codeaudit.audit.interface import NameOfCode, Ranking
from codeaudit.audit.models.answers import ranked_by
from codeaudit.audit.models.hf.arguments import Arguments
from codeaudit.audit.models.hf.heads import NOT_FINITE, LoadedNetwork, Row, RowMemory, TokenizedQuery, ranked
from codeaudit.audit.probabilities import Scale
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.audit.registry import answer_kind, tasks_answered_by
from codeaudit.audit.tasks.function_name import subtokens
from codeaudit.transforms.errors import ModelError, UsageError

NAMES: Final = Path(__file__).with_name("names.txt")
"""The names that are compared unless the user gives a file."""
DEFAULT_POOLING: Final = "mean"
_MODE: Final = re.compile(r"pooling_mode_|_tokens?$")
_MODULES: Final = frozenset({"Transformer", "Pooling", "Normalize"})

Pooling = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1)


def _max(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return states.masked_fill(mask.unsqueeze(-1) == 0, -torch.inf).amax(1)


def _first(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return states[:, 0]


def _last(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return states[torch.arange(len(states)), mask.sum(1) - 1]  # rows are padded on the right


POOLINGS: Final[Mapping[str, Pooling]] = {"mean": _mean, "max": _max, "cls": _first, "lasttoken": _last}
"""How the states of all tokens become one vector, by the names in configs of sentence encoders."""


class EmbeddingHead:
    """Compares code with names, or candidates with a query in words, by the cosine of their embeddings from
    the same network."""

    kind = "Embedding"
    scale: Scale = ""  # likenesses

    @property
    def task(self) -> str:
        """The task that asks for names."""
        return tasks_answered_by(NameOfCode)[0]

    @property
    def tasks(self) -> frozenset[str]:
        """That task, and those that rank candidates."""
        return frozenset((self.task, *tasks_answered_by(Ranking)))

    def __init__(self, engine: LoadedNetwork, folder: Path, arguments: Arguments, *, room: float) -> None:
        """The head for an encoder, with the pooling of its sentence encoder's config, else the mean.

        `room`: the largest number of padded tokens in a batch of names.

        Raises:
            UsageError: the file of names has fewer than two.
            ModelError: that file cannot be read, or the encoder has parts that are not supported.
        """
        self._engine = engine
        self._names = read_names(arguments.names or NAMES)
        self._pooling = pooling_of(folder, engine.name)
        self._template = arguments.template
        self._starts = starts_of(folder, engine.name)
        self._matrix = self._embedded_names(room)
        self._memory = RowMemory(self._embedded)

    @property
    def decides(self) -> Mapping[str, object]:
        """The names, the pooling and the template."""
        names = hashlib.sha256("\n".join(self._names).encode()).hexdigest()
        starts = {"starts": self._starts} if any(self._starts) else {}
        return {"names": names, "pooling": self._pooling, "template": self._template, **starts}

    def ask(self, query: Query) -> TokenizedQuery | Failed:
        """The source as it is, or in the template.

        Raises:
            ModelError: the task does not ask for names.
        """
        if isinstance(answer_kind(query.task), Ranking):
            words, code = self._starts
            question = words + query.text if query.text else code + query.source
            texts = [question, *(code + candidate for candidate in query.candidates)]
            return self._engine.texts.several(query, texts)
        if not isinstance(answer_kind(query.task), NameOfCode):
            raise ModelError(
                f"model {self._engine.name!r} gives embeddings, which find names and rank candidates; it has "
                f"no answer to the task {query.task!r}"
            )
        return self._engine.texts.tokenized(query, self._template)

    def answer(self, batch: Sequence[TokenizedQuery]) -> list[Prediction]:
        """The nearest names, or the ranking of the candidates."""
        # One head answers one task in a run.
        if batch and batch[0].query.candidates:
            return self._rankings(batch)
        predictions: list[Prediction] = []
        for row in self.scores([tokenized.rows[0] for tokenized in batch]):
            if row.isfinite().all():
                scores, margin = ranked(self._names, row)
                predictions.append(
                    Predicted(answer=self._names[int(row.argmax())], scores=scores, margin=margin)
                )
            else:
                predictions.append(NOT_FINITE)
        return predictions

    def _rankings(self, batch: Sequence[TokenizedQuery]) -> list[Prediction]:
        predictions: list[Prediction] = []
        for words, *candidates in self._memory.of(batch):
            near = torch.stack(candidates) @ words
            predictions.append(ranked_by(near.tolist()) if near.isfinite().all() else NOT_FINITE)
        return predictions

    def scores(self, rows: Sequence[Row]) -> torch.Tensor:
        """(B, N) cosine with each of the N names."""
        return self._embedded(rows) @ self._matrix.T

    def _embedded(self, rows: Sequence[Row]) -> torch.Tensor:
        inputs = self._engine.tensors(rows)
        states = self._engine.network(**inputs).last_hidden_state
        # In double precision: sums over a long row in float16 would be coarser than the gaps between names.
        pooled = POOLINGS[self._pooling](states.double(), inputs["attention_mask"])
        return normalize(pooled, dim=1).cpu()

    def _embedded_names(self, room: float) -> torch.Tensor:
        """(N, D) embeddings of the names, each written as its words."""
        rows = [self._engine.texts.plain(" ".join(subtokens(name))) for name in self._names]
        # On a GPU the room is infinite, so the names have a limit of their own.
        size = max(1, int(min(room, 65_536)) // max(map(len, rows)))
        parts = [self._embedded(rows[start : start + size]) for start in range(0, len(rows), size)]
        return torch.cat(parts)


def read_names(path: Path) -> tuple[str, ...]:
    """The names of a file, one per line; the first one of those with equal sets of subtokens.

    Raises:
        ModelError: it cannot be read.
        UsageError: it has fewer than two names.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ModelError(f"cannot read the names in {str(path)!r}: {why}") from error
    names: dict[frozenset[str], str] = {}
    for line in lines:
        name = line.strip()
        # Names with equal subtokens (`getMax`, `get_max`) are one answer, so they would share the score.
        if not name.startswith("#") and (parts := frozenset(subtokens(name))):
            names.setdefault(parts, name)
    if len(names) < 2:
        raise UsageError(f"{str(path)!r} has {len(names)} names to choose from; write one on each line")
    return tuple(names.values())


def pooling_of(folder: Path, name: str) -> str:
    """The pooling in a sentence encoder's config; the mean for any other network.

    Raises:
        ModelError: it has parts, or a pooling, that are not supported.
    """
    modules = _json(folder / "modules.json", name, [])
    kinds = {str(module.get("type")).rpartition(".")[2]: str(module.get("path")) for module in modules}
    # A dense layer after the pooling, say: without it the vectors would be others.
    if foreign := sorted(kinds.keys() - _MODULES):
        raise ModelError(f"cannot load {name!r}: its part {foreign[0]!r} is not known here")
    if "Pooling" not in kinds:
        return DEFAULT_POOLING
    config = _json(folder / kinds["Pooling"] / "config.json", name, {})
    # Newer configs name the mode; older ones have a truth value for each: `pooling_mode_mean_tokens`.
    named = config.get("pooling_mode")
    if named is None:
        named = [_MODE.sub("", key) for key, value in config.items() if _MODE.match(key) and value is True]
    modes = [str(mode) for mode in named] if isinstance(named, list) else [str(named)]
    if len(modes) != 1 or modes[0] not in POOLINGS:
        raise ModelError(
            f"cannot load {name!r}: its pooling {' + '.join(modes) or 'none'!r} is not known here"
        )
    return modes[0]


def starts_of(folder: Path, name: str) -> tuple[str, str]:
    """What a sentence encoder wants in front of a query and of a document; empty texts for most.

    Raises:
        ModelError: its config is damaged.
    """
    prompts = _json(folder / "config_sentence_transformers.json", name, {}).get("prompts")
    texts = prompts if isinstance(prompts, dict) else {}
    starts = [next((texts[key] for key in keys if texts.get(key)), "") for keys in _STARTS]
    words, code = (start if isinstance(start, str) else "" for start in starts)
    return words, code


_STARTS: Final = (("query",), ("document", "passage"))
"""The names of its prompts for queries and for documents."""


def sentence_window(folder: Path, name: str) -> int | None:
    """The window of a sentence encoder in tokens, which may be smaller than that of its network."""
    window = _json(folder / "sentence_bert_config.json", name, {}).get("max_seq_length")
    return window if isinstance(window, int) else None


def _json(path: Path, name: str, default: Any) -> Any:
    if not path.is_file():
        return default
    try:
        content = load_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot load {name!r}: {str(path)!r} is no JSON") from error
    if not isinstance(content, type(default)):
        raise ModelError(f"cannot load {name!r}: {str(path)!r} is not what a sentence encoder has there")
    return content
