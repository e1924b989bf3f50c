package fuzz;

import java.util.*;

/** What every random program extends: fields that its methods use, and methods whose every call is seen. */
public abstract class Base {
    public static StringBuilder out = new StringBuilder();
    public static int total;
    public static String words = "w";

    public int f = 1;
    public int g = 2;
    public long wide = 3;
    public String t = "t";
    public int[] data = {1, 2, 3};
    public Integer box;
    public Base next;
    public List<Object> kept = new ArrayList<>();

    /** Runs one of the methods of the program. */
    public abstract Object call(int which, int a, int b, String s, int[] arr, Base other, Object o)
        throws Throwable;

    public static int log(String text) {
        out.append(text).append(';');
        if (out.length() > 20_000) throw new OutOfMemoryError("log");
        return text == null ? -1 : text.length();
    }

    public int act(String text, int x) {
        log(text + x);
        f += x & 3;
        if ((x & 7) == 6) throw new IllegalStateException(text + x);
        if (next != null) next.g++;
        return x ^ 1;
    }

    public static int count(String text, int x) {
        log(text + x);
        total += x & 5;
        if ((x & 7) == 5) throw new IllegalArgumentException(text + x);
        return x + 1;
    }

    /** Null for every third text. */
    public static String word(Object value) {
        int size = value instanceof String ? ((String) value).length() : 1;
        return size % 3 == 0 ? null : "w" + size;
    }

    public static Object any(int x) {
        switch (x & 7) {
            case 0: return null;
            case 1: return x;
            case 2: return "text" + x;
            case 3: return new Loud(x);
            case 4: return new Holder(x % 3 == 0 ? null : new Node(x), x);
            case 5: return Color.values()[x & 1];
            case 6: return (long) x;
            default: return new Circle(x);
        }
    }

    /** Eight keys of one hash, that of "k"; the ninth makes the map a tree and asks `compareTo`. */
    public static void crowd(Map<Object, Integer> map) {
        for (int i = 0; i < 8; i++) map.put(new Same(i), i);
    }

    public static void crowd(Set<Object> set) {
        for (int i = 0; i < 8; i++) set.add(new Same(i));
    }

    public static int kind(int x) { return log("int" + x); }
    public static int kind(long x) { return log("long" + x); }
    public static int kind(char x) { return log("char" + x); }
    public static int kind(double x) { return log("double" + x); }
    public static int kind(boolean x) { return log("boolean" + x); }
    public static int kind(Integer x) { return log("Integer" + x); }
    public static int kind(String x) { return log("String" + x); }
    public static int kind(Object x) { return log("Object" + show(x, 2)); }
    public static int kind(int... x) { return log("ints" + x.length); }

    public String toString() {
        log("text");
        return "P" + f;
    }

    /** A value as a text; nothing of the program runs for it. */
    static String show(Object value, int depth) {
        if (value == null || value instanceof String || value instanceof Number || value instanceof Character
                || value instanceof Boolean || value instanceof StringBuilder) {
            return value + (value instanceof Long ? "L" : value instanceof Character ? "'" : "");
        }
        if (depth == 0) return "..";
        if (value instanceof int[]) return Arrays.toString((int[]) value);
        if (value instanceof char[]) return Arrays.toString((char[]) value);
        if (value instanceof Collection || value instanceof Object[]) {
            Collection<?> all = value instanceof Collection ? (Collection<?>) value : Arrays.asList((Object[]) value);
            StringBuilder text = new StringBuilder("[");
            for (Object one : all) text.append(show(one, depth - 1)).append(' ');
            return text + "]";
        }
        if (value instanceof Map) {
            StringBuilder text = new StringBuilder("{");
            for (Map.Entry<?, ?> one : ((Map<?, ?>) value).entrySet())
                text.append(show(one.getKey(), depth - 1)).append('=').append(show(one.getValue(), depth - 1)).append(' ');
            return text + "}";
        }
        if (value instanceof Base) return ((Base) value).state();
        if (value instanceof Node) return "Node" + ((Node) value).v;
        if (value instanceof Throwable) return error((Throwable) value);
        return value.getClass().getSimpleName().replaceAll("\\d+$", "");
    }

    /** Java writes names of variables and of loaders into some messages; those are no behaviour. */
    static String error(Throwable error) {
        String name = error.getClass().getName();
        boolean written = error instanceof NullPointerException || error instanceof ClassCastException
            || error instanceof LinkageError || error instanceof VirtualMachineError;
        String more = "";
        for (Throwable one : error.getSuppressed()) more += "+" + error(one);
        Throwable cause = error.getCause();
        return name + (written ? "" : ":" + error.getMessage()) + more + (cause == null ? "" : "<" + error(cause));
    }

    /** What an exception says, as far as it does not depend on names of variables. */
    public static String said(Throwable error) { return error(error); }

    String state() {
        return f + "," + g + "," + wide + "," + t + "," + Arrays.toString(data) + "," + box + "," + show(kept, 1);
    }

    /** What one method does with each of the inputs: its result or exception, the log, and what it leaves. */
    public static String told(Class<?> program, int which) throws Exception {
        StringBuilder all = new StringBuilder();
        for (int input = 0; input < 5; input++) {
            out.setLength(0);
            total = 0;
            words = "w";
            String result;
            Base self = null, other = null;
            int[] arr = {4, 5, 6};
            try {
                self = (Base) program.getDeclaredConstructor().newInstance();
                Object value;
                switch (input) {
                    case 0:
                        value = self.call(which, 3, 1, "ab", arr, null, "sixsix");
                        break;
                    case 1:
                        arr = self.data;
                        value = self.call(which, -2, 0, null, arr, self, null);
                        break;
                    case 2:
                        self.next = other = (Base) program.getDeclaredConstructor().newInstance();
                        value = self.call(which, 14, 5, "", arr, other, new Holder(null, 2));
                        break;
                    case 3:
                        self.next = other = (Base) program.getDeclaredConstructor().newInstance();
                        other.data = self.data;
                        self.box = 200;
                        value = self.call(which, 7, 2, "k", arr, other, 200);
                        break;
                    default:
                        self.box = 1;
                        value = self.call(which, 0, 9, "abcabc", null, self, new Holder(new Node(1), 2));
                }
                result = show(value, 3);
            } catch (Throwable raised) {
                Throwable cause = raised instanceof java.lang.reflect.InvocationTargetException ? raised.getCause() : raised;
                result = error(cause);
            }
            all.append(result).append('|').append(out).append('|').append(total).append(words).append('|')
                .append(self == null ? "" : self.state()).append('|').append(other == null ? "" : other.state())
                .append('|').append(Arrays.toString(arr)).append('\n');
        }
        return all.toString();
    }
}
