"""The ledger of C, entry by entry, by execution.

For each entry other code does not keep to it, and an edit changes what the program does: so the entry is
needed. Where a file shows the same itself, the edit is refused.
"""

from typing import Final, NamedTuple

import pytest

from codeaudit.transforms.c.ledger import LEDGER
from codeaudit.transforms.perturb import DENIED, perturb_one
from codeaudit.transforms.records import NotApplied, Origin, Perturbed, Sample
from codeaudit.transforms.registry import rests_on, transform_for
from tests.support.c_running import NO_CODE, Versions, needs_gcc, outputs
from tests.support.cpp_running import Program as CppProgram
from tests.support.cpp_running import needs_gpp
from tests.support.cpp_running import outputs as cpp_outputs


class Program(NamedTuple):
    """A function that a transform rewrites, and what stands in a header before it."""

    transform: str
    function: str
    header: str
    flags: tuple[str, ...] = ("-O0",)
    language: str = "c"

    def variants(self, context: str = "") -> list[Perturbed | NotApplied]:
        """What the transform makes of the function."""
        sample = Sample(
            id="ledger", language=self.language, source=self.function, label=None, context=context,
            origin=Origin(path="a.c", line=1),
        )  # fmt: skip
        return list(perturb_one(sample, transform_for(self.transform, self.language), variants=4, seed=0))


SUM: Final = "int f(int n)\n{\n    int sum = n;\n    if (n) ADD(n);\n    return sum + (n > 1);\n}\n"
BROKEN: Final = {
    "macros-hygienic": Program("rename", SUM, "static int sum;\n#define ADD(n) (sum += (n))\n"),
    "fields-disjoint": Program(
        "disjoint/reorder",
        "int f(int n)\n{\n    both.whole = n;\n    both.part = 1;\n    return both.whole;\n}\n",
        "static union { int whole; char part; } both;\n",
    ),
    "positions-unread": Program("insert-blank-lines", SUM, "#define ADD(n) (sum += __LINE__)\n"),
    "text-unread": Program("flip-comparisons", SUM.replace("(n > 1)", "SIZE(n > 1 + 1)"),
                           "#define ADD(n) sum\n#define SIZE(n) ((int)sizeof(#n) + #n[0])\n"),
    "later-than-c89": Program("insert-comments", SUM, "#define ADD(n) sum\n", ("-std=c89",)),
    "nobody-between": Program(
        "reorder",
        "int f(int n)\n{\n    int a = !NOW;\n    int b = !NOW;\n    return a * 10 + b;\n}\n",
        "static int ticks;\nstatic int tick(void) { return ++ticks & 1; }\n#define NOW tick()\n",
    ),
    "fractions-plain": Program(
        "reorder",
        "int f(int n)\n{\n    double one = 1.0;\n    double little = 1e-20;\n    upwards();\n    double sum = one + little;\n"
        "    nearest();\n    return n + (sum > one);\n}\n",
        "#include <fenv.h>\nstatic void upwards(void) { fesetround(FE_UPWARD); }\n"
        "static void nearest(void) { fesetround(FE_TONEAREST); }\n",
        ("-O0", "-Wl,--no-as-needed", "-lm"),
    ),
    "warnings-allowed": Program("unused-locals", SUM, "#define ADD(n) sum++\n", ("-Wno-error", "-Werror=unused-variable", "-Wall", "-W")),
}  # fmt: skip
SHOWN: Final = (
    ("nobody-between", "extern volatile int flag;\n"),
    ("nobody-between", "extern __volatile int flag;\n"),
    ("nobody-between", "extern __volatile__ int flag;\n"),
    ("fractions-plain", "#include <fenv.h>\nvoid up(void) { fesetround(FE_UPWARD); }\n"),
    ("fractions-plain", "#pragma STDC FENV_ACCESS ON\n"),
    ("fractions-plain", "int inexact(void) { return fetestexcept(FE_INEXACT); }\n"),
    ("positions-unread", "int line(void) { return __LINE__; }\n"),
    ("text-unread", '#define SHOW(x) \\\n    printf("%s", # x)\n'),
)


@needs_gcc
@pytest.mark.parametrize("name", [name for name in LEDGER if name != "warnings-allowed"])
def test_an_edit_is_seen_where_an_entry_that_it_rests_on_is_false(name: str) -> None:
    made = BROKEN[name]
    edits = [variant for variant in made.variants() if isinstance(variant, Perturbed)]
    assert edits
    assert all(name in {row.id for row in rests_on(edit)} for edit in edits)
    texts = [made.function, *(edit.source for edit in edits)]
    ((before, *after),) = outputs([Versions(texts, 'printf("%d", f(3));', made.header)], *made.flags)
    assert before not in ("", NO_CODE)
    assert any(one != before for one in after)


@pytest.mark.parametrize(("entry", "file"), SHOWN)
def test_an_edit_is_refused_where_its_file_shows_that_an_entry_is_false(entry: str, file: str) -> None:
    made = BROKEN[entry]
    found = made.variants(file + made.function)
    assert {one.reason for one in found if isinstance(one, NotApplied)} == {f"{DENIED}{entry}"}
    assert not any(isinstance(one, Perturbed) for one in found)


def test_a_macro_of_the_file_is_looked_up() -> None:
    made = BROKEN["macros-hygienic"]
    assert all(isinstance(variant, NotApplied) for variant in made.variants(made.header + made.function))


@needs_gpp
def test_a_longer_name_moves_columns() -> None:
    """An entry of C++ alone."""
    made = Program(
        "rename",
        "int f(int n)\n{\n    int sum = n; return sum - sum + column();\n}\n",
        "#include <source_location>\nstatic int column(std::source_location at = std::source_location::current())"
        " { return at.column(); }\n",
        language="cpp",
    )
    edits = [variant for variant in made.variants() if isinstance(variant, Perturbed)]
    assert all("columns-unread" in {row.id for row in rests_on(edit)} for edit in edits)
    texts = [made.function, *(edit.source for edit in edits)]
    calls = 'printf("%d", f(3));'
    before, *after = cpp_outputs([CppProgram(made.header + text, calls) for text in texts], "-std=gnu++20")
    assert before.isdigit()
    assert any(one != before for one in after)
    refused = made.variants(made.header + made.function)
    assert {one.reason for one in refused if isinstance(one, NotApplied)} == {f"{DENIED}columns-unread"}


def test_every_entry_has_its_programs() -> None:
    assert BROKEN.keys() == LEDGER.keys()
