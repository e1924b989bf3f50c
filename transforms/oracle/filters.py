"""Seccomp filters, written as small programs for the kernel's packet filter (BPF).

Two filters are stacked. The first also holds for the contained server: a list of allowed calls, some
depending on their arguments. The second holds for the processes that run foreign code: no new process or
thread, and no signal to any other process. A process that becomes another program (`programs`) has the first
filter with `execve` and threads, which engines such as node need; a compiler may start processes, too.

The tables hold the numbers of system calls on x86-64 and on aarch64. Calls that are not listed are refused. A
list of allowed calls stays closed when a kernel adds new ones.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import Final

ABSENT: Final = -1
"""Stands for a call that an architecture does not have."""

# fmt: off
ALLOWED: Final = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "pwrite64": (18, 68), "open": (2, ABSENT), "openat": (257, 56), "close": (3, 57),
    "close_range": (436, 436), "stat": (4, ABSENT), "fstat": (5, 80), "lstat": (6, ABSENT),
    "newfstatat": (262, 79), "statx": (332, 291), "poll": (7, ABSENT), "ppoll": (271, 73),
    "select": (23, ABSENT), "pselect6": (270, 72), "lseek": (8, 62), "mmap": (9, 222),
    "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "mremap": (25, 216),
    "madvise": (28, 233), "msync": (26, 227), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132), "access": (21, ABSENT),
    "faccessat": (269, 48), "faccessat2": (439, 439), "pipe": (22, ABSENT), "pipe2": (293, 59),
    "dup": (32, 23), "dup2": (33, ABSENT), "dup3": (292, 24), "pause": (34, ABSENT),
    "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "getitimer": (36, 102),
    "setitimer": (38, 103), "alarm": (37, ABSENT), "timer_create": (222, 107),
    "timer_settime": (223, 110), "timer_gettime": (224, 108), "timer_getoverrun": (225, 109),
    "timer_delete": (226, 111), "timerfd_create": (283, 85), "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87), "getpid": (39, 172), "gettid": (186, 178), "getppid": (110, 173),
    "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
    "getresuid": (118, 148), "getresgid": (120, 150), "getgroups": (115, 158), "getpgrp": (111, ABSENT),
    "getpgid": (121, 155), "getsid": (124, 156), "uname": (63, 160), "flock": (73, 32),
    "fsync": (74, 82), "fdatasync": (75, 83), "ftruncate": (77, 46), "fallocate": (285, 47),
    "fadvise64": (221, 223), "getdents": (78, ABSENT), "getdents64": (217, 61), "getcwd": (79, 17),
    "chdir": (80, 49), "fchdir": (81, 50), "rename": (82, ABSENT), "renameat": (264, 38),
    "renameat2": (316, 276), "mkdir": (83, ABSENT), "mkdirat": (258, 34), "rmdir": (84, ABSENT),
    "unlink": (87, ABSENT), "unlinkat": (263, 35), "link": (86, ABSENT), "linkat": (265, 37),
    "symlink": (88, ABSENT), "symlinkat": (266, 36), "readlink": (89, ABSENT), "readlinkat": (267, 78),
    "umask": (95, 166), "getrlimit": (97, 163), "setrlimit": (160, 164), "getrusage": (98, 165),
    "sysinfo": (99, 179), "times": (100, 153), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "futex": (202, 98), "set_tid_address": (218, 96), "set_robust_list": (273, 99),
    "get_robust_list": (274, 100), "rseq": (334, 293), "membarrier": (324, 283), "getrandom": (318, 278),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "time": (201, ABSENT),
    "gettimeofday": (96, 169), "exit": (60, 93), "exit_group": (231, 94), "epoll_create": (213, ABSENT),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, ABSENT),
    "epoll_pwait": (281, 22), "eventfd": (284, ABSENT), "eventfd2": (290, 19),
    "restart_syscall": (219, 128), "getcpu": (309, 168), "wait4": (61, 260), "waitid": (247, 95),
    "statfs": (137, 43), "fstatfs": (138, 44), "copy_file_range": (326, 285), "sendfile": (40, 71),
    "recvfrom": (45, 207), "arch_prctl": (158, ABSENT), "shutdown": (48, 210),
}
"""Calls that any contained process may make: its own memory, files that Landlock lets it open, clocks."""

JUDGED: Final = {
    "ioctl": (16, 29), "fcntl": (72, 25), "prlimit64": (302, 261), "kill": (62, 129),
    "tkill": (200, 130), "tgkill": (234, 131), "clone": (56, 220), "clone3": (435, 435),
    "fork": (57, ABSENT), "vfork": (58, ABSENT), "socketpair": (53, 199), "sendto": (44, 206),
    "prctl": (157, 167), "execve": (59, 221),
}
"""Calls that depend on their arguments, or on the process that makes them."""
# fmt: on

ARCHITECTURES: Final = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The column of the tables and the kernel's name (AUDIT_ARCH), by `platform.machine()`."""


# Instructions of the classic packet filter (linux/bpf_common.h): BPF_LD|BPF_W|BPF_ABS, BPF_ALU|BPF_AND|BPF_K,
# BPF_JMP|BPF_JEQ|BPF_K, BPF_JMP|BPF_JGE|BPF_K, BPF_RET|BPF_K.
_LOAD: Final = 0x20
_AND: Final = 0x54
_EQUAL: Final = 0x15
_AT_LEAST: Final = 0x35
_RETURN: Final = 0x06

# Answers (linux/seccomp.h): SECCOMP_RET_ALLOW, _ERRNO with EPERM (1) or ENOSYS (38), _KILL_PROCESS.
_ALLOW: Final = 0x7FFF0000
_EPERM: Final = 0x00050001
_ENOSYS: Final = 0x00050026
_KILL: Final = 0x80000000

# Offsets in `struct seccomp_data`.
_NUMBER_AT: Final = 0
_ARCHITECTURE_AT: Final = 4
_FIRST_ARGUMENT_AT: Final = 16
_X32: Final = 0x40000000
"""Calls with numbers from here on belong to the x32 interface, which would bypass a list of numbers."""

_ALL_BITS: Final = 0xFFFFFFFF
_NEW_NAMESPACES: Final = 0x7E020080
_THREAD: Final = 0x00010000
"""The flag of clone (CLONE_THREAD) with which it makes a thread and no process."""
_TERMINAL_AND_BLOCKING: Final = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: the requests that Python makes of a file."""
_DUPLICATE_FLAGS_LOCKS: Final = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
"""Commands of fcntl, without those that direct signals (F_SETOWN, F_SETSIG, F_NOTIFY, leases)."""
_NAME_OF_THREAD: Final = (15, 16)

Test = tuple[int, int, Sequence[int]]
"""A test of a 32-bit half of an argument: number of the half, mask, and allowed values after masking."""


class Filter:
    """A filter under construction; `code` is the program for the kernel."""

    def __init__(self, machine: str, *, otherwise: int) -> None:
        """Start with the checks that every filter needs. `otherwise` answers the calls that are not listed.

        Raises:
            KeyError: no table of calls for this machine.
        """
        self._column, architecture = ARCHITECTURES[machine]
        self._otherwise = otherwise
        # The architecture first: a process can call the kernel with the numbers of another one (i386).
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
    """The filter for every contained process: no sockets, no new namespace, no new program."""
    policy = _contained(machine)
    policy.answer(("fork", "vfork", "kill", "tkill", "tgkill", "prctl"), _ALLOW)
    policy.allow_where("clone", (_low(0), _NEW_NAMESPACES, (0,)))
    return policy.code


def program_filter(machine: str, process: int, *, starts: bool) -> bytes:
    """The filter for a process that becomes another program; `process` is its own id.

    It signals no other process. Only if it `starts` others, as compilers do, it may make processes.
    """
    policy = _contained(machine)
    policy.answer(("execve",), _ALLOW)
    for name in ("kill", "tkill", "tgkill"):
        policy.allow_where(name, (_low(0), _ALL_BITS, (process,)))
    policy.allow_where("prctl", (_low(0), _ALL_BITS, _NAME_OF_THREAD))
    if starts:
        policy.answer(("fork", "vfork"), _ALLOW)
        policy.allow_where("clone", (_low(0), _NEW_NAMESPACES, (0,)))
    else:
        policy.allow_where("clone", (_low(0), _NEW_NAMESPACES | _THREAD, (_THREAD,)))
    return policy.code


def _contained(machine: str) -> Filter:
    """What both filters allow."""
    policy = Filter(machine, otherwise=_EPERM)
    policy.answer(ALLOWED, _ALLOW)
    policy.answer(("clone3",), _ENOSYS)  # its flags lie in memory; libc falls back to clone
    policy.allow_where("ioctl", (_low(1), _ALL_BITS, _TERMINAL_AND_BLOCKING))
    policy.allow_where("fcntl", (_low(1), _ALL_BITS, _DUPLICATE_FLAGS_LOCKS))
    policy.allow_where("prlimit64", (_low(0), _ALL_BITS, (0,)))
    # Both ends of a socket pair stay in the process. Event loops need one to wake up.
    policy.allow_where("socketpair", (_low(0), _ALL_BITS, (1,)), (_low(1), 0xF, (1,)))
    policy.allow_where("sendto", (_low(4), _ALL_BITS, (0,)), (_low(4) + 1, _ALL_BITS, (0,)))
    return policy


def job_filter(machine: str, process: int) -> bytes:
    """The additional filter for a process that runs foreign code; `process` is its own id (32 bits)."""
    policy = Filter(machine, otherwise=_ALLOW)
    policy.answer(("fork", "vfork", "clone"), _EPERM)
    for name in ("kill", "tkill", "tgkill"):
        policy.allow_where(name, (_low(0), _ALL_BITS, (process,)))
    policy.allow_where("prctl", (_low(0), _ALL_BITS, _NAME_OF_THREAD))
    return policy.code
