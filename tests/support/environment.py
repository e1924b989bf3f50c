"""What of the user's environment reaches the tests: the variables that find programs, files and devices.

`tests/conftest.py` calls both functions. Everything else (proxies, `HF_HUB_OFFLINE`, `NO_COLOR`, `COLUMNS`,
`CI`, `OPENAI_API_KEY`, …) is removed from `os.environ`, so that it changes no result and reaches no subprocess.
"""

import locale
import os
import signal
import sys
import time

KEPT = {
    *("HOME", "PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH", "JAVA_HOME", "VIRTUAL_ENV"),
    *(
        "PYTHONPATH",
        "PYTHONPYCACHEPREFIX",
        "CODEAUDIT_DATA",
        "NODE_PATH",
        "CUDA_VISIBLE_DEVICES",
    ),
}
KEPT_PREFIXES = (
    "_CODEAUDIT_",
    "COVERAGE_",
    "COV_CORE_",
    "PIP_",
    "PYTEST_CURRENT",
    "PYTEST_XDIST_",
    "SSL_CERT_",
)
SCREEN = {"CI", "COLORTERM", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "PY_COLORS", "TERM"}
"""How pytest itself prints. Removed later than the rest, when pytest has read them."""
FIXED = {
    "OMP_NUM_THREADS": "1",  # small networks are slower on several threads, by far where the machine is busy
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


def isolate() -> None:
    """Remove what changes results. Call it before torch and huggingface_hub are imported: they read it then."""
    # Among them is PYTHONDONTWRITEBYTECODE: hundreds of tests start Python, and each would compile the package anew.
    for name in os.environ:
        if not (name in KEPT or name in SCREEN or name.startswith(KEPT_PREFIXES)):
            del os.environ[name]
    # As if that variable had not been: else each worker rewrites the assertions of all tests anew.
    sys.dont_write_bytecode = False
    os.environ.update(FIXED)
    time.tzset()
    locale.setlocale(locale.LC_ALL, "C")
    locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    # A shell without job control starts background commands with Ctrl-C ignored, and Python then leaves it so.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def forget_screen() -> None:
    """Remove what says how wide and how colourful the user's screen is."""
    for name in SCREEN:
        os.environ.pop(name, None)
