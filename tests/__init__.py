"""The tests, a folder per subject; ``reference`` is a slow planner to compare with, ``golden`` what Flink made."""
