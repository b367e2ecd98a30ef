"""The documentation: every example in it runs."""
