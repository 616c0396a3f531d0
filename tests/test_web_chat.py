"""The chat box of the web page as an adapter: what it brings, what it shows while it grows, and what it keeps."""

import asyncio

import pytest

from adapters.web import MOST_SIGNALS, MOST_UNSTORED, PLACE, WebAdapter
from bot.core.errors import PlatformError
from bot.core.events import Outgoing
from bot.core.ports import Drafts, Typing, implements
from tests.fakes.clock import SimClock, let_others_run
from tests.fakes.platform import StreamingModel
from tests.sizes import PATIENCE_S
from tests.webbed import webbed
from tests.world import NINE, World

pytestmark = pytest.mark.debugged


def going(number: int, text: str, kind: str = "command") -> Outgoing:
    return Outgoing(number, 1, "web", "local", text, kind)  # type: ignore[arg-type]


async def heard(box: WebAdapter, signs: list[tuple[str, str]]) -> None:
    async for sign in box.listen():
        signs += (sign,)


async def test_a_reply_is_seen_while_it_grows_and_then_is_a_line(world: World) -> None:
    world.model = model = StreamingModel()
    await world.restart()
    async with webbed(world) as page:
        assert page.box is not None
        signs: list[tuple[str, str]] = []
        listening = asyncio.create_task(heard(page.box, signs))
        await let_others_run()
        await page.visitor.send("/chat", text="你好呀")
        async with asyncio.timeout(PATIENCE_S):
            while not model.writing:
                await let_others_run()
            model.write("我在")
            await world.clock.advance(200, let_others_run)
            while ("draft", "我在") not in signs:
                await let_others_run()
        model.write("，怎么啦")
        model.finish()
        await world.app.settled()
        assert "我在，怎么啦" in (await page.visitor.get("/chat/lines")).plain
        assert signs[0] == ("lines", "")
        assert [kind for kind, _ in signs][-2:].count("lines") >= 1
    await asyncio.wait_for(listening, PATIENCE_S)


async def test_while_nobody_runs_it_a_line_is_refused_with_a_reason(world: World) -> None:
    box = WebAdapter("me", world.clock)
    with pytest.raises(PlatformError, match="just starting"):
        await box.hear("你好")
    async with webbed(world) as page:
        await page.close()
        answer = await page.visitor.send("/chat", text="你好")
        assert (answer.status, "just starting" in answer.plain) == (503, True)


async def test_what_it_keeps_is_bounded_and_a_slow_browser_holds_nobody_up() -> None:
    box, signs = WebAdapter("me", SimClock(NINE)), list[tuple[str, str]]()
    assert implements(box, Drafts)
    assert implements(box, Typing)
    listening = asyncio.create_task(heard(box, signs))
    await let_others_run()
    for number in range(MOST_SIGNALS + 20):
        assert await box.send(going(number, f"answer {number}")) == (str(number),)
    assert len(box.asides()) == MOST_UNSTORED
    box.typing(PLACE.external_id, on=True)
    box.typing("elsewhere", on=False)
    await let_others_run()
    assert len(signs) == MOST_SIGNALS
    assert signs[-1] == ("typing", "on")
    listening.cancel()
    await asyncio.wait((listening,))
    assert box._listeners == set()


@pytest.mark.parametrize("words", ["忘记 #1", "彻底忘记 #1"])
async def test_an_answer_that_names_what_was_forgotten_is_not_shown_any_more(world: World, words: str) -> None:
    await world.say("记住我怕狗")
    async with webbed(world) as page:
        await page.visitor.send("/chat", text=".ai mem")
        await world.app.settled()
        assert "我怕狗" in (await page.visitor.get("/chat")).plain
        await world.say(words)
        assert "怕狗" not in (await page.visitor.get("/chat")).plain


async def test_the_longest_message_there_may_be_gets_in_whole(world: World) -> None:
    async with webbed(world) as page:
        await page.visitor.send("/chat", text="长" * 8_000)
        await world.app.settled()
    assert world.rows("SELECT length(text) FROM event WHERE kind = 'message'") == [(8_000,)]


async def test_names_without_a_letter_and_control_signs_do_not_get_in(world: World) -> None:
    async with webbed(world) as page:
        assert page.box is not None
        page.box.rename("\u202e\x07")
        await page.visitor.send(
            "/chat", text="a\x00b\r\nc\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        )
        await world.app.settled()
    assert world.peek.events("name", "text", kind="message")[0] == ("?", "ab\nc���")
