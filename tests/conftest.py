"""Shared by every test folder, and kept minimal: the import path and the Hypothesis profiles."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SPARK_HOME = os.environ.get("SPARK_HOME")
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # so that `tests.reference` and `tests.golden` can be imported from any test

from hypothesis import HealthCheck, settings  # noqa: E402 - the path comes first

_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]  # graphs of forty operators are large on purpose
# "checks": what `make test` runs; the same examples every time, so a red run is red for everybody.
settings.register_profile(
    "checks", deadline=None, derandomize=True, max_examples=100, suppress_health_check=_SLOW_IS_FINE, database=None
)
# "quick": what `make check` and `make check-pythons` run: the first fifth of them.
settings.register_profile("quick", settings.get_profile("checks"), max_examples=20)
# "search": HYPOTHESIS_PROFILE=search looks for new examples, as many as one has time for.
settings.register_profile("search", deadline=None, max_examples=2000, suppress_health_check=_SLOW_IS_FINE)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "checks"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Hide Spark from tests without the mark, and from the processes that they start: `make check` is to be quick."""
    if item.get_closest_marker("spark") is None:
        os.environ["SPARK_HOME"] = "/no/spark/without/the/mark/spark"
    elif SPARK_HOME is None:
        os.environ.pop("SPARK_HOME", None)
    else:
        os.environ["SPARK_HOME"] = SPARK_HOME
