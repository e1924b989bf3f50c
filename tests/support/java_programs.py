"""Java programs that print what they do; every method of them is to be renamed."""

PROGRAMS = {
    "Loops": """\
import java.util.*;

public class Loops {
    static int field = 7;

    static int sum(int[] values) {
        int total = field;
        int field = 0;
        outer:
        for (int i = 0, n = values.length; i < n; i++) {
            for (int value : values) {
                if (value == 3) continue outer;
                if (value > 8) break outer;
                total += value * i;
                field++;
            }
        }
        return total * 100 + field + Loops.field;
    }

    static String letters(String text) {
        StringBuilder out = new StringBuilder();
        int i = text.length();
        while (i-- > 0) {
            char c = text.charAt(i);
            switch (c) {
                case 'a': int count = 1; out.append(count); break;
                case 'b': count = 2; out.append(count).append(c); break;
                default: out.append(c);
            }
        }
        do { int count = out.length(); out.append(count); } while (out.length() < 12);
        return out.toString();
    }

    static int[][] grid(int size) {
        int rows[] = new int[size], grid[][] = new int[size][];
        for (int row = 0; row < rows.length; row++) {
            grid[row] = new int[] {row, rows[row] + size};
        }
        return grid;
    }

    public static void main(String... args) {
        System.out.println(sum(new int[] {1, 2, 4}) + " " + sum(new int[] {1, 3, 9}) + " " + letters("abcab"));
        System.out.println(Arrays.deepToString(grid(3)));
    }
}
""",
    "Nested": """\
import java.util.*;
import java.util.function.*;

public class Nested {
    int x = 1;

    interface Base { int y = 50; int run(int z); }

    static class Holder { int count = 3; int get() { return count; } }

    int hidden(int y) {
        int x = this.x + y;
        Base base = new Base() {
            int w = x;
            public int run(int z) { int v = z + w; return v + y * 2; }
        };
        return base.run(x) + new Holder() { int get() { int count = super.count + x; return count; } }.get();
    }

    static int local(int start) {
        int step = start + 1;
        class Counter {
            int start = 10;
            int next(int by) { int result = start + by * step; start = result; return result; }
        }
        record Pair(int step, int start) {
            Pair { if (step > 100) { int limit = 100; step = limit; } }
            int sum() { int both = step + start; return both; }
        }
        enum Kind { ONE, TWO { int size() { int size = 2; return size; } }; int size() { return 1; } }
        Counter counter = new Counter();
        int total = counter.next(2) + counter.next(3);
        for (Kind kind : Kind.values()) total += kind.size() * switch (kind) { case ONE -> 10; case TWO -> 100; };
        return total + new Pair(500, start).sum();
    }

    static List<String> lambdas(List<String> words) {
        List<String> found = new ArrayList<>();
        Function<String, Supplier<String>> twice = word -> () -> word + word;
        BiFunction<Integer, Integer, Integer> add = (a, b) -> { int c = a + b; return c * c; };
        words.forEach(word -> found.add(twice.apply(word).get()));
        words.stream().map(String::length).reduce((left, right) -> add.apply(left, right))
            .ifPresent(size -> found.add("size" + size));
        Comparator<String> order = new Comparator<String>() {
            @Override public int compare(String left, String right) { return right.compareTo(left); }
        };
        found.sort(order);
        return found;
    }

    public static void main(String[] args) {
        System.out.println(new Nested().hidden(4) + " " + local(3) + " " + lambdas(List.of("a", "bc", "def")));
    }
}
""",
    "Failing": """\
import java.io.*;
import java.util.*;

public class Failing {
    static StringBuilder log = new StringBuilder();

    static class Door implements AutoCloseable {
        final String name;
        Door(String name) { this.name = name; log.append("+").append(name); }
        public void close() throws IOException {
            String name = "close " + this.name;
            log.append(name);
            if (this.name.equals("b")) throw new IOException(name);
        }
    }

    static String open(boolean fail) {
        String e = "none";
        try (Door a = new Door("a"); Door b = new Door(a.name + "b".substring(0, 1)); Door c = new Door("b")) {
            if (fail) throw new IllegalStateException(a.name + b.name + c.name);
        } catch (IllegalStateException | IOException problem) {
            e = problem.getMessage() + problem.getSuppressed().length;
        } finally {
            int length = log.length();
            log.append(length);
        }
        return e + log;
    }

    static int depth(int n) {
        try {
            int[] values = new int[n];
            return values[n - 1] + 10 / n;
        } catch (ArithmeticException e) {
            return -1;
        } catch (RuntimeException e) {
            String message = e.getMessage();
            throw new IllegalArgumentException(message, e);
        }
    }

    public static void main(String[] args) {
        System.out.println(open(false) + "|" + open(true) + "|" + depth(2));
        try { depth(0); } catch (IllegalArgumentException e) { System.out.println(e.getMessage()); }
    }
}
""",
    "Matching": """\
public class Matching {
    sealed interface Shape permits Circle, Box { }
    record Circle(double r) implements Shape { }
    record Box(int w, int h) implements Shape { }

    static String s = "field";

    static String tell(Object o) {
        if (!(o instanceof String s)) {
            if (o instanceof Integer n && n > 3) return "int " + n;
            if (o instanceof Circle c) { double r = c.r(); return "circle " + r; }
            else if (o instanceof Box c) return c.w() + "x" + c.h() + s;
            return s;
        }
        return s.trim();
    }

    static String loop(Object o) {
        int rounds = 0;
        while (!(o instanceof String s)) {
            o = rounds++ > 2 ? "end" + rounds : (Object) rounds;
        }
        return s + Matching.s + (o instanceof String t ? t.length() : s.length());
    }

    static int area(Shape shape) {
        boolean flat = !(shape instanceof Box b) || b.w() == 0 || b.h() == 0;
        return flat ? 0 : ((Box) shape).w();
    }

    static int day(int number) {
        return switch (number % 3) {
            case 0 -> { int result = number * 2; yield result; }
            case 1 -> { int result = number + 1; yield result; }
            default -> throw new IllegalStateException("n" + number);
        };
    }

    public static void main(String[] args) {
        for (Object o : new Object[] {" x ", 5, 2, new Circle(1.5), new Box(2, 3), null}) {
            System.out.println(tell(o));
        }
        System.out.println(loop(1) + area(new Box(2, 3)) + area(new Circle(1)) + day(3) + day(4));
        String text = \"""
            %s and "text"
            \""";
        System.out.printf(text, s);
    }
}
""",
}
"""Each a file of its own that needs Java 17."""
