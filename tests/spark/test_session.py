"""What happens before Spark is there. None of these tests starts one."""

from __future__ import annotations

import contextlib
import threading

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import ConfigurationError, JobExecutionError
from penstock.job.deployment import deploy
from penstock.spark import SparkExecutor, inside_pyspark
from penstock.spark.inside_pyspark import without_pandas
from penstock.spark.session import RESULT_SHARE, _check_jars, check_java, job_session
from tests.job.steps.loops import pipeline


def test_a_missing_java_is_explained(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"Java .*17"):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConfigurationError, match="JAVA_HOME"):
        check_java()


@pytest.mark.parametrize(
    ("spark", "java", "refused"),
    [
        ("3.5.6", "1.8.0_412", None),
        ("3.5.6", "17.0.15", None),
        ("3.5.6", "21.0.4", r"Spark 3\.5 needs Java 8, 11 or 17, and the one in '.*' is Java 21"),
        ("4.0.1", "11.0.2", r"Spark 4\.0 needs Java 17 or 21, and the one in '.*' is Java 11"),
        ("4.1.4", "25", r"Spark 4\.1 needs Java 17 or 21, and the one in '.*' is Java 25"),
        ("4.3.0", "25", None),
    ],
)
def test_a_java_of_another_version_is_refused(monkeypatch, tmp_path, spark, java, refused):
    import pyspark

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch(mode=0o755)
    (tmp_path / "release").write_text(f'IMPLEMENTOR="nobody"\nJAVA_VERSION="{java}"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(pyspark, "__version__", spark)
    with contextlib.nullcontext() if refused is None else pytest.raises(ConfigurationError, match=refused):
        check_java()


def test_a_jar_that_is_not_there_is_refused(tmp_path):
    here = tmp_path / "here.jar"
    here.touch()
    _check_jars("")
    _check_jars(f"{here},file://{here},file:{here},s3://elsewhere/a.jar")
    with pytest.raises(ConfigurationError, match=r"'file:///no/such\.jar' is not there.*add_jars"):
        _check_jars(f"{here},file:///no/such.jar")


def test_a_session_that_was_stopped_is_explained():
    class Stopped:
        def newSession(self):
            raise RuntimeError("Cannot call methods on a stopped SparkContext")

    with pytest.raises(ConfigurationError, match="has probably been stopped"):
        job_session(Stopped())


def test_jobs_of_several_threads_leave_pyspark_as_it_was():
    from pyspark.sql.pandas import functions

    check = functions.require_minimum_pandas_version
    inside, go = threading.Barrier(2, timeout=0.3), threading.Event()

    def build():
        with without_pandas():
            assert functions.require_minimum_pandas_version is not check
            with contextlib.suppress(threading.BrokenBarrierError):  # nobody else may be inside
                inside.wait()
                go.set()

    threads = [threading.Thread(target=build) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert functions.require_minimum_pandas_version is check
    assert not go.is_set()


@pytest.mark.spark
def test_settings_of_a_job_in_a_given_session_work_or_are_refused(spark):
    """Nothing is accepted and then ignored; the session itself keeps its settings."""
    before = spark.conf.get("spark.sql.session.timeZone")
    deployment = deploy(pipeline())
    _, job = SparkExecutor(spark, config={"spark.sql.session.timeZone": "Asia/Tokyo"})._sessions_of(deployment)
    assert job.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert spark.conf.get("spark.sql.session.timeZone") == before
    with pytest.raises(ConfigurationError, match=r"spark\.executor\.memory='7g' cannot change"):
        SparkExecutor(spark, config={"spark.executor.memory": "7g"})._sessions_of(deployment)
    with pytest.raises(ConfigurationError, match="Drop one"):
        SparkExecutor(spark, master="local[3]")


def test_results_are_limited_to_a_share_of_the_driver(spark):
    conf = spark.sparkContext._jsc.sc().conf()
    before = conf.get("spark.driver.maxResultSize", "")
    try:
        conf.remove("spark.driver.maxResultSize")
        inside_pyspark.limit_results(spark, RESULT_SHARE)
        limit = conf.get("spark.driver.maxResultSize")
        assert int(limit.removesuffix("b")) == spark._jvm.java.lang.Runtime.getRuntime().maxMemory() // 5
        conf.set("spark.driver.maxResultSize", "7m")
        inside_pyspark.limit_results(spark, RESULT_SHARE)
        assert conf.get("spark.driver.maxResultSize") == "7m"
        text = StreamExecutionEnvironment.get_execution_environment(spark=spark).from_collection(["x" * 1000] * 9000)
        with pytest.raises(JobExecutionError, match=r"spark\.driver\.memory"):
            text.map(lambda line: line + line).execute_and_collect()
    finally:
        conf.remove("spark.driver.maxResultSize")
        if before:
            conf.set("spark.driver.maxResultSize", before)
