"""What PyFlink's programs get instead of a class of :mod:`penstock.datastream`, because PyFlink deviates from Flink.

Each deviation is a setting whose key begins with ``penstock.pyflink.``; docs/settings.md lists them. An environment
made here has them all, but for those that its configuration sets to false.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.common import Configuration
from penstock.common.settings import PYFLINKS
from penstock.datastream.environment import environment
from penstock.errors import JobExecutionError as JavaException
from penstock.pyflink.finder import installed
from penstock.pyflink.gateway import get_gateway

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.datastream.environment.executors import Executor

__all__ = [
    "DEFAULT_OUTPUT_TAG",
    "MAX_LONG_VALUE",
    "MIN_LONG_VALUE",
    "JavaException",
    "StreamExecutionEnvironment",
    "get_gateway",
]

MAX_LONG_VALUE, MIN_LONG_VALUE = 2**63 - 1, -(2**63)
DEFAULT_OUTPUT_TAG = ""

_IMPORTS, _INSTALL = "penstock.runtime.imports", "penstock.pyflink.install"


class StreamExecutionEnvironment(environment.StreamExecutionEnvironment):
    """The environment of a program that was written for PyFlink."""

    def __init__(
        self,
        configuration: Configuration | None = None,
        spark: SparkSession | None = None,
        master: str | None = None,
        executor: Executor | str | None = None,
    ) -> None:
        if isinstance(configuration, Configuration):
            configuration = as_pyflink(configuration)
        super().__init__(configuration, spark, master, executor)


def as_pyflink(configuration: Configuration) -> Configuration:
    """A configuration with PyFlink's ways, as far as it does not say otherwise itself. Where ``pyflink`` means
    :mod:`penstock.pyflink`, it does so in tasks too."""
    imports = {_IMPORTS: _INSTALL} if installed() else {}
    return Configuration({**dict.fromkeys(PYFLINKS, "true"), **imports, **configuration.to_dict()})
