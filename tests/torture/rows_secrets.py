"""Rows of secrets, and of what Python says of neglected tasks: the whole program with everything going wrong."""

from pathlib import Path

from tests.torture.row import Bound, Found, Row, Size


async def plain(folder: Path, size: Size) -> Found:
    """As it is started every day."""
    from tests.torture.trouble import troubled

    return await troubled(folder, size, strict=False)


async def strict(folder: Path, size: Size) -> Found:
    """With an interpreter that tells of everything left open."""
    from tests.torture.trouble import troubled

    return await troubled(folder, size, strict=True)


CLEAN = (Bound("spilled", "==", 0), Bound("strange ends", "==", 0), Bound("answers", ">=", 10))

ROWS: tuple[Row, ...] = (
    Row(
        "X12",
        "Secrets in what a model is told",
        "0 in all recorded requests, also of every run that kills",
        "rounds",
        40,
        0,
        40,
        600.0,
        (*CLEAN, Bound("requests", ">=", 10)),
        plain,
        ("test_run.py::test_one_process_serves_both_platforms_lets_people_in_and_keeps_a_second_nuan_out",),
    ),
    Row(
        "X13",
        "Secrets in logs and output",
        "at DEBUG with texts, 401s, timeouts and crashes: 0 in any file or output",
        "rounds",
        80,
        0,
        40,
        600.0,
        (
            *CLEAN,
            Bound("files", ">=", 5),
            Bound("commands", ">=", 12),
            Bound("archives", ">=", 1),
            Bound("defects told", ">=", 4),
        ),
        plain,
        (
            "test_last_words.py::test_an_unexpected_error_is_told_in_a_line_without_its_text_wherever_it_comes_up",
            "test_logs.py::test_a_secret_never_reaches_the_file",
            "test_telegram_adapter.py::test_a_refused_token_is_final_and_shown_nowhere",
        ),
    ),
    Row(
        "R9",
        "Tasks that nobody keeps",
        "asyncio's debug mode, warnings as errors: 0 exceptions never retrieved",
        "rounds",
        40,
        0,
        40,
        600.0,
        CLEAN,
        strict,
        ("test_shutdown.py::test_a_stop_leaves_no_task_no_thread_and_no_descriptor",),
    ),
)
