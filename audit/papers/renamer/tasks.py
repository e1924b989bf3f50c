"""The tasks of the networks that read terms: two languages, and the meaning of the network's one number.

**Basic blocks** (x86 throughput). An instruction is its prefixes and opcode, the registers that it uses
without a choice, its operands in the order of AT&T text, and `;`. An opcode is a mnemonic with the kinds of
its operands (`addq mr`), because its cost depends on them. The context of a term is its opcode and its
place in the instruction, counted from the destination. The view of a register is its class and width, its
referent the base. Constants are the words `IMM` and `D`: no cost that llvm-mca reports depends on their
values. A register that a mnemonic implies is a term of its own, so that `push` depends on `rsp` visibly;
the paper leaves out blocks with implied registers.

**Pairs of expressions** (derivatives): a function, `=?`, and a candidate for its derivative. Coefficients
share one view, so do the inputs other than x. Operators, digits and x are words of their own, which nothing
may rename.

**Targets.** The number is the logarithm of a cost, or the log-odds of a truth. Each meaning has a loss for
training, an error that judges weights (lower is better), and a score for people.

Dimension key: B batch.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from random import Random
from typing import Final, TypeAlias

from torch import Tensor
from torch.nn import functional as F

from codeaudit.audit.papers.renamer.terms import START, Reading, Term, TermChoices, TermLanguage, word
from codeaudit.audit.records import Answer, Predicted
from codeaudit.audit.tasks.derivative import DERIVATIVE, FALSE, TRUE
from codeaudit.audit.tasks.throughput import THROUGHPUT
from codeaudit.transforms.algebra import ALGEBRA
from codeaudit.transforms.algebra.expressions import ASKED, COEFFICIENTS, INPUTS, parse_pair
from codeaudit.transforms.algebra.views import MOVABLE, POOLS, TOKENS, movable, pool
from codeaudit.transforms.x86 import X86
from codeaudit.transforms.x86.legality import choices as legal_renamings
from codeaudit.transforms.x86.reading import LINES, Operation, att_text, read, read_operation
from codeaudit.transforms.x86.registers import BASES, class_of, registers
from codeaudit.transforms.x86.statements import (
    ImmediateOperand,
    MemoryOperand,
    Operand,
    RegisterOperand,
    RoundingOperand,
    split,
)

IMMEDIATE: Final = Term("IMM")
DISPLACEMENT: Final = Term("D")
END: Final = Term(";")
INDEX: Final = "x"
"""The place of an index, which is else like a base."""
MOST_IMPLIED: Final = 6
"""An instruction that implies more registers (`vzeroupper`) is known by its mnemonic alone."""

_FORMS: Final[Mapping[type[Operand], str]] = {
    RegisterOperand: "r",
    MemoryOperand: "m",
    ImmediateOperand: "i",
    RoundingOperand: "",
}
_PLACES: Final = tuple(f"@{place}{part}" for place in range(1, 6) for part in ("", INDEX))
_ORDER: Final = {base: number for number, base in enumerate(base for row in BASES.values() for base in row)}


def block_terms(source: str) -> tuple[Term, ...]:
    """The terms of a block of AT&T text.

    Raises:
        SourceError: a line is no instruction.
    """
    terms = [Term(START)]
    for operation in read(source).operations:
        terms += _of(operation.text)
    return tuple(terms)


def has_implied(source: str) -> bool:
    """Whether some instruction uses a register without a choice.

    Raises:
        SourceError: a line is no instruction.
    """
    return any(operation.implicit for operation in read(source).operations)


def block_words(reading: Reading) -> Iterator[str]:
    """The places, and every word that a register may be, whether or not a corpus has it."""
    yield from _PLACES
    views = {(register.view, register.kind, register.base) for register in registers().values()}
    views |= {(_implied(base).view, class_of(base), base) for base in _ORDER}
    for view, kind, base in views:
        match reading:
            case "views":
                yield view
            case "names":
                yield word(view, base)
            case "first use":
                yield from (word(view, f"#{number}") for number in range(len(BASES[kind])))


def block_renamings(source: str) -> TermChoices:
    """The legal renamings of the bases of a block.

    Raises:
        SourceError: a line is no instruction.
    """
    return legal_renamings(read(source))


# A corpus has far fewer distinct instructions than lines.
@lru_cache(maxsize=LINES)
def _of(text: str) -> tuple[Term, ...]:
    operation = read_operation(text, "att")
    parts = split(att_text(operation.instruction), "att")
    form = "".join(_FORMS[type(operand)] for operand in parts.operands)
    opcode = f"{parts.mnemonic} {form}".rstrip()
    terms = [Term(name) for name in (*parts.prefixes, opcode)]
    terms += _implied_terms(operation)
    # AT&T text has the destination last; places are counted from it, so `@1` is what an instruction writes.
    for place, operand in zip(range(len(parts.operands), 0, -1), parts.operands, strict=True):
        terms += (
            replace(term, context=("".join((f"@{place}", *term.context)),)) for term in _operand(operand)
        )
    return tuple(replace(term, context=(opcode, *term.context)) for term in (*terms, END))


def _implied_terms(operation: Operation) -> list[Term]:
    # In the fixed order of the registers: a set has none, and equal blocks must have equal terms.
    bases = sorted(operation.implicit, key=lambda base: _ORDER[base])
    return [_implied(base) for base in bases] if len(bases) <= MOST_IMPLIED else []


def _implied(base: str) -> Term:
    return Term(f"implied {class_of(base)}", class_of(base), base)


def _operand(operand: Operand) -> Iterator[Term]:
    match operand:
        case RegisterOperand(register=name, mask=mask, zeroing=zeroing):
            yield _register(name)
            yield from _decorations(mask, zeroing=zeroing, broadcast=0)
        case ImmediateOperand():
            yield IMMEDIATE
        case RoundingOperand(mode=mode):
            yield Term(mode)
        case MemoryOperand():
            # In 64-bit mode the other segments begin at 0, so naming one changes neither address nor cost.
            if operand.segment in ("fs", "gs"):
                yield Term(f"{operand.segment}:")
            yield Term("[")
            if operand.displacement:
                yield DISPLACEMENT
            if operand.base:
                yield _register(operand.base)
            if operand.index:
                yield replace(_register(operand.index), context=(INDEX,))
                yield Term(f"*{operand.scale}")
            yield Term("]")
            yield from _decorations(operand.mask, zeroing=operand.zeroing, broadcast=operand.broadcast)


def _decorations(mask: str, *, zeroing: bool, broadcast: int) -> Iterator[Term]:
    if broadcast:
        yield Term(f"1to{broadcast}")
    if mask:
        yield Term("mask")
        yield _register(mask)
    if zeroing:
        yield Term("{z}")


def _register(name: str) -> Term:
    # A register that no renaming may touch (`rip`, a segment) is a word like an opcode.
    register = registers().get(name)
    return Term(name) if register is None else Term(register.view, register.kind, register.base)


BLOCKS: Final = TermLanguage(
    name=X86.name,
    terms=block_terms,
    words=block_words,
    choices=block_renamings,
    implied=has_implied,
    end=END.view,
)


COEFFICIENT: Final = "coefficient"
INPUT: Final = "input"
_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(COEFFICIENTS, COEFFICIENT),
    **dict.fromkeys(INPUTS, INPUT),
}


@dataclass(frozen=True, slots=True)
class PairRenamings:
    """The legal renamings of the variables of a pair."""

    pools: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """The variables of each view that the pair has, and those that they may become."""

    def draw(self, rng: Random) -> Mapping[str, str]:
        """A legal renaming, uniformly among all of them, the identity included."""
        return {
            old: new
            for used, free in self.pools
            for old, new in zip(used, rng.sample(free, len(used)), strict=True)
        }


def pair_terms(source: str) -> tuple[Term, ...]:
    """The terms of the text of a pair.

    Raises:
        SourceError: the text is no pair of expressions.
    """
    parse_pair(source)
    return (Term(START), *(_term(token) for token in source.split()))


def pair_words(reading: Reading) -> Iterator[str]:
    """The whole vocabulary, with the coefficient that only the extended test set has."""
    yield from (token for token in TOKENS if token not in MOVABLE)
    for names, kind in zip(POOLS, (COEFFICIENT, INPUT), strict=True):
        match reading:
            case "views":
                yield kind
            case "names":
                yield from (word(kind, name) for name in names)
            case "first use":
                yield from (word(kind, f"#{number}") for number in range(len(names)))


def pair_renamings(source: str) -> PairRenamings:
    """The legal renamings of a pair's variables; the extra coefficient only where it occurs already."""
    used = movable(source)
    # All names of a view have the same pool, so any one of them can be asked for it.
    groups = (tuple(name for name in used if name in names) for names in POOLS)
    return PairRenamings(tuple((group, pool(group[0], source)) for group in groups if group))


@cache
def _term(token: str) -> Term:
    kind = _KINDS.get(token, "")
    return Term(kind, kind, token) if kind else Term(token)


PAIRS: Final = TermLanguage(
    name=ALGEBRA.name, terms=pair_terms, words=pair_words, choices=pair_renamings, divider=ASKED
)


LOG: Final = "log"
"""The one score of a cost: the logarithm of the answer. Its change is the relative change of the answer."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A positive number, learned by its mean absolute percentage error."""

    score_name: str = "MAPE"

    def label(self, label: Answer | None) -> float | None:
        """A sample's label as a number."""
        return label if isinstance(label, float) else None

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """(B,) outputs and (B,) labels y to (B,) errors |f - y| / y."""
        # The paper writes the sum of errors over y; the mean over the batch is taken, so the rate fits any
        # batch.
        return (outputs.exp() - labels).abs() / labels

    def errors(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """The same: the loss is the error."""
        return self.losses(outputs, labels)

    def score(self, error: float) -> float:
        """The mean error."""
        return error

    def outputs(self, labels: Tensor) -> Tensor:
        """(B,) labels to the (B,) outputs that would be right."""
        return labels.log()

    def predicted(self, output: Tensor) -> Predicted:
        """The answer to one text."""
        return Predicted(answer=float(output.exp()), scores=((LOG, float(output)),))


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`, learned by cross entropy; the error is the share of wrong answers."""

    score_name: str = "accuracy"

    def label(self, label: Answer | None) -> float | None:
        """A sample's label as a number: 1 for `true`, 0 for `false`."""
        return {TRUE: 1.0, FALSE: 0.0}.get(label) if isinstance(label, str) else None

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """(B,) log-odds and (B,) labels to (B,) cross entropies."""
        return F.binary_cross_entropy_with_logits(outputs, labels, reduction="none")

    def errors(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """(B,) log-odds and (B,) labels to 1 where the answer is wrong, else 0."""
        return ((outputs > 0) != (labels > 0)).float()

    def score(self, error: float) -> float:
        """The share of right answers."""
        return 1 - error

    def outputs(self, labels: Tensor) -> Tensor:
        """(B,) labels to where a network begins: undecided."""
        return labels * 0

    def predicted(self, output: Tensor) -> Predicted:
        """The answer to one text, with the log-odds of both answers."""
        odds = float(output)
        answer = TRUE if odds > 0 else FALSE
        return Predicted(answer=answer, scores=((FALSE, -odds), (TRUE, odds)), margin=abs(odds))


Target: TypeAlias = Cost | Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class TermTask:
    """One task."""

    language: TermLanguage
    target: Target
    noun: str
    """Its texts, in the plural."""


TASKS: Final[Mapping[str, TermTask]] = {
    THROUGHPUT.name: TermTask(language=BLOCKS, target=Cost(), noun="blocks"),
    DERIVATIVE.name: TermTask(language=PAIRS, target=Truth(), noun="pairs"),
}
