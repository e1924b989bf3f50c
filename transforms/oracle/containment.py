"""Containment of a process without privileges: namespaces, resource limits, Landlock, seccomp.

Four layers are required: a process of its own, resource limits, a seccomp filter, and Landlock, which closes
the file system. Namespaces (user, network, processes, mounts, IPC) and a size-limited private folder are
added if the kernel allows them. `server` applies the layers; nothing here depends on a programming language.

Not closed: file metadata (`stat`) of paths that a program guesses, because it reveals little and changes
nothing.
"""

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.oracle.filters import ARCHITECTURES, job_filter, program_filter, server_filter

# Numbers of Landlock's system calls, the same on every architecture.
_LANDLOCK_CREATE: Final = 444
_LANDLOCK_ADD: Final = 445
_LANDLOCK_RESTRICT: Final = 446
_PATH_BENEATH: Final = 1
_ASK_VERSION: Final = 1

_WRITE_FILE: Final = 1 << 1
_READ_FILE: Final = 1 << 2
_READ_DIRECTORY: Final = 1 << 3
_TRUNCATE: Final = 1 << 14
_EXECUTE: Final = 1 << 0
_FILE_RIGHTS: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_NOT_PRIVATE: Final = _EXECUTE | 1 << 6 | 1 << 9 | 1 << 11 | 1 << 15
"""Rights that are refused even in the private folder: run a file, make a device or a socket, drive a device.
"""

_RIGHTS_BY_VERSION: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Number of file rights that each version of Landlock knows; later versions know as many as version 5."""
_NETWORK_FROM: Final = 4
_SCOPES_FROM: Final = 6

_SET_DEATH_SIGNAL: Final = 1
_SET_DUMPABLE: Final = 4
_SET_SECCOMP: Final = 22
_FILTER_MODE: Final = 2
_PLACE_OF_PROCESS: Final = 0x5A5A5A5A
"""Placeholder in the prepared filter for the id of the process that will install it."""
_SET_NO_NEW_PRIVILEGES: Final = 38
_CAPABILITIES_VERSION: Final = 0x20080522

_NEW_MOUNTS: Final = 0x00020000
_NEW_IPC: Final = 0x08000000
_NEW_USER: Final = 0x10000000
_NEW_PROCESSES: Final = 0x20000000
_NEW_NETWORK: Final = 0x40000000

_NO_SET_ID: Final = 2
_NO_DEVICES: Final = 4
_RECURSIVE: Final = 16384
_PRIVATE: Final = 1 << 18

MEGABYTE: Final = 1 << 20
SLOWEST: Final = 10
"""Factor between `RunLimits.idle_seconds` and the longest time without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """The resources that one run of foreign code may use."""

    cpu_seconds: float = 1.0
    """Processor time between two answers of a run, so for one input."""
    idle_seconds: float = 2.0
    """Clock time after which a sleeping run is ended; one that works a little gets `SLOWEST` times it."""
    memory: int = 512 * MEGABYTE
    """Address space in bytes."""
    resident: int = 0
    """Memory in use in bytes, watched from outside, for programs that reserve terabytes of addresses
    (`launch`); 0 for none."""
    file_size: int = 16 * MEGABYTE
    """Size of one file in bytes."""
    folder_size: int = 64 * MEGABYTE
    """Size of all files together in bytes; enforced only if mounts are allowed."""
    open_files: int = 64
    """Number of open files."""
    answer_size: int = 4 * MEGABYTE
    """Size of all answers of one run in bytes."""


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers that this kernel offers."""

    landlock: int
    """Version of Landlock; 0 if the kernel has none."""
    seccomp: bool
    """Whether the kernel has seccomp filters."""

    @property
    def enough(self) -> bool:
        """Whether foreign code can be contained."""
        return self.landlock > 0 and self.seccomp


def offered() -> Layers:
    """The layers that this kernel offers. Nothing is changed."""
    if not sys.platform.startswith("linux") or platform.machine() not in ARCHITECTURES:
        return Layers(0, seccomp=False)
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))
    # Given a null filter, a kernel with seccomp filters reports a bad address (EFAULT, 14).
    libc.prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER_MODE), None, None, None)
    return Layers(max(0, version), seccomp=ctypes.get_errno() == 14)


def require(layers: Layers) -> None:
    """Make sure that foreign code can be contained.

    Raises:
        CannotAudit: it cannot; the message says which layer is missing.
    """
    if not layers.enough:
        missing = "Landlock" if layers.seccomp else "seccomp filters"
        raise CannotAudit(
            f"programs can't be run safely here: no {missing} on {platform.system()} {platform.release()} "
            f"({platform.machine()}); Linux 5.13 or later has them on x86-64 and aarch64"
        )


class Containment:
    """Closes the present process in, step by step. No step can be undone.

    Keeps the handle of the C library, so that the steps of a job cost a few system calls and no look-up.
    """

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._machine = platform.machine()
        # Made once, before any fork: a child that does not write to these pages shares them with the server.
        self._job_filter = job_filter(self._machine, _PLACE_OF_PROCESS)
        self._job_program = ctypes.create_string_buffer(self._job_filter, len(self._job_filter))
        self._job_header = self._header(self._job_program, len(self._job_filter))

    def enter_namespaces(self) -> tuple[str, ...]:
        """Enter as many new namespaces as are permitted; returns their names.

        Only the next child is in the new process namespace, as its first process.
        """
        user, group = os.geteuid(), os.getegid()
        entered: list[str] = []
        if self._libc.unshare(_NEW_USER) == 0:
            entered.append("user")
            self._map(user, group)
        # One by one, because a kernel may allow some of them only.
        for name, flag in (
            ("network", _NEW_NETWORK),
            ("ipc", _NEW_IPC),
            ("mounts", _NEW_MOUNTS),
            ("processes", _NEW_PROCESSES),
        ):
            if self._libc.unshare(flag) == 0:
                entered.append(name)
        return tuple(entered)

    @staticmethod
    def _map(user: int, group: int) -> None:
        # `setgroups` first: the kernel takes a group map of an unprivileged process only after it is denied.
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            try:
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
            except OSError:  # without the map, files belong to nobody: that closes more, not less
                continue

    def limit_folder(self, folder: str, size: int) -> bool:
        """Mount a file system of `size` bytes in memory over a folder; returns whether mounts are allowed."""
        # Private first, so that the mount below is not passed on to the system's own mounts.
        if self._libc.mount(None, b"/", None, ctypes.c_ulong(_RECURSIVE | _PRIVATE), None):
            return False
        options = f"size={size},nr_inodes=4096,mode=700".encode()
        flags = ctypes.c_ulong(_NO_SET_ID | _NO_DEVICES)
        return bool(self._libc.mount(b"oracle", folder.encode(), b"tmpfs", flags, options) == 0)

    def die_with_parent(self) -> None:
        """Have the kernel kill this process when its parent dies."""
        self._libc.prctl(_SET_DEATH_SIGNAL, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)

    def limit(self, limits: RunLimits) -> None:
        """Set the limits that hold for the server and for every run."""
        for kind, value in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_AS, limits.memory),
            (resource.RLIMIT_FSIZE, limits.file_size),
            (resource.RLIMIT_NOFILE, limits.open_files),
            (resource.RLIMIT_MEMLOCK, 0),
        ):
            hard = resource.getrlimit(kind)[1]
            # A limit can be lowered only.
            allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (allowed, allowed))

    def close(self, layers: Layers, *, readable: Iterable[str], folder: str) -> None:
        """Give up all capabilities, all files but `readable` and `folder`, and all other calls.

        Raises:
            OSError: the kernel refused a layer that it had offered.
        """
        self._give_up()
        # The processes of a pair run at the same time, as one user. Neither can open the memory of the other.
        self._check(self._libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0), "not dumpable")
        # Last, because the filter refuses the calls that install Landlock.
        self._close_files(layers.landlock, readable, (), folder)
        self._install(server_filter(self._machine))

    def close_program(
        self,
        layers: Layers,
        *,
        readable: Iterable[str],
        executable: Iterable[str],
        folder: str,
        starts: bool,
        cpu_seconds: int,
    ) -> None:
        """Close in a process that becomes one of the programs `executable` next.

        Only a program that `starts` others, such as a compiler, may make processes.

        Raises:
            OSError: the kernel refused a layer that it had offered.
        """
        # The first limit ends it with a signal of its own, the second one also a program that ignores that.
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
        self._give_up()
        self._close_files(layers.landlock, readable, executable, folder)
        self._install(program_filter(self._machine, os.getpid(), starts=starts))

    def _give_up(self) -> None:
        header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
        self._check(self._libc.capset(header, bytes(24)), "capset")
        # Without it, a process without capabilities can install neither Landlock rules nor seccomp filters.
        self._check(self._libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no new privileges")

    def close_job(self, cpu_seconds: int) -> None:
        """Take from the present process the rights that the server needs and foreign code does not."""
        self.die_with_parent()
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
        process = os.getpid().to_bytes(4, sys.byteorder)
        self._job_program.raw = self._job_filter.replace(
            _PLACE_OF_PROCESS.to_bytes(4, sys.byteorder), process
        )
        self._check(self._libc.prctl(_SET_SECCOMP, _FILTER_MODE, self._job_header, 0, 0), "seccomp")

    def _close_files(
        self, version: int, readable: Iterable[str], executable: Iterable[str], folder: str
    ) -> None:
        handled = (1 << _RIGHTS_BY_VERSION.get(version, 16)) - 1
        network = 3 if version >= _NETWORK_FROM else 0
        scopes = 3 if version >= _SCOPES_FROM else 0
        attributes = struct.pack("=QQQ", handled, network, scopes)
        # The size says which fields there are; an older kernel refuses fields that it does not know.
        size = 24 if version >= _SCOPES_FROM else 16 if version >= _NETWORK_FROM else 8
        rules = self._libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
        self._check(rules, "Landlock")
        for path in readable:
            self._allow(rules, path, (_READ_FILE | _READ_DIRECTORY) & handled)
        for path in executable:
            self._allow(rules, path, (_EXECUTE | _READ_FILE | _READ_DIRECTORY) & handled)
        self._allow(rules, "/dev/null", (_READ_FILE | _WRITE_FILE | _TRUNCATE) & handled)
        self._allow(rules, "/dev/urandom", _READ_FILE)
        self._allow(rules, folder, handled & ~_NOT_PRIVATE)
        self._check(self._libc.syscall(_LANDLOCK_RESTRICT, rules, ctypes.c_uint32(0)), "Landlock")
        os.close(rules)

    def _allow(self, rules: int, path: str, rights: int) -> None:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # a path that does not exist need not be readable
            return
        if not os.path.isdir(path):  # the kernel refuses rights of folders for a file
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, place)
        added = self._libc.syscall(_LANDLOCK_ADD, rules, _PATH_BENEATH, rule, ctypes.c_uint32(0))
        os.close(place)
        self._check(added, "Landlock")

    def _install(self, code: bytes) -> None:
        buffer = ctypes.create_string_buffer(code, len(code))
        header = self._header(buffer, len(code))
        self._check(self._libc.prctl(_SET_SECCOMP, _FILTER_MODE, header, 0, 0), "seccomp")

    @staticmethod
    def _header(buffer: "ctypes.Array[ctypes.c_char]", size: int) -> bytes:
        return struct.pack("@HP", size // 8, ctypes.addressof(buffer))

    def _check(self, result: int, what: str) -> None:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{what}: {os.strerror(number)}")
