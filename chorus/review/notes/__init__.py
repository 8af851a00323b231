"""Notes: review comments of the user on actions and lines, delivered to the session that made the change."""
