"""A function that uses all a harness can show, and a harness of it."""

from __future__ import annotations

from penstock.common import OutputTag, Types
from penstock.datastream import KeyedProcessFunction, ProcessFunction, ValueStateDescriptor
from penstock.testing import OneInputTestHarness

LATE = OutputTag("late", Types.STRING())


def itself(value):
    return value


def first(value):
    return value[0]


class Count(KeyedProcessFunction):
    """Counts a key's records; tells the count when the watermark or the clock is ten later."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = runtime_context.get_metrics_group().counter("seen")

    def process_element(self, value, ctx):
        self.seen.inc()
        if value == "bad":
            raise ValueError(value) from KeyError("why")
        self.count.update((self.count.value() or 0) + 1)
        if ctx.timestamp() is None:
            ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 10)
        else:
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10)
        yield LATE, value
        yield value, self.count.value()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.count.value(), ctx.time_domain().name


class Upper(ProcessFunction):
    def process_element(self, value, ctx):
        yield value.upper()


def count_harness(**options):
    return OneInputTestHarness(lambda words: words.key_by(itself).process(Count()), Types.STRING(), **options)
