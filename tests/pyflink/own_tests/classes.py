"""Classes in Java that PyFlink's own tests use, as Python classes by Java's names."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from penstock.common import Duration, Row, RuntimeExecutionMode, Time, WatermarkStrategy
from penstock.common.execution_config import ExecutionConfig
from penstock.common.java.java_objects import JavaObject, missing
from penstock.common.watermark_strategy import Watermark, WatermarkGenerator
from penstock.datastream import (
    CheckpointingMode,
    JobManagerCheckpointStorage,
    MapFunction,
    MemoryStateBackend,
    TimeCharacteristic,
)
from penstock.pyflink.java.collections import JavaList
from penstock.pyflink.java.environment import snake_case

T = TypeVar("T")


class Statics:
    """A class of ours under Java's name: its static methods and constants in Java's spelling."""

    def __init__(self, path: str, ours: type) -> None:
        self._path, self._ours = path, ours

    def __getattr__(self, name: str) -> Any:
        spelled = name if name in vars(self._ours) else snake_case(name)
        if name.startswith("_") or not hasattr(self._ours, spelled):
            raise missing(self._path, name)
        return getattr(self._ours, spelled)

    def __repr__(self) -> str:
        return f"<the Java class {self._path}, which is {self._ours.__name__} here>"


class JavaOptional(JavaObject, Generic[T]):
    java_class = "java.util.Optional"

    def __init__(self, value: T | None) -> None:
        self._value = value

    def isPresent(self) -> bool:
        return self._value is not None

    def get(self) -> T:
        if self._value is None:
            raise LookupError("An empty Optional has no value. Ask isPresent() before get().")
        return self._value

    def orElse(self, other: T) -> T:
        return other if self._value is None else self._value


class JavaArrays:
    @staticmethod
    def asList(*values: Any) -> JavaList[Any]:
        """A list of the values, or of those of the one array that is given."""
        return JavaList(values[0] if len(values) == 1 and isinstance(values[0], list) else values)


class PerElementWatermarks(WatermarkGenerator[Any]):
    """A watermark after each record, as of PyFlink's class for tests."""

    def on_event(self, event: Any, event_timestamp: int | None, output: Any) -> None:
        """One of the record's time; those that do not grow are left out."""
        output.emit_watermark(Watermark(event_timestamp or 0))

    def on_periodic_emit(self, output: Any) -> None:
        """None."""

    @classmethod
    def getSupplier(cls) -> type[PerElementWatermarks]:
        return cls


class RightPartition(MapFunction[Any, Any]):
    """Fails for a record that is not in the subtask of its second field, as of PyFlink's class for tests."""

    def open(self, runtime_context: Any) -> None:
        self._subtask = runtime_context.get_index_of_this_subtask()
        self._subtasks = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value: Any) -> Any:
        if value[1] % self._subtasks != self._subtask:
            raise RuntimeError(f"{value} was sent to the wrong partition {self._subtask}")
        return value


class JavaRow(Row):
    __slots__ = ()

    def __init__(self, arity: int) -> None:
        super().__init__(*[None] * arity)

    def setField(self, position: int, value: Any) -> None:
        self[position] = value

    def getField(self, position: int) -> Any:
        return self[position]

    def getArity(self) -> int:
        return len(self)

    def equals(self, other: object) -> bool:
        """Whether it equals another row, whose fields may have names."""
        return isinstance(other, Row) and list(self) == list(other)


class JavaThread:
    """A thread, as far as tests ask for its class loader."""

    @classmethod
    def currentThread(cls) -> type[JavaThread]:
        return cls

    @staticmethod
    def getContextClassLoader() -> None:
        """None: no classes of Java are loaded."""


CLASSES: dict[str, type] = {
    "Thread": JavaThread,
    "java.lang.Thread": JavaThread,
    "java.util.Arrays": JavaArrays,
    "java.util.Optional": JavaOptional,
    "org.apache.flink.connector.testutils.formats.DummyInitializationContext": JavaObject,
    "org.apache.flink.python.util.PartitionCustomTestMapFunction": RightPartition,
    "org.apache.flink.streaming.api.functions.python.eventtime.PerElementWatermarkGenerator": PerElementWatermarks,
    "org.apache.flink.types.Row": JavaRow,
}
"""Classes of which tests make objects, by Java's names."""
STATICS: dict[str, type] = {
    "java.time.Duration": Duration,
    "org.apache.flink.api.common.ExecutionConfig": ExecutionConfig,
    "org.apache.flink.api.common.RuntimeExecutionMode": RuntimeExecutionMode,
    "org.apache.flink.api.common.eventtime.WatermarkStrategy": WatermarkStrategy,
    "org.apache.flink.api.common.time.Time": Time,
    "org.apache.flink.core.execution.CheckpointingMode": CheckpointingMode,
    "org.apache.flink.runtime.state.memory.MemoryStateBackend": MemoryStateBackend,
    "org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage": JobManagerCheckpointStorage,
    "org.apache.flink.streaming.api.CheckpointingMode": CheckpointingMode,
    "org.apache.flink.streaming.api.TimeCharacteristic": TimeCharacteristic,
    "org.apache.flink.streaming.api.windowing.time.Time": Time,
}
"""Classes of ours whose static methods and constants tests ask for in Java's spelling."""
