"""A program ready to be run: its graph, and the Python objects that the nodes and edges of the graph refer to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock._native import JobGraph, StreamGraph
from penstock.common.settings.settings import Settings
from penstock.common.site import Site


@dataclass(frozen=True, repr=False)
class Program:
    """The data of a :class:`penstock.plan.Pipeline`, which documents the fields."""

    name: str
    stream_graph: StreamGraph
    operators: Mapping[int, Any]
    partitioners: Mapping[int, Any] = field(default_factory=dict[int, Any])
    types: Mapping[Any, Any] = field(default_factory=dict[Any, Any])
    settings: Settings = Settings()  # noqa: RUF009 - it is immutable
    descriptions: Mapping[int, str] = field(default_factory=dict[int, str])
    sites: Mapping[int, Site] = field(default_factory=dict[int, Site])
    left_open: frozenset[int] = frozenset()
    side_outputs: frozenset[int] = frozenset()
    planned_at: Callable[[Callable[[int], int]], Any] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.stream_graph!r}, as Flink {self.flink})"

    @property
    def unbounded(self) -> tuple[str, ...]:
        """Names of the sources that never end, in order of their nodes; none if the program ends. O(operators)."""
        endless = {node for node, operator in self.operators.items() if getattr(operator, "unbounded", False)}
        return tuple(node.name for node in self.stream_graph.nodes if node.id in endless) if endless else ()

    @property
    def iterates(self) -> bool:
        """Whether the program has iterations."""
        return self.stream_graph.iterations_table().num_rows > 0

    @property
    def flink(self) -> str:
        """The Flink version that the program is planned as."""
        return self.settings.flink

    def job_graph(self) -> JobGraph:
        """The program compiled, as its Flink version does it. O(V + E).

        Raises:
            UnsupportedError: there is no profile for that version.
            PlanError: the planner refuses the program.
        """
        artifacts = {name: path for name, path, _ in self.settings.cached_files}
        return self.stream_graph.job_graph(
            flink=self.flink,
            artifacts=artifacts,
            savepoint_path=self.settings.savepoint,
            allow_non_restored_state=self.settings.ignore_unclaimed,
        )
