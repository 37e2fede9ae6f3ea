"""Reports of what was measured, for the terminal and for the browser."""
