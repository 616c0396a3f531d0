"""One folder or file for each platform. An adapter brings events in and sends messages; it decides nothing."""
