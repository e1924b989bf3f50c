"""How steps are computed does not change what they are."""

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from codeaudit.audit.training.trainer import PLAIN, Execution, Learner, TrainingProgress, _prepare, train
from codeaudit.transforms.errors import ModelError
from tests.audit.training.learners import KINDS, small


class Silent:
    """A monitor that keeps the losses."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.progress = TrainingProgress(best=0.0)

    def stepped(self, progress: TrainingProgress, loss: float) -> None:
        self.losses.append(loss)
        self.progress = progress

    def epoch(self, progress: TrainingProgress) -> None:
        pass


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def gradients(learner: Learner[Any, Any], parts: int) -> tuple[float, dict[str, torch.Tensor]]:
    """The loss and the gradients of the first step of the last stage, computed in parts."""
    step = learner.total - 1
    batch = next(iter(learner.batches(0)))
    torch.manual_seed(0)
    network = learner.make().train()
    # At their initial zeros many layers would have no gradient, and nothing would be compared.
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.05 * torch.randn_like(weight))
    total = 0.0
    pieces = learner.parts(batch, parts)
    assert len(pieces) == parts
    for part in pieces:
        loss, _ = learner.loss(network, part, step, batch if parts > 1 else None)
        loss.backward()
        total += loss.item()
    return total, {
        name: weight.grad for name, weight in network.named_parameters() if weight.grad is not None
    }


@pytest.mark.thinned(1)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_parts_of_a_batch_have_the_gradient_of_the_batch(kind: str, cache: Path) -> None:
    learner = small(kind, cache)
    loss, whole = gradients(learner, 1)
    for parts in (2, 5):
        summed, added = gradients(learner, parts)
        assert summed == pytest.approx(loss, rel=1e-5)
        assert added.keys() == whole.keys()
        for name in whole:
            scale = float(whole[name].abs().max())
            assert torch.allclose(added[name], whole[name], rtol=1e-4, atol=1e-5 * max(scale, 1.0)), name
    assert any(float(gradient.abs().max()) > 1e-4 for gradient in whole.values())


@pytest.mark.slow
def test_a_batch_has_no_more_parts_than_examples(cache: Path) -> None:
    learner = small("spe", cache)
    batch = next(iter(learner.batches(0)))
    parts = learner.parts(batch, 100)
    assert len(parts) == learner.examples(batch)
    assert {learner.examples(part) for part in parts} == {1}
    assert sum(learner.tokens(part) for part in parts) == learner.tokens(batch) > 0


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_family_counts_tokens_and_operations(kind: str, cache: Path, tmp_path: Path) -> None:
    watch = Silent()
    execution = Execution(accumulate=3)
    train(small(kind, cache), folder=tmp_path, monitor=watch, stop=lambda: False, execution=execution)
    assert watch.progress.tokens > watch.progress.samples > 0
    weights = sum(parameter.numel() for parameter in small(kind, cache).make().parameters())
    per_token = watch.progress.operations / watch.progress.tokens
    # 6 for each weight that multiplies; embeddings do not, padding and scores do.
    assert 0.05 * weights < per_token < 100 * weights


def trained(
    learner: Learner[Any, Any], folder: Path, execution: Execution = PLAIN
) -> dict[str, torch.Tensor]:
    folder.mkdir()
    fitted = train(learner, folder=folder, monitor=Silent(), stop=lambda: False, execution=execution)
    return dict(fitted.network.state_dict())


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_recomputed_blocks_give_the_same_weights_bit_for_bit(kind: str, cache: Path, tmp_path: Path) -> None:
    """With dropout, which has to be drawn alike in the second computation."""
    settings = {"dropout": 0.2, "half": kind != "terms", "steps": 3}
    plain = trained(small(kind, cache, **settings), tmp_path / "a")
    again = trained(small(kind, cache, **settings), tmp_path / "b", Execution(recompute=True))
    assert same(plain, again)
    assert not same(plain, trained(small(kind, cache, **{**settings, "seed": 1}), tmp_path / "c"))


@pytest.mark.slow
def test_a_recomputed_network_keeps_less(cache: Path) -> None:
    """Of two blocks, only what goes in is kept."""

    def kept(execution: Execution) -> int:
        learner = small("decoder", cache, layers=6)
        network = learner.make().train()
        _prepare(network, execution)
        count = 0

        def pack(tensor: torch.Tensor) -> torch.Tensor:
            nonlocal count
            count += tensor.numel()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            learner.loss(network, next(iter(learner.batches(0))), 0)
        return count

    assert kept(Execution(recompute=True)) < 0.4 * kept(Execution())


@pytest.mark.weekly
@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.filterwarnings("ignore")
def test_compiled_blocks_give_the_same_weights_up_to_rounding(
    kind: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The graph is ours, its gradients and the code that is made of them are torch's: minutes of compiling.
    # So torch's compiler gets one network, and one length of its input.
    eager = ("eager", 2, True)
    ways = {
        "spe": (("inductor", 1, True), ("aot_eager", 2, False), eager),
        "terms": (("aot_eager", 2, True),),
    }
    usual = torch.compile
    for number, (backend, steps, recompute) in enumerate(ways.get(kind, (eager,))):
        plain = trained(small(kind, cache, steps=steps), tmp_path / f"a{number}")
        monkeypatch.setattr(torch, "compile", partial(usual, backend=backend))
        execution = Execution(compile=True, recompute=recompute)
        compiled = trained(small(kind, cache, steps=steps), tmp_path / f"b{number}", execution)
        assert plain.keys() == compiled.keys()
        for name in plain:
            assert torch.allclose(plain[name].double(), compiled[name].double(), atol=2e-3), name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_validation_compiles_nothing(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are said word by word, so that each length would be compiled for itself."""
    compiled: list[bool] = []
    validating = False

    def noted(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        compiled.append(validating)
        return graph.forward

    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=noted))
    learner = small("tree", cache, steps=1)
    validate = learner.validate

    def validated(network: torch.nn.Module) -> Any:
        nonlocal validating
        validating = True
        try:
            return validate(network)
        finally:
            validating = False

    monkeypatch.setattr(learner, "validate", validated)
    trained(learner, tmp_path / "a", Execution(compile=True))
    assert compiled
    assert not any(compiled)


KILLED = """
import subprocess
import sys
from pathlib import Path
from codeaudit.audit.training import trainer
from tests.audit.training.learners import small
from tests.audit.training.test_execution import EXECUTION, LONG, Silent
trainer.SAVE_SECONDS = 0.0
kind, cache, folder = sys.argv[1:]
class Slow(Silent):
    def stepped(self, progress, loss):
        print(progress.step, flush=True)
        if progress.step > 1:
            sys.stdin.readline()
trainer.train(small(kind, Path(cache), **LONG[kind]), folder=Path(folder), monitor=Slow(), stop=lambda: False,
              execution=EXECUTION)
"""
"""A training that saves after each step, and from the second step on waits for a line before it goes on."""
EXECUTION = Execution(accumulate=2, recompute=True)
LONG: dict[str, dict[str, Any]] = {
    kind: {"dropout": 0.2, "half": True, "steps": 9, "seed": 3} for kind in KINDS
}


@pytest.mark.weekly
@pytest.mark.parametrize("kind", ["spe", "decoder", "terms", "tree"])
def test_a_killed_training_goes_on_bit_for_bit(kind: str, cache: Path, tmp_path: Path) -> None:
    whole = trained(small(kind, cache, **LONG[kind]), tmp_path / "whole", EXECUTION)
    folder = tmp_path / "killed"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", KILLED, kind, str(cache), str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == 5:
                break
            if int(line) > 1:
                process.stdin.write("\n")
                process.stdin.flush()
        process.kill()
    watch = Silent()
    learner = small(kind, cache, **LONG[kind])
    resumed = train(learner, folder=folder, monitor=watch, stop=lambda: False, execution=EXECUTION)
    # The fifth step was taken, but not saved.
    assert len(watch.losses) == learner.total - 4
    assert same(whole, resumed.network.state_dict())
    with pytest.raises(ModelError, match="of a training with other settings or data"):
        train(learner, folder=folder, monitor=watch, stop=lambda: False, execution=Execution(accumulate=3))


class _ToldError(Exception):
    """Ends a training with the first line that it tells."""


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_memory_is_told_before_the_first_step(kind: str, cache: Path, tmp_path: Path) -> None:
    def told(execution: Execution, **settings: Any) -> str:
        watch = Silent()
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        folder.mkdir()

        def end(text: str) -> None:
            raise _ToldError(text + str(len(watch.losses)))

        with pytest.raises(_ToldError) as raised:
            train(
                small(kind, cache, steps=1, **settings), folder=folder, monitor=watch, stop=lambda: False,
                execution=execution, tell=end,
            )  # fmt: skip
        return str(raised.value)

    def insides(text: str) -> int:
        return int(text.split("about ")[1].split()[0])

    settings = {"layers": 6, "width": 64, "batch": 48}
    whole = told(Execution(), **settings)
    weights = sum(parameter.numel() for parameter in small(kind, cache, **settings).make().parameters())
    assert whole.startswith(f"{weights:,} weights; memory: {16 * weights / 2**20:.0f} MiB")
    assert whole.endswith("examples0")
    less = told(Execution(accumulate=4), **settings)
    assert insides(less) == pytest.approx(insides(whole) / 4, rel=0.1, abs=1)
    assert insides(told(Execution(recompute=True), **settings)) < 0.7 * insides(whole)
