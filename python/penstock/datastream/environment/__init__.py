"""The environment and the executors, where programs are run. Streams need to know nothing of it."""
