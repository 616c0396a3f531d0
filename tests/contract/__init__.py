"""What the store promises whatever engine is under it, asked through `Store` and its repositories."""
