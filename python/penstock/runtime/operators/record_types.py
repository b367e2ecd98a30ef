"""The declared types of the records of a program's edges and of what comes into its operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from penstock.common.typeinfo import TypeInformation
from penstock.runtime.operators.sink import StreamSink


class Typed(Protocol):
    """A program with its operators and the types of their results, by node, and of side outputs by (node, tag)."""

    @property
    def operators(self) -> Mapping[int, Any]: ...
    @property
    def types(self) -> Mapping[Any, Any]: ...


def record_type(program: Typed, edge: Any) -> TypeInformation[Any] | None:
    """The type of a StreamEdge's records: its node's, or the side output's."""
    return program.types.get(edge.source if edge.side_output is None else (edge.source, edge.side_output))


def input_type(program: Typed, node: Any, edges: Sequence[Any]) -> TypeInformation[Any] | None:
    """The type of the records that come into the operator of a StreamNode by its first edge; ``edges`` are all of the
    StreamGraph."""
    entry = program.types.get(node.id) if isinstance(program.operators.get(node.id), StreamSink) else None
    if entry is not None:  # a sink's says it, too
        return entry
    return record_type(program, edges[node.in_edges[0]]) if node.in_edges else None
