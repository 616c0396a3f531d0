"""What does the model see? The stable prefix, the opening block and the composed turn; pure but for reading persona files."""
