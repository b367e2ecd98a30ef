"""What user functions and operators measure: one subtask, aggregates, and what a failed attempt leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from penstock.common.jobs.job import JobExecutionResult
from penstock.errors import InvalidProgramError, JobExecutionError
from penstock.local import LocalExecutor
from penstock.metrics import DistributionValue, JobMetrics, MeterValue
from penstock.metrics.group import Meter, MetricGroup, Metrics
from penstock.runtime.aggregators import SumAggregator
from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.elementwise import StreamFlatMap, StreamMap
from penstock.runtime.operators.process import ProcessOperator
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import GlobalWindows
from penstock.runtime.windows.functions import ReduceWindow
from penstock.runtime.windows.triggers import CountTrigger
from tests.job.programs import Program


class Measuring:
    """Measures whole numbers, and perhaps fails on the first attempt when it has seen most of them."""

    def __init__(self, failing=False):
        self.failing = failing

    def open(self, context):
        group = context.get_metrics_group().add_group("numbers")
        self.fails = self.failing and context.get_attempt_number() == 0
        self.seen = 0
        self.odd = group.counter("odd")
        self.size = group.add_group("by", "size").distribution("size")
        self.events = group.meter("events", 5)
        group.gauge("seen", lambda: self.seen)
        context.get_metrics_group().counter("never")

    def map(self, value):
        if self.fails and self.seen >= 3:
            raise OSError("the first attempt")
        self.seen += 1
        self.odd.inc(value % 2)
        self.size.update(value)
        self.events.mark_event(2)
        return value


def measured(failing=False, chaining=True):
    """Ten numbers over two subtasks: 0, 2, 4, 6, 8 and 1, 3, 5, 7, 9 in some order of the subtasks."""
    program = Program(chaining=chaining)
    source = program.source(range(10), name="numbers")
    measuring = program.add(StreamMap(Measuring(failing)), source, p=2, partitioner="REBALANCE", name="m", uid="the-m")
    program.collect(measuring, p=2)
    return program


def check(result: JobExecutionResult):
    """What every executor must report of ``measured()``."""
    operator = result.metrics["m"]
    assert (operator.records_in, operator.records_out, operator.late_dropped) == (10, 10, 0)
    assert operator.user == {
        "numbers.odd": 5,
        "numbers.by.size.size": DistributionValue(10, 45, 0, 9),
        "numbers.events": 20,
        "numbers.seen": (5, 5),
        "never": 0,
    }
    assert operator.user["numbers.by.size.size"].mean == 4.5
    assert [(subtask.records_in, subtask.user["numbers.seen"].value) for subtask in operator.subtasks] == [(5, 5)] * 2
    assert sorted(subtask.user["numbers.odd"].count for subtask in operator.subtasks) == [0, 5]
    assert all(subtask.user["numbers.events"].rate > 0 for subtask in operator.subtasks)
    assert result.get_all_accumulator_results() == {"numbers.odd": 5, "never": 0}
    assert (result.get_accumulator_result("numbers.odd"), result.get_accumulator_result("other")) == (5, None)


@pytest.mark.parametrize("chaining", [True, False])
def test_metrics_reach_the_result(chaining):
    check(LocalExecutor().execute(measured(chaining=chaining).pipeline()))


def test_a_restarted_job_counts_once():
    program = measured(failing=True)
    with pytest.raises(JobExecutionError, match="the first attempt"):
        LocalExecutor().execute(program.pipeline())
    program.settings |= {"restart-strategy": "fixed-delay", "restart-strategy.fixed-delay.attempts": "2"}
    program.settings |= {"restart-strategy.fixed-delay.delay": "0"}
    check(LocalExecutor().execute(program.pipeline()))


def test_operators_by_id_uid_and_name():
    metrics = LocalExecutor().execute(measured().pipeline()).metrics
    assert [operator.name for operator in metrics.values()][:2] == ["numbers", "m"]
    operator = metrics["the-m"]
    assert operator is metrics["m"] is metrics[operator.operator_id]
    assert (operator.uid, len(metrics), "nothing" in metrics) == ("the-m", 3, False)
    assert JobMetrics().counters() == JobExecutionResult("none").get_all_accumulator_results() == {}


def test_a_name_that_two_operators_have_is_refused():
    program = Program()
    source = program.source([1])
    for _ in range(2):
        program.collect(program.add(StreamMap(str), source, name="twin"), id=str(_))
    metrics = LocalExecutor().execute(program.pipeline()).metrics
    twins = [operator for operator in metrics.values() if operator.name == "twin"]
    with pytest.raises(InvalidProgramError, match=f"{twins[0].operator_id}, {twins[1].operator_id}"):
        metrics["twin"]


def test_what_close_counts_is_counted_and_gauges_are_asked_before_it():
    class Closing:
        def open(self, context):
            self.closed = context.get_metrics_group().counter("closed")
            self.state = "open"
            context.get_metrics_group().gauge("state", lambda: self.state)

        def map(self, value):
            return value

        def close(self):
            self.closed.inc()
            self.state = "closed"

    program = Program()
    program.collect(program.add(StreamMap(Closing()), program.source([1]), name="c"))
    assert LocalExecutor().execute(program.pipeline()).metrics["c"].user == {"closed": 1, "state": ("open",)}


def test_watermarks():
    class Timed:
        def run(self, ctx):
            ctx.collect_with_timestamp(1, 5)
            ctx.emit_watermark(5)

    seen = []
    program = Program()
    source = program.add(StreamSource(Timed()), name="timed")
    program.collect(program.add(StreamMap(seen.append), source, name="m"))
    metrics = LocalExecutor().execute(program.pipeline()).metrics
    shown = [(operator.input_watermark, operator.output_watermark) for operator in metrics.values()]
    assert shown == [(MIN_WATERMARK, MAX_WATERMARK), (MAX_WATERMARK, MAX_WATERMARK), (MAX_WATERMARK, MAX_WATERMARK)]


@dataclass(frozen=True)
class CountingTrigger(CountTrigger):
    def on_element(self, value, timestamp, window, context):
        context.get_metric_group().counter("asked").inc()
        return super().on_element(value, timestamp, window, context)


def test_a_trigger_has_the_metrics_of_its_operator():
    key = KeyPartition(lambda pair: pair[0])
    window = WindowOperator(GlobalWindows(), CountingTrigger(2), None, ReduceWindow(SumAggregator(1)))
    program = Program()
    pairs = program.source([("a", 1), ("a", 2), ("b", 3)])
    program.collect(program.add(window.keyed_by(key), pairs, partitioner="HASH", spec=key, name="windows"))
    assert LocalExecutor().execute(program.pipeline()).metrics["windows"].user == {"asked": 3}


@pytest.fixture
def group():
    return MetricGroup(Metrics())


def test_one_name_is_one_metric(group):
    inner = group.add_group("a").add_group("b")
    assert inner.counter("c") is group.add_group("a", "b").counter("c")
    assert inner.meter("m", 5) is inner.meter("m", 5)
    assert inner.distribution("d") is inner.distribution("d")
    group.gauge("g", lambda: 1)
    group.gauge("g", lambda: 2)
    group._metrics.sample()
    assert group._metrics.values()["g"].value == 2
    assert list(group._metrics.values()) == ["a.b.c", "a.b.m", "a.b.d", "g"]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda g: g.distribution("c"), "'c' is a counter already and cannot be a distribution"),
        (lambda g: g.gauge("c", lambda: 1), "'c' is a counter already and cannot be a gauge"),
        (lambda g: g.meter("m", 6), "time span of 60 seconds already"),
        (lambda g: g.meter("n", 0), "not 1 second or more"),
        (lambda g: g.counter(""), "named by texts"),
        (lambda g: g.add_group(3), "named by texts"),
        (lambda g: g.add_group("key", 3), "named by texts"),
        (lambda g: g.gauge("g", 3), "needs a function"),
    ],
)
def test_what_is_refused(group, call, text):
    group.counter("c")
    group.meter("m")
    with pytest.raises(InvalidProgramError, match=text):
        call(group)


@pytest.mark.parametrize(
    ("put", "text"),
    [
        (lambda g: g.counter("c").inc(0.5), "counter 'c' takes whole numbers"),  # type: ignore[arg-type]
        (lambda g: g.distribution("d").update("a"), "unsupported operand"),
        (lambda g: g.gauge("g", lambda: [1]), "gauge 'g' takes a number or a text"),
        (lambda g: g.gauge("g", lambda: 1 // 0), "division"),
    ],
)
def test_a_value_that_is_no_number_fails_its_operator(put, text):
    class Wrong:
        def open(self, context):
            put(context.get_metrics_group())

        def map(self, value):
            return value

    program = Program()
    program.collect(program.add(StreamMap(Wrong()), program.source([1]), name="wrong"))
    with pytest.raises(JobExecutionError, match=text) as caught:
        LocalExecutor().execute(program.pipeline())
    assert caught.value.operator == "wrong"


def test_a_meters_rate_is_that_of_its_time_span():
    clock = SimpleNamespace(now=100.0)
    meter = Meter(10, lambda: clock.now)
    meter.mark_event(6)
    clock.now = 102.5
    meter.mark_event(6)
    assert meter.value() == MeterValue(12, 4.0)  # of 3 seconds
    clock.now = 111.0
    meter.mark_event(4)
    assert meter.value() == MeterValue(16, 1.0)  # the first 6 are older than 10 seconds
    clock.now = 200.0
    assert meter.value() == MeterValue(16, 0.0)


def test_different_kinds_under_one_name_are_told_apart_by_subtask():
    class Odd:
        def open(self, context):
            if context.get_index_of_this_subtask() == 0:
                context.get_metrics_group().gauge("x", lambda: 7)
            else:
                context.get_metrics_group().counter("x").inc(3)

        def process_element(self, value, ctx):
            yield value

    program = Program()
    program.collect(program.add(ProcessOperator(Odd()), program.source([1]), p=2, partitioner="REBALANCE", name="o"))
    metrics = LocalExecutor().execute(program.pipeline()).metrics
    first, second = metrics["o"].user["x"]
    assert (first, second.count, metrics.counters()) == (7, 3, {})


def test_many_operators_are_looked_up_at_once():
    program = Program()
    node = program.source(range(3))
    for index in range(500):
        node = program.add(StreamFlatMap(lambda x: [x]), node, name=f"f{index}")
    program.collect(node)
    metrics = LocalExecutor().execute(program.pipeline()).metrics
    assert [metrics[f"f{index}"].records_out for index in (0, 250, 499)] == [3, 3, 3]
