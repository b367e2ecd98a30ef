"""The plugin for PyFlink's own tests: what they ask for and programs do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import JobExecutionError
from penstock.pyflink.common import Configuration, Duration, Types, WatermarkStrategy
from penstock.pyflink.datastream import DataStream, SlotSharingGroup
from penstock.pyflink.datastream.slot_sharing_group import MemorySize
from tests.pyflink.own_tests.plugin import Gateway, StreamExecutionEnvironment

ROOT = Path(__file__).parents[2]
JVM = Gateway().jvm
FLINK = JVM.org.apache.flink
TESTS = """
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.state_backend import CustomStateBackend, HashMapStateBackend, _from_j_state_backend
from pyflink.java_gateway import get_gateway
from pyflink.testing.test_case_utils import (
    PyFlinkBatchTestCase,
    PyFlinkUTTestCase,
    PythonAPICompletenessTestCase,
    exec_insert_table,
    invoke_java_object_method,
    to_java_data_structure,
)
from pyflink.util.java_utils import get_j_env_configuration, load_java_class
import pyflink.common.typeinfo


class TestPlans(PyFlinkUTTestCase):
    def test_edges(self):
        self.env.from_collection([1], type_info=Types.INT()).map(str).print()
        java = self.env._j_stream_execution_environment
        assert java.generateStreamGraph().getStreamNodes().get(1).getInEdges().size() == 1
        assert type(self.env) is StreamExecutionEnvironment
        settings = get_j_env_configuration(java)
        assert invoke_java_object_method(settings, "getClass").getSimpleName() == "Configuration"
        assert pyflink.common.typeinfo.Types is Types

    def test_state_backends(self):
        factory = load_java_class("com.example.Factory").newInstance()
        loader = get_gateway().jvm.Thread.currentThread().getContextClassLoader()
        assert isinstance(_from_j_state_backend(factory.createFromConfig({}, loader)), CustomStateBackend)
        backend = HashMapStateBackend()
        assert _from_j_state_backend(backend) is backend
        assert _from_j_state_backend(None) is None


class TestRecords(PyFlinkBatchTestCase):
    def test_mode(self):
        assert self.env.settings.batch
        assert to_java_data_structure(1) == 1
        assert self.to_py_list(get_gateway().jvm.java.util.Arrays.asList(1, 2)) == [1, 2]
        with self.assertRaisesRegex(Exception, "no Table API|nothing for it"):
            exec_insert_table("a", "b")


class TestNames(PythonAPICompletenessTestCase):
    pass
"""


def program() -> Any:
    """An environment on the local executor, as the tests have it."""
    return StreamExecutionEnvironment.get_execution_environment(Configuration(), executor="local")


def graph_of(env: Any) -> Any:
    """The graph by Java's methods."""
    return env._j_stream_execution_environment.getStreamGraph(True)


def test_the_graph_by_javas_methods() -> None:
    env = program()
    group = SlotSharingGroup.builder("big").set_cpu_cores(2.0).set_task_heap_memory_mb(100).build()
    env.register_slot_sharing_group(group)
    stream = env.from_collection([1]).name("numbers").slot_sharing_group(group)
    stream.map(lambda x: x, Types.INT()).name("same").uid("a").map(lambda x: x).disable_chaining().print()
    graph = graph_of(env)
    nodes = list(graph.getStreamNodes().toArray())
    assert [node.getOperatorName() for node in nodes] == ["numbers", "same", "Map", "Print to Std. Out"]
    assert (nodes[1].getTransformationUID(), nodes[1].getParallelism()) == ("a", env.get_parallelism())
    assert nodes[0].getSlotSharingGroup() == "big"
    chainable = FLINK.streaming.api.graph.StreamingJobGraphGenerator.isChainable
    assert not chainable(nodes[1].getOutEdges().get(0), graph)
    assert nodes[2].getInEdges().get(0).getSourceId() == nodes[1].getId()
    needs = graph.getSlotSharingGroupResource("big").get()
    assert needs.getCpuCores().getValue() == 2.0
    assert MemorySize(j_memory_size=needs.getTaskHeapMemory()) == MemorySize.of_mebi_bytes(100)
    assert not graph.getSlotSharingGroupResource("other").isPresent()
    assert env.transformations == []


def test_strategies_by_javas_names() -> None:
    java = FLINK.api.common.eventtime.WatermarkStrategy
    assert WatermarkStrategy(java.forMonotonousTimestamps()) == WatermarkStrategy.for_monotonous_timestamps()
    supplier = FLINK.streaming.api.functions.python.eventtime.PerElementWatermarkGenerator.getSupplier()
    assert WatermarkStrategy(java.forGenerator(supplier)).supplier is supplier


def test_a_stream_of_another() -> None:
    env = program().set_parallelism(2)
    pairs = env.from_collection([("a", 0), ("b", 1)], type_info=Types.ROW([Types.STRING(), Types.INT()]))
    dealt = DataStream(pairs.partition_custom(lambda key, n: key % n, lambda pair: pair[1])._j_data_stream)
    checked = DataStream(dealt._j_data_stream.map(FLINK.python.util.PartitionCustomTestMapFunction()))
    assert sorted(record[0] for record in checked.execute_and_collect()) == ["a", "b"]
    wrong = pairs.broadcast().map(FLINK.python.util.PartitionCustomTestMapFunction())
    with pytest.raises(JobExecutionError, match="wrong partition"):
        wrong.execute_and_collect()


def test_files_and_lists() -> None:
    env = program()
    env.register_cached_file("/tmp/words", "words")
    files = env._j_stream_execution_environment.getCachedFiles()
    assert (files.size(), files[0].getField(0)) == (1, "words")
    assert JVM.java.util.Arrays.asList("a", "b").size() == 2
    assert JVM.java.time.Duration.ofMillis(5) == Duration.of_millis(5)


@pytest.mark.slow
def test_files_of_tests_run_with_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_as_pyflinks.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.pyflink.own_tests.plugin", "-c", os.devnull]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PENSTOCK_EXECUTOR": "local"}
    run = subprocess.run(
        [*command, "--rootdir", tmp_path, tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert "3 passed" in run.stdout
