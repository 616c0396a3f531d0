"""The commands an operator types. They build the services and speak to a terminal; they decide nothing."""
