"""Rows of processes that are killed or stopped while they work: nothing lost, nothing said or paid twice."""

from dataclasses import replace
from pathlib import Path
from signal import SIGKILL, SIGSTOP, SIGTERM
from typing import TYPE_CHECKING

from tests.torture.row import Bound, Found, Row, Size

if TYPE_CHECKING:
    from tests.torture.kills import Count, Plan

PER_KILL = 10
"""Messages that people write for every kill."""
CHATS_DUE = 20
PIECE_S = 1_200.0

ZEROS = (
    "lost",
    "unanswered",
    "answered twice",
    "out of order",
    "rules broken",
    "paid twice",
    "uncharged",
    "unbooked",
    "strange ends",
    "file faults",
    "spilled",
    "pictures lost",
    "pictures twice",
)
NOTHING = tuple(Bound(name, "==", 0) for name in ZEROS)
ONE_CALL = Bound("lost calls of a chat at a kill", "<=", 1)
AT_WORK = Bound("at work", ">=", 0.2, per="kills")
"""A kill that finds nothing to do tries nothing."""
PARKED = Bound("at work", ">=", 0.1, per="stops")
"""Stops that left something for the next start."""
BETWEEN = Bound("in between", ">=", 0.03, per="kills")
"""Kills that came while something was on its way to the platform."""
SHOWN = Bound("unknown not shown", "==", 0)
SLOTS = "of several chats a call each is in flight (model.slots); a kill costs each chat at most its own, L12 tries one"


def _plan(size: Size) -> "Plan":
    from tests.torture.kills import Plan

    return Plan(size.units, size.units * PER_KILL, seed=size.seed)


def found_of(count: "Count", plan: "Plan", unit: str = "kills") -> Found:
    """What the rows judge."""
    lives = count.lives
    sums = {
        unit: lives.ended,
        "messages": count.written,
        "lost": count.lost,
        "unanswered": count.unanswered,
        "answered twice": count.twice,
        "out of order": count.early,
        "rules broken": count.violations,
        "paid twice": count.paid_twice,
        "uncharged": count.uncharged,
        "unbooked": count.unbooked,
        "strange ends": lives.strange(plan.ends_by),
        "file faults": len(count.wrong),
        "spilled": len(count.spilled),
        "at work": lives.working,
        "lost calls": count.lost_calls,
        "unknown": count.unknown,
        "orphans": count.orphans,
        "unknown not shown": abs(count.unknown - count.shown),
        "in between": lives.sending,
        "pictures": count.pictures,
        "pictures lost": count.pictures_lost,
        "pictures twice": count.pictures_twice,
    }
    most = {"lost calls of a chat at a kill": lives.most_calls, "slowest end s": round(lives.slowest_s, 1)}
    notes = (*count.wrong[:5], *count.spilled[:5], f"exit codes {dict(lives.exits)}")
    return Found(sums, most, notes)


async def polled(folder: Path, size: Size) -> Found:
    """Kills over Telegram, each message a row of its own."""
    from tests.torture.grounds import telegram

    return found_of(await telegram(folder, _plan(size)), _plan(size))


async def sent(folder: Path, size: Size) -> Found:
    """Kills over Discord, Telegram with placeholders and plain Telegram in turn; only the last may not know.

    Replies are words and a reaction, one in five with a picture.
    """
    from tests.torture.grounds import discord, placeholder, telegram

    way, plan = (discord, placeholder, telegram)[size.seed % 3], replace(_plan(size), parts=True)
    count = await way(folder, plan)
    found = found_of(count, plan)
    name = ("Discord", "placeholder", "plain")[size.seed % 3]
    surely = 0 if way is telegram else count.unknown
    orphans = count.orphans if way is placeholder else 0
    wrong = 0 if way is placeholder else count.orphans
    more = {name: size.units, "unknown where it must be known": surely, "orphans": orphans, "begun and left": wrong}
    return replace(found, sums={**found.sums, **more})


async def stopped(folder: Path, size: Size) -> Found:
    """SIGTERM at any moment, over both platforms in turn."""
    from tests.torture.grounds import discord, telegram

    plan = replace(_plan(size), messages=size.units * 5, ends_by=SIGTERM)
    count = await (telegram if size.seed % 2 else discord)(folder, plan)
    return found_of(count, plan, "stops")


async def alone(folder: Path, size: Size) -> Found:
    """One person, one call in flight: every kill comes about when the model answers."""
    from tests.torture.grounds import telegram

    plan = replace(_plan(size), messages=size.units * 2, people=1, longest_s=0.5, model_s=0.6, early=0, asking=True)
    return found_of(await telegram(folder, plan, {"MODEL__SLOTS": "1"}), plan)


async def remembered(folder: Path, size: Size) -> Found:
    """Kills in the middle of memory commands and of the ends of talks."""
    from tests.torture.remembering import remembering

    told = await remembering(folder, _plan(size))
    lives = told.lives
    sums = {
        "kills": lives.ended,
        "kept": told.kept,
        "forgotten": told.forgotten,
        "talks summed up": told.digests,
        "kept and lost": len(told.lost),
        "forgotten and back": len(told.back),
        "twice": len(told.twice),
        "file faults": len(told.wrong),
        "spilled": len(told.spilled),
        "at work": lives.working,
        "strange ends": lives.strange(SIGKILL),
    }
    return Found(sums, notes=tuple(map(str, (*told.wrong[:5], *told.spilled[:5]))))


async def due(folder: Path, size: Size) -> Found:
    """What is due while the program is dead, or stands still."""
    from tests.torture.deadlines import Times, deadlines

    how = (SIGSTOP, SIGKILL)[size.seed % 2]
    fired = await deadlines(folder, size.units, how, Times())
    return Found(
        {
            "timers": size.units,
            "follow-ups due": fired.follow_ups,
            "parts due": fired.parts,
            "not once": sum(times != 1 for times in (*fired.said, *fired.ended)),
            "answered twice": fired.twice,
            "sessions without a digest": abs(fired.sessions - fired.digests),
            "wrong": float(not fired.right),
        },
        {"last answer after s": round(fired.late_s, 1)},
        (fired.line(),),
    )


SMALL = "test_torture.py::test_two_kills_lose_nothing_and_nothing_is_said_twice"

ROWS: tuple[Row, ...] = (
    Row(
        "D1",
        "Killed after Telegram was told that it has the updates",
        "200 kills, 2,000 messages, 0 not handled",
        "kills",
        200,
        0,
        50,
        PIECE_S,
        (*NOTHING, ONE_CALL, AT_WORK, Bound("messages", ">=", 10, per="kills"), SHOWN),
        polled,
        ("test_telegram_adapter.py::test_a_message_is_stored_before_telegram_may_forget_it", SMALL),
        SLOTS,
    ),
    Row(
        "D8",
        "Killed between sending and knowing that it was sent",
        "200 kills each: Discord and placeholders 0 lost, 0 twice; plain Telegram 0 twice, every unknown one shown",
        "kills",
        600,
        0,
        50,
        PIECE_S,
        (
            *NOTHING,
            ONE_CALL,
            AT_WORK,
            SHOWN,
            Bound("unknown where it must be known", "==", 0),
            Bound("begun and left", "==", 0),
            Bound("pictures", ">=", 0.05, per="kills"),
            Bound("orphans", "<=", 1, per="placeholder"),
            *(Bound(name, ">=", 200) for name in ("Discord", "placeholder", "plain")),
            BETWEEN,
        ),
        sent,
        (
            SMALL,
            "test_sending.py::"
            "test_a_message_that_may_have_gone_out_before_a_crash_is_not_sent_again_where_it_would_show_twice",
            "test_sending.py::test_where_messages_begin_as_placeholders_one_of_unknown_fate_is_sent_again",
        ),
        "the row sweeps an orphan …; its number is lost with the process and Telegram tells no history, so it stays",
    ),
    Row(
        "D23",
        "SIGTERM at any moment",
        "100 stops: exit code 0 within 10 s, 0 lost, 0 twice",
        "stops",
        100,
        0,
        25,
        PIECE_S,
        (*NOTHING, Bound("slowest end s", "<=", 10), PARKED),
        stopped,
        ("test_run.py::test_sigterm_at_five_moments_ends_well_and_everybody_is_answered_once",),
    ),
    Row(
        "D25",
        "Due while it is dead or stands still",
        "20 at once fire once each after SIGKILL and SIGSTOP, 0 missing",
        "timers",
        40,
        0,
        CHATS_DUE,
        PIECE_S,
        (
            Bound("not once", "==", 0),
            Bound("answered twice", "==", 0),
            Bound("wrong", "==", 0),
            Bound("follow-ups due", "==", 1, per="timers"),
        ),
        due,
        (
            "test_torture.py::test_what_is_due_while_the_program_is_dead_or_stands_still_fires_once",
            "test_reminders_kill.py::test_after_kills_every_reminder_was_said_once_or_still_waits",
        ),
    ),
    Row(
        "S1",
        "kill -9 anywhere",
        "500 kills: 0 of what was acknowledged lost, 0 twice, file whole after each",
        "kills",
        500,
        0,
        50,
        PIECE_S,
        (
            *(
                Bound(name, "==", 0)
                for name in ("kept and lost", "forgotten and back", "twice", "file faults", "spilled", "strange ends")
            ),
            Bound("kept", ">=", 0.4, per="kills"),
            Bound("forgotten", ">=", 0.1, per="kills"),
            Bound("talks summed up", ">=", 0.1, per="kills"),
            AT_WORK,
        ),
        remembered,
        (
            "test_store_kill.py::test_after_many_kills_every_acknowledged_verb_is_there_and_none_is_half_there",
            "test_torture.py::test_kills_in_the_middle_of_memory_commands_lose_nothing_and_bring_nothing_back",
        ),
    ),
    Row(
        "L12",
        "Paid twice after a crash",
        "no stored answer paid twice; a kill costs the one call in flight, charged",
        "kills",
        100,
        0,
        50,
        PIECE_S,
        (
            *NOTHING,
            AT_WORK,
            ONE_CALL,
            SHOWN,
            Bound("lost calls", "<=", 1, per="kills"),
            Bound("lost calls", ">=", 0.2, per="kills"),
        ),
        alone,
        (
            "contract/test_turns.py::test_an_answer_that_is_stored_twice_is_in_the_log_and_paid_once",
            "test_tools.py::test_a_crash_after_a_tool_ran_does_not_run_it_twice",
            "test_budget.py::test_a_call_lost_in_a_crash_is_charged_at_its_reservation",
        ),
        "the row wants one call; what arrives and is not stored yet when the kill comes is asked and paid again",
    ),
)
