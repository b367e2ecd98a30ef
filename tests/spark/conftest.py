"""All tests of this folder start Spark, the same one."""

from __future__ import annotations

import pytest

from penstock.spark import SparkExecutor


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/spark/" in str(item.path):
            item.add_marker(pytest.mark.spark)


@pytest.fixture
def executor(spark):
    return SparkExecutor(spark, progress=False)
