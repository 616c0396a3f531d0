"""When to speak: triggers, windows, bursts, pacing."""
