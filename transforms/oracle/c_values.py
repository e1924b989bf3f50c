"""What stands behind a program in C or C++ and writes the value of a call as a literal.

Whole numbers, `bool`, characters and C strings are written as the languages write them, and fractions with as
few digits as tell them from their neighbours. C finds how to write a type with `_Generic`. C++ has templates,
also for strings, vectors and other containers that have one order: `{1, 2}`, and `{{"a", 1}}` for a map.
"""

from collections.abc import Sequence
from typing import Final

_INTEGERS: Final = (
    *("signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long"),
    *("long long", "unsigned long long"),
)
_FRACTIONS: Final = ("float", "double", "long double")

_WRITING: Final = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char cw_text[8192];
static unsigned long cw_used;
static int cw_left = {parts};
__attribute__((noreturn)) static void cw_tell(const char *kind, const char *told) {
  printf("\n{key}[\"%s\", \"%s\"]\n", kind, told);
  fflush(stdout);
  _Exit(0);
}
static void cw_sign(char sign) {
  if (cw_used > sizeof(cw_text) - 8) cw_tell("unfit", "long");
  if (sign == '"' || sign == '\\') cw_text[cw_used++] = '\\';
  cw_text[cw_used++] = sign;
}
static void cw_plain(const char *text) {
  while (*text) cw_sign(*text++);
}
static void cw_part(void) {
  if (--cw_left < 0) cw_tell("unfit", "long");
}
static void cw_letter(char sign, char quote) {
  char text[8];
  if (sign == quote || sign == '\\') cw_sign('\\');
  if (sign >= 32 && sign < 127) {
    cw_sign(sign);
    return;
  }
  snprintf(text, sizeof(text), "\\%03o", (unsigned char)sign);
  cw_plain(text);
}
static void cw_whole(int is_negative, unsigned long long size) {
  char text[32];
  snprintf(text, sizeof(text), "%s%llu", is_negative ? "-" : "", is_negative ? 0 - size : size);
  cw_plain(text);
}
static void cw_fraction(double x, int is_short) {
  char text[64];
  int digits = 0;
  x += 0.0; /* no -0.0, which equals it */
  do snprintf(text, sizeof(text), "%.*g", ++digits, x);
  while (digits < 18 && x == x && (is_short ? strtof(text, 0) != (float)x : strtod(text, 0) != x));
  if (x != x) strcpy(text, "NAN");
  else if (x - x != 0) strcpy(text, x < 0 ? "-INFINITY" : "INFINITY");
  else if (!strpbrk(text, ".e")) strcat(text, ".0");
  cw_plain(text);
}
static void cw_long(long double x) {
  if (x == x && (long double)(double)x != x) cw_tell("unfit", "strange");
  cw_fraction((double)x, 0);
}
static void cw_string(const char *text) {
  if (!text) {
    cw_plain("NULL");
    return;
  }
  cw_sign('"');
  while (*text) cw_letter(*text++, '"');
  cw_sign('"');
}
static void cw_character(char sign) {
  cw_sign('\'');
  cw_letter(sign, '\'');
  cw_sign('\'');
}
"""

_OF_C: Final = (
    "".join(
        f"static void cw_{number}({kind} *x) {{ cw_whole(*x < 0, (unsigned long long)*x); }}\n"
        for number, kind in enumerate(_INTEGERS)
    )
    + r"""static void cw_of_bool(_Bool *x) { cw_plain(*x ? "true" : "false"); }
static void cw_of_char(char *x) { cw_character(*x); }
static void cw_of_float(float *x) { cw_fraction(*x, 1); }
static void cw_of_double(double *x) { cw_fraction(*x, 0); }
static void cw_of_long(long double *x) { cw_long(*x); }
static void cw_of_text(char **x) { cw_string(*x); }
static void cw_of_words(const char **x) { cw_string(*x); }
static void cw_strange(void *x) { cw_tell("unfit", "strange"); }
#define CW_PUT(x) _Generic(&(x), """
    + "".join(f"{kind} *: cw_{number}, " for number, kind in enumerate(_INTEGERS))
    + r"""_Bool *: cw_of_bool, char *: cw_of_char, float *: cw_of_float, \
  double *: cw_of_double, long double *: cw_of_long, char **: cw_of_text, const char **: cw_of_words, \
  default: cw_strange)(&(x))
"""
)

_OF_CPP: Final = r"""
#include <array>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
struct CwWriter {
  template <class T> static void put(const T &x) {
    if constexpr (std::is_same_v<T, bool>) cw_plain(x ? "true" : "false");
    else if constexpr (std::is_same_v<T, char>) cw_character(x);
    else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) cw_whole(x < 0, (unsigned long long)x);
    else if constexpr (std::is_same_v<T, float>) cw_fraction(x, 1);
    else if constexpr (std::is_same_v<T, double>) cw_fraction(x, 0);
    else if constexpr (std::is_same_v<T, long double>) cw_long(x);
    else if constexpr (std::is_same_v<T, char *> || std::is_same_v<T, const char *>) cw_string(x);
    else cw_tell("unfit", "strange");
  }
  static void put(const std::string &x) {
    cw_sign('"');
    for (char one : x) cw_letter(one, '"');
    cw_sign('"');
  }
  template <class T> static void items(const T &x) {
    const char *between = "";
    cw_sign('{');
    for (typename T::value_type one : x) cw_part(), cw_plain(between), put(one), between = ", ";
    cw_sign('}');
  }
  template <class T> static void put(const std::vector<T> &x) { items(x); }
  template <class T> static void put(const std::deque<T> &x) { items(x); }
  template <class T> static void put(const std::list<T> &x) { items(x); }
  template <class T, std::size_t N> static void put(const std::array<T, N> &x) { items(x); }
  template <class T> static void put(const std::set<T> &x) { items(x); }
  template <class A, class B> static void put(const std::map<A, B> &x) { items(x); }
  template <class A, class B> static void put(const std::pair<A, B> &x) {
    cw_sign('{'), put(x.first), cw_plain(", "), put(x.second), cw_sign('}');
  }
  template <class... A> static void put(const std::tuple<A...> &x) {
    const char *between = "";
    cw_sign('{');
    std::apply([&](const auto &...one) { ((cw_plain(between), put(one), between = ", "), ...); }, x);
    cw_sign('}');
  }
};
#define CW_PUT(x) CwWriter::put(x)
"""

WRITERS: Final = {"c": _WRITING + _OF_C, "cpp": _WRITING + _OF_CPP}
"""By language: `CW_PUT(x)` writes a variable into `cw_text`, and `cw_tell` tells what is written."""
_RESULTS: Final = {
    "c": "#define CW_RESULT(...) do { __auto_type cw_own = (__VA_ARGS__); CW_PUT(cw_own); } while (0)\n",
    "cpp": "template <class T> static void CW_RESULT(T &&x) { CwWriter::put(x); }\n",
}
_GUARDS: Final = {"c": ("", ""), "cpp": ("try {", '} catch (...) { cw_tell("unfit", "raised"); }')}
EVALUATE: Final = {
    language: f"{WRITERS[language]}{_RESULTS[language]}"
    "int main(int cw_count, char **cw_given) {\n"
    '  printf("\\n{key}<%s\\n", cw_given[1]), fflush(stdout);\n'
    '  fprintf(stderr, "\\n{key}<%s\\n", cw_given[1]);\n'
    f"  {begin}\n  switch (atoi(cw_given[1])) {{\n{{call}}  }}\n  {end}\n"
    '  cw_tell("value", cw_text);\n}\n'
    for language, (begin, end) in _GUARDS.items()
}
"""By language: evaluates the one of the calls in `{call}` whose number is the argument of the program."""
CASE: Final = "  case {number}: CW_RESULT({call}); break;\n"
"""One of the calls."""
COMPARE: Final = {
    language: text.replace("{parts}", "500").replace("{key}", "") + "int main(void) {\n"
    "  static char cw_first[sizeof(cw_text)];\n"
    f"  {word} cw_own = {{call}};\n  CW_PUT(cw_own);\n  memcpy(cw_first, cw_text, sizeof(cw_text));\n"
    f"  cw_used = 0, memset(cw_text, 0, sizeof(cw_text));\n"
    f"  __typeof__(cw_own) cw_wanted = {{value}};\n  CW_PUT(cw_wanted);\n"
    "  return strcmp(cw_first, cw_text) != 0;\n}\n"
    for (language, text), word in zip(WRITERS.items(), ("__auto_type", "auto"), strict=True)
}
"""By language: a program that ends without an error if `{call}` gives `{value}`."""

_DRAWN_IN_C: Final = (
    r"""
static void cw_item(void *at, int kind) {
  switch (kind) {
"""
    + "{cases}"
    + r"""    default: cw_tell("unfit", "strange");
  }
}
static void cw_drawn(void *place, int kind, int is_constant) {
  char *own;
  int number = 0;
  if (kind >= 0 && kind < 32) {
    cw_item(place, kind);
    return;
  }
  if (kind < 0 || kind >= 64) cw_tell("unfit", "strange");
  own = *(char **)place;
  if (!own) {
    cw_plain("NULL");
    return;
  }
  while (number < ca_held_count && ca_held[number].at != own) number++;
  if (number == ca_held_count) cw_tell("unfit", "strange");
  unsigned long size = ca_held[number].size, step = ca_size(kind - 32);
  if (kind == 32 && !memchr(own, 0, size)) cw_tell("unfit", "strange");
  if (kind == 32 && is_constant) {
    cw_string(own);
    return;
  }
  cw_plain("("), cw_plain(cw_names[kind - 32]), cw_plain("[]){");
  if (kind == 32) cw_string(own);
  for (unsigned long at = 0; kind != 32 && at < size; at += step) {
    if (at) cw_plain(", ");
    cw_item(own + at, kind - 32);
  }
  cw_plain("}");
}
#define CW_DRAWN(x, is_constant) cw_drawn((void *)&(x), CA_KIND(x), is_constant)
"""
)


def drawn_writer(language: str, numbers: Sequence[str]) -> str:
    """What writes drawn arguments as literals: `CW_DRAWN(x, is_constant)`, behind what draws them. `numbers`
    are the types of numbers in the order of their kinds."""
    if language == "cpp":
        return WRITERS[language] + "#define CW_DRAWN(x, is_constant) CW_PUT(x)\n"
    cases = "".join(f"    case {kind}: CW_PUT(*({name} *)at); return;\n" for kind, name in enumerate(numbers))
    names = ", ".join(f'"{name}"' for name in numbers)
    table = f"static const char *const cw_names[] = {{{names}}};\n"
    return WRITERS[language] + table + _DRAWN_IN_C.replace("{cases}", cases)
