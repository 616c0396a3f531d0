"""The keys for what people send along: pictures, voice, files. Each is one line to switch."""

from pydantic import Field

from bot.config.section import Section


class Media(Section):
    """Pictures, voice messages and files that people send along; only what is being answered is looked at."""

    images: str = Field(
        default="",
        description="Name of a model on the same server that sees pictures; its calls cost model.price_* where "
        "they are set, else what the public table says; empty looks at none.",
    )
    voice: str = Field(
        default="",
        description="Name of a model on the same server that transcribes voice messages; counted like media.images; "
        "empty hears none.",
    )
    files: bool = Field(default=True, description="Whether text files are read; that needs no model.")
    max_megabytes: float = Field(
        default=10.0, gt=0, le=100, description="Largest picture, voice message or file that is fetched, in megabytes."
    )
    max_per_message: int = Field(
        default=4, ge=1, le=9, description="Attachments of one message that are looked at, 1 to 9."
    )
    file_chars: int = Field(
        default=4000, ge=1, le=100_000, description="How much of a text file is read, in characters."
    )
    description_tokens: int = Field(
        default=300, ge=16, le=2_000, description="Longest description of one picture, in tokens."
    )
