"""Streams as a user calls them, from sources to sinks. The modules here import each other in a circle, the only one of
the package: ``key_by`` gives a KeyedStream, whose ``process`` gives a DataStream, whose environment creates further
streams. Calls add to :mod:`penstock.datastream.program`; :mod:`penstock.datastream.environment` runs it."""
