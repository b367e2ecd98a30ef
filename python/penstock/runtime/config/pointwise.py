"""Pointwise connections: which subtasks a subtask of the other side is connected with.

Source of the semantics: Flink's ``ExecutionVertex`` (1.11) and ``VertexInputInfoComputationUtils`` (2.3).
"""

from __future__ import annotations

import struct

POINTWISE = frozenset({"FORWARD", "RESCALE"})
"""Partitioners of pointwise edges."""


def _float32(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]


def pointwise_producers(producers: int, consumers: int, subtask: int, *, exact: bool = False) -> range:
    """Producers that a consumer subtask reads from over a pointwise connection.

    Flink 1.11 computes in 32-bit floats where neither number divides the other, which differs from whole numbers for
    some pairs (14 → 16 is one); Flink 2.3 computes in whole numbers (``exact``).
    """
    n, m = producers, consumers
    if exact:
        first = subtask * n // m
        return range(first, max((subtask + 1) * n // m, first + 1))
    if n == m:
        return range(subtask, subtask + 1)
    if m % n == 0:
        first = subtask // (m // n)
        return range(first, first + 1)
    if n < m:
        first = int(_float32(subtask / _float32(m / n)))
        return range(first, first + 1)
    if n % m == 0:
        return range(subtask * (n // m), (subtask + 1) * (n // m))
    factor = _float32(n / m)
    end = n if subtask == m - 1 else int(_float32((subtask + 1) * factor))
    return range(int(_float32(subtask * factor)), end)


def pointwise_consumers(producers: int, consumers: int, subtask: int, *, exact: bool = False) -> list[int]:
    """Consumers that a producer subtask sends to over a pointwise connection, in order. O(consumers)."""
    return [i for i in range(consumers) if subtask in pointwise_producers(producers, consumers, i, exact=exact)]
