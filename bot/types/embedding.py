"""Texts as vectors: what an embedder answers, and what waits for one."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Embedded:
    """One vector of length 1 for each text, in order, as little-endian float32; `tokens` None: nobody counted."""

    vectors: tuple[bytes, ...]
    dimensions: int
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A document that has no vector yet: its number, the chat on whose account the call goes, its text."""

    id: int
    chat_id: int
    text: str
