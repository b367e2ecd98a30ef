"""Lints: each rule against a program that it finds and one that it does not, what suppresses it, and its forms."""
