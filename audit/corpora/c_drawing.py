"""What stands before every program that calls a function of C or C++ with drawn arguments: it draws values by
the numbers of their types, and shows them.

`ca_base` is the size that most buffers of a call have. C finds the number of a type with `_Generic`, C++ with
overloads; C++ also draws strings, vectors, pairs, maps and sets of the standard library.

What cannot be shown and may have changed gets a mark (`ca_unshown`), with which results confirm nothing:
memory that is not as it was when the call began, and memory that is new.
"""

from collections.abc import Iterable
from typing import Final

NUMBERS: Final = (
    "char", "signed char", "unsigned char", "_Bool", "short", "unsigned short", "int", "unsigned", "long",
    "unsigned long", "long long", "unsigned long long", "float", "double", "long double",
)  # fmt: skip
_POINTER: Final = 32
"""Added to the number of a type for a pointer to it."""
FIRST_STRUCTURE: Final = 64
_BYTES: Final = _POINTER + NUMBERS.index("unsigned char")
KINDS: Final = (
    *(f"{const}{kind} *: {number}" for number, kind in enumerate(NUMBERS) for const in ("", "const ")),
    *(
        f"{const}{kind} {stars}*: {_POINTER + number}"
        for number, kind in enumerate(NUMBERS)
        for const in ("", "const ")
        for stars in ("*", "*const ")
    ),
    *(f"{const}void {stars}*: {_BYTES}" for const in ("", "const ") for stars in ("*", "*const ")),
)
"""Entries of `_Generic`: the numbers of types by pointers to them."""


def overloads(kinds: Iterable[str]) -> str:
    """The same for C++, from such entries: functions that give the number of a type."""
    rows = (kind.rpartition(": ") for kind in kinds)
    return "".join(f"inline int ca_kind({kind}) {{ return {number}; }}\n" for kind, _, number in rows)


DRAWING: Final = (
    f"#define CA_BYTES {_BYTES}\n"
    r"""
#include <errno.h>
#include <sys/time.h>
#ifdef __cplusplus
#define _Bool bool
extern "C" {
#endif
int __asan_address_is_poisoned(void const volatile *);
void *__asan_region_is_poisoned(void *, unsigned long);
#ifdef __cplusplus
}
#endif
struct ca_structure { unsigned long size; void (*draw)(void *, int); void (*show)(void *, int); };
static const struct ca_structure *ca_structures;
static const long long *ca_numbers;
static const int *ca_signs;
static const char *const *ca_words;
static int ca_numbers_count, ca_signs_count, ca_words_count;
static void ca_take(void);
static const char *ca_key, *ca_number;
static int ca_which;
static unsigned long long ca_state;
static long ca_base;
static struct { char *at; unsigned long size; int kind; } ca_held[256];
static int ca_held_count;
static struct { char *at, *was; unsigned long size; } ca_watched[512];
static int ca_watched_count, ca_error;

#ifdef __cplusplus
#define CA_DRAW(x, size, depth) ca_draw_any(x, size, depth)
#define CA_SHOW(x, depth) ca_show_any(x, depth)
#else
#define CA_DRAW(x, size, depth) ca_draw((void *)&(x), CA_KIND(x), size, depth)
#define CA_SHOW(x, depth) ca_show((void *)&(x), CA_KIND(x), sizeof(x), depth)
#endif

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
  char *rest;
  ca_state = strtoull(number, &rest, 10) * 1000003ULL;
  ca_which = *rest ? atoi(rest + 1) : 0;
  ca_take();
  ca_base = bases[ca_below(sizeof(bases) / sizeof(bases[0]))];
  setitimer(ITIMER_PROF, &limit, 0);
}
static void ca_watch(const void *at, unsigned long size) {
  char *was = ca_watched_count < 512 ? (char *)malloc(size + 1) : 0;
  if (!was) return;
  memcpy(was, at, size);
  ca_watched[ca_watched_count].at = (char *)at, ca_watched[ca_watched_count].was = was;
  ca_watched[ca_watched_count++].size = size;
}
static void ca_unshown(void *place, unsigned long size) {
  char *at = (char *)place;
  for (int n = 0; n < ca_watched_count; n++)
    if (at >= ca_watched[n].at && at + size <= ca_watched[n].at + ca_watched[n].size)
      if (!memcmp(at, ca_watched[n].was + (at - ca_watched[n].at), size)) return;
  printf("\n%s?\n", ca_key);
}
static void ca_begin(void) {
  for (int n = 0; n < ca_held_count; n++) ca_watch(ca_held[n].at, ca_held[n].size);
  printf("\n%s<%s\n", ca_key, ca_number);
  fflush(stdout);
  fprintf(stderr, "\n%s<%s\n", ca_key, ca_number);
  errno = 0;
}
static void ca_absent(void) {
  printf("\n%s~\n", ca_key);
  fflush(stdout);
  _Exit(0);
}
static void ca_end(void) {
  ca_error = errno;
  printf("\n%s>\n", ca_key);
  if (ca_error) printf("errno %d ", ca_error);
}

static void *ca_made(unsigned long size, int kind) {
  char *at = (char *)calloc(1, size);
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
    + "".join(f"    case {number}: return sizeof({kind});\n" for number, kind in enumerate(NUMBERS))
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
        for number, kind in enumerate(NUMBERS)
        if number
    )
    + r"""  }
}
static void *ca_text(void) {
  const char *word = ca_words[ca_below(ca_words_count)];
  long count = ca_is_one_in(6) ? ca_below(20) : ca_base;
  int is_word = *word && ca_is_one_in(4), is_open = ca_is_one_in(5);
  if (is_word) count = (long)strlen(word);
  char *own = (char *)ca_made(count + !is_open + (ca_is_one_in(4) ? 64 : 0), 0);
  for (long n = 0; n < count; n++) own[n] = is_word ? word[n] : ca_sign();
  return own;
}
static void *ca_buffer(int kind) {
  long count = ca_is_one_in(6) ? ca_below(20) : ca_base, size = (long)ca_size(kind);
  char *own = (char *)ca_made(count * size, kind);
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
static void ca_show(void *place, int kind, unsigned long size, int depth) {
  if (kind < 0 || depth > 3) {
    int is_pointer = kind >= 64 ? kind % 2 : kind >= 32;
    if (is_pointer && !*(char **)place) printf("null ");
    else ca_unshown(place, size);
    return;
  }
  if (kind < 32) {
    for (unsigned long n = 0; n < (kind == 14 ? 10 : ca_size(kind)); n++)
      printf("%02x", ((unsigned char *)place)[n]);
    printf(" ");
  } else if (kind >= 64 && kind % 2 == 0) {
    ca_structures[(kind - 64) / 2].show(place, depth);
  } else {
    char *own = *(char **)place;
    if (ca_is_named(own)) return;
    if (kind == CA_BYTES) { ca_unshown(place, size); return; }
    if (kind >= 64) {
      const struct ca_structure *one = &ca_structures[(kind - 64) / 2];
      if (!ca_is_lost(own, one->size)) one->show(own, depth + 1);
      return;
    }
    int n = 0;
    for (; n < 1024 && !__asan_address_is_poisoned(own + n) && (kind != 32 || own[n]); n++)
      printf("%02x", own[n] & 255);
    printf(n < 1024 ? " " : "\n%s?\n", ca_key);
  }
}
static void ca_tell(void) {
  for (int n = 0; n < ca_held_count; n++) {
    char *at = ca_held[n].at;
    if (ca_is_lost(at, ca_held[n].size)) continue;
    if (ca_held[n].kind >= 64) {
      ca_show(at, ca_held[n].kind, ca_held[n].size, 1);
    } else {
      for (unsigned long k = 0; k < ca_held[n].size; k++) printf("%02x", at[k] & 255);
      printf(" ");
    }
  }
  printf("\n%s=\n", ca_key);
  fflush(stdout);
}
#ifdef __cplusplus
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
"""
    + overloads(KINDS)
    + r"""template <class T> int ca_kind(T *) {
  if constexpr (std::is_enum_v<T>) return ca_kind((std::underlying_type_t<T> *)0);
  return -1;
}
static long ca_count(void) { return ca_is_one_in(6) ? ca_below(20) : ca_base; }
template <class T> void ca_draw_any(T &x, int size, int depth) {
  ca_draw((void *)&x, ca_kind(&x), size, depth);
}
template <class T> void ca_show_any(T &x, int depth) {
  ca_show((void *)&x, std::is_trivially_copyable_v<T> || !depth ? ca_kind(&x) : -1, sizeof(x), depth);
  if (!std::is_trivially_copyable_v<T> && depth) printf("\n%s?\n", ca_key);
}
template <class A, class B> void ca_draw_any(std::pair<A, B> &x, int size, int depth);
template <class A, class B> void ca_draw_any(std::map<A, B> &x, int size, int depth);
template <class T> void ca_draw_any(std::set<T> &x, int size, int depth);
template <class T> void ca_draw_any(std::vector<T> &x, int size, int depth);
inline void ca_draw_any(std::string &x, int, int) {
  if (ca_is_one_in(4)) x = ca_words[ca_below(ca_words_count)];
  if (x.empty()) for (long n = ca_count(); n > 0; n--) x += ca_sign();
}
template <class A, class B> void ca_draw_any(std::pair<A, B> &x, int, int depth) {
  ca_draw_any(x.first, 0, depth), ca_draw_any(x.second, 0, depth);
}
template <class A, class B> void ca_draw_any(std::map<A, B> &x, int, int depth) {
  for (long n = ca_count(); n > 0; n--) {
    A key{};
    ca_draw_any(key, 0, depth), ca_draw_any(x[key], 0, depth);
  }
}
template <class T> void ca_draw_any(std::set<T> &x, int, int depth) {
  for (long n = ca_count(); n > 0; n--) { T one{}; ca_draw_any(one, 0, depth), x.insert(one); }
}
template <class T> void ca_draw_any(std::vector<T> &x, int, int depth) {
  for (long n = ca_count(); n > 0; n--) { T one{}; ca_draw_any(one, 0, depth), x.push_back(one); }
}
template <class A, class B> void ca_show_any(std::pair<A, B> &x, int depth);
template <class A, class B> void ca_show_any(std::map<A, B> &x, int depth);
template <class T> void ca_show_any(std::set<T> &x, int depth);
template <class T> void ca_show_any(std::vector<T> &x, int depth);
inline void ca_show_any(std::string &x, int) {
  printf("text ");
  for (char one : x) printf("%02x", one & 255);
  printf(" ");
}
template <class T> void ca_show_items(T &x, int depth) {
  printf("%lu items ", (unsigned long)x.size());
  for (auto one : x) ca_show_any(one, depth);
}
template <class A, class B> void ca_show_any(std::pair<A, B> &x, int depth) {
  auto first = x.first;
  ca_show_any(first, depth), ca_show_any(x.second, depth);
}
template <class A, class B> void ca_show_any(std::map<A, B> &x, int depth) { ca_show_items(x, depth); }
template <class T> void ca_show_any(std::set<T> &x, int depth) { ca_show_items(x, depth); }
template <class T> void ca_show_any(std::vector<T> &x, int depth) {
  printf("%lu items ", (unsigned long)x.size());
  for (T one : x) ca_show_any(one, depth);
}
#endif
"""
)
"""The text."""
