"""Programs with timers."""

from __future__ import annotations

from penstock.common import Types
from penstock.datastream import KeyedProcessFunction, ValueStateDescriptor
from tests.moves.programs.table import INT, LONG, STRING, by_key, program

NUMBERED = Types.TUPLE([STRING, LONG, INT])
END = 2**63 - 1


class Later(KeyedProcessFunction):
    """Says 1.2 seconds after each record how many there were by then."""

    def open(self, context):
        self.seen = context.get_state(ValueStateDescriptor("seen", INT))

    def process_element(self, record, ctx):
        self.seen.update((self.seen.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1200)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.seen.value()


@program
def timers_event(env, records):
    return by_key(records).process(Later(), NUMBERED).uid("later")


class Absent(KeyedProcessFunction):
    """Says who has not come for half a second, and how often before; the timer of each record replaces the last one."""

    def open(self, context):
        self.alarm = context.get_state(ValueStateDescriptor("alarm", LONG))
        self.seen = context.get_state(ValueStateDescriptor("seen", INT))

    def process_element(self, record, ctx):
        if self.alarm.value() is not None:
            ctx.timer_service().delete_event_time_timer(self.alarm.value())
        self.alarm.update(ctx.timestamp() + 500)
        ctx.timer_service().register_event_time_timer(self.alarm.value())
        self.seen.update((self.seen.value() or 0) + 1)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.seen.value()
        self.alarm.clear()
        self.seen.clear()


@program
def timers_deleted(env, records):
    return by_key(records).process(Absent(), NUMBERED).uid("absent")


class Often(KeyedProcessFunction):
    """Several timers a record, of which some are set anew when they fire; one waits for the end of all time."""

    def open(self, context):
        self.fired = context.get_state(ValueStateDescriptor("fired", INT))

    def process_element(self, record, ctx):
        for time in (record[2] + 100, record[2] // 1000 * 1000 + 2000, END):
            ctx.timer_service().register_event_time_timer(time)

    def on_timer(self, timestamp, ctx):
        self.fired.update((self.fired.value() or 0) + 1)
        yield ctx.get_current_key(), timestamp, self.fired.value()
        if timestamp < 6000 and timestamp % 1000 == 0:
            ctx.timer_service().register_event_time_timer(timestamp + 700)


@program
def timers_several(env, records):
    keyed = records.key_by(lambda record: record[1] % 4, INT)
    return keyed.process(Often(), Types.TUPLE([INT, LONG, INT])).uid("often")


class Never(KeyedProcessFunction):
    """Timers by the clock that no test lives to see, and some by event time beside them."""

    FAR = 32_503_680_000_000

    def open(self, context):
        self.seen = context.get_state(ValueStateDescriptor("seen", INT))

    def process_element(self, record, ctx):
        self.seen.update((self.seen.value() or 0) + 1)
        ctx.timer_service().register_processing_time_timer(self.FAR + record[1])
        if record[1] % 2 == 0:
            ctx.timer_service().delete_processing_time_timer(self.FAR + record[1] + 1)
            ctx.timer_service().register_event_time_timer(record[2] + 1000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.seen.value()


@program
def timers_processing(env, records):
    return by_key(records).process(Never(), NUMBERED).uid("never")
