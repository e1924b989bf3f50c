"""What the tables say about the JDK's methods, asked of the JDKs of this machine."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeaudit.transforms.java.analysis.library import (
    BUILDERS,
    CONTENTS,
    HOMES,
    INHERITED,
    NEW,
    RAISED,
    RELEASE,
    SIZED,
    STATIC,
    STRING,
    Methods,
    overloads,
)

TYPES = {
    "Object": "java.lang.Object", "String": "java.lang.String",
    "CharSequence": "java.lang.CharSequence", "StringBuffer": "java.lang.StringBuffer", "char[]": "[C",
    "String[]": "[Ljava.lang.String;",
}  # fmt: skip
BOXED = {
    "Integer": "java.lang.Integer", "Long": "java.lang.Long", "Double": "java.lang.Double",
    "Float": "java.lang.Float", "Boolean": "java.lang.Boolean", "Character": "java.lang.Character",
}  # fmt: skip
NAMES = {**TYPES, **BOXED, **{name: f"java.util.{name}" for name in ("List", "Map", "Set")}}


def machines() -> list[Path]:
    """The programs `java` of this machine, one for each JDK."""
    paths = [Path(path).resolve() for path in (shutil.which("java"),) if path]
    paths += [path.resolve() for path in Path("/usr/lib/jvm").glob("*/bin/java")]
    return sorted({path for path in paths if path.with_name("javac").exists()})


def entries() -> Iterator[str]:
    """All tables as lines for the program: kind, class, method, result, whether it raises, since, whether it
    compares what is there, parameters.
    """
    tables: list[tuple[str, str, Methods]] = [("static", owner, table) for owner, table in STATIC.items()]
    tables.append(("object", "String", STRING))
    for owner, contents in CONTENTS.items():
        tables += [("object", owner, contents.reads), ("object", owner, contents.changes)]
    for kind, owner, table in tables:
        for name, methods in table.items():
            for method in methods:
                parameters = [
                    NAMES.get(parameter.type, parameter.type) + "?" * parameter.nullable
                    for parameter in method.parameters
                ]
                result = "this" if method.result == "this" else NAMES.get(method.result, method.result)
                yield " ".join(
                    (
                        kind, _path(owner), name, result, str(method.raises), str(method.since),
                        str(method.compares), *parameters,
                    )
                )  # fmt: skip
    for name, home in HOMES.items():
        yield f"type {home}{'$' if home == 'java.lang.Thread' else '.'}{name} {name}"
    for owner in sorted(NEW):
        yield f"new {_path(owner)} plain"
    for owner in sorted(SIZED - {"LinkedList"}):  # a linked list has no such constructor
        yield f"new {_path(owner)} sized"
    for owner in sorted(RAISED):
        yield f"new {_path(owner)} raised"


def _path(owner: str) -> str:
    return f"{HOMES[owner]}.{owner}"


@pytest.mark.weekly
@pytest.mark.skipif(not machines(), reason="no Java")
@pytest.mark.parametrize("java", machines(), ids=str)
def test_the_tables_say_what_the_jdk_does(java: Path, tmp_path: Path) -> None:
    """Every entry is called with ordinary, negative, far too large and null arguments on several receivers."""
    (tmp_path / "Ask.java").write_text(ASK)
    done = subprocess.run(
        [str(java), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", str(tmp_path / "Ask.java")],
        input="\n".join([str(RELEASE), *entries()]), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *wrong, last = done.stdout.splitlines()
    assert not wrong, "\n".join(wrong)
    assert int(last.split()[0]) > 10_000, last


@pytest.mark.weekly
@pytest.mark.skipif(not machines(), reason="no Java")
@pytest.mark.parametrize("java", machines(), ids=str)
def test_every_well_known_name_that_a_class_of_the_jdk_hands_down_is_listed(
    java: Path, tmp_path: Path
) -> None:
    """All classes that may be extended are asked for their own and their inherited types."""
    (tmp_path / "Members.java").write_text(MEMBERS)
    done = subprocess.run(
        [str(java), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", str(tmp_path / "Members.java")],
        input="\n".join(f"{name} {home}.{name}" for name, home in HOMES.items()),
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    members = {tuple(line.split()) for line in done.stdout.splitlines()}
    assert len(members) > 30
    # `Double` and `Float` are also types within these classes, and who extends one of them extends its owner.
    listed = {(name, owner) for name, owners in INHERITED.items() for owner in owners}
    assert {(name, owner) for name, owner in members if owner not in ("Double", "Float")} == listed


MEMBERS = """\
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;

/** Prints each well-known name that means a type within a class, with the class. */
public class Members {
    static boolean open(Class<?> type) {
        for (Class<?> one = type; one != null; one = one.getDeclaringClass())
            if (!Modifier.isPublic(one.getModifiers()) && !Modifier.isProtected(one.getModifiers())) return false;
        return !Modifier.isFinal(type.getModifiers()) && type.getModule().isExported(type.getPackageName());
    }

    static void above(Class<?> type, Set<Class<?>> found) {
        if (type == null || !found.add(type)) return;
        above(type.getSuperclass(), found);
        for (Class<?> one : type.getInterfaces()) above(one, found);
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> homes = new HashMap<>();
        Scanner lines = new Scanner(System.in);
        while (lines.hasNext()) homes.put(lines.next(), lines.next());
        List<Path> files;
        try (Stream<Path> all = Files.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules"))) {
            files = all.filter(one -> one.getNameCount() > 3 && one.toString().endsWith(".class")).collect(Collectors.toList());
        }
        for (Path file : files) {
            String name = file.subpath(2, file.getNameCount()).toString().replace('/', '.').replaceAll("\\\\.class$", "");
            Class<?> type;
            try { type = Class.forName(name, false, ClassLoader.getPlatformClassLoader()); }
            catch (ClassNotFoundException | LinkageError absent) { continue; }
            try { if (!open(type)) continue; } catch (LinkageError absent) { continue; }
            Set<Class<?>> classes = new HashSet<>();
            above(type, classes);
            for (Class<?> one : classes)
                for (Class<?> member : one.getDeclaredClasses()) {
                    String home = homes.get(member.getSimpleName());
                    boolean seen = Modifier.isPublic(member.getModifiers()) || Modifier.isProtected(member.getModifiers());
                    if (home != null && seen && !home.equals(member.getCanonicalName()))
                        System.out.println(member.getSimpleName() + " " + type.getSimpleName());
                }
        }
    }
}
"""

ASK = """\
import java.lang.reflect.*;
import java.util.*;

/** Reads the tables, asks the JDK, and prints every difference; last the number of calls. */
public class Ask {
    static int calls;
    static final StringBuilder LONG = new StringBuilder();

    static Object[] values(String type) {
        switch (type) {
            case "boolean": return new Object[] {true, false};
            case "byte": return new Object[] {(byte) 0, Byte.MIN_VALUE};
            case "char": return new Object[] {'a', '0', '\\0', '\\ud800', '\\uffff'};
            case "int": return new Object[] {0, 1, 2, 3, -1, -7, 10, 36, 37, 64, 500, 0x10ffff, 0x110000,
                Integer.MAX_VALUE, Integer.MIN_VALUE};
            case "long": return new Object[] {0L, 1L, -1L, 5L, 1L << 40, Long.MAX_VALUE, Long.MIN_VALUE};
            case "float": return new Object[] {0f, -0f, 1.5f, Float.NaN, Float.MAX_VALUE, Float.NEGATIVE_INFINITY};
            case "double": return new Object[] {0d, -0d, -2.5, Double.NaN, Double.MIN_VALUE, Double.POSITIVE_INFINITY};
            case "[C": return new Object[] {new char[0], new char[] {'a', '\\ud800'}};
            case "java.lang.StringBuffer": return new Object[] {new StringBuffer(), new StringBuffer("ab")};
            case "any": return new Object[] {"", null, new Foreign()};
            case "java.lang.Object": return new Object[] {"", "a", "k", 7, 'c', 1.5, LONG.toString()};
            default: return new Object[] {"", "a", "abc", "b\\ud83d\\ude00c", "\\ud800", "[", "$1", "\\\\", "12", "true", LONG.toString()};
        }
    }

    static Object[] receivers(String owner) throws Exception {
        Class<?> type = Class.forName(owner);
        if (type == String.class) return values(owner);
        List<Object> made = new ArrayList<>();
        for (int filled = 0; filled < 2; filled++) {
            Object one = type.getConstructor().newInstance();
            if (filled == 1 && one instanceof Appendable) ((Appendable) one).append("ab\\ud83d\\ude00c");
            if (filled == 1 && one instanceof Collection) Collections.addAll((Collection<Object>) one, "a", null, 7);
            if (filled == 1 && one instanceof Map) { ((Map<Object, Object>) one).put("a", 1); ((Map<Object, Object>) one).put(null, null); }
            made.add(one);
        }
        return made.toArray();
    }

    static Throwable call(Method method, Object receiver, Object[] arguments) {
        calls++;
        try { method.invoke(receiver, arguments); return null; }
        catch (InvocationTargetException error) { return error.getCause(); }
        catch (IllegalAccessException error) { return error; }
    }

    /** Whether a method calls back to what a container holds already: foreign keys, of the hash of "k". */
    static void compared(Class<?> owner, Method method, List<Object[]> found, boolean declared, String line) throws Exception {
        if (owner == String.class || CharSequence.class.isAssignableFrom(owner)) return;
        boolean called = false;
        for (int size = 0; size < 40; size++)
            for (Object[] arguments : found) {
                // Only foreign objects that were there before are asked.
                if (Arrays.stream(arguments).anyMatch(one -> one instanceof Foreign)) continue;
                if (size > 12 && !Arrays.asList(arguments).contains("k")) continue;
                Object one = owner.getConstructor().newInstance();
                for (int i = 0; i < size; i++) {
                    if (one instanceof Collection) ((Collection<Object>) one).add(new Key());
                    else ((Map<Object, Object>) one).put(new Key(), i);
                }
                Key.calls = 0;
                call(method, one, arguments);
                if (Key.calls > 0) called = true;
            }
        if (called != declared) System.out.println((called ? "calls back: " : "never calls back: ") + line);
    }

    static Class<?> type(String name) throws Exception {
        switch (name) {
            case "boolean": return boolean.class;
            case "byte": return byte.class;
            case "short": return short.class;
            case "char": return char.class;
            case "int": return int.class;
            case "long": return long.class;
            case "float": return float.class;
            case "double": return double.class;
            case "void": return void.class;
            case "any": return Object.class;
            default: return Class.forName(name);
        }
    }

    static void all(int at, String[] types, Object[] chosen, List<Object[]> found) {
        if (at == types.length) { found.add(chosen.clone()); return; }
        String type = types[at].replace("?", "");
        for (Object value : values(type)) { chosen[at] = value; all(at + 1, types, chosen, found); }
        if (types[at].endsWith("?")) { chosen[at] = null; all(at + 1, types, chosen, found); }
    }

    static void constructed(Class<?> owner, String how) throws Exception {
        for (Constructor<?> one : owner.getConstructors()) {
            Class<?>[] types = one.getParameterTypes();
            List<Object[]> found = new ArrayList<>();
            if (how.equals("plain") && types.length == 0) found.add(new Object[0]);
            if (how.equals("sized") && types.length == 1 && (types[0] == int.class || types[0] == long.class))
                for (int size : new int[] {0, 1, 16, 1 << 20}) found.add(new Object[] {size});
            if (how.equals("raised") && (types.length == 0 || types[0] != Throwable.class)) {
                String[] names = new String[types.length];
                for (int i = 0; i < names.length; i++)
                    names[i] = types[i].isPrimitive() ? types[i].getName() : types[i] == String.class ? "java.lang.String?" : "java.lang.Object?";
                if (types.length < 2) all(0, names, new Object[names.length], found);
                else for (Object message : new Object[] {null, "a"}) found.add(new Object[] {message, null});
            }
            for (Object[] arguments : found) {
                calls++;
                try { one.newInstance(arguments); }
                catch (InvocationTargetException error) { System.out.println(one + Arrays.toString(arguments) + " raises " + error.getCause()); }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 300; i++) LONG.append("ab ");
        Scanner lines = new Scanner(System.in);
        int known = Integer.parseInt(lines.nextLine()), release = Runtime.version().feature();
        if (release > known) System.out.println("release " + release + " is newer than the tables; look at its overloads");
        Set<Method> listed = new HashSet<>();
        Set<String> wanted = new LinkedHashSet<>();
        while (lines.hasNextLine()) {
            String line = lines.nextLine();
            String[] words = line.split(" ");
            Class<?> owner;
            // `Record` is the last of these names.
            try { owner = Class.forName(words[1]); }
            catch (ClassNotFoundException error) { if (release > 15) System.out.println("no type: " + line); continue; }
            if (words[0].equals("type")) {
                try { if (owner != Class.forName("java.lang." + words[2])) System.out.println("two types: " + line); }
                catch (ClassNotFoundException error) { }
                continue;
            }
            if (words[0].equals("new")) { constructed(owner, words[2]); continue; }
            boolean isStatic = words[0].equals("static"), raises = words[4].equals("True");
            String[] types = Arrays.copyOfRange(words, 7, words.length);
            Class<?>[] classes = new Class<?>[types.length];
            for (int i = 0; i < types.length; i++) classes[i] = type(types[i].replace("?", ""));
            Method method = null;
            try { method = owner.getMethod(words[2], classes); } catch (NoSuchMethodException error) { }
            if ((method != null) != (Integer.parseInt(words[5]) <= release)) {
                System.out.println((method == null ? "absent: " : "older: ") + line);
            }
            if (method == null) continue;
            listed.add(method);
            wanted.add(words[1] + " " + isStatic + " " + words[2] + " " + types.length);
            if (Modifier.isStatic(method.getModifiers()) != isStatic) System.out.println("static or not: " + line);
            Class<?> result = method.getReturnType();
            boolean fits = words[3].equals("*") ? !result.isPrimitive() : words[3].equals("this") ? result == owner : result == type(words[3]);
            if (!fits) System.out.println("gives " + result + ": " + line);
            List<Object[]> found = new ArrayList<>();
            all(0, types, new Object[types.length], found);
            boolean raised = false;
            int number = isStatic ? 1 : receivers(words[1]).length;
            for (int which = 0; which < number; which++)
                for (Object[] arguments : found) {
                    Object receiver = isStatic ? null : receivers(words[1])[which];
                    Throwable error = call(method, receiver, arguments);
                    if (error == null) continue;
                    raised = true;
                    if (!raises && !(error instanceof VirtualMachineError)) {
                        System.out.println("raises " + error + ": " + line);
                        break;
                    }
                }
            if (!isStatic) compared(owner, method, found, words[6].equals("True"), line);
            if (raises && !raised) System.out.println("never raises: " + line);
            if (raises) continue;
            for (int place = 0; place < types.length; place++) {
                if (types[place].endsWith("?") || classes[place].isPrimitive()) continue;
                boolean refused = false;
                for (Object[] arguments : found) {
                    arguments[place] = null;
                    Object receiver = isStatic ? null : receivers(words[1])[receivers(words[1]).length - 1];
                    refused |= call(method, receiver, arguments) != null;
                }
                if (!refused) System.out.println("accepts null as argument " + (place + 1) + ": " + line);
            }
        }
        for (String one : wanted) {
            String[] words = one.split(" ");
            for (Method method : Class.forName(words[0]).getMethods())
                if (!method.isSynthetic() && method.getName().equals(words[2]) && method.getParameterCount() == Integer.parseInt(words[3])
                        && Modifier.isStatic(method.getModifiers()) == words[1].equals("true") && !listed.contains(method))
                    System.out.println("missing: " + method);
        }
        System.out.println(calls + " calls");
    }
}

/** A key that many share a hash with, and that counts who looks into it. */
class Key implements Comparable<Key> {
    static int calls;

    @Override public int hashCode() { calls++; return "k".hashCode(); }
    @Override public boolean equals(Object other) { calls++; return this == other; }
    @Override public int compareTo(Key other) { calls++; return 0; }
    @Override public String toString() { calls++; return "key"; }
}

/** An object that notices if somebody looks into it. */
class Foreign {
    @Override public boolean equals(Object other) { throw new IllegalStateException("equals"); }
    @Override public int hashCode() { throw new IllegalStateException("hashCode"); }
    @Override public String toString() { throw new IllegalStateException("toString"); }
}
"""


@pytest.mark.parametrize(
    ("table", "name", "kinds", "expected"),
    [
        (STRING, "indexOf", ["char"], [("int",)]),
        (STRING, "indexOf", [None], [("int",), ("String",)]),
        (STRING, "indexOf", ["String", "byte"], [("String", "int")]),
        (STRING, "indexOf", ["Character"], [("int",)]),
        (STRING, "indexOf", ["long"], []),
        (STRING, "indexOf", ["int", "int", "int", "int"], []),
        (STRING, "describeConstable", [], []),
        (STATIC["Math"], "max", ["int", "Long"], [("long", "long")]),
        (STATIC["Math"], "max", ["short", "char"], [("int", "int")]),
        (STATIC["Math"], "max", [None, "float"], [("float", "float"), ("double", "double")]),
        (STATIC["Math"], "floorMod", ["long", "int"], [("long", "int")]),
        (STATIC["Integer"], "valueOf", ["char"], [("int",)]),
        (STATIC["Integer"], "valueOf", ["String"], [("String",)]),
        (CONTENTS["ArrayList"].changes, "remove", ["int"], [("int",)]),
        (CONTENTS["ArrayList"].changes, "remove", ["Integer"], [("Object",)]),
        (CONTENTS["ArrayList"].changes, "remove", ["Foo"], [("Object",)]),
        (CONTENTS["HashMap"].changes, "remove", ["String", "String"], []),
        (CONTENTS["StringBuilder"].changes, "append", ["char[]", "int", "int"],
         [("CharSequence", "int", "int"), ("char[]", "int", "int")]),
        (CONTENTS["StringBuilder"].changes, "append", ["boolean"], [("boolean",)]),
    ],
)  # fmt: skip
def test_which_overload_a_call_means(
    table: Methods, name: str, kinds: list[str | None], expected: list[tuple[str, ...]]
) -> None:
    parameters = [
        tuple(parameter.type for parameter in method.parameters) for method in overloads(table, name, kinds)
    ]
    assert parameters == expected


def test_builders_have_the_same_methods() -> None:
    assert len({id(CONTENTS[name]) for name in BUILDERS}) == 1
