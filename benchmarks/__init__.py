"""Benchmarks: scripts that anyone can run again, and their stored results."""
