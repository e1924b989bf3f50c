"""A pytest plug-in for the project under test: writes each test's result as a line of JSON.

`_CODEAUDIT_RESULTS` names the file with the results. `_CODEAUDIT_ONLY` names a file with a JSON list of the
tests to run. Both variables are removed from the environment at once, because a pytest that a test starts
must not record. The plug-in runs in the project's own Python, so it imports only pytest and the
standard library.
"""

import json
import os
from typing import Any

import pytest


def pytest_configure(config: Any) -> None:
    """Register the recorder. The main process writes results; an xdist worker only selects tests."""
    worker = getattr(config, "workerinput", None)
    results = os.environ.pop("_CODEAUDIT_RESULTS", None)
    names = os.environ.pop("_CODEAUDIT_ONLY", None)
    if worker is not None:
        only = worker.get("codeaudit_only")
        results = None
    elif results is None:
        return
    else:
        only = _names(names) if names else None
        # A run that stops at its first failure, as `-x` asks for, tells nothing of the tests behind it.
        config.option.maxfail = 0
    config.pluginmanager.register(_Recorder(config, results, only), "_codeaudit_recorder")


def _names(path: str) -> object:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return json.load(file)


class _Recorder:
    def __init__(self, config: Any, results: "str | None", only: object) -> None:
        self._config = config
        self._results = results
        self._only = only
        self._chosen = frozenset(only) if isinstance(only, list) else None

    def _write(self, **row: object) -> None:
        if self._results is not None:
            with open(self._results, "a", encoding="ascii") as file:
                file.write(json.dumps(row) + "\n")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["codeaudit_only"] = self._only

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: Any) -> None:
        if self._chosen is not None:
            left_out = [item for item in items if item.nodeid not in self._chosen]
            items[:] = [item for item in items if item.nodeid in self._chosen]
            if left_out:
                self._config.hook.pytest_deselected(items=left_out)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._write(id=report.nodeid, when="collect", outcome="failed", text=str(report.longrepr))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write(id=nodeid, when="start", outcome="", text="")

    def pytest_runtest_logreport(self, report: Any) -> None:
        text = str(report.longrepr) if report.failed else ""
        self._write(id=report.nodeid, when=report.when, outcome=report.outcome, text=text)
