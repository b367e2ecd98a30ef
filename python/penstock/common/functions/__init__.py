"""Functions, state and timers as a program sees them."""
