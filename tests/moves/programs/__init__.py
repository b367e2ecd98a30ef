"""The programs of ``benches/flink`` again, as one would port them: the same uids, states, names and types.

Each is a function from the environment and the stream of records (key, number, time) to the stream of its outputs.
"""

from __future__ import annotations

from tests.moves.programs import calls, keys, pairs, rolling, states, timers, triggers, values, windows
from tests.moves.programs.table import PROGRAMS, RECORD

__all__ = [
    "PROGRAMS",
    "RECORD",
    "calls",
    "keys",
    "pairs",
    "rolling",
    "states",
    "timers",
    "triggers",
    "values",
    "windows",
]
