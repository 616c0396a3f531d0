"""How often people are answered: pauses, minutes and days, for each and for all, counted in the store."""

import asyncio
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.core.events import Attachment
from tests.conftest import NewWorld, OpenMedia
from tests.fakes.model import Answer, calls
from tests.pools import Named, with_models
from tests.sizes import sized
from tests.test_linking import linked
from tests.world import Talk, World

CAT = Attachment("image", "cat")
FAST, BUSY, ENOUGH, ENOUGH_ALL = (
    "太快啦，",
    "找我的人有点多，",
    "今天跟我聊得够多啦，明天再来～",
    "今天大家找我的次数够多啦，明天再来～",
)


def outcomes(world: World) -> list[object]:
    """What became of every message."""
    return [row[0] for row in world.peek.events("outcome", kind="message")]


async def several(world: World, count: int, who: str = "阿明", group: str = "") -> int:
    """Somebody writes so many lines, each settled before the next; how many calls that caused."""
    before = len(world.model.requests)
    for number in range(count):
        await world.say(f"小暖，第{number}件事", who, group)
    return len(world.model.requests) - before


async def test_off_unless_configured(world: World) -> None:
    assert await several(world, 40) == 40


async def test_a_minute_has_so_many_answers_for_each_person_and_one_notice(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 3})
    assert await several(world, 8) == 3
    assert world.replies == ["好的"] * 3 + ["太快啦，60 秒后再试～"]
    assert outcomes(world) == ["answered"] * 3 + ["limited"] * 5
    assert len(world.log.named("over_limit")) == 5
    assert await several(world, 3, "阿红") == 3, "others are not held up"
    await world.wait(60)
    assert await several(world, 1) == 1
    assert "第7件事" in world.last_user, "what was not answered is told in the next delta"
    assert await several(world, 3) == 2
    assert world.replies[-1].startswith(FAST), "a new minute, a new notice"


async def test_the_minute_slides(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 2})
    await several(world, 1)
    await world.wait(40)
    assert await several(world, 2) == 1
    assert world.replies[-1] == "太快啦，20 秒后再试～"
    await world.wait(19)
    assert await several(world, 1) == 0
    await world.wait(1)
    assert await several(world, 2) == 1


async def test_a_pause_between_two_answers(new_world: NewWorld) -> None:
    world = await new_world(limits={"cooldown_seconds": 300})
    assert await several(world, 2) == 1
    assert world.replies[-1] == "太快啦，5 分钟后再试～"
    for _ in range(5):
        await world.wait(59)
        assert await several(world, 1) == 0
    assert len(world.replies) == 2, "one notice for one pause"
    await world.wait(5)
    assert await several(world, 1) == 1


async def test_a_day_has_so_many_answers_and_the_next_begins_at_midnight(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_day": 2, "person_minute": 2})
    assert await several(world, 3) == 2
    assert world.replies[-1] == ENOUGH, "of two limits the one that holds longer is told"
    await world.wait(14 * 3600)
    assert await several(world, 2) == 0
    assert world.replies.count(ENOUGH) == 1
    await world.wait(3600)
    assert await several(world, 3) == 2
    assert world.replies.count(ENOUGH) == 2


@pytest.mark.parametrize(("limit", "told"), [("global_minute", BUSY), ("global_day", ENOUGH_ALL)])
async def test_all_together_have_limits_that_hold_for_owners_too(new_world: NewWorld, limit: str, told: str) -> None:
    world = await new_world(limits={limit: 3})
    assert await several(world, 2, "阿明", "家") == 2
    assert await several(world, 2, "小王") == 1
    assert world.replies[-1].startswith(told)
    assert await several(world, 2, "阿红", "班") == 0
    assert sum(reply.startswith(told) for reply in world.replies) == 2, "each is told once"


async def test_owners_have_no_limit_of_their_own(new_world: NewWorld) -> None:
    world = await new_world(limits={"cooldown_seconds": 60, "person_minute": 1, "person_day": 1})
    assert await several(world, 5, "小王") == 5


async def test_fifty_at_once_do_not_pass_a_limit(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 7, "global_minute": 10}, model={"slots": 50})
    world.shut()
    for who in ("阿明", "阿红"):
        lines = [world.message("小暖，在吗", who, f"{who}{number}") for number in range(25)]
        await asyncio.gather(*(world.app.ingest.accept(line) for line in lines))
    await world.held(10)
    await world.let_answer()
    assert len(world.model.requests) == 10
    ((most,),) = world.rows("SELECT max(n) FROM (SELECT count(*) AS n FROM call GROUP BY person_id) AS each")
    assert most in range(1, 8)
    assert sum("再试" in reply for reply in world.replies) == 2, "one line to each, of forty refused"


async def test_restarts_and_crashes_change_nothing(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 2, "person_day": 3})
    await several(world, 3)
    await world.restart()
    assert await several(world, 1) == 0
    await world.crash()
    assert await several(world, 1) == 0
    assert len(world.replies) == 3, "who was told is not told again"
    world.away(70)
    await world.crash()
    assert await several(world, 3) == 1


async def test_a_turn_that_a_crash_interrupts_counts_once_and_is_finished(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 2})
    world.shut()
    await world.app.ingest.accept(world.message("你好", "阿明"))
    await world.held()
    await world.crash()
    assert world.replies == ["好的"]
    assert world.rows("SELECT count(*), count(occasion) FROM call") == [(2, 1)]
    assert await several(world, 3) == 1


async def test_the_rounds_of_a_turn_belong_to_it(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 2, "cooldown_seconds": 1})
    rounds = iter([calls(("memory_recall", '{"query": "x"}')), calls(("memory_recall", '{"query": "y"}'))])
    world.model.script = lambda request: next(rounds, "好的")
    assert await several(world, 1) == 3
    await world.wait(1)
    assert await several(world, 1) == 1
    await world.wait(1)
    assert await several(world, 1) == 0


async def test_follow_ups_count_and_are_refused_in_silence(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 2})
    await several(world, 1, "阿明", "家")
    for text in ("我想说", "还有呢", "喂"):
        await world.say(text, "阿明", "家")
        await world.wait(6)
    assert world.replies == ["好的"] * 2
    assert [row[0] for row in world.peek.calls("cause")] == ["reply", "followup"]
    assert outcomes(world) == ["answered", "answered", "limited", "limited"]
    await world.say("小暖，在吗", "阿明", "家")
    assert world.replies[-1].startswith(FAST), "who calls is told"


async def test_without_notify_it_is_silent(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 1, "notify": False})
    assert await several(world, 4) == 1
    assert world.replies == ["好的"]
    assert outcomes(world)[1:] == ["limited"] * 3


async def test_memory_commands_are_never_limited(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_day": 1, "notify": False})
    await several(world, 2)
    await world.say("记住我怕狗", "阿明")
    assert world.replies[-1].startswith("记住啦 #1")
    await world.say("记住我怕猫。你说呢？", "阿明")
    assert world.replies[-1].startswith("记住啦 #2")
    assert len(world.model.requests) == 1


async def test_a_receipt_comes_with_the_notice(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_day": 1})
    await several(world, 1)
    await world.say("记住我怕猫。你说呢？", "阿明")
    assert world.replies[-1] == f"记住啦 #1：我怕猫\n{ENOUGH}"


async def test_who_went_too_far_does_not_hold_up_who_wrote_beside_them(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 2})
    await several(world, 2, "阿明", "别处")
    world.shut()
    await world.app.ingest.accept(world.message("小暖，在吗", "小王", "家"))
    await world.held()
    await world.app.ingest.accept(world.message("小暖，我怕狗吗", "阿红", "家"))
    await world.app.ingest.accept(world.message("小暖，我先问", "阿明", "家"))
    await world.let_answer()
    assert outcomes(world)[2:] == ["answered", "answered", "limited"]
    assert world.replies[2:4] == ["好的", "好的"]
    assert world.replies[4].startswith(FAST)
    assert len(world.replies) == 5


async def test_what_the_model_did_not_take_is_given_back(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 1})
    answers: list[Answer] = [ModelError("busy", ""), "好的"]
    world.model.script = lambda request: answers.pop(0)
    assert await several(world, 3) == 2
    assert outcomes(world) == ["failed", "answered", "limited"]


async def test_pictures_belong_to_their_answer_and_none_is_looked_at_beyond_the_limit(open_world: OpenMedia) -> None:
    world = await open_world({"limits": {"person_minute": 2}})
    for _ in range(3):
        await world.say("小暖，看看", "阿明", "家", attachments=(CAT, CAT))
    causes = [row[0] for row in world.peek.calls("cause")]
    assert causes == ["see", "see", "reply"] * 2
    assert world.rows("SELECT count(occasion) FROM call") == [(2,)]
    assert world.rows("SELECT state, count(*) FROM attachment GROUP BY 1 ORDER BY 1") == [("done", 4), ("new", 2)]
    assert world.replies[-1].startswith(FAST)


@pytest.mark.parametrize(
    ("text", "told"),
    [("我說說這件事", "太快啦，60 秒後再試～"), ("Let me tell you", "That was a bit fast, try again in 60 s")],
)
async def test_the_notice_is_in_the_persons_script(new_world: NewWorld, text: str, told: str) -> None:
    world = await new_world(limits={"person_minute": 1})
    await world.say(text, "阿明")
    await world.say(text, "阿明")
    assert world.replies[-1] == told


async def test_many_strangers_cause_no_call_and_use_up_nothing(new_world: NewWorld) -> None:
    world = await new_world(limits={"global_day": 2, "global_minute": 2})
    world.app._sender.connect(Talk("telegram", said=world.talk.said))
    lines = [
        world.message("小暖，在吗", f"人{number}", "大群" if number % 5 else "", "telegram", mentions_bot=True)
        for number in range(sized(1_000))
    ]
    await asyncio.gather(*(world.app.ingest.accept(line) for line in lines))
    await world.settled()
    assert world.model.requests == []
    assert world.peek.codes.count(kind="pair") == 3
    assert await several(world, 3) == 2


async def test_who_goes_too_far_in_two_groups_at_once_holds_nobody_up(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 1})
    world.shut()
    for group in ("家", "班"):
        await world.app.ingest.accept(world.message("小暖，在吗", "小王", group))
    await world.held(2)
    for group in ("家", "班"):
        await world.app.ingest.accept(world.message("小暖，我也问", f"{group}里人", group))
        await world.app.ingest.accept(world.message("小暖，我先问", "阿明", group))
    await world.let_answer()
    assert outcomes(world).count("limited") == 1
    assert world.peek.events("name", outcome="limited") == [("阿明",)]


async def test_an_answer_of_a_fallback_counts_once(tmp_path: Path) -> None:
    first, second = Named("first", ModelError("unreachable", "")), Named("second", "好")
    async with with_models(tmp_path, first, second, limits={"person_minute": 2}) as world:
        for _ in range(4):
            await world.say("在吗", "阿明")
        assert world.replies[:2] == ["好"] * 2
        assert outcomes(world) == ["answered"] * 2 + ["limited"] * 2


async def test_two_accounts_that_are_linked_share_what_is_left(tmp_path: Path) -> None:
    allow = {"telegram": {"allow": ["t-阿明"]}, "discord": {"allow": ["d-阿明"]}}
    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "limits": {"person_day": 2}, **allow})
    world = await World(tmp_path / "data", settings, ("telegram", "discord")).open()
    for platform in ("telegram", "discord"):
        for _ in range(3):
            await world.say("在吗", "阿明", platform=platform)
    assert world.replies == ["好的", "好的", ENOUGH] * 2
    await linked(world)
    before = len(world.replies)
    for platform in ("telegram", "discord"):
        await world.say("在吗", "阿明", platform=platform)
    assert world.replies[before:] == []
    assert world.rows("SELECT count(DISTINCT person_id) FROM told") == [(1,)]
    await world.close()
