"""PyFlink's ``env._j_stream_execution_environment``: settings and plan of an environment by Java's methods."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from penstock.common.java.java_objects import JavaObject, missing
from penstock.pyflink.java.collections import JavaList
from penstock.pyflink.java.configuration import JavaConfiguration

if TYPE_CHECKING:
    from penstock.datastream import StreamExecutionEnvironment
    from penstock.plan import StreamGraph, StreamNode


def snake_case(name: str) -> str:
    """Python's spelling of a name of Java's."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda upper: f"_{upper[0]}", name).lower()


_OF_NODES = {"buffer_timeout", "id", "max_parallelism", "parallelism", "slot_sharing_group", "user_hash"}
"""Attributes of nodes that mean the same in Java."""


class JavaStreamNode(JavaObject):
    """A node of a plan. ``getParallelism()`` and the like give its attributes."""

    java_class = "org.apache.flink.streaming.api.graph.StreamNode"

    def __init__(self, node: StreamNode) -> None:
        self.node = node

    def getOperatorName(self) -> str:
        prefix = {"source": "Source: ", "sink": "Sink: "}.get(str(self.node.kind), "")
        return self.node.name.removeprefix(prefix)

    def getOperatorDescription(self) -> str:
        return self.node.name

    def getTransformationUID(self) -> str | None:
        return self.node.uid

    def __getattr__(self, name: str) -> Any:
        attribute = snake_case(name).removeprefix("get_")
        if not name.startswith("get") or attribute not in _OF_NODES:
            raise missing(self.java_class, name)
        return lambda: getattr(self.node, attribute)


class JavaStreamGraph(JavaObject):
    """The plan of a program, Flink's StreamGraph."""

    java_class = "org.apache.flink.streaming.api.graph.StreamGraph"

    def __init__(self, graph: StreamGraph) -> None:
        self.graph = graph

    def getStreamNodes(self) -> JavaList[JavaStreamNode]:
        return JavaList(map(JavaStreamNode, self.graph.nodes))

    def getJobName(self) -> str:
        return self.graph.job_name

    def getStreamingPlanAsJSON(self) -> str:
        return self.graph.streaming_plan_json()


class JavaEnvironment(JavaObject):
    """An environment by Java's methods. Those that PyFlink's class has under a name of Python are that class's."""

    java_class = "org.apache.flink.streaming.api.environment.StreamExecutionEnvironment"

    def __init__(self, environment: StreamExecutionEnvironment) -> None:
        self._environment = environment

    def getConfiguration(self) -> JavaConfiguration:
        return JavaConfiguration(self._environment)

    def getStreamGraph(self, clear_transformations: bool = True) -> JavaStreamGraph:
        graph = self._environment.get_stream_graph()
        if clear_transformations:
            self._environment.close()
        return JavaStreamGraph(graph)

    def __getattr__(self, name: str) -> Any:
        spelled = snake_case(name)
        if name.startswith("_") or not hasattr(type(self._environment), spelled):
            raise missing(self.java_class, name)
        return getattr(self._environment, spelled)


def get_j_env_configuration(j_env: JavaEnvironment) -> JavaConfiguration:
    """The settings of an environment, by Java's methods; ``Configuration(j_configuration=…)`` takes them too."""
    return j_env.getConfiguration()


def is_local_deployment(j_configuration: JavaConfiguration) -> bool:
    """Whether a configuration says that programs run on the machine that they are started on."""
    return j_configuration.getString("execution.target") in ("local", "minicluster")
