"""Clear words about a reply, and the many sentences that only look like them."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bot.language.feedback import feedback_signals
from tests.tables import all_cases

ROWS = [line.split("\t") for line in Path(__file__).with_name("remarks.tsv").read_text("utf-8").splitlines()]


@all_cases(("text", "signal"), ROWS)
def test_only_what_is_said_clearly_counts(text: str, signal: str) -> None:
    assert feedback_signals(text, ("小暖", "暖暖", "nuan")) == (() if signal == "-" else (signal,))


@given(st.text(max_size=140))
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(feedback_signals(text, ("小暖",)), tuple)
