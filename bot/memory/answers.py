"""Reads the answer to a question about memories: yes, 1 and 3, all, never mind, or the words that were missing.

Only the next thing the person says can be one; what is none is ordinary talk.
"""

from bot.memory import patterns as p
from bot.memory.patterns import FILLER, GREETING, PARTICLE, POLITE
from bot.memory.reading import shaped
from bot.memory.wording.signs import NAME
from bot.memory.worth import thin
from bot.text.fold import fold
from bot.text.lazy import LazyPattern
from bot.types.memory import MemoryCommand, Question

MOST_CHARS = 60
"""An answer that chooses is short."""

NAME_CHARS = 24
"""Longest name that is taken as one."""

_PIECE = f"(?>[ ,。]|{POLITE}|{GREETING}|{FILLER}|{PARTICLE})"
_BEFORE, _AROUND = f"{_PIECE}*?", f"{_PIECE}*+"
"""A no or a yes may open ordinary talk as well (no, wait): what comes before the answer takes as little as it can."""
_NO = LazyPattern(
    f"(?:{_BEFORE}(?:算了|取消|不用了?|不要了?|不是|不删了?|不忘了?|别删|没事了?|都不是?|不|no(?:ne)?|nope|cancel|never ?mind|forget it"
    f"|leave it|neither|keep (?:it|them|that|all|both|everything)|(?:都|全)?(?:留着|留下|保留)))+{_AROUND}"
)
_ALL = LazyPattern(
    f"{_BEFORE}(?:是的?|对的?|确认|确定|全部|全都?|都(?:是|要|忘掉?|删掉?)?|所有|全(?:部)?(?:忘掉?|删掉?|要)|[一两二三]条?都(?:忘|删)掉?"
    f"|y|yes|yeah|yep|sure|confirm(?:ed)?|do it|go ahead|all|all of (?:them|it)|both|everything){_AROUND}"
)
_CHOSEN = LazyPattern(
    f"{_BEFORE}(?:就|要|忘记?掉?|删掉?|forget|delete|number)*[ ]*"
    "(?P<list>(?:第|no\\.? ?)?#?[0-9]{1,9}(?:[条个号])?(?:(?:[ ,、/和跟与及+&]|and)+(?:第)?#?[0-9]{1,9}(?:[条个号])?)*"
    f"|第?[一二两三四五](?:[条个]))(?:那?[条个])?{_AROUND}"
)
_FINE = LazyPattern(f"{_BEFORE}(?:好的?|嗯+|行|可以|没问题|ok|okay|right|correct){_AROUND}")
"""Agrees where there is one thing to agree to; of several it chooses none."""
_NUMBER = LazyPattern("(?P<known>#?)(?P<n>[0-9]{1,9})")
_ORDINAL = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5}


def answer_to(question: Question, text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """What an answer asks to be done; None when the text answers nothing. `names` call the bot."""
    said = text.strip()
    shape = shaped(fold(said), names).replace(NAME, " ").strip(" ,")
    if not shape:
        return None
    if len(shape) <= MOST_CHARS and _NO.fullmatch(shape):
        return MemoryCommand("let_be", None)
    if question.kind == "which":
        return _chosen(question, shape) if len(shape) <= MOST_CHARS else None
    if "?" in shape or p.QUESTION.search(shape) or thin(said):
        return None
    if question.kind == "name":
        name = _bare(said)
        return MemoryCommand("nick_revoke", name) if 0 < len(name) <= NAME_CHARS else None
    if question.kind == "clarify":
        return MemoryCommand("clarify", said, question.memories[0])
    return MemoryCommand("remember", said)


def _chosen(question: Question, shape: str) -> MemoryCommand | None:
    offered = question.memories
    if _ALL.fullmatch(shape) or (len(offered) == 1 and _FINE.fullmatch(shape)):
        return MemoryCommand("forget", None, forever=question.forever, chosen=offered)
    match = _CHOSEN.fullmatch(shape)
    if match is None:
        return None
    found: list[int] = []
    listed = match["list"]
    if not any(char.isdigit() for char in listed):
        places = [(False, _ORDINAL[char]) for char in listed if char in _ORDINAL]
    else:
        places = [(bool(each["known"]), int(each["n"])) for each in _NUMBER.finditer(listed)]
    for by_number, number in places:
        if not by_number and 1 <= number <= len(offered):
            found.append(offered[number - 1])
        elif number in offered:
            found.append(number)
        else:
            return None
    return MemoryCommand("forget", None, forever=question.forever, chosen=tuple(dict.fromkeys(found)))


def _bare(said: str) -> str:
    """A name without the signs around it."""
    return said.strip(" ,，。.!！~～\"'“”「」")
