"""From a user's Python function to a program that native code can run: plain data with the meaning of the source.

A function is compiled if it is pure: its result depends on its arguments and on constants, and nothing else is changed.
All others stay in Python, with a reason.
"""
