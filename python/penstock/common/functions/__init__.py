"""What functions, state and timers look like to a program."""
