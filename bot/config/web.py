"""The keys of the web page."""

from pydantic import Field

from bot.config.section import Section


class WebPage(Section):
    """The operator's web page; `nuan run` serves it when it is on, `nuan web` always."""

    on: bool = Field(default=False, description="Whether `nuan run` serves the web page.")
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        max_length=255,
        description="Address it listens at; anything but this machine's own lets others on the network try the token, "
        "and what is shown then travels unencrypted.",
    )
    port: int = Field(default=8390, ge=0, le=65_535, description="Port it listens at; 0 takes a free one.")
    session_hours: int = Field(default=12, ge=1, le=720, description="How long a login lasts, in hours.")
