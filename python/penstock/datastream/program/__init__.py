"""The operators of a program, its settings, and its translation to stream nodes. No streams, and nothing that runs."""
