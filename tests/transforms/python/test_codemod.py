"""LibCST codemods as transforms: nothing vouches for them, so only execution lets them count."""

from pathlib import Path
from random import Random

import pytest

from codeaudit.audit.evidence_check import DIFFERS, FindingCounts, execute, witnesses
from codeaudit.audit.labels import labels
from codeaudit.audit.registry import TASKS
from codeaudit.audit.suite import SuitePlan, case
from codeaudit.transforms.errors import CannotAudit, UsageError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.permission import permit
from codeaudit.transforms.perturb import NOT_EXECUTED, UNCONFIRMED, perturb_one, reapply
from codeaudit.transforms.records import NotApplied, Origin, Perturbed, Sample
from codeaudit.transforms.registry import TRANSFORMS, expand, transform_for
from codeaudit.transforms.source_files import Declined, TransformSeries, perturb_file

NOTHING, SKIPPED = "codemod changes nothing", "codemod skips the text"
FORMAT = "codemod/libcst.codemod.commands.convert_format_to_fstring:ConvertFormatStringCommand"


@pytest.fixture(autouse=True)
def _typed() -> None:
    """The user names the codemods of these tests; what nobody names is refused (`test_permission.py`)."""
    own = ("Minus", "Skipping", "Asking", "Breaking", "NUMBER", "Missing")
    permit(FORMAT, *(f"codemod/own_codemods:{name}" for name in own), "codemod/no_such_module:X")


LABEL = """\
def label(name, count):
    text = "{} has {}".format(name, count)
    return text
"""

OWN = '''
import libcst as cst
from libcst.codemod import CodemodCommand, SkipFile, VisitorBasedCodemodCommand

class Minus(VisitorBasedCodemodCommand):
    """Breaks sums."""
    def leave_Add(self, original_node, updated_node):
        return cst.Subtract()

class Skipping(CodemodCommand):
    def transform_module_impl(self, tree):
        raise SkipFile("no")

class Asking(VisitorBasedCodemodCommand):
    def __init__(self, context, word):
        super().__init__(context)

class Breaking(CodemodCommand):
    def transform_module_impl(self, tree):
        print("seen")
        return tree.with_changes(header=[], body=[cst.parse_statement("x = 1"), cst.parse_statement("return")])

NUMBER = 3
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_codemods.py").write_text(OWN, "utf-8")
    return tmp_path


def sample(source: str) -> Sample:
    return Sample(id="a", language="python", source=source, label=None, origin=Origin(path="a.py", line=1))


def confirmed(name: str, source: str) -> list[Perturbed | NotApplied]:
    """What becomes of the variants where they are executed."""
    plan = SuitePlan(transforms=(name,), variants=2, seed=0, executed=True)
    known = witnesses(["python"], labels(None, TASKS.get("function-name"), cache=Path("unused"), note=print))
    (judged,) = execute([case(sample(source), plan)], known, FindingCounts())
    return list(judged.outcomes)


def test_a_codemod_is_a_transform_by_its_name() -> None:
    transform = TRANSFORMS.get(FORMAT)
    assert (transform.name, transform.kind, transform.languages) == (FORMAT, "preserving", {"python"})  # type: ignore[comparison-overlap]
    assert transform_for(FORMAT, "python") == transform
    assert expand([FORMAT, "rename"]) == (FORMAT, "rename")
    moves = transform.propose(LABEL, Random(0))
    assert not isinstance(moves, Refused)
    rewritten = transform.apply(LABEL, moves)
    assert not isinstance(rewritten, Refused)
    assert 'f"{name} has {count}"' in rewritten.source
    assert rewritten.evidence == "none"


def test_without_execution_no_variant_counts() -> None:
    outcomes = list(perturb_one(sample(LABEL), TRANSFORMS.get(FORMAT), variants=2, seed=0))
    assert [isinstance(outcome, NotApplied) and outcome.reason for outcome in outcomes] == [NOT_EXECUTED] * 2
    again = reapply(sample(LABEL), TRANSFORMS.get(FORMAT), TRANSFORMS.get(FORMAT).propose(LABEL, Random(0)))  # type: ignore[arg-type]
    assert isinstance(again, NotApplied)


def test_execution_confirms_what_keeps_the_meaning() -> None:
    first, second = confirmed(FORMAT, LABEL)
    assert isinstance(first, Perturbed)
    assert first.evidence == "executed"
    assert isinstance(second, NotApplied), "a codemod has one variant"


def test_execution_refutes_what_does_not(project: Path) -> None:
    (first, _) = confirmed(
        "codemod/own_codemods:Minus", "def f(a: int, b: int) -> int:\n    c = a + b\n    return c\n"
    )
    assert isinstance(first, NotApplied)
    assert first.reason == DIFFERS


def test_what_execution_cannot_decide_does_not_count() -> None:
    (first, _) = confirmed(FORMAT, "text = '{}'.format(1)\n")
    assert isinstance(first, NotApplied)
    assert first.reason == UNCONFIRMED


def test_files_in_place_are_left_alone() -> None:
    from codeaudit.transforms.python.files import PYTHON_FILES

    done = perturb_file(
        PYTHON_FILES, LABEL.encode(), "a.py", TransformSeries(transforms=(TRANSFORMS.get(FORMAT),), seed=0)
    )
    (record,) = done.records
    assert isinstance(record, Declined)
    assert record.reason == NOT_EXECUTED
    assert done.data == LABEL.encode()


@pytest.mark.parametrize(
    ("name", "source", "reason"),
    [
        (FORMAT, "def f():\n    return 1\n", NOTHING),
        ("codemod/own_codemods:Skipping", LABEL, SKIPPED),
        ("codemod/own_codemods:Asking", LABEL, "codemod failed: TypeError"),
    ],
)
def test_reasons(project: Path, name: str, source: str, reason: str) -> None:
    assert TRANSFORMS.get(name).propose(source, Random(0)) == Refused(reason)


def test_a_codemod_that_prints_does_not_disturb_the_output(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    TRANSFORMS.get("codemod/own_codemods:Breaking").propose(LABEL, Random(0))
    assert capsys.readouterr() == ("", "seen\n")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("codemod/own_codemods", UsageError, "must be codemod/MODULE:CLASS"),
        ("codemod/own_codemods:NUMBER", CannotAudit, "'NUMBER' is no subclass of libcst.codemod.Codemod"),
        ("codemod/own_codemods:Missing", CannotAudit, "module 'own_codemods' has no 'Missing'"),
        ("codemod/no_such_module:X", CannotAudit, "cannot import 'no_such_module'"),
    ],
)
def test_what_cannot_be_loaded_says_why(
    project: Path, name: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        expand([name])
