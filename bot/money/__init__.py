"""What does it cost? Prices and limits from the configuration, costs from usage; it stores nothing."""
