"""The main job with the real program: a long talk, a kill and a restart, and a group, as a model server sees them."""

import asyncio
import json
import re
import signal
from pathlib import Path

import pytest

from tests.e2e import KEY, Home, raw_items, running, with_server
from tests.fakes.openai_rules import mapping
from tests.fakes.openai_script import Asked, Call, Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.sizes import PATIENCE_S

pytestmark = pytest.mark.debugged

PRICES = {"MODEL__PRICE_INPUT": "2", "MODEL__PRICE_CACHED": "0.5", "MODEL__PRICE_OUTPUT": "8"}
DIGEST = '{"summary":"聊了旅行、猫和工作","statements":[]}'
SLOWLY = "慢慢讲"

BEFORE = (
    "你好呀",
    "记住我对花生过敏",
    "我昨天去爬山了，腿好酸，但是山顶的风景特别好，值得再去一次",
    "我对什么过敏？",
    "記住我最喜歡的顏色是綠色",
    "今天工作好累，開了五個會，晚上還要改簡報，真想快點放假",
    "忘记我对花生过敏",
    "What should I cook tonight? I only have eggs, rice, and a bit of cabbage in the fridge",
    "remember that my sister lives in Lisbon",
    "I might visit her in spring, what is the weather there like in April, do you know?",
    "我家的猫叫年糕，她今天又把杯子推到地上了",
    "下個月想去京都，你覺得住哪一區比較方便？想走路就能到車站的那種",
    "我还在学吹口琴，吹得断断续续的，邻居大概已经听烦了吧",
)
AFTER = (
    "刚才断了一下，你还在吗",
    "Let us talk about books then. I am in the middle of a long one about the sea",
    "這本書講一個燈塔看守人，他每天寫信給一個從來不回信的人，讀起來有點寂寞",
    "其实我也想写点东西，可是每次打开电脑就开始刷视频",
    "你会鼓励我吗",
    "明天早上七点要起床赶火车，今晚得早点睡",
    "Thanks, that helps a lot",
    "我們剛剛聊了些什麼呀",
    "好啦，换个话题",
)
CACHED = "gen_ai.usage.cache_read.input_tokens"
FRESH = ("又是我", "我最喜歡什麼顏色呢", "Where does my sister live?", "晚安")


class Companion:
    """A model that answers each line by number, looks up what ends with ？, and talks without end when asked to."""

    def __init__(self) -> None:
        self.talking = asyncio.Event()
        self.said: list[str] = []

    def __call__(self, asked: Asked) -> Reply:
        """The next reply."""
        if not asked.tool_names:
            return Reply(DIGEST)
        line = re.findall(r"<p\b[^>]*>(.*?)</p>", asked.last_user)[-1]
        if SLOWLY in line and not self.talking.is_set():
            self.talking.set()
            return Reply("从前有一座灯塔", fault="drip")
        if line.endswith("？") and asked.last_role == "user":
            return Reply("", (Call("memory_recall", json.dumps({"query": line})),))
        found = f"，查到：{asked.messages[-1]['content']}" if asked.last_role == "tool" else ""
        self.said.append(f"第{len(self.said) + 1}句回答{found}")
        return Reply(self.said[-1])


@pytest.mark.parametrize("tty", [True, False], ids=["terminal", "pipe"])
async def test_a_long_talk_survives_a_kill_and_keeps_what_it_was_told(tmp_path: Path, tty: bool) -> None:
    companion = Companion()
    async with FakeOpenAI(companion, key=KEY) as server:
        home = Home(tmp_path, with_server(server, **PRICES, PROMPT__LIGHT="off"))
        printed = await talk(home, companion, tty)
        chats = [body for body in server.bodies if b'"tools":[' in body]
        assert len(server.bodies) == len(chats) + 1, "one digest, for the session that /new closed"
    assert server.violations == []
    opened = openings(chats, companion)
    assert len(opened) == 3, "the first log, the one after 忘记, the one after /new"
    check_facts(chats, opened)
    asked_twice = [number for number, body in enumerate(chats) if body in chats[:number]]
    assert len(asked_twice) == 1
    assert SLOWLY in chats[asked_twice[0]].decode()
    check_log(home, companion, printed)
    assert KEY.encode() not in home.written()
    assert KEY not in printed


async def talk(home: Home, companion: Companion, tty: bool) -> str:
    """The whole conversation; what the person saw."""
    async with running(home, tty=tty) as nuan:
        for line in BEFORE:
            assert await nuan.ask(line)
        await nuan.say(f"{SLOWLY}一个灯塔的故事吧")
        async with asyncio.timeout(PATIENCE_S):
            await companion.talking.wait()
        nuan.send(signal.SIGKILL)
        await nuan.ended()
        first = nuan.output
    async with running(home, tty=tty) as nuan:
        assert await nuan.reply() == companion.said[-1], "the story is told after the restart, unasked"
        for line in (*AFTER, "/new", *FRESH):
            assert await nuan.ask(line)
        assert nuan.replies[-1] == companion.said[-1]
        await nuan.end_input()
        assert await nuan.ended() == 0
        assert nuan.errors == ""
        return first + nuan.output


def openings(chats: list[bytes], companion: Companion) -> list[int]:
    """Which requests began a log; every other one is the one before byte for byte, the reply, and what is new."""
    opened = [0]
    for number in range(1, len(chats)):
        before, now = raw_items(chats[number - 1]), raw_items(chats[number])
        if now[: len(before)] == before:
            fresh = [mapping(json.loads(item)) for item in now[len(before) :]]
            assert [item["role"] for item in fresh] in ([], ["assistant", "user"], ["assistant", "tool"])
            assert all(item["content"] in ("", *companion.said) for item in fresh if item["role"] == "assistant")
        else:
            messages = [mapping(json.loads(item)) for item in now if b'"role"' in item]
            assert [message["role"] for message in messages] == ["system", "user"]
            opened.append(number)
    return opened


def check_facts(chats: list[bytes], opened: list[int]) -> None:
    """What was to be kept opens every later log; what was forgotten is nowhere."""
    first, forgot, fresh = (opening(chats[number]) for number in opened)
    assert raw_items(chats[0])[:3] == raw_items(chats[-1])[:3], "tools and system message never change"
    assert "綠色" not in first
    assert "綠色" in forgot
    for fact in ("綠色", "Lisbon"):
        assert fact in fresh
    assert any("花生" in body.decode() for body in chats[: opened[1]])
    assert [body.decode() for body in chats[opened[1] :] if "花生" in body.decode()] == []


def opening(body: bytes) -> str:
    """The block that a request's log opens with."""
    first = next(message for message in map(mapping, json.loads(body)["messages"]) if message["role"] == "user")
    return str(first["content"]).partition("<ctx")[0]


def check_log(home: Home, companion: Companion, printed: str) -> None:
    """One line for each turn with ids and numbers, and nobody's words."""
    turns = home.log("turn")
    assert len(turns) == len(companion.said) >= 20
    numbers = {
        "gen_ai.usage.input_tokens",
        CACHED,
        "gen_ai.usage.output_tokens",
        "cost",
        "ms",
        "session",
        "epoch",
        "turn",
    }
    for line in turns:
        assert {"chat", "person", "mode", "why", *numbers} <= line.keys()
        assert line["why"] == "dm"
        assert (line["gen_ai.operation.name"], line["gen_ai.request.model"]) == ("chat", "fake")
        assert line["level"] == "info"
    assert [line["turn"] for line in turns if line["session"] == 1] == list(range(1, len(turns) - len(FRESH) + 1))
    assert {line["session"] for line in turns} == {1, 2}
    assert any(isinstance(cached := line[CACHED], int) and cached > 1000 for line in turns)
    assert all(isinstance(line["cost"], float) and line["cost"] > 0 for line in turns)
    log = (home.data_folder / "logs" / "nuan.jsonl").read_text("utf-8")
    assert not re.search("[一-鿿]", log)
    assert [line for line in (*BEFORE, *AFTER, *FRESH) if line in log] == []


async def test_a_group_is_answered_when_called_and_once_more_after_silence(tmp_path: Path) -> None:
    companion = Companion()
    async with FakeOpenAI(companion, key=KEY) as server:
        home = Home(tmp_path, with_server(server, SPEAK__FOLLOWUP_SECONDS="1"))
        async with running(home, "chat", "--group", "家") as nuan:
            await nuan.say("爸爸: 今天路上好堵")
            assert await nuan.ask("妈妈: 小暖，晚上吃什么好呢") == companion.said[0]
            await nuan.say("妈妈: 家里还有一条鱼")
            await nuan.say("爸爸: 我随便")
            await nuan.say("妈妈: 和一把青菜")
            assert await nuan.reply() == companion.said[1], "the follow-up comes by itself"
            await nuan.say("爸爸: 那我去买葱")
            assert await nuan.ask("妹妹: what do you think, nuan?")
            await nuan.say("妹妹: I want dumplings")
            await nuan.end_input()
            assert await nuan.ended() == 0
            assert nuan.replies == companion.said, "the last follow-up still comes after the end of the input"
        bodies = [body.decode() for body in server.bodies if b'"tools":[' in body]
        assert server.violations == []
    assert openings([body.encode() for body in bodies], companion) == [0]
    assert [line["why"] for line in home.log("turn")] == ["name", "window", "name", "window"]
    assert "今天路上好堵" in bodies[0]
    for line in ("家里还有一条鱼", "我随便", "和一把青菜"):
        assert line in bodies[1]
        assert line not in bodies[0]
