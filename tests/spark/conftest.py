"""One SparkSession for all tests of this folder: starting one takes seconds."""

from __future__ import annotations

import os
import sys

import pytest

from penstock.spark import SparkExecutor

MASTER = "local[2,4]"
FAST_JVM = "-XX:TieredStopAtLevel=1 -Xss4m"


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/spark/" in str(item.path):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark():
    """A session made by Penstock itself, as a program without a session of its own gets one."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from penstock.spark.session import open_session

    return open_session(MASTER, {"spark.driver.extraJavaOptions": FAST_JVM, "spark.sql.shuffle.partitions": "7"})


@pytest.fixture
def executor(spark):
    return SparkExecutor(spark, progress=False)
