"""What looks like all that its writer has to say just now is asked at once; what looks unfinished waits for the rest."""

from bot.speaking.pacing import looks_whole
from tests.tables import all_cases

NAMES = ("小暖", "nuan")

WHOLE = (
    # simplified
    "今天下班路上看到一只橘猫。",
    "好累啊",
    "在吗",
    "你好",
    "早",
    "好的",
    "谢谢你",
    "真的假的！",
    "它跟了我一路！",
    "我到家了",
    "我今天加班到十点",
    "帮我看看这个方案怎么样",
    "你在干嘛",
    "吃什么",
    "几点了",
    "小暖，在吗",
    "哈哈哈",
    "“我不去。”",
    "收工～",
    "那家店在哪",
    "😂",
    "好累😭",
    "行吧 (´・ω・)",
    "他说（别当真）",
    "小暖你觉得这两件哪个好看",
    # traditional
    "今天下班路上看到一隻橘貓。",
    "你在幹嘛",
    "最近怎麼樣",
    "謝謝你",
    "我已經到家囉！",
    "這個週末要不要一起去爬山",
    # English
    "What do you think?",
    "hey",
    "good morning",
    "thanks",
    "I went to the cinema yesterday",
    "lol",
    "See you tomorrow.",
    "nuan, are you there?",
    "that was so funny :)",
    "I'm so tired today",
    "do you like cats",
)

UNFINISHED = (
    "",
    " ",
    "小暖",
    "我跟你说",
    "今天",
    "好累",
    "第3句",
    "今天我去了趟公司，",
    "我去了一趟公司然后",
    "我不想去上班因为",
    "他说：",
    "买了苹果、",
    "事情是这样的……",
    "等等，我想想...",
    "我今天去见了那个人，但是",
    "（",
    "https://example.org/a",
    "三个",
    "我跟你說",
    "我今天去見了那個人，可是",
    "事情是這樣的，",
    "如果明天下雨的話，還有",
    "so",
    "I was thinking,",
    "I went there because",
    "and then the",
    "hmm...",
    "nuan",
    "listen",
    "my boss",
    "he said:",
    "I saw her at the station and",
)


@all_cases("text", WHOLE)
def test_a_whole_sentence_waits_for_nothing(text: str) -> None:
    assert looks_whole(text, NAMES)


@all_cases("text", UNFINISHED)
def test_what_goes_on_waits_for_the_rest(text: str) -> None:
    assert not looks_whole(text, NAMES)
