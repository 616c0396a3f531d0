"""Other bots: answered where they mention nuan, twenty times in a minute, then not for a minute; humans always."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.core.events import Sender
from tests.conftest import NewWorld
from tests.fakes.clock import SimClock
from tests.world import World

GROUP = "闲聊"


async def bot_says(world: World, text: str = "@小暖 你好", who: str = "复读机", **facts: object) -> None:
    """Another bot writes; it mentions nuan unless `facts` say otherwise."""
    facts = {"mentions_bot": True, **facts}
    await world.wait(0.3)  # nobody writes the same twice in a quarter of a second
    line = world.message(text, who, GROUP, **facts)  # type: ignore[arg-type]
    await world.app.ingest.accept(replace(line, sender=Sender("console", f"bot:{who}", who, is_bot=True)))
    await world.app.settled()


async def loop(world: World, most: int, pause_s: float = 0, who: str = "复读机") -> int:
    """A bot that answers each reply of nuan by mentioning her; how many replies it got until she was silent."""
    before = len(world.replies)
    for number in range(most):
        said = len(world.replies)
        await bot_says(world, f"@小暖 第{number}句", who)
        if len(world.replies) == said:
            break
        await world.wait(pause_s)
    return len(world.replies) - before


async def test_two_bots_end_after_twenty_exchanges_and_a_human_is_still_answered(world: World) -> None:
    assert await loop(world, 200, 1) == 20
    for number in range(30):
        await bot_says(world, f"@小暖 还在吗{number}")
    assert len(world.replies) == 20
    await world.say("小暖，那个机器人好吵", "阿明", GROUP)
    assert len(world.replies) == 21
    assert "还在吗29" in world.last_user, "what bots said meanwhile is told"
    await world.say("你说呢", "阿明", GROUP)
    await world.wait(5)
    assert len(world.replies) == 22


async def test_after_a_minute_of_silence_it_may_begin_again(world: World) -> None:
    assert await loop(world, 100) == 20
    await world.wait(59)
    assert await loop(world, 100) == 0
    await world.wait(1)
    assert await loop(world, 100) == 20


async def test_a_clock_that_is_set_back_does_not_silence_them_until_it_has_caught_up(world: World) -> None:
    assert await loop(world, 100) == 20
    await world.close()
    world.clock = SimClock(world.clock.now() - 86_400_000)
    await world.open()
    assert await loop(world, 100) == 20


async def test_the_budget_is_that_of_the_chat_and_not_of_one_bot(world: World) -> None:
    assert await loop(world, 12, who="甲机") == 12
    assert await loop(world, 100, who="乙机") == 8
    assert await loop(world, 100, who="丙机") == 0


async def test_a_restart_or_a_crash_does_not_begin_the_count_anew(world: World) -> None:
    await loop(world, 12)
    await world.restart()
    assert await loop(world, 100) == 8
    await world.crash()
    assert await loop(world, 100) == 0


async def test_two_slow_bots_do_not_go_on_for_ever_without_a_human(world: World) -> None:
    assert await loop(world, 500, 10) == 60
    await world.wait(600)
    assert await loop(world, 500, 10) == 0
    await world.say("你们聊什么呢", "阿明", GROUP)
    assert await loop(world, 500, 10) == 60


async def test_two_nuans_in_one_group_fall_silent(new_world: NewWorld) -> None:
    pair = [await new_world(), await new_world()]
    await pair[0].say("小暖，在吗", "阿明", GROUP)
    told, turn = 1, 0
    while told <= 200:
        speaker, hearer = pair[turn % 2], pair[(turn + 1) % 2]
        count = len(hearer.replies)
        await bot_says(hearer, f"@小暖 {speaker.replies[-1]}", "另一个暖")
        if len(hearer.replies) == count:
            break
        told, turn = told + 1, turn + 1
    assert told == 1 + 20 + 20
    for world in pair:
        await world.say("小暖，别理它", "阿明", GROUP)
        assert world.replies[-1] == "好的"
        assert world.peek.events.count(state="queued") == 0


@pytest.mark.parametrize(
    "facts",
    [{"mentions_bot": False}, {"mentions_bot": False, "replies_to_bot": True}, {"forwarded": True}, {"text": ".ai on"}],
)
async def test_only_a_mention_of_its_own_counts(world: World, facts: dict[str, object]) -> None:
    text = str(facts.pop("text", "小暖，你好"))
    await bot_says(world, text, "复读机", **facts)
    await world.wait(30)
    assert world.replies == []


async def test_a_bot_has_no_window_and_no_memory(world: World) -> None:
    await bot_says(world, "@小暖 记住我怕狗。你说呢？")
    assert world.replies == ["好的"]
    assert world.peek.memories.count() == 0
    await bot_says(world, "然后呢", mentions_bot=False)
    await world.wait(10)
    assert world.replies == ["好的"]


async def test_they_are_never_answered_where_the_operator_says_so(new_world: NewWorld) -> None:
    world = await new_world(speak={"bots": "never"})
    assert await loop(world, 3) == 0
    await world.say("小暖，在吗", "阿明", GROUP)
    assert "第0句" in world.last_user


async def test_a_late_line_of_a_bot_is_only_read(world: World) -> None:
    await bot_says(world, at=world.clock.now() - 20_000)
    await world.wait(30)
    assert world.replies == []


@pytest.mark.parametrize(
    "sections", [{"budget": {"day_tokens": 100}}, {"limits": {"global_minute": 1, "person_minute": 1}}]
)
async def test_a_bot_gets_no_notice_of_a_limit(new_world: NewWorld, sections: dict[str, dict[str, object]]) -> None:
    world = await new_world(**sections)
    for _ in range(4):
        await bot_says(world)
    assert [reply for reply in world.replies if reply != "好的"] == []
    assert world.peek.events.count(state="queued") == 0


@pytest.mark.parametrize("fault", [ModelError("timeout", ""), RuntimeError("boom")])
async def test_a_bot_gets_no_notice_of_a_fault(world: World, fault: Exception) -> None:
    world.model.script = lambda request: fault
    await bot_says(world)
    await world.wait(130)  # what a defect befell is tried again for two minutes
    assert world.replies == []
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.wait(130)
    assert len(world.replies) == 1


async def test_a_bot_gets_no_notice_of_a_message_that_cannot_be_handled(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    with closing(sqlite3.connect(world.folder / "nuan.db")) as database:
        database.execute("UPDATE entry SET message = '{'")
        database.commit()
    await bot_says(world)
    await world.wait(130)
    assert len(world.log.named("answer_failed")) == 8
    assert len(world.log.named("retries_exhausted")) == 1
    assert len(world.replies) == 1
    await world.say("小暖，还在吗", "阿明", GROUP)
    await world.wait(130)
    assert len(world.replies) == 2


async def test_an_owner_may_shut_one_bot_out_and_groups_that_are_not_allowed_are_shut_to_all(tmp_path: Path) -> None:
    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "telegram": {"allow": ["group:大群"]}})
    world = await World(tmp_path / "data", settings, ("telegram",)).open()

    async def call(who: str, group: str) -> int:
        facts = {"is_bot": True, "mentions_bot": True}
        await world.say("@小暖 你好", who, group, platform="telegram", **facts)
        return len(world.replies)

    assert await call("复读机", "别的群") == 0
    assert await call("复读机", "大群") == 1
    await world.say(".ai deny telegram:t-复读机")
    assert await call("复读机", "大群") == 2
    assert await call("别的机器人", "大群") == 3
    await world.close()


async def test_of_a_human_and_a_bot_at_once_the_human_is_the_one_who_asked(world: World) -> None:
    world.shut()
    await world.app.ingest.accept(world.message("小暖，等一下", "小王", GROUP))
    await world.held()
    await world.app.ingest.accept(world.message("小暖，在吗", "阿明", GROUP))
    line = world.message("@小暖 你好", "复读机", GROUP, mentions_bot=True)
    await world.app.ingest.accept(replace(line, sender=Sender("console", "bot:复读机", "复读机", is_bot=True)))
    await world.let_answer()
    asked = world.rows("SELECT name FROM turn JOIN person ON person.id = person_id ORDER BY turn.id")
    assert asked == [("小王",), ("阿明",)]
