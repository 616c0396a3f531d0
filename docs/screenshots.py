"""`python -m docs.screenshots`: makes the pictures of the READMEs, docs/pictures/*.png, of a talk and a page as they are.

The terminal runs `nuan chat` with the offline model, the web page shows a made-up installation. It needs
`pip install -c constraints.txt -e '.[dev,pictures]'` and fonts with Chinese.
"""

import asyncio
import fcntl
import html
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pyte

from bot.config.settings import Settings, WebPage
from bot.core.clock import DAY_MS, SystemClock
from bot.core.models import Completion, ModelRequest, Usage
from bot.web.server import open_server
from tests.fakes.clock import SimClock
from tests.webbed import TOKEN, Webbed
from tests.world import World

PICTURES = Path(__file__).resolve().parent / "pictures"
COLUMNS, ROWS = 76, 20
SPEAKER = "小暖 ›"
QUIET_S = 1.0
"""So long nothing may change in a terminal before it is looked at."""
TERMINAL_WIDTH, FRAME_HEIGHT, LINE_HEIGHT = 760, 108, 24
PAGE_SIZE = (1280, 860)
DAYS = 14

TERMINAL_PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 20px; background: #f6efe6; }}
main {{ background: #1c1715; border-radius: 12px; overflow: hidden; box-shadow: 0 6px 24px #2b232055; }}
header {{ background: #2a2320; padding: 10px 14px; display: flex; gap: 8px; }}
header i {{ width: 12px; height: 12px; border-radius: 6px; background: #96877c; }}
pre {{ margin: 0; padding: 14px 18px 18px; color: #f2e9e2; font: 15px/{line}px "DejaVu Sans Mono", "Noto Sans Mono CJK SC"; }}
b {{ color: #ffb088; font-weight: normal; }}
</style><main><header><i></i><i></i><i></i></header><pre>{text}</pre></main>"""


@dataclass(frozen=True, slots=True)
class Scene:
    """What is said the evening before, and in the picture; lines of others as (platform, who, group, text)."""

    zone: str
    script: str
    name: str
    evening: tuple[str, ...]
    morning: tuple[str, ...]
    others: tuple[tuple[str, str, str, str], ...]
    answer: str


SCENES = {
    "en": Scene(
        "Europe/Berlin",
        "en",
        "Nora",
        (
            "call me Nora",
            "remember that I'm allergic to peanuts",
            "remember that my cat is called Mochi",
            "remind me tomorrow at 9pm to buy food for Mochi",
        ),
        (
            "morning, what do I have today?",
            "what am I allergic to?",
            "remember that Mochi loves salmon",
            "what is my cat called?",
        ),
        (
            ("telegram", "Derek", "", "remember that I moved to Oslo"),
            ("telegram", "Ada", "Hiking club", "小暖, where did we want to go on Sunday?"),
            ("discord", "Lin", "", "remind me tomorrow at 6pm to water the plants"),
            ("discord", "Sam", "Game night", "小暖, who brings the snacks this time?"),
        ),
        "You told me last week: to the lake, if the weather holds.",
    ),
    "zh": Scene(
        "Asia/Shanghai",
        "zh-Hans",
        "小宁",
        ("叫我小宁", "记住我对花生过敏", "记住我家猫叫年糕，它对鸡肉过敏", "明天晚上9点提醒我给年糕买兔肉罐头"),
        ("早，今天有什么事？", "我对什么过敏？", "记住年糕最爱吃三文鱼", "年糕爱吃什么？"),
        (
            ("telegram", "陈朗", "", "记住我搬到杭州了"),
            ("telegram", "阿明", "周末爬山", "小暖，星期天说好去哪里来着？"),
            ("discord", "林林", "", "明天下午6点提醒我浇花"),
            ("discord", "老周", "桌游之夜", "小暖，这次谁带零食？"),
        ),
        "上周你说过：天气好就去湖边。",
    ),
}


async def opened(folder: Path, scene: Scene, days: int) -> World:
    """A nuan as it was so many days ago."""
    allow = [name for platform, who, group, _ in scene.others for name in (f"{platform[0]}-{who}", f"group:{group}")]
    told = {
        "bot": {"timezone": scene.zone, "language": scene.script, "owners": [f"telegram:t-{scene.name}"]},
        "telegram": {"allow": allow},
        "discord": {"allow": allow},
        "model": {"price_input": 0.3, "price_cached": 0.03, "price_output": 0.5},
    }
    world = World(folder, Settings.model_validate(told), ("telegram", "discord"))
    world.clock = SimClock(SystemClock().now() - days * DAY_MS)
    return await world.open()


async def picture_terminal(folder: Path, scene: Scene, out: Path) -> None:
    """The morning after that evening, in a real terminal."""
    world = await opened(folder / "data", scene, 1)
    for line in scene.evening:
        await world.say(line)
        await world.wait(60)
    await world.close()
    (folder / "nuan.toml").write_text(f'[bot]\ntimezone = "{scene.zone}"\nlanguage = "{scene.script}"\n', "utf-8")
    rows = await asyncio.to_thread(typed, folder, scene.morning)
    while not "".join(cell.data for cell in rows[-1]).strip():
        rows.pop()
    page = folder / "terminal.html"
    page.write_text(TERMINAL_PAGE.format(line=LINE_HEIGHT, text="\n".join(map(row_as_html, rows))), "utf-8")
    await draw(page.as_uri(), out, (TERMINAL_WIDTH, FRAME_HEIGHT + LINE_HEIGHT * len(rows)))


def typed(folder: Path, lines: tuple[str, ...]) -> list[list[pyte.screens.Char]]:
    """The screen of `nuan chat` after these lines were typed, each when the one before was answered."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        (sys.executable, "-m", "bot", "chat", "--data", "data", "--config", "nuan.toml"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=os.environ | {"TERM": "xterm-256color", "PYTHONPATH": str(PICTURES.parent.parent)},
        start_new_session=True,
    )

    def follow() -> None:
        while select.select([ours], [], [], QUIET_S)[0]:
            data = os.read(ours, 65_536)
            stream.feed(data)
            if b"\x1b[6n" in data:  # where the cursor is, which prompt_toolkit asks
                os.write(ours, f"\x1b[{screen.cursor.y + 1};{screen.cursor.x + 1}R".encode())

    try:
        while "›" not in screen.display[screen.cursor.y]:
            follow()
        for number, line in enumerate(lines, 1):
            os.write(ours, f"{line}\r".encode())
            while sum(row.startswith(SPEAKER) for row in screen.display) < number:
                follow()
        return [[screen.buffer[row][column] for column in range(COLUMNS)] for row in range(ROWS)]
    finally:
        process.terminate()
        process.wait()
        os.close(ours)
        os.close(theirs)


def row_as_html(row: list[pyte.screens.Char]) -> str:
    """One row, what is not in the usual colour in the second one; the cell after a wide character is empty."""
    parts = [
        (coloured, html.escape("".join(cell.data for cell in cells)))
        for coloured, cells in groupby(row, lambda cell: cell.fg != "default")
    ]
    return "".join(f"<b>{text}</b>" if coloured else text for coloured, text in parts).rstrip()


async def picture_page(folder: Path, scene: Scene, out: Path) -> None:
    """The overview of a nuan that people have talked with for two weeks."""
    async with lived_in(folder, scene) as address:
        await draw(f"{address}login?lang={scene.script}", out, PAGE_SIZE)


@asynccontextmanager
async def lived_in(folder: Path, scene: Scene) -> AsyncIterator[str]:
    """The address of its page while it is served."""
    world = await opened(folder / "page", scene, DAYS)
    sent = 0

    def answer(request: ModelRequest) -> Completion:
        nonlocal sent
        sent += 1
        prompt = 900 + 137 * (sent % 7)
        return Completion(scene.answer, (), Usage(prompt, prompt * (5 + sent % 4) // 10, 40 + sent % 30))

    world.model.script = answer
    for day in range(DAYS):
        await world.wait(DAY_MS / 1000 - 3_600)
        for number, (platform, who, group, text) in enumerate(scene.others):
            if (day + number) % 3 or day == DAYS - 1:
                await world.say(text if group or day == DAYS - 1 else scene.answer, who, group, platform=platform)
                await world.wait(600)
        for line in scene.morning[:2]:
            await world.say(line, scene.name, platform="telegram")
            await world.wait(90)
    for line in scene.evening:
        await world.say(line, scene.name, platform="telegram")
        await world.wait(60)
    page = await Webbed(world).open()
    (folder / "web.token").write_text(TOKEN)
    try:
        with open_server(WebPage(port=0), folder) as served:
            async with served.served(page.site._site_data, world.log):
                yield served.address
    finally:
        await page.close()
        await world.close()


async def draw(address: str, out: Path, size: tuple[int, int]) -> None:
    """What a browser shows there, logged in where it is asked to; in a process of its own, as Qt has its own loop."""
    width, height = map(str, size)
    command = (sys.executable, "-m", "docs.screenshots", address, str(out), width, height)
    process = await asyncio.create_subprocess_exec(*command, cwd=PICTURES.parent.parent)
    if await process.wait():
        raise SystemExit(f"{out.name} was not drawn")


def shoot(address: str, out: str, width: int, height: int) -> None:
    """Draw one page with the browser of Qt, without a screen."""
    os.environ |= {"QT_QPA_PLATFORM": "offscreen", "QTWEBENGINE_CHROMIUM_FLAGS": "--no-sandbox --disable-gpu"}
    from PyQt6.QtCore import QTimer, QUrl
    from PyQt6.QtQuick import QQuickWindow, QSGRendererInterface
    from PyQt6.QtWebEngineWidgets import QWebEngineView
    from PyQt6.QtWidgets import QApplication

    QQuickWindow.setGraphicsApi(QSGRendererInterface.GraphicsApi.Software)
    app = QApplication(sys.argv[:1])
    view = QWebEngineView()
    view.resize(width, height)

    def loaded() -> None:
        if "/login" in view.url().toString():
            enters = "const box = document.getElementById('token'); box.value = '{}'; box.form.requestSubmit()"
            view.page().runJavaScript(enters.format(TOKEN))
            return
        QTimer.singleShot(2_000, lambda: (view.grab().save(out), app.quit()))

    view.loadFinished.connect(lambda _: loaded())
    view.load(QUrl(address))
    view.show()
    app.exec()


async def main() -> None:
    """All pictures, in both languages."""
    PICTURES.mkdir(exist_ok=True)
    for language, scene in SCENES.items():
        with tempfile.TemporaryDirectory() as folder:
            await picture_terminal(Path(folder), scene, PICTURES / f"terminal.{language}.png")
            await picture_page(Path(folder), scene, PICTURES / f"page.{language}.png")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        shoot(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        asyncio.run(main())
