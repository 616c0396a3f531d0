"""Whether the words around a day tell of it as over or as still to come. It knows no calendar. Pure."""

from typing import Literal

from bot.text.lazy import LazyPattern

Tense = Literal["", "ahead", "done", "since"]
"""`done` is told as over by the words about that very day; `since` can mean nothing but a past one."""

_CLAUSE_ZH = LazyPattern(r"[,，。.!?！？;；\n、…~]|\s(?=[\u4e00-\u9fff])")
_CLAUSE_EN = LazyPattern(
    r"[.!?;\n](?=\s|$)|,? (?:and then|but|so|because)\b|, (?:and |then )?(?=i |we |he |she |they |it )"
)
_HAN = LazyPattern("[\u4e00-\u9fff]")

_AHEAD_ZH = LazyPattern(
    r"(?<![重主需只次])要(?![求是么不好])|(?<![开机社约误体学才一])会(?![议员场计儿话])|将(?!近|就)|打算|准备|计划|想[去在要把]|得[去在]|截止|到期|预[计定约]|"
    r"应该|可能|快到|马上|记得|提醒|之?前(?:要|得|必须|交|完成)|就[是要在]|即将|还有|等[到我着]|期待|[回去来]不[去来了]|不(?:去|来|回)了"
)
_DONE_ZH = LazyPattern(
    r"(?P<verb>[^\s,了过]{1,4}?)(?:(?:完|到|掉|成|上|下|走|回|出|来|去|好)?了(?!解)|过(?![期年节生日去敏来程]))|[去来到买见吃看做办收写回搬签出订生领结离考拍拿发]的(?![话时事])|当时"
)
_SOON_ZH = LazyPattern(r"(?:就|快|该|要|将)[^\s,]{0,8}了")
_NOT_YET_ZH = LazyPattern(r"还没|没有?(?:来得及|空)|别忘|不要忘")
_ARRANGED_ZH = LazyPattern(
    r"订|签|约(?!会)|报|买|抢|预|办|排|批|通知|确认|请|收|答应|说好|讲好|定|租|申|选|安|改|换|推|延|提|挪|挂|交|付|登|发|知|决|答|给|留|空|好"
)
"""What is done today for a day to come: 订了, 签了, 约了, 买了票, 挂了号."""
_SINCE_ZH_BEFORE = LazyPattern(r"(?:自从?|从)$")
_SINCE_ZH_AFTER = LazyPattern(r"^(?:以来|至今|到现在|起就|开始就)")
_FOR_EN = LazyPattern(r"\b(?:for|by|until|till|before|to|from|starting|effective)(?: the| next)? ?$")
_ON_EN = LazyPattern(r"\b(?:on|in|at)?(?: the)? ?$")
_SINCE_EN = LazyPattern(r"\b(?:ever since|since|back on|back in|back around)(?: the)? ?$")
_BOOKED = (
    r"booked|signed|scheduled|reserved|ordered|registered|arranged|planned|enrolled|confirmed|postponed|rescheduled|"
    r"paid|bought|ordered|set|secured|invited|agreed|promised|accepted|moved|pushed|shifted|got|sent|submitted|"
    r"requested|applied|committed|locked|snagged|grabbed|put|marked|picked|chose|decided"
)
"""What is done today for a day to come."""
_IRREGULAR = (
    "went|saw|met|made|took|came|left|lost|found|ate|began|broke|gave|won|flew|drove|sold|felt|became|told|said|heard|"
    "ran|wrote|slept|spent|fell|quit|held|had|knew|thought|brought|caught|got|gave|grew|threw|wore|woke|sang|swam|"
    "built|cut|hit|hurt|let|read|rode|rang|sent|shut|spoke|stood|taught|understood|bought|paid|put|set|chose|kept|"
    "was|were|did|didn't|wasn't|weren't"
)
_ADVERBS = r"(?: (?:all|already|just|finally|been|not|now|being|also|really|both|officially|recently|probably))*"
_SIGN_EN = LazyPattern(
    rf"\b(?P<ahead>(?:will|won't|going to|gonna|shall|would|can|could|should|must|might|have to|has to|needs? to|wants? "
    rf"to|wanna|plan(?:s|ning)? (?:to|on)|hop(?:e|es|ing) to|about to|let's|remind|due|deadline|expires?|starts?|begins?|"
    rf"opens?|ends?|leaves?|flies|fly|arrives?|takes place|happens|turns?|looking forward|"
    rf"(?:was|were) (?:scheduled|supposed|due|planned|booked|meant|moved|postponed|rescheduled|pushed|set|told)|"
    rf"(?:is|are|am|isn't|aren't|be|been|being|gets?|getting|got|have|has|had|to|having){_ADVERBS} "
    rf"(?:\w{{2,}}ed|{_BOOKED}|done|seen|taken|given|made|sold|held)|"
    rf"got (?:us |me |a |an |the |our |my |two |some )*(?:tickets?|tables?|appointments?|seats?|slots?|reservations?|"
    rf"interviews?|places?|spots?|invitations?|invites?|dates?|days?)|"
    rf"(?!during|morning|evening|nothing|something|everything|anything|thing|bring|king|ring|wedding|meeting|building)(?<!was )(?<!were )\w{{2,}}ing|is|are|am|isn't|aren't|i'm|we're|they're|he's|she's|it's|that's|there's))\b"
    rf"|(?P<ahead2>(?:'ll|'ve{_ADVERBS} \w+|'s{_ADVERBS} \w+(?:ed|ing)|'re|'m|'s (?:on|at|the|my|our|a|in))\b)"
    rf"|\b(?P<booked>{_BOOKED})\b|\b(?P<past>{_IRREGULAR}|(?!need|feed|speed|breed|indeed|wed|bleed|seed|red)\w{{2,}}ed)\b"
)


def tense(folded: str, start: int, end: int) -> Tense:
    """How the words around the day at these places of a folded text tell of it."""
    if _HAN.search(folded):
        return _chinese(*_around(folded, start, end, _CLAUSE_ZH))
    return _english(*_around(folded, start, end, _CLAUSE_EN))


def booked(folded: str) -> bool:
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


def _chinese(before: str, after: str) -> Tense:
    if _SINCE_ZH_BEFORE.search(before) and _SINCE_ZH_AFTER.search(after):
        return "since"
    if _AHEAD_ZH.search(before + "|" + after) or _SOON_ZH.search(after) or _NOT_YET_ZH.search(before + after):
        return "ahead"
    for found in _DONE_ZH.finditer(after):
        arranged = _ARRANGED_ZH.search(found["verb"] or "") is not None
        if not (arranged and "的" in after[: found.end()]):  # 8月2号去青岛的票订了
            return "done"
    return ""


def _english(before: str, after: str) -> Tense:
    if _SINCE_EN.search(before):
        return "since"
    signs = list(_SIGN_EN.finditer(before))
    if _FOR_EN.search(before):
        return "ahead"
    found = signs[-1] if signs else _SIGN_EN.search(after)
    if found is None:
        return ""
    if found["ahead"] or found["ahead2"]:
        return "ahead"
    if found["booked"] and signs and not _ON_EN.search(before):
        return ""
    return "done"
