"""Programs that really try to get out, or to speak for another, and what stays of it."""

import errno
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.oracle import sandbox
from codeaudit.transforms.oracle.containment import MEGABYTE, Layers, RunLimits, offered, require
from codeaudit.transforms.oracle.filters import ABSENT, ALLOWED, JUDGED
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Inconclusive, Oracle
from codeaudit.transforms.oracle.sandbox import Answer, Lost, Sandbox

LIMITS = RunLimits(cpu_seconds=0.5, idle_seconds=0.5, memory=256 * MEGABYTE)
AFTER = "def f():\n    return 'still here'\n"


@pytest.fixture(scope="module")
def sandboxed() -> Iterator[Sandbox]:
    with Sandbox("codeaudit.transforms.oracle.worker", LIMITS) as box:
        yield box


def ran(sandboxed: Sandbox, body: str, inputs: tuple[str, ...] = ("()",)) -> list[Answer]:
    """What came of a function with this body, after which the sandbox must still serve."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    job = {"function": "f", "setup": "", "tests": None, "messages": True, "shake": 0}
    program = {
        **job,
        "source": f"import os, sys\ndef f(*a):\n{lines}",
        "inputs": inputs,
        "count": len(inputs),
    }
    answer, after = sandboxed.ask([program, {**job, "source": AFTER, "inputs": ("()",), "count": 1}])
    assert after[0][0] == "seen"
    assert "'still here'" in after[0][1]
    return answer


def seen(sandboxed: Sandbox, body: str) -> str:
    (answer,) = ran(sandboxed, body)
    assert answer[0] == "seen", answer
    return answer[1]


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file in the user's own home."""
    path = Path.home() / f".oracle-secret-{os.getpid()}"
    path.write_text("S3CRET")
    yield path
    path.unlink()


# ── what is closed ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.thinned(15)
@pytest.mark.parametrize(
    "body",
    [
        "os.fork()",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "import subprocess; subprocess.run(['true'])",
        "os.system('true') and None; raise PermissionError if os.system('true') else Exception('ran')",
        "os.execv('/bin/true', ['true'])",
        "import socket; socket.socket()",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "import socket; socket.socket(socket.AF_INET6)",
        "import socket; socket.socket(socket.AF_UNIX)",
        "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
        "import socket; a, b = socket.socketpair(); a.sendto(b'x', '/tmp/x')",
        "os.kill(os.getppid(), 9)",
        "os.kill(-1, 9)",
        "os.kill(0, 9)",
        "os.kill(1, 9)",
        "os.killpg(0, 9)",
        "import fcntl; fcntl.fcntl(0, fcntl.F_SETOWN, 1)",
        "import fcntl; fcntl.fcntl(0, fcntl.F_SETSIG, 9)",
        "import resource; resource.prlimit(1, resource.RLIMIT_CPU, (1, 1))",
        "os.setpriority(os.PRIO_PROCESS, 0, 19)",
        "os.sched_setaffinity(1, {0})",
        "os.setsid()",
        "os.chroot('.')",
        "os.memfd_create('x')",
        "os.pidfd_open(1)",
        "os.chmod('/tmp', 0o777)",
        "os.chown('/tmp', 1, 1)",
        "os.utime('/tmp')",
        "os.truncate('/etc/hostname', 0)",
        "os.mkfifo('x') or os.mknod('y', 0o020600, 259)",
        "os.listdir('/')",
        "os.listdir('/proc')",
        "open('/proc/self/environ').read()",
        "open('/proc/1/mem', 'rb')",
        "open('/etc/passwd')",
        "open('/dev/zero')",
        "open('/dev/shm/x', 'w')",
        "open('/tmp/x', 'w')",
        "open(os.path.dirname(os.__file__) + '/x', 'w')",
        "os.rename(os.__file__, 'os.py')",
        "os.link(os.__file__, 'os.py')",
        "os.symlink('/etc', 'etc'); os.listdir('etc')",
        "os.remove(os.__file__)",
    ],
)
def test_a_closed_door_is_a_permission_error(sandboxed: Sandbox, body: str) -> None:
    answer = seen(sandboxed, body)
    assert re.search(r"PermissionError|Invalid cross-device link", answer), answer
    if "PermissionError" in answer:
        assert '"unfit": "stopped by the sandbox"' in answer


CALLS = """\
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
found = []
for number in {numbers}:
    assert libc.syscall(number, 0, 0, 0, 0, 0, 0) == -1, number
    found.append(ctypes.get_errno())
return found
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86-64")
def test_calls_that_the_library_does_not_offer_are_refused(sandboxed: Sandbox) -> None:
    # ptrace, process_vm_readv/writev, mount, unshare, setns, bpf, add_key, keyctl, io_uring_*, perf_event_open,
    # pidfd_getfd, userfaultfd, rt_sigqueueinfo, tkill, kexec_load, init_module, shmget, msgget, seccomp
    numbers = [
        101,
        310,
        311,
        165,
        272,
        308,
        321,
        248,
        250,
        425,
        426,
        427,
        298,
        438,
        323,
        129,
        200,
        246,
        175,
        29,
        68,
        317,
    ]
    assert f"0:[{', '.join(['1'] * len(numbers))}]" in seen(sandboxed, CALLS.format(numbers=numbers))
    assert f"0:[{errno.ENOSYS}]" in seen(sandboxed, CALLS.format(numbers=[435]))
    # The x32 interface would go round the list: its getpid and its fork.
    assert "0:[1, 1]" in seen(sandboxed, CALLS.format(numbers=[0x40000000 + 39, 0x40000000 + 57]))


def test_the_home_can_not_be_read(sandboxed: Sandbox, secret: Path) -> None:
    answer = seen(sandboxed, f"return open({str(secret)!r}).read()")
    assert "S3CRET" not in answer
    assert "PermissionError" in answer
    assert "PermissionError" in seen(sandboxed, f"return os.listdir({str(secret.parent)!r})")


def test_the_environment_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "S3CRET")
    with Sandbox("codeaudit.transforms.oracle.worker", LIMITS) as box:
        answer = seen(box, "return dict(os.environ), sys.argv, sys.flags.isolated")
    assert "S3CRET" not in answer
    assert set(re.findall(r"'([A-Z_]+)':", answer)) == {
        "HOME",
        "TMPDIR",
        "PATH",
        "LANG",
        "TZ",
        "PYTHONHASHSEED",
    }


def test_nothing_listens_and_nothing_is_inherited(sandboxed: Sandbox) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    with listening:
        port = listening.getsockname()[1]
        assert "PermissionError" in seen(
            sandboxed, f"import socket\nsocket.create_connection(('127.0.0.1', {port}))"
        )
    text = seen(
        sandboxed,
        "import fcntl\nfound = []\nfor n in range(64):\n    try:\n        found.append((n, fcntl.fcntl(n, 3) & 3))\n    except OSError: pass\nreturn found",
    )
    # Standard streams, the files behind two of them and the channel: writable, and nothing to read but nothing.
    assert len(re.findall(r"\(\d+, \d,\)", text)) == 6, text


def test_only_the_private_folder_can_be_written_and_it_is_emptied(sandboxed: Sandbox) -> None:
    answer = seen(
        sandboxed,
        "os.makedirs('a/b')\nopen('a/b/c', 'w').write('x' * 10)\nos.symlink('/etc', 'a/d')\nimport tempfile\ntempfile.mkdtemp()\nreturn os.getcwd() == os.environ['HOME'], len(os.listdir())",
    )
    assert "(True, 2,)" in answer
    assert "0:[]" in seen(sandboxed, "return os.listdir()")


def test_the_folder_is_gone_afterwards() -> None:
    with Sandbox("codeaudit.transforms.oracle.worker", LIMITS) as box:
        seen(box, "open('x', 'w').write('x')")
        folder = Path(box._folder)
        assert folder.is_dir()
    assert not folder.exists()


# ── what is limited ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while True: pass", "out of processor time"),
        ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", "out of processor time"),
        ("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", "out of processor time"),
        ("import time\ntime.sleep(10 ** 6)", "out of time"),
        ("import signal\nwhile True: signal.pause()", "out of time"),
        ("import signal, time\nsignal.alarm(1)\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\ntime.sleep(99)", "out of time"),
        ("import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\nwhile True: pass", "killed by signal 14"),
        ("os._exit(0)", "left without an answer"),
        ("os._exit(3)", "left with status 3"),
        ("import ctypes\nctypes.string_at(0)", "killed by signal 11"),
        ("os.kill(os.getpid(), 9)", "killed by signal 9"),
        ("os.abort()", "killed by signal 6"),
        pytest.param(
            "sys.setrecursionlimit(10 ** 9)\ndef g(n): return [*map(g, [n])]\ng(0)", "killed by signal 11|out of processor time",
            marks=pytest.mark.skipif(sys.version_info >= (3, 12), reason="since 3.12 this raises RecursionError"),
        ),
        ("os.closerange(0, 64)", "killed by signal 9|left without an answer"),
    ],
)  # fmt: skip
def test_what_does_not_come_back_is_ended_and_named(sandboxed: Sandbox, body: str, reason: str) -> None:
    began = time.monotonic()
    (answer,) = ran(sandboxed, body)
    assert answer[0] == "lost"
    assert re.fullmatch(reason, answer[1])
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("x = [0]\nwhile True: x += x", "MemoryError"),
        ("return bytearray(10 ** 10)", "MemoryError"),
        ("import mmap\nreturn [mmap.mmap(-1, 1 << 26) for _ in range(99)]", "Cannot allocate memory"),
        ("with open('x', 'wb') as file:\n    while True: file.write(bytes(1 << 20))", "File too large"),
        (
            "for n in range(99):\n    with open(f'{n}', 'wb') as file: file.write(bytes(15 << 20))",
            "No space left",
        ),
        ("return [open('x', 'w') for _ in range(10_000)]", "Too many open files"),
        ("import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "not allowed to raise"),
        ("import threading\nthreading.Thread(target=print).start()", "stopped by the sandbox"),
        ("def g(n): return g(n + 1)\ng(0)", "RecursionError"),
        ("sys.exit(3)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_what_has_no_more_is_told_so(sandboxed: Sandbox, body: str, found: str) -> None:
    assert found in seen(sandboxed, body)


def test_printing_without_end_costs_no_memory(sandboxed: Sandbox) -> None:
    answer = seen(
        sandboxed, "for _ in range(50):\n    print('x' * 1_000_000)\nsys.stderr.write('y' * 10 ** 6)"
    )
    assert len(answer) < 100_000
    assert re.search(r"65\d\d\d characters, [0-9a-f]{64}", answer)
    (lost,) = ran(sandboxed, "while True: print('x' * 100_000)")
    assert lost == ("lost", "out of processor time")
    assert "File too large" in seen(sandboxed, "while True: os.write(1, bytes(1 << 20))")


def test_a_limit_of_recursion_does_not_outlive_its_input(sandboxed: Sandbox) -> None:
    body = "if a: sys.setrecursionlimit(60)\nreturn sys.getrecursionlimit()"
    answers = ran(sandboxed, body, ("(1,)", "()"))
    assert [re.findall(r'"value": "(\d+)"', text) for _, text in answers] == [["60"], ["1000"]]


def test_one_lost_input_does_not_lose_the_others(sandboxed: Sandbox) -> None:
    answers = ran(
        sandboxed, "if a[0] in (1, 3): os._exit(1)\nreturn a[0] * 7", tuple(f"({n},)" for n in range(5))
    )
    assert [kind for kind, _ in answers] == ["seen", "lost", "seen", "lost", "seen"]
    assert '"value": "28"' in answers[4][1]


def test_the_sandbox_gives_up_on_a_program_that_loses_every_input(sandboxed: Sandbox) -> None:
    answers = ran(sandboxed, "os._exit(1)", tuple(f"({n},)" for n in range(9)))
    assert [kind for kind, _ in answers] == ["lost"] * 9
    assert answers[8][1] == "too many inputs before it were lost"


# ── the channel ───────────────────────────────────────────────────────────────────────────────────────────

STRAY = """\
def f(n):
    import os
    for place in range(3, 64):
        try:
            os.write(place, {text})
        except OSError:
            pass
    return n
"""


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    "text", ["b'x'", 'b\'{"end": "returned", "value": "1"}\'', "bytes(1 << 16)", "bytes(20)"]
)
def test_a_program_that_writes_to_the_channel_has_no_answer(text: str) -> None:
    source = STRAY.format(text=text)
    with Oracle(limits=LIMITS) as oracle:
        verdict = oracle.judge(source, source, inputs=("(1,)", "(2,)"))
    assert verdict == Inconclusive("something else was written to the channel")


def test_a_flood_on_the_channel_is_cut() -> None:
    source = (
        STRAY.format(text="bytes(1 << 16)")
        .replace("    for place", "    while True:\n     for place")
        .replace("        try", "        try")
    )
    with Oracle(limits=LIMITS) as oracle:
        verdict = oracle.judge(source, source, inputs=("(1,)",))
    assert isinstance(verdict, Inconclusive)


FORGING = """\
def f(n):
    import builtins, json, os
    os.write = lambda *a: 10 ** 6
    json.JSONEncoder.encode = json.dumps = lambda *a: '{"end": "returned", "value": "0"}'
    builtins.repr = lambda x: "0"
    builtins.str = builtins.len = builtins.type = builtins.sorted = None
    import codeaudit.transforms
"""


def test_replacing_what_the_observer_uses_does_not_change_what_it_says() -> None:
    with Oracle(limits=LIMITS) as oracle:
        for last, other in (("return n", "return n + 1"), ("raise KeyError(n)", "return n")):
            body = FORGING.replace("    import codeaudit.transforms\n", "")
            verdict = oracle.judge(f"{body}    {last}\n", f"{body}    {other}\n", inputs=("(1,)",))
            assert not isinstance(verdict, Agreed), verdict


def test_the_observer_is_no_module_that_programs_find(sandboxed: Sandbox) -> None:
    assert "ModuleNotFoundError" in seen(sandboxed, "import codeaudit.transforms.oracle.worker")
    assert "0:[]" in seen(
        sandboxed, "return [name for name in sys.modules if 'codeaudit' in name or 'hypothesis' in name]"
    )


def test_an_answer_for_the_next_input_can_not_be_given_ahead(sandboxed: Sandbox) -> None:
    body = "import atexit\natexit.register(print, 'late')\nsys.stdout = sys.stderr = None\nreturn a"
    answers = ran(sandboxed, body, ("(1,)", "(2,)"))
    assert ["(1,)" in answers[0][1], "(2,)" in answers[1][1]] == [True, True]


# ── the server and its machine ────────────────────────────────────────────────────────────────────────────


def test_a_killed_server_is_replaced() -> None:
    with Sandbox("codeaudit.transforms.oracle.worker", LIMITS) as box:
        seen(box, "return 1")
        assert box._process is not None
        box._process.kill()
        box._process.wait()
        with pytest.raises(Lost):
            seen(box, "return 1")
        assert "2" in seen(box, "return 2")


def gone(group: int) -> bool:
    """Whether all processes of a group end within some seconds."""
    for _ in range(400):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_nothing_runs_after_the_end() -> None:
    with Sandbox("codeaudit.transforms.oracle.worker", LIMITS) as box:
        seen(box, "return 1")
        assert box._process is not None
        group = box._process.pid
    assert gone(group)


@pytest.mark.slow
def test_an_interrupted_request_ends_the_server_with_its_run() -> None:
    interrupted = Sandbox("codeaudit.transforms.oracle.worker", RunLimits(cpu_seconds=60))
    with interrupted as box:
        seen(box, "return 1")
        assert box._process is not None
        group = box._process.pid
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            seen(box, "while True: pass")
    assert gone(group)
    with interrupted as box:
        assert "2" in seen(box, "return 2")


@pytest.mark.slow
def test_the_server_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time; from codeaudit.transforms.oracle.sandbox import Sandbox\n"
        "s = Sandbox('codeaudit.transforms.oracle.worker'); s._start(); print(s._process.pid, flush=True); time.sleep(99)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    group = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert gone(group)


def test_a_sandbox_can_be_made_and_used_in_a_thread() -> None:
    answers: list[str] = []

    def work() -> None:
        with Sandbox("codeaudit.transforms.oracle.worker", LIMITS) as box:
            answers.append(seen(box, "return 1"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert answers


@pytest.mark.parametrize(
    ("layers", "missing"),
    [(Layers(0, True), "Landlock"), (Layers(3, False), "seccomp"), (Layers(0, False), "seccomp")],
)
def test_without_a_layer_nothing_runs(layers: Layers, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CannotAudit, match=missing):
        require(layers)
    monkeypatch.setattr(sandbox, "offered", lambda: layers)
    with pytest.raises(CannotAudit, match=missing):
        Oracle()


@pytest.mark.slow
def test_a_layer_that_was_offered_and_fails_ends_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = (
        "from codeaudit.transforms.oracle.containment import Containment as C; "
        "C._allow = lambda self, *more: self._check(-1, 'Landlock')"
    )
    monkeypatch.setattr(sandbox, "_BOOT", sandbox._BOOT.replace("; from", f"; {broken}; from", 1))
    with (
        pytest.raises(CannotAudit, match=r"programs can't be run safely here: .*Landlock"),
        Sandbox("codeaudit.transforms.oracle.worker") as box,
    ):
        box.ask([{"count": 1}])


@pytest.mark.slow
def test_older_landlock_still_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    real = offered()
    for version in range(1, min(real.landlock, 7)):
        monkeypatch.setattr(sandbox, "offered", lambda version=version: Layers(version, True))
        with Sandbox("codeaudit.transforms.oracle.worker", LIMITS) as box:
            assert "PermissionError" in seen(box, "open('/etc/passwd')")
            assert "PermissionError" in seen(box, "os.truncate('/etc/hostname', 0)")
            assert "PermissionError" in seen(box, "import socket\nsocket.socket()")
            assert "1" in seen(box, "open('x', 'w').write('x')\nreturn 1")


@pytest.mark.slow
def test_without_namespaces_the_other_layers_hold() -> None:
    # A process that may not make namespaces: the kernel's limit on them, set in a namespace of our own.
    program = (
        "import ctypes, sys; libc = ctypes.CDLL(None); uid = __import__('os').getuid()\n"
        "if libc.unshare(0x10000000): print('none'); sys.exit()\n"
        "open('/proc/self/setgroups', 'w').write('deny'); open('/proc/self/uid_map', 'w').write(f'{uid} {uid} 1')\n"
        "for name in ('user', 'mnt', 'net', 'pid', 'ipc'): open(f'/proc/sys/user/max_{name}_namespaces', 'w').write('0')\n"
        "from tests.transforms.oracle.test_sandbox import seen, LIMITS\nfrom codeaudit.transforms.oracle.sandbox import Sandbox\n"
        "with Sandbox('codeaudit.transforms.oracle.worker', LIMITS) as one:\n"
        "    for body in ('os.kill(os.getppid(), 9)', 'os.kill(-1, 9)', \"open('/etc/passwd')\", \"open('/tmp/x', 'w')\", 'os.fork()'):\n"
        "        assert 'PermissionError' in seen(one, body), body\n"
        "    seen(one, \"os.mkdir('x'); open('x/y', 'w').write('z')\")\n"
        "    assert '0:[]' in seen(one, 'return os.listdir()')\n"
        "    print('held', one.namespaces)\n"
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    if done.stdout == "none\n":
        pytest.skip("no user namespace to take namespaces away in")
    assert done.stdout == "held ()\n", done.stderr


@pytest.mark.slow
def test_the_tables_of_calls_are_those_of_the_kernel() -> None:
    headers = {
        0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        1: Path("/usr/include/asm-generic/unistd.h"),
    }
    checked = 0
    for column, path in headers.items():
        if not path.exists():
            continue
        calls = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", path.read_text())
        numbers = {
            "newfstatat" if column and name == "fstatat" else name: int(number) for name, number in calls
        }
        for name, row in {**ALLOWED, **JUDGED}.items():
            assert numbers.get(name, ABSENT) == row[column], name
            checked += 1
    if not checked:
        pytest.skip("no kernel headers")
    assert checked % len(ALLOWED | JUDGED) == 0


@pytest.mark.slow
def test_differing_ends_are_told() -> None:
    with Oracle(limits=LIMITS) as oracle:
        verdict = oracle.judge(
            "def f(n):\n    return n\n", "def f(n):\n    while True: pass\n", inputs=("(1,)",)
        )
    assert verdict == Differed(
        input="(1,)",
        before="end: returned; value: 1; arguments: (1,); globals: 0:{}",
        after="out of processor time",
    )
