"""Whether the words around a day tell of it as past or as future."""

from typing import Literal

from bot.text.patterns import LazyPattern

Tense = Literal["", "ahead", "arranged", "perhaps", "done"]
"""`done` is told as over by the words about that very day, `perhaps` may be (8月2号毕业了); `arranged` was something for it,
or on it: 签了, booked."""

_CLAUSE_ZH = LazyPattern(r"[,，。.!?！？;；\n、…~]|\s(?=[\u4e00-\u9fff])")
_CLAUSE_EN = LazyPattern(
    r"[.!?;\n](?=\s|$)|,? (?:and then|but|so|because)\b|, (?:and |then )?(?=i |we |he |she |they |it )"
)
_HAN = LazyPattern("[\u4e00-\u9fff]")

_AHEAD_ZH = LazyPattern(
    r"(?<![重主需只次])要(?![求是么不好])|(?<![开机社约误体学才一])会(?![议员场计儿话])|将(?!近|就)|打算|准备|计划|想[去在要把]|得[去在]|截止|到期|预[计定约]|"
    r"应该|可能|快到|马上|记得|提醒|之?前(?:要|得|必须|交|完成)|就[是要在]|即将|终于能|可以|预产期|还有|等[到我着]|期待|[回去来]不[去来了]|不(?:去|来|回)了"
)
_DONE_ZH = LazyPattern(
    r"订(?:了婚|婚了)|(?P<verb>[^\s,了过]{1,4}?)(?:(?:完|到|掉|成|上|下|走|回|出|来|去|好)?了(?!解)"
    r"|(?<=[去来看见吃做说问住学试用打听玩得受想写买拍加历生考坐当干谈病哭吵])过(?![期年节去敏来程]))"
    r"|[去来到买见吃看做办收写回搬签出订生领结离考拍拿发]的(?![话时事])|当时|那时"
)
_SOON_ZH = LazyPattern(r"(?:就|快|该|要|将)[^\s,]{0,8}了")
_NOT_YET_ZH = LazyPattern(r"还没|没有?(?:来得及|空)|别忘|不要忘")
_SINCE_ZH = LazyPattern(r"^(?:以来|至今|到现在|起就|开始就)")
_ARRANGED_ZH = LazyPattern(
    r"订|签|约(?!会)|报|买|抢|预|办|排|批|通知|确认|请|收|答应|说好|讲好|定|租|申|选|安|改|换|推|延|提|挪|挂|交|付|登|发|知|决|答|给|留|空|好"
)
"""What is done today for a day to come: 订了, 签了, 约了, 买了票, 挂了号."""
_KEPT_ZH = LazyPattern(
    r"约了|有约|请[^\s,]{0,3}假|挂了?[^\s,]{0,4}号|安排|排了|预[约订定]|订了?[^\s,]{0,4}[位桌房包间]|报了?[^\s,]{0,4}名"
)
"""What keeps a day free for something: 周日约了朋友."""
_FOR_ZH = LazyPattern(r"(?:约|说|讲|订|定|排|预|改|选|答应|安排|通知)[^\s,]{0,3}$|[到至]$")
_CLEFT_ZH = LazyPattern(
    r"^(?![^\s]{0,3}(?:场|次|那|这|班))(?:[早晚]上|[上下]午|中午|凌晨)?(?=[^\s的])(?!是|[早晚]?上?的)"
    r"(?:[^\s的]{1,8}的|[^\s的]{0,4}[^\s场号班夜天次午晚上的]的(?![票场班车航座])[^\s,的]{1,2})$"
)
"""我3月9号入职的, 我4月2号跟她分的手."""
_FETCHED_ZH = LazyPattern(r"订|买|抢|约|选|挑|报|换|改")
_JUST_ZH = LazyPattern(r"^[^\s,]{0,3}(?:刚(?!好|巧)|才(?!能|会|可|要|有))")
_LASTED_ZH = LazyPattern(
    r"到现在|至今|到今天|(?:已经|都|刚|满|转眼)[^,。]{0,4}?(?:半|大半|(?<!\d)\d{1,2}|[一二两三四五六七八九十]+)(?:个?多?年|个多?月|多?天|个?多?周|个多?星期)"
)
"""How long it has been: 都半年多了, 在家休息到现在."""

_LASTED_EN = LazyPattern(
    r"\b(?:days|weeks|months?|years?) (?:now|already|in|sober|clean)\b|\bit's been\b|\bit has been\b"
)
_FOR_EN = LazyPattern(r"\b(?:for|by|until|till|before|to|from|starting|effective)(?: the| next)? ?$")
_ON_EN = LazyPattern(r"\b(?:on|in|at)?(?: the)? ?$")
_SINCE_EN = LazyPattern(r"\b(?:ever since|since|back on|back in|back around)(?: the)? ?$")
_BOOKED = (
    r"booked|signed|scheduled|reserved|ordered|registered|arranged|planned|enrolled|confirmed|postponed|rescheduled|"
    r"paid|bought|ordered|set|secured|invited|agreed|promised|accepted|"
    r"moved(?! (?:here|there|in|out|into|back|away|house|to))|pushed|shifted|sent|submitted|"
    r"requested|applied|committed|cancelled|canceled|delayed|approved|bumped|changed|locked|snagged|grabbed|put|"
    r"marked|picked|chose|decided"
)
"""What is done today for a day to come."""
IRREGULAR = (
    "went|saw|met|made|took|came|left|lost|found|ate|began|broke|gave|won|flew|drove|sold|felt|became|told|said|heard|"
    "ran|wrote|slept|spent|fell|quit|held|had|knew|thought|brought|caught|grew|threw|wore|woke|sang|swam|"
    "built|cut|hit|hurt|let|read|rode|rang|sent|shut|spoke|stood|taught|understood|bought|paid|put|set|chose|kept|"
    "was|were|did|didn't|wasn't|weren't"
)
_ADVERBS = r"(?: (?:all|already|just|finally|been|not|now|being|also|really|both|officially|recently|probably))*"
_NOUN = "during|morning|evening|nothing|something|everything|anything|thing|bring|king|ring|wedding|meeting|building"
_SIGN_EN = LazyPattern(
    rf"\b(?P<ahead>(?:will|won't|going to|gonna|shall|would|can|could|should|must|might|have to|has to|needs? to|"
    rf"wants? to|wanna|plan(?:s|ning)? (?:to|on)|hop(?:e|es|ing) to|about to|let's|remind|due|deadline|"
    rf"expires?|starts?|begins?|"
    rf"opens?|ends?|leaves?|flies|fly|arrives?|takes place|happens|turns?|"
    rf"runs|comes|goes|falls|closes|moves|lands|lasts|returns|finishes|looking forward|"
    rf"(?:is|are|am|isn't|aren't|be|been|being|gets?|getting|have|has|to|having){_ADVERBS} "
    rf"(?:\w{{2,}}ed|{_BOOKED}|done|seen|taken|given|made|sold|held)|"
    rf"got (?:us |me |a |an |the |our |my |two |some )*(?:tickets?|tables?|appointments?|seats?|slots?|reservations?|"
    rf"interviews?|places?|spots?|invitations?|invites?|dates?|days?)|"
    rf"(?!{_NOUN})(?<!was )(?<!were )\w{{2,}}ing|"
    rf"is|are|am|isn't|aren't|i'm|we're|they're|he's|she's|it's|that's|there's))\b"
    rf"|(?P<ahead2>(?:'ll|'ve{_ADVERBS} \w+|'s{_ADVERBS} \w+(?:ed|ing)|'re|'m|'s (?:on|at|the|my|our|a|in))\b)"
    rf"|\b(?P<booked>(?:(?:got|had|was|were){_ADVERBS} )?(?:{_BOOKED})|(?:was|were) (?:supposed|due|meant|told|going)"
    rf"(?: to \w+)?)\b"
    rf"|\b(?P<past>(?:(?<!'s )(?<!'ve )(?<!has )(?<!have )got|(?:{IRREGULAR})|"
    rf"(?!need|feed|speed|breed|indeed|wed|bleed|seed|red)\w{{2,}}ed)(?: \w+ing)?)\b"
)


def tense(folded: str, start: int, end: int) -> Tense:
    """How the words around the day at these places of a folded text tell of it."""
    if _HAN.search(folded):
        return _chinese(*_around(folded, start, end, _CLAUSE_ZH), folded[start:])
    return _english(*_around(folded, start, end, _CLAUSE_EN), folded)


def tells_of_booking(folded: str) -> bool:
    """Whether the words tell that something was arranged: what they name may be a day to come."""
    if _HAN.search(folded):
        return any(_ARRANGED_ZH.search(found["verb"] or "") for found in _DONE_ZH.finditer(folded))
    return any(found["booked"] or found["ahead"] for found in _SIGN_EN.finditer(folded))


def _around(folded: str, start: int, end: int, breaks: LazyPattern) -> tuple[str, str]:
    """The words of its clause before and after it; a comma right behind a day belongs to it."""
    before = max((found.end() for found in breaks.finditer(folded, 0) if found.end() <= start), default=0)
    for found in breaks.finditer(folded, end):
        if folded[end : found.start()].strip(" ,，日号)(（）"):
            return folded[before:start], folded[end : found.start()]
    return folded[before:start], folded[end:]


def _chinese(before: str, after: str, lasting: str) -> Tense:
    if _SINCE_ZH.search(after) or _LASTED_ZH.search(lasting):
        return "done"
    if _AHEAD_ZH.search(f"{before}|{after}") or _NOT_YET_ZH.search(before + after) or _FOR_ZH.search(before):
        return "ahead"
    if _KEPT_ZH.search(after) or _SOON_ZH.search(after):
        return ""
    if _JUST_ZH.search(after) or (_CLEFT_ZH.search(after) and not _FETCHED_ZH.search(before)):
        return "done"
    found = _DONE_ZH.search(after)
    if found is None:
        return ""
    attribute, arranged = "的" in after[: found.end()] and found["verb"], _ARRANGED_ZH.search(found["verb"] or "")
    if attribute:  # 8月2号去青岛的票订了
        return "" if arranged else "arranged"
    if arranged:
        return "arranged"
    loose = after[:1] in ",，" or (found[0].endswith("了") and found.end() == len(after))
    return "perhaps" if loose else "done"


def _english(before: str, after: str, folded: str) -> Tense:
    if _SINCE_EN.search(before) or _LASTED_EN.search(folded):
        return "done"
    signs = list(_SIGN_EN.finditer(before))
    if _FOR_EN.search(before) or before.endswith("'s "):
        return "ahead"
    found = signs[-1] if signs else _SIGN_EN.search(after)
    if found is None:
        return ""
    if found["ahead"] or found["ahead2"]:
        return "ahead"
    if found["booked"]:
        return "" if signs and not _ON_EN.search(before) else "arranged"
    return "done"
