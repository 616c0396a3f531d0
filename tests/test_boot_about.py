"""What an opening says of people: what is so now, apart from who nuan is; what the owner wrote of themselves."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.core.files import resource_dir
from bot.core.memories import NewMemory, Visibility
from bot.core.people import Chat, Script
from bot.prompt.templates import read_templates
from bot.store.memories import store_memory
from bot.text.length import estimate_tokens
from tests.reloading import Filed
from tests.test_boot import block
from tests.test_boot_templates import persona
from tests.waking import DAY, FIND, NOW, at, facts, memory, narrative, opened, small
from tests.world import NINE, World

DAY_S = 86_400
USER = "我叫老蔡，在台北开面馆\n叫我老蔡就好\n\n我对芒果过敏，密码是 swordfish-7"


async def know(world: World, text: str, **more: object) -> None:
    """A digest found it in the first line of 小王."""
    new = NewMemory(1, 1, "private", "knowledge", text, NINE, "digest", (1,), said_at=NINE)
    await world.store._database.write(lambda db: store_memory(db, replace(new, **more), NINE))  # type: ignore[arg-type]


async def test_a_former_home_is_not_told(world: World) -> None:
    await world.say("在吗")
    await know(world, "住在杭州", kind="identity", slot="home", lasting=True)
    await know(world, "住在上海", kind="identity", slot="home", lasting=True)
    await world.store._database.write(
        lambda db: (
            db.execute("UPDATE memory SET former_at = ?, replaced_by = 2 WHERE text = '住在杭州'", (NINE,)).rowcount
        )
    )
    await world.say("/new")
    await world.say("你好呀")
    assert "## 关于TA\n- #2 小王：住在上海（今天说的）" in block(world)
    assert "杭州" not in block(world)


async def test_what_lies_ahead_is_told_whatever_kind_it_is_of_and_only_to_whom_it_is_for(world: World) -> None:
    await world.say("在吗")
    await world.say("小暖，在吗", "小王", "家")
    group = int(str(world.peek.chats("id", kind="group")[0][0]))
    places: tuple[tuple[str, Visibility], ...] = (("私下", "private"), ("群里", "chat"), ("公开", "public"))
    for where, visibility in places:
        for number in range(3):
            day = NINE + (number + 2) * DAY
            await know(
                world, f"{where}的证件{number}到期", observed_at=day, dated="day", visibility=visibility, chat_id=group
            )
    await world.say("/new", "小王", "家")
    await world.say("小暖，今天吃什么", "小王", "家")
    told = block(world)
    assert "私下" not in told
    assert "小王：群里的证件0到期（6月14日周日，2天后）" in told
    assert "小王：公开的证件2到期（6月16日周二，4天后）" in told
    await world.say("/new")
    await world.say("今天吃什么")
    assert "小王：私下的证件1到期（6月15日周一，3天后）" in block(world)


async def test_among_a_year_of_events_the_day_that_comes_is_found(world: World) -> None:
    await world.say("在吗")
    for number in range(60):
        await know(world, f"第{number}次散步", kind="event", observed_at=NINE - number * DAY, dated="day")
    for number in range(40):
        await know(world, f"第{number}场演出", kind="event", observed_at=NINE + (number + 3) * DAY, dated="day")
    await world.say("/new")
    await world.say("你好呀")
    assert "第0场演出（6月15日周一，3天后）" in block(world)
    assert "第1次散步（昨天）" in block(world), "nor do those that come crowd out what happened"


async def test_the_language_of_who_nuan_is_is_the_person_s(world: World) -> None:
    for who, text, wanted in (
        ("小王", "今天天气怎么样", "聊天伙伴，记得住事"),
        ("阿明", "今天天氣怎麼樣呢", "聊天夥伴，記得住事"),
        ("Tom", "what is the weather like today", "a companion who remembers"),
    ):
        await world.say(text, who)
        assert wanted in world.turns[-1][0].content
        await world.say("这个 means what", who)
        assert wanted in world.turns[-1][0].content, "a log keeps the language it began in"
    assert set(world.peek.epochs("reason")) == {("open",)}
    assert len(set(world.peek.epochs("signature"))) == 3


def test_what_is_known_comes_by_whom_it_is_about_what_lasts_first() -> None:
    known = facts(
        memory(1, "养了三年", subject="猫 年糕", when=NOW - DAY),
        memory(2, "喜欢乌龙茶"),
        memory(3, "住在里斯本", subject="sister Ines", lasting=True, when=NOW - 9 * DAY),
        memory(4, "Ines学医", subject="sister Ines", when=NOW - 3 * DAY),
        memory(
            5, "确诊糖尿病", "event", at("2026-03-02 10:00"), dated="day", said=at("2026-03-03 10:00"), lasting=True
        ),
        vitality={1: 0.8, 2: 0.9, 4: 0.7},
    )
    (_, about) = narrative(known).split("## 关于TA\n")
    assert about.splitlines() == [
        "- #5 小王：确诊糖尿病（3月2日）",
        "- #2 小王：喜欢乌龙茶（今天说的）",
        "- #3 sister Ines：住在里斯本（6月3日说的）",
        "- #4 小王：Ines学医（3天前说的）",
        "- #1 猫 年糕：养了三年（昨天说的）",
    ]
    group = replace(known, chat=Chat(2, "telegram", "2", "group", "家"))
    assert "- #1 小王的猫 年糕：养了三年（昨天说的）" in narrative(group)


def test_what_lasts_is_told_before_passing_trifles() -> None:
    known = facts(
        *(memory(n, f"第{n}件喜欢的小东西放在窗台上", when=NOW - n * 60_000) for n in range(1, 11)),
        *(memory(100 + n, f"第{n}件要紧的事一直是这样", lasting=True, when=NOW - (90 + n) * DAY) for n in range(1, 11)),
        vitality=dict.fromkeys(range(1, 11), 0.99),
    )
    for limit in (150, 250, 400):
        told = opened(known, limit=limit).told("memory")
        assert len([n for n in told if n > 100]) == 10 or not [n for n in told if n < 100]


@pytest.mark.parametrize(("script", "line"), [("zh-Hans", "【初识】"), ("zh-Hant", "【初識】"), ("en", "[New]")])
def test_somebody_new_is_told_to_be_new_in_one_line(script: Script, line: str) -> None:
    new = facts(met=False)
    for text in (opened(new, script).text, small(new, script).text):
        assert len([row for row in text.splitlines() if row.startswith(line)]) == 1
    for known in (facts(memory(1, "喜欢猫"), met=False), facts()):
        assert line not in opened(known, script).text + small(known, script).text


def test_templates_know_the_former_names_too(tmp_path: Path) -> None:
    text = "{{ name }}: {{ knowledge|length }} {{ tasks|length }} {{ about|length }} {{ ahead|length }}"
    own = read_templates(FIND, persona(tmp_path, "en", text))["en"]
    known = facts(memory(1, "喜欢猫"), memory(2, "看牙", "event", NOW + DAY, dated="day", said=NOW))
    assert opened(known, "en", template=own).text.splitlines()[-1] == "小暖: 1 1 1 1"


async def test_what_the_owner_wrote_of_themselves_is_told_in_their_own_dm_alone(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    (world.persona / "USER.md").write_text(USER, "utf-8")
    await world.open()
    await world.say("今天天气怎么样")
    assert "【主人自述】\n我叫老蔡，在台北开面馆\n叫我老蔡就好\n我对芒果过敏，密码是 swordfish-7" in block(world)
    await world.say("小暖，今天天气怎么样", "小王", "家")
    await world.say("今天天气怎么样", "阿明")
    await world.say("小暖，今天天气怎么样", "阿明", "家")
    told = [message.content for prompt in world.prompts for message in prompt]
    assert len([text for text in told if "swordfish" in text]) == 1
    assert all("老蔡" not in prompt[0].content for prompt in world.prompts), "it is in no prefix"
    await world.close()


async def test_of_what_the_owner_wrote_small_talk_gets_two_lines_and_no_more(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    (world.persona / "USER.md").write_text(USER, "utf-8")
    toml = (
        'prompts_dir = "{home}/prompts"\npersona = "own"\n[bot]\ntimezone = "Asia/Shanghai"\n[prompt]\nlight = "auto"\n'
    )
    world.write("", toml)
    await world.open()
    await world.say("早")
    assert "我叫老蔡，在台北开面馆\n叫我老蔡就好\n" in world.last_user
    assert "swordfish" not in world.sent
    await world.say("早", "阿明")
    assert "老蔡" not in world.last_user
    await world.close()


def test_a_long_note_of_the_owner_keeps_to_the_limit() -> None:
    known = facts(memory(1, "喜欢猫"), user="\n".join(f"第{n}行说的是我自己的一件事情" for n in range(200)))
    text = opened(known).text
    assert estimate_tokens(text) <= 600
    assert "喜欢猫" in text
    assert "第5行" in text
    assert "第100行" not in text
    light = small(replace(known, user="字" * 900)).text
    assert light.count("字") <= 200


def test_the_shipped_personas_say_who_they_are_in_three_languages() -> None:
    for name in ("default", "terse", "study"):
        for file in ("IDENTITY.md", "IDENTITY.zh-Hant.md", "IDENTITY.en.md"):
            assert "{{BOT_NAME}}" in (resource_dir("data/persona") / name / file).read_text("utf-8")
