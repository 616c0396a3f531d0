"""Whether a message brings somebody else's text: heads, introductions, logs of talks, quotes, notes. Pure; it judges the
layout, not what is said. What a platform marks as forwarded is none of its business."""

import re

from bot.language.reminders.multiple_requests import reminder_wishes
from bot.language.wishes.reader import bare_wish, understand, wish_cue
from bot.text.catalogue import LazyPattern, read_table
from bot.text.fold import fold

READ_CHARS = 8_000
"""How much of a message is looked at."""

LABEL = 24
"""Characters at most before the colon of a label or a name."""

SALUTATION = 28
"""Characters at most of a line that only greets (Hi Bob, / 各位同事：)."""

LONG_ROWS, LONG_ROWS_APART = 6, 4
"""Rows from which on a text in which nobody is asked at its beginning is a document; and where blank rows part it."""

_SIGNS = {name: "|".join(parts) for name, parts in read_table("bot.language", "pasted").items()}
_MOMENT = f"(?:(?:{_SIGNS['day']}),? *)*(?:{_SIGNS['time']})"
_LABELLED = LazyPattern(rf"[-*•>\s]*(?P<label>[^:,。?!\n]{{1,{LABEL}}}?) ?(?:(?<!\d):|:(?!\d)) *(?P<rest>\S.*)?$")
_NAMES_TEXT = LazyPattern(f"(?:{_SIGNS['text_kind']})|(?:{_SIGNS['saying']})")
_STAMPED = LazyPattern(
    rf"[\[(]? *{_MOMENT} *[\])]?[ ,-]*(?P<who>[^\s:,。?!][^:,。?!]{{0,19}}): *\S|(?P<named>\S.{{0,24}}?),? +[\[(]?{_MOMENT}[\])]?$"
)
_DATED = LazyPattern(rf"[\[(]? *(?:{_SIGNS['day']}),? +(?:{_SIGNS['time']}) *[\])]?(?P<rest>.*)$")
"""A row that begins with a day and a time heads what comes after it, where it names the year or the seconds."""
_YEAR, _SECONDS = LazyPattern(r"[\[(]? *\d{4}[-/.年]"), LazyPattern(r"\d{1,2}:\d{2}:\d{2}")
_QUOTED = LazyPattern(r"[>|＞]|```|[-*]? ?\[[ x]?\] |-{3,}|={3,}|_{5,}|\*{3,}$")
_SIGNED = LazyPattern(r"【[^】\n]{1,16}】|\[[^\]\n]{1,16}\] ?(?=\S)")
_ITEM = LazyPattern(r"(?:[-*•·▪◦–—]|\d{1,2}[.)、]|[①-⑳]|[一二三四五六七八九十]、|\[[ x]?\]) ?\S|#{1,6} \S")
_CODE = LazyPattern(f"(?:{_SIGNS['code']})")
_HANDED_OVER, _TO_MANY = LazyPattern(f"(?:{_SIGNS['handed_over']})"), LazyPattern(f"(?:{_SIGNS['to_many']})")
_OFFICE_END, _OWN_LIST = LazyPattern(f"(?:{_SIGNS['office_end']})"), LazyPattern(f"(?:{_SIGNS['own_list']})")
_GREETED = LazyPattern(r"dear (?P<latin>[^,:]{1,24}),|(?P<role>[^,:。!?\s]{1,6})您好")
_QUOTATION = LazyPattern(
    r"[“「『](?P<said>[^”」』]{4,})|(?<!\w)[\"＂](?P<double>[^\"＂]{4,})|(?<!\w)['‘](?P<single>.{4,}?)['’](?!\w)"
)


def own_part(text: str, names: tuple[str, ...]) -> str:
    """What of a message is its writer's own: all of it, or what stands before the text that they pasted.

    All of it also where that beginning asks for something itself, or seems to and ends with a colon (记住这封邮件：…).
    A quotation is somebody else's where it asks for something. `names` call the bot.
    """
    at = pasted_at(text, names)
    if at is None:
        at = _quoted_wish_at(text, names)
    if at is None:
        return text
    own = text[:at]
    head = fold(own).strip()
    seems = head.endswith(":") and (_OWN_LIST.search(head) or wish_cue(own, names)) is not None
    return text if seems or asks(own, names) else own


def asks(text: str, names: tuple[str, ...]) -> bool:
    """Whether a text asks for something that is done without a model."""
    return bool(understand(text, names).commands or reminder_wishes(text, names) or bare_wish(text, names))


def _quoted_wish_at(text: str, names: tuple[str, ...]) -> int | None:
    """Where the first quotation begins that asks for something."""
    for match in _QUOTATION.finditer(text[:READ_CHARS]):
        if asks(match[match.lastgroup or 0], names):
            return match.start()
    return None


def pasted_at(text: str, names: tuple[str, ...] = ()) -> int | None:
    """Where in a message a text begins that looks pasted; None when nothing does. A row that only calls the bot by one
    of its `names` greets nobody else.
    """
    called = {fold(name) for name in names}
    found = re.finditer(r"[^\n]+", text[:READ_CHARS])
    folded = [(match.start(), match.end(), fold(match[0].strip())) for match in found]
    rows = [each for each in folded if each[-1].strip()]  # a row of what nobody sees folds to nothing
    if any(row == "--" or _OFFICE_END.search(row) for *_, row in rows):  # what stands above is signed
        return 0
    if len(rows) > 1 and _HANDED_OVER.search(rows[0][-1]):
        return rows[0][1] + 1
    items = 0
    for place, (start, end, row) in enumerate(rows):
        after = min(end + 1, len(text))
        label = _LABELLED.match(row)
        more = place + 1 < len(rows)
        if "\t" in text[start:end].strip():  # no keyboard of a chat writes tabs
            return start
        if _QUOTED.match(row) or _SIGNED.match(row) or _TO_MANY.match(row) or _stamped(row, more=more):
            return start
        if label is not None and _introduces(label, more=more):
            return after if label["rest"] is None else start + _colon(text[start:after])
        if more and label is not None and label["rest"] and _is_label(rows[place + 1][-1]):
            return start
        greeted = _GREETED.match(row) if place == 0 else None
        if greeted is not None and greeted[greeted.lastgroup or 0] not in called:
            return start
        greets = place == 0 and len(row) <= SALUTATION and row[-1] == ","
        if more and row[:-1] not in called and (greets or row[-1] in ":—"):
            return after
        if _CODE.match(row) and (not more or any(_CODE.match(other) for *_, other in rows[place + 1 :])):
            return start
        items += _ITEM.match(row) is not None
        if items == 2:
            return start
    apart = "\n\n" in text.strip()
    return rows[1][0] if len(rows) >= (LONG_ROWS_APART if apart else LONG_ROWS) else None


def _stamped(row: str, *, more: bool) -> bool:
    found, dated = _STAMPED.match(row), _DATED.match(row)
    if dated is not None and (_SECONDS.search(row) or (more and _YEAR.match(row))):
        return True
    return found is not None and (found["who"] is not None or more)


def _introduces(label: re.Match[str], *, more: bool) -> bool:
    """Whether a line announces a text: it names one, or who speaks; or it ends with its colon and more lines come."""
    if label["rest"] is None:
        return more
    return _NAMES_TEXT.search(label["label"]) is not None


def _is_label(row: str) -> bool:
    found = _LABELLED.match(row)
    return found is not None and found["rest"] is not None


def _colon(line: str) -> int:
    """Where in a line its colon ends."""
    return next(place for place, sign in enumerate(line, 1) if fold(sign) == ":")
