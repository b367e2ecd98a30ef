"""A program ready to be run: its graph, and the Python objects that graph's nodes and edges refer to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from penstock._native import JobGraph, StreamGraph
from penstock.common.settings import Settings
from penstock.common.site import Site

Format = Literal["terminal", "markdown", "dot", "mermaid", "json", "flink-stream", "flink-job"]
Level = Literal["stream", "job", "execution"]

_EXPLAIN = "penstock.analysis.explain"
"""Loaded by name, when a plan is explained: it is above the plan."""


@dataclass(frozen=True, repr=False)
class Pipeline:
    """What ``env.execute()`` hands to an executor.

    The planner holds no Python object; executors find the objects again by the ids below.

    Attributes:
        name: name of the job.
        stream_graph: the program.
        operators: operator by StreamNode id.
        partitioners: key selector or custom partitioner by virtual partition id (``StreamEdge.partition_node``).
        types: output type by StreamNode id, by (id, tag) for a side output, ``None`` where none was declared; decides
            codecs and printed text.
        settings: of the program, parsed.
        descriptions: of the operators that have one, by StreamNode id.
        sites: where the program made its operators, by StreamNode id, as far as that is known.
        left_open: the nodes whose parallelism the program leaves to its environment.
        planned_at: the same program, with another parallelism of each of these nodes; None if nobody has wished for it.
    """

    name: str
    stream_graph: StreamGraph
    operators: Mapping[int, Any]
    partitioners: Mapping[int, Any] = field(default_factory=dict[int, Any])
    types: Mapping[Any, Any] = field(default_factory=dict[Any, Any])
    settings: Settings = Settings()  # noqa: RUF009 - it is immutable
    descriptions: Mapping[int, str] = field(default_factory=dict[int, str])
    sites: Mapping[int, Site] = field(default_factory=dict[int, Site])
    left_open: frozenset[int] = frozenset()
    planned_at: Callable[[Callable[[int], int]], Pipeline] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"Pipeline({self.name!r}, {self.stream_graph!r}, as Flink {self.flink})"

    @property
    def unbounded(self) -> tuple[str, ...]:
        """Names of the sources that never end, in order of their nodes; none: the program ends. O(operators)."""
        endless = {node for node, operator in self.operators.items() if getattr(operator, "unbounded", False)}
        return tuple(node.name for node in self.stream_graph.nodes if node.id in endless) if endless else ()

    @property
    def flink(self) -> str:
        """The Flink version that the program is planned as."""
        return self.settings.flink

    def job_graph(self) -> JobGraph:
        """The program compiled, as its Flink version does it. O(V + E).

        Raises:
            UnsupportedError: there is no profile for that version.
            PlanError: what the planner refuses.
        """
        artifacts = {name: path for name, path, _ in self.settings.cached_files}
        return self.stream_graph.job_graph(
            flink=self.flink,
            artifacts=artifacts,
            savepoint_path=self.settings.savepoint,
            allow_non_restored_state=self.settings.ignore_unclaimed,
        )

    def explain(self, format: Format = "terminal", level: Level | None = None) -> str:
        """The plan as a text: for a terminal, a review, a picture, a program, or Flink's plan visualizer. O(V + E),
        whatever the parallelism.

        Args:
            format: ``terminal`` (lines of 100 columns), ``markdown``, ``dot``, ``mermaid``, ``json``; or Flink's own,
                ``flink-stream`` and ``flink-job``. For ``json`` functions are opened to see their states.
            level: only this of the three graphs. None: all of them; in a picture, ``job``.

        Raises:
            InvalidProgramError: an unknown format or level.
            PlanError: the planner refuses the program, and the format is one of Flink's.
        """
        return import_module(_EXPLAIN).explain(self, format, level)

    def why(self, operator: str) -> str:
        """What made an operator's ID, and which edits would move it: each is made, and planned. O(V + E), some twenty
        times.

        Args:
            operator: its uid, name, number or ID.

        Raises:
            UnknownNameError: no operator is called so, or several are.
            InvalidProgramError: it has no ID.
        """
        return import_module(_EXPLAIN).explain_id(self, operator)

    def to_flink_stream_json(self) -> str:
        """What Flink's ``getExecutionPlan`` gives, byte for byte."""
        return self.explain("flink-stream")

    def to_flink_job_json(self) -> str:
        """What Flink's ``JsonPlanGenerator`` gives, byte for byte, with a job ID of zeros.

        Raises:
            PlanError: what the planner refuses.
        """
        return self.explain("flink-job")
