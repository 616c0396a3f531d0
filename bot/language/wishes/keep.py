"""Reads a wish to keep something: what is a fact, how a wish parts into several, and where its content stands. Pure."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, cast

from bot.language.time.parts import count_zh
from bot.language.wishes.patterns import CLAUSE, QUOTED, FoundWish, WishPlace, may_ask, pattern, shaped
from bot.text.fold import fold, fold_mapped, unfold

WishStrength = Literal["strong", "weak", "fact"]
"""How clearly keeping was asked: noted for me, remember (or advice), do not forget (mostly an errand)."""

MOST_FACTS = 9
"""More facts than that are a document, and stay one memory."""
_LEAST, _REACH, _THIN_CHARS = 3, 600, 24
"""Characters of the shortest fact (我属兔), of the longest text that is parted, and of the longest that says nothing."""
_EDGES = " ,;、。\n"

_LOOSE_ENDS = "啊呀哦喔噢啦嘛吧呢哈嘿哟唷吗齁咯呦欸 ,.:"
_ASKED_AT_END = ("好吗", "可以吗", "行吗", "好不好", " ok", " okay")
_TO_NUAN = re.compile(r"[你您]|\b(?:you|your|it's good|these|those)\b")
"""Said to nuan, or pointing elsewhere: no statement that stands by itself."""
_BACK = 400
"""Characters before a command in which a statement that it points back to may begin: contents reach 200."""


def is_fact(body: str, kind: WishStrength, after_comma: bool, firmly: bool) -> bool:
    """Whether `body`, shaped text, can be a fact to keep.

    `after_comma`: a break stands between verb and body, as in discourse; `firmly`: it was put as a request.
    """
    if kind == "strong":
        errand = body.startswith(("to ", "方便", "you ", "your ", "it ", "this "))
        return len(body) > 1 and not errand and not pattern("no_content").fullmatch(body)
    if not _chinese(body):
        return _worth_en(body, kind, after_comma, firmly)
    if kind == "fact":
        return is_plain_fact(body)
    mine = pattern("mine").search(body)
    if pattern("standing").match(body):
        return mine is not None
    if pattern("advice").match(body):
        return False
    if mine:
        told = mine.start() == 0 or has_predicate(body) or not pattern("cjk").match(body)
        return told and not pattern("bare_noun").fullmatch(body) and not body.startswith(("你", "您"))
    told = pattern("predicate").search(body) is not None or QUOTED in body
    return not after_comma and len(body) > 3 and told and not pattern("maxim").search(body)


def is_plain_fact(part: str) -> bool:
    """Whether a statement is a plain fact about its speaker."""
    if not _chinese(part):
        return bool(pattern("statement_en").match(part)) and not pattern("not_fact_en").search(part)
    return bool(pattern("fact_zh").match(part)) and "你" not in part


def has_predicate(part: str) -> bool:
    """Whether it says something of anything: a predicate, a number, a time."""
    return bool(pattern("predicate").search(part) or (not _chinese(part) and pattern("concrete_en").search(part)))


def tells_of_writer(text: str) -> bool:
    """Whether a line tells something of its writer, so that a bare wish to keep right after it means it."""
    shape = shaped(fold(text.strip()), ())
    if "?" in shape or pattern("question").search(shape) or not pattern("mine").search(shape):
        return False
    return is_plain_fact(shape) or has_predicate(shape)


def says_nothing(text: str) -> bool:
    """Whether a text says nothing that could be kept: 好的, 嗯, ok, signs alone (seed: low-signal texts are rejected)."""
    said = fold(text).strip()
    return len(said) <= _THIN_CHARS and pattern("nothing_said").fullmatch(said) is not None


def facts_in(text: str) -> tuple[str, ...]:
    """The facts of a text that is all to be kept, verbatim, in order."""
    folded, origin = fold_mapped(text)
    spans = facts(shaped(folded, ()), 0, len(folded))
    return tuple(unfold(text, origin, a, b).strip() for a, b in spans) if len(spans) > 1 else (text,)


def facts(shape: str, a: int, b: int) -> list[tuple[int, int]]:
    """The spans of the facts in `shape[a:b]` in order, or that one span when it tells one, or too many."""
    listed = _items(shape, a, b)
    if len(listed) > 1 or b - a > _REACH or re.search(r"[。?\n]", shape[a:b]):
        return listed
    cuts = list(pattern("fact_cut").finditer(shape[:b], a))
    spans = [(a, b)]
    for index, cut in enumerate(cuts):
        lead = pattern("fact_join").match(shape, cut.end())
        start = lead.end() if lead else cut.end()
        clause = shape[start : cuts[index + 1].start() if index + 1 < len(cuts) else b].strip()
        told = shape[spans[-1][0] : cut.start()].strip()
        if (
            _stands(clause)
            and len(told) >= _LEAST
            and (has_predicate(told) or is_plain_fact(told))
            and not pattern("fact_open").search(told)
        ):
            spans[-1] = (spans[-1][0], cut.start())
            spans.append((start, b))
    return spans if len(spans) <= MOST_FACTS else listed


def _list_end(shape: str, at: int) -> int:
    """Where the lines of a list end whose first item begins at `at`; `at` when there are not two."""
    end, count = at, 0
    for line in shape[at:].split("\n"):
        if not pattern("list_item").match(line):
            break
        end, count = end + len(line) + (count > 0), count + 1
    return end if count > 1 else at


def _worth_en(body: str, kind: WishStrength, after_comma: bool, firmly: bool) -> bool:
    if pattern("not_fact_en").search(body):
        return False
    if pattern("statement_en").match(body):
        return True
    third = pattern("third_en").match(body) and (pattern("concrete_en").search(body) or pattern("mine").search(body))
    return bool(third) and (firmly or not after_comma) and not pattern("generic_en").search(body)


def _chinese(text: str) -> bool:
    return pattern("cjk").search(text) is not None


def _stands(clause: str) -> bool:
    """Whether a clause tells a fact of its own, and does not speak of what the one before named."""
    if len(clause) < _LEAST or pattern("fact_refers").search(clause) or not pattern("fact_first").match(clause):
        return False
    return is_plain_fact(clause) or has_predicate(clause)


def _items(shape: str, a: int, b: int) -> list[tuple[int, int]]:
    """The spans of the items of an enumeration in order, or that one span when it is none from its start."""
    marks = list(pattern("list_mark").finditer(shape[a:b]))
    first = marks[0] if marks else None
    if first is None or not 2 <= len(marks) <= MOST_FACTS or shape[a : a + first.start()].strip(_EDGES):
        return [(a, b)]
    counted = first.lastgroup == "dash" or [_number(mark) for mark in marks] == list(range(1, len(marks) + 1))
    if not counted or len({mark.lastgroup for mark in marks}) > 1:
        return [(a, b)]
    spans = []
    for mark, end in zip(marks, [*(mark.start() for mark in marks[1:]), b - a], strict=True):
        start = mark.start() if mark.lastgroup == "word" else mark.end()  # 第一 is part of what was said, 1. is not
        part = shape[a + start : a + end]
        spans.append((a + start + len(part) - len(part.lstrip(_EDGES)), a + start + len(part.rstrip(_EDGES))))
    return spans if all(end - start > 1 for start, end in spans) else [(a, b)]


def _number(mark: re.Match[str]) -> int:
    sign = mark[mark.lastgroup or 0]
    return count_zh(sign[1:2] or sign)


def opens(place: WishPlace) -> bool:
    """Whether a wish to keep begins here; what follows may still not be a fact."""
    return place.matches("remember") is not None


def remember_wish(place: WishPlace) -> tuple[FoundWish, ...]:
    """The wish to keep something that stands at this place, one for each fact; none in doubt."""
    if not pattern("remember_sure").search(place.shape, place.start, place.start + 400):
        return ()
    found = None
    if not pattern("of_oneself").search(place.lead) or "can we" in place.lead:
        found = _order(place) or _put(place) or _before_content(place) or _labelled(place)
    found = found or _within(place)
    if found is None or found.content is None:
        return (found,) if found else ()
    spans = facts(place.shape, *found.content)
    return tuple(
        FoundWish("remember", found.start if not n else found.end, found.end, span) for n, span in enumerate(spans)
    )


def _order(place: WishPlace) -> FoundWish | None:
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
    return FoundWish("remember", place.start, match.end()) if points and alone and not match["colon"] else None


def _after(place: WishPlace, match: re.Match[str]) -> FoundWish | None:
    """记个东西：车停在B2: what follows is it."""
    a = match.end()
    if place.shape.startswith("。", a) and pattern("nothing_left").fullmatch(place.shape, 0, place.start):
        follows = a + len(place.shape[a:]) - len(place.shape[a:].lstrip("。 "))  # 记下来！我考上了
        a = follows if pattern("mine").match(place.shape, follows) else a
    b, end = _extent(place.shape, a, asked=False)
    firm = match["colon"] or pattern("firm_order").search(match[0])
    meant = match["mind"] is None or pattern("insists").search(place.shape[place.start : a])
    kind: WishStrength = "strong" if firm else "weak" if meant else "fact"
    apart = place.shape.startswith("。", a) or (match["colon"] is None and pattern("points_back").search(match[0]))
    before = match["colon"] is None and _told_already(place, place.shape[a:b])
    if apart or before or not is_fact(place.shape[a:b], kind, True, match["mind"] is None):
        return None
    listed = _list_end(place.shape, a)
    return FoundWish("remember", place.start, max(end, listed), (a, max(b, listed)))


def _told_already(place: WishPlace, body: str) -> bool:
    """Whether what is told of its writer stands before the command, and not after it: 我周四请假，你记录一下，下次别约我."""
    mine = pattern("mine")
    return mine.search(body) is None and mine.search(place.shape, place.floor, place.start) is not None


def _told(place: WishPlace, match: re.Match[str], told: tuple[int, int], apart: bool) -> FoundWish | None:
    """…，记住哦: what was told before it is to be kept."""
    part, chinese = place.shape[slice(*told)], pattern("cjk").search(match[0]) is not None
    firm = match["mind"] is None and any(pattern(name).search(match[0]) for name in ("firm_order", "firmly"))
    sure = is_plain_fact(part) or (firm and (chinese or match["ends"] is not None))
    if (match["mind"] or match["ends"] is None or apart) and not sure:
        return None
    if not chinese and match["ends"] is None and not (is_plain_fact(part) and pattern("points").search(match[0])):
        return None
    if not is_plain_fact(part) and _TO_NUAN.search(part):
        return None
    return FoundWish("remember", told[0], match.end(), told)


def _back(place: WishPlace, end: int) -> FoundWish:
    """What stands before in the message, or the message before."""
    told = told_before(place, strong=True)
    return FoundWish("remember", told[0] if told else place.start, end, told)


def _put(place: WishPlace) -> FoundWish | None:
    """把…记下来: the content stands before the verb."""
    match = place.matches("keep_this")
    if not match or pattern("question").search(match["c"]):
        return None
    if pattern("pointing").fullmatch(match["c"]):
        return _back(place, match.end())
    if pattern("mine").search(match["c"]) or QUOTED in match["c"] or has_predicate(match["c"]):
        return FoundWish("remember", place.start, match.end(), match.span("c"))
    return None


def _before_content(place: WishPlace) -> FoundWish | None:
    shape, match = place.shape, place.matches("remember")
    intro = pattern("intro").match(shape, match.end()) if match else None
    if not match or not intro:
        return None
    kind, a = cast(WishStrength, match.lastgroup), intro.end()
    alone = pattern("nothing_left").fullmatch(shape, 0, place.start) is not None
    if shape.startswith("。", a):  # 记住！我只喝热水
        if not alone or kind not in ("weak", "strong"):
            return None
        a, kind = a + len(shape[a:]) - len(shape[a:].lstrip("。 ")), "fact"
    elif ":" in intro[0] and pattern("mine").search(shape, a):
        kind = "strong"
    whole = "the following" in match[0] or (match[0].startswith("remember the") and shape.startswith(":", match.end()))
    if whole or (shape.startswith("\n", a) and ":" in intro[0]):
        a += len(shape[a:]) - len(shape[a:].lstrip("。:, \n"))
        return FoundWish("remember", place.start, len(shape), (a, len(shape)))
    b, end = _extent(shape, a, place.asked)
    body = shape[a:b]
    comma = shape.find(",", a, b) % (b + 1)
    first = shape[a : _trim(shape, a, comma)]
    if pattern("pointing").fullmatch(first):
        return _this(place, match, first, comma if comma < b else end)
    firmly = pattern("firmly").search(place.lead) is not None
    sure = firmly or kind == "strong" or pattern("cjk").search(body) or _opening(place)
    if "," in intro[0] and (_told_already(place, body) or match[0].endswith(" that")):
        return None
    if b > comma > a and is_plain_fact(first) and not is_fact(body, kind, "," in intro[0], firmly):
        b, end, body = comma, comma, first  # what goes on to nuan is none of it
    if b <= a or not sure or not is_fact(body, kind, "," in intro[0], firmly):
        return None
    listed = _list_end(shape, a)
    return FoundWish("remember", place.start, max(end, listed), (a, max(b, listed)))


def _within(place: WishPlace) -> FoundWish | None:
    """I'd be glad if you would remember that I no longer drink: a plain fact after a wish within its clause."""
    clause = CLAUSE.match(place.shape, place.start)
    match = pattern("remember").search(place.shape, place.at, clause.end()) if clause else None
    if clause is None or match is None or not may_ask(place.shape, clause, match, named=False):
        return None
    before = place.shape[place.start : match.start()]
    told = pattern("mine").search(before) is not None and has_predicate(before)
    if told or any(pattern(name).search(before) for name in ("refused", "reported")):
        return None
    found = _before_content(replace(place, at=match.start()))
    if found is None or found.content is None:
        return None
    fact = place.shape[slice(*found.content)]
    return found if is_plain_fact(fact) or (match["strong"] and has_predicate(fact)) else None


def _labelled(place: WishPlace) -> FoundWish | None:
    """写进你的小本本：我怕打雷: what stands after a clause that speaks of keeping and ends in a colon."""
    label = pattern("keep_label").match(place.shape, place.start)
    a = label.end() if label else 0
    b, end = _extent(place.shape, a, asked=False)
    return (
        FoundWish("remember", place.start, end, (a, b))
        if a and is_fact(place.shape[a:b], "strong", True, True)
        else None
    )


def _opening(place: WishPlace) -> bool:
    """Whether nothing is argued before it in the sentence; in English "…, remember that …" is discourse."""
    begin = max(place.floor, *(place.shape.rfind(stop, 0, place.start) + 1 for stop in "。?\n"))
    return pattern("nothing_left").fullmatch(place.shape, begin, place.start) is not None


def _this(place: WishPlace, match: re.Match[str], body: str, end: int) -> FoundWish | None:
    """记住这个, remember this: put as a question of ability, or with 我的话, it asks for nothing."""
    forgetful = match.lastgroup == "fact" and body != "this"
    able = match.lastgroup == "weak" and place.asked and " for " not in place.shape[place.at :]
    if forgetful or able:
        return None
    back = _back(place, end)
    return None if back.content is None and body in ("我的话", "我说的话", "我说的") else back


def told_before(place: WishPlace, strong: bool) -> tuple[int, int] | None:
    """The statement before a command that points back to it, or None when nothing there is one."""
    shape = place.shape
    end = place.floor + len(shape[place.floor : place.start].rstrip(",。 \n"))
    low = max(place.floor, end - _BACK)
    begin = max(low, *(shape.rfind(stop, low, end) + 1 for stop in "。?\n"))
    if begin == low > place.floor:  # of a sentence that never ends only the last clauses
        begin = shape.find(",", low, end) + 1 or end
    for clause in _clauses(shape, begin, end):
        part = shape[clause:end]
        if pattern("nothing_left").fullmatch(part.split(",", 1)[0].strip()):
            continue
        if pattern("question").search(part):
            return None
        told = pattern("mine").search(part) or (strong and has_predicate(part) and part[0] not in "这那")
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
        if cut or (ends_asking and not asked):
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
