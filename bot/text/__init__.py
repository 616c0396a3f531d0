"""Pure text work: folding, cleaning, clipping, scripts, token estimates, index terms, dates. No clock, no file."""
