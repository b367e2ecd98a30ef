"""Programs run to their end in this process: what comes out, and that neither chaining nor parallelism changes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.common import OutputTag, Row, RowKind, Types
from penstock.datastream import (
    AggregateFunction,
    DataStream,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ParallelSourceFunction,
    ProcessFunction,
    ReduceFunction,
    SinkFunction,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.errors import ConfigurationError, JobExecutionError, PenstockError, TypeInfoError, UnsupportedError
from tests.running import collected

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
PAIRS = [("abcde"[i % 5], i * 7 % 11) for i in range(40)]


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor="local")


@pytest.fixture
def pairs(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection(PAIRS, PAIR)


# --- one operator at a time -------------------------------------------------------------------------------------------


class AddSubtask(MapFunction):
    def open(self, runtime_context):
        self.where = runtime_context.get_index_of_this_subtask()
        self.of = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value):
        return value, self.where, self.of


class Twice(FlatMapFunction):
    def flat_map(self, value):
        yield value
        yield value


SMALL: dict[str, tuple[Callable[[DataStream], DataStream], list[Any]]] = {
    "map": (lambda s: s.map(lambda v: v + 1), [2, 3, 4]),
    "map by a class": (lambda s: s.map(str), ["1", "2", "3"]),
    "map by an object": (lambda s: s.map(AddSubtask()), [(1, 0, 1), (2, 0, 1), (3, 0, 1)]),
    "flat_map": (lambda s: s.flat_map(range), [0, 0, 1, 0, 1, 2]),
    "flat_map by an object": (lambda s: s.flat_map(Twice()), [1, 1, 2, 2, 3, 3]),
    "filter": (lambda s: s.filter(lambda v: v != 2), [1, 3]),
    "project": (lambda s: s.map(lambda v: (v, "x", -v)).project(2, 0), [(-1, 1), (-2, 2), (-3, 3)]),
    "union with itself": (lambda s: s.union(s).map(lambda v: v), [1, 1, 2, 2, 3, 3]),
    "broadcast": (lambda s: s.broadcast().map(AddSubtask()).set_parallelism(2).map(lambda v: v[1]), [0, 0, 0, 1, 1, 1]),
    "global": (lambda s: s.global_().map(AddSubtask()).set_parallelism(3).map(lambda v: v[1]), [0, 0, 0]),
    "rebalance": (lambda s: s.rebalance().map(AddSubtask()).set_parallelism(3).map(lambda v: v[1]), [0, 1, 2]),
    "custom": (
        lambda s: s.partition_custom(lambda key, n: (key + 1) % n, lambda v: v).map(AddSubtask()).set_parallelism(3),
        [(1, 2, 3), (2, 0, 3), (3, 1, 3)],
    ),
    "count_window_all": (lambda s: s.count_window_all(2).sum(), [3]),
}


@pytest.mark.parametrize("case", SMALL)
def test_one_operator(case: str, env: StreamExecutionEnvironment) -> None:
    build, expected = SMALL[case]
    assert sorted(collected(build(env.from_collection([1, 2, 3], Types.INT())))) == sorted(expected)


def rolling(step: Callable[[Any, Any], Any]) -> Counter[Any]:
    """What a rolling reduction over PAIRS emits, as a bag."""
    state: dict[str, Any] = {}
    out: Counter[Any] = Counter()
    for pair in PAIRS:
        state[pair[0]] = step(state[pair[0]], pair) if pair[0] in state else pair
        out[state[pair[0]]] += 1
    return out


ROLLING: dict[str, tuple[Callable[[Any], DataStream], Callable[[Any, Any], Any]]] = {
    "reduce": (lambda k: k.reduce(lambda a, b: (a[0], a[1] - b[1])), lambda a, b: (a[0], a[1] - b[1])),
    "sum": (lambda k: k.sum(1), lambda a, b: (a[0], a[1] + b[1])),
    "sum by name": (lambda k: k.sum("f1"), lambda a, b: (a[0], a[1] + b[1])),
    "min": (lambda k: k.min(1), lambda a, b: (a[0], min(a[1], b[1]))),
    "max": (lambda k: k.max(1), lambda a, b: (a[0], max(a[1], b[1]))),
    "min_by": (lambda k: k.min_by(1), lambda a, b: b if b[1] < a[1] else a),
    "max_by last": (lambda k: k.max_by(1, False), lambda a, b: b if b[1] >= a[1] else a),
}


@pytest.mark.parametrize("case", ROLLING)
@pytest.mark.parametrize("parallelism", [1, 3])
def test_rolling_aggregations(case: str, parallelism: int, pairs: DataStream) -> None:
    build, step = ROLLING[case]
    keyed = pairs.key_by(lambda v: v[0], Types.STRING())
    assert Counter(collected(build(keyed).set_parallelism(parallelism))) == rolling(step)  # type: ignore[attr-defined]


def test_keys_by_position_name_and_object_agree(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection(PAIRS, PAIR)
    sums = [collected(stream.key_by(key).sum(1)) for key in (0, "f0", lambda v: v[0])]
    assert Counter(sums[0]) == Counter(sums[1]) == Counter(sums[2])


def test_records_of_a_row_type_have_its_names(env: StreamExecutionEnvironment) -> None:
    row_type = Types.ROW_NAMED(["id", "info"], [Types.INT(), Types.STRING()])
    deleted = Row.of_kind(RowKind.DELETE, 6, "f")
    records = [(1, "a"), [2, "b"], Row(3, "c"), Row(info="d", id=4), Row(x=5, y="e"), deleted]
    for source in (env.from_collection(records, row_type), env.from_parallel_collection(records, row_type)):
        fields = source.map(lambda row: (row.id, row["info"], str(row.get_row_kind())))
        assert list(fields.execute_and_collect()) == [*((i, "abcde"[i - 1], "+I") for i in range(1, 6)), (6, "f", "-D")]
    for wrong in (7, (7,), Row(7, "g", "h")):
        with pytest.raises(TypeInfoError, match="has 2 fields"):
            env.from_collection([wrong], row_type)


def test_rows_are_summed_by_field_name(env: StreamExecutionEnvironment) -> None:
    row = Types.ROW_NAMED(["word", "n"], [Types.STRING(), Types.INT()])
    stream = env.from_collection([Row(word="a", n=1), Row(word="b", n=2), Row(word="a", n=3)], row)
    sums = collected(stream.key_by("word").sum("n"))
    assert sorted(tuple(r) for r in sums) == [("a", 1), ("a", 4), ("b", 2)]


def windows(size: int, slide: int) -> Counter[Any]:
    """Java Flink's countWindow(size, slide).sum(1) over PAIRS, as a bag."""
    seen: dict[str, list[int]] = {}
    out: Counter[Any] = Counter()
    for key, value in PAIRS:
        values = seen.setdefault(key, [])
        values.append(value)
        if len(values) % slide == 0:
            out[key, sum(values[-size:])] += 1
    return out


@pytest.mark.parametrize(("size", "slide"), [(3, None), (4, 2), (2, 3), (1, 1)])
@pytest.mark.parametrize("parallelism", [1, 2])
def test_count_windows_are_javas(size: int, slide: int | None, parallelism: int, pairs: DataStream) -> None:
    summed = pairs.key_by(0).count_window(size, slide).sum(1).set_parallelism(parallelism)
    assert Counter(collected(summed)) == windows(size, slide or size)


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]


@pytest.mark.parametrize("slide", [None, 2])
def test_windows_are_aggregated(slide: int | None, pairs: DataStream) -> None:
    means = pairs.key_by(0).count_window(4, slide).aggregate(Mean(), output_type=Types.DOUBLE())
    values = {key: [v for k, v in PAIRS if k == key] for key, _ in PAIRS}
    ends = (4, 8) if slide is None else (2, 4, 6, 8)
    expected = [sum(v[max(0, end - 4) : end]) / min(end, 4) for v in values.values() for end in ends]
    assert Counter(collected(means)) == Counter(expected)


class Alternating(ProcessFunction):
    def process_element(self, value, ctx):
        if value % 2:
            yield OutputTag("odd", Types.INT()), -value
        else:
            yield value


@pytest.mark.parametrize("chaining", [True, False])
def test_side_outputs_leave_by_their_tag(chaining: bool, env: StreamExecutionEnvironment) -> None:
    if not chaining:
        env.disable_operator_chaining()
    processed = env.from_collection(list(range(6)), Types.INT()).process(Alternating(), Types.INT())
    odd = processed.get_side_output(OutputTag("odd", Types.INT())).map(lambda v: ("odd", v))
    assert sorted(collected(odd.union(processed.map(lambda v: ("even", v))))) == [
        *[("even", v) for v in (0, 2, 4)],
        *[("odd", v) for v in (-5, -3, -1)],
    ]


class WithKey(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.get_current_key(), value[1]


def test_keyed_process_sees_its_key(pairs: DataStream) -> None:
    keyed = pairs.key_by(lambda v: v[0].upper(), Types.STRING())
    assert Counter(collected(keyed.process(WithKey()))) == Counter((k.upper(), v) for k, v in PAIRS)


# --- sources and sinks ------------------------------------------------------------------------------------------------


class Counting(SourceFunction):
    def __init__(self, count):
        self.count = count

    def run(self, ctx):
        for i in range(self.count):
            ctx.collect(i)


class PerSubtask(ParallelSourceFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()

    def run(self, ctx):
        ctx.collect(self.index)


def test_sources_of_ones_own(env: StreamExecutionEnvironment) -> None:
    assert collected(env.add_source(Counting(4))) == [0, 1, 2, 3]
    env.set_parallelism(3)
    assert sorted(collected(env.add_source(PerSubtask()))) == [0, 1, 2]


def test_generated_sequences_are_complete(env: StreamExecutionEnvironment) -> None:
    env.set_parallelism(3)
    assert sorted(collected(env.generate_sequence(-2, 7))) == list(range(-2, 8))


def test_text_files_are_read_by_several_readers(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    lines = [f"line {i}" for i in range(500)]
    Path(tmp_path, "input.txt").write_text("\n".join(lines), encoding="utf-8")
    env.set_parallelism(2)
    assert sorted(collected(env.read_text_file(str(tmp_path)))) == sorted(lines)


def test_written_text_is_one_file_or_one_per_subtask(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    single, several = Path(tmp_path, "one"), Path(tmp_path, "more")
    stream = env.from_collection([("a", 1), ("b", 2), ("c", None)], PAIR)
    stream.write_as_text(str(single))
    stream.write_as_text(str(several)).set_parallelism(2)
    env.execute()
    assert single.read_text().splitlines() == ["(a,1)", "(b,2)", "(c,null)"]
    assert sorted(line for file in several.iterdir() for line in file.read_text().splitlines()) == [
        *("(a,1)", "(b,2)", "(c,null)")
    ]
    stream.write_as_text(str(single))
    with pytest.raises(ConfigurationError):
        env.execute()


def test_print_goes_to_the_driver(env: StreamExecutionEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    stream = env.from_collection([("a", 1), ("b", 2)], PAIR)
    stream.print("id")
    stream.print_to_err()
    stream.map(lambda v: v).print().set_parallelism(1)
    env.execute()
    out, err = capsys.readouterr()
    assert sorted(out.splitlines()) == ["('a', 1)", "('b', 2)", "id> (a,1)", "id> (b,2)"]
    assert err.splitlines() == ["(a,1)", "(b,2)"]


class AppendTo(SinkFunction):
    def __init__(self, path):
        self.path = path

    def open(self, runtime_context):
        self.file = open(self.path, "w")  # noqa: SIM115 - closed by close()

    def invoke(self, value, context=None):
        self.file.write(f"{value}\n")

    def close(self):
        self.file.close()


def test_sinks_of_ones_own(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    path = Path(tmp_path, "out")
    env.from_collection([1, 2]).add_sink(AppendTo(str(path)))
    env.execute()
    assert path.read_text() == "1\n2\n"


def test_collecting_with_a_limit_gives_a_list(env: StreamExecutionEnvironment) -> None:
    assert env.from_collection([1, 2, 3]).execute_and_collect("job", 2) == [1, 2]
    iterator = env.from_collection([1, 2]).execute_and_collect()
    assert next(iterator) == 1
    iterator.close()
    assert list(iterator) == []


def test_execute_tells_the_job_and_its_time(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).add_sink(lambda value: None)
    result = env.execute("nightly")
    assert result.job_name == "nightly"
    assert result.get_net_runtime() >= 0


# --- whole programs ---------------------------------------------------------------------------------------------------


class Largest(ReduceFunction):
    def reduce(self, value1, value2):
        return max(value1, value2, key=lambda v: v[1])


def diamond(env: StreamExecutionEnvironment, parallelism: int) -> DataStream:
    """Two branches over one source, partitioned differently, united, keyed and windowed."""
    source = env.from_collection(PAIRS, PAIR)
    doubled = source.rebalance().map(lambda v: (v[0], v[1] * 2), PAIR).set_parallelism(parallelism)
    shifted = source.filter(lambda v: v[1] > 2).shuffle().map(lambda v: (v[0].upper(), v[1]), PAIR)
    united = doubled.union(shifted.set_parallelism(parallelism), source)
    return united.key_by(0).reduce(Largest()).set_parallelism(parallelism).key_by(0).max(1)


def last_per_key(records: list[Any]) -> dict[str, int]:
    """The largest value of each key: what remains when orders between branches may differ."""
    result: dict[str, int] = {}
    for key, value in records:
        result[key] = max(value, result.get(key, value))
    return result


@pytest.mark.parametrize("chaining", [True, False])
@pytest.mark.parametrize("parallelism", [1, 2, 5])
def test_results_depend_neither_on_chaining_nor_on_parallelism(
    chaining: bool, parallelism: int, env: StreamExecutionEnvironment
) -> None:
    if not chaining:
        env.disable_operator_chaining()
    records = collected(diamond(env, parallelism))
    doubled = {key: 2 * value for key, value in last_per_key(PAIRS).items()}
    shifted = {key.upper(): value for key, value in last_per_key([p for p in PAIRS if p[1] > 2]).items()}
    assert last_per_key(records) == doubled | shifted
    assert len(records) == 2 * len(PAIRS) + sum(value > 2 for _, value in PAIRS)


def test_the_same_program_gives_the_same_records_in_the_same_order() -> None:
    def run() -> list[Any]:
        return collected(diamond(StreamExecutionEnvironment.get_execution_environment(executor="local"), 3))

    assert run() == run()


def test_a_users_error_names_the_operator_and_keeps_its_cause(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1, 0]).map(lambda v: 1 // v).name("divide").uid("d").print()
    with pytest.raises(JobExecutionError) as caught:
        env.execute("failing")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert (caught.value.operator, caught.value.uid, caught.value.subtask) == ("divide", "d", 0)


def test_what_can_only_be_planned_is_refused_by_name(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection(PAIRS, PAIR)
    stream.write_to_socket("localhost", 9).name("out")
    assert "out" in env.get_execution_plan()
    with pytest.raises(UnsupportedError) as caught:
        env.execute()
    assert "operator 'Sink: out': use add_sink()" in str(caught.value)
    assert isinstance(caught.value, PenstockError)
