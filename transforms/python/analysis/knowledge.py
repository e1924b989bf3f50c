"""Tables of what Python's builtins, their methods and a few functions of standard modules do and return.

`calls` and `effects` read them. Assumed, and part of what is promised: the builtin names below mean the
builtins, and the module names below the modules. A function that binds one of them itself is seen; a module
that rebinds one is not visible from inside a function (`function_context` checks it wherever the whole text
is known).
"""

import builtins
import sys
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias, cast

BUILTINS: Final = frozenset(dir(builtins))

NUMBERS: Final = frozenset({"int", "float", "bool"})
PLAIN: Final = NUMBERS | {"str", "bytes", "none", "ellipsis"}
"""Types whose values hold no references: their comparison and hash are exact and run no foreign code."""
CONTAINERS: Final = frozenset({"list", "dict", "set"})
KNOWN: Final = PLAIN | CONTAINERS | {"tuple", "range", "function"}
"""Types whose truth value runs no foreign code."""
SEQUENCES: Final = frozenset({"str", "bytes", "tuple", "range"})
"""Types whose contents never change, and whose iteration has no effect."""

EMPTY_CALLS: Final = PLAIN - {"none", "ellipsis"} | CONTAINERS | {"tuple"}
"""Types whose constructor, without arguments, returns an empty value of the type."""

PURE: Final[Mapping[tuple[str, int], str | None]] = {
    ("id", 1): "int", ("type", 1): None, ("callable", 1): "bool", ("super", 0): None, ("object", 0): None,
}  # fmt: skip
"""Builtins that change nothing and never raise with this number of arguments, whatever these are."""

CLASS_READERS: Final = frozenset({"type", "callable", "super"})
"""Those that read the class of an object, which a store to `__class__` or unknown code may exchange."""

STATE_TESTS: Final[Mapping[str, str | None]] = {"isinstance": "bool", "hasattr": "bool", "getattr": None}
"""Builtins that look at state. `isinstance(x, int)` never raises; the others may."""

CONVERSIONS: Final[Mapping[str, str | None]] = {
    "int": "int", "float": "float", "complex": None, "range": "range", "hex": "str", "bin": "str",
    "oct": "str", "chr": "str", "bytes": None, "bytearray": None,
}  # fmt: skip
"""Builtins that ask a foreign object for a number: its `__int__`, `__float__`, `__complex__` or `__index__`
runs. `bytes` may give what its `__bytes__` gives, of a subclass.
"""

CONVERTS_ITEMS: Final = frozenset({"bytes", "bytearray", "np"})
"""Those of the conversions, and the module whose conversions, ask the items of a container too."""

ENCODINGS: Final = frozenset({
    "ascii", "cp1252", "iso-8859-1", "latin-1", "latin1", "utf-16", "utf-16-be", "utf-16-le", "utf-32",
    "utf-8", "utf-8-sig", "utf8",
})  # fmt: skip
ERROR_HANDLERS: Final = frozenset({
    "backslashreplace", "ignore", "namereplace", "replace", "strict", "surrogateescape", "surrogatepass",
    "xmlcharrefreplace",
})  # fmt: skip
"""Names of codecs and handlers that run no foreign code; any other may be registered by the program."""

READ_ONLY: Final[Mapping[str, str | None]] = {
    "len": "int", "repr": "str", "str": "str", "ascii": "str", "format": "str", "bool": "bool", "abs": None,
    "round": None, "divmod": None, "pow": None, "hash": "int", "ord": "int", "issubclass": "bool",
    "slice": None, "super": None,
}  # fmt: skip
"""Builtins that look at their arguments, may raise, and change nothing."""

CONSUMING: Final[Mapping[str, str | None]] = {
    "list": "list", "tuple": "tuple", "set": "set", "frozenset": None, "dict": "dict", "sorted": "list",
    "sum": None, "any": "bool", "all": "bool", "min": None, "max": None,
}  # fmt: skip
"""Builtins that iterate over their one argument at once, and so exhaust an iterator."""

CONSUMING_KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "sorted": frozenset({"key", "reverse"}),
    "min": frozenset({"key", "default"}),
    "max": frozenset({"key", "default"}),
    "sum": frozenset({"start"}),
}
"""The keywords that they take; for any other they raise a TypeError."""

LAZY: Final = frozenset({"zip", "enumerate", "reversed", "iter"})
"""Builtins that ask their arguments for an iterator at once, and for the items later."""

EXCEPTIONS: Final = frozenset(
    name for name in BUILTINS if isinstance(getattr(builtins, name), type)
    and issubclass(getattr(builtins, name), BaseException)
)  # fmt: skip

EXCEPTION_KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "ImportError": frozenset({"name", "path"}),
    "ModuleNotFoundError": frozenset({"name", "path"}),
    "AttributeError": frozenset({"name", "obj"}),
    "NameError": frozenset({"name"}),
    "UnboundLocalError": frozenset({"name"}),
}
"""Keywords that the constructors of exceptions take; for any other they raise a TypeError."""

STR_METHODS: Final = {
    "upper": "str", "lower": "str", "strip": "str", "lstrip": "str", "rstrip": "str", "title": "str",
    "capitalize": "str", "casefold": "str", "swapcase": "str", "replace": "str", "removeprefix": "str",
    "removesuffix": "str", "startswith": "bool", "endswith": "bool", "isdigit": "bool",
    "isalpha": "bool", "isalnum": "bool", "isspace": "bool", "isupper": "bool", "islower": "bool",
    "isidentifier": "bool", "isdecimal": "bool", "isnumeric": "bool", "istitle": "bool", "isascii": "bool",
    "isprintable": "bool", "find": "int", "rfind": "int", "count": "int", "splitlines": "list",
    "partition": "tuple", "rpartition": "tuple",
}  # fmt: skip
"""Methods of `str` that only compute; they raise only for arguments that they do not take."""

STR_ARGUMENTS: Final[Mapping[str, frozenset[int]]] = {
    **dict.fromkeys(("strip", "lstrip", "rstrip"), frozenset({0, 1})),
    **dict.fromkeys(
        ("removeprefix", "removesuffix", "startswith", "endswith", "find", "rfind", "count"), frozenset({1})
    ),
    "replace": frozenset({2}),
    "partition": frozenset(),
    "rpartition": frozenset(),
}
"""With how many texts as arguments they never raise; 0 for methods that are not here. An empty separator
raises.
"""

RAISING_STR_METHODS: Final = {
    "split": "list", "rsplit": "list", "format": "str", "encode": "bytes", "center": "str", "ljust": "str",
    "rjust": "str", "zfill": "str", "index": "int", "rindex": "int", "translate": "str", "expandtabs": "str",
    "format_map": "str",
}  # fmt: skip
"""Methods of `str` that only compute and may raise for other reasons too."""


INDICES: Final[Mapping[tuple[str, str], slice]] = {
    **{("str", name): slice(1, None) for name in ("find", "rfind", "count", "startswith", "endswith", "index",
                                                  "rindex", "split", "rsplit")},
    **{("str", name): slice(1) for name in ("center", "ljust", "rjust", "zfill", "expandtabs", "splitlines")},
    ("str", "replace"): slice(2, None), ("list", "insert"): slice(1), ("list", "pop"): slice(1),
    ("list", "index"): slice(1, None),
}  # fmt: skip
"""The arguments of methods that are converted to numbers."""


class MethodEffect(NamedTuple):
    """What a method of a builtin container does."""

    least: int
    """Fewest positional arguments."""
    most: int
    """Most positional arguments."""
    changes: bool
    """Whether the method changes the contents of the container."""
    flags: str = ""
    """`raises`: it may raise. `hashes`: it raises if the first argument cannot be hashed. `iterates`: it
    iterates over its argument. `compares`: comparisons of foreign objects may run.
    """
    gives: str | None = None
    """The type of the result, if it is certain."""


METHOD_EFFECTS: Final[Mapping[str, Mapping[str, MethodEffect]]] = {
    "list": {
        "append": MethodEffect(1, 1, True, gives="none"),
        "extend": MethodEffect(1, 1, True, "iterates", "none"),
        "insert": MethodEffect(2, 2, True, "raises", "none"),
        "pop": MethodEffect(0, 1, True, "raises"),
        "clear": MethodEffect(0, 0, True, gives="none"),
        "reverse": MethodEffect(0, 0, True, gives="none"),
        "sort": MethodEffect(0, 0, True, "compares", "none"),
        "remove": MethodEffect(1, 1, True, "compares", "none"),
        "index": MethodEffect(1, 3, False, "compares", "int"),
        "count": MethodEffect(1, 1, False, "compares", "int"),
        "copy": MethodEffect(0, 0, False, gives="list"),
    },
    "dict": {
        "get": MethodEffect(1, 2, False, "hashes"),
        "setdefault": MethodEffect(1, 2, True, "hashes"),
        "pop": MethodEffect(1, 2, True, "raises"),
        "popitem": MethodEffect(0, 0, True, "raises", "tuple"),
        "clear": MethodEffect(0, 0, True, gives="none"),
        "copy": MethodEffect(0, 0, False, gives="dict"),
        "keys": MethodEffect(0, 0, False),
        "values": MethodEffect(0, 0, False),
        "items": MethodEffect(0, 0, False),
    },
    "set": {
        "add": MethodEffect(1, 1, True, "hashes", "none"),
        "discard": MethodEffect(1, 1, True, "hashes", "none"),
        "remove": MethodEffect(1, 1, True, "raises", "none"),
        "update": MethodEffect(1, 1, True, "iterates", "none"),
        "pop": MethodEffect(0, 0, True, "raises"),
        "clear": MethodEffect(0, 0, True, gives="none"),
        "copy": MethodEffect(0, 0, False, gives="set"),
    },
}  # fmt: skip
"""The methods of the builtin containers, by type and name."""

VIEWS: Final = frozenset({"keys", "values", "items"})
"""Methods whose result keeps showing the current contents of the container."""

MODULE_NAMES: Final = sys.stdlib_module_names | {"np"}
"""A global with one of these names is assumed to be a module, whose attributes are plain."""

WELL_KNOWN: Final = BUILTINS | MODULE_NAMES
"""Names that mean something else in the functions inside of a function that binds them."""

ArgumentUse: TypeAlias = Literal[
    "keeps", "looks", "item", "converts", "describes", "first", "each", "pairs", "compiles"
]
"""What a function of a module does with its arguments; it may always raise.

- `keeps`: it stores them.
- `looks`: it looks at them (`looks-quiet`).
- `item`: as `x[y]`.
- `converts`: it asks foreign objects for a number, an array or a text, which runs their code.
- `describes`: it reads a type of NumPy from them, whose parts it converts.
- `first`, `each`: it iterates over the first of them, or over each, and converts the others.
- `pairs`: as `dict`, it iterates over the first and over its items.
- `compiles`: as `re.compile`, which prints with the flag `DEBUG`.
"""


def _functions(**uses: str) -> Mapping[str, ArgumentUse]:
    """From texts of names, by the use of the arguments."""
    return {name: cast("ArgumentUse", use) for use, names in uses.items() for name in names.split()}


MODULES: Final[Mapping[str, Mapping[str, ArgumentUse]]] = {
    "math": _functions(
        converts="acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees erf erfc "
        "exp exp2 expm1 fabs factorial floor fmod frexp gamma gcd hypot isclose isfinite isinf isnan isqrt "
        "lcm ldexp lgamma log log10 log1p log2 modf nextafter perm pow radians remainder sin sinh sqrt tan "
        "tanh trunc ulp",
    ),
    "operator": _functions(
        keeps="attrgetter is_ is_not itemgetter methodcaller",
        looks="abs add and_ concat eq floordiv ge gt inv invert le lshift lt matmul ne neg "
        "not_ or_ pos pow rshift sub truediv truth xor",
        item="getitem",
        first="countOf indexOf",
    ),
    "os.path": _functions(looks="join basename dirname split splitext normpath normcase isabs splitdrive"),
    "re": _functions(converts="escape", compiles="compile"),
    "itertools": _functions(
        keeps="chain", looks="count", first="combinations cycle permutations", each="product"
    ),
    "functools": _functions(keeps="partial"),
    "collections": _functions(first="deque Counter", pairs="defaultdict OrderedDict"),
    "np": _functions(
        looks="isscalar",
        describes="dtype iinfo finfo",
        converts="zeros ones empty eye identity full arange linspace zeros_like ones_like empty_like "
        "full_like shape ndim size",
    ),
}
"""Functions that act on nothing but their arguments, by the name that their module commonly has in a text."""

ATTRIBUTES: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("sys.platform", "sys.byteorder", "sys.version", "sys.prefix", "os.name", "os.sep", "os.linesep",
         "os.pathsep", "os.curdir", "os.pardir", "os.extsep", "os.devnull", "os.path.sep"), "str"
    ),
    **{f"string.{name}": "str" for name in (
        "ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "hexdigits", "octdigits",
        "printable", "punctuation", "whitespace",
    )},
    **dict.fromkeys(("sys.maxsize", "sys.hexversion", "sys.maxunicode"), "int"),
    **{f"{module}.{name}": "float" for module in ("math", "np") for name in ("pi", "e", "inf", "nan")},
    "math.tau": "float",
}  # fmt: skip
"""Attributes of modules whose values are certainly of a plain builtin type."""

PATH_PAIRS: Final = frozenset({"split", "splitext", "splitdrive"})
"""Functions of `os.path` that give a tuple of two."""

NEVER_SWALLOWING: Final[Mapping[str, str]] = {name: reason for reason, names in {
    "it closes a file, whose `close` gives nothing": """
        open io.open os.fdopen tokenize.open io.StringIO io.BytesIO io.FileIO
        gzip.open gzip.GzipFile bz2.open bz2.BZ2File lzma.open lzma.LZMAFile
        tarfile.open tarfile.TarFile zipfile.ZipFile wave.open fileinput.input fileinput.FileInput
        tempfile.TemporaryFile tempfile.NamedTemporaryFile tempfile.SpooledTemporaryFile
    """,
    "it closes another resource, and gives nothing": """
        os.scandir os.popen subprocess.Popen mmap.mmap memoryview selectors.DefaultSelector
        socket.socket socket.create_connection socket.create_server urllib.request.urlopen
    """,
    "it removes a folder": "tempfile.TemporaryDirectory",
    "it commits or rolls back, and gives False": "sqlite3.connect",
    "it calls `close`, and gives nothing": "contextlib.closing contextlib.aclosing",
    "it does nothing": "contextlib.nullcontext",
    "it releases a lock": """
        threading.Lock threading.RLock threading.Semaphore threading.BoundedSemaphore
        multiprocessing.Lock multiprocessing.RLock
        asyncio.Lock asyncio.Semaphore asyncio.BoundedSemaphore
    """,
    "it waits for tasks, and gives False": """
        concurrent.futures.ThreadPoolExecutor concurrent.futures.ProcessPoolExecutor
    """,
    "it puts back a state of the process": """
        contextlib.redirect_stdout contextlib.redirect_stderr contextlib.chdir
        decimal.localcontext warnings.catch_warnings
        np.errstate np.printoptions torch.no_grad torch.enable_grad torch.inference_mode matplotlib.rc_context
    """,
    "it puts back attributes; what it enters itself are further patches": """
        unittest.mock.patch unittest.mock.patch.object unittest.mock.patch.dict unittest.mock.patch.multiple
    """,
    "it looks at the warnings that it caught, and may raise": "pytest.warns pytest.deprecated_call",
}.items() for name in names.split()}  # fmt: skip
"""Calls that make a context manager which passes every exception on, each with the reason: what it does at
the end. Behind any other `with`, such as `with suppress(ImportError): …`, the function may go on after an
exception. Not here are those that wrap an object which decides: `threading.Condition(lock)`.
"""
