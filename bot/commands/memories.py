"""`.ai mem`, `memstats`, `dialog`, `promise`, `remind` and `tz`: a person's own memories, past talks, promises and
reminders as this chat may see them, and what they may do to each."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import tzinfo
from operator import itemgetter

from bot.commands.chat import clear
from bot.commands.command import Invocation, command, hint
from bot.core.clock import DAY_MS
from bot.core.events import Button, Draft
from bot.core.memories import (
    KIND_PRIORITY,
    OPEN_STATES,
    STABILITY_DAYS,
    Commitment,
    CommitmentState,
    Memory,
    PastMerge,
    Reminder,
)
from bot.core.people import Audience
from bot.core.sessions import TIERS, Dialogue
from bot.language.reminders.requests import ALL_REMINDERS
from bot.language.time.schedule import next_of, zone_named, zone_near
from bot.memory.lifecycle import standing, vitality
from bot.pipeline.actions.receipts import brief, memory_line_for_people
from bot.pipeline.opening import past_talks
from bot.prompt.days import DayFormatter
from bot.prompt.warm_boot import ALIVE, PastTalk, past_talk_lines
from bot.text.clean import clean_name
from bot.text.codes import number_for
from bot.text.dates import RELATIVE_DAYS, clock_label, local, local_day, ms_of, relative_day
from bot.text.fold import fold
from bot.text.length import clip

RECENT_DAYS, RECENT = 7, 50
"""What is recent, and how much of it a list shows (seed Warm Boot, surface)."""

LINE_CHARS = 60
"""Characters of a text in a list; one memory alone is shown whole."""

Text = Callable[..., str]

KINDS_A_LINE = 3

MEMORIES_SHOWN = 10
"""How many memories a page of a list shows."""

MEMORY_ACTIONS = ("protect", "unprotect", "fade", "archive", "restore", "unmerge")
"""What a person may do to a memory of their own: `.ai mem protect #12`."""

SHARING_ACTIONS = ("share", "unshare")
"""Whether it is told wherever its owner speaks: `.ai mem share #12`."""

TALKER_CHARS = 32

TALKS_SHOWN = 10
"""Lines of the short view."""

PROMISES_SHOWN = 20
"""How many promises a list shows."""

TEXT_CHARS = 120

PROMISE_STATES: dict[str, CommitmentState] = {"done": "done", "fail": "failed", "doing": "ongoing", "open": "pending"}
"""What a person may say of a promise of their own: `.ai promise done 3`."""

SAID_CHARS = 32

CANCEL_ALL_WORDS = ("all", "全部", "所有", "*")


def list_report(memories: Iterable[Memory], text: Text) -> str:
    """One line each: the text and its number."""
    return "\n".join(f"{clip(memory_line_for_people(memory, text), LINE_CHARS)} #{memory.id}" for memory in memories)


def memory_report(memory: Memory, merged: tuple[PastMerge, ...], tz: tzinfo, text: Text) -> str:
    """One memory, where it comes from and what became of it."""
    lines = [
        memory_line_for_people(memory, text) if memory.is_name else memory.text,
        text(
            "mem_kind",
            kind=text(f"mem_{memory.kind}"),
            seen=text(f"mem_seen_{memory.visibility}"),
            source=text(f"mem_from_{memory.source}", agent=memory.agent),
            day=local_day(memory.observed_at, tz),
        ),
    ]
    states = (("asked", memory.asked), ("protected", memory.protected), ("archived", memory.disabled_at is not None))
    lines += [text(f"mem_is_{state}") for state, holds in states if holds]
    if memory.former_at is not None:
        begun = local_day(memory.said_at or memory.created_at, tz)
        ended = local_day(memory.former_at, tz)
        lines.append(text("mem_is_former", begun=begun, ended=ended, id=memory.replaced_by or 0))
    for one in merged:
        events = " ".join(f"#{number}" for number in one.event_ids) or "–"
        key = "mem_unmerged" if one.undone_at is not None else "mem_merged"
        how = text(f"mem_how_{one.how}")
        day = local_day(one.at, tz)
        lines.append(text(key, day=day, how=how, said=one.said, before=one.before, events=events))
    return "\n".join(lines)


def figures_report(memory: Memory, now: int, text: Text, *, opens: bool) -> str:
    """Its figures: how much there is for telling it, the reasons, and whether an opening that is written now tells it."""
    lines = [
        text(
            "mem_life",
            priority=KIND_PRIORITY[memory.kind],
            vitality=f"{vitality(memory, now):.2f}",
            stable=_stable(memory, text),
            count=memory.importance,
            recalls=memory.access_count,
            up=memory.helpful,
            down=memory.unhelpful,
        )
    ]
    if memory.emotion:
        lines.append(text("mem_feeling", tag=memory.emotion, value=f"{memory.emotion_value:+.1f}"))
    day = (now - memory.observed_at) / DAY_MS
    holds = {
        "kept": memory.kept,
        "named": memory.is_name,
        "lasting": memory.lasts,
        "dated": day < 0,
        "recent": 0 <= day <= RECENT_DAYS,
        "vital": vitality(memory, now) > ALIVE,
        "liked": (memory.feedback or 0) > 0,
        "disliked": (memory.feedback or 0) < 0,
    }
    codes = text("mem_why_joint").join(text(f"mem_why_{code}") for code, is_so in holds.items() if is_so)
    opened = text("mem_why_told" if opens else "mem_why_untold")
    lines.append(text("mem_why", score=f"{standing(memory, now):.2f}", codes=codes or "–", opens=opened))
    return "\n".join(lines)


def recently_changed(memories: Iterable[Memory], now: int) -> list[Memory]:
    """Those that were new or changed in the last seven days, the last first (seed Warm Boot: at most 50)."""
    since = now - RECENT_DAYS * DAY_MS
    changed = [(max(m.created_at, m.updated_at), m.id, m) for m in memories if m.disabled_at is None]
    return [memory for at, _, memory in sorted(changed, key=itemgetter(0, 1), reverse=True) if at >= since][:RECENT]


def stats_report(memories: tuple[Memory, ...], archived: int, now: int, text: Text) -> str:
    """How many of each kind, how alive they are, and what people thought of the replies that they were told to."""
    kinds = Counter(memory.kind for memory in memories)
    mean = sum(vitality(memory, now) for memory in memories) / len(memories) if memories else 0.0
    counts = [f"{text(f'mem_{kind}')} {kinds[kind]}" for kind in STABILITY_DAYS]
    kept = sum(memory.kept for memory in memories)
    judged = [memory.feedback for memory in memories if memory.feedback is not None]
    score = f"{sum(judged) / len(judged):+.2f}" if judged else "–"
    return "\n".join(
        (
            text("mem_stats", n=len(memories), kept=kept, archived=archived, vitality=f"{mean:.2f}"),
            *("  ".join(counts[at : at + KINDS_A_LINE]) for at in range(0, len(counts), KINDS_A_LINE)),
            text(
                "mem_stats_feedback",
                up=sum(memory.helpful for memory in memories),
                down=sum(memory.unhelpful for memory in memories),
                score=score,
            ),
        )
    )


def _stable(memory: Memory, text: Text) -> str:
    """In what time it fades to a third; who somebody is does not."""
    if memory.stability_days >= STABILITY_DAYS["identity"]:
        return text("mem_stable_always")
    return text("mem_stable", days=f"{memory.stability_days:.0f}")


@command(
    "mem",
    "[WORDS | WORDS page N | #N | #N stats | recent | stats | former | archived | protect #N | unprotect #N | "
    "fade #N | archive #N | restore #N | "
    "unmerge #N | share #N | unshare #N]",
    who="anyone",
    topic="memory",
    private=True,
    example="#12",
    aliases=("memory",),
)
async def mem(call: Invocation) -> str | Draft:
    """Only what belongs to the person who asks, and may be told here."""
    audience, words, page = await call.audience(), call.folded, 1
    if words[-2:-1] == ("page",) and words[-1].isdecimal():
        words, page = words[:-2], max(1, int(words[-1]))
    owned = await call.store.memories.owned(call.person.id, audience)
    number = number_for("memory", words[-1]) if words else None
    if words == ("archived",):
        archived = await call.store.memories.archived(call.person.id, audience)
        return _list(call, list(archived), page) or call.text("mem_none_archived")
    if words == ("former",):
        return _list(call, [m for m in owned if m.former_at is not None], page) or call.text("mem_none_former")
    if words == ("recent",):
        changed = recently_changed((m for m in owned if m.former_at is None), call.now)
        return _list(call, changed, page) or call.text("mem_none_recent")
    if words == ("stats",):
        return _stats(call, owned)
    if number is not None and len(words) == 1:
        return await _one(call, _of_number(owned, number))
    if len(words) == 2 and words[1] == "stats" and (number := number_for("memory", words[0])) is not None:
        return await _figures(call, _of_number(owned, number))
    if number is not None and len(words) == 2 and words[0] in MEMORY_ACTIONS:
        return await _do(call, words[0], _of_number(owned, number))
    if number is not None and len(words) == 2 and words[0] in SHARING_ACTIONS:
        return await _share(call, _of_number(owned, number), on=words[0] == "share")
    if words and words[0] in (*MEMORY_ACTIONS, *SHARING_ACTIONS):
        return call.text("mem_words")
    told = " ".join(words)
    found = [m for m in owned if m.disabled_at is None and m.former_at is None and told in fold(m.text)]
    return _list(call, found, page) or call.text("mem_none" if words else "mem_empty") + hint(call, mem)


@command("memstats", who="anyone", topic="memory", private=True)
async def memstats(call: Invocation) -> str:
    """The person's own; the owner is told the numbers of the whole store, too."""
    own = _stats(call, await call.store.memories.owned(call.person.id, await call.audience()))
    if not call.person.is_owner:
        return own
    counts = await call.store.inspector.memory_counts()
    return f"{own}\n{call.text('memstats_all', **counts)}"


def _stats(call: Invocation, owned: tuple[Memory, ...]) -> str:
    active = tuple(memory for memory in owned if memory.disabled_at is None and memory.former_at is None)
    return stats_report(active, len(owned) - len(active), call.now, call.text)


async def _one(call: Invocation, memory: Memory | None) -> str:
    if memory is None:
        return call.text("mem_none")
    return memory_report(memory, await call.store.memories.merges(memory), call.tz, call.text)


async def _figures(call: Invocation, memory: Memory | None) -> str:
    if memory is None:
        return call.text("mem_none")
    told = (await call.services.planner.boot(call.chat, call.person, call.now)).memories
    return f"{await _one(call, memory)}\n{figures_report(memory, call.now, call.text, opens=memory.id in told)}"


async def _do(call: Invocation, action: str, memory: Memory | None) -> str:
    memories, now = call.store.memories, call.now
    if memory is None or (action == "restore") != (memory.disabled_at is not None):
        return call.text("mem_none_archived" if action == "restore" else "mem_none")
    days = call.services.settings.memory.life.archive_days
    other: int | None = None
    match action:
        case "protect" | "unprotect":
            await memories.protect(memory, on=action == "protect")
        case "fade":
            await memories.fade(memory)
        case "archive":
            await memories.archive(memory.id, now + days * DAY_MS, now)
        case "restore":
            await memories.restore(memory.id, now)
        case _:
            other = await call.store.memories.unmerge(memory, now)
            if other is None:
                return call.text("mem_not_merged", id=memory.id, what=_quote(call, memory))
    return call.text(f"mem_did_{action}", id=memory.id, what=_quote(call, memory), other=other, days=days)


async def _share(call: Invocation, memory: Memory | None, *, on: bool) -> str:
    if memory is None or memory.disabled_at is not None:
        return call.text("mem_none")
    memories, now = call.store.memories, call.now
    if on:
        done = "mem_did_share" if await memories.share(memory, now) else "mem_is_shared"
    else:
        back = await memories.unshare(memory, now)
        done = f"mem_did_unshare_{back}" if back is not None else "mem_not_shared"
    return call.text(done, id=memory.id, what=_quote(call, memory))


def _quote(call: Invocation, memory: Memory) -> str:
    return call.text("quote", text=brief(memory_line_for_people(memory, call.text)))


def _list(call: Invocation, memories: list[Memory], page: int) -> str | Draft:
    """A page of a list, at most its last; where more follows, the words for the next page stand below it and on a button."""
    page = min(page, max(1, -(-len(memories) // MEMORIES_SHOWN)))
    shown = memories[(page - 1) * MEMORIES_SHOWN : page * MEMORIES_SHOWN]
    lines, more = list_report(shown, call.text), len(memories) - page * MEMORIES_SHOWN
    if more <= 0:
        return lines
    words = call.words[:-2] if call.folded[-2:-1] == ("page",) else call.words
    says = " ".join((".ai mem", *words, "page", str(page + 1)))
    text = f"{lines}\n{call.text('mem_more', n=more, says=says)}"
    return Draft(text, "command", buttons=(Button(call.text("button_more"), says, call.account),))


def _of_number(memories: tuple[Memory, ...], number: int) -> Memory | None:
    return next((memory for memory in memories if memory.id == number), None)


@command("dialog", "[full | clear | ID]", who="anyone", topic="memory", private=True, example="full")
async def dialog(call: Invocation) -> str | Draft:
    """Nothing is shown or cleared that this audience is not told anyway."""
    audience = await call.audience()
    match call.folded:
        case ():
            return await _talks_short(call, audience)
        case ("full",):
            return await _talks_full(call, audience)
        case ("clear",):
            return await _talks_cleared(call, audience)
        case ("person",):
            return call.text("dialog_words")
        case ("full" | "clear", *_):
            return call.text("dialog_words")
        case ("person", *_):
            return await _talks_with(call, audience, " ".join(call.words[1:]))
        case _:
            return await _talks_with(call, audience, " ".join(call.words))


async def _talks_short(call: Invocation, audience: Audience) -> str:
    found = await past_talks(call.store, audience, call.person.id, call.now)
    lines = _talk_lines(call, found)
    more = len(lines) - TALKS_SHOWN
    told = _numbered(lines[:TALKS_SHOWN])
    if more > 0:
        told = f"{told}\n{call.text('dialog_more', n=more)}"
    return told or call.text("dialog_none")


async def _talks_full(call: Invocation, audience: Audience) -> str:
    found = await call.store.digests.told(audience, call.person.id, 0)
    most = call.services.settings.memory.raw_dialogues
    parts: list[str] = []
    for tier in TIERS:
        rows = [talk for talk in found if talk.tier == tier]
        if rows:
            key = "dialog_full_raw" if tier == "raw" else "dialog_full_tier"
            parts.append(call.text(key, tier=call.text(f"dialog_tier_{tier}"), n=len(rows), most=most))
            parts.append(_numbered([line for talk in rows for line in _talk_lines(call, (talk,))]))
    return "\n".join(parts) or call.text("dialog_none")


async def _talks_cleared(call: Invocation, audience: Audience) -> str:
    # In a group it takes what everybody there is told: who may end its conversation may do that, too.
    if not clear.allows(call):
        return call.text("not_allowed")
    count = await call.store.digests.clear(audience, call.now)
    return call.text("dialog_cleared", n=count)


async def _talks_with(call: Invocation, audience: Audience, wanted: str) -> str | Draft:
    found = await call.one_here(wanted, lambda account: f".ai dialog {account}")
    if isinstance(found, Draft):
        return found
    talks = await call.store.digests.told(audience, found, 0) if found is not None else ()
    if own := tuple(talk for talk in talks if talk.own):
        return _numbered(_talk_lines(call, own))
    return call.text("dialog_none_with", name=clip(clean_name(wanted), TALKER_CHARS)) + hint(call, dialog)


def _talk_lines(call: Invocation, talks: tuple[Dialogue, ...]) -> tuple[PastTalk, ...]:
    texts = call.services.texts
    days = DayFormatter(call.now, call.tz, texts.opening(call.script), texts.days(call.script))
    return past_talk_lines(talks, days)


def _numbered(lines: tuple[PastTalk, ...] | list[PastTalk]) -> str:
    return "\n".join(f"{number}. {line.head} {line.text}" for number, line in enumerate(lines, 1))


@command(
    "promise",
    "[all | done N | doing N | fail N | open N | drop N]",
    who="anyone",
    topic="memory",
    private=True,
    example="done 3",
)
async def promise(call: Invocation) -> str:
    """List promises, end them, open them again, and drop what was none.

    Only what belongs to the person who asks, and may be told here.
    """
    owned = await call.store.commitments.owned(call.person.id, await call.audience())
    match call.folded:
        case ():
            return _promise_list(call, [each for each in owned if each.state in OPEN_STATES])
        case ("all",):
            return _promise_list(call, list(owned))
        case (action, number) if action in (*PROMISE_STATES, "drop"):
            found = next((each for each in owned if each.id == number_for("promise", number.lstrip("#"))), None)
            return await _settle(call, action, found)
        case _:
            return call.text("promise_words")


async def _settle(call: Invocation, action: str, found: Commitment | None) -> str:
    if found is None:
        return call.text("promise_unknown")
    commitments = call.store.commitments
    if action == "drop":
        done = await commitments.drop(found.id, call.person.id, call.now)
    else:
        done = await commitments.settle(found.id, call.person.id, PROMISE_STATES[action], call.now)
    return call.text(f"promise_did_{action}" if done else "promise_unknown", id=found.id, text=brief(found.text))


def _promise_list(call: Invocation, found: list[Commitment]) -> str:
    now, tz, days = call.now, call.tz, call.services.texts.days(call.script)
    lines = []
    for each in found[-PROMISES_SHOWN:]:
        due = ""
        if each.due_at is not None and each.state in OPEN_STATES:
            today, day = local_day(now, tz), local_day(each.due_at, tz)
            ahead, due = (day - today).days, relative_day(day, today, days)
            if each.dated == "month":
                ahead, due = 0, f"{day:%Y-%m}"
            if each.due_at < now:
                due = call.text("due_over", day=due)
            elif 1 < ahead <= RELATIVE_DAYS:
                due = call.text("due_in", n=ahead)
        state = call.text(f"promise_{each.state}")
        told = clip(" ".join(each.text.split()), TEXT_CHARS)
        key = "promise_line_due" if due else "promise_line"
        lines.append(call.text(key, id=each.id, text=told, state=state, due=due))
    more = len(found) - PROMISES_SHOWN
    if more > 0:
        lines.append(call.text("promise_more", n=more))
    return "\n".join(lines) or call.text("promise_none")


@command(
    "remind", "[WHEN WHAT | list | cancel N | cancel all]", who="anyone", topic="memory", private=True, example="list"
)
async def remind(call: Invocation) -> str:
    """`list` or nothing lists, `cancel N|all|words` ends, everything else is a reminder to be set."""
    reminders = call.services.reminders
    at = replace(reminders.request(call.chat, call.person, call.event.id), script=call.script)
    verb, *rest = call.words or ("list",)
    if verb.lower() in ("list", "列表", "清单", "清單") and not rest:
        return await reminders.listed(at)
    if verb.lower() in ("cancel", "取消", "delete", "删除", "刪除"):
        words = " ".join(rest)
        return await reminders.cancelled(at, ALL_REMINDERS if words.lower() in CANCEL_ALL_WORDS else words)
    return await reminders.added(at, " ".join(call.words))


@command("tz", "[CITY | ZONE | reset]", who="anyone", topic="you", private=True, example="Asia/Tokyo")
async def zone(call: Invocation) -> str:
    """Show by whose clock a person's times are meant, or set it; `reset` goes back to the machine's."""
    texts, now, wish = call.services.texts, call.now, " ".join(call.words)
    used = call.person.timezone or texts.zone
    if not wish:
        key = "tz_own" if call.person.timezone else "tz_default"
        return call.text(key, zone=used, time=clock_label(now, texts.tz(used)))
    reset = wish.lower() in ("reset", "off", "默认", "預設")
    wanted = texts.zone if reset else zone_named(wish) or ""
    if not wanted:
        near = zone_near(wish)
        said = clip(clean_name(wish), SAID_CHARS)
        return call.text("tz_near" if near else "tz_unknown", zone=near, said=said) + hint(call, zone)
    tz, old = texts.tz(wanted), texts.tz(used)

    def due(reminder: Reminder) -> int | None:
        if reminder.rule:
            return next_of(reminder.rule, now, tz)
        return ms_of(local(reminder.due_at, old).replace(tzinfo=tz))

    moved = await call.store.reminders.rezone(call.person.id, "" if reset else wanted, due, now)
    done = call.text("tz_set", zone=wanted, time=clock_label(now, tz))
    return f"{done}\n{call.text('tz_moved', n=moved)}" if moved else done
