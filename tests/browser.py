"""A headless Chromium from PATH, or that of Qt where the extra `pictures` is installed, driven over its debugging protocol.

It knows no page."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from importlib.util import find_spec
from pathlib import Path

import aiohttp

from bot.core.clock import SystemClock
from bot.core.ports import pause
from tests.sizes import PATIENCE_S

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
LOOK_MS = 15
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--mute-audio",
    "--disable-dev-shm-usage",
    "--disable-default-apps",
    "--remote-debugging-port=0",
    "--window-size=1200,900",
)

SERVES = re.compile(r"(?:DevTools listening on ws|Remote debugging server started successfully.*http)://([\d.:]+)")
"""Where both say that they can be driven."""

KEYS = {"Tab": 9, "Enter": 13, "Space": 32}


QT = """
import os, sys
from PyQt6.QtCore import QUrl
from PyQt6.QtQuick import QQuickWindow, QSGRendererInterface
from PyQt6.QtWebEngineWidgets import QWebEngineView
from PyQt6.QtWidgets import QApplication
QQuickWindow.setGraphicsApi(QSGRendererInterface.GraphicsApi.Software)
app = QApplication(sys.argv[:1])
view = QWebEngineView()
view.resize(1200, 900)
view.load(QUrl("about:blank"))
view.show()
app.exec()
"""
"""A window without a screen, whose port for debugging is in its environment."""


def find_chromium() -> tuple[str, ...]:
    """The command of the browser on this machine, () without one."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is not None:
        return (found, *FLAGS)
    return (sys.executable, "-c", QT) if find_spec("PyQt6") and find_spec("PyQt6.QtWebEngineWidgets") else ()


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Tab:
    """One page. `requested` are the addresses it asked for, `complaints` what the browser said against it."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self._waiting: dict[int, asyncio.Future[dict[str, object]]] = {}
        self._reading = asyncio.create_task(self._read())
        self.requested: list[str] = []
        self.complaints: list[str] = []

    async def begin(self) -> None:
        """Watch what it does."""
        for domain in ("Page", "Network", "Log", "Runtime"):
            await self.call(f"{domain}.enable")

    async def call(self, method: str, **params: object) -> dict[str, object]:
        """One command of the protocol."""
        self._number += 1
        number = self._number
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        return await asyncio.wait_for(self._waiting[number], PATIENCE_S)

    async def run(self, script: str) -> object:
        """The value of an expression on the page; of a promise what it becomes."""
        answer = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, json.dumps(answer["exceptionDetails"])[:600]
        result = answer["result"]
        return result.get("value") if isinstance(result, dict) else None

    async def go(self, address: str) -> None:
        """Open an address and wait until it is loaded."""
        await self.call("Page.navigate", url=address)
        await self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    async def until(self, condition: str) -> None:
        """Return when that expression holds on the page; a test fails, showing the page, when it never does."""
        clock = SystemClock()
        since = clock.now()
        while clock.now() - since < PATIENCE_S * 1000:
            # A page that is just being left has no answer: the next one is asked.
            answer = await self.call("Runtime.evaluate", expression=f"!!({condition})", returnByValue=True)
            if answer.get("result") == {"type": "boolean", "value": True}:
                return
            await pause(clock, LOOK_MS)
        raise AssertionError(f"{condition}\n{await self.run('document.body.innerText')}")

    async def press(self, key: str) -> None:
        """A key of the keyboard."""
        text = {"Enter": "\r", "Space": " "}.get(key, "")
        code = {"key": " " if key == "Space" else key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        await self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **code)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    async def type(self, text: str) -> None:
        """Text into what has the focus."""
        await self.call("Input.insertText", text=text)

    async def dark(self, on: bool) -> None:
        """The machine's preference."""
        value = "dark" if on else "light"
        await self.call(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": "prefers-color-scheme", "value": value},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ],
        )

    async def close(self) -> None:
        """Leave it."""
        self._reading.cancel()
        await asyncio.wait((self._reading,))
        await self._socket.close()

    async def _read(self) -> None:
        async for message in self._socket:
            said = json.loads(message.data)
            if "id" in said:
                waiting = self._waiting.get(said["id"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(said.get("result") or {"result": {}, "error": said.get("error")})
                continue
            self._notice(said["method"], said["params"])

    def _notice(self, method: str, said: dict[str, object]) -> None:
        match method, said:
            case "Network.requestWillBeSent", {"request": {"url": str(url)}}:
                self.requested.append(url)
            case "Log.entryAdded", {"entry": {"level": "error" | "warning", "text": str(text)}}:
                self.complaints.append(text)
            case "Runtime.exceptionThrown", {"exceptionDetails": {"text": str(text)}}:
                self.complaints.append(text)


@asynccontextmanager
async def browser(command: tuple[str, ...], folder: Path) -> AsyncIterator[Tab]:
    """A tab of a browser of its own, which is gone afterwards."""
    process = await asyncio.create_subprocess_exec(
        *command,
        *([f"--user-data-dir={folder}", "about:blank"] if FLAGS[0] in command else []),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        env=os.environ
        | {
            "QT_QPA_PLATFORM": "offscreen",
            "QTWEBENGINE_REMOTE_DEBUGGING": f"127.0.0.1:{free_port()}",
            "QTWEBENGINE_CHROMIUM_FLAGS": "--no-sandbox --disable-gpu --remote-allow-origins=*",
        },
    )
    assert process.stderr is not None
    try:
        address = ""
        while not address:
            line = (await asyncio.wait_for(process.stderr.readline(), PATIENCE_S)).decode("utf-8", "replace")
            assert line, "the browser did not start"
            found = SERVES.search(line)
            address = found[1] if found is not None else ""
        drain = asyncio.create_task(process.stderr.read())
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://{address}/json/list") as answer:
                pages = [page for page in json.loads(await answer.text()) if page["type"] == "page"]
            socket = await session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0)
            tab = Tab(socket)
            try:
                await tab.begin()
                yield tab
            finally:
                await tab.close()
        drain.cancel()
        await asyncio.wait((drain,))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        transport = getattr(process, "_transport", None)
        if transport is not None:
            transport.close()
