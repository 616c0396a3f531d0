"""忘记 with nothing but an object finds promises and reminders, too; a promise is no less kept than a memory."""

from collections.abc import Iterator

import pytest

from tests.world import World

DAY_S = 86_400


def held(world: World) -> Iterator[str]:
    """Everything of the object that the tables still tell."""
    for table, column in (("commitment", "text"), ("reminder", "text"), ("event", "text"), ("digest", "summary")):
        yield from (str(row[0]) for row in world.rows(f"SELECT {column} FROM {table} WHERE instr({column}, '紫藤')"))


@pytest.mark.parametrize(
    ("said", "wish", "receipt"),
    [
        (
            "我答应周五前把紫藤文件交给老王",
            "忘记紫藤文件",
            "好，你答应过的那件事我忘了 ✓1“我答应周五前把紫藤文件交给老王”",
        ),
        (
            "我答應週五前把紫藤文件交給老王",
            "彻底忘记紫藤",
            "好，你答应过的那件事我忘了 ✓1“我答應週五前把紫藤文件交給老王”",
        ),
        ("明天早上8点提醒我带上紫藤钥匙", "忘记紫藤钥匙", "好，这个提醒也忘了 ⏰1“带上紫藤钥匙”"),
    ],
)
async def test_a_few_words_forget_the_one_promise_or_reminder_they_fit(
    world: World, said: str, wish: str, receipt: str
) -> None:
    await world.say(said)
    await world.say("/new")
    await world.say("在吗")
    await world.say(wish)
    assert world.replies[-1] == receipt
    assert list(held(world)) == []
    count = len(world.replies)
    await world.wait(2 * DAY_S)
    assert world.replies[count:] == []
    assert list(held(world)) == []


async def test_of_several_it_asks_which_and_forgets_none(world: World) -> None:
    await world.say("我答应周五前把紫藤文件交给老王")
    await world.say("明天早上8点提醒我带上紫藤钥匙")
    await world.say("忘记紫藤")
    assert world.replies[-1].splitlines()[1:3] == ["✓1 我答应周五前把紫藤文件交给老王", "⏰1 带上紫藤钥匙"]
    assert world.peek.commitments.count(ended_at=None) == 1
    await world.say("忘记紫藤钥匙")
    assert world.peek.reminders("text", "outcome") == [("", "forgotten")]
    assert world.peek.commitments("text") == [("我答应周五前把紫藤文件交给老王",)]


async def test_where_nothing_fits_it_stays_talk_and_another_person_has_their_own(world: World) -> None:
    await world.say("我答应周五前把紫藤文件交给老王")
    await world.say("明天早上8点提醒我带上紫藤钥匙")
    await world.say("忘记年糕")
    await world.say("忘记紫藤钥匙", "阿明")
    await world.say("小暖，忘记紫藤钥匙", group="家")
    assert world.replies[-3:] == ["好的", "好的", "好的"]
    assert world.peek.reminders.count(ended_at=None) == 1
    assert world.peek.commitments.count(ended_at=None) == 1


async def test_what_was_forgotten_can_be_asked_for_again(world: World) -> None:
    await world.say("明天早上8点提醒我带上紫藤钥匙")
    await world.say("忘记紫藤钥匙")
    await world.say("明天早上8点提醒我带上紫藤钥匙")
    await world.wait(DAY_S)
    assert world.replies[-1] == "提醒你：带上紫藤钥匙"
