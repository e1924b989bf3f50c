"""Expressions: syntax trees, their text, and the folding of constants.

The text is the prefix notation of Lample and Charton's data set: an operator, then its operands. An integer
is its sign and its decimal digits, each one token: `INT- 1 2`. Values are complex numbers; a function with
branches means its principal branch.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from codeaudit.transforms.errors import SourceError

X: Final = "x"
"""The variable of differentiation."""
COEFFICIENTS: Final = ("a0", "a1", "a2", "a3")
"""The last one occurs in the extended test set only."""
INPUTS: Final = ("y", "z")
"""The inputs other than x."""
VARIABLES: Final = frozenset((X, *COEFFICIENTS, *INPUTS))

BINARY: Final = ("add", "sub", "mul", "div", "pow")
UNARY: Final = (
    "exp",
    "ln",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
)
PLUS: Final = "INT+"
MINUS: Final = "INT-"
ASKED: Final = "=?"
"""The token between a function and the candidate for its derivative."""

LONGEST: Final = 256
"""The most tokens of an expression in a text. The bound exists because trees are walked by recursion."""
MOST_DIGITS: Final = 9
LARGEST: Final = 9999
"""Constants beyond this absolute value are not folded."""


class Number(NamedTuple):
    """An integer."""

    value: int


class Variable(NamedTuple):
    """A variable."""

    name: str


class Unary(NamedTuple):
    """A function of one argument."""

    operator: str
    operand: "Expression"


class Binary(NamedTuple):
    """An operation on two operands."""

    operator: str
    left: "Expression"
    right: "Expression"


Expression: TypeAlias = Number | Variable | Unary | Binary
Head: TypeAlias = Number | Variable | str
"""The content of a node: a constant, a variable, or the name of an operator."""

ZERO: Final = Number(0)
ONE: Final = Number(1)
TWO: Final = Number(2)
MINUS_ONE: Final = Number(-1)


class ExpressionPair(NamedTuple):
    """A function and a candidate for its derivative with respect to x."""

    function: Expression
    candidate: Expression


# ── folding ──────────────────────────────────────────────────────────────────────────────────────────────


def add(left: Expression, right: Expression) -> Expression:
    """The sum, without zeros."""
    match left, right:
        case Number(one), Number(two) if abs(one + two) <= LARGEST:
            return Number(one + two)
        case Number(0), _:
            return right
        case _, Number(0):
            return left
        case _:
            return Binary("add", left, right)


def sub(left: Expression, right: Expression) -> Expression:
    """The difference; from zero it is a product with -1."""
    match left, right:
        case Number(one), Number(two) if abs(one - two) <= LARGEST:
            return Number(one - two)
        case _, Number(0):
            return left
        case Number(0), _:  # the notation has no unary minus
            return mul(MINUS_ONE, right)
        case _:
            return Binary("sub", left, right)


def mul(left: Expression, right: Expression) -> Expression:
    """The product, without ones. It has at most one constant, which comes first."""
    match left, right:
        case Number(one), Number(two) if abs(one * two) <= LARGEST:
            return Number(one * two)
        case (Number(0), _) | (_, Number(0)):  # also of a factor without a value: `mul INT+ 0 ln INT+ 0`
            return ZERO
        case Number(1), _:
            return right
        case _, Number(1):
            return left
        # A constant inside comes first, so looking at that place finds it: 2 * (3 * x) is 6 * x.
        case Number(one), Binary("mul", Number(two), rest) if abs(one * two) <= LARGEST:
            return mul(Number(one * two), rest)
        case _, Number():
            return mul(right, left) if not isinstance(left, Number) else Binary("mul", left, right)
        case _:
            return Binary("mul", left, right)


def div(left: Expression, right: Expression) -> Expression:
    """The quotient; computed if it is an integer."""
    match left, right:
        case _, Number(1):
            return left
        case Number(0), _ if right != ZERO:  # 0 / 0 stays as it is, and has no value
            return ZERO
        case Number(one), Number(two) if two and one % two == 0:  # a fraction stays a quotient
            return Number(one // two)
        case _:
            return Binary("div", left, right)


def power(base: Expression, exponent: Expression) -> Expression:
    """The power; computed if base and exponent are small integers."""
    match base, exponent:
        case _, Number(1):
            return base
        case _, Number(0):
            return ONE
        case Number(1), _:
            return ONE
        # The bound on the exponent comes first: 9 ** 99999999 would be computed before it is compared.
        case Number(one), Number(two) if 0 < two < 8 and abs(one**two) <= LARGEST:
            return Number(one**two)
        case _:
            return Binary("pow", base, exponent)


_OPERATIONS: Final[Mapping[str, Callable[[Expression, Expression], Expression]]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "pow": power,
}
_VALUES: Final[Mapping[tuple[str, int], Number]] = {
    **{(name, 0): ZERO for name in ("sqrt", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh")},
    **{(name, 0): ONE for name in ("exp", "cos", "cosh")},
    **{(name, 1): ZERO for name in ("ln", "acos", "acosh")},
    ("sqrt", 1): ONE,
}


def unary(operator: str, operand: Expression) -> Expression:
    """A function of an argument; computed if its value is a known integer."""
    if isinstance(operand, Number) and (operator, operand.value) in _VALUES:
        return _VALUES[operator, operand.value]
    return Unary(operator, operand)


def binary(operator: str, left: Expression, right: Expression) -> Expression:
    """An operation, folded."""
    return _OPERATIONS[operator](left, right)


# ── trees in prefix order ────────────────────────────────────────────────────────────────────────────────


def heads(expression: Expression) -> list[Head]:
    """The contents of all nodes, in prefix order."""
    contents: list[Head] = []
    waiting = [expression]  # a stack instead of recursion: this runs several times for each example
    while waiting:
        node = waiting.pop()
        if isinstance(node, Binary):
            contents.append(node.operator)
            waiting += (node.right, node.left)
        elif isinstance(node, Unary):
            contents.append(node.operator)
            waiting.append(node.operand)
        else:
            contents.append(node)
    return contents


def build(contents: Sequence[Head]) -> Expression:
    """The folded tree with these nodes in prefix order.

    Raises:
        SourceError: an operator lacks operands, or operands are left over.
    """
    return _build(contents, unary, binary)


def _build(
    contents: Sequence[Head],
    one: Callable[[str, Expression], Expression],
    two: Callable[[str, Expression, Expression], Expression],
) -> Expression:
    done: list[Expression] = []
    # From right to left every operator finds its operands finished, the first one on top.
    for head in reversed(contents):
        if not isinstance(head, str):
            done.append(head)
            continue
        takes_two = head in _OPERATIONS
        if len(done) < 1 + takes_two:
            raise SourceError(f"operator {head!r} lacks an operand")
        first = done.pop()
        done.append(two(head, first, done.pop()) if takes_two else one(head, first))
    if len(done) != 1:
        raise SourceError("more than one expression" if done else "no expression")
    return done[0]


# ── text ─────────────────────────────────────────────────────────────────────────────────────────────────


def tokens(expression: Expression) -> list[str]:
    """The words of an expression's text."""
    words: list[str] = []
    for head in heads(expression):
        if isinstance(head, str):
            words.append(head)
        elif isinstance(head, Variable):
            words.append(head.name)
        else:
            words.append(PLUS if head.value >= 0 else MINUS)
            words += str(abs(head.value))
    return words


def text(expression: Expression) -> str:
    """The prefix notation."""
    return " ".join(tokens(expression))


def pair_text(pair: ExpressionPair) -> str:
    """`FUNCTION =? CANDIDATE`, as a model sees it."""
    return f"{text(pair.function)} {ASKED} {text(pair.candidate)}"


def parse(source: str) -> Expression:
    """The tree of a text as written, without folding.

    Raises:
        SourceError: the text is not an expression; the message says why.
    """
    return _build(_read(source.split()), Unary, Binary)


def parse_pair(source: str) -> ExpressionPair:
    """The two trees of `FUNCTION =? CANDIDATE`.

    Raises:
        SourceError: the text is no such pair; the message says why.
    """
    sides = source.split(ASKED)
    if len(sides) != 2:
        raise SourceError(f"{len(sides) - 1} times {ASKED!r}; write FUNCTION {ASKED} DERIVATIVE")
    return ExpressionPair(parse(sides[0]), parse(sides[1]))


def _read(words: Sequence[str]) -> list[Head]:
    if len(words) > LONGEST:
        raise SourceError(f"expression over {LONGEST} tokens")
    contents: list[Head] = []
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if word in (PLUS, MINUS):
            start = place
            while place < len(words) and _is_digit(words[place]):
                place += 1
            contents.append(_number(word, words[start:place]))
        elif word in VARIABLES:
            contents.append(Variable(word))
        elif word in _OPERATIONS or word in UNARY:
            contents.append(word)
        else:
            raise SourceError(f"unknown token {word[:20]!r}")
    return contents


def _is_digit(word: str) -> bool:
    return len(word) == 1 and word in "0123456789"


def _number(sign: str, digits: Sequence[str]) -> Number:
    if not 0 < len(digits) <= MOST_DIGITS:
        raise SourceError(f"{len(digits)} digits after {sign!r}; 1 to {MOST_DIGITS} are read")
    value = int("".join(digits))
    return Number(value if sign == PLUS else -value)


def names(expression: Expression) -> frozenset[str]:
    """The variables of an expression."""
    return frozenset(head.name for head in heads(expression) if isinstance(head, Variable))
