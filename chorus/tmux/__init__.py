"""tmux: find panes, read them, press one key. The only importer of libtmux."""
