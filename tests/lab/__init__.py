"""The lab: the real Claude Code client, run offline against a scripted stand-in for its model."""
