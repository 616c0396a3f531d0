"""What people promise in their own messages is kept, joined, ended and forgotten with them."""

from dataclasses import replace

import pytest

from bot.core.events import Incoming
from bot.core.memories import NewCommitment, Nudge
from bot.core.sessions import Digest
from bot.store.digests import Digested
from bot.store.joining import join_persons
from tests.living import later
from tests.peek import Like
from tests.world import NINE, World

GROUP = "闲聊"
DAY = 86_400_000


def kept(world: World, columns: str = "text") -> list[tuple[object, ...]]:
    """What the store holds of promises, oldest first."""
    return world.rows(f"SELECT {columns} FROM commitment ORDER BY id")


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        ("好，我明天把报告发给你", "我明天把报告发给你"),
        ("我答應媽媽週末回家吃飯", "我答應媽媽週末回家吃飯"),
        ("Sure, I'll send you the file tomorrow", "I'll send you the file tomorrow"),
    ],
)
async def test_a_promise_is_kept_with_the_message_that_makes_it(world: World, text: str, promise: str) -> None:
    await world.say(text)
    assert kept(world, "text, state, visibility, source") == [(promise, "pending", "private", "rule")]
    assert world.rows("SELECT text FROM edge JOIN event ON event_id = event.id WHERE edge.kind = 'commitment'") == [
        (text,)
    ]


async def test_nobody_else_s_words_and_no_question_make_one(world: World) -> None:
    await world.say("他答应我明天还钱")
    await world.say("我明天要不要把报告发给他？")
    await world.say("我明天把报告发给你", forwarded=True)
    await world.say("> 我明天把报告发给你")
    await world.say("我明天把报告发给你", "机器人", GROUP, platform="telegram", is_bot=True)
    await world.say("记住我明天把报告发给你")
    await world.say("我明天把报告发给你", "路人", GROUP, platform="telegram")
    assert kept(world) == []


async def test_a_day_is_the_end_of_that_day_in_the_writers_calendar(world: World) -> None:
    await world.say("我明天把报告发给你")
    midnight = NINE - 9 * 3_600_000
    assert kept(world, "due_at") == [(midnight + 2 * DAY - 1,)]


async def test_one_that_says_the_same_is_the_same_and_takes_the_new_day(world: World) -> None:
    await world.say("我明天把报告发给你")
    await world.say("我后天把报告发给你")
    (row,) = kept(world, "text, due_at")
    assert row == ("我明天把报告发给你", NINE - 9 * 3_600_000 + 3 * DAY - 1)
    await world.say("我明天把照片发给你")
    assert len(kept(world)) == 2


@pytest.mark.parametrize(
    ("promise", "done"),
    [
        ("我明天把报告交给你", "报告交了"),
        ("我今晚會把碗洗好", "碗已經洗好了"),
        ("I'll send you the file tomorrow", "done, sent it"),
        ("我今晚会把碗洗好", "已经搞定了"),
    ],
)
async def test_who_says_that_it_is_done_ends_it(world: World, promise: str, done: str) -> None:
    await world.say(promise)
    await world.say(done)
    assert kept(world, "state") == [("done",)]


async def test_being_at_it_is_not_done_and_words_that_fit_several_end_none(world: World) -> None:
    await world.say("我今晚把报告写完给你")
    await world.say("还在写报告")
    await world.say("我明天把碗洗好")
    await world.say("搞定了")
    await world.say("报告没写完")
    await world.say("他把碗洗好了")
    assert kept(world, "state") == [("pending",), ("pending",)]


async def test_nobody_ends_what_another_promised(world: World) -> None:
    await world.say("我明天把报告交给大家", group=GROUP)
    await world.say("小暖，报告交了", "阿明", GROUP)
    assert kept(world, "state") == [("pending",)]
    await world.say("小暖，报告交了", group=GROUP)
    assert kept(world, "state") == [("done",)]


async def happens(world: World, label: str, target: str, text: str = "", *who: str) -> None:
    """The platform says that something happened to a message."""
    said = world.message(text, *who)
    await world.app.ingest.accept(Incoming(said.place, said.sender, "event", text, label, "", target=target))
    await world.settled()


async def test_with_the_message_goes_the_promise(world: World) -> None:
    await world.say("我明天把报告发给你", external_id="m1")
    await happens(world, "delete", "m1")
    assert kept(world) == []
    assert world.peek.edges.count(kind="commitment") == 0


async def test_an_edited_message_promises_what_it_says_now(world: World) -> None:
    await world.say("我明天把报告发给你", external_id="m1")
    await happens(world, "edit", "m1", "我明天把照片发给你")
    assert kept(world) == [("我明天把照片发给你",)]
    await happens(world, "edit", "m1", "明天见")
    assert kept(world) == []


async def test_a_message_that_is_edited_before_its_answer_promises_what_it_says_now(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("我明天把报告发给你", "阿明", GROUP, external_id="m1")
    assert len(world.replies) == 1
    await happens(world, "edit", "m1", "我后天把照片发给你", "阿明", GROUP)
    assert kept(world) == [("我后天把照片发给你",)]


async def test_off_the_record_there_is_no_promise(world: World) -> None:
    await world.say("我明天把报告发给你")
    await world.say("别记这个")
    assert kept(world) == []


async def test_what_is_forgotten_takes_its_promise_along_and_is_not_promised_again(world: World) -> None:
    await world.say("记住我要把蓝色药箱还给外婆")
    await world.say("我明天把蓝色药箱还给外婆")
    await world.say("我答应你明天去剪头发")
    await world.say("忘记我要把蓝色药箱还给外婆")
    assert kept(world) == [("我答应你明天去剪头发",)]


async def test_old_ones_break_and_ended_ones_go_after_their_days(world: World) -> None:
    await world.say("我明天把报告发给你")
    await later(world, 32.5)
    assert kept(world, "state") == [("failed",)]
    await later(world, 31)
    assert kept(world) == []
    assert world.peek.edges.count(kind="commitment") == 0


def found(world: World, text: str, events: tuple[int, ...], made_at: int, owner: int = 1) -> NewCommitment:
    """What a digest finds in these lines."""
    chat = world.peek.events("chat_id", id=events[0])[0][0]
    assert isinstance(chat, int)
    return NewCommitment(owner, chat, "private", text, made_at, "digest", events)


async def digest(world: World, *commitments: NewCommitment) -> None:
    """The session closes with a digest that found these."""
    session = await world.store.sessions.open_session(commitments[0].chat_id)
    assert session is not None
    await world.store.sessions.close(session.id, "new", world.clock.now())
    made = Digest("聊天", (), "model", commitments)
    done = await world.store.digests.store(Digested(session, made, 1, ("小王",), ()), world.clock.now())
    assert done


async def test_a_digest_joins_what_the_rule_noted_and_revives_nothing(world: World) -> None:
    await world.say("我明天把报告发给你")
    await world.say("我今晚把碗洗好")
    await world.say("碗洗好了")
    await world.say("我明天去给外婆打电话", external_id="m9")
    await world.say(".ai promise drop 3")
    said = [int(str(row[0])) for row in world.peek.events("id", kind="message")]
    before = kept(world, "id, text, state")
    world.store.tombstones.add_tombstones([(1, "明天去剪头发")], world.clock.now())
    await digest(
        world,
        found(world, "明天把报告发给你", (said[0],), NINE),
        found(world, "把碗洗好", (said[1],), NINE),
        found(world, "给外婆打电话", (said[3],), NINE),
        found(world, "明天去剪头发", (said[0],), NINE),
    )
    assert kept(world, "id, text, state") == before


async def test_a_day_that_a_digest_reads_otherwise_off_the_same_line_moves_nothing(world: World) -> None:
    await world.say("我明天把报告发给你")
    event = int(str(world.peek.events("id", kind="message")[0][0]))
    before = kept(world, "due_at"), world.peek.reminders("due_at")
    later_on = NINE + 3 * DAY
    again = found(world, "我明天把报告发给你", (event,), NINE)
    await digest(world, replace(again, due_at=later_on, nudge=Nudge(later_on, 50)))
    assert (kept(world, "due_at"), world.peek.reminders("due_at")) == before


async def test_a_promise_alone_can_be_forgotten(world: World) -> None:
    await world.say("我答应外婆周六去修蓝色药箱")
    await world.say("忘掉我答应外婆周六去修蓝色药箱")
    assert world.replies[-1] == "好，你答应过的那件事我忘了 ✓1“我答应外婆周六去修蓝色药箱”"
    assert kept(world) == []
    asked = len(world.prompts)
    await world.say("我们聊点别的吧")
    assert "蓝色药箱" not in "".join(each.content for prompt in world.prompts[asked:] for each in prompt)
    assert world.peek.events.count(text=Like("%蓝色药箱%")) == 0
    await world.say("我答应外婆周六去修蓝色药箱")
    assert kept(world) == []


async def test_two_accounts_of_one_person_have_one_list(world: World) -> None:
    await world.say("我明天把报告发给你")
    await world.say("我今晚把碗洗好")
    await world.say("我后天把报告发给你", "阿明")
    people = {str(name): int(str(number)) for number, name in world.peek.people("id", "name")}
    await world.store._database.write(lambda db: join_persons(db, people["小王"], people["阿明"], world.clock.now()))
    await world.say(".ai promise")
    assert world.replies[-1].splitlines() == [
        "✓1 我明天把报告发给你 · 还没做 · 2 天后",
        "✓2 我今晚把碗洗好 · 还没做 · 今天",
    ]


async def test_a_crash_leaves_a_promise_with_its_message_or_neither(world: World) -> None:
    world.shut()
    await world.app.ingest.accept(world.message("我明天把报告发给你"))
    await world.held()
    await world.crash()
    assert kept(world) == [("我明天把报告发给你",)]
    assert world.peek.edges.count(kind="commitment") == 1
