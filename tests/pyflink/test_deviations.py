"""Where PyFlink does otherwise than Flink: each deviation by its switch, which an environment of penstock.pyflink has
on. What is expected was printed by the real PyFlink (``tests/pyflink/programs``), or stands in docs/limits.md."""

from __future__ import annotations

import datetime
import io
import math
import pickle
import warnings
from typing import Any

import pytest

from penstock.common import (
    Configuration,
    OutputTag,
    Row,
    RowKind,
    RuntimeExecutionMode,
    Types,
    WatermarkStrategy,
)
from penstock.common.settings.cores import cores
from penstock.common.settings.settings import Settings
from penstock.datastream import (
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    MapStateDescriptor,
    ProcessFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from penstock.datastream.environment import executors
from penstock.errors import InvalidProgramError, JobExecutionError
from penstock.pyflink import datastream as pyflink
from penstock.runtime.buffers.borders import SOURCE, crossing
from penstock.runtime.task.outbox import Spoken
from tests.running import collected

LONG_MIN = -9223372036854775808


def program(pyflink: bool = False) -> Any:
    """An environment as penstock.datastream makes it, on the local executor."""
    keys = {"penstock.pyflink": pyflink, "parallelism.default": 1}
    return StreamExecutionEnvironment.get_execution_environment(Configuration(keys), executor="local")


def test_programs_for_pyflink_have_them_all() -> None:
    env = pyflink.StreamExecutionEnvironment.get_execution_environment()
    assert (env.settings.explicit, env.settings.pyflink) == ({"penstock.pyflink": "true"}, True)
    assert env.settings.imports == ()
    assert isinstance(env, StreamExecutionEnvironment)
    off = pyflink.StreamExecutionEnvironment.get_execution_environment(Configuration({"penstock.pyflink": "false"}))
    assert not off.settings.pyflink
    with pytest.warns(DeprecationWarning, match=r"pyflink\.keys is the old name of the setting penstock"):
        off = pyflink.StreamExecutionEnvironment.get_execution_environment(
            Configuration({"penstock.pyflink.keys": "false"})
        )
    assert not off.settings.pyflink


def test_settings_without_effect_are_named_at_the_line_of_the_program() -> None:
    settings = Configuration({"rest.port": "8081", "pipeline.jars": "file:///lib/flink-connector-kafka-3.3.0-1.20.jar"})
    with pytest.warns(UserWarning, match="no effect") as caught:
        pyflink.StreamExecutionEnvironment.get_execution_environment(settings)
    assert [warning.filename for warning in caught] == [__file__] * 2


def test_a_folder_that_jobs_share_is_no_checkpoint_directory() -> None:
    make = pyflink.StreamExecutionEnvironment.get_execution_environment
    with pytest.warns(
        UserWarning, match="state.checkpoints.dir has no effect in a program written for PyFlink"
    ) as caught:
        env = make(Configuration({"state.checkpoints.dir": "file:///shared"}))
    assert [warning.filename for warning in caught] == [__file__]
    assert env.settings.checkpoint_directory is None
    assert env.get_checkpoint_config().get_checkpoint_storage().get_checkpoint_path() == "file:///shared"
    with pytest.warns(UserWarning, match="by `penstock run --checkpoint-directory` or the setting penstock.job.folder"):
        env.get_checkpoint_config().set_checkpoint_storage_dir("file:///shared")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make(Configuration({"penstock.job.folder": "job"})).settings.checkpoint_directory == "job"
    with executors.impose({"execution.checkpointing.dir": "job"}), pytest.warns(UserWarning, match="no effect"):
        assert make(Configuration({"state.checkpoints.dir": "/a"})).settings.checkpoint_directory == "job"


def test_as_many_subtasks_as_cores() -> None:
    make = StreamExecutionEnvironment.get_execution_environment
    assert make(Configuration({"penstock.pyflink": "true"})).get_parallelism() == cores() >= 1
    assert make().get_parallelism() == 1
    assert make(Configuration({"parallelism.default": "3", "penstock.pyflink": "true"})).get_parallelism() == 3


def test_one_subtask_in_batch_mode_where_nobody_says() -> None:
    make = pyflink.StreamExecutionEnvironment.get_execution_environment
    batch = {"execution.runtime-mode": "BATCH"}
    assert make().get_parallelism() == cores()
    assert make().set_runtime_mode(RuntimeExecutionMode.BATCH).get_parallelism() == 1
    assert make(Configuration(batch)).get_parallelism() == 1
    assert make(Configuration({**batch, "parallelism.default": "3"})).get_parallelism() == 3
    explicit = make().set_parallelism(4).set_runtime_mode(RuntimeExecutionMode.AUTOMATIC)
    assert explicit.get_parallelism() == 4
    env = make().set_runtime_mode(RuntimeExecutionMode.BATCH).set_runtime_mode(RuntimeExecutionMode.STREAMING)
    assert env.get_parallelism() == cores()
    off = make(Configuration({**batch, "penstock.pyflink": "false"}))
    assert off.set_runtime_mode(RuntimeExecutionMode.STREAMING).get_parallelism() == 1


class Listed(WindowFunction[Any, Any, Any, Any]):
    """The records of each window."""

    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        yield list(inputs)


def windows(env: Any, size: int, *slide: int) -> list[Any]:
    """Windows by count over the numbers from 1 to 8."""
    keyed = env.from_collection(range(1, 9), type_info=Types.INT()).key_by(lambda _: 0, key_type=Types.INT())
    return collected(keyed.count_window(size, *slide).apply(Listed()))


@pytest.mark.parametrize(
    ("size", "slide", "theirs"),
    [
        (5, (2,), [[1, 2, 3, 4, 5], [3, 4, 5, 6, 7]]),
        (2, (3,), [[1, 2], [4, 5], [7, 8]]),
        (2, (2,), [[1, 2], [3, 4], [5, 6], [7, 8]]),
        (3, (0,), [[1, 2, 3], [4, 5, 6]]),
        (3, (), [[1, 2, 3], [4, 5, 6]]),
        (9, (1,), []),
    ],
)
def test_windows_by_count_are_full(size: int, slide: tuple[int, ...], theirs: list[Any]) -> None:
    assert windows(program(pyflink=True), size, *slide) == theirs
    if slide not in ((), (0,)):
        assert windows(program(), size, *slide) != theirs or (size, slide) == (2, (2,))


def test_windows_by_count_have_a_size() -> None:
    with pytest.raises(InvalidProgramError, match=r"WindowAssigner\.of\(\) was given -1 as slide\. Give 1 or more"):
        windows(program(pyflink=True), 3, -1)


class Stamps(ProcessFunction[Any, Any]):
    """The timestamps that records have."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield ctx.timestamp()


@pytest.mark.parametrize(("switch", "none"), [(True, LONG_MIN), (False, None)])
def test_a_record_without_a_timestamp(switch: bool, none: int | None) -> None:
    def taken(value: int, record_timestamp: Any) -> int:
        assert record_timestamp == none
        return value

    stream = program(pyflink=switch).from_collection([7], type_info=Types.INT())
    assert collected(stream.process(Stamps())) == [none]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(taken)
    assert collected(stream.assign_timestamps_and_watermarks(strategy).process(Stamps())) == [7]


def test_keyed_streams_are_collected_with_their_key() -> None:
    def keyed(env: Any, **key_type: Any) -> list[Any]:
        return collected(env.from_collection([("a", 1)]).key_by(lambda pair: pair[0], **key_type))

    on, text = program(pyflink=True), {"key_type": Types.STRING()}
    assert keyed(on, **text) == [Row(f0="a", f1=("a", 1))]
    assert keyed(on) == [Row(f0=bytearray(pickle.dumps("a")), f1=("a", 1))]
    assert keyed(program(), **text) == [("a", 1)]
    assert collected(on.from_collection([1])) == [1]


SINGLE = 110.0999984741211
"""What 110.1 is as a number of 32 bits."""


def test_a_float_has_32_bits_behind_a_border() -> None:
    def seen(env: Any) -> list[Any]:
        typed = env.from_collection([110.1], type_info=Types.FLOAT())
        stream, alone = (env.from_collection([110.1]).map(lambda x: x, output_type=Types.FLOAT()) for _ in range(2))
        pair = Types.TUPLE([Types.FLOAT(), Types.INT()])
        pairs = env.from_collection([110.1]).map(lambda x: (x, 1), output_type=pair)
        keyed = pairs.key_by(lambda v: v[1], key_type=Types.INT())
        row = env.from_collection([(110.1, 1)], type_info=Types.ROW([Types.FLOAT(), Types.INT()]))
        return [
            collected(stream)[0]
            for stream in (
                typed.map(repr),
                alone.map(repr),
                stream.rebalance().map(repr),
                keyed.map(lambda v: repr(v[0])),
                row.map(lambda v: repr(v[0])),
                stream,
            )
        ]

    single, double = repr(SINGLE), repr(110.1)
    assert seen(program(pyflink=True)) == [single, double, single, single, single, 110.1]
    assert seen(program()) == [double] * 5 + [110.1]


@pytest.mark.parametrize(
    ("type_info", "value", "narrow"),
    [
        (Types.FLOAT(), 1, 1.0),
        (Types.FLOAT(), 1e300, math.inf),
        (Types.FLOAT(), -1e300, -math.inf),
        (Types.DOUBLE(), 110.1, 110.1),
        (Types.TUPLE([Types.INT(), Types.FLOAT()]), (1, 110.1), (1, SINGLE)),
        (Types.ROW_NAMED(["a"], [Types.FLOAT()]), Row(a=110.1), Row(a=SINGLE)),
        (Types.LIST(Types.FLOAT()), [110.1, 2], [SINGLE, 2.0]),
        (Types.MAP(Types.STRING(), Types.FLOAT()), {"a": 110.1}, {"a": SINGLE}),
        (None, 110.1, 110.1),
    ],
)
def test_what_a_border_does_to_a_float(type_info: Any, value: Any, narrow: Any) -> None:
    function = crossing(type_info, Settings(pyflink=True))
    assert crossing(type_info, Settings()) is None
    narrowed = value if function is None else function(value)
    assert (narrowed, type(narrowed)) == (narrow, type(narrow))
    if isinstance(value, Row):
        assert narrowed.field_names == value.field_names


NAMED = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])


@pytest.mark.parametrize(
    ("type_info", "value", "row"),
    [
        (NAMED, (1, "x"), Row(a=1, b="x")),
        (NAMED, [1, "x"], Row(a=1, b="x")),
        (NAMED, Row(1, "x"), Row(a=1, b="x")),
        (NAMED, Row(b="x", a=1), Row(a=1, b="x")),
        (NAMED, Row(c=1, d="x"), Row(a=1, b="x")),
        (NAMED, Row.of_kind(RowKind.DELETE, 1, "x"), Row.of_kind(RowKind.DELETE, a=1, b="x")),
        (NAMED, Row(1), Row(1)),
        (NAMED, None, None),
        (Types.ROW([NAMED]), Row((1, "x")), Row(f0=Row(a=1, b="x"))),
        (Types.TUPLE([NAMED]), ((1, "x"),), (Row(a=1, b="x"),)),
        (Types.LIST(NAMED), [(1, "x")], [Row(a=1, b="x")]),
        (Types.MAP(Types.INT(), NAMED), {1: (1, "x")}, {1: Row(a=1, b="x")}),
    ],
)
def test_what_a_source_does_to_a_row(type_info: Any, value: Any, row: Any) -> None:
    cross = crossing(type_info, Settings(pyflink=True), SOURCE)
    assert cross is not None
    assert repr(cross(value)) == repr(row)
    assert cross(value) == row
    assert crossing(type_info, Settings()) is None


def test_rows_have_the_names_of_their_type_behind_a_border(capsys: pytest.CaptureFixture[str]) -> None:
    def seen(env: Any) -> list[str]:
        stream, alone = (
            env.from_collection([1]).map(lambda x: Row(b=str(x), a=x), output_type=NAMED) for _ in range(2)
        )
        texts = [collected(other)[0] for other in (alone.map(repr), stream.rebalance().map(repr), stream)]
        stream.rebalance().print()
        env.execute()
        return [texts[0], texts[1], repr(texts[2]), capsys.readouterr().out.strip()]

    theirs = "Row(a=1, b='1')"
    assert seen(program(pyflink=True)) == ["Row(b='1', a=1)", theirs, theirs, "+I[1,1]"]
    assert seen(program()) == ["Row(b='1', a=1)"] * 3 + ["+I[1,1]"]


class Subtask(MapFunction[Any, Any]):
    """Which subtask sees a record."""

    def open(self, runtime_context: Any) -> None:
        self.index = runtime_context.get_index_of_this_subtask()

    def map(self, value: Any) -> Any:
        return value, self.index


SUBTASKS: list[tuple[Any, dict[Any, int]]] = [
    (Types.STRING(), {"a": 2, "b": 2, "c": 0, "hello": 1, "world": 0, "": 1, "é": 3}),
    (None, {"a": 1, "b": 0, "c": 1, "hello": 2, "world": 0, "": 3, "é": 3}),
    (Types.INT(), {0: 1, 1: 1, 2: 3, 3: 3, 100: 2, -5: 3}),
    (Types.LONG(), {0: 1, 1: 1, 2: 3, 3: 3, 100: 2, -5: 0}),
    (None, {0: 0, 1: 1, 2: 0, 3: 2, 100: 2, -5: 3}),
]
"""Which of four subtasks the real PyFlink 2.3.0 sends keys to, by their type."""


@pytest.mark.parametrize(("key_type", "theirs"), SUBTASKS)
def test_keys_go_to_pyflinks_subtasks(key_type: Any, theirs: dict[Any, int]) -> None:
    def subtasks(env: Any) -> dict[Any, int]:
        keyed = env.from_collection(list(theirs)).key_by(lambda key: key, key_type=key_type)
        assert keyed.get_key_type() == key_type
        return dict(collected(keyed.map(Subtask()).set_parallelism(4)))

    assert subtasks(program(pyflink=True)) == theirs
    assert subtasks(program()) != theirs


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_all_that_can_be_pickled_is_a_key(mode: RuntimeExecutionMode, parallelism: int) -> None:
    days = [
        datetime.date(2020, 1, 1),
        datetime.date(2020, 1, 2),
        RowKind.DELETE,
        (1, frozenset("a")),
        b"a",
        1,
        1.0,
        True,
    ]
    env = program(pyflink=True).set_runtime_mode(mode).set_parallelism(parallelism)
    pairs = env.from_collection([(day, 1) for day in days * 3])
    sums = collected(pairs.key_by(lambda pair: pair[0]).reduce(lambda left, right: (left[0], left[1] + right[1])))
    most = {(type(day), day): count for day, count in sorted(sums, key=lambda pair: pair[1])}
    assert most == {(type(day), day): 3 for day in days}
    other = program().from_collection([(days[3], 1)]).key_by(lambda pair: pair[0]).sum(1)
    with pytest.raises(JobExecutionError, match="which cannot be a key"):
        collected(other)


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
@pytest.mark.parametrize("key_type", [None, Types.STRING(), Types.INT()])
def test_none_is_a_key_with_state_of_its_own(mode: RuntimeExecutionMode, key_type: Any) -> None:
    other = 7 if key_type == Types.INT() else "a"
    env = program(pyflink=True).set_runtime_mode(mode).set_parallelism(3)
    pairs = env.from_collection([(None, 1), (other, 10), (None, 2), (other, 20)])
    keyed = pairs.key_by(lambda pair: pair[0], key_type=key_type)
    sums = collected(keyed.reduce(lambda left, right: (left[0], left[1] + right[1])))
    assert {(None, 3), (other, 30)} <= set(sums)
    with pytest.raises(JobExecutionError, match="returned None"):
        collected(program().from_collection([(None, 1)]).key_by(lambda pair: pair[0]).sum(1))


class Sides(ProcessFunction[Any, Any]):
    """A record, and one beside it."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value
        yield SIDE, -value


SIDE = OutputTag("side", Types.INT())


class SidesOfTwo(CoProcessFunction[Any, Any, Any]):
    """The records of the first input, each with one beside it."""

    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield value
        yield SIDE, -value

    def process_element2(self, value: Any, ctx: Any) -> Any:
        return None


class SidesOfKeys(KeyedProcessFunction[Any, Any, Any]):
    """A record, and one beside it."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value
        yield SIDE, -value


class SidesOfBroadcasts(BroadcastProcessFunction[Any, Any, Any]):
    """The records, each with one beside it."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value
        yield SIDE, -value

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        return None


class SidesOfWindows(ProcessWindowFunction[Any, Any, Any, Any]):
    """The records of a window, each with one beside it."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        for value in elements:
            yield value
            yield SIDE, -value


RULES = MapStateDescriptor("rules", Types.INT(), Types.INT())
WITH_SIDES: dict[str, Any] = {
    "process": lambda numbers: numbers.process(Sides()),
    "keyed process": lambda numbers: numbers.key_by(lambda x: 0).process(SidesOfKeys()),
    "two inputs": lambda numbers: numbers.connect(numbers).process(SidesOfTwo()),
    "broadcast": lambda numbers: numbers.connect(numbers.broadcast(RULES)).process(SidesOfBroadcasts()),
    "windows": lambda numbers: numbers.key_by(lambda x: 0).count_window(1).process(SidesOfWindows()),
}


@pytest.mark.parametrize("with_sides", WITH_SIDES.values(), ids=WITH_SIDES)
def test_tags_are_looked_for_where_a_side_output_is_asked_for(with_sides: Any) -> None:
    def seen(env: Any, asked: bool, consumed: bool = False) -> list[Any]:
        stream = with_sides(env.from_collection([1, 2], type_info=Types.INT()))
        side = stream.get_side_output(SIDE) if asked else None
        if side is not None and consumed:
            side.map(str)
        return collected(stream)

    on = {"pyflink": True}
    assert seen(program(**on), asked=False) == [1, (SIDE, -1), 2, (SIDE, -2)]
    assert seen(program(**on), asked=True) == seen(program(**on), asked=True, consumed=True) == [1, 2]
    assert seen(program(), asked=False) == seen(program(), asked=True) == [1, 2]


def test_a_side_output_that_nobody_reads_has_no_say_in_the_declared_type() -> None:
    numbers = program(pyflink=True).from_collection([1, 2], type_info=Types.INT())
    stream = numbers.process(Sides(), Types.INT())
    stream.get_side_output(SIDE)
    assert collected(stream.rebalance()) == [1, 2]


def test_a_value_is_what_its_type_holds() -> None:
    def seen(env: Any, value: Any, type_info: Any) -> Any:
        return collected(env.from_collection([0]).map(lambda _: value, output_type=type_info).rebalance())[0]

    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, 678901)
    for value, type_info, theirs in (
        (1.5, Types.INT(), 1),
        (moment, Types.SQL_TIMESTAMP(), moment.replace(microsecond=678000)),
        ((2, True), Types.TUPLE([Types.DOUBLE(), Types.LONG()]), (2.0, 1)),
    ):
        assert repr(seen(program(pyflink=True), value, type_info)) == repr(theirs)
        assert seen(program(), value, type_info) == value
    with pytest.raises(JobExecutionError, match=r"Operator 'Map'.*The record 'x' does not fit its declared type"):
        seen(program(pyflink=True), "x", Types.INT())


def test_all_windows_are_those_of_one_key() -> None:
    def subtasks(env: Any) -> list[Any]:
        numbers = env.set_parallelism(4).from_collection([1, 2, 3, 4], type_info=Types.INT())
        return collected(numbers.count_window_all(2).reduce(lambda x, y: x + y).map(Subtask()))

    assert subtasks(program(pyflink=True)) == [(3, 0), (7, 0)]
    alone = program().set_parallelism(4).from_collection([1, 2]).count_window_all(2).reduce(lambda x, y: x + y)
    assert alone.transformation.parallelism == 1


def test_what_functions_print_is_handed_over_in_pieces(capsys: pytest.CaptureFixture[str]) -> None:
    sent: list[str] = []
    spoken = Spoken(sent.append)
    with spoken.listening():
        print("a", 1)
        assert sent == []
        print("b" * (1 << 16))
        assert len(sent) == 1
        print("c", end="")
    spoken.hand_over()
    spoken.hand_over()
    assert "".join(sent) == f"a 1\n{'b' * (1 << 16)}\nc"
    assert len(sent) == 2
    assert capsys.readouterr().out == ""
    assert isinstance(spoken, io.TextIOBase)
    assert spoken.writable()


def test_what_a_failed_task_printed_is_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        print("before")
        raise ValueError("it fails")

    spoken = Spoken(lambda text: pytest.fail("nobody takes it"))
    with pytest.raises(ValueError, match="it fails"), spoken.listening():
        fail()
    assert capsys.readouterr() == ("", "before\n")


def test_tasks_import_what_the_settings_name(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "imported_by_tasks.py").write_text("import os\nos.environ['IMPORTED_BY_TASKS'] = 'yes'\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("IMPORTED_BY_TASKS", raising=False)
    settings = Configuration({"penstock.runtime.imports": "imported_by_tasks"})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")

    def ask(_: int) -> str | None:
        import os

        return os.environ.get("IMPORTED_BY_TASKS")

    assert collected(env.from_collection([1]).map(ask)) == ["yes"]
    assert Settings().imports == ()
