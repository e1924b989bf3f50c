"""Work that is spread over processes of this machine."""

import subprocess
import sys

from tests.support.commands import environment

INTERRUPTED = """
import os
from codeaudit.audit.engines.local import spread

for _ in spread(abs, range(9), workers=2, chunk=1, few=0):
    os._exit(130)
"""


def test_a_process_that_ends_at_once_leaves_no_warning() -> None:
    """After Ctrl-C the last line on stderr says how to go on. Python's tracker of locks writes later."""
    # Its output ends when every holder of the pipe has ended, the tracker, too.
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], env=environment(), capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (130, "")
