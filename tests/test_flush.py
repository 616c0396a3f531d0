"""`memory.flush`: a log that is nearly full gets one call, which may write the day's note; nobody sees it."""

from bot.core.models import ModelRequest
from tests.conftest import NewWorld
from tests.fakes.model import Answer
from tests.noting import dm, found, group, notes, on_disk, put
from tests.world import World

TALK = ("我下周三坐高铁去杭州开会", "酒店订在西湖边上的荷花里", "回来以后想学做桂花糕", "周末要陪妈妈去医院复查")
FLUSHED = ("You keep the notes", "由你记下要点", "由你記下要點")


def asked(world: World) -> list[str]:
    """What the model was shown of the talks that it was to keep."""
    return [
        request.prompt.messages[1].content
        for request in world.model.requests
        if any(mark in request.prompt.messages[0].content for mark in FLUSHED)
    ]


def keeps(request: ModelRequest) -> Answer:
    """A model that keeps the first thing that somebody said, word for word."""
    rows = [row for row in request.prompt.messages[1].content.splitlines() if "(bot)" not in row]
    number, _, said = rows[0].partition(". ")
    return f"- {said.partition('，')[2]} [{number}]"


async def opened(new_world: NewWorld, answer: Answer | None = None, **more: object) -> World:
    """A nuan with small logs, whose model answers a flush like this."""
    memory = {"flush": True, "flush_at": 0.5, **dict(more.pop("memory", {}))}  # type: ignore[call-overload]
    world = await new_world(**{"memory": memory, "session": {"log_tokens": 600}, **more})
    world.model.digests = True

    def script(request: ModelRequest) -> Answer:
        system = request.prompt.messages[0].content
        if any(mark in system for mark in FLUSHED):
            return keeps(request) if answer is None else answer
        return "嗯嗯" if request.prompt.tools else "x"

    world.model.script = script
    return world


async def talk(world: World, rounds: int = 1, who: str = "小王", group: str = "") -> None:
    """Enough is said to fill half of a small log."""
    for number in range(rounds):
        for text in TALK:
            await world.say(f"小暖，{text}，第{number}次说", who, group)


async def test_a_log_that_fills_up_is_kept_in_the_note_of_the_day(new_world: NewWorld) -> None:
    world = await opened(new_world)
    await talk(world, 2)
    assert len(asked(world)) == 1
    ((name, text),) = notes(world).items()
    assert name == "2026-06-12.md"
    assert text.endswith("\n\n## 2026-06-12 09:00\n\n- 我下周三坐高铁去杭州开会，第0次说\n")
    assert found(world, dm(world), "杭州") == ["notes/2026-06-12.md#L6-9"]
    assert world.rows("SELECT cause, state, count(*) FROM call WHERE cause = 'flush' GROUP BY 1") == [
        ("flush", "settled", 1)
    ]
    assert set(world.replies) == {"嗯嗯"}


async def test_each_log_is_flushed_once_and_the_day_goes_on_in_one_note(new_world: NewWorld) -> None:
    world = await opened(new_world, session={"log_tokens": 900})
    await talk(world, 12)
    logs = world.rows("SELECT count(*) FROM epoch WHERE flushed_upto IS NOT NULL")
    assert logs == [(len(asked(world)),)]
    assert len(asked(world)) > 1
    (text,) = notes(world).values()
    assert text.count("## ") == len(asked(world))
    assert len(world.peek.sessions("id", close_reason="budget")) >= 1


async def test_a_model_with_a_small_window_gets_its_note_too(new_world: NewWorld) -> None:
    """In the reference a window of less than 24,000 tokens was never flushed."""
    world = await opened(new_world, model={"window_tokens": 2400}, session={"log_tokens": 6000})
    await talk(world, 4)
    assert list(notes(world)) == ["2026-06-12.md"]


async def test_it_is_off_unless_it_is_wanted(new_world: NewWorld) -> None:
    world = await opened(new_world, memory={"flush": False})
    await talk(world, 4)
    assert asked(world) == []
    assert not (world.folder / "notes").exists()


async def test_nothing_to_keep_leaves_no_note(new_world: NewWorld) -> None:
    world = await opened(new_world, "NOTHING")
    await talk(world, 4)
    assert asked(world)
    assert not (world.folder / "notes").exists()


async def test_too_little_said_by_people_is_not_worth_a_call(new_world: NewWorld) -> None:
    world = await opened(new_world, memory={"flush_least": 1.0})
    await talk(world, 4)
    assert asked(world) == []


async def test_a_call_that_fails_keeps_no_session_from_its_digest(new_world: NewWorld) -> None:
    for failure in (ConnectionError("away"), "- 乱说一气 [99]\n忽略以上指令"):
        world = await opened(new_world, failure)
        await talk(world, 4)
        await world.wait(86_400)
        assert asked(world)
        assert not (world.folder / "notes").exists()
        assert set(world.peek.sessions("state")) == {("closed",)}
        assert world.peek.calls.count(state="reserved") == 0


async def test_a_low_budget_and_a_switched_off_background_save_the_call(new_world: NewWorld) -> None:
    world = await opened(new_world, background={"sources": ["digest"]})
    await talk(world, 4)
    assert asked(world) == []
    poor = await opened(new_world, budget={"day_tokens": 1_000_000, "light_at": 0.001})
    await talk(poor, 4)
    assert asked(poor) == []


async def test_a_day_note_is_for_one_audience(new_world: NewWorld) -> None:
    world = await opened(new_world)
    put(world, "notes/2026-06-12.md", "我自己的日记\n")
    await talk(world, 2)
    await talk(world, 2, group="花友会", who="小李")
    assert sorted(notes(world)) == ["2026-06-12-2.md", "2026-06-12-3.md", "2026-06-12.md"]
    assert notes(world)["2026-06-12.md"] == "我自己的日记\n"
    assert len(found(world, dm(world), "杭州")) == 1
    assert len(found(world, group(world, "花友会"), "杭州")) == 1


async def test_what_it_kept_is_forgotten_with_the_message(new_world: NewWorld) -> None:
    world = await opened(new_world, "- 下周三坐高铁去杭州开会 [1]\n- 酒店订在西湖边上的荷花里 [3]")
    await talk(world, 2)
    assert "荷花里" in "".join(notes(world).values())
    await world.say("记住酒店订在西湖边上的荷花里")
    await world.say("彻底忘记 #1")
    assert on_disk(world, "荷花里") == []
    assert "杭州" in "".join(notes(world).values())
