import java.io.*;
import java.lang.reflect.Method;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import javax.tools.*;

/**
 * Compiles and runs many small programs. It lives as long as its input.
 *
 * Arguments: a folder for the classes that the programs share, then the sources of these. A request on the
 * standard input is a number of programs; each is the name of its class, its text, and the count and the numbers of
 * the methods to run.
 * The answer has for each program the number of its outcomes and these: -1 and the compiler's error, or one text
 * for each method. All numbers have 4 bytes; a text is its length in bytes, then UTF-8.
 */
public class Judge {
    static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    static final long SECONDS = 10;
    static final String LATE = "no end";

    /** Keeps classes in memory. */
    static final class Memory extends ForwardingJavaFileManager<StandardJavaFileManager> {
        final Map<String, ByteArrayOutputStream> classes = new HashMap<>();

        Memory(StandardJavaFileManager files) { super(files); }

        @Override public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("made:///" + name.replace('.', '/') + kind.extension), kind) {
                @Override public OutputStream openOutputStream() {
                    ByteArrayOutputStream made = new ByteArrayOutputStream();
                    classes.put(name, made);
                    return made;
                }
            };
        }
    }

    /** Defines the classes of one program. */
    static final class Loader extends ClassLoader {
        final Map<String, ByteArrayOutputStream> classes;
        final Path shared;

        Loader(ClassLoader parent, Map<String, ByteArrayOutputStream> classes, Path shared) {
            super(parent);
            this.classes = classes;
            this.shared = shared;
        }

        /** Classes in `fuzz.fresh` are loaded anew for each program, so their initialisers run again. */
        @Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("fuzz.fresh.")) return super.loadClass(name, resolve);
            Class<?> found = findLoadedClass(name);
            if (found != null) return found;
            try {
                byte[] data = Files.readAllBytes(shared.resolve(name.replace('.', '/') + ".class"));
                return defineClass(name, data, 0, data.length);
            } catch (IOException error) {
                throw new ClassNotFoundException(name, error);
            }
        }

        @Override protected Class<?> findClass(String name) throws ClassNotFoundException {
            ByteArrayOutputStream made = classes.get(name);
            if (made == null) throw new ClassNotFoundException(name);
            byte[] data = made.toByteArray();
            return defineClass(name, data, 0, data.length);
        }
    }

    static final class Text extends SimpleJavaFileObject {
        final String text;

        Text(String name, String text) {
            super(URI.create("text:///" + name.replace('.', '/') + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override public CharSequence getCharContent(boolean ignored) { return text; }
    }

    public static void main(String[] args) throws Exception {
        Path shared = Path.of(args[0]);
        StandardJavaFileManager files = COMPILER.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        Iterable<? extends JavaFileObject> sources = files.getJavaFileObjects(Arrays.copyOfRange(args, 1, args.length));
        List<String> options = List.of("-proc:none", "-nowarn", "-XDuseUnsharedTable=true", "-cp", args[0]);
        List<String> making = new ArrayList<>(options);
        making.addAll(List.of("-d", args[0]));
        if (!COMPILER.getTask(null, files, null, making, null, sources).call()) System.exit(2);
        URLClassLoader parent = new URLClassLoader(new URL[] {shared.toUri().toURL()}, null);
        Method told = parent.loadClass("fuzz.Base").getMethod("told", Class.class, int.class);
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        DataOutputStream answer = new DataOutputStream(new BufferedOutputStream(System.out));
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        ExecutorService runner = runner();
        while (true) {
            int count;
            try { count = in.readInt(); } catch (EOFException ended) { System.exit(0); return; }
            Map<String, Text> texts = new LinkedHashMap<>();
            Map<String, int[]> methods = new HashMap<>();
            for (int i = 0; i < count; i++) {
                String name = text(in);
                texts.put(name, new Text(name, text(in)));
                int[] numbers = new int[in.readInt()];
                for (int place = 0; place < numbers.length; place++) numbers[place] = in.readInt();
                methods.put(name, numbers);
            }
            Map<String, String> wrong = new HashMap<>();
            Memory memory = compiled(files, options, texts, wrong);
            for (String name : texts.keySet()) {
                if (wrong.containsKey(name)) {
                    answer.writeInt(-1);
                    text(answer, wrong.get(name));
                    continue;
                }
                answer.writeInt(methods.get(name).length);
                for (int number : methods.get(name)) {
                    // A loader for each method: initialisers run again.
                    Future<String> future = runner.submit(
                        () -> (String) told.invoke(null, new Loader(parent, memory.classes, shared).loadClass(name), number));
                    String found;
                    try {
                        found = future.get(SECONDS, TimeUnit.SECONDS);
                    } catch (TimeoutException late) {
                        found = LATE;
                        runner = runner();
                    } catch (ExecutionException error) {
                        Throwable cause = error.getCause() instanceof java.lang.reflect.InvocationTargetException
                            ? error.getCause().getCause() : error.getCause();
                        found = "failed: " + cause.getClass();
                    }
                    text(answer, found);
                }
            }
            answer.flush();
        }
    }

    static ExecutorService runner() {
        return Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Compiles all of these that compile; the errors of the others, by name, go to `wrong`. */
    static Memory compiled(
            StandardJavaFileManager files, List<String> options, Map<String, Text> texts, Map<String, String> wrong) {
        while (true) {
            Memory memory = new Memory(files);
            DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
            List<Text> left = new ArrayList<>();
            texts.forEach((name, text) -> { if (!wrong.containsKey(name)) left.add(text); });
            if (left.isEmpty()) return memory;
            int before = wrong.size();
            boolean good = COMPILER.getTask(null, memory, found, options, null, left).call();
            for (Diagnostic<? extends JavaFileObject> one : found.getDiagnostics()) {
                if (one.getKind() != Diagnostic.Kind.ERROR) continue;
                for (Map.Entry<String, Text> text : texts.entrySet())
                    if (one.getSource() == null || text.getValue().toUri().equals(one.getSource().toUri()))
                        wrong.putIfAbsent(text.getKey(), "line " + one.getLineNumber() + ": " + one.getMessage(Locale.ROOT));
            }
            if (good) return memory;
            if (wrong.size() == before) texts.keySet().forEach(name -> wrong.putIfAbsent(name, "not compiled"));
        }
    }

    static String text(DataInputStream in) throws IOException {
        byte[] data = new byte[in.readInt()];
        in.readFully(data);
        return new String(data, StandardCharsets.UTF_8);
    }

    static void text(DataOutputStream out, String text) throws IOException {
        byte[] data = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(data.length);
        out.write(data);
    }
}
