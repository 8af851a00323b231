"""Pictures of real screens for the README."""
