"""PyFlink's ``env._j_stream_execution_environment``: the environment by Java's methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.pyflink.java.configuration import JavaConfiguration
from penstock.pyflink.java.graphs import JavaStreamGraph
from penstock.pyflink.java.objects import JavaList, JavaObject, missing, snake_case

if TYPE_CHECKING:
    from penstock.datastream.environment.environment import StreamExecutionEnvironment


class JavaTuple(tuple[Any, ...]):
    """A tuple with the method of Java's tuples."""

    def getField(self, position: int) -> Any:
        """The field at a place."""
        return self[position]


class JavaEnvironment(JavaObject):
    """An environment by Java's methods. Those that PyFlink's class has under a name of Python are that class's.

    Args:
        environment: PyFlink's environment.
    """

    java_class = "org.apache.flink.streaming.api.environment.StreamExecutionEnvironment"

    def __init__(self, environment: StreamExecutionEnvironment) -> None:
        self._environment = environment

    def getConfiguration(self) -> JavaConfiguration:
        """Its settings; to change them acts on it."""
        return JavaConfiguration(self._environment)

    def getStreamGraph(self, clear_transformations: bool = True) -> JavaStreamGraph:
        """The graph of the program so far.

        Args:
            clear_transformations: whether the environment forgets its operators.
        """
        graph = self._environment.get_stream_graph()
        if clear_transformations:
            self._environment.close()
        return JavaStreamGraph(graph, self._environment.slot_sharing_groups)

    def generateStreamGraph(self, transformations: Any = None) -> JavaStreamGraph:
        """The graph of the program so far, which stays as it is."""
        return self.getStreamGraph(False)

    def getCachedFiles(self) -> JavaList[JavaTuple]:
        """Names and paths of the files that were registered."""
        return JavaList(JavaTuple((name, path)) for name, path, _ in self._environment.settings.cached_files)

    def __getattr__(self, name: str) -> Any:
        spelled = snake_case(name)
        if name.startswith("_") or not hasattr(type(self._environment), spelled):
            raise missing(self.java_class, name)
        return getattr(self._environment, spelled)
