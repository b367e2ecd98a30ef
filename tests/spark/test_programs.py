"""The same programs on Spark and in this process give the same; what only Spark can do wrong."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter

import pytest

from penstock.common import Types
from penstock.connectors.files.watched_folders import FileMonitor, TextPieces
from penstock.errors import ConfigurationError, JobExecutionError
from penstock.local import LocalExecutor
from penstock.runtime.io.sinks import TextSink
from penstock.runtime.io.sources import SequenceSource
from penstock.runtime.io.splits import SplitSource
from penstock.runtime.operators.elementwise import StreamFilter, StreamMap
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import FileReader, StreamSource
from penstock.spark.inside_pyspark import settings_of
from penstock.spark.session import job_session, open_session
from tests.job.programs import Program
from tests.job.shapes import every_shape, word_count
from tests.job.test_levels import check_shapes


def names_of(reports):
    return [(r.task, r.counters) for r in reports]


@pytest.mark.parametrize("p", [1, 3])
def test_word_count_is_that_of_the_local_runner(executor, p, capsys):
    local = LocalExecutor()
    expected = local.execute(word_count(p).pipeline()).collected
    printed = capsys.readouterr().out
    result = executor.execute(word_count(p).pipeline())
    assert result.collected == expected
    assert capsys.readouterr().out == printed
    assert len(printed.splitlines()) > 400
    assert names_of(executor.reports) == names_of(local.reports)


def test_every_shape_is_that_of_the_local_runner(executor):
    local = LocalExecutor()
    expected = local.execute(every_shape().pipeline()).collected
    result = executor.execute(every_shape().pipeline())
    assert result.collected == expected
    assert names_of(executor.reports) == names_of(local.reports)
    assert all(expected.values())
    assert Counter(expected["self"]) == {str(i): 2 for i in range(3000)}
    assert len(expected["joined"]) == 5000


def test_every_subtask_runs_exactly_once(executor, tmp_path):
    check_shapes(executor, tmp_path / "marks")


def test_each_subtask_runs_once_also_without_input(executor, tmp_path):
    class Mark:
        def __init__(self, name):
            self.name = name

        def open(self, runtime_context):
            i, p = runtime_context.get_index_of_this_subtask(), runtime_context.get_number_of_parallel_subtasks()
            with open(f"{tmp_path}/{self.name}-{i}-{p}", "a") as file:
                file.write("x")

        def filter(self, value):
            return False

    program = Program()
    source = program.source([])
    a = program.add(StreamFilter(Mark("a")), source, p=5)
    b = program.add(StreamFilter(Mark("b")), a, p=3)
    program.collect(b, p=1)
    executor.execute(program.pipeline())
    expected = {f"a-{i}-5" for i in range(5)} | {f"b-{i}-3" for i in range(3)}
    assert {p.name for p in tmp_path.iterdir()} == expected
    assert {p.read_text() for p in tmp_path.iterdir()} == {"x"}


def test_a_user_exception_arrives_whole(executor, tmp_path):
    class Odd(Exception):
        def __init__(self, value, why):  # cannot be unpickled without help
            super().__init__(f"{value} is {why}")

    def fail(x):
        if x == 7:
            raise KeyError("seven")
        return x

    def strange(x):
        raise Odd(x, "strange")

    program = Program()
    source = program.source(range(10))
    program.add(StreamSink(TextSink(str(tmp_path / "out"))), source)
    bad = program.add(StreamMap(fail), source, p=2, partitioner="GLOBAL", name="bad", uid="u")
    program.collect(bad)
    with pytest.raises(JobExecutionError, match="raise KeyError") as caught:
        executor.execute(program.pipeline())
    error = caught.value
    assert isinstance(error.__cause__, KeyError)
    assert (error.operator, error.uid, error.subtask, error.task) == ("bad", "u", 0, "bad (1/2)")
    assert (error.operator_id or "") in str(error)
    assert not list(tmp_path.iterdir())

    program = Program()
    program.collect(program.add(StreamMap(strange), program.source([1]), name="odd"))
    with pytest.raises(JobExecutionError, match="1 is strange") as caught:
        executor.execute(program.pipeline())
    assert caught.value.operator == "odd"


def test_a_killed_worker_is_retried_and_results_are_exact(executor, tmp_path):
    marker = str(tmp_path / "killed")
    target = tmp_path / "out"

    def die_once(x):
        if x == 500:
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return x
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    class Attempt:
        def open(self, runtime_context):
            self.attempt = runtime_context.get_attempt_number()

        def map(self, x):
            return (x, self.attempt)

    program = Program()
    source = program.source(range(1000))
    spread = program.add(StreamMap(die_once), source, p=2)
    attempts = program.add(StreamMap(Attempt()), spread, p=2)
    program.add(StreamSink(TextSink(str(target))), attempts, p=2)
    program.add(StreamSink(TextSink(str(tmp_path / "single"))), attempts)
    program.collect(attempts)
    collected = executor.execute(program.pipeline()).collected["out"]
    assert os.path.exists(marker)
    assert sorted(x for x, _ in collected) == list(range(1000))
    assert {a for _, a in collected} == {0, 1}
    written = [line for path in sorted(target.iterdir()) for line in path.read_text().splitlines()]
    assert sorted(written) == sorted(map(str, collected))
    assert sorted((tmp_path / "single").read_text().splitlines()) == sorted(written)
    for counters in (c for report in executor.reports for c in report.counters if "Sink" in c.name):
        assert counters.records_in in (500, 1000)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["killed", "out", "single"]


def test_reading_and_writing_files(executor, tmp_path):
    lines = [f"line {i}" for i in range(20_000)]
    (tmp_path / "in").write_text("\n".join(lines))
    program = Program()
    monitor = program.add(StreamSource(SplitSource(FileMonitor(str(tmp_path / "in"), TextPieces("UTF-8")))))
    reader = program.add(FileReader("UTF-8"), monitor, type=Types.STRING())
    program.add(StreamSink(TextSink(str(tmp_path / "one"))), reader, type=Types.STRING())
    shouted = program.add(StreamMap(str.upper), reader, p=3, type=Types.STRING())
    program.add(StreamSink(TextSink(str(tmp_path / "many"))), shouted, p=3, type=Types.STRING())
    executor.execute(program.pipeline())
    assert (tmp_path / "one").read_text().splitlines() == lines
    many = [line for i in "123" for line in (tmp_path / "many" / i).read_text().splitlines()]
    assert sorted(many) == sorted(x.upper() for x in lines)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "many", "one"]


def test_a_given_session_is_not_changed(spark, executor):
    from pyspark.sql import SparkSession

    before, active = settings_of(spark), SparkSession.getActiveSession()
    program = Program()
    program.collect(program.source([1]))
    executor.execute(program.pipeline())
    assert settings_of(spark) == before
    assert SparkSession.getActiveSession() is active
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    assert before


def test_a_running_spark_with_another_master_is_an_error(spark):
    with pytest.raises(ConfigurationError, match=r"local\[7\]"):
        open_session("local[7]", {})
    with pytest.raises(ConfigurationError, match=r"spark\.executor\.memory"):
        open_session(None, {"spark.executor.memory": "3g"})
    assert open_session(None, {}) is not None
    settings = {"spark.sql.shuffle.partitions": "3"}
    child = job_session(open_session(None, settings), settings)
    assert child.conf.get("spark.sql.shuffle.partitions") == "3"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "7"


def test_settings_of_a_later_job_reach_it(spark):
    zone = job_session(
        open_session(None, {"spark.sql.session.timeZone": "Asia/Tokyo"}), {"spark.sql.session.timeZone": "Asia/Tokyo"}
    )
    assert zone.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert spark.conf.get("spark.sql.session.timeZone") != "Asia/Tokyo"
    jobs = job_session(spark, {"spark.sql.adaptive.enabled": "true", "spark.executor.memory": "1g"})
    assert jobs.conf.get("spark.sql.adaptive.enabled") == "false"
    assert jobs.conf.get("spark.sql.execution.arrow.useLargeVarTypes") == "false"


def test_a_function_that_calls_exit_fails_the_job(executor):
    program = Program()
    program.collect(program.add(StreamMap(lambda x: sys.exit(0)), program.source([1])))
    with pytest.raises(JobExecutionError, match=r"called sys\.exit"):
        executor.execute(program.pipeline())


def test_capturing_a_session_is_explained(spark, executor):
    program = Program()
    program.collect(program.add(StreamMap(lambda x: spark.range(x).count()), program.source([1]), name="nested"))
    with pytest.raises(Exception, match=r"'nested'.*captures spark \(SparkSession\).*exist on the driver only"):
        executor.execute(program.pipeline())


def test_more_rows_than_fit_one_batch(executor):
    program = Program()
    source = program.add(StreamSource(SequenceSource(0, 199_999)), p=2)
    big = program.add(StreamMap(lambda x: (x, "x" * (x % 100))), source, p=3, partitioner="REBALANCE")
    back = program.add(StreamMap(lambda pair: pair[0]), big, p=2, partitioner="SHUFFLE")
    program.collect(back)
    assert sorted(executor.execute(program.pipeline()).collected["out"]) == list(range(200_000))


def test_a_deep_chain(executor):
    program = Program()
    node = program.source(range(3))
    for _ in range(1000):
        node = program.add(StreamMap(lambda x: x + 1), node)
    program.collect(node)
    assert executor.execute(program.pipeline()).collected["out"] == [1000, 1001, 1002]
