"""What a model's digest says of what is known already: tasks that are over, facts that are no longer so."""

import pytest

from tests.conftest import NewWorld
from tests.test_shared_digests import DAY, answering, digests, facts
from tests.world import World


async def owes(world: World, said: str, title: str, **more: object) -> int:
    """After a talk in which somebody says what they must do: the number of that task."""
    answering(world, {"summary": said, "tasks": [{"title": title, "from": [1], **more}]})
    await world.say(said)
    await world.say("/new")
    ((number, state),) = world.peek.commitments("id", "state")
    assert state == "pending"
    return int(str(number))


async def after(world: World, *said: str, **digest: object) -> None:
    """Another talk, two minutes later, with this digest."""
    answering(world, {"summary": said[0], **digest})
    await world.wait(120)
    for text in said:
        await world.say(text)
    await world.say("/new")


OVER = (
    ("我这周要交房租", "交房租", "刚转给房东了", "done"),
    ("我这周要交房租", "交房租", "钱打过去了，清净", "done"),
    ("我周五前得把月报发给老板", "把月报发给老板", "那个东西总算发出去了", "done"),
    ("我周五前得把月报发给老板", "把月报发给老板", "老板说月报不用写了", "failed"),
    ("我得预约牙医", "预约牙医", "牙齿的事情约在周四了", "done"),
    ("I have to send the report to Dana by Friday", "send the report to Dana", "Dana has it now, phew", "done"),
    ("I need to pay the rent this week", "pay the rent", "transferred the money to the landlord", "done"),
    ("I need to return the parcel", "return the parcel", "the parcel is off the table, the shop refunded me", "failed"),
)


@pytest.mark.parametrize(("said", "title", "later", "state"), OVER)
async def test_a_task_that_the_model_names_as_over_is_over(
    world: World, said: str, title: str, later: str, state: str
) -> None:
    number = await owes(world, said, title)
    await after(world, later, done=[{"task": number, "from": [1]}])
    assert f"T{number} " in digests(world)[-1]
    assert world.peek.commitments("state", id=number) == [(state,)]


@pytest.mark.parametrize(
    "later",
    [
        "房租还没交呢",
        "我可能明天再交房租",
        "房租交了吗？",
        "我明天交房租",
        "我打算周末交房租",
        "交了……不对，房租还没交",
    ],
)
async def test_a_task_that_its_lines_deny_plan_or_ask_for_stays_open(world: World, later: str) -> None:
    number = await owes(world, "我这周要交房租", "交房租")
    await after(world, later, done=[{"task": number, "from": [1]}])
    assert world.peek.commitments("state", id=number) == [("pending",)]


@pytest.mark.parametrize("cited", [[2], [9], [1, 9]])
async def test_only_the_own_lines_of_whoever_owes_it_end_a_task(world: World, cited: list[int]) -> None:
    number = await owes(world, "我这周要交房租", "交房租")
    await after(world, "房租交了", done=[{"task": number, "from": cited}])
    assert world.peek.commitments("state", id=number) == [("pending",)]


async def test_what_is_said_of_it_later_in_the_talk_counts(world: World) -> None:
    number = await owes(world, "我这周要交房租", "交房租")
    await after(world, "房租交了", "哎，房租还没交成，卡被冻结了", done=[{"task": number, "from": [1]}])
    assert world.peek.commitments("state", id=number) == [("pending",)]


CHANGED: tuple[tuple[object, ...], ...] = (
    ("我女朋友叫小雅，在一起三年了", {"slot": "partner", "about": "女朋友小雅"}, "我跟阿兰在一起了", {"about": "阿兰"}),
    (
        "我老婆怀孕五个月了",
        {"slot": "health", "about": "老婆"},
        "我女儿出生了，母女平安",
        {"about": "女儿", "slot": "child"},
    ),
    ("我在一家银行当柜员", {"slot": "job"}, "我上周被裁了，现在没工作", {"slot": "work"}),
    ("I work as a nurse at the Mercy clinic", {"slot": "job"}, "I got laid off and stay at home now", {}),
    (
        "My dentist is Dr Lam on the high street",
        {"slot": "dentist", "about": "dentist Dr Lam"},
        "I registered with Dr Brandt by the station",
        {"slot": "dentist", "about": "dentist Dr Brandt"},
    ),
)


@pytest.mark.parametrize(("old", "facets", "new", "more"), CHANGED)
async def test_what_the_model_names_as_replaced_is_former(
    world: World, old: str, facets: dict[str, object], new: str, more: dict[str, object]
) -> None:
    await after(world, old, statements=[{"text": old, "from": [1], "lasting": True, **facets}])
    ((number,),) = world.peek.memories("id")
    await after(world, new, statements=[{"text": new, "from": [1], "lasting": True, "replaces": [number], **more}])
    assert f"#{number} " in digests(world)[-1]
    assert facts(world) == [(old, 0), (new, 1)]


async def edited(world: World, text: str) -> None:
    """The line m1 reads anew; its talk is digested again."""
    sent = world.message(text)
    await world.app.ingest.accept(type(sent)(sent.place, sent.sender, "event", text, "edit", target="m1"))
    await world.app.settled()
    await world.wait(60)


async def test_what_a_talk_told_itself_is_not_known_when_it_is_digested_again(world: World) -> None:
    await after(world, "我住在成都", statements=[{"text": "我住在成都", "from": [1], "slot": "home"}])
    nuts, home = (
        {"text": "我对花生过敏", "from": [3]},
        {"text": "我搬到苏州了", "from": [1], "slot": "home", "replaces": [1]},
    )
    answering(
        world,
        {"summary": "搬家和过敏", "statements": [home, nuts]},
        {"summary": "搬家和过敏", "statements": [{**home, "text": "我搬到杭州了"}, nuts]},
    )
    await world.say("我搬到苏州了", external_id="m1")
    await world.say("我对花生过敏")
    await world.say("/new")
    assert facts(world) == [("我住在成都", 0), ("我搬到苏州了", 1), ("我对花生过敏", 1)]
    await edited(world, "我搬到杭州了")
    known = digests(world)[-1].split("talk:")[0]
    assert "#1 我住在成都" in known
    assert "苏州" not in known
    assert facts(world) == [("我住在成都", 0), ("我对花生过敏", 1), ("我搬到杭州了", 1)]


async def felt(world: World, *moods: tuple[str, str]) -> None:
    """A talk of these lines, each with a mood."""
    cited = [{"text": text, "tag": tag, "from": [1 + 2 * place]} for place, (text, tag) in enumerate(moods)]
    await after(world, *(text for text, _ in moods), moods=cited)


async def test_a_mood_is_told_with_its_day_and_a_later_one_takes_its_place(world: World) -> None:
    await felt(world, ("我一想到明天的面试就紧张", "紧张"), ("跟朋友聊完，我松了一口气", "轻松"))
    assert world.rows("SELECT observed_at <= ? FROM memory", world.clock.now()) == [(1,), (1,)]
    await world.wait(2 * 86_400)
    await world.say("帮我想想周末去哪里走走比较好")
    assert "松了一口气——轻松（2天前" in world.last_user
    assert "紧张" not in world.last_user.split("## 最近的心情")[1].split("## ")[0]


@pytest.mark.parametrize(("days", "small", "whole"), [(2, True, True), (5, False, True), (16, False, False)])
async def test_a_mood_of_long_ago_is_none_of_now(new_world: NewWorld, days: int, *, small: bool, whole: bool) -> None:
    world = await new_world(prompt={"light": "auto"})
    await felt(world, ("今天和室友吵架，我很委屈", "委屈"))
    await world.wait(days * 86_400)
    await world.say("早")
    assert ("【心情】6月12日和室友吵架" in world.last_user) is small
    await world.wait(3 * 3_600)
    await world.say("帮我想想周末去哪里走走比较好")
    assert ("委屈（" in world.last_user) is whole


async def test_the_talk_that_told_a_day_says_that_it_was_changed_later(world: World) -> None:
    await after(world, "周六去爬山", statements=[{"text": "周六去爬山", "from": [1], "when": "2026-06-13"}])
    ((number,),) = world.peek.memories("id")
    moved = {"text": "爬山改到周日", "from": [1], "when": "2026-06-14", "replaces": [number]}
    await after(world, "爬山改到周日了", statements=[moved])
    await world.say("最近有什么安排来着，帮我想想")
    told = [line for line in world.prompts[-1][1].content.splitlines() if line.startswith("- ")]
    first, second = (next(line for line in told if said in line) for said in ("：周六去爬山", "：爬山改到周日了"))
    assert first.endswith("后来改了）")
    assert "后来" not in second


async def test_a_talk_whose_job_or_task_has_more_to_tell_now_does_not_say_that_a_day_changed(world: World) -> None:
    begun = {"text": "小王6月1日入职了甲公司", "slot": "job", "when": "2026-06-01", "kind": "identity", "from": [1]}
    await after(world, "我6月1日入职了甲公司，还要交报告", statements=[begun], tasks=[{"title": "交报告", "from": [1]}])
    await world.wait(3 * 86_400)
    ((number,),) = world.peek.memories("id")
    now = {"text": "小王在乙公司上班", "slot": "job", "kind": "identity", "replaces": [number], "from": [1]}
    task = {"title": "交报告", "when": "2026-06-26", "from": [1]}
    await after(world, "我现在在乙公司上班，报告6月26日交", statements=[now], tasks=[task])
    await world.say("最近有什么安排来着，帮我想想")
    told = [line for line in world.prompts[-1][1].content.splitlines() if line.startswith("- ")]
    assert [line for line in told if "：我6月1日入职了甲公司" in line], told
    assert not any("后来" in line for line in told)


@pytest.mark.parametrize(
    ("kept", "said", "statement"),
    [
        ("记住我住在苏州", "我搬到杭州了", {"text": "小王搬到杭州了", "slot": "residence"}),
        ("记住我的手机是华为", "手机换成小米了", {"text": "小王的手机换成小米了", "slot": "phone brand"}),
        ("remember that I live in Leeds", "I moved to York", {"text": "小王 moved to York", "slot": "city"}),
        ("记住我女朋友叫小雅", "我跟阿兰在一起了", {"text": "小王跟阿兰在一起了", "slot": "partner"}),
    ],
)
async def test_what_was_asked_to_be_kept_is_former_when_the_model_names_its_new_value(
    world: World, kept: str, said: str, statement: dict[str, object]
) -> None:
    await world.say(kept)
    await world.say("/new")
    await after(world, said, statements=[{"from": [1], "lasting": True, "replaces": [1], **statement}])
    assert [current for _, current in facts(world)] == [0, 1]


async def test_a_new_habit_silences_no_allergy_and_no_partner(world: World) -> None:
    told = [
        {"text": "我对花生过敏", "from": [1], "slot": "allergy", "lasting": True},
        {"text": "我女朋友叫小雅", "from": [3], "slot": "partner", "lasting": True},
    ]
    answering(world, {"summary": "过敏", "statements": told})
    await world.say("我对花生过敏")
    await world.say("我女朋友叫小雅")
    await world.say("/new")
    new = {"text": "我开始学游泳了", "from": [1], "lasting": True, "replaces": [1, 2]}
    await after(world, "我开始学游泳了", statements=[new])
    assert [current for _, current in facts(world)] == [1, 1, 1]


async def test_a_task_that_is_moved_stays_open_on_its_new_day(world: World) -> None:
    number = await owes(world, "15号之前要交房租", "交房租", when="2026-06-15")
    moved = {"title": "交房租", "from": [1], "when": "2026-06-20"}
    await after(world, "跟房东说好了，房租6月20号交就行", tasks=[moved], done=[{"task": number, "from": [1]}])
    assert world.peek.commitments("state") == [("pending",)]
    await world.say("这周有什么安排来着，帮我理一理")
    assert "6月20日" in world.prompts[-1][1].content


@pytest.mark.parametrize(
    ("later", "state"),
    [
        ("今天去看了海豚表演", "pending"),
        ("月报要不要取消呢？", "pending"),
        ("老板说月报不用写了", "failed"),
        ("那个不用写了，松了口气", "failed"),
    ],
)
async def test_a_task_is_called_off_only_by_what_tells_of_it_or_says_no(world: World, later: str, state: str) -> None:
    number = await owes(world, "我周五前得把月报发给老板", "把月报发给老板")
    await after(world, later, open=[{"id": f"T{number}", "now": "off", "from": [1]}])
    assert world.peek.commitments("state") == [(state,)]


@pytest.mark.parametrize("mark", ["T-1", "T1; DROP", "X1", "T1 T2", "[R1]", "(#1)"])
async def test_a_mark_that_nobody_was_shown_names_no_task(world: World, mark: str) -> None:
    await owes(world, "我周五前得把月报发给老板", "把月报发给老板")
    await after(world, "月报发出去了", open=[{"id": mark, "now": "done", "from": [1]}])
    assert world.peek.commitments("state") == [("pending",)]


@pytest.mark.parametrize("mark", ["T1", "[T1]", "t1"])
async def test_a_mark_counts_however_it_is_put(world: World, mark: str) -> None:
    await owes(world, "我周五前得把月报发给老板", "把月报发给老板")
    await after(world, "月报发出去了", open=[{"id": mark, "now": "done", "from": [1]}])
    assert world.peek.commitments("state") == [("done",)]


async def test_a_plan_of_a_group_is_moved_by_whoever_speaks_there(world: World) -> None:
    plan = {"kind": "event", "lasting": False}
    first = {"text": "老周约大家周六去香山爬山", "when": "2026-06-20", "from": [1], **plan}
    answering(world, {"summary": "约了爬山", "statements": [first]})
    await world.say("小暖，我约了大家下周六去香山爬山", "老周", group="爬山")
    await world.wait(DAY)
    second = {"text": "爬山改到周日，还是香山", "when": "2026-06-21", "from": [1], "replaces": [1], **plan}
    answering(world, {"summary": "爬山改期", "statements": [second]})
    await world.say("小暖，爬山改到下周日吧，还是香山", "阿红", group="爬山")
    await world.wait(DAY)
    assert facts(world) == [("老周约大家周六去香山爬山", 0), ("爬山改到周日，还是香山", 1)]


async def test_a_new_job_that_begins_on_a_day_takes_the_old_ones_place_then(world: World) -> None:
    await after(
        world,
        "I am a line cook at Marla's",
        statements=[{"text": "I am a line cook at Marla's", "from": [1], "slot": "job", "lasting": True}],
    )
    await world.wait(7_200)
    await after(
        world,
        "got it, I start as a commis at Lark on June 20",
        statements=[
            {
                "text": "I start as a commis at Lark on June 20",
                "from": [1],
                "slot": "new job",
                "kind": "event",
                "when": "2026-06-20",
            }
        ],
    )
    await world.say("tell me something about kitchens, I am curious about them")
    (told,) = (row for row in world.last_user.split("\n") if "Marla" in row and row.startswith("- #"))
    assert "June 20" in told
    await world.wait(10 * DAY)
    assert [row[1] for row in facts(world)] == [0, 1]


WHOLE = (
    ("im a plumber, been 6 years", "小王 is a plumber and, as of June 2026, has been for 6 years."),
    ("在物流公司跑件，第三年", "小王在物流公司跑件，2026年6月时是第三年。"),
    ("my boat weighs 3.9kg, no joke", "小王的 boat 重 3.9kg。"),
    ("貓量了，打錯 4.2", "小王的貓 4.2kg。"),
    ("i cant do sat, wedding", "小王 can't do Saturday 2026-06-13, wedding."),
    ("back tues from leeds", "小王 is back from Leeds on 2026-06-16."),
    ("might drive up at the wknd", "小王 might drive up at the weekend of 2026-06-13."),
    ("周末可能回老家", "小王6月13日的周末可能回老家"),
    ("冠宇说这周末要上来找我", "冠宇说6月13日那个周末要上来找小王"),
    (
        "its a root canal. two more goes, the 17th and the 24th",
        "小王 has two more root canal goes on 17 June 2026 and 24 June 2026",
    ),
)


@pytest.mark.parametrize(("said", "text"), WHOLE)
async def test_a_true_sentence_is_kept_whole(world: World, said: str, text: str) -> None:
    await after(world, said, statements=[{"text": text, "from": [1], "lasting": True}])
    assert facts(world) == [(text, 1)]


CUT = (
    ("I'm a plumber, might go at the weekend", "小王 is a plumber, and goes on 2026-06-13.", "小王 is a plumber."),
    ("I'm a plumber", "小王 is a plumber and, with 17 boats, sails 3 seas.", "小王 is a plumber."),
    ("跟小何在一起了", "小王跟小何在一起了，有17只猫。", "小王跟小何在一起了。"),
)


@pytest.mark.parametrize(("said", "text", "left"), CUT)
async def test_what_is_cut_is_a_whole_sentence_still(world: World, said: str, text: str, left: str) -> None:
    await after(world, said, statements=[{"text": text, "from": [1], "lasting": True}])
    assert facts(world) == [(left, 1)]


async def test_whom_nuan_calls_by_a_name_may_be_told_by_it(world: World) -> None:
    told = "小王（Carman）说了搬家的事。"
    answering(world, {"summary": told, "statements": [{"text": "Carman 搬到了板橋", "from": [2]}]})
    await world.say("叫我 Carman 就好")
    await world.say("我搬到板橋了")
    await world.say("/new")
    assert world.peek.digests("summary") == [(told,)]
    assert [text for text, _ in facts(world)][-1] == "Carman 搬到了板橋"
