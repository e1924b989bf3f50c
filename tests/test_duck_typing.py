"""Plug-ins whose classes extend none of ours: each kind works, and each ability that it has is used."""

import os
import pickle
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.interface import BaseModel, Model, is_rolling
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.models.wrappers import canonical
from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.preparing import as_model
from codeaudit.reports.registry import FORMATS
from codeaudit.transforms.interface import BaseTransform, Rewritten, is_located, is_surrounded, uses_relation
from codeaudit.transforms.mixing import Mixed
from codeaudit.transforms.perturb import within
from codeaudit.transforms.records import Origin, Sample
from codeaudit.transforms.registration import adapted, overrides
from codeaudit.transforms.registry import TRANSFORMS, transform_for
from tests.support.commands import ROOT, codeaudit
from tests.support.plugins import install

DUCKS = '''
from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.languages import LanguageAudit
from codeaudit.audit.models.provider import Provider
from codeaudit.audit.records import Failed, Predicted
from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.language import Language, TransformFamily, keeps
from codeaudit.transforms.records import Move

class Plain:
    """A blank line at the end."""
    name, kind, unit, languages = "blank", "preserving", "module", frozenset({"python", "quack"})
    def propose(self, source, rng):
        return (Move(kind="blank", site=0, value="", note="a line"),)
    def apply(self, source, moves):
        return Rewritten(source=source + "\\n" * len(moves), evidence="analysis")

class Able(Plain):
    """Blank lines, with all abilities."""
    name = "able"
    around = dependence = ""
    def within(self, text):
        found = Able()
        found.around = text
        return found
    def under(self, dependence):
        found = Able()
        found.dependence = dependence
        return found
    def places(self, source):
        return {0: "end"}
    def count(self, source):
        return 1
    def every(self, source):
        yield self.propose(source, None)

BLANK, ABLE = Plain(), Able()

class Silent:
    def __init__(self, name):
        self.name, self.task, self.parameters, self.fingerprint, self.noise = name, None, 7, name, 0.0
        self.answers = {"mine": "no method of the interface"}
    def predict(self, queries):
        return [Predicted(answer="duck")] * len(queries)

class Talking(Silent):
    """A model with abilities."""
    samples, scale, at_once, ahead, tasks = 3, "logits", 2, 5, frozenset({"x"})
    usage, bill = {"requests": 1}, "one request"
    network = "its own"
    def __init__(self, name):
        super().__init__(name)
        del self.answers
    def answers(self, batches):
        for number, queries in enumerate(batches):
            yield number, [Predicted(answer=str(number))] * len(queries)
    def unreadable(self, query):
        return Failed(reason="too long")
    def stream(self):
        return "a stream"
    def forecast(self, query, reply):
        return 1, 2, 3
    def cost(self, into, out):
        return 0.5

def load(rest, settings):
    return (Talking if rest == "talking" else Silent)(f"ducks/{rest}")

DUCKS = Provider(form="ducks/NAME", summary="ducks", load=load)

class Pond:
    language = "python"
    def __init__(self, spec):
        self.spec = spec
    def read(self, skipped):
        for name in ("one", "two"):
            source = f"def {name}(a):\\n    b = a\\n    c = b\\n    return c\\n"
            yield raw_sample(source, language="python", label=name, path="pond.py", line=1)

def pond(spec, rest, resources):
    """Functions of ducks."""
    return Pond(spec)

class Renderer:
    """Names alone."""
    def __call__(self, report, console):
        console.file.write(" ".join(row.model for row in report.models) + "\\n")

RENDER = Renderer()
EXAMPLE = "quack\\n"
QUACK = Language(
    name="quack", title="Quack", units="quacks", endings=(".quack",), standard=("blank",), example=EXAMPLE,
    families=(TransformFamily.of("", "blank", "blanks", keeps("ducks:BLANK", "a blank line", EXAMPLE)),),
)
'''
POINTS = {
    "codeaudit.transforms": {"add-blank": "ducks:Plain", "able": "ducks:ABLE"},
    "codeaudit.models": {"ducks": "ducks:DUCKS"},
    "codeaudit.corpora": {"pond": "ducks:pond"},
    "codeaudit.formats": {"names": "ducks:RENDER"},
    "codeaudit.languages": {"quack": "ducks:QUACK"},
}
SOURCE = "def f(a):\n    return a\n"
SAMPLE = Sample(
    id="a", language="python", source=SOURCE, label=None, origin=Origin(path="a", line=1), context="x = 1\n"
)
QUERY = Query(task="function-name", language="python", source=SOURCE)


@pytest.fixture(autouse=True)
def ducks(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(install(tmp_path_factory.mktemp("site"), "ducks", POINTS, {"ducks": DUCKS}))


def test_a_transform_without_abilities_has_the_defaults() -> None:
    transform = TRANSFORMS.get("add-blank")
    assert (transform.name, transform.kind, transform.unit) == ("add-blank", "preserving", "module")
    assert not is_surrounded(transform)
    assert not is_located(transform)
    assert not uses_relation(transform)
    assert transform.needs_names
    assert TRANSFORMS.summary("add-blank") == "A blank line at the end."
    assert transform.apply(SOURCE, transform.propose(SOURCE, Random(0))) == Rewritten(  # type: ignore[arg-type]
        source=SOURCE + "\n", evidence="analysis"
    )


def test_the_abilities_of_a_transform_are_used() -> None:
    transform = TRANSFORMS.get("able")
    assert is_located(transform)
    assert within(SAMPLE, transform).around == "x = 1\n"  # type: ignore[attr-defined]
    assert transform.under("paper").dependence == "paper"  # type: ignore[attr-defined]
    mixed = transform_for("mixed/able+rename", "python")
    assert isinstance(mixed, Mixed)
    assert mixed.parts[0].places(SOURCE) == {0: "end"}
    assert overrides(transform, BaseTransform.count)
    assert len(list(transform.every(SOURCE))) == transform.count(SOURCE) == 1


def test_a_language_may_list_a_transform_without_our_base_class() -> None:
    transform = transform_for("blank", "quack")
    assert not is_surrounded(transform)
    assert transform.name == "blank"


def loaded(name: str) -> Model:
    return catalogue.load(f"ducks/{name}", Settings(), {})


def test_a_model_without_abilities_has_the_defaults() -> None:
    model = loaded("silent")
    assert (model.name, model.parameters, model.samples, model.scale) == ("ducks/silent", 7, 1, "")
    assert (model.at_once, model.ahead, model.repeats, dict(model.usage)) == (0, 0, None, {})
    assert model.unreadable(QUERY) is None
    assert not is_rolling(model)
    assert list(model.answers([[QUERY], [QUERY, QUERY]])) == [
        (0, [Predicted(answer="duck")]),
        (1, [Predicted(answer="duck")] * 2),
    ]
    assert canonical(model).predict([QUERY]) == [Predicted(answer="duck")]


def test_the_abilities_of_a_model_are_used() -> None:
    model = loaded("talking")
    assert (model.samples, model.scale, model.at_once, model.ahead) == (3, "logits", 2, 5)
    assert model.tasks == {"x"}
    assert model.bill == "one request"
    assert is_rolling(model)
    assert is_rolling(canonical(model))
    assert model.unreadable(QUERY) == Failed(reason="too long")
    assert list(model.answers([[QUERY]])) == [(0, [Predicted(answer="0")])]
    assert overrides(model, BaseModel.forecast)
    assert model.cost(1, 1) == 0.5
    assert model.network == "its own"  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="nonsense"):
        model.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_an_object_of_the_python_api_is_adapted_and_travels_to_other_processes() -> None:
    class Own:
        name, task, parameters, fingerprint, noise = "own", None, None, "own", 0.0

        def predict(self, queries: list[Query]) -> list[Predicted]:
            return [Predicted(answer="own")] * len(queries)

    model = as_model(Own())
    assert model.predict([QUERY]) == [Predicted(answer="own")]
    assert model.repeats is None
    again = pickle.loads(pickle.dumps(adapted(TRANSFORMS.get("add-blank"), BaseTransform)))
    assert again.name == "add-blank"
    assert adapted(again, BaseTransform) is again


@pytest.mark.slow
def test_a_corpus_a_model_and_a_format_without_our_base_classes_make_a_run(
    tmp_path: Path,
) -> None:
    assert len(list(corpus("pond").read(Counter()))) == 2
    assert "names" in FORMATS
    site = install(tmp_path / "site", "ducks", POINTS, {"ducks": DUCKS})
    words = ["run", "--corpus", "pond", "--model", "ducks/silent", "--transform", "add-blank", "--out", "out"]
    words += ["--format", "names", "--workers", "1", "--variants", "1", "--no-controls"]
    # In a process of its own: the command line reads the formats once.
    path = os.pathsep.join([str(ROOT), str(site)])
    done = codeaudit(*words, cwd=tmp_path, PYTHONPATH=path, CODEAUDIT_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "ducks/silent\n"
