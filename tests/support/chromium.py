"""A real headless Chromium, driven over its debugging pipe."""

import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

from tests.support.waiting import until

PROGRAM: Final = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
LIMIT: Final = 60.0
"""Seconds for one answer."""
KEYS: Final = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40}


class Chromium:
    """One browser with one page. It remembers every request, dialog and error of the page."""

    def __init__(self, program: str, folder: Path) -> None:
        for name in ("in", "out"):
            os.mkfifo(folder / name)
        # The browser reads commands from descriptor 3 and writes to 4.
        command = ["/bin/sh", "-c", 'exec "$@" 3<in 4>out', "sh", program, *FLAGS]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={folder / 'profile'}"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._to = os.open(folder / "in", os.O_WRONLY)
        self._from = os.open(folder / "out", os.O_RDONLY)
        self._left = b""
        self._calls = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._calls += 1
        number = self._calls
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != number:
            self.events.append(answer)
        assert "error" not in answer, answer
        found: dict[str, Any] = answer["result"]
        return found

    def open(self, address: str, *, width: int = 1200) -> None:
        """Load a page anew, with its script run to the end."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        self.call("Page.navigate", url=address)
        self.wait("document.documentElement?.dataset.ready === '1'")

    def read(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        until(lambda: self.read(expression), seconds=LIMIT)

    def press(self, key: str) -> None:
        known = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **known, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def type(self, text: str) -> None:
        for letter in text:
            self.call("Input.dispatchKeyEvent", type="char", text=letter)

    def seen(self, method: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event.get("method") == method]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._from], [], [], LIMIT)
            assert ready, "the browser does not answer"
            chunk = os.read(self._from, 1 << 16)
            assert chunk, "the browser has ended"
            self._left += chunk
        message, self._left = self._left.split(b"\0", 1)
        found: dict[str, Any] = json.loads(message)
        return found
