"""Folding: spellings that people take for the same text compare equal, and cuts come back in the person's script."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.text.fold import fold, fold_mapped, unfold
from tests.tables import all_cases

ANY = st.text(st.characters(exclude_categories=()))
MIXED = st.text(
    st.sampled_from("a\u0301\u0323İßﬁ㎏Ａ，記憶體著薴覆\u200b\ufe0f\ud83d\ude00\u1100\u1161\u11a8한가\uff76\uff9e😀 \n")
)


@all_cases(
    ("one", "other"),
    [
        ("記住我愛喝茶", "记住我爱喝茶"),
        ("看著", "看着"),
        ("回覆", "回复"),
        ("甚麼", "什么"),
        ("乾杯", "干杯"),
        ("ＮＵＡＮ　小暖", "nuan 小暖"),
        ("Café", "CAFE\u0301"),
        ("STRASSE", "straße"),
        ("记\u200b住", "记住"),
    ],
)
def test_two_spellings_of_one_text_fold_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@settings(deadline=None)
@given(ANY | MIXED)
@example("e\u200b\u0301")
@example("\u0301\u200bé記")
def test_every_folded_character_knows_where_it_comes_from(text: str) -> None:
    folded, origin = fold_mapped(text)
    assert folded == fold(text)
    assert len(origin) == len(folded)
    assert list(origin) == sorted(origin)
    assert all(0 <= index < len(text) for index in origin)


@settings(deadline=None)
@given(MIXED, st.text(st.sampled_from("記憶體覆Aß"), min_size=1), MIXED)
def test_a_part_found_in_the_folded_text_is_cut_from_the_original(before: str, part: str, after: str) -> None:
    text = before.rstrip("\u1100") + "|" + part + "|" + after
    folded, origin = fold_mapped(text)
    start = folded.index(fold(f"|{part}|")) + 1
    assert unfold(text, origin, start, start + len(fold(part))).startswith(part)


def test_a_cut_keeps_the_persons_own_script_and_width() -> None:
    text = "小暖，記住：ＡＢＣ是㎏"
    folded, origin = fold_mapped(text)
    assert unfold(text, origin, folded.index("记住"), folded.index("记住") + 2) == "記住"
    assert unfold(text, origin, folded.index("abc"), folded.index("abc") + 3) == "ＡＢＣ"
    assert unfold(text, origin, folded.index("k"), folded.index("k") + 1) == "㎏"
    assert unfold(text, origin, 2, 2) == ""


@settings(deadline=None)
@given(ANY)
def test_folded_text_can_be_stored(text: str) -> None:
    fold(text).encode()


@settings(deadline=None)
@given(st.text(st.sampled_from("乾隆皇帝著名瞭望台覆蓋回覆憑藉"), min_size=1), st.data())
def test_a_part_folds_as_it_does_in_the_whole(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    assert fold(text) == fold(text[:start]) + fold(text[start:])
