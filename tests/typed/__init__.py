"""What an editor and a type checker see of the public API."""
