"""What comes late, and what cannot be answered where it was said: backlogs, old knocks, quotes, muted groups."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.errors import SendError
from bot.core.events import Incoming, Place, Sender
from tests.fakes.platform import Lively
from tests.peek import Other
from tests.world import World

Enter = Callable[..., Awaitable[World]]
HOUR = 3_600_000
ALLOWED = ("group:大群", *(f"group:群{number}" for number in range(5)), "t-阿红")


@pytest.fixture
async def enter(tmp_path: Path) -> AsyncIterator[Enter]:
    """Starts a nuan that talks on Telegram, too, with these ids allowed."""
    worlds: list[World] = []

    async def start(*allowed: str) -> World:
        tables = {"bot": {"timezone": "Asia/Shanghai"}, "telegram": {"allow": list(allowed)}}
        worlds.append(World(tmp_path / "data", Settings.model_validate(tables), ("telegram",)))
        return await worlds[-1].open()

    yield start
    for world in worlds:
        await world.close()


async def test_a_backlog_is_kept_whole_and_gets_one_reply_in_each_chat(enter: Enter) -> None:
    world = await enter(*ALLOWED)
    now = world.clock.now()
    for number in range(5):
        for line in range(100):
            at = now - 3 * HOUR + line * 60_000 if line < 95 else now - (100 - line) * 60_000
            said = world.message(
                f"小暖，第{line}句", "阿红", f"群{number}", "telegram", at=at, external_id=str(line), mentions_bot=True
            )
            await world.app.ingest.accept(said)
    await world.wait(60)
    assert world.peek.events.count(kind="message") == 500
    assert sorted(out.external_chat_id for out in world.talk.said) == [f"group:群{number}" for number in range(5)]
    asked = world.rows("SELECT DISTINCT text FROM turn_event JOIN event ON event.id = event_id ORDER BY event.id")
    assert asked == [(f"小暖，第{line}句",) for line in range(95, 100)], "what is older is read, not answered"


async def test_a_late_stranger_is_told_the_code_and_nothing_of_theirs_is_kept(enter: Enter) -> None:
    world = await enter()
    await world.say("我的秘密是蓝鲸", "阿生", platform="telegram", at=world.clock.now() - HOUR)
    assert world.peek.events("text", kind="message") == [("",)]
    assert [out.external_chat_id for out in world.talk.said if out.platform == "telegram"] == ["dm:阿生"]
    assert world.model.requests == []


async def test_a_late_start_is_answered(enter: Enter) -> None:
    world = await enter(*ALLOWED)
    await world.say("/start", "阿生", platform="telegram", at=world.clock.now() - HOUR)
    assert len(world.replies) == 1


async def test_what_a_message_replies_to_is_told_as_the_platform_sent_it_along(enter: Enter) -> None:
    world = await enter(*ALLOWED)
    before = {"group": "大群", "platform": "telegram"}
    await world.say("小暖，翻译这个", "阿红", **before, target="4711", quote="蓝鲸是最大的动物")
    assert 'r="蓝鲸是最大的动物"' in world.last_user
    gone = Incoming(world.message("", "阿红", **before).place, None, "event", label="delete", target="4711")
    await world.app.ingest.accept(gone)
    await world.app.settled()
    await world.say("小暖，再说一次", "阿红", **before)
    assert "蓝鲸" not in "\n".join(message.content for message in world.prompts[-1])
    assert world.peek.events.count(quote=Other("")) == 0


async def test_a_stored_line_speaks_for_itself_and_a_forgotten_one_not_through_a_quote(world: World) -> None:
    await world.say("我养了一头蓝鲸", external_id="7")
    await world.say("记住我对花生过敏", external_id="8")
    await world.say("你怎么看", target="7", quote="我养了一头假鲸")
    assert "假鲸" not in world.sent
    await world.say("这个呢", target="99", quote="我对花生过敏")
    await world.say("忘记我对花生过敏")
    assert world.rows("SELECT count(*) FROM event WHERE quote LIKE '%花生%' OR text LIKE '%花生%'") == [(0,)]


async def test_where_nuan_may_only_read_it_costs_one_call_an_hour(tmp_path: Path) -> None:
    world = World(tmp_path, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}}))
    talk = Lively(size=10_000)
    talk.fates = [SendError("muted", "no rights"), SendError("muted", "no rights")]
    world.talk = talk
    await world.open()
    for _ in range(5):
        await world.say("小暖，在吗", "阿红", "大群")
    assert len(world.model.requests) == 1
    assert len(world.log.named("send_failed")) == 1
    await world.wait(3601)
    await world.say("小暖，在吗", "阿红", "大群")
    assert len(world.model.requests) == 2
    await world.wait(3601)
    await world.say("小暖，在吗", "阿红", "大群")
    assert len(world.replies) == 1
    await world.close()


async def test_a_reaction_counts_for_a_reply_in_a_topic_though_telegram_names_only_the_group(
    enter: Enter,
) -> None:
    world = await enter("-100", "-100:5")
    topic, sender = Place("telegram", "-100:5", "group", "话题", "-100"), Sender("telegram", "t-1", "阿红")
    await world.app.ingest.accept(Incoming(topic, sender, "message", "小暖，在吗", mentions_bot=True))
    await world.app.settled()
    (reply,) = world.peek.sent("external_id")[0]
    group = Place("telegram", "-100", "group", "大群")
    await world.app.ingest.accept(Incoming(group, sender, "event", "👍", "reaction", target=str(reply)))
    await world.app.settled()
    assert world.peek.feedback("sign") == [("👍",)]
