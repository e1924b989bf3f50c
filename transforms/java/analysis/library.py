"""Facts about classes of the JDK: which methods only compute, their result types, and which may raise.

The tables list methods as `name:type`, with these marks:

- `!` behind the entry: the method may raise;
- `=` as type: the type of the arguments after numeric promotion;
- `*` as type: an unknown object, or null.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

PRIMITIVES: Final = frozenset({"boolean", "byte", "short", "char", "int", "long", "float", "double"})
BOXES: Final[Mapping[str, str]] = {
    "Boolean": "boolean", "Byte": "byte", "Short": "short", "Character": "char", "Integer": "int",
    "Long": "long", "Float": "float", "Double": "double",
}  # fmt: skip
"""The boxed types, each with its primitive type."""
FLOATS: Final = frozenset({"float", "double"})
PLAIN: Final = PRIMITIVES | BOXES.keys() | {"String", "null"}
"""Types whose `toString`, `hashCode` and `equals` are the JDK's own, so they run no foreign code."""


class Method(NamedTuple):
    """The effects of a known method on a receiver that is not null."""

    result: str
    raises: bool


def _methods(text: str) -> Mapping[str, Method]:
    found = {}
    for word in text.split():
        name, _, result = word.rstrip("!").partition(":")
        found[name] = Method(result, word.endswith("!"))
    return found


STATIC: Final[Mapping[str, Mapping[str, Method]]] = {
    "Math": _methods(
        "abs:= max:= min:= sqrt:double cbrt:double pow:double exp:double log:double log10:double "
        "floor:double ceil:double rint:double sin:double cos:double tan:double asin:double acos:double "
        "atan:double "
        "atan2:double hypot:double toRadians:double toDegrees:double signum:double floorDiv:=! floorMod:=! "
        "addExact:=! subtractExact:=! multiplyExact:=! toIntExact:int! round:*number"
    ),
    "Integer": _methods(
        "valueOf:Integer! parseInt:int! toString:String toHexString:String toBinaryString:String "
        "toOctalString:String compare:int max:int min:int sum:int signum:int bitCount:int highestOneBit:int "
        "lowestOneBit:int numberOfLeadingZeros:int numberOfTrailingZeros:int reverse:int hashCode:int "
        "rotateLeft:int rotateRight:int"
    ),
    "Long": _methods(
        "valueOf:Long! parseLong:long! toString:String toHexString:String toBinaryString:String compare:int "
        "max:long min:long sum:long signum:int bitCount:int numberOfLeadingZeros:int hashCode:int "
        "numberOfTrailingZeros:int rotateLeft:long rotateRight:long"
    ),
    "Double": _methods(
        "valueOf:Double! parseDouble:double! toString:String compare:int isNaN:boolean isInfinite:boolean "
        "doubleToLongBits:long doubleToRawLongBits:long longBitsToDouble:double hashCode:int"
    ),
    "Float": _methods(
        "valueOf:Float! parseFloat:float! toString:String compare:int isNaN:boolean isInfinite:boolean "
        "floatToIntBits:int floatToRawIntBits:int intBitsToFloat:float hashCode:int"
    ),
    "Boolean": _methods(
        "valueOf:Boolean parseBoolean:boolean toString:String compare:int hashCode:int logicalAnd:boolean "
        "logicalOr:boolean logicalXor:boolean"
    ),
    "Character": _methods(
        "valueOf:Character isDigit:boolean isLetter:boolean isLetterOrDigit:boolean isWhitespace:boolean "
        "isUpperCase:boolean isLowerCase:boolean isSpaceChar:boolean toString:String! compare:int "
        "hashCode:int getNumericValue:int digit:int forDigit:char"
    ),
    "String": _methods("valueOf:String"),
    "Collections": _methods("emptyList:* emptyMap:* emptySet:*"),
}
"""Static methods that only compute if their arguments are primitive values or strings."""

STRING: Final = _methods(
    "length:int isEmpty:boolean isBlank:boolean charAt:char! codePointAt:int! equals:boolean "
    "equalsIgnoreCase:boolean compareTo:int compareToIgnoreCase:int startsWith:boolean endsWith:boolean "
    "contains:boolean indexOf:int lastIndexOf:int substring:String! trim:String strip:String "
    "concat:String replace:String toString:String hashCode:int intern:String toCharArray:char[] "
    "repeat:String! split:String[]! matches:boolean! replaceAll:String! replaceFirst:String! "
    "toLowerCase:String toUpperCase:String"
)
"""Methods of strings."""
OF_LOCALE: Final = frozenset({"toLowerCase", "toUpperCase"})
"""Methods of strings that read the default locale."""
OF_NULL: Final = frozenset({"append", "equals", "parseBoolean"})
"""Methods that accept null as an argument."""

_BUILDER_READS: Final = _methods("length:int toString:String charAt:char! indexOf:int substring:String!")
_BUILDER_CHANGES: Final = _methods(
    "append:this insert:this! deleteCharAt:this! delete:this! reverse:this setLength:void! setCharAt:void!"
)


class Contents(NamedTuple):
    """The methods of a container class: those that read its contents, and those that change them."""

    reads: Mapping[str, Method]
    changes: Mapping[str, Method]
    keyed: frozenset[str] = frozenset()
    """Methods that compare or hash their first argument."""


_SIZES: Final = "size:int isEmpty:boolean"
_LIST: Final = Contents(
    _methods(f"{_SIZES} get:*! contains:boolean indexOf:int"),
    _methods("add:boolean! set:*! clear:void remove:*!"),
    frozenset({"contains", "indexOf", "remove"}),
)
_SET: Final = Contents(
    _methods(f"{_SIZES} contains:boolean"),
    _methods("add:boolean remove:boolean clear:void"),
    frozenset({"contains", "add", "remove"}),
)
_MAP: Final = Contents(
    _methods(f"{_SIZES} get:* containsKey:boolean getOrDefault:*"),
    _methods("put:* remove:* clear:void putIfAbsent:*"),
    frozenset({"get", "containsKey", "getOrDefault", "put", "remove", "putIfAbsent"}),
)

BUILDERS: Final = frozenset({"StringBuilder", "StringBuffer"})
"""Final classes: an object of this static type is exactly of this class."""
CONTENTS: Final[Mapping[str, Contents]] = {
    **dict.fromkeys(BUILDERS, Contents(_BUILDER_READS, _BUILDER_CHANGES)),
    **dict.fromkeys(("ArrayList", "LinkedList"), _LIST),
    **dict.fromkeys(("HashSet", "LinkedHashSet"), _SET),
    **dict.fromkeys(("HashMap", "LinkedHashMap"), _MAP),
}
"""The methods of objects that were created by `new` of exactly these classes."""
ITERABLE: Final = frozenset({"ArrayList", "LinkedList", "HashSet", "LinkedHashSet"})

NEW: Final = CONTENTS.keys() | {
    "Object", "TreeMap", "TreeSet", "ArrayDeque", "PriorityQueue",
    "ConcurrentHashMap", "AtomicInteger", "AtomicLong", "AtomicBoolean",
}  # fmt: skip
"""Classes whose constructor without arguments only creates the object."""
SIZED: Final = CONTENTS.keys() | {"ArrayDeque", "ConcurrentHashMap", "AtomicInteger", "AtomicLong"}
"""The classes among them whose constructor also accepts any number that is not negative."""
_RAISED: Final = """
    Throwable Exception Error RuntimeException IllegalArgumentException IllegalStateException
    NullPointerException ArithmeticException ClassCastException IndexOutOfBoundsException
    ArrayIndexOutOfBoundsException NumberFormatException StringIndexOutOfBoundsException
    UnsupportedOperationException InterruptedException IOException AssertionError NoSuchElementException
"""
RAISED: Final = frozenset(_RAISED.split())
"""Exceptions whose constructors only store the given string."""
CONSTANTS: Final[Mapping[str, Mapping[str, str]]] = {
    **{
        box: {"MAX_VALUE": BOXES[box], "MIN_VALUE": BOXES[box], "SIZE": "int", "BYTES": "int"}
        for box in ("Byte", "Short", "Character", "Integer", "Long")
    },
    **{
        box: dict.fromkeys(
            ("MAX_VALUE", "MIN_VALUE", "NaN", "POSITIVE_INFINITY", "NEGATIVE_INFINITY"), BOXES[box]
        )
        for box in ("Float", "Double")
    },
    "Boolean": {"TRUE": "Boolean", "FALSE": "Boolean"},
    "Math": {"PI": "double", "E": "double"},
}
"""Constants of the JDK with their types; none of them is null."""


_KEYWORDS: Final = """
    abstract assert boolean break byte case catch char class const continue default do double else enum
    extends final finally float for goto if implements import instanceof int interface long native new
    package private protected public return short static strictfp super switch synchronized this throw
    throws transient try void volatile while true false null _
"""
KEYWORDS: Final = frozenset(_KEYWORDS.split())

_CONTEXTUAL: Final = """
    exports module non-sealed open opens permits provides record requires sealed to transitive uses var when
    with yield
"""
CONTEXTUAL: Final = frozenset(_CONTEXTUAL.split())
"""Words that are keywords in some places. No renaming gives one of them."""

ROOTS: Final = frozenset({"com", "edu", "gov", "io", "jakarta", "java", "javax", "net", "org"})
"""First parts of names of packages. A variable of this name would hide the package."""

_FIELDLESS: Final = """
    Object Runnable Comparable Iterable AutoCloseable Closeable Cloneable Appendable CharSequence Readable
    Serializable Flushable
    Callable Comparator Iterator ListIterator Enumeration Map.Entry Collection List Set Map Queue Deque
    SortedMap SortedSet NavigableMap NavigableSet Spliterator.OfInt PrimitiveIterator.OfInt
    PrivilegedAction PrivilegedExceptionAction
    Function BiFunction Predicate BiPredicate Supplier Consumer BiConsumer UnaryOperator BinaryOperator
    IntFunction IntPredicate IntSupplier IntConsumer IntUnaryOperator IntBinaryOperator ToIntFunction
    LongFunction LongPredicate LongSupplier LongConsumer LongUnaryOperator LongBinaryOperator ToLongFunction
    DoubleFunction DoublePredicate DoubleSupplier DoubleConsumer DoubleUnaryOperator ToDoubleFunction
    ToIntBiFunction ToLongBiFunction ToDoubleBiFunction BooleanSupplier ObjIntConsumer ObjLongConsumer
    Executor ExecutorService ScheduledExecutorService ThreadFactory Future RejectedExecutionHandler
    UncaughtExceptionHandler Thread.UncaughtExceptionHandler InvocationHandler
    FileFilter FilenameFilter FileVisitor SimpleFileVisitor PathMatcher ThreadLocal TimerTask
    ActionListener ItemListener ChangeListener MouseListener KeyListener PropertyChangeListener
    AbstractSet AbstractCollection
"""
FIELDLESS: Final = frozenset(_FIELDLESS.split())
"""Classes and interfaces of the JDK from which classes outside of their package inherit no field."""

_LANGUAGE: Final = """
    Object String StringBuilder StringBuffer Math StrictMath System Integer Long Short Byte Character
    Boolean Double Float Number Void Class ClassLoader Enum Record Thread ThreadLocal Throwable Exception
    Error RuntimeException IllegalArgumentException IllegalStateException NullPointerException
    ArithmeticException ClassCastException IndexOutOfBoundsException ArrayIndexOutOfBoundsException
    NumberFormatException StringIndexOutOfBoundsException UnsupportedOperationException
    InterruptedException Runtime Process Objects Arrays Collections Optional OptionalInt OptionalLong
    OptionalDouble StringJoiner BitSet UUID Random ArrayList LinkedList HashMap LinkedHashMap TreeMap
    HashSet LinkedHashSet TreeSet ArrayDeque PriorityQueue EnumMap EnumSet Scanner Locale Date Calendar
    BigInteger BigDecimal Pattern Matcher Stream IntStream LongStream DoubleStream Collectors
    IOException AssertionError NoSuchElementException ConcurrentHashMap AtomicInteger AtomicLong AtomicBoolean
"""
KNOWN_TYPES: Final = FIELDLESS | frozenset(_LANGUAGE.split())
"""The types of the JDK that the analysis recognises by their simple names."""

_HARMLESS_ANNOTATIONS: Final = """
    Override Deprecated SuppressWarnings SafeVarargs FunctionalInterface Nullable CheckForNull
    VisibleForTesting CanIgnoreReturnValue Beta Internal Incubating GuardedBy ThreadSafe NotThreadSafe
    Test BeforeEach AfterEach BeforeAll AfterAll BeforeClass AfterClass Ignore Disabled
    SuppressFBWarnings SuppressForbidden CallerSensitive ForceInline IntrinsicCandidate
"""
HARMLESS_ANNOTATIONS: Final = frozenset(_HARMLESS_ANNOTATIONS.split())
"""Annotations that no known tool reads together with the names of parameters or variables."""

HARMLESS_MARKERS: Final = frozenset({"Before", "After"})
"""Harmless annotations without arguments. With arguments they belong to aspects, which read names."""
