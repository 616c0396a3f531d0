"""What an archive of one person holds beside their memories, as it was read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Own:
    """Rows of one person, each a record of plain values with its times in ms.

    Nothing anybody else said is among them: no quotes, no summaries of groups, no replies.
    """

    person: dict[str, object]
    promises: tuple[dict[str, object], ...]
    reminders: tuple[dict[str, object], ...]
    lines: tuple[dict[str, object], ...]
    files: tuple[dict[str, object], ...]
    feedback: tuple[dict[str, object], ...]
    usage: tuple[dict[str, object], ...]
    chats: tuple[dict[str, object], ...]
