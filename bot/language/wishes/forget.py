"""Reads a wish to forget, not to store or to undo, and finds which memories and lines its words mean. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.core.clock import DAY_MS, MINUTE_MS
from bot.core.memories import Memory, MemoryCommand, MemoryVerb, WishScope
from bot.language.wishes.keep import told_before
from bot.language.wishes.patterns import (
    QUOTED,
    FoundWish,
    WishPlace,
    beginning,
    listed,
    numbered,
    pattern,
    shaped,
    templates,
)
from bot.text.catalogue import LazyPattern, read_table
from bot.text.fold import ENGLISH_FUNCTION_WORDS, fold, fold_mapped, unfold
from bot.text.similarity import names_promise
from bot.text.terms import runs, words

_ALL_OF_US = ("我", "我的", "关于我", "关于我的", "我们", "我们之间", "me")
_POLITELY = ("好吗", "可以吗", "行吗", "好不好", " ok")

MATCH_SHARE = 0.6
"""Share of the asked words that a memory must hold when neither text holds the other."""
_STEM = 6
"""Latin words are the same when they begin with the same letters: allergy and allergic."""

_ENDING = LazyPattern(r"(?<=[a-z]{3})(?:ing|ed|es|s|e)$")

_TAIL_CHARS = 40
"""More than any tail has: looked for in the whole of thousands of 吧 it would take seconds."""
_EDGES = LazyPattern(r"^[\W_]+|(?<![\W_])[\W_]+$")
_LATIN = LazyPattern(r"[a-z0-9\u00c0-\u024f]+")
_OTHER = LazyPattern(r"[^\W_a-z0-9\u00c0-\u024f]+")
_WEAK = LazyPattern("[我你您的对了在是吗呢吧啊也都很就还有]")
"""Characters that come and go between two ways to say the same."""

_SLOTS = read_table("bot.language", "slots")
_NAME = frozenset(("name", *_SLOTS["one"]["name"]))
"""By which words somebody wants forgotten how they are called."""
_ASKED = tuple(frozenset(words.split()).difference(_SLOTS["vague"]["asked"]) for words in _SLOTS["asked"].values())
"""By which words people of either language ask for what a slot holds, but for those that tell of other things, too."""

MOST_CHARS = 120
"""A wish is short."""

MATTER_SHARE, NEAR_SHARE = 0.6, 0.5
"""Share of what is named that a line must hold: any line, and one of these days where the wish points at it."""

NEAR_MS = 2 * DAY_MS
"""Who says "that savings thing" means what they said these days."""

GOES_ON_MS, GOES_ON = 10 * MINUTE_MS, 3
"""So soon, and at most so many lines on, 他 is still who was named before."""


def forget_wish(place: WishPlace) -> FoundWish | None:
    """The wish to forget or to undo that stands at this place; None in doubt."""
    if not pattern("forget_sure").search(place.shape, place.start, place.start + 400):
        return None
    found = _numbered(place) or _forget(place) or _unstored(place)
    if found and pattern("many").search(place.shape, found.start, found.end) and not (found.content or found.scope):
        found = replace(found, scope="unsure")
    return found


def _numbered(place: WishPlace) -> FoundWish | None:
    if (several := place.matches("several")) and (numbers := listed(several["numbers"])):
        counted: WishScope = "unsure" if pattern("ordinal").search(several["numbers"]) else ""
        return FoundWish("forget", place.start, several.end(), None, None, _forever(place), counted, numbers)
    if match := place.matches("numbered"):
        verb: MemoryVerb = "forget" if match["forget"] else "undo"
        forever = _forever(place) or pattern("forever").search(match[0]) is not None
        return FoundWish(verb, place.start, match.end(), None, int(match["number"]), forever)
    if match := place.matches("undo"):
        return FoundWish("undo", place.start, match.end()) if _nothing_else(place, match) else None
    return None


def _nothing_else(place: WishPlace, match: re.Match[str]) -> bool:
    """Whether the message says no more than that, a greeting or a courtesy apart."""
    nothing = pattern("nothing_left").fullmatch
    return bool(nothing(place.shape, 0, place.start) and nothing(place.shape, match.end()))


def _forget(place: WishPlace) -> FoundWish | None:
    if (match := place.matches("all_of_it")) and _nothing_else(place, match):
        return FoundWish("forget", place.start, match.end(), forever=_forever(place), scope="all")
    for template in templates("forget"):
        match = template.match(place.shape, place.at)
        if match and (found := _meant(place, match)):
            return found
    return None


def _meant(place: WishPlace, match: re.Match[str]) -> FoundWish | None:
    """What such a wish is about: everything, what was pointed at, or what is named and may be forgotten."""
    groups, a, b = match.groupdict(), *match.span("c")
    body, tail = place.shape[a:b].strip(), groups.get("tail") or ""
    mine = pattern("of_oneself").search(place.lead) and not pattern("cjk").search(body) and " you " not in match[0]
    if _question(place, match) or mine or pattern("particle").fullmatch(body):
        return None
    aside = groups.get("not") is not None
    head = groups.get("head")
    kept = "记忆" in tail or any(groups.get(name) is not None for name in ("from", "mem", "named"))
    kept = kept or (head is not None and bool(pattern("told_kept").search(head) or pattern("mine").match(body)))
    found = FoundWish("forget", place.start, match.end(), forever=_forever(place), scope="aside" if aside else "")
    if not aside and (pattern("all_of_me").fullmatch(body + tail) or (kept and body in _ALL_OF_US)):
        return replace(found, scope="all")
    if counted := pattern("ordinal").search(match[0]):  # 第二条 may be #2 or the second of a list: asked back
        return replace(found, number=numbered(counted[0]), scope="unsure")
    if pattern("pointing").fullmatch(body + tail):
        if "没" in match[0]:  # 上一条当我没说，别存
            return replace(found, scope="aside")
        idle = body in ("它", "it", "that", "this", "them") and not aside
        thing: WishScope = "thing" if pattern("talked_thing").search(match[0]) else ""
        if aside and pattern("no_more").search(match[0]):
            thing, found = "no_more", replace(found, scope="")
        told = pattern("nothing_left").fullmatch(place.shape, 0, place.start) is None
        return None if idle and (told or not kept) else replace(found, scope=found.scope or thing)
    if aside and pattern("this_line").match(body):
        return found  # 这句听过就算了，不要记进去: whatever stands there besides
    after = place.shape[b : match.end()].rstrip()
    end = b + 1 if place.shape.startswith("什么", b - 1) else b  # there 么 asks nothing
    return replace(found, content=(a, end)) if kept or _may_go(place, groups, body, after) else None


def _may_go(place: WishPlace, groups: dict[str, str | None], body: str, after: str) -> bool:
    """Whether it is an order there, and about something of theirs that can be forgotten; 我一忙就忘了 tells."""
    chinese, verb, lead = pattern("cjk").search(body), groups.get("verb"), place.lead.strip(" ,")
    own = pattern("forgettable").match(body) if chinese else pattern("mine").search(body)
    pointed = body[:1] in ("那", "这")
    asked_for = pointed and "你" in (groups.get("how") or "")  # 那个数字你可以忘了
    that = bool(own or asked_for or re.match("的?[那这]", after) or groups.get("of") or QUOTED in body)
    if pattern("elsewhere").match(body) or body in _ALL_OF_US:
        return False
    if groups.get("not"):
        return bool(own or pointed) and not (chinese and pattern("not_forgettable").match(body))
    if not that or pattern("question").search(body) or pattern("not_forgettable").match(body):
        return False
    if verb is None:
        asked = any(groups.get(name) for name in ("put", "did", "of")) or pattern("requests").search(
            groups["how"] or ""
        )
        meant = bool(groups.get("tail")) and body.startswith("我") and "忘了" not in after
        return bool(asked or meant) and not pattern("own_forgetting").search(body + after)
    meant = after.endswith(("吧", *_POLITELY)) or place.asked
    if verb[0] == "忘" and after.endswith("了") and not (meant or "你" in lead):  # 忘记我妈的生日了 tells of oneself
        return False
    if pattern("idle").match(verb):
        told = pattern("told_of_you").fullmatch(lead) and not pattern("firmly").search(place.lead)
        sure = "忘了" not in verb or meant or "请" in lead or groups["tail"]
        return bool(sure) and (not told or meant)
    return (chinese is not None or QUOTED in body or pattern("personal_en").match(body) is not None) and verb[
        -1
    ] != "了"


def _unstored(place: WishPlace) -> FoundWish | None:
    """别记 without an object, right beside what its writer tells of themselves."""
    match = place.matches("unstored")
    told = told_before(place, strong=False) if match else None
    words = place.shape[slice(*told)] if told else ""
    if match and pattern("this_said").search(place.shape, place.floor, place.start):
        return FoundWish("forget", place.start, match.end(), scope="aside")
    if match is None or ":" in words or not pattern("mine").match(words):
        match = place.matches("unstored_next")
    return FoundWish("forget", place.start, match.end(), scope="aside") if match else None


def _forever(place: WishPlace) -> bool:
    """Whether nothing is to stay for an undo (彻底忘记)."""
    return pattern("forever").search(place.lead) is not None or place.matches("forever_drop") is not None


def _question(place: WishPlace, match: re.Match[str]) -> bool:
    """Whether it is asked about, and not politely asked for."""
    asks = place.shape.startswith("?", match.end()) and not place.asked
    return asks and not match[0].rstrip().endswith(_POLITELY) and "可以" not in match[0]


def matching(content: str, memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """The memories that `content` means, in the given order: the same text, else a part, else most of the words.

    Several when several fit equally well, none when nothing does. Either Chinese script fits the other. Never raises.
    """
    wanted = core_of(content)
    features = features_of(wanted)
    if not wanted:
        return ()
    own = (memory for memory in memories if memory.slot in ("address", "name") and not memory.subject)
    if wanted in _NAME and (names := tuple(own)):
        return names
    cores = [(memory, core_of(memory.text)) for memory in memories]
    same = tuple(memory for memory, core in cores if core == wanted)
    if same:
        return same
    if not features:
        return _as_said(content, memories)
    parts = tuple(memory for memory, core in cores if holds(core, wanted) or _nearly_all(wanted, core))
    return parts or _most_shared(features, cores)


def perhaps_matching(content: str, memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """The memories to ask about where `match` finds none: those with the one character that is named (关于猫的记忆), or
    of what is named in the other language and of no one else's (my allergy: 我对花生过敏)."""
    word = core_of(content)
    single = len(word) == 1 and _OTHER.fullmatch(word) and not _WEAK.fullmatch(word)
    named = {word} if single else _in_the_other_language(word)
    return tuple(memory for memory in memories if any(holds(fold(memory.text), each) for each in named))


def _in_the_other_language(word: str) -> frozenset[str]:
    """The words of the other language for what a slot holds of which these are words and nothing besides."""
    latin = _OTHER.search(word) is None
    parts = set(map(_stem, word.split()))
    same = (words for words in _ASKED if parts and parts <= set(map(_stem, words)))
    return frozenset(each for words in same for each in words if (_OTHER.search(each) is None) != latin)


def names_plan(content: str, text: str) -> bool:
    """Whether a promise or a reminder is what `content` names: its very words, or nearly all that they say."""
    wanted = core_of(content)
    return bool(features_of(wanted)) and (holds(fold(text), wanted) or names_promise(content, text))


def _as_said(content: str, memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """The memories with these very words: a single character tells only together with what leads to it (我的猫)."""
    said = _EDGES.sub("", fold(content))
    bare = pattern("core_head").sub("", said)
    if len(said) < 2 or not bare:
        return ()
    return tuple(memory for memory in memories if holds(fold(memory.text), said))


def core_of(text: str) -> str:
    """The folded text without what only leads to it or trails after it; the whole of it when nothing else is there."""
    core = fold(text).strip()
    while head := pattern("core_head").match(core):
        core = core[head.end() :]
    while (tail := pattern("core_tail").search(core, max(0, len(core) - _TAIL_CHARS))) and tail.start() < len(core):
        core = core[: tail.start()]
    return core or re.sub(r"[\W_]+", "", fold(text))


def holds(text: str, part: str) -> bool:
    """Whether `part` stands in `text`; a Latin word only as a whole one (cat is not in category)."""
    before = r"(?<![a-z0-9])" if _LATIN.match(part) else ""
    after = r"(?![a-z0-9])" if _LATIN.match(part[-1:]) else ""
    return re.search(before + re.escape(part) + after, text) is not None


def _nearly_all(wanted: str, core: str) -> bool:
    """Whether a memory is the larger part of what was asked for, or all of it that is more than a word."""
    told = len(features_of(core))
    return (told > 1 or (told == 1 and 2 * len(core) >= len(wanted))) and holds(wanted, core)


def _most_shared(features: frozenset[str], cores: list[tuple[Memory, str]]) -> tuple[Memory, ...]:
    shared = [(memory, len(features & features_of(core))) for memory, core in cores]
    best = max((count for _, count in shared), default=0)
    if best < MATCH_SHARE * len(features):
        return ()
    return tuple(memory for memory, count in shared if count == best)


def features_of(core: str) -> frozenset[str]:
    """Beginnings of telling Latin words, and pairs of other characters; a single character is none."""
    words = (
        word
        for word in _LATIN.findall(core)
        if word not in ENGLISH_FUNCTION_WORDS and (len(word) > 1 or word.isdigit())
    )
    runs = (run for part in _OTHER.findall(core) if (run := _WEAK.sub("", part)))
    pairs = (run[index : index + 2] for run in runs for index in range(len(run) - 1))
    return frozenset([*(_stem(word) for word in words), *pairs])


def _stem(word: str) -> str:
    return word if word.isdigit() else _ENDING.sub("", word)[:_STEM]


@dataclass(frozen=True, slots=True)
class OwnLine:
    """One of somebody's own lines: its number, when it was said (ms), and its text."""

    event_id: int
    at: int
    text: str


def matter_in(text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The wish that a whole message is, the matter verbatim: all that tells of it (scope "matter"), or what was said
    of it these days ("just"). Never raises."""
    if len(text) > MOST_CHARS or not pattern("hint").search(fold(text)):
        return None
    folded, origin = fold_mapped(text)
    shape = shaped(folded, names)
    if "?" in shape and not (pattern("asking").search(shape) or pattern("courtesy").search(shape)):
        return None
    place = beginning(shape)
    for template in templates("forget"):
        found = template.match(shape, place.at)
        if found and pattern("matter_over").fullmatch(shape, found.end()) and (span := _matter(shape, found)):
            content = unfold(text, origin, *span).strip()
            just = pattern("talked_thing").search(found[0]) and not pattern("all_told").search(found[0])
            forever = pattern("forever").search(shape) is not None
            return MemoryCommand("forget", content, forever=forever, scope="just" if just else "matter")
    return None


def all_of_matter(words: str) -> str:
    """The matter of words that mean all of it (everything about Gemma, 小美的所有事: Gemma, 小美), else the words."""
    if not pattern("all_told").search(fold(words)):
        return words
    found = matter_in(f"forget {words}" if words.isascii() else f"忘记{words}")
    return (found is not None and found.scope == "matter" and found.content) or words


def _matter(shape: str, found: re.Match[str]) -> tuple[int, int] | None:
    """Where a wish to forget names its matter; None for a report (昨天学的全忘了) and for what is no matter."""
    said, rest = found["c"], shape[found.end("c") : found.end()]
    marked = pattern("matter_marked").search(shape, found.start())
    named = pattern("matter_named").fullmatch(said)
    if named is None or marked is None or re.search("忘了(?!.*吧)", rest) or pattern("question").search(said):
        return None
    start, end = named.span(named.lastgroup or 0)
    body = said[start:end].strip()
    if not core_of(body) or pattern("nobody").fullmatch(body) or pattern("pointing").fullmatch(body):
        return None
    return found.start("c") + start, found.start("c") + end


def lines_about(content: str, scope: WishScope, lines: Sequence[OwnLine], now: int) -> tuple[OwnLine, ...]:
    """Of somebody's own lines, oldest first, those that tell of the matter, and those that go on about whom one names.

    Of "that savings thing" these are lines of these days, which may only come near its words (saved).
    """
    just = scope == "just"
    found: list[OwnLine] = []
    last, left = 0, 0
    for line in lines:
        near = just and line.at >= now - NEAR_MS
        if (near or not just) and is_about(content, line.text, near):
            found.append(line)
            last, left = line.at, GOES_ON
        elif left and line.at - last <= GOES_ON_MS and pattern("of_whom").search(fold(line.text)):
            found.append(line)
            last, left = line.at, left - 1
        else:
            left = 0
    return tuple(found)


def is_about(content: str, text: str, near: bool = False) -> bool:
    """Whether a text holds these words, or most of what they say; `near` also those that only begin alike."""
    said, wanted = fold(text), core_of(content)
    if len(wanted) > 1 and holds(said, wanted):
        return True
    features = features_of(wanted)
    if not features:
        return False
    there = features_of(said)
    if not near:
        return len(features & there) >= MATTER_SHARE * len(features)
    words = [word for word in _LATIN.findall(said) if word not in ENGLISH_FUNCTION_WORDS]
    both = sum(one in there or (one.isascii() and any(_alike(one, word) for word in words)) for one in features)
    return both >= NEAR_SHARE * len(features)


def names_each(content: str, text: str) -> bool:
    """Whether a text has every word that is named, wherever each stands. It may load the dictionary."""
    said = fold(text)
    named = [word for run, latin in runs(core_of(content)) for word in ([latin] if latin else words(run))]
    telling = [word for word in named if word not in ENGLISH_FUNCTION_WORDS and not _WEAK.fullmatch(word)]
    return len("".join(telling)) > 1 and all(holds(said, word) for word in telling)


def _alike(one: str, other: str) -> bool:
    """Whether two Latin words begin alike: weight and weigh, saving and saved; not: house and how."""
    shared = max(3, (max(len(one), len(other)) + 1) // 2)
    return len(one) >= shared and one[:shared] == other[:shared]
