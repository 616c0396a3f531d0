"""Short talks share one digest by the model, a full opening waits for none, and one fact of a slot is current."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.core.models import ModelRequest
from tests.conftest import NewWorld
from tests.peek import SOME, Other
from tests.test_changes import happens
from tests.world import World

HOUR, DAY = 3_600, 86_400


def digests(world: World) -> list[str]:
    """What the model was shown to digest; the second look at each shows it once more."""
    return [
        request.prompt.messages[1].content
        for request in world.model.requests
        if request.shape is not None and request.shape.name == "digest"
    ]


def answering(world: World, *answers: Mapping[str, object]) -> None:
    """A model that digests with these answers, one after the other, the last one again and again."""
    left = list(answers)

    def script(request: ModelRequest) -> str:
        if request.prompt.tools or "talk:" not in request.prompt.messages[-1].content:
            return "好的"
        if request.shape is not None and request.shape.name == "check":
            return '{"wrong": []}'
        return json.dumps(left.pop(0) if len(left) > 1 else left[0], ensure_ascii=False)

    world.model.digests, world.model.script = True, script


def told(text: str, line: int, **more: object) -> dict[str, object]:
    """A digest of one statement."""
    return {"summary": text, "statements": [{"text": text, "from": [line], "kind": "knowledge", **more}]}


async def talks(world: World, *lines: str) -> None:
    """Each line is a talk of its own, a day after the one before."""
    for line in lines:
        await world.say(line)
        await world.say("/new")
        await world.wait(DAY)


def facts(world: World) -> list[tuple[object, ...]]:
    """What is kept, and whether it is true today."""
    return world.rows("SELECT text, former_at IS NULL FROM memory WHERE disabled_at IS NULL ORDER BY id")


async def test_two_short_talks_wait_for_the_early_hour_and_share_one_call(world: World) -> None:
    answering(world, told("我住在苏州", 1, slot="home"))
    await world.say("我住在苏州")
    await world.wait(2 * HOUR)
    assert digests(world) == []
    assert {row[0] for row in world.peek.sessions("state")} == {"closing"}
    await world.wait(DAY)
    assert len(digests(world)) == 1
    assert world.peek.digests.count(session_id=SOME) == 1
    assert {row[0] for row in world.peek.sessions("state")} == {"closed"}
    assert facts(world) == [("我住在苏州", 1)]


async def test_a_full_opening_shows_what_waits_and_has_it_digested(world: World) -> None:
    answering(world, told("我明天下午三点要去面试", 1))
    await world.say("我明天下午三点要去面试")
    await world.wait(2 * HOUR)
    assert digests(world) == []
    await world.say("给我讲讲面试要注意什么好不好")
    assert "我明天下午三点要去面试" in world.last_user
    await world.wait(1)
    assert len(digests(world)) == 1


async def test_a_short_talk_that_moves_a_plan_is_digested_when_it_ends(world: World) -> None:
    answering(world, told("我下周四下午三点看牙医", 1, kind="event", when="2026-06-18T15:00"))
    await world.say("我下周四下午三点看牙医")
    await world.say("/new")
    await world.wait(2 * HOUR)
    before = len(digests(world))
    await world.say("昨天的雨真大啊，鞋子都湿透了")
    await world.wait(2 * HOUR)
    assert len(digests(world)) == before
    await world.say("牙医那边说要改到再下一周")
    await world.wait(2 * HOUR)
    assert "牙医那边说要改" in digests(world)[-1]


async def test_a_short_talk_of_a_change_in_what_is_known_is_digested_when_it_ends(world: World) -> None:
    answering(world, told("我吃素，鱼也不吃", 1, slot="diet", lasting=True))
    await world.say("我吃素，鱼也不吃")
    await world.say("/new")
    await world.wait(2 * HOUR)
    before = len(digests(world))
    await world.say("今天市场的鱼真新鲜，可惜")
    await world.wait(2 * HOUR)
    assert len(digests(world)) == before, "nothing of it changed"
    await world.say("医生说我缺铁，我现在不吃素了")
    await world.wait(2 * HOUR)
    assert "现在不吃素了" in digests(world)[-1]


async def test_new_has_its_talk_digested_at_once_together_with_what_waited(world: World) -> None:
    answering(world, told("我住在苏州", 1, slot="home"))
    await world.say("我住在苏州")
    await world.wait(2 * HOUR)
    await world.say("早")
    await world.say("/new")
    assert digests(world)
    assert world.peek.sessions.count(state=Other("closed")) == 0
    assert "苏州" in digests(world)[0]


async def test_a_cleared_talk_leaves_nothing_and_one_before_it_does(world: World) -> None:
    answering(world, told("我住在苏州", 1, slot="home"))
    await world.say("我住在苏州")
    await world.wait(2 * HOUR)
    await world.say("我最怕的是打雷，别告诉别人")
    await world.say(".ai clear")
    await world.wait(DAY)
    assert facts(world) == [("我住在苏州", 1)]
    assert not any("打雷" in text for text in digests(world))
    await world.say("你还记得我说过什么吗")
    assert "打雷" not in world.last_user


async def test_a_new_home_makes_the_old_one_former_and_only_the_new_one_is_told(world: World) -> None:
    answering(world, told("我住在苏州", 1, slot="home"), told("我搬到杭州了", 1, slot="home"))
    await world.say("我住在苏州")
    await world.say("/new")
    await world.say("我搬到杭州了")
    await world.say("/new")
    assert facts(world) == [("我住在苏州", 0), ("我搬到杭州了", 1)]
    await world.say("你知道我现在住哪里吗，帮我想想")
    opening = world.last_user.split("## ")[1:]
    about = next(part for part in opening if part.startswith("关于TA"))
    assert "杭州" in about
    assert "苏州" not in about
    await world.say(".ai mem")
    assert "杭州" in world.replies[-1]
    assert "苏州" not in world.replies[-1]


async def test_what_the_rule_digested_while_no_model_could_is_digested_again(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say("我住在苏州，最近总失眠")
    await world.say("/new")
    answering(world, told("我在学做红烧肉", 1), told("我住在苏州", 1, slot="home"))
    await world.say("我在学做红烧肉")
    await world.say("/new")
    await world.wait(60)
    assert len(digests(world)) == 2
    assert {row[0] for row in world.peek.digests("made_by", session_id=SOME)} == {"model"}


async def test_an_edit_takes_back_what_a_digest_made_and_the_model_reads_the_talk_anew(world: World) -> None:
    answering(world, told("我住在苏州", 1, slot="home"), told("我住在杭州", 1, slot="home"))
    await world.say("我住在苏州", external_id="m1")
    await world.say("/new")
    assert facts(world) == [("我住在苏州", 1)]
    sent = world.message("我住在杭州")
    await world.app.ingest.accept(type(sent)(sent.place, sent.sender, "event", "我住在杭州", "edit", target="m1"))
    await world.app.settled()
    await world.wait(60)
    assert len(digests(world)) == 2
    assert facts(world) == [("我住在杭州", 1)]


@pytest.mark.parametrize("line", ["我四点去看牙", "今晚八點有演唱會", "dentist at 4pm today", "下午三点要交材料"])
async def test_a_talk_that_names_an_hour_before_the_early_one_waits_for_nothing(world: World, line: str) -> None:
    """By then it is to be known."""
    answering(world, told(line, 1))
    await world.wait(3 * HOUR)
    await world.say(line)
    await world.wait(2 * HOUR)
    assert len(digests(world)) == 1


@pytest.mark.parametrize("line", ["我明天三点去看牙", "每天四点都困", "昨天四点才睡", "今天好累"])
async def test_another_day_and_what_comes_back_can_wait(world: World, line: str) -> None:
    """The early hour is soon enough."""
    answering(world, told(line, 1))
    await world.wait(3 * HOUR)
    await world.say(line)
    await world.wait(2 * HOUR)
    assert digests(world) == []


async def test_the_model_says_what_a_statement_takes_the_place_of(world: World) -> None:
    """No word is shared: who was told of, the pregnancy and what was planned with them are over."""
    first = told("小王的女朋友叫小美", 1, slot="partner", about="女朋友小美", lasting=True)
    first["statements"] += [{"text": "小王和小美打算去看海", "from": [1], "kind": "event"}]  # type: ignore[operator]
    over = told("小王分手了", 1, slot="", lasting=True, replaces=[1, 2, 9])
    answering(world, first, over)
    await talks(world, "我女朋友叫小美，我和她打算去看海", "我分手了，心里空空的")
    assert facts(world) == [("小王的女朋友叫小美", 0), ("小王和小美打算去看海", 0), ("小王分手了", 1)]


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("总算弄完寄走了", "done"),
        ("那个还没有弄呢", "pending"),
        ("要不要明天再弄呀？", "pending"),
        ("不干了，取消", "failed"),
    ],
)
async def test_a_task_is_over_when_the_model_names_the_line_that_tells_so(world: World, said: str, state: str) -> None:
    task = {"summary": "小王要交报告", "statements": [], "tasks": [{"title": "交年度报告", "from": [1]}]}
    answering(world, task, {"summary": "小王说起那件事", "statements": [], "done": [{"task": 1, "from": [1]}]})
    await world.say("我得交年度报告，一个字都没动")
    await world.say("/new")
    await world.wait(DAY)
    await world.say(said)
    await world.say("/new")
    await world.wait(DAY)
    assert world.peek.commitments("state") == [(state,)]


async def test_a_digest_that_is_made_again_leaves_what_other_lines_tell(world: World) -> None:
    """What stands is shown as known, so that the model tells only what is new."""
    first = told("小王对花生过敏", 1, slot="allergy", lasting=True)
    first["statements"] += [{"text": "小王借了Jenny八百块", "from": [3], "kind": "event"}]  # type: ignore[operator]
    answering(world, first, {"summary": "小王说对花生过敏", "statements": []})
    await world.say("我对花生过敏，一点都不能碰")
    await world.say("我借了Jenny八百块，她一直不还")
    await world.say("/new")
    await world.wait(DAY)
    await world.say("忘记Jenny的事")
    await world.say("确认")
    await world.say("/new")
    await world.wait(DAY)
    assert facts(world) == [("小王对花生过敏", 1)]


async def test_what_is_meant_for_the_weekend_is_not_overdue_on_sunday(world: World) -> None:
    """The clock stands on a Friday; the model names the Saturday."""
    saturday = datetime.fromtimestamp(world.clock.now() / 1000, ZoneInfo("Asia/Shanghai")).date()
    saturday += timedelta(days=(5 - saturday.weekday()) % 7)
    title = {"title": "再准备准备面试", "when": saturday.isoformat(), "from": [1]}
    answering(world, {"summary": "小王要再准备面试", "statements": [], "tasks": [title]})
    await world.say("这个周末再准备准备面试")
    await world.say("/new")
    await world.wait(DAY)
    (due,) = world.peek.commitments("due_at")[0]
    last = datetime.fromtimestamp(int(str(due)) / 1000, ZoneInfo("Asia/Shanghai")).date()
    assert last == saturday + timedelta(days=1)


async def test_what_passes_takes_the_place_of_nothing_that_lasts(world: World) -> None:
    """An interview is no job, though a model files it there."""
    first = told("小王在书店上班", 1, slot="job", lasting=True, kind="identity")
    meeting = told("小王7月3日去面试", 1, slot="job", lasting=False, kind="event", when="2026-07-03")
    answering(world, first, meeting)
    await talks(world, "我在书店上班，挺喜欢的", "我7月3日去面试")
    assert facts(world) == [("小王在书店上班", 1), ("小王7月3日去面试", 1)]


async def test_what_passes_goes_for_what_came_of_it_also_of_somebody_else(world: World) -> None:
    first = told("小王还没想好妈妈生日送什么", 1, lasting=False)
    scarf = told("妈妈说围巾收到了，高兴坏了", 1, about="妈妈", kind="event", when="2026-06-13", replaces=[1])
    answering(world, first, scarf)
    await talks(world, "我还没想好妈妈生日送什么", "给妈妈打电话了，她说围巾收到了，高兴坏了")
    assert facts(world) == [("小王还没想好妈妈生日送什么", 0), ("妈妈说围巾收到了，高兴坏了", 1)]


async def test_a_move_told_as_what_happened_takes_the_old_homes_place(world: World) -> None:
    first = told("小王住在苏州", 1, slot="home", lasting=True, kind="identity")
    moved = told("小王搬到了杭州", 1, slot="home", lasting=False, kind="event", when="2026-06-13")
    answering(world, first, moved)
    await talks(world, "我住在苏州", "我搬到杭州了")
    assert facts(world) == [("小王住在苏州", 0), ("小王搬到了杭州", 1)]


async def test_a_second_value_that_no_model_calls_a_change_takes_nothing_away(world: World) -> None:
    first = told("小王在3号楼有一套房", 1, lasting=True)
    second = told("小王在5号楼有一套房", 1, lasting=True)
    answering(world, first, second)
    await talks(world, "我在3号楼有一套房", "我在5号楼还有一套房")
    assert facts(world) == [("小王在3号楼有一套房", 1), ("小王在5号楼有一套房", 1)]


async def test_a_day_that_the_model_counts_wrong_is_read_from_the_words(world: World) -> None:
    answering(world, told("小王6月17日去面试", 1, kind="event", when="2026-06-20"))
    await world.say("我下周三去面试")
    await world.say("/new")
    await world.wait(DAY)
    await world.say("给我讲讲今天做什么好呢")
    assert "面试（6月17日周三" in world.turns[-1][1].content


async def test_what_lost_its_place_to_a_deleted_line_is_true_again(world: World) -> None:
    answering(
        world, told("小王住在苏州", 1, slot="home", lasting=True), told("小王住在杭州", 1, slot="home", lasting=True)
    )
    await world.say("我住在苏州")
    await world.say("/new")
    await world.wait(DAY)
    await world.say("我搬到杭州了", external_id="m2")
    await world.say("/new")
    await world.wait(DAY)
    assert facts(world) == [("小王住在苏州", 0), ("小王住在杭州", 1)]
    await happens(world, "delete", "m2")
    assert facts(world) == [("小王住在苏州", 1)]


async def test_of_several_that_a_deleted_line_replaced_each_slot_has_its_value_again(world: World) -> None:
    both = told("小王住在杭州，在书店上班", 1, slot="home", lasting=True, replaces=[1, 2])
    first = told("小王住在苏州", 1, slot="home", lasting=True)
    first["statements"] = [
        *first["statements"],
        {"text": "小王在苏州花店上班", "from": [3], "slot": "job", "lasting": True, "kind": "identity"},
    ]  # type: ignore[misc]
    answering(world, first, both)
    await world.say("我住在苏州")
    await world.say("我在苏州花店上班")
    await world.say("/new")
    await world.wait(DAY)
    await world.say("我搬到杭州了，换到书店上班", external_id="m2")
    await world.say("/new")
    await world.wait(DAY)
    assert ("小王住在苏州", 0) in facts(world)
    await happens(world, "delete", "m2")
    assert ("小王住在苏州", 1) in facts(world)
    assert ("小王在苏州花店上班", 1) in facts(world)


async def test_a_sign_that_was_shown_escaped_is_kept_as_it_was_said(world: World) -> None:
    answering(world, told("小王在 Lark &amp; Pine 上班", 1, slot="job"))
    await world.say("我在 Lark & Pine 上班")
    await world.say("/new")
    await world.wait(DAY)
    assert facts(world) == [("小王在 Lark & Pine 上班", 1)]


async def test_what_is_to_come_takes_the_place_of_what_it_changes_on_its_day(world: World) -> None:
    start = told("小王7月3日去新书店上班", 1, slot="job", lasting=True, kind="event", when="2026-07-03", replaces=[1])
    answering(world, told("小王在旧书店上班", 1, slot="job", lasting=True, kind="identity"), start)
    await talks(world, "我在旧书店上班，挺喜欢的", "我7月3日去新书店上班")
    assert facts(world) == [("小王在旧书店上班", 1), ("小王7月3日去新书店上班", 1)], "till then both are true"
    await world.wait(40 * DAY)
    assert facts(world) == [("小王在旧书店上班", 0), ("小王7月3日去新书店上班", 1)]


async def test_a_fact_without_a_slot_gets_it_from_the_next_digest_that_tells_it(world: World) -> None:
    answering(
        world,
        told("小王住在苏州", 1),
        told("小王住在苏州", 1, slot="home", lasting=True),
        told("小王搬到了杭州", 1, slot="home", lasting=True),
    )
    for line in ("我住在苏州，和爸妈一起住了好多年", "我住在苏州，你还记得吧", "我搬到了杭州，昨天刚搬完家"):
        await world.say(line)
        await world.say("/new")
        await world.wait(DAY)
    assert facts(world) == [("小王住在苏州", 0), ("小王搬到了杭州", 1)]


async def test_what_a_group_says_beside_the_talk_is_told_with_it(world: World) -> None:
    answering(world, told("小王改周日八点", 5))
    await world.say("周六去爬山吗", "阿红", group="爬山")
    await world.say("七点半，香山地铁站", "小王", group="爬山")
    await world.say("小暖，周六会下雨吗", "阿红", group="爬山")
    await world.say("改周日八点，在香山", "小王", group="爬山")
    await world.wait(2 * DAY)
    assert len(digests(world)) == 1
    assert all(line in digests(world)[0] for line in ("周六去爬山吗", "七点半", "会下雨吗", "改周日八点"))


async def test_what_a_group_says_without_the_bot_is_told_once_at_the_early_hour(world: World) -> None:
    answering(world, told("下次去妙峰山", 3))
    await world.say("小暖，在吗，我想问问爬山的事", "阿红", group="爬山")
    await world.wait(DAY)
    before = len(digests(world))
    for line in ("腿好酸", "山顶那碗面好吃", "下次妙峰山，7月11号都来", "我可以"):
        await world.say(line, "小王", group="爬山")
    await world.wait(2 * DAY)
    assert len(digests(world)) == before + 1
    assert "下次妙峰山" in digests(world)[-1]
    await world.wait(3 * DAY)
    assert len(digests(world)) == before + 1


async def test_a_group_where_only_commands_were_given_is_told_at_the_early_hour(world: World) -> None:
    answering(world, told("西环海滨市集", 1))
    for line in (
        "我报名了西环海滨市集",
        "九点入场，摊位B12",
        "小暖记住：我们只收现金",
        "我负责杯子",
        "我带折叠桌，别放花生，我过敏",
    ):
        await world.say(line, "小王", group="市集")
    await world.wait(2 * DAY)
    assert len(digests(world)) == 1
    assert "摊位B12" in digests(world)[0]


async def test_a_group_that_says_little_or_was_never_joined_is_not_read(world: World) -> None:
    answering(world, told("好", 1))
    for line in ("早", "我到了", "在哪", "门口见", "好的我来了"):
        await world.say(line, "小王", group="别处")
    await world.say("小暖，在吗，我想问问爬山的事", "阿红", group="爬山")
    await world.wait(DAY)
    before = len(digests(world))
    await world.say("腿好酸", "小王", group="爬山")
    await world.wait(2 * DAY)
    assert len(digests(world)) == before
