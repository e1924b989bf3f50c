"""An emulator as a second processor: it runs what this one lacks, and shows its effects to `probed`.

Bochs executes XOP, FMA4, TBM, AVX-VNNI and AVX512-FP16 beside AVX-512. Its memory is this process's: a page of
the machine stands at the same address here. So it runs the same springboard as the real processor, on the same
states, and `probed` compares the same ends.

Needs the package bochscpu-python, 0.4 or newer, on Linux. It asks for two functions that glibc has since 2.38;
for an older one the compiler `cc` makes them.
"""

import atexit
import ctypes
import json
import os
import signal
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from itertools import chain
from multiprocessing import get_context
from typing import Any, Self

from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.oracle.sandbox import Answer
from codeaudit.transforms.x86.witnesses import native, running
from codeaudit.transforms.x86.witnesses.native import BlockPair
from codeaudit.transforms.x86.witnesses.processor import (
    CODE,
    FAULT,
    GLOBAL,
    LOCAL,
    PAGE,
    SPRINGBOARD,
    Processor,
)
from codeaudit.transforms.x86.witnesses.verdicts import STATES, ExecutionVerdict
from tests.transforms.x86 import probed


@dataclass(frozen=True, slots=True)
class Model:
    """A processor that the emulator imitates."""

    number: int
    """Its place in Bochs' list of processors."""
    abilities: frozenset[str]
    """In the words of Linux: which vector registers there are."""
    features: int
    """Which registers the system lets it use (XCR0)."""
    sets: str
    """The instruction sets that it shows, and that the processors at hand lack."""


MODELS = {
    "trinity_apu": Model(21, frozenset({"avx"}), 0x07, "XOP FMA4 TBM"),
    "sapphire_rapids": Model(30, frozenset({"avx", "avx512f", "avx512bw"}), 0xE7, "AVX_VNNI AVX512_FP16"),
}
_STACK = 0x2FBB_9000
"""Where the springboard's caller is: one instruction that stops, and a stack."""
_FRAMES = 0x10_0000
"""The first physical address."""
_LEVELS = (39, 30, 21, 12)
_PRESENT = 7
"""Present, writable, for all."""
_CONTROL = {"cr0": 0x8000_0033, "cr4": 0x4_0620, "efer": 0xD01}
"""64-bit mode with pages; SSE and AVX are on."""
_PAGE_FAULT = 14
_SIGNALS = {
    0: signal.SIGFPE,
    1: signal.SIGTRAP,
    3: signal.SIGTRAP,
    6: signal.SIGILL,
    16: signal.SIGFPE,
    19: signal.SIGFPE,
}
"""What Linux makes of the exceptions; a SIGSEGV of all others."""
_SINCE_2_38 = """
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) { return strtoull(text, end, base); }
int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list rest; va_start(rest, format); int found = vsscanf(text, format, rest); va_end(rest); return found;
}
"""


class EmulatedProcessor(Processor):
    """Bochs as a machine that runs code. One per process."""

    def __init__(self, model: Model) -> None:
        bochs = _bochs(model.number)
        self._bochs = bochs
        self._frame = _FRAMES
        self._tables: dict[tuple[int, int], tuple[int, int]] = {}
        self._session = bochs.Session()
        self._session.missing_page_handler = self._no_memory
        self._hook = bochs.Hook()
        self._hook.exception = self._faulted
        self._hook.hlt = lambda session, number: session.stop()
        code, labels = native.springboard(model.abilities, segments=False)
        super().__init__(code, **labels)
        self._map(_STACK, PAGE)
        ctypes.memmove(_STACK, b"\xf4", 1)  # `hlt`
        ctypes.memmove(_STACK + PAGE // 2, struct.pack("<Q", _STACK), 8)
        self._start = self._state(SPRINGBOARD + labels["entry"], model.features)
        self._enter = self._emulate  # type: ignore[assignment]

    def load(self, code: bytes) -> None:
        super().load(code)
        # It remembers decoded instructions by their physical address.
        for page in range(CODE, CODE + 2 * PAGE, PAGE):
            self._point(page)

    def forget(self) -> None:
        for page in self._pages:
            self._slot(page).value = 0
        super().forget()

    def _map(self, address: int, size: int, rights: int = 3) -> bool:
        if not super()._map(address, size, rights):
            return False
        for page in range(address, address + size, PAGE):
            self._point(page)
        return True

    def _catch(self, handler: int) -> None:
        """Faults come to `_faulted`."""

    def _point(self, page: int) -> None:
        """Let the machine find a page at its address here, at a physical address that nothing had before."""
        self._slot(page).value = self._inserted(page) | _PRESENT

    def _inserted(self, host: int) -> int:
        self._frame += PAGE
        self._bochs.memory.page_insert(self._frame, host)
        return self._frame

    def _slot(self, page: int) -> ctypes.c_uint64:
        """The entry of a page in the machine's page tables."""
        _, table = self._table(0, 0)
        for shift in _LEVELS:
            slot = ctypes.c_uint64.from_address(table + 8 * (page >> shift & 511))
            if shift != _LEVELS[-1]:
                physical, table = self._table(shift, page >> shift)
                slot.value = physical | _PRESENT
        return slot

    def _table(self, shift: int, number: int) -> tuple[int, int]:
        """The physical address of a page table, and its address here."""
        if (shift, number) not in self._tables:
            host = self._bochs.memory.allocate_host_page()
            ctypes.memset(host, 0, PAGE)
            self._tables[shift, number] = self._inserted(host), host
        return self._tables[shift, number]

    def _state(self, entry: int, features: int) -> Any:
        state = self._bochs.State()
        state.xcr0 = features
        for name, value in _CONTROL.items():
            setattr(state, name, value)
        state.cr3, _ = self._table(0, 0)
        state.rip, state.rsp, state.rflags = entry, _STACK + PAGE // 2, 2
        state.mxcsr, state.mxcsr_mask, state.fpcw = 0x1F80, 0x2FFFF, 0x37F
        state.cs = self._segment(0x10, 0x209B)
        state.ds = state.es = state.ss = self._segment(0x18, 0xC93)
        state.fs, state.gs = self._segment(0x18, 0xC93, LOCAL), self._segment(0x18, 0xC93, GLOBAL)
        return state

    def _segment(self, selector: int, attributes: int, base: int = 0) -> Any:
        made = self._bochs.Segment()
        made.present, made.selector, made.attr = True, selector, attributes
        made.base, made.limit = base, 0xFFFF_FFFF
        return made

    def _emulate(self) -> None:
        self._session.cpu.state = self._start
        self._session.run([self._hook])

    def _faulted(self, session: Any, number: int, vector: int, code: int) -> None:
        kind, told, address = _SIGNALS.get(int(vector), signal.SIGSEGV), 0, 0
        if vector == _PAGE_FAULT:
            told, address = 2 if code & 1 else 1, session.cpu.cr2
        ctypes.memmove(FAULT + 8, struct.pack("<4Q", kind, told, address, session.cpu.rip), 32)
        session.stop()

    def _no_memory(self, physical: int) -> None:
        raise AssertionError(f"the machine has no page at {physical:#x}")


@cache
def _bochs(number: int) -> Any:
    """The emulator, set up as the processor with this number."""
    try:
        import bochscpu
    except ImportError:
        with tempfile.TemporaryDirectory() as folder:
            made = f"{folder}/since_2_38.so"
            command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", made]
            subprocess.run(command, input=_SINCE_2_38, text=True, check=True)
            ctypes.CDLL(made, ctypes.RTLD_GLOBAL)
        import bochscpu
    import bochscpu.memory

    # The Python package does not choose the processor, but its library exports what does.
    library = ctypes.CDLL(bochscpu._bochscpu.__file__)
    find = library["sim_get_param_enum"]
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_char_p,)
    choose = library["_ZN15bx_param_enum_c3setEl"]
    choose.argtypes = (ctypes.c_void_p, ctypes.c_long)
    choose(find(b"cpu.model"), number)
    return bochscpu


class Emulator:
    """The emulator in a process of its own. A context manager.

    Raises:
        CannotAudit: it is not installed, or cannot be loaded.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        if find_spec("bochscpu") is None:
            raise CannotAudit("bochscpu-python is not installed")
        self._process = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        if reason := self._process.submit(_obstacle, model).result():
            self._process.shutdown()
            raise CannotAudit(reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.shutdown()

    def ask(self, groups: Sequence[Sequence[Mapping[str, Any]]]) -> list[Answer]:
        """One answer of `probed` for each input, as `NativeProcessor.ask` gives it."""
        return list(chain.from_iterable(self._process.map(partial(_answers, self._model), groups)))

    def compare(self, pairs: Iterable[BlockPair]) -> list[ExecutionVerdict]:
        """The verdict on each pair of blocks, as `NativeProcessor.compare` gives it."""
        asked = [native._input(pair, STATES) for pair in pairs]
        texts = self._process.submit(_compared, self._model, asked).result()
        return [native._verdict("seen", text) for text in texts]


def _obstacle(model: Model) -> str:
    try:
        _emulator(model)
    except (ImportError, OSError, subprocess.CalledProcessError) as error:
        return f"Bochs cannot be loaded here: {error}"
    return ""


@cache
def _emulator(model: Model) -> EmulatedProcessor:
    atexit.register(os._exit, 0)  # at its end the binding prints a line for each object that it still has
    running.warm()
    return EmulatedProcessor(model)


def _answers(model: Model, inputs: Sequence[Mapping[str, Any]]) -> list[Answer]:
    return [("seen", answer) for answer in probed.answers(_emulator(model), inputs)]


def _compared(model: Model, pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    return [json.dumps(running.compared(_emulator(model), pair)) for pair in pairs]
