"""Code for macOS, which has no /proc, inotify and sync_file_range. It offers the functions of `linux/`.

These modules are also used on the BSDs. If a system lacks a call, the function reports that nothing is known.
"""
