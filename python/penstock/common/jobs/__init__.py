"""A job as the program that started it sees it: its client, its result, its IDs."""
