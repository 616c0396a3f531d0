"""Whether the words around a day tell of it as past or as future."""

from typing import Literal

from bot.text.catalogue import LazyPattern, read_table

Tense = Literal["", "ahead", "arranged", "perhaps", "done"]
"""`done` is told as over by the words about that very day, `perhaps` may be (8月2号毕业了); `arranged` was something for it,
or on it: 签了, booked."""

_HAN = LazyPattern("[\u4e00-\u9fff]")
_TEXTS = {name: "|".join(texts) for name, texts in read_table("bot.language.time", "tense").items()}
_BOOKED, IRREGULAR = _TEXTS.pop("booked"), _TEXTS.pop("irregular")
_SIGNS = {name: LazyPattern(text) for name, text in _TEXTS.items()}

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
        return _chinese(*_around(folded, start, end, _SIGNS["clause_zh"]), folded[start:])
    return _english(*_around(folded, start, end, _SIGNS["clause_en"]), folded)


def tells_of_booking(folded: str) -> bool:
    """Whether the words tell that something was arranged: what they name may be a day to come."""
    if _HAN.search(folded):
        return any(_SIGNS["arranged_zh"].search(found["verb"] or "") for found in _SIGNS["done_zh"].finditer(folded))
    return any(found["booked"] or found["ahead"] for found in _SIGN_EN.finditer(folded))


def _around(folded: str, start: int, end: int, breaks: LazyPattern) -> tuple[str, str]:
    """The words of its clause before and after it; a comma right behind a day belongs to it."""
    before = max((found.end() for found in breaks.finditer(folded, 0) if found.end() <= start), default=0)
    for found in breaks.finditer(folded, end):
        if folded[end : found.start()].strip(" ,，日号)(（）"):
            return folded[before:start], folded[end : found.start()]
    return folded[before:start], folded[end:]


def _chinese(before: str, after: str, lasting: str) -> Tense:
    if _SIGNS["since_zh"].search(after) or _SIGNS["lasted_zh"].search(lasting):
        return "done"
    if (
        _SIGNS["ahead_zh"].search(f"{before}|{after}")
        or _SIGNS["not_yet_zh"].search(before + after)
        or _SIGNS["for_zh"].search(before)
    ):
        return "ahead"
    if _SIGNS["kept_zh"].search(after) or _SIGNS["soon_zh"].search(after):
        return ""
    if _SIGNS["just_zh"].search(after) or (
        _SIGNS["cleft_zh"].search(after) and not _SIGNS["fetched_zh"].search(before)
    ):
        return "done"
    found = _SIGNS["done_zh"].search(after)
    if found is None:
        return ""
    attribute, arranged = (
        "的" in after[: found.end()] and found["verb"],
        _SIGNS["arranged_zh"].search(found["verb"] or ""),
    )
    if attribute:  # 8月2号去青岛的票订了
        return "" if arranged else "arranged"
    if arranged:
        return "arranged"
    loose = after[:1] in ",，" or (found[0].endswith("了") and found.end() == len(after))
    return "perhaps" if loose else "done"


def _english(before: str, after: str, folded: str) -> Tense:
    if _SIGNS["since_en"].search(before) or _SIGNS["lasted_en"].search(folded):
        return "done"
    signs = list(_SIGN_EN.finditer(before))
    if _SIGNS["for_en"].search(before) or before.endswith("'s "):
        return "ahead"
    found = signs[-1] if signs else _SIGN_EN.search(after)
    if found is None:
        return ""
    if found["ahead"] or found["ahead2"]:
        return "ahead"
    if found["booked"]:
        return "" if signs and not _SIGNS["on_en"].search(before) else "arranged"
    return "done"
