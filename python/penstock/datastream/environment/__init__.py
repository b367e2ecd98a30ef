"""Where programs begin and are handed over: the environment, its sources, the executors by name."""
