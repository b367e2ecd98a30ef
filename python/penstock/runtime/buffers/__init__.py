"""Records as bytes: codecs, timestamps and signals, sizes of buffers, and rows that wait in memory or on disk. Senders
and receivers are in :mod:`penstock.runtime.exchange`."""
