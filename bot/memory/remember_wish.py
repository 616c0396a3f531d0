"""Reads a wish to keep something: before the content, after it, or pointing back. It decides nothing else."""

import re
from collections.abc import Iterator
from typing import cast

from bot.memory.facts import Kind, facts, list_end, plain, tells, worth
from bot.memory.shape import Found, Place
from bot.memory.wish_patterns import QUOTED, pattern

_LOOSE_ENDS = "啊呀哦喔噢啦嘛吧呢哈嘿哟唷吗齁咯呦欸 ,.:"
_ASKED_AT_END = ("好吗", "可以吗", "行吗", "好不好", " ok", " okay")
_BACK = 400
"""Characters before a command in which a statement that it points back to may begin: contents reach 200."""


def opens(place: Place) -> bool:
    """Whether a wish to keep begins here; what follows may still not be a fact."""
    return place.matches("remember") is not None


def remember_wish(place: Place) -> tuple[Found, ...]:
    """The wish to keep something that stands at this place, one for each fact; none in doubt."""
    if not pattern("remember_sure").search(place.shape, place.start, place.start + 400):
        return ()
    if pattern("of_oneself").search(place.lead) and "can we" not in place.lead:
        return ()
    found = _order(place) or _put(place) or _before_content(place)
    if found is None or found.content is None:
        return (found,) if found else ()
    spans = facts(place.shape, *found.content)
    return tuple(
        Found("remember", found.start if not n else found.end, found.end, span) for n, span in enumerate(spans)
    )


def _order(place: Place) -> Found | None:
    """这个帮我记一下, would you write this down: a clause that says nothing else; what to keep stands before or after."""
    match = pattern("order").match(place.shape, place.start) or place.matches("order")
    if match is None or place.shape.startswith("the following", match.end()):
        return None
    able = place.asked or match["asked"] is None or pattern("asks_to").search(match[0])
    told = told_before(place, strong=not match["mind"]) if able and not match["colon"] else None
    apart = told is None or re.search(r"[。\n]", place.shape[told[1] : place.start]) is not None
    after = _after(place, match) if match["ends"] is None and apart else None
    if after is not None or not able:
        return after
    if told is not None:
        return _told(place, match, told, apart)
    points = (
        pattern("points").search(place.shape, place.start, match.end())
        if "了" in match[0] or not match["mind"]
        else None
    )
    alone = pattern("cjk").search(match[0]) or (
        match["ends"] is not None and not place.shape[match.end() :].strip("。 ")
    )
    return Found("remember", place.start, match.end()) if points and alone and not match["colon"] else None


def _after(place: Place, match: re.Match[str]) -> Found | None:
    """记个东西：车停在B2: what follows is it."""
    a = match.end()
    b, end = _extent(place.shape, a, asked=False)
    firm = match["colon"] or pattern("firm_order").search(match[0])
    meant = match["mind"] is None or pattern("insists").search(place.shape[place.start : a])
    kind: Kind = "strong" if firm else "weak" if meant else "fact"
    apart = place.shape.startswith("。", a) or (match["colon"] is None and pattern("points_back").search(match[0]))
    if apart or not worth(place.shape[a:b], kind, True, match["mind"] is None):
        return None
    listed = list_end(place.shape, a)
    return Found("remember", place.start, max(end, listed), (a, max(b, listed)))


def _told(place: Place, match: re.Match[str], told: tuple[int, int], apart: bool) -> Found | None:
    """…，记住哦: what was told before it is to be kept."""
    part, chinese = place.shape[slice(*told)], pattern("cjk").search(match[0]) is not None
    if pattern("weighty").fullmatch(part):
        return Found("remember", told[0], match.end())
    firm = match["mind"] is None and any(pattern(name).search(match[0]) for name in ("firm_order", "firmly"))
    sure = plain(part) or (firm and (chinese or match["ends"] is not None))
    if (match["mind"] or match["ends"] is None or apart) and not sure:
        return None
    if not chinese and (match["ends"] is None or re.search(r"\b(?:you|your|it's good|these|those)\b", part)):
        return None
    return Found("remember", told[0], match.end(), told)


def _back(place: Place, end: int) -> Found:
    """What stands before in the message, or the message before."""
    told = told_before(place, strong=True)
    return Found("remember", told[0] if told else place.start, end, told)


def _put(place: Place) -> Found | None:
    """把…记下来: the content stands before the verb."""
    match = place.matches("keep_this")
    if not match or pattern("question").search(match["c"]):
        return None
    if pattern("pointing").fullmatch(match["c"]):
        return _back(place, match.end())
    if pattern("mine").search(match["c"]) or QUOTED in match["c"] or tells(match["c"]):
        return Found("remember", place.start, match.end(), match.span("c"))
    return None


def _before_content(place: Place) -> Found | None:
    shape, match = place.shape, place.matches("remember")
    intro = pattern("intro").match(shape, match.end()) if match else None
    if not match or not intro:
        return None
    kind, a = cast(Kind, match.lastgroup), intro.end()
    alone = pattern("nothing_left").fullmatch(shape, 0, place.start) is not None
    if shape.startswith("。", a):  # 记住！我只喝热水
        if not alone or kind not in ("weak", "strong"):
            return None
        a, kind = a + len(shape[a:]) - len(shape[a:].lstrip("。 ")), "fact"
    elif (kind == "weak" and pattern("announced").search(intro[0])) or (
        ":" in intro[0] and pattern("mine").search(shape, a)
    ):
        kind = "strong"
    whole = "the following" in match[0] or (match[0].startswith("remember the") and shape.startswith(":", match.end()))
    if whole or (shape.startswith("\n", a) and ":" in intro[0]):
        a += len(shape[a:]) - len(shape[a:].lstrip("。:, \n"))
        return Found("remember", place.start, len(shape), (a, len(shape)))
    b, end = _extent(shape, a, place.asked)
    body = shape[a:b]
    comma = shape.find(",", a, b) % (b + 1)
    first = shape[a : _trim(shape, a, comma)]
    if pattern("pointing").fullmatch(first) or (kind == "strong" and pattern("this_noun").fullmatch(first)):
        return _this(place, match, first, comma if comma < b else end)
    if pattern("weighty").fullmatch(body):
        return _back(place, end)
    firmly = pattern("firmly").search(place.lead) is not None
    sure = firmly or kind == "strong" or pattern("cjk").search(body) or _opening(place)
    told = told_before(place, strong=False) if "," in intro[0] and not plain(body) else None
    if told and plain(shape[slice(*told)]):  # 我周四请假，你记录一下，下次别约我
        return None
    if b <= a or not sure or not worth(body, kind, "," in intro[0], firmly):
        return None
    listed = list_end(shape, a)
    return Found("remember", place.start, max(end, listed), (a, max(b, listed)))


def _opening(place: Place) -> bool:
    """Whether nothing is argued before it in the sentence; in English "…, remember that …" is discourse."""
    begin = max(place.floor, *(place.shape.rfind(stop, 0, place.start) + 1 for stop in "。?\n"))
    return pattern("nothing_left").fullmatch(place.shape, begin, place.start) is not None


def _this(place: Place, match: re.Match[str], body: str, end: int) -> Found | None:
    """记住这个, remember this: put as a question of ability, or with 我的话, it asks for nothing."""
    forgetful = match.lastgroup == "fact" and body != "this"
    able = match.lastgroup == "weak" and place.asked and " for " not in place.shape[place.at :]
    if forgetful or able:
        return None
    back = _back(place, end)
    return None if back.content is None and body in ("我的话", "我说的话", "我说的") else back


def told_before(place: Place, strong: bool) -> tuple[int, int] | None:
    """The statement before a command that points back to it, or None when nothing there is one."""
    shape = place.shape
    end = place.floor + len(shape[place.floor : place.start].rstrip(",。 \n"))
    low = max(place.floor, end - _BACK)
    begin = max(low, *(shape.rfind(stop, low, end) + 1 for stop in "。?\n"))
    if begin == low > place.floor:  # of a sentence that never ends only the last clauses
        begin = shape.find(",", low, end) + 1 or end
    for clause in _clauses(shape, begin, end):
        part = shape[clause:end]
        first = part.split(",", 1)[0].strip()
        if pattern("nothing_left").fullmatch(first) or pattern("told_aside").search(first):
            continue
        if (pattern("to_you").search(part) and not pattern("standing").match(part)) or pattern("question").search(part):
            return None
        told = pattern("mine").search(part) or (strong and tells(part))
        return (clause, _trim(shape, clause, end)) if told and len(part) > 2 else None
    return None


def _clauses(shape: str, begin: int, end: int) -> Iterator[int]:
    while begin < end:
        lead = pattern("told_lead").match(shape, begin)
        yield lead.end() if lead else begin
        begin = shape.find(",", begin, end) + 1 or end


def _extent(shape: str, a: int, asked: bool) -> tuple[int, int]:
    """Where the content that begins at `a` ends, and where what is left begins; (a, a) when it is a question."""
    stop = re.compile(r"[。?\n]|$").search(shape, a)
    sentence_end = stop.start() if stop else len(shape)
    questioned = shape.startswith("?", sentence_end)
    end = shape.find(",", a, sentence_end) % (sentence_end + 1)
    if not shape.endswith(_ASKED_AT_END, a, end):
        whole = shape[a:end].rstrip("吗么? ") if asked else shape[a:end]
        if (end == sentence_end and questioned and not asked) or pattern("question").search(whole):
            return a, a
    while end < sentence_end and not (asked and shape.endswith(("吗", "么", "呢"), a, end)):
        following = shape.find(",", end + 1, sentence_end) % (sentence_end + 1)
        clause = shape[end + 1 : following].strip()
        if pattern("closing").fullmatch(clause):
            return _trim(shape, a, end), following
        ends_asking = following == sentence_end and questioned
        unasked = clause.rstrip("吗么? ") if asked and following == sentence_end else clause
        cut = pattern("cut").match(clause) or pattern("question").search(unasked)
        if cut or (ends_asking and (not asked or pattern("to_you").search(clause))):
            return _trim(shape, a, end), end
        end = following
    return _trim(shape, a, end), end


def _trim(shape: str, a: int, b: int) -> int:
    """The content's end without closing particles and courtesies."""
    while b > a:
        if courtesy := pattern("courtesy_at_end").search(shape[max(a, b - 12) : b]):
            b -= len(courtesy[0])
            continue
        end = a + len(shape[a:b].rstrip(_LOOSE_ENDS))
        if end == b or shape[a:end].endswith(("叫", "姓")):
            break
        b = end
    return b
