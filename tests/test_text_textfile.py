"""Which files are text, and in which encoding: whatever the bytes are, reading them neither fails nor runs away."""

from hypothesis import given
from hypothesis import strategies as st

from bot.text.files import is_text_file, picture_mime, read_text


@given(
    st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.integers(1, 60),
)
def test_reading_any_bytes_never_fails_and_never_passes_the_limit(data: bytes, most: int) -> None:
    text = read_text(data, most)
    assert text is None or len(text) <= most
    assert text is None or "\0" not in text
    assert picture_mime(data) in ("", "image/png", "image/jpeg", "image/gif", "image/webp")


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_name_and_kind_of_file_can_be_judged(name: str, mime: str) -> None:
    assert is_text_file(name, mime) in (True, False)
    assert is_text_file(f"{name}.txt", mime)


SIMPLE = "今天天气很好，我们去公园走走。猫和狗都是我的朋友，你喜欢哪一个？"
TRADITIONAL = "今天天氣很好，我們去公園走走。貓和狗都是我的朋友，你喜歡哪一個？"


@given(st.integers(0, 25), st.integers(3, 30))
def test_old_chinese_encodings_are_told_apart(start: int, length: int) -> None:
    for text, encoding in ((SIMPLE, "gb18030"), (TRADITIONAL, "big5")):
        part = text[start : start + length]
        assert read_text(part.encode(encoding), 100) == part


def test_a_file_that_is_cut_inside_a_character_is_still_text() -> None:
    for encoding in ("utf-8", "gb18030", "utf-16"):
        text = read_text(("x" + SIMPLE * 200).encode(encoding), 50)
        assert text == ("x" + SIMPLE * 200)[:49] + "…"
