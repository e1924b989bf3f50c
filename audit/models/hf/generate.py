"""Heads of causal and sequence-to-sequence models, which write their answer. A causal one also says how
likely a text is.

Decoding is greedy, or draws from a random stream per attempt; so equal inputs have equal answers.

Sampling draws from a random stream for each row, so that batch, order and device do not change the draws.
Gumbel-max trick: the argmax of logits / temperature plus Gumbel noise is exactly a draw from their softmax.
So sampling is greedy decoding of noisy scores.
"""

import copy
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite
from random import Random
from typing import Any, Final

import torch
from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.ext import Extension
from jinja2.meta import find_undeclared_variables
from jinja2.parser import Parser
from torch.nn.functional import log_softmax
from transformers import LogitsProcessor, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList

from codeaudit.audit.interface import TextLikelihood
from codeaudit.audit.models.hf.arguments import Arguments
from codeaudit.audit.models.hf.heads import KEPT, NOT_FINITE, LoadedNetwork, Row, TokenizedQuery, in_one_line
from codeaudit.audit.models.hf.likelihood import TextLikelihoodReader
from codeaudit.audit.models.text_models import draws
from codeaudit.audit.probabilities import Scale
from codeaudit.audit.prompts import ContinuationPrompt, thinks
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.audit.registry import answer_kind
from codeaudit.audit.replies import THOUGHT_ENDS
from codeaudit.transforms.errors import ModelError, UsageError

_END_OF: Final[Mapping[str, re.Pattern[str]]] = {
    "line": re.compile(r"\S.*\n"),
    "code": re.compile(r"\n[^\s#)\]}]"),
    "thought": re.compile(r"^\W*answer\W*:.*\w.*\n", re.I | re.MULTILINE),
}
"""Where a continued text is ended: after a line with content, before an unindented line (code), or after the
line with the answer (thoughts)."""

_SAMPLING: Final = (
    *("temperature", "top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff"),
    *("penalty_alpha", "max_length", "min_length", "min_new_tokens", "max_time", "stop_strings"),
    *("early_stopping", "length_penalty", "cache_implementation", "prompt_lookup_num_tokens"),
)
"""Settings of a model's own generation config that are removed, because the user decides them."""


_GIVEN: Final = frozenset(
    {
        *("messages", "add_generation_prompt", "tools", "documents", "bos_token", "eos_token", "pad_token"),
        *("unk_token", "raise_exception", "strftime_now"),
    }
)
"""What the library gives to each template."""
_ASKED: Final = "What is it?"
_SAID: Final = "4217"
_CHATS: Final = re.compile(r"(?:\A|[-_.])(?:instruct|chat|it|sft|dpo)(?:\Z|[-_.])", re.I)
"""Words in the names of models that were trained to chat."""
_THINKS: Final = re.compile(r"<(?:think(?:ing)?|thought|reasoning)>\s*\Z", re.I)
"""The end of a prompt whose answer begins with thoughts."""
LONGEST_THOUGHT: Final = 4096
"""Tokens of an answer that begins with thoughts, unless the user limits them."""

_log = logging.getLogger(__name__)


class GenerationHead:
    """Answers with the continuation of the prompt, read in the prompt's format.

    The margin is the smallest lead of a written token over the second best. The scores are the
    log-probabilities of the first token. A sampled answer has neither, because it changes by chance.
    """

    kind = "Generation"
    scale: Scale = "log-probabilities"
    task = None

    def __init__(self, engine: LoadedNetwork, arguments: Arguments) -> None:
        """The head for a network.

        It asks in a chat if the tokenizer has a template for one and the network ends its turns by it. A base
        model does not, though it often shares the tokenizer of the chat model that was made of it.

        Raises:
            UsageError: the chat template does not read an argument.
            ModelError: the user wants a chat, and the tokenizer has no template.
        """
        network, tokenizer = engine.network, engine.texts.tokenizer
        has_template = bool(tokenizer.chat_template)
        if arguments.chat and not has_template:
            raise ModelError(f"cannot ask {engine.name!r} in a chat: its tokenizer has no chat template")
        self._engine = engine
        self._prompts = arguments.prompts
        # Thinking would use up the tokens of the answer.
        self._options = {"enable_thinking": False, **arguments.chat_arguments}
        ends = _ends(network.generation_config) | _ends(network.config.get_text_config()) | _ends(tokenizer)
        mark = _turn_end(tokenizer) if has_template else None
        is_base = mark is not None and mark not in ends
        self._chat = (has_template and not is_base) if arguments.chat is None else arguments.chat
        if arguments.chat is None:
            _tell(engine.name, tokenizer, mark if is_base else None)
        if arguments.chat_arguments:
            self._check_told(arguments)
        self._encoder = bool(network.config.is_encoder_decoder)
        self._likelihood = None if self._encoder else TextLikelihoodReader(engine)
        self._longest = arguments.max_new_tokens
        self._bounded = "max_new_tokens" in arguments.given
        self._samples = arguments.samples
        self._temperature = arguments.temperature
        network.generation_config = _greedy(network, engine.pad, tokenizer)
        marks = _ends(network.generation_config)
        self._added_end = mark if self._chat and mark not in marks else None
        if self._added_end is not None:
            network.generation_config.eos_token_id = sorted(marks | {self._added_end})
        self._thinks = self._chat and self._begins_with_thoughts()

    def _check_told(self, arguments: Arguments) -> None:
        """Check that the chat template reads what the user tells it.

        Raises:
            UsageError: it does not.
        """
        name = self._engine.name
        first = next(iter(arguments.chat_arguments))
        if not self._chat:
            raise UsageError(
                f"-M chat_template_kwargs.{first} has no effect on {name!r}, asked without a chat"
            )
        read = _names_in(self._engine.texts.tokenizer)
        if odd := [argument for argument in arguments.chat_arguments if read and argument not in read]:
            names = ", ".join(sorted(read - _GIVEN)) or "nothing but the turns"
            raise UsageError(
                f"-M chat_template_kwargs.{odd[0]} has no effect on {name!r}: its chat template reads {names}"
            )

    def _begins_with_thoughts(self) -> bool:
        """Whether answers begin with thoughts: the template opens them, or the user asks for them."""
        if self._options["enable_thinking"] and "enable_thinking" in _names_in(self._engine.texts.tokenizer):
            return True
        try:
            text = self._templated([{"role": "user", "content": _ASKED}])
        except ModelError:  # the first query reports it
            return False
        return _THINKS.search(text) is not None

    @property
    def decides(self) -> Mapping[str, object]:
        """Prompts and decoding."""
        settings: dict[str, object] = {
            "prompts": self._prompts.digest,
            "chat": self._chat,
            "max_new_tokens": self._longest,
        }
        if self._temperature is not None:  # left out otherwise, so that greedy models keep their fingerprints
            settings |= {"samples": self._samples, "temperature": self._temperature}
        if self._added_end is not None:
            settings["turn_end"] = self._added_end
        if self._thinks:
            settings["longest_thought"] = LONGEST_THOUGHT
        if self._options != {"enable_thinking": False}:
            settings["chat_template_kwargs"] = json.dumps(self._options, sort_keys=True)
        return settings

    def ask(self, query: Query) -> TokenizedQuery | Failed:
        """The tokens of the prompt, which ends where the answer begins.

        Raises:
            ModelError: there is no prompt for the query's task.
        """
        if (reader := self._reader(query)) is not None:
            return reader.ask(query)
        prompt = self._prompts.of(query)

        def rows(source: str) -> tuple[Row, ...]:
            piece = replace(query, source=source)
            if not self._chat:
                return (self._engine.texts.plain(prompt.text(piece)),)
            turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages(piece)]
            return (self._engine.texts.marked(self._templated(turns), whole=True),)

        longest = self._most(query)
        # The decoder of a sequence-to-sequence model has a window of its own.
        reserved = 0 if self._encoder else longest
        return self._engine.texts.fitted(query, rows, grows=longest, reserved=reserved)

    def _most(self, query: Query) -> int:
        """Largest number of tokens of an answer. Without a limit of the user, at most half of the window."""
        prompt = self._prompts.of(query)
        longest = LONGEST_THOUGHT if self._thinks else prompt.longest
        if longest is None or self._bounded:
            return self._longest
        window = self._engine.texts.window
        return longest if window is None else min(longest, window // 2)

    def _templated(self, turns: Sequence[Mapping[str, str]]) -> str:
        """A chat in the model's own template."""
        try:
            text = self._engine.texts.tokenizer.apply_chat_template(
                turns, add_generation_prompt=True, tokenize=False, **self._options
            )
        except Exception as error:  # a template is a program, which may raise anything
            raise ModelError(
                f"cannot ask {self._engine.name!r}: its chat template refuses the prompt: "
                f"{in_one_line(error)}; -M chat=false asks without it"
            ) from error
        return str(text)

    def answer(self, batch: Sequence[TokenizedQuery]) -> list[Prediction]:
        """The continuations, read in the format of their prompts; of a text that is measured, its bits."""
        readers = [self._reader(tokenized.query) for tokenized in batch]
        waiting = [tokenized for tokenized, reader in zip(batch, readers, strict=True) if reader is None]
        written = iter(self._continuations(waiting))
        return [
            next(written) if reader is None else reader.answer(tokenized)
            for tokenized, reader in zip(batch, readers, strict=True)
        ]

    def _reader(self, query: Query) -> TextLikelihoodReader | None:
        """What measures the text of a query; `None` if the network writes an answer."""
        return self._likelihood if isinstance(answer_kind(query.task), TextLikelihood) else None

    def _continuations(self, batch: Sequence[TokenizedQuery]) -> list[Prediction]:
        if not batch:
            return []
        rows = [tokenized.rows[0] for tokenized in batch]
        most = max(self._most(tokenized.query) for tokenized in batch)
        sampled = self._temperature is not None
        streams = [draws(tokenized.attempt) for tokenized in batch] if sampled else []
        written, watch = self._written(rows, most, continued=self._continued(batch), streams=streams)
        texts = self._texts(rows, written)
        predictions: list[Prediction] = []
        for tokenized, text, lead, sound, first, cut in zip(
            batch, texts, watch.leads, watch.sound, watch.first, watch.writing, strict=True
        ):
            prompt = self._prompts.of(tokenized.query)
            # Thoughts that the limit has cut are no answer, or have no last line.
            if self._thinks and cut and not THOUGHT_ENDS.search(text):
                text = ""
            read = prompt.read(text, cut=cut and thinks(prompt)) if sound else NOT_FINITE
            if isinstance(read, Predicted) and not sampled:
                margin = lead if isfinite(lead) else None
                read = replace(read, scores=self._scores(first), margin=margin)
            predictions.append(read)
        return predictions

    def scores(self, rows: Sequence[Row]) -> torch.Tensor:
        """(B, V) log-probabilities of the first token."""
        return self._written(rows, 1)[1].first

    def _continued(self, batch: Sequence[TokenizedQuery]) -> str:
        """Whether plain texts are continued by a line, by code or by thoughts: by what one query needs."""
        prompts = [self._prompts.of(tokenized.query) for tokenized in batch]
        if any(thinks(prompt) for prompt in prompts):
            return "thought"
        code = any(isinstance(prompt, ContinuationPrompt) and prompt.extent == "code" for prompt in prompts)
        return "code" if code else "line"

    def _written(
        self, rows: Sequence[Row], most: int, *, continued: str = "line", streams: Sequence[Random] = ()
    ) -> tuple[torch.Tensor, "_DecodingWatch"]:
        """The continuations of the rows, and the watch that followed them.

        A plain text is continued to the end of a line or of code. `streams` has the random stream of each
        row; without streams the likeliest tokens are written.
        """
        inputs = self._engine.tensors(rows, "right" if self._encoder else "left")
        watch = _DecodingWatch(self._engine, None if self._chat or self._encoder else _END_OF[continued])
        processors: list[LogitsProcessor] = [_Look(watch)]
        if self._temperature is not None and streams:
            processors.append(GumbelSampling(streams, self._temperature))
        tokens = self._engine.network.generate(
            **inputs,
            max_new_tokens=most,
            logits_processor=LogitsProcessorList(processors),
            stopping_criteria=StoppingCriteriaList([_Stop(watch)]),
        )
        start = 1 if self._encoder else inputs["input_ids"].shape[1]
        return tokens[:, start:], watch

    def _texts(self, rows: Sequence[Row], written: torch.Tensor) -> list[str]:
        """The written texts.

        A plain text is decoded together with its prompt, because some tokenizers drop the blanks at the
        beginning of a text that is decoded alone, and these are its indentation.
        """
        alone = self._decoded(written.tolist())
        if self._chat or self._encoder:
            return alone
        heads = self._decoded(rows)
        wholes = self._decoded([[*row, *tokens] for row, tokens in zip(rows, written.tolist(), strict=True)])
        return [
            whole[len(head) :] if whole.startswith(head) else text
            for head, whole, text in zip(heads, wholes, alone, strict=True)
        ]

    def _decoded(self, tokens: Sequence[Sequence[int]]) -> list[str]:
        texts: list[str] = self._engine.texts.tokenizer.batch_decode(
            tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return texts

    def _scores(self, first: torch.Tensor) -> tuple[tuple[str, float], ...]:
        top = first.topk(min(KEPT, len(first)))
        tokens = self._engine.texts.tokenizer.convert_ids_to_tokens(top.indices.tolist())
        scored = zip(tokens, top.values.tolist(), strict=True)
        return tuple(sorted((token, value) for token, value in scored if isfinite(value)))


class _DecodingWatch:
    """Follows a batch while it is written, token by token."""

    def __init__(self, engine: LoadedNetwork, until: re.Pattern[str] | None) -> None:
        self._tokenizer = engine.texts.tokenizer
        self._ends = _ends(engine.network.generation_config)
        self._until = until
        self.first = torch.empty(0)
        """(B, V) log-probabilities of the first token, in float64 on the CPU."""
        self.leads: list[float] = []
        """By row, the smallest lead of a written token over the second best."""
        self.sound: list[bool] = []
        """By row, whether all scores were finite."""
        self.writing: list[bool] = []
        """By row, whether it has not ended yet."""
        self._texts: list[str] = []

    def look(self, scores: torch.Tensor) -> None:
        """Before a token is chosen: record how clear the choice is."""
        size = len(scores)
        if not self.leads:
            self.first = log_softmax(scores.double(), dim=-1).cpu()
            self.leads, self.sound = [inf] * size, [True] * size
            self.writing, self._texts = [True] * size, [""] * size
        # A row that has ended is still padded along with the others; those choices are not its own.
        for row, (best, second) in enumerate(scores.topk(2).values.double().tolist()):
            if self.writing[row]:
                self.leads[row] = min(self.leads[row], best - second)
                self.sound[row] &= isfinite(best)

    def stop(self, chosen: Sequence[int]) -> list[bool]:
        """After a token is chosen: which rows end here."""
        ended = [False] * len(chosen)
        for row, token in enumerate(chosen):
            if not self.writing[row]:
                continue
            if self._until is not None:
                self._texts[row] += self._tokenizer.decode([token])
                ended[row] = self._until.search(self._texts[row]) is not None
            self.writing[row] = not ended[row] and token not in self._ends
        return ended


class _Look(LogitsProcessor):
    """Shows the scores to the watch and changes nothing."""

    def __init__(self, watch: _DecodingWatch) -> None:
        self._watch = watch

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        self._watch.look(scores)
        return scores


class _Stop(StoppingCriteria):
    """Ends a row when the watch says so."""

    def __init__(self, watch: _DecodingWatch) -> None:
        self._watch = watch

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: Any) -> torch.Tensor:
        done = self._watch.stop(input_ids[:, -1].tolist())
        return torch.tensor(done, device=input_ids.device)


def _greedy(network: Any, pad: int, tokenizer: Any) -> Any:
    """The network's own generation config without sampling and beams.

    Forbidden, forced and penalised tokens stay, because they are part of the model.
    """
    config = copy.deepcopy(network.generation_config)
    for name in _SAMPLING:
        if hasattr(config, name):
            setattr(config, name, None)
    config.update(do_sample=False, num_beams=1, num_return_sequences=1, pad_token_id=pad, use_cache=True)
    if not _ends(config):
        config.eos_token_id = tokenizer.eos_token_id
    return config


def _names_in(tokenizer: Any) -> frozenset[str]:
    """The names that a chat template reads and does not set itself; empty if they are not known."""
    template = tokenizer.chat_template
    texts = template.values() if isinstance(template, Mapping) else [template]
    try:
        reader = Environment(extensions=["jinja2.ext.loopcontrols", _GenerationBlock])
        return frozenset().union(*(find_undeclared_variables(reader.parse(text)) for text in texts))
    except TemplateSyntaxError:  # the first query reports it
        return frozenset()


class _GenerationBlock(Extension):
    """The tag `generation` of the library, which marks what a model has said."""

    tags = {"generation"}  # noqa: RUF012 - as the class above has it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The content of the block, as if the tag were not there."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _turn_end(tokenizer: Any) -> int | None:
    """The token that the chat template writes behind what a model says; `None` if that is no token."""
    turns = [{"role": "user", "content": _ASKED}, {"role": "assistant", "content": _SAID}]
    try:
        text = str(tokenizer.apply_chat_template(turns, tokenize=False))
    except Exception:  # a template is a program and may raise anything; the first query reports it
        return None
    rest = text.rpartition(_SAID)[2].lstrip()
    marks = {str(token): number for number, token in tokenizer.added_tokens_decoder.items()}
    return next((marks[mark] for mark in sorted(marks, key=len, reverse=True) if rest.startswith(mark)), None)


def _tell(name: str, tokenizer: Any, unused: int | None) -> None:
    """Tell what a user may not expect: a template that is not used, or one that is missing."""
    if unused is not None:
        _log.warning(
            "codeaudit: %s: asked without its chat template, because it is a base model: the template ends "
            "turns with %r, where this network does not stop; -M chat=true asks in it",
            name,
            tokenizer.convert_ids_to_tokens(unused),
        )
    elif not tokenizer.chat_template and _CHATS.search(name.rpartition("/")[2]):
        _log.warning(
            "codeaudit: %s: asked with plain texts, because its tokenizer has no chat template; its name "
            "says that it was trained to chat: put its chat_template.jinja into the folder",
            name,
        )


def _ends(config: Any) -> frozenset[int]:
    ends = getattr(config, "eos_token_id", None)
    return frozenset(ends if isinstance(ends, list) else [] if ends is None else [ends])


_GAMMA: Final = 0x9E3779B97F4A7C15
_MIXED: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""SplitMix64: the increment of the state, and the (shift, factor) steps that mix a state into a number.

Reference: Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators, OOPSLA.
"""


class GumbelSampling(LogitsProcessor):
    """Adds the noise of a row's own stream to its scores."""

    def __init__(self, streams: Sequence[Random], temperature: float) -> None:
        self._streams = streams
        self._temperature = temperature

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """(B, V) scores; the highest of each row is a draw from the softmax."""
        keys = [stream.getrandbits(64) for stream in self._streams]
        noise = gumbel(keys, scores.shape[1], scores.device)
        # Relative to the highest score, because the quotient would overflow near temperature 0.
        behind = scores.double() - scores.amax(dim=1, keepdim=True)
        return noise.add_(behind.div_(self._temperature))


def gumbel(keys: Sequence[int], width: int, device: torch.device | str) -> torch.Tensor:
    """(B, width) Gumbel noise in float64, one row per 64-bit key.

    It is made of SplitMix64 integers, because torch's own generators differ between CPU and GPU.
    """
    uniform = _shifted(splitmix(keys, width, device), 12).double().add_(0.5).mul_(2.0**-52)
    # 53 significant bits, so neither 0 nor 1, where a logarithm would be infinite.
    return uniform.log_().neg_().log_().neg_()


def splitmix(keys: Sequence[int], width: int, device: torch.device | str) -> torch.Tensor:
    """(B, width) the first outputs of SplitMix64 from each state, as int64 with the same bits."""
    steps = torch.arange(1, width + 1, device=device) * _signed(_GAMMA)
    # The state after n steps is key + n·gamma modulo 2⁶⁴; the products of int64 wrap around in the same way.
    mixed = steps + torch.tensor([_signed(key) for key in keys], device=device)[:, None]
    for shift, factor in _MIXED:
        mixed ^= _shifted(mixed, shift)
        mixed *= _signed(factor)
    mixed ^= _shifted(mixed, 31)
    return mixed


def _shifted(numbers: torch.Tensor, bits: int) -> torch.Tensor:
    """Logical shift to the right; torch's own keeps the sign."""
    shifted = numbers >> bits
    shifted &= (1 << (64 - bits)) - 1
    return shifted


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number
