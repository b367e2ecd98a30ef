"""The named shapes whose size is a number of operators, with what is known of their plans."""

from __future__ import annotations

from collections.abc import Callable

from penstock.plan import StreamGraph
from penstock.plan.shapes import (
    diamonds,
    fan_in,
    fan_out,
    forward_chain,
    keyed_pipelines,
    layered_dag,
    uid_table,
    yielding_chain,
)

Shape = Callable[[int], StreamGraph]


def yielding_diamonds(operators: int) -> StreamGraph:
    return diamonds(operators, yielding=True)


SHAPES: tuple[Shape, ...] = (
    layered_dag,
    forward_chain,
    keyed_pipelines,
    uid_table,
    yielding_chain,
    yielding_diamonds,
    diamonds,
    fan_in,
    fan_out,
)


def vertex_count(shape: Shape, size: int) -> int:
    """How many vertices the JobGraph of a shape has; what a plan of it is checked with."""
    joins = (size - 1) // 4
    pipelines, rest = divmod(size, 5)
    return {
        "forward_chain": 1,
        "layered_dag": size,
        "keyed_pipelines": 2 * pipelines + (rest > 0) + (rest > 2),
        "uid_table": size,
        "yielding_chain": min(size, 2),
        "yielding_diamonds": 1 + (size > 1) + joins,
        "diamonds": 1 + joins,
        "fan_in": size,
        "fan_out": size,
    }[shape.__name__]
