"""What is known of macros at each level, with headers of a small project."""

import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from codeaudit.transforms.c import headers
from codeaudit.transforms.c.identifiers.rename import IN_ARGUMENT, IN_MACRO
from codeaudit.transforms.c.macros import HYGIENIC, NOT_COMPILED, NOT_FOUND, NOT_READ, UNSEEN
from codeaudit.transforms.c.order.reorder import JUMPS_BACK
from codeaudit.transforms.c.rewriting import CAST_OR_CALL, LOOSE_MACRO, NAMED_AS_A_MACRO
from codeaudit.transforms.interface import Refused, Rewritten, placed
from codeaudit.transforms.registry import expand, transform_for
from tests.support.c_running import GCC, needs_gcc, object_code
from tests.transforms.c.random_programs import PRELUDE, program
from tests.transforms.c.test_object_code import rewritten

HEADER = """
#define ADD(n) (sum += (n))
#define SHOW(x) puts("//" #x)
#define CHECK(p) if (!(p)) goto fail
#define BOTH g(); h()
#define LIMIT 1 + 2
#define NONE { 0, 0 }
#define add2(n) ADD(n)
int g(void); int h(void); int puts(const char *);
struct pair { int first; int second; union { int whole; char part; } both; };
"""
CAPTURED = "int f(int n)\n{\n    int sum = 0;\n    %s(n);\n    return sum;\n}\n"
PLAIN = "int f(int n)\n{\n    int low = n;\n    int high = n + 1;\n    g();\n    return high - low;\n}\n"


def made(
    name: str, function: str, folder: Path, *, before: str = '#include "own.h"\n', behind: str = ""
) -> Rewritten | Refused:
    """What a transform makes of the function of a file in a project."""
    folder.joinpath("own.h").write_text(HEADER, encoding="utf-8")
    file = folder / "a.c"
    text = before + function + behind
    transform = transform_for(name, "c").within(placed(text, str(file)))
    moves = transform.propose(function, Random(0))
    edit: Rewritten | Refused = moves if isinstance(moves, Refused) else transform.apply(function, moves)
    return edit


@pytest.mark.parametrize("compiler", [pytest.param("gcc", marks=needs_gcc), ""])
@pytest.mark.parametrize(
    ("name", "function", "reason"),
    [
        ("rename", CAPTURED % "ADD", IN_MACRO),
        ("rename", CAPTURED % "add2", IN_MACRO),
        ("rename", "int f(int n)\n{\n    int own = n;\n    SHOW(own);\n    return 1;\n}\n", IN_ARGUMENT),
        ("reorder", "int f(int *p)\n{\n    int a = 1;\n    CHECK(p);\n    a = *p;\n    return a;\n    fail: return a;\n}\n", JUMPS_BACK),
        ("insert-parentheses", "int f(int a) { struct pair p = NONE; return p.first + a; }", LOOSE_MACRO),
        ("insert-braces", "int f(int a) { if (a) BOTH; return a; }", LOOSE_MACRO),
        ("swap-operands", "int f(int a) { return a * LIMIT + (a + 2); }", LOOSE_MACRO),
    ],
)  # fmt: skip
def test_a_macro_of_a_header_is_looked_up(
    compiler: str, name: str, function: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = GCC if compiler else None
    monkeypatch.setattr(headers, "compiler_of", lambda tongue: installed)
    headers.facts_of.cache_clear()
    assert made(name, function, tmp_path) == Refused(reason)
    assert isinstance(made(f"hygienic/{name}", function, tmp_path), Rewritten)
    assert made(f"unknown/{name}", function, tmp_path) == Refused(UNSEEN)


@pytest.mark.skipif(headers.compiler_of("c++") is None, reason="no compiler of C++")
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (CAPTURED % "ADD", IN_MACRO),
        ("int f(int n)\n{\n    int own = n;\n    SHOW(own);\n    return 1;\n}\n", IN_ARGUMENT),
        ("int f(int n)\n{\n    int own = n;\n    assert(own);\n    return 1;\n}\n", IN_ARGUMENT),
        ("int f(int n)\n{\n    std::vector<int> own(n);\n    return own.size() + g();\n}\n", ""),
    ],
)
def test_macros_of_headers_of_cpp_are_looked_up(function: str, reason: str, tmp_path: Path) -> None:
    tmp_path.joinpath("own.h").write_text(HEADER, encoding="utf-8")
    top = '#include <cassert>\n#include <vector>\n#include "own.h"\n'
    levels = {}
    for level in ("", "hygienic/"):
        transform = transform_for(f"{level}rename", "cpp").within(
            placed(top + function, str(tmp_path / "a.cpp"))
        )
        moves = transform.propose(function, Random(0))
        levels[level] = moves if isinstance(moves, Refused) else transform.apply(function, moves)
    if reason:
        assert levels[""] == Refused(reason)
    else:
        assert levels[""].evidence == "analysis"
        assert levels["hygienic/"].evidence == "analysis (macros hygienic)"


@pytest.mark.skipif(headers.compiler_of("c++") is None, reason="no compiler of C++")
def test_a_header_of_cpp_that_is_not_found_leaves_strange_words_alone(tmp_path: Path) -> None:
    top = '#include "hidden.h"\nnamespace own { struct list { int size(); }; }\nint known(int);\n'
    reasons = []
    for word in ("known", "strange"):
        function = (
            f"int f(int n)\n{{\n    own::list it;\n    n += it.size();\n    return n + {word}(n);\n}}\n"
        )
        around = placed(top + function, str(tmp_path / "a.cpp"))
        moves = transform_for("rename", "cpp").within(around).propose(function, Random(0))
        reasons.append(moves.reason if isinstance(moves, Refused) else "")
    assert reasons == ["", NOT_FOUND]


@needs_gcc
def test_headers_are_found_in_the_project_if_each_is_the_only_one(tmp_path: Path) -> None:
    function = CAPTURED % "LATE"
    file = tmp_path / "src" / "a.c"
    for folder in (file.parent, tmp_path / "include" / "lib", tmp_path / "other" / "lib"):
        folder.mkdir(parents=True)
    (tmp_path / "include" / "lib" / "own.h").write_text('#include "lib/late.h"\n', "utf-8")
    (tmp_path / "include" / "lib" / "late.h").write_text("#define LATE(n) (sum += (n))\n", "utf-8")
    (tmp_path / "include" / "time.h").write_text("#error not this one\n", "utf-8")

    def refused(step: int) -> str:
        # What is known of a text is remembered, so each step has its own.
        text = f"// {step}\n#include <time.h>\n#include <lib/own.h>\n{function}"
        transform = transform_for("rename", "c").within(placed(text, str(file)))
        refusal = transform.propose(function, Random(0))
        headers._project_headers.cache_clear()
        assert isinstance(refusal, Refused)
        return refusal.reason

    assert refused(1) == NOT_FOUND, "nothing says where the project begins"
    (tmp_path / "CMakeLists.txt").touch()
    assert refused(2) == IN_MACRO
    (tmp_path / "other" / "lib" / "own.h").touch()
    assert refused(3) == NOT_FOUND, "one of two"
    (tmp_path / "other" / "lib" / "own.h").unlink()
    (tmp_path / "compile_flags.txt").write_text("-I.\n", "utf-8")
    assert refused(4) == NOT_FOUND, "the project says where its headers are"


@needs_gcc
@pytest.mark.parametrize(
    ("name", "is_disjoint"), [("rename", False), ("reorder", False), ("disjoint/reorder", True)]
)
def test_the_evidence_is_that_of_the_level(name: str, is_disjoint: bool, tmp_path: Path) -> None:
    function = PLAIN.replace("g();", "")
    for level, more in (("", ""), ("hygienic/", "macros hygienic"), ("unknown/", "")):
        edit = made(level + name, function, tmp_path)
        assert isinstance(edit, Rewritten)
        assumptions = ", ".join(filter(None, (more, "fields disjoint" if is_disjoint else "")))
        assert edit.evidence == ("analysis" + (f" ({assumptions})" if assumptions else ""))


def test_unknown_refuses_words_of_both_cases(tmp_path: Path) -> None:
    for call in ("g", "G"):
        function = PLAIN.replace("g();", f"{call}();")
        assert made("unknown/rename", function, tmp_path) == Refused(UNSEEN)
        assert made("unknown/insert-blank-lines", function, tmp_path) == Refused(UNSEEN)
        # A control keeps nothing that a macro could change.
        assert isinstance(made("rename-merging", function, tmp_path, before="#include <no.h>\n"), Rewritten)


def test_a_header_that_is_not_found_makes_its_words_unknown(tmp_path: Path) -> None:
    absent = '#include "own.h"\n#include <absent/none.h>\n'
    assert isinstance(made("rename", PLAIN, tmp_path, before=absent), Rewritten), "a header declares g"
    assert made("rename", PLAIN.replace("g()", "other()"), tmp_path, before=absent) == Refused(NOT_FOUND)


@needs_gcc
def test_a_branch_that_is_not_compiled_is_not_known(tmp_path: Path) -> None:
    before = '#include "own.h"\n#ifdef NEVER\n'
    assert made("rename", PLAIN, tmp_path, before=before, behind="#endif\n") == Refused(NOT_COMPILED)
    assert isinstance(
        made("rename", PLAIN, tmp_path, before="#if 1\nint g(void);\n", behind="#endif\n"), Rewritten
    )


@needs_gcc
def test_fields_of_a_union_keep_their_order(tmp_path: Path) -> None:
    apart = "void f(struct pair *p)\n{\n    p->first = 1;\n    p->second = 2;\n}\n"
    edit = made("disjoint/reorder", apart, tmp_path)
    assert isinstance(edit, Rewritten)
    assert "= 2;\n    p->first" in edit.source
    assert isinstance(made("reorder", apart, tmp_path), Refused)
    together = "void f(struct pair *p)\n{\n    p->both.whole = 1;\n    p->both.part = 2;\n}\n"
    assert isinstance(made("disjoint/reorder", together, tmp_path), Refused)
    # Whoever reads the whole sees each of its parts.
    whole = "void f(struct pair *p, struct pair *q)\n{\n    p->own.first = 1;\n    q->own = p->own;\n}\n"
    assert isinstance(made("disjoint/reorder", whole, tmp_path), Refused)


def test_two_uses_of_one_pointer_are_one_event() -> None:
    def movable(body: str) -> bool:
        function = f"int f(struct s *p, struct s *q, char **g)\n{{\n{body}\n    return a > b;\n}}\n"
        return not isinstance(transform_for("reorder", "c").propose(function, Random(0)), Refused)

    assert movable("    char *a = p->x;\n    char *b = p->y;")
    assert movable("    char *a = p->s->x;\n    char *b = p->s->y;")
    assert not movable("    char *a = p->x;\n    char *b = q->y;")
    assert not movable("    char *a = p->x;\n    char *b = *g;")
    assert not movable("    char *a = p ? p->x : 0;\n    char *b = p->y;")
    assert not movable("    char *a = p->x;\n    char *b = p->y + 1;")
    assert not movable("    int a = p->x;\n    int b = p->y;"), "x may be a fraction"


@needs_gcc
def test_headers_say_the_types_of_fields(tmp_path: Path) -> None:
    function = "int f(const struct pair *p)\n{\n    int a = p->first;\n    int b = p->second;\n    return a > b;\n}\n"
    assert isinstance(made("reorder", function, tmp_path), Rewritten)
    more = '#include "own.h"\nstruct other { double first; };\n'
    assert isinstance(made("reorder", function, tmp_path, before=more), Refused)


# ── what of a project's commands is used ─────────────────────────────────────────────────────────────────


def test_only_some_flags_of_a_command_are_used(tmp_path: Path) -> None:
    words = ["/bin/evil", "-fexec-charset=UTF-8", "-fexec-charset=a,b", "-fplugin=a.so", "@more", "-Iinc", "-I", "b", "-DX=1", "-D", "Y", "-UZ", "-std=c99", "-o", "out",
             "-include", "all.h", "-wrapper", "sh", "-imacros", "m.h", "-D-x", "-Bhere", "-specs=s", "a.c"]  # fmt: skip
    assert headers.kept_flags(words, tmp_path) == (
        f"-I{tmp_path}/inc", f"-I{tmp_path}/b", "-DX=1", "-DY", "-UZ", "-std=c99", "-include", f"{tmp_path}/all.h",
    )  # fmt: skip


@needs_gcc
def test_commands_of_a_project_find_its_headers(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    tmp_path.joinpath("inc").mkdir()
    tmp_path.joinpath("inc/more.h").write_text(
        "#ifdef ON\n#define STEP(n) (low += (n))\n#endif\n", encoding="utf-8"
    )
    before = '#include "own.h"\n#include <more.h>\n'
    function = PLAIN.replace("g();", "STEP(n);")
    assert made("rename", function, source, before=before) == Refused(NOT_FOUND)
    rows = [{"directory": str(source), "file": "a.c", "command": "cc -DON=1 -I../inc -c a.c"}]
    tmp_path.joinpath("compile_commands.json").write_text(json.dumps(rows), encoding="utf-8")
    edit = made("rename", function, source, before=f"{before}int more;\n")
    assert isinstance(edit, Rewritten)
    assert "int low = n;" in edit.source
    assert "high" not in edit.source


@needs_gcc
@pytest.mark.slow
def test_renamed_functions_with_known_macros_compile_to_the_same_code(tmp_path: Path) -> None:
    macros = "\n".join(line for line in HEADER.split("\n") if line.startswith("#"))
    tmp_path.joinpath("own.h").write_text(f"{macros}\nint puts(const char *);\n{PRELUDE}", encoding="utf-8")
    functions = [program(seed).replace("int f(", f"int f{seed}(") for seed in range(6)]
    functions += [
        CAPTURED.replace("f(", "caught(") % "ADD",
        "int told(int n)\n{\n    int own = n;\n    SHOW(own);\n    return own;\n}\n",
    ]
    text = '#include "own.h"\nint printf(const char *, ...);\n' + "\n".join(functions)
    after, count = rewritten(text, "rename-parameters", 0, str(tmp_path / "a.c"))
    assert count == len(functions)
    before = object_code(text, "-O2", "-I", str(tmp_path))
    assert before is not None
    assert object_code(after, "-O2", "-I", str(tmp_path)) == before


@needs_gcc
def test_where_the_compiler_meets_an_error_words_must_be_explained(tmp_path: Path) -> None:
    function = "int f(int n)\n{\n    int own = n;\n    WORD(own);\n    return own;\n}\n"
    asks = '#include "own.h"\n#ifndef CONFIGURED\n#error configure first\n#endif\n'
    assert made("rename", function, tmp_path, before=asks) == Refused(NOT_FOUND)
    known = function.replace("WORD", "g")
    assert isinstance(made("rename", known.replace("g(own)", "g()"), tmp_path, before=asks), Rewritten)
    unended = '#include "own.h"\n#if 1\n'
    assert made("rename", known, tmp_path, before=unended) == Refused(NOT_READ)


@pytest.mark.parametrize(
    ("macro", "edited"),
    [
        ("#define PUBLIC(type) __attribute__((used)) type\n", True),
        ("#define PUBLIC(type) static type other; type\n", False),
        ("#define PUBLIC(type) type g(void) { return 0; } type\n", False),
        ("#define PUBLIC(type) BEGIN type\n#define BEGIN int h(void) { return 1; }\n", False),
    ],
)
def test_a_macro_in_the_head_of_a_function_stands_in_the_way_only_with_braces(
    macro: str, edited: bool, tmp_path: Path
) -> None:
    function = "PUBLIC(int) f(int a)\n{\n    if (a) return 2;\n    return 3;\n}\n"
    edit = made("insert-braces", function, tmp_path, before=macro)
    assert edit == Refused(LOOSE_MACRO) if not edited else isinstance(edit, Rewritten)
    inside = function.replace("return 2", "PUBLIC(2)").replace("return 3", "PUBLIC(3)")
    assert made("insert-braces", inside, tmp_path, before="#define PUBLIC(type) type +\n") == Refused(
        LOOSE_MACRO
    )


@pytest.mark.parametrize("name", ["reorder", "insert-braces"])
def test_a_variable_with_the_name_of_a_macro_of_another_part_of_the_file_leaves_the_function(
    name: str, tmp_path: Path
) -> None:
    function = (
        "int f(int n)\n{\n    int at = n;\n    int last = at;\n    if (n) return last;\n    return 1;\n}\n"
    )
    macro = "#define at (*_at)\n#undef at\n"
    assert made(name, function, tmp_path, before=macro) == Refused(NAMED_AS_A_MACRO)


def test_what_binds_to_a_call_and_not_to_a_cast_leaves_the_function(tmp_path: Path) -> None:
    function = (
        "char *f(void *s)\n{\n    if (!s) return 0;\n    return (char *)(word)((struct pair *)s)->first;\n}\n"
    )
    for name in ("arrow-to-star", "insert-braces"):
        assert made(name, function, tmp_path) == Refused(CAST_OR_CALL)
    assert isinstance(made("insert-braces", function.replace("->first", " + 1"), tmp_path), Rewritten)


@needs_gcc
@pytest.mark.parametrize("name", ["comparison-flipped-wrong", "rename-merging"])
def test_a_control_assumes_nothing_of_macros_where_all_headers_are_found(name: str, tmp_path: Path) -> None:
    function = PLAIN.replace("g();", "high = high > low;")
    known = made(name, function, tmp_path)
    assert isinstance(known, Rewritten)
    assert known.evidence != HYGIENIC
    unknown = made(name, function, tmp_path, before="#include <absent/own.h>\n")
    assert isinstance(unknown, Rewritten), "and what is not found keeps no meaning"
    if name == "comparison-flipped-wrong":
        assert (known.evidence, unknown.evidence) == ("analysis", HYGIENIC)


@needs_gcc
def test_a_compiler_is_asked_once_about_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answer = headers.answer

    def counted(words: Sequence[str], *rest: Any) -> Any:
        asked.extend(["-v"] if "-v" in words else ["-E"])
        return answer(words, *rest)

    monkeypatch.setattr(headers, "answer", counted)
    for folder in ("src", "include/lib", "windows"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "CMakeLists.txt").touch()
    (tmp_path / "include/lib/own.h").write_text('#include "lib/late.h"\n#include <absent/late.h>\n', "utf-8")
    (tmp_path / "include/lib/late.h").write_text("#define LATE(n) (n)\n", "utf-8")
    (tmp_path / "windows/other.h").write_text("#define LATE(n) (-n)\n", "utf-8")
    file = str(tmp_path / "src" / "a.c")
    before = "#include <stdio.h>\n#include <lib/own.h>\n#include <absent/first.h>\n"
    shown = headers.facts_of(before, file)
    assert set(shown.missing) == {"absent/first.h", "absent/late.h"}
    assert "#define LATE(n) (n)" in shown.definitions
    assert asked.count("-E") == 1
    headers.facts_of(f"{before}#ifdef _WIN32\n#include <absent/windows.h>\n#endif\n", file)
    assert asked.count("-E") == 2, "a header that is not read is not missing"
    shown = headers.facts_of(f"{before}#ifdef _WIN32\n#include <other.h>\n#endif\n", file)
    assert asked.count("-E") == 4, "a folder counts only if the compiler reads a header of it"
    assert set(shown.missing) == {"absent/first.h", "absent/late.h"}
    shown = headers.facts_of("#if __has_include(<absent/a.h>)\n#include <absent/a.h>\n#endif\n", file)
    assert not shown.missing, "an empty header is no answer to the question if there is one"
    shown = headers.facts_of("#define NAME <absent/named.h>\n#include NAME\n", file)
    assert shown.missing == ("absent/named.h",)
    (tmp_path / "odd").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "odd" / "ü"))
    (tmp_path / "odd" / "ü").mkdir()
    assert headers.facts_of("#include <absent/there.h>\n", file).missing == ("absent/there.h",)


OF_C89: Final = """\
int f(int n, int limit)
{
    int total = n ? limit : 3;
    int low = 1, high;
    high = n + 2;
    if (n > limit && n < 9) {
        int inner = low;
        total += inner;
        return total;
    } else {
        int other = n;
        int more = 4;
        total -= other + more;
    }
    while (low < high) {
        int step = 2;
        low += step;
        limit ^= low;
    }
    return total + high;
}
"""


SWITCH: Final = """\
    switch (n) {
    case 1:
        high = 2;
        break;
    case 2:
        high = 7;
        break;
    default:
        high = limit > 3 ? 1 : 2;
    }
"""


def _made_of_c89(folder: Path, flags: str, function: str, *names: str) -> list[str]:
    """What transforms make of a function that is compiled with these flags."""
    (folder / "compile_flags.txt").write_text(flags, "utf-8")
    around = placed(f"{function}/* {flags} */", str(folder / "a.c"))
    texts = []
    for transform in (transform_for(name, "c").within(around) for name in names):
        for seed in range(3 if transform.kind == "preserving" else 0):
            moves = transform.propose(function, Random(seed))
            made = moves if isinstance(moves, Refused) else transform.apply(function, moves)
            if isinstance(made, Rewritten):
                texts.append(made.source)
    return texts


def _is_c89(functions: Sequence[str]) -> bool:
    call = [str(GCC), "-std=c89", "-pedantic-errors", "-fsyntax-only", "-x", "c", "-"]
    named = (
        re.sub(r"\bint f\b", f"int f{number}", function, count=1) for number, function in enumerate(functions)
    )
    text = "\n".join(["int none;", *named])
    return not subprocess.run(call, input=text.encode(), capture_output=True, check=False).returncode


CHARACTERS: Final = (
    "int f(int c) { if (c == 'a') return 1; else if (c == 129) return 2; else return c == '0'; }"
)


@needs_gcc
@pytest.mark.parametrize("name", ["character-escapes", "if-to-switch"])
def test_no_number_stands_for_a_character_where_a_command_gives_it_another(name: str, tmp_path: Path) -> None:
    """In IBM1047 `'a'` is 129, so `0141` is another character, and two labels are one."""
    assert _made_of_c89(tmp_path, "-fexec-charset=IBM1047", CHARACTERS, name) == []
    assert len(_made_of_c89(tmp_path, "-fexec-charset=utf8", CHARACTERS, name)) > 0


NEWER: Final = ("reorder", "unused-locals", "split-initialisers", "else-to-return")


@needs_gcc
@pytest.mark.parametrize("name", NEWER)
def test_what_c89_does_not_have_is_not_written_where_a_command_names_it(name: str, tmp_path: Path) -> None:
    assert _is_c89(_made_of_c89(tmp_path, "-ansi", OF_C89, name))
    assert not _is_c89(_made_of_c89(tmp_path, "-std=c89\n-std=c99", OF_C89, name))


@needs_gcc
@pytest.mark.slow
def test_no_transform_writes_what_c89_does_not_have_where_a_command_names_it(tmp_path: Path) -> None:
    function = OF_C89.replace("    return total + high", f"{SWITCH}    return total + high")
    names = expand(["all"], languages=("c",))
    made = [
        variant for text in (function, OF_C89) for variant in _made_of_c89(tmp_path, "-std=c89", text, *names)
    ]
    assert len(made) > 60
    assert _is_c89(made)
