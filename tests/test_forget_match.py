"""Which memory a person means with 忘记 X: the same words in any form, never a guess from a single character."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.memories import Memory
from bot.language.wishes.forget import matching, perhaps_matching
from tests.tables import all_cases

KEPT = (
    "我对花生过敏",
    "我不喜歡香菜",
    "我喜欢香菜汤",
    "我住在杭州西湖区",
    "我的猫叫小白",
    "我在银行工作",
    "我下周五要去杭州出差",
    "我的生日是5月2日",
    "我們公司在上海",
    "我女朋友叫阿珍",
    "我對貓毛過敏",
    "家里的wifi密码是abc123",
    "我下個月要搬去高雄",
    "I'm allergic to peanuts",
    "my dog is called Rex",
    "I work at a bank",
    "a category of things I collect",
    "I have a cat named Tom",
    "I moved to Berlin in May",
    "my sister lives in Oslo",
    "I hate mushrooms",
)

MEANT = """
    我对花生过敏 → 我对花生过敏|我花生过敏 → 我对花生过敏|花生 → 我对花生过敏|花生过敏的事 → 我对花生过敏
    关于我对花生过敏这件事 → 我对花生过敏|我对花生过敏了 → 我对花生过敏
    我對花生過敏 → 我对花生过敏|關於我對花生過敏的事 → 我对花生过敏|我花生過敏 → 我对花生过敏
    我不喜欢香菜 → 我不喜歡香菜|我不喜歡香菜 → 我不喜歡香菜|我不喜歡香菜這件事 → 我不喜歡香菜
    我住在杭州 → 我住在杭州西湖区|住在杭州西湖区 → 我住在杭州西湖区|西湖區 → 我住在杭州西湖区
    我的猫 → 我的猫叫小白|我的貓 → 我的猫叫小白|我的猫叫小白 → 我的猫叫小白|小白 → 我的猫叫小白|我的貓叫小白的事情 → 我的猫叫小白
    我在银行工作 → 我在银行工作|我在銀行工作 → 我在银行工作|银行 → 我在银行工作
    我下周五去杭州出差 → 我下周五要去杭州出差|去杭州出差的事 → 我下周五要去杭州出差|出差 → 我下周五要去杭州出差
    我的生日 → 我的生日是5月2日|生日 → 我的生日是5月2日|我生日是5月2日 → 我的生日是5月2日|5月2日 → 我的生日是5月2日
    上海的公司 → 我們公司在上海|我们公司在上海 → 我們公司在上海
    我女朋友 → 我女朋友叫阿珍|我女朋友叫阿珍那件事 → 我女朋友叫阿珍|阿珍 → 我女朋友叫阿珍|貓毛過敏 → 我對貓毛過敏
    我猫毛过敏 → 我對貓毛過敏|我对猫毛过敏吧 → 我對貓毛過敏
    wifi密码 → 家里的wifi密码是abc123|家裡的WiFi密碼 → 家里的wifi密码是abc123|ABC123 → 家里的wifi密码是abc123
    我下个月要搬去高雄 → 我下個月要搬去高雄|搬去高雄 → 我下個月要搬去高雄|下個月搬去高雄 → 我下個月要搬去高雄
    I'm allergic to peanuts → I'm allergic to peanuts|my peanut allergy → I'm allergic to peanuts
    that I am allergic to peanuts → I'm allergic to peanuts|peanuts → I'm allergic to peanuts
    about my peanut allergy → I'm allergic to peanuts
    about my dog → my dog is called Rex|Rex → my dog is called Rex|my dog is called rex! → my dog is called Rex
    my dog Rex → my dog is called Rex|the bank → I work at a bank|that I work at a bank → I work at a bank
    that I worked at a bank → I work at a bank
    my cat → I have a cat named Tom|a cat → I have a cat named Tom|category → a category of things I collect
    Tom → I have a cat named Tom|that I moved to Berlin → I moved to Berlin in May|berlin → I moved to Berlin in May
    moving to Berlin in May → I moved to Berlin in May
    my sister → my sister lives in Oslo|where my sister lives → my sister lives in Oslo
    Oslo → my sister lives in Oslo|that I hate mushrooms → I hate mushrooms|my hate of mushrooms → I hate mushrooms
    所有关于我女朋友的事 → 我女朋友叫阿珍|一切跟香菜汤有关的 → 我喜欢香菜汤|關於高雄的一切 → 我下個月要搬去高雄
    everything about Oslo → my sister lives in Oslo|all about my dog → my dog is called Rex
    everything related to mushrooms → I hate mushrooms
    mushroom → I hate mushrooms|that thing about Rex → my dog is called Rex
"""
NOTHING = (
    "我|你|的|了|我的|猫|貓|家|州|过|5月3号|海鲜|我对牛奶过敏反应|上班打卡|我的工号|我是谁"
    "|the|I|my|it|ca|bananas|my brother|that|about||   |?!|😀|\ud800|1"
)


def memory(number: int, text: str) -> Memory:
    return Memory(number, 1, 1, "private", "knowledge", text, 0, 0, "command")


def kept(*texts: str) -> tuple[Memory, ...]:
    return tuple(memory(number, text) for number, text in enumerate(texts, 1))


def meant(content: str, *texts: str) -> list[str]:
    return [found.text for found in matching(content, kept(*texts))]


PAIRS = [cell.strip().split(" → ") for row in MEANT.strip().splitlines() for cell in row.split("|")]


@all_cases(("content", "text"), PAIRS)
def test_what_is_meant_is_found_and_nothing_else(content: str, text: str) -> None:
    assert meant(content, *KEPT) == [text]


@all_cases("content", NOTHING.split("|"))
def test_nothing_is_guessed_from_a_single_character_or_a_common_word(content: str) -> None:
    assert meant(content, *KEPT) == []


@pytest.mark.parametrize("content", ["关于猫的记忆", "猫", "貓的事", "關於貓的一切"])
def test_what_a_single_character_names_may_be_asked_about(content: str) -> None:
    assert [found.text for found in perhaps_matching(content, kept(*KEPT))] == ["我的猫叫小白", "我對貓毛過敏"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("my allergies", "我对花生过敏"),
        ("我的過敏", "i am allergic to shrimp"),
        ("my birthday", "我生日是3月8日"),
    ],
)
def test_what_the_other_language_says_of_it_may_be_asked_about(content: str, text: str) -> None:
    others = ("我怕狗", "my cat is old", text)
    assert [found.text for found in perhaps_matching(content, kept(*others))] == [text]


@all_cases(
    "content", ["my mom's birthday", "my dog's phone number", "who I like", "my old home", "我妈的电话", "我的药"]
)
def test_what_may_be_somebody_elses_or_something_else_is_not_asked_about(content: str) -> None:
    mine = (
        "我的生日是3月8日",
        "我的电话是12345",
        "我喜欢吃辣",
        "我老家在汉堡",
        "my phone number is 12345",
        "my sick cat is old",
    )
    assert perhaps_matching(content, kept(*mine)) == ()


@all_cases("content", ["我", "的", "", "?!", "关于我", "x", "海鲜"])
def test_what_names_nothing_is_not_asked_about(content: str) -> None:
    assert perhaps_matching(content, kept(*KEPT)) == ()


def test_the_same_text_goes_before_a_part_of_it() -> None:
    assert meant("我喜欢香菜", "我不喜欢香菜", "我喜歡香菜", "我喜欢香菜汤") == ["我喜歡香菜"]


def test_several_that_fit_equally_well_are_all_returned() -> None:
    assert meant("过敏", *KEPT) == ["我对花生过敏", "我對貓毛過敏"]
    assert meant("杭州", *KEPT) == ["我住在杭州西湖区", "我下周五要去杭州出差"]


def test_a_memory_that_is_the_larger_part_of_what_was_said_is_meant() -> None:
    assert meant("我住在杭州这边的西湖旁边", "我住在杭州这边的西湖", "我喜欢茶") == ["我住在杭州这边的西湖"]


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=6))
def test_any_text_is_matched_without_an_error_and_finds_only_given_memories(content: str, texts: list[str]) -> None:
    memories = kept(*texts)
    found = matching(content, memories)
    assert [item for item in memories if item in found] == list(found)


@given(
    st.text(alphabet="我对花生过敏香菜住在杭州abc 1", min_size=1, max_size=12).filter(lambda text: text.strip() != "")
)
def test_a_memorys_own_text_always_finds_it(text: str) -> None:
    memories = kept("别的事情", text)
    assert memories[1] in matching(text, memories)


@pytest.mark.parametrize("text", ["年糕" + "吧" * 7900, "年糕" + " " * 7900 + "三岁", "年糕" + "的一切" * 2600])
def test_a_long_memory_is_looked_at_in_a_moment(text: str) -> None:
    since = time.process_time()
    assert matching("年糕", kept(text))
    assert time.process_time() - since < 1
