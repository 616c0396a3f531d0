"""What a person's own words of one turn carry: a wish to keep or to forget something, and which words say what.

The tools `remember` and `forget` ask here, so that no recalled, quoted or forwarded text can make them write. Doubt
means no. It reads text that somebody certainly wrote; who that was is known elsewhere.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.memory import patterns as p
from bot.memory.reading import shaped
from bot.memory.wording.signs import NAME, QUOTED
from bot.text.echo import touches
from bot.text.fold import fold_mapped, unfold
from bot.text.lazy import LazyPattern
from bot.text.tokens import STOP, index_terms

READ_CHARS = 8_000
"""Of a message so much is read: what one may be long (`input.max_chars`)."""

_ENDS = LazyPattern(r"[。\n]|(?<=\?)(?!\?)")
_SOFT = LazyPattern("[,]")
_SPEAKER = LazyPattern(r"^[ ]*[^,?:\ue000]{1,16}:(?!//)")
"""A line with a name before it is pasted from a talk."""
_TOLD = LazyPattern(
    "说|讲|问|喊|写|提到|告诉|回复|回答|转述|原文|原话|内容是|上面是|网页|文章|邮件|群里|"
    r"\b(?:says?|said|saying|told|tells|writes?|wrote|reads|asks?|asked|replied)\b"
)
_OTHERS = LazyPattern(
    "(?:让|叫|要|请|求|劝|逼|提醒)(?:我|他|她|它|人|大家)|[他她]们?[^,]{0,4}(?:让|叫|要|请)|"
    r"\b(?:told|asked|wants?|wanted|made) (?:me|him|her|them|us)\b|\b(?:he|she|they|it) (?:says?|said|wants?)\b"
)
"""Somebody else wants it."""
_KEEP = LazyPattern(
    "记(?:[住下着好牢录个]|一[下记]|得|[进入到])|备忘|(?:别|不要|可别)(?:给我)?忘|存(?:一下|下来|起来|[进到着个])|保存|留意"
    r"|\b(?:re?m+e?m*e?be?r|memori[sz]e|keep (?:that |this |it )?in mind|(?:take|make) (?:a )?note"
    r"|note (?:that|this|it|down)|jot|(?:do not|don'?t) forget|save (?:this|that|it)|write (?:this|that|it) down)\b"
)
_NOT_KEEP = LazyPattern(
    "(?:别|不要|不用|不必|甭|无需|没|不)[^,]{0,3}记|记不|记(?:住|下|得|好|牢|着)了|(?:我|你|您|还|都|总|老)(?:还|都|也)?记得|记得(?:吗|么|不)"
    r"|\b(?:i|we|you|still|always|never|can'?t|cannot|do(?: not|n'?t)) remember"
    r"|\bremember (?:when|what|who|how|the time)"
)
_DROP = LazyPattern(
    "忘(?:掉|记|了(?:[它这那吧]|我))|删|抹|清[除掉空理]|去掉|(?:别|不要|不用)(?:再)?(?:记(?:着|住|得)|留着)|划掉|移除|拿掉"
    r"|当(?:我|作|做)?没(?:说|讲|提)"
    r"|\b(?:forget|delete|remove|erase|wipe|scrub|unremember|drop|never said)\b"
    r"|\b(?:do ?n[o'’]?t|not) (?:remember|keep|store|save|hold on to)\b(?! in mind)"
)
_NOT_DROP = LazyPattern(
    "(?:别|不要|不许|不准|不能|不会|不想|没|不|差点|可别)(?:给我|让我|再)?(?:忘|删|抹|清|去掉)|(?:我|他|她|人|老|总|会|容易)[^,]{0,3}忘(?![掉])"
    r"|(?:\b(?:not|never|i|he|she|they|we|always|almost)|n'?t) (?:to |ever )?(?:forget|delete|remove|erase|wipe|drop)\b"
    r"|\bforget it\b|\b(?:i|he|she|they|we|you) (?:\w+ )?(?:do|did) ?n[o'’]?t (?:remember|keep|store|save)\b"
)
_NOT = LazyPattern(
    "(?<![特分区性类识鉴])[别没勿莫非无未否](?!忘)|不(?!要忘|错|过)|"
    r"\b(?:not|never|no|nor|hardly|without|cannot)\b|n'?t\b(?! forget)"
)
"""A wish about 我不喜欢猫 is none about 喜欢猫."""
_NUMBER = LazyPattern(r"(?:#|编号|第)[ ]?([0-9]{1,9})(?![0-9])|(?<![0-9])([0-9]{1,9})[ ]?号")
_FOREVER = LazyPattern(r"彻底|永久|永远|\b(?:permanently|for good)\b")
_BARE = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a message between two stops, folded; `start` and `end` are where it stands in its message."""

    text: str
    sentence: int
    asks: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Own:
    """What one message says in its writer's own words: neither quotes, code nor what others are said to say."""

    event_id: int
    clauses: tuple[Clause, ...]
    text: str
    origin: tuple[int, ...]

    @property
    def keeps(self) -> bool:
        """Whether it asks to keep something."""
        return any(_wishes(clause, _KEEP, _NOT_KEEP) for clause in self.clauses)

    @property
    def forever(self) -> bool:
        """Whether what it asks to forget is to be gone at once."""
        return any(_FOREVER.search(self.clauses[place].text) for place in self.drops)

    @property
    def drops(self) -> tuple[int, ...]:
        """The places of the clauses that ask to forget or to delete something."""
        return tuple(n for n, clause in enumerate(self.clauses) if _wishes(clause, _DROP, _NOT_DROP))

    def carries(self, text: str) -> bool:
        """Whether each clause of `text` stands in this message word for word, and not denied or asked there."""
        wanted = [_bare(part) for part in _SOFT.split(_stops(fold_mapped(text)[0]).replace("。", ","))]
        wanted = [part for part in wanted if part]
        telling = [term for part in wanted for term in index_terms(part) if term not in STOP]
        return bool(telling) and all(any(_holds(clause, part) for clause in self.clauses) for part in wanted)

    def near(self, place: int) -> str:
        """What stands before a clause in the same sentence, where 那条 points."""
        this = self.clauses[place]
        return ",".join(c.text for c in self.clauses[:place] if c.sentence == this.sentence)

    def without(self, places: Iterable[int]) -> str:
        """The message as its writer wrote it, without these clauses and what stands before them in their sentences."""
        last = {self.clauses[place].sentence: place for place in sorted(places)}
        gone = [c for n, c in enumerate(self.clauses) if n <= last.get(c.sentence, -1)]
        kept, at = "", 0
        for clause in (*gone, Clause("", 0, False, len(self.origin), len(self.origin))):
            kept += unfold(self.text, self.origin, at, clause.start) if clause.start > at else ""
            at = max(at, clause.end)
        return kept.strip(" \n,，。.!！?？;；、")


@dataclass(frozen=True, slots=True)
class Meant:
    """The memories that a wish to forget is about; `named` when it gives their numbers."""

    numbers: tuple[int, ...]
    named: bool = False


def own(event_id: int, text: str, names: tuple[str, ...]) -> Own:
    """What a message says in its writer's own words; `names` are those the bot is called by. Linear in the text."""
    text = text[:READ_CHARS]
    folded, origin = fold_mapped(text)
    if p.ABOUT_WORDS.search(folded):
        return Own(event_id, (), text, origin)
    shape = shaped(folded, names)
    clauses: list[Clause] = []
    start = number = 0
    while start < len(shape):
        found = _ENDS.search(shape, start)
        end = found.start() if found else len(shape)
        clauses += _clauses(shape, start, end, number)
        start, number = max(found.end() if found else end, start + 1), number + 1
    return Own(event_id, tuple(clauses), text, origin)


def meant(words: Own, texts: Iterable[tuple[int, str]]) -> Meant:
    """Which of these memories (number and text) the wish to forget of a message is about, by number or by word.

    The clause itself decides; where it only points (那条), what stands before it in its sentence.
    """
    known = tuple(texts)
    for line in (*(words.clauses[place].text for place in words.drops), *(words.near(place) for place in words.drops)):
        numbers = {int(found[1] or found[2]) for found in _NUMBER.finditer(line)}
        named = tuple(number for number, _ in known if number in numbers)
        found = named or tuple(number for number, text in known if touches(text, line))
        if found:
            return Meant(found, bool(named))
    return Meant(())


def _clauses(shape: str, start: int, end: int, number: int) -> Iterable[Clause]:
    """The clauses of a sentence; what somebody is said to have said in it is left out, as is a line with a speaker."""
    sentence = shape[start:end]
    if _SPEAKER.match(sentence) and not _KEEP.search(sentence.partition(":")[0]):
        return
    told = QUOTED in sentence and _TOLD.search(sentence)
    asks = sentence.rstrip().endswith(("?", "吗", "么", "呢"))
    at, limit = start, end + (shape[end : end + 1] in ("。", "\n"))
    for part in _SOFT.split(sentence):
        begin, at = at, at + len(part) + 1
        if told or (":" in part and _TOLD.search(part.partition(":")[0])):
            return
        said = part.replace(QUOTED, " ").replace(NAME, " ").strip()
        if said:
            yield Clause(said, number, asks, begin, min(at, limit))
        if _TOLD.search(part) and part.rstrip().endswith(("说", "讲", "问", "写着", "said", "says", "wrote")):
            return


def _stops(folded: str) -> str:
    return shaped(folded, ())


def _wishes(clause: Clause, wish: LazyPattern, none: LazyPattern) -> bool:
    found = wish.search(clause.text)
    if found is None or none.search(clause.text) or _OTHERS.search(clause.text):
        return False
    return not clause.asks or p.ASKED.search(clause.text) is not None


def _bare(text: str) -> str:
    return _BARE.sub("", text)


def _holds(clause: Clause, part: str) -> bool:
    """Whether the words stand in the clause, and what stands before them does not turn them round."""
    if clause.asks and p.ASKED.search(clause.text) is None:
        return False
    kept = [(index, char) for index, char in enumerate(clause.text) if not _BARE.fullmatch(char)]
    line = "".join(char for _, char in kept)
    at = line.find(part)
    if at < 0:
        return False
    before, after = clause.text[: kept[at][0]], clause.text[kept[at + len(part) - 1][0] + 1 :]
    whole = not (part[0].isascii() and re.search(r"[a-z0-9']$", before)) and not (
        part[-1].isascii() and re.match(r"[a-z0-9']", after)
    )
    return whole and _NOT.search(before) is None
