"""tmux: find panes, read them, press one key. The only package that imports libtmux."""
