"""Random functions, rewritten by every transform, compiled with gcc and run before and after."""

import pytest

from codeaudit.transforms.c.language import C
from tests.support.c_running import NO_CODE, Versions, needs_gcc, outputs
from tests.transforms.c.random_programs import CALLS, PRELUDE, program
from tests.transforms.c.test_traps import variants

PRESERVING = [name for name, entry in C.transforms.items() if entry.kind == "preserving"]
SANITISED = ("-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")


def checked(seeds: range, names: list[str], flags: tuple[str, ...]) -> tuple[int, dict[str, int]]:
    """Pairs that were compared, and by transform how many there were; fails where two differ."""
    rows, made = [], []
    for seed in seeds:
        source = program(seed)
        texts = {
            text: name
            for name in names
            for text in sorted(variants(name, source, PRELUDE + source, range(seed, seed + 1)))
        }
        made.append(texts)
        rows.append(Versions([source, *texts], CALLS, PRELUDE))
    used = dict.fromkeys(names, 0)
    for texts, row, (before, *after) in zip(made, rows, outputs(rows, *flags), strict=True):
        assert before.count(",") == 12, row.functions[0]
        for (text, name), output in zip(texts.items(), after, strict=True):
            used[name] += 1
            assert output == before, (
                f"{name}\n{row.functions[0]}\n----\n{text}\n{output[:300]}\n{before[:300]}"
            )
    return sum(used.values()), used


@pytest.mark.slow
@needs_gcc
@pytest.mark.parametrize(
    ("seeds", "optimised"),
    [
        (range(4), "-O0"),
        pytest.param(range(6, 14), "-O0", marks=pytest.mark.weekly),
        pytest.param(range(26, 32), "-O2", marks=pytest.mark.weekly),
    ],
    ids=["few", "many", "optimised"],
)
def test_random_functions_do_what_they_did(seeds: range, optimised: str) -> None:
    pairs, _ = checked(seeds, PRESERVING, (optimised,))
    assert pairs > 50 * len(seeds)


@needs_gcc
@pytest.mark.slow
def test_the_functions_have_no_undefined_behaviour() -> None:
    rows = [Versions([program(seed)], CALLS, PRELUDE) for seed in range(30)]
    assert all(output not in ("", NO_CODE) for (output,) in outputs(rows, *SANITISED))


@needs_gcc
def test_a_version_that_does_not_compile_is_found_among_others() -> None:
    good, bad = "int f(int n) { return n; }", "int f(int n) { return m; }"
    rows = [
        Versions(functions, 'printf("%d", f(3));') for functions in ([good], [good, bad, good], [good, good])
    ]
    assert outputs(rows) == [["3"], ["3", NO_CODE, "3"], ["3", "3"]]
