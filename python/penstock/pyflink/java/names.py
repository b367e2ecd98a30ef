"""The gateway to Java under PyFlink's name. Names that lead to something here are that; others can be looked into, and
refuse to be called."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock.common import Duration, Row, RuntimeExecutionMode, Time, WatermarkStrategy
from penstock.common.execution_config import ExecutionConfig
from penstock.common.watermark_generator import Watermark, WatermarkGenerator
from penstock.datastream.checkpoint_storage import JobManagerCheckpointStorage
from penstock.datastream.checkpointing_mode import CheckpointingMode
from penstock.datastream.functions import MapFunction
from penstock.datastream.time_characteristic import TimeCharacteristic
from penstock.errors import UnsupportedError
from penstock.pyflink.java.configuration import JavaConfiguration, option
from penstock.pyflink.java.environment import JavaEnvironment
from penstock.pyflink.java.graphs import StreamingJobGraphGenerator
from penstock.pyflink.java.objects import JavaArrays, JavaList, JavaMap, JavaObject, JavaOptional, missing, snake_case

_ADVICE = {
    "org.apache.flink.configuration": "Give the settings to get_execution_environment(Configuration.from_dict({…}))",
    "org.apache.flink.streaming.connectors": "Use the classes of pyflink.datastream.connectors",
    "org.apache.flink.connector": "Use the classes of pyflink.datastream.connectors",
    "org.apache.flink.table": "There is no Table API. Stay with streams",
    "java.time": "Use Duration and Time of pyflink.common",
}
_OTHERWISE = "Say what you want of it by pyflink.datastream, or in Python"


class Statics:
    """A class of ours under Java's name: its static methods and constants in Java's spelling.

    Args:
        path: Java's name of the class.
        ours: the class.
    """

    def __init__(self, path: str, ours: type) -> None:
        self._path, self._ours = path, ours

    def __getattr__(self, name: str) -> Any:
        spelled = name if name in vars(self._ours) else snake_case(name)
        if name.startswith("_") or not hasattr(self._ours, spelled):
            raise missing(self._path, name)
        return getattr(self._ours, spelled)

    def __repr__(self) -> str:
        return f"<the Java class {self._path}, which is {self._ours.__name__} here>"


class PythonConfigUtil:
    """PyFlink's class of this name."""

    @staticmethod
    def getEnvironmentConfig(environment: JavaEnvironment) -> JavaConfiguration:
        """The settings of an environment."""
        return environment.getConfiguration()


class PerElementWatermarks(WatermarkGenerator[Any]):
    """A watermark after each record, as of PyFlink's class for tests."""

    def on_event(self, event: Any, event_timestamp: int | None, output: Any) -> None:
        """One of the record's time; those that do not grow are left out."""
        output.emit_watermark(Watermark(event_timestamp or 0))

    def on_periodic_emit(self, output: Any) -> None:
        """None."""

    @classmethod
    def getSupplier(cls) -> type[PerElementWatermarks]:
        """What makes one."""
        return cls


class RightPartition(MapFunction[Any, Any]):
    """Fails for a record that is not in the subtask of its second field, as of PyFlink's class for tests."""

    def open(self, runtime_context: Any) -> None:
        """Where it runs."""
        self._subtask = runtime_context.get_index_of_this_subtask()
        self._subtasks = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value: Any) -> Any:
        """The record."""
        if value[1] % self._subtasks != self._subtask:
            raise RuntimeError(f"{value} was sent to the wrong partition {self._subtask}")
        return value


class JavaRow(Row):
    """A row by Java's methods.

    Args:
        arity: how many fields it has, all None at first.
    """

    __slots__ = ()

    def __init__(self, arity: int) -> None:
        super().__init__(*[None] * arity)

    def setField(self, position: int, value: Any) -> None:
        """Set a field, counted from 0."""
        self[position] = value

    def getField(self, position: int) -> Any:
        """A field, counted from 0."""
        return self[position]

    def getArity(self) -> int:
        """How many fields it has."""
        return len(self)

    def equals(self, other: object) -> bool:
        """Whether it equals another row, whose fields may have names."""
        return isinstance(other, Row) and list(self) == list(other)


_KNOWN: dict[str, Any] = {
    "java.util.ArrayList": JavaList,
    "java.util.LinkedList": JavaList,
    "java.util.Arrays": JavaArrays,
    "java.util.HashMap": JavaMap,
    "java.util.LinkedHashMap": JavaMap,
    "java.util.Optional": JavaOptional,
    "java.util.Properties": JavaMap,
    "org.apache.flink.configuration.Configuration": JavaConfiguration,
    "org.apache.flink.connector.testutils.formats.DummyInitializationContext": JavaObject,
    "org.apache.flink.python.util.PartitionCustomTestMapFunction": RightPartition,
    "org.apache.flink.python.util.PythonConfigUtil": PythonConfigUtil,
    "org.apache.flink.streaming.api.functions.python.eventtime.PerElementWatermarkGenerator": PerElementWatermarks,
    "org.apache.flink.types.Row": JavaRow,
    "org.apache.flink.streaming.api.graph.StreamingJobGraphGenerator": StreamingJobGraphGenerator,
}
_STATICS: dict[str, type] = {
    "java.time.Duration": Duration,
    "org.apache.flink.api.common.ExecutionConfig": ExecutionConfig,
    "org.apache.flink.api.common.RuntimeExecutionMode": RuntimeExecutionMode,
    "org.apache.flink.api.common.eventtime.WatermarkStrategy": WatermarkStrategy,
    "org.apache.flink.api.common.time.Time": Time,
    "org.apache.flink.core.execution.CheckpointingMode": CheckpointingMode,
    "org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage": JobManagerCheckpointStorage,
    "org.apache.flink.streaming.api.CheckpointingMode": CheckpointingMode,
    "org.apache.flink.streaming.api.TimeCharacteristic": TimeCharacteristic,
    "org.apache.flink.streaming.api.windowing.time.Time": Time,
}


def _known(path: str) -> Any:
    """What a name leads to, None if nowhere."""
    if path in _STATICS:
        return Statics(path, _STATICS[path])
    return _KNOWN.get(path) or option(path)


class JavaName:
    """A name in Java, such as ``gateway.jvm.java.util.concurrent.Future``, that leads nowhere yet.

    Args:
        path: the name so far.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        object.__setattr__(self, "_path", path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._path}.{name}" if self._path else name
        known = _known(path)
        return JavaName(path) if known is None else known

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise self._refusal(f"{self._path}.{name} = …")

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Refuse.

        Raises:
            UnsupportedError: always.
        """
        raise self._refusal(f"{self._path}()")

    def _refusal(self, what: str) -> UnsupportedError:
        advice = next((text for begin, text in _ADVICE.items() if self._path.startswith(begin)), _OTHERWISE)
        return UnsupportedError(f"{what} through the gateway is Java, and no Flink in Java runs here. {advice}.")

    def __repr__(self) -> str:
        return f"<the Java name {self._path}, which leads nowhere>"


class Gateway:
    """What ``get_gateway()`` gives.

    Attributes:
        jvm: the names in Java.
    """

    __slots__ = ("jvm",)

    def __init__(self) -> None:
        self.jvm: Any = JavaName("")

    def new_array(self, java_class: object, *sizes: int) -> JavaList[Any]:
        """An array of empty places.

        Args:
            java_class: of what is in it; it has no effect.
            sizes: how many places, of an array of arrays one number for each level.
        """
        first, *others = sizes
        return JavaList(self.new_array(java_class, *others) if others else None for _ in range(first))

    def __getattr__(self, name: str) -> JavaName:
        if name.startswith("__"):
            raise AttributeError(name)
        return JavaName(name)

    def __repr__(self) -> str:
        return "<the gateway to Java of PyFlink's programs, of which little is there>"


def get_gateway() -> Gateway:
    """A gateway whose names can be written down; those that lead to nothing here refuse to be used."""
    return Gateway()
