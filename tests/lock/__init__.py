"""Lock files, and how sources are edited to keep what they say."""
