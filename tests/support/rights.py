"""Makes the modes of files count for the super-user, too, as whom containers run tests."""

import ctypes
import os
from typing import Final

import pytest

_DROP: Final = 24
"""`PR_CAPBSET_DROP` of `prctl`: what no program that is started later may do."""
_RIGHTS: Final = (1, 2)
"""`CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH`: to read, write and enter whatever the modes say."""


def obeying() -> None:
    """For `preexec_fn` of a program that must obey the modes of files."""
    if os.geteuid() == 0:
        library = ctypes.CDLL(None)
        if any(library.prctl(_DROP, right, 0, 0, 0) for right in _RIGHTS):
            os._exit(77)


def skip_where_modes_do_not_count() -> None:
    """Skip a test on systems without capabilities, if the tests run as the super-user."""
    if os.geteuid() == 0 and not hasattr(ctypes.CDLL(None), "prctl"):
        pytest.skip("the super-user may do everything here")
