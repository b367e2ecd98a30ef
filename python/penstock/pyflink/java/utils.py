"""The functions of PyFlink's ``pyflink.util.java_utils`` that mean something without Java."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.pyflink.java.configuration import JavaConfiguration
from penstock.pyflink.java.environment import JavaEnvironment
from penstock.pyflink.java.objects import JavaList


def get_j_env_configuration(j_env: JavaEnvironment) -> JavaConfiguration:
    """The settings of an environment, by Java's methods; ``Configuration(j_configuration=…)`` takes them too.

    Args:
        j_env: ``env._j_stream_execution_environment``.
    """
    return j_env.getConfiguration()


def is_local_deployment(j_configuration: JavaConfiguration) -> bool:
    """Whether a configuration says that programs run on the machine that they are started on."""
    return j_configuration.getString("execution.target") in ("local", "minicluster")


def to_jarray(j_type: object, arr: Sequence[Any]) -> JavaList[Any]:
    """An array with the values of a list.

    Args:
        j_type: the type of its elements; it has no effect.
        arr: the values.
    """
    return JavaList(arr)
