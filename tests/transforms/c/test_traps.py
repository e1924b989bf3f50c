"""Ways to break C by an edit that looks right: each program is rewritten by every transform, compiled and run.

The numbers are those of a list of traps. What `f` prints must stay; an edit that is refused is right, too.
"""

from random import Random
from typing import Final, NamedTuple

import pytest

from codeaudit.transforms.c.analysis.scopes import TYPE_OR_VARIABLE, UNREAD_MACRO
from codeaudit.transforms.c.language import C
from codeaudit.transforms.c.parsing import (
    DIRECTIVE,
    GNU_OPERATOR,
    INNER,
    LABEL_VALUE,
    OLD_HEAD,
    SIGNED,
    SPLICED,
    places,
    read_unit,
)
from codeaudit.transforms.errors import NoFunctionError, SourceError, UnknownSyntaxError
from codeaudit.transforms.interface import Refused, Rewritten, is_surrounded
from codeaudit.transforms.registry import transform_for
from tests.support.c_running import NO_CODE, Versions, needs_gcc, outputs

PRESERVING: Final = [name for name, entry in C.transforms.items() if entry.kind == "preserving"]


class Trap(NamedTuple):
    """A function `f` with the file before it, and the statements that call it."""

    function: str
    calls: str
    prelude: str = ""


P: Final = 'printf("%d ", '
TRAPS: Final = {
    "0 sign behind a number that ends with E": Trap(
        "int f(int a) { int e = a+0x1E; e += 0xFE + 1; if (a+0xE > 0x2e - a) e++; return e*(0xE)-0x1e + 14; }",
        P + "f(3));",
    ),
    "1 macro captures a local": Trap(
        "int f(const char *p) { int sum = 0; int other = 1; DO(p); DO(p); return sum + other; }",
        P + 'f("ab"));',
        "#define DO(b) { sum += *(b)++; }\n",
    ),
    "2 text of an argument": Trap(
        "int f(int n) { int count = n; show(count == n && !(n < 0)); return count; }",
        P + "f(3));",
        "#define show(x) printf(#x)\n",
    ),
    "3 part of a name": Trap(
        "int f(int n) { int len = n; return GET(len) + len; }",
        P + "f(3));",
        "static int get_len(void) { return 7; }\nstatic int get_count(void) { return 8; }\n#define GET(x) get_##x()\n",
    ),
    "4 member as an argument": Trap(
        "int f(struct node *list) { int value = 1; struct node *x = OWNER(list, list); return value + (x == list); }",
        "struct node n; n.list = 0; " + P + "f(&n));",
        "struct node { int list; };\n#define OWNER(p, member) ((struct node *)((char *)(p) - (long)&((struct node *)0)->member))\n",
    ),
    "5 type as an argument": Trap(
        "int f(int n) { int item = n; { int size = (int)sizeof(NEW(item)); n += size > 0; } return n + item; }",
        P + "f(2));",
        "struct item { int a[9]; };\n#define NEW(t) (*(struct t *)0)\n",
    ),
    "5 types that are built in as arguments": Trap(
        "int f(int n, ...) { __builtin_va_list all; __builtin_va_start(all, n); int r = __builtin_va_arg(all, whole) + n; __builtin_va_end(all); "
        "if (__builtin_types_compatible_p(whole, pair)) r++; return r + (int)__builtin_offsetof(pair, y); }",
        P + "f(3, 4));",
        "typedef int whole;\ntypedef struct { int x, y; } pair;\n",
    ),
    "5 type as an argument of a macro of the library": Trap(
        "int f(int n, ...) { va_list all; va_start(all, n); int r = va_arg(all, whole) + n; va_end(all); return r; }",
        P + "f(3, 4));",
        "#include <stdarg.h>\ntypedef int whole;\n",
    ),
    "6 macro that jumps": Trap(
        "int f(int *p) { int a = 1; int b = 2; CHECK(p); b = *p; a = b + 1; return a; fail: return -a - b; }",
        "int n = 4; " + P + "f(0)); " + P + "f(&n));",
        "#define CHECK(p) if (!(p)) goto fail\n",
    ),
    "7 argument evaluated twice or never": Trap(
        "int f(int i, int j) { int n = MAX(i++, j); int m = 0; LOG(i++); m = i; if (MAX(++m, n) > 3) n++; return n * 10 + m; }",
        P + "f(5, 2)); " + P + "f(1, 2));",
        "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#define LOG(x)\n",
    ),
    "8 plain word that is a call": Trap(
        "int f(int n) { int a = 0; err = 0; a = n; step(); int b = err; err = 5; return a + b * 10 + err; }",
        P + "f(1));",
        "static int errs; static int *at(void) { return &errs; }\nstatic void step(void) { errs = 3; }\n#define err (*at())\n",
    ),
    "12 13 names of two branches are refused": Trap("int f(int n) { int m = n; return m; }", P + "f(1));"),
    "15 sizeof is not evaluated": Trap(
        "int f(int n) { char buf[10]; int *p = 0; n += (int)sizeof(buf) + (int)sizeof *p + (int)sizeof(n++); buf[0] = 1; "
        "return n + buf[0]; }",
        P + "f(1));",
    ),
    "16 places in arrays": Trap(
        "int f(int n) { int a[3] = { 1, 2, 3 }; int *end = &a[3]; int i = 1; return (int)(end - a) + (int)sizeof a[0] + a[i] + i[a] + n; }",
        P + "f(1));",
    ),
    "17 types of numbers": Trap(
        "int f(int n) { long a = -2147483648; int c = a < 4294967295; unsigned b = 0x80000000; return (n < 2147483648) + c + "
        "(-1 < 2147483647) * 10 + (b > 0xFFFF) + (-1 < 0xFFFFFFFF) * 100 + (-1 < 4294967295) * 1000 + (int)sizeof(2147483648); }",
        P + "f(-1));",
    ),
    "18 characters": Trap(
        "int f(int n) { char c = '\\xff'; unsigned char u = '\\xff'; return (c < 0) + u + 'a' + (int)sizeof('a') + n + ('\\0' == 0); }",
        P + "f(1));",
    ),
    "19 assignments with an operator": Trap(
        "int f(int n) { char c = 100; unsigned char u = 200; short s = 32000; int a[2] = { 1, 2 }; int *p = a; c += 100; u += 100; s += 900; "
        "*p++ += 1; u >>= 1; return c + u + s + a[0] + (int)(p - a) + n; }",
        P + "f(1));",
    ),
    "20 two names of one object": Trap(
        "int f(int *p, int *q) { union { int i; float f; } u; unsigned char *c = (unsigned char *)p; *p = 1; *q = 2; c[0] = 9; u.i = 1; u.f = 2; "
        "int a = *p; int b = u.i > 1; return a * 10 + b; }",
        "int n; " + P + "f(&n, &n));",
    ),
    "21 bit-fields": Trap(
        "int f(int n) { struct { unsigned a : 3; int b : 2; unsigned c; } s = { 0 }; s.a = n; s.b = n; s.a++; s.c = s.a + s.b; s.a += 3; "
        "return (int)s.c + s.a + s.b; }",
        P + "f(7));",
    ),
    "22 a call that does not return": Trap(
        "int f(int n) { int a = 0; int b = 1; leave(n); a = 10 / n; b = a + 1; return b; }",
        "if (!setjmp(back)) " + P + 'f(0)); else printf("left"); ' + P + "f(2));",
        "#include <setjmp.h>\nstatic jmp_buf back;\nstatic void leave(int n) { if (!n) longjmp(back, 1); }\n",
    ),
    "23 setjmp": Trap(
        "int f(int n) { volatile int a = 1; int b = n; if (setjmp(back)) { return a; } a = 2; a = 3; if (n) longjmp(back, 1); return b; }",
        P + "f(1)); " + P + "f(0));",
        "#include <setjmp.h>\nstatic jmp_buf back;\n",
    ),
    "24 a jump over a declaration": Trap(
        "int f(int n) { int a = 1; int b = 2; if (n) goto out; int c = 3; a = c; b = a + c; out: return a + b; }",
        P + "f(1)); " + P + "f(0));",
    ),
    "25 switch is one scope": Trap(
        "int f(int n) { int r = 0; switch (n) { case 0:; int a = 1; r = a; case 1: a = 2; r += a; break; default: r = 9; case 5: r++; } return r; }",
        P + "f(0)); " + P + "f(1)); " + P + "f(2)); " + P + "f(5));",
    ),
    "26 continue in a for": Trap(
        "int f(int n) { int s = 0; int k; for (int i = 0; i < n; i++) { if (i == 1) continue; for (k = 0; k < 2; k++) { if (k) continue; s++; } "
        "if (i == 4) break; switch (i) { case 2: continue; default: s += 10; } } do { s++; if (s & 1) continue; s++; } while (s < n); return s; }",
        P + "f(0)); " + P + "f(3)); " + P + "f(9)); " + P + "f(90));",
    ),
    "27 dangling else": Trap(
        "int f(int a, int b) { int r = 0; if (a) { if (b) r = 1; } else r = 2; if (a) if (b) r += 10; else r += 20; "
        "if (b) while (a--) if (a == 1) r += 5; else r++; return r; }",
        "for (int i = 0; i < 4; i++) " + P + "f(i / 2, i % 2));",
    ),
    "28 labels in what never runs": Trap(
        "int f(int n) { int r = 1; if (n == 1) goto in; if (0) { in: r = 5; } switch (n) { if (0) { case 2: r = 7; } default: r++; } return r; }",
        P + "f(0)); " + P + "f(1)); " + P + "f(2));",
    ),
    "29 30 adjacent strings": Trap(
        'int f(int n) { const char *s = "\\x41" "B" "\\1" "2"; const char *t = "ab%d\\n"; printf("%s", s); printf(t, n); show("a" "b"); return (int)strlen(s); }',
        P + "f(1));",
        "#define show(x) printf(#x)\n",
    ),
    "31 const and _Generic": Trap(
        "int f(int n) { int a = n; const int b = 1; return _Generic(&a, int *: 1, const int *: 2) + _Generic(&b, int *: 10, const int *: 20) + b; }",
        P + "f(1));",
    ),
    "32 order of evaluation": Trap(
        "int f(int n) { int a = 1; int b = 2; a = say(1) + say(2); b = say(3) * say(4); if (say(5) == say(6)) a++; return a + b + n; }",
        P + "f(1));",
        'static int say(int n) { printf("<%d>", n); return n; }\n',
    ),
    "33 floating point": Trap(
        "int f(int n) { double a = 1e20; double b = -1e20; double c = 1.0; float q = 0; double z = q / q; "
        "return (a + b + c == 1.0) + 2 * (a + (b + c) == 1.0) + 4 * (z < a) + 8 * !(z >= a) + 16 * (a * c > b) + (-7 / 2) + n; }",
        P + "f(1));",
    ),
    "34 short circuits and truth": Trap(
        "int f(int n) { int a = 0; if (!(n && ++a) || (a & n)) a += 10; a += !!n + (n && 2) + !n; int b = n & 6 && n; return a * 10 + b; }",
        P + "f(0)); " + P + "f(4));",
    ),
    "35 static local": Trap(
        "int f(int n) { static int count = 5; int a = n; count += a; { int count = 3; a += count; } return count + a; }",
        P + "f(1)); " + P + "f(1));",
    ),
    "37 statement expressions and __func__": Trap(
        "int f(int n) { int a = ({ int b = n; b++; b; }); return a + (int)sizeof(__func__) * 0; }",
        P + "f(1));",
    ),
    "38 comments": Trap(
        "int f(int n) { int a = n;/**/int b = 2; // one\n    a++; /* two\n    three */ b++;\n    return a/ /* four */ b; // five\n}",
        P + "f(9));",
    ),
    "40 designated initialisers": Trap(
        "int f(int n) { int x = 3; struct point p = { .x = n, .y = x }; int a[4] = { [1] = x, [2] = n }; struct point *q = &(struct point){ .x = x }; "
        "x = q->x + p.x; p.y++; return p.x + p.y + a[1] + a[2] + x; }",
        P + "f(1));",
        "struct point { int x, y; };\n",
    ),
    "41 lower-case macro reads a local": Trap(
        "int f(int n) { int cond = n; int other = 2; docond(); return cond + other; }",
        P + "f(0)); " + P + "f(1));",
        "#define docond() if (cond) return 99\n",
    ),
    "variable-length arrays": Trap(
        "int f(int n, int m[n]) { int len = n; int a[len]; len = 1; int (*p)[n] = &a; n = 7; a[0] = m[0]; return (int)(sizeof a / sizeof *a) + (int)sizeof *p + a[0] + len; }",
        "int m[3] = { 4 }; " + P + "f(3, m));",
    ),
    "tags, members, labels and prototypes": Trap(
        "int f(int x) { struct x { int x; } y = { x }; typedef int t; int g(int x, int y); int (*h)(int y) = g; enum { k = 2 }; t z = k; "
        "x: if (y.x++ < 3) goto x; return h(y.x) + sizeof(struct x) + z; }",
        P + "f(1));",
        "static int g(int x, int y);\n#define g own_g\nint g(int x, int y) { return x + 1; }\n",
    ),
    "shadowed names": Trap(
        "int f(int n) { int a = n; { int a = a = 2; n += a; { int n = a; a += n; } n += a; } for (int a = 0; a < 2; a++) { int n = a; a += n > 5; } return a + n; }",
        P + "f(1));",
    ),
    "macros of the file as operands": Trap(
        "int f(int n) { int a = n; int t = 3; int b = 4; SWAP(a, b); a += TWICE(b) + LIMIT; return a * 10 + b + t; }",
        P + "f(1));",
        "static int total = 5;\n#define LIMIT total\n#define TWICE(x) ((x) + (x))\n#define SWAP(a, b) do { int t = a; a = b; b = t; } while (0)\n",
    ),
    "assembler": Trap(
        'int f(int n) { int a = n; int b = 2; __asm__ volatile ("" : "+r"(a) : "r"(b)); b = a; a = 5; return a + b; }',
        P + "f(1));",
    ),
    "volatile": Trap(
        "int f(volatile int *p) { volatile int a = 1; int b = *p; a = *p; *p = 2; a += b; b += a; return a + b + *p; }",
        "int n = 3; " + P + "f(&n));",
    ),
    "attributes": Trap(
        "int f(int n) { int a __attribute__((unused)) = n; char b __attribute__((aligned(8))) = 2; return a + b; }",
        P + "f(1));",
    ),
    "arrays in structures": Trap(
        "int f(int n) {\n    struct { int a[2]; int b; } s = { { 1, 2 }, 3 }, t, u;\n    u = s;\n    s.a[0] = n;\n    t = s;\n    int *p = s.a;\n"
        "    p[1] = 9;\n    u = s;\n    s.b = 4;\n    t.b += s.b;\n    s = t;\n    return t.a[0] + u.a[1] * 10 + s.b * 100;\n}",
        P + "f(5));",
    ),
    "vectors": Trap(
        "int f(int n) {\n    vec v = { 1, 2 };\n    vec w;\n    w = v;\n    v[0] = n;\n    w = v;\n    v[1] = 7;\n    v = v + w;\n    return v[0] * 10 + v[1];\n}",
        P + "f(5));",
        "typedef int vec __attribute__((vector_size(8)));\n",
    ),
    "vectors that are compared": Trap(
        "int f(int n) {\n    typedef char own __attribute__((__vector_size__(4)));\n    own o = { n, 2 };\n    vec a = { n, 2 }, *p = &a;\n    int MADE m = { 0, n };\n"
        "    two b = a == pair.b, c = *at(p) < 3;\n    b = (b != 0) == ZERO;\n    o = o == 0;\n    m = m != 0;\n"
        "    if (n == 0) b = c;\n    return (b == c)[0] + b[1] * 3 + o[1] * 5 + m[1] * 7 + (at(p)[0] == pair.b)[1] * 11 + (n == 5) * 13;\n}",
        P + "f(5)); " + P + "f(0));",
        "typedef int vec __attribute__((aligned(8), vector_size(8)));\ntypedef vec two;\nstatic struct { two b; } pair = { { 5, 3 } };\n"
        "static vec *at(vec *p) { return p; }\n#define ZERO (pair.b == 0)\n#define MADE __attribute__((vector_size(8)))\n",
    ),
    "function with the name of an attribute": Trap(
        "int f(int n) { return vector_size(n) == 0 ? n != 0 : vector_size(3); }",
        P + "f(5));",
        "static int vector_size(int n) { return n - 5; }\n",
    ),
    "names in capitals": Trap("int f(int L) { int N = L; int MAX = N; return L + N + MAX; }", P + "f(1));"),
    "traps": Trap(
        "int f(int *p, int n) { int a = 1; int b = 2; if (!p) return a; a = *p; b = a / n; n = b; return n; }",
        "int n = 6; " + P + "f(0, 0)); " + P + "f(&n, 2));",
    ),
    "name that a macro pastes": Trap(
        "int f(int n) { int count_a = 3, count_b = n; COUNTER(a) += 1; count_b = count_a; COUNTER(b) += n; return count_a * 100 + count_b; }",
        P + "f(4));",
        "#define PASTE(a, b) a##b\n#define COUNTER(n) PASTE(count_, n)\n",
    ),
    "macro that a macro pastes": Trap(
        "int f(int n) { int total = n; int other = 1; CALL(bump); other += total; CALL(drop); return total * other; }",
        P + "f(4));",
        "#define PASTE(a, b) a##b\n#define DO_bump() (total += 5)\n#define DO_drop() (total -= 1)\n#define CALL(op) PASTE(DO_, op)()\n",
    ),
    "name of another file's variable that a macro pastes": Trap(
        "int f(int n) { int k = n; PASTE(temp_, 0)++; PASTE(v, 0) += k; PASTE(na, me)--; return k + 1; }",
        "temp_0 = 80, v0 = 7, name = 5; " + P + "f(4)); " + P + "temp_0 + v0 + name);",
        "#define PASTE(a, b) a##b\nstatic int temp_0 = 80, v0 = 7, v1 = 9, name = 5;\n",
    ),
    "macro without parentheses that pastes": Trap(
        "int f(int n) { int AB = n; int x = AB + 1; AB = 4; int y = V; return x * y; }",
        P + "f(2));",
        "#define A 1\n#define B 2\n#define V A##B\n",
    ),
    "operator behind an operand with a sign": Trap(
        "int f(int n) { int k = !n--; int m = n; int z = -(n)++; int w = ~n++ - !(n)--; return k + m * 10 + z * 100 + w * 1000 + n; }",
        P + "f(3)); " + P + "f(0));",
    ),
    "size of an array that counts": Trap(
        "int f(int n) { int k = 1; int s = (int)sizeof(int[n++]); k = n; void *v = (int (*)[n++])0; int m = n; return s + k * 10 + m * 100 + (v != 0); }",
        P + "f(3));",
    ),
    "jump in an expression": Trap(
        "int f(int n) { int m = 0; int k = ({ if (n > 1) goto out; 3; }); m = 7; k++; for (int i = 0; i < 3; i++) { k = ({ if (i) break; 2; }); m += 2; } "
        "out: return m * 10 + n; }",
        P + "f(3)); " + P + "f(0));",
    ),
    "functions for the end in brackets": Trap(
        "int f(int n) { [[gnu::cleanup(done)]] int a = 1; [[__gnu__::__cleanup__(done)]] int c = n; int b = 4; n = a; a = 9; return n + b + c; }",
        P + "f(2));",
        'static void done(int *k) { printf("c%d", *k); }\n',
    ),
    "function for the end of a variable": Trap(
        "int f(int n) { __attribute__((cleanup(done))) int a = 1; int b __attribute__((__cleanup__(done))) = 2; CLEAN int c = n; b = 4; n = a; a = 9; return n + b + c; }",
        P + "f(3));",
        'static void done(int *k) { printf("c%d", *k); }\n#define CLEAN __attribute__((cleanup(done)))\n',
    ),
    "type with the name of a later variable": Trap(
        "int f(int n) { T a = n; int b = (U)n; int c = (int)sizeof(V); int T = 2; int U = 3; int V = 4; n = 5; return a + b + c + T + U + V + n; }",
        P + "f(3));",
        "typedef short T, U, V;\n",
    ),
    "attribute as a statement": Trap(
        "int f(int n) { int m = 0; switch (n) { case 3: m = 2; n = 4; __attribute__((__fallthrough__)); case 4: m += 3; n = 7; fallthrough; case 5: m++; break; } return m * 10 + n; }",
        P + "f(3)); " + P + "f(4));",
        "#define fallthrough __attribute__((fallthrough))\n",
    ),
    "macro of a macro that is a block": Trap(
        "int f(int n) { int k = 1; if (n > 2) OUTER(k, n); if (n) BARE; k += SUM * 2 + ID(k + n) * 2; return k + n; }",
        P + "f(3)); " + P + "f(0));",
        "#define INNER(a, b) { a = b; shared = b; }\n#define OUTER(a, b) INNER(a, b)\n#define SET { shared++; }\n#define BARE SET\n"
        "#define PLUS 1 + shared\n#define SUM PLUS\n#define ID(a) a\nstatic int shared;\n",
    ),
    "steps of what is pointed to": Trap(
        "int f(int *p, int **q) { ++*p; --**q; (*p)++; ++(*q)[1]; ++*(p + 1); for (int i = 0; i < 3; i++, ++*p) --*q[0]; ++*p++; "
        "return *p + p[-1] * 10; }",
        "int n[3] = {1, 2, 3}, *q = n; " + P + "f(n, &q)); " + P + "n[0] + n[1] * 10 + (int)(q - n) * 1000);",
    ),
    "types made of statements": Trap(
        "int f(int n) { int k = n; int size = (int)sizeof(typeof(*({ k = 10; struct row { int x[n]; } r; &r; }))); "
        "return size + (int)_Alignof(typeof(*({ long m = k; &m; }))) + n * k; }",
        P + "f(3));",
    ),
    "types that a value decides": Trap(
        "int f(int n) { __auto_type a = n; __auto_type b = n * 2.5; const __auto_type c = 1; const __auto_type d = 2L; "
        "b += a; return (int)(b * 10) + c + (int)sizeof(d); }",
        P + "f(3));",
    ),
    "slashes before stars": Trap(
        "int f(int n, int *p) { int *q = p; int m = n / *p; m += n/(*q); m = m/p[0] + n/(*q + 1)/ *p; n /= *q; n = n/(*(p + 1)); "
        "return m/p[1] + n / *p - (n > 1 ? n/(*p) : m); } /* the end */",
        "int n[2] = {3, 2}; " + P + "f(700, n)); " + P + "f(1, n));",
    ),
}


def variants(name: str, function: str, file: str, seeds: range, language: str = "c") -> set[str]:
    """The texts that a transform makes of a function of a file."""
    transform = transform_for(name, language)
    if is_surrounded(transform):
        transform = transform.within(file)
    found: set[str] = set()
    for seed in seeds:
        try:
            moves = transform.propose(function, Random(seed))
        except UnknownSyntaxError:
            return set()
        if isinstance(moves, Refused):
            return set()
        results = [transform.apply(function, some) for some in (moves, moves[:1], moves[1:]) if some]
        found |= {one.source for one in results if isinstance(one, Rewritten)}
    return found - {function}


@needs_gcc
@pytest.mark.parametrize(
    ("part", "optimised"),
    [(5, "-O0"), *(pytest.param(1, one, marks=pytest.mark.slow) for one in ("-O0", "-O2"))],
    ids=["some", "all", "optimised"],
)
def test_the_traps_keep_their_meaning(part: int, optimised: str) -> None:
    made = [
        {
            text: transform
            for transform in PRESERVING[number % part :: part]
            for text in sorted(
                variants(
                    transform,
                    trap.function,
                    f"{trap.prelude}{trap.function}\n",
                    range(1 + (optimised == "-O2")),
                )
            )
        }
        for number, trap in enumerate(TRAPS.values())
    ]
    rows = [
        Versions([trap.function, *texts], trap.calls, trap.prelude)
        for trap, texts in zip(TRAPS.values(), made, strict=True)
    ]
    told = outputs(rows, optimised, "-fwrapv", "-fno-strict-aliasing")
    for name, texts, (before, *after) in zip(TRAPS, made, told, strict=True):
        assert before.strip(), name
        assert before != NO_CODE, name
        for (text, transform), found in zip(texts.items(), after, strict=True):
            assert found == before, f"{name}: {transform}\n{text}"


@pytest.mark.slow
def test_most_traps_are_renamed() -> None:
    renamed = [
        name
        for name, trap in TRAPS.items()
        if variants("rename-parameters", trap.function, f"{trap.prelude}{trap.function}\n", range(1))
    ]
    assert len(renamed) > 0.9 * len(TRAPS), set(TRAPS) - set(renamed)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("int f(a, b) int b; char a; { return a + b; }", OLD_HEAD),  # 39
        ("int f(int n) {\n#ifdef A\n    if (n) {\n#else\n    if (!n) {\n#endif\n    n++; } return n; }", None),  # 11
        ("int f(void) {\n#ifdef W\n    int n;\n#else\n    long n;\n#endif\n    return n = 1;\n}", DIRECTIVE),  # 12
        ("int f(char *p) {\n#define NEXT (*p++)\n    return NEXT;\n}", DIRECTIVE),  # 13
        ("int f(int a, int b) { a * b; return a; }", TYPE_OR_VARIABLE),  # 14
        ("int f(int a) { FOO(a) g(); return a; }", UNREAD_MACRO),  # 9
        ("int f(int a) { FOO(b) g(); return a; }", UNREAD_MACRO),
        ("int f(int x, int l) { for_each(x, l) { g(x); } return 0; }", None),  # 9
        ("int f(int n) { // a \\\n n++;\n return n; }", SPLICED),  # 38
        ("int f(int n) { // a ??/\n n++;\n return n; }", SPLICED),
        ("int f(int n) { int g(int m) { return m; } return g(n); }", INNER),
        ("int f(int n) { void *p = &&l; l: return p != 0; }", LABEL_VALUE),
        ("int f(int n) { __label__ l; if (n) goto l; n = 2; l: return n; }", LABEL_VALUE),
        ("int f(int a) { return 0x1E+a; }", SIGNED),
        ("int f(double a) { __real__ s = a; __imag s = 1; return 0; }", GNU_OPERATOR),
        ("int f(int a) { __typeof__(a) __b; return a; }", GNU_OPERATOR),
    ],
)  # fmt: skip
def test_what_is_not_read(source: str, reason: str | None) -> None:
    with pytest.raises(SourceError if reason is None else UnknownSyntaxError) as caught:
        transform_for("rename", "c").propose(source, Random(0))
    if reason is not None:
        assert str(caught.value) == reason


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize(
    "before", ["D(int)", "D(a)\nD(int, b)", "D(a) D(b)\nD(c)", "static D(a) D(b)", "int g(int) D(a)"]
)
@pytest.mark.parametrize(
    "type_",
    ["struct s", "union s", "typedef struct s", "static union", "const struct", "enum e", "typedef enum"],
)
def test_a_type_behind_macros_is_no_function(language: str, before: str, type_: str) -> None:
    text = f"{before}\n{type_} {{ {'A, B' if 'enum' in type_ else 'int a, *b; struct t c;'} }};\n"
    for function in places(text.encode(), language):
        with pytest.raises(SourceError):
            read_unit(text[function.start : function.end], language)


@pytest.mark.parametrize(
    "source",
    [
        "int f(void) { return 1; } int g(void) { return 2; }",
        "int n;",
        "int f(void);",
        "return 1;",
        "#include <a.h>\nint f(void) { return 1; }",
    ],
)
def test_a_text_that_is_not_one_function(source: str) -> None:
    with pytest.raises(NoFunctionError):
        read_unit(source)


@pytest.mark.parametrize(
    "source", ["int f(int a) { return a;", "int f(int a) return a; }", "int f(int a) { return \0; }", "@"]
)
def test_a_text_that_is_no_function(source: str) -> None:
    with pytest.raises(SourceError):
        read_unit(source)
