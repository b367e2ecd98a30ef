"""What a program consists of, its settings, and its translation to stream nodes. No streams, nothing that runs."""
