"""Code for Linux only: /proc, inotify, sync_file_range. The modules of `macos/` offer the same functions."""
