"""What a program ships reaches the workers of Spark, where nothing of it is on the path."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from penstock.datastream import MapFunction, StreamExecutionEnvironment
from penstock.errors import ConfigurationError


class Told(MapFunction):
    def open(self, runtime_context):
        self.path = runtime_context.get_distributed_cache().get_file("model")

    def map(self, value):
        import shipped_to_spark  # type: ignore[import-not-found]

        return value + shipped_to_spark.NUMBER, Path("data/words.txt").read_text(), Path(self.path).read_text()


@pytest.mark.parametrize("number", [10, 20])
def test_files_archives_and_modules_arrive(number, executor, tmp_path):
    """Twice, with another module of the same name the second time: workers are used again."""
    (tmp_path / "shipped_to_spark.py").write_text(f"NUMBER = {number}\n")
    (tmp_path / "model.txt").write_text("weights")
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("words.txt", "to be")
    env = StreamExecutionEnvironment.get_execution_environment(executor=executor)
    env.add_python_file(str(tmp_path / "shipped_to_spark.py"))
    env.add_python_archive(str(tmp_path / "data.zip"), "data")
    env.register_cached_file(str(tmp_path / "model.txt"), "model")
    stream = env.from_collection([1, 2, 3, 4]).rebalance().map(Told()).set_parallelism(3)
    with stream.execute_and_collect() as records:
        assert sorted(records) == [(number + n, "to be", "weights") for n in (1, 2, 3, 4)]


def test_a_python_that_the_workers_do_not_have_is_refused(executor):
    env = StreamExecutionEnvironment.get_execution_environment(executor=executor)
    env.set_python_executable("/no/such/python")
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match=r"'/no/such/python' \(set_python_executable.*but Spark runs already"):
        env.execute()
    env.set_python_executable(sys.executable)
    env.from_collection([1]).add_sink(bool)
    env.execute()
    assert "shipped_to_spark" not in sys.modules
