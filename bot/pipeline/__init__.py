"""In which order? ingest → dispatch → plan → turn → send. The only package where effects are ordered."""
