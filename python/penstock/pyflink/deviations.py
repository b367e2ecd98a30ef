"""Classes that PyFlink's programs get instead of one of :mod:`penstock.datastream`, because PyFlink deviates from
Flink; all of it belongs to the setting ``penstock.pyflink``, which is on by default here. docs/limits.md lists it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from penstock import common, datastream
from penstock.common import checks
from penstock.common.settings.cores import cores, say_cores
from penstock.common.settings.settings import PYFLINK, Settings, names_of
from penstock.datastream.environment import environment
from penstock.errors import JobExecutionError as JavaException
from penstock.errors import UnsupportedError
from penstock.pyflink.finder import installed
from penstock.pyflink.java.configuration import JavaConfiguration
from penstock.pyflink.java.environment import JavaEnvironment, get_j_env_configuration, is_local_deployment
from penstock.pyflink.java.errors import (
    as_javas,
    as_thrown,
    capture_java_exception,
    convert_py4j_exception,
    install_exception_handler,
    install_py4j_hooks,
)
from penstock.pyflink.java.gateway import get_gateway, to_jarray

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from typing_extensions import Self

    from penstock.datastream import DataStreamSource
    from penstock.datastream.connectors import Source
    from penstock.datastream.environment.executors import Executor

__all__ = [
    "DEFAULT_OUTPUT_TAG",
    "MAX_LONG_VALUE",
    "MIN_LONG_VALUE",
    "Configuration",
    "DataStream",
    "JavaException",
    "StreamExecutionEnvironment",
    "WatermarkStrategy",
    "capture_java_exception",
    "convert_py4j_exception",
    "empty_result_predicate",
    "exception_type_predicate",
    "get_gateway",
    "get_j_env_configuration",
    "has_exception_predicate",
    "install_exception_handler",
    "install_py4j_hooks",
    "is_local_deployment",
    "on_windows",
    "to_jarray",
]

MAX_LONG_VALUE, MIN_LONG_VALUE = 2**63 - 1, -(2**63)
DEFAULT_OUTPUT_TAG = ""

_T = TypeVar("_T")
_U = TypeVar("_U")


class Configuration(common.Configuration):
    """Settings; those of :func:`get_j_env_configuration` act on their environment when they are set."""

    __slots__ = ("_j_configuration",)

    def __init__(
        self,
        other: common.Configuration | Mapping[str, str | int | float | bool] | None = None,
        j_configuration: JavaConfiguration | None = None,
    ) -> None:
        self._j_configuration: JavaConfiguration | None = None
        super().__init__(other if j_configuration is None else j_configuration.values())
        self._j_configuration = j_configuration

    def _set(self, key: str, value: str, original: Any = None) -> Configuration:
        super()._set(key, value, original)
        if self._j_configuration is not None:
            self._j_configuration.set(key, value)
        return self

    def __str__(self) -> str:
        return f"{{{', '.join(f'{key}={value}' for key, value in self.to_dict().items())}}}"

    def remove_config(self, key: str) -> bool:
        """Remove a setting; True when there was one. UnsupportedError if it is an environment's."""
        if self._j_configuration is not None and self._j_configuration.environment is not None:
            raise UnsupportedError(
                f"remove_config({key!r}) of the settings of an environment: what it has caused stays. Make the "
                "environment with another Configuration, or set another value."
            )
        return super().remove_config(key)


class StreamExecutionEnvironment(environment.StreamExecutionEnvironment):
    """The environment of a program that was written for PyFlink."""

    def __init__(
        self,
        configuration: common.Configuration | None = None,
        spark: SparkSession | None = None,
        master: str | None = None,
        executor: Executor | str | None = None,
    ) -> None:
        if isinstance(configuration, common.Configuration):  # PyFlink's ways, in tasks too, unless it switches them off
            imports = {"penstock.runtime.imports": "penstock.pyflink.install"} if installed() else {}
            values = configuration.to_dict()
            pyflink = {} if values.keys() & {*names_of(PYFLINK)} else {PYFLINK: "true"}
            configuration = common.Configuration({**pyflink, **imports, **values})
        super().__init__(configuration, spark, master, executor)
        self._parallelism_is_said = False

    def set_parallelism(self, parallelism: int) -> Self:
        super().set_parallelism(parallelism)
        self._parallelism_is_said = True
        return self

    def set_runtime_mode(self, execution_mode: common.RuntimeExecutionMode) -> Self:
        """STREAMING (default), BATCH or AUTOMATIC. If no parallelism was set, it is the number of cores, or 1 in BATCH
        mode, where Flink chooses by the amount of data."""
        super().set_runtime_mode(execution_mode)
        if not self._parallelism_is_said:
            anew = Settings.of({**self.settings.explicit, "execution.runtime-mode": execution_mode.name})
            self.settings = replace(self.settings, parallelism=anew.parallelism)
        return self

    @property
    def _j_stream_execution_environment(self) -> JavaEnvironment:
        """The object in Java; programs give it to :func:`get_j_env_configuration`."""
        return JavaEnvironment(self)

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """The parallelism of environments that are made from now on without their own."""
        call = "set_default_local_parallelism"
        say_cores(checks.positive(checks.integer(parallelism, call, "parallelism", bits=32), call, "parallelism"))

    def get_default_local_parallelism(self) -> int:
        """The parallelism of environments that do not say theirs: the number of cores, unless another was chosen."""
        return cores()

    def from_source(
        self,
        source: Source[_U],
        watermark_strategy: common.WatermarkStrategy[_U],
        source_name: str,
        type_info: common.TypeInformation[_U] | None = None,
    ) -> DataStreamSource[_U]:
        """A source of the new kind. A warning says that PyFlink leaves out the strategy's timestamp assigner."""
        stream = super().from_source(source, watermark_strategy, source_name, type_info)
        if watermark_strategy.assigner is not None:
            _warn_once(
                "PyFlink leaves out the timestamp assigner of a strategy in from_source(); Penstock applies it. Call "
                "assign_timestamps_and_watermarks(strategy) behind it, and both give the same. See docs/limits.md.",
                stacklevel=3,
            )
        return stream

    def execute(self, job_name: str | None = None) -> common.JobExecutionResult:
        with as_javas():
            return super().execute(job_name)

    def execute_async(self, job_name: str | None = None) -> common.JobClient:
        with as_javas():
            return super().execute_async(job_name).with_errors(as_thrown)


class WatermarkStrategy(common.WatermarkStrategy[_T]):
    """A strategy of a program that was written for PyFlink: :meth:`with_timestamp_assigner` changes it, as there."""

    def as_given(self) -> common.WatermarkStrategy[_T]:
        """The strategy as it is now, for an operator: what changes it later does not change the operator."""
        return common.WatermarkStrategy(self)  # type: ignore[arg-type]

    def with_timestamp_assigner(
        self, timestamp_assigner: common.TimestampAssigner[Any] | Callable[[Any, int | None], int]
    ) -> Self:
        """Take timestamps from the records, and watermarks as before; returns this strategy itself."""
        object.__setattr__(self, "assigner", super().with_timestamp_assigner(timestamp_assigner).assigner)
        return self

    def with_idleness(self, idle_timeout: common.Duration) -> common.WatermarkStrategy[_T]:
        """As of Flink. A warning says that PyFlink's loses the timestamp assigner."""
        self._warn_of_assigner("with_idleness")
        return super().with_idleness(idle_timeout)

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: common.Duration,
        update_interval: common.Duration | None = None,
    ) -> common.WatermarkStrategy[_T]:
        """As of Flink. A warning says that PyFlink's loses the timestamp assigner."""
        self._warn_of_assigner("with_watermark_alignment")
        return replace(super().with_watermark_alignment(watermark_group, max_allowed_watermark_drift, update_interval))

    def _warn_of_assigner(self, call: str) -> None:
        if self.assigner is not None:
            _warn_once(
                f"PyFlink forgets the timestamp assigner of a strategy at {call}(); Penstock keeps it. Call "
                "with_timestamp_assigner() last, and both give the same. See docs/limits.md.",
                stacklevel=4,
            )


class _Rewrapping(type):
    """Class of :class:`DataStream`."""

    def __call__(cls, j_data_stream: datastream.DataStream[Any]) -> datastream.DataStream[Any]:
        if isinstance(j_data_stream, datastream.SingleOutputStreamOperator):
            return j_data_stream
        return datastream.DataStream(j_data_stream.get_execution_environment(), j_data_stream.transformation)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, datastream.DataStream)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, datastream.DataStream)


class DataStream(datastream.DataStream[_T], metaclass=_Rewrapping):
    """Base of all streams for ``isinstance``; ``DataStream(stream._j_data_stream)`` gives the stream again."""


_SAID: set[str] = set()  # the warnings that this process has given


def _warn_once(text: str, stacklevel: int) -> None:
    """Give a warning once in this process; ``stacklevel`` as :func:`warnings.warn` counts from the caller."""
    if text not in _SAID:
        _SAID.add(text)
        warnings.warn(text, stacklevel=stacklevel)


def on_windows() -> bool:
    """Whether this machine runs Windows."""
    return sys.platform == "win32"


def empty_result_predicate(result: Sequence[object] | None) -> bool:
    """Whether an asynchronous call has given nothing, as a reason to try again."""
    return not result


def has_exception_predicate(error: BaseException | None) -> bool:
    """Whether an asynchronous call has failed, as a reason to try again."""
    return error is not None


def exception_type_predicate(error: BaseException | None, expected_error_type: type[BaseException]) -> bool:
    """Whether an asynchronous call has failed by an error of a type, as a reason to try again."""
    return isinstance(error, expected_error_type)
