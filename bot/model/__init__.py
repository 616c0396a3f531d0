"""Who answers: a server that speaks chat.completions, or the built-in offline model. Decides nothing about turns."""
