"""What programs find where PyFlink has objects of Java: settings, the graph, collections, exceptions."""

from __future__ import annotations

import pickle
import sys
import unittest
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from penstock.errors import InvalidProgramError, JobExecutionError, MissingMethodError, UnsupportedError
from penstock.pyflink import find_flink_home
from penstock.pyflink.common import Configuration
from penstock.pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from penstock.pyflink.java.errors import as_java
from penstock.pyflink.java_gateway import get_gateway
from penstock.pyflink.pyflink_gateway_server import get_log_dir, on_windows
from penstock.pyflink.testing.test_case_utils import (
    PyFlinkBatchTestCase,
    PyFlinkStreamingTestCase,
)
from penstock.pyflink.util.exceptions import (
    capture_java_exception,
    convert_py4j_exception,
    install_exception_handler,
    install_py4j_hooks,
)
from penstock.pyflink.util.java_utils import get_j_env_configuration, is_local_deployment, to_jarray

JVM = get_gateway().jvm
FLINK = JVM.org.apache.flink


def program(**settings: str) -> Any:
    """An environment on the local executor."""
    return StreamExecutionEnvironment.get_execution_environment(Configuration(settings), executor="local")


def settings_of(env: Any) -> Any:
    """Its settings by Java's methods."""
    return get_j_env_configuration(env._j_stream_execution_environment)


def test_settings_by_javas_methods_act_on_the_environment() -> None:
    env = program()
    settings = settings_of(env)
    settings.setString("python.execution-mode", "thread").setInteger("parallelism.default", 3)
    settings.setBoolean(FLINK.configuration.PipelineOptions.OBJECT_REUSE, True)
    assert (env.get_parallelism(), env.settings.object_reuse) == (3, True)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    assert settings.getValue(FLINK.configuration.ExecutionOptions.RUNTIME_MODE) == "BATCH"
    assert settings.getString("python.execution-mode", None) == "thread"
    assert settings.getInteger("parallelism.default", 1) == 3
    assert settings.getBoolean("pipeline.object-reuse", False) is True
    assert (settings.getDouble("no.such", 0.5), settings.getString("no.such")) == (0.5, None)
    assert (settings.contains("no.such"), settings.containsKey("parallelism.default")) == (False, True)
    assert settings.get(FLINK.configuration.ExecutionOptions.RUNTIME_MODE) is RuntimeExecutionMode.BATCH
    assert settings.get(FLINK.configuration.PipelineOptions.NAME) == "Flink Streaming Job"
    assert settings.toMap().get("parallelism.default") == "3"
    assert "python.execution-mode" in settings.keySet()
    assert env._j_stream_execution_environment.getConfiguration().getInteger("parallelism.default") == 3


def test_jars_are_told_as_pyflink_tells_them() -> None:
    env = program()
    settings = FLINK.python.util.PythonConfigUtil.getEnvironmentConfig(env._j_stream_execution_environment)
    key = FLINK.configuration.PipelineOptions.JARS.key()
    assert settings.getString(key, None) is None
    env.add_jars("file:///a.jar", "file:///b.jar")
    assert settings.getString(key, None) == "['file:///a.jar', 'file:///b.jar']"


def test_settings_of_nobody() -> None:
    settings = FLINK.configuration.Configuration()
    settings.setString("execution.target", "local")
    assert Configuration(j_configuration=settings).get_string("execution.target", "") == "local"
    assert is_local_deployment(settings)
    assert str(Configuration({"k1": "v1", "k2": "1"})) == "{k1=v1, k2=1}"
    assert not is_local_deployment(FLINK.configuration.Configuration())
    other = FLINK.configuration.Configuration()
    other.addAll(settings)
    assert str(other) == other.toString() == "{'execution.target': 'local'}"
    assert settings.getClass().getSimpleName() == "Configuration"
    with pytest.raises(MissingMethodError, match=r"configuration\.Configuration\.getEnum is not there"):
        settings.getEnum()


def test_the_environment_by_javas_methods() -> None:
    env = program()
    java = env._j_stream_execution_environment
    java.setParallelism(5)
    assert java.getParallelism() == env.get_parallelism() == 5
    env.from_collection([1]).map(str).uid("texts").slot_sharing_group("own").print().name("Out")
    graph = java.getStreamGraph(False)
    _, node, out = graph.getStreamNodes()
    assert (node.getOperatorName(), node.getTransformationUID(), node.getParallelism()) == ("Map", "texts", 5)
    assert (node.getSlotSharingGroup(), node.getMaxParallelism(), node.getUserHash()) == ("own", -1, None)
    assert (out.getOperatorName(), out.getOperatorDescription()) == ("Out", "Sink: Out")
    assert (graph.getJobName(), len(env.transformations)) == ("Flink Streaming Job", 2)
    assert '"pact"' in java.getStreamGraph().getStreamingPlanAsJSON()
    assert env.transformations == []
    with pytest.raises(MissingMethodError, match=r"StreamNode\.getInEdges is not there"):
        node.getInEdges()
    with pytest.raises(MissingMethodError, match=r"StreamExecutionEnvironment\.getWeather is not there"):
        java.getWeather()


def test_collections() -> None:
    words = JVM.java.util.ArrayList()
    assert (words.add("a"), words.addAll(["b", "c"]), words.set(0, "z")) == (True, True, "a")
    assert (words.get(0), words.size(), words.isEmpty(), words.contains("b")) == ("z", 3, False, True)
    assert words.toString() == "[z, b, c]"
    map_ = JVM.java.util.HashMap()
    assert (map_.put("a", 1), map_.put("a", 2), map_.containsKey("a"), map_.size()) == (None, 1, True, 1)
    assert (map_.getProperty("b", 0), map_.keySet(), map_.entrySet()) == (0, {"a"}, [("a", 2)])
    assert to_jarray(JVM.int, [1, 2]).toArray() == [1, 2]
    assert get_gateway().new_array(JVM.int, 2, 1) == [[None], [None]]


def failing(env: Any) -> None:
    """Run a function that fails."""

    def fail(value: int) -> int:
        raise ValueError(f"no {value}")

    env.from_collection([7]).map(fail).print()
    env.execute()


def test_failures_are_py4js_too() -> None:
    with pytest.raises(Py4JJavaError, match=r"(?s)no 7.*Traceback.*in fail") as raised:
        failing(program())
    error = raised.value
    assert isinstance(error, JobExecutionError)
    assert isinstance(error.__cause__, ValueError)
    assert (error.operator, type(error).__name__) == ("Map", "JobExecutionError")
    java = error.java_exception
    assert java.getClass().getName() == "org.apache.flink.runtime.client.JobExecutionException"
    assert java.toString().startswith("org.apache.flink.runtime.client.JobExecutionException: Operator 'Map'")
    assert java.getMessage() == str(error)
    assert (java.getCause(), java.getStackTrace()) == (None, [])
    assert convert_py4j_exception(error) is error
    assert as_java(error) is error
    again = pickle.loads(pickle.dumps(error))
    assert (isinstance(again, Py4JJavaError), type(again), again.operator, str(again)) == (
        True,
        type(error),
        "Map",
        str(error),
    )
    assert capture_java_exception(failing).__name__ == "failing"
    with pytest.raises(JobExecutionError):
        capture_java_exception(failing)(program())
    install_exception_handler()
    install_py4j_hooks()


def test_so_they_are_in_the_background() -> None:
    env = program()
    env.from_collection([0]).map(lambda x: 1 // x).print()
    with pytest.raises(Py4JJavaError, match="ZeroDivisionError"):
        env.execute_async().get_job_execution_result().result()
    env.from_collection([1]).print()
    client = env.execute_async("fine")
    assert client.get_job_execution_result().result().get_job_id() == client.get_job_id()


def test_refusals_of_flinks_are_py4js_too_and_ours_are_not() -> None:
    with pytest.raises(Py4JJavaError, match="no operators"):
        program().execute()
    env = program()
    env.from_collection([(1, 2)]).write_as_csv("never")
    with pytest.raises(UnsupportedError, match="planned but not run") as raised:
        env.execute()
    assert not isinstance(raised.value, Py4JJavaError)


def test_the_default_parallelism_of_environments_made_later() -> None:
    env = program()
    before = env.get_default_local_parallelism()
    try:
        env.set_default_local_parallelism(before + 3)
        assert env.get_default_local_parallelism() == program().get_parallelism() == before + 3
        with pytest.raises(InvalidProgramError, match=r"set_default_local_parallelism\(\) was given 0"):
            env.set_default_local_parallelism(0)
    finally:
        env.set_default_local_parallelism(before)


class Streaming(PyFlinkStreamingTestCase):
    """As programs' own tests are written."""

    __test__ = False

    def test_a_program(self) -> None:
        """It has an environment and a folder."""
        records = self.env.from_collection([3, 1]).map(lambda x: x + 1).execute_and_collect()
        self.assert_equals(records, [2, 4])
        assert (self.env.get_parallelism(), self.env.settings.batch) == (2, False)
        assert self.tempdir


class Batch(PyFlinkBatchTestCase):
    """The same in BATCH mode."""

    __test__ = False

    def test_the_mode(self) -> None:
        """It is BATCH."""
        assert self.env.settings.batch
        assert type(self).env.settings.batch
        assert self.to_py_list(to_jarray(JVM.int, [1, 2])) == [1, 2]


@pytest.mark.parametrize("case", [Streaming, Batch])
def test_cases_of_pyflinks_kind(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_EXECUTOR", "local")
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert (result.testsRun, result.failures, result.errors) == (1, [], [])


def test_what_starts_java_is_not_there() -> None:
    assert on_windows() == sys.platform.startswith("win")
    for refused in (find_flink_home._find_flink_home, get_log_dir):
        with pytest.raises(UnsupportedError, match=r"is PyFlink's, and Penstock has nothing for it yet"):
            refused()
