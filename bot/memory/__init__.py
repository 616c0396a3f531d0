"""What lasts? Commands to keep and forget, digests, experiences. It stores nothing and calls no model."""
