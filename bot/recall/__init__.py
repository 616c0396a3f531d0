"""What comes back? The terms of a question and the tool that asks for memories; it reads no table itself."""
