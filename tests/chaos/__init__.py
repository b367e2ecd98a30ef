"""A job that is killed again and again: its output must be exact, and nothing may stay behind."""
