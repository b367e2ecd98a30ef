"""Records as bytes: codecs, timestamps and signals among the records, and rows that wait in memory or on disk. Who
sends and who receives is in :mod:`penstock.runtime.exchange`."""
