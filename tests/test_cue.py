"""What a message may ask of memory that is not certain: a cue, and what it is about."""

from hypothesis import given
from hypothesis import strategies as st

from bot.language.wishes.reader import ABOUT_CHARS, understand, wish_cue
from tests.hostile import hostile
from tests.tables import all_cases

NAMES = ("小暖", "暖暖", "nuan")


@all_cases(
    ("text", "verb", "about"),
    [
        ("记住别迟到", "remember", "别迟到"),
        ("记住明天带伞", "remember", "明天带伞"),
        ("我要去上海出差，明天早上出发。记住带身份证。", "remember", "带身份证"),
        ("我下週要考試。記住帶准考證。", "remember", "帶准考證"),
        ("我下个月五号回上海，想约你吃饭，记住带上那本书。", "remember", "带上那本书"),
        ("我鞋码41，记准了", "remember", "我鞋码41"),
        ("请记住，时间就是生命", "remember", "时间就是生命"),
        ("小暖，請記住不要熬夜", "remember", "不要熬夜"),
        ("remember not to bring up my ex", "remember", "not to bring up my ex"),
        ("keep in mind it's an old version", "remember", "it's an old version"),
        ("如果你记了我的工资，就删掉", "forget", "如果你记了我的工资，就"),
        ("把刚才那段代码删掉", "forget", "把刚才那段代码"),
        ("自行車的事別記著了", "forget", "自行車的事"),
        ("delete my browser history", "forget", "my browser history"),
        ("改口叫老婆吧", "nick_set", "老婆吧"),
        ("call me whatever you like", "nick_set", "whatever you like"),
    ],
)
def test_a_wish_that_is_not_certain_is_a_cue(text: str, verb: str, about: str) -> None:
    found = wish_cue(text, NAMES)
    assert found is not None
    assert (found.verb, found.about) == (verb, about)


@all_cases(
    "text",
    """我忘了|我记得他|我会记住的|你还记得我的生日吗|记住了吗
他们都叫我疯子|别叫我起床|叫我一声|好的，记住了|忘了吧|忘记带伞了
what do you remember about my sister|tell me what you remember about my sister|do you remember my sister
I forgot|I remember that day|do you remember me?|remember when we met|remember to call mom|forget it
I'll never forget that
he called me later|call me at 5|call me later|his memory is full|今天天气真好|翻译：记住我对花生过敏|> 记住我的话
他说“记住我”|记住我对花生过敏|叫我阿猫|forget my address""".replace("\n", "|").split("|"),
)
def test_reports_questions_others_words_and_what_is_done_are_no_cue(text: str) -> None:
    assert wish_cue(text, NAMES) is None


WORDS = [
    "记住",
    "忘记",
    "别叫我",
    "叫我",
    "删掉",
    "帮我记",
    "我对花生过敏",
    "小暖",
    "，",
    "。",
    "？",
    "!",
    "「",
    "」",
    "```",
    ">",
    "阿明：",
    "了",
    "吗",
    "remember",
    "forget",
    "call",
    "me",
    "note",
    "that",
    "my",
    "don't",
    "delete",
    "😀",
    "你",
    "他说",
]
TEXTS = st.text() | st.lists(st.sampled_from([*WORDS, " ", "\n", "\ud800", "\u200b"]), max_size=30).map("".join)


@given(TEXTS)
def test_a_cue_is_about_words_of_the_message_and_never_beside_a_command(text: str) -> None:
    found = wish_cue(text, NAMES)
    if found is not None:
        assert found.about in text
        assert len(found.about) <= ABOUT_CHARS
        assert understand(text, NAMES).commands == ()


@all_cases("unit", ["记住 ", "叫我", "忘", "别叫我a,", "remember ", "call me ", "我", "stop ", "请"])
def test_hostile_text_is_read_to_its_end(unit: str) -> None:
    for size in (600, 8000):
        for lead in ("记住", "call me ", "别", ""):
            wish_cue(lead + hostile(unit, size - len(lead)), NAMES)
