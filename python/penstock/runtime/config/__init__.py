"""Descriptors of tasks and the settings they run under: plain data, pickled by the driver. Nothing here runs."""
