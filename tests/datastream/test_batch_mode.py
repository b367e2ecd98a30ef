"""BATCH mode: one key after the other, sorted by time, and what is known at the end of each."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from penstock.common import Configuration, JobExecutionResult, Time, Types, WatermarkStrategy
from penstock.datastream import (
    AsyncDataStream,
    AsyncFunction,
    DataStreamUtils,
    KeyedProcessFunction,
    RuntimeExecutionMode,
    SourceFunction,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.datastream.connectors import NumberSequenceSource, Records, Source, Split
from penstock.datastream.environment import executors
from penstock.errors import ConfigurationError, InvalidProgramError, UnsupportedError
from penstock.runtime.state.keyed import KeyedState
from tests.datastream.batch_programs import PROGRAMS, Trace
from tests.datastream.batch_records import MIN, RECORD, RECORDS, by_time, keyed
from tests.running import collected


def environment(mode: str = "BATCH", **settings: str) -> StreamExecutionEnvironment:
    values = {"execution.runtime-mode": mode, **settings}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(values), executor="local")


@pytest.mark.parametrize("p", [1, 2, 3, 7])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_what_plain_python_gives(name, p):
    program = PROGRAMS[name]
    results = collected(program.build(environment(), p))
    expected = program.expected()
    assert expected
    assert Counter(map(repr, results)) == Counter(map(repr, expected))


@pytest.mark.parametrize("name", ["process", "diamond", "sessions", "co-process", "words"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("penstock.exchange.buffer-records", "1"),
        ("penstock.exchange.buffer-records", "3"),
        ("penstock.exchange.codec", "pickle"),
        ("penstock.exchange.codec", "columns"),
        ("penstock.runtime.native", "off"),
        ("penstock.runtime.form", "listed"),
        ("pipeline.operator-chaining", "false"),
        ("pipeline.object-reuse", "true"),
    ],
)
def test_settings_of_the_runtime_change_nothing(name, key, value):
    env = environment(**{key: value})
    assert Counter(map(repr, collected(PROGRAMS[name].build(env, 3)))) == Counter(map(repr, PROGRAMS[name].expected()))


@pytest.mark.parametrize("name", ["sum", "min", "max", "min_by", "max_by, last", "diamond"])
def test_without_combining_results_are_the_same(name):
    results = collected(PROGRAMS[name].build(environment(**{"penstock.exchange.combine": "off"}), 2))
    assert Counter(results) == Counter(PROGRAMS[name].expected())


@pytest.mark.parametrize(
    ("mode", "combine", "expected"), [("BATCH", "auto", 1), ("BATCH", "off", 0), ("STREAMING", "auto", 0)]
)
def test_combining_sends_one_record_per_key_and_sender(mode, combine, expected):
    env = environment(mode, **{"penstock.exchange.combine": combine})
    keyed(env, 2).sum(1).uid("total").add_sink(len)
    total = env.execute().metrics["total"]
    assert total.records_in == (2 * len(by_time()) if expected else len(RECORDS))
    assert total.bytes_in > 0
    assert total.records_out == (len(RECORDS) if mode == "STREAMING" else len(by_time()))


class Peak:
    """How many keys an operator's state holds at the most."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.keys = self.entries = 0
        enter = KeyedState.enter

        def spied(state: KeyedState, key: Any) -> Any:
            slot = enter(state, key)
            tables = [t for namespaces in state._tables.values() for t in namespaces.values()]
            timers = [*state.event_timers, *state.processing_timers]
            alive = {slot for table in tables for slot in table} | {timer.slot for timer in timers} | {slot}
            self.keys = max(self.keys, len(alive), len(state._keys))
            self.entries += len(alive)
            return slot

        monkeypatch.setattr(KeyedState, "enter", spied)


@pytest.mark.parametrize("name", ["process", "co-process", "tumbling", "sessions", "interval join", "window join"])
def test_only_one_key_is_alive(name, monkeypatch):
    peak = Peak(monkeypatch)
    collected(PROGRAMS[name].build(environment(**{"penstock.runtime.form": "listed"}), 2))
    assert peak.entries >= len(RECORDS) // 2
    assert peak.keys == 1
    if name == "process":
        return  # would never end: its timers register others
    monkeypatch.undo()
    streaming = Peak(monkeypatch)
    listed = environment("STREAMING", **{"penstock.runtime.form": "listed"})  # where every key is entered
    collected(PROGRAMS[name].build(listed, 2))
    assert streaming.keys > 1


def test_automatic_is_batch_because_every_source_ends():
    results = collected(PROGRAMS["sum"].build(environment("AUTOMATIC"), 2))
    assert sorted(results) == sorted(PROGRAMS["sum"].expected())


class Endless(Source):
    bounded = False

    def splits(self, parallelism):
        return [Split("only", 0, 1)]

    def read(self, split):
        yield Records([("a", 1)], 1)


class Ticking(SourceFunction):
    bounded = False

    def run(self, ctx):
        ctx.collect(("a", 1))


def planned(env):
    with executors.override(keeper := Keeper()):
        env.execute()
    return keeper.pipeline


class Keeper:
    def execute(self, pipeline):
        self.pipeline = pipeline
        return JobExecutionResult(pipeline.name)

    plans_only = True


@pytest.mark.parametrize("by", ["from_source", "add_source"])
def test_a_source_without_an_end_decides_the_mode(by):
    def program(mode):
        env = environment(mode)
        none = WatermarkStrategy.no_watermarks()
        endless = env.from_source(Endless(), none, "feed") if by == "from_source" else env.add_source(Ticking(), "feed")
        ended = env.from_source(NumberSequenceSource(1, 2), none, "numbers").map(lambda n: ("a", n))
        endless.union(ended).key_by(lambda pair: pair[0]).sum(1).print()
        return env

    automatic = planned(program("AUTOMATIC"))
    assert (automatic.settings.batch, automatic.unbounded) == (False, ("Source: feed",))
    assert planned(program("STREAMING")).unbounded == ("Source: feed",)
    with pytest.raises(InvalidProgramError, match=r"'feed' never ends, and BATCH.*STREAMING or AUTOMATIC") as caught:
        program("BATCH").get_execution_plan()
    assert caught.value.flink_class == "java.lang.IllegalStateException"
    env = program("BATCH")
    env.close()  # a source that leads nowhere does not count
    env.from_collection([1]).print()
    assert planned(env).unbounded == ()
    loop = environment("AUTOMATIC")
    head = loop.add_source(Ticking(), "feed").iterate()
    head.close_with(head.map(lambda pair: pair))
    assert not planned(loop).settings.batch


def test_the_last_call_decides():
    env = environment("BATCH").set_runtime_mode(RuntimeExecutionMode.STREAMING)
    assert len(collected(keyed(env, 2).sum(1))) == len(RECORDS)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    assert len(collected(keyed(env, 2).sum(1))) == len(by_time())


def test_plans_do_not_depend_on_the_mode():
    plans = {m: PROGRAMS["diamond"].build(environment(m), 3) for m in ("STREAMING", "BATCH")}
    jsons = {m: stream.get_execution_environment().get_execution_plan() for m, stream in plans.items()}
    assert jsons["STREAMING"] == jsons["BATCH"]


class Waits(SourceFunction):
    """Emits watermarks that would make everything after them late."""

    def run(self, ctx: Any) -> None:
        for i in range(10):
            ctx.collect_with_timestamp(("k", i, i), i)
            ctx.emit_watermark(1000)

    def cancel(self) -> None:
        pass


def test_watermarks_of_a_source_are_not_heard():
    stream = environment().add_source(Waits(), type_info=RECORD).key_by(lambda v: v[0])
    results = collected(stream.process(Trace()))
    assert [row[3] for row in results if row[1] == "element"] == [MIN] * 10


def test_records_without_timestamps_keep_their_order():
    numbers = [(f"k{i % 7}", i) for i in range(1000)]
    env = environment()
    stream = env.from_collection(numbers).key_by(lambda v: v[0]).process(Gathered()).set_parallelism(3)
    assert sorted(collected(stream)) == [(f"k{k}", list(range(k, 1000, 7))) for k in range(7)]


class Gathered(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.all = runtime_context.get_state(ValueStateDescriptor("all", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: Any, ctx: Any) -> None:
        assert ctx.timestamp() is None
        self.all.update([*(self.all.value() or []), value[1]])
        ctx.timer_service().register_event_time_timer(0)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), self.all.value()


def test_a_stream_that_is_keyed_already_is_sorted_where_it_is():
    """Without an exchange by key the operator would be chained; in BATCH mode its input is sorted on the way."""
    env = environment()
    hashed = env.from_collection(RECORDS, type_info=RECORD).key_by(lambda v: v[0]).map(lambda v: v, RECORD)
    again = DataStreamUtils.reinterpret_as_keyed_stream(hashed.set_parallelism(3), lambda v: v[0])
    results = collected(again.sum(1).set_parallelism(3))
    totals = Counter()
    for key, number, _ in RECORDS:
        totals[key] += number
    assert {key: number for key, number, _ in results} == totals
    assert len(results) == len(totals)


def test_values_of_another_type_than_declared_are_summed_as_they_are():
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    env = environment()
    stream = env.from_collection(["a", "b"], type_info=Types.STRING()).map(lambda k: (k, 0.5), pair)
    assert sorted(collected(stream.union(stream).key_by(lambda v: v[0]).sum(1))) == [("a", 1.0), ("b", 1.0)]


def test_iterations_are_refused():
    env = environment()
    loop = env.from_collection([1, 2, 3], type_info=Types.INT()).iterate()
    step = loop.map(lambda n: n - 1, Types.INT())
    loop.close_with(step.filter(lambda n: n > 0))
    step.print()
    with pytest.raises(UnsupportedError, match=r"iteration .* BATCH mode .* STREAMING"):
        env.execute()


def test_a_mode_that_makes_no_sense_is_refused():
    with pytest.raises(ConfigurationError, match=r"execution\.runtime-mode is 'bath'; it can be"):
        environment("bath")


@pytest.mark.parametrize("key", ["execution.runtime-mode", "penstock.exchange.combine"])
def test_settings_are_looked_at_before_anything_starts(key):
    env = environment()
    env.from_collection([1]).map(lambda n: pytest.fail("it started")).print()
    with executors.impose({key: "bath"}), pytest.raises(ConfigurationError, match=f"{key} is 'bath'; it can be"):
        env.execute()


def test_a_mode_that_is_none_is_refused():
    with pytest.raises(Exception, match="RuntimeExecutionMode"):
        environment().set_runtime_mode("BATCH")  # type: ignore[arg-type]


class Awaited(AsyncFunction):
    async def async_invoke(self, value: Any) -> Any:
        return [value]


MONOTONOUS = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[1])

AFTER_KEYS: dict[str, Any] = {
    "map": lambda s: s.map(lambda v: v),
    "filter": lambda s: s.filter(lambda v: True),
    "flat_map": lambda s: s.flat_map(lambda v: [v]),
    "async": lambda s: AsyncDataStream.ordered_wait(s, Awaited(), Time.seconds(60)),
    "timestamps": lambda s: s.assign_timestamps_and_watermarks(MONOTONOUS),
    "itself": lambda s: s,
}


@pytest.mark.parametrize("name", AFTER_KEYS)
def test_operators_without_state_see_keyed_input_sorted(name):
    env = environment()
    stream = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("b", 4)]).key_by(lambda v: v[0])
    assert collected(AFTER_KEYS[name](stream)) in (
        [("a", 1), ("a", 3), ("b", 2), ("b", 4)],
        [("b", 2), ("b", 4), ("a", 1), ("a", 3)],
    )


def test_sinks_take_keyed_input(capsys, tmp_path):
    env = environment()
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    stream = env.from_collection([("a", 1), ("b", 2), ("a", 3)], type_info=pair).key_by(lambda v: v[0])
    stream.print()
    stream.write_as_text(str(tmp_path / "out"))
    env.execute()
    assert sorted(capsys.readouterr().out.split()) == ["(a,1)", "(a,3)", "(b,2)"]
    assert sorted((tmp_path / "out").read_text().split()) == ["(a,1)", "(a,3)", "(b,2)"]
