"""States, timers and positions are read as tables; what is not plain only if that was asked for."""

from __future__ import annotations

import os
import pickle
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Types
from penstock.datastream.state import ValueStateDescriptor
from penstock.errors import SavepointError
from penstock.runtime.windows.time_window import TimeWindow
from penstock.savepoints import Savepoint, SavepointWriter
from penstock.savepoints.pickles import PlainReading, unmade_in
from tests.job.savepoint.jobs import At, numbers_read
from tests.savepoints.programs import PAIRS, Thing, Things, outputs, taken

GOLDEN = Path(__file__).parents[1] / "golden" / "savepoints" / "format-1"
LAST = {f"k{digit}": 35 + digit for digit in range(5)}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reading")
    outputs(folder / "job", PAIRS, penstock__step__records=7)
    return taken(folder / "job", folder / "savepoint")


def pairs(table) -> dict:
    return {row["key"]: row["value"] for row in table}


def test_each_kind_of_state_is_a_table_of_keys_and_values(place: Path) -> None:
    savepoint = Savepoint(place)
    numbers = {key: [n for k, n in PAIRS if k == key] for key in LAST}
    assert pairs(savepoint.read("many", "last")) == LAST
    assert pairs(savepoint.read("many", "all")) == numbers
    assert pairs(savepoint.read("many", "sum")) == {key: sum(values) for key, values in numbers.items()}
    assert pairs(savepoint.read("many", "count")) == dict.fromkeys(LAST, 8)
    assert pairs(savepoint.read("many", "by"))["k1"] == {"odd": 31, "even": 36}
    [operator] = savepoint.operators()
    assert savepoint.read(operator.operator_id, "last").to_list() == savepoint.read("many", "last").to_list()


def test_arrow_has_the_declared_types(place: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    savepoint = Savepoint(place)
    assert savepoint.read("many", "last").to_arrow().schema == pa.schema({"key": pa.string(), "value": pa.int64()})
    assert savepoint.read("many", "all").to_arrow().schema.field("value").type == pa.list_(pa.int64())
    assert savepoint.read("many", "by").to_arrow().schema.field("value").type == pa.map_(pa.string(), pa.int64())
    people = savepoint.read("many", "person").to_arrow()
    assert people.schema.field("value").type == pa.struct({"name": pa.string(), "age": pa.int64()})
    assert {row["key"]: row["value"] for row in people.to_pylist()}["k2"] == {"name": "k2", "age": 37}


def test_pandas_has_a_row_for_each_key(place: Path) -> None:
    pytest.importorskip("pandas")
    frame = Savepoint(place).read("many", "last").to_pandas()
    assert dict(zip(frame["key"], frame["value"], strict=True)) == LAST


def test_a_time_to_live_is_a_column(place: Path) -> None:
    table = Savepoint(place).read("many", "fresh")
    assert table.columns == ("key", "value", "last_access")
    assert pairs(table) == LAST
    assert all(row["last_access"] > 1_700_000_000_000 for row in table)
    [row] = [row for row in Savepoint(place).read("many", "named") if row["key"] == "k3"]
    assert row["value"] == {"k3": 38}
    assert len(row["last_access"]) == 1


def test_timers_and_windows(place: Path) -> None:
    golden = Savepoint(GOLDEN)
    timers = golden.timers("windows")
    assert timers.columns == ("domain", "time", "key", "namespace")
    assert {tuple(row) for row in timers.rows} == {("event", 99, key, TimeWindow(50, 100)) for key in range(7)}
    contents = golden.read("windows", "window-contents")
    assert {row["namespace"] for row in contents} == {TimeWindow(50, 100)}
    assert contents.to_arrow().to_pylist()[0]["namespace"] == {"start": 50, "end": 100}
    assert len(golden.timers("many")) == 37
    assert len(golden.timers("rules")) == 0


def test_broadcast_state_and_positions() -> None:
    golden = Savepoint(GOLDEN)
    assert golden.read("rules", "rules").to_list() == [{"key": "rule", "value": 1001}]
    assert [(row["split"], row["position"]) for row in golden.positions("numbers")] == [("part-0", 30), ("part-1", 30)]


def test_positions_that_are_objects_are_made_when_asked(tmp_path: Path) -> None:
    place = taken(Path(numbers_read(tmp_path / "job").place), tmp_path / "savepoint")
    [source] = [source.operator_id for source in Savepoint(place).sources()]
    before = At.calls
    with pytest.raises(SavepointError, match=r"can run any code.*unpickle=True"):
        Savepoint(place).positions(source)
    assert At.calls == before
    assert [row["position"] for row in Savepoint(place, unpickle=True).positions(source)] == [At(10)]


def test_objects_are_made_when_asked_and_the_rest_without(tmp_path: Path) -> None:
    outputs(tmp_path / "job", PAIRS, function=Things())
    place = taken(tmp_path / "job", tmp_path / "savepoint")
    assert pairs(Savepoint(place).read("many", "number")) == LAST
    with pytest.raises(SavepointError, match=r"objects made by 'tests.savepoints.programs.Thing'"):
        Savepoint(place).read("many", "thing")
    table = Savepoint(place, unpickle=True).read("many", "thing")
    assert pairs(table) == {key: Thing(number) for key, number in LAST.items()}
    assert {row["value"]["number"] for row in table.to_arrow().to_pylist()} == set(LAST.values())


class Evil:
    """A pickle that runs something."""

    def __reduce__(self):
        return os.mkdir, (os.environ["EVIL"],)


@pytest.mark.parametrize(
    "value", [Evil(), [Evil()], {"a": (1, Evil())}, {Evil()}], ids=["alone", "in a list", "in a map", "in a set"]
)
def test_a_plain_reading_runs_nothing(value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVIL", str(tmp_path / "evil"))
    data = pickle.dumps(value)
    value_read = PlainReading().loads(data)
    assert not (tmp_path / "evil").exists()
    assert unmade_in(value_read) in ("posix.mkdir", "nt.mkdir")
    pickle.loads(data)
    assert (tmp_path / "evil").exists()


def test_a_strangers_savepoint_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVIL", str(tmp_path / "evil"))
    states: Any = {ValueStateDescriptor("evil"): lambda _: Evil(), ValueStateDescriptor("good"): lambda row: row}
    writer = SavepointWriter().with_keyed_state("stranger", ["a"], lambda row: row, Types.STRING(), states)
    stranger = writer.write(tmp_path / "stranger")
    assert [state.name for state in stranger.operators()[0].states] == ["evil", "good"]
    assert stranger.read("stranger", "good").to_list() == [{"key": "a", "value": "a"}]
    for refused in (
        lambda: stranger.read("stranger", "evil"),
        lambda: SavepointWriter(stranger).drop("stranger", "good").write(tmp_path / "1"),
        lambda: SavepointWriter(stranger).set_max_parallelism("stranger", 9).write(tmp_path / "2"),
    ):
        with pytest.raises(SavepointError, match=r"mkdir'.* can run any code"):
            refused()
    assert SavepointWriter(stranger).drop("stranger", "evil").write(tmp_path / "3").read("stranger", "good").rows
    renamed = SavepointWriter(stranger).rename_uid("stranger", "guest").write(tmp_path / "4")
    SavepointWriter(stranger).merge(renamed).write(tmp_path / "5")
    assert not (tmp_path / "evil").exists()
    Savepoint(tmp_path / "5", unpickle=True).read("guest", "evil")
    assert (tmp_path / "evil").exists()


def test_a_value_that_holds_itself_is_gone_through_once() -> None:
    endless: list = [1]
    endless.append(endless)
    assert unmade_in(PlainReading().loads(pickle.dumps(endless))) is None
    wide: list = []
    for _ in range(100):
        wide = [wide, wide]
    assert unmade_in(PlainReading().loads(pickle.dumps([wide, Thing(1)]))) == "tests.savepoints.programs.Thing"


def test_state_beyond_memory_is_the_same(place: Path, tmp_path: Path) -> None:
    outputs(tmp_path / "job", PAIRS, penstock__state__backend="disk", penstock__step__records=7)
    disk = Savepoint(tmp_path / "job")
    for name in ("last", "all", "by", "person"):
        assert sorted(disk.read("many", name).rows, key=repr) == sorted(
            Savepoint(place).read("many", name).rows, key=repr
        )
    assert disk.timers("many").rows == Savepoint(place).timers("many").rows


def test_what_is_not_there_is_an_error_that_says_what_is(place: Path, tmp_path: Path) -> None:
    savepoint = Savepoint(place)
    with pytest.raises(SavepointError, match=r"uid or OperatorID 'few'. It has: 'many'"):
        savepoint.read("few", "last")
    with pytest.raises(SavepointError, match=r"has no state 'lost'. It has .*'last'"):
        savepoint.read("many", "lost")
    with pytest.raises(SavepointError, match="There is no savepoint"):
        Savepoint(tmp_path / "nothing")


def test_whatever_is_damaged_is_an_error_and_nothing_else(tmp_path: Path) -> None:
    chance = random.Random(7)
    for number in range(60):
        copy = tmp_path / str(number)
        shutil.copytree(GOLDEN, copy)
        path = chance.choice(sorted((copy / "state").iterdir()))
        data = bytearray(path.read_bytes())
        if number % 3:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        else:
            del data[chance.randrange(len(data)) :]
        path.write_bytes(data)
        for look in (_read_all, _rename_all):
            with pytest.raises(SavepointError, match=path.name):
                look(copy)


def _read_all(place: Path) -> None:
    for operator in ("many", "rules", "windows"):
        Savepoint(place).timers(operator)


def _rename_all(place: Path) -> None:
    for operator in ("many", "rules", "windows"):
        SavepointWriter(place).rename_uid(operator, "other").write(place / operator)


def test_a_damaged_file_is_an_error(place: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(place, copy)
    for path in (copy / "state").iterdir():
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
    with pytest.raises(SavepointError, match="damaged in its section"):
        Savepoint(copy).read("many", "last")
