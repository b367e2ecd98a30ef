"""Named graphs of any size, for measurements, scale tests and first tries, made by the native core. O(operators +
edges).

Operators have the ids 1, 2, …; the description is named after shape and size. What a shape draws comes from SplitMix64
with the given seed: the upper half of a 64-bit draw, times ``n``, shifted right by 32 bits, is the number below ``n``.
So the same arguments give the same graph on every machine and in every language.
"""

from __future__ import annotations

from penstock._native import (
    all_to_all,
    diamonds,
    fan_in,
    fan_out,
    forward_chain,
    keyed_pipelines,
    layered_dag,
    scheduler_benchmark,
    uid_table,
    yielding_chain,
)

__all__ = [
    "all_to_all",
    "diamonds",
    "fan_in",
    "fan_out",
    "forward_chain",
    "keyed_pipelines",
    "layered_dag",
    "scheduler_benchmark",
    "uid_table",
    "yielding_chain",
]
