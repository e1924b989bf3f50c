"""Small Java methods that are full of traps, each with what stands around it and how it is called."""

from typing import Final, NamedTuple


class Method(NamedTuple):
    """A method to be rewritten, with calls whose results and exceptions tell what it does."""

    text: str
    calls: tuple[str, ...]
    """Expressions that call it as `f`."""
    members: str = ""
    """Other members of its class."""


METHODS: Final = (
    Method(
        """\
static String f(String name, int n) {
    String text = "hi " + name + n;
    text += 1 + 2;
    text = text + 'c' + 1;
    return text + n + 1L + (n + 1) + "a" + "b";
}
""",
        ('f("x", 3)', "f(null, -1)"),
    ),
    Method(
        """\
static boolean f(String s, int n) {
    if (s != null && s.length() > 2) {
        return n == 1 || s.charAt(n) == 'a';
    }
    return s == null | n > 0;
}
""",
        ('f("xaz", 1)', "f(null, 0)", 'f("xaz", 9)', 'f("a", 0)', 'f("bab", 2)'),
    ),
    Method(
        """\
static int f(int n) {
    int total = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0)
            continue;
        if (i == 7) break;
        total = total * 2 + i;
    }
    outer:
    for (int i = 0, j = n; i < j; i++, j--) {
        for (int k = 0; k < 3; k++) {
            if (k == 1) continue outer;
            if (i == 4) break outer;
            total += i * k + j;
        }
    }
    return total;
}
""",
        ("f(0)", "f(5)", "f(20)"),
    ),
    Method(
        """\
static int f(int n) {
    int total = 0;
    for (int i = 0; i < n; i++) {
        try {
            if (i == 2) continue;
            total += 10 / (i - 3);
        } catch (ArithmeticException e) {
            total += 100;
        } finally {
            total += i;
        }
    }
    return total;
}
""",
        ("f(0)", "f(6)"),
    ),
    Method(
        """\
static int f(int n) {
    int found = 0;
    switch (n) {
        case 1:
            found += 1;
        case 2:
            found += 10;
            break;
        case 3: case 4:
            found = 5;
            break;
        default:
            found = -1;
    }
    switch (n) {
        case 5:
            int inner = 3;
            found += inner;
            break;
        case -6:
            inner = 4;
            found *= inner;
            break;
    }
    return found;
}
""",
        tuple(f"f({n})" for n in (1, 2, 3, 4, 5, -6, 9)),
    ),
    Method(
        """\
static String f(char c, byte b) {
    String told = "";
    switch (c) {
        default:
            told = "other";
            break;
        case 'a':
        case 98:
            if (b > 3) {
                told = "ab";
            } else {
                told = "early";
            }
            break;
        case (char) 99:
            return "c";
        case LIMIT:
            throw new IllegalStateException("limit " + c);
    }
    switch (b) {
        case 1 -> told += 1;
        case 2, 3 -> {
            told = told + 2;
        }
        default -> throw new IllegalArgumentException(told);
    }
    return told;
}
""",
        tuple(f"f('{c}', (byte) {b})" for c, b in zip("abcdzab", (1, 2, 3, 4, 1, 5, 1), strict=True)),
        "static final char LIMIT = 'z';",
    ),
    Method(
        """\
static Object f(boolean flag, Integer boxed, int plain) {
    Object first = flag ? 1 : 2.5;
    Object second = flag ? plain : 'x';
    Integer third = flag ? boxed : Integer.valueOf(plain);
    Object fourth;
    if (flag) fourth = plain; else fourth = 2L;
    char fifth = flag ? 'a' : 'b';
    long sixth = flag ? 1 : plain;
    String seventh = flag ? null : "x" + fifth;
    byte eighth;
    if (flag) eighth = 1; else eighth = 2;
    return first + " " + second + third + fourth + fifth + sixth + seventh + eighth;
}
""",
        ("f(true, 4, 5)", "f(false, 4, 5)", "f(true, null, 5)"),
    ),
    Method(
        """\
static int f(int a, int b) {
    if (a > 0)
        if (b > 0)
            return 1;
        else
            return 2;
    else if (a < -5)
        return 3;
    if (a == 0) {
        if (b == 0)
            return 4;
    } else
        b = 9;
    if (b > 3) { if (a < 0) b++; } else b--;
    return b;
}
""",
        tuple(f"f({a}, {b})" for a in (-9, -2, 0, 3) for b in (-1, 0, 5)),
    ),
    Method(
        """\
static int f(Object o) {
    if (!(o instanceof String s)) {
        return -1;
    } else {
        if (s.isEmpty()) {
            return 0;
        }
    }
    if (o instanceof String t && t.length() > 2 && !t.startsWith("a")) {
        return t.length();
    }
    return o instanceof Integer || s.length() > 1 ? 7 : 8;
}
""",
        ("f(1)", 'f("")', 'f("xyz")', 'f("abc")', 'f("x")', "f(null)"),
    ),
    Method(
        """\
static int f(Object o, int n) {
    if (!(o instanceof Integer i)) return n;
    n += i;
    while (!(o instanceof Long l)) {
        o = n > 3 ? (Object) 4L : n;
        n++;
        if (n > 9) return n;
    }
    return (int) (n + l);
}
""",
        ("f(1, 0)", 'f("a", 3)', "f(9, 9)"),
    ),
    Method(
        """\
static double f(double a, double b) {
    double low = a < b ? a : b;
    boolean odd = !(a < b) && !(a >= b);
    if (a == b || odd) {
        low += 1;
    }
    if (!(a <= b)) low *= 2; else low /= 2;
    return odd ? -0.0 : low + a * b - b;
}
""",
        ("f(1, 2)", "f(2, 1)", "f(Double.NaN, 1)", "f(-0.0, 0.0)", "f(1, 1)"),
    ),
    Method(
        """\
static int f(byte b, short s, char c, int i, long l, float g) {
    b += 200;
    b++;
    s -= 70000;
    c += 1;
    c++;
    i += 2.7;
    i -= l;
    l += i;
    l *= 3;
    g += 1;
    g++;
    i += c;
    i <<= l;
    i >>>= 1;
    l = l + i;
    i = i - b;
    i ^= 5;
    return b + s + c + i + (int) l + (int) g;
}
""",
        (
            "f((byte) 1, (short) 2, 'a', 4, 5L, 6f)",
            "f((byte) -1, (short) -2, 'z', 1 << 30, 1L << 40, 1e10f)",
        ),
    ),
    Method(
        """\
static int f(int[] values, int at) {
    int i = at;
    values[i++] += i * 2;
    values[i] = i++ + values[i];
    int x = next() - next() * 2;
    int y = next() + i;
    boolean z = next() < i & i > next();
    i = i++ + i;
    return x + y * 10 + (z ? 1000 : 0) + values[0] + values[1] + i;
}
""",
        ("f(new int[] {1, 2, 3, 4}, 0)", "f(new int[] {1}, 0)", "f(null, 0)"),
        "static int count; static int next() { return ++count; }",
    ),
    Method(
        """\
static int f(Integer a, Integer b, int n) {
    if (a == b) n++;
    if (a != null && n > a) n += 10;
    int c = n;
    if (c < side(a)) c--;
    if (b > side(n)) c = c + b;
    return c * n;
}
""",
        ("f(1, 1, 3)", "f(1000, 1000, 3)", "f(null, 3, 1)", "f(2, null, 5)"),
        "static int side(Integer v) { System.out.print(v); return v; }",
    ),
    Method(
        """\
static String f(int n) {
    final int size = 3;
    final String prefix = "a";
    final String same = prefix + "b";
    final int varying = n;
    byte small = size;
    switch (n) {
        case size: return "size" + (same == "ab") + small;
        default: break;
    }
    String other = "a";
    String sum = other + "b";
    int[] array = {1, 2, size};
    final int[] kept = array;
    return (sum == "ab") + sum + varying + kept.length + array[2];
}
""",
        ("f(3)", "f(4)"),
    ),
    Method(
        """\
static int f(int n) {
    int a = 1, b = a + 1, c[] = {a, b};
    int d;
    d = n;
    int e;
    e = d;
    int g = 5;
    int h = g;
    Runnable run = () -> System.out.print(h + d + c[0]);
    run.run();
    var i = n * 2;
    var text = "x" + i;
    long wide = 5;
    String s = "y";
    final StringBuilder out = new StringBuilder();
    for (final int v : c) out.append(v).append(text);
    return out.append(s).append(wide).length() + a + b + e + g;
}
""",
        ("f(1)", "f(-7)"),
    ),
    Method(
        """\
static int f(int n) {
    int i = 0;
    while (i < n) {
        i++;
        if (i == 3) continue;
        if (i > 8) break;
        n--;
    }
    do {
        n += 2;
        if (n % 5 == 0) continue;
        i++;
    } while (n < 20 && i < 30);
    do i++; while (i < 4);
    do {
        int i2 = i;
        i = i2 + 3;
    } while (i < 40);
    while (true) {
        if (i-- < n) break;
    }
    for (;;) { n++; if (n > 50) return i * n; }
}
""",
        ("f(0)", "f(9)", "f(30)"),
    ),
    Method(
        """\
static int f(int[] first, int... rest) {
    int[] values = first;
    int sum = 0;
    for (int v : values) {
        if (v < 0) continue;
        values = rest;
        sum = sum * 3 + v;
        if (sum > 1000) break;
    }
    for (long w : first) sum += w;
    for (final Integer x : new int[] {1, 2}) sum += x;
    label:
    for (int v : rest) { for (int u : first) { if (u == v) continue label; sum--; } }
    return sum;
}
""",
        ("f(new int[] {1, -2, 3}, 3, 4)", "f(new int[0])", "f(null)"),
    ),
    Method(
        """\
static String f(int n) {
    StringBuilder out = new StringBuilder();
    String text = "" + n;
    char[] letters = {'a', 'b'};
    Object o = out;
    String one = n + ":" + text + 'c' + 1.5f + true;
    out.append(one);
    String two = "o" + o + (n + 1) + null;
    char c = 'q';
    String three = 'a' + c + "x" + c + 'b' + (byte) n;
    String four = "" + c;
    String five = c + "";
    out.append(letters).append(two).append(three).append(four).append(five);
    return out.toString() + n + "\\1" + "2" + "\\12" + "3" + "é\\t\\"" + "z";
}
""",
        ("f(1)", "f(300)"),
    ),
    Method(
        """\
static int f(int n) {
    boolean on = true;
    boolean off = false;
    while (on) {
        n = n * 2;
        on = n < 100 && n != 0;
    }
    if (off || !on && n > 5) n++;
    if (true) n--;
    for (; false != on; ) { n = 0; }
    return !!(n > 3) ? n : -n;
}
""",
        ("f(0)", "f(7)", "f(-3)"),
    ),
    Method(
        """\
void f(int n) {
    this.n = n;
    if (n > 3) {
        this.n = n * 2;
        return;
    } else if (n < 0) {
        this.n = n > -5 ? 1 : 2;
    }
    for (int n2 = 0; n2 < 2; n2++) this.n += n2;
    k++;
    k += this.n;
    j = j + n;
}
""",
        ("run(1)", "run(5)", "run(-1)", "run(-9)"),
        "int n; int j; byte k; { k = 3; } "
        'static String run(int n) { CLASS it = new CLASS(); it.f(n); return it.n + " " + it.k + it.j; }',
    ),
    Method(
        """\
static int f(int n) {
    int k = 0;
    for (int i = 0; i < n; i += step) {
        int step = 1;
        k += step + i;
        if (k > 50) break;
    }
    return k;
}
""",
        ("f(3)", "f(12)"),
        "static int step = 2;",
    ),
    Method(
        """\
static int f(int n) {
    if (n > 3) {
        return 1;
    } else {
        int size = 5;
        n += size;
    }
    size++;
    return size + n;
}
""",
        ("f(3)", "f(4)"),
        "static int size = 70;",
    ),
    Method(
        """\
static int f(int n) {
    int x = n;
    java.util.function.IntSupplier s = () -> {
        if (x > 2) {
            return 4;
        }
        return x > 0 ? 1 : 2;
    };
    java.util.function.IntUnaryOperator u = (int v) -> v < x ? v : x;
    Runnable r = new Runnable() {
        int x = 9;
        @Override public void run() {
            int y = x;
            y++;
            if (y > 3) {
                System.out.print(y + this.x);
                return;
            }
            System.out.print(x);
        }
    };
    r.run();
    return s.getAsInt() * 10 + u.applyAsInt(3);
}
""",
        ("f(3)", "f(1)", "f(-1)"),
    ),
    Method(
        """\
static int f(int n) {
    try {
        if (n == 0) throw new IllegalStateException("n" + n);
        synchronized (LOCK) {
            for (int i = 0; i < n; i++) { if (i == 1) continue; n--; }
        }
        return 10 / (n - 2);
    } catch (IllegalStateException | ArithmeticException e) {
        return e.getMessage().length();
    } finally {
        System.out.print("f" + n);
    }
}
""",
        ("f(0)", "f(1)", "f(3)", "f(4)", "f(9)"),
        "static final Object LOCK = new Object();",
    ),
    Method(
        """\
static int f(int n) {
    class Counter {
        int start = 3;
        int next(int by) {
            for (int i = 0; i < by; i++) start += i;
            if (start > 5) { return start; } else { start = 1; }
            return start + by;
        }
    }
    Counter c = new Counter();
    int a = c.next(n), b = c.next(2);
    int d = a - b;
    return d * 100 + c.start;
}
""",
        ("f(0)", "f(2)", "f(5)"),
    ),
    Method(
        """\
static long f(long a, int b) {
    long x = a + b * 2L - 1_000 + 0xFFL;
    int m = -2147483648;
    int k = 0x7fffffff;
    long big = -9223372036854775808L;
    int oct = 017;
    char c = 'a';
    int shift = b << 3 | b >> 1 & 7 ^ 2;
    x = x * a;
    return x + m + k + big + oct + c + shift - (a - (b - 1)) - (-b) + +b;
}
""",
        ("f(1, 2)", "f(-5, 1 << 20)"),
    ),
    Method(
        """\
static boolean f(int a, int b, int c) {
    boolean one = a < b == b < c;
    boolean two = a + b < c * 2 && b - c >= a || a == b + c;
    boolean three = !(a > b || b > c && a != c);
    boolean four = !(!(one && two) || three) ^ a > c;
    if (!one && !two || (three || four) && !(a == 1)) return !four;
    return one & two | three;
}
""",
        tuple(f"f({a}, {b}, {c})" for a in (0, 1, 5) for b in (1, 2) for c in (-1, 2)),
    ),
    Method(
        """\
static int f(int day) {
    int length = switch (day) {
        case 1, 7 -> 6;
        case 2 -> { int t = day; yield t > 1 ? 3 : 4; }
        default -> day > 5 ? 5 : 1;
    };
    String name = "d" + day;
    switch (name) {
        case "d1": length += 1; break;
        case "d" + "2": length += 2; break;
        default: length--;
    }
    return length;
}
""",
        tuple(f"f({n})" for n in (1, 2, 3, 6, 7)),
    ),
    Method(
        """\
static int f(String s) {
    switch (s) {
        case "a":
            return 1;
        case "b":
            return 2;
        default:
            return 3;
    }
}
""",
        ('f("a")', 'f("c")', "f(null)"),
    ),
    Method(
        """\
static int f(Kind kind) {
    switch (kind) {
        case ONE:
            return 1;
        default:
            return 2;
    }
}
""",
        ("f(Kind.ONE)", "f(Kind.TWO)", "f(null)"),
        "enum Kind { ONE, TWO }",
    ),
    Method(
        """\
static int f(int n) {
    for (int i = 0; i < n; i++) {
        switch (i) {
            case 2:
                continue;
            case 4:
                break;
            case 6:
                if (n > 7) break;
                return 60;
            default:
                n += i % 2;
        }
        if (n > 30) return n + i;
    }
    return n;
}
""",
        ("f(3)", "f(7)", "f(20)"),
    ),
    Method(
        """\
static int f(int n) {
    // The first comment.
    int a = n; // trailing
    /* block */ int b = /* inner */ a + /* other */ 1;
    if (a > b /* never */) { // note
        a = b;
    } /* gap */ else { // other
        b = a;
        // last
    }

    //noinspection unused
    int url = "http://x".length(); /* two
        lines */
    return a * b + url
        // before the end
        ;
}
""",
        ("f(1)", "f(9)"),
    ),
    Method(
        """\
static String f(int n) {
    if (n > 0) {
        String block = \"""
            one
              two \\
            three "quoted"
            \""";
        if (n > 1) {
            return block + n;
        } else {
            for (int i = 0; i < 2; i++) {
                block = block + \"""
                    x
                    \""";
            }
        }
        return block;
    }
    return "none";
}
""",
        ("f(0)", "f(1)", "f(2)"),
    ),
    Method(
        """\
static int f(int n){if(n>3){n--;}else{n++;}for(int i=0;i<n;i++){n-=i;}do{n+=2;}while(n<5);return(n>7)?n:n*(n+1);}
""",
        ("f(0)", "f(4)", "f(40)"),
    ),
    Method(
        """\
static boolean f(Object a, Object b, String s) {
    if (a == null) return b == null;
    if (null != s && a == s) { return true; }
    boolean same = a.equals(b);
    if (same == (s == null)) return a.hashCode() > 3 && 4 <= b.hashCode();
    return s.length() == 2 || (a == b) != same;
}
""",
        ("f(null, null, null)", 'f("a", "a", null)', 'f(1, 2, "ab")', "f(1, 2, null)", 'f(1, 1, "a")'),
    ),
    Method(
        """\
static <T extends Comparable<T>> int f(java.util.List<T> items, T limit) {
    int found = 0;
    for (T item : items) {
        if (item == null) continue;
        int order = item.compareTo(limit);
        if (order > 0) found++; else if (order == 0) found += 10; else found -= 1;
    }
    java.util.Iterator<T> it = items.iterator();
    while (it.hasNext()) if (it.next() == limit) break;
    for (java.util.Iterator<T> again = items.iterator(); again.hasNext(); ) { if (again.next() == null) found *= 2; }
    return items.size() > 2 && !it.hasNext() ? found : -found;
}
""",
        (
            "f(java.util.List.of(1, 2, 3), 2)",
            'f(java.util.Arrays.asList("a", null, "c", "d"), "b")',
            "f(new java.util.ArrayList<Integer>(), 2)",
        ),
    ),
    Method(
        """\
static int f(int n) {
    int x;
    if (n > 2) x = 1; else x = n;
    final int y;
    if (n > 4) { y = x; } else { y = -x; }
    int z;
    if (n > 0 && (z = n * 2) > 3) { x += z; }
    Runnable r = () -> System.out.print(y);
    r.run();
    boolean ok;
    if ((ok = n > 3) || x > 1) x++;
    return ok ? x : y;
}
""",
        ("f(0)", "f(1)", "f(3)", "f(6)"),
    ),
    Method(
        """\
static int f(int a, int b) {
    return a > b ? a > 10 ? 1 : 2 : b > 10 ? 3 : (a == b) ? 4 : 5;
}
""",
        ("f(11, 2)", "f(3, 2)", "f(2, 11)", "f(2, 2)", "f(1, 2)"),
    ),
    Method(
        """\
static int f(int a, int b) {
    int r = a;
    if (a > b) { if (b > 0) { r = 2; } }
    if (a > b || b == 3) { if (a == 1 || b == 1) r += 4; }
    if (a < b && b < 9 && a != 2) r += 8;
    if (a < b && b < 9) for (int i = 0; i < 2; i++) if (i == a) r++;
    if ((a > 1 || b > 1) && (a ^ b) != 3) { r *= 2; }
    return r;
}
""",
        tuple(f"f({a}, {b})" for a in (0, 1, 2, 4) for b in (0, 1, 3, 9)),
    ),
    Method(
        """\
static int f(int n) throws Exception {
    if (n == 1) throw new Exception("one");
    else if (n == 2) return side(n);
    else { n = side(n + 1); }
    if (n > 100) { while (true) { if (side(n) > 0) return n; } }
    else return -n;
}
""",
        ("f(1)", "f(2)", "f(3)", "f(100)"),
        'static int side(int v) { System.out.print("s" + v); return v; }',
    ),
    Method(
        """\
static int f(int n) {
    int a = 1, b = 2;
    int c = 3;
    int d = c;
    String s = "x", t = s + d;
    String u = t;
    double e = 1, g = 2.0f;
    double h = e;
    long w;
    w = n;
    int[] p = {1}, q = new int[] {2};
    int r[] = {3};
    return a + b + c + d + u.length() + (int) (e + g + h + w) + p[0] + q[0] + r[0];
}
""",
        ("f(5)",),
    ),
    Method(
        """\
static int f(int x, long y, char c, boolean b, String s) {
    return g(x, 1) + g(1, x) + h(s, "k") + g((int) y, x + 0) + (b ? h("k", s) : c) + Math.max(x, 3) + h(s + x, "" + x);
}
""",
        ("f(2, 3L, 'a', true, \"s\")", "f(5, 3L, 'a', false, \"k\")"),
        "static int g(int a, int b) { return a * 10 + b; } static int g(long a, long b) { return -1; }\n"
        "static int h(String a, String b) { return a.compareTo(b); } static int h(Object a, Object b) { return 0; }",
    ),
    Method(
        """\
static float f(float a, int b, double c) {
    float x = a * b + 1;
    x *= 2;
    x = x + b;
    x += c;
    x -= b;
    double y = c;
    y += a;
    y = y * b;
    return (float) (x + y) / 2f + 1.5F - 1e2f;
}
""",
        ("f(1.5f, 3, 0.1)", "f(Float.NaN, 1, 1)", "f(1e38f, 100, -1e300)"),
    ),
    Method(
        """\
CLASS f(int n) {
    if (n > 0) total = n; else total = -n;
    total++;
    ++total;
    this.total += n;
    return n > 3 ? this : null;
}
""",
        ("String.valueOf(new CLASS().f(5) != null)", "new CLASS().f(-5) == null"),
        "int total;",
    ),
    Method(
        """\
static int f(java.util.Map<String, Integer> counts, String key) {
    Integer old = counts.get(key);
    counts.put(key, old == null ? 1 : old + 1);
    Integer again = old != null ? old : counts.get("missing");
    if (counts.size() > 1 && 2 < counts.size()) return counts.size();
    return again == null ? -1 : again;
}
""",
        (
            'f(new java.util.HashMap<>(), "a")',
            'f(new java.util.HashMap<>(java.util.Map.of("a", 3)), "a")',
            'f(new java.util.HashMap<>(java.util.Map.of("b", 3, "c", 4)), "a")',
        ),
    ),
    Method(
        """\
static int f(int n) {
    int sum = 0;
    int i = 5;
    for (i = 0; i < n; i++) sum += i;
    for (int a = 0, b = 10; a < b; a += 2, --b) { sum++; }
    for (; i > 0; i -= 2) { if (sum > 90) break; sum += 3; }
    for (int j = 0; ; j++) { if (j > n) break; sum -= j; }
    for (int k = 0; k < n; ) { k += 2; sum++; }
    for (int u = n; u-- > 0; ) sum ^= u;
    if (n > 3) for (int v = 0; v < n; v++) sum += v;
    else for (int v = n; v > 0; v--) sum -= v;
    return sum + i;
}
""",
        ("f(0)", "f(3)", "f(10)"),
    ),
    Method(
        """\
static int f(int n) {
    for (int i = 0; i < 5; i++) {
        if (i == n) return i * 10;
        else if (i > n) { break; }
        else continue;
    }
    for (int j = 0; j < n; j++) { return j + 1; }
    for (int k = n; k < 3; k++) while (true) { if (k++ > 1) return k; }
    return -1;
}
""",
        ("f(-3)", "f(2)", "f(7)", "f(0)"),
    ),
    Method(
        """\
static String f(Object o) {
    String told = o instanceof String s ? s.trim() : o instanceof Integer i && i > 2 ? "int" + i : "other";
    if (!(o instanceof String s) || s.isEmpty()) {
        return told + "!";
    }
    return s + told;
}
""",
        ('f(" a ")', "f(3)", "f(1)", 'f("")', "f(null)"),
    ),
    Method(
        """\
static void f(int[] a, int n) {
    if (n < 0) return;
    for (int i = 0; i < n; i++) {
        a[i] = a[i] + n;
        a[i]--;
    }
    int t = a[0];
    a[0] = a[1];
    a[1] = t;
    if (a[0] > a[1]) {
        a[2] += 5;
    } else {
        a[2] = a[2] > 3 ? a[0] : a[1];
    }
}
""",
        tuple(f"run({n})" for n in (-1, 0, 2, 3, 9)),
        "static String run(int n) { int[] a = {5, 2, 3}; f(a, n); return java.util.Arrays.toString(a); }",
    ),
    Method(
        """\
CLASS(int n) {
    this(n, "x");
    int a = n + 1;
    total = a > 3 ? a : n;
    if (n > 9) { total--; return; }
    total += 2;
}
""",
        ("new CLASS(1).told()", "new CLASS(7).told()", "new CLASS(10).told()"),
        "int total; final String name; CLASS(int n, String s) { name = s + n; }"
        " String told() { return name + total; }",
    ),
    Method(
        """\
static boolean f(int n, double d, float g, long l) {
    boolean a = n == d;
    boolean b = l != g;
    if (n * d > g + l) { a = !a; }
    if ((n & 3) == (l | 1)) b ^= a;
    b |= n > 2;
    b &= !a;
    return a == b ^ (d + n == n + d);
}
""",
        ("f(1, 1.0, 1f, 1L)", "f(5, 0.5, 16777217f, 16777217L)", "f(3, Double.NaN, 2f, 3L)"),
    ),
    Method(
        """\
static int f(int n, int d) {
    int a = n / d + n % 3;
    boolean b = n > 1 | 4 / d > 1;
    int c = d * (n / d);
    if (a == c & n / d == 2) a++;
    return b ? a + c : c - a;
}
""",
        ("f(4, 2)", "f(4, 0)", "f(-7, 3)", "f(0, 0)"),
    ),
    Method(
        """\
static int f(Integer n, int k) {
    int a = k * n;
    int b = k + n;
    boolean c = n < side(k);
    boolean d = side(k) > k;
    boolean e = k < side(n);
    n++;
    n += 2;
    return a + b + n + (c ? 1 : 0) + (d ? 2 : 0) + (e ? 4 : 0);
}
""",
        ("f(4, 2)", "f(null, 0)"),
        "static int side(int v) { System.out.print(v); return v + 1; }",
    ),
    Method(
        """\
static int f(String s) {
    int n = 0;
    for (char c : s.toCharArray()) {
        if (c == 'a' || c == 'b') n++;
        else if (c >= '0' && c <= '9') n += c - '0';
        else if (c == '\\'' || c == '\\n' || c == '\\\\') n += 100;
        char up = c;
        up++;
        up += 2;
        n = n + up;
    }
    return n;
}
""",
        ('f("ab")', 'f("a1\\n")', 'f("\'\\\\")', 'f("")'),
    ),
    Method(
        """\
static int f(int n) {
    int depth = 0;
    if (n > 0) {
        depth++;
        if (n > 1) {
            depth++;
            if (n > 2) {
                return depth * 10;
            }
            depth += 5;
        } else {
            return depth;
        }
    } else if (n == 0) {
        return 100;
    } else {
        if (n < -3) {
            return 7;
        } else if (n < -1) {
            depth = 8;
        }
    }
    return depth;
}
""",
        tuple(f"f({n})" for n in range(-5, 5)),
    ),
    Method(
        """\
static int f(int n) {
    final boolean debug = false;
    final boolean always = true;
    if (debug) { n = 9; }
    int k = 0;
    while (always) { if (k++ > n) break; }
    do { k++; } while (debug);
    for (; always; ) { k += 3; if (k > 20) return k; }
}
""",
        ("f(1)", "f(5)"),
    ),
    Method(
        """\
static int f(int n) {
    java.util.List<String> words = new java.util.ArrayList<>();
    java.util.ArrayList<String> same = new java.util.ArrayList<String>();
    StringBuilder out = new StringBuilder();
    Object any = new Object();
    Object text = "t";
    Integer boxed = 5;
    long wide = n;
    for (int i = 0; i < n; i++) { words.add("w" + i); same.add(words.get(i)); out.append(i); }
    boolean big = words.size() > 2;
    String first = big ? words.get(0) : "none";
    return first.length() + same.size() + out.length() + (any == text ? 1 : 0) + boxed + (int) wide;
}
""",
        ("f(0)", "f(4)"),
    ),
    Method(
        """\
static String f(Object o) {
    String told;
    if (o instanceof Integer size) {
        size = size + 1;
        told = "i" + size;
    } else {
        size = 3;
        told = "f" + size;
    }
    if (o instanceof Integer size) size = 8; else size = 9;
    return told + size;
}
""",
        ("f(1)", 'f("x")'),
        "static Integer size = 50;",
    ),
    Method(
        """\
static int f(int n) {
    int value = n;
    {
        int inner = value;
        value += inner;
    }
    ;
    int k = 0;
    label: {
        if (value > 5) break label;
        k = 3;
    }
    assert k >= 0 : "k" + k;
    int unused = value;
    return value * 2 + k;
}
""",
        ("f(1)", "f(5)"),
    ),
    Method(
        """\
static int f(int rows, int columns) {
    int[][] grid = new int[rows][columns];
    for (int[] row : grid) {
        for (int i = 0; i < row.length; i++) row[i] = i * rows;
    }
    int sum = 0;
    for (int r = 0; r < grid.length; r++)
        for (int c = 0; c < grid[r].length; c++)
            if (r == c) sum += grid[r][c];
            else if (r > c) sum -= 1;
    return sum;
}
""",
        ("f(2, 2)", "f(3, 1)", "f(0, 4)", "f(-1, 2)"),
    ),
    Method(
        """\
static String f(int n, char c, String given) {
    String told = "";
    final int kind;
    if (n == 1) kind = 3;
    else if (2 == n || n == -7) { kind = 4; told += "two"; }
    else kind = 5;
    for (int i = 0; i < 6; i++) {
        if (i == 0)
            continue;
        else if (i == 2) {
            int kept = i;
            while (true) { if (kept++ > 3) break; }
            told += kept;
        } else if (i == 4) {
            if (n == 1) { told += "!"; continue; }
        } else told += i;
        if (i == 3) { told += "three"; } else if (i == 5) break;
    }
    String text = given + c;
    if (text.equals("xa")) {
        told += "first";
    } else if ("yb".equals(text) || text.equals("Aab")) {
        return told + "second";
    } else if (text.equals("AaBB")) return told;
    else if (text.equals("BBBB")) { told += text; }
    if (given.equals("x")) told += 1; else if (given.equals("y")) told += 2;
    if (c == 'a') {
        told += kind;
    } else if (c == 98) {
        throw new IllegalStateException(told);
    } else if (c == '\\n') told += "line"; else { return told + c; }
    byte small = (byte) n;
    if (small == 1) small++; else if (small == 127) small--; else if (small == -128) small = 0;
    return told + small;
}
""",
        tuple(
            f"f({n}, {c}, {s})"
            for n, c, s in (
                (1, "'a'", '"x"'),
                (2, "'b'", '"y"'),
                (-7, "'B'", '"AaB"'),
                (127, "'B'", '"BBB"'),
                (128, "'\\n'", '""'),
                (3, "'c'", '"q"'),
                (0, "'a'", "null"),
                (1, "'z'", '"x"'),
            )
        ),
    ),
    Method(
        """\
static int f(String s, int n) {
    String word = s.trim();
    switch (word) {
        case "one":
            n += 1;
            break;
        case "two": case "deux": {
            n += 2;
            break;
        }
        default:
            n = -n;
    }
    String second = n > 2 ? "big" : "small";
    switch (second) {
        case "big" -> n *= 2;
        case "small" -> { int more = n; n += more; n++; }
    }
    switch (s) {
        case "one": return n;
        default: n--;
    }
    return n;
}
""",
        ('f(" one", 1)', 'f("one", 2)', 'f("two ", 5)', 'f("deux", -9)', 'f("", 3)', "f(null, 1)"),
    ),
    Method(
        """\
static String f(java.util.List<String> items, final int n) {
    StringBuilder told = new StringBuilder();
    java.util.Comparator<String> order = new java.util.Comparator<String>() {
        @Override
        public int compare(final String a, String b) {
            // longest first
            return a.length() == b.length() ? b.compareTo(a) : b.length() - a.length();
        }
    };
    java.util.Collections.sort(items, order);
    told.append(items);
    java.util.Collections.sort(items, new java.util.Comparator<String>() {
        public int compare(String a, String b) { return a.compareTo(b) * n; }
    });
    told.append(items);
    Runnable again = new Runnable() { int count = 0; public void run() { told.append(count++); } };
    Runnable own = new Runnable() { public void run() { told.append(this == again).append(toString().isEmpty()); } };
    Runnable hidden = new Runnable() { public void run() { int n = 5; told.append(n); } };
    Runnable calls = new Runnable() { @Override public void run() { told.append(size(items) + n); helper(told); } };
    Object other = new Runnable() { public void run() { told.append("other"); } };
    again.run(); again.run(); own.run(); hidden.run(); calls.run(); ((Runnable) other).run();
    java.util.function.Function<Integer, Object> wide = new java.util.function.Function<Integer, Object>() {
        public Integer apply(Integer value) { return value > 1 ? value : null; }
    };
    told.append(wide.apply(n)).append(maker(n).get().get(0).length).append(kind(new Runnable() {
        public void run() { told.append("!"); }
    }));
    new Thread(new Runnable() { public void run() { throw new IllegalStateException("never"); } });
    return told.toString();
}
""",
        (
            'f(new java.util.ArrayList<>(java.util.List.of("b", "ccc", "aa", "dd")), 1)',
            'f(new java.util.ArrayList<>(java.util.List.of("x", "y")), -1)',
            "f(new java.util.ArrayList<>(), 2)",
            "f(null, 1)",
        ),
        """\
static int size(java.util.List<String> items) { return items.size(); }
static void helper(StringBuilder told) { told.append("helped"); }
static java.util.function.Supplier<java.util.List<int[]>> maker(int n) {
    return () -> java.util.List.of(new int[n + 1], new int[2]);
}
static String kind(Runnable run) { run.run(); return "runnable"; }
static String kind(Object other) { return "object"; }
static <T extends java.util.concurrent.Callable<?>> String kind(T call) { return "callable"; }
""",
    ),
    Method(
        """\
static java.util.concurrent.Callable<String> f(String word, int n) throws Exception {
    java.util.function.UnaryOperator<String> twice = text -> text + text;
    java.util.function.BiFunction<String, Integer, Character> at = (String text, Integer place) -> text.charAt(place);
    java.util.function.IntPredicate odd = value -> {
        int half = value / 2;
        return half * 2 != value;
    };
    java.util.function.Consumer<StringBuilder> grow = target -> target.append(n);
    java.util.function.Predicate<String> empty;
    empty = String::isEmpty;
    empty = text -> empty(text) || odd.test(text.length());
    StringBuilder told = new StringBuilder();
    grow.accept(told);
    Object run = (Runnable) () -> told.append(twice.apply(word)).append(at.apply(word, n));
    ((Runnable) run).run();
    java.util.function.Supplier<java.util.function.Supplier<String>> nested = () -> () -> told + "nested";
    told.append(empty.test(word)).append(nested.get().get());
    java.util.function.Function<? super String, ? extends Object> loose = text -> text.length();
    told.append(loose.apply(word));
    if (n > 1) {
        return () -> {
            if (n > 2) throw new java.io.IOException(word);
            return told.toString();
        };
    }
    return () -> told.reverse().toString();
}
""",
        (
            'f("abc", 0).call()',
            'f("abcd", 2).call()',
            'f("abcde", 3).call()',
            'f("", 0).call()',
            'f("a", 1).call()',
        ),
        "static boolean empty(String text) { return text.isEmpty(); }",
    ),
)
"""Each needs Java 17; `CLASS` stands for the name of its class."""
