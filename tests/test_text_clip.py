"""Clipping: never longer than asked, never half a visible character."""

from hypothesis import given
from hypothesis import strategies as st

from bot.text.length import clip, clip_whole
from tests.tables import all_cases

ANY = st.text(st.characters(exclude_categories=())) | st.text(
    st.sampled_from("a\u0301👨\u200d👩\ufe0f🇨🇳👍🏽\r\n\ud83d\ude00각")
)
LIMIT = st.integers(-2, 40)


@given(ANY, LIMIT)
def test_a_clipped_text_never_exceeds_its_limit(text: str, limit: int) -> None:
    short = clip(text, limit)
    assert len(short) <= max(limit, 0)
    assert short == text or limit < 1 or (short.endswith("…") and text.startswith(short[:-1]))


@given(ANY, LIMIT)
def test_what_is_cut_is_counted(text: str, limit: int) -> None:
    kept, cut = clip_whole(text, limit)
    assert len(kept) <= max(limit, 0)
    assert text.startswith(kept)
    assert len(kept) + cut == len(text)


@all_cases("sign", ["e\u0301", "👨‍👩‍👧", "❤️", "🇨🇳", "👍🏽", "\r\n", "\u1112\u1161\u11ab", "1️⃣"])
def test_a_visible_character_stays_whole_or_goes(sign: str) -> None:
    for limit in range(2, len(sign) + 1):
        assert clip_whole("ab" + sign + "c", limit + 1) == ("ab", len(sign) + 1)
    assert clip_whole("ab" + sign + "c", len(sign) + 2) == ("ab" + sign, 1)


def test_flags_are_cut_between_flags() -> None:
    assert clip_whole("🇨🇳🇹🇼🇭🇰", 3) == ("🇨🇳", 4)


def test_a_letter_under_a_thousand_marks_is_cut_all_the_same() -> None:
    assert clip_whole("e" + "\u0301" * 1000, 500)[1] == 501


def test_short_text_is_not_touched() -> None:
    assert clip("小暖", 2) == "小暖"
    assert clip("小暖在", 2) == "小…"
    assert clip("小暖", 0) == ""
