"""Windows: which ones an element belongs to, when they fire, what stays in them, and what is applied to them.

Everything here is plain frozen data that travels with a program; what runs is :mod:`penstock.runtime.operators.window`.
Users find assigners and triggers in :mod:`penstock.datastream.window`, evictors in :mod:`penstock.datastream.evictor`.
"""
