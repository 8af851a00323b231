"""A small stand-in for Claude Code that plays the demo's story: no account, no network."""
