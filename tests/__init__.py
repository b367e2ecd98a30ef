"""The tests: one folder per subject. ``reference`` is a slow planner to compare with, ``golden`` what the real Flink made."""
