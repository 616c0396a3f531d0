"""Parts of a turn that only some turns have: what came to mind by itself, and what a tool brought."""

import tomllib
from typing import get_args

from bot.core.errors import ModelError
from bot.core.files import resource_dir
from bot.core.sessions import BootstrapMode, CallCause, TurnState
from tests.conftest import NewWorld
from tests.fakes.model import Answer, calls, says
from tests.test_inject import bare, fill
from tests.test_web_pages import pieces
from tests.webbed import webbed
from tests.world import World


async def test_what_came_to_mind_is_a_part_of_its_own(new_world: NewWorld) -> None:
    world = await bare(new_world)
    await fill(world)
    await world.wait(86_400)
    await world.say("我到底对什么东西过敏来着？")
    async with webbed(world) as page:
        ((number,),) = world.rows("SELECT max(id) FROM turn")
        answer = await page.visitor.get(f"/turns/{number}")
        shown = pieces(answer)
        (recalled,) = [text for name, text in shown if name == "recalled"]
        assert "我对花生过敏" in recalled
        mine = "".join(text for name, text in shown if name in ("opening", "delta", "recalled"))
        assert mine == world.last_user, "byte for byte"
        assert '<a href="/memories/1">#1</a>' in answer.text, "with its number, to be followed"


async def test_a_tool_and_what_it_brought_are_parts_and_each_call_is_listed(world: World) -> None:
    await world.say("记住我怕狗")
    answers: list[Answer] = [calls(("memory_recall", '{"query": "怕"}')), "你怕狗"]
    world.model.script = lambda request: answers.pop(0)
    await world.say("我怕什么？")
    async with webbed(world) as page:
        answer = await page.visitor.get("/turns/1")
        shown = pieces(answer)
        assert [name for name, _ in shown][-3:] == ["answer", "tool", "answer"]
        assert 'memory_recall({"query": "怕"})' in shown[-3][1]
        assert shown[-2][1] == world.model.requests[-1].prompt.messages[-1].content
        assert answer.plain.count("scripted") == 2


async def test_a_turn_that_failed_says_so_and_shows_the_log_before_it(world: World) -> None:
    await world.say("今天我们聊聊爬山吧")
    world.model.script = lambda _: ModelError("unreachable", "nobody there")
    await world.say("你觉得泰山怎么样")
    world.model.script = lambda _: says("很好")
    await world.say("那黄山呢")
    async with webbed(world) as page:
        said, failed, after = [await page.visitor.get(f"/turns/{number}?lang=en") for number in (1, 2, 3)]
    note = "This answer failed or was stopped."
    assert [note in answer.text for answer in (said, failed, after)] == [False, True, False]
    assert "no longer kept" not in failed.text
    assert pieces(failed) == pieces(said), "the whole log of the turn before, to its answer"


async def test_words_of_the_store_are_told_in_the_language_of_the_page(world: World) -> None:
    texts = tomllib.loads((resource_dir("prompts") / "web" / "en.toml").read_text("utf-8"))
    for kind, words in {
        "turn": get_args(TurnState),
        "boot": get_args(BootstrapMode),
        "cause": get_args(CallCause),
    }.items():
        assert {f"{kind}_is_{word}" for word in words} <= texts.keys(), "a new word needs a text in prompts/web"
    await world.say("今天我们聊聊爬山吧")
    async with webbed(world) as page:
        chinese, english = [(await page.visitor.get(f"/turns/1?lang={lang}")).plain for lang in ("zh-Hant", "en")]
        used = (await page.visitor.get("/usage?lang=zh-Hans")).plain
    assert all(word in chinese for word in ("說了", "全部", "簡短請求", "回答", "已計費", "console 小王"))
    assert all(word in english for word in ("said", "everything", "small talk are switched off", "reply", "charged"))
    assert "回答" in used
    assert "reply" not in used
