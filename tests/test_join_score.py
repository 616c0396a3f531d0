"""The pure rule of entering a talk: what moves the score which way, and what no talk whatever gets past."""

from dataclasses import replace
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from bot.config.speaking import JoinRules
from bot.core.speaking import GroupLine, GroupTalk, PastEntry
from bot.speaking.initiative import (
    addressee,
    backoff_ms,
    in_dialogue,
    manners_verdict,
    open_question,
    score_of,
    score_verdict,
)
from bot.text.dates import local_hour
from tests.world import NINE

RULES = JoinRules()
ZONE = ZoneInfo("Asia/Shanghai")
NOW = NINE + 3_600_000
PEOPLE = st.integers(1, 4)
LINES = st.lists(
    st.builds(
        GroupLine,
        id=st.just(0),
        at=st.integers(0, 200_000),
        person_id=PEOPLE,
        to_other=st.booleans(),
        to=st.none() | PEOPLE,
        asks=st.booleans(),
        forwarded=st.booleans(),
        from_bot=st.booleans(),
    ),
    min_size=1,
    max_size=8,
).map(
    lambda lines: tuple(
        replace(line, id=number, at=NOW - ago)
        for number, (line, ago) in enumerate(
            zip(lines, sorted((line.at for line in lines), reverse=True), strict=True), 1
        )
    )
)
TALKS = st.builds(GroupTalk, lines=LINES, spoke_at=st.integers(NOW - 2_000_000, NOW))


@given(TALKS, st.floats(0, 1), st.floats(0, 1), st.integers(0, 900_000))
def test_the_score_grows_with_relevance_rest_and_waiting(talk: GroupTalk, one: float, other: float, later: int) -> None:
    low, high = sorted((one, other))
    assert score_of(talk, low, RULES, NOW) <= score_of(talk, high, RULES, NOW)
    assert score_of(talk, low, RULES, NOW) <= score_of(talk, low, RULES, NOW + later)
    longer = replace(talk, spoke_at=talk.spoke_at - later)
    assert score_of(talk, low, RULES, NOW) <= score_of(longer, low, RULES, NOW)


@given(TALKS, st.floats(0, 1), st.integers(1, 10))
def test_the_score_falls_with_pace(talk: GroupTalk, relevance: float, more: int) -> None:
    first = talk.lines[0]
    faster = tuple(replace(first, id=0, asks=False, at=NOW - 1_000) for _ in range(more))
    assert score_of(replace(talk, lines=(*faster, *talk.lines)), relevance, RULES, NOW) <= score_of(
        talk, relevance, RULES, NOW
    )


@given(TALKS, st.floats(0, 1))
def test_whoever_is_let_in_was_let_in_by_every_rule(talk: GroupTalk, relevance: float) -> None:
    newest = talk.lines[-1]
    if manners_verdict(talk, RULES, 60_000, ZONE, NOW) is not None:
        return
    assert RULES.lull_seconds * 1000 <= NOW - newest.at <= RULES.stale_seconds * 1000
    assert (newest.to_other, newest.forwarded, newest.from_bot) == (False, False, False)
    recent = [line for line in talk.lines if NOW - line.at < RULES.dialogue_seconds * 1000]
    assert not in_dialogue(recent)
    verdict = score_verdict(talk, relevance, RULES, NOW)
    assert (verdict.action == "enter") == (verdict.score >= RULES.threshold)
    if verdict.action == "wait":
        assert verdict.at > NOW
        assert score_verdict(talk, relevance, RULES, verdict.at).action == "enter", "it is worth waiting for"


@given(st.lists(st.tuples(st.integers(1, 400), st.booleans(), st.booleans()), max_size=300), st.integers(1, 6))
def test_over_random_hours_of_talk_the_cap_the_night_and_the_pauses_hold(
    steps: list[tuple[int, bool, bool]], cap: int
) -> None:
    rules, now, entries = RULES.model_copy(update={"per_hour": cap}), NINE, list[PastEntry]()
    for number, (seconds, said, answered) in enumerate(steps, 1):
        now += seconds * 1000 + rules.lull_seconds * 1000
        line = GroupLine(number, now - rules.lull_seconds * 1000, number % 3)
        talk = GroupTalk((line,), tuple(entries))
        if manners_verdict(talk, rules, 60_000, ZONE, now) is None:
            assert 9 <= local_hour(now, ZONE) < 22
            if entries and not entries[-1].answered:
                assert now >= entries[-1].at + 60_000 * entries[-1].said + backoff_ms(entries, rules)
            entries.append(PastEntry(now, said, said and answered))
    for first, beyond in zip(entries, entries[cap:], strict=False):
        assert beyond.at - first.at >= 3_600_000


@given(st.lists(st.booleans(), max_size=40))
def test_the_pause_doubles_up_to_its_longest(answers: list[bool]) -> None:
    entries = [PastEntry(number, True, answered) for number, answered in enumerate(answers)]
    row = next((number for number, answered in enumerate(reversed(answers)) if answered), len(answers))
    assert backoff_ms(entries, RULES) == (min(15_000 * 2 ** (row - 1), 300_000) if row else 0)
    assert backoff_ms([*entries, PastEntry(99, False, False, counts=False)], RULES) == backoff_ms(entries, RULES)


def test_what_was_answered_looked_at_or_hushed_is_left_alone() -> None:
    line = GroupLine(5, NOW - 30_000, 1)
    assert manners_verdict(GroupTalk((line,)), RULES, 60_000, ZONE, NOW) is None
    for talk, why in (
        (GroupTalk((line,), seen=6), "same"),
        (GroupTalk((line,), spoke_id=6), "spoke"),
        (GroupTalk((line,), hushed=True), "hushed"),
        (GroupTalk((line,), waiting=True), "waiting"),
        (GroupTalk(()), "nothing"),
    ):
        found = manners_verdict(talk, RULES, 60_000, ZONE, NOW)
        assert found is not None
        assert (found.action, found.why) == ("silent", why)


def test_a_question_is_open_until_somebody_answers_it() -> None:
    asked = GroupLine(1, NOW, 1, asks=True)
    assert open_question((asked, GroupLine(2, NOW, 1))) is asked, "who asks may go on"
    assert open_question((asked, GroupLine(2, NOW, 2))) is None
    assert open_question((asked, GroupLine(2, NOW, 2, to_other=True, to=3))) is asked
    assert open_question((asked, GroupLine(2, NOW, 2, to_other=True, to=1))) is None
    assert open_question((replace(asked, forwarded=True),)) is None


def test_two_in_turns_are_a_dialogue_and_three_are_none() -> None:
    lines = [GroupLine(number, NOW, person) for number, person in enumerate((1, 2, 1, 2))]
    assert in_dialogue(lines)
    assert in_dialogue([GroupLine(0, NOW, 3), *lines])
    assert not in_dialogue([*lines[:2], GroupLine(9, NOW, 3), *lines[2:]])
    assert not in_dialogue([GroupLine(0, NOW, 1), GroupLine(1, NOW, 1), GroupLine(2, NOW, 1)])


def test_a_name_calls_its_person() -> None:
    people = {1: "阿明", 2: "bob", 3: "王"}
    assert addressee("阿明，门锁了吗", people) == 1
    assert addressee("Bob: hi", people) == 2
    assert addressee("王道乐土", people) is None
    assert addressee("今天好热", people) is None
