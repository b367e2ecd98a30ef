"""Fixtures for pytest, which finds them by itself where Penstock is installed. They stand outside of
:mod:`penstock.testing`, so that nothing else of Penstock is imported before a test asks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from penstock.datastream import StreamExecutionEnvironment


@pytest.fixture
def penstock_parallelism() -> int:
    """Parallelism of :func:`penstock_env`: 1. A test overrides it by
    ``@pytest.mark.parametrize("penstock_parallelism", [1, 2, 7])``."""
    return 1


@pytest.fixture
def penstock_env(penstock_parallelism: int) -> StreamExecutionEnvironment:
    """An environment that runs its programs in this process, in milliseconds, without Spark."""
    from penstock.datastream import StreamExecutionEnvironment

    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    env.set_parallelism(penstock_parallelism)
    return env
