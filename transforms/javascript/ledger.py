"""What the transforms of JavaScript assume of code that they cannot see: the ledger of JavaScript.

The families name the entries on which their transforms rest. Each entry has its programs in
`tests/transforms/javascript/test_ledger.py`. Nothing is assumed of getters, proxies and `valueOf`: no edit
moves what may run them.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from codeaudit.transforms.assumptions import Assumption, blanked, first_lines, ledger, signs_of
from codeaudit.transforms.remembering import FILES


def _property(name: str) -> str:
    """A pattern of a property that is read, in each form: `a.b`, `a["b"]` and `const { b } = a`."""
    taken = rf"\{{[^{{}};]*\b{name}\b[^{{}};]*\}}\s*(?:=(?![=>])|\)\s*(?:=>|\{{))"
    return rf"(?:(?<!\.\.)\.\s*{name}\b(?!\s*=(?![=>]))|\[\s*[\"'`]{name}[\"'`]\s*\]|{taken})"


_OWN_FILE: Final = (
    r"\b(?:read|open|stat|lstat|createRead|fetch)\w*\s*\(\s*"
    r"(?:(?:\w+\s*\.\s*)?(?:fileURLToPath|resolve|normalize)\s*\(\s*|new\s+URL\s*\(\s*)?"
    r"(?:__filename|import\.meta\.(?:url|filename)|process\.argv\[1\]|(?:require\.main|module)\.filename)\s*[),]"
)
"""A pattern of what reads the file itself, such as `readFileSync(__filename)`."""
_STACK: Final = rf"(?:{_property('stack')}|\b(?:prepareStackTrace|callFrames|getLineNumber)\b)"
_COLUMN: Final = r"(?:\bcolumnNumber\b|:\(?(?:\\d|\[0-9\])[+*]\)?:\(?(?:\\d|\[0-9\]))"
r"""A pattern of what takes a column out of a stack trace, such as `/:(\d+):(\d+)/`."""
_MESSAGE: Final = (
    r"(?:is not (?:a function|a constructor|defined|iterable)|before initialization"
    r"|Cannot (?:access|read|set|destructure)|Assignment to constant)"
)
"""A pattern of the words of node's messages that name variables."""

_OF_FUNCTION: Final = (
    r"\b(?:fn|func|callback|cb)\s*\.\s*toString\(\)|\bString\(\s*(?:fn|func|callback|cb)\s*\)"
    r"|typeof\s+(?P<tested>[\w.]+)\s*===?\s*[\"']function[\"'][^;{}]{0,80}?(?:\b(?P=tested)\s*\.\s*toString\(\)"
    r"|\bString\(\s*(?P=tested)\s*\)|\$\{\s*(?P=tested)\s*\}|[\"'`]\s*\+\s*(?P=tested)\b(?![.\w(]))"
)
"""A pattern of what takes the text of a value that is certainly a function."""
_ASSERTION: Final = (
    r"\bgeneratedMessage\b|\bevaluated to a falsy\b|\btry\s*\{[^{}]*\bassert(?:\.ok)?\s*\([^{}]*\}\s*catch\s*"
    r"\(\s*(?P<error>\w+)\s*\)\s*\{[^{}]*\b(?P=error)\s*\??\.\s*message"
)
"""A pattern of what reads the message of `assert(n > 1)`: node puts the text of the call into it."""
_AS_TEXT: Final = re.compile(
    r"\bString\(\s*(\w+)\s*\)|\$\{\s*(\w+)\s*\}|(?<![\w$.])(\w+)\s*\.\s*toString\(\)"
    r"|[\"'`]\s*\+\s*(\w+)\b(?!\s*[.(\[$`])|(?<![\w$.])(\w+)\s*\+\s*[\"'`]"
)
"""A name that is made a text."""
_MEMBER_AS_TEXT: Final = re.compile(
    r"\bString\(\s*[\w.]+\.\s*(\w+)\s*\)|\$\{\s*[\w.]+\.\s*(\w+)\s*\}|\.\s*(\w+)\s*\.\s*toString\(\)"
)
"""A property that is made a text."""
_DATA: Final = (
    "number|num|count|index|size|year|string|str|text|word|line|char|name|key|id|path|url|data|buffer|buf|chunk"
    "|content|stdout|stderr|output|date|version|locale|html"
)
"""How names of what is no function end, by custom, in either case and number."""
_CUT: Final = (
    rf"(?:(?<![\w$])(?=[\w$]+\s*\.toString\(\))(?!\w*?(?i:{_DATA})s?\.toString)[\w$]+|[^\w$\s])"
    r"\s*\.toString\(\)\s*\.\s*"
    r"(?:match|replace|split|slice|substr|substring|indexOf|includes|search|startsWith|charAt)\b"
)
"""A pattern of what cuts the text of a value whose name does not say that it is no function."""
_NO_FUNCTION: Final = re.compile(
    r"\bMath\.\w+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\.toString\(\)"
    r"|\bFunction(?:\.prototype)?\.toString\.call\(\w+\)\.(?:indexOf|includes)\([\"']\[native code\]"
)
"""What takes the text of a number, or tells whether a function is built in, as helpers of Babel do."""
_IS_FUNCTION: Final = r"\s*=\s*(?:async\s*)?(?:function\b|class\b|\([^()]*\)\s*=>|\w+\s*=>)"
_METHOD: Final = re.compile(
    r"(?<![\w$.])(?<!function )(?<!\bget )(?<!\bset )(\w+)\s*\([^()]*\)\s*(?::[^{}();]*)?\{"
)
_FUNCTION: Final = re.compile(rf"\b(?:(?:function\s*\*?|class)\s+(\w+)|(\w+){_IS_FUNCTION})")

_COMMENT: Final = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
"""What may be a comment."""

LEDGER: Final[Mapping[str, Assumption]] = ledger(
    (
        Assumption(
            id="source-unread",
            assumed="No program reads the text of a function: its names, comments, layout and spelling, as a "
            'packer does that renames `.size` and not `["size"]`.',
            shown="The file names `Function.prototype` to call its `toString`, or cuts the text of a "
            "function with `toString().match` and the like, makes a text of one (`String(f)`), reads what an "
            "`assert` says, or reads itself: `readFileSync(__filename)`. By custom a name such as `data`, "
            "`lineNumber` or `url` means no function, unless the file declares one so.",
            sign=rf"{_OWN_FILE}|{_OF_FUNCTION}|{_ASSERTION}|\b(?:scopeChain|evaluateOnCallFrame)\b"
            r"|\bFunction\s*\.\s*prototype\b(?!\s*\.\s*(?:call|apply|bind)\b)|\bFunction\s*\.\s*toString\b"
            rf"|{_CUT}",
            words=(
                "prototype",
                "toString",
                "__filename",
                "import.meta",
                "scopeChain",
                "OnCallFrame",
                "typeof",
                "String(",
                "argv[1]",
                ".filename",
                "assert",
                "generatedMessage",
                "evaluated to",
            ),
            of_text=True,
            example="`sum` becomes `count`, and a caller prints `String(total)`",
        ),
        Assumption(
            id="positions-unread",
            assumed="No program acts on lines and columns in stack traces.",
            shown="The file reads stack traces: `error.stack`, `prepareStackTrace`.",
            sign=rf"{_STACK}|\b(?:stackTraceLimit|getCallSites?)\b",
            words=("stack", "Stack", "callFrames", "getLineNumber", "getCallSite"),
            of_text=True,
            example="a blank line is inserted, and a caller prints the line in `new Error().stack`",
        ),
        Assumption(
            id="columns-unread",
            assumed="No program acts on columns in stack traces, which a longer name moves.",
            shown="The file reads stack traces, and columns in them: `columnNumber`, `/:(\\d+):(\\d+)/`.",
            sign=rf"{_STACK}.*{_COLUMN}|{_COLUMN}.*{_STACK}|\bget(?:ColumnNumber|CallSites?)\b",
            words=("stack", "Stack", "callFrames", "getLineNumber", "getColumnNumber", "getCallSite"),
            of_text=True,
            example="`n` becomes `count`, and a caller prints the columns in `new Error().stack`",
        ),
        Assumption(
            id="messages-unread",
            assumed="No program acts on the text of errors that the engine makes, which names variables.",
            shown="The file tells such an error by its class and reads its message, or compares a message "
            "with the words of one, such as `/list is not iterable/`.",
            sign=rf"(?:\binstanceof\s+|[\"'])(?:TypeError|ReferenceError)\b.*{_property('message')}"
            rf"|\b(?:message|(?:toThrow\w*|throws?|rejects)\s*\()[^;\n]{{0,80}}{_MESSAGE}"
            rf"|[\"'`][^\"'`\n]{{0,40}}\b(?:Type|Reference)Error: [^\"'`\n]{{0,80}}{_MESSAGE}"
            rf"|/[^/\n]*{_MESSAGE}[^/\n]*/",
            words=("TypeError", "ReferenceError", "is not ", "before init", "Cannot ", "Assignment"),
            of_text=True,
            example="`list` becomes `lines`, and a caller prints the message `list is not iterable`",
        ),
        Assumption(
            id="parameter-names-unread",
            assumed="No program reads the names of parameters from the text of a function.",
            shown="The file uses an injector that does: `$inject`, `$injector`, `autoInject`.",
            sign=r"(?:\$inject(?:or)?|\bautoInject)\b",
            of_text=True,
            example="`f(rates)` becomes `f(values)`, and a framework looks for a service `rates`",
        ),
        Assumption(
            id="frames-unread",
            assumed="No called function reads the parameters of its caller (`f.arguments`).",
            shown="The file reads a property `arguments` of something.",
            sign=_property("arguments"),
            words=("arguments",),
            of_text=True,
            example="`a = 2` moves behind a loop, in which a called function prints `f.arguments[0]`",
        ),
    )
)

LOCAL_NAMES: Final = ("source-unread", "columns-unread", "messages-unread")
"""Of edits that change what variables are called."""
LAYOUT: Final = ("source-unread", "positions-unread")
"""Of edits that change what the text looks like."""
EFFECTS: Final = (*LAYOUT, "messages-unread", "frames-unread")
"""Of edits that change when something is evaluated."""

_SIGNS: Final = signs_of(LEDGER, re.DOTALL)


@lru_cache(maxsize=FILES)
def shown_in(file: str) -> Mapping[str, int]:
    """The entries that a file shows not to hold, by what is written in it.

    Comments show nothing. Strings count, too.
    """
    lines = _shown_in(file)
    return _shown_in(_without_comments(file)) if lines else lines


def _shown_in(file: str) -> Mapping[str, int]:
    lines = first_lines(_SIGNS, _NO_FUNCTION.sub(blanked, file))
    at = None if "source-unread" in lines else _function_as_text(file)
    return lines if at is None else {**lines, "source-unread": file.count("\n", 0, at) + 1}


def _without_comments(file: str) -> str:
    """A file without what every grammar that reads it takes for a comment; as it is where none reads it."""
    from codeaudit.transforms.javascript.parsing import READERS  # listing transforms imports no parser

    source = file.encode(errors="surrogatepass")
    trees = [reader.parse(source) for readers in READERS.values() for reader in readers]
    roots = [tree.root_node for tree in trees if not tree.root_node.has_error]

    def emptied(part: re.Match[bytes]) -> bytes:
        nodes = [root.descendant_for_byte_range(part.start(), part.start() + 1) for root in roots]
        if not all(node and node.type == "comment" and node.start_byte == part.start() for node in nodes):
            return part[0]
        end = min(node.end_byte for node in nodes if node) - part.start()
        return b" " + b"\n" * part[0].count(b"\n", 0, end) + part[0][end:]

    return _COMMENT.sub(emptied, source).decode(errors="surrogatepass") if roots else file


def _function_as_text(file: str) -> int | None:
    """Where a file makes a text of a function that it declares, as `String(f)` does; `None` if nowhere.

    The name means that function everywhere: nothing else of this name is declared.
    """
    texts = {name: match.start() for match in _AS_TEXT.finditer(file) for name in match.groups() if name}
    functions = {name for names in _FUNCTION.findall(file) for name in names} if texts else set[str]()
    places = [texts[name] for name in functions & texts.keys() if not _declares_other(file, name)]
    uses = reversed([*_MEMBER_AS_TEXT.finditer(file)])
    members = {name: match.start() for match in uses for name in match.groups() if name}
    methods = set(_METHOD.findall(file)) if members else set[str]()
    places += [members[name] for name in methods & members.keys() if not _is_other_property(file, name)]
    return min(places, default=None)


def _is_other_property(file: str, name: str) -> bool:
    """Whether a file has a property of this name that may be no method."""
    return re.search(rf"\b(?:get|set)\s+{name}\s*\(|(?:[{{,;]\s*|\.\s*){name}\s*[=:]", file) is not None


def _declares_other(file: str, name: str) -> bool:
    """Whether a name may be declared as a parameter or a variable, too."""
    return (
        re.search(
            rf"\b(?:let|const|var)\s+{name}\b(?!{_IS_FUNCTION})|\([^()]*\b{name}\b[^()]*\)\s*(?:=>|\{{|:)"
            rf"|(?<![\w$.]){name}\s*=>|(?:(?<!\$)\{{|[\[,])\s*(?:\w+\s*:\s*)?{name}\s*[,}}\]=]|\bcatch\s*\(\s*{name}\b",
            file,
        )
        is not None
    )
