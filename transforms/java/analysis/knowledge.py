"""Keywords, well-known types and annotations of Java.

Assumed: the name of a well-known type means the JDK's type, unless the text declares or imports another one.
"""

from typing import Final

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
