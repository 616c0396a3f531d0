"""What a text says without a model: wishes, times, clauses, small talk."""
