"""Programs with windows that fire otherwise than at their end, or evict."""

from __future__ import annotations

from penstock.common import Time, Types
from penstock.datastream import ProcessWindowFunction, ReducingStateDescriptor, ValueStateDescriptor
from penstock.datastream.evictor import CountEvictor, DeltaEvictor, TimeEvictor
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    PurgingTrigger,
    Trigger,
    TriggerResult,
    TumblingProcessingTimeWindows,
)
from tests.moves.programs.table import INT, LONG, STRING, by_key, program
from tests.moves.programs.windows import DESCRIBED, Describe, added, session, sliding, tumbling, weighted

CENTURIES = Time.days(300 * 365)
WEIGHTED = Types.TUPLE([STRING, INT])


class Weigh(ProcessWindowFunction):
    """Key, and the weighted sum."""

    def process(self, key, context, elements):
        yield key, weighted(elements)


def distance(old, new):
    return abs(new[1] - old[1])


class Early(Trigger):
    """Fires when the numbers of a window have come to twenty, anew from there on; 300 ms after its first record; and
    at its end."""

    SUM = ReducingStateDescriptor("sum", lambda a, b: a + b, INT)
    EARLY = ValueStateDescriptor("early", LONG)

    def on_element(self, value, timestamp, window, context):
        early = context.get_partitioned_state(self.EARLY)
        if early.value() is None:
            early.update(timestamp + 300)
            context.register_event_time_timer(timestamp + 300)
            context.register_event_time_timer(window.max_timestamp())
        numbers = context.get_partitioned_state(self.SUM)
        numbers.add(value[1])
        if numbers.get() < 20:
            return TriggerResult.CONTINUE
        numbers.clear()
        return TriggerResult.FIRE

    def on_event_time(self, time, window, context):
        return TriggerResult.FIRE

    def on_processing_time(self, time, window, context):
        return TriggerResult.CONTINUE

    def on_merge(self, window, context):
        raise NotImplementedError

    def clear(self, window, context):
        early = context.get_partitioned_state(self.EARLY)
        if early.value() is not None:
            context.delete_event_time_timer(early.value())
        context.delete_event_time_timer(window.max_timestamp())
        early.clear()
        context.get_partitioned_state(self.SUM).clear()


class Enough(Trigger):
    """For sessions: fires whenever their numbers have come to another thirty, and at their end."""

    SUM = ReducingStateDescriptor("sum", lambda a, b: a + b, INT)

    def on_element(self, value, timestamp, window, context):
        context.register_event_time_timer(window.max_timestamp())
        numbers = context.get_partitioned_state(self.SUM)
        numbers.add(value[1])
        if numbers.get() < 30:
            return TriggerResult.CONTINUE
        numbers.add(-30)
        return TriggerResult.FIRE

    def on_event_time(self, time, window, context):
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, context):
        return TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, context):
        context.merge_partitioned_state(self.SUM)
        context.register_event_time_timer(window.max_timestamp())

    def clear(self, window, context):
        context.delete_event_time_timer(window.max_timestamp())
        context.get_partitioned_state(self.SUM).clear()


@program
def trigger_count(env, records):
    return by_key(records).window(tumbling(2000)).trigger(CountTrigger.of(2)).reduce(added).uid("window")


@program
def trigger_purging(env, records):
    windows = by_key(records).window(sliding(2000, 1000)).trigger(PurgingTrigger.of(CountTrigger.of(3)))
    return windows.process(Describe(), DESCRIBED).uid("window")


@program
def trigger_continuous(env, records):
    trigger = ContinuousEventTimeTrigger.of(Time.milliseconds(400))
    return by_key(records).window(tumbling(3000)).trigger(trigger).reduce(added).uid("window")


@program
def trigger_session_count(env, records):
    windows = by_key(records).window(session(500)).trigger(CountTrigger.of(3))
    return windows.process(Describe(), DESCRIBED).uid("window")


@program
def trigger_own(env, records):
    return by_key(records).window(tumbling(2000)).trigger(Early()).process(Describe(), DESCRIBED).uid("window")


@program
def trigger_global_count(env, records):
    return by_key(records).window(GlobalWindows.create()).trigger(CountTrigger.of(4)).reduce(added).uid("window")


@program
def trigger_global_delta(env, records):
    windows = by_key(records).window(GlobalWindows.create()).trigger(DeltaTrigger.of(5, distance))
    return windows.process(Weigh(), WEIGHTED).uid("window")


@program
def trigger_processing_count(env, records):
    windows = by_key(records).window(TumblingProcessingTimeWindows.of(CENTURIES)).trigger(CountTrigger.of(3))
    return windows.process(Describe(), DESCRIBED).uid("window")


@program
def trigger_processing_session(env, records):
    windows = by_key(records).window(ProcessingTimeSessionWindows.with_gap(CENTURIES)).trigger(CountTrigger.of(3))
    return windows.process(Weigh(), WEIGHTED).uid("window")


@program
def trigger_own_merging(env, records):
    return by_key(records).window(session(400)).trigger(Enough()).process(Describe(), DESCRIBED).uid("window")


@program
def count_window(env, records):
    return by_key(records).count_window(3).reduce(added).uid("window")


@program
def count_window_process(env, records):
    return by_key(records).count_window(4).process(Weigh(), WEIGHTED).uid("window")


@program
def count_window_sliding(env, records):
    return by_key(records).count_window(5, 2).process(Weigh(), WEIGHTED).uid("window")


@program
def evictor_count(env, records):
    windows = by_key(records).window(tumbling(1500)).evictor(CountEvictor.of(2))
    return windows.process(Describe(), DESCRIBED).uid("window")


@program
def evictor_after(env, records):
    windows = by_key(records).window(tumbling(3000)).trigger(CountTrigger.of(3)).evictor(CountEvictor.of(1, True))
    return windows.process(Describe(), DESCRIBED).uid("window")


@program
def evictor_session(env, records):
    windows = by_key(records).window(session(400)).evictor(TimeEvictor.of(Time.milliseconds(300)))
    return windows.process(Describe(), DESCRIBED).uid("window")


@program
def evictor_time(env, records):
    windows = by_key(records).window(sliding(2000, 1000)).evictor(TimeEvictor.of(Time.milliseconds(600)))
    return windows.reduce(added).uid("window")


@program
def evictor_delta(env, records):
    windows = by_key(records).window(GlobalWindows.create()).trigger(CountTrigger.of(3))
    return windows.evictor(DeltaEvictor.of(6, distance)).process(Weigh(), WEIGHTED).uid("window")
