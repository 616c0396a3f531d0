"""Promises by remember: the model may note what the person says in this turn, and nothing else."""

import json

import pytest

from tests.fakes.model import calls
from tests.peek import Like
from tests.world import World

PROMISE = "周末之前一准儿给猫换粮"


def note(world: World, **arguments: object) -> None:
    """The model asks for the tool once, then answers."""
    asked = ("remember", json.dumps({"kind": "promise", **arguments}, ensure_ascii=False))
    world.model.script = lambda request: "好的" if request.prompt.messages[-1].role == "tool" else calls(asked)


def result(world: World) -> str:
    """What the tool answered last."""
    return [message.content for message in world.turns[-1] if message.role == "tool"][-1]


def kept(world: World) -> list[tuple[object, ...]]:
    return world.peek.commitments("text", "state", "source", "visibility")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (f"{PROMISE}，你放心", PROMISE),
        ("過兩天保準把書櫃裝起來，你看著吧", "過兩天保準把書櫃裝起來"),
        (
            "seed swap is on Saturday at 11, I said I'd bring the runner beans",
            "seed swap is on Saturday at 11, I said I'd bring the runner beans",
        ),
        ("Gonna have that shelf up before the party, no excuses", "have that shelf up before the party"),
    ],
)
async def test_own_words_of_the_turn_are_noted_once(world: World, said: str, text: str) -> None:
    note(world, text=text)
    await world.say(said)
    assert "✓1" in result(world)
    assert kept(world) == [(text, "pending", "tool", "private")]
    await world.say("/new")
    await world.say(said)
    assert len(kept(world)) == 1


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("今天天气真好呀", {}),
        (f"他说“{PROMISE}”，你信吗", {}),
        (PROMISE, {"forwarded": True}),
        (f"不会吧，谁说{PROMISE}的", {}),
    ],
)
async def test_what_the_person_did_not_say_is_not_noted(world: World, said: str, facts: dict[str, bool]) -> None:
    note(world, text=PROMISE)
    await world.say(said, forwarded=facts.get("forwarded", False))
    assert kept(world) == []


async def test_another_person_s_words_and_promise_are_out_of_reach(world: World) -> None:
    await world.say(f"小暖，{PROMISE}", group="群")
    note(world, text=PROMISE)
    await world.say("小暖，你觉得呢", "阿明", "群")
    assert kept(world) == []
    world.model.script = lambda request: "好"
    await world.say("小暖，我明天把报告发给大家", group="群")
    note(world, text="报告交不了啦", id="1", kind="failed")
    await world.say("小暖，报告交不了啦", "阿明", "群")
    assert result(world) == "没有改：不知道是哪条。对方未完成的承诺：-"
    assert [row[1] for row in kept(world)] == ["pending"]


@pytest.mark.parametrize("given", [{}, {"id": "把报告发给你"}])
async def test_a_promise_whose_number_is_not_shown_is_named_by_its_words(world: World, given: dict[str, str]) -> None:
    await world.say("我明天把报告发给你")
    await world.say("我周末把猫窝洗干净")
    note(world, text="报告发给你啦", kind="done", **given)
    await world.say("报告发给你啦")
    assert sorted(str(row[1]) for row in kept(world)) == ["done", "pending"]
    note(world, text="别的都弄好了", kind="done", id="蓝色药箱")
    await world.say("别的都弄好了")
    assert sorted(str(row[1]) for row in kept(world)) == ["done", "pending"]


async def test_what_became_of_one_is_said_in_own_words_too(world: World) -> None:
    await world.say("我明天把报告发给你")
    note(world, text="报告实在交不出来了", id="1", kind="failed")
    await world.say("报告实在交不出来了，对不起")
    assert result(world) == "承诺 ✓1 改好了，回复前会自动告诉对方"
    assert [row[1] for row in kept(world)] == ["failed"]
    note(world, text="明天再说", id="1")
    await world.say("明天再说")
    assert result(world) == "没有改：不知道是哪条。对方未完成的承诺：-", "it is over"


async def test_a_crash_after_the_tool_notes_nothing_twice(world: World) -> None:
    note(world, text=PROMISE)
    world.shut()
    await world.app.ingest.accept(world.message(f"{PROMISE}，你放心"))
    await world.held()
    await world.answer_one()
    assert len(kept(world)) == 1
    await world.crash()
    assert len(kept(world)) == 1
    assert world.peek.effects.count(key=Like("turn:%")) == 1


@pytest.mark.parametrize(
    ("kind", "changed"),
    [("", "带水果，桌布不带"), ("promise", "带水果，桌布不带"), ("", "带水果"), ("", "桌布不带了，就带水果")],
)
async def test_a_promise_is_changed_by_its_number_in_the_words_of_its_person(
    world: World, kind: str, changed: str
) -> None:
    note(world, text="带水果和桌布")
    await world.say("周日我带水果和桌布")
    arguments = json.dumps({"id": "✓1", "text": changed, "kind": kind}, ensure_ascii=False)
    world.model.script = lambda request: (
        "好" if request.prompt.messages[-1].role == "tool" else calls(("remember", arguments))
    )
    await world.wait(60)
    await world.say("今天天气真好")
    assert [row[0] for row in kept(world)] == ["周日我带水果和桌布"], "nobody said so"
    await world.say("桌布落家里了，桌布不带了，就带水果")
    assert [row[0] for row in kept(world)] == [changed]
    assert "✓1" in result(world)
    assert "带水果和桌布" in result(world)
