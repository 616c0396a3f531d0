-- What was kept of what somebody said in a group is found in their own chat, too.

UPDATE doc_text SET scope = doc.scope || ' w' || doc.person_id FROM doc
    WHERE doc.id = doc_text.rowid AND doc.kind = 'memory' AND doc.person_id IS NOT NULL AND doc.scope GLOB 'c*';
