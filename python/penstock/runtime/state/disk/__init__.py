"""Keyed state beyond memory: tables whose cold values lie in a local file. What is durable is not kept here; the file
is a cache, and goes with the process."""
