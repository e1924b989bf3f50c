"""Which share of the driver's time do the bundled networks take?

    python benchmarks/driver_share.py

CPU seconds on one thread, for the queries of the default run without the repeated ones. The driver makes
features, asks the model, reads its logits and checks its answers, without a cache. The network is what it
calls for its batches, with the padding of their inputs. Both are timed in one pass, so that a slower moment
of the machine slows both; the middle of several passes counts.
"""

import argparse
import gc
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import torch
from default_run import stages

from codeaudit.audit.cache import NoMemory
from codeaudit.audit.interface import Model
from codeaudit.audit.models.catalogue import bundled_for
from codeaudit.audit.papers.registry import load
from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.records import Query
from codeaudit.audit.registry import DEFAULT_TASK, TASKS
from codeaudit.audit.rows import read_suite
from codeaudit.audit.run import AuditSetup, NoMonitor, first_answers, queries
from codeaudit.audit.store import SUITE
from codeaudit.options import RunOptions

ROUNDS: Final = 5


def shares(folder: Path) -> str:
    """Markdown: one row for each model."""
    stages(None, folder)
    cases = read_suite(folder / "run" / SUITE, seed=0)
    wanted = list(dict.fromkeys(query for case in cases for query in queries(case, TASKS.get(DEFAULT_TASK))))
    torch.set_num_threads(1)
    titles = ["model", "driver, reads the texts", "network", "share"]
    titles += ["driver, texts read before", "network", "share"]
    lines = [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles)]
    for name in bundled_for(DEFAULT_TASK, "python"):
        model = load(name, device="cpu", precision=None)
        # Now the model has read the texts, as it has where another of its kind came before it in a run.
        rounds = [_driven(model, wanted) for _ in range(1 + ROUNDS)]
        shown = (rounds[0], sorted(rounds[1:], key=lambda one: one.share)[ROUNDS // 2])
        cells = (f"{one.driver:.2f} s | {one.network:.2f} s | {one.share:.0%}" for one in shown)
        lines.append(f"| {name} | {' | '.join(cells)} |")
        # Else the next model would find the texts read.
        del model
        gc.collect()
    return "\n".join(lines)


class Pass(NamedTuple):
    """CPU seconds of one pass."""

    driver: float
    """Of all answers."""
    network: float
    """Of these, of the network."""

    @property
    def share(self) -> float:
        """Of the network."""
        return self.network / self.driver


def _driven(model: Model, wanted: Sequence[Query]) -> Pass:
    """All answers, without a cache."""
    setup = AuditSetup(
        model=model,
        task=TASKS.get(DEFAULT_TASK),
        memory=NoMemory(),
        monitor=NoMonitor(),
        batch_size=RunOptions().batch_size,
    )
    name = "logits" if isinstance(model, LineModel) else "said"
    plain = getattr(model, name)
    used = 0.0

    def timed(inputs: object) -> object:
        nonlocal used
        began = time.process_time()
        found = plain(inputs)
        used += time.process_time() - began
        return found

    setattr(model, name, timed)
    began = time.process_time()
    first_answers(wanted, setup)
    driver = time.process_time() - began
    setattr(model, name, plain)
    return Pass(driver, used)


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(shares(Path(folder)))


if __name__ == "__main__":
    main()
