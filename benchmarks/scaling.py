"""Runs beyond one process: what shards and Ray cost beside one process, killed processes, and a simulation.

    python benchmarks/scaling.py shards --functions 100000 --parts 2 --model fake/hash
    python benchmarks/scaling.py ray --functions 20000 --model fake/hash
    python benchmarks/scaling.py kills --functions 3000 --kills 10
    python benchmarks/scaling.py simulate --functions 2000

The corpus is the standard library, repeated: each copy of a function has one more statement, so that it is
another sample and another text. Efficiency is the processor time of one process divided by that of all
processes that do the same work, merge included. It is the throughput for each processor, and other programs
on the machine do not change it. The results of all ways are compared. `--scratch DIR` is where the runs go.
"""

import argparse
import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from random import Random
from typing import TypeVar

ROOT = Path(__file__).parents[1]
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
WORK = ("ray::_done", "ray::_Holder.answer")
"""Titles of the processes of Ray that make suites, or answer."""
T = TypeVar("T")


# ── the corpus ───────────────────────────────────────────────────────────────────────────────────────────


def copies(sources: Sequence[str], count: int) -> Iterator[str]:
    """`count` functions: the sources again and again, each copy with a statement of its own."""
    for number in range(count):
        source = sources[number % len(sources)]
        function = ast.parse(source).body[0]
        assert isinstance(function, ast.FunctionDef)
        first = function.body[0]
        lines = source.splitlines(keepends=True)
        lines.insert(first.lineno - 1, f"{' ' * first.col_offset}copy_{number // len(sources)} = {number}\n")
        yield "".join(lines)


def repeatable() -> list[str]:
    """The functions of the standard library that may get one more statement in front."""
    from codeaudit.audit.corpora.records import CorpusResources
    from codeaudit.audit.corpora.specs import corpus

    sources = []
    for sample in corpus("stdlib", None, CorpusResources(cache=None, note=None)).read(Counter()):
        try:
            tree = ast.parse(sample.source)
        except SyntaxError:  # a method that needs its class
            continue
        match tree.body:
            case [ast.FunctionDef(decorator_list=[], body=[first, *_], lineno=line)] if first.lineno > line:
                sources.append(sample.source)
    return sources


def write_corpus(path: Path, count: int) -> None:
    """A table of functions."""
    with path.open("w", encoding="utf-8") as file:
        for source in copies(repeatable(), count):
            file.write(json.dumps({"source": source, "language": "python"}) + "\n")


# ── processes ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Spent:
    """What a command and all processes that it started have used."""

    seconds: float
    """On the clock."""
    cpu: float
    """Processor time in seconds, of all processes."""
    peak: int
    """Largest resident memory of one process, in bytes."""
    samples: tuple[tuple[float, int], ...]
    """Resident memory of the first process over time: (seconds, bytes)."""


def processes_of(root: int, known: set[int]) -> set[int]:
    """The process and its descendants, with those of `known` that still live: they may have lost a parent."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal() and (stat := _stat(int(name))) is not None:
            parents[int(name)] = int(stat[1])
    processes = {root, *known} & parents.keys()
    while True:
        more = {child for child, parent in parents.items() if parent in processes} - processes
        if not more:
            return processes
        processes |= more


def _stat(process: int) -> list[str] | None:
    """The fields of /proc/N/stat behind the name."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def watched(
    command: Sequence[str], folder: Path, each: Callable[[set[int], float], None] | None = None
) -> Spent:
    """Run a command to its end. `each` is called again and again with its processes and the seconds so far.

    Raises:
        SystemExit: it fails.
    """
    start = time.monotonic()
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # Ray's workers give way to all other work, which on a shared machine would be measured, too.
    environment = {**os.environ, "PYTHONPATH": path, "RAY_worker_niceness": "0"}
    with (folder / "log").open("ab") as log:
        running = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=log, env=environment
        )
    spent: dict[int, float] = {}
    peaks: dict[int, int] = {}
    memory: list[tuple[float, int]] = []
    known: set[int] = set()
    while running.poll() is None:
        known = processes_of(running.pid, known)
        for process in known:
            if (stat := _stat(process)) is not None:
                spent[process] = (int(stat[11]) + int(stat[12])) / TICK
                peaks[process] = max(peaks.get(process, 0), int(stat[21]) * PAGE)
                # One that has ended and was not waited for yet has none.
                if process == running.pid and int(stat[21]):
                    memory.append((time.monotonic() - start, int(stat[21]) * PAGE))
        if each is not None:
            each(known, time.monotonic() - start)
        time.sleep(0.1)
    if running.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {running.returncode}; see {folder / 'log'}")
    return Spent(time.monotonic() - start, sum(spent.values()), max(peaks.values()), tuple(memory))


def run_command(options: argparse.Namespace, out: str, *more: str) -> list[str]:
    """`codeaudit run` over the corpus, with a cache of its own."""
    return [
        *(sys.executable, "-m", "codeaudit", "run", "--corpus", "corpus.jsonl", "--limit", "0"),
        *("--transform", options.transform, "--variants", str(options.variants), "--no-controls"),
        *(word for model in options.model for word in ("--model", model)),
        *("--task", "function-name", "--out", out, "--cache", f"{out}.cache", "--format", "json", *more),
    ]


def differing(one: Path, other: Path) -> list[str]:
    """The files in which two runs differ: summary, suite and outcomes of verdicts."""
    import pyarrow.parquet as pq

    files = [] if _summary(one) == _summary(other) else ["summary.json"]
    wanted = ["seed", "model", "sample", "transform", "variant", "outcome", "before", "after"]
    for name, columns in (("suite.parquet", None), ("verdicts.parquet", wanted)):
        tables = [pq.read_table(folder / name, columns=columns) for folder in (one, other)]
        files += [] if tables[0].equals(tables[1]) else [name]
    return files


def _summary(folder: Path) -> object:
    """The summary without sizes of scores, which the noise of a model changes."""

    def rounded(value: object) -> object:
        if isinstance(value, dict):
            return {name: rounded(part) for name, part in value.items() if "deviation" not in name}
        return [rounded(part) for part in value] if isinstance(value, list) else value

    return rounded(json.loads((folder / "summary.json").read_text()))


def growth(samples: Sequence[tuple[float, int]]) -> str:
    """Resident memory in the middle and at the end of a run."""
    middle, end = samples[len(samples) // 2][1], samples[-1][1]
    return f"{middle / 1e6:,.0f} MB in the middle, {end / 1e6:,.0f} MB at the end"


def told(name: str, spent: Spent) -> None:
    """Print what a command used."""
    print(
        f"{name}: {spent.cpu:,.1f} s of processors, {spent.seconds:,.1f} s, peak {spent.peak / 1e6:,.0f} MB",
        flush=True,
    )


# ── shards and Ray beside one process ────────────────────────────────────────────────────────────────────


def of_shards(options: argparse.Namespace, folder: Path) -> None:
    """Efficiency of shards and their merge."""
    costs = [shards_once(options, place) for place in sizes(options, folder)]
    for name in ("shards", "shards and merge"):
        print(f"{name}: {told_efficiency([(cost['whole'], cost[name]) for cost in costs])}")


def shards_once(options: argparse.Namespace, folder: Path) -> Mapping[str, float]:
    """Seconds of processors, of one process and of shards."""
    whole = watched(run_command(options, "whole", "--workers", "1"), folder)
    told("one process", whole)
    print(f"  memory: {growth(whole.samples)}")
    parts = []
    for number in range(1, options.parts + 1):
        shard = ("--workers", "1", "--shard", f"{number}/{options.parts}")
        parts.append(watched(run_command(options, f"r{number}", *shard), folder))
        told(f"shard {number}/{options.parts}", parts[-1])
    names = [f"r{number}" for number in range(1, options.parts + 1)]
    merged = watched([sys.executable, "-m", "codeaudit", "merge", *names, "--out", "run"], folder)
    told("merge", merged)
    print(f"  memory: {growth(merged.samples)}")
    print(f"different: {', '.join(differing(folder / 'whole', folder / 'run')) or 'nothing'}")
    both = sum(part.cpu for part in parts)
    return {"whole": whole.cpu, "shards": both, "shards and merge": both + merged.cpu}


def of_ray(options: argparse.Namespace, folder: Path) -> None:
    """Efficiency of Ray on this machine."""
    pairs = []
    for place in sizes(options, folder):
        cores = ("--workers", str(options.parts))
        local = watched(run_command(options, "whole", *cores), place)
        told("local", local)
        remote = watched(run_command(options, "run", *cores, "--engine", "ray"), place)
        told("ray", remote)
        print(f"different: {', '.join(differing(place / 'whole', place / 'run')) or 'nothing'}")
        pairs.append((local.cpu, remote.cpu))
    print(f"ray: {told_efficiency(pairs)}")


def sizes(options: argparse.Namespace, folder: Path) -> Iterator[Path]:
    """A folder with a tenth of the functions, then one with all."""
    for count in (options.functions // 10, options.functions):
        place = folder / str(count)
        place.mkdir(exist_ok=True)
        write_corpus(place / "corpus.jsonl", count)
        print(f"{count:,} functions", flush=True)
        yield place


def told_efficiency(pairs: Sequence[tuple[float, float]]) -> str:
    """The efficiency at full size, and that of the nine tenths beyond the small size: starting costs nothing
    there, as in a run of any length.
    """
    (one, other), (whole, parts) = pairs
    return (
        f"efficiency {whole / parts:.1%}; without what starting costs {(whole - one) / (parts - other):.1%}"
    )


def of_kills(options: argparse.Namespace, folder: Path) -> None:
    """Kill processes of Ray that make suites or hold models, again and again."""
    watched(run_command(options, "whole", "--workers", "1"), folder)
    random = Random(0)
    killed: list[str] = []
    last = 0.0

    def kill(known: set[int], seconds: float) -> None:
        nonlocal last
        # Not Ray's own processes: without them the whole machine is lost.
        titles = [(process, _title(process)) for process in sorted(known)]
        # Half of the kills for each kind of work, because suites are done before models are asked.
        busy = [(process, title) for process, title in titles if title.startswith(WORK)]
        busy = [(process, title) for process, title in busy if killed.count(title) < options.kills // 2]
        if busy and seconds - last > options.every:
            victim, title = random.choice(busy)
            os.kill(victim, signal.SIGKILL)
            killed.append(title)
            last = seconds

    spent = watched(run_command(options, "run", "--workers", "2", "--engine", "ray"), folder, kill)
    told("ray", spent)
    print(f"killed: {len(killed)}: {dict(Counter(killed))}")
    print(f"different: {', '.join(differing(folder / 'whole', folder / 'run')) or 'nothing'}")


def _title(process: int) -> str:
    try:
        return (
            Path(f"/proc/{process}/cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode("utf-8", "replace")
            .strip()
        )
    except OSError:
        return ""


# ── simulation ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Seconds of one processor, and bytes."""

    read: float
    """To read and rank one sample of the corpus, and to see whether it came before."""
    suite: float
    """To make the variants of one sample."""
    write: float
    """To write the rows of one sample to the suite."""
    drive: float
    """To read one sample of the suite, to recall, judge and store its answers, for one model."""
    answer: float
    """To answer the queries of one sample, for one model."""
    merge: float
    """To merge the rows of one sample, for one model."""
    summary: float
    """To read the verdicts on one sample and to summarise them, for one model."""
    pickled: float
    """To send the queries of one sample to another process, and its answers back."""
    kept: float
    """Bytes in memory for each own sample, while samples are drawn."""
    foreign: float
    """To pass over one sample of another shard."""
    cached: float
    """Bytes of the cache for one sample and model."""


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """A result, and the processor time that it took in this process."""
    start = time.process_time()
    value = work()
    return value, time.process_time() - start


def held(work: Callable[[], object]) -> int:
    """The bytes that a result keeps in memory."""
    tracemalloc.start()
    value = work()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del value
    return size


def measured(options: argparse.Namespace, folder: Path) -> Costs:
    """The costs of each step, over a corpus of the repeated functions."""
    import pickle

    import codeaudit
    from codeaudit.audit.cache import AnswerCache, ModelMemory
    from codeaudit.audit.corpora.records import CorpusResources
    from codeaudit.audit.corpora.selection import select
    from codeaudit.audit.corpora.specs import corpus
    from codeaudit.audit.engines.local import LocalEngine
    from codeaudit.audit.models import catalogue
    from codeaudit.audit.models.provider import Settings
    from codeaudit.audit.registry import TASKS
    from codeaudit.audit.rows import read_audited, read_repeats, read_suite, suite_rows, verdict_rows
    from codeaudit.audit.run import AuditSetup, NoMonitor, ask_again, audit, queries
    from codeaudit.audit.store import SUITE, SUITE_COLUMNS, VERDICT_COLUMNS, VERDICTS, TableWriter
    from codeaudit.audit.suite import SuitePlan, chosen_cases
    from codeaudit.merging import merge
    from codeaudit.reports.records import ModelHeader, RunHeader
    from codeaudit.reports.summarise import summarise

    task = TASKS.get("function-name")
    source = corpus(str(folder / "corpus.jsonl"), None, CorpusResources(cache=None, note=None))
    kept = held(lambda: select(source, task.prepare, limit=None, seeds=[0]))
    _, passed = timed(lambda: select(source, task.prepare, limit=None, seeds=[0], own=lambda _: False))
    drawn, read = timed(lambda: select(source, task.prepare, limit=None, seeds=[0]))
    samples = drawn[0].samples
    names = ("identity", *options.transform.split(","))
    plan = SuitePlan(transforms=names, variants=options.variants, seed=0)
    made, suite = timed(
        lambda: list(chosen_cases(((sample, names) for sample in samples), plan, engine=LocalEngine()))
    )
    about = {"schema": 1, "task": task.name, "corpus": "repeated"}

    def write() -> None:
        with TableWriter(folder / SUITE, SUITE_COLUMNS, about) as table:
            for case in made:
                table.write(suite_rows(0, case))

    _, written = timed(write)
    model = catalogue.load(options.model[0], Settings(), {})
    asked = list(dict.fromkeys(query for case in made for query in queries(case, task)))
    ordered = sorted(asked, key=lambda query: len(query.source))
    predictions, answer = timed(
        lambda: [
            prediction
            for start in range(0, len(ordered), 32)
            for prediction in model.predict(ordered[start : start + 32])
        ]
    )
    _, pickled = timed(lambda: (pickle.loads(pickle.dumps(ordered)), pickle.loads(pickle.dumps(predictions))))
    cache = AnswerCache(folder / "costs.sqlite")
    memory = ModelMemory(cache=cache, fingerprint="costs", run="costs")
    setup = AuditSetup(model=model, task=task, memory=memory, monitor=NoMonitor(), batch_size=32)

    def drive() -> None:
        lost = ask_again(read_repeats(folder / SUITE, seed=0, task=task), setup)
        with TableWriter(folder / VERDICTS, VERDICT_COLUMNS, about) as table:
            for audited in audit(read_suite(folder / SUITE, seed=0), setup, asked=lost):
                table.write(verdict_rows(0, audited))

    _, driven = timed(drive)
    cache.close()
    header = RunHeader(
        task=task.name,
        corpus="repeated",
        seed=0,
        models=(ModelHeader(name=model.name, fingerprint=model.fingerprint, parameters=None, noise=0.0),),
    )
    _, summary = timed(lambda: summarise([(0, read_audited(folder, seed=0))], task=task, header=header))
    parts = []
    for number in (1, 2):
        parts.append(folder / f"p{number}")
        codeaudit.run(
            *(options.model[:1],),
            corpus=str(folder / "corpus.jsonl"),
            transforms=options.transform,
            variants=options.variants,
            controls=False,
            task=task.name,
            limit=None,
            shard=f"{number}/2",
            out=parts[-1],
            cache=folder / "cache",
        )
    _, merged = timed(lambda: merge(parts, folder / "merged", command=[]))
    count = len(samples)
    return Costs(
        read=read / count,
        suite=suite / count,
        write=written / count,
        drive=max(0.0, driven - answer) / count,
        answer=answer / count,
        merge=max(0.0, merged - summary) / count,
        summary=summary / count,
        pickled=pickled / count,
        kept=kept / count,
        foreign=passed / count,
        cached=(folder / "costs.sqlite").stat().st_size / count,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Machines that are alike."""

    machines: int
    cores: int


def shard_times(
    costs: Costs, samples: float, cluster: Cluster, models: int, answer: float
) -> Mapping[str, float]:
    """Hours of each step with one shard for each core, at most 240.

    Steps of shards run at once; draw and merge do not shrink with the number of shards.
    """
    parts = min(240, cluster.machines * cluster.cores)
    share = samples / parts
    # Cores beyond the shards make variants and answer, not more.
    spare = max(1.0, cluster.machines * cluster.cores / parts)
    return {
        "draw": (costs.foreign * (samples - share) + costs.read * share) / 3600,
        "suite": share * (costs.suite / spare + costs.write) / 3600,
        "answers": share * models * answer / spare / 3600,
        "driver": share * models * costs.drive / 3600,
        "merge": samples * models * costs.merge / 3600,
        "summary": samples * models * costs.summary / 3600,
    }


def ray_times(
    costs: Costs, samples: float, cluster: Cluster, models: int, answer: float
) -> Mapping[str, float]:
    """Hours of each step with Ray: one driver, and all cores for suites and answers."""
    cores = cluster.machines * cluster.cores
    return {
        "draw": costs.read * samples / 3600,
        "suite": samples * max(costs.suite / cores, costs.write + costs.pickled) / 3600,
        "answers": samples * models * answer / cores / 3600,
        "driver": samples * models * (costs.drive + costs.pickled) / 3600,
        "summary": samples * models * costs.summary / 3600,
    }


def simulate(options: argparse.Namespace, folder: Path) -> None:
    """Hours and limits of large runs, from measured costs."""
    if options.costs is None:
        costs = measured(options, folder)
        print(json.dumps({field.name: getattr(costs, field.name) for field in fields(costs)}, indent=1))
    else:
        costs = Costs(**json.loads(Path(options.costs).read_text()))
    print(
        f"\n{options.models} models; each answers the queries of a sample in {options.answer * 1e3:,.0f} ms "
        f"of one core; {options.cores} cores in a machine"
    )
    steps = ("draw", "suite", "answers", "driver", "merge", "summary")
    heads = ("samples", "machines", "engine", "hours", "most", *steps, "draw in memory", "cache of a process")
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for samples in (1e6, 1e8):
        for machines in (16, 256):
            cluster = Cluster(machines=machines, cores=options.cores)
            for name, times in (("shards", shard_times), ("ray", ray_times)):
                hours = times(costs, samples, cluster, options.models, options.answer)
                # In Ray the driver judges while the others answer.
                beside = min(hours["answers"], hours["driver"]) if name == "ray" else 0.0
                processes = min(240, machines * options.cores) if name == "shards" else 1
                cells = [
                    *(f"{samples:,.0f}", str(machines), name, f"{sum(hours.values()) - beside:,.2f}"),
                    max(hours, key=lambda step: hours[step]),
                    *(f"{hours[step]:,.2f}" if step in hours else "" for step in steps),
                    f"{samples * costs.kept / processes / 1e9:,.1f} GB",
                    f"{costs.cached * samples * options.models / processes / 1e9:,.1f} GB",
                ]
                print(f"| {' | '.join(cells)} |")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    kinds = {"shards": of_shards, "ray": of_ray, "kills": of_kills, "simulate": simulate}
    parser.add_argument("kind", choices=list(kinds))
    parser.add_argument("--functions", type=int, default=2000)
    parser.add_argument("--model", action="append")
    parser.add_argument("--transform", default="rename")
    parser.add_argument("--variants", type=int, default=2)
    parser.add_argument("--parts", type=int, default=2, help="shards, or processors of Ray")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--every", type=float, default=4.0, help="least seconds between two kills")
    parser.add_argument("--models", type=int, default=4, help="of the simulated runs")
    parser.add_argument(
        "--answer", type=float, default=0.1, help="seconds of a core for each sample and model"
    )
    parser.add_argument("--cores", type=int, default=16, help="of each simulated machine")
    parser.add_argument("--costs", help="a file with the costs of an earlier `simulate`")
    parser.add_argument("--scratch", type=Path, help="a folder for the runs, kept")
    options = parser.parse_args()
    options.model = options.model or ["fake/hash"]
    folder = options.scratch or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if options.costs is None and options.kind in ("kills", "simulate"):
            write_corpus(folder / "corpus.jsonl", options.functions)
        kinds[options.kind](options, folder)
    finally:
        if options.scratch is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
