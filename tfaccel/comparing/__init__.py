"""Plans side by side, each measured in fresh processes, in turn."""
