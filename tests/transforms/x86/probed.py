"""Inside the sandbox: runs each instruction from pairs of states for `probing`. A `server.Target`."""

import json
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from random import Random
from typing import Any

from codeaudit.transforms.x86.witnesses import running
from codeaudit.transforms.x86.witnesses.processor import (
    IMAGES,
    PAGE,
    FullState,
    Outcome,
    Processor,
    content,
)

_STICKY = 0x3F
"""MXCSR's notes of exceptions. They only accumulate, so their order is no effect."""
_CLASSES = {"gp": "general", "vec": "vectors", "k": "masks"}


def warm() -> None:
    """Load what every job needs."""
    running.warm()


def prepare(job: dict[str, Any]) -> None:
    """Does nothing: instructions run in the child only."""


def run(job: Mapping[str, Any], start: int, answer: Callable[[str], None]) -> None:
    """Answer once for each instruction."""
    processor = Processor(bytes.fromhex(job["springboard"]), **job["labels"])
    for text in answers(processor, job["inputs"][start:]):
        answer(text)


def answers(processor: Processor, questions: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """For each instruction what it does beyond its declaration, and the `ends` of its runs; as JSON."""
    for question in questions:
        yield json.dumps(_probed(processor, question))


def _probed(processor: Processor, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    rng = Random(asked["seed"])
    processor.load(bytes.fromhex(asked["code"]))
    wrong: set[str] = set()
    all_ends: list[str] = []
    runs, fault = 0, ""
    for number in range(asked["states"]):
        first = running.random_state(
            rng, pointers=asked["pointers"], small=asked["small"], top=True, aligned=number % 2 == 0
        )
        other = running.random_state(rng, pointers=(), small=(), top=True, aligned=False)
        first, other = _fitting(first, asked), _fitting(other, asked)
        second = _agreeing(first, other, asked)
        image, elsewhere = rng.sample(range(IMAGES), 2)
        if asked["flags_only"]:  # all its other effects are allowed
            second = replace(first, flags=second.flags)
            elsewhere = image
        places = _places(first, asked["memory"])
        if places is None:
            held, elsewhere = {}, image
        else:
            held = {at: byte for start, size, _ in places for at, byte in _bytes(image, start, size)}
        ends = [processor.run(first, image, held), processor.run(second, elsewhere, held)]
        processor.forget()
        all_ends += [_told(end, asked["flags_defined"]) for end in ends]
        if ends[0].signal or ends[1].signal:
            fault = signal.Signals(ends[0].signal or ends[1].signal).name
            if ends[0].signal != ends[1].signal:
                wrong.add("a fault depends on what it does not declare")
            continue
        runs += 1
        if asked["flags_only"]:
            wrong.update(_wrong_flags(asked, (first, second), ends))
            continue
        wrong.update(_wrong(asked, (first, second), ends, (image, elsewhere), held, places))
    return {"runs": runs, "wrong": sorted(wrong), "fault": fault, "ends": all_ends}


def _told(end: Outcome, flags: int) -> str:
    """A short text of all that a run left; equal texts mean equal ends."""
    if end.signal:
        return signal.Signals(end.signal).name
    state = end.state
    registers = (state.general, state.vectors, state.masks, state.stack, state.flags & flags, state.control)
    return sha256(repr((registers, state.mxcsr, sorted(end.memory.items()))).encode()).hexdigest()[:16]


def _fitting(state: FullState, asked: Mapping[str, Any]) -> FullState:
    """The state without the registers, and parts of registers, that the processor does not have."""
    count, size = asked["vectors"]
    lanes = [lane[: size if number < count else 0] for number, lane in enumerate(state.vectors)]
    masks = state.masks if size == 64 else (0,) * 8
    return replace(state, vectors=tuple(lane.ljust(64, b"\0") for lane in lanes), masks=masks)


def _agreeing(first: FullState, other: FullState, asked: Mapping[str, Any]) -> FullState:
    """`other` with all that the instruction declares as in `first`."""
    fields: dict[str, Any] = {}
    for kind, name in _CLASSES.items():
        values = list(getattr(other, name))
        for number in asked["kept"][kind]:
            values[number] = getattr(first, name)[number]
        fields[name] = tuple(values)
    read = asked["flags_read"]
    return replace(
        other,
        **fields,
        flags=first.flags & read | other.flags & ~read,
        mxcsr=first.mxcsr,
        control=other.control,
    )


def _places(state: FullState, memory: list[Mapping[str, Any]] | None) -> list[tuple[int, int, bool]] | None:
    if memory is None:
        return None
    places = []
    for place in memory:
        address = place["displacement"]
        for part in filter(None, place["parts"]):
            number, width, scale = part
            address += (state.general[number] & (1 << width) - 1) * scale
        address = (address % (1 << place["bits"]) + place["origin"]) % (1 << 64)
        places.append((address, place["size"], place["writes"]))
    return places


def _bytes(image: int, start: int, size: int) -> Iterator[tuple[int, bytes]]:
    for at in range(start, start + size):
        yield at, content(image, at & -PAGE)[at % PAGE : at % PAGE + 1]


def _wrong(
    asked: Mapping[str, Any],
    begins: Sequence[FullState],
    ends: Sequence[Outcome],
    images: Sequence[int],
    held: Mapping[int, bytes],
    places: Sequence[tuple[int, int, bool]] | None,
) -> Iterator[str]:
    one, other = (end.state for end in ends)
    for kind, name in _CLASSES.items():
        for number, values in enumerate(zip(getattr(one, name), getattr(other, name), strict=True)):
            base = f"{kind} {number}"
            if number in asked["written"][kind]:
                if values[0] != values[1]:
                    yield f"{base} depends on what it does not declare"
            elif any(
                value != getattr(begin, name)[number] for value, begin in zip(values, begins, strict=True)
            ):
                yield f"writes {base}"
    yield from _wrong_flags(asked, begins, ends)
    for begin, end in zip(begins, ends, strict=True):
        if (begin.stack, begin.control) != (end.state.stack, end.state.control):
            yield "writes the x87 stack"
        if (begin.mxcsr ^ end.state.mxcsr) & ~_STICKY:
            yield "writes MXCSR"
    yield from _wrong_memory(ends, images, held, places)


def _wrong_flags(
    asked: Mapping[str, Any], begins: Sequence[FullState], ends: Sequence[Outcome]
) -> Iterator[str]:
    one, other = (end.state for end in ends)
    written = asked["flags_written"]
    if (one.flags ^ other.flags) & written:
        yield f"flags {(one.flags ^ other.flags) & written:#x} depend on what it does not declare"
    for begin, end in zip(begins, ends, strict=True):
        if changed := (begin.flags ^ end.state.flags) & ~written:
            yield f"writes flags {changed:#x}"


def _wrong_memory(
    ends: Sequence[Outcome],
    images: Sequence[int],
    held: Mapping[int, bytes],
    places: Sequence[tuple[int, int, bool]] | None,
) -> Iterator[str]:
    if places is None:  # anywhere
        if ends[0].memory != ends[1].memory:
            yield "memory depends on what it does not declare"
        return
    written = {at for start, size, writes in places if writes for at in range(start, start + size)}
    for end, image in zip(ends, images, strict=True):
        for page, left in end.memory.items():
            parts = range(page, page + len(left), PAGE)
            expected = bytearray(b"".join(content(image, part) for part in parts))
            now = bytearray(left)
            for at, byte in held.items():
                if page <= at < page + len(left):
                    expected[at - page : at - page + 1] = byte
            for at in written:
                if page <= at < page + len(left):
                    expected[at - page] = now[at - page] = 0
            if expected != now:
                yield "writes memory elsewhere"
    for at in written:
        values = [
            next(
                (data[at - page] for page, data in end.memory.items() if page <= at < page + len(data)), None
            )
            for end in ends
        ]
        if values[0] != values[1]:
            yield "stored bytes depend on what it does not declare"
            return
