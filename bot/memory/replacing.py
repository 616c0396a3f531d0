"""What a statement of a digest takes the place of: what the model names, if that may go, and what its words change.

Of what somebody has one of, the store makes the older value former by slot and subject; here both get the names that
are known already.
"""

import calendar
from collections.abc import Iterable
from dataclasses import replace

from bot.memory.evidence import VOCABULARY, folded_plain, kin, terms, without_kin
from bot.memory.likeness import overtakes, plain
from bot.memory.minutes import DigestLine
from bot.memory.plain import statements_in
from bot.text.alike import STEM, core
from bot.text.fold import fold
from bot.text.slots import guarded, several, single
from bot.types.memory import Memory, NewMemory

MATTER = 0.65
"""So much of what one plan tells the other must tell, days apart: lunch with Ann is no film with Ann."""

_CUES = tuple(VOCABULARY.patterns[name] for name in ("changed", "ended", "moved"))
_MOVED, _RECOVERED = (VOCABULARY.patterns[name] for name in ("moved", "recovered"))
_MONTHS = frozenset(month.lower()[:STEM] for month in calendar.month_name[1:])
_PARTNERS = kin("男朋友 女朋友 老公 老婆 对象 partner")


def settled_in(
    new: NewMemory, named: Iterable[int], cited: tuple[DigestLine, ...], known: Iterable[Memory]
) -> NewMemory:  # fmt: skip
    """The statement with the subject by which that is known, and the numbers of what it takes the place of.

    `named` are those that the model names, `cited` the lines it comes from, `known` what the model was shown: of others
    the plans of the chat, which whoever speaks there may move.
    """
    shown = [one for one in known if one.owner_id == new.owner_id and not one.is_name]
    names = (cited[-1].name,)
    new = replace(new, subject=_subject(new, names, shown))
    said = folded_plain("\n".join((new.text, *(line.text for line in cited))))
    numbers = frozenset(named)
    plans = [one for one in known if one.owner_id != new.owner_id and one.dated and new.dated and not one.kept]
    gone = {one.id for one in (*shown, *plans) if one.id in numbers and _may_go(one, new, said, names)}
    gone |= {one.id for one in shown if _gone_unnamed(one, new, names)}
    same = [one for one in shown if one.slot and one.slot == new.slot and one.subject == new.subject]
    if len(same) == 1 and not several(new.slot) and not same[0].asked and _changes(folded_plain(new.text)):
        gone.add(same[0].id)
    return replace(new, replaces=tuple(sorted(gone | _moved(new, said, names, shown))))


def placed(memory: NewMemory) -> NewMemory:
    """What it is the value of, where it is one whole sentence that the rule reads: home, of sister Ines."""
    found = statements_in(memory.text)
    if memory.slot or len(found) != 1 or fold(found[0].text) != fold(memory.text) or not single(found[0].slot):
        return memory
    return replace(memory, slot=found[0].slot, subject=found[0].subject) if found[0].slot != "name" else memory


def same_one(one: str, other: str) -> bool:
    """Whether two subjects are the same somebody: sister Ines is Ines and the sister, cat Mochi is no cat Momo."""
    mine, theirs = folded_plain(one).strip(), folded_plain(other).strip()
    if mine == theirs or not mine or not theirs:
        return mine == theirs
    roles, name, called = kin(mine) & kin(theirs), without_kin(mine), without_kin(theirs)
    if not name or not called:
        return bool(roles)
    apart = bool(kin(mine)) and bool(kin(theirs)) and not roles
    words, others = set(name.split()), set(called.split())
    return not apart and (words <= others or others <= words)


def _subject(new: NewMemory, names: tuple[str, ...], shown: list[Memory]) -> str:
    """Whom it is about, as that is known already; whom somebody is with is told of themselves."""
    if not new.subject:
        return ""
    text = fold(new.text).strip()
    if new.slot == "partner" and len(plain(text, names)) < len(text.strip(" 。.!！~～")) and kin(text) <= _PARTNERS:
        return ""
    known = {one.subject for one in shown if one.subject}
    same = {one for one in known if same_one(one, new.subject)}
    return new.subject if new.subject in known or len(same) != 1 else same.pop()


def _may_go(old: Memory, new: NewMemory, said: str, names: tuple[str, ...]) -> bool:
    """Whether what the model names as replaced may go: the new statement is of the same, or its lines tell of a change.

    Neither what is of somebody's health nor what they asked to be kept goes for something else by its number alone.
    """
    if overtakes(new.text, old.text, names):
        return True
    slots = _slots(old)
    same = same_one(old.subject, new.subject)
    shared = terms(folded_plain(plain(old.text, names))) & terms(folded_plain(plain(new.text, names)))
    if any(map(guarded, slots)):
        ill = {term for slot in slots for word in VOCABULARY.slots.get(slot, ()) for term in shared if word in term}
        if same and shared - ill and (guarded(new.slot) or not new.slot):
            return True
        return "allergy" not in slots and not old.asked and _RECOVERED.search(said) is not None
    if same and (new.slot in slots or shared):
        return True
    if same and new.dated and old.dated and (not old.asked or _MOVED.search(said)):
        return True
    other = single(old.slot) and single(new.slot) and old.slot != new.slot
    return new.lasting and not old.asked and not other and _changes(said)


def _gone_unnamed(old: Memory, new: NewMemory, names: tuple[str, ...]) -> bool:
    """Whether it says otherwise than what somebody asked to be kept, of which no slot is known."""
    unknown = old.asked and not old.slot and old.subject == new.subject
    return unknown and single(new.slot) and overtakes(new.text, old.text, names)


def _slots(memory: Memory) -> frozenset[str]:
    """Its slot; of what has none those that its words speak of."""
    if memory.slot:
        return frozenset((memory.slot,))
    text = folded_plain(memory.text)
    return frozenset(slot for slot, words in VOCABULARY.slots.items() if any(word in text for word in words))


def tells_a_change(text: str) -> bool:
    """Whether a text says that a plan or a value is another now: 集合改到B口."""
    return _MOVED.search(folded_plain(text)) is not None


def _changes(said: str) -> bool:
    return any(cue.search(said) for cue in _CUES)


def _moved(new: NewMemory, said: str, names: tuple[str, ...], shown: list[Memory]) -> set[int]:
    """The plan that it gives another day, where it is clear which."""
    if not new.dated or new.kind == "anniversary" or new.observed_at <= new.said_at or not _MOVED.search(said):
        return set()
    words = _matter(new.text, names)
    shared: dict[int, int] = {}
    for one in shown:
        ahead = one.dated and one.kind != "anniversary" and one.observed_at > new.said_at and one.said_at < new.said_at
        theirs = _matter(one.text, names)
        both = len(words & theirs)
        if ahead and same_one(one.subject, new.subject) and both and both >= MATTER * min(len(words), len(theirs)):
            shared[one.id] = both
    most = [number for number, count in shared.items() if count == max(shared.values())]
    return set(most) if len(most) == 1 else set()


def _matter(text: str, names: tuple[str, ...]) -> frozenset[str]:
    """What a plan is about, without its day and words of change."""
    return core(_MOVED.sub(" ", plain(text, names))) - _MONTHS
