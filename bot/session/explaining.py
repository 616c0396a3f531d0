"""Why nuan spoke, waits or stayed silent, as the key of a sentence. Pure; the sentences are in the catalogue."""

from collections.abc import Mapping

from bot.types.reason import Known, LastEntry, LastLine, LastLook, Reason

ENDS: Mapping[str, str] = {
    "skipped": "skipped", "skip": "skipped", "limited": "limited", "refused": "budget", "silent": "budget",
    "failed": "failed", "stopped": "stopped", "off": "off", "uncalled": "uncalled", "overtaken": "overtaken",
    "crash": "crash", "void": "overtaken", "background": "background",
}  # fmt: skip
"""What became of a message or an entry that nothing was said to: `why_end_…` of the catalogue says each in words."""


def explain(known: Known, now: int) -> Reason:
    """The last decision of a chat: about an entry that is newer than any line, else about the newest line."""
    line, entry = known.line, known.entry
    if entry is not None and (line is None or entry.id > line.id):
        return _entry(entry)
    if line is None:
        return Reason("still", "why_nothing")
    if line.state == "queued":
        return _waiting(line, now)
    if line.outcome in ENDS:
        return Reason("still", f"why_end_{ENDS[line.outcome]}", line.name)
    if line.state == "done":
        return Reason("spoke", f"why_{line.why}", line.name)
    if line.why == "silent" and known.look is not None:
        return _look(line, known.look, now)
    return Reason("still", f"why_{line.why}", line.name)


def _entry(entry: LastEntry) -> Reason:
    if not entry.outcome:
        return Reason("waits", "why_wait_model")
    if entry.outcome in ENDS:
        return Reason("still", f"why_end_{ENDS[entry.outcome]}")
    return Reason("spoke", f"why_{entry.why}")


def _waiting(line: LastLine, now: int) -> Reason:
    """A line that is to be answered: after silence, now, or with the next call."""
    if line.due_at is None:
        return Reason("waits", "why_wait_call", line.name)
    if line.due_at > now:
        return Reason("waits", "why_wait_silence", line.name, line.due_at)
    return Reason("waits", "why_wait_turn", line.name)


def _look(line: LastLine, look: LastLook, now: int) -> Reason:
    """A line that nobody was called by, where nuan may enter the talk."""
    if look.event_id >= line.id and look.why != "lull":
        waits = look.due_at is not None and look.due_at > now
        return Reason("waits" if waits else "still", f"why_look_{look.why}", line.name, look.until)
    if look.due_at is not None and look.due_at > now:
        return Reason("waits", "why_look_lull", line.name, look.due_at)
    return Reason("still", "why_silent", line.name)
