"""Which context managers are known not to swallow an exception.

Behind `with suppress(ImportError): …` the function goes on after an exception, so what its body did before
is visible. Any manager may swallow: `ExitStack`, `pytest.raises`, a class with an `__exit__` of its own, a
function under `@contextmanager`. Only those of `NEVER_SWALLOWING` are known to pass every exception on.
`effects` asks for each `with` of a function; a test raises inside each entry.
"""

from collections.abc import Mapping
from typing import Final

_REASONS: Final[Mapping[str, str]] = {
    "it closes a file, whose `close` gives nothing": """
        open io.open os.fdopen tokenize.open io.StringIO io.BytesIO io.FileIO
        gzip.open gzip.GzipFile bz2.open bz2.BZ2File lzma.open lzma.LZMAFile
        tarfile.open tarfile.TarFile zipfile.ZipFile wave.open fileinput.input fileinput.FileInput
        tempfile.TemporaryFile tempfile.NamedTemporaryFile tempfile.SpooledTemporaryFile
    """,
    "it closes another resource, and gives nothing": """
        os.scandir os.popen subprocess.Popen mmap.mmap memoryview selectors.DefaultSelector
        socket.socket socket.create_connection socket.create_server urllib.request.urlopen
    """,
    "it removes a folder": "tempfile.TemporaryDirectory",
    "it commits or rolls back, and gives False": "sqlite3.connect",
    "it calls `close`, and gives nothing": "contextlib.closing contextlib.aclosing",
    "it does nothing": "contextlib.nullcontext",
    "it releases a lock": """
        threading.Lock threading.RLock threading.Semaphore threading.BoundedSemaphore
        multiprocessing.Lock multiprocessing.RLock
        asyncio.Lock asyncio.Semaphore asyncio.BoundedSemaphore
    """,
    "it waits for tasks, and gives False": """
        concurrent.futures.ThreadPoolExecutor concurrent.futures.ProcessPoolExecutor
    """,
    "it puts back a state of the process": """
        contextlib.redirect_stdout contextlib.redirect_stderr contextlib.chdir
        decimal.localcontext warnings.catch_warnings
        np.errstate np.printoptions torch.no_grad torch.enable_grad torch.inference_mode matplotlib.rc_context
    """,
    "it puts back attributes; what it enters itself are further patches": """
        unittest.mock.patch unittest.mock.patch.object unittest.mock.patch.dict unittest.mock.patch.multiple
    """,
    "it looks at the warnings that it caught, and may raise": "pytest.warns pytest.deprecated_call",
}
NEVER_SWALLOWING: Final[Mapping[str, str]] = {
    name: reason for reason, names in _REASONS.items() for name in names.split()
}
"""Calls that make a context manager which passes every exception on, each with the reason: what it does at
the end. Not here are those that wrap an object which decides: `threading.Condition(lock)`,
`io.TextIOWrapper(file)`.
"""
