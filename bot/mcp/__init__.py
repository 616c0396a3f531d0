"""The server for other agents, and the client of servers whose tools nuan uses."""
