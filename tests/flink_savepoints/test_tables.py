"""Tables of Flink's savepoints have the entries that Flink's own backends find, in columns of their types."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime, time, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.common import Types
from penstock.common.time import Instant
from penstock.errors import PenstockError, SavepointError
from penstock.flink.columns.avro import avro_column
from penstock.flink.columns.column import NoColumn
from penstock.flink.columns.types import column_for
from penstock.flink.entries import values
from penstock.flink.snapshots import BASE, Serializer
from penstock.savepoints import Savepoint, StateTable, read
from penstock.savepoints.flink_savepoint import SavepointOfFlink
from tests.flink_savepoints.golden import WRITTEN, entries, place

OWN = Path(__file__).parents[1] / "golden" / "savepoints" / "format-1"
NAMES = (
    *("canonical", "native_packed", "native_heap_a", "kinds_a", "list_a", "broadcast_b", "timers_b", "windows_a"),
    *("ttl_a", "types_b", "co_a", "union_a", "async_a"),
)
NO_COLUMN = {"void", "void namespace", "null value", "tuple0", "avro", "a-kryo"}
TOO_LARGE = {"big integer", "big decimal", "local date", "pojo of pojos", "pojo with a registered subclass"}


def flinks(release: str, name: str) -> SavepointOfFlink:
    savepoint = read(place(release, name))
    assert isinstance(savepoint, SavepointOfFlink)
    return savepoint


def text_of(moment: date | time | datetime) -> str:
    """As entries have it, without what is less than a microsecond."""
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return f"{text_of(moment.astimezone(timezone.utc).replace(tzinfo=None))}Z"
    text = moment.isoformat()
    return text.rstrip("0") if "." in text else text


def cut(text: str) -> str:
    whole, point, fraction = text.removesuffix("Z").partition(".")
    fraction = fraction[:6].rstrip("0")
    return f"{whole}{point if fraction else ''}{fraction}{'Z' if text.endswith('Z') else ''}"


def is_same(value: Any, entry: Any) -> bool:
    """Whether a value of Arrow is one of an entry, as it is printed."""
    if isinstance(value, Instant):
        return cut(values.Instant(value.seconds, value.nanos).text) == cut(entry)
    if isinstance(value, bytes):
        return value.hex() == entry
    if isinstance(value, Decimal):
        return value == Decimal(entry)
    if isinstance(value, float):
        return float(entry) == value or (entry == "NaN" and value != value)
    if isinstance(value, date | time):
        return text_of(value) == cut(entry)
    if isinstance(value, dict):
        if isinstance(entry, list):
            return are_same(list(value.values()), entry)
        if "fields" in entry and "kind" in entry:
            return are_same(list(value.values()), entry["fields"])
        return set(entry) <= set(value) and all(is_same(value[name], entry.get(name)) for name in value)
    if isinstance(value, list):
        return are_same(value, entry)
    if isinstance(value, tuple):
        return are_same(list(value), entry)
    return type(value) is type(entry) and value == entry


def are_same(values: list[Any], entry: list[Any]) -> bool:
    if len(values) != len(entry):
        return False
    if all(isinstance(item, list) and len(item) == 2 for item in entry):  # maps have no order
        rest = list(values)
        for item in entry:
            match = next((index for index, value in enumerate(rest) if is_same(value, item)), None)
            if match is None:
                return False
            del rest[match]
        return True
    return all(map(is_same, values, entry))


def with_times(value: Any, times: Any) -> Any:
    """A value, a list or a map with the times of its column ``last_access``."""
    if not isinstance(times, list):
        return {"last_access": times, "value": value}
    pairs = [item if isinstance(item, tuple) else (None, item) for item in value]
    joined = [(key, {"last_access": at, "value": item}) for (key, item), at in zip(pairs, times, strict=True)]
    return joined if value and isinstance(value[0], tuple) else [item for _, item in joined]


def compared(row: dict[str, Any], entry: dict[str, Any]) -> bool:
    value = with_times(row["value"], row["last_access"]) if "last_access" in row else row["value"]
    names = ["key_group", "key", "namespace"] if "key_group" in row else ["key"] if "key" in row else ["subtask"]
    return is_same(value, entry["value"]) and all(is_same(row.get(name), entry[name]) for name in names)


def rows_of(table: StateTable) -> list[dict[str, Any]]:
    """The rows, from Arrow; where Python has no such years, as they are."""
    columns = table.to_arrow()
    try:
        return columns.to_pylist()
    except OverflowError:
        return table.to_list()


def chosen() -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    for line in entries():
        if "error" not in line and line["name"] in NAMES:
            yield line["flink"], line["name"], line["entries"]


def test_every_row_is_an_entry_that_flink_reads() -> None:
    rows, refused = 0, set[str]()
    for release, name, golden in chosen():
        savepoint = flinks(release, name)
        by_state = defaultdict[tuple[str, str, bool], list[dict[str, Any]]](list)
        for entry in golden:
            if entry["kind"] != "timers" and not (entry["kind"] == "broadcast" and entry["subtask"]):
                by_state[entry["operator_id"], entry["state"], entry["key_group"] is not None].append(entry)
        for operator in savepoint.operators():
            for state in savepoint.states(operator.operator_id):
                try:
                    table = savepoint.read(operator.operator_id, state)
                    read_rows = rows_of(table)
                except SavepointError:
                    refused.add(state.removeprefix("list of "))
                    continue
                expected = by_state.pop((operator.operator_id, state, "key_group" in table.columns), [])
                assert len(read_rows) == len(expected), (name, state)
                for row in read_rows:
                    match = next((index for index, entry in enumerate(expected) if compared(row, entry)), None)
                    assert match is not None, (name, state, row)
                    del expected[match]
                rows += len(read_rows)
        left = {state.removeprefix("list of ") for (_, state, _), rest in by_state.items() if rest}
        assert left - {"union"} <= NO_COLUMN | TOO_LARGE, (name, left)
        if release == WRITTEN:  # where a keyed state and a list are both "union"
            [operator_id] = {entry["operator_id"] for entry in golden if entry["state"] == "pojo"}
            with pytest.raises(SavepointError, match="has two states 'union': tables have the keyed one"):
                savepoint.check_whole(operator_id)
    assert refused == NO_COLUMN | TOO_LARGE
    assert rows == ROWS


ROWS = 1_034


def test_timers_are_those_that_flink_reads() -> None:
    count = 0
    for release in ("1.11.4", "2.3.0"):
        for name in ("timers_b", "windows_a"):
            [golden] = [rest for flink, other, rest in chosen() if (flink, other) == (release, name)]
            expected = [
                (e["state"].split("_")[2].split("/")[1], e["value"], e["key"], e["namespace"], e["key_group"])
                for e in golden
                if e["kind"] == "timers"
            ]
            savepoint = flinks(release, name)
            rows = [
                (row["domain"], row["time"], row["key"], row.get("namespace"), row["key_group"])
                for operator in savepoint.operators()
                for row in savepoint.timers(operator.operator_id).to_arrow().to_pylist()
            ]
            assert sorted(map(json.dumps, rows)) == sorted(map(json.dumps, expected))
            count += len(rows)
    assert count > 100


def test_columns_have_the_types_of_the_serializers() -> None:
    written = flinks(WRITTEN, "canonical")
    [operator] = [
        operator.operator_id for operator in written.operators() if any(s.name == "pojo" for s in operator.states)
    ]
    expected = {
        "long": pa.int64(),
        "int": pa.int32(),
        "short value": pa.int16(),
        "char": pa.string(),
        "float": pa.float32(),
        "bytes": pa.binary(),
        "longs": pa.list_(pa.int64()),
        "set": pa.list_(pa.string()),
        "map": pa.map_(pa.string(), pa.int32()),
        "tuple2": pa.struct({"f0": pa.string(), "f1": pa.int32()}),
        "instant": pa.timestamp("us", "UTC"),
        "local date time": pa.timestamp("us"),
        "local time": pa.time64("ns"),
        "map of doubles": pa.list_(pa.struct({"key": pa.float64(), "value": pa.list_(pa.int32())})),
    }
    schemas = {state: written.read(operator, state).to_arrow().schema for state in expected}
    assert {state: schema.field("value").type for state, schema in schemas.items()} == expected
    windows = flinks("2.3.0", "windows_a").read("tumbling", "window-contents").to_arrow().schema
    assert windows.names == ["key", "namespace", "value", "key_group"]
    assert windows.field("namespace").type == pa.struct({"start": pa.int64(), "end": pa.int64()})
    ttl = flinks("2.3.0", "ttl_a")
    [lives] = [operator for operator in ttl.operators() if ttl.states(operator.operator_id)]
    for state in ttl.states(lives.operator_id):
        assert ttl.read(lives.operator_id, state).columns == ("key", "value", "last_access", "key_group")


def test_a_state_is_read_in_batches_of_one_schema() -> None:
    savepoint = flinks("2.3.0", "rocksdb_a")
    tables = [
        savepoint.read(operator.operator_id, state)
        for operator in savepoint.operators()
        for state in savepoint.states(operator.operator_id)
    ]
    table = max(tables, key=len)
    assert len(table) > 15
    batches = list(table.to_batches(6))
    assert [batch.num_rows for batch in batches[:-1]] == [6] * (len(batches) - 1)
    assert len({batch.schema for batch in batches}) == 1
    assert pa.concat_tables(batches) == table.to_arrow()
    assert table.to_list()[0].keys() == set(table.columns)
    assert list(table.to_pandas().columns) == list(table.columns)


def test_the_kind_of_a_savepoint_is_found_out(tmp_path: Path) -> None:
    assert isinstance(read(OWN), Savepoint)
    assert isinstance(read(Path(place("2.3.0", "kinds_a")).parent), SavepointOfFlink)
    assert read(OWN).states("many") == ["all", "by", "count", "last", "sum"]
    with pytest.raises(SavepointError, match="There is no savepoint"):
        read(tmp_path)


def test_what_there_is_not_is_an_error_that_says_what_there_is() -> None:
    savepoint = flinks("2.3.0", "kinds_a")
    [operator] = [operator for operator in savepoint.operators() if savepoint.states(operator.operator_id)]
    for name in (operator.operator_id, operator.uid, operator.name):
        assert savepoint.states(str(name)) == ["avg", "list", "map", "max", "value"]
    with pytest.raises(SavepointError, match=r"no operator with the ID, uid or name 'few'\. It has: "):
        savepoint.read("few", "value")
    with pytest.raises(
        SavepointError, match=r"has no state 'lost'\. It has 'avg', 'list', 'map', 'max', 'value'; timers"
    ):
        savepoint.read(operator.operator_id, "lost")
    with pytest.raises(SavepointError, match="positions of a source are lists of its state"):
        savepoint.positions(operator.operator_id)
    savepoint.check_whole(operator.operator_id)
    raw = flinks("2.3.0", "raw_b")
    [operator] = [operator for operator in raw.operators() if any(state.kind == "raw" for state in operator.states)]
    with pytest.raises(SavepointError, match="has state that is not among its tables: it is raw"):
        raw.check_whole(operator.operator_id)


SELF = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}
TWO = {"type": "record", "name": "Two", "fields": [{"name": "either", "type": ["null", "int", "string"]}]}
PLAIN = {
    "type": "record",
    "name": "a.Plain",
    "fields": [
        {"name": "day", "type": {"type": "enum", "name": "Day", "symbols": ["MON"]}},
        {"name": "days", "type": {"type": "array", "items": ["null", "Day"]}},
        {"name": "by", "type": {"type": "map", "values": {"type": "fixed", "name": "F", "size": 2}}},
        {"name": "when", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}


def test_schemas_of_avro() -> None:
    texts, data = Types.STRING(), Types.PRIMITIVE_ARRAY(Types.BYTE())
    columns = [texts, Types.LIST(texts), Types.MAP(texts, data), Types.LONG()]
    assert avro_column(json.dumps(PLAIN)).type == Types.ROW_NAMED(["day", "days", "by", "when"], columns)
    with pytest.raises(NoColumn, match=r"the record Node of Avro contains itself"):
        avro_column(json.dumps(SELF))
    with pytest.raises(NoColumn, match="2 types beside null"):
        avro_column(json.dumps(TWO))
    wide: Any = {"type": "record", "name": "R0", "fields": [{"name": "f", "type": "int"}]}
    for level in range(1, 60):  # a record has the one before twice
        fields = [{"name": "a", "type": wide}, {"name": "b", "type": f"R{level - 1}"}]
        wide = {"type": "record", "name": f"R{level}", "fields": fields}
    with pytest.raises(NoColumn, match="more than 10,000 parts"):
        avro_column(json.dumps(wide))


@pytest.mark.parametrize("name", ["canonical", "native_packed"])
def test_damage_is_an_error_of_ours(name: str, tmp_path: Path) -> None:
    chance, errors = random.Random(11), 0
    original = Path(place(WRITTEN, name)).read_bytes()
    for number in range(6):
        data = bytearray(original)
        for _ in range(4):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path = tmp_path / f"_metadata-{number}"
        path.write_bytes(data)
        try:
            savepoint = read(path)
            for operator in savepoint.operators():
                for state in savepoint.states(operator.operator_id)[::9]:
                    try:
                        savepoint.read(operator.operator_id, state).to_arrow()
                    except SavepointError:
                        errors += 1
        except PenstockError:
            errors += 1
    assert errors


def test_a_decimal_that_arrow_crashes_with_is_refused() -> None:
    serializer = f"{BASE}BigDecSerializer"
    convert = column_for(Serializer("", serializer)).convert
    assert convert is not None
    assert convert(Decimal("-1E+30")) == Decimal("-1E+30")
    with pytest.raises(ValueError, match="a scale beyond 1,000"):
        convert(Decimal((0, (1, 2), -(2**31) + 1)))
