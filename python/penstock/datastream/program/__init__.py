"""What a program consists of, and its translation to stream nodes. No fluent API, nothing that runs."""
