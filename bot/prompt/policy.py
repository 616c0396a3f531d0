"""How much of the bootstrap a turn brings: light or full. Pure; how the two differ is decided in persona.py."""

from dataclasses import dataclass

from bot.types.session import LightPolicy, Mode


@dataclass(frozen=True, slots=True)
class Choice:
    """What a turn brings, and why: off, topic, casual, stays, warm, cold or budget."""

    mode: Mode
    why: str


def choose(
    policy: LightPolicy, *, casual: bool, log: Mode | None, warm: bool, full_log: bool = False, poor: bool = False
) -> Choice:
    """The bootstrap of the next turn; `log` is that of the log that may go on, `warm`: the full one is cached.

    `full_log` says that it is a full one of which a new log could not take everything over, `poor` that the budget
    runs low: a log that is there goes on, since to begin another costs more, and new ones are light.

    auto is the rule of least cost (PROMPT_ECONOMICS, policy f): full while the full prefix is warm, as it then costs a
    tenth and nothing is written anew; light only when it is cold, the message is small talk and no talk is lost.
    per_message and sticky are the seed's schemes B and C (一般聊天 vs 主題／記憶, L10).
    """
    if poor:
        return Choice(log or "light", "budget")
    if policy == "off":
        return Choice("full", "off")
    if not casual:
        return Choice("full", "topic")
    if policy == "per_message":
        return Choice("light", "casual")
    if policy == "sticky":
        return Choice("full", "stays") if log == "full" else Choice("light", "casual")
    if full_log:
        return Choice("full", "stays")
    return Choice("full", "warm") if warm else Choice("light", "cold")
