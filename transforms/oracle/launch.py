"""Inside the containment: becomes a program of another language than Python.

The process of this module enters namespaces and forks a process that is the first one there. That one mounts
the private folder, writes the files of a job, and runs its steps one after the other: each in a child that
closes itself in and then becomes the program. How each step ended is told on a pipe that no program inherits.
"""

import json
import math
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

from codeaudit.transforms.oracle.containment import Containment, Layers, RunLimits
from codeaudit.transforms.oracle.server import send

_NOT_STARTED: Final = 127
_WATCH_SECONDS: Final = 0.002
"""Between two looks at the memory of a program: at most some megabytes are taken in it."""


def main() -> None:
    """Run the job in the open file whose number is in `sys.argv`, and tell how its steps ended."""
    with open(int(sys.argv[1]), "rb") as file:
        job = json.loads(file.read())
    containment = Containment()
    entered = containment.enter_namespaces()
    inner = os.fork()
    if inner:
        os.close(job["told"])
        os.waitpid(inner, 0)
        return
    containment.die_with_parent()
    folder: str = job["folder"]
    if "mounts" in entered:
        containment.limit_folder(folder, RunLimits(**job["limits"]).folder_size)
    os.chdir(folder)
    for name, text in job["files"].items():
        with open(name, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
    ended: list[tuple[int, float, bool]] = []
    for step in job["steps"]:
        # Closed when the child becomes the program, which therefore cannot say that it did not start.
        failing, failed = os.pipe()
        child = os.fork()
        if not child:
            _become(step, job, containment, failed)
        os.close(failed)
        status, used = _ended(child, step["limits"]["resident"])
        started = not os.read(failing, 1)
        os.close(failing)
        ended.append((os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, started))
        if not started or (status and step["needed"]):
            break
    send(job["told"], json.dumps(ended).encode())
    os._exit(0)  # the first process of a namespace: its end is that of all others there


def _ended(child: int, resident: int) -> tuple[int, "resource.struct_rusage"]:
    """The status and the use of the only child, once it has ended. It is killed where it holds more memory
    than `resident` bytes (0 for no limit), or where that cannot be seen."""
    if not resident:
        _, status, used = os.wait4(child, 0)
        return status, used
    page = os.sysconf("SC_PAGESIZE")
    while True:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            return status, used
        try:
            # Under the number that the child has where `/proc` was mounted, outside of this namespace.
            with open("/proc/thread-self/children") as file:
                outer = file.read().split()[0]
            with open(f"/proc/{outer}/statm") as file:
                size = int(file.read().split()[1]) * page
        except (OSError, ValueError, IndexError):
            size = resident + 1
        if size > resident and not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            os.kill(child, signal.SIGKILL)
        time.sleep(_WATCH_SECONDS)


def _become(step: Mapping[str, Any], job: Mapping[str, Any], containment: Containment, failed: int) -> None:
    try:
        containment.die_with_parent()
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and programs inherit it
            signal.signal(ignored, signal.SIG_DFL)
        if os.path.dirname(step["words"][0]) == job["folder"]:
            os.chmod(step["words"][0], 0o500)  # a linker inside may not change modes
        containment.limit(RunLimits(**step["limits"]))
        containment.close_program(
            Layers(**job["layers"]),
            readable=step["readable"],
            executable=step["executable"],
            folder=job["folder"],
            starts=step["starts"],
            cpu_seconds=math.ceil(step["limits"]["cpu_seconds"]),
        )
        os.execve(step["words"][0], step["words"], step["environment"])
    finally:
        os.write(failed, b"!")
        os._exit(_NOT_STARTED)
