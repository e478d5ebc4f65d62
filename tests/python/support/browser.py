"""A headless Chromium for tests, driven over its DevTools protocol: pages as a reader sees and uses them.

packages/develop.txt includes Chromium; without it the tests fail rather than pass unnoticed.
"""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import axe_core_python
from websockets.sync.client import ClientConnection, connect

AXE = Path(axe_core_python.__file__).with_name("axe.min.js")
# Impacts of axe's findings that pages must not have: all but "minor".
IMPACTS = ("moderate", "serious", "critical")
OPTIONS = (
    "--headless",
    "--no-sandbox",  # tests run as root in containers, and open only their own files
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
)
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27}
START_S = 120.0  # on a busy machine


class Browser:
    """One page of a running Chromium."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.number = 0
        self.complaints: list[str] = []  # errors and warnings of the console, refused loads, uncaught exceptions
        self.session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call the protocol and wait for its answer, noting complaints that arrive meanwhile."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv(timeout=START_S))
            self.note(answer)
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])

    def note(self, answer: dict[str, Any]) -> None:
        method, found = answer.get("method"), answer.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(found["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and found["type"] in {"error", "warning", "assert"}:
            self.complaints.append(str(found["args"]))
        elif method == "Log.entryAdded" and found["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(found["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not found["request"]["url"].startswith(("file:", "data:")):
            self.complaints.append(f"asks for {found['request']['url']}")

    def open(self, page: Path, width: int = 1100, height: int = 900) -> None:
        """Load a file and wait until it is loaded."""
        self.complaints.clear()
        self.call("Emulation.setEmulatedMedia", media="")
        self.resize(width, height)
        self.call("Page.navigate", url=page.resolve().as_uri())
        end = time.monotonic() + START_S
        while self.run("location.protocol + document.readyState") != "file:complete":
            assert time.monotonic() < end, "the page does not load"
            time.sleep(0.02)

    def resize(self, width: int, height: int = 900) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        code = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        self.call("Input.dispatchKeyEvent", type="keyDown", **code, **({"text": "\r"} if key == "Enter" else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def point_at(self, selector: str, *, click: bool = False) -> None:
        """Move the pointer to the middle of the first element of a CSS selector, and click on it."""
        place = self.run(
            f"(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();"
            f" return [r.left + r.width / 2, r.top + r.height / 2]; }})(document.querySelector({json.dumps(selector)}))"
        )
        at = {"x": place[0], "y": place[1]}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **at)
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def barriers(self, width: int, scheme: str) -> list[str]:
        """What keeps people from using the page, as axe-core finds it, at this width in pixels: `light` or `dark`."""
        self.resize(width)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Runtime.evaluate", expression=AXE.read_text())
        found = self.run(
            "axe.run({resultTypes: ['violations']}).then(all => all.violations.map(one =>"
            " [one.impact, `${one.id}: ${one.help}: ${one.nodes[0].html.slice(0, 200)}`]))"
        )
        wide = self.run("document.documentElement.scrollWidth > innerWidth")
        return [text for impact, text in found if impact in IMPACTS] + ["it scrolls sideways as a whole"] * wide

    def screenshot(self, to: Path) -> None:
        """Save the whole page as PNG, for a person to look at."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        to.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A Chromium for as long as it is needed, with its profile in the folder `profile`."""
    with subprocess.Popen(
        ["chromium", *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            with connect(_address(profile, process), max_size=None) as socket:
                yield Browser(socket)
                socket.send(json.dumps({"id": 0, "method": "Browser.close"}))
            process.wait(START_S)
        finally:
            process.kill()


def _address(profile: Path, process: subprocess.Popen[bytes]) -> str:
    """Where the browser listens: it writes its port and path into its profile."""
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            port, path = (profile / "DevToolsActivePort").read_text().split("\n")[:2]
        except (OSError, ValueError):
            time.sleep(0.02)
        else:
            return f"ws://127.0.0.1:{port}{path}"
    raise AssertionError(f"chromium does not start (exit code {process.poll()})")
