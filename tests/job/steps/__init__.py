"""What each step of a job gives to the world outside."""
