"""How alike two statements are and whether one contradicts the other; the reference's border rule found none."""

from hypothesis import given
from hypothesis import strategies as st

from bot.memory.supersession import compare
from tests.tables import all_cases

CONFLICTS = [
    ("我不喜欢香菜", "我喜欢香菜", "status"),
    ("我現在不喜歡香菜了", "我喜欢香菜", "status"),
    ("没有养猫", "养猫", "status"),
    ("沒有養貓", "我養貓", "status"),
    ("周五和小李吃饭已取消", "周五和小李吃饭", "status"),
    ("週五的聚餐取消了", "週五的聚餐", "status"),
    ("写报告的任务已完成", "要写报告", "status"),
    ("我已经不再跑步了", "我跑步", "status"),
    ("I no longer like coffee", "I like coffee", "status"),
    ("I don't eat meat", "I eat meat", "status"),
    ("the trip to Kyoto was cancelled", "the trip to Kyoto", "status"),
    ("I quit smoking", "I am smoking", "status"),
    ("我住在北京", "我住在上海", "value"),
    ("我搬到北京了", "我住在上海", "value"),
    ("我的生日是5月3日", "我的生日是5月2日", "value"),
    ("我有3只猫", "我有2只猫", "figure"),
    ("我在腾讯工作", "我在阿里工作", "value"),
    ("I live in Paris", "I live in London", "value"),
    ("my door code is 4712", "my door code is 4711", "value"),
    ("妈妈的生日是5月3日", "我的生日是5月2日", ""),
    ("我住在上海浦东", "我住在上海", ""),
    ("今天是不错的一天", "今天是一天", ""),
    ("我喜欢喝茶", "我喜欢喝咖啡", ""),
    ("不同的人", "人", ""),
    ("我对花生过敏", "我对花生严重过敏", ""),
    ("I like tea", "I like coffee", ""),
    ("没错我喜欢香菜", "我喜欢香菜", ""),
    ("差不多每天跑步", "每天跑步", ""),
]


@all_cases(("new", "older", "conflict"), CONFLICTS)
def test_contradictions_are_found_in_both_languages(new: str, older: str, conflict: str) -> None:
    assert compare(new, older).conflict == conflict


def test_script_pronoun_and_name_make_no_difference() -> None:
    for one, other in (
        ("我喜歡吃辣的火鍋", "喜欢吃辣的火锅"),
        ("小王对花生过敏", "我对花生过敏"),
        ("Ann's cat is called Momo", "my cat is called Momo"),
    ):
        assert compare(one, other, ("小王", "Ann")).like == 1


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_compared_and_a_text_is_like_itself(one: str, other: str) -> None:
    seen = compare(one, other)
    assert 0 <= seen.like <= 1
    assert 0 <= seen.told <= 1
    itself = compare(one, one)
    assert (itself.like, itself.conflict) == (1, "")
