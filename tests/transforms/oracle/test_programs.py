"""Programs of JavaScript, C and C++ in the sandbox: what passes, what fails, and what is closed."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.oracle.calls import Outcome, Passed, ProgramTrial, TrialFailed
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.programs import FAILED, NOT_COMPILED, Programs
from codeaudit.transforms.oracle.server import CPU, IDLE
from codeaudit.transforms.oracle.toolchains import TOOLCHAINS, Toolchain, installed

NODE = TOOLCHAINS["javascript"]
GCC = TOOLCHAINS["c"]
GPP = TOOLCHAINS["cpp"]
node = pytest.mark.skipif(
    bool(NODE.missing) or not offered().enough, reason="no node, or no sandbox on this machine"
)
gcc = pytest.mark.skipif(
    bool(GCC.missing) or not offered().enough, reason="no gcc, or no sandbox on this machine"
)

gpp = pytest.mark.skipif(
    bool(GPP.missing) or not offered().enough, reason="no g++, or no sandbox on this machine"
)


def outcome(program: str, tests: str = "", tool: Toolchain = NODE) -> Outcome:
    (ending,) = Programs(tool, cpu_seconds=1).outcomes([ProgramTrial(program, tests, (), tool.title)])
    return ending


@pytest.mark.thinned(6)
@node
@pytest.mark.parametrize(
    ("program", "tests", "failure"),
    [
        ("const f = (a) => a + 1;", "console.assert(f(1) === 2)", None),
        ("const f = async (a) => a + 1;", "f(1).then((b) => console.assert(b === 2))", None),
        ("const f = (a) => a;", "console.assert(f(1) === 2, 'told')", "AssertionError"),
        ("const f = async (a) => a;", "f(1).then((b) => console.assert(b === 2))", "AssertionError"),
        ("const f = (a) => {", "f(1)", "SyntaxError"),
        ("const f = (a) => b;", "f(1)", "ReferenceError"),
        ("process.exit(0);", "", FAILED),
        ("process.exit(127);", "", FAILED),
        ("const f = () => { process.exit(0); };", "f()", FAILED),
        ("while (true);", "", CPU),
        ("const a = Buffer.alloc(3e9, 1);", "", "RangeError"),
    ],
)
def test_a_program_passes_if_its_tests_run_to_their_end(
    program: str, tests: str, failure: str | None
) -> None:
    assert outcome(program, tests) == (Passed() if failure is None else TrialFailed(failure))


@node
def test_a_sleeping_program_may_have_met_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeaudit.transforms.oracle.programs._PATIENCE", 0)
    monkeypatch.setattr("codeaudit.transforms.oracle.programs._START_SECONDS", 1.0)
    assert outcome("setTimeout(() => {}, 60000);") == TrialFailed(IDLE, certain=False)


CLOSED = """
const closed = [];
const tried = (name, action) => {
  try { action(); closed.push(`${name} is open`); } catch (error) {
    if (!/EACCES|EPERM|ENOENT/.test(error.code)) closed.push(`${name}: ${error}`);
  }
};
const fs = require('fs'), child = require('child_process');
tried('a file of the user', () => fs.readFileSync(SECRET));
tried('a folder', () => fs.readdirSync('/'));
tried('writing elsewhere', () => fs.writeFileSync(SECRET + '.new', 'a'));
tried('a program', () => child.execFileSync('/bin/true'));
tried('another node', () => child.execFileSync(process.execPath, ['-v']));
tried('another process', () => process.kill(process.ppid, 9));
const open = new Promise((told) => {
  const one = require('net').connect(9, '127.0.0.1');
  one.on('connect', () => told('the network is open'));
  one.on('error', (error) => told(/EACCES|EPERM/.test(error.code) ? '' : String(error)));
});
"""


@node
def test_files_processes_and_the_network_are_closed() -> None:
    secret = Path.home() / f".programs-secret-{os.getpid()}"
    secret.write_text("S3CRET")
    try:
        tests = (
            "const equal = require('node:assert').deepStrictEqual; equal(closed, []);"
            "equal(['CODEAUDIT_KEY' in process.env, process.env.HOME === process.cwd()], [false, true]);"
            "fs.writeFileSync('own', 'a'); equal(fs.readFileSync('own', 'utf8'), 'a');"
            "open.then((told) => equal(told, ''))"
        )
        assert outcome(f"const SECRET = {str(secret)!r};\n{CLOSED}", tests) == Passed()
    finally:
        secret.unlink()


@pytest.mark.thinned(4)
@gcc
@pytest.mark.parametrize(
    ("program", "body", "failure"),
    [
        ("int f(int a) { return a + 1; }", "assert(f(1) == 2);", None),
        ("int f(int a) { return a; }", "assert(f(1) == 2);", "Assertion"),
        ("int f(int a) { return a + 1; }", "return f(1) - 1;", FAILED),
        ("int f(int a) { return a + 1; }", "f(2147483647);", "killed by signal 4"),
        ("int f(int a) { exit(0); }", "f(1);", FAILED),
        ("int f(int a) {", "f(1);", NOT_COMPILED),
        ('#include "/etc/passwd"\nint f(int a) { return a; }', "f(1);", NOT_COMPILED),
    ],
)
def test_a_program_of_c_is_compiled_and_run(program: str, body: str, failure: str | None) -> None:
    tests = f"int main(void) {{ {body} return 0; }}"
    assert outcome(program, tests, GCC) == (Passed() if failure is None else TrialFailed(failure))


@gcc
def test_main_need_not_return() -> None:
    assert outcome("int f(int a) { return a; }", "int main(void) { f(3); }", GCC) == Passed()


@pytest.mark.thinned(3)
@gpp
@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ("assert(f({1, 2}) == 3);", None),
        ("assert(f({}) == 3);", "Assertion"),
        ("f({}), std::vector<int>{1}.at(2);", "std::out_of_range"),
        ("f({2147483647, 1});", "killed by signal 4"),
        ("f({-1});", FAILED),
        ("f(1);", NOT_COMPILED),
    ],
)
def test_a_program_of_cpp_is_compiled_and_run(body: str, failure: str | None) -> None:
    program = (
        "#include <cassert>\n#include <cstdlib>\n#include <stdexcept>\n#include <vector>\n"
        "int f(std::vector<int> a) { int n = 0; for (int b : a) { if (b < 0) std::exit(0); n += b; } return n; }"
    )
    ending = outcome(program, f"int main() {{ {body} }}", GPP)
    assert ending == (Passed() if failure is None else TrialFailed(failure))


CLOSED_TO_C = """
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
int f(void) {
  if (open("/etc/passwd", O_RDONLY) >= 0) return 1;
  if (open("/tmp/codeaudit-written", O_WRONLY | O_CREAT, 0600) >= 0) return 2;
  if (fork() >= 0) return 3;
  if (socket(AF_INET, SOCK_STREAM, 0) >= 0) return 4;
  execl("/bin/true", "true", (char *)0);
  return getenv("PATH") && strcmp(getenv("PATH"), "/nonexistent") ? 5 : 0;
}
"""


@gcc
def test_a_program_of_c_is_closed_in() -> None:
    assert outcome(CLOSED_TO_C, "int main() { return f(); }", GCC) == Passed()


@pytest.mark.skipif(not offered().enough, reason="no sandbox on this machine")
def test_a_tool_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = replace(NODE, find=lambda: None)
    assert installed(absent) is None
    with pytest.raises(CannotAudit, match=r"node, which runs JavaScript, .* codeaudit doctor shows"):
        Programs(absent, cpu_seconds=1)
