"""`python -m tests.bench.transcripts OUT [--warm] [--url URL --model NAME]`: written talks with nuan, as Markdown.

One installation lives through three talks on a simulated clock: an evening in a DM, a group, the next morning in the
DM; with `--warm` through a short evening and the morning after it, with the block that the morning opens with. The
model is the built-in offline one, or any OpenAI-compatible server.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.app import App
from bot.config.settings import Settings
from bot.container import Dependencies, make_planner
from bot.core.events import Incoming, Outgoing, Place, Sender
from bot.core.files import PromptFiles
from bot.pipeline.endpoints import make_pool
from bot.store.store import Store, open_store
from tests.configured import configured as current_of
from tests.fakes.clock import SimClock

TALKS = Path(__file__).parent / "talks"
ZONE = ZoneInfo("Asia/Shanghai")
OWNER = "小宁"
PATIENCE_S = 3_600
"""A local model may be slow; here nobody waits."""
QUIET_MS = 60_000
"""How long after the last line of a talk an answer is waited for."""


@dataclass(frozen=True, slots=True)
class Talk:
    """One talk: its file, its title and when it begins."""

    name: str
    title: str
    begins: datetime


ALL = (
    Talk("dm", "A DM in Chinese, Thursday evening", datetime(2026, 6, 11, 19, 0, tzinfo=ZONE)),
    Talk("group", "A group in three scripts, the same evening", datetime(2026, 6, 11, 22, 45, tzinfo=ZONE)),
    Talk("morning", "The DM again, the next morning", datetime(2026, 6, 12, 8, 20, tzinfo=ZONE)),
)


WARM = (
    Talk("evening", "An evening", datetime(2026, 6, 11, 22, 10, tzinfo=ZONE)),
    Talk("dawn", "The next morning", datetime(2026, 6, 12, 8, 20, tzinfo=ZONE)),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a talk: seconds after the one before it, who, what, in which group, whether to somebody else."""

    after: int
    who: str
    text: str
    group: str = ""
    other: bool = False

    def incoming(self, number: int) -> Incoming:
        """As an adapter would bring it."""
        place = Place("console", f"group:{self.group}" if self.group else f"dm:{self.who}", "dm", self.group)
        place = Place("console", place.external_id, "group", self.group) if self.group else place
        account = "local" if self.who == OWNER else f"person:{self.who}"
        sender = Sender("console", account, self.who)
        return Incoming(place, sender, "message", self.text, external_id=f"line-{number}", addresses_other=self.other)


@dataclass(slots=True)
class Page:
    """The adapter and the log of the installation: writes down what a reader of the chat would see, and the calls."""

    clock: SimClock
    platform: str = "console"
    resends: bool = True
    lines: list[str] = field(default_factory=list)
    turns: list[dict[str, object]] = field(default_factory=list)

    async def run(self, sink: object) -> None:
        """Nothing comes by itself."""

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Write it down."""
        self.say("**小暖**", outgoing.text)
        return (str(outgoing.outbox_id),)

    def say(self, who: str, text: str) -> None:
        """One line of the talk, at the present time."""
        at = datetime.fromtimestamp(self.clock.now() / 1000, ZONE)
        self.lines.append(f"`{at:%H:%M:%S}` {who}: " + text.replace("\n", "<br>\n"))

    def debug(self, event: str, **fields: object) -> None:
        """Nothing a reader would see."""

    def info(self, event: str, **fields: object) -> None:
        """Keep the line of a turn."""
        if event == "turn":
            self.turns.append(fields)

    def warning(self, event: str, **fields: object) -> None:
        """A reader would ask why."""
        self.lines.append(f"*({event}: {fields.get('fault', fields.get('error', ''))})*")
        self.info(event, **fields)

    error = warning


def read(talk: Talk) -> tuple[Row, ...]:
    """The rows of a talk."""
    lines = (TALKS / f"{talk.name}.jsonl").read_text("utf-8").splitlines()
    return tuple(Row(**json.loads(line)) for line in lines if line)


def configured(url: str, model: str) -> Settings:
    """An installation in Shanghai; with a server's address that server is its model."""
    values: dict[str, object] = {"bot": {"timezone": "Asia/Shanghai"}}
    if url:
        server = {"base_url": url, "name": model, "api_key": "none", "stream": False, "tries": 1}
        values["model"] = {**server, "deadline_seconds": PATIENCE_S}
    return Settings.model_validate(values)


def parts(store: Store, settings: Settings, clock: SimClock, page: Page) -> Dependencies:
    """The installation of the talks."""
    pool = make_pool(settings, PromptFiles(None).path)
    return Dependencies(store, clock, page, current_of(settings, pool=pool, log=page))


async def opening(nuan: Dependencies) -> str:
    """What the first chat's next talk opens with."""
    chat = await nuan.store.people.chat(1)
    return (await make_planner(nuan).boot(chat, await nuan.store.people.person(1), nuan.clock.now())).text


async def live(folder: Path, settings: Settings, talks: tuple[Talk, ...]) -> list[tuple[Talk, Page]]:
    """Live through these talks; what each of them showed."""
    clock, told = SimClock(round(talks[0].begins.timestamp() * 1000)), []
    page = Page(clock)
    async with await open_store(folder) as store:
        nuan = parts(store, settings, clock, page)
        app = App(nuan)
        await app.start([page])
        number = 0
        for talk in talks:
            page.lines, page.turns = [], []
            await clock.advance(round(talk.begins.timestamp() * 1000) - clock.now(), app.settled)
            if talk.name == "dawn":
                page.lines.append("```\n" + await opening(nuan) + "\n```")
            for row in read(talk):
                number += 1
                await clock.advance(row.after * 1000, app.settled)
                page.say(row.who, row.text)
                await app.ingest.accept(row.incoming(number))
                await app.settled()
            await clock.advance(QUIET_MS, app.settled)
            told.append((talk, Page(clock, lines=page.lines, turns=page.turns)))
        await app.stop()
        await nuan.current.pool.close()
    return told


def markdown(talk: Talk, page: Page, model: str) -> str:
    """One talk as a page."""
    tokens = sum(int(str(turn.get("prompt_tokens", 0))) for turn in page.turns)
    said = sum(line.split(" ", 1)[1].startswith("**小暖**") for line in page.lines if line.startswith("`"))
    head = (
        f"# {talk.title}\n\nMade by `python -m tests.bench.transcripts` with {model}, on a simulated clock that begins "
        f"at {talk.begins:%A %H:%M}. Nothing was edited. {len(read(talk))} lines of people, {said} of nuan, "
        f"{len(page.turns)} turns, {tokens} prompt tokens by nuan's own estimate.\n\n"
    )
    return head + "\n\n".join(page.lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Write a page of each talk into OUT."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.transcripts", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--url", default="", help="an OpenAI-compatible server; without it the offline model answers")
    parser.add_argument("--model", default="local", help="the model's name there")
    parser.add_argument("--named", default="", help="how the pages call the model")
    parser.add_argument("--warm", action="store_true", help="a short evening and the morning after it")
    given = parser.parse_args(argv)
    named = given.named or (
        f"the model {given.model}" if given.url else "the built-in offline model (no language model)"
    )
    with tempfile.TemporaryDirectory(prefix="nuan-talks-") as folder:
        told = asyncio.run(live(Path(folder), configured(given.url, given.model), WARM if given.warm else ALL))
    given.out.mkdir(parents=True, exist_ok=True)
    for talk, page in told:
        (given.out / f"{talk.name}.md").write_text(markdown(talk, page, named), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
