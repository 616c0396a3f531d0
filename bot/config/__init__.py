"""What an operator can configure, and how it is read. The environment is a parameter, never the process's own."""
