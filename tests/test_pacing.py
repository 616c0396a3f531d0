"""A reply as a script: where it is divided, how long each message waits, and what a model writes wrongly (C19)."""

from hypothesis import given
from hypothesis import strategies as st

from bot.speaking.pacing import STEPS, TOTAL_MS, paced_messages, typing_ms
from tests.tables import all_cases


def texts(reply: str) -> list[str]:
    return [part.text for part in paced_messages(reply, 1)]


def test_blank_lines_and_pauses_divide_a_reply() -> None:
    parts = paced_messages("在的\n\n等我想想\n[[800]]\n好了，去湖边吧", 1)
    assert [part.text for part in parts] == ["在的", "等我想想", "好了，去湖边吧"]
    assert [part.wait_ms - part.typed_ms for part in parts] == [0, 300, 800]
    assert parts[0].typed_ms == 0, "whoever waits for the first one has waited for the model"


def test_typing_takes_a_second_for_twelve_characters_more_or_less_and_is_the_same_each_time() -> None:
    for length in range(1, 14):
        usual = 220 + length * 1_000 // 12
        found = {typing_ms("字" * length, seed, 1) for seed in range(300)}
        assert min(found) >= max(120, usual - 120)
        assert max(found) <= min(1_500, usual + 120)
        assert len(found) > 100
    assert typing_ms("字" * 500, 1, 1) == 1_500
    assert [typing_ms("好", 7, n) for n in range(5)] == [typing_ms("好", 7, n) for n in range(5)]


@all_cases(
    ("mark", "ms"),
    [
        ("[[800]]", 800),
        ("[[ 800 ms ]]", 800),
        ("[[1.5s]]", 1_500),
        ("[[2]]", 2_000),
        ("[[pause 700]]", 700),
        ("[[pause]]", 800),
        ("[pause 900]", 900),
        ("[[停 500毫秒]]", 500),
        ("【【800】】", 800),
        ("<pause 600/>", 600),
        ("[[800]", 800),
        ("[[等 2秒]]", 2_000),
        ("[[typing]]", 800),
        ("[[99999999]]", None),
        ("[[400]]\n[[500]]", 900),
    ],
)
def test_what_a_model_makes_of_the_mark_is_a_pause_and_never_shown(mark: str, ms: int | None) -> None:
    for reply in (f"一\n{mark}\n二", f"一 {mark} 二"):
        parts = paced_messages(reply, 1)
        if ms is None:
            assert [part.text for part in parts] == [reply], "no mark of ours"
            continue
        assert [part.text for part in parts] == ["一", "二"]
        assert parts[1].wait_ms - parts[1].typed_ms == ms


def test_code_and_words_in_brackets_stay_whole() -> None:
    code = "看：\n```python\na = [[800]]\n\nb = 2\n```"
    assert texts(code) == [code]
    assert texts("写成 `[[800]]` 就行") == ["写成 `[[800]]` 就行"]
    for text in (
        "见 [[首页]]",
        "文献 [800] 里写了",
        "数组 [[1, 2], [3, 4]]",
        "a < pauses",
        "<b>好</b>",
        "见 [[1]](https://a.example)",
    ):
        assert texts(text) == [text]
    assert texts("```\n没有结尾\n\n也不分") == ["```\n没有结尾\n\n也不分"]
    assert texts("先看\n\n```\nx\n\ny\n```\n\n懂了吗") == ["先看", "```\nx\n\ny\n```", "懂了吗"]


def test_marks_alone_are_nothing_and_marks_at_the_end_are_left_out() -> None:
    assert paced_messages("[[800]]\n\n", 1) == ()
    assert paced_messages("", 1) == ()
    assert texts("好\n[[800]]\n") == texts("好\n[[80") == ["好"]
    first, second = paced_messages("[[500]]\n嗯\n\n好", 1)
    assert (first.wait_ms, first.typed_ms) == (500, 0)
    assert second.wait_ms > 300


def test_waits_are_shortened_from_the_end_and_nothing_is_lost_when_there_are_too_many() -> None:
    parts = paced_messages("一\n[[30000]]\n二\n[[30000]]\n三\n\n四", 1)
    assert parts[1].wait_ms == 30_000 + parts[1].typed_ms
    assert parts[1].wait_ms + parts[2].wait_ms == TOTAL_MS
    assert (parts[3].wait_ms, parts[3].typed_ms) == (0, 0)
    many = paced_messages("\n\n".join(f"第{n}句" for n in range(40)), 1)
    assert len(many) == STEPS
    assert many[-1].text.splitlines()[::2] == [f"第{n}句" for n in range(STEPS - 1, 40)]


@given(st.text(alphabet="好a \n[]8 0pause`<>【】.s", max_size=200), st.integers(0, 10**9))
def test_a_script_keeps_every_word_and_every_bound(reply: str, seed: int) -> None:
    parts = paced_messages(reply, seed)
    assert len(parts) <= STEPS
    assert sum(part.wait_ms for part in parts) <= TOTAL_MS
    assert all(0 <= part.typed_ms <= part.wait_ms and part.text == part.text.strip() != "" for part in parts)
    assert sum(part.text.count("好") for part in parts) == reply.count("好")


@all_cases(
    "piece", ["[[ ", "```a\n\n", "`a ", "x\n\n", "\n \t", "[[" + " " * 500, "<pause", "[[8", "【【停", "\n```\n"]
)
def test_what_a_model_writes_that_runs_wild_is_divided_all_the_same(piece: str) -> None:
    assert len(paced_messages(piece * (60_000 // len(piece)), 1)) <= STEPS
