"""Taking in: once each, with the decision and its deadlines in the same commit; going out: in order."""

from dataclasses import replace

import pytest

from bot.core.events import Draft
from bot.store.store import Store
from tests.contract.engines import Engine
from tests.storing import NOW, Where, say, talk

GROUP, BOB = Where("ann", "the-group", "group"), Where("bob", "the-group", "group")


async def test_a_second_delivery_changes_nothing(store: Store) -> None:
    first = await say(store, "你好", key="42")
    again = await say(store, "你好", key="42", at=NOW + 1, scene="雨")
    assert first.event is not None
    assert (again.event, again.decision) == (None, None)
    assert again.chat.id == first.chat.id
    assert len((await store.events.waiting(1, NOW + 1)).due) == 1
    assert (await store.people.chat(1)).scene == ""
    for _ in range(2):
        assert (await say(store, "嗯")).event is not None


async def test_a_delivery_is_remembered_over_a_restart_until_its_number_is_too_old(engine: Engine) -> None:
    async with await engine.open() as store:
        await say(store, "你好", key="42")
    async with await engine.open() as store:
        assert (await say(store, "你好", key="42")).event is None


async def test_the_decision_and_its_deadlines_are_stored_with_the_line(engine: Engine, store: Store) -> None:
    await say(store, "小暖", GROUP, why="name")
    await say(store, "随便聊", BOB, action="listen", why="listen")
    assert engine.peek.events("text", "state", "why", "due_at") == [
        ("小暖", "queued", "name", NOW),
        ("随便聊", "listened", "listen", None),
    ]
    assert engine.peek.windows("person_id", "until") == [(1, NOW + 60_000)]
    assert await store.deadlines.waiting() == NOW


async def test_a_command_opens_no_conversation(engine: Engine, store: Store) -> None:
    await say(store, ".ai help", GROUP, why="command")
    assert engine.peek.windows.count() == 0


async def test_the_lines_of_one_person_wait_for_the_newest_and_nobody_else_s_do(store: Store) -> None:
    await say(store, "我想说", GROUP, action="follow", why="window", wait=5_000)
    await say(store, "我也", BOB, NOW + 1_000, action="follow", why="window", wait=5_000)
    await say(store, "就是那个", GROUP, NOW + 3_000, action="follow", why="window", wait=5_000)
    assert (await store.events.waiting(1, NOW + 5_999)).due == ()
    assert [line.text for line in (await store.events.waiting(1, NOW + 6_000)).due] == ["我也"]
    due = (await store.events.waiting(1, NOW + 8_000)).due
    assert [line.text for line in due] == ["我想说", "我也", "就是那个"]
    assert await store.deadlines.waiting() == NOW + 8_000


async def test_a_scene_is_a_line_only_when_it_changed(store: Store) -> None:
    for text, scene in (("一", "晴"), ("二", "晴"), ("三", "雨")):
        await say(store, text, action="listen", why="listen", scene=scene)
    await say(store, "四", action="listen", why="listen")
    await say(store, "五", action="listen", why="listen", scene="")
    lines = await store.events.recent(1, 0, 0, 20)
    assert [line.text for line in lines] == ["晴", "一", "二", "雨", "三", "四", "", "五"]
    assert {(line.kind, line.name) for line in lines if line.label == "scene"} == {("event", "")}
    assert (await store.people.chat(1)).scene == ""


async def test_what_does_not_fit_into_the_newest_lines_is_counted(store: Store) -> None:
    assert (await store.sessions.log(1, 3, 1)).news == ()
    await talk(store, "你好", "你好呀")
    for number in range(10):
        await say(store, str(number), action="listen", why="listen")
    log = await store.sessions.log(1, 3, 1)
    assert ([line.text for line in log.news], log.earlier) == (["7", "8", "9"], 7)
    log = await store.sessions.log(1, 11, 1)
    assert ([line.text for line in log.news], log.earlier) == ([str(number) for number in range(10)], 0)


async def test_messages_of_a_chat_leave_one_by_one_in_order_and_chats_do_not_wait_for_each_other(
    engine: Engine, store: Store
) -> None:
    event = (await say(store, ".ai a")).event
    other = (await say(store, ".ai b", Where("bob", "dm-bob"))).event
    assert event is not None
    assert other is not None
    for text in ("一", "二"):
        await store.outbox.answer(1, (event.id,), (Draft(text, "command"),), NOW)
    await store.outbox.answer(2, (other.id,), (Draft("三", "command"),), NOW)
    first = await store.outbox.take(1, NOW)
    assert first is not None
    assert first.text == "一"
    assert await store.outbox.take(1, NOW) is None
    third = await store.outbox.take(2, NOW)
    assert third is not None
    assert third.text == "三"
    await store.outbox.not_sent(first.chat_id, first.outbox_id, "away", NOW + 1_000)
    assert await store.outbox.take(1, NOW + 999) is None
    again = await store.outbox.take(1, NOW + 1_000)
    assert again == replace(first, again=True, tried_at=NOW)
    await store.outbox.sent(first.chat_id, first.outbox_id, ("77",), NOW)
    second = await store.outbox.take(1, NOW)
    assert second is not None
    assert second.text == "二"
    await store.outbox.not_sent(second.chat_id, second.outbox_id, "blocked", None)
    assert await store.outbox.take(1, NOW + 9_999) is None
    assert engine.peek.outbox("state", "text", "external_ids", id=1) == [("sent", "", '["77"]')]


async def test_a_message_that_is_due_goes_only_when_the_one_before_it_is_sent_whichever_was_stored_first(
    store: Store,
) -> None:
    await say(store, ".ai a")
    await store.outbox.tell(1, Draft("later", "notice"), NOW + 1_000)
    await store.outbox.tell(1, Draft("now", "notice"), NOW)
    first = await store.outbox.take(1, NOW)
    assert first is not None
    assert first.text == "now"
    assert await store.outbox.take(1, NOW + 2_000) is None
    await store.outbox.sent(first.chat_id, first.outbox_id, ("77",), NOW + 2_000)
    second = await store.outbox.take(1, NOW + 2_000)
    assert second is not None
    assert second.text == "later"


@pytest.mark.parametrize(
    ("resend", "shown", "state"), [(True, False, "pending"), (False, True, "pending"), (False, False, "unknown")]
)
async def test_what_a_crash_left_in_sending_is_sent_again_only_where_that_does_no_harm(
    engine: Engine, resend: bool, shown: bool, state: str
) -> None:
    platforms = frozenset({"test"} if resend else ())
    async with await engine.open() as store:
        event = (await say(store, ".ai a")).event
        assert event is not None
        await store.outbox.answer(1, (event.id,), (Draft("一", "command"),), NOW)
        taken = await store.outbox.take(1, NOW)
        assert taken is not None
        if shown:
            assert await store.outbox.shown(taken.chat_id, taken.outbox_id, "77", NOW)
        assert await store.outbox.recover(platforms) == (0, 0)
    async with await engine.open() as store:
        assert await store.outbox.recover(platforms) == ((1, 0) if state == "pending" else (0, 1))
        assert engine.peek.outbox.values("state") == [state]
        assert (await store.outbox.take(1, NOW) is not None) == (state == "pending")


@pytest.mark.parametrize(("only_for", "found"), [("", (1, 0)), ("test:bob", (0, 1))])
async def test_where_messages_begin_as_placeholders_what_one_alone_may_read_is_not_sent_again(
    engine: Engine, only_for: str, found: tuple[int, int]
) -> None:
    async with await engine.open() as store:
        await say(store, ".ai a")
        await store.outbox.tell(1, Draft("mine", "command", only_for=only_for), NOW)
        assert await store.outbox.take(1, NOW)
    async with await engine.open() as store:
        assert await store.outbox.recover(frozenset(), frozenset({"test"})) == found


async def test_a_further_answer_to_an_interaction_is_known_as_one_and_not_sent_again_after_a_crash(
    engine: Engine,
) -> None:
    platforms = frozenset({"test"})
    async with await engine.open() as store:
        event = (await say(store, ".ai a")).event
        assert event is not None
        drafts = [Draft(text, "command", via="7:key") for text in ("一", "二", "三")]
        await store.outbox.answer(1, (event.id,), drafts, NOW)
        first = await store.outbox.take(1, NOW)
        assert first is not None
        assert not first.further
        await store.outbox.not_sent(1, first.outbox_id, "never", None)
        second = await store.outbox.take(1, NOW)
        assert second is not None
        assert not second.further, "the first was not sent"
        assert await store.outbox.recover(platforms) == (0, 0)
    async with await engine.open() as store:
        assert await store.outbox.recover(platforms) == (1, 0), "the first fills what is there, again and again"
        second = await store.outbox.take(1, NOW)
        assert second is not None
        third = (await store.outbox.sent(1, second.outbox_id, ("77",), NOW, platforms))[1]
        assert third is not None
        assert third.further
    async with await engine.open() as store:
        assert await store.outbox.recover(platforms) == (0, 1)


async def test_where_nothing_is_said_to_an_interaction_the_sign_that_something_comes_is_taken_away(
    engine: Engine,
) -> None:
    async with await engine.open() as store:

        async def used(via: str) -> int:
            event = (await say(store, ".ai a", via=via)).event
            assert event is not None
            return event.id

        await store.outbox.answer(1, (await used("1:a"),), (Draft("一", "command", via="1:a"),), NOW)
        await store.events.finish((await used("2:b"),), "command")
        await store.outbox.limit(1, 1, (await used("3:c"),), (Draft("二", "notice", via="3:c"), None), ("w", 0), NOW)
        tired = await used("4:d")
        assert await store.turns.failed(1, (tired,), "down", lambda tries: 0, None, NOW) == ([tired], [])
        failed = await store.turns.failed(1, (tired,), "down", lambda tries: None, Draft("三", "notice"), NOW)
        assert failed == ([tired], [tired])
        taken = list[tuple[str, str, str]]()
        while (row := await store.outbox.take(1, NOW)) is not None:
            taken.append((row.kind, row.via, row.text))
            await store.outbox.sent(1, row.outbox_id, (), NOW)
    assert taken == [
        ("command", "1:a", "一"),
        ("withdrawal", "2:b", ""),
        ("notice", "3:c", "二"),
        ("notice", "", "三"),
        ("withdrawal", "4:d", ""),
    ]
