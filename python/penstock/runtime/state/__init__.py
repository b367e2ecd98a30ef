"""Keyed and operator state: tables, the handles that functions use, timers, and state files. Operators set the current
key."""
