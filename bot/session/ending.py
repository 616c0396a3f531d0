"""Why a session whose time has come ends. Pure."""

from bot.types.session import CloseReason, Session


def reason(session: Session, idle_ms: int) -> CloseReason:
    """idle: nobody spoke for `idle_ms`; day: the early hour came first (a frozen 昨天 must not lie).

    These are C11's expire, and its restart when a message comes before the alarm; its reset is /new and .ai clear.
    """
    return "idle" if session.close_at >= session.last_at + idle_ms else "day"
