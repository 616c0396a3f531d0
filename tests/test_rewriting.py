"""memory.rewrite: a kept sentence becomes a clean statement, and whatever goes wrong it stays as it was said."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.errors import ModelError
from tests.world import World

SAID = "我对花生过敏的，吃了会起疹子"
CLEAN = "我对花生过敏"


def verdict(status: str, text: str = "") -> str:
    return json.dumps({"status": status, "text": text}, ensure_ascii=False)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "memory": {"rewrite": True}})
    world = await World(tmp_path / "data", settings).open()
    yield world
    await world.close()


def texts(world: World) -> list[tuple[object, ...]]:
    return world.rows("SELECT text, original FROM memory WHERE disabled_at IS NULL")


async def test_a_clean_statement_takes_its_place_and_the_original_is_kept_and_shown(world: World) -> None:
    world.model.script = lambda request: verdict("ok", CLEAN)
    await world.say(f"记住{SAID}")
    assert world.replies == ["记住啦 #1", f"#1 我整理成了：{CLEAN}（原话：{SAID}）"]
    assert texts(world) == [(CLEAN, SAID)]
    assert world.rows("SELECT cause, state FROM call") == [("rewrite", "settled")]
    await world.say("忘掉关于我的一切")
    assert f"#1 {CLEAN}（原话：{SAID}）" in world.replies[-1]


async def test_without_the_setting_no_model_is_asked(world: World) -> None:
    world.settings = world.settings.model_copy(
        update={"memory": world.settings.memory.model_copy(update={"rewrite": 0})}
    )
    await world.restart()
    await world.say(f"记住{SAID}")
    assert world.model.requests == []


async def test_what_is_rejected_stays_in_the_persons_own_words(world: World) -> None:
    world.model.script = lambda request: verdict("reject")
    await world.say(f"记住{SAID}")
    assert world.replies[-1] == "#1 我没想出更清楚的说法，就照你的原话记着"
    assert texts(world) == [(SAID, "")]


async def test_an_unclear_sentence_is_asked_about_and_the_answer_is_added(world: World) -> None:
    world.model.script = lambda request: (
        verdict("ok", "我周三下午三点体检")
        if "下午三点" in request.prompt.messages[-1].content
        else verdict("clarify", "周三几点呢？")
    )
    await world.say("记住我周三体检")
    assert world.replies[-1] == "#1 我想问清楚一点：周三几点呢？"
    await world.say("下午三点")
    assert world.replies[-1].startswith("#1 我整理成了：我周三下午三点体检（原话：我周三体检 下午三点）")
    assert texts(world)[0][0] == "我周三下午三点体检"


async def test_a_model_that_is_down_is_asked_three_times_and_a_kill_loses_no_sentence(world: World) -> None:
    world.model.script = lambda request: ModelError("busy", "503")
    await world.say(f"记住{SAID}")
    await world.crash()
    await world.wait(600)
    assert len(world.model.requests) == 3
    assert texts(world) == [(SAID, "")]
    assert world.rows("SELECT count(*) FROM rewriting") == [(0,)]


@pytest.mark.parametrize("fault", ["refused", "filtered"])
async def test_a_refusal_is_not_repeated(world: World, fault: str) -> None:
    world.model.script = lambda request: ModelError(fault, "401")  # type: ignore[arg-type]
    await world.say(f"记住{SAID}")
    await world.wait(600)
    assert len(world.model.requests) == 1
    assert texts(world) == [(SAID, "")]


async def test_after_a_kill_in_the_middle_of_the_call_it_is_asked_again(world: World) -> None:
    world.model.script = lambda request: verdict("ok", CLEAN)
    world.shut()
    await world.app.door.accept(world.message(f"记住{SAID}"))
    await world.held()
    await world.crash()
    await world.wait(60)
    assert texts(world) == [(CLEAN, SAID)]


async def test_a_spent_budget_leaves_the_sentence_as_it_was_said(world: World) -> None:
    budget = world.settings.budget.model_copy(update={"day_tokens": 1})
    world.settings = world.settings.model_copy(update={"budget": budget})
    await world.restart()
    await world.say(f"记住{SAID}")
    assert world.model.requests == []
    assert world.replies == ["记住啦 #1"]
    assert texts(world) == [(SAID, "")]


@pytest.mark.parametrize("answer", ["好的", "{}", '{"status":"ok"}', '{"status":"ok","text":""}', "[" * 5000])
async def test_an_answer_that_is_no_verdict_changes_nothing(world: World, answer: str) -> None:
    world.model.script = lambda request: answer
    await world.say(f"记住{SAID}")
    await world.wait(600)
    assert texts(world) == [(SAID, "")]
    assert len(world.model.requests) == 3


async def test_what_was_forgotten_before_the_answer_came_stays_forgotten(world: World) -> None:
    world.model.script = lambda request: verdict("ok", CLEAN)
    world.shut()
    await world.app.door.accept(world.message(f"记住{SAID}"))
    await world.held()
    await world.app.door.accept(world.message("忘记 #1"))
    await world.held()
    await world.let_answer()
    assert texts(world) == []
    assert CLEAN not in "".join(world.replies)
