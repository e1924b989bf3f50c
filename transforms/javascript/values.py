"""Values of JavaScript that are written as literals: read, and written in one way. Nothing is evaluated.

A value is `null`, `undefined`, a truth value, a number (`NaN`, `-0`, `Infinity`), a bigint, a string in any
quotes (a template without parts), an array without holes, or an object whose keys are names, strings or
numbers. Two values have equal texts if and only if `util.isDeepStrictEqual` holds for them: the order of keys
does not count, `-0` is not `0`, and `NaN` equals itself.
"""

import json
import math
import re
from decimal import Decimal
from typing import Final

_BLANK: Final = re.compile(r"\s*")
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_NUMBER: Final = re.compile(
    r"(?:(?P<whole>0[xX][\da-fA-F]+|0[oO][0-7]+|0[bB][01]+|0|[1-9](?:_?\d)*)(?P<big>n)?(?![\d_.eE])"
    r"|(?P<plain>(?:(?:0|[1-9](?:_?\d)*)(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d+)?))(?![\w$.])",
    re.ASCII,
)
_WORDS: Final = frozenset({"null", "undefined", "true", "false", "NaN", "Infinity"})
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_ESCAPE: Final = re.compile(
    r"\\(?:x(?P<byte>[\da-fA-F]{2})|u(?P<unit>[\da-fA-F]{4})|u\{(?P<point>[\da-fA-F]{1,6})\}"
    r"|(?P<line>\r\n|[\n\r\u2028\u2029])|0(?!\d)|(?P<sign>[^\dxu]))",
    re.ASCII,
)
_LINE: Final = re.compile(r"\r\n?")
_DEEPEST: Final = 100
_LEAST, _MOST = 1e-6, 1e21
"""Numbers outside of these limits are written with an exponent."""


class _NoValueError(ValueError):
    """The text shows no value."""


def value_text(text: str) -> str | None:
    """The value that a text shows, in one way of writing; `None` if it shows none."""
    reader = _Reader(text, is_sorted=True)
    try:
        value = reader.value()
        reader.skip()
    except _NoValueError:
        return None
    return value if reader.at == len(text) else None


def arguments_text(text: str, start: int = 0) -> tuple[str, int] | None:
    """The arguments that a text shows from this place to the closing parenthesis of their call, and the place
    behind it; `None` unless all are values.

    Written anew on one line. Keys keep their order, on which a function may depend.
    """
    reader = _Reader(text, is_sorted=False, at=start)
    try:
        return ", ".join(reader.items(")")), reader.at
    except _NoValueError:
        return None


class _Reader:
    """Reads a text from a place on."""

    def __init__(self, text: str, *, is_sorted: bool, at: int = 0) -> None:
        self.text, self.at, self._sorted, self._deep = text, at, is_sorted, 0

    def skip(self) -> str:
        """The next character that is no blank; empty at the end."""
        if match := _BLANK.match(self.text, self.at):
            self.at = match.end()
        return self.text[self.at : self.at + 1]

    def value(self) -> str:
        """The text of the value that begins here."""
        sign = self.skip()
        if sign in ("'", '"', "`"):
            return _quoted(self._string())
        if sign in ("[", "{", "("):
            self.at += 1
            self._deep += 1
            if self._deep > _DEEPEST:
                raise _NoValueError
            text = self._inside(sign)
            self._deep -= 1
            return text
        if sign in ("-", "+"):
            self.at += 1
            self.skip()
            return self._number(sign)
        if (word := _WORD.match(self.text, self.at)) and word[0] in _WORDS:
            self.at = word.end()
            return word[0]
        return self._number("")

    def items(self, end: str) -> list[str]:
        """The values up to this bracket. Holes are no values."""
        values: list[str] = []
        while self.skip() != end:
            values.append(self.value())
            self._part(end)
        self.at += 1
        return values

    def _part(self, end: str) -> None:
        """A comma, which may be left out in front of the bracket."""
        sign = self.skip()
        if sign == ",":
            self.at += 1
        elif sign != end:
            raise _NoValueError

    def _inside(self, bracket: str) -> str:
        if bracket == "[":
            return f"[{', '.join(self.items(']'))}]"
        if bracket == "{":
            return self._object()
        text = self.value()
        if self.skip() != ")":
            raise _NoValueError
        self.at += 1
        return text

    def _object(self) -> str:
        pairs: dict[str, str] = {}
        while self.skip() != "}":
            key = self._key()
            # As a key of a literal it names the prototype, which is no part of the value.
            if key == "__proto__" or self.skip() != ":":
                raise _NoValueError
            self.at += 1
            pairs[key] = self.value()  # as in JavaScript, a later value wins and its key keeps its place
            self._part("}")
        self.at += 1
        keys = sorted(pairs) if self._sorted else pairs
        return f"{{{', '.join(f'{_key_text(key)}: {pairs[key]}' for key in keys)}}}"

    def _key(self) -> str:
        sign = self.skip()
        if sign in ("'", '"'):
            return self._string()
        if word := _WORD.match(self.text, self.at):
            self.at = word.end()
            return word[0]
        return self._number("").removesuffix("n")

    def _number(self, sign: str) -> str:
        if word := _WORD.match(self.text, self.at):
            if word[0] not in ("NaN", "Infinity"):
                raise _NoValueError
            self.at = word.end()
            return "NaN" if word[0] == "NaN" else f"{'-' if sign == '-' else ''}Infinity"
        match = _NUMBER.match(self.text, self.at)
        if match is None or (match["big"] and sign == "+"):  # `+1n` raises an error
            raise _NoValueError
        self.at = match.end()
        minus = sign == "-"
        try:
            if match["whole"] is None:
                number = float(match["plain"].replace("_", ""))
            else:
                whole = int(match["whole"].replace("_", ""), 0)
                if match["big"]:
                    return f"{-whole if minus else whole}n"
                number = float(whole)
        except OverflowError:
            number = math.inf
        except ValueError as error:  # too many digits for Python
            raise _NoValueError from error
        return _number_text(-number if minus else number)

    def _string(self) -> str:
        quote, parts = self.text[self.at], list[str]()
        self.at += 1
        while True:
            if self.at >= len(self.text):
                raise _NoValueError
            sign = self.text[self.at]
            if sign == quote:
                self.at += 1
                # Strings consist of units of UTF-16: two escapes may be one character.
                units = "".join(parts).encode("utf-16-le", "surrogatepass")
                return units.decode("utf-16-le", "surrogatepass")
            if sign == "\\":
                parts.append(self._escape())
                continue
            has_part = quote == "`" and self.text.startswith("${", self.at)
            if has_part or (sign in "\n\r" and quote != "`"):
                raise _NoValueError
            line = _LINE.match(self.text, self.at)
            parts.append("\n" if line else sign)
            self.at = line.end() if line else self.at + 1

    def _escape(self) -> str:
        match = _ESCAPE.match(self.text, self.at)
        if match is None:
            raise _NoValueError
        self.at = match.end()
        if match["line"]:
            return ""
        if code := match["byte"] or match["unit"] or match["point"]:
            if int(code, 16) > 0x10FFFF:
                raise _NoValueError
            return chr(int(code, 16))
        sign = match["sign"] or "0"
        return _ESCAPED.get(sign, sign)


def _number_text(number: float) -> str:
    """As `String` writes it; zeros keep their sign."""
    if math.isnan(number):
        return "NaN"
    sign, size = "-" if math.copysign(1.0, number) < 0 else "", abs(number)
    if math.isinf(size):
        return f"{sign}Infinity"
    if size == 0 or _LEAST <= size < _MOST:
        text = format(Decimal(repr(size)), "f")
        return sign + (text.rstrip("0").rstrip(".") if "." in text else text)
    digits, _, exponent = repr(size).partition("e")
    return f"{sign}{digits}e{int(exponent):+d}"


def _quoted(text: str) -> str:
    return re.sub(r"[^ -~]", _plain, json.dumps(text, ensure_ascii=False))


def _plain(match: re.Match[str]) -> str:
    sign = match[0]
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\u{{{ord(sign):x}}}"


def _key_text(key: str) -> str:
    return key if _WORD.fullmatch(key) else _quoted(key)
