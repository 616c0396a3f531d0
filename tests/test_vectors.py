"""Vectors in the running house: who gets one and when, what it costs, when it goes, and whose it is."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, cast

import pytest

from bot.config.settings import Settings
from bot.flow.dense import Dense
from bot.rooms import make_recalling
from bot.types.people import Audience
from bot.types.recall import Asking
from tests.fakes.clock import let_others_run
from tests.fakes.embedding_server import FakeEmbeddings, Vectors, meaning_of
from tests.world import World

PETS = meaning_of({"狗": 0, "旺财": 0, "汪星人": 0, "猫": 1, "喵": 1, "花生": 2, "过敏": 2})
SOON = 20
Answers = Callable[[list[str]], Vectors]


class House(World):
    """A World with the dense half of its recall to look at."""

    dense: Dense

    async def open(self, *, settle: bool = True) -> "House":
        """Start it."""
        await super().open(settle=settle)
        self.dense = make_recalling(self.parts, self.app._rooms.vectorising._calls, pays=True)._dense
        return self


@asynccontextmanager
async def house(
    folder: Path, script: Answers = lambda texts: Vectors(), *, provider: str = "openai", **tables: object
) -> AsyncIterator[tuple[House, FakeEmbeddings]]:
    """A nuan whose memory has a server of embeddings."""
    async with FakeEmbeddings(PETS, script) as server:
        world = await House(folder, settings(server, provider, **tables)).open()
        try:
            yield world, server
        finally:
            await world.close()
            if world.parts.crew.embedding is not None:
                await world.parts.crew.embedding.embedder.close()


def settings(server: FakeEmbeddings, provider: str = "openai", **tables: object) -> Settings:
    """A configuration with this server."""
    embedding = {"provider": provider, "base_url": server.base_url, "model": "meaning", "price_input": 100.0}
    more = cast("dict[str, object]", tables.pop("embedding", {}))
    memory = {"ranking": "hybrid", "embedding": {**embedding, **more}}
    return Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "memory": memory, **tables})


def vectors(world: World) -> list[tuple[object, ...]]:
    """Which memories have a vector, by whose model."""
    return world.rows(
        "SELECT memory.text, model FROM vector JOIN doc ON doc.id = doc_id JOIN memory ON memory.id = ref "
        "WHERE doc.kind = 'memory' ORDER BY memory.id"
    )


def paid(world: World) -> list[tuple[object, ...]]:
    """How the calls for vectors ended, and what they cost."""
    return world.rows("SELECT state, prompt_tokens, round(cost, 6) FROM call WHERE cause = 'embedding' ORDER BY id")


async def likeness(world: House, text: str, audience: Audience | None = None) -> list[str]:
    """The texts that a recall would find by likeness alone, for the owner in their own DM."""
    found = await world.dense.like(Asking(audience or Audience(1, "dm", (1,)), 1, text, world.clock.now()), 20)
    texts = world.rows("SELECT doc.id, text FROM doc JOIN memory ON memory.id = ref WHERE doc.kind = 'memory'")
    told = {cast("int", number): str(text) for number, text in texts}
    return [told[number] for number in found.found if number in told]


async def test_what_is_kept_gets_its_vector_a_little_later_and_the_call_is_paid_for(tmp_path: Path) -> None:
    async with house(tmp_path) as (world, server):
        await world.say("记住我的狗叫旺财")
        assert server.asked.inputs == [], "a talk has many short lines: they are gathered"
        await world.wait(SOON)
        assert vectors(world) == [("我的狗叫旺财", "meaning")]
        (call,) = paid(world)
        assert call[0] == "settled"
        assert call[1] == sum(map(len, server.asked.texts))
        asked = len(server.asked.inputs)
        await world.wait(3600)
        assert len(server.asked.inputs) == asked, "what has a vector needs no other"


async def test_what_shares_no_word_with_the_question_is_found_by_meaning(tmp_path: Path) -> None:
    async with house(tmp_path) as (world, _):
        await world.say("记住我的狗叫旺财")
        await world.say("记住我喜欢喝茶")
        await world.wait(SOON)
        assert await likeness(world, "家里的汪星人") == ["我的狗叫旺财"]


async def test_what_is_forgotten_has_no_vector_any_more(tmp_path: Path) -> None:
    async with house(tmp_path) as (world, _):
        await world.say("记住我的狗叫旺财")
        await world.wait(SOON)
        assert vectors(world)
        assert await likeness(world, "汪星人")
        await world.say("忘记我的狗叫旺财")
        assert vectors(world) == []
        assert await likeness(world, "汪星人") == []
        assert world.rows("SELECT count(*) FROM vector WHERE doc_id NOT IN (SELECT id FROM doc)") == [(0,)]


async def test_what_is_forgotten_while_its_vector_is_made_gets_none(tmp_path: Path) -> None:
    async with house(tmp_path) as (world, server):
        server.delay = asyncio.Event()
        await world.app.door.accept(world.message("记住我的狗叫旺财"))
        await world.app.settled()
        world.clock._now += SOON * 1000
        world.app._wake_vectors()
        while not server.asked.inputs:
            await let_others_run()
        await world.app.door.accept(world.message("忘记我的狗叫旺财"))
        while vectors_due(world):
            await let_others_run()
        server.delay.set()
        await world.app.settled()
        assert vectors(world) == []
        assert [call[0] for call in paid(world)][:1] == ["settled"]


def vectors_due(world: World) -> bool:
    """Whether the memory is still there."""
    return world.rows("SELECT 1 FROM memory WHERE disabled_at IS NULL") != []


@pytest.mark.parametrize("provider", ["openai", "hash"])
async def test_another_persons_vectors_are_no_candidates(tmp_path: Path, provider: str) -> None:
    async with house(tmp_path, provider=provider) as (world, _):
        for who in ("小王", "小李", "小陈"):
            await world.say(f"记住{who}的狗叫旺财", who)
        await world.say("小暖，记住群里的狗也叫旺财", "小李", "家")
        await world.wait(SOON)
        assert len(vectors(world)) == 4
        places = world.rows("SELECT external_id, chat_id FROM place")
        chats = {str(name): cast("int", number) for name, number in places}
        people = {str(name): cast("int", number) for name, number in world.rows("SELECT name, id FROM person")}
        for who, place in (("小王", "local"), ("小李", "dm:小李"), ("小陈", "dm:小陈")):
            audience = Audience(chats[place], "dm", (people[who],))
            for _ in range(2):
                assert await likeness(world, "我的狗叫旺财", audience) == [f"{who}的狗叫旺财"]
        group = Audience(chats["group:家"], "group", tuple(people.values()))
        assert await likeness(world, "我的狗叫旺财", group) == ["群里的狗也叫旺财"]


async def test_a_crash_between_batches_loses_nothing_and_pays_nothing_twice(tmp_path: Path) -> None:
    async with house(tmp_path, embedding={"batch": 1}) as (world, server):
        for text in ("我的狗叫旺财", "我有一只猫", "我对花生过敏"):
            await world.say(f"记住{text}")
        server.answers = lambda texts: Vectors() if len(server.asked.inputs) < 3 else Vectors("hang")
        alarm = asyncio.ensure_future(world.wait(SOON))
        while len(server.asked.inputs) < 3:
            await let_others_run()
        alarm.cancel()
        await asyncio.gather(alarm, return_exceptions=True)
        server.answers = lambda texts: Vectors()
        await world.crash()
        await world.wait(SOON)
        assert len(vectors(world)) == 3
        texts = server.asked.texts
        assert sorted(texts) == sorted([*{*texts}, texts[2]]), "only the call in flight is made again"
        assert [call[0] for call in paid(world)].count("lost") == 1


async def test_other_dimensions_make_all_vectors_anew(tmp_path: Path) -> None:
    async with house(tmp_path) as (world, server):
        await world.say("记住我的狗叫旺财")
        await world.wait(SOON)
        server.mean = meaning_of({"狗": 3, "汪星人": 3, "茶": 4}, 12)
        await world.say("记住我喜欢喝茶")
        assert await likeness(world, "汪星人") == [], "vectors of other lengths are not compared"
        await world.wait(SOON)
        assert set(world.rows("SELECT dimensions FROM vector")) == {(12,)}
        assert len(vectors(world)) == 2
        assert await likeness(world, "家里的汪星人") == ["我的狗叫旺财"]


async def test_dimensions_that_change_with_every_call_are_given_up(tmp_path: Path) -> None:
    async with house(tmp_path, embedding={"batch": 1}) as (world, server):
        server.answers = lambda texts: Vectors(change=lambda body: _widened(body, len(server.asked.inputs)))
        for number in range(4):
            await world.say(f"记住我的{number}号狗叫旺财")
        await world.wait(SOON)
        assert len(server.asked.inputs) < 10, "or it would be paid for for ever"
        assert "dimensions change" in str(world.log.named("embedding_trouble")[-1]["detail"])


def _widened(body: dict[str, object], width: int) -> dict[str, object]:
    data = cast("list[dict[str, object]]", body["data"])
    return {**body, "data": [each | {"embedding": [1.0] * width} for each in data]}


async def test_another_model_ignores_the_old_vectors_and_makes_its_own(tmp_path: Path) -> None:
    async with house(tmp_path) as (world, server):
        await world.say("记住我的狗叫旺财")
        await world.wait(SOON)
        await world.close()
        world.settings = settings(server, embedding={"model": "meaning-2"})
        await world.open()
        await world.wait(SOON)
        assert vectors(world) == [("我的狗叫旺财", "meaning-2")]


async def test_a_server_that_is_busy_is_waited_for_as_long_as_it_says(tmp_path: Path) -> None:
    async with house(tmp_path, lambda texts: Vectors("http", 429, 100)) as (world, server):
        await world.say("记住我的狗叫旺财")
        await world.wait(SOON + 60)
        assert len(server.asked.inputs) == 1
        assert await likeness(world, "汪星人") == []
        assert len(server.asked.inputs) == 1, "a question does not ask it either"
        assert len(world.log.named("embedding_trouble")) == 1
        server.answers = lambda texts: Vectors()
        await world.wait(60)
        assert vectors(world) == [("我的狗叫旺财", "meaning")]
        assert len(world.log.named("embedding_works")) == 1
        assert next(call[0] for call in paid(world)) == "released"


async def test_one_text_that_the_server_refuses_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    def script(texts: list[str]) -> Vectors:
        return Vectors("http", 400) if any("花生" in text for text in texts) else Vectors()

    async with house(tmp_path, script) as (world, server):
        for text in ("我的狗叫旺财", "我对花生过敏", "我有一只猫"):
            await world.say(f"记住{text}")
        await world.wait(SOON)
        assert [text for text, _ in vectors(world)] == ["我的狗叫旺财", "我有一只猫"]
        asked = len(server.asked.inputs)
        await world.wait(7200)
        assert len(server.asked.inputs) == asked


@pytest.mark.parametrize(
    ("tables", "why"),
    [({"budget": {"day_tokens": 0}}, "budget"), ({"background": {"sources": ["digest"]}}, "switched_off")],
)
async def test_without_money_or_leave_no_vector_is_made_and_the_log_says_so_once(
    tmp_path: Path, tables: dict[str, Any], why: str
) -> None:
    async with house(tmp_path, **tables) as (world, server):
        for _ in range(3):
            await world.say("记住我的狗叫旺财")
            await world.wait(SOON)
        assert server.asked.inputs == []
        assert [line["why"] for line in world.log.named("embedding_trouble")] == [why]


async def test_the_hash_makes_vectors_without_a_server_and_without_money(tmp_path: Path) -> None:
    async with house(tmp_path, provider="hash", budget={"day_tokens": 0}) as (world, server):
        await world.say("记住I have severe allergies to peanuts")
        await world.wait(SOON)
        assert [model for _, model in vectors(world)] == ["hash-512"]
        assert (server.asked.inputs, paid(world)) == ([], [])
        assert await likeness(world, "is she allergic to a peanut?") == ["I have severe allergies to peanuts"]


async def test_an_index_that_is_written_anew_keeps_what_was_paid_for(tmp_path: Path) -> None:
    async with house(tmp_path) as (world, server):
        await world.say("记住我的狗叫旺财")
        await world.say("记住我有一只猫")
        await world.wait(SOON)
        asked = len(server.asked.inputs)
        await world.close()
        with closing(sqlite3.connect(tmp_path / "nuan.db")) as database:
            database.execute("UPDATE meta SET value = 'older' WHERE key = 'terms'")
            database.execute("UPDATE memory SET text = '我有两只猫' WHERE text = '我有一只猫'")
            database.commit()
        await world.open()
        await world.wait(SOON)
        assert server.asked.inputs[asked:] == [["我有两只猫"]], "the other texts are still the same"
        assert len(vectors(world)) == 2
