"""Two processes take the steps that one takes."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from codeaudit.audit.training.processes import Processes, joined, own_device
from codeaudit.audit.training.trainer import Execution, train
from codeaudit.transforms.errors import UsageError
from tests.audit.training.learners import KINDS, small
from tests.audit.training.test_execution import Silent
from tests.support.commands import ROOT, environment
from tests.support.preloaded import Forked

PLAIN_STEP = """
import sys
from tests.audit.training.test_processes import step
step(*sys.argv[1:])
"""


def step(kind: str, cache: str, folder: str, accumulate: str) -> None:
    """Take one step of size 1 against the gradient, and write the weights."""
    learner: Any = small(kind, Path(cache), clip=1e9, steps=1)
    learner.bag_steps = 0  # the second stage, with the blocks
    learner.rate = lambda number: 1.0
    learner.optimiser = lambda network: torch.optim.SGD(network.parameters())
    with joined("cpu") as processes:
        place = Path(folder) / f"of {processes.count}"
        place.mkdir(exist_ok=True)
        watch = Silent()
        execution = Execution(accumulate=int(accumulate), processes=processes)
        trained = train(learner, folder=place, monitor=watch, stop=lambda: False, execution=execution)
        weights = {name: weight.contiguous() for name, weight in trained.network.state_dict().items()}
        save_file({**weights, "loss": torch.tensor(watch.losses)}, place / f"{processes.rank}.safetensors")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def in_two(*words: str, cwd: Path = ROOT, code: str = "") -> None:
    """Run a command, or Python code, in two processes, as torchrun starts them."""
    common = environment({"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "GLOO_SOCKET_IFNAME": "lo"})
    common["MASTER_PORT"] = str(free_port())
    started = [
        Forked(words, cwd, {**common, "RANK": str(rank), "LOCAL_RANK": str(rank)}, code) for rank in range(2)
    ]
    try:
        # They compute on one thread each, on a machine that may have other work.
        errors = [process.communicate(timeout=400)[1] for process in started]
    finally:
        for process in started:
            process.kill()
    assert [process.wait() for process in started] == [0, 0], errors


@pytest.mark.weekly
@pytest.mark.parametrize("kind", ["decoder", "spe", "terms", "tree"])
def test_gradients_are_those_of_one_process(kind: str, tmp_path: Path) -> None:
    assert kind in KINDS
    cache = tmp_path / "cache"
    step(kind, str(cache), str(tmp_path), "1")
    in_two(kind, str(cache), str(tmp_path), "2", code=PLAIN_STEP)
    alone = load_file(tmp_path / "of 1" / "0.safetensors")
    first, second = (load_file(tmp_path / "of 2" / f"{rank}.safetensors") for rank in range(2))
    assert alone.keys() == first.keys() == second.keys()
    # After a step of size 1 against the gradient, weights are as far apart as gradients are.
    torch.manual_seed(small(kind, cache).settings.seed)
    begin = small(kind, cache).make().state_dict()
    moved = 0.0
    for name, weight in alone.items():
        assert torch.equal(first[name], second[name]), name
        if weight.is_floating_point():
            size = 1.0 if name == "loss" else float((weight - begin[name]).abs().max())
            moved = max(moved, size if name != "loss" else 0.0)
            assert torch.allclose(first[name], weight, rtol=1e-5, atol=1e-4 * size + 1e-6), name
    assert moved > 1e-3


TRAIN = (
    *("train", "spe", "--corpus", "stdlib:argparse,ast,inspect,shutil", "--width", "16"),
    *("--vocabulary", "400", "--rarest-label", "3", "--bag-epochs", "1", "--steps", "5", "--workers", "1"),
    *("--log", "csv", "--out"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of two processes."""
    folder = tmp_path_factory.mktemp("processes")
    in_two(*TRAIN, "made", "--cache", "cache", cwd=folder)
    return folder / "made"


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """The weights of a checkpoint."""
    return load_file(folder / "model.safetensors")


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    """Whether two checkpoints have the same names and bits."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.slow
def test_two_processes_write_one_checkpoint_and_do_so_again(made: Path, tmp_path: Path) -> None:
    written = sorted(path.name for path in made.iterdir())
    assert written == [
        "config.json",
        "learned.bin",
        "model-card.json",
        "model.safetensors",
        "tokenizer.json",
        "training.csv",
    ]
    in_two(*TRAIN, "again", "--cache", str(made.with_name("cache")), cwd=tmp_path)
    assert same(weights(made), weights(tmp_path / "again"))


@pytest.mark.weekly
@pytest.mark.parametrize("launcher", ["accelerate", "torchrun"])
def test_launchers_start_it(launcher: str, made: Path, tmp_path: Path) -> None:
    """Both write the weights that two processes write which nobody launched. With --cpu, accelerate starts one."""
    if launcher == "accelerate":
        pytest.importorskip("accelerate")
        command = ["accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1"]
        command += ["--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port"]
    else:
        command = ["torch.distributed.run", "--nproc-per-node", "2", "--master-port"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", *command, str(free_port()), "-m", "--", "codeaudit",
         *TRAIN, "launched", "--cache", str(made.with_name("cache"))],
        cwd=tmp_path, capture_output=True, text=True, timeout=400,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("spe: epoch 1,") == 1  # of two processes, one tells
    assert same(weights(made), weights(tmp_path / "launched"))


def test_variables_that_are_no_numbers_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(UsageError, match="WORLD_SIZE and RANK must be numbers"), joined("cpu"):
        pass


def test_alone_nothing_is_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = Processes()
    assert (alone.added(2.5), alone.from_first("x"), alone.first) == (2.5, "x", True)
    assert own_device("cuda") == "cuda"
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert (own_device("cuda"), own_device("cuda:0"), own_device("cpu")) == ("cuda:3", "cuda:0", "cpu")
