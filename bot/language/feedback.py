"""Clear words about the reply that was just said: thanks, that's wrong, 谢谢你记得, 你记错了. Pure."""

import re

from bot.core.memories import SIGNAL_WEIGHTS, Signal
from bot.text.catalogue import LazyPattern
from bot.text.fold import fold

MOST_CHARS = 120
"""A longer message is a topic of its own."""

_TAIL = r"(?:[了啦呀啊哦喔哈噢呢嘛吧耶诶哟的~～]|nya)*"
_END = r"(?:提醒|记得|帮|关心|安慰|陪|推荐|建议|告诉|理解|支持|鼓励|照顾|分享|解答)"

_ZH: dict[Signal, str] = {
    "thanks": rf"(?:真的?是?|太|好|非常|十分|真心|实在|特别|先)*(?:谢谢|多谢|感谢|谢啦|谢了|谢|感恩|辛苦)(?:你|您|大家|啦|了)*"
    rf"(?:(?:还|能|愿意|总是|一直|都|的)*{_END}[^吗么]{{0,14}}|这么(?:贴心|细心))?",
    "affection": r"(?:我(?:好|最|也|真的?)*)?(?:爱|喜欢)(?:死)?你|你(?:可|也|真的?|好|太|最|怎么这么)*(?:好|棒|贴心|暖|懂我|厉害|细心|可爱|聪明)"
    r"|(?:好|真|太)(?:贴心|感动|暖|棒|细心)|你?记性(?:真|好|太)*(?:好|棒|强)|你(?:居然|竟然)?(?:都|还|全)+记得"
    r"|你记得(?:真|好|很)(?:清楚|牢|准)|么么哒|抱抱(?:你)?|mua",
    "laughter": r"哈{2,}|嘿嘿+|嘻嘻+|笑死(?:我)?|好好笑|太好笑|h{3,}|233+",
    "agreement": r"对(?!了)(?:对)*|没错|是的|就是(?:这样|这个|嘛)?|(?:你)?说[得的]?(?:真|太|很)?对|正是|完全正确|(?:你)?[答猜记]对|你?没记错|(?:你)?记得没错"
    r"|确实(?:是|如此)?|有道理|好主意",
    "frustration": r"你(?:怎么)?(?:真|好|太|这么)*(?:笨|蠢|傻|没用|烦人?)(?:死)?|闭嘴|别(?:再)?(?:说|提|烦我)(?:它|这个|这件事|那件事|这事)?|够|滚"
    r"|受不了你|(?:我)?讨厌你|你(?:怎么)?(?:又|总是?|老是?)(?:忘|记错|搞错|说错|这样)[^吗么]{0,8}"
    r"|(?:我)?(?:都)?[说讲](?:过)?(?:多少|几百?|好几)[遍次回]",
    "correction": r"不对(?:不对|不是这样|不是那样)*|(?:才)?不是(?:这样|那样|这个|那个|这么回事|我说的)(?:子)?|才不是|(?:你)?(?:又|全|都|好像|肯定)*(?:搞|弄"
    r"|记|说|猜|答|认|听|想)(?:错|混|反)(?:人)?"
    r"|错|(?:你)?(?:记|说|搞|弄)得?不对|我(?:从来|可)?(?:没|没有)(?:这么|那么|这样)?说过?(?:这个|这话|这种话|这句话|这样的话)?|我说的不是(?:这个|那个|这样)"
    r"|你(?:又)?(?:记|搞|弄)错了?(?:(?!吗|么).){1,24}",
    "confusion": r"(?:你)?(?:这|那)?(?:是)?(?:什么|啥)意思|(?:我)?(?:没|听不|看不|没听|没看)(?:太)?(?:懂|明白)|(?:我)?不(?:太)?(?:懂"
    r"|明白)(?:你[^吗么]{0,8})?"
    r"|你在[说讲](?:什么|啥)",
}
_EN: dict[Signal, str] = {
    "thanks": r"(?:many |so |aw+ )*(?:thanks?(?: you| u)?|thx|ty|tysm|tyvm|cheers|much appreciated"
    r"|i (?:really )?appreciate (?:it|that|you))"
    r"(?: so much| a lot| a bunch| very much| a million| again| (?:for|that you) (?:remember|remind|telling me"
    r"|letting me|your help|"
    r"that|this|the reminder|checking|being|keeping)[^?]{0,40})*",
    "affection": r"(?:i )?love (?:you|u|it|this|that)(?: so much)?|you(?:'re| are)(?: so| really| just)? "
    r"(?:the best|sweet|kind|amazing|awesome|great|wonderful|lovely|adorable|thoughtful|a star)"
    r"|so sweet(?: of you)?|how sweet"
    r"|good (?:bot|memory|job)|well done|you (?:actually |really |even )?remember(?:ed)?(?: (?:that|it"
    r"|everything))?|aw+",
    "laughter": r"(?:ha){2,}h?|(?:he){2,}|lol+|lmao|rofl|xd+",
    "agreement": r"exactly|(?:yes|yeah|yep),? (?:that's )?(?:right|correct|exactly|true)|that's (?:right"
    r"|correct|true|it)|(?:you're|you are) "
    r"(?:right|correct)|you got it(?: right)?|correct|right|spot on|good point|precisely|absolutely",
    "frustration": r"(?:you(?:'re| are) )?(?:so |such a |a )?(?:useless|stupid|dumb|hopeless|annoying)(?: bot)?"
    r"|shut up"
    r"|stop (?:it|that|saying (?:that|it)|bringing (?:that|it) up)|how many times[^?]{0,40}|you (?:always"
    r"|keep) (?:forget|getting)[^?]{0,30}"
    r"|i (?:already )?told you[^?]{0,30}already|ffs|you never remember[^?]{0,20}",
    "correction": r"(?:no |nope )?(?:that's|that is|thats|it's|this is) (?:all |completely |totally )?(?:wrong"
    r"|incorrect|not (?:right|true|correct|it"
    r"|what i (?:said|meant|told you)))|wrong|incorrect|not true|not quite|(?:you're|you are) (?:wrong"
    r"|mistaken)|you got (?:it|that|me|this|my [a-z]+)"
    r" wrong|you (?:remember(?:ed)?|have)(?: (?:it|that|this))? wrong|you misremember[^?]{0,24}|i (?:never"
    r"|didn't|did not) (?:say|said|tell|told)"
    r" (?:that|you that|so)",
    "confusion": r"huh|what do you mean(?: by that)?|i (?:don't|do not) (?:get|understand)(?: it| that| you"
    r"| what you mean)?|i'm confused"
    r"|that makes no sense|what are you talking about",
}
_PATTERNS = {signal: LazyPattern(rf"(?:{_ZH[signal]}){_TAIL}|(?:{_EN[signal]})") for signal in SIGNAL_WEIGHTS}

_BREAKS = LazyPattern(r"[，,。.!！?？;；:：…\n~～、]+|(?<=[一-鿿])\s+|\s+(?=[一-鿿])")
_OPENERS = LazyPattern(
    r"^(?:(?:但是|但|不过|可是|只是|哦|噢|嗯|啊|哎|诶|欸|呃|哇|唉|嗨)+|(?:but|well|oh|ok|okay|um|uh|hmm|hey|wow|no|yes|yeah|ah) )+\s*"
)
_FACES: dict[str, Signal] = {"😂": "laughter", "🤣": "laughter", "❤": "affection", "😘": "affection", "🥰": "affection"}
_ONLY_FACES = LazyPattern(r"[\s❤\U0001f300-\U0001faff]+")


def feedback_signals(text: str, names: tuple[str, ...] = ()) -> tuple[Signal, ...]:
    """What the message lets on about the last reply; `names` are the bot's, who may be called in it.

    Beside a complaint thanks are politeness and do not count.
    """
    if len(text) > MOST_CHARS:
        return ()
    folded = fold(text).replace("’", "'")
    for name in sorted({fold(name) for name in names}, key=lambda name: -len(name)):
        latin = name.isascii()
        folded = re.sub(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])" if latin else re.escape(name), " ", folded)
    found = dict.fromkeys(signal for part in _BREAKS.split(folded) if (signal := _signal(part.strip(" \"'“”@"))))
    if not found and _ONLY_FACES.fullmatch(folded):
        found = dict.fromkeys(_FACES[face] for face in folded if face in _FACES)
    signals = tuple(found)
    against = tuple(signal for signal in signals if SIGNAL_WEIGHTS[signal] < 0)
    return against or signals


def _signal(part: str) -> Signal | None:
    for bare in dict.fromkeys((part, _OPENERS.sub("", part))):
        found = next((signal for signal in SIGNAL_WEIGHTS if bare and _PATTERNS[signal].fullmatch(bare)), None)
        if found is not None:
            return found
    return None
