"""The server for other agents."""
