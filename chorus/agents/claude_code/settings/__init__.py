"""Claude Code's settings files: add and remove Chorus's hooks, and change nothing else."""
