"""No environment variable of the user's changes a test result."""

import os
import subprocess
import sys

import pytest

from tests.support.commands import ROOT

HOSTILE = {
    **dict.fromkeys(("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "NO_COLOR", "FORCE_COLOR", "CI"), "1"),
    **dict.fromkeys(
        ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"), "http://127.0.0.1:9"
    ),
    **dict.fromkeys(
        ("GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY", "XDG_CACHE_HOME", "HF_HOME"), "/nowhere/at/all"
    ),
    "COLUMNS": "37",
    "LINES": "5",
    "TERM": "dumb",
    "TZ": "Pacific/Apia",
    "LANG": "tr_TR.ISO-8859-9",
    "CODEAUDIT_LIMIT": "1",
    "CODEAUDIT_MODEL": "nobody/nothing",
    "CODEAUDIT_FORMAT": "json",
    "CODEAUDIT_DEBUG": "1",
    "CODEAUDIT_CACHE": "/nowhere/at/all",
    "GITHUB_ACTIONS": "true",
    "OPENAI_API_KEY": "sk-nobody",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "PYTHONHASHSEED": "7",
    "PYTHONWARNINGS": "error",
    "PYTEST_ADDOPTS": "-p no:randomly",
}
SENSITIVE = (
    "tests/audit/models/hf/test_folder.py",  # where weights are looked for
    "tests/codeaudit/cli/test_list.py",  # tables in colours, as wide as the screen
    "tests/codeaudit/cli/test_options.py",  # options from variables
)
LONGER = (
    "tests/audit/models/test_openai.py",  # proxies, keys, the server's address
    "tests/codeaudit/cli/test_gate.py",  # the output for GitHub
)


@pytest.mark.weekly
@pytest.mark.parametrize("files", [SENSITIVE, LONGER])
def test_sensitive_tests_pass_under_hostile_values(files: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        cwd=ROOT,
        env={**os.environ, **HOSTILE},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "passed" in done.stdout
