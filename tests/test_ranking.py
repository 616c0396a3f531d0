"""The three rankings: figures worked out by hand, and what must hold whatever is asked."""

import math
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.recall.fusion import HASH_WEIGHT, Likeness
from bot.recall.hashing import HashEmbedder, seed_sums, sums
from bot.recall.question import question
from bot.recall.ranking import NOTHING_ALIKE, RANKINGS, Trace, importance, rank, raw_score, recency, relevance
from bot.types.memory import Candidate, Memory, Ranking

NOW = 1_781_226_000_000
DAY = 86_400_000


def memory(number: int, text: str, days: float = 0, told: int = 1, owner: int | None = 1) -> Memory:
    """A memory that was made so many days ago."""
    at = NOW - round(days * DAY)
    return Memory(
        number, owner, 1, "private", "knowledge", text, at, at, "command", importance=told, accessed_at=at
    )  # fmt: skip


def ranked(
    ranking: Ranking, text: str, *memories: Memory, limit: int = 6, names: Sequence[str] = (),
    likeness: Likeness = NOTHING_ALIKE,
) -> Trace:  # fmt: skip
    """These memories in order; the index is said to have found them all, the first as the best."""
    found = [Candidate(each, float(len(memories) - place), each.id) for place, each in enumerate(memories)]
    return rank(ranking, question(text, names), found, NOW, limit, likeness)


def ids(trace: Trace) -> list[int]:
    return [one.memory.id for one in trace.chosen]


def cuts(trace: Trace) -> dict[int, str]:
    return {one.memory.id: one.cut for one in trace.scored if one.cut}


def test_raw_counts_four_for_each_shared_term_times_half_its_length() -> None:
    assert raw_score(("花生", "过敏"), "我对花生过敏") == 8.0  # two pairs: 2 × 4 × 2/2
    assert raw_score(("peanut",), "no Peanut please") == 12.0  # six letters: 4 × 6/2
    assert raw_score(("strawberries",), "strawberries") == 12.0  # never more than 4 × 3
    assert raw_score(("猫",), "我喜欢猫") == 2.0  # one character: 4 × 1/2
    assert raw_score(("花生", "花", "生"), "我对花生过敏") == 4.0  # 花 and 生 are in 花生
    assert raw_score(("潜艇",), "我对花生过敏") == 0.0


def test_v2_is_the_formula_of_the_seed() -> None:
    assert relevance(18) == pytest.approx(0.632121, abs=1e-6)  # 1 - 1/e
    assert recency(memory(1, "x", days=14), NOW) == pytest.approx(0.5)
    assert recency(memory(1, "x", days=-3), NOW) == 1.0
    assert importance(memory(1, "x")) == pytest.approx(0.282137, abs=1e-6)  # .8·ln2/ln21 + .1
    assert importance(memory(1, "x", told=20)) == pytest.approx(0.9)
    assert importance(memory(1, "x", told=10**9)) == pytest.approx(0.9)
    (one,) = ranked("v2", "花生过敏", memory(1, "我对花生过敏", days=14)).scored
    assert one.score == pytest.approx(0.6 * (1 - math.exp(-8 / 18)) + 0.2 * 0.5 + 0.2 * 0.282137, abs=1e-6)
    assert one.score == pytest.approx(0.371719, abs=1e-6)
    assert dict(one.parts)["relevance"] == pytest.approx(0.358820, abs=1e-6)


def test_age_orders_but_hides_nothing() -> None:
    old, new = memory(1, "我对花生过敏", days=400), memory(2, "他对花生过敏", days=1)
    assert ids(ranked("v2", "花生过敏", old, new)) == [2, 1]
    for asked in ("过敏", "花生过敏", "我可以吃花生酱吗"):
        assert ids(ranked("v2", asked, old)) == [1]


def test_what_was_told_often_comes_before_what_was_told_once() -> None:
    assert ids(ranked("v2", "花生", memory(2, "花生好吃"), memory(1, "花生难吃", told=9))) == [1, 2]


def test_the_same_statement_is_brought_once_but_of_two_people_twice() -> None:
    trace = ranked("v2", "猫", memory(1, "我喜欢猫"), memory(2, "我喜歡貓"), memory(3, "我喜欢猫", owner=2))
    assert ids(trace) == [3, 2]
    assert cuts(trace) == {1: "duplicate"}
    first_80 = "猫" * 80
    assert len(ids(ranked("v2", "猫", memory(1, first_80 + "一"), memory(2, first_80 + "二")))) == 2


def test_the_end_of_a_long_question_counts() -> None:
    asked = "".join(chr(0x4E00 + 3 * number) for number in range(400)) + "奶茶"
    kept = memory(1, "下午喝奶茶")
    assert ids(ranked("v2", asked, kept)) == [1]
    assert ids(ranked("hybrid", asked, kept)) == [1]


def test_names_of_those_who_talk_find_nothing_by_themselves() -> None:
    about, cat = memory(1, "小暖是机器人"), memory(2, "我的猫叫年糕")
    named = ranked("v2", "小暖，我的猫呢", about, cat, names=("小暖", "Al"))
    assert (ids(named), cuts(named)) == ([2], {1: "no_term"})
    assert ids(ranked("v2", "小暖是谁", about, names=("小暖",))) == [1]
    assert ids(ranked("v2", "Al, is it also here", memory(3, "also here"), names=("Al",))) == [3]
    assert question("猫在哪", ("猫",)).terms == question("猫在哪").terms


def test_keyword_keeps_the_order_of_the_index() -> None:
    trace = ranked("keyword", "猫", memory(1, "猫"), memory(2, "狗猫"), memory(3, "猫"), limit=2)
    assert [(one.memory.id, one.score, one.cut) for one in trace.scored] == [
        (1, 3.0, ""), (2, 2.0, ""), (3, 1.0, "limit")
    ]  # fmt: skip


def alike(*memories: Memory, weight: float = 1.0) -> Likeness:
    """These are what is like the question, the likest first."""
    return Likeness({each.id: (place, 1 - place / 10) for place, each in enumerate(memories, 1)}, "", weight)


def test_hybrid_orders_by_the_places_in_both_lists() -> None:
    first, second, only = memory(1, "花生过敏", told=9), memory(2, "我对花生过敏"), memory(3, "坚果不能碰")
    trace = ranked("hybrid", "花生过敏", first, second, only, likeness=alike(second, only))
    assert [(one.memory.id, one.cut) for one in trace.scored] == [(2, ""), (1, ""), (3, "")]
    figures = dict(trace.scored[0].parts)
    assert (figures["lexical"], figures["dense"], figures["cosine"]) == (2.0, 1.0, 0.9)
    assert [one.score for one in trace.scored] == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62])


def test_vectors_that_know_no_meaning_help_words_and_do_not_outvote_them() -> None:
    many = [memory(number, f"花生{number}号", days=number) for number in range(1, 9)]
    other = memory(99, "坚果不能碰")
    trace = ranked("hybrid", "花生", *many, other, limit=99, likeness=alike(other, weight=HASH_WEIGHT))
    assert ids(trace) == [*range(1, 9), 99]


def test_without_vectors_hybrid_brings_what_v2_brings_and_says_why() -> None:
    kept = [memory(number, f"花生{number}号", days=number * 40) for number in range(1, 31)]
    trace = ranked("hybrid", "花生", *kept, likeness=Likeness(missing="down"))
    assert ids(trace) == ids(ranked("v2", "花生", *kept))
    assert (trace.missing, ranked("v2", "花生", *kept).missing) == ("down", "")


def test_a_hashed_vector_is_the_same_for_ever() -> None:
    # FNV-1a of "z" is 0xFF0C53AD: place 0xAD mod 64 = 45, highest bit set; of "zz" 0x5767FB75: 53, not set.
    assert [(place, value) for place, value in enumerate(seed_sums("z")) if value] == [(45, -1.0)]
    assert [(place, value) for place, value in enumerate(seed_sums("ＺＺ")) if value] == [(53, 1.0)]
    assert HashEmbedder(None).vectors(["我喜欢猫"]) == HashEmbedder(None).vectors(["我喜歡貓"])
    asked = "".join(chr(0x4E00 + 3 * number) for number in range(400)) + "奶茶"
    for make in (seed_sums, sums):
        assert make(asked) != make(asked.replace("奶茶", "咖啡"))


@given(st.text(max_size=80), st.sampled_from((None, 16, 64, 100)))
def test_every_text_has_a_vector_of_length_one(text: str, dimensions: int | None) -> None:
    (vector,) = HashEmbedder(dimensions).vectors([text]).vectors
    assert math.dist(struct.unpack(f"<{len(vector) // 4}f", vector), [0.0] * (len(vector) // 4)) == pytest.approx(1.0)


TEXTS = st.text(max_size=60) | st.text("我对花生过敏喜欢猫的小暖 abc,?", max_size=40)


@given(TEXTS, st.lists(st.tuples(TEXTS, st.integers(-9, 900), st.booleans()), max_size=30), st.integers(1, 20))
def test_whatever_is_asked_nothing_else_than_candidates_comes_back(
    asked: str, kept: list[tuple[str, int, bool]], limit: int
) -> None:
    found = [
        Candidate(memory(number, text, days), 1.5 if matched else None, number)
        for number, (text, days, matched) in enumerate(kept, 1)
    ]
    like = Likeness({number: (number, 0.5) for number in range(2, 40, 2)})
    for ranking in RANKINGS:
        trace = rank(ranking, question(asked, ("小暖", "")), found, NOW, limit, like)
        assert len(trace.chosen) <= limit
        assert sorted(one.memory.id for one in trace.scored) == [each.memory.id for each in found]
        assert trace == rank(ranking, question(asked, ("小暖", "")), tuple(reversed(found)), NOW, limit, like)
        assert all(one.cut or one.score > 0 for one in trace.scored)
        assert all(one.memory in [each.memory for each in found] for one in trace.chosen)
