"""Configuration, persona and prompts are read anew while nuan runs: nothing is lost, nothing is done twice."""

import asyncio
from pathlib import Path

import pytest

from bot.pipeline.configuration import Configuration
from tests.peek import SOME
from tests.reloading import SERVER, TOML, Filed

pytestmark = pytest.mark.debugged


async def test_the_next_turn_sees_the_new_persona_and_the_old_log_stays_as_it_was(filed: Filed) -> None:
    await filed.say("在吗")
    filed.write("[speak]\nwindow_seconds = 90\n")
    await filed.edit_persona("你住在杭州。")
    await filed.say(".ai reload")
    assert filed.replies[-1] == "重新读好了，改了：speak.window_seconds, persona/IDENTITY.md"
    before = filed.rows("SELECT * FROM prefix JOIN epoch USING (signature) JOIN entry ON epoch_id = epoch.id")
    await filed.say("你住在哪里")
    old, new = filed.turns
    assert "你住在杭州" not in old[0].content
    assert "你住在杭州" in new[0].content
    assert (
        filed.rows(
            "SELECT * FROM prefix JOIN epoch USING (signature) JOIN entry ON epoch_id = epoch.id WHERE epoch.id = 1"
        )
        == before
    )
    assert filed.peek.epochs("reason") == [("open",), ("prefix",)]
    assert filed.peek.sessions.count() == 1


async def test_without_a_change_it_says_so_and_the_prompt_goes_on_byte_for_byte(filed: Filed) -> None:
    await filed.say("在吗")
    (filed.persona / "SOUL.md").touch()
    await filed.say(".ai reload")
    assert filed.replies[-1] == "没有变化"
    await filed.say("今天冷吗")
    first, second = filed.turns
    assert [message.canonical() for message in second[: len(first)]] == [message.canonical() for message in first]
    assert filed.peek.epochs.count() == 1


async def test_only_owners_may_reload(filed: Filed) -> None:
    await filed.say(".ai reload", "小李")
    assert filed.log.named("reloaded") == []
    assert "主人" in filed.replies[-1]


async def test_all_that_is_wrong_is_said_at_once_and_the_old_one_stays(filed: Filed) -> None:
    filed.write("[speak]\nwindow_second = 5\n[limits]\nperson_day = 0\n")
    (filed.persona / "IDENTITY.md").write_bytes(b"\xff\xfe\xff")
    (filed.persona / "skills" / "空.md").write_text("")
    filed.own("messages/zh-Hans.toml", "kept = [1]")
    filed.own("digest/en.txt", "x")
    (filed.home / "prompts" / "digest" / "en.txt").write_bytes(b"\xff")
    await filed.say(".ai reload")
    said, *problems = filed.replies[-1].splitlines()
    assert said == "有错，没有换，还用原来的："
    for part in (
        "speak.window_second: unknown key",
        "limits.person_day",
        "IDENTITY.md",
        "skills/空.md",
        "messages/zh-Hans.toml",
        "digest/en.txt",
    ):
        assert [line for line in problems if part in line], part
    (line,) = filed.log.named("reload_refused")
    assert line["problems"] == problems
    await filed.say("在吗")
    assert filed.replies[-1] == "好的"
    assert filed.app.parts is filed.parts


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("[speak\n", "is not valid TOML"),
        ('[bot]\nnames = "小', "is not valid TOML"),
        ('persona = "nobody"\n', "there is no persona 'nobody'"),
        ('prompts_dir = "/nowhere"\n', "prompts_dir: there is no such folder"),
    ],
)
async def test_a_bad_file_is_taken_when_it_is_good_again(filed: Filed, wrong: str, problem: str) -> None:
    filed.write("", wrong)
    assert [problem in line for line in (await filed.reload()).problems] == [True]
    filed.write("[input]\nmax_chars = 10\n")
    assert (await filed.reload()).changed == ("input.max_chars",)


async def test_a_configuration_file_that_is_gone_is_no_empty_one(filed: Filed) -> None:
    (filed.home / "nuan.toml").unlink()
    (problem,) = (await filed.reload()).problems
    assert "there is no such file" in problem


async def test_sentences_names_and_rights_change_at_once(tmp_path: Path) -> None:
    world = await Filed(tmp_path, platforms=("telegram",)).open()
    await world.say("你好", "安", platform="telegram")
    assert "收到你的消息" not in world.replies[-1]
    shipped = (Path(__file__).parent.parent / "prompts/messages/zh-Hans.toml").read_text("utf-8")
    world.own("messages/zh-Hans.toml", shipped.replace("没有变化", "一切照旧"))
    named = TOML.replace("[bot]\n", '[bot]\nnames = ["阿福"]\nowners = ["telegram:t-安"]\n')
    world.write('[telegram]\nallow = ["t-李"]\n', named)
    done = await world.reload()
    assert done.changed == ("bot.names", "bot.owners", "telegram.allow", "prompts/messages/zh-Hans.toml")
    await world.say(".ai reload", "安", platform="telegram")
    assert world.replies[-1] == "一切照旧"
    await world.say("阿福，在吗", "李", platform="telegram")
    assert world.replies[-1] == "好的"
    calls = len(world.model.requests)
    await world.say("小暖，在吗", "王", "群")
    assert len(world.model.requests) == calls
    await world.say("阿福，在吗", "王", "群")
    assert len(world.model.requests) == calls + 1
    await world.say(".ai reload")
    assert "主人" in world.replies[-1], "who is no owner any more may not"
    await world.close()


async def test_what_only_a_restart_takes_is_named_each_time_without_its_value(filed: Filed) -> None:
    filed.write('[telegram]\ntoken = "123456:made-up-token"\n[log]\nlevel = "error"\n')
    await filed.say(".ai reload")
    assert filed.replies[-1] == "要重启才生效：telegram.token, log.level"
    filed.write('[telegram]\ntoken = "123456:made-up-token"\n[log]\nlevel = "error"\n[input]\nmax_chars = 9\n')
    await filed.say(".ai reload")
    assert filed.replies[-1] == "重新读好了，改了：input.max_chars\n要重启才生效：telegram.token, log.level"
    filed.write("")
    await filed.say(".ai reload")
    assert "要重启" not in filed.replies[-1]
    assert "made-up" not in "".join(filed.replies) + str(filed.log.lines)


async def test_a_window_and_a_follow_up_that_waits_outlive_it(filed: Filed) -> None:
    await filed.say("小暖，在吗", "小李", "群")
    await filed.say("我想问", "小李", "群")
    await filed.wait(3)
    filed.write("[speak]\nwindow_seconds = 1\nfollowup_seconds = 20\n")
    assert (await filed.reload()).changed == ("speak.window_seconds", "speak.followup_seconds")
    assert len(filed.replies) == 1
    await filed.wait(2)
    assert len(filed.replies) == 2, "the deadline was stored before"
    await filed.wait(0.5)
    await filed.say("还有", "小李", "群")
    await filed.wait(19)
    assert len(filed.replies) == 2
    await filed.wait(1)
    assert len(filed.replies) == 3, "a deadline of now goes by the new rule"
    await filed.wait(100)
    assert len(filed.replies) == 3


async def test_a_turn_under_way_is_finished_once_by_what_it_began_with(filed: Filed) -> None:
    filed.shut()
    talking = asyncio.create_task(filed.say("第一句"))
    await filed.held()
    await filed.edit_persona("你住在杭州。")
    await filed.reload()
    await filed.app.ingest.accept(filed.message("第二句"))
    await filed.held()
    assert len(filed.prompts) == 1, "one turn at a time in a chat"
    await filed.let_answer()
    await talking
    assert ["你住在杭州" in turn[0].content for turn in filed.turns] == [False, True]
    assert ["第二句" in turn[-1].content for turn in filed.turns] == [False, True]
    assert filed.replies == ["好的", "好的"]


async def test_a_chat_that_is_always_busy_changes_between_two_turns(filed: Filed) -> None:
    filed.shut()
    talking = asyncio.create_task(filed.say("第一句"))
    await filed.held()
    for text in (".ai help", "第二句", ".ai on", "第三句"):
        await filed.app.ingest.accept(filed.message(text))
    await filed.edit_persona("你住在杭州。")
    await filed.reload()
    await filed.answer_one()
    await filed.edit_persona("你会唱歌。")
    await filed.reload()
    await filed.let_answer()
    await talking
    assert ["你住在杭州" in turn[0].content for turn in filed.turns] == [False, True, True]
    assert ["你会唱歌" in turn[0].content for turn in filed.turns] == [False, False, True]


async def test_another_model_answers_the_next_and_the_old_is_closed_after_its_last_word(tmp_path: Path) -> None:
    filed = await Filed(tmp_path, SERVER.replace("{name}", "a")).open()
    old = filed.model
    filed.shut()
    talking = asyncio.create_task(filed.say("第一句"))
    await filed.held()
    filed.write(SERVER.replace("{name}", "b") + "temperature = 0.1\n")
    assert (await filed.reload()).changed == ("model.name", "model.temperature")
    assert (len(filed.models), old.closed) == (2, 0)
    assert old.gate is not None
    old.gate.set()
    await talking
    assert (filed.replies, old.closed) == (["好的"], 1)
    await filed.say("第二句")
    assert (len(old.requests), len(filed.model.requests), filed.model.closed) == (1, 1, 0)
    assert filed.peek.calls.count(state="reserved") == 0
    filed.write(SERVER.replace("{name}", "b") + "temperature = 0.2\nslots = 1\n")
    await filed.reload()
    await filed.say("第三句")
    assert (len(filed.models), filed.model.closed) == (2, 0), "its connections go on"
    await filed.close()
    assert old.closed == 1


async def test_a_budget_that_is_set_in_a_chat_is_another_value_and_nothing_else(filed: Filed) -> None:
    before = filed.app.parts.current.newest
    await filed.say(".ai budget day 5")
    after = filed.app.parts.current.newest
    assert (before.settings.budget.day_money, after.settings.budget.day_money) == (None, 5)
    assert after.texts is before.texts
    assert after.pool is before.pool
    await filed.edit_persona("你住在杭州。")
    await filed.say(".ai budget day 6")
    assert filed.app.parts.current.newest.texts is before.texts
    assert (await filed.reload()).changed == ("persona/IDENTITY.md",), "a reload has not missed it"


async def test_a_setting_is_taken_though_somebody_who_is_told_of_it_fails(filed: Filed) -> None:
    async def fails(before: Configuration, after: Configuration) -> None:
        raise LookupError

    filed.app.parts.current.on_change(fails)
    await filed.say(".ai budget day 5")
    assert filed.app.parts.current.newest.settings.budget.day_money == 5
    await filed.say(".ai budget show")
    assert "5" in filed.replies[-1]
    assert len(filed.log.named("change_not_followed")) == 1
    assert (await filed.reload()).changed == ()


async def test_writing_first_can_be_switched_on_and_off(tmp_path: Path) -> None:
    server = SERVER.replace("{name}", "a")
    filed = await Filed(tmp_path, server).open()
    await filed.say("在吗")
    filed.write(server + "[heartbeat]\non = true\n")
    await filed.reload()
    assert filed.peek.heartbeats.count(due_at=SOME) == 1
    await filed.wait(26 * 3600)
    assert len(filed.replies) == 2
    filed.write(server)
    await filed.reload()
    assert filed.peek.heartbeats.count(due_at=SOME) == 0
    await filed.close()


async def test_a_limit_counts_what_was_reserved_before_it(filed: Filed) -> None:
    filed.shut()
    talking = asyncio.create_task(filed.say("第一句", "小李"))
    await filed.held()
    ((reserved,),) = filed.peek.calls("reserved_tokens")
    filed.write(f"[budget]\nday_tokens = {reserved}\n")
    await filed.reload()
    await filed.app.ingest.accept(filed.message("第二句", "小张"))
    await filed.held()
    assert len(filed.prompts) == 1, "there is no room for a second"
    await filed.let_answer()
    await talking
    assert filed.peek.calls.count(state="reserved") == 0
