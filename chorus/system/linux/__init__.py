"""Code for Linux only: /proc, inotify, sync_file_range."""
