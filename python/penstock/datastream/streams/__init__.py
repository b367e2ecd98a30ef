"""Streams as a user calls them. One room, as each leads to the others: ``key_by`` gives a KeyedStream, whose
``process`` gives a DataStream. What a call adds to the program is in :mod:`penstock.datastream.program`."""
