"""Records as bytes: codecs, timestamps and signals among the records, how many fill a buffer, and rows with an address,
which wait in memory or on disk. Who sends and who receives is in :mod:`penstock.runtime.exchange`."""
