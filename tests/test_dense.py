"""Recall by likeness: what it finds, for whom, and what is answered while there are no vectors."""

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from bot.container import make_recall
from bot.core.people import Audience
from bot.core.recall import RecallQuery
from bot.recall.vectors import changed, matrix, nearest, pack, stored
from tests.embedded import PETS, SOON, EmbeddedWorld, embedded_world, likeness, paid, settings, vectors
from tests.fakes.embedding_server import FakeEmbeddings, Vectors, meaning_of
from tests.fakes.model import calls, says
from tests.noting import dm, look, put
from tests.test_changes import happens
from tests.world import World


async def test_what_shares_no_word_with_the_question_is_found_by_meaning(tmp_path: Path) -> None:
    async with embedded_world(tmp_path) as (world, _):
        await world.say("记住我的狗叫旺财")
        await world.say("记住我喜欢喝茶")
        await world.wait(SOON)
        assert await likeness(world, "家里的汪星人") == ["我的狗叫旺财"]


@pytest.mark.parametrize("provider", ["openai", "hash"])
async def test_another_persons_vectors_are_no_candidates(tmp_path: Path, provider: str) -> None:
    async with embedded_world(tmp_path, provider=provider) as (world, _):
        for who in ("小王", "小李", "小陈"):
            await world.say(f"记住{who}的狗叫旺财", who)
        await world.say("小暖，记住群里的狗也叫旺财", "小李", "家")
        await world.wait(SOON)
        assert len(vectors(world)) == 4
        places = world.peek.places("external_id", "chat_id")
        chats = {str(name): cast("int", number) for name, number in places}
        people = {str(name): cast("int", number) for name, number in world.peek.people("name", "id")}
        for who, place in (("小王", "local"), ("小李", "dm:小李"), ("小陈", "dm:小陈")):
            audience = Audience(chats[place], "dm", (people[who],))
            own = {f"{who}的狗叫旺财", *(["群里的狗也叫旺财"] if who == "小李" else [])}
            for _ in range(2):
                assert set(await likeness(world, "我的狗叫旺财", audience)) == own
        group = Audience(chats["group:家"], "group", tuple(people.values()))
        assert await likeness(world, "我的狗叫旺财", group) == ["群里的狗也叫旺财"]


async def test_what_somebody_had_kept_in_a_group_is_found_by_meaning_in_their_own_direct_chat_and_nowhere_else(
    tmp_path: Path,
) -> None:
    async with embedded_world(tmp_path) as (world, _):
        for said in ("记住我的狗叫旺财", "在这里叫我旺财妈"):
            await world.say(f"小暖，{said}", "小李", "家")
        for who, group in (("小李", "别处"), ("小王", "别处"), ("小李", ""), ("小王", "")):
            await world.say("小暖，今天真热", who, group)
        await world.wait(SOON)
        people = {str(name): cast("int", number) for name, number in world.peek.people("name", "id")}
        chats = {str(name): cast("int", number) for name, number in world.peek.places("external_id", "chat_id")}
        li, wang = next(number for name, number in people.items() if name != "小王"), people["小王"]
        found = {
            "own": Audience(chats["dm:小李"], "dm", (li,)),
            "there": Audience(chats["group:家"], "group", (li,)),
            "elsewhere": Audience(chats["group:别处"], "group", (li, wang)),
            "another": Audience(chats["local"], "dm", (wang,)),
        }
        recalling = make_recall(world.parts, world.app._services.vector_maker._find_caller, pays=True)
        brought: dict[str, list[str]] = {}
        for place, audience in found.items():
            person = audience.alone or li
            asking = RecallQuery(audience, person, "家里的汪星人", world.clock.now(), kinds=("memory",))
            brought[place] = [one.finding.text for one in (await recalling.recall(asking)).chosen]
            assert set(await likeness(world, "家里的汪星人", audience)) == set(brought[place]), place
        there = ["旺财妈", "我的狗叫旺财"]
        assert brought == {"own": there[1:], "there": there, "elsewhere": [], "another": []}
        await world.say("小暖，忘记我的狗叫旺财", "小李", "家")
        assert await likeness(world, "家里的汪星人", found["own"]) == []


async def test_documents_are_read_without_what_goes_with_them(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, provider="hash") as (world, _):
        await world.say("记住我养了一只橘猫")
        change = calls(("remember", '{"id": "#1", "text": "我养了一只白猫"}'))
        world.model.script = lambda request: says("好") if request.prompt.messages[-1].role == "tool" else change
        await world.say("说错了，是一只白猫")
        told = "SELECT memory.text, doc.id FROM doc JOIN memory ON memory.id = ref AND doc.kind = 'memory'"
        documents = {text: cast("int", number) for text, number in world.rows(told)}
        asking = RecallQuery(dm(world), 1, "猫", world.clock.now(), kinds=("memory",))
        recalling = make_recall(world.parts, world.app._services.vector_maker._find_caller, pays=True)
        now, was = (documents[f"我养了一只{colour}猫"] for colour in "白橘")
        for asked in ((now,), (was,), (was, now), (now, was)):
            assert tuple(each.doc for each in await recalling.documents(asking, asked)) == asked


async def test_other_dimensions_make_all_vectors_anew(tmp_path: Path) -> None:
    async with embedded_world(tmp_path) as (world, server):
        await world.say("记住我的狗叫旺财")
        await world.wait(SOON)
        server.mean = meaning_of({"狗": 3, "汪星人": 3, "茶": 4}, 12)
        await world.say("记住我喜欢喝茶")
        assert await likeness(world, "汪星人") == [], "vectors of other lengths are not compared"
        await world.wait(SOON)
        assert set(world.peek.vectors("dimensions")) == {(12,)}
        assert len(vectors(world)) == 2
        assert await likeness(world, "家里的汪星人") == ["我的狗叫旺财"]


async def test_the_hash_makes_vectors_without_a_server_and_without_money(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, provider="hash", budget={"day_tokens": 0}) as (world, server):
        await world.say("记住I have severe allergies to peanuts")
        await world.wait(SOON)
        assert [model for _, model in vectors(world)] == ["hash-512"]
        assert (server.asked.inputs, paid(world)) == ([], [])
        assert await likeness(world, "is she allergic to a peanut?") == ["I have severe allergies to peanuts"]


async def test_lines_summaries_and_notes_are_found_by_likeness_too(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, embedding={"least_cosine": 0.9}) as (world, _):
        await world.say("刚才有只狗跑过去了")
        await world.wait(3 * 3_600)
        await world.say("记住我有一只猫")
        path = put(world, "notes/pets.md", "隔壁的狗也来了\n")
        await look(world)
        await world.wait(SOON)
        asking = RecallQuery(dm(world), 1, "汪星人", world.clock.now(), mode="hybrid")

        async def brought(**limits: object) -> set[str]:
            recalling = make_recall(world.parts, world.app._services.vector_maker._find_caller, pays=True)
            trace = await recalling.recall(replace(asking, **limits))  # type: ignore[arg-type]
            return {one.finding.kind for one in trace.chosen if "狗" in one.finding.text or "猫" in one.finding.text}

        assert await brought() == {"line", "note"}, "the summary says what the line says"
        assert await brought(kinds=("note",)) == {"note"}
        assert await brought(until=asking.now - 3_600_000) == {"line"}
        assert await brought(heard=1) == {"digest", "note"}
        assert await brought(text="喵", memory_kinds=("event",), kinds=("memory",)) == set()
        assert await brought(text="喵", memory_kinds=("identity", "knowledge", "emotion"), kinds=("memory",)) == {
            "memory"
        }
        path.write_text("隔壁的猫也来了\n", "utf-8")
        await look(world)
        await world.wait(SOON)
        assert await brought(kinds=("note",)) == set(), "the vector goes with what the note said"
        assert await brought(text="喵", kinds=("note",)) == {"note"}
        path.unlink()
        await look(world)
        assert await brought(text="喵", kinds=("note",)) == set()
        assert world.rows("SELECT count(*) FROM vector WHERE doc_id NOT IN (SELECT id FROM doc)") == [(0,)]


def test_what_most_texts_have_in_common_is_no_likeness_whenever_they_came() -> None:
    def vector(speaker: float, subject: int) -> list[float]:
        return [speaker, *(float(number == subject) for number in range(60))]

    asked = pack([vector(2.0, 7)])
    said = stored(pack([vector(0.4 if number == 7 else 2.0 * (-1) ** number, number) for number in range(60)]))
    rows = [(number, "line", number, 1, number, each) for number, each in enumerate(said, 1)]
    asking, whole = RecallQuery(Audience(1, "dm", (1,)), 1, "", 0), matrix(rows, 61, whole=False)
    found, shares = nearest(asked, whole, asking, 0.05, 5)
    assert found[0][0] == 8, "it is about the same, though somebody else says it"
    assert shares[8] == max(shares.values())
    for known in (1, 20, 59):
        grown = changed(matrix(rows[:known], 61, whole=False), known, range(1, known + 1), rows[known:], len(rows))
        assert nearest(asked, grown, asking, 0.05, 5) == (found, shares), "whether it was read at once or in parts"
    older = changed(matrix(rows[30:], 61, whole=False), 0, range(1, 61), rows[:30], len(rows))
    assert nearest(asked, older, asking, 0.05, 5) == (found, shares), "or the older ones came later"
    window = matrix(rows[:30], 61, whole=False)
    taken = {id(window.common): window.common}
    for newest in range(31, 61):
        window = changed(window, 0, range(newest, newest - 30, -1), rows[newest - 1 : newest], 30)
        taken[id(window.common)] = window.common
    assert 1 < len(taken) < 9, "where the oldest go for each new one it is taken anew now and then"
    assert nearest(asked, changed(whole, 0, (), (), len(rows)), asking, 0.05, 5) == ((), {}), "all were forgotten"
    without = changed(whole, 0, range(11, 61), (), len(rows))
    assert nearest(asked, without, asking, 0.05, 5) == nearest(
        asked, matrix(rows[10:], 61, whole=False), asking, 0.05, 5
    )


@pytest.mark.parametrize("provider", ["openai", "hash"])
async def test_what_is_compared_is_what_is_there_whatever_came_went_or_changed(tmp_path: Path, provider: str) -> None:
    async with embedded_world(tmp_path, provider=provider) as (world, _):

        async def compared() -> set[int]:
            """The documents like a question; a nuan that knows nothing of what it read before finds the same."""
            asking = RecallQuery(dm(world), 1, "我的狗叫旺财", world.clock.now())
            found = await world.dense.like(asking, 20)
            fresh = make_recall(world.parts, world.app._services.vector_maker._find_caller, pays=True)
            assert found == await fresh._near.like(asking, 20)
            return set(found.found)

        await world.say("记住我的狗叫旺财")
        await world.wait(SOON)
        kept = await compared()
        await world.say("我的狗旺财在家", external_id="m1")
        assert await compared() == kept, "what is new has no vector yet"
        await world.wait(SOON)
        more = await compared()
        assert more > kept
        await happens(world, "edit", "m1", "我的狗旺财在外面")
        await world.say("我的狗叫什么来着", external_id="m2")
        assert len(await compared() - kept) < len(more - kept), "what it said before is gone"
        await world.wait(SOON)
        assert len(await compared() - more) == 2
        await happens(world, "delete", "m2")
        await world.say("忘记我的狗叫旺财")
        await world.say("我的狗呢")
        left = await compared()
        assert left.isdisjoint(kept)
        await world.wait(SOON)
        assert await compared() > left


async def recalled(world: World, query: str) -> str:
    """What the model is told when it asks memory that."""
    world.model.script = lambda request: (
        says("好")
        if request.prompt.messages[-1].role == "tool"
        else calls(("memory_recall", json.dumps({"query": query}, ensure_ascii=False)))
    )
    await world.say("帮我想想")
    return world.prompts[-1][-1].content


@pytest.mark.parametrize(("ranking", "found"), [("hybrid", True), ("v2", False)])
async def test_a_memory_without_a_shared_word_comes_back_by_likeness_alone(
    tmp_path: Path, ranking: str, found: bool
) -> None:
    async with FakeEmbeddings(PETS) as server:
        given = settings(server)
        memory = given.memory.model_copy(update={"mode": ranking})
        world = await EmbeddedWorld(tmp_path, given.model_copy(update={"memory": memory})).open()
        await world.say("记住我的狗叫旺财")
        await world.say("/new")
        await world.wait(SOON)
        assert ("旺财" in await recalled(world, "家里的汪星人")) is found
        assert bool(server.asked.inputs) is found, "no other ranking pays for vectors"
        if found:
            assert world.rows("SELECT person_id FROM call WHERE cause = 'embedding' ORDER BY id DESC LIMIT 1") == [(1,)]
        await world.close()
        await world.parts.current.pool.close()


@pytest.mark.parametrize("answer", [Vectors("http", 500), Vectors("hang"), Vectors("cut")])
async def test_while_the_server_is_away_words_answer_and_the_log_says_so_once(tmp_path: Path, answer: Vectors) -> None:
    async with embedded_world(tmp_path, embedding={"query_seconds": 0.05, "timeout_seconds": 0.05}) as (world, server):
        await world.say("记住我的狗叫旺财")
        await world.wait(SOON)
        server.answers = lambda texts: answer
        for _ in range(5):
            assert "旺财" in await recalled(world, "旺财是谁")
        assert [line["why"] for line in world.log.named("embedding_trouble")] == ["down"]
        assert len(server.asked.inputs) <= 6, "a server that fails is left alone"
        assert "reserved" not in [call[0] for call in paid(world)]
