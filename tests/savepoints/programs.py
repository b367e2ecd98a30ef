"""A job whose state is read, edited and filled: all kinds of keyed state, timers, windows, broadcast state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.common import Configuration, Duration, Row, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import Records, Source, Split
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.store import write_savepoint
from penstock.savepoints import KeyedStateBootstrapFunction
from tests.job.savepoint.golden import Add, Count
from tests.running import collected

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
PERSON = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.LONG()])
PAIRS = [(f"k{number % 5}", number) for number in range(40)]


@dataclass
class Thing:
    number: int


def live(descriptor: Any) -> Any:
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Duration.of_days(1)).build())
    return descriptor


LAST = ValueStateDescriptor("last", Types.LONG())
ALL = ListStateDescriptor("all", Types.LONG())
BY = MapStateDescriptor("by", Types.STRING(), Types.LONG())
SUM = ReducingStateDescriptor("sum", Add(), Types.LONG())
COUNT = AggregatingStateDescriptor("count", Count(), Types.LONG())
PEOPLE = ValueStateDescriptor("person", PERSON)
FRESH = live(ValueStateDescriptor("fresh", Types.LONG()))
NAMED = live(MapStateDescriptor("named", Types.STRING(), Types.LONG()))


class Keeps:
    """Opens the states, and puts a pair into them."""

    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(LAST)
        self.all = runtime_context.get_list_state(ALL)
        self.by = runtime_context.get_map_state(BY)
        self.sum = runtime_context.get_reducing_state(SUM)
        self.count = runtime_context.get_aggregating_state(COUNT)
        self.person = runtime_context.get_state(PEOPLE)
        self.fresh = runtime_context.get_state(FRESH)
        self.named = runtime_context.get_map_state(NAMED)

    def keep(self, pair: Any, ctx: Any) -> None:
        key, number = pair
        self.last.update(number)
        self.all.add(number)
        self.by.put("even" if number % 2 == 0 else "odd", number)
        self.sum.add(number)
        self.count.add(number)
        self.person.update(Row(name=key, age=number))
        self.fresh.update(number)
        self.named.put(key, number)
        ctx.timer_service().register_event_time_timer(1_000_000 + number)


class Many(Keeps, KeyedProcessFunction):
    """Says what was there before each pair."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        first = self.last.value(), list(self.all.get()), sorted(self.by.items()), self.sum.get(), self.count.get()
        before = *first, self.person.value(), self.fresh.value(), sorted(self.named.items())
        self.keep(value, ctx)
        yield (value[0], repr(before))

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield (ctx.get_current_key(), f"timer {timestamp}")


class Fills(Keeps, KeyedStateBootstrapFunction):
    def process_element(self, value: Any, ctx: Any) -> None:
        self.keep(value, ctx)


class Things(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.thing = runtime_context.get_state(ValueStateDescriptor("thing"))
        self.number = runtime_context.get_state(ValueStateDescriptor("number", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        before = self.thing.value(), self.number.value()
        self.thing.update(Thing(value[1]))
        self.number.update(value[1])
        yield (value[0], repr(before))


class Pairs(Source):
    """Pairs that are not the last ones."""

    bounded = False

    def __init__(self, pairs: list[Any]) -> None:
        self.pairs = pairs

    def splits(self, parallelism: int) -> list[Split]:
        return [Split("pairs", 0, len(self.pairs))]

    def read(self, split: Split) -> Iterator[Records[Any]]:
        for number in range(split.start, split.end):
            yield Records([self.pairs[number]], number + 1)


def environment(folder: Path, parallelism: int = 2, **settings: Any) -> StreamExecutionEnvironment:
    values = {key.replace("__", ".").replace("_", "-"): str(value) for key, value in settings.items()}
    configuration = Configuration.from_dict({"execution.checkpointing.dir": str(folder), **values})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor="local")
    return env.set_parallelism(parallelism)


def outputs(
    folder: Path,
    pairs: list[Any],
    *,
    uid: str = "many",
    source: str = "pairs",
    function: Any = None,
    parallelism: int = 2,
    groups: int = 0,
    begin: Path | None = None,
    ends: bool | None = None,
    **settings: Any,
) -> list[Any]:
    """What a run over pairs puts out, sorted."""
    settings = {"penstock__step__available_now": "true", **settings}
    if begin is not None:
        settings["execution__savepoint__path"] = begin
    env = environment(folder, parallelism, **settings)
    if (begin is not None) if ends is None else ends:
        stream = env.from_collection(pairs, PAIR)
    else:
        stream = env.from_source(Pairs(pairs), WatermarkStrategy.no_watermarks(), "pairs", PAIR)
    stream = stream.uid(source)
    keyed = stream.key_by(lambda pair: pair[0], Types.STRING())
    processed = keyed.process(function or Many(), PAIR).uid(uid).name("many kinds")
    if groups:
        processed = processed.set_max_parallelism(groups)
    return sorted(collected(processed))


def taken(folder: Path, place: Path) -> Path:
    """A savepoint of the newest version of a checkpoint directory."""
    job = JobFolder(str(folder))
    manifest = job.newest()
    assert manifest is not None
    write_savepoint(job.files, manifest, place)
    return place
