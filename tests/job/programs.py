"""Small programs for the runtime's tests, built node by node, without the DataStream API."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.common.settings.settings import Settings
from penstock.job.deployment import Deployment
from penstock.job.rows import JobRows
from penstock.job.steps.stopwatch import Stopwatch
from penstock.job.steps.versions import Version
from penstock.local.steps import LocalSteps
from penstock.plan import Pipeline, StreamGraphBuilder
from penstock.runtime.buffers.spill import MEMORY, Rows
from penstock.runtime.config.steps import ONLY_STEP
from penstock.runtime.config.tasks import TaskReport
from penstock.runtime.io.sinks import CollectSink
from penstock.runtime.io.sources import CollectionSource
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import StreamSource


@dataclass
class Program:
    """A program under construction: nodes are numbered from 1; edges resolve to what the planner is told."""

    chaining: bool = True
    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: list[dict[str, Any]] = field(default_factory=list)
    operators: dict[int, Any] = field(default_factory=dict)
    partitioners: dict[int, Any] = field(default_factory=dict)
    types: dict[Any, Any] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)

    def add(
        self,
        operator,
        *inputs,
        name=None,
        p=1,
        type=None,
        uid=None,
        chain="ALWAYS",
        max_p=-1,
        partitioner=None,
        tag=None,
        spec=None,
    ):
        """Add an operator behind ``inputs`` (nodes, or the results of :meth:`via`) and return its node."""
        node = len(self.nodes) + 1
        kind = {StreamSource: "source", StreamSink: "sink"}.get(operator.__class__, "operator")
        prefix = {"source": "Source: ", "sink": "Sink: "}.get(kind, "")
        default = f"{prefix}{operator.__class__.__name__} {node}"
        self.nodes.append(
            {
                "id": node,
                "name": name or default,
                "kind": kind,
                "parallelism": p,
                "uid": uid,
                "chaining_strategy": chain,
                "max_parallelism": max_p,
            }
        )
        self.operators[node] = operator
        self.types[node] = type
        for source in inputs:
            edge = source if isinstance(source, dict) else {"source": source}
            self.edges.append({"partitioner": partitioner, "tag": tag, "spec": spec, **edge, "target": node})
        return node

    def source(self, values, **kwargs):
        return self.add(StreamSource(CollectionSource(list(values))), **kwargs)

    def collect(self, *inputs, id="out", **kwargs):
        return self.add(StreamSink(CollectSink(id)), *inputs, **kwargs)

    def pipeline(self, name="job"):
        graph = self._graph()
        return Pipeline(name, graph, self.operators, self.partitioners, self.types, Settings.of(self.settings))

    def _graph(self):
        builder = StreamGraphBuilder(chaining_enabled=self.chaining)
        for node in self.nodes:
            values = dict(node)
            builder.add_node(values.pop("id"), values.pop("name"), values.pop("kind"), **values)
        virtual: dict[Any, int] = {}
        for edge in self.edges:
            source = edge["source"]
            if edge["tag"] is not None:
                key = (source, edge["tag"])
                if key not in virtual:
                    virtual[key] = 10_000 + len(virtual)
                    builder.add_virtual_side_output(virtual[key], source, edge["tag"])
                source = virtual[key]
            if edge["partitioner"] is not None:
                key = (source, edge["partitioner"], id(edge["spec"]))
                if key not in virtual:
                    virtual[key] = 10_000 + len(virtual)
                    builder.add_virtual_partition(virtual[key], source, edge["partitioner"])
                if edge["spec"] is not None:
                    self.partitioners[virtual[key]] = edge["spec"]
                source = virtual[key]
            builder.add_edge(source, edge["target"])
        return builder.build()


def only_step(deployment: Deployment, attempt: int = 0, memory: int = MEMORY) -> Rows:
    """What the tasks of a job that is one step send to the driver."""
    runner = LocalSteps(deployment, memory)
    runner.forget(attempt)
    places = Version(deployment, None).places
    return runner.step(0, dict.fromkeys(places, ONLY_STEP), Stopwatch(None))


def reports_in(rows: Rows, deployment: Deployment) -> list[TaskReport]:
    """The reports of subtasks among the rows of a step."""
    return [report.task for report in JobRows(rows, deployment).reports()]
