"""BATCH mode on Spark: rows are sorted by Spark, and results are those of plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from penstock.common import Configuration, RuntimeExecutionMode, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import JobExecutionError
from tests.datastream.batch_programs import PROGRAMS
from tests.datastream.batch_records import RECORD, keyed


def environment(executor: Any, **settings: str) -> StreamExecutionEnvironment:
    configuration = Configuration.from_dict({"execution.runtime-mode": "BATCH", **settings})
    return StreamExecutionEnvironment.get_execution_environment(configuration, executor=executor)


TOGETHER = ["process", "diamond", "co-process", "broadcast", "broadcast without key", "sessions", "interval join"]


@pytest.mark.parametrize(("p", "buffer"), [(3, "7"), (2, "2000")])
def test_programs_give_what_plain_python_gives(executor, p, buffer):
    """All in one job, so that sorted, unsorted and passing rows meet in one level."""
    env = environment(executor, **{"penstock.exchange.buffer-records": buffer})
    first, *others = (PROGRAMS[name].build(env, p).map(lambda v, name=name: repr((name, v))) for name in TOGETHER)
    with first.union(*others).execute_and_collect("batch") as results:
        counts = Counter(results)
    expected = Counter(repr((name, row)) for name in TOGETHER for row in PROGRAMS[name].expected())
    assert counts == expected


def test_a_checkpoint_directory_says_that_the_job_has_ended(executor, tmp_path):
    for expected in (Counter(PROGRAMS["process"].expected()), Counter()):
        env = environment(executor, **{"execution.checkpointing.dir": str(tmp_path / "job")})
        with PROGRAMS["process"].build(env, 2).execute_and_collect("batch") as results:
            assert Counter(results) == expected


def test_combining_on_and_off_give_the_same(executor):
    counts = {}
    for combine in ("auto", "off"):
        env = environment(executor, **{"penstock.exchange.combine": combine})
        with keyed(env, 3).sum(1).set_parallelism(2).execute_and_collect() as results:
            counts[combine] = Counter(results)
    assert counts["auto"] == counts["off"] == Counter(PROGRAMS["sum"].expected())


def test_a_key_with_many_buffers_comes_in_order(executor):
    """Times that two senders share, in buffers that interleave."""
    env = environment(executor, **{"penstock.exchange.buffer-records": "50"})
    records = [("k", i, (i * 7919) % 5003) for i in range(5003)]
    times = keyed_times(env, records)
    with times.execute_and_collect() as results:
        assert list(results) == sorted(range(5003))


def keyed_times(env: StreamExecutionEnvironment, records: list[Any]) -> Any:
    from tests.datastream.batch_records import stamped

    stream = stamped(env, 2, records).key_by(lambda v: v[0], key_type=Types.STRING())
    return stream.map(lambda v: v, RECORD).map(lambda v: v[2], Types.LONG())


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_failing_key_selector_is_named(executor: Any, mode: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor=executor)
    env.set_runtime_mode(RuntimeExecutionMode[mode])
    env.from_collection([("a", 1)]).map(lambda pair: pair).name("Clean").key_by(lambda pair: pair["word"]).sum(
        1
    ).print()
    with pytest.raises(JobExecutionError, match=r"^The key selector of key_by\(\) \(line \d+ of .*behind") as caught:
        env.execute()
    assert caught.value.operator == "Clean"
    assert str(caught.value.function).startswith("key selector of key_by()")
    assert isinstance(caught.value.__cause__, TypeError)
