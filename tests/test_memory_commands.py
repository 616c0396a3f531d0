"""What a sentence asks of memory, as a person would notice it; the sentences are our own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.memories import MemoryCommand, ParsedCommands
from bot.language.wishes.reader import understand
from bot.text.fold import fold
from tests.hostile import hostile
from tests.sizes import sized
from tests.tables import all_cases

NAMES = ("小暖", "暖暖", "nuan")


def read(text: str) -> ParsedCommands:
    return understand(text, NAMES)


@all_cases(
    ("text", "content", "rest"),
    [
        ("记住我对花生过敏", "我对花生过敏", ""),
        ("记住我对花生过敏。今天吃什么好？", "我对花生过敏", "今天吃什么好？"),
        ("记住我对花生过敏，今天吃什么好？", "我对花生过敏", "今天吃什么好？"),
        ("我对花生过敏，记住哦", "我对花生过敏", ""),
        ("我下个月搬去成都，帮我记一下。谢谢小暖", "我下个月搬去成都", ""),
        ("小暖，记住我养了一只猫，好吗？", "我养了一只猫", ""),
        ("小暖 你好 请记住我住在上海 谢谢", "我住在上海", ""),
        ("今天好累。你要记住我周五要面试。晚安", "我周五要面试", "今天好累。"),
        ("請記住我對蝦過敏", "我對蝦過敏", ""),
        ("幫我記下來：我的車停在B2", "我的車停在B2", ""),
        ("請幫我記住我對花生過敏", "我對花生過敏", ""),
        ("帮我记下来明天开会", "明天开会", ""),
        ("能帮我记一下我周三有瑜伽课吗？", "我周三有瑜伽课", ""),
        ("把我不吃香菜这件事记下来", "我不吃香菜", ""),
        ("别忘了我怕狗", "我怕狗", ""),
        ("对了记住我下周去东京，帮我订酒店", "我下周去东京", "帮我订酒店"),
        ("记住我家狗叫哈哈", "我家狗叫哈哈", ""),
        ("我对花生过敏，帮我记一下吧，这个很重要", "我对花生过敏", ""),
        ("我對花生過敏，幫我記一下，這很重要", "我對花生過敏", ""),
        ("记住我喜欢🍣", "我喜欢🍣", ""),
        ("记住我喜欢吃鱼🐟", "我喜欢吃鱼", ""),
        ("remember that my favourite emoji is 🦊!", "my favourite emoji is 🦊", ""),
        ("记住我最喜欢小暖", "我最喜欢小暖", ""),
        ("remember that I live in Oslo", "I live in Oslo", ""),
        ("nuan, please remember my dog is called Rex, thanks!", "my dog is called Rex", ""),
        ("Note that my shift ends at 6. What's for dinner?", "my shift ends at 6", "What's for dinner?"),
        ("I'm allergic to nuts, remember that", "I'm allergic to nuts", ""),
        ("Rough day. Please remember I quit smoking. What now?", "I quit smoking", "Rough day. What now?"),
        ("remember一下我下周要去London出差", "我下周要去London出差", ""),
        ("记住“暖暖”是我家的猫", "“暖暖”是我家的猫", ""),
        ("记住明天下午三点开会", "明天下午三点开会", ""),
        ("记住血压高的时候头会晕", "血压高的时候头会晕", ""),
        ("remember: passport is in the blue box", "passport is in the blue box", ""),
        ("note that rent is due on the 3rd", "rent is due on the 3rd", ""),
    ],
)
def test_a_wish_to_keep_gives_the_fact_in_its_own_words_and_leaves_the_rest(text: str, content: str, rest: str) -> None:
    assert read(text) == ParsedCommands((MemoryCommand("remember", content),), rest)


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("幫我記：\n- 週一 健身\n- 週三 吉他", ("週一 健身", "週三 吉他")),
        ("记住：1. 我住在苏州 2. 我养了两只猫", ("我住在苏州", "我养了两只猫")),
        ("Remember these facts: 1. I live in Oslo 2. my dog is Rex", ("I live in Oslo", "my dog is Rex")),
    ],
)
def test_several_facts_at_once_are_several_wishes(text: str, contents: tuple[str, ...]) -> None:
    assert read(text).commands == tuple(MemoryCommand("remember", content) for content in contents)


@pytest.mark.parametrize("text", ["把那个记下来", "记一下那个号码", "帮我记住这件事"])
def test_a_wish_that_points_elsewhere_has_no_content(text: str) -> None:
    assert read(text).commands == (MemoryCommand("remember", None),)


@all_cases(
    ("text", "content"),
    [
        ("忘记我的地址", "我的地址"),
        ("忘掉我昨天说的密码", "我昨天说的密码"),
        ("小暖，请忘记我不喜欢吃鱼", "我不喜欢吃鱼"),
        ("刪掉我住在台北那條記憶", "我住在台北"),
        ("把我的生日忘掉吧", "我的生日"),
        ("忘了我的生日吧", "我的生日"),
        ("忘记我喜欢猫这件事", "我喜欢猫"),
        ("forget that I like jazz", "I like jazz"),
        ("please forget my old address", "my old address"),
        ("delete my birthday from your memory", "my birthday"),
        ("删掉那条", None),
        ("delete that memory", None),
    ],
)
def test_a_wish_to_forget_names_what(text: str, content: str | None) -> None:
    assert read(text) == ParsedCommands((MemoryCommand("forget", content),), "")


@pytest.mark.parametrize(
    ("text", "content"),
    [("别记我的银行卡号", "我的银行卡号"), ("別記那個", None), ("别记这个", None), ("don't remember this", None)],
)
def test_a_wish_to_keep_nothing_of_it_is_told_from_a_wish_to_forget(text: str, content: str | None) -> None:
    assert read(text) == ParsedCommands((MemoryCommand("forget", content, scope="aside"),), "")


@pytest.mark.parametrize("text", ["忘掉关于我的一切", "删掉所有记忆", "erase everything you know about me"])
def test_a_wish_to_forget_everything_says_so(text: str) -> None:
    assert read(text) == ParsedCommands((MemoryCommand("forget", None, scope="all"),), "")


@all_cases(
    ("text", "command"),
    [
        ("忘记 #12", MemoryCommand("forget", None, 12)),
        ("忘記12號。", MemoryCommand("forget", None, 12)),
        ("forget 12", MemoryCommand("forget", None, 12)),
        ("小暖，删除 #7 谢谢", MemoryCommand("forget", None, 7)),
        ("彻底忘记 #12", MemoryCommand("forget", None, 12, forever=True)),
        ("徹底刪除 #12", MemoryCommand("forget", None, 12, forever=True)),
        ("forget #12 for good", MemoryCommand("forget", None, 12, forever=True)),
        ("撤销 #12", MemoryCommand("undo", None, 12)),
        ("撤銷12", MemoryCommand("undo", None, 12)),
        ("復原", MemoryCommand("undo", None)),
        ("撤销", MemoryCommand("undo", None)),
        ("undo", MemoryCommand("undo", None)),
        ("nuan, undo 12 please", MemoryCommand("undo", None, 12)),
    ],
)
def test_numbers_name_a_memory_and_undo_needs_none(text: str, command: MemoryCommand) -> None:
    assert read(text) == ParsedCommands((command,), "")


@all_cases(
    ("text", "command", "rest"),
    [
        ("叫我阿猫", MemoryCommand("nick_set", "阿猫"), ""),
        ("以後叫我阿貓吧", MemoryCommand("nick_set", "阿貓"), ""),
        ("小暖，以后叫我船长！今天天气怎么样？", MemoryCommand("nick_set", "船长"), "今天天气怎么样？"),
        ("你可以叫我「老张」", MemoryCommand("nick_set", "老张"), ""),
        ("please call me Captain from now on", MemoryCommand("nick_set", "Captain"), ""),
        ("change my name to Bob", MemoryCommand("nick_set", "Bob"), ""),
        ("别叫我王总", MemoryCommand("nick_revoke", "王总"), ""),
        ("不要再叫我寶貝了啦", MemoryCommand("nick_revoke", "寶貝"), ""),
        ("别再叫我先生，听着怪", MemoryCommand("nick_revoke", "先生"), "听着怪"),
        ("don't call me sir", MemoryCommand("nick_revoke", "sir"), ""),
        ("stop calling me boss!", MemoryCommand("nick_revoke", "boss"), ""),
        ("don't call me that", MemoryCommand("nick_revoke", None), ""),
    ],
)
def test_how_someone_wants_to_be_addressed(text: str, command: MemoryCommand, rest: str) -> None:
    assert read(text) == ParsedCommands((command,), rest)


def test_several_commands_come_in_order() -> None:
    assert read("别叫我阿姨，叫我姐姐").commands == (
        MemoryCommand("nick_revoke", "阿姨"),
        MemoryCommand("nick_set", "姐姐"),
    )
    assert read("记住我老婆叫小雨，忘记 #3，以后叫我老张。几点了？") == ParsedCommands(
        (
            MemoryCommand("remember", "我老婆叫小雨"),
            MemoryCommand("forget", None, 3),
            MemoryCommand("nick_set", "老张"),
        ),
        "几点了？",
    )


@all_cases(
    "text",
    """记住了吗|你记住了没|還記得我的生日嗎|记得我对花生过敏吗？|你都记住了我什么|do you remember my name?|remember me?
can you remember my birthday?|remember when we met?|Remember that time I fell off my bike?|We agreed on this, remember?
别忘了带伞|別忘了帶傘|记得吃药|记住早点睡觉|remember to feed the cat|don't forget to call me
别记恨他|忘记密码如何找回|忘记密码了|我忘记带手机了|你忘记我的生日了|忘了我吧|忘掉过去|那就忘了吧|算了忘了吧|forget it
别叫我起床|别叫我去跑步|别再叫我加班了|别叫我|叫我起床|以后叫我起床|后天六点叫我起床|叫我怎么办|叫我妈来接我
call me later|call me a taxi|call me when you get home|don't call me after ten|stop calling me!|they call me names
小明说：“记住我对花生过敏”|他说「忘记我的地址」|`记住我对花生过敏`|> 记住我对花生过敏|医生说，记住我不能喝酒
翻译：记住我对花生过敏|how do I undo 12 commits|undo the last commit|撤销上一步操作怎么做|忘记12号开会了|删除12号的会议
我记住了|好，记住了，谢谢|记住，人生没有白走的路|记住，你最棒|remember, practice makes perfect|记住他了|记住我
怎么让你记住我对花生过敏？|记住别给我妈打电话|记住人生是一场旅行|请翻译，记住我属兔|撤销，再把标题改成红色
登记一下我的名字|大家都叫我老王|my friends call me Bob|我叫小明|帮我记一下|请记住
remember that|叫我|call me|nuance|今天天气真好""".replace("\n", "|").split("|"),
)
def test_questions_errands_idioms_and_other_peoples_words_write_nothing(text: str) -> None:
    assert read(text) == ParsedCommands((), text)


def test_a_code_block_writes_nothing_but_the_line_after_it_does() -> None:
    text = "```\n记住我对花生过敏\n```\n帮我记住我会写代码"
    assert read(text).commands == (MemoryCommand("remember", "我会写代码"),)


def test_names_are_only_known_when_given() -> None:
    assert understand("阿福，记住我怕黑", ("阿福",)) == ParsedCommands((MemoryCommand("remember", "我怕黑"),), "")
    assert understand("记住我怕黑 阿福", ("阿福",)).commands == (MemoryCommand("remember", "我怕黑"),)


WORDS = """记住 記住 忘记 别叫我 叫我 撤销 我对花生过敏 小暖 ， 。 ？ ! 「 」 " ``` > # 12 好吗 remember that I'm
forget my call me don't 把 这个 记下来 吧 了 ㍿ ﬁ é İ 😀"""
PIECES = st.sampled_from([*WORDS.split(), "\u200b", "\ud800", " ", "\n", ",", "."])
TEXTS = st.text() | st.lists(PIECES, max_size=30).map("".join)


@given(TEXTS, st.lists(st.text(max_size=4) | st.just("小暖"), max_size=3).map(tuple))
def test_any_text_is_read_and_contents_are_verbatim(text: str, names: tuple[str, ...]) -> None:
    found = understand(text, names)
    for command in found.commands:
        assert command.content is None or (command.content and command.content in text)
    assert found.commands or found.rest == text
    assert len(found.rest) <= len(text)
    assert is_subsequence(found.rest, text)


@given(TEXTS)
def test_the_same_text_in_capitals_or_with_spaces_around_asks_the_same(text: str) -> None:
    shouted = text.upper()
    if fold(shouted) == fold(text):
        assert [each.verb for each in read(shouted).commands] == [each.verb for each in read(text).commands]


@all_cases(
    "unit",
    [
        "记住 ",
        "记住,",
        "把我a,",
        "「",
        '"',
        "叫我",
        "别叫我",
        "忘记我",
        "吧 ",
        "好吗",
        "了",
        " ",
        "call me ",
        ">记\n",
        "好的,",
    ],
)
def test_eight_thousand_hostile_characters_are_read_in_linear_time(unit: str) -> None:
    many = hostile(unit, sized(8000))
    for text in (f"记住我{many}", f"{many}忘记 #x", f"叫我a{many}x"):
        assert len(read(text).rest) <= len(text)


def is_subsequence(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(char in rest for char in part)
