"""The model's tools that write, over the store."""
