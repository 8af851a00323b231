"""Decide which tool calls may run without asking the user: rules, shell analysis, verdicts."""
