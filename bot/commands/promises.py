"""`.ai promise`, `remind` and `tz`: what a person promised or wants to be reminded of, and by whose clock."""

from bot.commands.command import Invocation, command, hint
from bot.core.commitments import OPEN_STATES, Commitment, CommitmentState, Reminder
from bot.language.reminders.requests import ALL_REMINDERS
from bot.language.time.schedule import next_of, zone_named, zone_near
from bot.text.clean import clean_name
from bot.text.codes import number_for
from bot.text.dates import RELATIVE_DAYS, clock_label, local, local_day, ms_of, relative_day
from bot.text.length import clip

PROMISES_SHOWN = 20
"""How many promises a list shows."""

TEXT_CHARS = 120

PROMISE_STATES: dict[str, CommitmentState] = {"done": "done", "fail": "failed", "doing": "ongoing", "open": "pending"}
"""What a person may say of a promise of their own: `.ai promise done 3`."""

SAID_CHARS = 32

CANCEL_ALL_WORDS = ("all", "全部", "所有", "*")


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
    return call.text(f"promise_did_{action}" if done else "promise_unknown", id=found.id)


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
    at = reminders.request(call.chat, call.person, call.event.id)
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
