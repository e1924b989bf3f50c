"""Does an audit of `openai/MODEL` answer as many queries a second as its client library can?

    python benchmarks/endpoint_throughput.py                    the driver against bare AsyncOpenAI
    python benchmarks/endpoint_throughput.py --search           how soon the best concurrency is found

A local HTTP server, in a process of its own, answers after exponential delays. The driver (`audit`, with a
cache on the disk) and a peer, which calls `AsyncOpenAI` and keeps the text, ask the same prompts at the
same concurrency, in turn; the delays are the same in each. Both have their connections before they begin.
The table has answers per second and milliseconds of CPU time per answer.

With `--search` there is no `-M concurrency`. Servers of several kinds, each best at a concurrency that it
does not tell, are asked for some seconds. The table has the share of the best rate after 10 seconds.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from subprocess import PIPE, Popen
from typing import ClassVar, Final

import openai

from codeaudit.audit.cache import AnswerCache, ModelMemory
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.records import Audited, Case, Failed, Query
from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import AuditSetup, audit
from codeaudit.transforms.records import Origin, Perturbed, Sample

LEVELS: Final = (8, 32, 128)
VARIANTS: Final = 4
FUNCTION: Final = '''\
def MASK(values, start):
    """Add them up from a start, number {number}."""
    total = start
    for value in values:
        if value is not None:
            total += value * {number}
    return {name}(total) if values else start
'''


# ── the server ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How a server behaves when it is asked more than it can do at once."""

    name: str
    """`all`: it has no limit; `queue`: the others wait; `refuse`: 429; `thrash`: all become slower."""
    capacity: int = 0


class Serving(asyncio.Protocol):
    """One connection; requests come one after another."""

    active = 0
    queue: ClassVar[deque["Serving"]] = deque()

    def __init__(self, kind: Kind, mean: float, chance: Random) -> None:
        self.kind, self.mean, self.chance = kind, mean, chance
        self.data = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """As in asyncio."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Begin with a request when it is there as a whole."""
        self.data += data
        head, blank, body = self.data.partition(b"\r\n\r\n")
        if not blank:
            return
        size = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        if len(body) < int(size[15:]):
            return
        self.data.clear()
        kind = self.kind
        if kind.name in ("queue", "refuse") and Serving.active >= kind.capacity:
            if kind.name == "queue":
                Serving.queue.append(self)
            else:
                self.send(b"429 Too Many Requests", b'{"error": {"message": "too many at once"}}')
            return
        self.start()

    def start(self) -> None:
        """Work on the request for as long as it takes."""
        Serving.active += 1
        slower = max(1.0, Serving.active / self.kind.capacity) ** 2 if self.kind.name == "thrash" else 1.0
        delay = self.chance.expovariate(1 / self.mean) * slower if self.mean else 0.0
        asyncio.get_running_loop().call_later(delay, self.answer)

    def answer(self) -> None:
        """Send the reply, and begin with the next request in the queue."""
        Serving.active -= 1
        self.send(b"200 OK", REPLY)
        if Serving.queue:
            Serving.queue.popleft().start()

    def send(self, status: bytes, body: bytes) -> None:
        """Send a response."""
        head = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        if not self.transport.is_closing():
            self.transport.write(head % (status, len(body)) + body)


REPLY: Final = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "tiny-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "[add_values_up] [add]"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 210, "completion_tokens": 9, "total_tokens": 219},
    }
).encode()


async def serve(kind: Kind, mean: float, seed: int) -> None:
    """Serve until stdin is closed; the port goes to stdout."""
    chance = Random(seed)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Serving(kind, mean, chance), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


@contextmanager
def serving(kind: Kind, mean: float, seed: int = 0) -> Iterator[str]:
    """The address of a server in a process of its own."""
    words = [sys.executable, __file__, "--serve", kind.name, str(kind.capacity), str(mean), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    with Popen(words, stdin=PIPE, stdout=PIPE, text=True, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.stdin.close()
            process.wait()


# ── the driver and its peer ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Of one run."""

    answers: int
    seconds: float
    cpu: float
    """Seconds of CPU time of this process."""

    @property
    def rate(self) -> float:
        """Answers per second."""
        return self.answers / self.seconds

    def __str__(self) -> str:
        return f"{self.rate:7.1f} | {1000 * self.cpu / self.answers:5.2f}"


class Clock:
    """Counts answers, with the time of each."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def answered(self, count: int, *, recalled: bool) -> None:
        """As `AnswerMonitor.answered`."""
        self.times += [time.monotonic()] * count

    def malformed(self, message: str) -> None:
        """As `AnswerMonitor.malformed`."""

    def expect(self, total: int) -> None:
        """Do nothing."""


def cases(queries: int) -> Iterator[Case]:
    """Made-up functions with one query each for original, repetition and every variant."""
    for number in range(-(-queries // (VARIANTS + 2))):
        texts = [FUNCTION.format(number=number, name=name) for name in ("int", *"abcd"[:VARIANTS])]
        sample = Sample(
            id=str(number),
            language="python",
            source=texts[0],
            label=("add",),
            origin=Origin(path="made.py", line=1),
        )
        rows = [("identity", "identity", 0, texts[0])]
        rows += [("rename", "preserving", variant, text) for variant, text in enumerate(texts[1:])]
        yield Case(
            sample=sample,
            outcomes=tuple(
                Perturbed(
                    sample=sample,
                    transform=name,
                    kind=kind,  # type: ignore[arg-type]
                    variant=variant,
                    source=text,
                    moves=(),
                    evidence="analysis",
                )
                for name, kind, variant, text in rows
            ),
        )


def warm(number: int) -> Query:
    """A query that is asked before the measurement."""
    source = FUNCTION.format(number=number, name="warm")
    return Query(task="function-name", language="python", source=source)


def driver(url: str, queries: int, concurrency: int | None, clock: Clock) -> tuple[Speed, int]:
    """Audit the model behind an address. Also gives the number of queries without an answer."""
    given = {} if concurrency is None else {"concurrency": str(concurrency)}
    model = catalogue.load("openai/tiny", Settings(base_url=url), given)
    # Imports and connections are not measured.
    model.predict([warm(number) for number in range(concurrency or 1)])
    with tempfile.TemporaryDirectory() as folder:
        cache = AnswerCache(Path(folder) / "answers.sqlite")
        setup = AuditSetup(
            model=model,
            task=TASKS.get("function-name"),
            memory=ModelMemory(cache=cache, fingerprint=model.fingerprint, run="benchmark"),
            monitor=clock,
            batch_size=32,
        )
        began, spent = time.monotonic(), time.process_time()
        lost = sum(failures(audited) for audited in audit(cases(queries), setup))
        speed = Speed(
            answers=len(clock.times), seconds=time.monotonic() - began, cpu=time.process_time() - spent
        )
        cache.close()
    return speed, lost


def failures(audited: Audited) -> int:
    """Answers that could not be had."""
    predictions = [audited.before, *(verdict.after for verdict in audited.verdicts)]
    return sum(isinstance(prediction, Failed) for prediction in predictions)


def peer(url: str, queries: int, concurrency: int) -> Speed:
    """Ask the same prompts with the client library alone."""
    prompt = TASKS.get("function-name").prompt
    assert prompt is not None
    from codeaudit.audit.run import queries as queries_of
    from codeaudit.audit.run import repeats
    from codeaudit.audit.tasks.function_name import FUNCTION_NAME

    wanted = [
        prompt.messages(query)[0].content
        for case in cases(queries)
        for query in (*queries_of(case, FUNCTION_NAME), *repeats(case, FUNCTION_NAME))
    ]

    async def all_asked() -> Speed:
        client = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0, timeout=120)
        texts = []

        async def work(rest: Iterator[str]) -> None:
            for text in rest:
                reply = await client.chat.completions.create(
                    model="tiny",
                    messages=[{"role": "user", "content": text}],
                    temperature=0.0,
                    seed=0,
                    max_tokens=256,
                )
                texts.append(reply.choices[0].message.content)

        async def together(prompts: Sequence[str]) -> None:
            rest = iter(prompts)
            await asyncio.gather(*(work(rest) for _ in range(concurrency)))

        await together([warm(number).source for number in range(concurrency)])
        texts.clear()
        began, spent = time.monotonic(), time.process_time()
        await together(wanted)
        seconds, cpu = time.monotonic() - began, time.process_time() - spent
        await client.close()
        return Speed(answers=len(texts), seconds=seconds, cpu=cpu)

    return asyncio.run(all_asked())


# ── the tables ───────────────────────────────────────────────────────────────────────────────────────────


def compared(mean: float, seconds: float, rounds: int, levels: Sequence[int]) -> None:
    """Print the driver beside its peer."""
    print(f"exponential delays of mean {mean} s; answers/s | CPU ms an answer")
    print("| at once | AsyncOpenAI | CPU ms | codeaudit | CPU ms | ratio | CPU ratio |")
    print("|---|---|---|---|---|---|---|")
    for level in levels:
        queries = max(level, int(seconds * level / mean)) if mean else 2000
        theirs, ours = [], []
        for seed in range(rounds):
            with serving(Kind(name="all"), mean, seed) as url:
                theirs.append(peer(url, queries, level))
            with serving(Kind(name="all"), mean, seed) as url:
                speed, lost = driver(url, queries, level, Clock())
                assert not lost, f"{lost} answers are missing"
                ours.append(speed)
        ratio = median(our.rate / their.rate for our, their in zip(ours, theirs, strict=True))
        cpu = median(
            (our.cpu / our.answers) / (their.cpu / their.answers)
            for our, their in zip(ours, theirs, strict=True)
        )
        shown = [sorted(speeds, key=lambda speed: speed.rate)[len(speeds) // 2] for speeds in (theirs, ours)]
        print(f"| {level} | {shown[0]} | {shown[1]} | {ratio:.2f} | {cpu:.2f} |", flush=True)


KINDS: Final = {
    "no limit": Kind(name="all"),
    "queue of the others, capacity 16": Kind(name="queue", capacity=16),
    "queue of the others, capacity 64": Kind(name="queue", capacity=64),
    "429 for the others, capacity 16": Kind(name="refuse", capacity=16),
    "429 for the others, capacity 50": Kind(name="refuse", capacity=50),
    "all become slower, best at 32": Kind(name="thrash", capacity=32),
}


def searched(mean: float, seconds: float) -> None:
    """Print what the search reaches."""
    print(f"exponential delays of mean {mean} s; answers/s in the {seconds:g} s after the first 10")
    print("| server | possible | reached | share | lost |")
    print("|---|---|---|---|---|")
    for name, kind in KINDS.items():
        best = (kind.capacity or 256) / mean
        clock = Clock()
        with serving(kind, mean) as url:
            began = time.monotonic()
            _, lost = driver(url, int(best * (10 + seconds + 2)), None, clock)
        reached = sum(10 <= at - began < 10 + seconds for at in clock.times) / seconds
        print(f"| {name} | {best:.0f} | {reached:.0f} | {reached / best:.2f} | {lost} |", flush=True)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mean", type=float, default=0.5, help="mean delay in seconds")
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--levels", type=int, nargs="+", default=LEVELS)
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--serve", nargs=4, metavar=("KIND", "CAPACITY", "MEAN", "SEED"))
    asked = parser.parse_args()
    if asked.serve:
        name, capacity, mean, seed = asked.serve
        asyncio.run(serve(Kind(name=name, capacity=int(capacity)), float(mean), int(seed)))
    elif asked.search:
        searched(asked.mean, asked.seconds)
    else:
        compared(asked.mean, asked.seconds, asked.rounds, asked.levels)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OPENAI_API_KEY", "none")
    sys.exit(main())
