"""The last model calls, and whether there are any in the background, as lines of text. Pure."""

from collections.abc import Callable
from datetime import datetime, tzinfo

from bot.types.money import Made

CALLS_SHOWN, MOST_CALLS = 10, 50


def calls_wanted(words: tuple[str, ...]) -> int | None:
    """How many calls these words ask to see; None when they ask for something else."""
    match words:
        case () | ("recent",):
            return CALLS_SHOWN
        case ("recent", number) if number.isascii() and number.isdigit() and int(number[:9]):
            return min(int(number[:9]), MOST_CALLS)
        case _:
            return None


def calls_report(
    made: tuple[Made, ...], sources: tuple[str, ...], tz: tzinfo, currency: str, text: Callable[..., str]
) -> str:
    """What may call in the background (nothing: it is off), then each call, the newest first."""
    state = text("background_on", sources=", ".join(sources)) if sources else text("background_off")
    lines = [
        text(
            "calls_line", at=f"{datetime.fromtimestamp(call.at / 1000, tz):%m-%d %H:%M:%S}", cause=call.cause,
            model=call.model, prompt=call.prompt_tokens, cached=call.cached_tokens, written=call.written_tokens,
            output=call.output_tokens, thought=call.reasoning_tokens, money=f"{call.money:.5f} {currency}",
            ms=call.ms, state=call.state,
        )
        for call in made
    ]  # fmt: skip
    return "\n".join((text("calls_head", state=state, n=len(made)), *(lines or [text("calls_none")])))
