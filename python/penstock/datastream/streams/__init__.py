"""Streams as a user calls them, from sources to sinks.

The modules of this room import each other in a circle, and no others of the package do: ``key_by`` gives a KeyedStream,
whose ``process`` gives a DataStream, which knows where further streams begin. What a call adds to the program is in
:mod:`penstock.datastream.program`; what runs a program is in :mod:`penstock.datastream.environment`.
"""
