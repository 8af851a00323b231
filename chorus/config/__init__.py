"""The user's configuration files."""
