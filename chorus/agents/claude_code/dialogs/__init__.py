"""From a captured screen to a typed prompt: screen, dialog, choices, rules, prompt."""
