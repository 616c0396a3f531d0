"""Several processes on one database, each with roles: together they are one nuan. Unless a test says so, nothing wakes
them but that they look every second."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.ops.log_files import LOG_NAME
from bot.peer import BESIDE_MS
from bot.store.people import OWNER_FILE, leave_owner_code
from bot.store.processes import CLOCKS_MS
from tests.beating import DAY_S, FIRST, ON, writes
from tests.belonging import nuan_in_thread
from tests.cluster import GATEWAY, WORKER, Cluster
from tests.source import ROOT

pytestmark = pytest.mark.postgres

NewCluster = Callable[..., Awaitable[Cluster]]


@pytest.fixture
async def new_cluster(tmp_path: Path) -> AsyncIterator[NewCluster]:
    """Starts a gateway and two workers, with other settings: `await new_cluster(heartbeat={"on": True})`."""
    made: list[Cluster] = []

    async def start(wakes: bool = False, pooled: bool = False, **sections: object) -> Cluster:
        settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, **sections})
        cluster = Cluster(tmp_path / "first", settings, wakes=wakes, pooled=pooled)
        made.append(cluster)
        await cluster.add("gateway", GATEWAY)
        for name in ("one", "two"):
            await cluster.add(name, WORKER)
        return cluster

    yield start
    for cluster in made:
        await cluster.close()


@pytest.fixture
async def cluster(new_cluster: NewCluster) -> Cluster:
    """A gateway and two workers with nobody in it yet."""
    return await new_cluster()


def turns(cluster: Cluster) -> dict[str, int]:
    """How many turns each process ended."""
    counts = {name: len(world.log.named("turn")) for name, world in cluster.processes.items()}
    return {name: count for name, count in counts.items() if count}


def troubles(cluster: Cluster) -> list[tuple[str, dict[str, object]]]:
    """What the logs of those that live say went wrong."""
    logs = (world.log.lines for world in cluster.processes.values())
    return [(event, fields) for lines in logs for level, event, fields in lines if level == "error"]


async def test_what_comes_to_the_gateway_is_answered_by_a_worker_and_sent_by_the_gateway(cluster: Cluster) -> None:
    cluster.model.script = lambda request: f"第{len(cluster.model.requests)}答"
    for text in ("你好", "今天好累", "想睡了"):
        await cluster.say(text)
    assert cluster.replies == ["第1答", "第2答", "第3答"]
    assert list(turns(cluster).values()) == [3]  # who has a chat keeps it
    assert "gateway" not in turns(cluster)
    assert troubles(cluster) == []


async def test_workers_share_out_the_chats_and_each_message_is_answered_once(cluster: Cluster) -> None:
    cluster.model.script = lambda request: request.prompt.messages[-1].content.rpartition("第")[2][:1]
    for number in range(4):
        await cluster.hear(f"第{number}个人", who=f"客{number}")
        await cluster.give("one" if number % 2 else "two", number + 1)
    await cluster.wait(2)
    assert sorted(cluster.replies) == ["0", "1", "2", "3"]
    assert turns(cluster) == {"one": 2, "two": 2}


async def test_behind_a_pooler_they_share_the_work_by_looking_alone(new_cluster: NewCluster) -> None:
    cluster = await new_cluster(wakes=True, pooled=True)
    await cluster.say("你好")
    ((name, count),) = turns(cluster).items()
    await cluster.kill(name)
    await cluster.say("还在吗")
    assert (cluster.replies, count, [*turns(cluster).values()]) == (["好的", "好的"], 1, [1])
    assert {world.store.wakeups for world in cluster.processes.values()} == {None}, "what is heard by a session is lost"
    assert troubles(cluster) == []


async def test_stop_at_the_gateway_ends_the_call_under_way_at_the_worker(cluster: Cluster) -> None:
    cluster.shut()
    await cluster.say("讲个很长的故事")
    assert cluster.model.held == 1
    await cluster.hear("停")
    await cluster.wait(1)
    assert cluster.model.held == 0
    await cluster.wait(1)
    assert cluster.replies == ["好，我不说了"]
    cluster.model.gate = None
    await cluster.say("换个话题吧")
    assert cluster.replies[1:] == ["好的"]
    assert troubles(cluster) == []


async def test_memories_commands_and_settings_are_those_of_one_nuan(cluster: Cluster) -> None:
    await cluster.hear("记住我爱喝乌龙茶")
    await cluster.give("one")
    await cluster.wait(2)
    assert "乌龙茶" in cluster.replies[-1]
    await cluster.say(".ai budget day 7")
    await cluster.hear("在吗", who="小明")
    await cluster.give("two", 2)
    await cluster.wait(2)
    assert {world.parts.current.settings.budget.day_money for world in cluster.processes.values()} == {7}
    await cluster.kill("one")
    await cluster.say("忘记乌龙茶")
    assert "乌龙茶" in cluster.replies[-1]
    await cluster.say("你记得我什么")
    assert "乌龙茶" not in cluster.replies[-1]
    assert troubles(cluster) == []


async def test_who_works_by_other_settings_is_told_with_the_keys_and_no_value(new_cluster: NewCluster) -> None:
    cluster = await new_cluster(bot={"timezone": "Asia/Shanghai"}, model={"api_key": "one-secret"})
    own = {"log": {"level": "debug"}, "model": {"proxy": "http://127.0.0.1:1"}}
    cluster.settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, **own})
    await cluster.add("alike", WORKER)
    await cluster.say(".ai budget day 7")
    await cluster.wait(2)
    assert not any(world.log.named("settings_differ") for world in cluster.processes.values())
    values = {"bot": {"timezone": "Europe/Berlin", "owner": "Mira"}, "budget": {"day_money": 900}}
    cluster.settings = Settings.model_validate({**values, "prompts_dir": str(with_own_rules(cluster.folder.parent))})
    other = await cluster.add("other", WORKER)
    [told] = other.log.named("settings_differ")
    assert told["keys"] == ["bot.owner", "bot.timezone", "persona and prompts"]
    await cluster.wait(BESIDE_MS / 1000)
    assert cluster.processes["one"].log.named("settings_differ") == [told]
    place = {"NUAN_STORE__URL": cluster.url}
    line = (
        f" works by other settings than {told['than']}: bot.owner, bot.timezone, persona and prompts: give all the same"
    )
    assert line in (await nuan_in_thread(other, "workers", **place)).out
    processes = json.loads((await nuan_in_thread(other, "workers", "--json", **place)).out)["processes"]
    assert [each["differs_in"] for each in processes] == [[]] * 4 + [told["keys"]]
    rows = repr(other.rows("SELECT * FROM process"))
    assert "bot.owner" in rows
    assert not [value for value in ("Mira", "Berlin", "secret") if value in rows]


def with_own_rules(folder: Path) -> Path:
    """A folder of prompts whose rules are not those that are shipped."""
    own = folder / "prompts"
    own.mkdir()
    (own / "full.txt").write_text((ROOT / "prompts" / "full.txt").read_text("utf-8") + "\n少说。", "utf-8")
    return own


async def test_an_owner_code_counts_whichever_folder_it_was_left_in(new_cluster: NewCluster) -> None:
    cluster = await new_cluster(telegram={"allow": ["t-王"]})
    await cluster.add("spare", ("gateway",))
    left = cluster.processes["spare"].folder
    code = leave_owner_code(left, cluster.clock.now())
    await cluster.wait(BESIDE_MS / 1000)
    gateway = cluster.processes["gateway"]
    await gateway.app.ingest.accept(gateway.message(f"/start {code}", "王", platform="telegram"))
    await cluster.give("two")
    await cluster.wait(2)
    assert gateway.peek.accounts("external_id", owner=1) == [("t-王",)]
    assert not (left / OWNER_FILE).exists()
    assert troubles(cluster) == []


async def test_a_clock_that_differs_from_the_server_s_is_told_once(cluster: Cluster) -> None:
    await cluster.wait(2 * BESIDE_MS / 1000)  # the time of a test is not the server's
    told = [world.log.named("clock_differs") for world in cluster.processes.values()]
    assert [[int(str(line["ahead_ms"])) < -CLOCKS_MS for line in lines] for lines in told] == [[True]] * 3


async def test_the_turn_of_a_worker_that_is_killed_is_finished_by_another_with_the_same_bytes(cluster: Cluster) -> None:
    cluster.shut()
    await cluster.hear("你好")
    await cluster.give("one")
    await cluster.wait(1)
    assert cluster.model.held == 1
    await cluster.kill("one")
    await cluster.wait(1)
    first, second = cluster.model.requests
    assert first.prompt == second.prompt
    await cluster.let_answer()
    assert cluster.replies == ["好的"]
    assert turns(cluster) == {"two": 1}
    calls = cluster.processes["two"].rows("SELECT state FROM call ORDER BY id")
    assert calls == [("lost",), ("settled",)]
    assert troubles(cluster) == []


async def test_who_is_stopped_finishes_the_call_under_way_while_another_goes_on_in_all_other_chats(
    new_cluster: NewCluster,
) -> None:
    cluster = await new_cluster(model={"stop_seconds": 60})
    cluster.model.script = lambda request: request.prompt.messages[-1].content.rpartition("第")[2][:1]
    await cluster.hear("第1件")
    await cluster.give("one")
    await cluster.wait(2)
    await cluster.hear("第2件", who="小明")
    await cluster.give("one", 2)
    await cluster.wait(2)
    cluster.shut()
    await cluster.say("第3件")
    stopping = asyncio.create_task(cluster.processes["one"].close())
    await cluster.say("第4件", who="小明")
    await cluster.say("第5件")
    asked = [request.prompt.messages[-1].content for request in cluster.model.requests]
    assert ["第3件" in asked[-2], "第4件" in asked[-1]] == [True, True]
    await cluster.let_answer()
    await stopping
    await cluster.wait(2)
    assert sorted(cluster.replies) == ["1", "2", "3", "4", "5"]
    assert len(cluster.model.requests) == 5
    assert turns(cluster) == {"one": 3, "two": 2}
    assert troubles(cluster) == []


async def test_what_a_killed_gateway_was_sending_is_sent_by_the_next_one(cluster: Cluster) -> None:
    await cluster.add("spare", ("gateway", "janitor"))
    await cluster.say("你好")
    assert cluster.replies == ["好的"]
    assert cluster.processes["spare"].app._sender.platforms == frozenset()  # the platform is led by another
    await cluster.kill("gateway")
    await cluster.wait(1)
    await cluster.say("还在吗", at="spare")
    assert cluster.replies == ["好的", "好的"]


async def test_who_is_erased_is_gone_from_the_log_of_every_process(new_cluster: NewCluster) -> None:
    cluster = await new_cluster()
    logs = {name: world.folder / "logs" / LOG_NAME for name, world in cluster.processes.items()}

    def kept() -> dict[str, int]:
        return {name: path.read_text().count("小王") for name, path in logs.items()}

    await cluster.say("你好")
    for path in logs.values():
        path.parent.mkdir()
        path.write_text('{"event": "turn", "chat": 1, "person": 1, "text": "我是小王"}\n{"event": "started"}\n')
    await cluster.kill("two")
    await cluster.say(".ai forget me")
    await cluster.say(f".ai forget me {cluster.replies[-1].split()[-1]}")
    await cluster.wait(31)
    assert kept() == {"gateway": 0, "one": 0, "two": 1}, "who is no more is not waited for"
    unfinished = "SELECT count(*) FROM meta WHERE value LIKE '%小王%'"
    assert cluster.processes["gateway"].rows(unfinished) == [(0,)]
    assert logs["gateway"].read_text() == '{"event": "started"}\n'
    assert troubles(cluster) == []


async def test_an_open_question_is_known_to_the_worker_that_takes_the_chat_over(cluster: Cluster) -> None:
    await cluster.hear("你好", who="小明")
    await cluster.give("two")
    await cluster.wait(2)
    await cluster.hear("明天提醒我开会")
    await cluster.give("one", 2)
    await cluster.wait(2)
    await cluster.kill("one")
    await cluster.say("下午三点")
    assert cluster.replies[-1] == "好，周六（6月13日）下午3:00提醒你：开会 ⏰1"


async def test_reminders_and_follow_ups_are_said_once(cluster: Cluster) -> None:
    await cluster.say("两小时后提醒我喝水")
    await cluster.later(7_200)
    await cluster.wait(3)
    assert cluster.replies[1:] == ["提醒你：喝水"]
    await cluster.say("小暖，在吗", group="家")
    await cluster.say("我想说", group="家")
    assert len(cluster.replies) == 3
    await cluster.wait(6)
    assert cluster.replies[2:] == ["好的", "好的"]
    assert troubles(cluster) == []


async def test_a_talk_that_is_over_gets_one_digest(cluster: Cluster) -> None:
    await cluster.say("明天要面试，有点紧张，昨晚也没睡好，一直在想自我介绍该怎么说")
    await cluster.later(3 * 3_600)
    await cluster.wait(2)
    assert [len(world.log.named("digest")) for world in cluster.processes.values()].count(1) == 1
    assert cluster.processes["gateway"].rows("SELECT state FROM session") == [("closed",)]
    assert troubles(cluster) == []


async def test_nuan_writes_first_once(new_cluster: NewCluster) -> None:
    cluster = await new_cluster(heartbeat=ON)
    writes(cluster.processes["one"])
    await cluster.say("明天要面试")
    await cluster.later(DAY_S)
    await cluster.wait(3)
    assert cluster.replies == ["好的", FIRST]
    assert len([line for world in cluster.processes.values() for line in world.log.named("turn")]) == 2
    assert troubles(cluster) == []


async def test_who_writes_while_nuan_is_about_to_write_first_is_answered_instead(new_cluster: NewCluster) -> None:
    cluster = await new_cluster(heartbeat=ON)
    await cluster.say("明天要面试")
    cluster.shut()
    await cluster.later(DAY_S)
    assert cluster.model.held == 1
    await cluster.hear("我回来了")
    await cluster.wait(2)
    assert cluster.model.held == 1  # the call for the message, not that of before
    await cluster.let_answer()
    assert cluster.replies == ["好的", "好的"]
    assert [
        why for (why,) in cluster.processes["gateway"].rows("SELECT why FROM turn WHERE state = 'said' ORDER BY id")
    ] == [
        "dm",
        "dm",
    ]


async def test_what_a_killed_worker_was_about_to_write_first_is_not_said(new_cluster: NewCluster) -> None:
    cluster = await new_cluster(heartbeat=ON)
    await cluster.hear("明天要面试")
    await cluster.give("one")
    await cluster.wait(2)
    cluster.shut()
    await cluster.later(DAY_S)
    assert cluster.model.held == 1
    await cluster.kill("one")
    await cluster.wait(2)
    await cluster.let_answer()
    assert cluster.replies == ["好的"]
    assert troubles(cluster) == []


async def test_woken_they_see_at_once_what_others_stored(new_cluster: NewCluster) -> None:
    cluster = await new_cluster(wakes=True)
    await cluster.hear("你好")
    await cluster.until(lambda: cluster.replies == ["好的"])
    cluster.shut()
    await cluster.hear("讲个很长的故事")
    await cluster.until(lambda: cluster.model.held == 1)
    await cluster.hear("停")
    await cluster.until(lambda: cluster.model.held == 0)
    cluster.model.gate = None
    await cluster.hear(".ai budget day 7")
    budgets = [world.parts.current for world in cluster.processes.values()]
    await cluster.until(lambda: all(each.settings.budget.day_money == 7 for each in budgets))
    assert troubles(cluster) == []
