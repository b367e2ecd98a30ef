"""Shared by every test folder, and kept minimal: the import path, the Hypothesis profiles, an S3 endpoint."""

from __future__ import annotations

import gc
import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SPARK_HOME = os.environ.get("SPARK_HOME")
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # so that `tests.reference` and `tests.golden` can be imported from any test

from hypothesis import HealthCheck, settings  # noqa: E402 - the path comes first

from tests.forks import forget_syncs  # noqa: E402

forget_syncs()

_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]  # graphs of forty operators are large on purpose
# "checks": what `make check` and `make test` run; the same examples every time, so a red run is red for everybody.
settings.register_profile(
    "checks", deadline=None, derandomize=True, max_examples=10, suppress_health_check=_SLOW_IS_FINE, database=None
)
# "sweep": what `make sweep` runs: 500 of them, and each case of the tests that take a sample (tests/effort.py).
settings.register_profile("sweep", settings.get_profile("checks"), max_examples=500)
# "search": HYPOTHESIS_PROFILE=search looks for new examples, as many as one has time for.
settings.register_profile("search", deadline=None, max_examples=2000, suppress_health_check=_SLOW_IS_FINE)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "checks"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m spark`` or ``-m hdfs``, leave out files without such a test: to load them takes ten seconds."""
    mark = config.option.markexpr
    wanted = mark in ("spark", "hdfs") and not any(".py" in argument for argument in config.args)
    if not wanted or not collection_path.match("test_*.py") or collection_path.parent.name == mark:
        return None
    return None if f"mark.{mark}" in collection_path.read_text(encoding="utf-8") else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs an S3 service is slow: each process of pytest starts one."""
    for item in items:
        if "s3_endpoint" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Spare the garbage collector what was imported and collected, which stays: a tenth of the time of all tests."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let what was frozen be freed, which libraries look after at the end of the process."""
    gc.unfreeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Hide Spark from tests without the mark, and from the processes that they start: `make check` is to be quick."""
    if item.get_closest_marker("spark") is None and item.get_closest_marker("yarn") is None:
        os.environ["SPARK_HOME"] = "/no/spark/without/the/mark/spark"
    elif SPARK_HOME is None:
        os.environ.pop("SPARK_HOME", None)
    else:
        os.environ["SPARK_HOME"] = SPARK_HOME


# The archive of Spark's classes that `make test` has prepared.
if Path(sys.prefix, "cache", "penstock").is_dir():
    os.environ["XDG_CACHE_HOME"] = str(Path(sys.prefix, "cache"))
# Each JVM of Spark that tests start, also below processes of their own, is short-lived.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
os.environ.setdefault("SPARK_SUBMIT_OPTS", SHORT_LIVED)
os.environ.setdefault("SPARK_LAUNCHER_OPTS", SHORT_LIVED)


@pytest.fixture(scope="session")
def spark() -> Any:
    """The one Spark of a process: made by Penstock itself, as a program without a session of its own gets one."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from penstock.spark.session import open_session
    from tests.running import INTERPRETED

    settings = {"spark.driver.extraJavaOptions": "-Xss4m", "spark.sql.shuffle.partitions": "7", **INTERPRETED}
    return open_session("local[2,4]", settings)


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """The address of an S3 service in memory (moto), which ends with the tests."""
    from tests.s3 import NEEDS, s3_service

    for module in NEEDS:
        pytest.importorskip(module, reason=f"{module} is not installed: there is no S3 endpoint")
    with s3_service() as endpoint:
        yield endpoint


@pytest.fixture
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty bucket, which programs reach by the variables of their environment."""
    from tests.s3 import new_bucket

    url, variables = new_bucket(s3_endpoint)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    sys.modules["s3fs"].S3FileSystem.clear_instance_cache()  # they keep what variables have said before
    return url


@pytest.fixture(scope="session")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """HDFS and YARN's ResourceManager, for tests with the mark ``hdfs`` or ``yarn``."""
    from tests.yarn.hadoop import running

    try:
        with running(tmp_path_factory.mktemp("hadoop")) as cluster:
            yield cluster
    except LookupError as error:
        pytest.skip(str(error))


@pytest.fixture
def hdfs(hadoop: Any) -> str:
    """The URL of a folder on HDFS that is empty."""
    pytest.importorskip("hdfs_native", reason="hdfs-native is not installed")
    return f"{hadoop.hdfs}/tests/{uuid.uuid4().hex}"
