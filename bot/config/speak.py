"""When nuan speaks in a group, how long and how fast, and what a reply may link to."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from bot.config.joining import JoinRules
from bot.config.section import Section
from bot.types.speaking import Busy, Mode

Domain = Annotated[
    str, StringConstraints(strip_whitespace=True, to_lower=True, max_length=253, pattern=r"^(\*|[\w-]+(\.[\w-]+)*)$")
]


class Speak(Section):
    """When and how nuan speaks."""

    mode: Mode = Field(
        default="window",
        description="In groups: window (whoever calls, and their follow-ups), called (whoever calls, nothing else) or "
        "join (as window, and nuan may enter a talk by itself). `.ai mode` sets it for one group.",
    )
    window_seconds: int = Field(
        default=60, ge=0, le=86_400, description="How long a person need not call again, in seconds."
    )
    followup_seconds: int = Field(
        default=5, ge=0, le=3_600, description="Silence before a follow-up is answered, in seconds."
    )
    backlog_seconds: int = Field(
        default=600, ge=0, le=604_800, description="Messages older than this, in seconds, are read but not answered."
    )
    late_seconds: int = Field(
        default=600,
        ge=1,
        le=604_800,
        description="How old a message may get, in seconds, while others are answered and every call of model.slots is "
        "taken; then one line says so in the place of an answer.",
    )
    paced: bool = Field(
        default=False,
        description="Whether a reply may go out as several messages, with pauses and typing time between them, where "
        "the persona wants it (a file PACED.md); such replies are not shown while they are written.",
    )
    busy: Busy = Field(
        default="collect",
        description="Messages that come while nuan answers in that chat: collect (answered together afterwards), "
        "interrupt (a new message of the person being answered cancels the running call, once, and both are asked "
        "together) or queue (one after the other, together only when more than 3 wait).",
    )
    debounce_seconds: float = Field(
        default=0.6,
        ge=0,
        le=3,
        description="Wait for a person's next message before the first is answered, in seconds, up to 3 while they are "
        "still typing; unset the terminal does not wait, and queue never does.",
    )
    reply_chars: int | None = Field(
        default=None,
        ge=60,
        le=100_000,
        description="Longest reply that is sent, in characters, cut at the end of a sentence; none means no limit.",
    )
    bots: Literal["never", "limited"] = Field(
        default="limited",
        description="Other bots in groups: never answered, or limited (when they mention nuan, at most 20 times in 60 "
        "seconds, then silence for 60).",
    )
    links: tuple[Domain, ...] = Field(
        default=(),
        description="Domains, each with its subdomains, to which a reply may link though nobody in the chat, no memory "
        "and no text of the persona named the address; of any other address only the host is said, as example[.]org. "
        '"*" lets every address through.',
    )
    join: JoinRules = JoinRules()
