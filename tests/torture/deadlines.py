"""Follow-ups, paced replies, windows and sessions that are due while the real program is dead (kill -9) or stands
still (SIGSTOP): each fires once, none is missing."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, SIGTERM, Signals

from tests.e2e import KEY, Home, Process
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_world import Channel, User
from tests.fakes.openai_script import Asked, Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.torture.grounds import common
from tests.torture.kills import ANSWERED_TWICE, WORD, end, some, start, until

LATER = 100
"""Follow-ups are numbered from here on."""

TOLD = (
    "SELECT session_id FROM digest WHERE session_id IS NOT NULL UNION ALL SELECT id FROM session WHERE digested_in IS "
    "NOT NULL UNION ALL SELECT id FROM session WHERE state = 'closing' AND digest_due_at IS NOT NULL"
)
"""The sessions with a digest, in another one's, or whose short talk waits for others."""

OPEN = (
    "SELECT 1 FROM conversation_window UNION ALL SELECT 1 FROM session WHERE state = 'open' UNION ALL SELECT 1 FROM outbox "
    "WHERE state IN ('pending', 'sending') UNION ALL SELECT 1 FROM event WHERE state = 'queued'"
)
FOLLOW_UPS = "SELECT 1 FROM event WHERE state = 'queued' AND why = 'window'"
UNSAID = "SELECT 1 FROM outbox WHERE state = 'pending' AND wait_ms > 0"


@dataclass(frozen=True, slots=True)
class Times:
    """How long things take, seconds: silence before a follow-up, a pause in a reply, a window, an idle session."""

    followup: int = 5
    pause: int = 6
    window: int = 14
    idle: int = 12


@dataclass(frozen=True, slots=True)
class Fired:
    """What was due while it was away (`follow_ups` and `parts` of replies), and how often each was said.

    `late_s` is how long after it came back the last follow-up was answered.
    """

    how: str
    chats: int
    follow_ups: int
    parts: int
    said: tuple[int, ...]
    ended: tuple[int, ...]
    twice: int
    sessions: int
    digests: int
    reasons: tuple[str, ...]
    late_s: float

    @property
    def right(self) -> bool:
        """Everything once."""
        once = (1,) * self.chats
        due = self.follow_ups == self.chats and self.parts > 0
        fired = self.said == self.ended == once and not self.twice
        return due and fired and self.sessions == self.digests >= self.chats and set(self.reasons) == {"idle"}

    def line(self) -> str:
        """For the operator of the run."""
        return (
            f"{self.how}: {self.follow_ups} follow-ups and {self.parts} parts of replies due meanwhile; "
            f"{self.said.count(1)} of {self.chats} follow-ups answered once, {self.ended.count(1)} of {self.chats} "
            f"replies ended once, {self.twice} answered twice, {self.sessions} sessions closed ({self.reasons}), "
            f"{self.digests} digests, the last answer {self.late_s:.1f} s after it came back"
        )


class Away:
    """The program, which can be taken away and come back."""

    def __init__(self, home: Home, how: Signals) -> None:
        self._home = home
        self._how = how
        self._process: Process

    async def begin(self) -> None:
        """The first life."""
        self._process = await start(self._home)

    async def leave(self) -> None:
        """It is gone, or stands still."""
        if self._how == SIGSTOP:
            self._process.send_signal(SIGSTOP)
        else:
            await end(self._process, SIGKILL)

    async def come_back(self) -> None:
        """It goes on, or begins anew."""
        if self._how == SIGSTOP:
            self._process.send_signal(SIGCONT)
        else:
            await self.begin()

    async def finish(self, how: Signals) -> None:
        """End it for good."""
        with suppress(ProcessLookupError):
            self._process.send_signal(SIGCONT)
        await end(self._process, how)


@dataclass(frozen=True, slots=True)
class Channels:
    """One person in each channel, everybody saying the same sentence with a number of their own."""

    server: FakeDiscord
    channels: tuple[Channel, ...]
    people: tuple[User, ...]

    def write(self, text: Callable[[int], str]) -> None:
        """Everybody says something."""
        for who, channel in enumerate(self.channels):
            self.server.people.say(channel, self.people[who], text(who))

    def seen(self, text: Callable[[int], str]) -> tuple[int, ...]:
        """How many messages of nuan say that, channel by channel."""
        texts = [self.server.texts(channel) for channel in self.channels]
        return tuple(sum(text(who) in shown for shown in seen) for who, seen in enumerate(texts))


def answering(pause_s: int) -> Callable[[Asked], Reply]:
    """A model that names the newest sentence, and ends its answer to a follow-up after a pause."""

    def answer(asked: Asked) -> Reply:
        number = max((int(found) for found in WORD.findall(asked.last_user.rpartition("<ctx")[2])), default=0)
        later = f"\n\n[[{pause_s * 1_000}]]\n\n完{number}了" if number >= LATER else ""
        return Reply(f"收到第{number}句{later}")

    return answer


async def deadlines(folder: Path, chats: int, how: Signals, times: Times) -> Fired:
    """Everybody is answered and says one thing more; then the program is away until that is due, and once more later.

    The second time it leaves in the middle of its replies.
    """
    token = f"made-up.deadline.{os.getpid()}"
    async with FakeDiscord(token, limit=0) as server, FakeOpenAI(answering(times.pause), key=KEY) as model:
        people = tuple(server.world.add_user(f"人{who}") for who in range(chats))
        guild = server.world.add_guild("家", *people)
        channels = Channels(server, tuple(server.world.add_channel(guild, f"c{who}") for who in range(chats)), people)
        home = Home(
            folder,
            common(model)
            | {
                "DISCORD__TOKEN": token,
                "DISCORD__API_URL": server.api_url,
                "DISCORD__GATEWAY_URL": server.gateway_url,
                "DISCORD__ALLOW": str(guild.id),
                "SPEAK__PACED": "true",
                "SPEAK__FOLLOWUP_SECONDS": str(times.followup),
                "SPEAK__WINDOW_SECONDS": str(times.window),
                "SESSION__IDLE_SECONDS": str(times.idle),
                "PROMPT__LIGHT": "off",
            },
        )
        nuan = Away(home, how)
        await nuan.begin()
        try:
            found = await away(nuan, home, channels, times)
            await nuan.finish(SIGTERM)
        finally:
            await nuan.finish(SIGKILL)
        return count(home, channels, how, found)


async def away(nuan: Away, home: Home, channels: Channels, times: Times) -> tuple[int, int, float]:
    """Leave twice; how many follow-ups and parts of replies were left, and how late the follow-ups were answered, s."""
    loop, bot = asyncio.get_running_loop(), channels.server.world.bot.id
    await until(lambda: channels.server.gateway.connected > 0)
    channels.write(lambda who: f"<@{bot}> 第{who}句")
    await until(lambda: all(channels.seen(lambda who: f"收到第{who}句")))
    channels.write(lambda who: f"然后第{LATER + who}句")
    await until(lambda: len(some(home, "SELECT 1 FROM event WHERE why = 'window'")) == len(channels.channels))
    await nuan.leave()
    follow_ups = len(some(home, FOLLOW_UPS))
    await asyncio.sleep(times.followup + 0.5)
    await nuan.come_back()
    back = loop.time()
    await until(lambda: all(channels.seen(lambda who: f"收到第{LATER + who}句")))
    late = loop.time() - back
    await nuan.leave()
    parts = len(some(home, UNSAID))
    await asyncio.sleep(times.pause + 0.5)
    await nuan.come_back()
    await until(lambda: all(channels.seen(lambda who: f"完{LATER + who}了")) and not some(home, OPEN))
    return follow_ups, parts, late


def count(home: Home, channels: Channels, how: Signals, found: tuple[int, int, float]) -> Fired:
    """What people saw and what is stored at the end."""
    follow_ups, parts, late = found
    reasons = {str(row[0]) for row in some(home, "SELECT close_reason FROM session")}
    return Fired(
        how.name,
        len(channels.channels),
        follow_ups,
        parts,
        channels.seen(lambda who: f"收到第{LATER + who}句"),
        channels.seen(lambda who: f"完{LATER + who}了"),
        len(some(home, ANSWERED_TWICE)),
        len(some(home, "SELECT 1 FROM session")),
        len(some(home, TOLD)),
        tuple(sorted(reasons)),
        late,
    )
