UPDATE session SET open_reason = coalesce((SELECT why FROM turn WHERE session_id = session.id
    ORDER BY number LIMIT 1), '') WHERE open_reason = '';
INSERT OR IGNORE INTO participant (session_id, person_id) SELECT session_id, event.person_id FROM turn
    JOIN turn_event ON turn_event.turn_id = turn.id JOIN event ON event.id = event_id
    WHERE event.person_id IS NOT NULL;
