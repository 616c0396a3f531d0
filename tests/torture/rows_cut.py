"""Rows of sendings to Discord that are cut off."""

import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING

from tests.torture.row import Bound, Found, Row, Size

if TYPE_CHECKING:
    from tests.fakes.discord_server import FakeDiscord
    from tests.fakes.openai_server import FakeOpenAI


class Talk:
    """A Discord with one channel and one person, and the program that talks there."""

    def __init__(self, folder: Path, server: "FakeDiscord", model: "FakeOpenAI", token: str) -> None:
        from tests.e2e import Home
        from tests.torture.grounds import common

        self.server, self.model = server, model
        self.person = server.world.add_user("阿明")
        guild = server.world.add_guild("家", self.person)
        self.room = server.world.add_channel(guild, "c")
        self.home = Home(
            folder,
            common(model)
            | {
                "DISCORD__TOKEN": token,
                "DISCORD__API_URL": server.api_url,
                "DISCORD__GATEWAY_URL": server.gateway_url,
                "DISCORD__ALLOW": str(guild.id),
            },
        )

    @property
    def sends(self) -> int:
        """How often something was to be sent."""
        return sum(each.method == "POST" and each.path.endswith("/messages") for each in self.server.requests)

    def sending(self, before: int) -> Callable[[], bool]:
        """Whether more than so many sendings have begun."""
        return lambda: self.sends > before

    def answered(self, number: int) -> Callable[[], bool]:
        """Whether an answer to that sentence stands there."""
        return lambda: number in self.told()

    def ask(self, number: int) -> None:
        """The person says a sentence of this number."""
        self.server.people.say(self.room, self.person, f"<@{self.server.world.bot.id}> 第{number}句")

    def told(self) -> Counter[int]:
        """How many messages that stand there answer each sentence first."""
        from tests.torture.kills import WORD

        return Counter(int(WORD.findall(text)[-1]) for text in self.server.texts(self.room) if WORD.search(text))


async def between(folder: Path, size: Size) -> Found:
    """The answer is stored and its sending begins, then the kill comes; Discord has not taken it."""
    from tests.fakes.discord_server import FakeDiscord
    from tests.torture.grounds import SlowOpenAI
    from tests.torture.kills import end, start, until
    from tests.torture.secrets import spilled

    token = f"made-up.discord.{os.getpid()}"
    async with FakeDiscord(token, limit=0) as server, SlowOpenAI(0, size.seed) as model:
        talk = Talk(folder, server, model, token)
        process = await start(talk.home)
        try:
            for number in range(size.units):
                await until(lambda: server.gateway.connected > 0)
                server.misbehave("stall")
                begun = talk.sending(talk.sends)
                talk.ask(number)
                await until(begun)
                await end(process, SIGKILL)
                process = await start(talk.home)
                await until(talk.answered(number))
        finally:
            await end(process, SIGTERM)
        return Found(
            {
                "kills": size.units,
                "said once": sum(times == 1 for times in talk.told().values()),
                "asked more than once": len(model.requests) - size.units,
                "rules broken": len(server.violations),
                "spilled": len(spilled(folder, model.bodies)),
            }
        )


async def cut(folder: Path, size: Size) -> Found:
    """Discord's answers fail in all ways, before and after it has taken the message, while a person goes on."""
    from tests.fakes.discord_server import FakeDiscord
    from tests.torture.autopsy import WAITING
    from tests.torture.grounds import SlowOpenAI
    from tests.torture.kills import end, some, start, until
    from tests.torture.secrets import spilled

    chance = random.Random(size.seed)
    token = f"made-up.discord.{os.getpid()}"
    async with FakeDiscord(token, limit=0) as server, SlowOpenAI(0, size.seed) as model:
        talk = Talk(folder, server, model, token)
        process = await start(talk.home)
        try:
            await until(lambda: server.gateway.connected > 0)
            for number in range(size.units):
                for _ in range(chance.randrange(1, 3)):
                    server.misbehave(chance.choice(("reset", "reset_after", "503", "502")))
                talk.ask(number)
                await until(talk.answered(number))
                server.front.faults.clear()
            await until(lambda: not some(talk.home, WAITING))
        finally:
            await end(process, SIGTERM)
        told = talk.told()
        unsure = len(some(talk.home, "SELECT 1 FROM outbox WHERE state = 'unknown'"))
        return Found(
            {
                "sends": size.units,
                "said once": sum(told[number] == 1 for number in range(size.units)),
                "requests": talk.sends,
                "unknown": unsure,
                "rules broken": len(server.violations),
                "spilled": len(spilled(folder, model.bodies)),
            }
        )


ROWS: tuple[Row, ...] = (
    Row(
        "D7",
        "Killed between the model's answer and its sending",
        "said once after the restart, asked once",
        "kills",
        50,
        0,
        25,
        900.0,
        (Bound("said once", "==", 1, per="kills"), Bound("asked more than once", "==", 0), Bound("spilled", "==", 0)),
        between,
        (
            "test_budget.py::test_what_was_not_sent_is_sent_after_a_crash",
            "contract/test_turns.py::test_an_answer_that_is_stored_twice_is_in_the_log_and_paid_once",
        ),
    ),
    Row(
        "D11",
        "Discord breaks off or answers 502 and 503",
        "200 sends, one copy of each",
        "sends",
        200,
        0,
        50,
        1_200.0,
        (
            Bound("said once", "==", 1, per="sends"),
            Bound("rules broken", "==", 0),
            Bound("unknown", "==", 0),
            Bound("requests", ">=", 2, per="sends"),
            Bound("spilled", "==", 0),
        ),
        cut,
        (
            "test_discord_adapter.py::test_a_row_cut_off_after_arriving_is_sent_later_and_stands_there_once",
            "test_discord_adapter.py::test_a_server_that_fails_is_asked_once_and_the_outbox_decides_about_another_try",
        ),
    ),
)
