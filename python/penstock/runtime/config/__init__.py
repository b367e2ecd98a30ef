"""Descriptors of tasks: plain data, pickled by the driver; and whom pointwise edges connect. Nothing here runs."""
