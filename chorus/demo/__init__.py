"""The demo: a scratch repository, a stand-in for the client, and a short story played through Chorus."""
