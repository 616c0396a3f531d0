"""Stories asked for silence nobody; plays, texts to work on and what is taken back are nobody's facts."""

from bot.memory.digest.rule import rule_digest
from bot.memory.screening import sums_up
from bot.memory.transcript import DigestLine, TalkScope
from tests.tables import all_cases

DM = TalkScope(chat_id=7, kind="dm", bot_name="小暖", owner_id=1)
FACT = {"zh": "我住在杭州", "en": "I live in Berlin"}


def kept(*texts: str) -> list[str]:
    lines = tuple(
        DigestLine(number, 100 + number, 1, "小王", text, 1_000 * number, False) for number, text in enumerate(texts, 1)
    )
    return [memory.text for memory in rule_digest(lines, DM).memories]


@all_cases(
    "asked",
    [
        "给我讲个故事",
        "讲个故事给我听",
        "小暖讲个睡前故事吧",
        "你来说个故事",
        "帮我写个故事",
        "写一篇关于猫的故事",
        "我想听你讲个故事",
        "给孩子编个故事好不好",
        "說個故事給我聽",
        "幫我寫個故事",
        "可以講一個鬼故事嗎",
        "跟我們講個故事",
        "替我編個故事吧",
        "tell me a story",
        "can you write me a story about a fox",
        "write a bedtime story for my kid",
        "Tell us another story please",
        "我昨天玩了一个游戏",
        "我最近玩的游戏很好看",
        "I pretend to be fine at work",
        "他假装没看见我",
        "我喜欢这个角色",
    ],
)
def test_who_asks_for_a_story_or_speaks_of_a_game_is_heard_afterwards(asked: str) -> None:
    fact = FACT["en" if asked.isascii() else "zh"]
    assert fact in kept(asked, "好", fact)


@all_cases(
    "told",
    [
        "我给你讲个故事",
        "我来编个故事",
        "我們一起編個故事吧",
        "讲个故事，我是主角",
        "来玩故事接龙",
        "我寫個故事給你看",
        "我们来演一出戏",
        "let me tell you a story",
        "once upon a time",
        "let's pretend we are pirates",
        "pretend I am a pirate",
        "你扮演医生",
    ],
)
def test_a_story_that_people_tell_is_nobodys_life(told: str) -> None:
    assert kept(told, FACT["en" if told.isascii() else "zh"]) == []


@all_cases(
    ("one", "other"),
    [
        ("我住在月球", "开玩笑的啦"),
        ("我住在杭州", "骗你的"),
        ("我住在南就", "打错了"),
        ("我住在台北", "說錯了，是台中"),
        ("I live in Berlin", "just kidding"),
        ("I live in Berlin", "lol jk"),
        ("帮我翻译这句话", "我住在杭州"),
        ("翻譯一下：", "我住在台北"),
        ("translate this for me", "I live in Berlin"),
        ("怎么说：", "我住在杭州"),
    ],
)
def test_what_is_taken_back_or_handed_over_is_not_kept(one: str, other: str) -> None:
    assert kept(one, other) == []


@all_cases(
    "text",
    [
        "我最喜欢加班了，又到十点",
        "我真爱堵车",
        "I love mondays",
        "I enjoy being stuck in traffic",
        "我开心死了，又被扣钱",
    ],
)
def test_gladness_beside_misfortune_is_not_believed(text: str) -> None:
    assert kept(text) == []


TALK = ("最近压力好大，老板天天加任务", "周末想去爬山放松一下")
TALK_EN = ("work has been crazy, my boss piles it on", "might go hiking on saturday to unwind")


@all_cases(
    ("talk", "summary", "accepted"),
    [
        (TALK, "小王聊了工作压力和周末计划", True),
        (TALK, "小王抱怨了工作，聊到周末的打算", True),
        (TALK, "小王提到压力大，想去爬山", True),
        (TALK_EN, "小王 talked about crazy work, a boss who piles it on, and hiking on Saturday", True),
        (TALK_EN, "小王 complained about work and mentioned hiking", True),
        (TALK_EN, "小王 talked about Jessica", False),
        (TALK_EN, "小王 said she lives in a castle and owes money", False),
        (TALK_EN, "小王 talked about 300 dollars", False),
        (TALK_EN, "小王 complained about crazy work, a boss and Jessica", False),
        (TALK, "小王抱怨了工作，老板加了30次任务，压力大", False),
        (TALK, "小王聊了欠下的5万元", False),
        (TALK, "小王聊了和Jessica的约会", False),
        (TALK, "小王对花生过敏", False),
        (TALK, "小王住在上海，是医生", False),
        (TALK, "小王聊了工作，密码是8812", False),
        (TALK, "老李聊了工作压力", False),
    ],
)
def test_a_models_summary_may_paraphrase_but_claim_nothing(talk: tuple[str, ...], summary: str, accepted: bool) -> None:
    told = tuple((DigestLine(n, n, 1, "小王", text, n, False), text) for n, text in enumerate(talk, 1))
    assert sums_up(summary, told, "小王") is accepted
