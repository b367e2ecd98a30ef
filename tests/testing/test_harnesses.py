"""Harnesses: one subtask of an operator of every kind, fed by hand."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Configuration, OutputTag, Time, Types, WatermarkStrategy
from penstock.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    MapStateDescriptor,
    ProcessFunction,
    ProcessWindowFunction,
    SinkFunction,
    ValueStateDescriptor,
)
from penstock.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from penstock.errors import InvalidProgramError, UnsupportedError
from penstock.metrics.results import CounterValue
from penstock.testing import (
    BroadcastTestHarness,
    OneInputTestHarness,
    ProcessFunctionTestHarnesses,
    StreamRecord,
    TwoInputTestHarness,
    Watermark,
)
from tests.testing.counting import LATE, Count, count_harness, first, itself

RULES = MapStateDescriptor("rules", Types.STRING(), Types.STRING())
MAX_WATERMARK = (1 << 63) - 1


def test_records_watermarks_side_outputs_and_both_kinds_of_timers() -> None:
    with ProcessFunctionTestHarnesses.for_keyed_process_function(Count(), itself, Types.STRING()) as harness:
        harness.process_element("a", 1)
        harness.process_element("a")
        assert harness.get_output() == [StreamRecord(("a", 1), 1), StreamRecord(("a", 2), None)]
        assert harness.get_side_output(LATE) == [StreamRecord("a", 1), StreamRecord("a", None)]
        assert harness.get_side_output(OutputTag("other", Types.STRING())) == []
        assert (harness.event_time_timers(), harness.processing_time_timers()) == ([(11, "a")], [(10, "a")])
        harness.clear_output()
        harness.process_watermark(10)
        harness.set_processing_time(9)
        assert harness.get_output() == [Watermark(10)]
        harness.process_watermark(11)
        harness.advance_processing_time(1)
        assert harness.extract_output_values() == [("a", 2, "EVENT_TIME"), ("a", 2, "PROCESSING_TIME")]
        assert [record.timestamp for record in harness.extract_output_stream_records()] == [11, None]
        assert harness.get_watermarks() == [10, 11]
        assert (harness.num_event_time_timers(), harness.num_processing_time_timers()) == (0, 0)
        assert (harness.num_keyed_state_entries(), harness.get_processing_time()) == (1, 10)
        assert harness.get_metrics()["seen"] == CounterValue(2)


def test_the_users_own_exception_comes_out_with_its_own_cause() -> None:
    harness = count_harness()
    with pytest.raises(ValueError, match="bad") as caught:
        harness.process_element("bad")
    assert isinstance(caught.value.__cause__, KeyError)
    assert "Failure" not in "".join(map(repr, (caught.value.__cause__, caught.value.__context__)))


def test_a_failing_key_selector_comes_out_as_it_is() -> None:
    harness = OneInputTestHarness(lambda words: words.key_by(lambda word: word[5]).process(Count()))
    with pytest.raises(IndexError):
        harness.process_element("a")


def test_functions_open_and_close_once() -> None:
    calls = []

    class Calls(ProcessFunction):
        def open(self, runtime_context):
            raise LookupError(runtime_context.get_task_name_with_subtasks())

        def process_element(self, value, ctx):
            calls.append(value)

    harness = ProcessFunctionTestHarnesses.for_process_function(Calls())
    with pytest.raises(LookupError, match=r"Process \(1/1\)"):
        harness.open()
    harness.close()
    harness.close()
    for call in (lambda: harness.process_element(1), harness.snapshot, harness.open):
        with pytest.raises(InvalidProgramError, match=r"the harness of 'Process' is closed. Make another"):
            call()


def test_maps_filters_windows_and_what_a_window_drops() -> None:
    lengths = OneInputTestHarness(lambda words: words.map(len), Types.STRING())
    lengths.process_elements(["a", "bb"], 7)
    assert lengths.get_output() == [StreamRecord(1, 7), StreamRecord(2, 7)]

    class Mean(AggregateFunction):
        def create_accumulator(self):
            return 0, 0

        def add(self, value, accumulator):
            return accumulator[0] + value[1], accumulator[1] + 1

        def get_result(self, accumulator):
            return accumulator[0] / accumulator[1]

        def merge(self, acc_a, acc_b):
            return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]

    window = TumblingEventTimeWindows.of(Time.milliseconds(10))
    means = OneInputTestHarness(lambda pairs: pairs.key_by(first).window(window).aggregate(Mean()))
    for value in (1, 4):
        means.process_element(("a", value), value)
    assert means.num_keyed_state_entries() == 1
    means.process_watermark(9)
    means.process_element(("a", 3), 3)
    assert (means.extract_output_stream_records(), means.get_late_records_dropped()) == ([StreamRecord(2.5, 9)], 1)
    assert means.num_keyed_state_entries() == 0


def test_two_inputs_have_the_smaller_watermark() -> None:
    class Both(CoProcessFunction):
        def process_element1(self, value, ctx):
            yield 1, value, ctx.timer_service().current_watermark()

        def process_element2(self, value, ctx):
            yield 2, value, ctx.timer_service().current_watermark()

    harness = ProcessFunctionTestHarnesses.for_co_process_function(Both())
    harness.process_watermark1(5)
    assert harness.get_watermarks() == []
    harness.process_watermark2(3)
    harness.process_element1("a")
    harness.process_both_watermarks(9)
    harness.process_element2("b")
    assert harness.extract_output_values() == [(1, "a", 3), (2, "b", 9)]
    assert harness.get_watermarks() == [3, 9]


def test_two_keyed_inputs_share_state() -> None:
    class Match(KeyedCoProcessFunction):
        def open(self, runtime_context):
            self.left = runtime_context.get_state(ValueStateDescriptor("left", Types.STRING()))

        def process_element1(self, value, ctx):
            self.left.update(value)

        def process_element2(self, value, ctx):
            yield self.left.value(), value

    harness = ProcessFunctionTestHarnesses.for_keyed_co_process_function(Match(), first, first)
    harness.process_element1("a1")
    harness.process_element2("a2")
    harness.process_element2("b2")
    assert harness.extract_output_values() == [("a1", "a2"), (None, "b2")]


def test_a_join_of_two_streams_is_one_operator() -> None:
    def joined(left, right):
        return (
            left.key_by(first)
            .interval_join(right.key_by(first))
            .between(Time.milliseconds(-1), Time.milliseconds(1))
            .process(Pairs())
        )

    class Pairs:
        def process_element(self, left, right, ctx):
            yield left + right

    harness = TwoInputTestHarness(joined, Types.STRING(), Types.STRING(), configuration=event_time())
    harness.process_element1("a1", 5)
    harness.process_element2("a2", 6)
    harness.process_element2("a3", 7)
    assert harness.extract_output_values() == ["a1a2"]


def event_time():
    return Configuration.from_dict({"pipeline.time-characteristic": "EventTime"})


def test_broadcast_state() -> None:
    class Rules(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            yield value, ctx.get_broadcast_state(RULES).get(value)

        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(RULES).put(value, value.upper())

    harness = ProcessFunctionTestHarnesses.for_broadcast_process_function(Rules(), RULES)
    harness.process_broadcast_element("a")
    harness.process_element("a")
    harness.process_watermark(4)
    harness.process_broadcast_watermark(5)
    assert harness.get_output() == [StreamRecord(("a", "A"), None), Watermark(4)]
    again = ProcessFunctionTestHarnesses.for_broadcast_process_function(Rules(), RULES).restore(harness.snapshot())
    again.process_element("a")
    assert again.extract_output_values() == [("a", "A")]


def test_broadcast_state_beside_keyed_state() -> None:
    class Visit(KeyedBroadcastProcessFunction):
        def open(self, runtime_context):
            self.descriptor = ValueStateDescriptor("last", Types.STRING())
            self.last = runtime_context.get_state(self.descriptor)

        def process_element(self, value, ctx):
            self.last.update(value)

        def process_broadcast_element(self, value, ctx):
            values = []
            ctx.apply_to_keyed_state(self.descriptor, lambda key, state: values.append((key, state.value())))
            yield values

    harness = ProcessFunctionTestHarnesses.for_keyed_broadcast_process_function(Visit(), first, RULES)
    harness.process_element("a1")
    harness.process_element("b2")
    harness.process_broadcast_element("now")
    assert harness.extract_output_values() == [[("a", "a1"), ("b", "b2")]]
    typed = BroadcastTestHarness(
        lambda connected: connected.process(Visit()), RULES, key_selector=first, key_type=Types.STRING(), parallelism=2
    )
    with pytest.raises(InvalidProgramError, match=r"process_element\(\): the key 'd' is in key group"):
        typed.process_element("d1")


def test_asynchronous_calls_end_with_the_input_and_have_no_snapshot() -> None:
    class Ask(AsyncFunction):
        async def async_invoke(self, value):
            return [value * 2]

    harness = OneInputTestHarness(lambda s: AsyncDataStream.ordered_wait(s, Ask(), Time.seconds(5), 10))
    harness.process_elements([1, 2])
    with pytest.raises(UnsupportedError, match="waits for asynchronous calls"):
        harness.snapshot()
    harness.end_input()
    assert harness.extract_output_values() == [2, 4]


def test_timestamps_and_watermarks() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
    harness = OneInputTestHarness(lambda numbers: numbers.assign_timestamps_and_watermarks(strategy), Types.LONG())
    harness.process_element(7)
    harness.process_watermark(MAX_WATERMARK)
    assert harness.get_output() == [StreamRecord(7, 7), Watermark(MAX_WATERMARK)]


def test_sink_functions() -> None:
    class Refuse(SinkFunction):
        def invoke(self, value, context):
            raise RuntimeError(f"{value} at {context.timestamp()}")

    harness = OneInputTestHarness(lambda numbers: numbers.add_sink(Refuse()), Types.LONG())
    with pytest.raises(RuntimeError, match="7 at 3"):
        harness.process_element(7, 3)


def test_job_parameters_come_from_the_configuration() -> None:
    class Tell(ProcessFunction):
        def open(self, runtime_context):
            self.spell = runtime_context.get_job_parameter("spell", "none")

        def process_element(self, value, ctx):
            yield self.spell

    configuration = Configuration.from_dict({"pipeline.global-job-parameters": "spell:xyzzy"})
    harness = OneInputTestHarness(lambda s: s.process(Tell()), configuration=configuration)
    harness.process_element(1)
    assert harness.extract_output_values() == ["xyzzy"]


class Join(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, "".join(value[1:] for value in elements)


SESSIONS = EventTimeSessionWindows.with_gap(Time.milliseconds(5))
PROGRAMS = {
    "timers": lambda words: words.key_by(first).process(Count()),
    "sessions": lambda words: words.key_by(first).window(SESSIONS).process(Join()),
}
EVENTS = st.lists(st.tuples(st.sampled_from(["a1", "b2", "c3", "d4", "e5"]), st.integers(0, 40)), max_size=30)


def fed(harnesses, events, watermarks=()):
    """What subtasks give for events, each of which goes to the one that owns its key, and then for watermarks."""
    for value, time in events:
        owners = 0
        for harness in harnesses:
            try:
                harness.process_element(value, time)
                owners += 1
            except InvalidProgramError:
                continue
        assert owners == 1
    for watermark in watermarks:
        for harness in harnesses:
            harness.process_watermark(watermark)
    return sorted(value for harness in harnesses for value in map(repr, harness.extract_output_values()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["timers", "sessions"])
@pytest.mark.parametrize(("before", "after"), [(1, 1), (1, 3), (3, 1), (2, 3)])
@given(one=EVENTS, two=EVENTS)
def test_a_rescaled_operator_gives_what_one_gives_that_never_stopped(name, before, after, one, two) -> None:
    def subtasks(parallelism):
        return [
            OneInputTestHarness(PROGRAMS[name], Types.STRING(), parallelism=parallelism, subtask=subtask)
            for subtask in range(parallelism)
        ]

    ends = 20, MAX_WATERMARK
    never_stopped = fed(subtasks(1), [*one, *two], ends)
    stopped = subtasks(before)
    first_half = fed(stopped, one)
    snapshots = pickle.loads(pickle.dumps([harness.snapshot() for harness in stopped]))
    resumed = [harness.restore(*snapshots) for harness in subtasks(after)]
    assert sorted([*first_half, *fed(resumed, two, ends)]) == never_stopped


def test_timers_of_the_clock_are_restored_and_fire() -> None:
    harness = count_harness()
    harness.process_element("a")
    again = count_harness().restore(harness.snapshot())
    again.set_processing_time(10)
    assert again.extract_output_values() == [("a", 1, "PROCESSING_TIME")]


def test_a_snapshot_is_not_touched_by_what_comes_later() -> None:
    harness = count_harness()
    harness.process_element("a")
    snapshot = harness.snapshot()
    harness.process_element("a")
    again = count_harness().restore(snapshot)
    again.process_element("a")
    assert again.extract_output_values() == [("a", 2)]
    assert repr(snapshot).startswith("<OperatorSnapshot 2 entries in 128 key groups, ")
