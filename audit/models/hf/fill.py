"""Heads of masked language models: they fill masks in the place of the answer, or choose between words there.

If a word has several tokens, its first one is compared.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import torch
from torch.nn.functional import log_softmax

from codeaudit.audit.interface import NameOfCode, OneWordOf
from codeaudit.audit.models.hf.arguments import Arguments
from codeaudit.audit.models.hf.heads import NOT_FINITE, TOO_LONG, LoadedNetwork, Row, TokenizedQuery, ranked
from codeaudit.audit.probabilities import Scale
from codeaudit.audit.prompts import WHOLE
from codeaudit.audit.records import Failed, Predicted, Prediction, Query, RawReply, kept_reply
from codeaudit.audit.registry import answer_kind
from codeaudit.transforms.errors import ModelError

NO_NAME: Final = Failed(reason="no name to fill in")
MASK_IN_CODE: Final = Failed(reason="mask token in the source")


class MaskFillingHead:
    """Puts masks in the place of a function's name; for other tasks, after the prompt.

    A name may have several tokens. One mask, two masks, … are tried, and the filling with the highest mean
    log-probability is the answer. The masks of a row are filled independently.
    """

    kind = "Filling"
    scale: Scale = "log-probabilities"
    task = None

    def __init__(self, engine: LoadedNetwork, arguments: Arguments) -> None:
        """The head for a network.

        Raises:
            ModelError: its tokenizer has no mask token.
        """
        self._mask = engine.texts.tokenizer.mask_token
        if self._mask is None:
            raise ModelError(f"cannot use {engine.name!r}: its tokenizer has no mask token")
        self._engine = engine
        self._prompts = arguments.prompts
        self._most = arguments.masks
        self._in_place = arguments.template is None
        self._words: dict[tuple[str, ...], list[int]] = {}

    @property
    def decides(self) -> Mapping[str, object]:
        """Prompts and masks."""
        return {"prompts": self._prompts.digest, "in_place": self._in_place, "masks": self._most}

    def ask(self, query: Query) -> TokenizedQuery | Failed:
        """Rows with one mask, two masks, …; a single row if the task has words to choose from.

        Raises:
            ModelError: there is no prompt for the query's task.
        """
        # Masks are read as special tokens, so one of the source would look like ours.
        if any(self._mask in text for text in query.units):
            return MASK_IN_CODE
        text_of = self._text_of(query)
        if isinstance(text_of, Failed):
            return text_of
        most = 1 if isinstance(answer_kind(query.task), OneWordOf) else self._most
        texts = self._engine.texts
        tokenized = texts.fitted(
            query,
            lambda source: tuple(
                texts.marked(text_of(source, self._mask * number), whole=False)
                for number in range(1, most + 1)
            ),
        )
        if isinstance(tokenized, Failed):
            return tokenized
        # A source that was cut may have lost the place of the name.
        mask = texts.tokenizer.mask_token_id
        lost = any(row.count(mask) < number for number, row in enumerate(tokenized.rows, start=1))
        return TOO_LONG if lost else tokenized

    def answer(self, batch: Sequence[TokenizedQuery]) -> list[Prediction]:
        """The fillings, or the likeliest words."""
        rows = [row for tokenized in batch for row in tokenized.rows]
        logits = self._engine.network(**self._engine.tensors(rows)).logits
        predictions: list[Prediction] = []
        start = 0
        for tokenized in batch:
            at_masks = [
                self._at_masks(logits[start + place], row, place + 1)
                for place, row in enumerate(tokenized.rows)
            ]
            start += len(tokenized.rows)
            if not all(bool(scores.isfinite().all()) for scores in at_masks):
                predictions.append(NOT_FINITE)
            elif isinstance(kind := answer_kind(tokenized.query.task), OneWordOf):
                predictions.append(self._chosen(kind.words, at_masks[0][0]))
            else:
                predictions.append(self._filled(tokenized.query, at_masks))
        return predictions

    def scores(self, rows: Sequence[Row]) -> torch.Tensor:
        """(B, V) log-probabilities at each row's last token."""
        logits = self._engine.network(**self._engine.tensors(rows)).logits
        last = torch.tensor([len(row) - 1 for row in rows], device=logits.device)
        return log_softmax(logits[torch.arange(len(rows), device=logits.device), last].double(), -1).cpu()

    def _text_of(self, query: Query) -> Callable[[str, str], str] | Failed:
        """Makes the text for the network of a source and of masks."""
        kind = answer_kind(query.task)
        if isinstance(kind, NameOfCode) and self._in_place:
            name = kind.placeholder(query.source, query.language)
            if name is None:
                return NO_NAME
            # Everywhere, because a recursive call would give the name away.
            place = re.compile(rf"(?<!\w){name}(?!\w)")
            return lambda source, masks: place.sub(lambda _: masks, source)
        prompt = self._prompts.of(query)

        def behind(source: str, masks: str) -> str:
            return f"{prompt.text(replace(query, source=source))} {masks}"

        return behind

    def _at_masks(self, logits: torch.Tensor, row: Row, number: int) -> torch.Tensor:
        """(number, V) log-probabilities at a row's first masks, on the CPU."""
        mask = self._engine.texts.tokenizer.mask_token_id
        places = [place for place, token in enumerate(row) if token == mask][:number]
        return log_softmax(logits[places].double(), -1).cpu()

    def _chosen(self, words: tuple[str, ...], scores: torch.Tensor) -> Prediction:
        values = scores[self._first_tokens(words)]
        likely, margin = ranked(words, values)
        return Predicted(answer=words[int(values.argmax())], scores=likely, margin=margin)

    def _filled(self, query: Query, at_masks: Sequence[torch.Tensor]) -> Prediction:
        means = torch.stack([scores.amax(-1).mean() for scores in at_masks])
        best = int(means.argmax())
        tokenizer = self._engine.texts.tokenizer
        # The margin is the smallest lead: of a token over the second best at its mask, and of this number of
        # masks over the others.
        text = tokenizer.decode(at_masks[best].argmax(-1).tolist(), skip_special_tokens=True).strip()
        top = at_masks[best].topk(2).values
        leads = [float((top[:, 0] - top[:, 1]).min())]
        leads += [float(means[best] - mean) for place, mean in enumerate(means) if place != best]
        vocabulary = tokenizer.convert_ids_to_tokens(range(at_masks[0].shape[1]))
        likely, _ = ranked([str(token) for token in vocabulary], at_masks[0][0])
        in_place = isinstance(answer_kind(query.task), NameOfCode) and self._in_place
        # Several masks are parts of one name, where a tokenizer may put blanks between them.
        read = _as_filled(text) if in_place else self._prompts.of(query).read(text)
        return read if isinstance(read, Failed) else replace(read, scores=likely, margin=min(leads))

    def _first_tokens(self, words: tuple[str, ...]) -> list[int]:
        if words not in self._words:
            encode = self._engine.texts.tokenizer.encode
            # With a blank in front: byte-pair encodings have other tokens for words inside of a text.
            tokens = [encode(f" {word}", add_special_tokens=False)[0] for word in words]
            if len(set(tokens)) < len(words):
                raise ModelError(
                    f"model {self._engine.name!r} cannot choose between {' and '.join(words)}: its tokenizer "
                    f"begins {'both' if len(words) == 2 else 'some of them'} with one token"
                )
            self._words[words] = tokens
        return self._words[words]


def _as_filled(text: str) -> Prediction:
    """What stands in the place of a name is a name, whatever it is, and no reply."""
    return Predicted(answer="_".join(text.split()), replies=(RawReply(kept_reply(text), WHOLE),))
