"""What is in savepoints, what differs, what is damaged: without unpickling anything."""

from __future__ import annotations

import json
import pickle
import random
import shutil
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Types
from penstock.datastream import DataStream, KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.errors import SavepointError
from penstock.job.folder.files import Files
from penstock.job.savepoint.contents import as_json, content_of, verify
from penstock.job.savepoint.difference import differences, named
from penstock.job.savepoint.format import StoredSavepoint
from penstock.job.savepoint.store import read_savepoint, write_savepoint
from tests.job.savepoint.jobs import At, environment, numbers_read


class Many(KeyedProcessFunction):
    """Keeps several kinds of state, and timers."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.STRING()))
        self.by = runtime_context.get_map_state(MapStateDescriptor("by", Types.STRING(), Types.DOUBLE()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.sum.update((self.sum.value() or 0) + value[1])
        self.all.add(value[0])
        self.by.put(value[0], 1.5)
        ctx.timer_service().register_processing_time_timer(9_000_000_000_000)
        yield value


def many(env: StreamExecutionEnvironment) -> DataStream:
    """Seven keys of a process function."""
    pairs = [(f"k{number % 7}", number) for number in range(50)]
    stream = env.from_collection(pairs, Types.TUPLE([Types.STRING(), Types.LONG()])).uid("pairs")
    return stream.key_by(lambda pair: pair[0], Types.STRING()).process(Many()).uid("many").name("many kinds")


def job_of(folder: Path, parallelism: int = 2, uid: str = "many", **settings: Any) -> Files:
    """A checkpoint directory of that program, stopped before its end by a limit of its steps."""
    env = environment(folder, parallelism, penstock__step__records=7, **settings)
    many(env).uid(uid).add_sink(lambda value: None)
    client = env.execute_async("many")
    client.stop_with_savepoint(False, str(folder / "at-end")).exception(60)
    client.get_job_execution_result().result(60)
    return Files(str(folder))


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return job_of(tmp_path_factory.mktemp("contents") / "job")


@pytest.fixture
def taken(job: Files, tmp_path: Path) -> StoredSavepoint:
    manifest = job.newest()
    assert manifest is not None
    return write_savepoint(job, manifest, tmp_path / "savepoint")


def test_it_says_what_is_in_it(taken: StoredSavepoint) -> None:
    content = content_of(taken)
    [operator] = content.operators
    assert (operator.name, operator.uid, operator.parallelism) == ("many kinds", "many", 2)
    assert operator.max_parallelism == 128
    assert operator.key is not None
    assert operator.key[0] == "Types.STRING()"
    states = {state.name: (state.kind, state.types) for state in operator.states}
    assert states == {
        "all": ("ListState", ("Types.STRING()",)),
        "by": ("MapState", ("Types.STRING()", "Types.DOUBLE()")),
        "sum": ("ValueState", ("Types.LONG()",)),
    }
    assert operator.bytes == sum(file.bytes for file in taken.manifest.state_files())
    assert operator.entries >= 21
    assert operator.clock_timers >= 1
    [source] = content.sources
    assert (source.name.split(": ")[-1], source.uid) == ("Collection Source", "pairs")
    document = json.loads(as_json(asdict(content)))
    assert document["operators"][0]["states"][0]["name"] == "all"


def test_nothing_is_unpickled_to_show(tmp_path: Path) -> None:
    files = numbers_read(tmp_path / "job")
    At.calls = 0
    savepoint = read_savepoint(files.place)
    content = content_of(savepoint)
    assert verify(savepoint).problems == ()
    assert differences(content, content) == []
    assert At.calls == 0
    [source] = content.sources
    assert list(source.positions.values()) == ["(pickled)"]


class Bomb:
    """Unpickling it is a failure."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("it was unpickled",)


def test_sections_are_not_unpickled_either(taken: StoredSavepoint, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(pytest.fail.Exception):
        pickle.loads(pickle.dumps(Bomb()))

    def no(*_: Any, **__: Any) -> Any:
        pytest.fail("something is unpickled")

    for name in ("loads", "load", "Unpickler"):
        monkeypatch.setattr(pickle, name, no)
    for module in (
        "penstock.runtime.buffers.codec.decode_value",
        "penstock.runtime.checkpoint.state_series.decode_value",
    ):
        monkeypatch.setattr(module, no)
    savepoint = read_savepoint(taken.place)
    assert verify(savepoint).problems == ()
    content_of(savepoint)


def test_differences(taken: StoredSavepoint, tmp_path: Path) -> None:
    one = content_of(taken)
    other = content_of(read_savepoint(job_of(tmp_path / "other", 3, uid="renamed", pipeline__max_parallelism=60).place))
    result = differences(one, other)
    changes = {(difference.what, difference.change, difference.name) for difference in result}
    assert ("operator", "removed", "many kinds (uid many)") in changes
    assert ("operator", "added", "many kinds (uid renamed)") in changes
    assert differences(one, one) == []
    [operator] = one.operators
    states = (*operator.states[1:], replace(operator.states[0], types=("Types.INT()",)))
    changed = replace(operator, max_parallelism=64, states=states, entries=operator.entries + 1, clock_timers=99)
    again = differences(one, replace(one, operators=(changed,), sources=()))
    assert {difference.change for difference in again} == {
        "max_parallelism",
        "entries",
        "clock_timers",
        "all: type",
        "removed",
    }
    assert [
        (difference.before, difference.after) for difference in again if difference.change == "max_parallelism"
    ] == [(128, 64)]
    assert [(difference.before, difference.after) for difference in again if difference.change == "all: type"] == [
        ("ListState(Types.STRING())", "ListState(Types.INT())")
    ]
    assert named(operator) == "many kinds (uid many)"
    less = replace(operator, states=operator.states[1:])
    assert {difference.change for difference in differences(one, replace(one, operators=(less,)))} == {"all: removed"}
    assert {difference.change for difference in differences(replace(one, operators=(less,)), one)} == {"all: added"}


def test_positions_are_compared(taken: StoredSavepoint) -> None:
    one = content_of(taken)
    [source] = one.sources
    later = replace(source, positions={"a": 5, "b": 6}, splits_ended=3, records=100)
    before = replace(source, positions={"a": 5, "c": 1}, splits_ended=0, records=100)
    result = differences(replace(one, sources=(before,)), replace(one, sources=(later,)))
    assert {(difference.change, difference.before, difference.after) for difference in result} == {
        ("split b", None, 6),
        ("split c", 1, None),
        ("splits_ended", 0, 3),
    }


def test_a_good_one_is_good(taken: StoredSavepoint) -> None:
    result = verify(read_savepoint(taken.place))
    assert (result.problems, result.unnamed) == ((), ())
    assert result.files == len(list(taken.manifest.state_files()))
    (Path(taken.state) / "more").touch()
    assert verify(taken).unnamed == ("more",)
    assert verify(taken).problems == ()


def copied(taken: StoredSavepoint, place: Path) -> StoredSavepoint:
    """A copy whose files are nobody else's."""
    shutil.copytree(taken.place, place)
    return read_savepoint(place)


def test_every_byte_of_every_file_counts(taken: StoredSavepoint, tmp_path: Path) -> None:
    copy, chance = copied(taken, tmp_path / "copy"), random.Random(7)
    for path in Path(copy.state).iterdir():
        data = path.read_bytes()
        places = [*range(40), *chance.sample(range(len(data)), 60)]
        for at in places:
            path.write_bytes(data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :])
            problems = verify(copy).problems
            assert len(problems) == 1 or at in (10, 11), at  # two bytes of the preamble are kept for later
            if problems:
                assert path.name in problems[0]
        for length in (0, 5, 31, 33, len(data) // 2, len(data) - 1):
            path.write_bytes(data[:length])
            assert len(verify(copy).problems) == 1
        path.unlink()
        assert len(verify(copy).problems) == 1
        with pytest.raises(SavepointError):
            content_of(copy)
        path.write_bytes(data)
    assert verify(copy).problems == ()


ODD: list[Any] = [None, True, -1, 1.5, "x", [], [[]], {}, 10**30, ["a", 5]]


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in a document."""
    paths = [path]
    for key, child in value.items() if type(value) is dict else enumerate(value) if type(value) is list else ():
        paths += places_in(child, (*path, key))
    return paths


def test_headers_with_right_checksums_and_odd_values_are_refused_or_harmless(
    taken: StoredSavepoint, tmp_path: Path
) -> None:
    copy = copied(taken, tmp_path / "copy")
    [(operator_id, operator)] = copy.manifest.operators.items()
    file = operator.subtasks[0][0]
    path = Path(copy.state, file.name)
    data, refused = path.read_bytes(), 0
    length = int.from_bytes(data[12:16], "big")
    header, sections = json.loads(data[32 : 32 + length]), data[32 + length :]
    for place in places_in(header)[1:]:
        for odd in ODD:
            changed = holder = json.loads(json.dumps(header))
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = odd
            text = json.dumps(changed).encode()
            preamble = data[:12] + len(text).to_bytes(4, "big")
            digest = blake2b(preamble + text, digest_size=16)
            path.write_bytes(preamble + digest.digest() + text + sections)
            other = replace(file, checksum=digest.hexdigest(), bytes=32 + len(text) + len(sections))
            chains = ((other, *operator.subtasks[0][1:]), *operator.subtasks[1:])
            operators = {operator_id: replace(operator, subtasks=chains)}
            crafted = replace(copy, manifest=replace(copy.manifest, operators=operators))
            refused += bool(verify(crafted).problems)
            try:
                as_json(asdict(content_of(crafted)))
            except SavepointError:
                assert verify(crafted).problems
    assert refused > 300


def test_a_file_of_another_operator_is_seen(taken: StoredSavepoint, tmp_path: Path) -> None:
    copy = copied(taken, tmp_path / "copy")
    [operator] = copy.manifest.operators.values()
    first, second = operator.subtasks
    swapped = replace(operator, subtasks=(second, first))
    [operator_id] = copy.manifest.operators
    odd = replace(copy, manifest=replace(copy.manifest, operators={operator_id: swapped}))
    problems = verify(odd).problems
    assert len(problems) == len(first) + len(second)
    assert "the savepoint says" in problems[0]


def test_lists_of_ended_splits_are_verified(tmp_path: Path) -> None:
    from penstock.job.folder.manifest import SourceState, StepManifest
    from penstock.job.folder.read_splits import EndedSplits, with_ended

    files = Files(str(tmp_path / "job"))
    Path(files.state).mkdir(parents=True)
    ended = with_ended(files.storage, files.state, EndedSplits(), [f"file {number}" for number in range(600)])
    manifest = StepManifest(5, "job", "1" * 32, 7, sources={"a" * 32: SourceState({}, ended)})
    taken = write_savepoint(files, manifest, tmp_path / "savepoint")
    assert content_of(read_savepoint(taken.place)).sources[0].splits_ended == 600
    assert verify(taken).problems == ()
    [path] = Path(taken.state).iterdir()
    data = path.read_bytes()
    path.unlink()
    for damage in (None, data[:-1], data.replace(b"file 5", b"file 6"), b""):
        if damage is not None:
            path.write_bytes(damage)
        assert len(verify(taken).problems) == 1
