"""Reminders of promises through ingest: set silently with the promise, said on its day, over when it is over."""

import json

import pytest

from bot.core.events import Incoming
from bot.store.joining import join_persons
from tests.conftest import NewWorld
from tests.fakes.model import calls
from tests.living import later
from tests.peek import Like
from tests.test_moved_plans import digests, talks
from tests.world import NINE, World

HOUR = 3_600
DAY = 24 * HOUR
PROMISE = "我明天把报告发给你"


def waiting(world: World, columns: str = "due_at") -> list[tuple[object, ...]]:
    """The open reminders in the store."""
    return world.rows(f"SELECT {columns} FROM reminder WHERE ended_at IS NULL ORDER BY id")


def notices(world: World) -> int:
    """How many reminders were ever handed to the outbox."""
    return world.peek.outbox.count(kind="notice")


async def happens(world: World, label: str, target: str, text: str = "") -> None:
    """The platform says that something happened to a message."""
    said = world.message(text)
    await world.app.ingest.accept(Incoming(said.place, said.sender, "event", text, label, "", target=target))
    await world.app.settled()


@pytest.mark.parametrize(
    ("said", "hours", "heard"),
    [
        (PROMISE, 24, "你说过今天要：把报告发给我"),
        ("我明天把報告發給你", 24, "你說過今天要：把報告發給我"),
        ("I'll send you the file tomorrow", 24, "You said you would do this today: send me the file"),
        ("我今天下午三点把报告发给你", 6, "你说过今天要：把报告发给我"),
        ("我今天下午三點把報告發給你", 6, "你說過今天要：把報告發給我"),
        ("I'll send you the file today at 5pm", 8, "You said you would do this today: send me the file"),
        ("我后天下午把碗洗好", 48, "你说过今天要：把碗洗好"),
    ],
)
async def test_a_promise_is_noted_silently_and_said_once_at_its_time(
    world: World, said: str, hours: int, heard: str
) -> None:
    await world.say(said)
    quiet = world.replies
    assert len(quiet) == 1
    assert waiting(world) == [(NINE + hours * HOUR * 1000,)]
    await world.wait(hours * HOUR - 1)
    assert world.replies == quiet
    await world.wait(1)
    assert world.replies == [*quiet, heard]
    await world.wait(3 * DAY)
    assert world.replies == [*quiet, heard]


@pytest.mark.parametrize(
    ("said", "hours"),
    [
        ("我明天早上八点把报告发给你", 22),
        ("我明天早上九點半把報告發給你", 23.5),
        ("I'll send you the file tomorrow at 7am", 21),
        ("我明天上午十点把报告发给你", 25),
    ],
)
async def test_of_what_is_early_one_is_reminded_an_hour_before(world: World, said: str, hours: float) -> None:
    await world.say(said)
    quiet = world.replies
    await world.wait(hours * HOUR - 1)
    assert world.replies == quiet
    await world.wait(1)
    assert len(world.replies) == len(quiet) + 1


async def test_who_promises_it_within_the_hour_is_reminded_at_its_time(world: World) -> None:
    await world.wait(22.5 * HOUR)
    await world.say("我今天早上八点把报告发给你")
    assert waiting(world) == [(NINE + 23 * HOUR * 1000,)]


@pytest.mark.parametrize(
    ("line", "title", "hours"),
    [
        ("我明天8点要去面试", "去面试", 22),
        ("我明天要去面試，明天八點半", "去面試", 22.5),
        ("我明天要去面试", "去面试", 24),
        ("我今天早上8点起的床，明天要去面试", "去面试", 24),
    ],
)
async def test_of_a_plan_whose_hour_only_the_line_tells_one_is_reminded_before(
    world: World, line: str, title: str, hours: float
) -> None:
    digests(world, {"tasks": [{"title": title, "when": "2026-06-13", "from": [1]}]})
    await talks(world, line)
    assert waiting(world) == [(NINE + hours * HOUR * 1000,)]


@pytest.mark.parametrize(
    "said",
    ["我今天把报告发给你", "我今晚把碗洗好", "我一定把报告发给你", "我明天或者后天把报告发给你", "我以后每天按时吃药"],
)
async def test_without_an_hour_ahead_or_one_day_nothing_is_set(world: World, said: str) -> None:
    await world.say(said)
    assert world.peek.reminders.count() == 0


async def test_what_is_to_be_handed_in_is_reminded_of_once(world: World) -> None:
    await world.say("我后天要交报告")
    await world.say("/new")
    await world.wait(2 * DAY)
    assert world.replies[-1] == "你说过今天要：交报告"


async def test_what_the_model_notes_is_reminded_of_too(world: World) -> None:
    asked = ("remember", json.dumps({"text": "周一一准儿给猫换粮", "kind": "promise"}))
    world.model.script = lambda request: "好的" if request.prompt.messages[-1].role == "tool" else calls(asked)
    await world.say("周一一准儿给猫换粮，你放心")
    assert waiting(world) == [(NINE + 3 * DAY * 1000,)]


ENDS = {
    "done": ("报告发了",),
    "told done": (".ai promise done 1",),
    "failed": (".ai promise fail 1",),
    "dropped": (".ai promise drop 1",),
    "forgotten": ("忘掉我明天把报告发给你",),
    "off the record": ("别记这个",),
}


@pytest.mark.parametrize("how", ENDS)
async def test_it_ends_with_the_promise(world: World, how: str) -> None:
    await world.say(PROMISE)
    for line in ENDS[how]:
        await world.say(line)
    assert waiting(world) == []
    said = world.replies
    await world.wait(2 * DAY)
    assert world.replies == said


async def test_it_ends_with_its_message_and_follows_an_edit(world: World) -> None:
    await world.say(PROMISE, external_id="m1")
    await happens(world, "edit", "m1", "我后天把报告发给你")
    assert waiting(world) == [(NINE + 2 * DAY * 1000,)]
    await happens(world, "edit", "m1", "天气真好")
    assert waiting(world) == []
    await happens(world, "edit", "m1", PROMISE)
    assert waiting(world) == [(NINE + DAY * 1000,)]
    await happens(world, "delete", "m1")
    assert waiting(world) == []


@pytest.mark.parametrize("how", ["delete", "forget"])
async def test_what_was_said_of_a_promise_goes_with_its_words(world: World, how: str) -> None:
    await world.say("我明天把蓝色药箱还给外婆", external_id="m1")
    await world.say("/new")
    await world.wait(DAY)
    assert world.replies[-1] == "你说过今天要：把蓝色药箱还给外婆"
    await world.say("好，知道了")
    assert "蓝色药箱" in world.sent
    if how == "delete":
        await happens(world, "delete", "m1")
    else:
        await world.say("忘掉我明天把蓝色药箱还给外婆", external_id="m2")
        await happens(world, "delete", "m2")
    asked = len(world.prompts)
    await world.say("聊点别的吧")
    assert "蓝色药箱" not in "".join(each.content for prompt in world.prompts[asked:] for each in prompt)
    for table in ("event", "reminder", "outbox", "commitment"):
        assert world.rows(f"SELECT * FROM {table} WHERE text LIKE '%蓝色药箱%'") == []


async def test_off_the_record_what_was_said_of_it_is_told_no_more(world: World) -> None:
    await world.say("我今天下午三点把蓝色药箱还给外婆")
    await world.say("别记这个")
    assert world.peek.reminders.count() == 0
    await world.say("我今天下午三点把报告发给你", external_id="m1")
    await world.wait(6 * HOUR)
    assert world.replies[-1] == "你说过今天要：把报告发给我"
    reply = world.message("别记这个", target="m1", quote="我今天下午三点把报告发给你", replies_to_bot=False)
    await world.app.ingest.accept(reply)
    await world.app.settled()
    assert world.peek.events.count(kind="bot", text=Like("%报告%")) == 0


async def test_another_day_moves_it_and_an_opened_promise_has_it_again(world: World) -> None:
    await world.say(PROMISE)
    await world.say("我后天把报告发给你，抱歉")
    assert waiting(world) == [(NINE + 2 * DAY * 1000,)]
    await world.say(".ai promise done 1")
    assert waiting(world) == []
    await world.say(".ai promise open 1")
    assert waiting(world) == [(NINE + 2 * DAY * 1000,)]


async def test_the_list_shows_it_as_such_and_cancelling_it_leaves_the_promise(world: World) -> None:
    await world.say(PROMISE)
    await world.say(".ai remind list")
    assert world.replies[-1] == "⏰1 周六（6月13日）上午9:00 · 把报告发给你（承诺 ✓1）"
    await world.say(".ai remind cancel 1")
    assert world.replies[-1] == f"取消了：⏰1 {PROMISE}"
    await world.say(".ai promise")
    assert world.replies[-1] == f"✓1 {PROMISE} · 还没做 · 明天"
    await world.say("/new")  # the digest reads the same lines once more
    await world.wait(2 * DAY)
    assert notices(world) == 0


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("我明天早上8点把报告发给你，明天早上8点提醒我发报告", ["提醒你：发报告"]),
        ("我明天把报告发给你，明天早上8点提醒我一下", ["提醒你：把报告发给我"]),
        ("我后天要交报告。明天早上8点提醒我交报告", ["提醒你：交报告"]),
        ("我明天把报告发给你。明天早上8点提醒我去超市", ["提醒你：去超市", "你说过今天要：把报告发给我"]),
    ],
)
async def test_who_asks_for_the_same_in_the_message_is_reminded_once(world: World, said: str, heard: list[str]) -> None:
    await world.say(said)
    await world.say("/new")
    before = len(world.replies)
    await world.wait(3 * DAY)
    assert world.replies[before:] == heard


async def test_whoever_has_reminders_enough_gets_none(new_world: NewWorld) -> None:
    world = await new_world(remind={"most_open": 2})
    await world.say(PROMISE)
    await world.say("我明天把碗洗好")
    await world.say("我明天去给外婆打电话")
    assert len(waiting(world)) == 2
    await world.say("下午三点提醒我开会")
    assert world.replies[-1] == "等着的提醒已经有 2 条了，先取消几条吧"


async def test_it_can_be_switched_off_and_has_its_own_hour(new_world: NewWorld) -> None:
    world = await new_world(remind={"commitments": False})
    await world.say(PROMISE)
    await world.say("/new")
    assert waiting(world) == []
    other = await new_world(remind={"commitment_hour": 18})
    await other.say("我今天把报告发给你")
    await other.wait(9 * HOUR)
    assert other.replies[-1] == "你说过今天要：把报告发给我"


async def test_in_a_group_it_is_said_there_by_name_and_a_private_one_only_in_private(world: World) -> None:
    await world.say("我明天把报告交给大家", "小美", "闲聊")  # nobody called nuan
    await world.say(PROMISE)
    await world.say(".ai remind list", group="闲聊")
    assert world.replies[-1] == "没有等着的提醒"
    before = len(world.talk.said)
    await world.wait(DAY)
    assert sorted((each.external_chat_id, each.text) for each in world.talk.said[before:]) == [
        ("group:闲聊", "小美，你说过今天要：把报告交给大家"),
        ("local", "你说过今天要：把报告发给我"),
    ]


async def test_what_nobody_said_to_nuan_is_said_on_time_too(world: World) -> None:
    await world.say("我今天下午三点把报告发给大家", "小美", "闲聊")
    assert world.talk.said == []
    await world.wait(6 * HOUR)
    assert [each.text for each in world.talk.said] == ["小美，你说过今天要：把报告发给大家"]


async def test_after_an_absence_it_says_that_it_is_late_and_not_that_it_is_today(world: World) -> None:
    await world.say(PROMISE)
    await later(world, 1.25)
    assert world.replies[-1] == "你说过今天要：把报告发给我（迟到了 6 小时）"
    await world.say("我周一把碗洗好")
    await later(world, 3)
    assert world.replies[-1].startswith("你说过要：把碗洗好（迟到了 ")


async def test_a_crash_says_it_once_and_a_restart_keeps_it(world: World) -> None:
    await world.say(PROMISE)
    await world.crash()
    await world.restart()
    assert waiting(world) == [(NINE + DAY * 1000,)]
    world.talk.broken = True
    await world.wait(DAY)
    assert notices(world) == 1
    world.talk.broken = False
    await world.crash()
    await world.wait(DAY)
    assert notices(world) == 1
    assert world.replies[1:] == ["你说过今天要：把报告发给我"]


async def test_the_hour_is_that_of_the_person_whatever_the_clocks_do(world: World) -> None:
    await world.say(".ai tz Europe/Berlin", "小美", "闲聊")
    await world.say(".ai tz Europe/Berlin")
    await world.say("我10月25日把报告发给你")  # the clocks go back that night: 9:00 is 8:00 UTC
    await world.say("我10月24日把碗洗好")
    assert sorted(waiting(world)) == [(1_792_825_200_000,), (1_792_915_200_000,)]


async def test_two_accounts_of_one_person_have_one_reminder_of_the_later_day(world: World) -> None:
    await world.say(PROMISE)
    await world.say("我后天把报告发给你", "阿明")
    people = {str(name): int(str(number)) for number, name in world.peek.people("id", "name")}
    await world.store._database.write(lambda db: join_persons(db, people["小王"], people["阿明"], world.clock.now()))
    assert waiting(world) == [(NINE + 2 * DAY * 1000,)]


async def test_rows_of_the_past_do_not_stay(world: World) -> None:
    await world.say(PROMISE)
    await world.wait(70 * DAY)
    assert world.peek.reminders.count() == 0
    assert world.peek.commitments.count() == 0
