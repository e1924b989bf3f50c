"""Programs that call a C function with drawn arguments and tell what it did.

The arguments follow from the head of the function: numbers, texts, buffers of numbers, and structures whose
definition the file has. A number whose name says so is the size of a buffer more often than not. The compiler
chooses how a value of a type is drawn (`_Generic`), so that it is the one that resolves names of types. What
cannot be called is told with a reason.

Of the file around a function its program has what the function needs: the definitions of the names in it, of
the names in these, and so on. Headers of a project are not looked for.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from codeaudit.transforms.c.parsing import READER, head_of, name_of, named, read_unit
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.syntax.reader import Node

if TYPE_CHECKING:
    from tree_sitter import Node as TreeNode

VARIADIC: Final = "takes any number of arguments"
TAKES_FUNCTION: Final = "takes a function"
UNNAMED: Final = "a parameter has no name"
OF_ARRAYS: Final = "takes an array of arrays"
PROGRAM: Final = "is a whole program"

_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_INCLUDE: Final = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(<[\w./+-]+>)", re.MULTILINE)
_OF_CPP: Final = re.compile(
    r"^[ \t]*#[ \t]*if(?:def[ \t]+|[ \t]+defined[ \t(]*)__cplusplus\b[^\n]*\n"
    r"(?:(?![ \t]*#)[^\n]*\n)*?[ \t]*#[ \t]*endif",
    re.MULTILINE,
)
"""The lines of a header that only C++ reads, which are no C."""
_QUIET: Final = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_WHOLE: Final = re.compile(r"0[xX][0-9a-fA-F]{1,8}|\d{1,9}")
_SIZE: Final = re.compile(
    r"(?i)n|l|k|.*(?:len|size|siz|count|cnt|num|total|max|cap|bytes|amount).*|n_?[a-z]+|sz|nmemb"
)
"""Names of parameters and fields that are sizes."""
_MOST_DRAWN: Final = 24
"""Literals of a function that its arguments are drawn from."""
_SHORT: Final = 12
"""Most parts of an `#if` that is kept in one piece."""
_CONDITIONAL: Final = ("preproc_if", "preproc_ifdef")


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """What stands around a function."""

    before: str
    after: str
    """With `{key}` for what marks the lines that it prints."""

    def program(self, function: str, key: str) -> str:
        """The whole text. Its only argument is the number of a call."""
        return f"{_DRAWING}{self.before}\n{function}\n{self.after.replace('{key}', key)}"


@lru_cache(maxsize=4)
def harness(source: str, context: str) -> Harness | str:
    """What calls a function, or why it is not called. `context` is the text of its file."""
    try:
        reading, function = read_unit(source)
    except SourceError:
        return NOT_PARSED
    head, name = head_of(function), name_of(reading, function)
    if head is None or not name:
        return NOT_PARSED
    if name == "main":
        return PROGRAM
    declared: list[tuple[str, str]] = []
    for one in head.part("parameters").children:
        if reading.text(one) == "void":
            continue
        told = _parameter(one, reading.source)
        if isinstance(told, str):
            return told
        declared.append(told)
    head_text = reading.source[function.start : function.part("body").start].decode()
    items = _needed(source, name, f"{head_text.rstrip()};", context)
    structures = _structures("\n".join(items))
    before = "".join(
        f"#if __has_include({one})\n#include {one}\n#endif\n"
        for one in dict.fromkeys(_INCLUDE.findall(context))
    )
    before += "\n".join(items)
    own = named(function.part("declarator"))
    assert own is not None  # it has a name
    is_void = re.search(rb"\bvoid\b[^*]*$", reading.source[function.start : own.start]) is not None
    after = _handled(structures) + _literals(function, reading.source)
    lines = [f"  {text};" for _, text in declared]
    lines += [f"  CA_DRAW({variable}, {_is_size(variable)}, 0);" for variable, _ in declared]
    call = f"{name}({', '.join(variable for variable, _ in declared)})"
    lines += ["  ca_begin();"]
    lines += [f"  {call};"] if is_void else [f"  __auto_type ca_result = {call};"]
    lines += ["  ca_end();"] if is_void else ["  ca_end();", "  CA_SHOW(ca_result, 0);"]
    body = "\n".join(lines)
    after += (
        f'int main(int ca_count, char **ca_arguments) {{\n  ca_start(ca_arguments[1], "{{key}}");\n'
        f"{body}\n  ca_tell();\n  return 0;\n}}\n"
    )
    return Harness(before=before, after=after)


def _is_size(name: str) -> int:
    return int(_SIZE.fullmatch(name) is not None)


def _parameter(node: Node, source: bytes) -> tuple[str, str] | str:
    """The name of a parameter and a declaration of a variable for it, or why there is none."""
    if node.kind != "parameter_declaration":
        return VARIADIC
    name = named(node)
    declarator = node.child("declarator")
    if name is None or declarator is None or name.kind != "identifier":
        return UNNAMED
    kinds = [one.kind for one in declarator.walk()]
    if "function_declarator" in kinds:
        return TAKES_FUNCTION
    if kinds.count("array_declarator") > 1:
        return OF_ARRAYS
    own, text = (source[one.start : one.end].decode() for one in (name, node))
    if "array_declarator" in kinds:
        text = f"{source[node.start : name.start].decode()}*{own}"
    return own, text


# ── what a function needs of its file ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Item:
    """A definition at the top level of a file."""

    text: str
    names: frozenset[str]
    words: frozenset[str]
    is_function: bool


def _needed(source: str, name: str, declared: str, context: str) -> list[str]:
    """The definitions that a function needs, in the order of the file, without the function. It is `declared`
    in front of functions, of which one may call it."""
    items = [one for one in _items(context) if name not in one.names and "main" not in one.names]
    wanted, seen = set(_WORD.findall(_QUIET.sub(" ", source))) - {name}, set[int]()
    while more := [n for n, one in enumerate(items) if n not in seen and one.names & wanted]:
        seen.update(more)
        wanted.update(*(items[n].words for n in more))
    found: list[str] = []
    for number in sorted(seen):
        if items[number].is_function and name in items[number].words and declared not in found:
            found.append(declared)
        found.append(items[number].text)
    return found


@lru_cache(maxsize=2)
def _items(context: str) -> tuple[_Item, ...]:
    source = _OF_CPP.sub("", context).encode()
    return tuple(
        _Item(
            text, names, frozenset(_WORD.findall(_QUIET.sub(" ", text))), node.type == "function_definition"
        )
        for node in _outer(READER.parse(source).root_node)
        if not (node.type == "declaration" and node.has_error)
        if (names := frozenset(_defined(node)))
        for text in [source[node.start_byte : node.end_byte].decode() + _end(node)]
    )


def _end(node: "TreeNode") -> str:
    return ";" if node.type.endswith("_specifier") else ""


def _outer(root: "TreeNode") -> Iterator["TreeNode"]:
    for node in root.named_children:
        # What stands between the lines that keep a header from being read twice.
        kinds = [child.type for child in node.children]
        is_choice = any(kind.startswith("preproc_el") for kind in kinds)
        is_file = "preproc_include" in kinds or len(kinds) > _SHORT
        if node.type in _CONDITIONAL and is_file and not is_choice:
            yield from _outer(node)
            continue
        yield node


def _defined(node: "TreeNode") -> Iterator[str]:
    """The names that an item defines."""
    match node.type:
        case "preproc_def" | "preproc_function_def":
            yield _told(node.child_by_field_name("name"))
        case "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif":
            for child in node.named_children:
                yield from _defined(child)
        case (
            "function_definition"
            | "declaration"
            | "type_definition"
            | "struct_specifier"
            | "union_specifier"
            | "enum_specifier"
        ):
            kind = node.child_by_field_name("type") or node
            if kind.type.endswith("_specifier") and kind.child_by_field_name("body") is not None:
                yield _told(kind.child_by_field_name("name"))
                yield from (
                    _told(one.child_by_field_name("name"))
                    for one in kind.child_by_field_name("body").named_children  # type: ignore[union-attr]
                    if one.type == "enumerator"
                )
            for one in node.children_by_field_name("declarator"):
                yield _innermost(one)


def _innermost(node: "TreeNode | None") -> str:
    while node is not None and not node.type.endswith("identifier"):
        node = node.child_by_field_name("declarator") or next(
            (one for one in node.named_children if one.type.endswith(("declarator", "identifier"))), None
        )
    return _told(node)


def _told(node: "TreeNode | None") -> str:
    return "" if node is None or node.text is None else node.text.decode()


# ── structures ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Structure:
    """A structure with a definition."""

    number: int
    spelling: str
    fields: tuple[tuple[str, bool], ...]
    """The names of those that can be drawn, and whether each is an array."""


def _structures(text: str) -> list[_Structure]:
    found: list[_Structure] = []
    seen: set[str] = set()
    for node in READER.parse(text.encode()).root_node.named_children:
        kind = node if node.type == "struct_specifier" else node.child_by_field_name("type")
        if kind is None or kind.type != "struct_specifier" or kind.child_by_field_name("body") is None:
            continue
        tag = _told(kind.child_by_field_name("name"))
        plain = [
            _told(one) for one in node.children_by_field_name("declarator") if one.type == "type_identifier"
        ]
        if node.type != "type_definition":
            plain = []
        if (not tag and not plain) or (spelling := f"struct {tag}" if tag else plain[0]) in seen:
            continue
        seen.add(spelling)
        found.append(_Structure(len(found), spelling, tuple(_fields(kind))))
    return found


def _fields(kind: "TreeNode") -> Iterator[tuple[str, bool]]:
    body = kind.child_by_field_name("body")
    for one in [] if body is None else body.named_children:
        bits = any(child.type == "bitfield_clause" for child in one.children)
        for declarator in one.children_by_field_name("declarator"):
            held = [declarator]
            kinds: list[str] = []
            while held:
                node = held.pop()
                kinds.append(node.type)
                held += node.named_children
            is_plain = not bits and "function_declarator" not in kinds and kinds.count("array_declarator") < 2
            if is_plain and (name := _innermost(declarator)):
                yield name, "array_declarator" in kinds


def _handled(structures: list[_Structure]) -> str:
    """`CA_KIND`, the number of a variable's type, and how structures are drawn and shown."""
    kinds = [
        *_KINDS,
        *(
            f"{const}{one.spelling} {stars}*: {_FIRST_STRUCTURE + 2 * one.number + number}"
            for one in structures
            for stars, number in (("", 0), ("*", 1), ("*const ", 1))
            for const in ("", "const ")
        ),
    ]
    text = f"#define CA_KIND(x) _Generic(&(x), {', '.join(kinds)}, default: -1)\n"
    for one in structures:
        for what, rest in (("draw", "{size}, depth + 1"), ("show", "depth + 1")):
            text += f"static void ca_{what}_{one.number}(void *place, int depth) {{\n"
            text += f"  {one.spelling} *own = place;\n"
            text += "".join(
                _each(field, is_array, f"CA_{what.upper()}", rest.format(size=_is_size(field)))
                for field, is_array in one.fields
            )
            text += "}\n"
    rows = "".join(
        f"  {{sizeof({one.spelling}), ca_draw_{one.number}, ca_show_{one.number}}},\n" for one in structures
    )
    return f"{text}static const struct ca_structure ca_own_structures[] = {{\n{rows}  {{0}}}};\n"


def _each(field: str, is_array: bool, what: str, rest: str) -> str:
    if not is_array:
        return f"  {what}(own->{field}, {rest});\n"
    return (
        f"  for (unsigned ca_at = 0; ca_at < sizeof(own->{field}) / sizeof(own->{field}[0]); ca_at++)\n"
        f"    {what}(own->{field}[ca_at], {rest});\n"
    )


# ── literals ─────────────────────────────────────────────────────────────────────────────────────────────


def _literals(function: Node, source: bytes) -> str:
    """The numbers, signs and texts that a function compares with, which arguments are drawn from."""
    texts: dict[str, list[str]] = {
        "decimal_integer_literal": [],
        "character_literal": [],
        "string_literal": [],
    }
    for node in function.walk():
        if node.kind in texts:
            texts[node.kind].append(source[node.start : node.end].decode())
    numbers = [one for one in texts["decimal_integer_literal"] if _WHOLE.fullmatch(one)]
    signs = [one for one in texts["character_literal"] if one.startswith("'")]
    words = [one for one in texts["string_literal"] if one.startswith('"') and "\n" not in one]
    given = (("long long", "numbers", ["0", *_few(numbers)]), ("int", "signs", ["97", *_few(signs)]))
    tables = (*given, ("const char *const", "words", ['""', *_few(words)]))
    text = "".join(
        f"static const {kind} ca_own_{name}[] = {{{', '.join(values)}}};\n" for kind, name, values in tables
    )
    taken = "".join(
        f"  ca_{name} = ca_own_{name}, ca_{name}_count = sizeof(ca_own_{name}) / sizeof(ca_own_{name}[0]);\n"
        for _, name, _ in tables
    )
    return f"{text}static void ca_take(void) {{\n{taken}  ca_structures = ca_own_structures;\n}}\n"


def _few(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(texts))[:_MOST_DRAWN]


# ── drawing and showing ──────────────────────────────────────────────────────────────────────────────────

_NUMBERS: Final = (
    "char", "signed char", "unsigned char", "_Bool", "short", "unsigned short", "int", "unsigned", "long",
    "unsigned long", "long long", "unsigned long long", "float", "double", "long double",
)  # fmt: skip
_POINTER: Final = 32
"""Added to the number of a type for a pointer to it."""
_FIRST_STRUCTURE: Final = 64
_BYTES: Final = _POINTER + _NUMBERS.index("unsigned char")
_KINDS: Final = (
    *(f"{const}{kind} *: {number}" for number, kind in enumerate(_NUMBERS) for const in ("", "const ")),
    *(
        f"{const}{kind} {stars}*: {_POINTER + number}"
        for number, kind in enumerate(_NUMBERS)
        for const in ("", "const ")
        for stars in ("*", "*const ")
    ),
    *(f"{const}void {stars}*: {_BYTES}" for const in ("", "const ") for stars in ("*", "*const ")),
)
"""Entries of `_Generic`: the numbers of types by pointers to them."""

_DRAWING: Final = (
    r"""
#include <sys/time.h>
int __asan_address_is_poisoned(void const volatile *);
void *__asan_region_is_poisoned(void *, unsigned long);
struct ca_structure { unsigned long size; void (*draw)(void *, int); void (*show)(void *, int); };
static const struct ca_structure *ca_structures;
static const long long *ca_numbers;
static const int *ca_signs;
static const char *const *ca_words;
static int ca_numbers_count, ca_signs_count, ca_words_count;
static void ca_take(void);
static const char *ca_key, *ca_number;
static unsigned long long ca_state;
static long ca_base;
static struct { char *at; unsigned long size; int kind; } ca_held[256];
static int ca_held_count;

#define CA_DRAW(x, size, depth) ca_draw((void *)&(x), CA_KIND(x), size, depth)
#define CA_SHOW(x, depth) ca_show((void *)&(x), CA_KIND(x), depth)

__attribute__((no_sanitize("undefined"))) static unsigned long long ca_next(void) {
  unsigned long long x = ca_state += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}
static long ca_below(long n) { return n > 0 ? (long)(ca_next() % (unsigned long)n) : 0; }
static int ca_is_one_in(int n) { return ca_below(n) == 0; }

static void ca_start(const char *number, const char *key) {
  static const int bases[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 32, 33};
  struct itimerval limit = {{0, 0}, {0, 250000}};
  ca_number = number, ca_key = key;
  ca_state = strtoull(number, 0, 10) * 1000003ULL;
  ca_take();
  ca_base = bases[ca_below(sizeof(bases) / sizeof(bases[0]))];
  setitimer(ITIMER_PROF, &limit, 0);
}
static void ca_begin(void) {
  printf("\n%s<%s\n", ca_key, ca_number);
  fflush(stdout);
  fprintf(stderr, "\n%s<%s\n", ca_key, ca_number);
}
static void ca_end(void) { printf("\n%s>\n", ca_key); }

static void *ca_made(unsigned long size, int kind) {
  char *at = calloc(1, size);
  if (at && ca_held_count < 256) {
    ca_held[ca_held_count].at = at, ca_held[ca_held_count].size = size;
    ca_held[ca_held_count++].kind = kind;
  }
  return at;
}
static long long ca_whole(int size) {
  int way = (int)ca_below(20);
  if (size ? way < 15 : way < 5) return ca_base;
  if (size && way < 17) return ca_base - 1;
  if (way < 11) return ca_numbers[ca_below(ca_numbers_count)] + ca_below(3) - 1;
  if (way < 17) return ca_below(24) - 4;
  if (way < 18) return (long long)(ca_next() >> (1 + ca_below(62))) * (ca_is_one_in(2) ? 1 : -1);
  return ca_below(300);
}
static double ca_fraction(void) {
  int way = (int)ca_below(8);
  if (way < 2) return (double)ca_whole(0);
  return way < 3 ? 0.0 : (double)(ca_below(20001) - 10000) / 100;
}
static char ca_sign(void) {
  int way = (int)ca_below(20);
  if (way < 8) return (char)ca_signs[ca_below(ca_signs_count)];
  if (way < 12) return (char)('a' + ca_below(26));
  if (way < 14) return (char)('A' + ca_below(26));
  if (way < 17) return (char)('0' + ca_below(10));
  return way < 19 ? (char)(32 + ca_below(95)) : (char)(1 + ca_below(255));
}
static unsigned long ca_size(int kind) {
  switch (kind) {
"""
    + "".join(f"    case {number}: return sizeof({kind});\n" for number, kind in enumerate(_NUMBERS))
    + r"""  }
  return 0;
}
static void ca_put(void *place, int kind, int size) {
  if (!kind) { *(char *)place = ca_sign(); return; }
  long long whole = ca_whole(size);
  switch (kind) {
"""
    + "".join(
        f"    case {number}: *({kind} *)place = ({kind}){'ca_fraction()' if number > 11 else 'whole'};"
        " return;\n"
        for number, kind in enumerate(_NUMBERS)
        if number
    )
    + r"""  }
}
static void *ca_text(void) {
  const char *word = ca_words[ca_below(ca_words_count)];
  long count = ca_is_one_in(6) ? ca_below(20) : ca_base;
  int is_word = *word && ca_is_one_in(4), is_open = ca_is_one_in(5);
  if (is_word) count = (long)strlen(word);
  char *own = ca_made(count + !is_open + (ca_is_one_in(4) ? 64 : 0), 0);
  for (long n = 0; n < count; n++) own[n] = is_word ? word[n] : ca_sign();
  return own;
}
static void *ca_buffer(int kind) {
  long count = ca_is_one_in(6) ? ca_below(20) : ca_base, size = (long)ca_size(kind);
  char *own = ca_made(count * size, kind);
  int is_sorted = kind == 6 && ca_is_one_in(3);
  for (long n = 0; n < count; n++) {
    ca_put(own + n * size, kind, 0);
    if (is_sorted && n && ((int *)own)[n] < ((int *)own)[n - 1]) ((int *)own)[n] = ((int *)own)[n - 1];
  }
  return own;
}
static void ca_draw(void *place, int kind, int size, int depth) {
  if (kind < 0 && !depth) printf("\n%s!\n", ca_key), fflush(stdout), _Exit(0);
  if (kind < 0 || depth > 3) return;
  if (kind < 32) {
    ca_put(place, kind, size);
  } else if (kind >= 64 && kind % 2 == 0) {
    ca_structures[(kind - 64) / 2].draw(place, depth);
  } else {
    void *made = 0;
    if (!ca_is_one_in(depth && kind >= 64 ? 3 : 12)) {
      if (kind >= 64) {
        const struct ca_structure *one = &ca_structures[(kind - 64) / 2];
        made = ca_made(one->size, kind - 1);
        one->draw(made, depth);
      } else {
        made = kind == 32 ? ca_text() : ca_buffer(kind - 32);
      }
    }
    *(void **)place = made;
  }
}

static int ca_is_lost(void *at, unsigned long size) {
  if (!__asan_region_is_poisoned(at, size)) return 0;
  printf("freed ");
  return 1;
}
static int ca_is_named(char *at) {
  if (!at) return printf("null ");
  for (int n = 0; n < ca_held_count; n++)
    if (at >= ca_held[n].at && at <= ca_held[n].at + ca_held[n].size)
      return printf("held %d+%ld ", n, (long)(at - ca_held[n].at));
  return 0;
}
static void ca_show(void *place, int kind, int depth) {
  if (kind < 0 || depth > 3) return;
  if (kind < 32) {
    for (unsigned long n = 0; n < (kind == 14 ? 10 : ca_size(kind)); n++)
      printf("%02x", ((unsigned char *)place)[n]);
    printf(" ");
  } else if (kind >= 64 && kind % 2 == 0) {
    ca_structures[(kind - 64) / 2].show(place, depth);
  } else {
    char *own = *(char **)place;
    if (ca_is_named(own) || (kind != 32 && kind < 64)) return;
    if (kind >= 64) {
      const struct ca_structure *one = &ca_structures[(kind - 64) / 2];
      if (!ca_is_lost(own, one->size)) one->show(own, depth + 1);
      return;
    }
    for (int n = 0; n < 256; n++) {
      if (__asan_address_is_poisoned(own + n) || !own[n]) break;
      printf("%02x", own[n] & 255);
    }
    printf(" ");
  }
}
static void ca_tell(void) {
  for (int n = 0; n < ca_held_count; n++) {
    char *at = ca_held[n].at;
    if (ca_is_lost(at, ca_held[n].size)) continue;
    if (ca_held[n].kind >= 64) {
      ca_show(at, ca_held[n].kind, 1);
    } else {
      for (unsigned long k = 0; k < ca_held[n].size; k++) printf("%02x", at[k] & 255);
      printf(" ");
    }
  }
  printf("\n%s=\n", ca_key);
  fflush(stdout);
}
"""
)
"""Stands before every program: draws values by the numbers of their types, and shows them. `ca_base` is the
size that most buffers of a call have."""
