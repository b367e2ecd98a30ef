"""Calling what users wrote: binding functions, telling their failures from ours, steps between calls. Pickling is the
driver's, in :mod:`penstock.job`."""
