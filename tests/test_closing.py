"""When a session closes and what closing leaves: one digest each, whatever happens in between."""

import json

import pytest

from bot.core.errors import ModelError
from bot.core.files import PromptFiles
from bot.core.models import ModelRequest
from bot.model.offline import OfflineModel
from bot.text.catalogue import catalogue
from tests.conftest import NewWorld
from tests.fakes.model import Answer, says
from tests.peek import SOME
from tests.prefixes import logs_of
from tests.world import World

GROUP = "闲聊"
HOUR = 3600
TALK = (
    "我下周三要去成都看大熊猫，机票已经买好了",
    "最近工作压力好大，晚上总是睡不着觉",
    "我妈妈昨天做了红烧肉，真的特别香",
    "我想学吉他，你觉得从哪里开始比较好",
    "周末打算和朋友去爬山，希望不要下雨",
)
DIGEST = {
    "summary": "小王下周三去成都看熊猫，压力大",
    "statements": [{"kind": "event", "text": "下周三要去成都看大熊猫", "from": [1]}],
}


def is_digest(request: ModelRequest) -> bool:
    """Whether it asks for a digest, a broken one once more; the second look at one is none."""
    return request.shape is not None and request.shape.name == "digest"


def digesting(world: World, answer: Answer) -> None:
    """The model replies to people, and answers every digest with `answer`."""
    world.model.digests = True
    world.model.script = lambda request: answer if is_digest(request) else "好的"


async def talk(world: World, who: str = "小王", group: str = "") -> None:
    for text in TALK:
        await world.say(("小暖，" if group else "") + text, who, group)


def sessions(world: World) -> list[tuple[object, ...]]:
    return world.peek.sessions("state", "close_reason")


def digests(world: World) -> list[tuple[object, ...]]:
    return world.peek.digests("session_id", "made_by", session_id=SOME)


def raw_lines(world: World) -> str:
    """The <ctx> of the last request; what a digest made of the lines stands before it."""
    return world.last_user[world.last_user.index("<ctx") :]


@pytest.mark.parametrize(("by_model", "told"), [(True, 1), (False, 5)])
async def test_of_a_talk_that_a_models_digest_tells_only_the_last_lines_stand_in_the_next_log(
    world: World, by_model: bool, told: int
) -> None:
    if by_model:
        digesting(world, json.dumps({"summary": "小王说了许多周末的打算。"}, ensure_ascii=False))
    for number in range(6):
        await world.say(f"周末的打算{number}：去爬山看日出，再去吃面")
    await world.wait(1800)
    await world.say("我刚从超市回来，买了不少菜")
    assert raw_lines(world).count("周末的打算") == told


async def test_half_an_hour_of_silence_closes_a_session(world: World) -> None:
    await world.say("你好")
    await world.wait(1799)
    assert sessions(world) == [("open", "")]
    await world.wait(1)
    assert sessions(world) == [("closed", "idle")]
    assert digests(world) == [(1, "rule")]


async def test_each_turn_begins_the_half_hour_anew(world: World) -> None:
    for _ in range(4):
        await world.say("你好")
        await world.wait(1700)
    assert sessions(world) == [("open", "")]
    await world.wait(100)
    assert sessions(world) == [("closed", "idle")]


async def test_new_closes_and_the_next_message_opens_another(world: World) -> None:
    await world.say("你好")
    await world.say("/new")
    await world.say("早")
    assert sessions(world) == [("closed", "new"), ("open", "")]
    assert len(world.turns[-1]) == 2


async def test_a_log_that_reached_its_budget_closes_and_the_raw_tail_opens_the_next(new_world: NewWorld) -> None:
    world = await new_world(session={"log_tokens": 500})
    digesting(world, ModelError("unreachable", "down"))
    for number in range(12):
        await world.say(f"第{number:02}件事，说来话长" + "哗啦" * 20)
    assert sessions(world)[0] == ("closing", "budget")
    assert len(sessions(world)) > 1
    starts = [log[0][1].content for log in logs_of(world.turns)[1:]]
    assert starts
    for start in starts:
        number = int(start.rsplit("第", 1)[1][:2])
        assert f"第{number - 1:02}件事" in start


async def test_four_in_the_morning_closes_every_session(new_world: NewWorld) -> None:
    world = await new_world(session={"idle_seconds": 999_999})
    await world.say("你好")
    await world.say("小暖，你好", "阿明", GROUP)
    await world.wait(19 * HOUR - 1)
    assert sessions(world) == [("open", ""), ("open", "")]
    await world.wait(1)
    assert sessions(world) == [("closed", "day"), ("closed", "day")]


async def test_the_next_session_never_waits_for_a_digest_and_shows_the_raw_tail(world: World) -> None:
    world.model.digests = True
    await talk(world)
    world.shut()
    await world.app.ingest.accept(world.message("/new"))
    await world.held()
    assert sessions(world) == [("closing", "new")]
    gate = world.model.gate
    world.model.gate = None
    await world.app.ingest.accept(world.message("刚才说到哪了"))
    await world.held()
    assert world.replies[-1] == "好的"
    assert sessions(world) == [("closing", "new"), ("open", "")]
    assert "红烧肉" in world.last_user
    assert gate is not None
    gate.set()
    await world.settled()
    assert sessions(world) == [("closed", "new"), ("open", "")]
    assert len(digests(world)) == 1


async def test_a_model_digest_is_told_back_in_the_next_opening(world: World) -> None:
    digesting(world, json.dumps(DIGEST, ensure_ascii=False))
    await talk(world)
    await world.say("/new")
    assert digests(world) == [(1, "model")]
    await world.wait(15 * HOUR)
    await world.wait(9 * HOUR)
    await world.say("早上好")
    assert "昨天：小王下周三去成都看熊猫，压力大" in world.last_user
    assert "6月17日要去成都看大熊猫" in world.last_user


@pytest.mark.parametrize(
    "answer",
    [
        "我不会",
        "{}",
        '{"summary": 5, "statements": []}',
        '{"summary": "好", "memories": [{"kind": "x"}]}',
        "```json\n[]",
    ],
)
async def test_a_digest_that_is_not_what_was_asked_for_is_made_by_rule(world: World, answer: str) -> None:
    digesting(world, answer)
    await talk(world)
    await world.say("/new")
    assert sum(map(is_digest, world.model.requests)) == 2, "the first, and one to mend it"
    (line,) = world.log.named("digest_broken")
    assert line["tried"] == 2
    assert digests(world) == [(1, "rule")]
    await world.say("早")
    assert "## 对话记忆" in world.last_user


async def test_a_broken_digest_is_not_mended_when_nothing_may_be_spent_any_more(new_world: NewWorld) -> None:
    world = await new_world(budget={"day_tokens": 50_000})
    world.model.digests = True
    world.model.script = lambda request: says("我不会", prompt_tokens=60_000) if is_digest(request) else "好的"
    await talk(world)
    await world.say("/new")
    assert sum(map(is_digest, world.model.requests)) == 1
    assert digests(world) == [(1, "rule")]
    assert world.peek.calls("prompt_tokens", cause="digest") == [(60_000,)]


async def test_while_the_model_is_down_the_digest_backs_off_and_is_made_once_later(world: World) -> None:
    digesting(world, ModelError("unreachable", "down"))
    await talk(world)
    await world.say("/new")
    waits = [line["wait_ms"] for line in world.log.named("digest_postponed")]
    assert waits == [30_000]
    await world.wait(HOUR)
    waits = [line["wait_ms"] for line in world.log.named("digest_postponed")]
    assert waits == [30_000 * 2**n for n in range(len(waits))]
    assert len(waits) in (6, 7)
    assert digests(world) == []
    digesting(world, json.dumps(DIGEST, ensure_ascii=False))
    await world.wait(HOUR)
    assert digests(world) == [(1, "model")]
    await world.wait(5 * HOUR)
    assert digests(world) == [(1, "model")]


async def test_a_model_that_stays_down_loses_nothing(world: World) -> None:
    digesting(world, ModelError("unreachable", "down"))
    await talk(world)
    await world.say("/new")
    await world.wait(24 * HOUR)
    assert digests(world) == [(1, "rule")]


@pytest.mark.parametrize("times", [1, 3])
async def test_a_crash_during_a_digest_leaves_exactly_one(world: World, times: int) -> None:
    world.model.digests = True
    world.model.script = lambda request: json.dumps(DIGEST, ensure_ascii=False) if is_digest(request) else "好的"
    await talk(world)
    world.shut()
    await world.app.ingest.accept(world.message("/new"))
    for _ in range(times):
        await world.held()
        asked = len(world.model.requests)
        await world.crash(shut=True)
        await world.held()
        assert world.model.requests[-1] == world.model.requests[asked - 1]
    await world.let_answer()
    assert digests(world) == [(1, "model")]
    assert sessions(world) == [("closed", "new")]
    assert world.peek.memories.count(source="digest") == 1
    assert world.peek.calls.count(cause="digest", state="lost") == times
    assert world.peek.calls.count(state="reserved") == 0


async def test_a_session_whose_time_passed_while_nuan_was_away_is_closed_at_the_start(world: World) -> None:
    await talk(world)
    await world.close()
    world.away(2 * HOUR)
    await world.open()
    assert sessions(world) == [("closed", "idle")]
    assert len(digests(world)) == 1


async def test_a_message_at_the_very_instant_a_session_ends_opens_the_next(world: World) -> None:
    await world.say("你好")
    await world.close()
    world.away(1800)
    await world.open(settle=False)
    await world.say("我回来了")
    assert world.replies == ["好的", "好的"]
    assert sessions(world) == [("closed", "idle"), ("open", "")]
    assert len(digests(world)) == 1


async def test_clear_shows_the_next_session_none_of_the_old_lines_but_keeps_memories(world: World) -> None:
    await world.say("记住我怕狗")
    await talk(world)
    await world.say(".ai clear")
    await world.say("你好")
    assert not any(text in raw_lines(world) for text in TALK)
    assert "我怕狗" in world.last_user
    assert sessions(world) == [("closed", "clear"), ("open", "")]
    assert len(digests(world)) == 1
    assert world.peek.events.count(text=TALK[0]) == 1


async def test_a_cleared_talk_is_recalled_by_nothing_but_what_was_asked_to_be_kept(world: World) -> None:
    world.model = OfflineModel(catalogue(PromptFiles(None).path, "offline"))  # type: ignore[assignment]
    await world.restart()
    await world.say("My sister Anna moved to Rome, I will visit her next month")
    await world.say("remember I am allergic to peanuts")
    await world.say("remind me tomorrow at 10 am to call the vet")
    await world.say(".ai clear")
    await world.say("What did I say about my sister?")
    assert "Anna" not in world.replies[-1]
    await world.say("/new")
    await world.say("What did I say about my sister Anna in Rome?")
    assert "moved" not in world.replies[-1]
    await world.say("What am I allergic to?")
    assert "peanuts" in world.replies[-1]
    assert not any("Anna moved" in path.read_text(encoding="utf-8") for path in (world.folder / "notes").rglob("*.md"))
    await world.wait(26 * HOUR)
    assert "call the vet" in world.replies[-1]


async def test_what_was_not_to_be_kept_stays_unkept_when_its_talk_was_cleared(world: World) -> None:
    world.model = OfflineModel(catalogue(PromptFiles(None).path, "offline"))  # type: ignore[assignment]
    await world.restart()
    await world.say("我昨天偷吃了蛋糕")
    await world.say("别记这个")
    await world.say(".ai clear")
    await world.say("撤销")
    await world.say("我昨天吃了什么？")
    assert "偷吃" not in world.replies[-1]


async def test_clear_holds_while_its_digest_is_missing(world: World) -> None:
    digesting(world, ModelError("unreachable", "down"))
    await talk(world)
    await world.say(".ai clear")
    await world.say("你好")
    assert not any(text in raw_lines(world) for text in TALK)


async def test_clear_after_an_idle_close_hides_the_old_lines_as_well(world: World) -> None:
    await talk(world)
    await world.wait(2000)
    await world.say(".ai clear")
    await world.say("你好")
    assert not any(text in raw_lines(world) for text in TALK)


async def test_clear_in_a_group_hides_lines_nobody_answered(world: World) -> None:
    await world.say("小暖，你好", "阿明", GROUP)
    await world.say("没人问的闲话", "阿红", GROUP)
    await world.say(".ai clear", "小王", GROUP)
    await world.say("小暖，在吗", "阿明", GROUP)
    assert "没人问的闲话" not in raw_lines(world)


async def test_what_a_digest_found_in_a_group_is_told_in_its_persons_own_dm_alone(world: World) -> None:
    await world.say("小暖，我下周三要去成都看大熊猫", "阿明", GROUP)
    await world.wait(2000)
    await world.say("你好", "阿明")
    told = [line for line in world.last_user.splitlines() if "成都" in line]
    assert [line for line in told if "阿明在群「" not in line] == []
    assert told
    await world.say("你好", "小红")
    assert "成都" not in world.last_user


async def test_a_digest_of_a_dm_is_not_told_in_a_group(world: World) -> None:
    await world.say("我下周三要去成都看大熊猫", "阿明")
    await world.wait(2000)
    await world.say("小暖，你好", "阿明", GROUP)
    assert "成都" not in world.last_user
