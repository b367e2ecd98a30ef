"""The entries of all states in savepoints of Apache Flink: keys, namespaces and values, read without Java.

:func:`read_entries` gives them one after the other. ``readers`` is the pass from serializers to readers of bytes,
``states`` what a keyed state's entries consist of, ``canonical`` and ``heap`` the two formats of key groups. What a
savepoint has beside entries is read by the modules of :mod:`penstock.flink` itself.
"""

from __future__ import annotations

from penstock.flink.entries.entry import Entry
from penstock.flink.entries.walk import read_entries

__all__ = ["Entry", "read_entries"]
