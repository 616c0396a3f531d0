"""`nuan run` as a process, against servers that speak Telegram, Discord and the model's protocol on loopback."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest

from bot.core.people import AgentRequest, Principal
from bot.ops.control import request_change
from tests.e2e import KEY, run, running, with_server
from tests.fakes.openai_script import Asked, Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.telegram_faults import UNLIMITED, Fault
from tests.fakes.telegram_server import FakeTelegram
from tests.fakes.telegram_shapes import Person
from tests.platforms import (
    DISCORD,
    STOPS_WITHIN_S,
    TELEGRAM,
    WORD,
    Platforms,
    PlatformsHome,
    code_of,
    echo,
    keeps_secrets,
    only_line,
    stop,
)
from tests.sizes import PATIENCE_S

pytestmark = pytest.mark.debugged

ANN = Person(501, "安", language="zh-hans")


async def test_one_process_serves_both_platforms_lets_people_in_and_keeps_a_second_nuan_out(tmp_path: Path) -> None:
    async with Platforms() as platforms:
        ben = platforms.discord.world.add_user("本")
        home = platforms.home(tmp_path, DISCORD__ALLOW=str(ben.id), LOG__LEVEL="debug", LOG__TEXT="true")
        platforms.telegram.faults.add("getUpdates", Fault("html502"), after=1)
        platforms.telegram.faults.add("sendChatAction", Fault("drop_before"), times=3)
        made = await run(home, "init", "--yes", "--no-try", "--language", "zh-Hans")
        assert made.code == 0, made.err
        async with running(home, "run") as nuan:
            await a_stranger_is_let_in_by_the_owner(platforms, code_of(made.text))
            both = await asyncio.gather(platforms.tell(ANN, "第2句"), platforms.tell_discord(ben, "第3句"))
            assert list(both) == ["收到第2句", "收到第3句"]
            await asyncio.gather(a_second_is_refused(home), a_link_joins_two_accounts(platforms))
            await an_agent_has_something_kept(home)
            await stop(nuan)
        assert set(home.peek.outbox.values("state")) == {"sent"}
        assert platforms.model.violations == []
        assert (platforms.telegram.violations, platforms.discord.violations) == ([], [])
        assert platforms.model.bodies
        keeps_secrets(home, nuan.output, nuan.errors, made.text, made.err, *map(bytes.decode, platforms.model.bodies))


async def a_stranger_is_let_in_by_the_owner(platforms: Platforms, owner_code: str) -> None:
    """Dana writes first, then Ann becomes the owner and approves."""
    pairing = code_of(await platforms.tell_discord(platforms.dana, "你好"))
    assert await platforms.tell(ANN, f"/start {owner_code}") == "认出来啦，你就是我的主人"
    await platforms.tell_discord(platforms.dana, f".ai approve {pairing}")
    assert platforms.model.requests == [], "nobody approves themselves, and no stranger costs a call"
    assert (await platforms.tell(ANN, f".ai approve {pairing}")).startswith("好，丹 (discord:")
    place = platforms.discord.world.open_dm(platforms.dana)
    await platforms.discord.until(lambda: "主人同意啦，以后直接跟我说话就好" in platforms.discord.texts(place))
    assert await platforms.tell_discord(platforms.dana, "第1句") == "收到第1句"


async def a_link_joins_two_accounts(platforms: Platforms) -> None:
    """What Ann said on Telegram is known to Eve's account on Discord, which is hers, and not to Dana."""
    assert (await platforms.tell(ANN, "记住我怕狗")).startswith("记住啦")
    link = code_of(await platforms.tell(ANN, ".ai link"))
    assert "同一个人" in await platforms.tell_discord(platforms.eve, f".ai link {link}")
    await platforms.telegram.until(lambda: "用了你的码" in platforms.telegram.sent(ANN.id)[-1].text)
    await platforms.tell_discord(platforms.eve, f".ai link yes {link}")
    assert (await platforms.tell(ANN, f".ai link yes {link}")).startswith("连上啦")
    assert await platforms.tell_discord(platforms.eve, "第4句，我怕什么？") == "收到第4句"
    assert "怕狗" in platforms.model.bodies[-1].decode()
    assert await platforms.tell_discord(platforms.dana, "第5句，她怕什么？") == "收到第5句"
    assert "怕狗" not in platforms.model.bodies[-1].decode()


async def an_agent_has_something_kept(home: PlatformsHome) -> None:
    """What `nuan mcp` asks of the nuan that answers is in the memory at once."""
    person, chat = map(int, map(str, home.peek.members("person_id", "chat_id")[0]))
    told = await request_change(
        home.data_folder, AgentRequest("remember", Principal(person, chat), "probe", "我喜欢下雨天")
    )
    assert told is not None
    assert not told.wrong, told.text
    assert home.peek.memories("owner_id", "agent", source="mcp") == [(person, "probe")]


async def a_second_is_refused(home: PlatformsHome) -> None:
    """On the same token with other data, and on the same data with other tokens; each says what to do."""
    elsewhere = PlatformsHome(home.folder, home.settings, "other")
    other_bots = {"TELEGRAM__TOKEN": "7700000043:other", "DISCORD__TOKEN": "made-up.other"}
    for second, what in (
        (elsewhere, "another nuan on this machine uses the same telegram.token: stop it first"),
        (
            PlatformsHome(home.folder, {**home.settings, **other_bots}),
            "another nuan is answering from this data folder: stop it, or give --data DIR",
        ),
    ):
        ran = await run(second, "run")
        assert only_line(ran, 1) == f"nuan: {what}"
    assert not elsewhere.data_folder.exists()


async def test_a_wrong_telegram_token_is_one_clear_line_and_discord_goes_on(tmp_path: Path) -> None:
    async with Platforms() as platforms:
        wrong = f"{TELEGRAM}-wrong"
        home = platforms.home(tmp_path, TELEGRAM__TOKEN=wrong, DISCORD__ALLOW=str(platforms.dana.id))
        async with running(home, "run") as nuan:
            assert await platforms.tell_discord(platforms.dana, "第1句") == "收到第1句"
            await stop(nuan)
        (line,) = home.log("platform_failed")
        assert (line["platform"], line["level"], line["final"]) == ("telegram", "error", True)
        assert "does not accept telegram.token" in str(line["error"])
        assert [line["event"] for line in home.log() if line["level"] == "error"] == ["platform_failed"]
        assert nuan.errors.count("platform_failed") == 1
        assert "Traceback" not in nuan.errors
        assert wrong not in nuan.errors
        keeps_secrets(home, nuan.output, nuan.errors)


async def test_a_second_poller_and_a_refused_token_end_it_with_one_line_each_and_one_at_the_end(tmp_path: Path) -> None:
    async with Platforms() as platforms:
        home = platforms.home(tmp_path, DISCORD__TOKEN=f"{DISCORD}-wrong")
        async with running(home, "run") as nuan:
            await platforms.telegram.until(lambda: bool(platforms.telegram.calls("getUpdates")))
            async with (
                aiohttp.ClientSession() as rival,
                rival.post(f"{platforms.telegram.base_url}{TELEGRAM}/getUpdates") as answer,
            ):
                assert answer.ok
            assert await nuan.ended() == 1
        failed = {str(line["platform"]): str(line["error"]) for line in home.log("platform_failed")}
        assert failed["telegram"].startswith("a second program polls Telegram with the same token: stop one of the two")
        assert failed["discord"].startswith("discord refused the token: make a new one")
        assert nuan.errors.count("platform_failed") == 2
        assert nuan.errors.splitlines()[-1] == "nuan: no platform is left; the log says why"
        assert "Traceback" not in nuan.errors
        keeps_secrets(home, nuan.output, nuan.errors)


async def test_without_a_token_it_names_the_keys_that_are_missing(tmp_path: Path) -> None:
    line = only_line(await run(PlatformsHome(tmp_path), "run"), 2)
    assert (
        line == "nuan: telegram.token, discord.token: none is set; `nuan init` asks for them, `nuan chat` talks without"
    )


class Night:
    """Some lives of one nuan on Telegram, and what it was told: sentence n by person n."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.thinking = asyncio.Event()
        self.server = FakeTelegram(TELEGRAM, limits=UNLIMITED)
        self.model = FakeOpenAI(self.think, key=KEY)
        self._folder = folder
        self._said = 0
        self._pipe = -1

    def think(self, asked: Asked) -> Reply:
        """Echo, but never answer the first time when told to think."""
        if "想很久" in asked.last_user and not self.thinking.is_set():
            self.thinking.set()
            return Reply(fault="hang")
        return echo(asked)

    async def pass_by(self, *moments: "Moment") -> None:
        """Live up to each of these moments, get SIGTERM there, then live on until everybody is answered, once."""
        async with self.server, self.model:
            home = PlatformsHome(
                self._folder,
                with_server(self.model)
                | {
                    "BUDGET__DAY_TOKENS": "none",
                    "TELEGRAM__TOKEN": TELEGRAM,
                    "TELEGRAM__BASE_URL": self.server.url,
                    "TELEGRAM__ALLOW": ",".join(str(600 + number) for number in range(20)),
                },
            )
            for moment in moments:
                async with running(home, "run") as nuan:
                    await moment(self)
                    nuan.send(signal.SIGTERM)
                    self.server.faults.open_gate()
                    assert await nuan.ended(STOPS_WITHIN_S) == 0, (moment, nuan.errors)
            async with running(home, "run") as nuan:
                polls = len(self.server.calls("getUpdates"))
                await self.server.until(lambda: self.settled(polls))
                await stop(nuan)
        if self._pipe >= 0:
            os.close(self._pipe)
        assert self.answers() == dict.fromkeys(range(self._said), 1)
        assert set(home.peek.outbox("state")) == {("sent",)}
        assert home.peek.events.count(state="queued") == 0
        assert set(home.peek.sessions("state")) == {("open",)}, "a stop closes no conversation"
        assert [line for line in home.log() if line["level"] == "error"] == []
        assert "Traceback" not in nuan.errors
        keeps_secrets(home, nuan.output, nuan.errors)

    def say(self, text: str = "") -> None:
        """The next person writes."""
        who = 600 + self._said
        self.server.people.say(who, Person(who, f"人{who}", language="zh-hans"), f"第{self._said}句{text}")
        self._said += 1

    def answers(self) -> Counter[int]:
        """How often each sentence was answered."""
        texts = [shown.text for number in range(self._said) for shown in self.server.sent(600 + number)]
        return Counter(int(number) for text in texts for number in WORD.findall(text))

    def settled(self, polls: int) -> bool:
        """Whether everybody is answered, and this life has polled after that many of earlier ones."""
        return len(self.answers()) == self._said and len(self.server.calls("getUpdates")) > polls

    async def reading(self) -> None:
        """It reads its configuration, a pipe into which nobody writes."""
        self.say()
        file = self._folder / "nuan.toml"
        os.mkfifo(file)
        opening = asyncio.create_task(asyncio.to_thread(os.open, file, os.O_WRONLY))
        come, _ = await asyncio.wait((opening,), timeout=PATIENCE_S)
        reader = os.open(file, os.O_RDONLY | os.O_NONBLOCK)  # also ends the opening when nobody comes
        self._pipe = await opening
        os.close(reader)
        file.unlink()
        assert come

    async def connecting(self) -> None:
        """It waits for the very first answer of the server."""
        self.say()
        self.server.faults.add("getMe", Fault("gate"))
        await self.server.until(lambda: bool(self.server.calls("getMe")))

    async def asking(self) -> None:
        """The model thinks, and will not answer in time."""
        self.say("想很久")
        async with asyncio.timeout(PATIENCE_S):
            await self.thinking.wait()

    async def replying(self) -> None:
        """A reply is on its way to the server."""
        self.say()
        self.server.faults.add("sendMessage", Fault("gate"))
        await self.server.until(lambda: bool(self.server.calls("sendMessage")))

    async def in_a_crowd(self) -> None:
        """Many have just written, one of them has an answer."""
        first = len(self.answers())
        for _ in range(8):
            self.say()
        await self.server.until(lambda: len(self.answers()) > first)


Moment = Callable[[Night], Awaitable[None]]


async def test_sigterm_at_five_moments_ends_well_and_everybody_is_answered_once(tmp_path: Path) -> None:
    await asyncio.gather(
        Night(tmp_path / "one").pass_by(Night.reading, Night.asking),
        Night(tmp_path / "two").pass_by(Night.connecting, Night.replying, Night.in_a_crowd),
    )
