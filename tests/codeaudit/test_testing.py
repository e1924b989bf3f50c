"""`assert_invariant`, as a function and as the fixture of the pytest plugin."""

import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.records import Query
from codeaudit.testing import assert_invariant
from codeaudit.transforms.errors import CannotAudit, UsageError
from tests.support.commands import environment

SOURCE = """
    def add_up(values, start):
        total = start
        count = 1
        for value in values:
            total += value
        return total, count
"""
ASSEMBLY = "movq %rax, %rbx\naddq %rcx, %rbx\nimulq %rdx, %rbx"


def steady(queries: Sequence[Query]) -> list[object]:
    return ["sum"] * len(queries)


def fickle(queries: Sequence[Query]) -> list[object]:
    return ["sum" if "total" in query.source else "other" for query in queries]


def test_an_invariant_model_passes_and_what_was_asked_is_returned() -> None:
    (audited,) = assert_invariant(steady, [SOURCE], transforms=["rename"], variants=3)
    assert len(audited.verdicts) == 3
    assert "def MASK(" in audited.sample.source


def test_a_model_that_reads_names_fails_with_diff_and_answers() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_invariant(fickle, [SOURCE], transforms="rename")
    text = str(caught.value)
    assert text.startswith("fickle changed its answer on 4 of 4 variants (1 sample)")
    assert "<sample 1>:1 under rename, variant 0: ('sum',) became ('other',)" in text
    assert "\n-    total = start\n" in text
    assert text.endswith("... and 1 more")
    assert_invariant(fickle, [SOURCE], transforms=["reorder"])


def test_some_violations_may_be_let_go() -> None:
    with pytest.raises(AssertionError):
        assert_invariant(fickle, [SOURCE], transforms=["rename"], max_violation_rate=0.9)
    assert_invariant(fickle, [SOURCE], transforms=["rename"], max_violation_rate=1.0)


def test_samples_are_texts_files_folders_or_samples(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("def twice(x):\n    y = x\n    return y + y\n", encoding="utf-8")
    text = "def twice(x):\n    y = x\n    return y + y"
    ready = raw_sample(text, language="python", label=None, path="a.py", line=3)
    for samples in ([tmp_path], [tmp_path / "code.py"], tmp_path, SOURCE, [SOURCE, SOURCE], [ready]):
        assert len(assert_invariant(steady, samples)) == 1  # type: ignore[arg-type]
    with pytest.raises(CannotAudit, match="1 × no function to name"):
        assert_invariant(steady, ["x = 1"])


def test_other_tasks_and_languages() -> None:
    def lines(queries: Sequence[Query]) -> list[object]:
        return [float(query.source.count("\n")) for query in queries]

    audited = assert_invariant(lines, [ASSEMBLY], task="throughput", language="x86", transforms=["rename"])
    assert audited[0].verdicts


def test_models_by_name_and_as_objects() -> None:
    assert_invariant("fake/constant", [SOURCE])
    with pytest.raises(AssertionError, match="fake/hash changed its answer"):
        assert_invariant("fake/hash", [SOURCE])
    with pytest.raises(UsageError, match="did you mean 'fake/hash'"):
        assert_invariant("fake/hsh", [SOURCE])
    with pytest.raises(UsageError, match="42 is no model"):
        assert_invariant(42, [SOURCE])  # type: ignore[arg-type]


def test_what_could_not_be_judged_does_not_pass() -> None:
    def silent(queries: Sequence[Query]) -> list[object]:
        return [None] * len(queries)

    def half(queries: Sequence[Query]) -> list[object]:
        return ["sum" if "total" in query.source else None for query in queries]

    with pytest.raises(CannotAudit, match="nothing could be judged \\(4 × no readable answer\\)") as caught:
        assert_invariant(silent, [SOURCE], transforms=["rename"])
    message = "the answer None is malformed; function-name takes a name or a list of its subtokens"
    assert str(caught.value).endswith(message)
    with pytest.raises(CannotAudit, match="nothing could be judged \\(4 × no local to rename\\)"):
        assert_invariant(steady, ["def f(x):\n    # nothing\n    return x"], transforms=["rename"])
    with pytest.raises(CannotAudit, match="could not be judged"):
        assert_invariant(half, [SOURCE], transforms=["rename", "reorder"])
    assert_invariant(half, [SOURCE], transforms=["rename", "reorder"], max_unjudged=1.0)
    with pytest.raises(CannotAudit, match="no sample"):
        assert_invariant(steady, [])


def test_a_control_is_no_invariance() -> None:
    with pytest.raises(UsageError, match="'rename-merging' changes the meaning"):
        assert_invariant(steady, [SOURCE], transforms=["rename-merging"])


@pytest.mark.slow
def test_the_plugin_gives_the_fixture_and_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_model.py").write_text(
        "import sys\n"
        "HEAVY = {'torch', 'numpy', 'pyarrow', 'codeaudit.transforms.registry'} & set(sys.modules)\n"
        "def test_light():\n    assert not HEAVY\n"
        "def answer(queries):\n    return ['x' if 'total' in q.source else 'y' for q in queries]\n"
        f"SOURCE = {SOURCE!r}\n"
        "def test_names(assert_invariant):\n    assert_invariant(answer, [SOURCE], transforms=['rename'])\n",
        encoding="utf-8",
    )
    registered = any(point.value == "codeaudit.pytest_plugin" for point in entry_points(group="pytest11"))
    words = [] if registered else ["-p", "codeaudit.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, str(tmp_path)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "answer changed its answer on 4 of 4 variants" in done.stdout
    assert "codeaudit/testing.py" not in done.stdout, "its own frame is no part of the story"
