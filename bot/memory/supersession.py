"""What a new statement does to what is kept: says the same, contradicts it, or takes its place. By words. Pure."""

import calendar
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from bot.core.clock import DAY_MS
from bot.core.memories import Memory, Merge, MergeRule, NewMemory
from bot.language.assertions import VOCABULARY, folded_plain, kin, terms, without_kin
from bot.language.sections import holds_one, is_guarded, is_single_valued
from bot.language.statements import statements_in
from bot.memory.transcript import DigestLine
from bot.text.catalogue import LazyPattern, read_table
from bot.text.fold import fold
from bot.text.similarity import PROMISE_STEM, content_terms, content_words

SAME_CORE = 0.82
"""Two statements are about the same thing when they share so much beside denial and end."""

_WORDS = read_table("bot.memory", "supersession")
_DENIED = LazyPattern(_WORDS["denied"])
_OVER = LazyPattern(_WORDS["over"])
"""A thing that has ended. No word border beside Chinese: `\\b` never matches there (measured in the reference)."""

_FIGURE = LazyPattern(
    r"[0-9]+(?:[.:/][0-9]+)*|(?<![一-鿿])[一二三四五六七八九十百千万两]+(?=[个只岁点号月年日天次公元块斤口条])"
)

_ONE_OF = tuple(map(LazyPattern, _WORDS["one_of"]))
"""What somebody has one of: another value of the same is a correction."""

_BORN = LazyPattern(_WORDS["born"])
"""小美5月4日生日, which says the same as 小美生日是5月4日."""

_OWN_THING = LazyPattern(_WORDS["own_thing"])
"""What a sentence tells the value of: my car is a Corsa, 我的主治医生是刘医生."""

_SUBJECT = LazyPattern(_WORDS["subject"])

_WHOSE = LazyPattern(_WORDS["whose"])
"""Somebody by whose they are: 阿凯的妈妈, Tom's mother."""


Conflict = Literal["", "value", "figure", "status"]

SAME, LIKE = 0.93, 0.82
"""From these likenesses on a statement says nothing new, or is much like an older one (seed Warm Boot, write guard)."""

MATTER = 0.65
"""So much of what one plan tells the other must tell, days apart: lunch with Ann is no film with Ann."""

_CUES = tuple(VOCABULARY.patterns[name] for name in ("changed", "ended", "moved"))
_MOVED, _RECOVERED, _NOW = (VOCABULARY.patterns[name] for name in ("moved", "recovered", "now"))
_MONTHS = frozenset(month.lower()[:PROMISE_STEM] for month in calendar.month_name[1:])
_PARTNERS = kin("男朋友 女朋友 老公 老婆 对象 partner")


@dataclass(frozen=True, slots=True)
class Comparison:
    """`like`: how much two statements share, 0 to 1. `told`: how much of the new one the older one says. `conflict`:
    the new one corrects a value, is the same sentence with other figures, or denies or ends what the older one says."""

    like: float
    told: float
    conflict: Conflict


def compare(new: str, older: str, names: tuple[str, ...] = ()) -> Comparison:
    """The new statement beside the older one of the same owner; `names` are the owner's, who is I in both."""
    one, other = without_owner(new, names), without_owner(older, names)
    mine, theirs = content_terms(one), content_terms(other)
    shared = len(mine & theirs)
    like = 2 * shared / (len(mine) + len(theirs)) if mine and theirs else float(one == other)
    told = shared / len(mine) if mine else 0.0
    if _denied(_standing(one), _standing(other)):
        return Comparison(like, told, "status")
    if _valued(_values(one), other):
        return Comparison(like, told, "value")
    return Comparison(like, told, "figure" if _other_figures(_born(one), _born(other)) else "")


def contradicts(new: str, older: str, names: tuple[str, ...] = ()) -> bool:
    """Whether a new statement corrects what an older one says somebody has or does, or one of its clauses denies it.

    The same sentence with other figures says something else: another day, another number.
    """
    return contradiction_of(new, names)(older)


def contradiction_of(new: str, names: tuple[str, ...] = ()) -> Callable[[str], bool]:
    """As `contradicts`, of one new statement beside any number of older ones."""
    values = _values(without_owner(new, names))
    said = [_standing(without_owner(part, names)) for part in statement_clauses(new)]

    def contradicted_by(older: str) -> bool:
        if values and _valued(values, without_owner(older, names)):
            return True
        parts = (_standing(without_owner(part, names)) for part in statement_clauses(older))
        return any(_denied(one, other) for other in parts for one in said)

    return contradicted_by


def without_owner(text: str, names: tuple[str, ...] = ()) -> str:
    """Folded, without the owner's name or pronoun at the beginning."""
    rest = fold(text).strip()
    for name in sorted({fold(name).strip() for name in names if name.strip()}, key=lambda name: -len(name)):
        if rest.startswith(name):
            rest = rest.removeprefix(name).removeprefix("'s").lstrip(" 的,，:：")
            break
    return _SUBJECT.sub("", rest, count=1).strip(" 。.!！~～")


def statement_clauses(text: str) -> tuple[str, ...]:
    """The parts of a statement, in order; a comma inside a figure ends none."""
    return tuple(part.strip() for part in re.split(r"[；;。！!]+|[，,](?![0-9])", text) if part.strip())


def _born(text: str) -> str:
    return _BORN.sub(r"\g<whose>生日是\g<day>", text)


def _values(text: str) -> list[tuple[LazyPattern, re.Match[str]]]:
    """What a statement tells of which one has one."""
    text = _born(text)
    return [(pattern, found) for pattern in _ONE_OF if (found := pattern.fullmatch(text))]


def _valued(values: list[tuple[LazyPattern, re.Match[str]]], older: str) -> bool:
    """Whether the older one tells another value of what one has one of."""
    older = _born(older) if values else ""
    for pattern, mine in values:
        theirs = pattern.fullmatch(older)
        if theirs and mine["whose"].strip(" 的") == theirs["whose"].strip(" 的"):
            a, b = content_terms(mine["value"]), content_terms(theirs["value"])
            same = mine["value"].strip() == theirs["value"].strip() or bool(a and b and (a <= b or b <= a))
            kind = (mine["what"] or "").strip() == (theirs["what"] or "").strip() or "搬" in mine[0] or "mov" in mine[0]
            if kind and not same:
                return True
    return False


def _other_figures(new: str, older: str) -> bool:
    """Whether they are the same sentence with other figures."""
    return new != older and _FIGURE.sub("#", new) == _FIGURE.sub("#", older)


def _denied(mine: tuple[str, bool], theirs: tuple[str, bool]) -> bool:
    """One of them says that it is not, or is over, what the other says (`_standing`)."""
    if mine[1] == theirs[1]:
        return False
    a, b = content_terms(mine[0]), content_terms(theirs[0])
    if not a or not b:
        return False
    shared = len(a & b)
    return max(2 * shared / (len(a) + len(b)), shared / len(b)) >= SAME_CORE


def _standing(text: str) -> tuple[str, bool]:
    """What a statement is about, and whether it says that this holds."""
    rest, denied = _DENIED.subn(" ", text)
    rest, over = _OVER.subn(" ", rest)
    return rest, (denied + bool(over)) % 2 == 0


def merge_rule(names: Mapping[int, str], *, judged: bool = False) -> MergeRule:
    """The rule for statements of people of these names; what says more than an older one stands for itself."""

    def rule(new: NewMemory, near: tuple[Memory, ...]) -> tuple[Merge, ...]:
        name = names.get(new.owner_id or 0, "")
        return merges(new, near, (name,) if name else (), judged=judged)

    return rule


def merges(
    new: NewMemory, near: tuple[Memory, ...], names: tuple[str, ...], *, judged: bool = False
) -> tuple[Merge, ...]:
    """What a person asks to keep takes in what was only found; anything else goes into the likest older one, if any.

    `near` are memories of the same owner in the same place (`near_memories` in store/supersession.py).
    What somebody asked to keep, or protects, never changes its words: the same found again proves it, and what
    contradicts it stands for itself. What holds a slot only proves what says the same of that slot. A model that
    `judged` says itself which value took another's place: a second flat, or a second debt, is none.
    """
    found = [(memory, compare(new.text, memory.text, names)) for memory in near]
    if new.asked:
        return tuple(
            Merge(memory, "outdo" if seen.conflict else "absorb")
            for memory, seen in found
            if not memory.kept and (seen.conflict or seen.like >= LIKE)
        )
    for memory, seen in sorted(found, key=lambda pair: (not pair[0].kept, -pair[1].like, pair[0].id)):
        if new.slot and (memory.slot not in ("", new.slot) or memory.subject not in ("", new.subject)):
            continue
        done = _into_kept(new, memory, seen) if memory.kept else _into(new, memory, seen, judged)
        if done is not None and (done.how == "evidence" or not new.slot):
            return (done,)
    return ()


def _into_kept(new: NewMemory, memory: Memory, seen: Comparison) -> Merge | None:
    like = seen.like if new.slot and len(statement_clauses(memory.text)) > 1 else max(seen.like, seen.told)
    return Merge(memory, "evidence") if not seen.conflict and like >= LIKE else None


def _into(new: NewMemory, memory: Memory, seen: Comparison, judged: bool) -> Merge | None:
    if memory.kind != new.kind or (memory.owner_id is None and memory.chat_id != new.chat_id):
        return None
    another = seen.conflict == "figure" and judged
    if seen.conflict and not another and not (new.kind == "event" and seen.conflict in ("value", "figure")):
        return Merge(memory, "update", new.text)
    same_day = new.kind != "event" or abs(new.observed_at - memory.observed_at) < DAY_MS
    told = seen.like >= SAME or (seen.like >= LIKE and seen.told >= SAME)
    return Merge(memory, "evidence") if told and same_day and not seen.conflict else None


def with_replaced(
    new: NewMemory, named: Iterable[int], cited: tuple[DigestLine, ...], known: Iterable[Memory]
) -> NewMemory:
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
    return replace(new, replaces=tuple(sorted(gone | _moved(new, said, names, shown))))


def contradicted(new: NewMemory, kept: Iterable[Memory], name: str) -> Memory | None:
    """What of those that a person of that name had kept before in the same place a new wish takes the place of."""
    if new.slot:
        return None
    one = with_slot(new)
    denies, text, plain = contradiction_of(new.text, (name,)), fold(new.text), folded_plain(new.text)
    for memory in kept:
        there = memory.visibility == new.visibility and (new.visibility == "private" or memory.chat_id == new.chat_id)
        if not there or not memory.asked or memory.former_at is not None or memory.is_name:
            continue
        same = bool(one.slot) and memory.slot == one.slot and same_subject(memory.subject, one.subject)
        other = fold(memory.text) != text
        if (
            denies(memory.text)
            or (same and other and content_words(memory.text) & content_words(new.text))
            or (other and _now_otherwise(plain, folded_plain(memory.text)))
        ):
            return memory
    return None


def _now_otherwise(new: str, older: str) -> bool:
    """Whether one tells another value of the very thing of theirs, and that it is so now: my car is a Fiesta now."""
    one, other = _OWN_THING.match(new), _OWN_THING.match(older)
    if one is None or other is None:
        return False
    thing = one["en"] or one["zh"]
    return thing == (other["en"] or other["zh"]) and holds_one(thing) and bool(_NOW.search(new) or _changes(new))


def with_slot(memory: NewMemory) -> NewMemory:
    """What it is the value of, where it is one whole sentence that the rule reads: home, of sister Ines."""
    slot, subject = ("", "") if memory.slot else told_slot(memory.text)
    return replace(memory, slot=slot, subject=subject) if slot else memory


def told_slot(text: str) -> tuple[str, str]:
    """The slot of which a text of one sentence tells the value, and whose ("" is its writer's); ("", "") for none."""
    found = statements_in(text)
    if len(found) != 1 or fold(found[0].text) != fold(text) or not is_single_valued(found[0].slot):
        return "", ""
    return ("", "") if found[0].slot == "name" else (found[0].slot, found[0].subject)


def same_subject(one: str, other: str) -> bool:
    """Whether two subjects are the same somebody: sister Ines is Ines and the sister, cat Mochi is no cat Momo, and
    Tom's mother is no mother of one's own."""
    mine, theirs = folded_plain(one).strip(), folded_plain(other).strip()
    if mine == theirs or not mine or not theirs:
        return mine == theirs
    (owner, mine), (other_owner, theirs) = _whose(mine), _whose(theirs)
    if (owner or other_owner) and not (owner and other_owner and same_subject(owner, other_owner)):
        return False
    roles, name, called = kin(mine) & kin(theirs), without_kin(mine), without_kin(theirs)
    if not name or not called:
        return bool(roles)
    apart = bool(kin(mine)) and bool(kin(theirs)) and not roles
    words, others = set(name.split()), set(called.split())
    return not apart and (words <= others or others <= words)


def _whose(subject: str) -> tuple[str, str]:
    """By whom somebody is told of, "" for one's own, and who it is: Tom and the mother of Tom's mother."""
    found = _WHOSE.match(subject)
    return (found["name"] or "", found["who"] or "") if found is not None else ("", subject)


def _subject(new: NewMemory, names: tuple[str, ...], shown: list[Memory]) -> str:
    """Whom it is about, as that is known already; whom somebody is with is told of themselves."""
    if not new.subject:
        return ""
    text = fold(new.text).strip()
    if (
        new.slot == "partner"
        and len(without_owner(text, names)) < len(text.strip(" 。.!！~～"))
        and kin(text) <= _PARTNERS
    ):
        return ""
    subject = _unowned(new.subject, names)
    known = {one.subject for one in shown if one.subject}
    same = {one for one in known if same_subject(_unowned(one, names), subject)}
    return subject if subject in known or len(same) != 1 else same.pop()


def _unowned(subject: str, names: tuple[str, ...]) -> str:
    """Whom the owner of a statement calls so: of 小王 小王的妈妈 is 妈妈."""
    owner, who = _whose(folded_plain(subject).strip())
    return who if owner in {folded_plain(name) for name in names} else subject


def _may_go(old: Memory, new: NewMemory, said: str, names: tuple[str, ...]) -> bool:
    """Whether what the model names as replaced may go: the new statement is of the same, or its lines tell of a change.

    Neither what is of somebody's health nor what they asked to be kept goes for something else by its number alone.
    """
    if contradicts(new.text, old.text, names):
        return True
    slots = _slots(old)
    same = same_subject(old.subject, new.subject)
    shared = terms(folded_plain(without_owner(old.text, names))) & terms(folded_plain(without_owner(new.text, names)))
    if any(map(is_guarded, slots)):
        ill = {term for slot in slots for word in VOCABULARY.slots.get(slot, ()) for term in shared if word in term}
        if same and shared - ill and (is_guarded(new.slot) or not new.slot):
            return True
        return "allergy" not in slots and not old.asked and _RECOVERED.search(said) is not None
    if (same and (new.slot in slots or shared)) or _both_hold(new, old):
        return True
    if same and new.dated and old.dated and (not old.asked or _MOVED.search(said)):
        return True
    other = is_single_valued(old.slot) and is_single_valued(new.slot) and old.slot != new.slot
    if same and not slots and holds_one(new.slot) and _changes(said):  # 记住 of what no slot is known of
        return True
    passing = bool(shared) and not old.lasting
    return not old.asked and not other and (passing or (new.lasting and _changes(said)))


def _both_hold(new: NewMemory, old: Memory) -> bool:
    """Whether both are about who or what holds the slot: dentist Dr Lam, dentist Dr Brandt."""
    words = {new.slot, *VOCABULARY.slots.get(new.slot, ())}
    held = (any(word in folded_plain(one.subject) for word in words) for one in (new, old))
    return new.slot == old.slot and holds_one(new.slot) and all(held)


def _gone_unnamed(old: Memory, new: NewMemory, names: tuple[str, ...]) -> bool:
    """Whether what no slot is known of tells another value of the same thing."""
    if old.slot or not is_single_valued(new.slot):
        return False
    if old.subject == new.subject and contradicts(new.text, old.text, names):
        return True
    bare = without_owner(old.text, names)
    slot, subject = told_slot(f"I {bare}" if bare.isascii() else f"我{bare}")
    return slot == new.slot and same_subject(subject or old.subject, new.subject) and fold(old.text) != fold(new.text)


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
        if ahead and same_subject(one.subject, new.subject) and both and both >= MATTER * min(len(words), len(theirs)):
            shared[one.id] = both
    most = [number for number, count in shared.items() if count == max(shared.values())]
    return set(most) if len(most) == 1 else set()


def _matter(text: str, names: tuple[str, ...]) -> frozenset[str]:
    """What a plan is about, without its day and words of change."""
    return content_words(_MOVED.sub(" ", without_owner(text, names))) - _MONTHS
