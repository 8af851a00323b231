"""Code for macOS, also used on the BSDs, with the same functions as `linux/`."""
