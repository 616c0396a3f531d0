"""A context without holes: whatever people of a group write and however slow the model is, a request tells every line
once, in order, before or with the answer that follows it, or counts it."""

import asyncio
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.core.models import Completion, Message, ModelRequest
from bot.core.speaking import BusyPolicy
from tests.conftest import NewWorld
from tests.sizes import sized
from tests.slow import SlowModel, SlowWorld
from tests.world import World

GROUP = "闲聊"
PEOPLE = ("甲", "乙", "丙", "丁")
SMALL = ("你好", "早上好呀", "么么哒", "辛苦了！", "吃了吗", "抱抱", "谢谢你的帮助", "见到你真高兴")
"""Small talk, by which a log begins light; nothing but these words may stand in such a line."""
MARK = re.compile(r"〔(\w+)〕")
ELEMENT = re.compile(r"<(?P<tag>[pbest])(?P<rest>[ >/].*?)(?=\n<|\Z)", re.DOTALL)
COUNT = re.compile(r'<g n="(\d+)"')
CTX = re.compile(r"<ctx.*?</ctx>", re.DOTALL)
TOLD = """SELECT id, text, state = 'queued' AND turn_id IS NOT NULL, state = 'queued' AND turn_id IS NULL FROM event
    WHERE hidden IN ('', 'forgotten') ORDER BY id"""

Kind = Literal["line", "call", "small", "keep", "forget", "long"]


@dataclass(frozen=True)
class Step:
    """After so many ms this person writes a line of that kind."""

    after_ms: int
    who: int
    kind: Kind


@dataclass(frozen=True)
class Known:
    """An event as the file held it when a request was made, that it answers, or that waits for another answer."""

    id: int
    mark: str
    answered: bool
    waits: bool


@dataclass(frozen=True)
class Look:
    """A request and what had happened by then."""

    prompt: tuple[Message, ...]
    events: tuple[Known, ...]


class Watching(SlowModel):
    """Keeps with each request what had happened by then."""

    def __init__(self, world: SlowWorld, takes_ms: Callable[[], int]) -> None:
        super().__init__(world, takes_ms)
        self.looks: list[Look] = []
        self.script = lambda request: f"答〔R{len(self.requests)}〕"

    async def complete(self, request: ModelRequest) -> Completion:
        """Look, then think."""
        if any("<ctx" in message.content for message in request.prompt.messages):
            events = tuple(
                Known(int(str(number)), mark_of(str(text)), bool(answered), bool(waits))
                for number, text, answered, waits in self._world.rows(TOLD)
            )
            self.looks.append(Look(request.prompt.messages, events))
        return await super().complete(request)


def mark_of(text: str) -> str:
    """What a line is known by."""
    found = None if "忘记" in text else MARK.search(text)  # it names another line
    return found[1] if found else next((small for small in SMALL if small in text), "")


KINDS: tuple[Kind, ...] = ("line", "line", "line", "call", "call", "small", "keep", "forget", "long")
STEPS = st.builds(
    Step,
    st.one_of(st.sampled_from((0, 1, 100, 600, 2_000, 5_000, 40_000)), st.integers(0, 7_000)),
    st.integers(0, 3),
    st.sampled_from(KINDS),
)


@given(
    busy=st.sampled_from(get_args(BusyPolicy)),
    debounce=st.sampled_from((0.0, 0.6)),
    tight=st.booleans(),
    seed=st.integers(0, 99),
    steps=st.lists(STEPS, min_size=4, max_size=24),
)
@settings(max_examples=sized(60))
def test_every_line_is_told_once_in_order_and_in_time_or_counted(
    busy: BusyPolicy, debounce: float, tight: bool, seed: int, steps: list[Step]
) -> None:
    asyncio.run(_play(busy, debounce, tight, seed, steps))


async def _play(busy: BusyPolicy, debounce: float, tight: bool, seed: int, steps: list[Step]) -> None:
    folder, chance = Path(tempfile.mkdtemp(prefix="nuan-holes-")), Random(seed)
    tables = {
        "bot": {"timezone": "Asia/Shanghai"},
        "speak": {"busy": busy, "debounce_seconds": debounce},
        "prompt": {"light": "auto", "warm_seconds": 60},
        "context": {"delta_tokens": 60, "carry_tokens": 150, "bus_max": 12} if tight else {},
    }
    world = SlowWorld(folder, Settings.model_validate(tables))
    watching = Watching(world, lambda: chance.choice((1, 300, 2_000, 6_000, 20_000)))
    world.slow = world.model = watching
    await world.open()
    try:
        small, kept = iter(SMALL), list[int]()
        for number, step in enumerate(steps):
            await world.wait(step.after_ms / 1000)
            await world.write(_text(number, step, small, kept), PEOPLE[step.who], GROUP)
        await world.wait(300)
        await world.write("小暖，帮我总结一下〔end〕", "甲", GROUP)
        await world.wait(60)
        for look in watching.looks:
            check(look, busy)
        assert "end" in {known.mark for known in watching.looks[-1].events}
    finally:
        await world.close()
        shutil.rmtree(folder)


def _text(number: int, step: Step, small: object, kept: list[int]) -> str:
    mark = f"〔{number}〕"
    match step.kind:
        case "small":
            words = next(small, "")  # type: ignore[call-overload]
            return f"小暖，{words}" if words else f"小暖，说点什么{mark}"
        case "call":
            return f"小暖，你怎么看{mark}"
        case "keep":
            kept.append(number)
            return f"小暖，记住我的柜子号码是{mark}"
        case "forget" if kept:
            return f"小暖，忘记我的柜子号码是〔{kept.pop()}〕"
        case "long":
            return f"我说来话长{mark}" + "从前有座山" * 12
        case _:
            return f"随便说说{mark}"


def check(look: Look, busy: BusyPolicy) -> None:
    """One request tells everything that had happened, once and in order, or counts it."""
    ids = {known.mark: known.id for known in reversed(look.events) if known.mark}
    shown: list[str] = []
    elements = counted = 0
    replies = {mark_of(message.content) for message in look.prompt if message.role == "assistant"}
    for message in look.prompt[1:]:
        if message.role == "assistant":
            continue
        for ctx in CTX.findall(message.content):
            body = ctx.partition("\n")[2]
            body = re.sub(r"<!-- .*? -->\n", "", body).removesuffix("</ctx>")
            counted += sum(int(n) for n in COUNT.findall(body))
            for element in ELEMENT.finditer(body):
                if 'again="1"' in element["rest"]:
                    continue  # it was shown before, and its own turn has come
                elements += 1
                shown.append(mark_of(element["rest"]))
    told = [mark for mark in shown if mark]
    assert max(Counter(told).values(), default=1) == 1, ("told twice", told, look.prompt[1:])
    assert told == sorted(told, key=lambda mark: ids.get(mark, 0)), ("not in order", told, look.prompt[1:])
    happened = [known for known in look.events if known.mark not in replies]
    if busy == "queue":  # one after the other: nothing has to be told from the next on
        answered = max(known.id for known in look.events if known.answered)
        until = min((known.id for known in look.events if known.waits and known.id > answered), default=answered + 999)
        least = sum(known.id < until for known in happened)
        assert least <= elements + counted <= len(happened), ("a hole", look.events, look.prompt[1:])
        return
    assert elements + counted == len(happened), (
        "a hole",
        elements,
        len(replies),
        counted,
        len(happened),
        [k.mark for k in happened],
        look.prompt[1:],
    )


async def test_what_a_group_planned_before_a_greeting_is_in_the_full_request_after_it(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    for number, who in enumerate(("甲", "乙", "丙", "甲")):
        await world.say(f"周六爬山，我带第{number}样东西", who, GROUP)
    await world.say("小暖你好", "甲", GROUP)
    for number in range(12):
        await world.say(f"闲话{number}", "乙", GROUP)
    await world.say("小暖，帮我总结一下周六的事", "甲", GROUP)
    assert world.peek.epochs("mode") == [("light",), ("full",)]
    assert all(f"我带第{number}样东西" in world.last_user for number in range(4))


async def test_a_talk_without_a_digest_yet_is_told_also_after_a_greeting(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    world.model.script = lambda request: (
        "好的" if "<p>" in request.prompt.messages[-1].content else ModelError("timeout", "down")
    )
    await world.say("我在选相机，预算五千，主要拍鸟")
    await world.wait(1_860)
    await world.say("你好")
    await world.say("刚才说的相机，你觉得选哪种好？")
    assert [row[0] for row in world.peek.epochs("mode")] == ["full", "light", "full"]
    assert "预算五千" in world.last_user.partition("<ctx")[2]


async def test_small_talk_counts_what_it_is_not_told(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    for number in range(30):
        await world.say(f"闲话{number}", "乙", GROUP)
    await world.say("小暖你好", "甲", GROUP)
    assert world.model.requests[-1].prompt.tools == ()
    assert '<g n="26"' in world.last_user
    assert world.last_user.count("<p ") == 5


async def test_a_line_that_waits_for_its_own_answer_is_known_to_the_answer_before_it(world: World) -> None:
    for who in ("甲", "乙"):
        await world.say("小暖，在吗", who, GROUP)
    await world.say("今晚吃火锅吧", "甲", GROUP)
    await world.wait(2)
    await world.say("我不吃辣", "乙", GROUP)
    await world.wait(3)
    assert '<p n="甲">今晚吃火锅吧</p>\n<p n="乙">我不吃辣</p>' in world.last_user
    assert 'to="甲" follow="甲"' in world.last_user, "who is answered now, and that nobody called"
    await world.wait(2)
    assert '<p again="1" n="乙">我不吃辣</p>' in world.last_user
    assert len(world.replies) == 4


async def test_who_called_is_told_where_several_talk(world: World) -> None:
    await world.say("我先说两句", "乙", GROUP)
    await world.say("小暖，你说呢", "甲", GROUP)
    await world.say("小暖，再说一句", "甲", GROUP)
    assert 'to="甲">' in world.prompts[0][-1].content
    assert " to=" not in world.prompts[1][-1].content, "only one talks"


async def test_what_was_forgotten_leaves_a_line_and_its_receipts_keep_theirs(world: World) -> None:
    world.model.script = lambda request: "你对花生过敏，我知道" if "过敏" in world.last_user else "好的"
    await world.say("记住我对花生过敏")
    await world.say("我对什么过敏？")
    await world.say("忘记我对花生过敏")
    await world.say("那明天吃什么好？")
    body = world.last_user.partition("<ctx")[2].partition("\n")[2]
    assert "花生" not in world.last_user
    expected = (
        "<p>（已忘记）</p>",
        '<b f="memory">记住啦',
        "<p>我对什么过敏？</p>",
        "<b>（已忘记）</b>",
        "<p>（已忘记）</p>",
        '<b f="memory">好，忘掉了',
        "<p>那明天吃什么好？</p>",
        "</ctx>",
    )
    assert all(line.startswith(begin) for line, begin in zip(body.split("\n"), expected, strict=True)), body


async def test_a_receipt_whose_wish_does_not_fit_is_counted_with_it(new_world: NewWorld) -> None:
    world = await new_world(context={"recent": 3})
    await world.say("小暖，记住我对花生过敏", "乙", GROUP)
    for number in range(2):
        await world.say(f"闲话{number}", "乙", GROUP)
    await world.say("小暖，你怎么看", "甲", GROUP)
    assert 'f="memory"' not in world.last_user
    assert '<g n="2"' in world.last_user


async def test_a_reminder_set_beside_a_question_is_known_to_its_answer(world: World) -> None:
    await world.say("明天早上8点提醒我开会。另外帮我想个午饭")
    body = world.last_user.partition("<ctx")[2].split("\n")[1:]
    assert body[0] == "<p>明天早上8点提醒我开会。另外帮我想个午饭</p>"
    assert body[1].startswith('<b f="reminder">')
    await world.say("好")
    assert world.peek.events.count(label="reminder") == 1


async def test_nothing_that_was_said_after_a_new_talk_was_asked_for_is_told_in_the_old_one(tmp_path: Path) -> None:
    world = SlowWorld(tmp_path)
    await world.open()
    await world.write("小暖，讲个故事", "甲", GROUP)
    await world.write("小暖，再讲一个", "乙", GROUP)
    await world.write("/new", "小王", GROUP)
    await world.write("新的话题从这里开始", "丙", GROUP)
    await world.write("小暖，你觉得呢", "丙", GROUP)
    await world.wait(30)
    told = [prompt[-1].content for prompt in world.turns]
    assert ["新的话题" in text for text in told] == [False, False, True]
    await world.close()
