"""Seccomp filters, written as small programs for the kernel's packet filter (BPF).

Two filters are stacked. The first also holds for the contained server: a list of allowed calls, some
depending on their arguments. The second holds for the processes that run foreign code: no new process or
thread, and no signal to any other process.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import Final

from codeaudit.transforms.oracle.syscalls import ABSENT, ALLOWED, ARCHITECTURES, JUDGED

_LOAD: Final = 0x20
_AND: Final = 0x54
_EQUAL: Final = 0x15
_AT_LEAST: Final = 0x35
_RETURN: Final = 0x06

_ALLOW: Final = 0x7FFF0000
_EPERM: Final = 0x00050001
_ENOSYS: Final = 0x00050026
_KILL: Final = 0x80000000

_NUMBER_AT: Final = 0
_ARCHITECTURE_AT: Final = 4
_FIRST_ARGUMENT_AT: Final = 16
_X32: Final = 0x40000000
"""Calls with numbers from here on belong to the x32 interface, which would bypass a list of numbers."""

_ALL_BITS: Final = 0xFFFFFFFF
_NEW_NAMESPACES: Final = 0x7E020080
_TERMINAL_AND_BLOCKING: Final = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: the requests that Python makes of a file."""
_DUPLICATE_FLAGS_LOCKS: Final = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
"""Commands of fcntl, without those that direct signals (F_SETOWN, F_SETSIG, F_NOTIFY, leases)."""
_NAME_OF_THREAD: Final = (15, 16)

Test = tuple[int, int, Sequence[int]]
"""A test of a 32-bit half of an argument: the number of the half, a mask, and the allowed values after
masking.
"""


class Filter:
    """A filter under construction; `code` is the program for the kernel."""

    def __init__(self, machine: str, *, otherwise: int) -> None:
        """Start with the checks that every filter needs. `otherwise` is the answer to calls that are not
        listed.

        Raises:
            KeyError: no table of calls for this machine.
        """
        self._column, architecture = ARCHITECTURES[machine]
        self._otherwise = otherwise
        self._lines: list[tuple[int, int, int, int]] = [
            (_LOAD, 0, 0, _ARCHITECTURE_AT),
            (_EQUAL, 1, 0, architecture),
            (_RETURN, 0, 0, _KILL),
            (_LOAD, 0, 0, _NUMBER_AT),
        ]
        if machine == "x86_64":
            self._lines += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _EPERM)]

    def answer(self, names: Iterable[str], value: int) -> None:
        """Answer these calls with a value, whatever their arguments."""
        for name in names:
            number = self._number(name)
            if number != ABSENT:
                self._lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, value)]

    def allow_where(self, name: str, *tests: Test) -> None:
        """Allow a call if all tests hold; refuse it otherwise."""
        number = self._number(name)
        if number == ABSENT:
            return
        block: list[tuple[int, int, int, int]] = []
        for half, mask, values in tests:
            block.append((_LOAD, 0, 0, _FIRST_ARGUMENT_AT + 4 * half))
            if mask != _ALL_BITS:
                block.append((_AND, 0, 0, mask))
            block += [
                (_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)
            ]  # each match jumps past the other values and the refusal
            block.append((_RETURN, 0, 0, _EPERM))
        block.append((_RETURN, 0, 0, _ALLOW))
        self._lines += [(_EQUAL, 0, len(block), number), *block]

    @property
    def code(self) -> bytes:
        """The instructions, eight bytes each."""
        lines = [*self._lines, (_RETURN, 0, 0, self._otherwise)]
        return b"".join(struct.pack("=HBBI", *line) for line in lines)

    def _number(self, name: str) -> int:
        return (ALLOWED.get(name) or JUDGED[name])[self._column]


def _low(argument: int) -> int:
    return 2 * argument


def server_filter(machine: str) -> bytes:
    """The filter for every contained process: allowed calls only, no sockets, no new namespace, no new
    program.
    """
    made = Filter(machine, otherwise=_EPERM)
    made.answer(ALLOWED, _ALLOW)
    made.answer(("fork", "vfork", "kill", "tkill", "tgkill", "prctl"), _ALLOW)
    made.answer(("clone3",), _ENOSYS)  # its flags lie in memory; libc falls back to clone
    made.allow_where("clone", (_low(0), _NEW_NAMESPACES, (0,)))
    made.allow_where("ioctl", (_low(1), _ALL_BITS, _TERMINAL_AND_BLOCKING))
    made.allow_where("fcntl", (_low(1), _ALL_BITS, _DUPLICATE_FLAGS_LOCKS))
    made.allow_where("prlimit64", (_low(0), _ALL_BITS, (0,)))
    # Both ends of a socket pair stay in the process. Event loops need one to wake up.
    made.allow_where("socketpair", (_low(0), _ALL_BITS, (1,)), (_low(1), 0xF, (1,)))
    made.allow_where("sendto", (_low(4), _ALL_BITS, (0,)), (_low(4) + 1, _ALL_BITS, (0,)))
    return made.code


def job_filter(machine: str, process: int) -> bytes:
    """The additional filter for a process that runs foreign code; `process` is its own id (32 bits)."""
    made = Filter(machine, otherwise=_ALLOW)
    made.answer(("fork", "vfork", "clone"), _EPERM)
    for name in ("kill", "tkill", "tgkill"):
        made.allow_where(name, (_low(0), _ALL_BITS, (process,)))
    made.allow_where("prctl", (_low(0), _ALL_BITS, _NAME_OF_THREAD))
    return made.code
