"""The statements of the repositories as PostgreSQL wants them: `?` numbered, SQLite's hints and names replaced."""

import re
from functools import lru_cache

from bot.store.schema import (
    BY_SPACE,
    EVENT_QUEUE,
    GIVEN,
    GREATEST,
    LAYER,
    LEAST,
    LIST_OF,
    META_AT,
    NAMED,
    OUTBOX_DUE,
    OVER_THERE,
    POSTED,
    SERVER_NOW,
    TEXT_LIST,
    WAITING_THERE,
)

MOST_KEPT = 4_096
"""Statements whose translation is kept; the program has some 1,500 with all their lengths of lists."""

SPELLED = {
    LAYER: LAYER.replace("asked OR protected", "asked = 1 OR protected = 1").replace(
        "WHEN lasting", "WHEN lasting = 1"
    ),
    EVENT_QUEUE: "event",
    OUTBOX_DUE: "outbox",
    WAITING_THERE: "",
    OVER_THERE: "",
    BY_SPACE: "",
    META_AT: "CASE WHEN value ~ '^[0-9]+$' THEN CAST(value AS bigint) END",
    GIVEN: "(SELECT CAST(item AS bigint) AS value FROM json_array_elements_text(CAST(? AS json)) AS item) AS given",
    NAMED: "json_array_elements_text(CAST(? AS json)) AS named (value)",
    SERVER_NOW: "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
    POSTED: "CASE length(steps) WHEN 0 THEN 1 ELSE 1 + (length(steps) - 1) / get_byte(steps, 0) END",
    f"{GREATEST}(": "greatest(",
    f"{LEAST}(": "least(",
    f"{LIST_OF}(": "json_agg(",
    f"{TEXT_LIST}(": "string_agg(",
    "CROSS JOIN": "JOIN",
    "NOT IN ()": "<> ALL ('{}')",
    "IN ()": "= ANY ('{}')",
    "AS INTEGER)": "AS bigint)",
    "AS REAL)": "AS double precision)",
}
"""What stands in a statement, longest meaning first, and what PostgreSQL has for it."""

_SPELLED = re.compile("|".join(map(re.escape, SPELLED)))

_PLACES = re.compile(r"""'(?:[^']|'')*'|\?|(?<![:\w]):[a-z]\w*|(?<=[\s(])\+(?=[a-z])""")
"""Quoted text, which stays; a value in order, a named value, and the plus that keeps SQLite from an index."""


@lru_cache(MOST_KEPT)
def translated(sql: str) -> tuple[str, tuple[str, ...]]:
    """The statement, and the names of its values in their order where they have names."""
    names: list[str] = []
    count = 0

    def place(found: re.Match[str]) -> str:
        nonlocal count
        word = found[0]
        if word[0] == "'":
            return word
        if word == "+":
            return ""
        if word == "?":
            count += 1
            return f"${count}"
        if word[1:] not in names:
            names.append(word[1:])
        return f"${names.index(word[1:]) + 1}"

    return _PLACES.sub(place, _SPELLED.sub(lambda found: SPELLED[found[0]], sql)), tuple(names)
