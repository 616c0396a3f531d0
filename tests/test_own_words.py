"""The tools remember and forget write on the person's own words of this turn, and on nothing else."""

import json

from bot.core.models import ModelRequest
from tests.conftest import NewWorld
from tests.fakes.model import Answer, calls
from tests.peek import Like
from tests.world import World

GROUP = "闲聊"


def obeys(world: World, *asked: tuple[str, dict[str, object]]) -> None:
    """The model asks for these tools once in a turn, then answers."""

    def script(request: ModelRequest) -> Answer:
        if request.prompt.messages[-1].role == "tool" or not request.prompt.tools:
            return "好的"
        return calls(*((name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in asked))

    world.model.script = script


def results(world: World) -> list[str]:
    """What the tools answered in the newest request."""
    return [message.content for message in world.turns[-1] if message.role == "tool"]


def memories(world: World) -> list[tuple[object, ...]]:
    """What is kept, oldest first."""
    return world.peek.memories("text", "owner_id", "visibility", "asked", disabled_at=None)


async def test_what_was_asked_in_other_words_is_kept_as_it_was_said(world: World) -> None:
    obeys(world, ("remember", {"text": "我妈住在苏州"}))
    await world.say("我妈住在苏州，这个你可要刻进你脑子里，别给我忘咯")
    assert results(world) == ["已记住 #1"]
    assert memories(world) == [("我妈住在苏州", 1, "private", 1)]
    await world.say("忘记 #1")
    assert memories(world) == []


async def test_in_a_group_it_belongs_to_the_group_and_to_who_said_it(world: World) -> None:
    obeys(world, ("remember", {"text": "我妈住在苏州"}))
    await world.say("小暖，我妈住在苏州，这个你可要刻进你脑子里，别给我忘咯", "阿红", GROUP)
    assert world.rows("SELECT kind, visibility, name FROM memory JOIN person ON person.id = owner_id") == [
        ("knowledge", "chat", "阿红")
    ]


async def test_words_that_nobody_said_and_words_turned_round_are_not_kept(world: World) -> None:
    for text in ("我讨厌北京", "喜欢香菜", "小王的妈妈住在苏州", "的", "  "):
        obeys(world, ("remember", {"text": text}))
        await world.say("我不喜欢香菜，这个你可要刻进你脑子里，别给我忘咯")
        assert results(world)[-1].startswith(("没有记", "text 不能为空")), text
    assert memories(world) == []


async def test_what_the_command_kept_is_not_kept_twice(world: World) -> None:
    obeys(world, ("remember", {"text": "我怕狗"}))
    await world.say("记住我怕狗。今天聊点什么呢？")
    assert results(world) == ["已经记着 #1，没有再记。"]
    assert world.rows("SELECT count(*), max(importance) FROM memory") == [(1, 1)]


async def test_what_was_forgotten_and_is_told_anew_may_come_back(world: World) -> None:
    await world.say("记住我妈住在苏州")
    await world.say("忘记我妈住在苏州")
    obeys(world, ("remember", {"text": "我妈住在苏州"}))
    await world.say("我妈住在苏州，这个你可要刻进你脑子里，别给我忘咯")
    assert [row[0] for row in memories(world)] == ["我妈住在苏州"]


async def test_forgetting_by_tool_is_confirmed_only_when_it_is_done_and_the_rest_is_answered(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("记住我对花生过敏")
    obeys(world, ("forget", {"id": "#1"}))
    await world.say("关于我怕狗的那件事，麻烦你把它从脑子里抹了呗。今天天气真不错呀")
    assert [row[0] for row in memories(world)] == ["我对花生过敏"]
    assert world.replies[-2].startswith("好，已忘记 #1") or "#1" in world.replies[-2]
    assert world.peek.events.count(text=Like("%怕狗%")) == 0
    assert "今天天气真不错呀" in world.last_user
    assert "怕狗" not in "".join(message.content for message in world.turns[-1])
    world.model.script = lambda request: "好的"
    await world.say("撤销")
    assert [row[0] for row in memories(world)] == ["我怕狗", "我对花生过敏"]


async def test_several_that_may_be_meant_are_named_and_none_is_deleted(world: World) -> None:
    for text in ("记住我怕大狗", "记住我怕小狗和大狗", "记住我住在大连路"):
        await world.say(text)
    obeys(world, ("forget", {"text": "大狗"}))
    await world.say("关于大狗的那件事，麻烦你把它从脑子里抹了呗")
    assert "#1 我怕大狗" in results(world)[-1]
    assert "#2" in results(world)[-1]
    obeys(world, ("forget", {"id": "3"}))
    await world.say("关于大狗的那件事，麻烦你把它从脑子里抹了呗")
    assert results(world)[-1].startswith("还没有删：#3 我住在大连路")
    assert len(memories(world)) == 3


async def test_what_the_sentence_before_names_is_forgotten(world: World) -> None:
    await world.say("/remember my boss is having an affair")
    await world.say("记住我怕狗")
    obeys(world, ("forget", {"id": "1"}))
    await world.say("That thing about my boss having an affair? Unremember it please")
    assert [row[0] for row in memories(world)] == ["我怕狗"]


async def test_it_is_not_the_last_memory_where_the_message_says_what_it_is(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("记住我对花生过敏")
    await world.say("关于我怕狗的那件事，把它从脑子里删了")
    assert "我对花生过敏" in [row[0] for row in memories(world)]


async def test_a_crash_while_it_is_forgotten_forgets_it_once_and_says_so_once(world: World) -> None:
    await world.say("记住我怕狗")
    obeys(world, ("forget", {"id": "1"}))
    world.shut()
    await world.app.ingest.accept(world.message("关于我怕狗的那件事，麻烦你把它从脑子里抹了呗"))
    await world.held()
    await world.crash()
    assert memories(world) == []
    assert sum("#1" in reply for reply in world.replies[1:]) == 1


async def test_nobody_is_forgotten_for_by_another_person(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say("小暖，记住我怕狗", "阿红", GROUP)
    obeys(world, ("forget", {"id": "1"}), ("forget", {"text": "我怕狗"}))
    await world.say("小暖，关于怕狗的那件事，麻烦你把它从脑子里抹了呗", "阿明", GROUP)
    assert len(memories(world)) == 1
