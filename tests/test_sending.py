"""Messages on their way out: what a platform's answer allows, long replies in parts, replies that are seen growing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.errors import ModelError, SendError
from bot.core.events import Outgoing
from tests.fakes.clock import let_others_run
from tests.fakes.model import ScriptedModel
from tests.fakes.platform import Drafting, Lively, StreamingModel
from tests.world import World

pytestmark = pytest.mark.debugged

ONCE = "从前有一座山，山里有一座庙，" * 10
"""Long enough to be shown while it is written."""

LONG = "很久很久以前，海边有一座灯塔。" * 20


async def opened(folder: Path, talk: Lively, tables: dict[str, object] | None = None) -> World:
    """An installation whose platform is `talk`, with a model that streams."""
    world = World(folder, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, **(tables or {})}))
    world.talk, world.model = talk, StreamingModel()
    return await world.open()


async def until(true: Callable[[], bool]) -> None:
    """Let everything run until it is so."""
    while not true():
        await let_others_run()


def writer(world: World) -> StreamingModel:
    assert isinstance(world.model, StreamingModel)
    return world.model


async def ask(world: World, text: str = "讲个故事") -> StreamingModel:
    """Somebody asks; the model that begins to write."""
    model = writer(world)
    await world.app.ingest.accept(world.message(text))
    await until(lambda: model.writing)
    return model


async def pass_interval(world: World, ms: int) -> None:
    """The time until the next preview passes, once somebody waits for it."""
    due = world.clock.now() + ms
    await until(lambda: any(alarm.when == due and not alarm.cancelled for alarm in world.clock._alarms))
    await world.clock.advance(ms, let_others_run)


async def test_a_reply_is_seen_growing_and_ends_as_the_one_message_it_began_as(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world = await opened(tmp_path, talk)
    model = await ask(world)
    model.write(ONCE)
    await let_others_run()
    assert talk.history == [], "a short reply needs no preview"
    await pass_interval(world, 1_500)
    await until(lambda: world.peek.outbox("preview_id") == [("m1",)])
    for piece in ("座山", "，山里有庙"):
        model.write(piece)
        await pass_interval(world, 1_500)
        await until(lambda: talk.shown["m1"] == model.written)
    model.write("。")
    model.finish()
    await world.app.settled()
    texts = ["…", ONCE + "座山", ONCE + "座山，山里有庙", ONCE + "座山，山里有庙。"]
    assert talk.history == [("m1", text) for text in texts]
    assert world.peek.outbox("state", "attempts") == [("sent", 1)]
    await world.close()


async def test_a_preview_that_a_crash_left_is_edited_into_the_reply_never_followed_by_a_second(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world = await opened(tmp_path, talk)
    model = await ask(world)
    model.write(ONCE)
    await pass_interval(world, 1_500)
    await until(lambda: world.peek.outbox("preview_id") == [("m1",)])
    world.model = StreamingModel()
    await world.crash(shut=True)
    await until(lambda: writer(world).writing)
    writer(world).write("重新讲")
    writer(world).finish()
    await world.app.settled()
    assert talk.shown == {"m1": "重新讲"}, "never followed by a second"
    await world.close()


async def test_drafts_are_shown_where_a_chat_takes_them_and_then_one_message_is_sent(tmp_path: Path) -> None:
    talk = Drafting(size=10_000)
    world = await opened(tmp_path, talk)
    model = await ask(world)
    for piece in ("一", "二"):
        model.write(piece)
        await pass_interval(world, 700)
        await until(lambda: talk.drafts[-1:] == [model.written])
    model.finish()
    await world.app.settled()
    assert talk.drafts == ["一", "一二"]
    assert talk.history == [("m1", "一二")]
    await world.close()


async def test_a_failed_turn_turns_its_preview_into_the_notice(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world = await opened(tmp_path, talk)
    model = await ask(world)
    model.write(ONCE)
    await pass_interval(world, 1_500)
    await until(lambda: world.peek.outbox("preview_id") == [("m1",)])
    model.fault = ModelError("cut", "…")
    model.finish()
    await world.app.settled()
    assert list(talk.shown) == ["m1"]
    assert "一座庙" not in talk.shown["m1"]
    await world.close()


async def test_a_long_reply_goes_out_in_parts_that_make_it_up_in_order(tmp_path: Path) -> None:
    talk = Lively(size=100)
    world = await opened(tmp_path, talk)
    model = await ask(world)
    model.write(LONG)
    model.finish()
    await world.app.settled()
    assert "".join(talk.shown.values()) == LONG
    assert len(talk.shown) == 3
    assert world.peek.outbox("part", "state") == [(0, "sent"), (1, "sent"), (2, "sent")]
    await world.close()


class Doubtful(Lively):
    """Of the third message nobody hears whether it arrived."""

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        ids = await super().send(outgoing)
        if len(self.said) == 3:
            raise SendError("unknown", "timed out")
        return ids


async def test_of_five_parts_the_one_of_unknown_fate_is_sent_once_and_the_others_all_arrive(tmp_path: Path) -> None:
    world = await opened(tmp_path, talk := Doubtful(size=100))
    model = await ask(world)
    model.write("".join(str(part) * 100 for part in range(5)))
    model.finish()
    await world.app.settled()
    await world.wait(30)
    assert [out.text[0] for out in talk.said] == list("01234")
    assert [state for (state,) in world.peek.outbox("state")] == [
        "sent",
        "sent",
        "unknown",
        "sent",
        "sent",
    ]
    await world.close()


async def test_with_placeholders_every_message_is_first_shown_and_then_edited(tmp_path: Path) -> None:
    talk = Lively(size=10_000, placeholder=True)
    world = await opened(tmp_path, talk)
    await world.app.ingest.accept(world.message(".ai help"))
    await world.app.settled()
    assert talk.history[0] == ("m1", "…")
    assert list(talk.shown) == ["m1"]
    assert ".ai help" in talk.shown["m1"]
    await world.close()


@pytest.mark.parametrize(
    ("fate", "state", "seen"),
    [
        (SendError("later", "slow down", 30_000), "sent", 2),
        (SendError("unknown", "timed out"), "unknown", 1),
        (SendError("never", "refused"), "failed", 1),
        (SendError("gone", "blocked"), "cancelled", 1),
    ],
)
async def test_what_a_platform_answers_decides_what_becomes_of_a_message(
    tmp_path: Path, fate: SendError, state: str, seen: int
) -> None:
    talk = Lively(size=10_000)
    world = await opened(tmp_path, talk)
    talk.fates = [fate]
    await world.say(".ai help")
    await world.wait(29)
    assert talk.history == [], "nothing goes out inside the wait"
    await world.wait(31)
    await world.say(".ai budget show")
    assert world.peek.outbox("state", id=1) == [(state,)]
    assert len(talk.history) == seen
    lines = world.log.named("send_failed")
    assert [line["fate"] for line in lines] == [fate.fate]
    await world.close()


async def test_what_does_not_go_out_is_tried_again_after_three_minutes_at_most(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world = await opened(tmp_path, talk)
    talk.fates = [SendError("later", "away")] * 12
    await world.say(".ai help")
    await world.wait(1_000)
    assert [line["wait_ms"] for line in world.log.named("send_failed")] == [
        *(1_000 << doubled for doubled in range(8)),
        *[180_000] * 4,
    ]
    assert len(talk.history) == 1
    await world.close()


async def test_a_message_that_may_have_gone_out_before_a_crash_is_not_sent_again_where_it_would_show_twice(
    tmp_path: Path,
) -> None:
    for resends, state in ((False, "unknown"), (True, "sent")):
        talk = Lively(size=10_000, resends=resends)
        world = await opened(tmp_path / state, talk)
        event = world.message(".ai help")
        world.talk.broken = True
        await world.app.ingest.accept(event)
        await world.app.settled()
        await world.store.outbox.take(1, world.clock.now() + 99_000)
        talk.broken = False
        await world.crash()
        await world.wait(2)
        assert world.peek.outbox("state") == [(state,)]
        assert len(talk.history) == (1 if resends else 0)
        await world.close()


async def test_where_messages_begin_as_placeholders_one_of_unknown_fate_is_sent_again(tmp_path: Path) -> None:
    talk = Lively(size=10_000, placeholder=True)
    world = await opened(tmp_path, talk)
    talk.broken = True
    await world.say(".ai help")
    await world.store.outbox.take(1, world.clock.now() + 99_000)
    talk.broken = False
    await world.crash()
    await world.wait(2)
    assert world.peek.outbox("state") == [("sent",)]
    await world.close()


async def test_a_placeholder_of_which_nobody_knows_whether_it_went_out_loses_no_reply(tmp_path: Path) -> None:
    talk = Lively(size=10_000, placeholder=True, lost=[SendError("unknown", "timed out")] * 2)
    world = await opened(tmp_path, talk)
    world.model = ScriptedModel()
    await world.say("记住我怕狗")
    assert world.peek.outbox("state") == [("pending",)]
    await world.wait(3)
    assert world.peek.outbox("state") == [("sent",)]
    assert list(talk.shown.values()) == ["…", "…", "记住啦 #1：我怕狗"]
    await world.close()


async def test_the_answer_to_a_command_goes_out_in_parts(tmp_path: Path) -> None:
    talk = Lively(size=40)
    world = await opened(tmp_path, talk)
    await world.say(".ai help")
    assert len(talk.shown) > 3
    assert ".ai help" in "".join(talk.shown.values())
    await world.close()


async def test_calls_that_crashes_cut_off_are_not_the_turns_own(tmp_path: Path) -> None:
    world = await World(tmp_path).open()
    world.shut()
    await world.app.ingest.accept(world.message("在吗"))
    for _ in range(6):
        await world.held()
        await world.crash(shut=True)
    await world.held()
    assert world.model.gate is not None
    world.model.gate.set()
    await world.app.settled()
    assert world.replies == ["好的"]
    await world.close()


async def test_a_message_on_which_the_program_always_dies_is_given_up(tmp_path: Path) -> None:
    world = await World(tmp_path).open()
    world.shut()
    await world.app.ingest.accept(world.message("在吗"))
    for _ in range(8):
        await world.held()
        await world.crash(shut=True)
    await world.app.settled()
    assert len(world.replies) == 1
    assert world.peek.turns("state") == [("failed",)]
    await world.close()


async def test_what_waits_for_a_chat_that_is_gone_is_not_said_when_it_is_back(tmp_path: Path) -> None:
    talk = Lively(size=10, fates=[SendError("gone", "blocked")])
    world = await opened(tmp_path, talk)
    model = await ask(world)
    model.written = LONG
    model.finish()
    await world.app.settled()
    model = await ask(world, "我回来了")
    model.written = "欢迎回来"
    model.finish()
    await world.app.settled()
    assert list(talk.shown.values()) == ["欢迎回来"]
    await world.close()


async def test_a_reply_that_becomes_silence_leaves_no_preview(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world = await opened(tmp_path, talk)
    await world.app.ingest.accept(world.message("小暖，在吗", group="g"))
    model = writer(world)
    await until(lambda: model.writing)
    model.write(ONCE)
    await pass_interval(world, 1_500)
    await until(lambda: bool(talk.shown))
    model.written = "skip"
    model.finish()
    await world.app.settled()
    await world.wait(5)
    assert talk.shown == {}
    await world.close()
