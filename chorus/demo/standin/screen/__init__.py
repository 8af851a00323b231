"""What the stand-in draws: dialogs, transcript blocks, the input box, and the terminal under them."""
