"""The documents: generated ones are current, shown commands work, links exist."""
