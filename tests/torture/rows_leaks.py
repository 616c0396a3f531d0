"""Rows of what one person, chat or platform must never learn from another, and of who may do what."""

from pathlib import Path

from tests.torture.row import Bound, Found, Row, Size
from tests.torture.spots import KINDS


async def poisoned(folder: Path, size: Size) -> Found:
    """Orders that somebody had kept, and questions of others."""
    from tests.torture.leaks import poisons

    return await poisons(folder, size)


async def told(folder: Path, size: Size) -> Found:
    """Secrets in every chat, asked for in every way."""
    from bot.core.recall import RECALL_MODES
    from tests.torture.canaries import canaries
    from tests.torture.ways import MAY_BRING_NONE

    count = await canaries(folder, size.units, size.seed, rankings=(RECALL_MODES[size.seed % len(RECALL_MODES)],))
    silent = [way for way in count.asked if not count.brought[way] and way not in MAY_BRING_NONE]
    return Found(
        {
            "recalls": count.recalls,
            "foreign": len(count.foreign),
            "silent ways": len(silent),
            **{f"own {kind}": times for kind, times in count.home.items()},
            **count.unasked,
        },
        {"ways": len(count.asked)},
        (*count.foreign[:5], *(f"{way} brings nothing" for way in silent)),
    )


async def numbers(folder: Path, size: Size) -> Found:
    """The same number on two platforms."""
    from tests.torture.leaks import same_number

    return await same_number(folder, size)


async def unknown(folder: Path, size: Size) -> Found:
    """People whom nobody knows."""
    from tests.torture.leaks import strangers

    return await strangers(folder, size)


async def pretending(folder: Path, size: Size) -> Found:
    """Whoever is not the owner."""
    from tests.torture.leaks import pretenders

    return await pretenders(folder, size)


async def hostile(folder: Path, size: Size) -> Found:
    """Somebody hostile among honest people."""
    from tests.torture.social import social

    return await social(folder, size)


def none(*names: str) -> tuple[Bound, ...]:
    """None of those."""
    return tuple(Bound(name, "==", 0) for name in names)


ROWS: tuple[Row, ...] = (
    Row(
        "D12",
        "A try older than Discord's memory of nonces",
        "found in the channel, or unknown; never a second copy",
        existing=(
            "test_discord_resend.py::test_a_row_of_an_earlier_process_is_found_in_the_channel_long_after",
            "test_discord_resend.py::"
            "test_what_was_tried_too_long_ago_is_sent_only_where_the_channel_shows_that_it_never_came",
        ),
        differs="where the channel shows that it never came, it is sent: the issue wants 0 lost on Discord",
    ),
    Row(
        "X5",
        "What one has kept steers answers to others",
        "50 poisons, 200 questions of others, of words, days and nothing in common, under every ranking: 0 foreign rows",
        "questions",
        200,
        12,
        200,
        600.0,
        (*none("foreign"), Bound("poisons", ">=", 0.25, per="questions"), Bound("known at home", "==", 1)),
        poisoned,
    ),
    Row(
        "X9",
        "Secrets of people and chats",
        "6 people x 4 chats x 2 platforms, 1,000 recalls a ranking, 0 foreign",
        "recalls",
        3_000,
        0,
        1_000,
        1_800.0,
        (
            *none("foreign", "silent ways"),
            *(Bound(f"own {kind}", ">=", 1) for kind in KINDS.values()),
            *(Bound(kind, ">=", 1) for kind in ("follow-ups", "first words", "reminders")),
            Bound("ways", "==", 31),
        ),
        told,
        (
            "test_isolation.py::test_no_secret_comes_where_it_was_not_told",
            "test_leak_scopes.py::test_whatever_is_asked_brings_candidates_of_its_audience_alone",
            "test_leak_scopes.py::test_much_that_others_said_hides_nothing_of_ones_own",
        ),
        "the owner's web page shows the owner everything by design, and nobody else anything; its chat box is one more "
        "private chat",
    ),
    Row(
        "X10",
        "The same number on two platforms",
        "0 mixing",
        "rounds",
        20,
        2,
        20,
        300.0,
        (
            *none("mixed"),
            Bound("handled", "==", 4, per="rounds"),
            Bound("people", "==", 2),
            Bound("owners", "==", 2),
            Bound("left of the other", "==", 1, per="rounds"),
        ),
        numbers,
    ),
    Row(
        "X11",
        "Strangers",
        "1,000 x 5 messages: 0 model calls, at most 3 wait, at most 3 codes told",
        "strangers",
        1_000,
        20,
        1_000,
        1_200.0,
        (
            *none("model calls", "texts stored"),
            Bound("waiting at once", "<=", 3),
            Bound("code messages", "<=", 3),
            Bound("told", "<=", 1, per="strangers"),
        ),
        unknown,
    ),
    Row(
        "X23",
        "Commands of the owner",
        "whoever is not the owner carries out none, and what is private stays so",
        "commands",
        15,
        3,
        15,
        600.0,
        (
            *none("carried out", "shown to the group"),
            Bound("tried", ">=", 12, per="commands"),
            Bound("owner able", "==", 1, per="commands"),
            Bound("refused", ">=", 1, per="commands"),
        ),
        pretending,
    ),
    Row(
        "X24",
        "Looking into another's memory by its number",
        "0 rows",
        existing=(
            "test_memory_get.py::test_another_persons_memory_is_not_got",
            "test_tools.py::test_recall_keeps_to_the_audience_of_its_turn",
            "test_commands.py::test_in_a_group_only_the_owner_may",
            "test_mem_command.py::test_nobody_sees_or_changes_what_is_anothers",
        ),
    ),
    Row(
        "X25",
        "Everything of a person, shown and erased",
        "0 rows and 0 strings left; a table without a rule fails",
        existing=(
            "test_erase.py::test_of_every_table_it_is_said_what_becomes_of_a_persons_rows",
            "test_erase.py::test_afterwards_nothing_of_them_is_in_any_table_or_file",
            "test_erase.py::test_what_others_have_is_still_theirs",
            "test_export_person.py::test_the_archive_has_all_of_them_and_nothing_of_anybody_else",
        ),
    ),
    Row(
        "X26",
        "Who else on the machine may read",
        "every file for its owner alone; nothing read that may carry code; keys come from the environment or a file "
        "and stand in no log",
        existing=(
            "test_store_opening.py::test_nobody_else_may_read_any_file",
            "test_logs.py::test_only_the_owner_can_read_the_log",
            "test_web_gate.py::test_the_token_is_made_once_and_for_nobody_else_to_read",
            "test_memory_export.py::test_files_are_for_the_owner_alone_and_never_replaced_unasked",
            "test_shipping.py::test_nothing_is_read_that_may_carry_code",
            "test_logs.py::test_a_secret_never_reaches_the_file",
        ),
    ),
    Row(
        "X29",
        "Social ways in: links, codes, approvals, names like ids, two of one name",
        "whoever is hostile has nobody's memory, rank, account or leave to talk; honest links hold",
        "ways",
        36,
        9,
        9,
        600.0,
        none("learnt", "ranks", "joined", "honest refused"),
        hostile,
        ("test_social.py::test_three_people_on_two_platforms",),
    ),
)
