"""A job that is killed again and again, in processes of its own: its output must be exact, and nothing may stay behind.
``python -m tests.chaos --help``, which is ``make chaos``."""
