"""State that is filled from a table is the state that a job would have left that had seen the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.common import Row, Types
from penstock.datastream import BroadcastProcessFunction
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.errors import SavepointError
from penstock.job.savepoint.contents import read_headers, verify
from penstock.job.savepoint.store import read_savepoint
from penstock.plan import operator_id
from penstock.runtime.state.operator_state import OperatorState
from penstock.savepoints import Savepoint, SavepointWriter
from penstock.savepoints.bootstrap import rows_of
from penstock.savepoints.operator_state import subtasks
from tests.running import collected
from tests.savepoints.programs import (
    ALL,
    BY,
    COUNT,
    LAST,
    PAIR,
    PAIRS,
    PEOPLE,
    SUM,
    Fills,
    environment,
    outputs,
    taken,
)

MORE = [("k1", 100), ("k3", 101), ("new", 102)]


def filled(place: Path, parallelism: int = 1, groups: int = 128) -> Savepoint:
    writer = SavepointWriter(job="filled").with_keyed_state(
        "many",
        PAIRS,
        lambda pair: pair[0],
        Types.STRING(),
        Fills(),
        name="many kinds",
        parallelism=parallelism,
        max_parallelism=groups,
    )
    return writer.write(place)


@pytest.mark.parametrize(("parallelism", "groups", "now"), [(1, 128, 2), (3, 128, 2), (4, 1000, 5)])
def test_a_job_begins_with_it_as_with_its_own(tmp_path: Path, parallelism: int, groups: int, now: int) -> None:
    outputs(tmp_path / "job", PAIRS, groups=groups)
    dropped = SavepointWriter(taken(tmp_path / "job", tmp_path / "own")).drop("pairs").write(tmp_path / "dropped")
    new = filled(tmp_path / "new", parallelism, groups)
    assert verify(read_savepoint(new.place)).problems == ()
    more = {"source": "more", "parallelism": now, "groups": groups}
    expected = outputs(tmp_path / "first", MORE, begin=Path(dropped.place), **more)
    assert len(expected) > len(PAIRS)
    assert outputs(tmp_path / "second", MORE, begin=Path(new.place), **more) == expected


def test_its_files_say_what_those_of_the_job_say(tmp_path: Path) -> None:
    outputs(tmp_path / "job", PAIRS)
    saved = taken(tmp_path / "job", tmp_path / "own")
    filled(tmp_path / "new", parallelism=2)

    def files(where: Path) -> set:
        headers = read_headers(read_savepoint(where)).values()
        return {(h.about, h.key, frozenset(h.states), h.timers, h.entries, str(h.classes)) for h in headers}

    assert files(tmp_path / "new") == files(saved)


TABLE = [
    {"id": "k1", "last": 31, "all": [1, 2], "by": {"odd": 31}, "person": {"name": "ann", "age": 3}},
    {"id": "k2", "last": None, "all": [], "by": {}, "person": None},
]
COLUMNS: dict[Any, Any] = {
    LAST: "last",
    ALL: "all",
    BY: "by",
    PEOPLE: "person",
    SUM: "last",
    COUNT: lambda row: row["last"],
}


def tables() -> list[Any]:
    pa = pytest.importorskip("pyarrow")
    types = {
        "id": pa.string(),
        "last": pa.int64(),
        "all": pa.list_(pa.int64()),
        "by": pa.map_(pa.string(), pa.int64()),
        "person": pa.struct({"name": pa.string(), "age": pa.int64()}),
    }
    return [TABLE, iter(TABLE), pa.Table.from_pylist(TABLE, pa.schema(types)), Frame()]


class Frame:
    """What a DataFrame of Spark has to be."""

    class Row(dict):
        def asDict(self, recursive: bool) -> dict:
            assert recursive
            return dict(self)

    def toLocalIterator(self) -> Any:
        return (self.Row(row) for row in TABLE)


@pytest.mark.parametrize("which", range(4))
def test_columns_of_a_table_become_states(tmp_path: Path, which: int) -> None:
    data = tables()[which]
    new = SavepointWriter().with_keyed_state("many", data, "id", Types.STRING(), COLUMNS).write(tmp_path / "new")
    read = {name: {row["key"]: row["value"] for row in new.read("many", name)} for name in ("last", "all", "by")}
    assert read == {"last": {"k1": 31}, "all": {"k1": [1, 2]}, "by": {"k1": {"odd": 31}}}
    assert new.read("many", "person").rows == [("k1", Row(name="ann", age=3))]
    assert new.read("many", "sum").rows == [("k1", 31)]
    assert ("k1", "(31, [1, 2], [('odd', 31)], 31, 1, Row(name='ann', age=3), None, [])") in outputs(
        tmp_path / "again", [("k1", 5)], begin=tmp_path / "new"
    )


def test_a_frame_of_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["a", "b"], "last": [1, 2]})
    assert list(rows_of(frame)) == [{"id": "a", "last": 1}, {"id": "b", "last": 2}]
    new = SavepointWriter().with_keyed_state("many", frame, "id", Types.STRING(), {LAST: "last"}).write(tmp_path / "n")
    assert sorted(new.read("many", "last").to_pandas()["value"]) == [1, 2]


@pytest.mark.parametrize("parallelism", [1, 3])
def test_lists_that_belong_to_no_key_are_dealt_out(tmp_path: Path, parallelism: int) -> None:
    parts, all_of_them = (ListStateDescriptor(name, Types.LONG()) for name in ("parts", "all of them"))
    writer = SavepointWriter().with_keyed_state(
        "many", TABLE, "id", Types.STRING(), {LAST: "last"}, parallelism=parallelism
    )
    writer.with_list_state("many", parts, range(7)).with_list_state("many", all_of_them, [8, 9], union=True)
    new = writer.write(tmp_path / "new")
    rows = new.read("many", "parts").rows
    assert [row[1] for row in rows] == list(range(7))
    assert len({row[0] for row in rows}) == parallelism
    assert new.read("many", "all of them").to_arrow()["value"].to_pylist() == [8, 9]
    places = [
        subtask_state.places
        for subtask_state in subtasks(read_savepoint(new.place), operator_id("many"), unpickle=False)
    ]
    for now in (1, 2, 3, 5):
        begun = [OperatorState() for _ in range(now)]
        for subtask, state in enumerate(begun):
            state.restore(places, now, subtask)
        assert sorted(part for state in begun for part in state.list("parts")) == list(range(7))
        assert all(state.list("all of them", union=True) == [8, 9] for state in begun)
    with pytest.raises(SavepointError, match="would have 'x', which is not of its declared type"):
        writer.with_list_state("many", parts, ["x"])


RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())


class Ruled(BroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield sorted(ctx.get_broadcast_state(RULES).items())

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put("new", value)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_broadcast_state_is_in_every_subtask(tmp_path: Path, parallelism: int) -> None:
    rules = {"one": 1, "two": 2}
    new = SavepointWriter().with_broadcast_state("ruled", RULES, rules).write(tmp_path / "new")
    assert new.read("ruled", "rules").to_list() == [{"key": "one", "value": 1}, {"key": "two", "value": 2}]
    env = environment(tmp_path / "job", parallelism, execution__savepoint__path=tmp_path / "new")
    numbers = env.from_collection(list(range(6)), Types.LONG())
    nothing = env.from_collection([0], Types.LONG()).filter(lambda _: False).broadcast(RULES)
    results = collected(numbers.rebalance().connect(nothing).process(Ruled()).uid("ruled"))
    assert results == [[("one", 1), ("two", 2)]] * 6


@pytest.mark.parametrize("parallelism", [1, 3])
def test_an_empty_table_is_an_empty_state(tmp_path: Path, parallelism: int) -> None:
    writer = SavepointWriter().with_keyed_state(
        "many", [], lambda pair: pair[0], Types.STRING(), Fills(), parallelism=parallelism
    )
    new = writer.write(tmp_path / "deep" / "empty")
    assert verify(read_savepoint(new.place)).problems == ()
    assert [operator.uid for operator in new.operators()] == ["many"]
    assert outputs(tmp_path / "second", MORE, begin=Path(new.place)) == outputs(tmp_path / "first", MORE, ends=True)


@pytest.mark.parametrize("place", ["plain", "file"])
def test_a_writer_without_anything_writes_a_savepoint_without_anything(tmp_path: Path, place: str) -> None:
    target = tmp_path / "empty"
    new = SavepointWriter().write(target.as_uri() if place == "file" else target)
    assert verify(read_savepoint(new.place)).problems == ()
    assert (new.operators(), new.sources()) == ([], [])
    full = SavepointWriter(new).merge(filled(tmp_path / "full")).write(tmp_path / "both")
    assert [operator.uid for operator in full.operators()] == ["many"]


def test_into_a_savepoint_that_is_there(tmp_path: Path) -> None:
    outputs(tmp_path / "job", PAIRS)
    edit = SavepointWriter(taken(tmp_path / "job", tmp_path / "own"))
    with pytest.raises(SavepointError, match="The uid 'many' already has state"):
        edit.with_keyed_state("many", TABLE, "id", Types.STRING(), {LAST: "last"})
    new = edit.with_keyed_state("more", TABLE, "id", Types.STRING(), {LAST: "last"}).write(tmp_path / "new")
    assert {operator.uid for operator in new.operators()} == {"many", "more"}
    renamed = SavepointWriter(new).drop("many").rename_uid("more", "many").drop("pairs").set_max_parallelism("many", 9)
    renamed.write(tmp_path / "last")
    [output] = outputs(tmp_path / "again", [("k1", 5)], begin=tmp_path / "last", parallelism=1)[:1]
    assert output == ("k1", "(31, [], [], None, None, None, None, [])")


def test_no_keyed_state_is_lost_by_a_change_before_it_is_written(tmp_path: Path) -> None:
    writer = SavepointWriter().with_keyed_state("many", PAIRS, lambda pair: pair[0], Types.STRING(), Fills())
    writer.set_max_parallelism("many", 7).rename_uid("many", "lots")
    new = writer.write(tmp_path / "new")
    assert new.operators()[0].max_parallelism == 7
    assert len(new.read("lots", "last")) == 5
    assert len(new.timers("lots")) == len(PAIRS)


@pytest.mark.parametrize(
    ("states", "key_type", "message"),
    [
        ({LAST: "all"}, Types.STRING(), r"The state 'last' of the key 'k1' would have \[1, 2\]"),
        ({LAST: "nothing"}, Types.STRING(), "has no column 'nothing'"),
        ({LAST: "last"}, Types.LONG(), "The key 'k1' of the row .* cannot be a key"),
        ({ListStateDescriptor("all", Types.STRING()): "all"}, Types.STRING(), "The state 'all' of the key 'k1'"),
        ({ValueStateDescriptor("person", PAIR): "by"}, Types.STRING(), "The state 'person' of the key 'k1'"),
    ],
)
def test_what_is_not_of_its_type_is_refused(states: Any, key_type: Any, message: str) -> None:
    with pytest.raises(SavepointError, match=message):
        SavepointWriter().with_keyed_state("many", TABLE, "id", key_type, states)


def test_entries_of_a_broadcast_state_are_of_its_types() -> None:
    with pytest.raises(SavepointError, match="'x', which is not of its declared type"):
        SavepointWriter().with_broadcast_state("ruled", RULES, {"one": "x"})


@pytest.mark.parametrize("sizes", [(0, 128), (2, 1), (1, 40000)])
def test_impossible_sizes(sizes: tuple[int, int]) -> None:
    with pytest.raises(SavepointError, match="do not fit together"):
        SavepointWriter().with_keyed_state(
            "many", [], "id", Types.STRING(), {}, parallelism=sizes[0], max_parallelism=sizes[1]
        )


def test_a_state_of_an_operator_that_was_just_added_can_be_dropped(tmp_path: Path) -> None:
    number, text = ValueStateDescriptor("number", Types.LONG()), ValueStateDescriptor("text", Types.STRING())
    rows = [{"key": "a", "number": 1, "text": "x"}]
    writer = SavepointWriter().with_keyed_state("new", rows, "key", Types.STRING(), {number: "number", text: "text"})
    new = writer.drop("new", "text").write(tmp_path / "new")
    [operator] = new.operators()
    assert [state.name for state in operator.states] == ["number"]
    assert new.read("new", "number").to_list() == [{"key": "a", "value": 1}]
    again = SavepointWriter().with_keyed_state("new", rows, "key", Types.STRING(), {number: "number"})
    with pytest.raises(SavepointError, match="missing"):
        again.drop("new", "missing").write(tmp_path / "refused")
