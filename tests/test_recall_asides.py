"""What is no finding, what stands for what, and whose words a finding is."""

import json
from typing import get_args

import pytest

from bot.core.files import PromptFiles
from bot.core.memories import NewMemory
from bot.core.people import SCRIPTS
from bot.core.recall import CutReason
from bot.recall.filters import asks_about_past, only_asks
from bot.store.memories import store_memory
from bot.store.transactions import Tx
from bot.text.catalogue import catalogue
from tests.conftest import NewWorld
from tests.fakes.model import calls
from tests.tables import all_cases
from tests.test_recall_kept import asks as looks_up
from tests.test_recall_kept import found
from tests.test_recall_kinds import GROUP
from tests.world import World

DAY_MS = 86_400_000


async def put(
    world: World, text: str, *, slot: str = "", subject: str = "", lasting: bool = False, at: int = 0
) -> None:
    """A digest's memory of 小王 in their own chat, perhaps of the day of that moment."""
    [(person, chat)] = world.rows("SELECT person_id, chat_id FROM event WHERE kind = 'message' ORDER BY id LIMIT 1")
    now = world.clock.now()
    new = NewMemory(
        int(str(person)),
        int(str(chat)),
        "private",
        "knowledge",
        text,
        at or now,
        "digest",
        (),
        slot,
        subject=subject,
        lasting=lasting,
        said_at=now,
        dated="day" if at else "",
    )

    def write(db: Tx) -> None:
        store_memory(db, new, now)

    await world.store._database.write(write)


async def test_questions_and_small_talk_of_nuans_are_no_findings(world: World) -> None:
    world.model.script = lambda request: "蓝色的自行车真好看呀，骑车要注意安全哦"
    await world.say("我的自行车是蓝色的")
    await world.say("我的自行车是什么颜色？")
    await world.say("/new")
    looks_up(world, "自行车 颜色")
    await world.say("你查查看")
    assert [line for line in found(world) if "@" in line] == ["- @1 小王说：我的自行车是蓝色的（今天）"]


async def test_a_summary_of_a_bare_question_is_no_finding_and_one_with_the_answer_is(world: World) -> None:
    await world.say("我的自行车是什么颜色？")
    await world.say("/new")
    looks_up(world, "自行车 颜色")
    await world.say("你查查看")
    assert found(world) == []
    await world.say("/new")
    await world.say("我的自行车是蓝色的")
    await world.say("/new")
    looks_up(world, "自行车 颜色")
    await world.say("你查查看")
    assert "蓝色" in found(world)[0]


async def test_the_word_remember_finds_nothing_that_was_to_be_remembered(world: World) -> None:
    await world.say("记住我住在杭州西湖区")
    await world.say("记住我的猫叫年糕")
    await world.say("/new")
    looks_up(world, "住在哪里")
    await world.say("你查查看")
    assert [("西湖区" in line, "年糕" in line) for line in found(world)] == [(True, False)]


async def test_a_line_beside_what_is_told_otherwise_comes_not_along(world: World) -> None:
    await world.say("记住我对花生过敏")
    await world.say("我下周五要去杭州出差")
    await world.say("/new")
    looks_up(world, "我对什么过敏")
    await world.say("你查查看")
    assert not any("杭州" in line for line in found(world))


async def test_every_reason_why_something_is_left_out_has_its_words(world: World) -> None:
    texts = catalogue(PromptFiles(None).path, "messages")
    keys = {f"recalled_cut_{cut}" for cut in get_args(CutReason) if cut}
    assert [texts.text(key, script) for key in keys for script in SCRIPTS if texts.text(key, script) == key] == []


async def test_what_nuan_alone_said_is_found_as_hers(world: World) -> None:
    world.model.script = lambda request: "推荐你去看《海街日记》，很治愈"
    await world.say("周末想看个电影")
    await world.say("/new")
    looks_up(world, "海街日记")
    await world.say("查一下那个电影")
    assert found(world)[0].startswith("- @2 小暖说：推荐你去看《海街日记》")


async def test_a_memory_stands_for_the_line_it_came_from(world: World) -> None:
    await world.say("记住我的自行车是蓝色的")
    await world.say("/new")
    looks_up(world, "自行车是什么颜色")
    await world.say("你查查看")
    assert len(found(world)) == 1
    assert "#1" in found(world)[0]


async def test_a_former_value_comes_only_when_the_past_is_asked_for_and_below(world: World) -> None:
    await world.say("你好")
    await put(world, "住在杭州西湖区", slot="home", lasting=True)
    await world.wait(9 * 86_400)
    await put(world, "住在上海徐汇区", slot="home", lasting=True)
    await world.say("/new")
    looks_up(world, "住在哪里")
    await world.say("你查查看")
    assert [("上海" in line, "杭州" in line) for line in found(world)] == [(True, False)]
    looks_up(world, "以前住在哪里")
    await world.say("再查查看")
    assert [("上海" in line, "以前：住在杭州" in line, "为止" in line) for line in found(world)] == [
        (True, False, False),
        (False, True, True),
    ]


async def test_a_former_value_is_marked_wherever_it_is_told(new_world: NewWorld) -> None:
    world = await new_world(context={"opening_tokens": 40})
    await world.say("你好")
    await put(world, "住在杭州西湖区文三路", slot="home", lasting=True)
    await put(world, "住在上海徐汇区", slot="home", lasting=True)
    await world.say("/new")
    await world.say("我以前住在杭州西湖区的哪条路？")
    assert "#1 小王：以前：住在杭州西湖区文三路" in world.last_user, "it comes by itself"
    asked = ("memory_recall", json.dumps({"query": "#1"}))
    world.model.script = lambda request: "嗯" if request.prompt.messages[-1].role == "tool" else calls(asked)
    await world.say("你看看那一条")
    assert "以前：住在杭州" in found(world)[0]


async def test_what_was_so_at_first_stands_below_what_is_so_now_and_in_no_summary(world: World) -> None:
    await world.say("我住在杭州西湖区")
    await put(world, "我住在杭州西湖区", slot="home", lasting=True)
    for text in ("住在南京鼓楼区", "住在上海徐汇区"):
        await world.wait(9 * 86_400)
        await put(world, text, slot="home", lasting=True)
    looks_up(world, "住在哪里")
    await world.say("你查查看")
    assert [("上海" in line, "杭州" in line) for line in found(world)] == [(True, False)]
    looks_up(world, "我以前住哪")
    await world.say("再查查看")
    assert ["上海" in found(world)[0], [line for line in found(world)[1:] if "以前：" not in line]] == [True, []]
    assert any("杭州" in line for line in found(world))


async def test_a_line_that_the_prompt_shows_is_named_by_its_number(world: World) -> None:
    await world.say("我的自行车是红色的")
    await world.wait(8 * 3_600)
    await world.say("早")
    looks_up(world, "自行车 红色")
    await world.say("我的自行车是什么颜色来着")
    assert found(world) == ["- @1 小王: 我的自行车是红色的（上文已有）"]


async def test_what_somebody_says_is_otherwise_now_stands_before_what_they_said_first(world: World) -> None:
    await world.say("爬山七点半，爬山别迟到，爬山见")
    await world.wait(60)
    await world.say("跟大家说一声，那个爬山因为有人那天要加班来不了，改到八点了")
    await world.say("/new")
    looks_up(world, "爬山几点")
    await world.say("你查查看")
    assert ["八点" in line for line in found(world)[:2]] == [True, False]


async def test_what_is_asked_of_nuan_is_known_by_the_name_she_has_here(new_world: NewWorld) -> None:
    world = await new_world(bot={"names": ["阿福"]})
    world.model.script = lambda request: "骑车要戴头盔"
    await world.say("我的自行车是蓝色的，骑车去上班")
    await world.say("/new")
    for asked, hers in (("阿福，谁说骑车", False), ("小暖骑车的时候说过什么", False), ("阿福骑车的时候说过什么", True)):
        looks_up(world, asked)
        await world.say("查一查")
        assert any(line.startswith("- @2 阿福") for line in found(world)) is hers, asked


async def test_what_is_about_the_same_comes_with_it(world: World) -> None:
    await world.say("你好")
    await put(world, "年糕是一只橘猫", subject="猫 年糕")
    await put(world, "去年做了绝育手术", subject="猫 年糕")
    await put(world, "公司在五楼")
    looks_up(world, "橘猫")
    await world.say("你查查看")
    assert ["橘猫" in found(world)[0], "绝育" in found(world)[1], len(found(world))] == [True, True, 2]


@pytest.mark.parametrize(
    ("text", "slot", "asked"),
    [
        ("在云栖科技写前端", "job", "我在哪上班"),
        ("baker at Crumbs since May", "job", "where do i work"),
        ("五月三號出世", "birthday", "我的生日是幾號"),
        ("橘猫年糕", "pet", "我有什么宠物"),
    ],
)
async def test_what_a_slot_holds_is_found_by_what_people_call_it(
    world: World, text: str, slot: str, asked: str
) -> None:
    await world.say("你好")
    await put(world, "周五交水电费")
    await put(world, text, slot=slot)
    looks_up(world, asked)
    await world.say("你查查看")
    assert text in found(world)[0]


async def test_a_day_that_is_asked_for_is_also_the_one_to_come(world: World) -> None:
    await world.say("你好")  # a Friday
    await world.wait(3 * 86_400)
    await put(world, "去面试那家书店", at=world.clock.now() + 4 * DAY_MS)
    await put(world, "交水电费", at=world.clock.now() + 5 * DAY_MS)
    await world.say("/new")
    looks_up(world, "周五有什么事")
    await world.say("你查查看")
    [told] = [line for line in found(world) if "#" in line]
    assert "去面试那家书店" in told
    assert "去面试那家书店（6月19日周五，4天后" in world.turns[-1][1].content


async def test_a_person_asks_in_their_own_chat_for_what_they_said_in_a_group(world: World) -> None:
    await world.say("爬山我带炉子和瓦斯", "阿明", GROUP)
    await world.say("爬山我带水果", "小红", GROUP)
    looks_up(world, "爬山 带什么")
    await world.say("我爬山要带什么", "阿明")
    assert [line for line in found(world) if "@" in line] == ["- @1 阿明在群「闲聊」里说：爬山我带炉子和瓦斯（今天）"]


@all_cases(
    ("text", "asked"),
    [
        ("我对什么过敏？", True),
        ("我的猫叫什么名字", True),
        ("where do i work", True),
        ("what's my dog called", True),
        ("我什么都不怕", False),
        ("我不知道怎么办，我丢了工作", False),
        ("is what it is. i moved to Leeds.", False),
        ("查查你推荐过我什么电影", True),
        ("昨天他给了我多少钱", True),
        ("我对谁都没说什么，她却知道了", False),
        ("我對花生過敏", False),
        ("我妹妹住在哪裡？她搬到台中了。", False),
        ("你今天忙不忙？" * 100, True),
        ("你今天忙不忙？" * 100 + "我搬家了。", False),
    ],
)
def test_a_bare_question_is_told_from_what_tells_something(text: str, asked: bool) -> None:
    assert only_asks(text) is asked


@all_cases(
    ("text", "before"),
    [
        ("我以前住哪里", True),
        ("我原來的公司叫什麼", True),
        ("where did I use to live, what was my old job", True),
        ("我养过什么宠物", True),
        ("did i ever live in Leeds", True),
        ("我现在住哪里", False),
        ("where do i live", False),
        ("我的公司叫什麼", False),
    ],
)
def test_a_question_about_the_past_is_told_from_one_about_now(text: str, before: bool) -> None:
    assert asks_about_past(text) is before


@pytest.mark.parametrize(
    ("request_", "question"),
    [
        ("明天上午十点提醒我去帮安安办护照", "安安哪天出生"),
        ("帮我想想安安的小名", "安安哪天出生"),
        ("remind me to call Ann at noon", "when was Ann born"),
        ("wake me at six for Ann, will you", "when was Ann born"),
    ],
)
async def test_what_somebody_asked_to_be_done_is_no_finding_unless_it_is_what_is_asked(
    world: World, request_: str, question: str
) -> None:
    fact = "安安2月27号生的" if "安" in request_ else "Ann was born on May 2"
    for said in (request_, fact):
        await world.say(said)
        await world.say("/new")
        await world.wait(86_400)
    looks_up(world, question)
    await world.say(question)
    assert any(fact in line for line in found(world))
    assert not any(request_ in line for line in found(world))
    looks_up(world, request_)
    await world.say("你查查看")
    assert any(request_ in line for line in found(world))
