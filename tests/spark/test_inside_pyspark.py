"""What is taken from inside pyspark is there in the installed one, and taken in one place. Nothing starts here."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path
from zipfile import ZipFile

import pyspark
import pytest

import penstock
from penstock.errors import UnsupportedError
from penstock.spark import inside_pyspark, session

JARS = Path(pyspark.__file__).parent / "jars"
PRIVATE = re.compile(r"\._(jvm|jsc|gateway|active_spark_context)\b|pyspark\.(daemon|worker)\b|pyspark\.sql\.pandas")


def classes(jar: str) -> ZipFile:
    (path,) = JARS.glob(f"spark-{jar}_*.jar")
    return ZipFile(path)


def test_the_replaced_check_is_where_map_in_arrow_looks_it_up():
    from pyspark.sql.pandas import functions

    assert callable(functions.require_minimum_pandas_version)
    assert "require_minimum_pandas_version()" in inspect.getsource(functions.pandas_udf)


def test_the_private_parts_of_the_context():
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    assert {"_active_spark_context", "_gateway"} <= SparkContext.__dict__.keys()
    assert "self._jsc = " in inspect.getsource(SparkContext._do_init)
    assert "_jvm" in inspect.getsource(SparkSession)
    assert inside_pyspark.runs_here() is (SparkContext._active_spark_context is not None)


def test_the_gateway_has_the_process_and_its_input():
    from pyspark import java_gateway

    source = inspect.getsource(java_gateway.launch_gateway)
    assert "gateway.proc = proc" in source
    assert "stdin=PIPE" in source or 'popen_kwargs["stdin"] = PIPE' in source


def test_the_daemon_and_the_worker():
    importlib.import_module(inside_pyspark.WORKER)
    assert "manager" in inspect.getsource(importlib.import_module("pyspark.daemon")).split("__main__")[1]


def test_the_setting_that_is_documented_nowhere():
    text = classes("core").read("org/apache/spark/internal/config/Python$.class")
    assert inside_pyspark.DAEMON_SETTING.encode() in text


def test_a_worker_over_tcp_waits_for_the_secret():
    from pyspark import daemon

    source = inspect.getsource(daemon)
    assert "authenticated = False" in source or 'os.environ.get("PYTHON_UNIX_DOMAIN_ENABLED"' in source
    assert all(part in source for part in ('os.environ["PYTHON_WORKER_FACTORY_SECRET"]', '"ok"', '"err"'))


def test_every_setting_of_a_session_is_one_of_spark():
    """Spark takes any name, and forgets those it does not know."""
    known = [(jar, name) for jar in ("core", "catalyst", "sql-api") for name in classes(jar).namelist()]
    places = [
        (jar, name)
        for jar, name in known
        if re.search(r"/config/[^/]*\.class$|/(SQLConf|StaticSQLConf)\$?\.class$", name)
    ]
    text = b"".join(classes(jar).read(name) for jar, name in places)
    names = {*session.STATIC, *session.LOCAL, *session.PER_JOB, *session.WITH_FRAMES} - {"spark.app.name"}
    assert len(names) > 8
    newer = {name for name, since in SINCE.items() if inside_pyspark.version() < since}
    assert {name for name in names if name.encode() not in text} == newer


SINCE = {
    inside_pyspark.BYTES_SETTING: (4, 0),
    inside_pyspark.SOCKET_SETTING: (4, 1),
    inside_pyspark.UNION_SETTING: (4, 1),
}
"""The settings that are not in all versions."""


def test_what_is_newer_than_the_oldest_spark():
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.conf import RuntimeConfig

    version = inside_pyspark.version()
    assert hasattr(DataFrame, "toArrow") is hasattr(RuntimeConfig, "getAll") is (version >= (4, 0))
    assert hasattr(DataFrame, "repartitionById") is (version >= (4, 1))
    assert inside_pyspark.limits_bytes() is (version >= SINCE[inside_pyspark.BYTES_SETTING])
    assert hasattr(DataFrame, "_collect_as_arrow") or version >= (4, 0)
    assert hasattr(SparkSession, "createDataFrame")


def test_types_that_this_pyspark_does_not_have_are_refused():
    field = {"name": "at", "nullable": True, "metadata": {}}
    assert inside_pyspark.struct_of({"type": "struct", "fields": [{**field, "type": "long"}]})
    with pytest.raises(UnsupportedError, match=r"does not have all the types of the columns at moment: "):
        inside_pyspark.struct_of({"type": "struct", "fields": [{**field, "type": "moment"}]})


def test_the_class_that_is_named():
    assert inside_pyspark.checkpoint_manager().replace(".", "/") + ".class" in classes("sql").namelist()


def test_the_status_of_tasks_and_its_json():
    assert b"getJobIdsForTag" in classes("core").read("org/apache/spark/SparkStatusTracker.class")
    store = classes("core").read("org/apache/spark/status/AppStatusStore.class")
    assert {name for name in (b"lastStageAttempt", b"taskList", b"job") if name not in store} == set()
    assert b"mapper" in classes("core").read("org/apache/spark/status/api/v1/JacksonMessageWriter.class")
    task = classes("core").read("org/apache/spark/status/api/v1/TaskData.class")
    fields = ("attempt", "partitionId", "status", "speculative", "duration")
    assert {name for name in fields if name.encode() not in task} == set()


def test_the_signs_of_what_was_lost():
    places = {
        "scheduler/DAGScheduler": "indeterminate output was failed and retried",
        "api/python/BasePythonRunner$ReaderIterator$$anonfun$1": "Python worker exited unexpectedly",
        "ExecutorLostFailure": "ExecutorLostFailure",
        "FetchFailed$": "FetchFailed",
    }
    for place, sign in places.items():
        assert sign.encode() in classes("core").read(f"org/apache/spark/{place}.class")
        text = f"An error\nJob aborted due to stage failure: Task 1: {sign} (and more)\n\tat scala.Option(Option.scala)"
        assert inside_pyspark.lost_tasks(text)
        assert f"they had sent ({sign} (and more))." in inside_pyspark.lost(text)
    assert not inside_pyspark.lost_tasks("Job aborted due to stage failure: Task 1 in stage 3.0 failed 4 times")
    factory = classes("core").read("org/apache/spark/api/python/PythonWorkerFactory.class")
    assert b"createThroughDaemon" in factory
    text = (
        "java.io.EOFException\n\tat org.apache.spark.api.python.PythonWorkerFactory.create(PythonWorkerFactory.scala:1)"
    )
    assert inside_pyspark.lost_tasks(text)
    assert "(Python's daemon, or a worker of it, ended while it started)" in inside_pyspark.lost(text)


def test_the_archives_that_workers_get():
    """pip's pyspark has none of them; Spark's own distributions do. The names are in what puts them on the path."""
    text = classes("core").read("org/apache/spark/api/python/PythonUtils$.class")
    assert b"pyspark.zip" in text
    assert b"py4j-" in text
    assert next(JARS.glob("spark-core_*.jar"))


def test_nobody_else_reaches_inside():
    root = Path(penstock.__file__).parent
    names = set()
    for path in root.rglob("*.py"):
        text = path.read_text()
        if PRIVATE.search(text) and PRIVATE.search(ast.unparse(ast.parse(text))):  # and not in a comment
            names.add(path.name)
    assert names == {"inside_pyspark.py"}


def test_each_says_what_it_was_checked_against():
    tree = ast.parse(inspect.getsource(inside_pyspark))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(functions) > 5
    sentence = f"Checked against {inside_pyspark.CHECKED}."
    assert all(sentence in (ast.get_docstring(function) or "") for function in functions)
