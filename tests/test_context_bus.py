"""Folding and selecting of lines. Rendering is tested in test_context_xml.py."""

import re
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.context import ContextLine, fold_events
from bot.core.events import Event, EventKind

START = 1_795_000_000_000
_COUNT = re.compile(r"x([0-9]+)$")


def happened(*events: tuple[int, EventKind, str, str]) -> tuple[Event, ...]:
    """Events as (seconds after the start, kind, label, text)."""
    ids = count(1)
    return tuple(
        Event(next(ids), 1, START + seconds * 1000, kind, None, "", text, label)
        for seconds, kind, label, text in events
    )


def texts(lines: tuple[ContextLine, ...]) -> list[str]:
    return [line.text for line in lines]


def test_equal_events_within_five_seconds_are_one_line_with_a_count() -> None:
    (line,) = fold_events(
        happened((0, "event", "wave", "alice"), (5, "event", "wave", "alice"), (9, "event", "wave", "alice"))
    )
    assert (line.text, line.count, line.event_ids) == ("alice x3", 3, (1, 2, 3))
    assert (line.since, line.at) == (START, START + 9_000)


def test_equal_events_further_apart_stay_apart() -> None:
    assert texts(fold_events(happened((0, "event", "wave", "alice"), (6, "event", "wave", "alice")))) == [
        "alice",
        "alice",
    ]


def test_an_event_that_counts_itself_counts_as_often_as_it_says() -> None:
    (line,) = fold_events(happened((0, "event", "pickup", "diamond x3"), (200, "event", "pickup", "diamondx4")))
    assert (line.text, line.count) == ("diamond x7", 7)


def test_damage_adds_up_with_its_sign() -> None:
    (line,) = fold_events(
        happened(
            (0, "event", "hurt.zombie", "alice:-1.1"),
            (60, "event", "hurt.zombie", "alice:-0.5"),
            (120, "event", "hurt.zombie", "alice:-0.3x2"),
        )
    )
    assert (line.text, line.count) == ("alice:-2.2", 4)


@pytest.mark.parametrize(
    ("amounts", "sum_text"), [(("+1", "+2.2"), "bob:+3.2"), (("+1.5", "-1.5"), "bob:0"), (("-0.04", "+0.01"), "bob:0")]
)
def test_healing_adds_up_within_five_seconds(amounts: tuple[str, str], sum_text: str) -> None:
    (line,) = fold_events(
        happened(*((index, "event", "heal", f"bob:{amount}") for index, amount in enumerate(amounts)))
    )
    assert line.text == sum_text


def test_damage_of_two_people_is_not_added() -> None:
    lines = fold_events(happened((0, "event", "hurt.fall", "alice:-1"), (1, "event", "hurt.fall", "bob:-2")))
    assert texts(lines) == ["alice:-1", "bob:-2"]


def test_server_lines_fold_and_messages_never_do() -> None:
    lines = fold_events(
        happened(
            (0, "server", "", "saving"),
            (1, "server", "", "saving"),
            (2, "message", "", "哈"),
            (2, "message", "", "哈"),
            (3, "bot", "", "嗯"),
            (3, "bot", "", "嗯"),
        )
    )
    assert texts(lines) == ["saving x2", "哈", "哈", "嗯", "嗯"]


def test_only_neighbours_fold() -> None:
    lines = fold_events(happened((0, "server", "", "a"), (1, "message", "", "b"), (2, "server", "", "a")))
    assert texts(lines) == ["a", "b", "a"]


def test_two_scenes_never_fold() -> None:
    assert len(fold_events(happened((0, "event", "scene", "tavern"), (1, "event", "scene", "tavern")))) == 2


@given(
    st.lists(
        st.tuples(
            st.integers(0, 20),
            st.sampled_from(("event", "server", "message", "bot")),
            st.sampled_from(("pickup", "join", "hurt.fall", "scene")),
            st.sampled_from(("a", "a x2", "b", "", "x:-1", "x:-0.5x3", "x2")) | st.text(max_size=8),
        )
    )
)
def test_folding_loses_no_event_and_no_count(steps: list[tuple[int, EventKind, str, str]]) -> None:
    at, events = 0, []
    for index, (seconds, kind, label, text) in enumerate(steps):
        at += seconds
        events.append(Event(index, 1, START + at * 1000, kind, None, "", text, label))
    lines = fold_events(events)
    assert [number for line in lines for number in line.event_ids] == [event.id for event in events]
    assert sum(line.count for line in lines) == sum(line.count for event in events for line in fold_events((event,)))
    for line in lines:
        assert line.count >= len(line.event_ids)
        if len(line.event_ids) > 1 and not line.label.startswith("hurt"):
            assert _COUNT.search(line.text)


@given(st.lists(st.tuples(st.integers(-999, 999), st.integers(1, 9)), min_size=2, max_size=12), st.integers(0, 300))
def test_a_sum_is_what_one_gets_by_hand(hits: list[tuple[int, int]], seconds: int) -> None:
    (line,) = fold_events(
        happened(
            *(
                (index * seconds, "event", "hurt.fall", f"bob:{tenths / 10:+.1f}x{times}")
                for index, (tenths, times) in enumerate(hits)
            )
        )
    )
    total = sum(tenths * times for tenths, times in hits)
    assert line.text == (f"bob:{total / 10:+.1f}" if total else "bob:0")
    assert line.count == sum(times for _, times in hits)


def test_what_comes_late_folds_with_no_newer_line() -> None:
    assert len(fold_events(happened((7_200, "event", "wave", "alice"), (0, "event", "wave", "alice")))) == 2
