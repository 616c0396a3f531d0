"""Why a session whose time has come ends. Pure."""

from bot.types.session import CloseReason, Session

QUARTER_MS = 900_000
"""Every time zone is whole quarters of an hour from UTC."""


def reason(session: Session, idle_ms: int) -> CloseReason:
    """idle: nobody spoke for a while; day: the early hour came first (a frozen 昨天 must not lie).

    `idle_ms` may have changed since the deadline was set: what was not cut short by it is told by the full hour.
    These are C11's expire, and its restart when a message comes before the alarm; its reset is /new and .ai clear.
    """
    silence = session.close_at - session.last_at
    return "day" if silence != idle_ms and session.close_at % QUARTER_MS == 0 else "idle"
