"""Plans that move: what a model says of them at the end of a talk moves tasks and reminders; what told the old day says
so."""

import json

import pytest

from bot.core.models import ModelRequest
from tests.fakes.model import Answer, calls
from tests.living import FILL
from tests.world import World

HOUR, DAY = 3_600, 86_400
RIGHT = '{"wrong": []}'


def digests(world: World, *answers: dict[str, object]) -> None:
    """Each talk gets the next of these digests, and each of them is confirmed; people hear 嗯."""
    left = [json.dumps({"summary": "聊天。", **one}, ensure_ascii=False) for one in answers]
    world.model.digests = True

    def script(request: ModelRequest) -> Answer:
        if request.prompt.tools:
            return "嗯"
        if request.shape is not None and request.shape.name == "check":
            return RIGHT
        return left.pop(0) if left else json.dumps({"summary": "聊天。"}, ensure_ascii=False)

    world.model.script = script


async def talks(world: World, text: str, who: str = "小王", group: str = "") -> None:
    """Something is said at length, and the talk ends."""
    await world.say(f"{'小暖，' if group else ''}{text}。{FILL}", who, group)
    await world.say("小暖，/new" if group else "/new", who, group)
    await world.wait(HOUR)


def said(world: World) -> str:
    """All that nuan said."""
    return "\n".join(str(one) for one in world.replies)


def told(world: World, word: str) -> list[str]:
    """The lines of the last opening that hold a word."""
    return [line for line in world.turns[-1][1].content.splitlines() if line.startswith("-") and word in line]


INTERVIEW: dict[str, object] = {
    "summary": "小王下周三去宠物公司面试。",
    "statements": [{"text": "小王6月17日去宠物公司面试", "when": "2026-06-17", "kind": "event", "from": [1]}],
    "moods": [{"text": "小王为6月17日的面试紧张", "tag": "紧张", "from": [1]}],
    "tasks": [{"title": "面试（宠物公司）", "when": "2026-06-17", "from": [1]}],
}
SAID = "我下周三去宠物公司面试，好紧张"


@pytest.mark.parametrize("when", ["2027-03", ""])
async def test_of_a_plan_for_a_month_the_month_is_kept(world: World, when: str) -> None:
    statement = {"text": "小王三月要做手术", "when": when, "kind": "event", "from": [1]}
    digests(world, {"statements": [statement]})
    await talks(world, "我三月要做手术，有点怕")
    await world.say("我们聊聊别的吧，最近有什么安排吗")
    assert told(world, "手术") == ["- #1 小王三月要做手术（2027年3月）"]


async def test_a_plan_whose_words_name_no_day_has_its_new_one_and_is_told_once(world: World) -> None:
    plan = {"text": "小王的妈妈要开膝盖的刀", "about": "妈妈", "when": "2026-06-17", "kind": "event", "from": [1]}
    digests(
        world,
        {"statements": [plan]},
        {"open": [{"id": "#1", "now": "changed", "title": "", "when": "2026-06-19", "from": [1]}]},
        {"statements": [{**plan, "when": ""}]},
    )
    await talks(world, "我妈下周三要开膝盖的刀")
    await talks(world, "医院打来，我妈那个改到下周五，十九号")
    await world.say("我们聊聊别的吧，最近有什么安排吗")
    assert told(world, "开膝盖") == ["- #2 小王的妈妈要开膝盖的刀（6月19日周五，7天后）"]
    await talks(world, "我妈要开膝盖的刀，有点担心")
    await world.say("我们聊聊别的吧，最近有什么安排吗")
    assert told(world, "开膝盖") == ["- #2 小王的妈妈要开膝盖的刀（6月19日周五，7天后）"]


async def test_of_a_task_for_a_month_the_month_is_kept_and_no_day_of_it_is_made_up(world: World) -> None:
    digests(world, {"tasks": [{"title": "做手术", "when": "2027-03", "from": [1]}]})
    await talks(world, "我三月要做手术，有点怕")
    await world.say("我们聊聊别的吧，最近有什么安排吗")
    assert told(world, "手术") == ["- ✓1 小王：做手术（2027年3月）"]
    await world.say(".ai promise")
    assert world.replies[-1] == "✓1 做手术 · 还没做 · 2027-03"
    assert world.peek.reminders.count() == 0


async def test_the_digest_knows_what_somebody_is_allergic_to_though_it_is_long_ago(world: World) -> None:
    await world.say("记住我对花生过敏")
    for number in range(60):
        await world.say(f"记住我在{number + 100}号展馆看过海豚表演")
    digests(world)
    await talks(world, "海豚表演真好看，我在展馆里看了一整天")
    asked = [each[-1].content for each in world.prompts if "known:" in each[-1].content]
    assert asked
    assert all("花生过敏" in each for each in asked)


async def test_the_digest_sees_the_lines_that_commands_took(world: World) -> None:
    digests(world)
    await world.say("记住我妹妹小雪对猫过敏")
    await world.say("提醒我明天早上8点给奶奶打电话")
    await world.say("她昨天又打喷嚏了")
    await talks(world, "今天就聊到这里吧")
    (asked,) = [each[-1].content for each in world.prompts if "talk:" in each[-1].content]
    rows = [row.partition("] ")[2] for row in asked.split("talk:\n")[1].splitlines()]
    assert rows[:4] == [
        "小王: (done) 记住我妹妹小雪对猫过敏",
        "小王: 提醒我明天早上8点给奶奶打电话",
        "小暖 (bot): 好，周六（6月13日）早上8:00提醒你：给奶奶打电话 ⏰1",
        "小王: 她昨天又打喷嚏了",
    ]


async def test_the_digest_sees_no_command_of_hours_before(world: World) -> None:
    digests(world)
    await world.say("记住我妹妹小雪对猫过敏")
    await world.wait(2 * HOUR)
    await talks(world, "今天就聊到这里吧")
    (asked,) = [each[-1].content for each in world.prompts if "talk:" in each[-1].content]
    assert "小雪" not in asked.split("talk:\n")[1]


async def test_a_month_that_is_over_is_no_plan(world: World) -> None:
    digests(world, {"statements": [{"text": "小王三月做了手术", "when": "", "kind": "event", "from": [1]}]})
    await talks(world, "我三月做了手术，现在好多了")
    await world.say("我们聊聊别的吧，最近有什么安排吗")
    assert not any("2027" in line for line in told(world, "手术"))


async def test_a_task_of_the_same_line_moves_with_the_statement(world: World) -> None:
    moved: dict[str, object] = {
        "text": "面试改到6月19日了",
        "when": "2026-06-19",
        "kind": "event",
        "replaces": [1],
        "from": [1],
    }
    digests(world, INTERVIEW, {"statements": [moved]})
    await talks(world, SAID)
    await talks(world, "面试改到下周五了")
    await world.say("你好呀，今天做什么好呢")
    assert not [line for line in told(world, "面试（宠物") if "6月17日" in line]
    assert "6月19日周五" in " ".join(told(world, "面试"))


async def test_what_told_the_old_day_says_that_it_changed(world: World) -> None:
    moved: dict[str, object] = {
        "text": "面试改到6月19日了",
        "when": "2026-06-19",
        "kind": "event",
        "replaces": [1],
        "from": [1],
    }
    digests(world, INTERVIEW, {"summary": "面试改期。", "statements": [moved]})
    await talks(world, SAID)
    await talks(world, "面试改到下周五了")
    assert "后来改了" not in world.turns[-1][1].content
    await world.say("你好呀，今天做什么好呢")
    (mood,) = told(world, "为6月17日的面试紧张")
    assert "后来改了" in mood
    talk = next(line for line in world.turns[-1][1].content.splitlines() if "下周三去宠物公司" in line)
    assert "后来改了" in talk


@pytest.mark.parametrize("text", ["面试改到6月19日", "面试改到6月19日，原本是6月17日，周三他们没空"])
async def test_a_change_by_tool_moves_the_task_too(world: World, text: str) -> None:
    """The day that it had may be named beside the new one."""
    digests(world, INTERVIEW)
    await talks(world, SAID)
    script = world.model.script
    world.model.script = lambda request: (
        calls(("remember", json.dumps({"id": "#1", "text": text})))
        if request.prompt.tools and "改到下周五" in request.prompt.messages[-1].content
        else script(request)
    )
    await world.say("面试改到下周五6月19日了，周三他们没空")
    world.model.script = script
    await world.say("/new")
    await world.wait(HOUR)
    await world.say("你好呀，今天做什么好呢")
    assert not [line for line in told(world, "面试（宠物") if "6月17日" in line]
    assert any("（6月19日周五" in line for line in told(world, "面试改到6月19日"))


def change(mark: str, **more: object) -> dict[str, object]:
    """A digest that changes an open thing."""
    return {"open": [{"id": mark, "now": "changed", "title": "", "when": "", "from": [1], **more}]}


async def test_a_digest_moves_a_task_and_when_its_person_is_reminded(world: World) -> None:
    digests(world, INTERVIEW, change("T1", when="2026-06-19"))
    await talks(world, SAID)
    await talks(world, "面试改到下周五了")
    await world.wait(5 * DAY + HOUR)  # till Wednesday evening
    assert "面试" not in said(world)
    await world.wait(2 * DAY)
    assert "面试（宠物公司）" in said(world)


async def test_a_day_that_nobody_named_moves_nothing(world: World) -> None:
    digests(world, INTERVIEW, change("T1", when="2026-06-25"), change("T1", when="2027-06-19"))
    await talks(world, SAID)
    await talks(world, "面试改到下周五了")
    await talks(world, "今天去看了海豚表演")
    await world.say("你好呀，今天做什么好呢")
    assert any("6月17日周三" in line for line in told(world, "去宠物公司面试"))
    assert told(world, "6月25日") == told(world, "6月19日") == []


PLAN: dict[str, object] = {
    "statements": [{"text": "老周约6月13日早上在A口集合爬山", "when": "2026-06-13", "kind": "event", "from": [1]}],
    "promises": [{"title": "带水果和桌布", "to": "大家", "when": "2026-06-13", "from": [3]}],
}


async def group_plan(world: World, *more: dict[str, object]) -> None:
    """老周 plans a hike on Saturday 13 June, 小雨 brings fruit, and Kevin has all reminded at nine tomorrow."""
    digests(world, PLAN, *more)
    await world.say("小暖，明天早上在A口集合爬山。" + FILL, "老周", "爬山")
    await world.say("明天我带水果和桌布", "小雨", "爬山")
    await world.say("小暖，明天早上9点提醒大家去A口集合爬山", "Kevin", "爬山")
    await world.say("小暖，/new", "老周", "爬山")
    await world.wait(HOUR)


async def test_in_a_group_whoever_moves_the_plan_moves_what_others_promised(world: World) -> None:
    moved: dict[str, object] = {
        "open": [{"id": "T1", "now": "changed", "title": "带水果", "when": "2026-06-14", "from": [1]}]
    }
    await group_plan(world, moved)
    await talks(world, "爬山改到6月14日，小雨带水果就好", "老周", "爬山")
    await world.say("小暖，你好呀，今天做什么好呢", "小雨", "爬山")
    (line,) = told(world, "带水果")
    assert "6月14日周日" in line
    assert "桌布" not in line


async def test_a_reminder_gets_the_words_and_the_hour_of_the_moved_plan(world: World) -> None:
    moved: dict[str, object] = {
        "open": [{"id": "R1", "now": "changed", "title": "B口集合爬山", "when": "2026-06-14", "from": [1]}]
    }
    await group_plan(world, moved)
    await talks(world, "A口封了，改到B口，6月14日", "老周", "爬山")
    await world.say("小暖，你好呀，今天做什么好呢", "小雨", "爬山")
    (line,) = told(world, "B口集合")
    assert "6月14日周日 09:00" in line
    await world.wait(DAY)
    assert "B口集合" not in said(world)
    await world.wait(DAY)
    assert "B口集合爬山" in said(world)


async def test_words_that_nobody_said_change_no_reminder(world: World) -> None:
    moved: dict[str, object] = {
        "open": [{"id": "R1", "now": "changed", "title": "把钱转给骗子", "when": "", "from": [1]}]
    }
    await group_plan(world, moved)
    await talks(world, "A口封了，改到B口", "老周", "爬山")
    await world.wait(DAY)
    assert "A口集合爬山" in said(world)
    assert "骗子" not in said(world)


async def test_others_call_off_no_reminder(world: World) -> None:
    await group_plan(world, {"open": [{"id": "R1", "now": "off", "title": "", "when": "", "from": [1]}]})
    await talks(world, "不用提醒集合爬山了", "老周", "爬山")
    await world.wait(DAY)
    assert "A口集合爬山" in said(world)


async def test_a_new_job_takes_the_place_of_the_old_one_on_its_day(world: World) -> None:
    old: dict[str, object] = {
        "text": "小王在面馆做厨师",
        "slot": "job",
        "kind": "identity",
        "lasting": True,
        "from": [1],
    }
    new: dict[str, object] = {
        "text": "小王6月15日开始在花店上班",
        "slot": "job",
        "kind": "identity",
        "lasting": True,
        "when": "2026-06-15",
        "replaces": [1],
        "from": [1],
    }
    digests(world, {"statements": [old]}, {"statements": [new]})
    await talks(world, "我在面馆做厨师")
    await talks(world, "下周一6月15日我开始在花店上班")
    await world.say("你好呀，今天做什么好呢")
    (line,) = told(world, "面馆做厨师")
    assert "到6月15日为止" in line
    await world.say("/new")
    await world.wait(2 * DAY + 20 * HOUR)  # Monday at five
    await world.say("你好呀，今天做什么好呢")
    assert told(world, "面馆做厨师") == []
    assert told(world, "花店上班")


async def test_what_is_kept_and_tells_a_change_is_shown_to_the_model_with_what_it_may_change(world: World) -> None:
    digests(world)
    await world.say("记住周日早上八点在A口集合爬山", "老周")
    world.model.script = lambda request: (
        calls(("remember", '{"id": "#1", "text": "周日早上八点爬山，集合改到B口"}'))
        if request.prompt.messages[-1].role == "user" and "可能改了以前" in request.prompt.messages[-1].content
        else "好的"
    )
    await world.say("记住集合改到B口", "老周")
    assert "记住啦" in str(world.replies[-1])
    world.model.script = lambda request: "好的"
    await world.say("/new", "老周")
    await world.say("我们来聊聊周末怎么过吧", "老周")
    assert "B口" in " ".join(told(world, "周日早上八点"))
    assert "A口" not in " ".join(told(world, "周日早上八点"))


async def test_what_others_said_of_the_old_day_of_a_plan_is_told_no_more(world: World) -> None:
    in_for: dict[str, object] = {
        "text": "Kevin is in for the Saturday hike",
        "when": "2026-06-13",
        "kind": "event",
        "from": [3],
    }
    kept: dict[str, object] = {"text": "Kevin is allergic to nuts", "from": [3], "lasting": True}
    gone: dict[str, object] = {
        "open": [
            {"id": "#1", "now": "changed", "title": "", "when": "2026-06-14", "from": [1]},
            {"id": "#2", "now": "off", "title": "", "when": "", "from": [1]},
        ]
    }
    digests(world, {"statements": [in_for, kept]}, gone)
    await world.say("小暖，明天早上在A口集合爬山。" + FILL, "老周", "爬山")
    await world.say("in for the hike on saturday! and i'm allergic to nuts", "Kevin", "爬山")
    await world.say("小暖，/new", "老周", "爬山")
    await world.wait(HOUR)
    await talks(world, "爬山改到6月14日", "老周", "爬山")
    await world.say("小暖，我们来聊聊带什么去吧", "Kevin", "爬山")
    assert told(world, "Saturday hike") == []
    assert told(world, "allergic to nuts")


async def test_what_is_off_may_be_denied_and_a_promise_is_of_whom_it_does_not_name(world: World) -> None:
    made: dict[str, object] = {
        "promises": [
            {"title": "扛音箱过去", "to": "大家", "when": "", "from": [1]},
            {"title": "请小雨喝手摇", "to": "小雨", "when": "", "from": [1, 3]},
        ]
    }
    off: dict[str, object] = {"open": [{"id": "T1", "now": "off", "title": "", "when": "", "from": [1]}]}
    digests(world, made, off)
    await world.say("小暖，我会扛音箱过去，小雨，请你喝手摇。" + FILL, "老周", "爬山")
    await world.say("好啊我要大杯的手摇", "小雨", "爬山")
    await world.say("小暖，/new", "老周", "爬山")
    await world.wait(HOUR)
    await talks(world, "音箱坏了，带不了了", "老周", "爬山")
    await world.say("小暖，我们来聊聊带什么去吧", "小雨", "爬山")
    assert told(world, "扛音箱") == []
    assert [line for line in told(world, "喝手摇") if "老周" in line]


async def test_a_plan_that_a_digest_moves_has_its_new_day_and_not_the_old_one(world: World) -> None:
    digests(world, {"statements": INTERVIEW["statements"]}, change("#1", when="2026-06-19"))
    await talks(world, SAID)
    await talks(world, "面试改到下周五了")
    await world.say("你好呀，今天做什么好呢")
    (line,) = [line for line in told(world, "宠物公司面试") if "6月" in line]
    assert "6月19日周五" in line
    assert "6月17日" not in line


CEILIDH: dict[str, object] = {
    "statements": [
        {
            "text": "The band is on at the Lamb for Halloween at 8pm",
            "when": "2026-06-20T20:00",
            "kind": "event",
            "from": [1],
        }
    ],
    "tasks": [{"title": "Help Rory build the telescope on Saturday June 13", "when": "2026-06-13", "from": [3]}],
}


async def telescope(world: World, *later: tuple[str, dict[str, object]]) -> str:
    """The last opening after a first talk of a gig and a telescope, and the later lines with their digests."""
    digests(world, CEILIDH, *(answer for _, answer in later))
    await world.say("the band is on at the Lamb for Halloween on June 20, 8pm, and everybody is coming to it")
    await world.say("I have to help Rory build the telescope on Saturday June 13, I told him so")
    await world.say("/new")
    for line, _ in later:
        await world.wait(120)
        await world.say(line)
        await world.say("/new")
    await world.say("tell me, what would be a good thing to do today?")
    return world.turns[-1][1].content


async def test_an_hour_alone_moves_a_plan_on_its_day(world: World) -> None:
    title = "The band is on at the Lamb for Halloween at 9pm"
    moved = change("#1", title=title, when="2026-06-20T21:00")
    opening = await telescope(world, ("the landlord wants us on at 9 instead, he says so", moved))
    assert f"{title} (June 20 (Sat) 21:00" in opening
    assert "8pm" not in opening.partition("## Earlier talks")[0]


async def test_the_day_of_a_moved_task_may_stand_in_its_title(world: World) -> None:
    title = "Help Rory build the telescope on Saturday June 20"
    moved = change("T1", title=title, when="2026-06-20")
    opening = await telescope(world, ("Rory is ill, so the telescope is next Saturday now, poor him", moved))
    assert title in opening, opening
    assert "Saturday June 13" not in opening.partition("## Earlier talks")[0]


async def test_a_plan_is_done_on_its_day_and_told_no_more_as_lying_ahead(world: World) -> None:
    digests(
        world, {**INTERVIEW, "tasks": []}, {"open": [{"id": "#1", "now": "done", "title": "", "when": "", "from": [1]}]}
    )
    await talks(world, SAID)
    await world.wait(5 * DAY + 6 * HOUR)
    await talks(world, "他们问了好多，下周五给消息")
    await world.say("你好呀，今天做什么好呢")
    assert told(world, "去宠物公司面试（") == []
    assert told(world, "后来改了") == []


async def test_a_day_that_the_model_reads_from_a_line_of_what_went_wrong_gets_no_hour(world: World) -> None:
    first = {"text": "Dougie the roofer comes on June 15", "when": "2026-06-15", "kind": "event", "from": [1]}
    moved = {
        "id": "#1",
        "now": "changed",
        "title": "Dougie the roofer comes on June 16",
        "when": "2026-06-16",
        "from": [1],
    }
    digests(world, {"statements": [first]}, {"open": [moved]})
    for line in (
        "Dougie the roofer comes on June 15, so I have to stay at home",
        "dougie's let me down, says tuesday now",
    ):
        await world.say(line)
        await world.say("/new")
    await world.say("tell me, what would be a good thing to do today?")
    assert "- #2 小王: Dougie the roofer comes on June 16 (June 16 (Tue), in 4 days)" in world.turns[-1][1].content


async def test_a_plan_on_the_day_of_a_birthday_keeps_its_own_number(world: World) -> None:
    digests(
        world,
        {
            "statements": [
                {
                    "text": "Dan的生日是6月14日",
                    "about": "Dan",
                    "slot": "birthday",
                    "kind": "anniversary",
                    "when": "--06-14",
                    "lasting": True,
                    "from": [1],
                },
                {
                    "text": "小王想在Dan生日收摊后整个惊喜蛋糕",
                    "about": "Dan",
                    "kind": "event",
                    "when": "2026-06-14",
                    "from": [3],
                },
            ]
        },
    )
    await world.say("Dan的生日是6月14日")
    await talks(world, "我想在Dan生日6月14日收摊后整个惊喜蛋糕")
    await world.say("你好呀，今天做什么好呢")
    cake = next(line for line in told(world, "惊喜蛋糕") if line.startswith("- #"))
    number = cake.removeprefix("- #").split()[0]
    assert world.rows("SELECT text LIKE '%惊喜蛋糕%' FROM memory WHERE id = ?", int(number)) == [(1,)]


async def test_whom_a_task_is_for_may_call_it_off_and_nobody_else(world: World) -> None:
    made: dict[str, object] = {"tasks": [{"title": "帮小雨带豆浆", "when": "2026-06-15", "from": [1]}]}
    off: dict[str, object] = {"open": [{"id": "T1", "now": "off", "title": "", "when": "", "from": [1]}]}
    digests(world, made, off, off)
    await talks(world, "6月15日我帮小雨带豆浆", "老周", "爬山")
    await talks(world, "豆浆不用带了", "Kevin", "爬山")
    assert world.peek.commitments("state") == [("pending",)]
    await talks(world, "豆浆不用带了", "小雨", "爬山")
    assert world.peek.commitments("state") == [("failed",)]


@pytest.mark.parametrize(
    ("title", "now"),
    [("面试", "小王6月19日去宠物公司面试，在滨江"), ("去宠物公司面试，改线上", "去宠物公司面试，改线上")],
)
async def test_a_title_that_only_says_less_shortens_no_plan(world: World, title: str, now: str) -> None:
    plan = {"text": "小王6月19日去宠物公司面试，在滨江", "when": "2026-06-19", "kind": "event", "from": [1]}
    digests(world, {"statements": [plan]}, change("#1", title=title, when="2026-06-19"))
    await talks(world, "6月19日我去宠物公司面试，在滨江")
    await talks(world, "宠物公司的面试还是19号，改线上了")
    assert world.peek.memories("text", former_at=None) == [(now,)]


@pytest.mark.parametrize(
    ("line", "text", "kept"),
    [
        ("去不了，那天我妈来", "小雨去不了莫干山，那天她妈妈来", 1),
        ("我家还在下雨", "小雨要去莫干山", 0),
    ],
)
async def test_what_an_answer_is_of_stands_before_it_and_is_nobody_elses_plan(
    world: World, line: str, text: str, kept: int
) -> None:
    digests(world, {"statements": [{"text": text, "from": [3], "kind": "event"}]})
    await world.say(f"小暖，{FILL}。下次我们去莫干山，大家都来呀", "老周", "爬山")
    await world.say(line, "小雨", "爬山")
    await world.say("小暖，/new", "老周", "爬山")
    await world.wait(HOUR)
    assert len(world.peek.memories("text")) == kept
