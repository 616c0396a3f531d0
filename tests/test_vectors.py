"""Vectors in the running bot: what gets one and when, what it costs, and when it goes."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from bot.cli.model_checks import embedding_findings
from bot.container import make_recall
from bot.core.people import Audience
from bot.core.recall import RecallQuery
from tests.beating import DAY_S
from tests.embedded import PETS, SOON, embedded_world, likeness, paid, settings, vectors
from tests.fakes.clock import let_others_run
from tests.fakes.embedding_server import FakeEmbeddings, Vectors
from tests.fakes.model import says
from tests.instrumented import instrumented
from tests.world import World


async def test_what_is_kept_gets_its_vector_a_little_later_and_the_call_is_paid_for(tmp_path: Path) -> None:
    async with embedded_world(tmp_path) as (world, server):
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


async def test_what_is_forgotten_has_no_vector_any_more(tmp_path: Path) -> None:
    async with embedded_world(tmp_path) as (world, _):
        await world.say("记住我的狗叫旺财")
        await world.wait(SOON)
        assert vectors(world)
        assert await likeness(world, "汪星人")
        await world.say("忘记我的狗叫旺财")
        assert vectors(world) == []
        assert await likeness(world, "汪星人") == []
        assert world.rows("SELECT count(*) FROM vector WHERE doc_id NOT IN (SELECT id FROM doc)") == [(0,)]


async def test_what_is_forgotten_while_its_vector_is_made_gets_none(tmp_path: Path) -> None:
    async with embedded_world(tmp_path) as (world, server):
        server.delay = asyncio.Event()
        await world.app.ingest.accept(world.message("记住我的狗叫旺财"))
        await world.app.settled()
        world.clock._now += SOON * 1000
        world.app._wake_vectors()
        while not server.asked.inputs:
            await let_others_run()
        await world.app.ingest.accept(world.message("忘记我的狗叫旺财"))
        while vectors_due(world):
            await let_others_run()
        server.delay.set()
        await world.app.settled()
        assert vectors(world) == []
        assert [call[0] for call in paid(world)][:1] == ["settled"]


def vectors_due(world: World) -> bool:
    """Whether the memory is still there."""
    return world.peek.memories.count(disabled_at=None) != 0


async def test_a_crash_between_batches_loses_nothing_and_pays_nothing_twice(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, embedding={"batch": 1}) as (world, server):
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


async def test_a_setting_of_something_else_does_not_stop_the_round_that_makes_them(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, embedding={"batch": 1}) as (world, server):
        for text in ("我的狗叫旺财", "我有一只猫", "我对花生过敏"):
            await world.say(f"记住{text}")
        server.delay = asyncio.Event()
        alarm = asyncio.ensure_future(world.wait(SOON))
        while not server.asked.inputs:
            await let_others_run()
        assert world.parts.apply is not None
        await world.parts.apply({"budget.day_money": "5"}, 1)
        server.delay.set()
        await alarm
        assert len(vectors(world)) == 3
        assert len(world.log.named("embedded")) == 1, "one round"


async def test_dimensions_that_change_with_every_call_are_given_up(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, embedding={"batch": 1}) as (world, server):
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
    async with embedded_world(tmp_path) as (world, server):
        await world.say("记住我的狗叫旺财")
        await world.wait(SOON)
        await world.close()
        world.settings = settings(server, embedding={"model": "meaning-2"})
        await world.open()
        await world.wait(SOON)
        assert vectors(world) == [("我的狗叫旺财", "meaning-2")]


async def test_a_server_that_is_busy_is_waited_for_as_long_as_it_says(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, lambda texts: Vectors("http", 429, 100)) as (world, server):
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


async def test_one_question_answered_too_late_is_no_fault_on_the_page_of_health_but_two_in_a_row_are(
    tmp_path: Path,
) -> None:
    async with FakeEmbeddings(PETS) as server:
        brief = settings(server, embedding={"query_seconds": 0.3})
        async with instrumented(tmp_path / "data", brief) as page:
            world = page.world
            await world.say("记住我的狗叫旺财")
            await world.wait(SOON)
            recalling, seen = make_recall(world.parts, world.app._services.vector_maker._find_caller, pays=True), []
            for number, late in enumerate((True, False, True, True, False)):
                answer = Vectors("hang" if late else None)
                server.answers = lambda texts, answer=answer: answer  # type: ignore[misc]
                asking = RecallQuery(Audience(1, "dm", (1,)), 1, f"汪星人{number}", world.clock.now())
                missing = (await recalling.recall(asking)).missing
                seen.append((missing, (await page.health())[1]["status"]))
            once, works = ("down", "green"), ("", "green")
            assert seen == [once, works, once, ("down", "yellow"), works]
            await world.parts.current.pool.close()


def with_vectors(world: World) -> list[object]:
    """The memories that a recall finds by likeness, too."""
    return [
        text
        for (text,) in world.rows(
            "SELECT text FROM memory JOIN doc ON doc.kind = 'memory' AND ref = memory.id JOIN vector ON doc_id = doc.id "
            "WHERE length(vector) > 0 ORDER BY memory.id"
        )
    ]


async def test_one_text_that_the_server_refuses_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, refusing_nuts) as (world, server):
        for text in ("我的狗叫旺财", "我对花生过敏", "我有一只猫"):
            await world.say(f"记住{text}")
        await world.wait(SOON)
        assert with_vectors(world) == ["我的狗叫旺财", "我有一只猫"]
        asked = len(server.asked.inputs)
        await world.wait(7200)
        assert len(server.asked.inputs) == asked


async def test_a_text_that_the_server_refused_is_asked_for_again_when_an_operator_wants_it_and_never_before(
    tmp_path: Path,
) -> None:
    refusing = True

    def script(texts: list[str]) -> Vectors:
        return Vectors("http", 400) if refusing and any("花生" in text for text in texts) else Vectors()

    async with embedded_world(tmp_path, script, embedding={"batch": 1}) as (world, server):
        for text in ("我的狗叫旺财", "我有一只猫", "我对花生过敏", "我爱吃花生酱", "花生酥也好吃"):
            await world.say(f"记住{text}")
        await world.wait(SOON)
        assert with_vectors(world) == ["我的狗叫旺财", "我有一只猫"], "what is older does not wait for what is refused"
        for _ in range(2):
            await world.close()
            await world.open()
            await world.wait(DAY_S)
            await world.say("今天真热")
            await world.wait(SOON)
        refused = [text for text in server.asked.texts if "花生" in text]
        assert refused.count("我对花生过敏") == refused.count("记住我对花生过敏") == 1
        told = await embedding_findings(world.settings, tmp_path)
        (line,) = (each.text for each in told if each.state == "warn")
        ((left,),) = world.rows("SELECT count(*) FROM doc WHERE id IN (SELECT doc_id FROM vector WHERE dimensions = 0)")
        assert f"refused {left} documents" in line
        refusing = False
        assert await world.app._services.vector_maker.lacking() == left
        await world.app._services.vector_maker.make_all(lambda made: None)
        assert "我对花生过敏" in with_vectors(world)
        assert not [each for each in await embedding_findings(world.settings, tmp_path) if "refused" in each.text]


def refusing_nuts(texts: list[str]) -> Vectors:
    """A server that refuses what is about them."""
    return Vectors("http", 400) if any("花生" in text for text in texts) else Vectors()


async def test_where_all_texts_are_refused_the_server_is_asked_once_for_another_one_and_for_no_question(
    tmp_path: Path,
) -> None:
    async with embedded_world(tmp_path, refusing_nuts) as (world, server):
        world.model.script = lambda _: says("花生！")
        for food in ("花生酱", "花生酥", "花生糖"):
            await world.say(f"我爱吃{food}")
        await world.wait(SOON)
        asked = server.asked.inputs
        assert sorted(map(len, asked)) == [*[1] * 7, 4], (
            "six documents, three of one text, and one call for all of them"
        )
        assert await likeness(world, "汪星人") == []
        assert len(asked) == 8
        assert [call[0] for call in paid(world)].count("settled") == 1


async def test_texts_that_wait_while_the_account_runs_empty_are_asked_for_again(tmp_path: Path) -> None:
    empty = False

    def emptied(texts: list[str]) -> Vectors:
        nonlocal empty
        answer = Vectors("http", 402) if empty else refusing_nuts(texts)
        empty = empty or (answer.fault == "http" and len(texts) == 1)
        return answer

    async with embedded_world(tmp_path, emptied) as (world, server):
        for text in ("我的狗叫旺财", "我有一只猫", "我对花生过敏"):
            await world.say(f"记住{text}")
        await world.wait(SOON)
        assert empty
        assert with_vectors(world) == []
        server.answers = refusing_nuts
        await world.wait(7200)
        assert with_vectors(world) == ["我的狗叫旺财", "我有一只猫"]


async def test_a_stop_ends_a_round_between_two_texts_that_are_asked_for_alone(tmp_path: Path) -> None:
    stops: list[asyncio.Task[None]] = []

    def stopping(texts: list[str]) -> Vectors:
        if texts == ["我爱吃花生糖"]:
            stops.append(asyncio.ensure_future(world.close()))
        return refusing_nuts(texts)

    async with embedded_world(tmp_path, stopping) as (world, server):
        world.model.script = lambda _: says("花生！")
        for food in ("花生酱", "花生酥", "花生糖"):
            await world.say(f"我爱吃{food}")
        await world.wait(SOON)
        await asyncio.gather(*stops)
        assert server.asked.inputs[-1] == ["我爱吃花生糖"]
        server.answers = lambda texts: Vectors()
        await world.open()
        await world.wait(SOON)
        assert sorted(server.asked.texts[-3:]) == ["我爱吃花生酥", "我爱吃花生酱", "花生！"], "the next start goes on"


async def test_a_server_that_takes_no_text_is_asked_again_for_all_of_them(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, lambda texts: Vectors("http", 400)) as (world, server):
        await world.say("记住我的狗叫旺财")
        await world.wait(SOON)
        assert with_vectors(world) == []
        server.answers = lambda texts: Vectors()
        await world.wait(60)
        assert with_vectors(world) == ["我的狗叫旺财"]


@pytest.mark.parametrize(
    ("tables", "why"),
    [({"budget": {"day_tokens": 0}}, "budget"), ({"background": {"sources": ["digest"]}}, "switched_off")],
)
async def test_without_money_or_leave_no_vector_is_made_and_the_log_says_so_once(
    tmp_path: Path, tables: dict[str, Any], why: str
) -> None:
    async with embedded_world(tmp_path, **tables) as (world, server):
        for _ in range(3):
            await world.say("记住我的狗叫旺财")
            await world.wait(SOON)
        assert server.asked.inputs == []
        assert [line["why"] for line in world.log.named("embedding_trouble")] == [why]


async def test_an_index_that_is_written_anew_keeps_what_was_paid_for(tmp_path: Path) -> None:
    async with embedded_world(tmp_path) as (world, server):
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


async def test_what_was_passed_over_has_its_vector_within_a_day(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, provider="hash") as (world, _):
        for text in ("我的狗叫旺财", "我有一只猫"):
            await world.say(f"记住{text}")
        await world.wait(SOON)
        # As if another process had stored it later than what has higher numbers.
        gone = "DELETE FROM vector WHERE doc_id = (SELECT min(doc_id) FROM vector)"
        await world.store._database.write(lambda tx: tx.run(gone))
        lacking = "SELECT count(*) FROM doc WHERE id NOT IN (SELECT doc_id FROM vector)"
        for wait, left in ((SOON, 1), (DAY_S, 0)):
            await world.wait(wait)
            await world.say("今天真热")
            await world.wait(SOON)
            assert world.rows(lacking) == [(left,)]


async def test_of_a_long_message_each_question_is_compared_beside_the_whole(tmp_path: Path) -> None:
    async with embedded_world(tmp_path) as (world, server):
        await world.say("记住我的狗叫旺财")
        await world.wait(SOON)
        around = "今天真热。下班路上堵了一个小时。晚饭随便吃了点。"
        for text, asking in (
            (f"{around}我的汪星人叫什么？", ["我的汪星人叫什么？"]),
            (
                f"{around}谁养了猫？天气好吗？我的汪星人叫什么？几点了？",
                ["天气好吗？", "我的汪星人叫什么？", "几点了？"],
            ),
            (f"{around}先睡了。", []),
            ("今天真热。汪星人呢？", []),
        ):
            found = await likeness(world, text)
            assert server.asked.inputs[-1] == [text, *asking]
            assert bool(found) == ("汪星人" in text)
