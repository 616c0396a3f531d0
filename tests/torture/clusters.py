"""The real program as several processes on one PostgreSQL server, over both wires, with what goes wrong while people write.

What is done to the server or to a process comes from outside; everything is counted as after any kill.
"""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals

from tests.e2e import Home, Process
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.telegram_server import FakeTelegram
from tests.platforms import DISCORD, TELEGRAM
from tests.proxies import Line
from tests.torture.autopsy import BETWEEN, WAITING, Autopsy, Lives
from tests.torture.database import DatabaseServer
from tests.torture.grounds import FIRST_PERSON, DiscordGround, SlowOpenAI, TelegramGround, common
from tests.torture.kills import PATIENCE_S, Count, Plan, count, end, greeted, said_started, settled, start, until, write
from tests.torture.processes import hears

LEASE_S = 3.0
"""The shortest that can be set."""
STOPS_WITHIN_S = 15.0
AWAY_S = 2.0
"""How long a server that was killed is away at most."""
ALL_ANSWERED_S = 300.0
"""How long all that is left may take after the last fault: a server that is killed costs Discord its connection, too."""
JANITOR = "janitor"
LONG = 0.5
"""Cuts that last longer than the lease."""
LOST = 1
"""How a process ends that another one has replaced."""
AGAIN_S = 0.25
"""Between two looks at the database."""

LIVES = "SELECT boot FROM process WHERE name LIKE '%:{}'"
CALLS_OF = f"SELECT id, chat_id FROM call WHERE state = 'reserved' AND boot IN ({LIVES})"
LEFT = "SELECT id FROM call WHERE state = 'reserved'"
"""Calls of which nobody says what they cost."""
SAID = "SELECT count(*) FROM turn WHERE state = 'said'"


class Machine(Home):
    """A home whose temporary folder is its own, as on a machine of its own."""

    def environment(self) -> dict[str, str]:
        """As usual, with that folder."""
        (temporary := self.folder / f"tmp-{self.data}").mkdir(exist_ok=True)
        return super().environment() | {"TMPDIR": str(temporary)}


@dataclass(slots=True)
class Member:
    """One process of nuan, started again whenever it ends; `line` is its way to the server."""

    home: Home
    line: Line
    words: tuple[str, ...] = ()
    process: Process | None = None
    ends: Counter[int] = field(default_factory=Counter)
    leaving: bool = False
    _before: tuple[int, int] = (0, 0)

    async def keep(self) -> None:
        """Until it is told to leave."""
        while not self.leaving:
            self._before = said_started(self._log)
            self.process = process = await start(self.home, *self.words)
            code = await process.wait()
            self.ends[code] += 1

    def answers(self) -> bool:
        """Whether the process that runs now has said that it has started."""
        runs = self.process is not None and self.process.returncode is None
        return runs and said_started(self._log) != self._before

    @property
    def _log(self) -> Path:
        return self.home.data_folder / "logs" / "nuan.jsonl"


@dataclass(frozen=True, slots=True)
class BothWires:
    """Half of the people write on Telegram, the other half on Discord."""

    telegram: TelegramGround
    discord: DiscordGround

    def write(self, who: int, text: str) -> None:
        """One of them writes."""
        wire = self.telegram if who < self.telegram.people else self.discord
        wire.write(who % self.telegram.people, text)

    def seen(self) -> list[list[str]]:
        """What they see of the bot's."""
        return [*self.telegram.seen(), *self.discord.seen()]

    def pictures(self) -> dict[str, int]:
        """How many pictures each of them sees."""
        return {**self.telegram.pictures(), **self.discord.pictures()}

    def ready(self) -> bool:
        """Whether nuan listens on both."""
        return self.telegram.ready() and self.discord.ready()

    def violations(self) -> int:
        """Rules that were not kept."""
        return self.telegram.violations() + self.discord.violations()


@dataclass(slots=True)
class Cluster:
    """The server, both wires, the model and the processes.

    Measured in seconds: `answered`, from the end of a fault to the next answer, and `taken`, from its beginning until
    another process has taken over.
    """

    plan: Plan
    server: DatabaseServer
    ground: BothWires
    model: SlowOpenAI
    members: list[Member]
    lives: Lives = field(default_factory=Lives)
    answered: list[float] = field(default_factory=list)
    taken: list[float] = field(default_factory=list)
    watched: list["asyncio.Task[None]"] = field(default_factory=list)

    async def look(self, pid: int = 0) -> Autopsy:
        """What is under way at this moment, with the calls of that process, which is dead."""

        def found() -> Autopsy:
            rows = self.server.some
            calls = rows(CALLS_OF.format(pid)) if pid else []
            numbers = tuple((int(str(call)), int(str(chat))) for call, chat in calls)
            return Autopsy(bool(rows(WAITING)), numbers, (), bool(rows(BETWEEN)))

        return await asyncio.to_thread(found)

    async def taken_off(self, pid: int, since: float) -> None:
        """Wait until no process is told to be that one, and note how long after `since`, loop time, that is."""
        while await asyncio.to_thread(self.server.rows, LIVES.format(pid)):  # noqa: ASYNC110 - the other side is a table
            await asyncio.sleep(AGAIN_S)
        self.taken.append(asyncio.get_running_loop().time() - since)

    async def all_registered(self) -> None:
        """Wait until every process with a role is known; one that was taken off ends by itself and starts again."""
        for member in self.members:
            if member.words:
                await until(lambda each=member: each.answers() and self._knows(each))  # type: ignore[misc]

    def _knows(self, member: Member) -> bool:
        process = member.process
        return process is not None and bool(self.server.rows(LIVES.format(process.pid)))

    async def answered_again(self, since: float) -> None:
        """Wait for the next answer, or until nobody waits for one; note how long after `since`, loop time, that is."""
        rows = self.server.rows
        last = await asyncio.to_thread(rows, SAID)
        while await asyncio.to_thread(lambda: bool(rows(WAITING)) and rows(SAID) == last):  # noqa: ASYNC110 - as above
            await asyncio.sleep(AGAIN_S)
        self.answered.append(asyncio.get_running_loop().time() - since)


Fault = Callable[[Cluster, random.Random], Awaitable[None]]
"""What goes wrong once; it is over when this returns."""


@asynccontextmanager
async def cluster(folder: Path, plan: Plan, roles: Mapping[str, str], **more: str) -> AsyncIterator[Cluster]:
    """All of it, with a process for each name; `roles` are its options."""
    half = plan.people // 2
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(DatabaseServer())
        telegram = await stack.enter_async_context(FakeTelegram(TELEGRAM))
        discord = await stack.enter_async_context(FakeDiscord(DISCORD, limit=0))
        model = await stack.enter_async_context(SlowOpenAI(plan.model_s, plan.seed))
        people = tuple(discord.world.add_user(f"人{who}") for who in range(half))
        guild = discord.world.add_guild("家", *people)
        channels = tuple(discord.world.add_channel(guild, f"c{who}") for who in range(half))
        settings = common(model) | {
            "TELEGRAM__TOKEN": TELEGRAM,
            "TELEGRAM__BASE_URL": telegram.url,
            "TELEGRAM__ALLOW": ",".join(str(FIRST_PERSON + who) for who in range(half)),
            "DISCORD__TOKEN": DISCORD,
            "DISCORD__API_URL": discord.api_url,
            "DISCORD__GATEWAY_URL": discord.gateway_url,
            "DISCORD__ALLOW": str(guild.id),
            "STORE__LEASE_SECONDS": str(LEASE_S),
            **more,
        }
        ground = BothWires(TelegramGround(telegram, half), DiscordGround(discord, channels, people))
        members = []
        for name, words in roles.items():
            line = await stack.enter_async_context(Line(server.socket))
            url = f"postgresql://nuan@127.0.0.1:{line.port}/postgres"
            members.append(Member(Machine(folder, settings | {"STORE__URL": url}, name), line, tuple(words.split())))
        yield Cluster(plan, server, ground, model, members)


async def faults(one: Cluster, folder: Path, fault: Fault) -> Count:
    """People write, one fault follows the other, all is answered in the end, everybody stops; then it is counted."""
    plan, chance = one.plan, random.Random(one.plan.seed)
    allowed = asyncio.Semaphore(0)
    kept = [asyncio.create_task(member.keep()) for member in one.members]
    writing = asyncio.create_task(write(plan, one.ground, chance, allowed))
    try:
        await greeted(one.server.some, plan, one.ground)
        for number in range(plan.kills):
            for _ in range(plan.messages * number // plan.kills, plan.messages * (number + 1) // plan.kills):
                allowed.release()
            await asyncio.sleep(chance.uniform(0, plan.longest_s))
            await fault(one, chance)
        await writing
        await until(partial(settled, one.server.rows, plan), ALL_ANSWERED_S)
        await asyncio.gather(*one.watched)
        await stop(one, kept)
        one.lives.calls |= {int(str(number)) for (number,) in one.server.rows(LEFT)}
    finally:
        for task in (writing, *kept, *one.watched):
            task.cancel()
        await asyncio.wait((writing, *kept, *one.watched))
        for member in one.members:
            if member.process is not None:
                await end(member.process, SIGKILL)
    return count(one.server.rows, folder, plan, one.ground, one.model, one.lives, 0)


async def stop(one: Cluster, kept: list["asyncio.Task[None]"]) -> None:
    """Everybody ends well, in time."""
    await one.all_registered()
    for member in one.members:
        member.leaving = True
    for member in one.members:
        if member.process is not None:
            await until(partial(hears, member.process.pid, SIGTERM))
            with contextlib.suppress(ProcessLookupError):
                member.process.send_signal(SIGTERM)
    async with asyncio.timeout(STOPS_WITHIN_S):
        await asyncio.gather(*kept)
    bad = [member.process.returncode for member in one.members if member.process and member.process.returncode]
    if bad:
        one.lives.wrong.append(f"ended with {bad}")


async def server_ended(one: Cluster, chance: random.Random, how: Signals) -> None:
    """The server is killed, or stopped at once, is away for a moment and comes back."""
    loop, found = asyncio.get_running_loop(), await one.look()
    if how == SIGKILL:
        await asyncio.to_thread(one.server.kill)
    else:
        await one.server.stop_at_once()
    one.lives.add(-SIGKILL, 0, found)
    await asyncio.sleep(chance.uniform(0, AWAY_S))
    await one.server.start()
    await one.answered_again(loop.time())


async def line_cut(one: Cluster, chance: random.Random, role: str = "") -> None:
    """Who answers, or one with that role, is cut off from the server, for shorter than its lease or until another one
    took over, and longer."""
    loop, found = asyncio.get_running_loop(), await one.look()
    able = [each for each in one.members if role in each.words or not role]
    await until(lambda: any(each.answers() for each in able))
    cut = chance.choice([each for each in able if each.answers()])
    others, process, begun = [each for each in one.members if each is not cut], cut.process, loop.time()
    assert process is not None
    cut.line.cut()
    if chance.random() < LONG:
        if role:
            await one.taken_off(process.pid, begun)
        else:
            await until(lambda: any(each.answers() for each in others))
            one.taken.append(loop.time() - begun)
        await asyncio.sleep(chance.uniform(0, LEASE_S))
        cut.line.mend()
        async with asyncio.timeout(PATIENCE_S):
            code = await process.wait()
        one.lives.add(-SIGKILL if code == LOST else code, 0, found)
    else:
        await asyncio.sleep(chance.uniform(0, LEASE_S / 2))
        cut.line.mend()
        await one.answered_again(loop.time())
        one.lives.add(-SIGKILL if process.returncode is None else process.returncode, 0, found)


async def process_killed(one: Cluster, chance: random.Random) -> None:
    """One of those that share the work is killed while it starts or works; nobody waits until another took over."""
    member = chance.choice([each for each in one.members if JANITOR not in each.words])
    await until(lambda: member.process is not None and member.process.returncode is None)
    if chance.random() >= one.plan.early:
        await until(member.answers)
    process, begun = member.process, asyncio.get_running_loop().time()
    assert process is not None
    await end(process, SIGKILL)
    one.lives.add(process.returncode or 0, 0, await one.look(process.pid))
    one.watched.append(asyncio.create_task(one.taken_off(process.pid, begun)))
