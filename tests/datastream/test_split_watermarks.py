"""Splits that are there all the time have watermarks of their own; those of a subtask are the least of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Configuration, Types, WatermarkGenerator, WatermarkStrategy
from penstock.datastream import ProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from penstock.datastream.connectors import Records, Source, Split
from penstock.errors import JobExecutionError
from tests.effort import examples

NOTHING = -(1 << 63)


class Partitions(Source):
    """Records with the timestamps of partitions."""

    together = True
    produced_type = Types.STRING()

    def __init__(self, *partitions):
        self.partitions = partitions

    def splits(self, parallelism):
        return [Split(str(number), weight=1) for number in range(len(self.partitions))]

    def read(self, split):
        timestamps = self.partitions[int(split.id)]
        for start in range(0, len(timestamps), 2):
            some = timestamps[start : start + 2]
            yield Records([f"{split.id}@{time}" for time in some], start + 2, some)


class Seen(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


class Punctuated(WatermarkGenerator):
    """A watermark behind each record; a negative timestamp makes the split idle."""

    def on_event(self, event, event_timestamp, output):
        if event_timestamp < 0:
            output.mark_idle()
        else:
            output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output):
        return None


PUNCTUATED = WatermarkStrategy.for_generator(Punctuated)


def seen(source, strategy=PUNCTUATED, parallelism=1, chaining=True, mode=RuntimeExecutionMode.STREAMING, folder=None):
    env = StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(parallelism)
    if folder is not None:
        env.configure(Configuration.from_dict({"execution.checkpointing.dir": str(folder)}))
    env.set_runtime_mode(mode)
    if not chaining:
        env.disable_operator_chaining()
    with env.from_source(source, strategy, "in").process(Seen()).execute_and_collect() as records:
        return list(records)


@pytest.mark.parametrize("chaining", [True, False])
def test_a_split_that_has_not_begun_holds_all_back(chaining):
    assert seen(Partitions([5, 9], [3], [4, 6, 8]), chaining=chaining) == [
        ("0@5", 5, NOTHING), ("0@9", 9, NOTHING), ("1@3", 3, NOTHING),
        ("2@4", 4, NOTHING), ("2@6", 6, 4), ("2@8", 8, 6),
    ]  # fmt: skip


def test_so_it_does_in_steps(tmp_path):
    """The first split has no other way than those that are added behind it."""
    results = seen(Partitions([5, 9, 11], [3, 4]), folder=tmp_path / "job")
    assert results == [
        ("0@5", 5, NOTHING), ("0@9", 9, NOTHING), ("0@11", 11, NOTHING), ("1@3", 3, NOTHING), ("1@4", 4, 3),
    ]  # fmt: skip


def test_with_a_split_in_each_subtask_nothing_waits():
    results = seen(Partitions([5, 9], [3, 4]), parallelism=2)
    assert results == [("0@5", 5, NOTHING), ("0@9", 9, 5), ("1@3", 3, NOTHING), ("1@4", 4, 3)]


def test_splits_without_records_end_too():
    assert seen(Partitions([], [1, 2], [])) == [("1@1", 1, NOTHING), ("1@2", 2, NOTHING)]
    assert seen(Partitions([], [], [1, 2])) == [("2@1", 1, NOTHING), ("2@2", 2, 1)]
    assert seen(Partitions()) == seen(Partitions([], [])) == []


def test_an_idle_split_holds_nobody_back():
    assert seen(Partitions([5, -1], [7, 8])) == [
        ("0@5", 5, NOTHING), ("0@-1", -1, NOTHING), ("1@7", 7, NOTHING), ("1@8", 8, 7),
    ]  # fmt: skip


def test_in_batch_mode_there_are_timestamps_only():
    results = seen(Partitions([5], [3]), mode=RuntimeExecutionMode.BATCH)
    assert [record[:2] for record in results] == [("0@5", 5), ("1@3", 3)]


def test_a_failing_generator_names_the_source():
    strategy = WatermarkStrategy.for_generator(lambda: Punctuated()).with_timestamp_assigner(lambda value, _: None)
    with pytest.raises(
        JobExecutionError,
        match=r"watermark generator of the strategy \(line \d+ of test_split_watermarks.py\) in operator 'Source: in'",
    ):
        seen(Partitions([1], [2]), strategy)


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=4), st.integers(1, 3))
@settings(max_examples=examples(20))
def test_no_record_of_a_split_in_order_is_late(partitions, parallelism):
    results = seen(Partitions(*map(sorted, partitions)), parallelism=parallelism)
    assert sorted(record[0] for record in results) == sorted(
        f"{n}@{t}" for n, times in enumerate(partitions) for t in times
    )
    assert all(timestamp >= watermark for _, timestamp, watermark in results)
