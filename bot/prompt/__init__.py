"""What does the model see? Prefix, opening block and composed turn; pure but for reading persona files."""
