"""Statements of which one is current, the days that they name, and digests that several talks share, as columns."""

from bot.store.rows import IS_NAME

LAYER = (
    f"(CASE WHEN {IS_NAME} THEN 'name' WHEN asked OR protected THEN 'kept' WHEN lasting THEN 'lasting' ELSE kind END)"
)
"""Which layer of a warm boot a memory belongs to; the queries say it in the same words, or no index serves them."""

CURRENT = "disabled_at IS NULL AND former_at IS NULL"
"""What may be told as true today."""

KEPT = f"asked = 1 OR protected = 1 OR {IS_NAME}"
"""What somebody asked to keep is searched always, as what belongs to no section is."""

LIFE = "accessed_at, stability_days, faded, kind, slot, asked, protected, lasting, disabled_at, former_at"

TRUTH: tuple[tuple[str, ...], ...] = (
    (
        "ALTER TABLE memory ADD COLUMN subject TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE memory ADD COLUMN lasting INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE memory ADD COLUMN said_at INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE memory ADD COLUMN dated TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE memory ADD COLUMN former_at INTEGER",
        "ALTER TABLE memory ADD COLUMN replaced_by INTEGER",
        "UPDATE memory SET said_at = coalesce((SELECT min(event.at) FROM edge JOIN event ON event.id = event_id "
        "WHERE edge.kind = 'memory' AND derived_id = memory.id AND event.kind = 'message'), created_at)",
        "UPDATE memory SET dated = 'day' WHERE kind = 'event' AND abs(observed_at - said_at) >= 86400000",
        "DROP INDEX memory_layer",
        "DROP INDEX memory_here",
        "DROP INDEX memory_living",
        "DROP INDEX memory_living_here",
        f"CREATE INDEX memory_layer ON memory (owner_id, visibility, {LAYER}, observed_at) WHERE {CURRENT}",
        f"CREATE INDEX memory_here ON memory (chat_id, {LAYER}, observed_at) WHERE {CURRENT} AND visibility = 'chat'",
        # All that tells how alive a fact is stands in the index: no row of the others is read.
        f"CREATE INDEX memory_living ON memory (owner_id, visibility, {LIFE}) "
        f"WHERE {CURRENT} AND kind IN ('knowledge', 'experience')",
        f"CREATE INDEX memory_living_here ON memory (chat_id, visibility, {LIFE}) "
        f"WHERE {CURRENT} AND visibility = 'chat' AND kind IN ('knowledge', 'experience')",
        f"CREATE INDEX memory_ahead ON memory (owner_id, visibility, observed_at) WHERE {CURRENT} AND dated <> ''",
        f"CREATE INDEX memory_ahead_here ON memory (chat_id, observed_at) "
        f"WHERE {CURRENT} AND dated <> '' AND visibility = 'chat'",
        f"CREATE INDEX memory_slot ON memory (owner_id, subject, slot) WHERE {CURRENT} AND slot <> ''",
        "DROP TRIGGER memory_section",
        f"""CREATE TRIGGER memory_section AFTER UPDATE OF section, asked, protected, slot ON memory BEGIN
            UPDATE doc SET section = (SELECT CASE WHEN {KEPT} THEN '' ELSE section END FROM memory WHERE id = new.id)
            WHERE kind = 'memory' AND ref = new.id; END""",
        "ALTER TABLE commitment ADD COLUMN toward TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE commitment ADD COLUMN dated TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE session ADD COLUMN digest_from INTEGER",
        "ALTER TABLE digest ADD COLUMN remake INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE session ADD COLUMN digested_in INTEGER REFERENCES session(id)",
    ),
    (
        """UPDATE doc_text SET scope = doc.scope || ' w' || doc.person_id FROM doc
            WHERE doc.id = doc_text.rowid AND doc.kind = 'line' AND doc.person_id IS NOT NULL
            AND doc.scope GLOB 'c*'""",
    ),
    (
        "INSERT OR REPLACE INTO meta (key, value) SELECT 'reread', max(id) FROM memory HAVING max(id) > 0",
        # They were to go after seven days, whatever was said of ninety.
        "UPDATE memory SET purge_at = max(purge_at, disabled_at + 7776000000) WHERE disabled_reason = 'archived'",
    ),
)
"""After those of the outbox. Of one owner, subject and slot one memory is current; `former_at` is when another,
`replaced_by`, took its place. A session whose digest another one makes with its own names it in `digested_in`, and that
one reads events from after `digest_from` on (NULL: its own first). A digest by rule that a model should have made is to
`remake`. Memories up to the number `reread` in meta were stored by other rules.
"""

OWN_GROUPS: tuple[tuple[str, ...], ...] = (
    (
        """UPDATE doc_text SET scope = doc.scope || ' w' || doc.person_id FROM doc
            WHERE doc.id = doc_text.rowid AND doc.kind = 'memory' AND doc.person_id IS NOT NULL
            AND doc.scope GLOB 'c*'""",
    ),
)
"""After those of reminders. What somebody said in a group is found in their own chat, too."""
