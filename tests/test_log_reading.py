"""`nuan logs`: the lines of every file that is kept, whatever happened to them, and those that still come."""

import asyncio
import json
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.logs import LogView, log_view, pretty, show_logs
from bot.config.settings import LogFile
from bot.core.errors import NuanError
from bot.core.ports import log_context, log_numbers
from bot.ops.log_files import LineSplitter, LogFilter, LogReader
from bot.ops.logs import Logs
from bot.pipeline.concurrency import Activity, WorkQueue
from tests.e2e import Home, run
from tests.fakes.clock import SimClock, let_others_run
from tests.fakes.model import says
from tests.instrumented import logged, records
from tests.world import NINE, Lines, World

PLACE = ("chat", "session", "epoch", "turn")
SHANGHAI = ZoneInfo("Asia/Shanghai")


def logs_in(folder: Path, keep: int = 3) -> Logs:
    """A log that is rotated after a few lines."""
    return Logs(folder / "logs", LogFile(max_megabytes=0.0005, keep=keep), lambda: NINE)


def numbers(found: Iterator[dict[str, object]]) -> list[object]:
    """The lines by their number."""
    return [record["number"] for record in found]


def write(folder: Path, name: str, text: str) -> None:
    """A file of the log as something left it."""
    (folder / "logs").mkdir(exist_ok=True)
    (folder / "logs" / name).write_bytes(text.encode("utf-8", "surrogateescape"))


def line(number: int, **fields: object) -> str:
    """A line as the log writes it."""
    return json.dumps(
        {"timestamp": "2026-06-12T01:00:00.000Z", "level": "info", "event": "e", "number": number, **fields}
    )


def test_rotated_files_come_first_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    with closing(logs_in(tmp_path)) as logs:
        for number in range(20):
            logs.log.info("e", number=number)
    files = list((tmp_path / "logs").iterdir())
    assert len(files) == 4
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    reader = LogReader(tmp_path / "logs")
    found = numbers(reader.all()) + numbers(reader.finish())
    assert found == list(range(int(str(found[0])), 20))
    assert len(found) > 10


def test_what_is_followed_survives_rotations_half_lines_and_a_log_that_begins_later(tmp_path: Path) -> None:
    reader = LogReader(tmp_path / "logs")
    seen = numbers(reader.all())
    with closing(logs_in(tmp_path, keep=9)) as logs:
        for number in range(30):
            logs.log.info("e", number=number)
            if number in (0, 1, 9, 22):
                seen += numbers(reader.more())
    path = tmp_path / "logs" / "nuan.jsonl"
    seen += numbers(reader.more())
    whole = line(30) + "\n"
    for piece in (whole[:20], whole[20:]):
        with path.open("a") as file:
            file.write(piece)
        seen += numbers(reader.more())
    assert seen == list(range(31)), "each once, none lost"
    assert reader.damaged == 0
    list(reader.finish())


def test_damaged_lines_are_counted_and_the_others_shown(tmp_path: Path) -> None:
    write(tmp_path, "nuan.jsonl.1", f"{line(1)}\nnot json\n\udcff\udcfe\n[1]\n{{}}\n{line(2)}\n{line(3)[:30]}")
    write(tmp_path, "nuan.jsonl", f"{'9' * 2_000_000}\n\n{line(4)}\n{'[' * 100_000}\n{line(5)}")
    reader = LogReader(tmp_path / "logs")
    found = numbers(reader.all())
    found += numbers(reader.finish())
    assert found == [1, 2, 4, 5], "the last line is whole without its newline"
    assert reader.damaged == 7


@given(st.lists(st.binary(max_size=12)), st.lists(st.integers(0, 60), max_size=6))
def test_however_the_bytes_arrive_the_lines_are_the_same(junk: list[bytes], cuts: list[int]) -> None:
    good = [line(number).encode() for number in range(len(junk))]
    data = b"\n".join(part for pair in zip(junk, good, strict=True) for part in pair) + b"\n"
    whole, pieces = LineSplitter(), LineSplitter()
    expected = [*whole.feed(data), *whole.end()]
    places = sorted({min(cut, len(data)) for cut in cuts})
    found = [
        record
        for start, end in zip([0, *places], [*places, len(data)], strict=True)
        for record in pieces.feed(data[start:end])
    ]
    assert [*found, *pieces.end()] == expected
    assert pieces.damaged == whole.damaged
    assert [record["number"] for record in expected if "number" in record] == list(range(len(junk)))


@given(st.dictionaries(st.text(max_size=9), st.text(max_size=20) | st.integers() | st.none() | st.lists(st.text())))
def test_no_line_moves_the_cursor_or_becomes_two(fields: dict[str, object]) -> None:
    shown = pretty({**fields, "event": "e\x1b[2J\r\n"}, SHANGHAI).plain
    assert len(shown.splitlines()) == 1
    assert "\x1b" not in shown


def test_a_turn_is_shown_on_the_wall_clock_here_with_short_names() -> None:
    record: dict[str, object] = {
        "timestamp": "2026-06-12T01:00:00.250Z",
        "level": "warning",
        "event": "turn",
        "chat": 3,
        "gen_ai.usage.input_tokens": 1200,
        "why": "dm",
        "detail": "HTTP 500 x",
        "reply": "",
    }
    shown = pretty(record, SHANGHAI).plain
    assert shown == '2026-06-12 09:00:00.250 warning turn chat=3 in=1200 why=dm detail="HTTP 500 x"'


async def test_every_line_about_a_turn_says_its_session_epoch_and_turn(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    async with logged(world):
        await world.say("你好")
        world.model.script = lambda _: ValueError("defect")
        await world.say("还在吗")
        world.model.script = lambda _: says("在")
        world.talk.broken = True
        await world.say("说点什么")
    here = {"chat": 1, "session": 1, "epoch": 1}
    (failed,) = records(world, "turn_failed")
    assert here | {"turn": 2} == {name: failed[name] for name in PLACE}
    (opened,) = records(world, "session_opened")
    assert here | {"turn": 1} == {name: opened[name] for name in PLACE}
    unsent = records(world, "send_failed")[0]
    assert here | {"turn": 3} == {name: unsent[name] for name in PLACE}
    turns = records(world, "turn")
    assert [turn["turn"] for turn in turns] == [1, 3], "what failed is asked once more, a second later"
    assert turns[0]["gen_ai.operation.name"] == "chat"
    assert (turns[0]["gen_ai.provider.name"], turns[0]["gen_ai.request.model"]) == ("scripted", "scripted")
    assert not any("你好" in str(each) for each in records(world)), "ids and numbers only"


async def test_what_a_turn_wakes_does_not_speak_in_its_name() -> None:
    told: list[object] = []

    async def work(key: int) -> None:
        told.append(dict(log_numbers()))

    activity = Activity()
    queues = WorkQueue("send", work, activity, Lines())
    with log_context({"turn": 7}):
        queues.wake(1)
        assert log_numbers() == {"turn": 7}
    await activity.settled()
    assert told == [{}]


async def test_the_log_of_one_chat_and_turn_is_printed_and_damage_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "nuan.jsonl", "\n".join((line(1, chat=1, turn=1), "{", line(2, chat=2, turn=1), line(3, chat=2))))
    await show_logs(tmp_path, LogView(LogFilter(chat=2, turn=1), as_json=True))
    out, err = capsys.readouterr()
    assert [json.loads(each)["number"] for each in out.splitlines()] == [2]
    assert err == "nuan: 1 line is damaged and left out\n"


async def test_following_prints_what_comes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "nuan.jsonl", line(1) + "\n")
    clock = SimClock(NINE)
    following = asyncio.create_task(show_logs(tmp_path, LogView(LogFilter(), follow=True, as_json=True), clock))
    await let_others_run()
    await clock.advance(1_000, let_others_run)
    (tmp_path / "logs" / "nuan.jsonl").rename(tmp_path / "logs" / "nuan.jsonl.1")
    write(tmp_path, "nuan.jsonl", line(2) + "\n")
    await clock.advance(1_000, let_others_run)
    following.cancel()
    await asyncio.wait((following,))
    assert [json.loads(each)["number"] for each in capsys.readouterr().out.splitlines()] == [1, 2]


async def test_without_a_log_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(NuanError, match="no log in"):
        await show_logs(tmp_path, LogView(LogFilter()))


async def test_a_direct_chat_is_named_by_who_talks_there(world: World) -> None:
    await world.say("你好", "阿明")
    await world.say("小暖你好", "阿明", "家")
    ((number,),) = world.peek.chats("id", kind="dm")
    view = await asyncio.to_thread(log_view, world.folder, "阿明", None, follow=False, as_json=False)
    assert view.wanted.chat == number


async def test_the_command_takes_a_chat_by_number_or_title_and_says_what_there_is(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.data_folder.mkdir()
    write(home.data_folder, "nuan.jsonl", f"{line(1, chat=1)}\n{line(2, chat=2)}\n")
    shown, unknown = await asyncio.gather(run(home, "logs", "--chat", "2"), run(home, "logs", "--chat", "家"))
    assert (shown.code, shown.err) == (0, "")
    assert shown.text == "2026-06-12 09:00:00.000 info    e number=2 chat=2\n"
    assert unknown.code == 1
    assert unknown.err.startswith("nuan: ")
    assert "Traceback" not in unknown.err
