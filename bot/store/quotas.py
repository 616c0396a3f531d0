"""How much of what one person asked to keep there is, beside how much there may be. It refuses; it never drops."""

import sqlite3

from bot.types.duration import MINUTE_MS
from bot.types.memory import NewMemory
from bot.types.quota import Excess, Quota

FORGOTTEN = 2
"""With what was forgotten and can still be taken back a person has at most so many times `most` rows."""

_COUNTED = """SELECT coalesce(sum(asked AND disabled_at IS NULL), 0), coalesce(sum(asked), 0),
    coalesce(sum(source = 'command' AND created_at > ?2), 0) FROM memory WHERE owner_id = ?1"""


def excess(db: sqlite3.Connection, new: NewMemory, quota: Quota, at: int) -> Excess:
    """Verb part: the limit that one memory more of this owner would pass. A new name takes the place of the last."""
    kept, rows, lately = db.execute(_COUNTED, (new.owner_id, at - MINUTE_MS)).fetchone()
    if quota.minute is not None and lately >= quota.minute:
        return "often"
    full = quota.most is not None and (kept >= quota.most or rows >= FORGOTTEN * quota.most)
    return "full" if full and new.slot != "address" else ""
