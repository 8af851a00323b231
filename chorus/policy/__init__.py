"""Which tool calls need no person: rules, shell analysis, verdicts."""
