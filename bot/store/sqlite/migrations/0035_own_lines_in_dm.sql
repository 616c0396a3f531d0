-- A person's own lines in a group are found in their own chat, too.

UPDATE doc_text SET scope = doc.scope || ' w' || doc.person_id FROM doc
    WHERE doc.id = doc_text.rowid AND doc.kind = 'line' AND doc.person_id IS NOT NULL AND doc.scope GLOB 'c*';
