"""Promises, outcomes and days are read off people's own words: precisely, in three scripts, and never with an error."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.people.clauses import READ_CHARS, read
from bot.people.outcomes import outcomes
from bot.people.promising import promises
from bot.text.alike import alike, meant
from bot.text.due import due_in

NAMES = ("小暖", "nuan")
SAYINGS = Path(__file__).parent / "sayings"
PRECISION, RECALL = 0.97, 0.93


def sayings(name: str) -> list[tuple[str, str, str]]:
    """Label, message, and what is expected of it."""
    lines = (SAYINGS / name).read_text("utf-8").splitlines()
    rows = [[*line.split("\t"), "", ""] for line in lines if line and not line.startswith("#")]
    return [(row[0], row[1], row[2]) for row in rows]


def test_what_is_read_as_a_promise_is_one_in_three_scripts() -> None:
    labelled = sayings("promises.tsv")
    found = [(label, text, want or text, promises(read(text, NAMES))) for label, text, want in labelled]
    right = [each for each in found if each[0] == "P" and each[3]]
    wrong = [text for label, text, _, made in found if label == "N" and made]
    assert len(labelled) >= 370
    assert len(right) / (len(right) + len(wrong)) >= PRECISION, wrong
    assert len(right) / sum(label == "P" for label, *_ in labelled) >= RECALL
    assert [(text, made) for _, text, want, made in right if made[0][0] != want] == []


def test_promises_in_ordinary_messages_are_read_as_such() -> None:
    labelled = [(label, text, promises(read(text, NAMES))) for label, text, _ in sayings("fresh_promises.tsv")]
    assert [text for label, text, made in labelled if label == "N" and made] == []
    assert sum(label == "P" and bool(made) for label, _, made in labelled) >= 0.95 * 40
    assert len(labelled) == 120


def test_what_is_read_as_an_outcome_is_one() -> None:
    for label, text, about in sayings("outcomes.tsv"):
        found = outcomes(read(text, NAMES))
        assert [each.state for each in found[:1]] == ([label] if label in ("done", "ongoing") else []), text
        assert not about or found[0].about == about, text


@given(st.text(alphabet="我明天把发给你答应说好了吗？，。\n i'll send promise done.了完在写:「」\"`>", max_size=80))
def test_no_text_breaks_a_reader_and_what_is_kept_was_said(text: str) -> None:
    words = read(text, NAMES)
    for made, _ in promises(words):
        assert made in text
    outcomes(words)
    due_in(text, 0, UTC)


@pytest.mark.parametrize(
    "text",
    [
        "我明天" * 20_000, "我答应" * 20_000, "i'll send you " * 5_000, "「" * 50_000, "我" * 50_000 + "会把", "a:" * 30_000,
        "发了" * 30_000, "好，" * 20_000 + "我明天把报告发给你",
    ],
)  # fmt: skip
def test_a_hostile_length_is_read_up_to_a_limit(text: str) -> None:
    words = read(text, NAMES)
    assert all(clause.end <= READ_CHARS for clause in words.clauses)
    promises(words)
    outcomes(words)


FRIDAY = datetime(2026, 6, 12, 9, tzinfo=ZoneInfo("Asia/Shanghai"))

DAYS = [
    ("我今晚发你", "2026-06-12"), ("我明天把報告發給你", "2026-06-13"), ("我后天还你", "2026-06-14"), ("大后天给你", "2026-06-15"),
    ("三天后还你", "2026-06-15"), ("我周日陪你", "2026-06-14"), ("我周五交", ""), ("这周五交", "2026-06-12"), ("下周三給你", "2026-06-17"),
    ("下下周一", "2026-06-22"), ("月底前交", "2026-06-30"), ("20号之前", "2026-06-20"), ("6月5日还", ""), ("31号给你", ""),
    ("I'll do it tomorrow", "2026-06-13"), ("the day after tomorrow", "2026-06-14"), ("by Monday", "2026-06-15"),
    ("next Monday", "2026-06-15"), ("next week", ""), ("in 3 days", "2026-06-15"), ("明天或者后天", ""),
    ("下周", ""), ("以后", ""), ("昨天", ""), ("tonight", "2026-06-12"), ("周末", "2026-06-14"), ("明年", ""),
    ("this weekend", "2026-06-14"), ("within 3 days", "2026-06-15"), ("三天之内", "2026-06-15"), ("next Saturday", ""),
    ("昨天说好明天去", "2026-06-13"), ("昨天下午三点说好明天去", "2026-06-13"), ("每天", ""), ("明天8点", ""), ("后天下午", "2026-06-14"),
    ("明天之前或者后天之前", ""), ("提前一天", ""), ("明天下班后給你", "2026-06-13"), ("tomorrow after work", "2026-06-13"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "day"), DAYS)
def test_a_day_is_found_or_none(text: str, day: str) -> None:
    zone = ZoneInfo("Asia/Shanghai")
    due = due_in(text, int(FRIDAY.timestamp() * 1000), zone)
    told = datetime.fromtimestamp((due.at + 1) / 1000, zone) if due is not None else None
    assert (told is None) == (not day)
    if told is not None and due is not None:
        assert not due.timed
        assert (told.hour, told.minute) == (0, 0)
        assert datetime.fromtimestamp(due.at / 1000, zone).date().isoformat() == day


@pytest.mark.parametrize(
    ("text", "when"),
    [("明天下午三点前发你", "2026-06-13T15:00"), ("I'll send it by 5pm tomorrow", "2026-06-13T17:00"),
     ("半小时后打给你", "2026-06-12T09:30"), ("明天中午請你吃飯", "2026-06-13T12:00"),
     ("in two hours", "2026-06-12T11:00")],
)  # fmt: skip
def test_a_time_of_day_is_due_then(text: str, when: str) -> None:
    zone = ZoneInfo("Asia/Shanghai")
    due = due_in(text, int(FRIDAY.timestamp() * 1000), zone)
    assert due is not None
    assert due.timed
    assert datetime.fromtimestamp(due.at / 1000, zone).isoformat()[:16] == when


def test_a_day_that_a_clock_change_shortens_still_ends_at_midnight() -> None:
    zone = ZoneInfo("Europe/Berlin")
    at = datetime(2026, 3, 28, 12, tzinfo=zone)
    due = due_in("I'll do it tomorrow", int(at.timestamp() * 1000), zone)
    assert due is not None
    assert datetime.fromtimestamp((due.at + 1) / 1000, zone) == datetime(2026, 3, 30, tzinfo=zone)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("我明天会把报告发给你", "我答应你把季度报告发给你", True), ("给小李发文件", "给小王发文件", False),
        ("I'll send you the file tomorrow", "I promise to send the file by Friday", True),
        ("I'll send you the file tomorrow", "I'll send you the photos tomorrow", False),
        ("我周五交報告", "我下周一交报告", True), ("我明天发给你", "我明天把报告发给你", False), ("我今晚洗碗", "我今晚洗衣服", False),
    ],
)  # fmt: skip
def test_the_same_promise_in_other_words_is_the_same(one: str, other: str, same: bool) -> None:
    assert alike(one, other) is same
    assert alike(other, one) is same


def test_words_mean_one_promise_or_none() -> None:
    known = ((1, "我明天会把报告交给你"), (2, "I'll send you the file tomorrow"), (3, "我答应妈妈周末回家吃饭"))
    assert [meant(about, known) for about in ("报告交了", "sent it", "")] == [1, 2, None]
    assert meant("", known[:1]) == 1
    assert meant("文件发了", known) is None
