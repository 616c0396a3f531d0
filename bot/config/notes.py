"""The keys for Markdown notes: [notes]."""

from pydantic import Field

from bot.config.section import Section


class NoteRules(Section):
    """Markdown notes: the folder notes and MEMORY.md in the data folder."""

    on_new: bool = Field(
        default=True,
        description="Whether `/new` writes the last 15 messages of the talk into a note.",
    )
    chunk_tokens: int = Field(
        default=400, ge=50, le=4_000, description="Size of the pieces in which notes are found, in tokens."
    )
    overlap_tokens: int = Field(
        default=80, ge=0, le=1_000, description="What a piece repeats of the one before it, in tokens; at most half."
    )
    max_kilobytes: int = Field(default=512, ge=1, le=16_384, description="Largest note that is read, in kilobytes.")
