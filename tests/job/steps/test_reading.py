"""What sources are told to read in a step: which subtask reads which splits, how far, and when there is no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.common.settings.settings import Settings
from penstock.datastream.connectors import DataGeneratorSource, HybridSource, NumberSequenceSource, RateLimiterStrategy
from penstock.errors import InvalidProgramError
from penstock.job.steps.source_plans import MOST_SPLITS, OwnPlan, SplitPlan, hold_back
from penstock.metrics import SourceProgress
from penstock.runtime.config.tasks import OperatorConfig, VertexConfig
from penstock.runtime.io.splits import Source, Split


def vertex(parallelism):
    operator = OperatorConfig(1, "0" * 32, "Source: s", None, 128, b"")
    return VertexConfig(0, "Source: s", parallelism, 128, 0, 0, (operator,))


class Topic(Source):
    bounded = False
    together = True

    def __init__(self, *ends):
        self.ends = list(ends)

    def splits(self, parallelism):
        return [Split(f"p{number}", 0, end) for number, end in enumerate(self.ends)]

    def limited(self, split, records):
        return replace(split, end=min(split.end, split.start + records))


class Folder(Source):
    bounded = False

    def __init__(self, count, over=False):
        self.names, self.over = [f"f{number}" for number in range(count)], over

    def splits(self, parallelism):
        return [Split(name, finite=True) for name in self.names]

    def ended(self):
        return self.over


def plan_of(source, parallelism, positions=(), over=(), once=False):
    return SplitPlan(vertex(parallelism), dict(positions), over, source, Settings(available_now=once))


def ranges(plan, records=100):
    return [
        [(split.id, split.start, split.end) for split in reading.splits] for reading in plan.plan(records, 10).readings
    ]


def test_partitions_are_shared_out_evenly_and_stay():
    topic = Topic(50, 50, 50)
    plan = plan_of(topic, 2)
    assert ranges(plan, 20) == [[("p0", 0, 10), ("p2", 0, 10)], [("p1", 0, 20)]]
    plan.read(0, {"p0": 10, "p2": 10}, ())
    plan.read(1, {"p1": 20}, ())
    topic.ends.append(5)
    assert ranges(plan, 20) == [[("p0", 10, 20), ("p2", 10, 20)], [("p1", 20, 30), ("p3", 0, 5)]]
    resumed = plan_of(topic, 2, {name: list(at) for name, at in plan.positions.items()})
    assert ranges(resumed, 20)[0] == [("p0", 10, 20), ("p2", 10, 20)]


def test_with_fewer_subtasks_partitions_are_dealt_out_anew():
    assert ranges(plan_of(Topic(50, 50), 1, {"p0": [0, 10], "p1": [1, 20]})) == [[("p0", 10, 50), ("p1", 20, 50)]]


def test_who_has_no_partition_is_idle_and_who_has_nothing_new_is_not():
    plan = plan_of(Topic(5), 2)
    assert [reading.idle for reading in plan.plan(100, 10).readings] == [False, True]
    plan.read(0, {"p0": 5}, ())
    planned = plan.plan(100, 10)
    assert [reading.idle for reading in planned.readings] == [False, True]
    assert not planned.busy


@pytest.mark.parametrize("pyflink", [True, False])
def test_a_warning_tells_pyflinks_users_of_subtasks_without_partitions(pyflink, caplog):
    plan = SplitPlan(vertex(3), {}, (), Topic(5, 5), Settings(pyflink=pyflink))
    for _ in range(3):
        plan.plan(100, 10)
    SplitPlan(vertex(2), {}, (), Topic(5, 5), Settings(pyflink=True)).plan(100, 10)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == pyflink
    assert all("'Source: s' has 3 subtasks, and partitions for 2 of them" in message for message in messages)


def test_files_go_to_whoever_has_few_and_are_over_once():
    folder = Folder(2 * MOST_SPLITS + 5)
    plan = plan_of(folder, 2)
    first = ranges(plan)
    assert [len(splits) for splits in first] == [MOST_SPLITS, MOST_SPLITS]
    assert [reading.idle for reading in plan.plan(100, 10).readings] == [None, None]
    for subtask, splits in enumerate(first):
        plan.read(subtask, {name: 1 for name, _, _ in splits}, [name for name, _, _ in splits])
    assert sorted(name for splits in ranges(plan) for name, _, _ in splits) == folder.names[-5:]
    assert plan.positions == {}
    assert len(plan.just_over) == 2 * MOST_SPLITS
    plan.committed()
    assert plan.just_over == []


def test_a_subtask_ends_with_the_last_split_and_not_before():
    folder = Folder(MOST_SPLITS + 1, over=True)
    plan = plan_of(folder, 1)
    assert [reading.last for reading in plan.plan(100, 10).readings] == [False]
    names = [name for name, _, _ in ranges(plan)[0]]
    plan.read(0, {}, names)
    planned = plan.plan(100, 10)
    assert [(len(reading.splits), reading.last) for reading in planned.readings] == [(1, True)]


def test_splits_that_are_over_do_not_wait_and_not_every_source_counts_records():
    plan = plan_of(Folder(5), 2)
    dealt = [[split.id for split in reading.splits] for reading in plan.plan(100, 10).readings]
    assert plan.progress() == SourceProgress(5, None)
    plan.read(0, {}, dealt[0])
    assert plan.progress() == SourceProgress(2, None)
    assert OwnPlan(vertex(1), {}, (), pushes=True).progress() is None


def counted(source):
    """What two steps of ten records leave of a source: all that it says of its progress."""
    plan = plan_of(source, 1)
    behind = []
    for _ in range(2):
        (reading,) = plan.plan(10, 10).readings
        for split in reading.splits:
            last = list(source.read(split))[-1].position
            plan.read(0, {split.id: last}, [split.id])
        behind.append(plan.progress().records_behind)
    return behind


def test_numbers_are_counted_as_far_as_they_are_due():
    limited = RateLimiterStrategy.per_second(10_000.0)
    assert counted(NumberSequenceSource(1, 35)) == [25, 15]
    assert counted(DataGeneratorSource(str, None)) == [None, None]
    assert 0 <= counted(NumberSequenceSource(1, 35, limited))[1] <= 25  # the clock says how many are due
    first, last = NumberSequenceSource(1, 2), NumberSequenceSource(1, 35, limited)
    assert counted(HybridSource.builder(first).add_source(last).build())[0] is None
    assert counted(HybridSource.builder(first).add_source(NumberSequenceSource(1, 35)).build()) == [25, 15]


def test_what_is_cut_is_not_over_at_its_end():
    class Cut(Folder):
        def splits(self, parallelism):
            return [Split("f", 0, 100, finite=True)]

        def limited(self, split, records):
            return replace(split, end=min(split.end, split.start + records))

    plan = plan_of(Cut(1, over=True), 1)
    assert [reading.last for reading in plan.plan(10, 10).readings] == [False]
    plan.read(0, {"f": 10}, ["f"])
    assert ranges(plan, 1000) == [[("f", 10, 100)]]
    assert [reading.last for reading in plan.plan(1000, 10).readings] == [True]
    plan.read(0, {"f": 100}, ["f"])
    assert plan.over == {"f"}


def test_once_what_is_there_at_first_is_read_and_no_more():
    topic = Topic(10)
    plan = plan_of(topic, 1, once=True)
    assert ranges(plan) == [[("p0", 0, 10)]]
    topic.ends[0] = 20
    plan.read(0, {"p0": 4}, ())
    assert ranges(plan) == [[("p0", 4, 10)]]
    assert not plan.dry()
    plan.read(0, {"p0": 10}, ())
    assert plan.dry()


def test_a_source_that_fails_on_the_driver_is_named():
    class Broken(Topic):
        def splits(self, parallelism):
            raise RuntimeError("no answer")

    with pytest.raises(InvalidProgramError, match=r"Broken .*'Source: s'.*pending\(\) raised RuntimeError: no answer"):
        plan_of(Broken(), 1).plan(1, 1)


def test_functions_wait_for_each_other_at_the_ends_of_rounds():
    ahead, behind = (OwnPlan(vertex(1), {"records-0": [0, [9, round_]]}, (), pushes=True) for round_ in (2, 1))
    held = hold_back([(plan, plan.plan(5, 10)) for plan in (ahead, behind)])
    assert [readings[0].records for readings in held] == [0, 5]
    behind.finished = {0}
    first, _ = hold_back([(plan, plan.plan(5, 10)) for plan in (ahead, behind)])
    assert first[0].records == 5
