-- What finding the memories of an opening needs.

CREATE INDEX memory_layer ON memory (owner_id, visibility, (CASE WHEN slot <> '' THEN 'slot'
    WHEN asked OR protected THEN 'kept' ELSE kind END), observed_at) WHERE disabled_at IS NULL;
CREATE INDEX memory_here ON memory (chat_id, (CASE WHEN slot <> '' THEN 'slot'
    WHEN asked OR protected THEN 'kept' ELSE kind END), observed_at)
    WHERE disabled_at IS NULL AND visibility = 'chat';
-- All that tells how alive a fact is stands in the index: no row of the others is read.
CREATE INDEX memory_living ON memory (owner_id, visibility, accessed_at, stability_days, faded, kind, slot, asked,
    protected, disabled_at) WHERE disabled_at IS NULL AND kind IN ('knowledge', 'experience');
CREATE INDEX memory_living_here ON memory (chat_id, visibility, accessed_at, stability_days, faded, kind, slot,
    asked, protected, disabled_at) WHERE disabled_at IS NULL AND visibility = 'chat' AND kind IN ('knowledge',
    'experience');
