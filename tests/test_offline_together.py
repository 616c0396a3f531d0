"""Lines that come together are answered together by the offline model, each question with what was found for it; and
how it says that nuan is started."""

import json
import sys
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.models import Message, ModelRequest, Prompt
from bot.pipeline.endpoints import make_pool
from tests.test_offline_model import PROMPTS, SEEN, alone, ask, recalled, user


async def test_questions_that_come_together_are_answered_one_by_one() -> None:
    log = (*SEEN, user("我对什么过敏？", "今天几号", "我怕什么？"))
    first = await ask(*log)
    assert [json.loads(call.arguments)["query"] for call in first.tool_calls] == ["我对什么过敏？", "我怕什么？"]
    found = ("- #12 阿明：我对花生过敏", "- #7 阿明：我怕冷")
    told = [Message("tool", text, tool_call_id=call.id) for call, text in zip(first.tool_calls, found, strict=True)]
    second = await ask(*log, first.message(), *told)
    assert second.text.splitlines() == [
        "我记得你对花生过敏。",
        "今天是 2026-11-21 周六，现在 09:05。",
        "我记得你怕冷。",
    ]


async def test_it_says_how_it_calls_them_when_it_is_asked_so() -> None:
    answer = await ask(alone("嗯", "你叫我什么", receipt="好，以后叫你小明 #1"))
    assert answer.text.endswith("你是小明。")


async def test_a_question_for_a_name_is_not_answered_by_another_memory() -> None:
    assert await recalled("- #12 阿明：我对芒果过敏", "我叫什么") == "这个我不记得。"
    assert await recalled("- #12 阿明：我叫林晓", "我叫什么") == "我记得你叫林晓。"


async def test_how_to_connect_a_model_names_the_program_of_this_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    model = make_pool(Settings(), lambda path: PROMPTS / path).first.model
    said = (*SEEN, user("今天好热"), Message("assistant", "嗯，我听到了。"), user("想吃西瓜"))
    third = await model.complete(ModelRequest(Prompt((), said), 200, 0.7, 1.0))
    program = Path(sys.executable).with_name("nuan")
    folder = Path.cwd()
    assert f"{program.relative_to(folder) if program.is_relative_to(folder) else program} init" in third.text
