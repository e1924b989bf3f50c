"""Values of C and C++ that are written as literals: read, and written in one way. Nothing is evaluated.

A value is a number, `true`, `false`, a character, a string, `NULL`, or a list of values in braces: a vector,
an array, a pair, a tuple, a set, a map. The type around a list or a string does not count: `{1, 2}`,
`[1, 2]`, `std::vector<int>{1, 2}` and `(int[]){1, 2}` are one value. A number with a point or an exponent is
a fraction, so `3` and `3.0` are two values. Zeros have no sign, and `NAN` equals itself.
"""

import math
import re
from typing import Final

_BLANK: Final = re.compile(r"\s*")
_FRACTION: Final = re.compile(
    r"(?P<digits>(?:\d[\d']*\.[\d']*|\.\d[\d']*)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)[fFlL]?(?![\w.])", re.ASCII
)
_WHOLE: Final = re.compile(
    r"(?P<digits>0[xX][\da-fA-F']+|0[bB][01']+|\d[\d']*)(?:[uU]?[lL]{0,2}|[lL]{1,2}[uU])(?![\w.])", re.ASCII
)
_STRING: Final = re.compile(r"(?:u8)?\"(?P<text>(?:\\(?:.|\n)|[^\"\\\n])*)\"s?(?!\w)")
_CHARACTER: Final = re.compile(r"'(?P<text>\\(?:[0-7]{1,3}|x[\da-fA-F]+|.)|[^'\\\n])'")
_ESCAPE: Final = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<byte>[\da-fA-F]+)|(?P<point>u[\da-fA-F]{4}|U[\da-fA-F]{8})|(?P<sign>.|\n))"
)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "\n": ""}
_OWN_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}
_WORD: Final = re.compile(r"(?P<name>(?:std\s*::\s*)?[A-Za-z_]\w*)(?P<types>\s*<[\w\s:,<>*&]*>)?(?=\s*[({])")
_CONSTANT: Final = re.compile(r"[A-Za-z_]\w*")
_CONSTANTS: Final = {
    **{name: name for name in ("true", "false", "NULL")},
    "nullptr": "NULL",
    "NAN": "NAN",
    "nan": "NAN",
    "INFINITY": "INFINITY",
    "inf": "INFINITY",
}
_NUMBER_TYPES: Final = r"(?:std\s*::\s*)?(?:(?:unsigned|signed|long|short|int|char|size_t|u?int\d+_t)\b\s*)+"
_FRACTION_TYPES: Final = r"(?:long\s+)?(?:double|float)\b\s*"
_CAST: Final = re.compile(rf"\(\s*(?:(?P<whole>{_NUMBER_TYPES})|(?P<fraction>{_FRACTION_TYPES}))\)")
_COMPOUND: Final = re.compile(
    r"\(\s*(?:const\s+)?(?:(?P<text>char)|\w[\w\s*]*?)\s*\[\s*\d*\s*\]\s*\)\s*(?=\{)"
)
_OF_ITEMS: Final = frozenset({"pair", "make_pair", "tuple", "make_tuple"})
"""Types and functions whose arguments are the items of a value."""
_OF_LISTS: Final = frozenset({"vector", "array", "deque", "list", "set", "map", "string"})
"""Types that are made of one value, or of a list in braces."""
_ENDS: Final = {"{": "}", "[": "]", "(": ")"}
_DEEPEST: Final = 100


class _NoValueError(ValueError):
    """The text shows no value."""


def value_text(text: str) -> str | None:
    """The value that a text shows, in one way of writing; `None` if it shows none."""
    reader = _Reader(text)
    try:
        value = reader.value()
        reader.skip()
    except _NoValueError:
        return None
    return value if reader.at == len(text) else None


def arguments_of(text: str, start: int = 0) -> tuple[list[tuple[str, str]], int] | None:
    """The arguments that a text shows from this place to the closing parenthesis of their call, and the place
    behind it; `None` unless all are values.

    Each is given in its one way of writing, and as the text has it: on one line, without casts of numbers and
    without parentheses around a value.
    """
    reader = _Reader(text, start)
    arguments: list[tuple[str, str]] = []
    try:
        while reader.skip() != ")":
            begin = reader.at
            value = reader.value()
            arguments.append((value, reader.plain(begin)))
            reader.part(")")
    except _NoValueError:
        return None
    return arguments, reader.at + 1


def value_at(text: str, start: int) -> tuple[str, int] | None:
    """The value that begins at a place, as the text has it, and the place behind it."""
    reader = _Reader(text, start)
    try:
        reader.skip()
        begin = reader.at
        reader.value()
    except _NoValueError:
        return None
    return reader.plain(begin), reader.at


class _Reader:
    """Reads a text from a place on."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text, self.at, self._deep = text, at, 0
        self._idle: list[tuple[int, int]] = []

    def skip(self) -> str:
        """The next character that is no blank; empty at the end."""
        if match := _BLANK.match(self.text, self.at):
            self.at = match.end()
        return self.text[self.at : self.at + 1]

    def plain(self, begin: int) -> str:
        """The text from a place to here without what is idle, on one line."""
        parts, at = list[str](), begin
        for start, end in sorted(span for span in self._idle if span[0] >= begin):
            parts.append(self.text[at:start])
            at = end
        parts.append(self.text[at : self.at])
        return re.sub(r"\s*\n\s*", " ", "".join(parts)).strip()

    def part(self, end: str) -> None:
        """A comma, unless this bracket follows."""
        sign = self.skip()
        if sign == ",":
            self.at += 1
        elif sign != end:
            raise _NoValueError

    def value(self) -> str:
        """The text of the value that begins here."""
        self._deep += 1
        if self._deep > _DEEPEST:
            raise _NoValueError
        value = self._value()
        self._deep -= 1
        return value

    def _value(self) -> str:
        sign = self.skip()
        if sign in ("{", "["):
            return _listed(self._items(keyed=True))
        if sign == "(":
            return self._in_parentheses()
        if sign in ("-", "+"):
            self.at += 1
            self.skip()
            return self._number(sign == "-")
        if match := _STRING.match(self.text, self.at):
            return self._string(match)
        if match := _CHARACTER.match(self.text, self.at):
            self.at = match.end()
            return _quoted(_bytes(match["text"]), "'")
        if match := _WORD.match(self.text, self.at):
            return self._typed_value(match)
        if (match := _CONSTANT.match(self.text, self.at)) and match[0] in _CONSTANTS:
            self.at = match.end()
            return _CONSTANTS[match[0]]
        return self._number(is_negative=False)

    def _items(self, *, keyed: bool = False) -> list[str]:
        """The values up to the bracket that closes the one here. `{"a": 1}` holds a pair."""
        end = _ENDS[self.text[self.at]]
        self.at += 1
        values: list[str] = []
        while self.skip() != end:
            value = self.value()
            if keyed and self.skip() == ":":
                self.at += 1
                value = _listed([value, self.value()])
            values.append(value)
            self.part(end)
        self.at += 1
        return values

    def _in_parentheses(self) -> str:
        if match := _COMPOUND.match(self.text, self.at):
            self.at = match.end()
            items = self._items()
            is_text = match["text"] and len(items) == 1 and items[0].startswith('"')
            return items[0] if is_text else _listed(items)
        begin = self.at
        if match := _CAST.match(self.text, self.at):
            self.at = match.end()
            self._idle.append((begin, self.at))
            return _cast(self.value(), is_fraction=match["fraction"] is not None)
        items = self._items()
        if len(items) != 1:
            return _listed(items)
        self._idle += [(begin, begin + 1), (self.at - 1, self.at)]
        return items[0]

    def _typed_value(self, match: re.Match[str]) -> str:
        """A value behind its type."""
        name, self.at = match["name"].rpartition(":")[2].strip(), match.end()
        is_braced = self.skip() == "{"
        items = self._items()
        if name in _OF_ITEMS or (is_braced and name in _OF_LISTS - {"string"}):
            return _listed(items)
        is_fraction = re.fullmatch(_FRACTION_TYPES, name) is not None
        if len(items) == 1 and (is_fraction or re.fullmatch(_NUMBER_TYPES, name)):
            return _cast(items[0], is_fraction=is_fraction)
        if name not in _OF_LISTS or len(items) > 1:
            raise _NoValueError
        empty, begins = ('""', '"') if name == "string" else ("{}", "{")
        # `vector<int>(3)` has three items.
        if items and not items[0].startswith(begins):
            raise _NoValueError
        return items[0] if items else empty

    def _string(self, match: "re.Match[str] | None") -> str:
        """Strings that follow each other are one."""
        content = b""
        while match is not None:
            content += _bytes(match["text"])
            self.at = match.end()
            after = _BLANK.match(self.text, self.at)
            match = _STRING.match(self.text, after.end() if after else self.at)
        return _quoted(content, '"')

    def _number(self, is_negative: bool) -> str:
        sign = "-" if is_negative else ""
        if (match := _CONSTANT.match(self.text, self.at)) and match[0] in _CONSTANTS:
            name = _CONSTANTS[match[0]]
            if name not in ("NAN", "INFINITY"):
                raise _NoValueError
            self.at = match.end()
            return name if name == "NAN" else sign + name
        if match := _FRACTION.match(self.text, self.at):
            self.at = match.end()
            return _fraction(float(sign + match["digits"].replace("'", "")))
        if (match := _WHOLE.match(self.text, self.at)) is None:
            raise _NoValueError
        self.at = match.end()
        digits = match["digits"].replace("'", "")
        try:
            is_octal = digits.isdigit() and digits[0] == "0"
            number = int(digits, 8) if is_octal else int(digits, 0)
        except ValueError as error:  # such as `08`, or too many digits for Python
            raise _NoValueError from error
        return str(-number if is_negative else number)


def _listed(items: list[str]) -> str:
    return f"{{{', '.join(items)}}}"


def _cast(value: str, *, is_fraction: bool) -> str:
    if re.fullmatch(r"-?\d+", value):
        return _fraction(float(int(value))) if is_fraction and len(value) < _DEEPEST else value
    if is_fraction and value[-1:].isalnum() and not value.isalpha():
        return value
    raise _NoValueError


def _fraction(number: float) -> str:
    if math.isnan(number) or math.isinf(number):
        return "NAN" if math.isnan(number) else "-INFINITY" if number < 0 else "INFINITY"
    return repr(number + 0.0)


def _bytes(text: str) -> bytes:
    """What the text between quotes stands for."""
    parts, at = list[bytes](), 0
    for match in _ESCAPE.finditer(text):
        parts += [text[at : match.start()].encode("utf-8", "surrogatepass"), _escaped(match)]
        at = match.end()
    return b"".join([*parts, text[at:].encode("utf-8", "surrogatepass")])


def _escaped(match: re.Match[str]) -> bytes:
    if match["octal"] or match["byte"]:
        number = int(match["octal"] or match["byte"], 8 if match["octal"] else 16)
        if number > 255:
            raise _NoValueError
        return bytes([number])
    if match["point"]:
        try:
            return chr(int(match["point"][1:], 16)).encode()
        except (ValueError, OverflowError) as error:
            raise _NoValueError from error
    sign: str = match["sign"]
    if sign.isalnum() and sign not in _ESCAPED:
        raise _NoValueError
    return _ESCAPED.get(sign, sign).encode()


def _quoted(content: bytes, quote: str) -> str:
    """A text or a character. What is not printable stands as the numbers of its bytes."""
    if quote == "'" and len(content) != 1:
        raise _NoValueError
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode("latin-1")
        return quote + "".join(_sign(sign, quote, bytes([ord(sign)])) for sign in text) + quote
    return quote + "".join(_sign(sign, quote, sign.encode()) for sign in text) + quote


def _sign(sign: str, quote: str, content: bytes) -> str:
    if sign == quote:
        return f"\\{sign}"
    is_plain = sign.isprintable() and content == sign.encode()
    return _OWN_ESCAPES.get(sign) or (sign if is_plain else "".join(f"\\{byte:03o}" for byte in content))
