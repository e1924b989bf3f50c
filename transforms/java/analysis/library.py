"""Facts about classes of the JDK: which methods only compute, their result types, and which may raise.

The tables list overloads, such as `indexOf(String,int):int`. What they say holds for every release up to
`RELEASE`. A call of another overload, or of another method, is a call of unknown code. The notation:

- `a(int|char)`: two overloads; `a(#,#):#`: four, with `int`, `long`, `float` and `double` for every `#`;
- `?` behind a parameter: it may be null; any other null raises;
- `any` as parameter: an object that the method does not look into; of any other object it may call methods;
- `*` as result: an unknown object, or null; `this`: the receiver;
- `!` at the end: the overload may raise, whatever its arguments;
- `~` at the end: it may call `compareTo` of what the container holds already, because a hash table makes a
  tree of many keys of one hash, and sorts the tree again when it grows;
- `@21` at the end: the overload exists since that release; without it, since 8.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple, TypeAlias

PRIMITIVES: Final = frozenset({"boolean", "byte", "short", "char", "int", "long", "float", "double"})
BOXES: Final[Mapping[str, str]] = {
    "Boolean": "boolean", "Byte": "byte", "Short": "short", "Character": "char", "Integer": "int",
    "Long": "long", "Float": "float", "Double": "double",
}  # fmt: skip
"""The boxed types, each with its primitive type."""
FLOATS: Final = frozenset({"float", "double"})
PLAIN: Final = PRIMITIVES | BOXES.keys() | {"String", "null"}
"""Types whose `toString`, `hashCode` and `equals` are the JDK's own, so they run no foreign code."""


RELEASE: Final = 25
"""The last release of the JDK whose overloads the tables know."""


class Parameter(NamedTuple):
    """A parameter of a known overload."""

    type: str
    nullable: bool


class Method(NamedTuple):
    """The effects of a known overload on a receiver that is not null."""

    parameters: tuple[Parameter, ...]
    result: str
    raises: bool
    since: int
    """The first release that has it."""
    compares: bool
    """Whether it may call `compareTo` of objects that the receiver holds already."""


Methods: TypeAlias = Mapping[str, tuple[Method, ...]]
"""Overloads by name."""

_SIGNATURE: Final = re.compile(r"(\w+)\((.*)\):([^!~@]+)(!?)(~?)(?:@(\d+))?")


def _methods(*texts: str) -> Methods:
    methods: dict[str, tuple[Method, ...]] = {}
    for word in " ".join(texts).split():
        for number in ("int", "long", "float", "double") if "#" in word else ("",):
            match = _SIGNATURE.fullmatch(word.replace("#", number))
            assert match is not None, word
            name, parameters, result, raises, compares, since = match.groups()
            choices = [part.split("|") for part in parameters.split(",")] if parameters else []
            methods[name] = methods.get(name, ()) + tuple(
                Method(
                    tuple(Parameter(kind.rstrip("?"), kind.endswith("?")) for kind in chosen),
                    result, bool(raises), int(since or 8), bool(compares),
                )
                for chosen in product(*choices)
            )  # fmt: skip
    return methods


_WIDER: Final = (
    "byte", "short", "char", "int", "long", "float", "double",
    "String", "StringBuffer", "char[]", "CharSequence", "Object", "any",
)  # fmt: skip
"""The types of parameters, the more specific ones before those that also accept their values."""


def _accepts(parameter: str, kind: str | None, *, boxing: bool) -> bool:
    """Whether a parameter may be given an argument of a type; `None` may be any type."""
    if kind is None or kind == parameter:
        return True
    if boxing and kind in BOXES:
        return parameter in ("Object", "any") or _accepts(parameter, BOXES[kind], boxing=False)
    if kind in PRIMITIVES:
        if parameter not in PRIMITIVES:
            return boxing and parameter in ("Object", "any")
        if "boolean" in (kind, parameter) or parameter == "char" or (kind == "char" and parameter == "short"):
            return False
        return _WIDER.index(kind) < _WIDER.index(parameter)
    if parameter in PRIMITIVES:
        return False
    if kind in BOXES:
        return parameter in ("Object", "any")
    if kind == "String":
        return parameter in ("CharSequence", "Object", "any")
    return True


def overloads(methods: Methods, name: str, kinds: Sequence[str | None]) -> tuple[Method, ...]:
    """The known overloads that a call may mean; empty where it means a method that the tables lack.

    Args:
        methods: one of the tables.
        name: the name of the method.
        kinds: the static types of the arguments; `None` for an unknown one.
    """
    same = [method for method in methods.get(name, ()) if len(method.parameters) == len(kinds)]
    # Java boxes and unboxes only where no overload accepts the arguments as they are (JLS 15.12.2).
    for boxing in (False, True):
        fitting = [
            method
            for method in same
            if all(
                _accepts(parameter.type, kind, boxing=boxing)
                for parameter, kind in zip(method.parameters, kinds, strict=True)
            )
        ]
        if fitting and all(kind in PLAIN for kind in kinds):
            return (
                min(fitting, key=lambda method: [_rank(parameter.type) for parameter in method.parameters]),
            )
        if fitting and boxing:
            break
    return tuple(fitting)


def _rank(kind: str) -> int:
    return _WIDER.index(kind) if kind in _WIDER else -1


STATIC: Final[Mapping[str, Methods]] = {
    "Math": _methods(
        "abs(#):# max(#,#):# min(#,#):# sqrt(double):double cbrt(double):double pow(double,double):double",
        "exp(double):double log(double):double log10(double):double floor(double):double ceil(double):double",
        "rint(double):double sin(double):double cos(double):double tan(double):double asin(double):double",
        "acos(double):double atan(double):double atan2(double,double):double hypot(double,double):double",
        "toRadians(double):double toDegrees(double):double signum(float):float signum(double):double",
        "floorDiv(int,int):int! floorDiv(long,int):long!@9 floorDiv(long,long):long!",
        "floorMod(int,int):int! floorMod(long,int):int!@9 floorMod(long,long):long!",
        "addExact(int,int):int! addExact(long,long):long! subtractExact(int,int):int!",
        "subtractExact(long,long):long! multiplyExact(int,int):int! multiplyExact(long,int):long!@9",
        "multiplyExact(long,long):long! toIntExact(long):int! round(float):int round(double):long",
    ),
    "Integer": _methods(
        "valueOf(int):Integer valueOf(String):Integer! valueOf(String,int):Integer! parseInt(String):int!",
        "parseInt(String,int):int! parseInt(CharSequence,int,int,int):int!@9 toString(int):String",
        "toString(int,int):String toHexString(int):String toBinaryString(int):String",
        "toOctalString(int):String compare(int,int):int max(int,int):int min(int,int):int sum(int,int):int",
        "signum(int):int bitCount(int):int highestOneBit(int):int lowestOneBit(int):int",
        "numberOfLeadingZeros(int):int numberOfTrailingZeros(int):int reverse(int):int hashCode(int):int",
        "rotateLeft(int,int):int rotateRight(int,int):int",
    ),
    "Long": _methods(
        "valueOf(long):Long valueOf(String):Long! valueOf(String,int):Long! parseLong(String):long!",
        "parseLong(String,int):long! parseLong(CharSequence,int,int,int):long!@9 toString(long):String",
        "toString(long,int):String toHexString(long):String toBinaryString(long):String",
        "toOctalString(long):String compare(long,long):int max(long,long):long min(long,long):long",
        "sum(long,long):long signum(long):int bitCount(long):int numberOfLeadingZeros(long):int",
        "numberOfTrailingZeros(long):int hashCode(long):int rotateLeft(long,int):long",
        "rotateRight(long,int):long",
    ),
    "Double": _methods(
        "valueOf(double):Double valueOf(String):Double! parseDouble(String):double! toString(double):String",
        "compare(double,double):int isNaN(double):boolean isInfinite(double):boolean hashCode(double):int",
        "doubleToLongBits(double):long doubleToRawLongBits(double):long longBitsToDouble(long):double",
    ),
    "Float": _methods(
        "valueOf(float):Float valueOf(String):Float! parseFloat(String):float! toString(float):String",
        "compare(float,float):int isNaN(float):boolean isInfinite(float):boolean hashCode(float):int",
        "floatToIntBits(float):int floatToRawIntBits(float):int intBitsToFloat(int):float",
    ),
    "Boolean": _methods(
        "valueOf(boolean):Boolean valueOf(String?):Boolean parseBoolean(String?):boolean",
        "toString(boolean):String compare(boolean,boolean):int hashCode(boolean):int",
        "logicalAnd(boolean,boolean):boolean logicalOr(boolean,boolean):boolean",
        "logicalXor(boolean,boolean):boolean",
    ),
    "Character": _methods(
        "valueOf(char):Character isDigit(char|int):boolean isLetter(char|int):boolean",
        "isLetterOrDigit(char|int):boolean isWhitespace(char|int):boolean isUpperCase(char|int):boolean",
        "isLowerCase(char|int):boolean isSpaceChar(char|int):boolean toString(char):String",
        "toString(int):String!@11 compare(char,char):int hashCode(char):int getNumericValue(char|int):int",
        "digit(char|int,int):int forDigit(int,int):char",
    ),
    "String": _methods(
        "valueOf(Object?):String valueOf(char[]):String valueOf(boolean|char|int|long|float|double):String",
    ),
    "Collections": _methods("emptyList():List emptyMap():Map emptySet():Set"),
}
"""Static methods that only compute."""

STRING: Final = _methods(
    "length():int isEmpty():boolean isBlank():boolean@11 charAt(int):char! codePointAt(int):int!",
    "equals(any?):boolean equalsIgnoreCase(String?):boolean compareTo(String):int",
    "compareToIgnoreCase(String):int startsWith(String):boolean startsWith(String,int):boolean",
    "endsWith(String):boolean contains(CharSequence):boolean indexOf(int|String):int",
    "indexOf(int|String,int):int indexOf(int|String,int,int):int!@21 lastIndexOf(int|String):int",
    "lastIndexOf(int|String,int):int substring(int):String! substring(int,int):String! trim():String",
    "strip():String@11 concat(String):String replace(char,char):String",
    "replace(CharSequence,CharSequence):String toString():String hashCode():int intern():String",
    "toCharArray():char[] repeat(int):String!@11 split(String):String[]! split(String,int):String[]!",
    "matches(String):boolean! replaceAll(String,String):String! replaceFirst(String,String):String!",
    "toLowerCase():String toUpperCase():String",
)
"""Methods of strings."""
OF_LOCALE: Final = frozenset({"toLowerCase", "toUpperCase"})
"""Methods of strings that read the default locale."""

_BUILDER_READS: Final = _methods(
    "length():int toString():String charAt(int):char! indexOf(String):int indexOf(String,int):int",
    "substring(int):String! substring(int,int):String!",
)
_BUILDER_CHANGES: Final = _methods(
    "append(Object?|String?|StringBuffer?|CharSequence?|char[]):this",
    "append(boolean|char|int|long|float|double):this",
    "append(CharSequence?|char[],int,int):this!",
    "insert(int,Object?|String?|CharSequence?|char[]|boolean|char|int|long|float|double):this!",
    "insert(int,CharSequence?|char[],int,int):this!",
    "deleteCharAt(int):this! delete(int,int):this! reverse():this setLength(int):void!",
    "setCharAt(int,char):void!",
)


class Contents(NamedTuple):
    """The methods of a container class: those that read its contents, and those that change them."""

    reads: Methods
    changes: Methods


_SIZES: Final = "size():int isEmpty():boolean"
_LIST: Final = (
    "add(any?):boolean add(int,any?):void! set(int,any?):*! clear():void remove(int):*! "
    "remove(Object?):boolean"
)
_LIST_READS: Final = _methods(_SIZES, "get(int):*! contains(Object?):boolean indexOf(Object?):int")
_SET: Final = Contents(
    _methods(_SIZES, "contains(Object?):boolean"),
    _methods("add(Object?):boolean~ remove(Object?):boolean clear():void"),
)
_MAP: Final = Contents(
    _methods(_SIZES, "get(Object?):* containsKey(Object?):boolean getOrDefault(Object?,any?):*"),
    _methods("put(Object?,any?):*~ remove(Object?):* clear():void putIfAbsent(Object?,any?):*~"),
)

BUILDERS: Final = frozenset({"StringBuilder", "StringBuffer"})
"""Final classes: an object of this static type is exactly of this class."""
CONTENTS: Final[Mapping[str, Contents]] = {
    **dict.fromkeys(BUILDERS, Contents(_BUILDER_READS, _BUILDER_CHANGES)),
    "ArrayList": Contents(_LIST_READS, _methods(_LIST)),
    "LinkedList": Contents(_LIST_READS, _methods(_LIST, "remove():*!")),
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
    SortedMap SortedSet NavigableMap NavigableSet PrimitiveIterator.OfInt
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

_OUTSIDE_LANG: Final[Mapping[str, str]] = {
    "java.awt.event": "ActionListener ItemListener KeyListener MouseListener",
    "java.beans": "PropertyChangeListener",
    "java.io": "Closeable FileFilter FilenameFilter Flushable IOException Serializable",
    "java.lang.Thread": "UncaughtExceptionHandler",
    "java.lang.reflect": "InvocationHandler",
    "java.math": "BigDecimal BigInteger",
    "java.nio.file": "FileVisitor PathMatcher SimpleFileVisitor",
    "java.security": "PrivilegedAction PrivilegedExceptionAction",
    "java.util": """
        AbstractCollection AbstractSet ArrayDeque ArrayList Arrays BitSet Calendar Collection Collections
        Comparator Date Deque EnumMap EnumSet Enumeration HashMap HashSet Iterator LinkedHashMap LinkedHashSet
        LinkedList List ListIterator Locale Map NavigableMap NavigableSet NoSuchElementException Objects
        Optional OptionalDouble OptionalInt OptionalLong PriorityQueue Queue Random Scanner Set SortedMap
        SortedSet StringJoiner TimerTask TreeMap TreeSet UUID
    """,
    "java.util.concurrent": """
        Callable ConcurrentHashMap Executor ExecutorService Future RejectedExecutionHandler
        ScheduledExecutorService ThreadFactory
    """,
    "java.util.concurrent.atomic": "AtomicBoolean AtomicInteger AtomicLong",
    "java.util.function": """
        BiConsumer BiFunction BiPredicate BinaryOperator BooleanSupplier Consumer DoubleConsumer
        DoubleFunction DoublePredicate DoubleSupplier DoubleUnaryOperator Function IntBinaryOperator
        IntConsumer IntFunction IntPredicate IntSupplier IntUnaryOperator LongBinaryOperator LongConsumer
        LongFunction LongPredicate LongSupplier LongUnaryOperator ObjIntConsumer ObjLongConsumer Predicate
        Supplier ToDoubleBiFunction ToDoubleFunction ToIntBiFunction ToIntFunction ToLongBiFunction
        ToLongFunction UnaryOperator
    """,
    "java.util.regex": "Matcher Pattern",
    "java.util.stream": "Collectors DoubleStream IntStream LongStream Stream",
    "javax.swing.event": "ChangeListener",
}
HOMES: Final[Mapping[str, str]] = {
    **{name: "java.lang" for name in KNOWN_TYPES if "." not in name},
    **{name: package for package, names in _OUTSIDE_LANG.items() for name in names.split()},
}
"""The package, or the class around it, of each type in `KNOWN_TYPES` with a simple name."""

_SHAPES: Final = frozenset(
    {"Arc2D", "CubicCurve2D", "Ellipse2D", "Line2D", "Path2D", "Point2D", "QuadCurve2D", "Rectangle2D",
     "RoundRectangle2D", "Point", "Rectangle", "DefaultCaret", "BasicCaret"}
)  # fmt: skip
INHERITED: Final[Mapping[str, frozenset[str]]] = {
    "Double": _SHAPES,
    "Float": _SHAPES,
    "Iterator": frozenset({"HTMLDocument"}),
}
"""The well-known names that mean a type within a class of the JDK to all who extend it, with these classes.

`class Dot extends Point2D` inherits `Point2D.Double`, so there `Double` is no number.
"""

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
