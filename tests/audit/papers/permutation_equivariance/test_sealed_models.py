"""Sealed checkpoints of eight families and of our own: useless without the key, exact with it."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from codeaudit.audit import checkpoints
from codeaudit.audit.papers import registry
from codeaudit.audit.papers.permutation_equivariance.sealing import (
    Opened,
    Plan,
    authorise,
    open_checkpoint,
    plan,
)
from codeaudit.audit.papers.permutation_equivariance.wrapper import NOTICED, PermutedColumns, PermutedRows
from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.records import NetworkQuery, Predicted, Query
from codeaudit.transforms.columns.keys import Key
from codeaudit.transforms.columns.proof import EXACT
from codeaudit.transforms.columns.sealing import seal, unseal, weight_files
from codeaudit.transforms.columns.tracing import tensors
from codeaudit.transforms.errors import ModelError
from tests.support.checkpoints import write_checkpoint
from tests.support.families import FAMILIES, make
from tests.support.models import Recorder, echo

SHARDED = {"t5": "20KB", "llama": "20KB"}
SOURCE = (
    "def f(values):\n    count = 0\n    for value in values:\n        count = count + 1\n    return count\n"
)
QUERY = Query(task="function-name", language="python", source=SOURCE)


def written(name: str, folder: Path) -> Path:
    module: Any = make(name)
    if name == "llama":
        module = module.to(torch.bfloat16)
    module.save_pretrained(folder, max_shard_size=SHARDED.get(name, "1GB"))
    return folder


def sealed(opened: Opened, planned: Plan, key: Key, out: Path) -> Path:
    seal(opened.folder, out, key, scheme="columns", layout=planned.layout, outside=planned.outside)
    return out


@torch.no_grad()
def answers(opened: Opened) -> torch.Tensor:
    return tensors(opened.call.double()(opened.module.double()))[0]


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_sealed_model_runs_with_the_key_and_not_without(name: str, tmp_path: Path) -> None:
    opened = open_checkpoint(str(written(name, tmp_path / "plain")))
    planned = plan(opened)
    assert planned.proved.within(EXACT)
    assert planned.change > 0.3
    key = Key.new()
    place = sealed(opened, planned, key, tmp_path / "sealed")
    wanted = answers(opened)
    unauthorised, authorised = open_checkpoint(str(place)), open_checkpoint(str(place))
    authorise(authorised, key)
    scale = float(wanted.abs().max())
    assert float((answers(authorised) - wanted).abs().max()) < 1e-6 * scale
    # Keys are random, and one in some hundreds changes a small network by less than a tenth.
    assert float((answers(unauthorised) - wanted).abs().max()) > 1e-3 * scale
    unseal(place, tmp_path / "back", key)
    for file in weight_files(tmp_path / "plain"):
        assert (tmp_path / "back" / file).read_bytes() == (tmp_path / "plain" / file).read_bytes()


@pytest.mark.slow
def test_shards_are_sealed_each(tmp_path: Path) -> None:
    folder = written("llama", tmp_path / "plain")
    assert len(weight_files(folder)) > 1
    assert plan(open_checkpoint(str(folder))).locking == 1


@pytest.mark.slow
def test_another_key_authorises_nothing(tmp_path: Path) -> None:
    opened = open_checkpoint(str(write_checkpoint(tmp_path / "plain")))
    place = sealed(opened, plan(opened), Key.new(), tmp_path / "sealed")
    with pytest.raises(ModelError, match="not the key"):
        authorise(open_checkpoint(str(place)), Key.new())


@pytest.mark.slow
@pytest.mark.parametrize("network", ["spe", "symc", "vanilla"])
def test_our_own_networks_are_sealed(network: str, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "plain", network=network)
    opened = open_checkpoint(str(folder))
    key = Key.new()
    place = sealed(opened, plan(opened), key, tmp_path / "sealed")
    plain, turned = LineModel.load(str(folder)), LineModel.load(str(place))
    before, after = plain.predict([QUERY])[0], turned.predict([QUERY])[0]
    assert isinstance(before, Predicted)
    assert isinstance(after, Predicted)
    moved = [abs(dict(before.scores)[name] - score) for name, score in after.scores]
    assert max(moved) > 0.01
    unseal(place, tmp_path / "back", key)
    assert LineModel.load(str(tmp_path / "back")).fingerprint == plain.fingerprint


@pytest.mark.slow
def test_a_model_of_hidden_states_is_sealed_too(tmp_path: Path) -> None:
    library = pytest.importorskip("transformers")
    module: Any = make("bert")
    library.BertModel.save_pretrained(module.bert, tmp_path / "plain")
    opened = open_checkpoint(str(tmp_path / "plain"))
    assert not opened.answers
    key = Key.new()
    place = sealed(opened, plan(opened), key, tmp_path / "sealed")
    with pytest.raises(ModelError, match="hidden states"):
        authorise(open_checkpoint(str(place)), key)


@pytest.mark.slow
def test_weights_that_a_file_has_otherwise_are_refused(tmp_path: Path) -> None:
    opened = open_checkpoint(str(write_checkpoint(tmp_path / "plain")))
    lost = next(name for name, own in opened.names.items() if own.endswith("feed.0.weight"))
    names = {name: own for name, own in opened.names.items() if name != lost}
    halved = Opened(
        folder=opened.folder, module=opened.module, call=opened.call, answers=opened.answers, names=names
    )
    with pytest.raises(ModelError, match="no tensor in the files"):
        plan(halved)


def test_a_model_without_blocks_has_nothing_to_lock(tmp_path: Path) -> None:
    opened = open_checkpoint(str(write_checkpoint(tmp_path / "plain")))
    flat = Opened(
        folder=opened.folder,
        module=torch.nn.Linear(3, 4),
        call=type(opened.call)((torch.ones(2, 3),), {}),
        answers=True,
        names={},
    )
    with pytest.raises(ModelError, match="--scheme cipher"):
        plan(flat)


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("network", ["spe", "symc", "vanilla"])
def test_queries_of_the_network_are_answered_with_permuted_weights(network: str, tmp_path: Path) -> None:
    inner = LineModel.load(str(write_checkpoint(tmp_path / "plain", network=network)))
    before = {name: weight.clone() for name, weight in inner.module.state_dict().items()}
    model = PermutedColumns(inner, seed=3)
    permuted, broken = (NetworkQuery(**asdict(QUERY), network=name) for name in ("columns", "columns-broken"))
    plain, turned, wrong = model.predict([QUERY, permuted, broken])
    assert isinstance(wrong, Predicted)
    assert isinstance(plain, Predicted)
    assert isinstance(turned, Predicted)
    assert plain.answer == turned.answer
    assert wrong.scores != turned.scores
    differences = [abs(dict(plain.scores)[name] - score) for name, score in turned.scores]
    assert 0 < max(differences) < model.noise
    assert all(torch.equal(weight, before[name]) for name, weight in inner.module.state_dict().items())


BUNDLED = checkpoints.names()


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_network_has_a_call_that_can_be_permuted(name: str) -> None:
    inner = registry.load(name, device="cpu", precision=None)
    model = PermutedColumns(inner, seed=0)
    assert tensors(model.probe(model.module)), "the call gives no tensor"
    assert open_checkpoint(name).answers


@pytest.mark.slow
def test_a_network_that_writes_word_by_word_is_permuted_and_sealed(tmp_path: Path) -> None:
    inner = registry.load("tree-checkpoint", device="cpu", precision=None)
    model = PermutedColumns(inner, seed=0)
    assert model.network.broken > NOTICED
    permuted, broken = (NetworkQuery(**asdict(QUERY), network=name) for name in ("columns", "columns-broken"))
    plain, turned, wrong = model.predict([QUERY, permuted, broken])
    assert isinstance(plain, Predicted)
    assert isinstance(turned, Predicted)
    assert plain.answer == turned.answer
    assert wrong != turned
    with pytest.raises(ModelError, match=r"word by word.*--wrap columns"):
        _ = PermutedRows(inner, seed=0).network
    opened = open_checkpoint("tree-checkpoint")
    planned = plan(opened)
    assert planned.proved.within(EXACT)


def test_a_model_without_weights_here_is_refused() -> None:
    with pytest.raises(ModelError, match="no weights here"):
        PermutedColumns(Recorder(echo), seed=0)


class Pretender(torch.nn.Module):
    """Computes something else where it is traced than where it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = torch.nn.Linear(3, 8), torch.nn.Linear(8, 4)
        self.blocks = torch.nn.ModuleList([torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.first(x)
        for block in self.blocks:
            hidden = hidden + block(hidden)
        if not torch.compiler.is_exporting():
            hidden = hidden.cumsum(-1)
        tensor: torch.Tensor = self.last(hidden)
        return tensor


def test_what_does_not_compute_the_same_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    opened = open_checkpoint(str(write_checkpoint(tmp_path / "plain")))
    call = type(opened.call)((torch.ones(2, 3),), {})
    pretending = Opened(folder=opened.folder, module=Pretender(), call=call, answers=True, names={})
    with pytest.raises(ModelError, match="does not compute the same"):
        plan(pretending)


@pytest.mark.slow
def test_the_inside_may_be_left_as_it_is(tmp_path: Path) -> None:
    opened = open_checkpoint(str(write_checkpoint(tmp_path / "plain")))
    lock, everything = plan(opened, inner=False), plan(opened)
    assert lock.layout.sizes == (16,)
    assert len(everything.layout.sizes) > 1
    assert lock.outside == everything.outside
