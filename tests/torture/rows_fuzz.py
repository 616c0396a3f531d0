"""Rows of issue 9's fuzzing: every parser of outside text with many more examples, and the installation under random
crashes.

They have no number in the list of faults. Each runs properties of the suite, which are its short version, with other
seeds; what fails is named with its test, and that test tells the example when it is run with it.
"""

from collections.abc import Callable
from pathlib import Path

from tests.torture.row import Bound, Found, Row, Run, Size
from tests.torture.words import properties

Tests = tuple[Callable[..., None], ...]


def commands() -> Tests:
    """Words to nuan: commands, wishes, answers, codes, names, orders to stop; and those of a command line."""
    from tests import (
        test_chat_settings,
        test_codes,
        test_forget_by_reply,
        test_forget_match,
        test_light,
        test_memory_answers,
        test_memory_commands,
        test_menus,
        test_nearest,
        test_odd_inputs,
        test_remarks,
        test_stopping,
        test_trigger,
        test_wishes_read,
    )

    return (
        test_memory_commands.test_any_text_is_read_and_contents_are_verbatim,
        test_codes.test_only_a_code_is_taken_for_a_code,
        test_memory_answers.test_any_mixture_chooses_only_what_was_offered,
        test_forget_by_reply.test_no_text_breaks_it,
        test_menus.test_only_the_menus_own_form_is_an_order,
        test_remarks.test_any_text_can_be_read,
        test_stopping.test_it_never_raises_and_is_the_same_in_any_case_and_width,
        test_light.test_any_text_is_judged_and_something_beside_small_talk_counts,
        test_trigger.test_any_text_is_decided_without_an_error,
        test_wishes_read.test_any_text_is_read_and_what_is_found_stands_in_it,
        test_chat_settings.test_whatever_is_said_either_fits_or_sets_nothing,
        test_nearest.test_anything_may_follow_and_what_is_proposed_fits,
        test_forget_match.test_any_text_is_matched_without_an_error_and_finds_only_given_memories,
        test_odd_inputs.test_any_words_after_a_command_are_taken_or_told,
    )


def times() -> Tests:
    """Days, hours, spans and zones in words; how long a server wants one to wait."""
    from tests import test_dated, test_event_moment, test_fallback, test_odd_inputs, test_text_spans, test_when

    return (
        test_when.test_no_text_raises_and_every_instant_lies_ahead,
        test_when.test_the_same_words_mean_the_same_and_an_answer_never_raises,
        test_text_spans.test_whatever_is_asked_a_time_ends_after_it_begins,
        test_dated.test_any_text_is_read_and_any_word_checked_without_an_error,
        test_event_moment.test_no_text_is_of_a_later_moment_than_it_was_said,
        test_fallback.test_no_text_breaks_a_reader,
        test_odd_inputs.test_a_moment_is_a_number_that_can_be_stored_or_refused,
        test_odd_inputs.test_a_zone_is_one_that_there_is_or_none,
        test_odd_inputs.test_a_wait_that_a_server_names_is_none_or_can_be_waited_for,
    )


def configuration() -> Tests:
    """Variables, keys, addresses, rules for models, texts and personas of an operator."""
    from tests import test_capabilities, test_catalogue, test_config, test_init, test_odd_inputs, test_section_rules

    return (
        test_config.test_any_value_is_taken_or_told,
        test_config.test_any_text_is_either_loopback_or_not,
        test_config.test_any_file_is_taken_or_told,
        test_capabilities.test_no_rule_and_no_name_is_too_odd,
        test_catalogue.test_what_people_wrote_is_filled_in_unchanged,
        test_section_rules.test_a_damaged_state_is_left_out,
        test_init.test_whatever_a_server_says_its_models_are_printable_names,
        test_init.test_the_key_in_env_is_read_back_and_nothing_else_changes,
        test_odd_inputs.test_a_persona_of_any_bytes_is_read_or_named,
        test_odd_inputs.test_an_opening_of_any_text_is_taken_or_named,
    )


def imports() -> Tests:
    """Files to import, notes, texts that people attach; backups and files of the installation that somebody damaged."""
    from tests import test_memory_files, test_note_text, test_odd_inputs, test_text_textfile

    return (
        test_memory_files.test_no_file_ends_in_a_traceback,
        test_memory_files.test_what_is_written_is_read_back,
        test_note_text.test_whatever_stands_at_the_top_is_ours_or_refused_or_nobodys,
        test_note_text.test_no_answer_breaks_a_note,
        test_text_textfile.test_reading_any_bytes_never_fails_and_never_passes_the_limit,
        test_text_textfile.test_any_name_and_kind_of_file_can_be_judged,
        test_odd_inputs.test_a_backup_with_any_bytes_in_it_is_whole_or_refused_and_stays_as_it_is,
        test_odd_inputs.test_files_of_the_installation_that_somebody_damaged_are_read_or_named,
    )


def outputs() -> Tests:
    """What a model says: pieces, digests, arguments, verdicts, replies, scripts, markup, addresses; agents' wishes."""
    from tests import (
        test_digest_parse,
        test_embedding_client,
        test_model_answer,
        test_odd_inputs,
        test_pacing,
        test_scaffold,
        test_text_links,
        test_text_markup,
        test_tool_loop,
    )

    return (
        test_model_answer.test_no_json_whatever_breaks_the_assembly,
        test_digest_parse.test_any_text_is_read_without_an_error,
        test_digest_parse.test_any_answer_of_the_right_form_gives_only_what_people_said,
        test_embedding_client.test_whatever_comes_is_vectors_or_a_model_error,
        test_embedding_client.test_whatever_bytes_come_are_a_model_error,
        test_pacing.test_a_script_keeps_every_word_and_every_bound,
        test_text_markup.test_spans_are_what_telegram_accepts,
        test_text_markup.test_a_preview_never_fails_and_invents_no_letter,
        test_text_links.test_nothing_is_left_that_a_program_would_make_a_link_of,
        test_text_links.test_what_is_shown_is_shown_the_same_again,
        test_tool_loop.test_nothing_is_lost_of_a_text_without_marks_and_nothing_raises,
        test_scaffold.test_nothing_raises_and_what_is_left_stays,
        test_odd_inputs.test_arguments_of_a_tool_are_taken_or_refused,
        test_odd_inputs.test_any_answer_about_a_wording_is_a_verdict_or_none,
        test_odd_inputs.test_what_an_agent_asks_over_the_socket_is_a_wish_or_refused,
    )


def payloads() -> Tests:
    """What platforms send, and what a terminal and a log show."""
    from tests import (
        test_console_adapter,
        test_discord_updates,
        test_log_reading,
        test_logs,
        test_telegram_events,
        test_telegram_updates,
    )

    return (
        test_telegram_updates.test_wrong_entities_break_nothing,
        test_telegram_events.test_an_update_that_cannot_be_read_is_emptied_and_the_others_stay,
        test_telegram_events.test_entities_at_any_offset_are_read_without_an_error,
        test_discord_updates.test_no_value_of_any_field_gets_past_the_guard,
        test_discord_updates.test_any_text_stays_what_it_was_apart_from_marks,
        test_console_adapter.test_whatever_is_shown_has_no_control_character_but_tab_and_line_break,
        test_log_reading.test_no_line_moves_the_cursor_or_becomes_two,
        test_log_reading.test_however_the_bytes_arrive_the_lines_are_the_same,
        test_logs.test_redacting_never_raises_and_takes_the_key_out,
    )


def talking(machine: Callable[[], type]) -> Run:
    """Steps in random order, 15 in each run, against what must hold."""

    async def run(folder: Path, size: Size) -> Found:
        import asyncio
        import subprocess
        import sys

        code = (
            "import sys\nfrom hypothesis import HealthCheck, seed, settings\n"
            "from hypothesis.stateful import run_state_machine_as_test\n"
            f"from {machine().__module__} import {machine().__name__} as Machine\n"
            f"Machine = seed({size.seed})(Machine)\n"
            f"rules = settings(max_examples={size.units}, stateful_step_count=15, deadline=None, derandomize=False,\n"
            "                 database=None, suppress_health_check=list(HealthCheck))\n"
            "run_state_machine_as_test(Machine, settings=rules)\n"
        )
        # A process of its own: the machine brings its own loop.
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, stdout=subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        try:
            _, told = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        notes = tuple(told.decode("utf-8", "replace").splitlines()[-12:]) if process.returncode else ()
        return Found({"runs": size.units, "broken": int(process.returncode != 0)}, notes=notes)

    return run


def talk() -> type:
    """People, chats, modes, bursts, faults, crashes, reloads."""
    from tests.test_random_talk import Talking

    return Talking


def memories() -> type:
    """Keeping, forgetting, restoring, merging, sharing: table, index and a simple oracle agree."""
    from tests.contract.test_memories_model import Memories

    return Memories


def row(name: str, title: str, tests: Callable[[], Tests], existing: str) -> Row:
    """A row of properties: 20,000 examples of each, in pieces of 1,000."""
    return Row(
        name,
        title,
        "no example breaks it: read, refused or said in words",
        "examples",
        20_000,
        0,
        1_000,
        600.0,
        (Bound("broken", "==", 0),),
        properties(tests, "examples"),
        existing=(existing,),
    )


ROWS: tuple[Row, ...] = (
    row("F1", "Fuzz: commands and wishes", commands, "test_rows_words.py::test_what_the_rows_run_longer_is_there"),
    row("F2", "Fuzz: times", times, "test_when.py::test_no_text_raises_and_every_instant_lies_ahead"),
    row("F3", "Fuzz: configuration", configuration, "test_config.py::test_any_file_is_taken_or_told"),
    row("F4", "Fuzz: files to import", imports, "test_memory_files.py::test_no_file_ends_in_a_traceback"),
    row("F5", "Fuzz: what a model says", outputs, "test_model_answer.py::test_no_json_whatever_breaks_the_assembly"),
    row(
        "F6",
        "Fuzz: what platforms send",
        payloads,
        "test_discord_updates.py::test_no_value_of_any_field_gets_past_the_guard",
    ),
    Row(
        "F7",
        "Random talks with crashes",
        "2,000 runs of 15 steps: all answered once, one digest each, nobody hears another's",
        "runs",
        2_000,
        0,
        100,
        900.0,
        (Bound("broken", "==", 0),),
        talking(talk),
        existing=("test_random_talk.py::TestRandomTalk::runTest",),
    ),
    Row(
        "F8",
        "Random operations on memories",
        "10,000 operations: what is stored, found and expected is the same",
        "runs",
        700,
        0,
        100,
        900.0,
        (Bound("broken", "==", 0),),
        talking(memories),
        existing=("contract/test_memories_model.py::test_everybody_sees_what_they_should_whatever_was_done",),
    ),
)
