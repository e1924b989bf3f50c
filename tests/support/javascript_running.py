"""Runs many small JavaScript programs in one process of node, and tells what each of them prints."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

NODE: Final = shutil.which("node")
needs_node: Final = pytest.mark.skipif(NODE is None, reason="node is not installed")

_RUNNER: Final = r"""
const vm = require("vm");
const ts = process.argv[1] ? require(process.argv[1]) : null;
const options = { compilerOptions: { target: "esnext", alwaysStrict: false } };
const programs = JSON.parse(require("fs").readFileSync(0, "utf8"));
const told = programs.map((typed) => {
    const text = ts ? ts.transpileModule(typed, options).outputText : typed;
    const lines = [];
    const show = (one) => {
        try { return typeof one === "string" ? one : JSON.stringify(one) ?? String(one); } catch (error) { return "?"; }
    };
    const print = (...all) => { if (lines.length < 500) lines.push(all.map(show).join(" ")); };
    try {
        new vm.Script(text).runInNewContext({ print }, { timeout: 10000, microtaskMode: "afterEvaluate" });
    } catch (error) {
        lines.push(error?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? "! timeout" : `! ${error?.name}`);
    }
    return lines;
});
process.stdout.write(JSON.stringify(told));
"""


TIMEOUT: Final = "! timeout"
"""The last line of a program that was cut off."""


def outputs(programs: Sequence[str], typescript: Path | None = None) -> list[list[str]]:
    """What each program prints with `print`; an exception is its last line, by its class alone.

    `typescript`: the folder of the compiler that erases the types of the programs first.
    """
    assert NODE is not None
    done = subprocess.run(
        [NODE, "-e", _RUNNER, *([str(typescript.resolve())] if typescript else [])],
        input=json.dumps(list(programs)),
        capture_output=True,
        text=True,
        check=True,
    )
    printed: list[list[str]] = json.loads(done.stdout)
    return printed
