"""Fixtures for pytest, outside of :mod:`penstock.testing`, so that nothing is imported before a test needs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from penstock.datastream import StreamExecutionEnvironment
    from penstock.testing.plans import TestedPlan


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes snapshots of plans."""
    parser.getgroup("penstock").addoption(
        "--penstock-update-plans",
        action="store_true",
        help="Write the snapshots that plan(…).assert_unchanged() compares with.",
    )


@pytest.fixture
def penstock_parallelism() -> int:
    """Parallelism of :func:`penstock_env`: 1, unless ``@pytest.mark.parametrize("penstock_parallelism", [1, 2, 7])``
    says else."""
    return 1


@pytest.fixture
def penstock_env(penstock_parallelism: int) -> StreamExecutionEnvironment:
    """An environment that runs its programs in this process, in milliseconds, without Spark."""
    from penstock.datastream import StreamExecutionEnvironment

    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    env.set_parallelism(penstock_parallelism)
    return env


@pytest.fixture
def plan(request: pytest.FixtureRequest) -> Callable[[Any], TestedPlan]:
    """Plans a program, a function of an environment or a file say, for assertions. Nothing runs. Snapshots are in
    ``__plans__`` beside the test, a file for each test and each plan of it."""
    from penstock.testing.plans import TestedPlan, plan_of

    plans = 0
    name = re.sub(r"[^\w.-]+", "-", request.node.nodeid.rpartition("::")[2]).strip("-")
    folder = request.path.parent / "__plans__" / request.path.stem

    def make(program: Any) -> TestedPlan:
        nonlocal plans
        plans += 1
        file = folder / f"{name}{f'-{plans}' if plans > 1 else ''}.json"
        return TestedPlan(plan_of(program), file, update=bool(request.config.getoption("--penstock-update-plans")))

    return make
