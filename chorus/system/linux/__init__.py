"""What only Linux has: /proc, inotify, sync_file_range. The modules of `macos/` offer the same functions."""
