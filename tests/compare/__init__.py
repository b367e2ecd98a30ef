"""Comparisons of programs: who is who, why IDs moved, what becomes of state."""
