"""Random Java programs: classes whose methods mix what may be reordered or rewritten with what must not be.

A program is one file. Its class extends `fuzz.Base` (`tests/support/java/fuzz`), whose fields and methods it
uses. Every method of it that is to be rewritten has the same parameters and is run alone, see `Base.told`. Loops
end, because nothing else changes their counters.

The grammar is a set of rules, each a list of templates. In a template `$c` stands for a text of the rule `c`,
`$list` for a known variable of the kind `list`, and `$A` for a fresh name, the same in the whole template.
`$A:list` also makes it a known variable behind the template, `$A+counter` only inside of it. A template that asks
for a variable of which none is known is not drawn.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from tests.support.java_judge import PATTERNS

PARAMETERS: Final = "int a, int b, String s, int[] arr, Base other, Object o"
ARGUMENTS: Final = "a, b, s, arr, other, o"
METHODS: Final = 8
"""How many methods of a program are run."""

_KINDS: Final = frozenset(
    {"int", "fixed", "counter", "long", "char", "small", "double", "bool", "text", "box", "builder", "list",
     "objects", "set", "map", "array", "call", "object", "loud", "iterator"}
)  # fmt: skip
"""Kinds of variables. `fixed` ones are assigned once, so they can be captured; a `counter` is only read."""
_CAPTURED: Final = ("fixed", "builder", "list", "map")
_HOLE: Final = re.compile(r"\$([a-z]+|[A-Z])(?:([:+])([a-z]+))?")

_RULES: Final[Mapping[str, str]] = {
    "literal": r"""
        0 | 1 | 2 | 3 | 5 | 7 | 9 | 0x1F | 017 | 2147483647 | -1 | (-2147483647 - 1) | 65 | 1_000 | ('a' + 0) | 0b11
    """,
    "known": "$int | $int | $int | $fixed | $fixed | $counter | $literal | total",
    "known.object": "f | this.f | g | Main.this.g",
    # A number that raises nothing and calls nobody.
    "c": r"""
        ($known + $known) | ($known - $known) | ($known * $known) | ($known & $known) | ($known ^ $known)
        ($known << $known) | ($known >> $known) | ($known >>> $known) | $known | $known | $known
        ($known < $known ? $known : $known) | ($known == $known ? $known : $known) | Math.max($known, $known)
        (int) (byte) ($known) | (-$int) | ($known + 'b')
    """,
    "v": "$c | $c | $c | $n | $n",
    # A number that may raise and act.
    "n": r"""
        $c | $c | $c | ($n + $n) | ($n - $n) | ($n * $n) | ($n ^ $n) | ($n << $n) | ($n >>> $n) | ($n / $n)
        ($n % 5) | (~$n) | Math.min($n, $n) | Math.abs($n) | ($n > $n ? $n : $n) | (int) (byte) ($n + 0)
        (short) ($n + 0) | (char) ($n + 0) | (int) ($n * 1.5f) | count("e", $n) | $array[$n & 1] | $array[$n]
        arr.length | other.f | other.data.length | ((Base) other).g | $text.length() | $text.charAt($n & 1)
        $text.indexOf('b') | $text.indexOf("b", $n) | $text.compareTo("b") | Integer.parseInt("1" + $text)
        Integer.parseInt("2" + ($n & 7)) | new int[$n & 3].length | new int[] {$n, $n}[$d] | $text.hashCode()
        (int) (Integer) (Object) ($n) | (int) (Integer) $object | kind($n) | kind($long) | kind($char)
        kind($small) | kind($double) | kind($bool) | kind($box) | kind($text) | kind($object) | Lazy.value
        Own.start | Level.LOW.ordinal() | Level.valueOf("HIGH").cost() | Math.floorMod($n, $n)
        switch ($n) { case 1 -> $n; case 2, 3 -> c; default -> { int $A = $n; yield $A; } }
        switch ($text) { case "ab": yield $n; case "k", "": yield 4; default: yield $n; }
        ($object instanceof Integer $A && $A > 3 ? $A : $n) | Math.addExact($n, $n) | (int) ($n + 5L)
        Objects.requireNonNull($text, "null").length() | varied($n, $n) | varied() | varied($long, $n)
        Boolean.compare($t, $t) | Character.getNumericValue($char) | $int++ | --$int | ($int = $n)
        ($int += $n) | $call.getAsInt() | $builder.length() | $builder.charAt($n) | $builder.indexOf("1")
        $list.size() | $list.get($n & 1) | $list.indexOf($n) | $objects.size() | $objects.indexOf($e)
        $map.size() | $map.get("k") | $map.getOrDefault("x", (int) ($n)) | $iterator.next() | $loud.number
        $box + 1 | Integer.compare($n, $n) | (Integer.valueOf($n) + 0) | $list.get(0) + $list.get(1)
        ($t ? $n : $box) | ($t ? $char : $n) | Integer.bitCount($n) | Long.hashCode($w)
    """,
    "n.object": 'act("e", $n) | this.box | f++ | (g += 2) | (box = 3) | next.f + $n | data[$n & 1] | (f = $n)',
    "n.newer": r"""
        $text.indexOf('b', $n, $n)
        switch ($object) { case null -> 9; case Integer $A when $A > 3 -> $n; case String $B -> $B.length(); default -> $n; }
        switch ($object) { case Pair(Object $A, Integer $B) -> $B; case null, default -> $n; }
    """,
    "w": "$v + 1L | 5000000000L | ((long) $c << 33) | $c * 3L | $long | $long | $c | ($long ^ $c)",
    "w.object": "wide",
    "t": r"""
        $c < $c | $c > $c | $c <= $c | $c >= $c | $c == $c | $c != $c | $v < $c | !($v > $c) | $v > 2 && $c > 1
        $v == $c || $c < 4 | $c > 2 ^ true | $text == null | $text != null && $text.isEmpty() | $text.equals($x)
        $object instanceof String | $object == null | "k".equals($object) | !($v > 1 && !($c > 2)) | $bool | !$bool
        ($v > 2) == ($c == 1) | $list.isEmpty() | $list.contains($c) | $set.contains($e) | $objects.contains($e)
        $map.containsKey($e) | $map.isEmpty() | $iterator.hasNext() | !!($c == 2) | $c > 1 == true | ($t ? $bool : $c > 3)
        $object instanceof Integer $A && $A > $c | (!($object instanceof String $A) || $A.isEmpty()) | $box == $c
    """,
    "x": r"""
        "x" + $c | $text | "y" + $text | $text + $v | $v + $text | "c" + 'd' + $c + 1 | 1 + 2 + $text + 1 + 2
        'a' + $c + $text | String.valueOf($v) | $text.trim() | null | words | word($text) | "p" + $e | "q" + $box
        "q" + $long + $char | "q" + $double | $text.concat("z") | $text.substring($c) | Integer.toString($v, 16)
        "" + $w | ($t ? $text : "n") | "a" + ("b" + $v) | String.valueOf($e) | "e" + ($c + $c) | $text + null
        "t\t\"q" + 1 | $builder.toString() | "f" + 1.5f + 2.0 + $c | "i" + $int++ + $int | "a" + "b" + $text
        "b" + $builder + $builder.append($c) | "b" + $builder.append('u') + $builder | "o" + $loud + words + $loud
        $text + $call.getAsInt() + $int | "l" + $small | ($t ? 'x' : $c) + $text | "" + $bool + $c
    """,
    "x.object": 't | this.t | "o" + box | "o" + f + g',
    "e": r"""
        $object | $object | null | $c | "k" | $text | other | new Loud($d) | any($c) | $loud | $loud | $box | arr
        new Same($d) | $list | ($t ? $c : $w) | ($t ? 'x' : $c) | (Object) $c | $char | $set | $x | new Node($c)
    """,
    "e.object": "this | box | kept | next",
    # A store that anybody may see afterwards, of a value that is there for certain.
    "store": 'total = $c; | total += $c; | words = "v" + $c; | total++; | Own.kept = $c;',
    "store.object": r"""
        f = $c; | f = $c; | this.g = $c; | this.f++; | wide = $c; | t = "t" + $c; | Main.this.f = $c; | box = $c; | g -= $c;
    """,
    "calmly": "$int = $c; | $int += $c; | $int++;",
    "simple": r"""
        other.f = $v; | count("s", $v); | $array[$c & 1] = $v; | arr[$v]++; | log($x); | Lazy.value = $v; | s = $x;
        if (s == null) throw new Exception("n" + $v); | o = $e; | System.arraycopy(arr, 0, arr, 1, $k); | kind($v);
        kind((Object) ($e)); | if ($t) $store | if ($t) throw new Node($v); | $array[$v & 1] += $v; | arr[0] <<= $v;
        if ($t) throw new IllegalStateException("x" + $v); | Own.start += $v; | Objects.requireNonNull($object);
        assert $t : $x; | $int = $v; | $int += $v; | $int++; | $int = $int * 2 + $v; | $int <<= $v; | $int += 1.7;
        $int -= $w; | $int = -$int; | $int = $v; | $int = $c; | $int %= 7; | --$int; | $int = $int + 1;
        $long += $v; | $long = $w; | $long >>>= 3; | $small += $v; | $small++; | $small *= 3; | $small >>= 1;
        $char++; | $char += $c; | kind($char); | $double /= $v; | $double += 0.1; | kind($double); | $bool = $t;
        $bool &= $t; | $bool = !$bool; | if ($bool) $store else $store | $box++; | $box = $c; | $box = null; | kind($box);
        $builder.append($c).append($text); | $builder.append('c'); | $builder.append($c); | $builder.setLength($c);
        $builder.append($e); | $builder.append($text, $c, 2); | $builder.insert(0, $c); | $builder.deleteCharAt($c);
        $builder.reverse(); | log($builder.toString()); | $list.add($c); | $list.add($c); | $list.add((int) ($v));
        $list.set($c & 1, 1); | $list.clear(); | $list.remove($c); | $list.remove((Object) $c); | $list.add($c & 1, 8);
        $list.remove(Integer.valueOf($c)); | Collections.sort($list); | $objects.add($e); | $objects.remove($e);
        $objects.add($objects); | $set.add($c); | $set.add($e); | $set.remove($e); | $set.add("k"); | crowd($set);
        $map.put("k", $c); | $map.put($e, 1); | crowd($map); | log("m" + $map.get("x")); | $map.putIfAbsent("k", 2);
        $map.remove($e); | $loud.close(); | log("r" + $call.getAsInt()); | log("n" + $iterator.next());
        if ($t) { $store } | if ($t) { $int = $c; } else { $int = $v; } | if ($t) $int = $c; else $int = $c;
        $int = $t ? $c : $c; | $text.length(); | $array[$int++] = $int;
        { $store } | ; | $int = ($int + 0); | $map.put($text, $c); | if ($t) { } else { $store }
    """,
    "simple.object": r"""
        act("s", $v); | box = $box; | g += $v; | synchronized (this) { f--; } | kept.add($e); | data[$v & 3] = $v;
        t = $x; | f = g++ + ++g; | t += $e; | next.g = $v; | box++; | kept.remove($e); | this.next = other;
    """,
    "leave": "if ($t) return $v; | if ($t) return $e; | if ($t) { $store return $x; }",
    "jump": "if ($t) continue; | if ($t) break; | if ($t) { $store break; } | if ($t) { $store continue; }",
    "made": r"""
        int $A:int = $v; | int $A:int = $n; | int $A:int = $c; | final int $A:fixed = $v; | final int $A:fixed = $t ? $v : $c; | int $A:fixed = $n;
        long $A:long = $w; | char $A:char = (char) ($c); | char $A:char = 'q'; | byte $A:small = 7; | short $A:small = 99;
        double $A:double = $v / 2.0; | boolean $A:bool = $t; | String $A:text = $x; | String $A:text = "z" + $c;
        Integer $A:box = null; | Integer $A:box = $c; | Integer $A:box = (int) ($v); | var $A:int = $c + 0; | Loud $A:loud = new Loud($d);
        StringBuilder $A:builder = new StringBuilder(); | StringBuilder $A:builder = new StringBuilder("i");
        StringBuilder $A:builder = new StringBuilder($text); | StringBuilder $A:builder = new StringBuilder(16);
        var $A:builder = new StringBuilder("v" + $c); | List<Integer> $A:list = new ArrayList<>();
        List<Integer> $A:list = new LinkedList<>(); | ArrayList<Integer> $A:list = new ArrayList<>(16);
        List<Object> $A:objects = new ArrayList<>(); | List<Object> $A:objects = new LinkedList<>();
        Set<Object> $A:set = new HashSet<>(64); | HashSet<Object> $A:set = new LinkedHashSet<>();
        Map<Object, Integer> $A:map = new HashMap<>(64); | HashMap<Object, Integer> $A:map = new LinkedHashMap<>();
        int[] $A:array = {$v, $c, 3}; | int[] $A:array = arr; | int[] $A:array = new int[2]; | int[] $A:array = arr.clone();
        Object $A:object = $e; | Object $A:object = $e; | int $A:int = $v, $B:int = $c; | int $A:int;\n$A = $v;
        int $A:int;\nif ($t) { $A = $v; } else { $A = 2; } | final int $A:fixed;\n$store\n$A = $c;
        List<Integer> $A:list = $list; | List<Integer> $A:list = $t ? $list : $list; | StringBuilder $A:builder = $builder;
        StringBuilder $A:builder = $t ? $builder : $builder; | Map<Object, Integer> $A:map = $t ? $map : $map;
        List<Object> $A:objects = $objects; | int[] $A:array = $t ? $array : $array;
        Iterator<Integer> $A:iterator = $list.iterator();
        Iterator<Integer> $A:iterator = $list.iterator();\nif ($A.hasNext()) log("first" + $A.next());
        class $B {\nint x = $fixed;\nint total = 3;\nint get() { total += x++;\nBase.total++;\nreturn total; }\n}\nIntSupplier $A:call = new $B()::get;
        IntSupplier $A:call = $function; | IntSupplier $A:call = $function; | IntSupplier $A:call = $function;
        Object $A:object = $t ? null : $object;\nif ($A == null) $guarded\nif ($A != null) $guarded\nif ($A != null && $t) $guarded
        Object $A:object = $t ? null : "g";\nif ($A != null) { $A = null; }\nif ($A == null) $guarded\nif (!($A == null)) $guarded
        int $A:int = $t ? 1 : $c;\nif ($A == 1) $guarded\nif ($A == 2) $guarded\nif ($A != 1) $guarded\nif ($A == 2) { $A = 1; $store }
        boolean $A:bool = $t;\nif ($A) $guarded\nif (!$A && $t) $guarded\nif (!($A)) { $A = $t; }\nif ($A) $guarded
        char $A:char = $t ? 'q' : 'r';\nif ($A == 'q') $guarded\nif ($A == 'r') $guarded\nif ($A != 'q') $guarded
    """,
    "guarded": '{ $store } | { $simple } | { $store } | { $store $simple } | log("g" + $c);',
    "guarded.leave": "return $v; | { return $v; } | throw new Node($v);",
    "made.object": r"""
        int[] $A:array = data; | final Base $A = this;\n$store\nlog("me" + $A.f);
    """,
    # What is kept: a lambda, a method reference or an anonymous class. It sees only what nothing assigns.
    "function": r"""
        () -> $fixed + total | () -> count("l", $fixed) | () -> total++ | () -> $c | words::length | new Own(2)::get
        Own::made | () -> $v
        () -> { int $A = $c;\ntotal = $fixed;\nint $B = $A + 1;\nreturn $B; } | $builder::length | $list::size
        () -> { $list.add($fixed);\nreturn $list.size(); } | () -> $builder.append($fixed).length()
        () -> { if ($t) { return $c; }\n$store\nreturn $v; }
        () -> { return $c; } | () -> { for (int $A+counter : new int[] {1, 2}) { $store }\nreturn 1; }
    """,
    "supplier": r"""
        new IntSupplier() { public int getAsInt() { int total = $fixed; return total + $c; } }
        new IntSupplier() { int kept = $fixed;\npublic int getAsInt() { kept += 2; total += kept; return kept; } }
        new IntSupplier() { public int getAsInt() { return $v; } }
        new IntSupplier() { @Override public int getAsInt() { $store return $c; } }
    """,
    "function.object": r"() -> f + $fixed | () -> f++ | () -> this.f | () -> { int $A = $c;\nf = $A;\ng = $fixed;\nreturn f; }",
    # Small idioms in which the order matters for a reason that is easy to miss.
    "trap": r"""
        if ($object instanceof String $A) {\n$A = word($A);\nint $B = $A.length();\n$store\ntotal ^= $B;\n}
        if ($object instanceof String $A) {\n$statement\nint $B = $A.length();\n$store\n$A = word($A);\nlog("w" + $B);\n}
        if ($object instanceof Holder $A) {\nint $B = $A.node.v;\n$store\nlog("h" + $B);\n}
        if ($object instanceof Holder $A) {\n$A.size = $c;\nObject $B = $A.node.value;\n$store\nlog("h" + $B);\n}
        try {\n$simple\nif ($t) throw new Node($c);\n} catch (Node $A) {\n$A = $t ? $A : $A.self;\nObject $B = $A.value;\n$store\nlog("c" + $B);\n}
        try {\nif ($t) throw new Node($c);\n} catch (RuntimeException $A) {\n$A = $t ? $A : null;\nString $B = $A.getMessage();\n$store\nlog("c" + ($B == null));\n}
        try {\n$simple\n$store\n$simple\n} catch (RuntimeException $A) {\nThrowable $B = $A.getCause();\n$store\nlog("c" + $B);\n}
        try {\nint $A = $int;\n$int = $c;\n$store\n$simple\n} finally {\nlog("e" + $int);\n}
        StringBuilder $A = new StringBuilder("q");\n$A.append($text, $c & 3, 2);\n$store
        StringBuilder $A:builder = new StringBuilder("q");\n$A.append($text, 0, $c);\n$store\n$A.append($c);
        $builder.append($text, $c, $c);\n$store
        String $A = "abcb";\nint $B = $A.charAt($c & 7);\n$store\ntotal += $B;
        Map<Object, Integer> $A = new HashMap<>(64);\ncrowd($A);\n$A.put("k", $c);\n$store
        Map<Object, Integer> $A = new LinkedHashMap<>(64);\ncrowd($A);\n$statement\n$A.putIfAbsent("k", $c);\n$store\n$store
        HashSet<Object> $A = new HashSet<>(64);\ncrowd($A);\n$A.add("k");\n$store\nlog("s" + $A.size());
        Map<Object, Integer> $A = new HashMap<>(64);\ncrowd($A);\n$A.put("k", 1);\nfor (int $B = 0; $B < 60; $B++) {\n$A.put($B, $B);\n}\n$store
        List<Integer> $A = new ArrayList<>();\n$A.add($c);\n$store\nlog("a" + $A.size());
        ArrayList<Object> $A = new ArrayList<>();\n$A.add($c);\n$store\n$A.add($c);\n$store\nlog("a" + $A.size());
        int $A = Math.max($c, $c);\n$store\nlog("m" + $A);
        int $A = Math.abs($c);\n$store\n$int = Math.min($A, $c);\n$store
        StringBuilder $A = new StringBuilder();\n$A.append($c);\n$store\nlog($A.toString());
        Iterator<Integer> $A = new Loud($d).iterator();\nif ($A.hasNext()) log("i" + $A.next());\n$store
        for (Integer $A : new Loud(3)) {\n$store\n$calmly\nint $B = $A;\n$store\n}
        Object $A = $e;\nString $B = "o" + $A;\n$store\nlog($B);
        Color $A = $t ? null : Color.GREEN;\n$store\nswitch ($A) { case RED: $store break;\ncase GREEN: log("g" + $A.size()); default: $store }
        Late $A = null;\nint $B = $c;\nswitch ($A) { case ONE: break; default: break; }\n$store
        Late $A = null;\n$store\n$simple\nswitch ($A) { case ONE -> { $store } default -> { $store } }
        int $A = Level.LOW.cost();\n$store\ntotal += $A;
        Level $A = Level.of(2);\nString $B = words;\nswitch ($A) { case LOW: a++; break; default: Late $C = null; switch ($C) { case ONE: } }\nlog($B);
        Comparable<Object> $A = (Comparable<Object>) $object;\n$store\ntotal++;
        Object[] $A = new String[1];\n$A[0] = $e;\n$store
        PriorityQueue<Object> $A = new PriorityQueue<>();\n$A.add(new Loud(4));\n$A.add(new Loud($d));\n$store
        boolean $A = $object == (Object) ($e);\n$store\ntotal += $A ? 1 : 0;
        try (Loud $A = new Loud($d)) {\n$simple\n$store\n}
        try (Loud $A = new Loud($d); Loud $B = $t ? null : new Loud(7)) {\n$simple\n$store\n} catch (IllegalStateException $C) {\nlog("s" + $C.getSuppressed().length);\n$store\n}
        String $A = $x;\nlong $B = $A == null ? $c : $A.length();\n$store\nlog("l" + $B);
        int $A = new Own($c).get();\n$store\nlog("own" + $A);
        Integer $A = $box;\n$store\nint $B = $A;\n$store\nlog("b" + $B);
        Map<Object, Integer> $A = new HashMap<>();\n$A.put("k", $c);\n$store\nint $B = $A.get("k");\n$store\nlog("m" + $B);
        List<Integer> $A = new ArrayList<>();\n$A.add(null);\n$store\nint $B = $A.get(0);\n$store\nlog("u" + $B);
        long $A = $c;\n$A += $A << $c;\n$store\nkind($A);\nkind((int) $A);
        char $A = 'a';\n$A += $c;\n$store\nkind($A + 1);\nkind($A);\nkind($t ? $A : 0);
        var $A = $t ? 1 : 'c';\nkind($A);\nvar $B = (byte) 3;\nkind($B);
        Integer $A = 127, $B = 127;\nkind($t ? $A : $B);\nkind($A == $B);
        other.f = $c;\nint $A = (other.f) - $known;\n$store\nlog("p" + $A); | total = 2 * (other.f) - $known;\n$store | total += (other.f) + $known;\n$store
        total = 3 * ((other.f) - $known);\n$store | char $A = (char) $int++;\nint $B = $int;\n$store\nlog("c" + $A + $B); | int $A = -$int++;\nint $B = $int;\n$store\nlog("c" + $A + $B);
        total = $c;\nint $A = $t ? 5 : null;\n$store\nlog("u" + $A); | if (picked($t)) $store else $store | while (picked(total > 3)) {\ntotal = 0;\n$store\n}
        class $B {\nfinal int kept;\nfinal IntSupplier later;\n$B(int first) {\nthis.kept = first;\nthis.later = () -> kept + 1;\n}\n}\n$store\nlog("l" + new $B($c).later.getAsInt());
        String $A = "" + $c;\n$store\nlog("i" + ($A == "1")); | String $A = "t" + $text;\nString $B = $A;\n$store\nlog("i" + ($A == $B) + ($B == "tab"));
        kind($t ? 1 : 2.0);\ndouble $D = $t ? $c + 16777217 : 0.5f;\n$D = ($t ? $c + 16777217L : 0.5f);\n$store\nkind($D);\nkind($t ? (Integer) 1 : (Object) 2);\nkind($t ? $c : $long);
        int $A = $c;\nkind($A + 0L);\nkind($A);\n$A++;\nkind($A);
        final int $A = 3;\nbyte $B = $A;\nkind($B);\nswitch ($c) { case $A: $store break; default: log("o"); }
    """,
    "trap.leave": r"""
        try {\n$simple\nif ($t) return $v;\n} finally {\n$store\n$simple\nif ($t) return $v;\n}
        try {\nreturn $v;\n} catch (ArithmeticException $A) {\n$store\n} finally {\n$simple\n}
        if ($object instanceof Holder $A) {\n$store\nif ($A.node == null) return $c;\nObject $B = $A.node.value;\n$store\nlog("g" + $B);\n}
        if (!($object instanceof Holder $A)) {\nreturn $v;\n}\nint $B = $A.node.v;\n$store\nlog("g" + $B);
    """,
    "trap.newer": r"""
        if ($object instanceof Pair(Node $A, Integer $B)) {\nObject $C = $A.value;\n$store\nlog("r" + $C + $B);\n}
        Object $D = new Pair($t ? null : new Node($c), $c);\nif ($D instanceof Pair(Node $A, Integer $B)) {\nint $C = $A.v;\n$store\nlog("r" + $C);\n}
        Object $D = new Duo($t ? null : new Node($c), $c);\nif ($D instanceof Duo(Node $A, var $B)) {\nObject $C = $A.value;\n$store\nlog("r" + $C);\n}
        Duo $D = new Duo($t ? null : new Node($c), null);\nif ($D instanceof Duo(var $A, Integer $B)) {\n$store\nint $C = $B;\n$store\nlog("r" + $C);\n}
        int $A = "abcb".indexOf('b', $c, $c);\n$store\ntotal += $A;
        record $B(int left) {\n$B(int left) {\nthrow new Node(left);\n}\n}\ntry {\nlog("r" + new $B($c).left());\n} catch (Node $A) {\nlog("n" + $A.v);\n$store\n}
        String $A = "abcb";\n$store\nint $B = $A.indexOf("b", $c, $c);\n$store\nlog("i" + $B);
        Shape $A = $t ? new Square($c) : new Dot();\nint $B = switch ($A) {\ncase Square(int $C) when $C > 3 -> $c;\ncase Square $D -> $D.side();\ncase Dot $E -> $c;\n};\n$store\nlog("s" + $B);
        switch ($object) {\ncase String $A when $A.length() > 1 -> { $store }\ncase Integer $A -> { $int = $A; }\ncase null -> $store\ndefault -> { $simple }\n}
    """,
    # What the transforms that apply least ask for.
    "rare": r"""
        String $A:text = "" + $c; | log("" + $c); | s = "" + $text; | log("" + $object + 1);
        if ($int == 1) {\n$store\n} else if ($int == 2) {\n$store\n} | if (a == 0) {\n$store\n} else if (a == 3) {\n$simple\n} else {\n$store\n}
        if (s.equals("ab")) {\n$store\n} else if (s.equals("k")) {\n$store\n} | if (b == 5) {\n$store\n} else if (b == 1) {\n$store\n}
        $store\n\n$calmly | $store\n\n\n$store | if ($t) {\n$store\n} else {\n\n$store\n}
        do {\na++;\n$store\n} while (a < 0 && a > -3); | int $A+counter = 2;\ndo {\n$simple\n} while ($A-- > 0); | int $A+counter = $k;\ndo $body while ($A-- > 0);
        Runnable $A = new Runnable() {\npublic void run() { total += $fixed; }\n};\n$store\n$A.run();
        IntSupplier $A:call = new IntSupplier() {\n@Override public int getAsInt() {\nreturn $fixed + total;\n}\n};
        Supplier<Integer> $A = new Supplier<Integer>() {\npublic Integer get() { return $fixed; }\n};\nkind($A.get());
        if ($t) {\n$store\n} else {\nif ($t) {\n$store\n} else {\n$simple\n}\n} | if ($t) {\n$store\n} else {\nif ($t) {\n$simple\n}\n}
        if ($t) {\nif ($t) {\n$store\n}\n} | if ($t) {\nif ($c > 1) {\n$simple\n}\n} | if ($t) if ($t) $store
        count(\n    "s",\n    $v); | total += Math.max($c,\n    $c); | log(varied($c,\n    $c) + "l"); | int[] $A:array = {\n    $c,\n    $c\n};
        if ($t) {\n$int = $c;\n} else {\n$int = $c;\n} | if ($t) $int = $c; else $int = $c; | if ($t) {\na = $c;\n} else {\na = $c;\n}
        int $A:int;\n$A = $v; | String $A:text;\n$A = $x; | long $A:long;\n$A = $w; | boolean $A:bool;\n$A = $t;
        int $A:int = 1, $B:int = $c; | int $A:int = 1;\nint $B:int = $c; | String $A:text = "p";\nString $B:text = "q" + $c;
        log("one" + "two" + $c); | String $A:text = "first" + "second"; | switch ($int) {\ncase 1:\n$store\nbreak;\ncase 2:\n$store\nbreak;\ndefault:\n$store\n}
        IntUnaryOperator $A = x$B -> x$B + $fixed;\nlog("u" + $A.applyAsInt($c)); | Runnable $A = () -> total += 5;\n$store\n$A.run();
        for (int $A+counter : arr) {\n$store\n} | for (int $A+counter : new int[] {1, 2}) $body | $int += 1; | a -= 1; | $int = $int + $c; | var $A:int = $c + 0;
    """,
    "rare.leave": r"""
        if ($t) {\nreturn $c;\n} else {\n$store\n} | if ($t) return "r" + $c; else $store | if ($t) {\nreturn $x;\n} else {\n$store\n$store\n}
    """,
    # Shapes that few transforms ask for, and that random statements rarely have.
    "shape": r"""
        $int += 1; | $int -= 1; | a -= 1; | String $A:text = "" + $c; | log("" + $c + $text); | s = "" + $object;
        log("one" + "two" + $c); | String $A:text = "first" + "second"; | s = "left " + "right " + $text;
        if ($t) $block else {\nif ($t) $block\n} | if ($t) {\n$store\n} else {\nif ($t) {\n$store\n} else {\n$simple\n}\n}
        if ($t) {\n$int = $c;\n} else {\n$int = $v;\n} | if ($t) $int = $c; else $int = $c; | if ($t) { $int = $n; } else { $int = $n; }
        if ($c > 1) {\na = $n;\n} else {\na = $c;\n} | boolean $A:bool;\nif ($t) {\n$A = true;\n} else {\n$A = false;\n}
        int $A:int = $v, $B:int = $c; | int $A:int = 1;\nint $B:int = $A + 2; | int $A:int = $c, $B:array[] = {1, 2};
        int $A:int;\n$A = $v; | String $A:text;\n$A = $x; | int $A:int;\nint $B:int;\n$A = $c;\n$B = $v;
        if ($t) {\nif ($t) {\n$store\n}\n} | if ($t) if ($t) $store | if ($t && $t) {\n$store\n} | if ($t && ($t)) $store
        int $A+counter = $k;\ndo {\n$lines\n} while ($A-- > 0); | for (int $A+counter : arr) $body | for (int $A+counter : $array) $body
        for (Integer $A+box : $list) $body | for (char $A+char : new char[] {'a', 'b'}) $body | for (var $A+counter : arr) {\n$store\n}
        switch ($int) {\ncase 1:\n$store\nbreak;\ncase 2:\n$simple\nbreak;\ndefault:\n$store\nbreak;\n}
        switch ($int) {\ncase 1: case 3:\n$lines\nbreak;\ncase 2:\n$lines\n} | switch (s) {\ncase "ab":\n$store\nbreak;\ncase "k":\n$simple\n}
        switch ($char) {\ncase 'a' -> $store\ncase 'q' -> $block\ndefault -> $store\n} | var $A:text = "v" + $c; | var $A = $list;\n$A.add($c);
        if ($int == 1) {\n$store\n} else if ($int == 2) {\n$lines\n} else if ($int == 5) {\n$store\n} | var $A:int = $known;
        if (s.equals("ab")) {\n$store\n} else if (s.equals("k")) {\n$store\n} | if ($int == 0) $block else if ($int == 3) $block else $block
        $int = $int + $c; | $int = $int * $v; | $long = $long - $c; | $int += $c; | $long += $long; | a *= 3; | $double += $c;
        $int = $t ? $c : $c; | final int $A:fixed = $t ? $c : $c; | String $A:text = $t ? "yes" : "no";
        int $A+counter = 0;\nwhile ($A < $k) {\n$lines\n$A++;\n} | int $A+counter = 3;\nwhile ($A > 0) {\n$A--;\n$lines\n}
        int $A+counter = $k;\nwhile ($A > 0 && $t) {\n$A -= 1;\n$lines\n} | count(\n    "s",\n    $v\n); | log(varied($c,\n    $c) + "l");
        total += Math.max(\n    $c,\n    $c);\n\n$store | $store\n\n\n$store | // alone\n$store | $store /* behind */ | /* before */ $calmly
        IntSupplier $A:call = $function;\n$store\nlog("k" + $A.getAsInt()); | IntUnaryOperator $A = $B -> $B + $fixed;\nlog("u" + $A.applyAsInt($v));
        IntBinaryOperator $A = ($B, $C) -> {\ntotal++;\nreturn $B - $C;\n};\nlog("u" + $A.applyAsInt($c, $c)); | Runnable $A = () -> { total += 5; };\n$store\n$A.run();
        Runnable $A = new Runnable() {\n@Override public void run() { total += $fixed; }\n};\n$store\n$A.run(); | Supplier<String> $A = () -> "s" + $fixed;\nlog($A.get());
        Supplier<Object> $A = new Supplier<Object>() {\npublic Object get() {\nint total = $fixed;\nreturn total;\n}\n};\n$store\nlog("g" + $A.get());
        Function<Integer, Integer> $A = new Function<Integer, Integer>() {\npublic Integer apply(Integer $B) { return $B + $fixed; }\n};\nkind($A.apply($c));
        Comparator<Integer> $A = (x$B, y$B) -> count("c", y$B - x$B);\nList<Integer> $C:list = new ArrayList<>();\n$C.add($c);\n$C.add(4);\n$C.sort($A);\n$store
    """,
    "shape.object": r"""
        Runnable $A = () -> f += $fixed;\n$store\n$A.run(); | Supplier<Integer> $A = () -> this.f;\n$store\nlog("t" + $A.get());
        this.f += 1; | f -= 1; | this.g = this.g + $c; | this.f = $t ? $c : $c; | t = "" + g; | if ($t) { f = $c; } else { f = $v; }
    """,
    "shape.leave": r"""
        if ($t) {\nreturn $c;\n} else {\n$store\n$simple\n} | if ($t) return "r" + $c; else $store | if ($t) {\nreturn $x;\n}\n$store
        if ($t) {\n$store\nreturn $c;\n}\n$store\n$store
    """,
    "if": r"""
        if ($t) $block | if ($t) $block | if ($t) $block else $block | if ($t) $block else if ($t) $block else $block
        if ($t) $block else if ($t) $block | if ($int == 1) $block else if ($int == 2) $block else $block
        if ($t) {\nif ($t) $block\n} | if ($t) $block else {\nif ($t) $block\n} | if ($text.equals("ab")) $block else $block
        if ($t) {\n$store\n} else {\n$int = $c;\n} | if (($c) == 3) {\n$store\n} else if (($int) == 4) {\n$store\n}
        if ($int == 1) {\n$store\n} else if ($int == 2) {\n$store\n} else if ($int == 3) {\n$store\n} else {\n$simple\n}
        if ($c > 2 && $t) $block | if ($t || $t) $block else $block | if (!($t)) $block else $block
    """,
    "if.leave": r"""
        if ($t) {\n$store\nreturn $v;\n} else {\n$simple\n} | if ($t) {\nreturn $v;\n}\n$store
        if ($t) {\n$simple\n} else {\nreturn $v;\n} | if ($t) {\n$store\nreturn $v;\n}\nelse if ($t) $block
    """,
    "loop": r"""
        for (int $A+counter : $array) $body | for (int $A+counter : new int[] {1, 2}) $body | for (int $A+counter : $list) $body
        for (int $A+counter = 0; $A < $k; $A++) $body | for (int $A+counter = $k, $B = $c; $A > 0; $A--, log("u" + $B)) $body
        for (int $A+counter = 0; $A < arr.length; $A++) $body | for (int $A+counter = 0; $A < $list.size() && $A < 4; $A += 2) $body
        for (Object $A+object : $objects) $body | for (Integer $A+box : $list) $body | for (Object $A+object : $set) $body
        for (int $A+counter = 0; $A < $k; ) {\n$A++;\n$lines\n} | for (int $A+counter = $k;;) {\nif (--$A < 0) break;\n$lines\n}
    """,
    # Loops whose counter is declared before: a label cannot stand before the declaration.
    "loop.counted": r"""
        int $A+counter = $k;\nwhile ($A-- > 0) $body | int $A+counter = 0;\nwhile (++$A < 3 && $t) $body
        int $A+counter = $k;\ndo $body while ($A-- > 0); | int $A+counter = $k;\nwhile (true) {\nif (--$A < 0) {\nbreak;\n}\n$lines\n}
        int $A+counter = $k;\nwhile (true) {\nif ($A-- <= 0) break;\n$lines\n} | int $A+counter;\nfor ($A = 0; $A < $k; $A++) $body
        int $A+counter = 0;\nwhile ($A < $k) {\n$lines\n$A++;\n} | Iterator<Integer> $A = $list.iterator();\nint $B+counter = 3;\nwhile ($B-- > 0 && $A.hasNext()) $body
    """,
    "switch": r"""
        switch ($v) {\ncase 1 -> $block\ncase 2, 3 -> $store\ndefault -> $block\n}
        switch ($c & 3) {\ncase 0: case 1:\n$lines\nbreak;\ncase 2:\n$lines\ndefault: log("d");\n}
        switch ($text) {\ncase "ab":\n$lines\nbreak;\ncase "k":\n$store\nbreak;\ndefault:\n$lines\nbreak;\n}
        switch (Level.of($v)) {\ncase LOW -> $block\ncase HIGH -> $block\n}
        switch ($int) {\ncase 1:\n$store\nbreak;\ncase 2:\n$lines\nbreak;\ndefault:\n$store\n}
        switch ($char) {\ncase 'q':\n$store\ncase 'a':\n$lines\n} | switch ($box) { case 1 -> $store default -> { } }
        switch ($small) {\ncase 7 -> $block\ncase 99 -> throw new Node($c);\ndefault -> { }\n}
        switch ($int) {\ncase 0:\n$store\nbreak;\ncase 1: case 2:\n$store\nbreak;\n}
    """,
    "try": r"""
        try $block catch ($X $A) {\nlog("c" + $int);\n$simple\n} | try $block finally {\nlog("f" + $int);\n$store\n}
        try $block catch ($X $A) {\n$store\nlog("m" + said($A));\n} finally {\nlog("f" + $int);\n$simple\n}
        try {\n$int = $c;\n$store\n$simple\n$calmly\n} catch ($X $A) {\nlog("v" + $int);\n}
        try $block catch (Node $A) {\nlog("n" + $A.v);\n} catch (RuntimeException $B) {\n$store\n}
    """,
    "scope": r"""
        {\nlog("h" + total);\ntotal = $c;\nint total = $d;\nlog("i" + total);\n$simple\n$store\n} | $block
    """,
    "scope.object": r"""
        {\nlog("h" + f);\nf = $c;\nint f = $d;\nlog("i" + f + this.f);\n$simple\n$store\n$simple\n}
        {\nlog("h" + g);\ng = $c;\nint g = $d;\nthis.g = g;\n$simple\n$store\n} | {\nString t = "local";\nthis.t = t + $c;\n$simple\n$store\n}
    """,
    "raised": r"""
        RuntimeException | NullPointerException | Exception | Node | Throwable | IllegalStateException | ArithmeticException
        ClassCastException | IndexOutOfBoundsException | IllegalStateException|ArithmeticException
    """,
}
_MIXED: Final = (("simple", 8), ("made", 6), ("store", 5), ("trap", 4), ("shape", 4), ("rare", 7))
_NESTED: Final = (("if", 1.5), ("loop", 1.5), ("switch", 1), ("try", 1), ("scope", 0.7))
_DEEP: Final = 3
"""Below this many expansions only calm numbers are drawn, so texts end."""


def _templates(text: str) -> tuple[str, ...]:
    lines = (line.strip() for line in text.strip().splitlines())
    parts = (part for line in lines for part in line.split(" | "))
    return tuple(part.strip().replace("\\n", "\n") for part in parts)


_TEMPLATES: Final = {name: _templates(text) for name, text in _RULES.items()}
_ASKED: Final = {
    template: frozenset(_KINDS & {match[1] for match in _HOLE.finditer(template) if not match[2]})
    for templates in _TEMPLATES.values()
    for template in templates
}
"""The kinds of variables that a template asks for."""

_IMPORTS: Final = "import java.util.*;\nimport java.util.function.*;\nimport fuzz.*; import fuzz.fresh.*;\n"
_SHADOWS: Final = (
    "import java.util.function.*; import fuzz.shadow.Math;\nimport java.util.*; import fuzz.*; import fuzz.fresh.*;\n",
    "import java.util.*; /* twice */ import fuzz.shadow.Math; import fuzz.shadow.ArrayList;\n"
    "import java.util.function.*; import fuzz.*; import fuzz.fresh.*;\n",
    "import java.util.*;\nimport /* here */ fuzz . shadow\n    . ArrayList;\nimport java.util.function.*;\n"
    "import fuzz.*; import fuzz.fresh.*;\n",
    "import java.util.*; import java.util.function.*; import fuzz.*; import static fuzz.Rich.Math;\n",
)
"""Imports after which a name of the JDK means another type."""
_OWN_MATH: Final = """\
static class Math {
    static int max(int a, int b) { return count("own", a > b ? a : b); }
    static int min(int a, int b) { return count("own", a > b ? b : a); }
    static int abs(int a) { return count("own", a); }
    static int floorMod(int a, int b) { return a; }
    static int addExact(int a, int b) { return b; }
}
"""
_FIELDS: Final = r"""
    int own$A = $c; | { log("init" + $c); } | static int shared$A = count("static", $k); | final int[] mine$A = {$c, $c};
    static { words += "s$A"; }
"""
_CONSTANTS: Final = """\
static final int FIRST = 1;
/** Once. */
static final String SECOND = "n";
static final long THIRD = 3L;
"""
_MEMBERS: Final = """\
static int varied(int... all) { return log("varied" + all.length); }
static int varied(long one, int two) { return log("long" + one); }
@SuppressWarnings("unchecked") static <T> T picked(Object one) { return (T) one; }
"""


def program_around(method: str, release: int = 17) -> str:
    """A program with one method of `Writer.method`."""
    newer = "import fuzz.newer.*;\n" if release >= PATTERNS else ""
    return (
        f"package p;\n{_IMPORTS}{newer}public class Main extends Base {{\n"
        f"public Object call(int which, {PARAMETERS}) throws Throwable {{ return run0({ARGUMENTS}); }}\n"
        f"{method}\n{_MEMBERS}}}\n"
    )


def _indented(text: str, rng: Random) -> str:
    """The text with blanks that show its nesting."""
    step = rng.choice(["    ", "  ", "\t"])
    depth = 1
    lines = []
    for line in text.split("\n"):
        depth -= line.startswith("}")
        lines.append(step * depth + line if line else "")
        depth += line.count("{") - line.count("}") + line.startswith("}")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class JavaProgramText:
    """A program, and which of its methods are run."""

    text: str
    """The file; its package is `p`."""
    targets: tuple[str, ...]
    """The names of the methods that are run, by their numbers; those of `FunctionLocation`."""
    inherits: bool = False
    """Whether the class inherits types that have names of the JDK's."""


class Writer:
    """Writes programs with the grammar of a release of Java."""

    def __init__(self, rng: Random, release: int = 17) -> None:
        self.rng: Final = rng
        self.newer: Final = release >= PATTERNS
        self._count = 0
        self._known: dict[str, list[str]] = {}
        self._loops = 0
        self._static = False
        self._leaves = True
        self._deep = 0
        self._depth = 0

    def program(self) -> JavaProgramText:
        """A file with `METHODS` methods to run."""
        rng = self.rng
        imports, above, own = _IMPORTS, "Base", ""
        drawn = rng.random()
        if drawn < 0.08:
            imports = rng.choice(_SHADOWS)
        elif drawn < 0.11:
            above = "Rich"
        elif drawn < 0.13:
            own = _OWN_MATH
        made = [self._target(number) for number in range(METHODS)]
        cases = "\n".join(f"case {number}: {call}" for number, (_, call, _) in enumerate(made))
        self._begin(static=False)
        self._known = {kind: [] for kind in _KINDS}
        fields = [self._expand(rng.choice(_templates(_FIELDS))) for _ in range(rng.randint(1, 4))]
        parts = [
            _CONSTANTS, *fields,
            f"public Object call(int which, {PARAMETERS}) throws Throwable {{\nswitch (which) {{\n{cases}\n"
            'default: throw new IllegalStateException("which");\n}\n}',
            *(text for text, _, _ in made), _MEMBERS, own,
        ]  # fmt: skip
        text = _indented("\n".join(part for part in parts if part), rng)
        imports += "import fuzz.newer.*;\n" * self.newer
        program = f"package p;\n{imports}\npublic class Main extends {above} {{\n{text}\n}}\n"
        return JavaProgramText(program, tuple(name for _, _, name in made), above == "Rich")

    def method(self) -> str:
        """The text of one method alone; `program_around` makes a program of it."""
        return self._target(0, "method")[0]

    def _target(self, number: int, kind: str = "") -> tuple[str, str, str]:
        """A method to run: its text, the statement that runs it, and its name."""
        rng = self.rng
        kind = kind or rng.choice([*["method"] * 5, "static", "static", "constructor", "inner", "generic"])
        self._begin(static=kind == "static", leaves=kind != "constructor")
        if kind == "constructor":
            return self._constructor(number)
        body = self._body()
        if kind == "inner":
            name = f"Inner{number}"
            fields = rng.choice(
                ["int f = 5;", "int total = 4;", 'String t = "inner";', "int[] data = {9, 8};"]
            )
            text = f"class {name} extends Base {{\n{fields}\nObject go({PARAMETERS}) throws Throwable {{\n{body}}}\n"
            text += f"public Object call(int which, {PARAMETERS}) {{ return null; }}\n}}"
            return text, f"return new {name}().go({ARGUMENTS});", f"Main.{name}.go"
        before = {"static": "static ", "generic": "<T extends Object> "}.get(kind, "")
        text = f"{before}Object run{number}({PARAMETERS}) throws Throwable {{\n{body}}}"
        return text, f"return run{number}({ARGUMENTS});", f"Main.run{number}"

    def _constructor(self, number: int) -> tuple[str, str, str]:
        name = f"Made{number}"
        lines = [self._statement() + "\n" for _ in range(self.rng.randint(3, 6))]
        lines.insert(self.rng.randint(0, len(lines)), f"this.sum = {self._draw('literal')};\n")
        text = (
            f"class {name} extends Base {{\nfinal int sum;\nObject told;\n{name}({PARAMETERS}) throws Throwable {{\n"
            f"final int c = a - b;\n{''.join(lines)}told = {self._result()};\n}}\n"
            'Object get() { return sum + "/" + told + "/" + f + g + wide + t + box; }\n'
            f"public Object call(int which, {PARAMETERS}) {{ return null; }}\n}}"
        )
        return text, f"return new {name}({ARGUMENTS}).get();", f"Main.{name}.{name}"

    def _begin(self, *, static: bool, leaves: bool = True) -> None:
        self._known = {kind: [] for kind in _KINDS}
        self._known |= {"int": ["a", "b"], "fixed": ["c"], "text": ["s"], "array": ["arr"], "object": ["o"]}
        self._loops, self._static, self._leaves = 0, static, leaves
        self._deep = self._depth = 0

    def _body(self) -> str:
        lines = [self._statement() + "\n" for _ in range(self.rng.randint(3, 8))]
        return f"final int c = a - b;\n{''.join(lines)}return {self._result()};\n"

    def _result(self) -> str:
        """An expression that tells what the variables hold."""
        kinds = ("int", "fixed", "long", "char", "small", "bool", "builder", "box")
        names = [name for kind in kinds for name in self._known[kind]]
        self.rng.shuffle(names)
        first = '"" + ' + ' + "/" + '.join(names[:8])
        kept = [name for kind in ("list", "objects", "set", "map") for name in self._known[kind]]
        if kept and self.rng.random() < 0.6:
            return f"Arrays.<Object>asList({first}, {', '.join(kept)})"
        return first

    # ── templates ────────────────────────────────────────────────────────────────────────────────────

    def _draw(self, rule: str) -> str:
        """A text of a rule."""
        choices = list(_TEMPLATES[rule])
        more = {"object": not self._static, "newer": self.newer, "leave": self._leaves}
        for name, holds in more.items():
            if holds:
                choices += _TEMPLATES.get(f"{rule}.{name}", ())
        return self._expand(self._chosen(choices))

    def _chosen(self, choices: list[str]) -> str:
        while True:
            template = self.rng.choice(choices)
            if all(self._known[kind] for kind in _ASKED.get(template, ())):
                return template

    def _expand(self, template: str) -> str:
        fresh: dict[str, str] = {}
        later: list[tuple[str, str]] = []
        inside: list[tuple[str, str]] = []
        self._deep += 1

        def filled(match: re.Match[str]) -> str:
            hole, sign, kind = match.groups()
            if hole.isupper():
                if hole == "X":
                    return self._draw("raised")
                if hole not in fresh:
                    self._count += 1
                    fresh[hole] = f"{hole.lower()}{self._count}"
                if sign == ":":
                    later.append((kind, fresh[hole]))
                elif sign == "+":
                    inside.append((kind, fresh[hole]))
                    self._known[kind].append(fresh[hole])
                return fresh[hole]
            return self._hole(hole)

        text = _HOLE.sub(filled, template)
        for kind, name in inside:
            self._known[kind].remove(name)
        for kind, name in later:
            self._known[kind].append(name)
        self._deep -= 1
        return text

    def _hole(self, hole: str) -> str:
        rng = self.rng
        if hole in _KINDS:
            return rng.choice(self._known[hole])
        match hole:
            case "d":
                return str(rng.randint(0, 9))
            case "k":
                return str(rng.randint(0, 3))
            case "n" | "v" if self._deep > _DEEP:
                return self._draw("c")
            case "e" | "x" | "t" if self._deep > _DEEP + 2:
                return {"e": '"deep"', "x": '"deep"', "t": f"{self._draw('c')} > 1"}[hole]
            case "block":
                return "{\n" + self._nested() + "\n}"
            case "lines":
                return self._nested()
            case "body":
                return "{\n" + self._nested(loop=True) + "\n}"
            case "statement":
                return self._nested(most=1)
            case "function":
                return self._function()
            case _:
                return self._draw(hole)

    def _nested(self, *, loop: bool = False, most: int = 4) -> str:
        """Statements of a block; what they declare is forgotten."""
        kept = {kind: list(names) for kind, names in self._known.items()}
        deep, self._deep = self._deep, 0
        self._depth += 1
        self._loops += loop
        text = "\n".join(self._statement() for _ in range(self.rng.randint(1, most)))
        self._loops -= loop
        self._depth -= 1
        self._known, self._deep = kept, deep
        return text

    def _function(self) -> str:
        rng, kept, loops, leaves = self.rng, self._known, self._loops, self._leaves
        known = {kind: list(kept[kind]) if kind in _CAPTURED else [] for kind in _KINDS}
        self._known = known | {
            "text": ["words"],
            "array": ["new int[] {1, 2}"],
            "object": ["((Object) words)"],
        }
        self._loops, self._leaves = 0, False
        # In a class of its own `this` is another object.
        static, own = self._static, rng.random() < 0.25
        self._static = static or own
        text = self._draw("supplier" if own else "function")
        self._known, self._loops, self._leaves = kept, loops, leaves
        self._static = static
        return text

    # ── statements ───────────────────────────────────────────────────────────────────────────────────

    def _statement(self) -> str:
        """A statement, or several that belong together."""
        rng = self.rng
        rules: list[tuple[str, float]] = list(_MIXED)
        if self._leaves:
            rules.append(("leave", 1))
        if self._loops:
            rules.append(("jump", 2))
        if self._depth < 2:
            rules += _NESTED
        (rule,) = rng.choices([name for name, _ in rules], [weight for _, weight in rules])
        text = self._loop() if rule == "loop" else self._switched() if rule == "switch" else self._draw(rule)
        return f"{text} // note" if rng.random() < 0.03 and "\n" not in text else text

    def _loop(self) -> str:
        """A loop that ends, at times with a label."""
        rng = self.rng
        if rng.random() < 0.5:
            return self._expand(self._chosen(list(_TEMPLATES["loop.counted"])))
        if rng.random() < 0.7:
            return self._draw("loop")
        self._count += 1
        label = f"out{self._count}"
        text = self._draw("loop")
        # Every label is used: an inner statement leaves the loop, or goes on with it.
        jump = rng.choice(["break", "continue"])
        last = text.rfind("}")
        return f"{label}: {text[:last]}if ({self._expand('$c > 2')}) {jump} {label};\n}}"

    def _switched(self) -> str:
        """A `switch`; `continue` in it would mean the loop around it, and `break` the switch."""
        loops, self._loops = self._loops, 0
        kept = {kind: list(names) for kind, names in self._known.items()}
        text = self._draw("switch")
        self._known, self._loops = kept, loops
        return text
