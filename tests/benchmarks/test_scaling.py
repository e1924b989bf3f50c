"""The measurements beyond one process: distinct copies, what processes use, and the simulated limits."""

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]

SOURCES = [
    "def first(a):\n    return a\n",
    'def second(a,\n           b):\n    """Text."""\n    if a:\n        return b\n',
]


def test_copies_are_distinct_functions(script: Script) -> None:
    copies = list(script("scaling").copies(SOURCES, 7))
    assert len(set(copies)) == 7
    for number, source in enumerate(copies):
        (function,) = ast.parse(source).body
        (original,) = ast.parse(SOURCES[number % 2]).body
        assert isinstance(function, ast.FunctionDef)
        assert isinstance(original, ast.FunctionDef)
        del function.body[0]
        assert ast.dump(function) == ast.dump(original)


@pytest.mark.slow
def test_the_processor_time_of_children_counts(script: Script, tmp_path: Path) -> None:
    burn = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass"
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {burn!r}])"
    spent = script("scaling").watched([sys.executable, "-c", code], tmp_path)
    assert 0.3 < spent.cpu < 3
    with pytest.raises(SystemExit, match="ended with 3"):
        script("scaling").watched([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)


def test_shards_and_ray_have_other_limits(script: Script) -> None:
    scaling = script("scaling")
    costs = scaling.Costs(
        read=1e-4,
        suite=4e-3,
        write=4e-4,
        drive=4e-4,
        answer=0,
        merge=1e-4,
        summary=2e-4,
        pickled=2e-5,
        kept=1,
        foreign=2e-5,
        cached=1,
    )
    small, large = (scaling.Cluster(machines=machines, cores=16) for machines in (1, 256))
    for times in (scaling.shard_times, scaling.ray_times):
        one, many = (times(costs, 1e6, cluster, 4, 0.1) for cluster in (small, large))
        assert many["answers"] == pytest.approx(one["answers"] / 256)
    # A shard passes over the samples of the others, and the driver of Ray draws all.
    alone, parts = (scaling.shard_times(costs, 1e6, cluster, 4, 0.1)["draw"] for cluster in (small, large))
    assert 1e6 * costs.foreign / 3600 < parts < alone < 1e6 * costs.read / 3600
    assert scaling.ray_times(costs, 1e6, small, 4, 0.1)["draw"] == 1e6 * costs.read / 3600
    shards, ray = scaling.shard_times(costs, 1e6, large, 4, 0.1), scaling.ray_times(costs, 1e6, large, 4, 0.1)
    # Only in shards is there a driver for each part; only shards are merged.
    assert shards["driver"] < ray["driver"] / 100
    assert "merge" in shards
    assert "merge" not in ray
