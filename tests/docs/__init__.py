"""The documents: what is generated is current, what is shown runs, what is linked exists."""
