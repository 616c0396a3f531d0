"""A made-up day of private chats in Chinese: the same for the same seed. It knows no installation and no model.

The numbers are those of PROMPT_ECONOMICS section 4, as far as it gives any: 45 % casual, 30 s between turns, 15 min
between sessions, about 23 tokens an event as XML. Where it is silent: a session has 4 to 16 turns (mean 10, the middle
row of its table 4.1), the three people begin at 9, 14 and 20 o'clock, the third one writes in the other script.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.core.events import Incoming, Place, Sender
from tests.bench.logs import PLATFORM, Step

CASUAL = 0.45
TURN_MS, SESSION_MS = 30_000, 900_000
SHORTEST, LONGEST = 4, 16
HOUR_MS = 3_600_000

SMALL_TALK = {
    "hans": (
        "早上好呀",
        "哈哈哈哈",
        "好的好的",
        "谢谢你",
        "嗯嗯",
        "晚安啦",
        "太好了",
        "真棒",
        "辛苦了",
        "在吗",
        "拜拜",
        "哈喽",
    ),
    "hant": (
        "早安呀",
        "哈哈哈",
        "好的好的",
        "謝謝你",
        "嗯嗯",
        "晚安啦",
        "太好了",
        "真棒",
        "辛苦了",
        "在嗎",
        "掰掰",
        "哈囉",
    ),
}
WHEN = {
    "hans": (
        "今天早上",
        "昨天晚上",
        "刚才下班路上",
        "周末的时候",
        "中午吃饭时",
        "上个星期",
        "明天下午",
        "这两天",
        "前天",
        "等一下",
    ),
    "hant": (
        "今天早上",
        "昨天晚上",
        "剛才下班路上",
        "週末的時候",
        "中午吃飯時",
        "上個星期",
        "明天下午",
        "這兩天",
        "前天",
        "等一下",
    ),
}
WHAT = {
    "hans": (
        "我去菜市场买了两条鲈鱼",
        "同事把会议室的投影仪弄坏了",
        "楼下新开了一家面包店",
        "我在学一首吉他曲子",
        "地铁停了二十分钟没有动",
        "我妈寄来一箱枇杷",
        "我想把阳台改成小花园",
        "项目的截止日期又提前了",
        "我的自行车后胎漏气了",
        "邻居家的狗一直在叫",
        "我看完了那本写鲸鱼的书",
        "体检报告说我缺维生素",
    ),
    "hant": (
        "我去菜市場買了兩條鱸魚",
        "同事把會議室的投影機弄壞了",
        "樓下新開了一家麵包店",
        "我在學一首吉他曲子",
        "捷運停了二十分鐘沒有動",
        "我媽寄來一箱枇杷",
        "我想把陽台改成小花園",
        "專案的截止日期又提前了",
        "我的腳踏車後輪漏氣了",
        "鄰居家的狗一直在叫",
        "我看完了那本寫鯨魚的書",
        "健檢報告說我缺維生素",
    ),
}
THEN = {
    "hans": (
        "不知道该怎么处理比较好",
        "你觉得要不要换一个",
        "想听听你的意见",
        "结果弄到很晚才睡",
        "花了我三百多块钱",
        "下次还是早点准备吧",
        "家里人都说不错",
        "你有没有什么推荐的做法",
        "现在还有点头疼",
        "打算周六再去看看",
    ),
    "hant": (
        "不知道該怎麼處理比較好",
        "你覺得要不要換一個",
        "想聽聽你的意見",
        "結果弄到很晚才睡",
        "花了我三百多塊錢",
        "下次還是早點準備吧",
        "家裡人都說不錯",
        "你有沒有什麼推薦的做法",
        "現在還有點頭痛",
        "打算週六再去看看",
    ),
}
ALSO = {
    "hans": ("最近好像总是遇到这种事", "说起来还挺有意思的", "我都不好意思跟别人讲", "反正也不着急", "慢慢来吧"),
    "hant": ("最近好像總是遇到這種事", "說起來還挺有意思的", "我都不好意思跟別人講", "反正也不著急", "慢慢來吧"),
}
FACTS = (
    "我对芒果过敏，吃了嘴会肿",
    "我住在杭州西湖区的老房子里",
    "我养了一只叫元宝的橘猫",
    "我在一家出版社做编辑",
    "我每周三晚上练羽毛球",
    "我妹妹在青岛上大学",
    "我的生日是十月十七号",
    "我不喝咖啡，只喝乌龙茶",
    "我正在准备明年三月的资格考试",
    "我小时候在绍兴长大",
    "我的车是一辆白色的旧电动车",
    "我怕高，不坐缆车",
    "我最喜欢的电影是海上钢琴师",
    "我奶奶做的梅干菜扣肉最好吃",
    "我晚上十一点以前要睡觉",
    "我家书房的灯是暖黄色的",
    "我跑过一次半程马拉松",
    "我和老同学每年秋天去爬山",
    "我左手的手表是爸爸送的",
    "我打算年底换一台相机",
    "我的电脑密码本放在抽屉最下层",
    "我下个月要去西安出差五天",
)
"""What somebody has asked to keep: enough to fill the block that opens a session."""


@dataclass(frozen=True, slots=True)
class Dm:
    """Somebody who writes privately: a name, a script, and from which hour of the day."""

    name: str
    script: str
    hour: int

    def incoming(self, text: str, key: str) -> Incoming:
        """One message of theirs."""
        sender = Sender(PLATFORM, f"person:{self.name}", self.name)
        return Incoming(Place(PLATFORM, f"dm:{self.name}", "dm"), sender, "message", text, delivery_key=key)


PEOPLE = (Dm("林晓", "hans", 9), Dm("阿哲", "hans", 14), Dm("雨桐", "hant", 20))


def dm_day(
    turns: int, seed: int, midnight: int, people: Sequence[Dm] = PEOPLE, small_talk: float = CASUAL
) -> tuple[Step, ...]:
    """So many messages, shared out evenly, on the day that begins at `midnight`, ms; that part of them small talk."""
    shares = [turns // len(people) + (number < turns % len(people)) for number in range(len(people))]
    chances = [random.Random(f"{seed} {dm.name}") for dm in people]
    steps = [
        step
        for dm, share, chance in zip(people, shares, chances, strict=True)
        for step in _one(dm, share, midnight, chance, small_talk)
    ]
    return tuple(sorted(steps, key=lambda step: step.at))


def _one(dm: Dm, turns: int, midnight: int, chance: random.Random, small_talk: float) -> Iterator[Step]:
    at, left = midnight + dm.hour * HOUR_MS, 0
    for number in range(turns):
        if left:
            at += TURN_MS
        else:
            at += SESSION_MS if number else 0
            left = chance.randint(SHORTEST, LONGEST)
        left -= 1
        yield Step(at, dm.incoming(_line(dm.script, chance, small_talk), f"dm:{dm.name}:{number}"))


def _line(script: str, chance: random.Random, small_talk: float) -> str:
    if chance.random() < small_talk:
        return chance.choice(SMALL_TALK[script])
    begins, ends = chance.choice(WHEN[script]) + chance.choice(WHAT[script]), chance.choice(ALSO[script])
    return f"{begins}，{chance.choice(THEN[script])}，{ends}"
