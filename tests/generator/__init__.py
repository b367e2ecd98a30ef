"""One generator of random programs, with profiles."""
