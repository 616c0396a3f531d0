"""What people see of a reply in several messages besides these: nuan typing, never a half reply; and in a pipe."""

from dataclasses import dataclass, field
from pathlib import Path

from bot.config.settings import Settings
from tests.e2e import KEY, Home, running, with_server
from tests.fakes.openai_script import Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.platform import Lively
from tests.slow import SlowWorld
from tests.test_paced import GROUP, PACED, PARTS, SCRIPT, dues
from tests.test_sending import opened, until, writer
from tests.world import Talk, World


async def test_a_paced_reply_is_not_shown_while_it_is_written(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world = await opened(tmp_path, talk, {"speak": PACED})
    world.model.script = lambda request: "很长很长的故事，" * 30 + "\n\n完"
    await world.app.ingest.accept(world.message("讲个故事"))
    await until(lambda: writer(world).writing or bool(talk.history))
    assert not writer(world).writing
    await world.app.settled()
    assert talk.history == [("m1", "很长很长的故事，" * 30)]
    await world.close()


@dataclass
class Hinting(Talk):
    """A platform that shows that nuan is typing."""

    hints: list[tuple[str, bool]] = field(default_factory=list)

    def typing(self, external_chat_id: str, on: bool) -> None:
        """Keep it."""
        self.hints.append((external_chat_id, on))


async def test_it_is_seen_being_typed_and_no_more_once_it_is_cut(tmp_path: Path) -> None:
    world = World(tmp_path, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "speak": PACED}))
    talk = Hinting()
    world.talk = talk
    await world.open()
    world.model.script = lambda request: SCRIPT
    await world.say("周末干什么好呢")
    thinking, waits, typed = len(talk.hints), dues(world), world.peek.outbox("typed_ms")
    await world.wait((waits[1] - int(str(typed[1][0])) - 1) / 1000)
    assert talk.hints[thinking:] == []
    await world.wait(0.001)
    assert talk.hints[thinking:] == [("local", True)]
    await world.wait(int(str(typed[1][0])) / 1000)
    assert world.replies == PARTS[:2]
    assert talk.hints[thinking:] == [("local", True), ("local", False)]
    await world.wait((waits[2] - waits[1] - 100) / 1000)
    await world.say("停")
    assert talk.hints[-2:] == [("local", True), ("local", False)]
    await world.close()


async def test_thinking_is_shown_to_who_waits_for_half_a_second_and_to_nobody_before(tmp_path: Path) -> None:
    world = SlowWorld(tmp_path, takes_ms=lambda: 800)
    talk = Hinting()
    world.talk = talk
    await world.open()
    await world.write("在吗", "小王")
    await world.wait(0.499)
    assert True not in dict(talk.hints).values()
    await world.wait(0.001)
    assert talk.hints[-1] == ("local", True)
    await world.wait(0.3)
    assert (talk.hints[-1], world.replies) == (("local", False), ["好的"])
    await world.close()


async def test_what_is_answered_at_once_shows_no_thinking(tmp_path: Path) -> None:
    world = SlowWorld(tmp_path, takes_ms=lambda: 400)
    talk = Hinting()
    world.talk = talk
    await world.open()
    await world.write("在吗", "小王")
    await world.wait(5)
    assert (world.replies, [on for _, on in talk.hints if on]) == (["好的"], [])
    await world.close()


async def test_a_follow_up_that_waits_for_silence_ends_the_typing_at_once(tmp_path: Path) -> None:
    world = World(tmp_path, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "speak": PACED}))
    talk = Hinting()
    world.talk = talk
    await world.open()
    world.model.script = lambda request: SCRIPT
    await world.say("小暖，周末干什么好呢", "阿明", GROUP)
    await world.wait((dues(world)[1] - 1) / 1000)
    assert talk.hints[-1] == (f"group:{GROUP}", True)
    await world.say("想爬山", "阿明", GROUP)
    assert talk.hints[-1] == (f"group:{GROUP}", False)
    assert world.replies == PARTS[:1]
    await world.close()


async def test_lines_from_a_pipe_wait_until_the_reply_is_said_to_its_end(tmp_path: Path) -> None:
    async with FakeOpenAI(lambda asked: Reply("一\n\n二\n[[900]]\n三"), key=KEY) as server:
        home = Home(tmp_path, with_server(server, SPEAK__PACED="true", PROMPT__LIGHT="off"))
        async with running(home) as nuan:
            await nuan.say("周末干什么好呢")
            await nuan.say("还有呢")
            await nuan.end_input()
            assert await nuan.ended() == 0
            assert nuan.replies == ["一", "二", "三"] * 2
