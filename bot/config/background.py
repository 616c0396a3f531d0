"""The keys for calls that nobody waits for."""

from typing import Literal

from pydantic import Field

from bot.config.section import Section

Source = Literal["digest", "heartbeat", "join", "embedding", "flush", "rewrite"]


class Background(Section):
    """Model calls that nobody waits for; without them rules do the same, less well. `.ai calls` shows them."""

    on: bool = Field(default=True, description="Whether the model is called in the background at all.")
    sources: tuple[Source, ...] = Field(
        default=("digest", "heartbeat", "join", "embedding", "flush", "rewrite"),
        description="What may call it: digest, which sums up a conversation when it ends, heartbeat, with which nuan "
        "writes first ([heartbeat]), join, with which it enters a group's talk ([speak.join]), embedding, which makes "
        "vectors of memories ([memory.embedding]), flush, which keeps notes of a long talk (memory.flush), rewrite, "
        "which puts what it was asked to keep into clean statements (memory.rewrite).",
    )
