"""Inside the sandbox: runs pairs of blocks on the processor and compares the results. A `server.Target`."""

import json
import signal
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any, Final

from codeaudit.transforms.x86.witnesses.processor import (
    ARENA,
    ARENA_SIZE,
    FLAGS,
    IMAGES,
    PAGE,
    FullState,
    Outcome,
    Processor,
    content,
)

_STACK_POINTER: Final = 4
_NEAR: Final = (0, 0, 1, 2, 4, 8, 16, 32, 64)
"""Distances of pointers: accesses through two of them overlap, touch or are apart."""
_EDGES: Final = (
    0,
    1,
    2,
    3,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x7FFF_FFFF,
    0x8000_0000,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
)
_MASKED: Final = 0x1F80
"""MXCSR with all exceptions masked."""


def warm() -> None:
    """Load what every job needs."""
    random_state(Random(0), pointers=(), small=(0,), top=True, aligned=True)
    _small_lanes()
    for image in range(IMAGES):
        for page in range(ARENA, ARENA + ARENA_SIZE, PAGE):
            content(image, page)


def prepare(job: dict[str, Any]) -> None:
    """Does nothing: blocks run in the child only."""


def run(job: Mapping[str, Any], start: int, answer: Callable[[str], None]) -> None:
    """Answer once for each pair, with JSON: `runs` that were compared, `what` differed, the last `fault`."""
    processor = Processor(bytes.fromhex(job["springboard"]), **job["labels"])
    for pair in job["inputs"][start:]:
        answer(json.dumps(compared(processor, pair)))


def compared(processor: Processor, pair: Mapping[str, Any]) -> Mapping[str, Any]:
    """Both blocks from random states."""
    rng = Random(pair["seed"])
    codes = [bytes.fromhex(code) for code in pair["codes"]]
    forth, runs, fault = pair["forth"], 0, ""
    for number in range(pair["states"]):
        state = random_state(
            rng,
            pointers=pair["pointers"],
            small=pair["small"],
            # MMX registers have numbers of their own only if the stack begins at register 0.
            top=forth["mmx"] == list(range(8)),
            aligned=number % 2 == 0,
        )
        image = rng.randrange(IMAGES)
        ends = []
        for code, begin in zip(codes, (state, state.renamed(forth)), strict=True):
            processor.load(code)
            ends.append(processor.run(begin, image))
        processor.forget()
        one, other = ends
        if one.signal and other.signal and not pair["same_fault"]:
            fault = signal.Signals(one.signal).name
        elif what := difference(one, other, forth, image, pair["starts"]):
            return {"runs": runs, "what": what, "fault": ""}
        elif one.signal:
            fault = signal.Signals(one.signal).name
        else:
            runs += 1
    return {"runs": runs, "what": "", "fault": fault}


def difference(
    one: Outcome,
    other: Outcome,
    forth: Mapping[str, Sequence[int]],
    image: int,
    starts: Sequence[Sequence[int]],
) -> str:
    """What differs between corresponding ends; empty if nothing does."""
    if one.signal != other.signal:
        return f"signal {one.signal}, then {other.signal}"
    if one.signal:
        places = [
            begins.index(end.place) if end.place in begins else -1
            for begins, end in zip(starts, (one, other), strict=True)
        ]
        if places[0] != places[1]:
            return "another instruction faults"
    expected, actual = one.state.renamed(forth), other.state
    for name in ("general", "vectors", "masks", "stack"):
        if getattr(expected, name) != getattr(actual, name):
            return f"{name} registers"
    if expected.flags != actual.flags:
        return f"flags {expected.flags ^ actual.flags:#x}"
    if (expected.control, expected.mxcsr) != (actual.control, actual.mxcsr):
        return "status of arithmetic"
    for page in one.memory.keys() | other.memory.keys():
        untouched = b"" if page == ARENA else content(image, page)
        if one.memory.get(page, untouched) != other.memory.get(page, untouched):
            return f"memory at {page:#x}"
    return ""


def random_state(
    rng: Random, *, pointers: Sequence[int], small: Sequence[int], top: bool, aligned: bool
) -> FullState:
    """A state; `pointers` and `small` are numbers of general registers.

    With `top`, the x87 stack may begin at any register.
    """
    middle = ARENA + ARENA_SIZE // 2 + 64 * rng.randrange(-8, 9)
    general = []
    for number in range(16):
        if number in small and (number not in pointers or rng.random() < 0.5):
            general.append(rng.randrange(12))
        elif number in pointers or number == _STACK_POINTER or rng.random() < 0.3:
            near = 64 * rng.randrange(4) if aligned else rng.choice(_NEAR)
            general.append(middle + near)
        else:
            general.append(_number(rng))
    if not aligned:
        general[_STACK_POINTER] &= -8
    pool = _pool()
    tags = rng.choice((0, 0xFF, rng.getrandbits(8)))
    status = rng.getrandbits(3) << 11 if top and rng.random() < 0.5 else 0
    precision = rng.choice((0x037F, 0x037F, 0x027F, 0x007F)) | rng.getrandbits(2) << 10
    # Rounding, denormals are zero, flush to zero.
    mxcsr = _MASKED | (
        rng.choice((0x2000, 0x4000, 0x6000, 0x40, 0x8000, 0x8040)) if rng.random() < 0.3 else 0
    )
    lanes = _small_lanes() if small and rng.random() < 0.5 else pool
    return FullState(
        general=tuple(general),
        vectors=tuple(rng.choices(lanes, k=32)),
        masks=tuple(rng.choices((rng.getrandbits(64), rng.getrandbits(64), 0, (1 << 64) - 1), k=8)),
        stack=tuple(
            lane[:8] + exponent
            for lane, exponent in zip(rng.choices(pool, k=8), rng.choices(_EXPONENTS, k=8), strict=True)
        ),
        flags=rng.getrandbits(12) & FLAGS & (-1 if rng.random() < 0.2 else ~0x400),
        control=(precision, status, tags),
        mxcsr=mxcsr,
    )


_EXPONENTS: Final = (
    b"\xff\x3f",
    b"\x00\x40",
    b"\x05\xc0",
    b"\x00\x00",
    b"\xff\x7f",
    b"\xff\xff",
    b"\x20\x40",
)
"""Sign and exponent of x87 values: near 1, negative, denormal, infinite or not a number, large."""


def _number(rng: Random) -> int:
    kind = rng.random()
    if kind < 0.35:
        return rng.getrandbits(64)
    return rng.randrange(256) if kind < 0.65 else rng.choice(_EDGES)


@cache
def _small_lanes() -> tuple[bytes, ...]:
    rng = Random(2)
    return tuple(struct.pack("<16i", *(rng.randrange(-8, 16) for _ in range(16))) for _ in range(64))


@cache
def _pool() -> tuple[bytes, ...]:
    """Vectors of 64 bytes: bits, floats with their special values, small integers, equal lanes."""
    rng = Random(1)
    special = (0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan"), 1e-40, 1e-310, 1e30, 3.25)
    pool = []
    for _ in range(64):
        pool.append(rng.randbytes(64))
        pool.append(struct.pack("<16f", *(rng.choice((*special[:8], rng.gauss(0, 100))) for _ in range(16))))
        pool.append(struct.pack("<8d", *(rng.choice((*special, rng.gauss(0, 1e5))) for _ in range(8))))
        pool.append(struct.pack("<16i", *(rng.randrange(-8, 16) for _ in range(16))))
        pool.append(rng.randbytes(8) * 8)
    return tuple(pool)
