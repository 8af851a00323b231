"""A scripted model on loopback: the real client talks to it and needs no account and no network."""
