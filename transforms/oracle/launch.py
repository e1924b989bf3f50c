"""Inside the containment: becomes a program of another language than Python.

The process of this module enters namespaces and forks a process that is the first one there. That one mounts
the private folder, writes the files of a job, and runs its steps one after the other: each in a child that
closes itself in and then becomes the program. How each step ended is told on a pipe that no program inherits.
"""

import json
import math
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any, Final

from codeaudit.transforms.oracle.containment import Containment, Layers, RunLimits
from codeaudit.transforms.oracle.server import send

_NOT_STARTED: Final = 127


def main() -> None:
    """Run the job in `sys.argv`, and tell how its steps ended."""
    job = json.loads(sys.argv[1])
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
        _, status, used = os.wait4(child, 0)
        started = not os.read(failing, 1)
        os.close(failing)
        ended.append((os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, started))
        if status:
            break
    send(job["told"], json.dumps(ended).encode())
    os._exit(0)  # the first process of a namespace: its end is that of all others there


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
