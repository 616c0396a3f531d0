"""One function makes the opening block: a log that begins, `nuan boot` and the tool boot hold it to the letter."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.inspection import show_boot
from bot.cli.installation import Installation
from bot.cli.lookup import PromptTarget
from bot.cli.main import app
from bot.core.errors import StoreError
from bot.core.files import PromptFiles, resource_dir
from bot.core.memories import NewCommitment, NewMemory, Visibility
from bot.core.people import MemoryKind
from bot.store.commitments import store_commitment
from bot.store.memories import store_memory
from bot.text.length import estimate_tokens
from tests.conftest import NewWorld
from tests.world import NINE, World

DAY = 86_400_000
DAY_S = 86_400


async def found(
    world: World,
    text: str,
    kind: MemoryKind,
    when: int = NINE,
    *,
    owner: int = 1,
    chat: int = 1,
    visibility: Visibility = "private",
    emotion: str = "",
) -> None:
    """A digest found it in the first line of all."""
    new = NewMemory(owner, chat, visibility, kind, text, when, "digest", (1,), emotion=emotion)
    await world.store._database.write(lambda db: store_memory(db, new, when))


async def promised(
    world: World, text: str, due: int | None, *, owner: int = 1, chat: int = 1, visibility: Visibility = "private"
) -> None:
    """Somebody has still to do it."""
    new = NewCommitment(owner, chat, visibility, text, NINE, "digest", (1,), due)
    await world.store._database.write(lambda db: store_commitment(db, new, NINE))


def block(world: World) -> str:
    """The opening block of the newest log."""
    return world.turns[-1][1].content.partition("\n\n<ctx")[0]


def place(world: World) -> Installation:
    return Installation(
        world.settings,
        world.folder,
        PromptFiles(None),
        resource_dir("data/persona") / world.settings.persona,
        world.settings,
    )


async def remembered(world: World) -> None:
    """A first evening."""
    await world.say("在吗")
    await world.say("记住我对花生过敏")
    await found(world, "昨天去了西湖", "event", NINE - DAY)
    await found(world, "去医院复查", "event", NINE + DAY)
    await found(world, "拿到驾照了", "emotion", emotion="开心")
    await promised(world, "还书", NINE + 4 * DAY)
    await world.say("/new")
    await world.wait(3 * DAY_S)


async def test_the_command_tells_what_the_next_log_opens_with_to_the_letter(world: World) -> None:
    await remembered(world)
    shown = await show_boot(place(world), PromptTarget(), clock=world.clock)
    told = json.loads(await show_boot(place(world), PromptTarget(), "json", clock=world.clock))
    await world.say("你好呀")
    assert shown == told["text"] == block(world)
    for part in (
        "隔了三天没聊。",
        "- #1 小王：我对花生过敏（3天前说的）",
        "- 小王：昨天去了西湖（4天前说的）",
        "拿到驾照了——开心",
        "- ✓1 小王：还书（6月16日周二，明天）",
        "- 小王：去医院复查（2天前）",
    ):
        assert part in shown
    assert told["since"] == "隔了三天"
    assert told["tokens"] == estimate_tokens(shown) <= 600
    assert [line["text"] for line in told["sections"]["ahead"]] == ["还书"]
    assert told["sections"]["about"] == [
        {
            "text": "我对花生过敏",
            "who": "小王",
            "day": "3天前",
            "at": "2026-06-12T01:00:00+00:00",
            "memory": 1,
            "when": "3天前说的",
        }
    ]


async def test_no_model_is_called_for_it(world: World) -> None:
    await remembered(world)
    before = len(world.model.requests)
    await show_boot(place(world), PromptTarget(), clock=world.clock)
    assert len(world.model.requests) == before


async def test_in_a_group_nothing_private_is_told_and_of_the_group_only_their_own_elsewhere(world: World) -> None:
    await remembered(world)
    await world.say("小暖，在吗", "小王", "家")
    group = int(str(world.peek.chats("id", kind="group")[0][0]))
    kinds: tuple[MemoryKind, ...] = ("identity", "emotion", "event", "knowledge")
    for kind in kinds:
        await found(world, f"群里的{kind}", kind, chat=group, visibility="chat")
        await found(world, f"公开的{kind}", kind, chat=group, visibility="public")
        await found(world, f"私下的{kind}", kind)
    await promised(world, "群里的约定", None, chat=group, visibility="chat")
    await promised(world, "私下的约定", None)
    await world.say("/new", "小王", "家")
    await world.say("小暖，在吗在吗", "小王", "家")
    told = block(world)
    for kind in kinds:
        assert f"公开的{kind}" in told
        assert f"群里的{kind}" in told or kind == "emotion", "of a day the last mood is told"
    assert "群里的约定" in told
    for private in ("私下的", "花生", "西湖", "医院", "驾照", "还书"):
        assert private not in told, private
    assert told == await show_boot(
        place(world), PromptTarget(chat="console:group:家", person="console:local"), clock=world.clock
    )
    alone = await show_boot(place(world), PromptTarget(), clock=world.clock)
    of_group = [line for line in alone.splitlines() if "群里的" in line]
    assert of_group
    assert [line for line in of_group if "小王在群「家」里" not in line] == []
    assert "公开的knowledge" in alone


async def test_of_somebody_else_nothing_is_told(world: World) -> None:
    await remembered(world)
    await world.say("你好呀", "小红")
    assert not [word for word in ("花生", "西湖", "医院", "驾照", "还书", "小王") if word in block(world)]


async def test_what_was_forgotten_goes_with_the_log_that_told_it(world: World) -> None:
    await remembered(world)
    await found(world, "养了一只猫", "identity")
    await world.say("你好呀")
    assert "养了一只猫" in block(world)
    await world.say("忘记养了一只猫")
    await world.say("今天天气怎么样")
    assert "养了一只猫" not in world.turns[-1][1].content
    assert "花生" in world.turns[-1][1].content


async def test_a_log_comes_from_the_lines_that_a_promise_was_made_of_as_well(world: World) -> None:
    """So it goes with them, wherever it is told."""
    await world.say("我答应周末还书")
    await promised(world, "周末还书", None, visibility="public")
    await world.say("小暖，在吗", "小王", "家")
    assert "周末还书" in block(world)
    entry = world.rows("SELECT max(id) FROM entry WHERE position = 0")[0][0]
    assert world.peek.edges("event_id", kind="told", derived_id=entry) == [(1,)]


async def test_only_what_the_block_tells_is_strengthened_by_it(new_world: NewWorld) -> None:
    world = await new_world(context={"opening_tokens": 80})
    await world.say("在吗")
    for number in range(12):
        await found(world, f"第{number}件事情是关于公园里的那只灰色的猫", "knowledge", NINE - number * DAY)
    await world.say("/new")
    await world.say("你好呀")
    told = {f"第{number}件" in block(world) for number in range(12)}
    assert told == {True, False}
    rows = world.rows("SELECT text, booted_at > 0 FROM memory")
    assert all(bool(booted) == (str(text) in block(world)) for text, booted in rows)


@pytest.mark.parametrize("said", ["你好", "哈喽", "hello"])
async def test_the_light_opening_hints_at_the_pause_in_at_most_forty_tokens(new_world: NewWorld, said: str) -> None:
    world = await new_world(prompt={"light": "per_message"})
    await world.say(said)
    await world.say("/new")
    await world.wait(40 * DAY_S)
    await world.say(said)
    opened = world.prompts[-1][1].content.partition("\n\n<ctx")[0]
    hint = opened.splitlines()[-1]
    assert hint in ("【间隔】隔了一个多月没聊。", "[Pause] over a month since the last talk.")
    assert estimate_tokens(hint) <= 40


async def test_the_pause_is_of_all_talks_with_that_person_alone(world: World) -> None:
    """Who was here on another platform yesterday was not away for a month."""
    await world.say("你好呀")
    await world.wait(30 * DAY_S)
    await world.say("小暖，在吗", "小王", "家")
    await world.wait(DAY_S)
    assert "隔了" in (alone := await show_boot(place(world), PromptTarget(), clock=world.clock))
    assert "隔了一个月没聊" in alone or "隔了一个多月没聊" in alone, "a group is no talk alone"
    assert "隔了一天没聊" in await show_boot(
        place(world), PromptTarget(chat="console:group:家", person="console:local"), clock=world.clock
    )


async def test_the_calendar_is_the_person_s_own(world: World) -> None:
    await world.say("你好呀")
    late = NINE - 10 * 3_600_000  # 23:00 in Shanghai, 11:00 in New York
    await found(world, "看了极光", "event", late)
    assert "看了极光（昨天）" in await show_boot(place(world), PromptTarget(), clock=world.clock)
    await world.store._database.write(
        lambda db: db.execute("UPDATE person SET timezone = 'America/New_York' WHERE id = 1").rowcount
    )
    assert "看了极光（今天）" in await show_boot(place(world), PromptTarget(), clock=world.clock)


async def test_who_and_where_are_chosen_and_what_there_is_not_is_said(world: World) -> None:
    await remembered(world)
    for view, option in (
        (PromptTarget(chat="nowhere"), "--chat: give one of: 1 console"),
        (PromptTarget(person="谁"), "--person: give one of: 1 小王"),
    ):
        with pytest.raises(StoreError, match=option):
            await show_boot(place(world), view, clock=world.clock)


async def test_among_several_private_chats_a_person_has_their_own_and_who_has_none_is_seen_in_their_group(
    world: World,
) -> None:
    await remembered(world)
    await world.say("记住我喜欢猫", "阿明")
    await world.say("小暖，记住我喜欢狗", "小李", group="家")
    told = {
        who: await show_boot(
            place(world), PromptTarget(person=f"console:person:{who}" if who else ""), clock=world.clock
        )
        for who in ("", "阿明", "小李")
    }
    assert "我对花生过敏" in told[""]
    assert "我喜欢猫" in told["阿明"]
    assert "我喜欢狗" in told["小李"]
    assert "我对花生过敏" not in told["阿明"] + told["小李"]


def test_the_command_line_refuses_an_unknown_format_person_and_chat(tmp_path: Path) -> None:
    async def talk() -> None:
        world = await World(tmp_path).open()
        await world.say("记住我喜欢猫")
        await world.close()

    def boot(*options: str) -> tuple[int, str, str]:
        empty = tmp_path / "nuan.toml"
        empty.touch()
        ran = CliRunner().invoke(app, ["boot", *options, "--data", str(tmp_path), "--config", str(empty)])
        return ran.exit_code, ran.stdout, ran.stderr

    asyncio.run(talk())
    for options, code, line in (
        (
            ("--format", "yaml"),
            2,
            "nuan: invalid value for '--format': 'yaml' is not one of 'narrative', 'json'; `nuan boot --help` says more\n",
        ),
        (("--person", "nobody"), 1, "nuan: --person: give one of: 1 小王 (console:local)\n"),
        (("--chat", "nowhere"), 1, "nuan: --chat: give one of: 1 console local\n"),
    ):
        assert boot(*options) == (code, "", line)
    code, shown, said = boot("--format", "json")
    assert (code, said) == (0, "")
    assert [line["text"] for line in json.loads(shown)["sections"]["about"]] == ["我喜欢猫"]
    assert boot()[1] == json.loads(shown)["text"] + "\n"
