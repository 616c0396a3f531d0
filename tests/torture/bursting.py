"""Tens of thousands of updates at once for the real program: how much it holds, what is stored, who is answered."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM

from tests.fakes.discord_world import Channel
from tests.fakes.telegram_shapes import Person
from tests.platforms import Platforms, PlatformsHome
from tests.torture.autopsy import WAITING
from tests.torture.kills import WORD, end, some, start
from tests.torture.row import Found, Size

CHATS = 50
EACH = 100
"""One message of so many is said to nuan; all others are the talk of groups."""

MESSAGES = "FROM event WHERE kind = 'message'"


def held_mb(pid: int) -> float:
    """The most memory that a process ever held."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


@dataclass(frozen=True, slots=True)
class Crowds:
    """So many people and groups on Telegram, so many channels on Discord."""

    platforms: Platforms
    people: tuple[Person, ...]
    groups: tuple[int, ...]
    channels: tuple[Channel, ...]

    def telegram(self, number: int) -> None:
        """One of them says it, in a group or to nuan alone."""
        called = number % EACH == EACH - 1
        person = self.people[(number // EACH if called else number) % CHATS]
        self.platforms.telegram.people.say(
            person.id if called else self.groups[number % CHATS], person, f"第{number}句"
        )

    def discord(self, number: int) -> None:
        """The same in a channel, where nuan is mentioned."""
        called = number % EACH == EACH - 1
        channel = self.channels[(number // EACH if called else number) % CHATS]
        to = f"<@{self.platforms.discord.world.bot.id}> " if called else ""
        self.platforms.discord.people.say(channel, self.platforms.dana, f"{to}第{number}句")


def crowds(platforms: Platforms, folder: Path) -> tuple[Crowds, PlatformsHome]:
    """All of them, and a home where they are welcome."""
    people = tuple(Person(6_000_001 + number, f"人{number}") for number in range(CHATS))
    guild = platforms.discord.world.add_guild("家", platforms.dana)
    channels = tuple(platforms.discord.world.add_channel(guild, f"c{number}") for number in range(CHATS))
    groups = tuple(
        platforms.telegram.chats.group(f"群{number}", *people, bot="administrator") for number in range(CHATS)
    )
    allowed = ",".join(str(one) for one in (*groups, *(person.id for person in people)))
    home = platforms.home(folder, TELEGRAM__ALLOW=allowed, DISCORD__ALLOW=str(guild.id))
    return Crowds(platforms, people, groups, channels), home


async def burst(folder: Path, size: Size) -> Found:
    """As many updates at once; those who called are answered before the end."""
    async with Platforms() as platforms:
        crowd, home = crowds(platforms, folder)
        process = await start(home)
        async with asyncio.timeout(size.units / 30 + 60):
            # The other side is a process and its file.
            while not platforms.telegram.calls("getUpdates") or not platforms.discord.gateway.connected:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            before = held_mb(process.pid)
            for number in range(size.units):
                (crowd.telegram if size.seed % 2 else crowd.discord)(number)
                if number % 500 == 499:
                    await asyncio.sleep(0)
            arrived = f"SELECT 1 {MESSAGES} GROUP BY kind HAVING count(*) >= {size.units}"
            while not some(home, arrived) or some(home, WAITING):  # noqa: ASYNC110
                await asyncio.sleep(0.5)
        most = held_mb(process.pid)
        await end(process, SIGTERM)
    stored = {int(one) for (text,) in some(home, f"SELECT text {MESSAGES}") for one in WORD.findall(str(text))}
    answered = len(some(home, "SELECT DISTINCT chat_id FROM outbox WHERE state = 'sent' AND kind = 'reply'"))
    unhandled = len(some(home, "SELECT 1 FROM event WHERE state IN ('queued', 'dead')"))
    return Found(
        {
            "updates": size.units,
            "lost": size.units - len(stored),
            "bad_exit": int(process.returncode != 0),
            "unhandled": unhandled,
            "unanswered": min(size.units // EACH, CHATS) - answered,
        },
        {"held_mb": round(most, 1), "grown_mb": round(most - before, 1)},
    )
