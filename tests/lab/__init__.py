"""Tools for tests with the real Claude Code client, run offline against a scripted model."""
