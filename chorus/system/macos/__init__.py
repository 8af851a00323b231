"""What macOS has instead of /proc, inotify and sync_file_range. Nothing here is read from /proc.

Also used on the BSDs. Where a call fails because a system lacks it, the answer is that nothing is known.
"""
