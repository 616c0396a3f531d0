"""Frozen values that the packages exchange, the ports, the errors and the clock."""
