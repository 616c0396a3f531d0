"""Recall by meaning with the local encoder: who gets it, what it finds, and what is answered when it does not work."""

import asyncio
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from signal import SIGSTOP
from time import perf_counter

import pytest

from bot.cli.inspection import CtxRequest, show_ctx
from bot.cli.installation import Installation
from bot.cli.lookup import PromptTarget
from bot.cli.model_checks import embedding_findings
from bot.config.settings import Settings
from bot.container import make_recall
from bot.core.errors import ModelError
from bot.core.files import PromptFiles, resource_dir
from bot.core.recall import RecallQuery
from bot.lazy_packages import loading_without
from bot.model.encoder import DIMENSIONS, EncoderProcess
from bot.model.local import LocalEmbedder
from bot.pipeline.endpoints import make_embedding
from bot.recall.vectors import BYTES
from tests.encoded import ENCODER, PATIENT, by_meaning, encoder, opened, recalled, texts
from tests.instrumented import instrumented
from tests.metering import Meter
from tests.noting import dm
from tests.tables import all_cases
from tests.world import World

LONG = "猫" * 100_000


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


TABLED = """
import os
import resource
from types import SimpleNamespace
import numpy as np

class USE:
    def __init__(self, threads):
        table = (np.arange(4_000 * 512) % 251).astype(np.uint8).reshape(-1, 512)
        self._model = SimpleNamespace(table=table)

    def encode(self, texts):
        return self._model.table[np.array([3_999 - place for place in range(len(texts))])].astype("<f4")
"""
"""An encoder with a table, whose last rows are its vectors."""

NO_ROOM = "os.statvfs = lambda folder: SimpleNamespace(f_bavail=1_000, f_frsize=4_096)"
CUT_OFF = "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the table stays in memory")
def test_its_table_is_kept_in_a_file_that_is_made_once_and_anew_where_it_is_not_that_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, package = tmp_path / "cache", tmp_path / "packages" / ENCODER
    folder.mkdir()
    package.mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # two programs of one second are of one length

    def started(program: str = TABLED) -> tuple[dict[str, int], bytes]:
        """The files after a start, by their numbers, and what it answers."""
        (package / "__init__.py").write_text(program, "utf-8")
        process = EncoderProcess(folder)
        try:
            process.wait()
            (vector,) = process.vectors(["a"])
        finally:
            process.end()
        return {each.name: each.stat().st_ino for each in folder.iterdir()}, vector

    before, vector = started()
    (name,) = before
    kept = folder / name
    whole = kept.read_bytes()
    assert started() == (before, vector)
    for spoilt in (whole[:-1], whole + b"0", b"", whole[:900_000] + b"00" + whole[900_002:]):
        kept.write_bytes(spoilt)
        (folder / f".{name}.new").write_bytes(spoilt)
        files, answer = started()
        assert (answer, kept.read_bytes(), files.keys()) == (vector, whole, before.keys())
    other, answer = started(TABLED.replace("251", "241"))
    assert answer != vector
    assert other.keys() == before.keys()
    kept.unlink()
    for less in (NO_ROOM, CUT_OFF):
        assert started(TABLED.replace("\nclass", f"{less}\n\nclass", 1)) == ({}, vector), "it does without"


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


async def test_the_vectors_of_a_group_are_read_once_whoever_spoke_last(tmp_path: Path, stand_in: Path) -> None:
    del stand_in
    meter = Meter()
    with meter.watching():
        async with opened(tmp_path / "data") as world:
            for who in ("小王", "小李", "小陈"):
                await world.say(f"小暖，记住{who}爱吃辣", who, "大群")
            await world.wait(1)
            meter.start()
            for who in ("小陈", "小王", "小李", "小王", "小陈", "小李"):
                await world.say("小暖，晚饭吃什么", who, "大群")
                await world.wait(1)
            reads = [
                sql for sql in meter.statements.elements() if sql.startswith("SELECT doc_id, kind") and "vector" in sql
            ]
            assert len(reads) == 1


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


async def test_no_encoder_is_started_to_show_a_prompt_but_to_show_what_a_recall_by_meaning_brings(
    tmp_path: Path, stand_in: Path
) -> None:
    async with opened(tmp_path / "data") as world:
        await world.say("记住我对花生过敏")
        await world.wait(1)
    (stand_in / "asked").unlink()
    settings = by_meaning()
    place = Installation(
        settings, tmp_path / "data", PromptFiles(None), resource_dir("data/persona") / settings.persona, settings
    )
    whose = PromptTarget("console:local", "1")
    assert "我对花生过敏" in (await show_ctx(place, whose, CtxRequest("花生酱呢"))).decode()
    assert not (stand_in / "asked").exists()
    await show_ctx(place, whose, CtxRequest("花生酱呢", debug=True))
    assert "花生酱呢" in (stand_in / "asked").read_text("utf-8")


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
