"""What somebody promises in a message of their own: 我答应你…, 我明天会…, 说好了…, I'll send you…. By rule, no model. Pure.

Precision before everything: questions, conditions, wishes, guesses, denials, quotes and what others promised are none.
A promise is a whole clause that begins with the one who makes it.
"""

import re

from bot.people.clauses import Clause, Words
from bot.text.fold import fold

MOST = 3
"""Promises of one message that are kept; more is a list, or a text."""

LEAST = 4
"""Characters of a clause that says by itself what is agreed."""

LONGEST = 160
"""Characters of a promise; the reference keeps 180 of an action, whole (seed AI Chat Pipeline)."""

_VETO = re.compile(
    r"如果|谁[说讲]|要是|假如|假设|万一|(?<![你他她我们])的话|可能|也许|大概|说不定|或许|希望|但愿|除非|尽量|试试|争取|不一定|就好了|梦见|梦到|开玩笑|才怪|以为|本来"
    r"|原本|差点|早知|好像|打算|犹豫|考虑|骗你|假装|小说里|电影里|歌词|台词|剧里|书里|比如|例如|何必|怎么会|凭什么|[他她它人]们?(?:就)?[说讲问让叫]"
    r"|(?:妈|爸|师|板|友|学|你|您)(?:说(?!好|定)|让我说)"
    r"|\b(?:if|unless|would|could|might|may|maybe|perhaps|probably|possibly|wish|hope|hopefully|should|supposed|try"
    r"|guess|thought|pretend|imagine|whether|dream(?:ed|t)?|joking|kidding|(?:he|she|they|mom|dad|you) (?:says?|said)"
    r"|might've|what if|in case|lyrics|as if|until)\b"
)
"""Somewhere in the sentence: then nothing is promised."""

_LEAD = (
    r"(?:(?:好的?|行|嗯+|哦+|那么?|放心吧?|不过|但是?|而且|所以|其实|刚刚|刚才|ok|对了|可以|没问题|一言为定|真的|总之|另外|还有|反正|晚安|抱歉|对不起|todo"
    r"|承诺|老?[爸妈婆公]|宝贝?|亲爱的|老师)[ ,:了]*)*"
)
_WHEN = (
    r"(?:(?:这|本)周之?内|[今明]儿?[天晚早日]?(?:早上|上午|中午|下午|晚上)?|大?后天|下下?个?(?:周|星期|礼拜|月)[一二三四五六日天末]?|(?:这个?|本)?(?:周|星期"
    r"|礼拜)[一二三四五六日天末]"
    r"|[0-9]{1,2}(?:月[0-9]{1,2})?[日号]|[一二两三四五六七八九十0-9]+(?:天|小时|分钟|个小时)(?:之?内|以?后)|月底|年底|这个?月|待会儿?|等会儿?|等下|等等"
    r"|一会儿?|晚点|晚些时候?|回头|到时候?"
    r"|到[家了]{1,2}|下班后?|放学后?|回[去家来]后?|睡前|饭后|之后|以后|今后|马上|立刻|尽快|周末|早上|上午|中午|下午|晚上|凌晨|[0-9一二两三四五六七八九十]+点(?:半|钟|整|前"
    r"|之前|左右)*|前|之前|一早)+"
)
_DO = (
    r"(?:顺路|顺便|再|去|来|就|先|都|也|好好|按时|准时|早点|尽快|及时|亲自|认真|一起)*(?:把|给|帮|替|陪|带|发|还|交|寄|传|打|回|做|写|买|送|拿|整理|准备|提交|告诉|通知|接|修|处理"
    r"|搞定|完成|弄|转|订|约|教|煮"
    r"|补|画|洗|收拾|安排|联系|提醒|叫你|喊你|看完|读完|背完|吃药|睡觉|起床|复习|练|跑步|运动|锻炼|减肥|戒|请你|请大家|到场|参加|打扫|浇|喂|遛|存|付|缴|报名|预约|取|退)"
)
_TO = (
    r"(?:(?:跟|向|和|对)?(?:你们?|您|大家|妈妈?|爸爸?|爸妈|老婆|老公|孩子|儿子|女儿|他们?|她们?|[老小阿][一-鿿]{1,2}|[一-鿿]{0,2}老师|老板|医生|自己|朋友"
    r"|同事|奶奶|爷爷|姐姐?|哥哥?|妹妹?|弟弟?|客户))"
)
_NOT = r"(?!不|没|没有|过吗|了吗|了?$)"

_ZH = (
    rf"我们?(?:已经|也|都|刚|刚刚|昨天|今天|之前|早就|可|是)*(?:{_WHEN})?答应(?![^,]{{0,5}}的(?:事|东西|那|话))(?:过|了|好)*{_TO}?(?:了|过"
    rf"|,)?(?P<a>.{{2,}})",
    rf"我(?:也|可以|能|跟你|向你|和你|敢)*(?:保证|发誓|承诺)(?:{_TO})?[ ,:]*{_NOT}(?P<b>.{{2,}})",
    rf"我(?:{_WHEN})?(?:就|也|都|一定|肯定|绝对|保证)*会?(?:就)?(?:一定|肯定|绝对)?(?:记得|记着)(?P<c>{_DO}.*)",
    rf"(?:我(?:{_WHEN})|(?:{_WHEN})我)(?:的时候)?(?:一定|肯定|绝对|保证|准|再|就|都|也)*(?:会|一定会?|就|再|来|去)(?P<d>{_DO}.*)",
    rf"(?:我(?:{_WHEN})|(?:{_WHEN})我)(?P<e>(?:把.{{1,12}}|给你|帮你|陪你|带你|发你|还你|请你|请大家|请他们?|去[一-鿿]{{1,5}}[接看陪找取拿买帮]"
    rf"|叫你|打给你|发给你|打电话给你|寄给你|传给你).*)",
    rf"我(?:一定|肯定|绝对|保证)会?(?:{_WHEN})?(?P<f>{_DO}.*)",
    r"我会(?:一定|再|就)*(?:按时|准时|尽快|早点|及时|给你|帮你|陪你|把|替你|好好|发你|还你|告诉你|提醒|赔|补上|负责)(?P<g>.+)",
    r"我(?:以后|今后|下次|保证|一定|绝对|再也)+(?:都|就|再也|也|会)*不(?:会|再|会再|敢)?(?P<h>(?:迟到|熬夜|喝酒|抽烟|吸烟|骗|忘|吵|发脾气|乱花|赌|打扰"
    r"|拖|偷懒|犯|说谎|撒谎|凶你|逃课|插嘴|逾期|失约|爽约|放鸽子|打游戏|乱吃|惹你|缺席|晚归).*)",
    rf"(?:那|我们?|咱们?|和你|跟{_TO}|我(?:和|跟){_TO})*(?:说好|说定|约好|约定|讲好|谈好)了?(?!的|吗|没|不)[ ,]*(?P<i>.{{3,}})",
    rf"我(?:马上|立刻|这就|等下|晚点|回头|待会儿?)就?(?P<s>{_DO}.*)",
    r"我来(?:负责|安排|准备|订|买|写|做|处理|搞定|联系|接|煮|付|洗|收拾|通知|整理)(?P<j>.+)",
    rf"我(?:绝对|一定|肯定|保证)?不会忘记?(?:{_WHEN})?(?P<k>{_DO}.*)",
)
_AGREED = re.compile(r"(?:就这么|那就|我们|咱们|就)?(?:说好|说定|约好|讲好)了?(?:啊|哦|哈|啦|喔)?")
"""周六一起吃饭, 说好了: the clause before is what was agreed."""
_BARE = re.compile(
    rf"我(?:可以|也|刚刚?|已经)?(?:(?:跟|向|和){_TO})?(?:答应|保证|发誓|承诺)[过了]?{_TO}?[了过]?|我?(?:们|和你|跟你|和{_TO}|跟{_TO})(?:说|约|讲)好了?"
    r"|i (?:really )?(?:promise|swear|guarantee)(?: you)?|you have my word|i give you my word"
)
"""我答应你, 下次早点到: the clause after it is what is promised."""

_EN_DO = (
    r"(?:(?:definitely|certainly|surely|also|just|go and|be sure to|make sure to|remember to|not forget to"
    r"|never forget to) )*"
    r"(?:send|bring|call (?!it a\b)|text|e-?mail|pay|return|finish|submit|fix|book|buy|pick (?:you|him|her|them"
    r"|up|it)|get back to"
    r"|take care|take (?:you|him|her|them|us)|handle|deliver|help (?:you|him|her|them|with|out)|let (?:you|him|her|them"
    r"|everyone) (?!guess|down|go)"
    r"|check|review|give (?:you|him|her|them|it) (?:back|the|your|my)|give (?:it|this|that) back"
    r"|show you (?:the|my|your|how)"
    r"|tell (?:him|her|them)|tell you (?:tomorrow|tonight|later|when|as soon|by)|remind|clean|drop|prepare"
    r"|upload|order|set up"
    r"|cook|mail|wash|share|forward|water|feed|walk the|be there|be back|be home|be on time|do (?:it|that|the"
    r"|my)|reply|respond"
    r"|print|post|lend|teach you|update|make (?:sure|you|dinner|breakfast|lunch|it up|a reservation)|get you"
    r"|have it (?:ready|done)"
    r"|write (?:you|him|her|the|my|it)|come (?:over|by|back to you|pick|to your|with you)|transfer|schedule"
    r"|arrange|organi[sz]e"
    r"|renew|remember|not forget)"
)
_EN_WHEN = re.compile(
    r"\b(?:you|your|today|tonight|tomorrow|by|before|after work|this (?:week|weekend|evening|afternoon)"
    r"|next (?:week|month|time)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|at (?:noon|[0-9])|back|first thing|later|soon|asap|on time"
    r"|in (?:a|an|[0-9]+) "
    r"(?:minute|hour|day|week)s?|in [0-9]+|sure|remember|forget|for (?:him|her|them|mom|dad|us)|it up|for sure"
    r"|every (?:day|week|night))\b"
)  # fmt: skip
_EN_LEAD = (
    r"(?:(?:ok|okay|sure|fine|yes|yeah|yep|alright|all right|don't worry|no problem|sorry|well|then|and|but|so"
    r"|hey|oh|also|right|anyway"
    r"|great|thanks|deal|no worries|tomorrow|tonight|later|todo)[ ,:]+)*"
)
_EN = (
    r"i (?:really |hereby |solemnly )?(?:promise|swear|guarantee|vow)(?: you| u| mom"
    r"| dad)?(?: that)?,? (?!not\b|nothing)(?P<l>(?:i(?:'ll| will|'m going to| won't| will not)|to|we'll"
    r"|never to|not to) .+)",
    rf"i (?:already )?promised (?:you|him|her|them|my [a-z]+|mom|dad|[a-z]+) (?:that )?(?P<m>(?:i'd|i'll|i will"
    rf"|to) {_EN_DO}\b.*)",
    rf"(?:i(?:'ll| will|'m going to|'m gonna| shall)) (?P<n>{_EN_DO}\b.*)",
    rf"i won't forget to (?P<o>{_EN_DO}\b.*)",
    r"(?:you have|i give you) my word,?(?: that)? (?P<p>.{4,})",
    r"count on me to (?P<q>.{4,})",
    r"we(?:'ve| have)? agreed (?:to|that|on) (?P<r>.{4,})",
)
_NEEDS_WHEN = ("n",)
"""I'll … is a promise with a time, or to somebody."""

_MAY_BE_OVER = ("d", "e", "s")
_OVER = re.compile(
    r"昨|刚才|了$|[^就]了[你我他她]?[^了]{0,4}$|[了过]没|你没|过$|过了|的时候|讲个|说个|(?:了|过).{0,6}(?:照片|消息)"
)
"""我今天把手机丢了 has been."""

_PATTERNS = (
    (re.compile(_LEAD), re.compile("|".join(_ZH))),
    (re.compile(_EN_LEAD), re.compile("|".join(_EN))),
)
"""What a clause may begin with, and the promise itself."""
_FIRST = re.compile(r"我|咱|[说约讲谈]好|[说约]定|\bi\b|\bmy word\b|\bcount on me\b|\bwe\b")
_NONE = re.compile(
    r"会不会|但是?[他她]|结果|鸽子|是不是|能不能|要不要|有没有|不(?:能|敢|想|会|可以?)(?:答应|保证|承诺)|没(?:有)?(?:答应|保证|承诺)|不(?:答应|保证)|保证不了|答应不了|才不"
    r"|[^,]*(?:很|太|更|特别|越来越)(?:忙|累|烦|晚|难)|(?:怎么|什么|哪|谁|几点|多少)"
    r"|\b(?:i'll (?:be (?:late|fine|ok|okay|busy|honest)|tell you what|have you know|show (?:you|him|them|her)$"
    r"|give you that|do my best|come back to haunt)"
    r"|pay for this|do nothing|a (?:hint|story|joke|clue|secret|minute|second)|right back|straight$|what|why"
    r"|how|wait and see|wait for (?:it|the bus))\b"
)
_THIRD = re.compile(r"(?:了|吧|啦|啊|哦|喔|的|哈|呀|噢|嘛|呢|咯)+$")


def promising(text: str) -> bool:
    """Whether it is worth reading: most messages hold none of the words that a promise begins with."""
    return _FIRST.search(text) is not None


def promises(words: Words) -> tuple[tuple[str, str], ...]:
    """What the writer promises, in their own words, each with the folded sentence it stands in."""
    found: dict[str, str] = {}
    doubted = {sentence: _VETO.search(sentence) is not None for sentence in {each.sentence for each in words.clauses}}
    for number, clause in enumerate(words.clauses):
        if clause.asks or doubted[clause.sentence]:
            continue
        beside = (words.clauses[number - 1] if number else None, *words.clauses[number + 1 : number + 2], None)
        before, after = (each if each and each.sentence == clause.sentence else None for each in beside[:2])
        span = _span(clause, before, after)
        text = words.written(*span) if span is not None else ""
        if text and len(text) <= LONGEST:
            found.setdefault(text, clause.sentence)
    return tuple(found.items())[:MOST]


def stands(words: Words, text: str) -> bool:
    """Whether the message says this without asking, guessing or telling of somebody else."""
    said = fold(text)
    found = [each for each in words.clauses if said in each.sentence or (len(each.text) >= LEAST and each.text in said)]
    return bool(found) and not any(each.asks or _VETO.search(each.sentence) for each in found)


def _span(clause: Clause, before: Clause | None, after: Clause | None) -> tuple[int, int] | None:
    """What is promised in this clause, or beside it, as places in the folded message."""
    if _AGREED.fullmatch(clause.text) and before is not None:
        return _beside(before)
    if _AGREED.fullmatch(clause.text) or _BARE.fullmatch(clause.text):
        return _beside(after)
    if _NONE.search(clause.text):
        return None
    for lead, pattern in _PATTERNS:
        start = skipped.end() if (skipped := lead.match(clause.text)) else 0
        found = pattern.match(clause.text, start)
        if found is None:
            continue
        said = found[found.lastgroup or 0]
        if found.lastgroup in _NEEDS_WHEN and not _EN_WHEN.search(said):
            return None
        if found.lastgroup in _MAY_BE_OVER and _OVER.search(clause.text):
            return None
        return (clause.start + start, clause.end) if _THIRD.sub("", said) else None
    return None


def _beside(clause: Clause | None) -> tuple[int, int] | None:
    """What was agreed, or is promised, in the clause before or after the words that say so."""
    if clause is None or len(clause.text) < LEAST or _NONE.search(clause.text):
        return None
    return clause.start, clause.end
