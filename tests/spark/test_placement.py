"""Each row comes to the task that its sender has named, and each task runs, by both ways that Spark has."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest

from penstock.spark import placement
from penstock.spark.inside_pyspark import batches_of, version, without_pandas
from penstock.spark.placement import hash_of, numbers_by_partition
from penstock.spark.session import job_session

ROWS_PER_PARTITION = 3


def test_the_hash_is_that_of_spark(spark):
    numbers = [*range(1_000), 2**31 - 1, *numbers_by_partition(64)]
    hashes = spark.sql(f"SELECT hash(number) AS h FROM VALUES {','.join(f'({n})' for n in numbers)} AS t(number)")
    assert [row.h for row in hashes.collect()] == list(map(hash_of, numbers))


@pytest.mark.parametrize("partitions", [1, 2, 3, 7, 64, 1_000])
def test_each_partition_has_the_smallest_number(partitions):
    numbers = numbers_by_partition(partitions)
    assert [hash_of(number) % partitions for number in numbers] == list(range(partitions))
    first: dict[int, int] = {}
    for number in range(max(numbers) + 1):
        first.setdefault(hash_of(number) % partitions, number)
    assert list(numbers) == [first[partition] for partition in range(partitions)]


def test_ten_thousand_partitions_cost_little():
    began = time.process_time()
    numbers_by_partition.__wrapped__(10_000)
    assert time.process_time() - began < 2  # 0.15 s


@pytest.fixture(params=["by number", "by ID"])
def way(request, monkeypatch):
    by_id = request.param == "by ID"
    if by_id and not placement._by_id():
        pytest.skip("repartitionById is not in this Spark")
    monkeypatch.setattr(placement, "_by_id", lambda: by_id)


def tasks_of(frame, partitions):
    """By partition of the exchange, the values of ``slot`` that came."""

    def run(batches):
        from pyspark import TaskContext

        slots = [slot for batch in batches for slot in batch.column("slot").to_pylist()]
        number = TaskContext.get().partitionId()
        yield pa.RecordBatch.from_pydict({"task": pa.array([number], pa.int32()), "slots": pa.array([slots])})

    with without_pandas():
        placed = placement.placed(frame, partitions, "hop").mapInArrow(run, "task int, slots array<long>")
    rows = [row for batch in batches_of(placed) for row in batch.to_pylist()]
    return [(row["task"], row["slots"]) for row in rows]


def sending(session, slots, partitions):
    """A DataFrame of rows that are to come to slots, sent by two tasks."""
    hops = placement.hops(partitions)

    def run(batches):
        for batch in batches:
            mine = [slot for number in batch.column("id").to_pylist() for slot in slots[number]]
            arrays = [pa.array([hops[slot] for slot in mine], pa.int32()), pa.array(mine, pa.int64())]
            yield pa.RecordBatch.from_arrays(arrays, names=["hop", "slot"])

    with without_pandas():
        return session.range(0, 2, 1, 2).mapInArrow(run, "hop int, slot long")


@pytest.mark.parametrize("adaptive", ["false", "true"])
@pytest.mark.parametrize("partitions", [1, 3, 7, 64])
def test_rows_come_to_their_task(spark, way, partitions, adaptive):
    session = job_session(spark)
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    every = list(range(partitions)) * ROWS_PER_PARTITION
    frame = sending(session, [every, every[::-1]], partitions)
    assert [(task, sorted(slots)) for task, slots in tasks_of(frame, partitions)] == [
        (slot, [slot] * 2 * ROWS_PER_PARTITION) for slot in range(partitions)
    ]


@pytest.mark.parametrize("adaptive", ["false", "true"])
@pytest.mark.parametrize("slots", [[], [5]])
def test_tasks_without_a_row_run(spark, way, slots, adaptive):
    """Also where no row at all is sent, which adaptive execution notices before Spark 4: there jobs switch it off."""
    if not slots and adaptive == "true" and version() < (4,):
        pytest.skip("adaptive execution removes an exchange without a row")
    session = job_session(spark)
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    tasks = tasks_of(sending(session, [slots, []], 7), 7)
    assert tasks == [(slot, slots if slot in slots else []) for slot in range(7)]


def test_a_very_wide_exchange(spark, way):
    """As many as a plan has; few of them get a row."""
    session, partitions = job_session(spark), 100
    slots = [0, 1, 50, 99]
    tasks = tasks_of(sending(session, [slots, slots], partitions), partitions)
    assert [task for task, _ in tasks] == list(range(partitions))
    assert {task: came for task, came in tasks if came} == {slot: [slot, slot] for slot in slots}
