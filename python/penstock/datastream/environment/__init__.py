"""Where programs are handed over: the environment and the executors by name. Nothing that a stream needs to know."""
