"""A job at a constant rate, for minutes or an hour: what it takes must not grow. ``python -m tests.soak --help``."""
