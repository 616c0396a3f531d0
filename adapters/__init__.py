"""One file for each platform. An adapter brings events through a door and sends messages; it decides nothing."""
