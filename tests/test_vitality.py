"""Vitality, counting down and crowding out: pure functions of time, with the mistakes of the references as tests."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config.memory import LifeRules
from bot.core.clock import DAY_MS
from bot.core.memories import STABILITY_DAYS, Memory
from bot.core.people import MemoryKind
from bot.memory.lifecycle import count_after, crowded_out, vitality, worn_out
from tests.tables import all_cases

NOW = 1_781_226_000_000
HOUR = 3_600_000
KINDS: tuple[MemoryKind, ...] = ("identity", "emotion", "knowledge", "event", "experience")


def memory(kind: MemoryKind = "knowledge", text: str = "喜欢喝茶", days: float = 0, number: int = 1) -> Memory:
    """One that nobody asked to keep, as old as that and not recalled since."""
    at = NOW - round(days * DAY_MS)
    return Memory(
        number,
        1,
        1,
        "private",
        kind,
        text,
        at,
        at,
        "digest",
        accessed_at=at,
        stability_days=STABILITY_DAYS[kind],
        updated_at=at,
    )


@all_cases(
    ("kind", "days", "expected"),
    [
        ("identity", 9_999, 1.0),
        ("emotion", 365, 0.368),
        ("emotion", 9_999, 0.3),
        ("knowledge", 90, 0.368),
        ("knowledge", 9_999, 0.1),
        ("event", 14, 0.368),
        ("event", 200, 0.0),
        ("event", 0, 1.0),
    ],
)
def test_it_fades_by_its_stability_and_not_below_its_floor(kind: MemoryKind, days: float, expected: float) -> None:
    assert vitality(memory(kind, days=days), NOW) == pytest.approx(expected, abs=0.001)


def test_what_is_to_come_fades_from_its_day_on() -> None:
    """A ticket bought in June for August was archived in July."""
    ticket = replace(memory("event", days=60), observed_at=NOW + 10 * DAY_MS, dated="day")
    assert worn_out((ticket,), NOW) == ()
    assert [round(vitality(ticket, NOW + days * DAY_MS), 2) for days in (0, 10, 24)] == [1.0, 1.0, 0.37]


def test_what_its_owner_let_fade_stays_faded_whatever_time_passes() -> None:
    """In the reference .081 became .807 with the next decay."""
    faded = replace(memory(days=10), faded=0.1)
    assert [vitality(faded, NOW + days * DAY_MS) < 0.1 for days in (0, 1, 30, 400)] == [True] * 4


@all_cases(
    ("text", "days", "factor"),
    [
        ("正在准备考试", 8, 0.3),
        ("正在準備考試", 6, 1),
        ("項目進行中", 8, 0.3),
        ("currently on a diet", 8, 0.3),
        ("待办：买票", 15, 0.5),
        ("to-do: call mum", 15, 0.5),
        ("待辦買票", 13, 1),
        ("剛才吃過飯", 4, 0.2),
        ("had lunch just now", 4, 0.2),
        ("刚才吃过饭", 2, 1),
        ("最近睡不好", 31, 0.5),
        ("最近睡不好", 29, 1),
        ("sleeping badly lately", 31, 0.5),
        ("這陣子很忙", 31, 0.5),
        ("喜欢喝茶", 99, 1),
        ("todos los santos", 0, 1),
    ],
)
def test_words_of_a_moment_get_stale(text: str, days: float, factor: float) -> None:
    stale, fresh = memory(text=text, days=days), memory(text="喜欢喝茶", days=days)
    assert vitality(stale, NOW) == pytest.approx(vitality(fresh, NOW) * factor)


def test_a_count_takes_a_month_and_not_a_day_to_fall() -> None:
    """In the reference 100 became 1 in 27 hours: every hour took its tenth."""
    assert count_after(100, NOW, 0, NOW + 27 * HOUR, 24 * HOUR) == 100
    assert count_after(100, NOW, 0, NOW + 7 * DAY_MS, 24 * HOUR) == 90
    assert count_after(100, NOW, 0, NOW + 40 * DAY_MS, 24 * HOUR) == 1


@given(st.integers(1, 100), st.lists(st.integers(0, 60 * 24), max_size=30), st.integers(1, 48))
def test_looking_often_or_once_counts_down_the_same(count: int, hours: list[int], interval: int) -> None:
    often, since = count, 0
    for at in sorted(NOW + each * HOUR for each in hours):
        often, since = count_after(often, NOW, since, at, interval * HOUR), at
    last = max([NOW, since])
    assert often == count_after(count, NOW, 0, last, interval * HOUR)


def test_worn_out_is_only_what_nobody_asked_for() -> None:
    old = memory("event", days=60)
    others = (
        memory("identity", days=9_999),
        memory("emotion", days=9_999),
        replace(old, asked=True),
        replace(old, protected=True),
    )
    assert worn_out((old, *others), NOW) == (old,)


def test_what_lasts_neither_fades_nor_wears_out_till_something_takes_its_place() -> None:
    died = replace(memory("event", "正在住院的外婆去世了", days=900), lasting=True)
    assert vitality(died, NOW) == 1.0, "words of a moment are no reason either"
    assert vitality(replace(died, faded=0.1), NOW) == 0.1, "its owner's wish is one"
    assert worn_out((died, memory("anniversary", days=900)), NOW) == ()
    assert worn_out((replace(died, faded=0.01),), NOW) == (), "of which nothing is lost"
    former = replace(died, former_at=NOW - 30 * DAY_MS)
    assert worn_out((former,), NOW) == (former,)


def test_of_what_lasts_health_home_and_the_like_go_last() -> None:
    """However old they are; what was told or recalled lately stays before what was not."""
    old = [
        replace(memory("knowledge", f"第{number}件事", days=700, number=number), lasting=True, slot=slot)
        for number, slot in enumerate(("allergy", "home", "death", "去世"), 1)
    ]
    chatter = [memory("identity", f"外号{number}", days=number, number=100 + number) for number in range(5)]
    birthday = memory("anniversary", "生日是8月15日", days=700, number=9)
    gone = crowded_out((*old, *chatter, birthday), NOW, capacity(9, 9, 9, 9, 9, 6))
    assert [one.id for one in gone] == [104, 103, 102, 101]
    recalled = replace(chatter[4], accessed_at=NOW)
    assert crowded_out((*chatter[:4], recalled), NOW, capacity(9, 9, 9, 9, 9, 4)) == (chatter[3],)


def capacity(emotion: int, knowledge: int, event: int, experience: int, total: int, lasting: int) -> LifeRules:
    """Room for so many."""
    return LifeRules(
        max_emotion=emotion,
        max_knowledge=knowledge,
        max_event=event,
        max_experience=experience,
        max_total=total,
        max_lasting=lasting,
    )


MEMORIES = st.lists(
    st.tuples(
        st.sampled_from((*KINDS, "anniversary")),
        st.integers(0, 400),
        st.sampled_from("kpl."),
        st.booleans(),
        st.sampled_from("茶猫狗"),
    ),
    max_size=40,
)


@given(MEMORIES, st.integers(1, 5), st.integers(1, 12), st.integers(1, 5))
def test_room_is_made_exactly_and_never_by_what_somebody_asked_to_keep(
    rows: list[tuple[MemoryKind, int, str, bool, str]], each: int, total: int, lasting: int
) -> None:
    memories = [
        replace(
            memory(kind, f"喜欢{word}{number}", days, number),
            asked=how == "k",
            protected=how == "p",
            lasting=how == "l",
            former_at=NOW if former else None,
        )
        for number, (kind, days, how, former, word) in enumerate(rows)
    ]
    limits = capacity(each, each, each, each, total, lasting)
    gone = crowded_out(memories, NOW, limits)
    assert not any(one.kept for one in gone)
    numbers = {one.id for one in gone}
    assert len(numbers) == len(gone)
    left = [one for one in memories if one.id not in numbers and not one.kept]
    passing = [one for one in left if not one.lasts]
    assert len(left) - len(passing) == min(lasting, sum(one.lasts and not one.kept for one in memories))
    assert len(passing) <= total
    assert all(sum(one.kind == kind for one in passing) <= each for kind in KINDS)
    assert crowded_out([one for one in memories if one.id not in numbers], NOW, limits) == ()


def test_the_old_the_repeated_and_the_disliked_go_first() -> None:
    room = capacity(9, 1, 9, 9, 9, 9)
    fresh = memory(text="喜欢喝茶", number=1)
    for worse in (
        memory(text="喜欢乌龙", days=80, number=2),
        replace(memory(text="喜欢乌龙", number=2), unhelpful=3),
    ):
        assert crowded_out((fresh, worse), NOW, room) == (worse,)
    twins = (memory(text="住在上海", number=1), memory(text="喜欢喝茶", number=2), memory(text="喜欢喝绿茶", number=3))
    assert crowded_out(twins, NOW, capacity(9, 2, 9, 9, 9, 9))[0].id in (2, 3)
