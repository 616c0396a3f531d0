"""memory.rewrite: a kept sentence becomes a clean statement, and whatever goes wrong it stays as it was said."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.core.models import ModelRequest
from tests.test_changes import change
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
    return world.peek.memories("text", "original", disabled_at=None)


async def test_a_clean_statement_takes_its_place_and_the_original_is_kept_and_shown(world: World) -> None:
    world.model.script = lambda request: verdict("ok", CLEAN)
    await world.say(f"记住{SAID}")
    assert world.replies == [f"记住啦 #1：{SAID}", f"#1 我整理成了“{CLEAN}”（原话“{SAID}”）"]
    assert texts(world) == [(CLEAN, SAID)]
    assert world.peek.calls("cause", "state") == [("rewrite", "settled")]
    await world.say("忘掉关于我的一切")
    assert f"#1 {CLEAN}（原话“{SAID}”）" in world.replies[-1]


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
    assert world.replies[-1].startswith("#1 我整理成了“我周三下午三点体检”（原话“我周三体检 下午三点”）")
    assert texts(world)[0][0] == "我周三下午三点体检"


async def test_a_model_that_is_down_is_asked_three_times_and_a_kill_loses_no_sentence(world: World) -> None:
    world.model.script = lambda request: ModelError("busy", "503")
    await world.say(f"记住{SAID}")
    await world.crash()
    await world.wait(600)
    assert len(world.model.requests) == 3
    assert texts(world) == [(SAID, "")]
    assert world.peek.rewritings.count() == 0


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
    await world.app.ingest.accept(world.message(f"记住{SAID}"))
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
    assert [reply.partition("：")[0] for reply in world.replies] == ["记住啦 #1"]
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
    await world.app.ingest.accept(world.message(f"记住{SAID}"))
    await world.held()
    await world.app.ingest.accept(world.message("忘记 #1"))
    await world.held()
    await world.let_answer()
    assert texts(world) == []
    assert "我整理成了" not in "".join(world.replies)


async def test_the_line_after_a_question_is_answered_as_what_it_is_and_changes_nothing_when_it_is_no_answer(
    world: World,
) -> None:
    def script(request: ModelRequest) -> str:
        if request.prompt.messages[0].content.startswith("下面是一个人要求记住"):
            return verdict("reject" if len(request.prompt.messages) > 2 else "clarify", "周三几点呢？")
        return "狗狗听起来很累"

    world.model.script = script
    await world.say("记住我周三体检")
    await world.say("我家的狗今天跑了十公里")
    assert world.replies[1:] == ["#1 我想问清楚一点：周三几点呢？", "狗狗听起来很累"]
    assert texts(world) == [("我周三体检", "")]
    assert world.peek.rewritings.count() == 0


@pytest.mark.parametrize(
    "invented", ["我家的狗周三下午三点体检", "我周三下午四点体检", "下午三点", "我周三体检", "我周三不体检，下午三点"]
)
async def test_what_a_model_makes_of_an_answer_must_stand_in_both_lines(world: World, invented: str) -> None:
    world.model.script = lambda request: (
        verdict("ok", invented) if len(request.prompt.messages) > 2 else verdict("clarify", "周三几点呢？")
    )
    await world.say("记住我周三体检")
    await world.say("下午三点")
    assert texts(world) == [("我周三体检", "")]


@pytest.mark.parametrize("invented", ["我对花生和芒果过敏", "我妈妈对花生过敏", "我对花生不过敏", "我3岁起对花生过敏"])
async def test_what_a_person_never_said_takes_the_place_of_nothing(world: World, invented: str) -> None:
    world.model.script = lambda request: verdict("ok", invented)
    await world.say(f"记住{SAID}")
    assert texts(world) == [(SAID, "")]
    assert world.replies[-1] == "#1 我没想出更清楚的说法，就照你的原话记着"


async def test_a_question_that_nobody_answers_is_over_in_its_time(world: World) -> None:
    world.model.script = lambda request: verdict("clarify", "周三几点呢？")
    await world.say("记住我周三体检")
    await world.wait(3600)
    await world.say("下午三点")
    assert texts(world) == [("我周三体检", "")]
    assert world.peek.rewritings.count() == 0


async def test_a_line_that_asks_for_time_leaves_the_question_open(world: World) -> None:
    world.model.script = lambda request: (
        verdict("ok", "我周三下午三点体检")
        if "下午三点" in request.prompt.messages[-1].content
        else verdict("clarify", "周三几点呢？")
    )
    await world.say("记住我周三体检")
    await world.say("等一下")
    await world.say("下午三点")
    assert texts(world) == [("我周三下午三点体检", "我周三体检\n下午三点")]


async def test_an_answer_that_is_deleted_meanwhile_changes_nothing(world: World) -> None:
    world.model.script = lambda request: (
        verdict("ok", "我周三下午三点体检") if len(request.prompt.messages) > 2 else verdict("clarify", "周三几点呢？")
    )
    await world.say("记住我周三体检")
    world.shut()
    await world.app.ingest.accept(world.message("下午三点", external_id="m1"))
    await world.held()
    await world.app.ingest.accept(change(world, "delete", "m1"))
    await world.let_answer()
    assert texts(world) == [("我周三体检", "")]
