"""What comes back? The tool that asks for memories; it reads no table itself."""
