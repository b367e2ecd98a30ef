"""Programs that come close to what a rule finds, and are right."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.lint import LintConfiguration, lint
from tests.lint.programs import planned

RIGHT = {
    "a function that only computes is compiled": (
        "PS601",
        "orders.filter(lambda order: order[1] > 1).map(lambda order: (order[0].upper(), *order[1:])).print()",
    ),
    "native code is off": (
        "PS601",
        """
from penstock.common import Configuration
env.configure(Configuration().set_string("penstock.native", "off"))
orders.map(lambda order: print(order) or order).print()
""",
    ),
    "the monitor of files has no setter": (
        "PS006",
        "env.enable_checkpointing(1_000)\nenv.read_text_file('in').uid('lines').print()",
    ),
    "a sink that writes at once keeps nothing": (
        "PS007",
        "env.enable_checkpointing(1_000)\nlines.add_sink(lambda line: None)\nlines.print()",
    ),
    "a number in a uid": ("PS003", "lines.map(len).uid('step-20261122-of-1000000 (v2), 0x10, deadbeef').print()"),
    "a uid is a dash": ("PS009", "lines.map(len).uid('größe – 2 m²').print()"),
    "all of a map has types": (
        "PS106",
        """
class Seen(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.STRING(), Types.LONG()))
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.STRING()))

    def process_element(self, value, ctx):
        yield value

orders.key_by(lambda order: order[0]).process(Seen()).uid("seen").print()
""",
    ),
    "rebalance behind a source and behind a key": (
        "PS301",
        """
orders.rebalance().map(str).print()
orders.key_by(lambda order: order[0]).sum(1).rebalance().map(str).print()
""",
    ),
    "rescale where the parallelism changes": ("PS301", "orders.map(str).rescale().map(str).set_parallelism(4).print()"),
    "rules in broadcast state": (
        "PS302",
        """
class Rules(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value[0], value[1])

RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
rules = env.from_source(endless, in_order, "rules")
orders.connect(rules.broadcast(RULES)).process(Rules()).print()
""",
    ),
    "an interval join keys twice by one key": (
        "PS303",
        """
class Both(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield left

env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
left, right = (orders.key_by(lambda order: order[0]) for _ in range(2))
left.interval_join(right).between(0, 10).process(Both()).print()
""",
    ),
    "bounded rules without timestamps beside records with them": (
        "PS201",
        """
class Rules(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value, 1)

RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
checked = orders.connect(lines.broadcast(RULES)).process(Rules(), ORDER)
checked.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1))).sum(1).print()
""",
    ),
    "a source that makes its own watermarks": (
        "PS2",
        """
class Own(SourceFunction):
    bounded = False

    def run(self, ctx):
        ctx.collect_with_timestamp(("a", 1, 1), 1)
        ctx.emit_watermark(1)

own = env.add_source(Own(), type_info=ORDER)
own.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1))).sum(1).print()
""",
    ),
    "a source that hands its context on": (
        "PS2",
        """
def emit(ctx):
    ctx.collect_with_timestamp(("a", 1, 1), 1)

class Own(SourceFunction):
    def run(self, ctx):
        emit(ctx)

own = env.add_source(Own(), type_info=ORDER)
own.key_by(lambda order: order[0]).window(TumblingEventTimeWindows.of(Time.minutes(1))).sum(1).print()
""",
    ),
    "windows by count have a trigger": ("PS2", "orders.key_by(lambda order: order[0]).count_window(5).sum(1).print()"),
    "chaining is disabled and would have been": ("PS310", "orders.map(str).disable_chaining().print()"),
    "a connection for the process": (
        "PS504",
        """
client = None

class Asks(MapFunction):
    def open(self, runtime_context):
        global client
        client = client or object()

    def map(self, value):
        return client

orders.map(Asks()).print()
""",
    ),
    "a side output is read": (
        "PS406",
        """
EVEN = OutputTag("even", Types.LONG())

class Split(ProcessFunction):
    def process_element(self, value, ctx):
        yield EVEN, value[1]

orders.process(Split()).get_side_output(EVEN).print()
""",
    ),
    "files are added to one folder": (
        "PS405",
        """
for _ in range(2):
    lines.sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())
""",
    ),
    "the steps of a checkpoint directory publish": (
        "PS402",
        """
env = StreamExecutionEnvironment.get_execution_environment(Configuration({"execution.checkpointing.dir": "job"}))
orders = env.from_source(endless, in_order, "orders")
orders.map(str).sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())
""",
    ),
    "what ends when it has read what is there": (
        "PS401",
        """
env = StreamExecutionEnvironment.get_execution_environment(Configuration({"penstock.step.available-now": "true"}))
env.from_source(endless, in_order, "orders").print()
""",
    ),
    "a key is computed from the record": (
        "PS503",
        "orders.key_by(lambda order: zlib.crc32(order[0].encode()) % 16).sum(1).print()",
    ),
    "timers of a program that ends": (
        "PS202",
        """
class Later(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1)

    def on_timer(self, timestamp, ctx):
        yield 1

lines.key_by(lambda line: line).process(Later()).print()
""",
    ),
}


@pytest.mark.parametrize("about", RIGHT)
def test_it_is_right(about: str, tmp_path: Path) -> None:
    code, body = RIGHT[about]
    file = tmp_path / "right.py"
    assert lint(planned(file, body.strip()), LintConfiguration((code,)), file=str(file)) == []
