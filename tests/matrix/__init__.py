"""The matrix: every program of the suite under every setting that must not change what it computes."""
