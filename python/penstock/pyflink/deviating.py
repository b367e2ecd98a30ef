"""What PyFlink's programs get instead of a class of :mod:`penstock.datastream`, because PyFlink deviates from Flink.

Each deviation is a setting whose key begins with ``penstock.pyflink.``; docs/settings.md lists them. An environment
made here has them all, but for those that its configuration sets to false.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from penstock import common
from penstock.common.settings import PYFLINKS
from penstock.datastream.environment import environment
from penstock.errors import JobExecutionError as JavaException
from penstock.errors import UnsupportedError
from penstock.pyflink.finder import installed
from penstock.pyflink.gateway import get_gateway

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.datastream.environment.executors import Executor

__all__ = [
    "DEFAULT_OUTPUT_TAG",
    "MAX_LONG_VALUE",
    "MIN_LONG_VALUE",
    "Configuration",
    "JavaException",
    "StreamExecutionEnvironment",
    "empty_result_predicate",
    "exception_type_predicate",
    "get_gateway",
    "get_j_env_configuration",
    "has_exception_predicate",
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

    __slots__ = ("_environment",)

    def __init__(
        self,
        other: common.Configuration | Mapping[str, str | int | float | bool] | None = None,
        j_configuration: StreamExecutionEnvironment | None = None,
    ) -> None:
        self._environment: StreamExecutionEnvironment | None = None
        super().__init__(other if j_configuration is None else dict(j_configuration.settings.given))
        self._environment = j_configuration

    def _set(self, key: str, value: str) -> Configuration:
        super()._set(key, value)
        if self._environment is not None:
            self._environment.settings = self._environment.settings.updated({key: value})
        return self

    def remove_config(self, key: str) -> bool:
        """Remove a setting; True when there was one.

        Raises:
            UnsupportedError: it is an environment's.
        """
        if self._environment is not None:
            raise UnsupportedError(
                f"remove_config({key!r}) of the settings of an environment: what has acted on it stays. Make the "
                "environment with another Configuration, or set another value."
            )
        return super().remove_config(key)


def get_j_env_configuration(j_env: StreamExecutionEnvironment) -> StreamExecutionEnvironment:
    """What ``Configuration(j_configuration=…)`` takes for the settings of an environment.

    Args:
        j_env: ``env._j_stream_execution_environment``.
    """
    return j_env


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

    @property
    def _j_stream_execution_environment(self) -> StreamExecutionEnvironment:
        """PyFlink's object in Java, which programs give to :func:`get_j_env_configuration`."""
        return self


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
