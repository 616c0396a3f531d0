"""The commands an operator types. They build the house and speak to a terminal; they decide nothing."""
