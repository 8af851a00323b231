"""tmux: find, open and read panes, and send them keys. The only package that imports libtmux."""
