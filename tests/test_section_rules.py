"""Shares, dominance, misses and topics by the seed's rules, and which section a text belongs to. Pure."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config.memory import SectionRules
from bot.config.settings import Settings
from bot.core.people import MemoryKind
from bot.core.recall import Matches, Posting, RecallRound, SectionWords, WindowSize
from bot.language.sections import SHIPPED_SECTIONS, SectionRegistry, read_registry, section_registry
from bot.recall.lexical import weighed
from bot.recall.query import SearchQuery
from bot.recall.sections import (
    HELD,
    advice,
    counted_rounds,
    current_topic,
    dominant,
    misses,
    round_of,
    sections_to_search,
    shares,
)
from bot.store.told import rounds_of
from tests.tables import all_cases

RULES = SectionRules()
KEYS = tuple(section.key for section in SHIPPED_SECTIONS)


def turns(*hits: str) -> tuple[RecallRound, ...]:
    """One round for each word of comma-separated sections; "" for none."""
    return tuple(
        RecallRound({key: 10 * number for key in each.split(",") if key}, turn_id=number, at=number)
        for number, each in enumerate(hits, 1)
    )


SEED = turns("decision", "decision,todo", "decision", "decision", "decision")


def test_the_seeds_example_gives_five_of_six_and_one_of_six() -> None:
    found = shares(SEED, 5)
    assert {key: round(share, 3) for key, share in found.items()} == {"decision": 0.833, "todo": 0.167}
    assert dominant(SEED, RULES) == "decision"
    assert sections_to_search(SEED, {"todo"}, RULES) == ("decision", "todo"), "and what the message names"
    assert sections_to_search(SEED, (), RULES) == ("decision",)


@pytest.mark.parametrize(("window", "share"), [(3, 1.0), (5, 0.6), (10, 0.3)])
def test_only_the_newest_rounds_of_the_window_count(window: WindowSize, share: float) -> None:
    rounds = turns(*["todo"] * 7, *["work"] * 3)
    assert shares(rounds, window)["work"] == pytest.approx(share)
    assert dominant(rounds, SectionRules(window=window)) == {3: "work", 5: "", 10: "todo"}[window]


def test_without_hits_there_are_no_shares_and_everything_is_searched() -> None:
    assert shares(turns("", "", ""), 5) == {}
    assert shares((), 5) == {}
    assert sections_to_search(turns("", ""), {"todo"}, RULES) == ()
    assert current_topic(turns("", "", ""), RULES) is None


def test_one_hit_or_two_dominate_nothing_however_large_their_share() -> None:
    assert dominant(turns("todo"), RULES) == ""
    assert dominant(turns("todo", "todo"), RULES) == ""
    assert dominant(turns("todo", "todo", "todo"), RULES) == "todo"
    assert dominant(turns("todo", "todo", "todo", "", ""), RULES) == "todo"
    assert dominant(turns("todo", "todo", "todo", "", "", ""), RULES) == "", "it fades when nothing is found"


def test_a_share_below_the_threshold_dominates_nothing() -> None:
    rounds = turns("todo,work", "todo", "todo,work", "todo")
    assert shares(rounds, 5) == {"todo": pytest.approx(4 / 6), "work": pytest.approx(2 / 6)}
    assert dominant(rounds, RULES) == ""
    assert dominant(rounds, SectionRules(dominant=0.6)) == "todo"


def test_what_a_narrowed_search_finds_in_its_own_section_proves_nothing_unless_it_was_named() -> None:
    again = round_of([("todo", 1, False)], ("todo",), ())
    assert (dict(again.hits), again.held) == ({}, True)
    assert dict(round_of([("todo", 1, False)], ("todo",), {"todo"}).hits) == {"todo": 1}
    assert dict(round_of([("todo", 1, False)], (), ()).hits) == {"todo": 1}, "all was searched"
    assert dict(round_of([("todo", 1, True)], ("todo",), ()).hits) == {"todo": 1}, "kept ones are found anyway"
    other = round_of([("todo", 1, False), ("work", 2, False)], ("todo",), ())
    assert (dict(other.hits), other.held) == ({"work": 2}, False)
    assert round_of([], ("todo",), ()).held is False, "nothing found is a round like any other"


@given(st.lists(st.sampled_from(["todo", "work", "", "todo,work"]), max_size=8), st.sampled_from([3, 5, 10]))
def test_a_topic_cannot_keep_itself(before: Sequence[str], window: WindowSize) -> None:
    """From now on a narrowed search finds only its own section, and a search of everything only the family."""
    rules, rounds = SectionRules(window=window), turns(*before)
    for _ in range((HELD + 1) * window + 1):
        where = sections_to_search(rounds, (), rules)
        found = [(where[0], 1, False)] if where else [("family", 2, False)]
        rounds = (*rounds, round_of(found, where, ()))
    assert dominant(rounds, rules) in ("family", "")
    assert set(shares(rounds, window)) == {"family"}


def test_after_two_rounds_that_prove_nothing_everything_is_searched() -> None:
    held = RecallRound(searched=("decision",), held=True)
    assert sections_to_search((*SEED, held), (), RULES) == ("decision",)
    assert sections_to_search((*SEED, held, held), (), RULES) == ()
    assert sections_to_search((*SEED, held, held, *turns("decision")), (), RULES) == ("decision",)


def test_after_three_rounds_without_a_hit_a_section_might_be_merged_and_a_hit_takes_that_back() -> None:
    rounds = turns("work", "todo", "todo")
    sizes = {"work": 2, "todo": 3, "travel": 1, "tech": 0}
    assert misses(rounds, sizes) == {"work": 2, "todo": 0, "travel": 3, "tech": 3}
    assert {each.key: each.merge for each in advice(rounds, sizes, RULES)} == {
        "todo": False,
        "work": False,
        "travel": True,
    }, "only what holds something is spoken of"
    later = advice((*rounds, *turns("todo")), sizes, RULES)
    assert [each.key for each in later if each.merge] == ["work", "travel"]
    assert not any(each.merge for each in advice((*rounds, *turns("travel,work")), sizes, RULES))
    assert [(each.key, each.standing) for each in later] == [
        ("todo", "dominant"),
        ("work", "also"),
        ("travel", "none"),
    ]


def test_small_talk_advises_against_no_section() -> None:
    rounds = turns("work", "todo", "", "", "", "")
    assert misses(rounds, {"work": 2, "todo": 3}) == {"work": 1, "todo": 0}
    assert not any(each.merge for each in advice(rounds, {"work": 2, "todo": 3}, RULES))


def test_a_share_below_the_low_one_is_called_low() -> None:
    rounds = turns(*["todo"] * 5, "todo,work", *["todo"] * 4)
    found = advice(rounds, {"todo": 1, "work": 1}, SectionRules(window=10))
    assert [(each.key, each.standing) for each in found] == [("todo", "dominant"), ("work", "low")]


def test_what_dominates_for_two_or_three_turns_is_the_topic_until_it_changes() -> None:
    rounds = turns("todo", "todo", "todo")
    assert current_topic(rounds, RULES) is None
    rounds = turns("todo", "todo", "todo", "todo")
    found = current_topic(rounds, RULES)
    assert found is not None
    assert (found.section, found.memory_id, found.turn_id) == ("todo", 40, 4)
    assert current_topic(rounds, SectionRules(stable_turns=3)) is None
    assert current_topic(turns(*["todo"] * 5), SectionRules(stable_turns=3)) is not None
    assert current_topic((*rounds, *turns("work", "work")), RULES) is None, "the talk went on to something else"


def test_a_word_that_others_hold_as_well_tells_no_more_for_a_narrow_search() -> None:
    asked = SearchQuery("?", {"周三": 1.0, "药": 1.0})
    everywhere = Matches((Posting("周三", tuple(range(90))), Posting("药", (1, 2))), 100, 1000)
    narrowed = Matches((Posting("周三", (1,), 90), Posting("药", (), 2)), 100, 1000)
    assert weighed(asked, narrowed) == weighed(asked, everywhere)


hits = st.dictionaries(st.sampled_from(KEYS), st.integers(1, 99), max_size=4)
some = st.lists(st.builds(RecallRound, hits, st.just(()), st.booleans()), max_size=15)


@settings(max_examples=40)
@given(some, st.sampled_from([3, 5, 10]), st.sets(st.sampled_from(KEYS), max_size=3))
def test_shares_are_parts_of_one_and_only_one_section_can_dominate(
    rounds: list[RecallRound], window: WindowSize, named: set[str]
) -> None:
    rules = SectionRules(window=window)
    found = shares(rounds, window)
    assert sum(found.values()) == pytest.approx(1.0 if found else 0.0)
    leading, where = dominant(rounds, rules), sections_to_search(rounds, named, rules)
    assert sum(share >= rules.dominant for share in found.values()) <= 1
    assert not leading or sum(leading in each.hits for each in counted_rounds(rounds)[-window:]) >= rules.least_hits
    assert not where or {leading, *named} == set(where)
    assert all(0 <= count <= len(counted_rounds(rounds)) for count in misses(rounds, KEYS).values())


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(), st.integers(), st.text(), st.text(), st.integers()), max_size=3))
def test_a_damaged_state_is_left_out(rows: list[tuple[int, int, str, str, int]]) -> None:
    whole = (7, 7, '{"todo": 1}', "[]", 0)
    found = rounds_of([*rows, whole])
    assert RecallRound({"todo": 1}, (), False, 7, 7) in found


@all_cases(
    ("text", "key"),
    [
        ("我對花生過敏", "health"),
        ("我对花生过敏", "health"),
        ("下周要交报告，提醒我", "todo"),
        ("我决定辞职了", "decision"),
        ("Need to renew the passport, the deadline is Friday", "todo"),
        ("My brothers are twins", "family"),
        ("服務器的數據庫又報錯了", "tech"),
        ("我住在平江路", "person"),
        ("ＮＥＥＤ　ＴＯ", "todo"),
        ("嗯", "person"),
    ],
)
def test_a_text_belongs_where_its_words_say_in_every_script(text: str, key: str) -> None:
    assert SectionRegistry().assign(text, "knowledge", owned=True) == key


@pytest.mark.parametrize(
    ("kind", "owned", "key"),
    [("event", True, "recent"), ("emotion", True, "recent"), ("experience", True, "lesson"), ("identity", False, "me")],
)
def test_without_any_of_the_words_a_memory_belongs_where_its_kind_does(kind: MemoryKind, owned: bool, key: str) -> None:
    assert SectionRegistry().assign("嗯", kind, owned=owned) == key


def test_part_of_a_word_is_not_the_word() -> None:
    assert SectionRegistry().named("the catalogue of a runway") == frozenset()
    assert "family" in SectionRegistry().named("two cats")


@given(st.text())
def test_every_text_has_one_section_that_there_is(text: str) -> None:
    assert SectionRegistry().assign(text, "knowledge", owned=True) in KEYS
    assert SectionRegistry().named(text) <= set(KEYS)
    assert isinstance(read_registry(text), SectionRegistry)


def test_an_operator_adds_replaces_and_leaves_out_sections() -> None:
    own = section_registry(
        [
            SectionWords("gardening", ("番茄", "tomato")),
            SectionWords("Health", ("体温",)),
            SectionWords("travel", ()),
        ]
    )
    assert own.assign("阳台上的番茄红了", "knowledge", owned=True) == "gardening"
    assert own.assign("體溫三十八度", "knowledge", owned=True) == "health"
    assert own.assign("青霉素过敏", "knowledge", owned=True) == "person"
    assert "travel" not in own.keys
    assert read_registry(own.to_json()) == own
    assert section_registry([SectionWords(key, ()) for key in KEYS]).assign("嗯", "event", owned=True) == ""


@all_cases(
    ("line", "told"),
    [
        ("no colon", 'must each be "name: word, word"'),
        (": x", "need a name"),
        ("a" * 30 + ": xx", "need a name"),
        ("x: " + "y" * 40, "words of at most 32"),
        ("x: a", "single letter"),
        ("x: " + ", ".join(f"w{number}" for number in range(300)), "at most 200 words"),
    ],
)
def test_a_section_that_cannot_be_is_refused_with_a_reason(line: str, told: str) -> None:
    with pytest.raises(ValueError, match="sections") as caught:
        Settings.model_validate({"sections": {"words": (line,)}})
    assert told in str(caught.value)


def test_a_section_is_named_once_and_may_be_written_in_full_width() -> None:
    with pytest.raises(ValueError, match="name each section once: garden"):
        Settings.model_validate({"sections": {"words": ("garden: aa", "Garden: bb")}})
    rules = Settings.model_validate({"sections": {"words": ("园艺：番茄，浇水、花",), "window": 10}}).sections
    assert rules.own == (SectionWords("园艺", ("番茄", "浇水", "花")),)
    assert rules.window == 10
