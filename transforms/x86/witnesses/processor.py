"""Runs straight-line machine code on this processor, from a given state to the state that it leaves.

For use in a process that may be lost: nothing keeps the code from writing over this process. `native` runs
it inside the sandbox. A small program in machine code (`springboard`) loads all registers, jumps to the code,
and stores all registers afterwards. A signal that the code raises ends the run, and the state is that before
the faulting instruction.

The addresses of the code and of the states are fixed and below 2^31, so the springboard needs no register of
its own. A page without memory is mapped when the code first touches it, and the run starts again. The
content of a page depends on a number and on its address only.
"""

import ctypes
import signal
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any, Final

PAGE: Final = 0x1000
CODE: Final = 0x2B5D_3000
"""The address of the code. No address of this module is a shifted or rotated address of the arena: code that
computes such an address must not find the springboard's memory there, which is not the same in every run.
"""
ROOM: Final = 2 * PAGE - 16
"""The most bytes of code; behind it stands the jump to the springboard."""
SPRINGBOARD: Final = 0x2D6B_5000
STATE: Final = 0x2EA7_9000
"""The address of the state that is loaded."""
AFTER: Final = STATE + PAGE
"""The address of the state that is stored."""
HOST: Final = STATE + 2 * PAGE
"""Where the springboard keeps what belongs to the caller."""
FAULT: Final = STATE + 3 * PAGE
"""Where the handler writes: whether code runs, signal, code of the signal, address, place."""
ARENA: Final = 0x10_4000_0000
"""The pages that always have memory. Not below 2^32, so an address of 32 bits means another place."""
ARENA_SIZE: Final = 8 * PAGE
LOCAL: Final = 0x20_0000_0000
"""The base address of `fs`."""
GLOBAL: Final = 0x30_0000_0000
"""The base address of `gs`."""

# Offsets in a state.
FLAGS_AT: Final = 0x80
SEGMENTS_AT: Final = 0x88
MASKS_AT: Final = 0xC0
X87_AT: Final = 0x100
VECTORS_AT: Final = 0x300
STATE_SIZE: Final = 0xB00

FLAGS: Final = 0b1100_1101_0101
"""CF, PF, AF, ZF, SF, DF and OF."""
MOST_PAGES: Final = 40
"""The most pages that one run may touch outside the arena."""
IMAGES: Final = 32
"""The number of different contents of memory."""

_SIGNALS: Final = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP)
_NO_MEMORY: Final = 1
"""The code of a SIGSEGV for an address without memory (`SEGV_MAPERR`)."""
_READ: Final = 1
_READ_WRITE: Final = 3
_EXECUTE: Final = 4
_PRIVATE: Final = 0x22
_FIXED: Final = 0x10_0000
"""`MAP_FIXED_NOREPLACE`."""
_ON_STACK: Final = 0x0800_0004
"""`SA_ONSTACK` and `SA_SIGINFO`."""
_STACK_SIZE: Final = 1 << 17
_NOTHING: Final[Mapping[int, bytes]] = {}
_LEGACY: Final = struct.Struct("<HHBxH16xII")
"""The head of the x87 state: control word, status word, tags, opcode; then MXCSR and its mask."""


@dataclass(frozen=True, slots=True)
class FullState:
    """All registers that a block of code can use."""

    general: tuple[int, ...]
    """16 numbers of 64 bits, by number of the register."""
    vectors: tuple[bytes, ...]
    """32 values of 64 bytes. What the processor does not have stays 0."""
    masks: tuple[int, ...]
    """8 numbers of 64 bits."""
    stack: tuple[bytes, ...]
    """8 values of 10 bytes, the x87 stack from its top. MMX register i is value i if the top is 0."""
    flags: int
    """The status flags and the direction flag, in `FLAGS`."""
    control: tuple[int, int, int]
    """Control word, status word and tags of the x87 unit."""
    mxcsr: int
    """Control and status of vector arithmetic."""

    def packed(self) -> bytes:
        """The bytes that the springboard loads."""
        head = struct.pack("<16Q3Q", *self.general, self.flags | 0x202, LOCAL, GLOBAL)
        x87 = _LEGACY.pack(*self.control, 0, self.mxcsr, 0) + b"".join(
            register + bytes(6) for register in self.stack
        )
        masks = struct.pack("<8Q", *self.masks)
        return b"".join(
            (
                head.ljust(MASKS_AT, b"\0"),
                masks,
                x87.ljust(VECTORS_AT - X87_AT, b"\0"),
                *self.vectors,
            )
        )

    @classmethod
    def unpacked(cls, data: bytes) -> "FullState":
        """The state that the springboard stored."""
        *general, flags = struct.unpack_from("<17Q", data)
        control, status, tags, _, mxcsr, _ = _LEGACY.unpack_from(data, X87_AT)
        starts = range(X87_AT + _LEGACY.size, X87_AT + _LEGACY.size + 128, 16)
        return cls(
            general=tuple(general),
            vectors=tuple(data[at : at + 64] for at in range(VECTORS_AT, STATE_SIZE, 64)),
            masks=struct.unpack_from("<8Q", data, MASKS_AT),
            stack=tuple(data[at : at + 10] for at in starts),
            flags=flags & FLAGS,
            control=(control, status, tags),
            mxcsr=mxcsr,
        )

    def renamed(self, forth: Mapping[str, Sequence[int]]) -> "FullState":
        """The same values in other registers: for each class, the new number of each register."""
        return replace(
            self,
            general=_moved(self.general, forth["gp"]),
            vectors=_moved(self.vectors, forth["vec"]),
            masks=_moved(self.masks, forth["k"]),
            stack=_moved(self.stack, forth["mmx"]),
        )


def _moved(values: tuple[Any, ...], numbers: Sequence[int]) -> tuple[Any, ...]:
    changed = list(values)
    for value, number in zip(values, numbers, strict=True):
        changed[number] = value
    return tuple(changed)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to."""

    state: FullState
    """The registers at the end, or before the instruction that faulted."""
    memory: Mapping[int, bytes]
    """The pages that the run could touch, by address."""
    signal: int = 0
    """The signal that ended the run; 0 if it reached its end."""
    place: int = 0
    """Where the faulting instruction begins, in bytes from the start of the code."""
    address: int = 0
    """The address that it could not use, if any."""


class Processor:
    """This processor, as a machine that runs code. One per process.

    `springboard` is the program in machine code; `entry`, `leave` and `handler` are places in it, in bytes
    from its start.

    Raises:
        OSError: the kernel refused memory at one of the fixed addresses.
    """

    def __init__(self, springboard: bytes, *, entry: int, leave: int, handler: int) -> None:
        libc: Any = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
        libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
        libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        self._libc = libc
        self._leave = SPRINGBOARD + leave
        for address, size, rights in (
            (CODE, 2 * PAGE, _READ_WRITE | _EXECUTE),
            (SPRINGBOARD, PAGE, _READ_WRITE),
            (STATE, 4 * PAGE, _READ_WRITE),
            (ARENA, ARENA_SIZE, _READ_WRITE),
        ):
            if not self._map(address, size, rights):
                raise OSError(ctypes.get_errno(), f"no memory at {address:#x}")
        ctypes.memmove(SPRINGBOARD, springboard, len(springboard))
        libc.mprotect(SPRINGBOARD, PAGE, _READ | _EXECUTE)
        # Not `CFUNCTYPE`, which would let other threads run meanwhile.
        self._enter = ctypes.PYFUNCTYPE(None)(SPRINGBOARD + entry)
        self._pages: list[int] = []
        self._catch(SPRINGBOARD + handler)

    def _map(self, address: int, size: int, rights: int = _READ_WRITE) -> bool:
        return bool(self._libc.mmap(address, size, rights, _PRIVATE | _FIXED, -1, 0) == address)

    def _catch(self, handler: int) -> None:
        # The code under test may move the stack pointer anywhere, so the handler has a stack of its own.
        self._stack = ctypes.create_string_buffer(_STACK_SIZE)
        stack = struct.pack("@PixxxxN", ctypes.addressof(self._stack), 0, _STACK_SIZE)
        action = struct.pack("@P128sixxxxP", handler, bytes(128), _ON_STACK, 0)
        if self._libc.sigaltstack(stack, None):
            raise OSError(ctypes.get_errno(), "sigaltstack")
        for number in _SIGNALS:
            if self._libc.sigaction(int(number), action, None):
                raise OSError(ctypes.get_errno(), "sigaction")

    def load(self, code: bytes) -> None:
        """Put code in place."""
        assert len(code) <= ROOM, "the caller counts"
        jump = struct.pack("<Bi", 0xE9, self._leave - (CODE + len(code) + 5))
        ctypes.memset(CODE, 0xCC, 2 * PAGE)
        ctypes.memmove(CODE, code + jump, len(code) + len(jump))

    def forget(self) -> None:
        """Give back the pages outside the arena."""
        for page in self._pages:
            self._libc.munmap(page, PAGE)
        self._pages.clear()

    def run(self, state: FullState, image: int, held: Mapping[int, bytes] = _NOTHING) -> Outcome:
        """Run the loaded code once.

        `image` chooses the content of memory, except for the bytes that `held` gives by address. They must
        not reach beyond their page.
        """
        packed = state.packed()
        arena = b"".join(content(image, ARENA + at) for at in range(0, ARENA_SIZE, PAGE))
        while True:
            ctypes.memmove(ARENA, arena, ARENA_SIZE)
            for page in self._pages:
                ctypes.memmove(page, content(image, page), PAGE)
            for at, data in held.items():
                if ARENA <= at < ARENA + ARENA_SIZE or at & -PAGE in self._pages:
                    ctypes.memmove(at, data, len(data))
            ctypes.memmove(STATE, packed, STATE_SIZE)
            ctypes.memset(FAULT, 0, 64)
            self._enter()
            _, number, code, address, place = struct.unpack("<5Q", ctypes.string_at(FAULT, 40))
            if not (number == signal.SIGSEGV and code == _NO_MEMORY and self._add(address & -PAGE)):
                break
        memory = {page: ctypes.string_at(page, PAGE) for page in self._pages}
        memory[ARENA] = ctypes.string_at(ARENA, ARENA_SIZE)
        # An address that is not canonical is another fault through `rbp` and `rsp`, which imply `ss`.
        number = signal.SIGSEGV if number == signal.SIGBUS else number
        after = FullState.unpacked(ctypes.string_at(AFTER, STATE_SIZE))
        return Outcome(after, memory, number, place - CODE if number else 0, address if number else 0)

    def _add(self, page: int) -> bool:
        if len(self._pages) >= MOST_PAGES or not 0 < page < 1 << 47 or not self._map(page, PAGE):
            return False
        self._pages.append(page)
        return True


@lru_cache(maxsize=IMAGES * (ARENA_SIZE // PAGE))
def _image(image: int, number: int) -> bytes:
    rng = Random(image * 1000 + number)
    words = []
    for _ in range(PAGE // 8):
        kind = rng.random()
        if kind < 0.65:  # usable as an address
            words.append(ARENA + ARENA_SIZE // 2 + 8 * rng.randrange(-64, 64))
        else:
            words.append(rng.getrandbits(64) if kind < 0.85 else rng.randrange(256))
    return struct.pack(f"<{PAGE // 8}Q", *words)


def content(image: int, page: int) -> bytes:
    """The first content of a page."""
    # Below 2^32 stands the neighbouring image, so a cut address shows.
    return _image(image ^ (page >> 36 & 1), page // PAGE % (ARENA_SIZE // PAGE))
