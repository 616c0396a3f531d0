"""Whose a memory is and who may see it when its row does not say (C48): by the lines it was made from. Pure."""

from typing import get_args

from bot.types.memory import SLOT_CHARS, MemoryKind, Visibility
from bot.types.mending import Fault, Place, Standing


def judge(row: Standing) -> Fault | None:
    """What is wrong with a memory's namespace and where it belongs; None when all is well.

    In a direct chat it is of the only one who wrote those lines, else of its only member; there it is private unless
    it was of that chat. Elsewhere a private one is of the only one who wrote. What stays open is reported.
    """
    wrong = [*_words(row)]
    chat_id, chat_kind = row.chat_id, row.chat_kind
    if chat_kind is None:
        wrong.append("its chat is gone")
        if len(row.chats) != 1:
            return Fault("namespaces", row.number, "; ".join([*wrong, "its lines do not tell one chat"]))
        chat_id, chat_kind = row.chats[0]
    owner_id = row.owner_id
    lost = owner_id is not None and not row.owner_known
    if lost or (owner_id is None and (chat_kind == "dm" or row.visibility == "private")):
        wrong.append("its owner is gone" if lost else "it has no owner")
        owner_id = _owner(row, chat_kind)
        if owner_id is None:
            return Fault("namespaces", row.number, "; ".join([*wrong, "its lines do not tell one person"]))
    visibility = row.visibility
    if visibility not in get_args(Visibility):
        visibility = "private" if chat_kind == "dm" else "chat"
    elif visibility == "public" and row.owner_id is None and chat_kind == "dm":
        visibility = "private"
    if not wrong:
        return None
    kind = row.kind if row.kind in get_args(MemoryKind) else "knowledge"
    slot = row.slot if len(row.slot) <= SLOT_CHARS else ""
    return Fault("namespaces", row.number, "; ".join(wrong), Place(owner_id, chat_id, visibility, kind, slot))


def _words(row: Standing) -> list[str]:
    """Words that are none of ours."""
    known = (("visibility", row.visibility, Visibility), ("kind", row.kind, MemoryKind))
    return [f"{name} {value[:20]!r}" for name, value, words in known if value not in get_args(words)]


def _owner(row: Standing, chat_kind: str) -> int | None:
    if len(row.senders) == 1:
        return row.senders[0]
    return row.members[0] if chat_kind == "dm" and not row.senders and len(row.members) == 1 else None
