"""Whether a message is answered now, after silence or not, and the reason as a catalogue key."""

from collections.abc import Mapping
from dataclasses import replace

from bot.config.settings import Settings
from bot.core.speaking import (
    STOP_REASONS,
    Decision,
    LastDecisions,
    LastEntry,
    LastLine,
    LastLook,
    Situation,
    SpeakingReason,
    Why,
)
from bot.speaking.triggers import called_by_name

OUTCOME_KEYS: Mapping[str, str] = {
    "skipped": "skipped", "skip": "skipped", "limited": "limited", "refused": "budget", "silent": "budget",
    "failed": "failed", "stopped": "stopped", "off": "off", "uncalled": "uncalled", "overtaken": "overtaken",
    "crash": "crash", "void": "overtaken", "background": "background",
}  # fmt: skip
"""What became of a message or an entry that nothing was said to: `why_end_…` of the catalogue says each in words."""


def decide(situation: Situation, settings: Settings) -> Decision:
    """The decision for one message. `due_at` of an answer is ms, 0 when nuan only listens.

    What nuan answers renews the person's window; a dot-command and what she only hears leave it as it was. What is
    addressed to someone else is never taken for a follow-up or a memory command, forwarded text never for a command.
    A stranger gets a pairing code in a DM and nothing in a group, but for what everyone is answered. Of what comes late
    the young part is answered in one turn, after a moment in which the rest arrives; what needs no model is answered
    at any age. A command to stop counts where any other word would call, or be a follow-up; it renews no window.
    Another bot is answered where it mentions nuan in a group, in time, and not for ever. In the mode called nothing is
    a follow-up; in the mode join a pause after what nobody is called by may be entered. Where nuan is switched off who
    tells her to keep or forget something learns that.
    """
    speak, age, decision = settings.speak, situation.age_ms, _in_time(situation, settings)
    at_any_age = situation.greets or decision.why in ("pair", "closed", "off")
    if decision.action == "listen" or age <= speak.followup_seconds * 1000 or at_any_age:
        return decision
    if decision.why == "bot" or (age > speak.backlog_seconds * 1000 and not situation.is_memory_command):
        return _listen(situation, "old")
    if decision.why in STOP_REASONS:
        return decision
    return replace(decision, action="follow", due_at=situation.at + speak.followup_seconds * 1000)


def _in_time(seen: Situation, settings: Settings) -> Decision:
    """The decision for a message that comes as it is written."""
    if not seen.is_message or seen.from_bot:
        return _bot(seen, settings) if seen.allowed and not seen.refused else _listen(seen, "stranger")
    if seen.refused:
        return _closed(seen, "stranger")
    if seen.is_command and not seen.forwarded and (seen.allowed or seen.from_owner or seen.greets):
        return Decision("now", "command", seen.at, seen.window_until)
    if not seen.allowed:
        in_dm = seen.chat_kind == "dm"
        return Decision("now", "pair", seen.at, seen.window_until) if in_dm else _closed(seen, "stranger")
    if not seen.enabled:
        return _off(seen, settings)
    if seen.muted:
        return _listen(seen, "muted")
    if (call := _call(seen, settings)) is not None:
        return _halt(seen) or _now(seen, call, settings)
    if seen.forwarded:
        return _listen(seen, "forwarded")
    if seen.addresses_other:
        return _listen(seen, "other")
    speak, followup_ms = settings.speak, settings.speak.followup_seconds * 1000
    mode = seen.mode or speak.mode
    if mode == "called":
        return _listen(seen, "uncalled")
    if seen.window_until <= seen.at:
        lull_at = seen.at + speak.join.lull_seconds * 1000 if mode == "join" and seen.age_ms <= followup_ms else 0
        return replace(_listen(seen, "silent"), silence_at=lull_at)
    if (halt := _halt(seen)) is not None:
        return halt
    if seen.is_memory_command:
        return _now(seen, "window", settings)
    until = extended(seen.window_until, seen.at, settings)
    return Decision("follow", "window", seen.at + followup_ms, until)


def _call(seen: Situation, settings: Settings) -> Why | None:
    """How a message calls nuan, without regard to windows; in a DM every one does."""
    if seen.chat_kind == "dm":
        return "dm"
    if seen.forwarded:
        return None
    if seen.mentions_bot:
        return "mention"
    if seen.replies_to_bot:
        return "reply"
    return "name" if called_by_name(seen.text, settings.bot.names, settings.bot.prefix_trigger) else None


def _halt(seen: Situation) -> Decision | None:
    """The decision about a command to stop that is addressed to nuan."""
    if not seen.stop or seen.forwarded or seen.is_memory_command:
        return None
    return Decision("now", seen.stop, seen.at, seen.window_until)


def _bot(seen: Situation, settings: Settings) -> Decision:
    """The decision for what no human wrote."""
    calls = seen.is_message and seen.chat_kind == "group" and seen.mentions_bot
    if (
        not calls
        or settings.speak.bots == "never"
        or seen.is_command
        or seen.forwarded
        or not seen.enabled
        or seen.muted
    ):
        return _listen(seen, "listen")
    return _listen(seen, "bots") if seen.bots_quiet else Decision("now", "bot", seen.at, seen.window_until)


def extended(window_until: int, at: int, settings: Settings) -> int:
    """The end of a person's window after something at `at` that keeps it open: a call, a follow-up or a reply."""
    return max(window_until, at + settings.speak.window_seconds * 1000)


def _now(seen: Situation, why: Why, settings: Settings) -> Decision:
    return Decision("now", why, seen.at, extended(seen.window_until, seen.at, settings))


def _closed(seen: Situation, why: Why) -> Decision:
    """Where nuan does not talk only what is awaited is answered: that she does not."""
    return Decision("now", "closed", seen.at, seen.window_until) if seen.awaited else _listen(seen, why)


def _off(seen: Situation, settings: Settings) -> Decision:
    """Where nuan is switched off a wish to her memory is not passed over: she says that it is not carried out."""
    wish = seen.is_memory_command and not seen.forwarded and not seen.muted and _call(seen, settings) is not None
    return Decision("now", "off", seen.at, seen.window_until) if wish else _closed(seen, "off")


def _listen(seen: Situation, why: Why) -> Decision:
    return Decision("listen", why, 0, seen.window_until)


def explain_decision(known: LastDecisions, now: int) -> SpeakingReason:
    """The last decision of a chat: about an entry that is newer than any line, else about the newest line."""
    line, entry = known.line, known.entry
    if entry is not None and (line is None or entry.id > line.id):
        return _entry(entry)
    if line is None:
        return SpeakingReason("still", "why_nothing")
    if line.state == "queued":
        return _waiting(line, now)
    if line.outcome in OUTCOME_KEYS:
        return SpeakingReason("still", f"why_end_{OUTCOME_KEYS[line.outcome]}", line.name)
    if line.state == "done":
        return SpeakingReason("spoke", f"why_{line.why}", line.name)
    if line.why == "silent" and known.look is not None:
        return _look(line, known.look, now)
    return SpeakingReason("still", f"why_{line.why}", line.name)


def _entry(entry: LastEntry) -> SpeakingReason:
    if not entry.outcome:
        return SpeakingReason("waits", "why_wait_model")
    if entry.outcome in OUTCOME_KEYS:
        return SpeakingReason("still", f"why_end_{OUTCOME_KEYS[entry.outcome]}")
    return SpeakingReason("spoke", f"why_{entry.why}")


def _waiting(line: LastLine, now: int) -> SpeakingReason:
    """A line that is to be answered: after silence, now, or with the next call."""
    if line.due_at is None:
        return SpeakingReason("waits", "why_wait_call", line.name)
    if line.due_at > now:
        return SpeakingReason("waits", "why_wait_silence", line.name, line.due_at)
    return SpeakingReason("waits", "why_wait_turn", line.name)


def _look(line: LastLine, look: LastLook, now: int) -> SpeakingReason:
    """A line that nobody was called by, where nuan may enter the talk."""
    if look.event_id >= line.id and look.why != "lull":
        waits = look.due_at is not None and look.due_at > now
        return SpeakingReason("waits" if waits else "still", f"why_look_{look.why}", line.name, look.until)
    if look.due_at is not None and look.due_at > now:
        return SpeakingReason("waits", "why_look_lull", line.name, look.due_at)
    return SpeakingReason("still", "why_silent", line.name)
