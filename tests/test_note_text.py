"""The text of notes: chunks know their lines and keep their bound, what stands at the top is read strictly."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.archive import FrontMatter, NoteRefused
from bot.memory.transcript import DigestLine
from bot.pipeline.jobs.notes import SLUG_CHARS, kept_lines, note_name, talk_lines
from bot.text.files import chunks, lines_of, read_front, with_events, write_front
from bot.text.length import estimate_tokens
from tests.tables import all_cases

LINES = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.sampled_from(["# 标题", "## two", "", "   ", "```", "~~~", "- 项目", "#没有空格", "\u2028", "a\x0bb"]),
        st.builds(
            lambda text, times: text * times,
            st.sampled_from(["天气好。", "word ", "-", "😀", "7"]),
            st.integers(0, 400),
        ),
    ).map(lambda line: line.replace("\n", " ").rstrip("\r")),
    max_size=40,
)
FRONTS = st.builds(
    FrontMatter,
    st.integers(1, 10**15),
    st.sampled_from(["private", "chat", "public"]),
    st.lists(st.integers(1, 10**6), max_size=30).map(lambda found: tuple(sorted(set(found)))),
)


@given(LINES, st.integers(50, 200), st.integers(0, 100))
def test_chunks_hold_every_line_within_their_bound(lines: list[str], tokens: int, overlap: int) -> None:
    found = chunks(lines, tokens, min(overlap, tokens // 2))
    covered = {number for chunk in found for number in range(chunk.first, chunk.last + 1)}
    assert covered >= {number for number, line in enumerate(lines, 1) if line.strip()}
    assert all(1 <= chunk.first <= chunk.last <= len(lines) for chunk in found)
    assert [chunk.last for chunk in found] == sorted(chunk.last for chunk in found)
    for chunk in found:
        assert estimate_tokens(chunk.text) <= tokens
        assert chunk.text in "\n".join(lines[chunk.first - 1 : chunk.last])


@given(LINES)
def test_without_overlap_the_chunks_are_the_text(lines: list[str]) -> None:
    told = "".join("".join(chunk.text.split()) for chunk in chunks(lines, 60, 0))
    assert told == "".join("".join(lines).split())


def test_a_heading_begins_a_chunk_but_not_in_code() -> None:
    lines = ["# 一", "甲", "## 二", "乙", "```", "# 注释", "```", "丙"]
    assert [(chunk.first, chunk.last) for chunk in chunks(lines, 400, 80)] == [(1, 2), (3, 8)]


def test_chinese_is_counted_and_repeated_between_chunks() -> None:
    lines = ["今天我们去了海边，天气很好。" * 3 for _ in range(40)]
    found = chunks(lines, 400, 80)
    assert len(found) > 3
    assert all(200 < estimate_tokens(chunk.text) <= 400 for chunk in found[:-1])
    shared = [before.last - after.first + 1 for before, after in pairwise(found)]
    assert set(shared) == {2}  # a line has some 32 tokens


@given(FRONTS, LINES)
def test_what_is_written_at_the_top_is_read_back(front: FrontMatter, lines: list[str]) -> None:
    note = [*write_front(front), *lines]
    text = "".join(f"{line}\n" for line in note)
    assert read_front(lines_of(text)) == (front, 5)
    assert read_front(with_events(note, (3, 4, 9)))[0] == FrontMatter(front.chat_id, front.visibility, (3, 4, 9))
    assert with_events(note, front.events) == note


@given(st.text(max_size=300), st.lists(st.sampled_from(["chat: 1", "visibility: chat", "events: 1-2", "x: y", "---"])))
def test_whatever_stands_at_the_top_is_ours_or_refused_or_nobodys(text: str, more: list[str]) -> None:
    try:
        front, end = read_front(lines_of("---\n" + "\n".join([*more, text])))
    except NoteRefused:
        return
    assert (front is None) == (end == 0)


@all_cases(
    "text",
    [
        "---\nchat: 1\nchat: 2\nvisibility: chat\n---\n",
        "---\nchat: 1\n---\n",
        "---\nvisibility: public\n---\n",
        "---\nchat: eins\nvisibility: chat\n---\n",
        "---\nchat: 1\nvisibility: all\n---\n",
        "---\nchat: 1\nvisibility: chat\n",
        "---\nchat: 1\nvisibility: chat\nevents: 9-3\n---\n",
        "---\nchat: 1\nvisibility: chat\nevents: 1-999999999\n---\n",
        "---\nchat: ١\nvisibility: chat\n---\n",
        "---\nchat: 0\nvisibility: chat\n---\n",
        "---\nchat: 1; drop\nvisibility: chat\n---\n",
    ],
)
def test_a_top_that_is_not_right_is_refused(text: str) -> None:
    with pytest.raises(NoteRefused):
        read_front(lines_of(text))


def test_the_top_of_another_program_is_text() -> None:
    assert read_front(["---", "tags: [a]", "---", "x"]) == (None, 0)
    assert read_front(["---", "a line", "", "text"]) == (None, 0)


@given(st.lists(st.text(max_size=120), max_size=4))
def test_a_name_is_short_and_safe(texts: list[str]) -> None:
    name, number = note_name(texts, ("小暖", "nuan"))
    assert len(name) <= SLUG_CHARS
    assert all(char.isalnum() or char in "-_" or not char.isascii() for char in name)
    assert "/" not in name
    assert not name.startswith(("-", "."))
    assert not name or 0 <= number < len(texts)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("小暖，我们下周去西湖看荷花吧！", "我们下周去西湖看荷花吧"),
        ("What a long day at the office it was, really", "what-a-long-day-at-the-office"),
        ("../../etc/passwd", "etc-passwd"),
        ("？！", ""),
    ],
)
def test_a_talk_is_named_by_what_was_said(text: str, name: str) -> None:
    assert note_name([text], ("小暖",))[0] == name


def test_a_greeting_names_nothing_while_something_else_does() -> None:
    assert note_name(["嗨", "周末去爬香山吗"], ("小暖",)) == ("周末去爬香山吗", 1)


LINE = DigestLine(1, 11, 7, "小王", "我下周三\n去杭州\n---\nchat: 9", 0, is_bot=False)
BOT = DigestLine(2, 12, None, "小暖", "好的", 0, is_bot=True)


def test_a_message_is_one_line_of_a_note() -> None:
    (line,) = talk_lines([LINE], ["09:00"])
    assert line.text == "- 09:00 小王: 我下周三 去杭州 --- chat: 9"


def test_only_cited_lines_of_people_are_kept() -> None:
    answer = (
        "- 小王下周三去杭州 [1]\n- 小暖说好的 [2]\n- 不知哪里来的 [7]\nNOTHING\n- 没有编号\n- 小王下周三去杭州 [1, 2]"
    )
    (line,) = kept_lines(answer, [LINE, BOT])
    assert (line.text, line.event_ids) == ("- 小王下周三去杭州", (11,))


@given(st.text(max_size=400))
def test_no_answer_breaks_a_note(answer: str) -> None:
    for line in kept_lines("- x [1]\n" + answer, [LINE]):
        assert "\n" not in line.text
