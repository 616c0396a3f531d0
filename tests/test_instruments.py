"""What /metrics and /health show, and what a visitor of theirs can do."""

import asyncio
import re
import socket
from pathlib import Path

import pytest

from bot.core.errors import ModelError, StoreError
from bot.ops.control import MOST_WAITING
from bot.ops.metrics import HttpPage, serve_pages
from bot.ops.prometheus import BoundedLabels, cause_of
from tests.fakes.model import says
from tests.instrumented import free_port, get, instrumented, raw
from tests.world import Lines, open_files

MODEL = 'gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="scripted"'
CANARY = "鲸落在九千米"


async def test_turns_tokens_and_latencies_are_counted_and_no_label_names_anybody(tmp_path: Path) -> None:
    async with instrumented(tmp_path / "data") as page:
        before = await page.figures()
        page.world.model.script = lambda _: says("好", prompt_tokens=1_000)
        for text in (CANARY, "再说一次"):
            await page.world.say(text)
        figures = await page.figures()
        again = await page.figures()
        _, body = await get(page.port, "/metrics")
    assert not any(name.startswith("nuan_turns_total") for name in before)
    assert figures['nuan_turns_total{outcome="answered",why="dm"}'] == 2
    assert figures["nuan_turn_duration_seconds_count"] == 2
    assert figures[f'gen_ai_client_token_usage_sum{{{MODEL},gen_ai_token_type="input"}}'] == 2_000
    assert figures[f'gen_ai_client_token_usage_sum{{{MODEL},gen_ai_token_type="output"}}'] == 2
    assert figures[f'gen_ai_client_token_usage_bucket{{{MODEL},gen_ai_token_type="input",le="1024.0"}}'] == 2
    assert figures[f"gen_ai_client_operation_duration_seconds_count{{{MODEL}}}"] == 2
    assert figures['nuan_model_calls_total{cause="reply",state="settled"}'] == 2
    assert figures['nuan_cost_total{cause="reply",currency="EUR",gen_ai_request_model="scripted"}'] == 0
    assert figures['nuan_cache_hits_total{gen_ai_request_model="scripted"}'] == 0
    assert figures['nuan_platform_last_poll_age_seconds{platform="console"}'] == 0
    assert figures['nuan_queue_depth{queue="unanswered"}'] == 0
    assert figures['nuan_deliveries{state="unknown"}'] == 0
    assert {figures[f'nuan_queue_lag_seconds{{queue="{queue}"}}'] for queue in ("event", "outbox")} == {0}
    assert {figures[f'nuan_role{{role="{role}"}}'] for role in ("gateway", "worker", "janitor")} == {1}
    assert {figures[f'nuan_healthy{{part="{part}"}}'] for part in ("platform", "model", "store", "embedding")} == {1.0}
    assert again == figures | {name: again[name] for name in again if name.endswith("_created")}, "nothing counts twice"
    labels = set(re.findall(r'[{,](\w+)="', body))
    assert labels & {"person", "chat", "person_id", "chat_id", "session", "turn", "text"} == set()
    assert CANARY not in body


async def test_a_call_under_way_is_counted_once_when_it_has_ended(tmp_path: Path) -> None:
    async with instrumented(tmp_path / "data") as page:
        world = page.world
        world.shut()
        await world.app.ingest.accept(world.message("在吗"))
        await world.held()
        waiting = await page.figures()
        await world.let_answer()
        done = await page.figures()
    name = 'nuan_model_calls_total{cause="reply",state="settled"}'
    assert name not in waiting
    assert waiting['nuan_queue_depth{queue="chat"}'] == 1
    assert done[name] == 1


async def test_health_is_red_while_the_model_is_away_and_green_when_it_is_back(tmp_path: Path) -> None:
    async with instrumented(tmp_path / "data") as page:
        assert await page.health() == (200, {"status": "green", "causes": []})
        page.world.model.script = lambda _: ModelError("unreachable", "nobody there")
        await page.world.say("在吗")
        assert (await page.health())[0] == 503, "one call that nobody answered is enough"
        for number in range(2):
            await page.world.say(f"在吗{number}")
        code, told = await page.health()
        figures = await page.figures()
        assert (code, told["status"]) == (503, "red")
        assert told["causes"] == [{"part": "model", "name": "scripted", "why": "unreachable"}]
        assert figures['nuan_healthy{part="model"}'] == 0
        assert figures['nuan_errors_total{cause="unreachable",event="model_failed"}'] == 3
        assert figures['nuan_turns_total{outcome="failed",why="dm"}'] == 3
        page.world.model.script = lambda _: says("回来了")
        await page.world.wait(60)
        await page.world.say("现在呢")
        assert (await page.health())[0] == 200


async def test_health_is_red_when_a_platform_is_silent_broken_or_over(tmp_path: Path) -> None:
    async with instrumented(tmp_path / "data") as page:
        causes = []
        for age in (None, 90_001, 90_000):
            page.platform.age = age
            code, told = await page.health()
            causes.append((code, told["causes"]))
        page.supervisor._states["console"] = "broken"
        causes.append(await page.health())
    named = {"part": "platform", "name": "console"}
    assert causes[:3] == [
        (503, [named | {"why": "not connected"}]),
        (503, [named | {"why": "silent for 90 s"}]),
        (200, []),
    ]
    assert causes[3][0] == 503


async def test_health_is_red_when_the_store_refuses_to_write_until_it_takes_it_again(tmp_path: Path) -> None:
    async with instrumented(tmp_path / "data") as page:
        with pytest.raises(StoreError):
            await page.world.store._database.write(lambda db: db.execute("INSERT INTO nowhere VALUES (1)"))
        code, told = await page.health()
        assert (code, told["status"]) == (503, "red")
        assert "no such table" in str(told["causes"])
        await page.world.say("还在吗")
        assert (await page.health())[0] == 200


async def test_figures_do_not_hang_on_the_level_of_the_log(tmp_path: Path) -> None:
    async with instrumented(tmp_path / "data", level="error") as page:
        await page.world.say("你好")
        assert (await page.figures())['nuan_turns_total{outcome="answered",why="dm"}'] == 1
        assert (page.world.folder / "logs" / "nuan.jsonl").read_text("utf-8") == ""


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /nowhere HTTP/1.1\r\n\r\n", "404"),
        (b"GET /health?x=1 HTTP/1.1\r\n\r\n", "200"),
        (b"POST /health HTTP/1.1\r\n\r\n", "405"),
        (b"\x16\x03\x01\x02\r\n\r\n", "400"),
        (b"GET /health HTTP/1.1\r\nX: y\r\nhost: evil.example:9464\r\n\r\n", "421"),
        (b"GET /health HTTP/1.1\r\nHost: [\r\n\r\n", "421"),
        (b"GET /health HTTP/1.1\r\nHost: localhost:9464\r\n\r\n", "200"),
        (b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\n\r\n", "431"),
    ],
    ids=["unknown", "query", "post", "tls", "other", "odd", "local", "long"],
)
async def test_whatever_a_visitor_sends_gets_a_short_answer(tmp_path: Path, request_bytes: bytes, status: str) -> None:
    async with instrumented(tmp_path / "data") as page:
        answer = await raw(page.port, request_bytes)
        assert answer.split(" ")[1] == status
        assert "Traceback" not in answer
        assert (await page.health())[0] == 200
        assert page.world.log.named("metrics_failed") == []


async def test_a_head_has_no_body(tmp_path: Path) -> None:
    async with instrumented(tmp_path / "data") as page:
        assert (await raw(page.port, b"HEAD /health HTTP/1.1\r\n\r\n")).endswith("\r\n\r\n")


async def test_a_crowd_that_asks_nothing_whole_keeps_nobody_out_and_holds_little(tmp_path: Path) -> None:
    async with instrumented(tmp_path / "data") as page:
        before = open_files()
        idle = [await asyncio.open_connection("127.0.0.1", page.port) for _ in range(2 * MOST_WAITING)]
        for _, writer in idle:
            writer.write(b"GET /health HTTP/1.1\r\n")
        assert (await page.health())[0] == 200
        assert open_files() - before - len(idle) <= MOST_WAITING
        for _, one in idle:
            one.close()


async def test_a_port_in_use_is_one_clear_line_and_no_reason_to_stop() -> None:
    async def nothing(_: str) -> HttpPage | None:
        return None

    log = Lines()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with serve_pages("127.0.0.1", port, nothing, log):
            pass
    (line,) = log.named("metrics_not_served")
    assert f"127.0.0.1:{port} cannot be opened" in str(line["error"])
    assert str(line["error"]).endswith("set metrics.port or metrics.host; nuan goes on without")


@pytest.mark.parametrize(("host", "told"), [("0.0.0.0", 1), ("127.0.0.1", 0), ("::1", 0)])
async def test_an_address_that_others_reach_says_so(host: str, told: int) -> None:
    async def nothing(_: str) -> HttpPage | None:
        return None

    log = Lines()
    async with serve_pages(host, free_port(), nothing, log):
        assert len(log.named("metrics_open")) == told


def test_causes_are_words_and_never_texts() -> None:
    assert cause_of({"fault": "busy", "detail": CANARY}) == "busy"
    assert cause_of({"exc_info": ValueError(CANARY)}) == "ValueError"
    assert cause_of({"error": "PlatformError: no such chat 12345"}) == "PlatformError"
    assert cause_of({"error": f"Dana: {CANARY}"}) == cause_of({"error": f"{CANARY}Error: "}) == "other"
    assert cause_of({"error": "TimedOut"}) == "TimedOut"
    assert cause_of({"limit": "day_tokens"}) == "day_tokens"
    assert cause_of({"logger": "httpx._client"}) == "httpx"
    assert cause_of({"error.type": CANARY}) == "other"


def test_a_label_takes_only_so_many_values() -> None:
    bounded = BoundedLabels(2)
    assert [bounded.one_of((name,)) for name in "abcab"] == [("a",), ("b",), ("other",), ("a",), ("b",)]
