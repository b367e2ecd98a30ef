"""Wrong calls of the public API as tables: what is called, which error it is, and what the message says."""
