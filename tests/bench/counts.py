"""What a run left in its database, as numbers. It opens the file after nuan has closed it and changes nothing."""

import hashlib
import json
import math
import resource
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

TOTALS = {
    "events": "SELECT count(*) FROM event",
    "persons": "SELECT count(*) FROM person",
    "chats": "SELECT count(*) FROM chat",
    "turns": "SELECT count(*) FROM turn",
    "follow-ups": "SELECT count(*) FROM turn WHERE why = 'window'",
    "calls": "SELECT count(*) FROM call",
    "sessions": "SELECT count(*) FROM session",
    "epochs": "SELECT count(*) FROM epoch",
    "digests": "SELECT count(*) FROM digest WHERE session_id IS NOT NULL",
    "memories": "SELECT count(*) FROM memory",
}
GROUPS = {
    "event": "SELECT kind || iif(label = '', '', '/' || label), count(*) FROM event GROUP BY 1",
    "message": """SELECT why || iif(outcome = '', '', '/' || outcome), count(*) FROM event
        WHERE kind = 'message' GROUP BY 1""",
    "turn": "SELECT state || '/' || why, count(*) FROM turn GROUP BY 1",
    "session": "SELECT state || '/' || close_reason, count(*) FROM session GROUP BY 1",
    "epoch": "SELECT reason, count(*) FROM epoch GROUP BY 1",
    "digest": "SELECT made_by, count(*) FROM digest WHERE session_id IS NOT NULL GROUP BY 1",
    "memory": "SELECT kind || '/' || source, count(*) FROM memory GROUP BY 1",
    "outbox": "SELECT kind || '/' || state, count(*) FROM outbox GROUP BY 1",
}


def count(database: Path) -> dict[str, int]:
    """Every total, then every group as "name: value"."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        found = {name: int(db.execute(sql).fetchone()[0]) for name, sql in TOTALS.items()}
        for name, sql in GROUPS.items():
            found |= {f"{name}: {value}": int(number) for value, number in sorted(db.execute(sql))}
    return found


def epochs_of_calls(database: Path) -> tuple[int, ...]:
    """The epoch of every model call of a turn, in the order they were reserved."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT epoch_id FROM call JOIN turn ON turn.id = turn_id ORDER BY call.id")
        return tuple(int(row[0]) for row in rows)


def checksum(counts: Mapping[str, int]) -> str:
    """The same 16 hex digits for the same counts."""
    return hashlib.sha256(json.dumps(counts, sort_keys=True).encode()).hexdigest()[:16]


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all values do not exceed (nearest rank); 0 without values."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(len(ranked) * share) - 1)] if ranked else 0.0


def spread(values: Sequence[float]) -> dict[str, float]:
    """Mean, p50, p95, p99 and the largest, to two places; zeros without values."""
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    found = {"mean": sum(values) / max(1, len(values))}
    found |= {name: percentile(values, share) for name, share in shares.items()}
    return {name: round(value, 2) for name, value in found.items()}


def peak_mb() -> float:
    """The most memory this process ever held, in MB of 10^6 bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)
