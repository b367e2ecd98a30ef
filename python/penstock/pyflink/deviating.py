"""What PyFlink's programs get instead of a class of :mod:`penstock.datastream`, because PyFlink deviates from Flink.

Each deviation is a setting whose key begins with ``penstock.pyflink.``; docs/settings.md lists them. An environment
made here has them all, but for those that its configuration sets to false.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock import common
from penstock.common import checks
from penstock.common.cores import cores, say_cores
from penstock.common.settings import PYFLINKS, Settings
from penstock.datastream.environment import environment
from penstock.errors import JobExecutionError as JavaException
from penstock.errors import UnsupportedError
from penstock.pyflink.finder import installed
from penstock.pyflink.java.configuration import JavaConfiguration
from penstock.pyflink.java.environment import JavaEnvironment
from penstock.pyflink.java.errors import (
    as_javas,
    as_thrown,
    capture_java_exception,
    convert_py4j_exception,
    install_exception_handler,
    install_py4j_hooks,
)
from penstock.pyflink.java.names import get_gateway
from penstock.pyflink.java.utils import get_j_env_configuration, is_local_deployment, to_jarray

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from typing_extensions import Self

    from penstock.datastream.environment.executors import Executor

__all__ = [
    "DEFAULT_OUTPUT_TAG",
    "MAX_LONG_VALUE",
    "MIN_LONG_VALUE",
    "Configuration",
    "JavaException",
    "StreamExecutionEnvironment",
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
    "to_jarray",
]

MAX_LONG_VALUE, MIN_LONG_VALUE = 2**63 - 1, -(2**63)
DEFAULT_OUTPUT_TAG = ""

_IMPORTS, _INSTALL = "penstock.runtime.imports", "penstock.pyflink.install"


class Configuration(common.Configuration):
    """Settings; or, of an environment's own, which act on it when they are set.

    Args:
        other: settings to start from.
        j_configuration: whose settings they are: what :func:`get_j_env_configuration` has given.
    """

    __slots__ = ("_j_configuration",)

    def __init__(
        self,
        other: common.Configuration | Mapping[str, str | int | float | bool] | None = None,
        j_configuration: JavaConfiguration | None = None,
    ) -> None:
        self._j_configuration: JavaConfiguration | None = None
        super().__init__(other if j_configuration is None else j_configuration.values())
        self._j_configuration = j_configuration

    def _set(self, key: str, value: str) -> Configuration:
        super()._set(key, value)
        if self._j_configuration is not None:
            self._j_configuration.set(key, value)
        return self

    def __str__(self) -> str:
        return f"{{{', '.join(f'{key}={value}' for key, value in self.to_dict().items())}}}"

    def remove_config(self, key: str) -> bool:
        """Remove a setting; True when there was one.

        Raises:
            UnsupportedError: it is an environment's.
        """
        if self._j_configuration is not None and self._j_configuration.environment is not None:
            raise UnsupportedError(
                f"remove_config({key!r}) of the settings of an environment: what has acted on it stays. Make the "
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
        if isinstance(configuration, common.Configuration):
            configuration = as_pyflink(configuration)
        super().__init__(configuration, spark, master, executor)
        self._parallelism_is_said = False

    def set_parallelism(self, parallelism: int) -> Self:
        """Parallelism of operators added from now on: at least 1, or -1 to leave it open."""
        super().set_parallelism(parallelism)
        self._parallelism_is_said = True
        return self

    def set_runtime_mode(self, execution_mode: common.RuntimeExecutionMode) -> Self:
        """STREAMING (default), BATCH or AUTOMATIC. Where no parallelism was said, it is the number of cores when
        streaming, and 1 in BATCH mode, where Flink chooses by the amount of data."""
        super().set_runtime_mode(execution_mode)
        if not self._parallelism_is_said:
            anew = Settings.of({**self.settings.given, "execution.runtime-mode": execution_mode.name})
            self.settings = replace(self.settings, parallelism=anew.parallelism)
        return self

    @property
    def _j_stream_execution_environment(self) -> JavaEnvironment:
        """What stands for PyFlink's object in Java; programs give it to :func:`get_j_env_configuration`."""
        return JavaEnvironment(self)

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Choose the parallelism of the environments that are made from now on and do not say theirs.

        Args:
            parallelism: 1 or more, instead of the number of cores.
        """
        if checks.integer(parallelism, "set_default_local_parallelism", "parallelism", bits=32) < 1:
            checks.illegal_argument(
                f"set_default_local_parallelism({parallelism}): a parallelism is at least 1. Give a number of subtasks."
            )
        say_cores(parallelism)

    def get_default_local_parallelism(self) -> int:
        """The parallelism of environments that do not say theirs: the number of cores, unless another was chosen."""
        return cores()

    def execute(self, job_name: str | None = None) -> common.JobExecutionResult:
        """Run the program; a failure is py4j's ``Py4JJavaError`` too, as in PyFlink."""
        with as_javas():
            return super().execute(job_name)

    def execute_async(self, job_name: str | None = None) -> common.JobClient:
        """Run the program in the background; its failure is py4j's ``Py4JJavaError`` too."""
        with as_javas():
            return super().execute_async(job_name).with_errors(as_thrown)


def as_pyflink(configuration: common.Configuration) -> common.Configuration:
    """A configuration with PyFlink's ways, as far as it does not say otherwise itself. Where ``pyflink`` means
    :mod:`penstock.pyflink`, it does so in tasks too."""
    imports = {_IMPORTS: _INSTALL} if installed() else {}
    return common.Configuration({**dict.fromkeys(PYFLINKS, "true"), **imports, **configuration.to_dict()})


def empty_result_predicate(result: Sequence[object] | None) -> bool:
    """Whether an asynchronous call has given nothing, as a reason to try again."""
    return not result


def has_exception_predicate(error: BaseException | None) -> bool:
    """Whether an asynchronous call has failed, as a reason to try again."""
    return error is not None


def exception_type_predicate(error: BaseException | None, expected_error_type: type[BaseException]) -> bool:
    """Whether an asynchronous call has failed by an error of a type, as a reason to try again."""
    return isinstance(error, expected_error_type)
