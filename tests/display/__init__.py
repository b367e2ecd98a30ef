"""What objects show of themselves."""
