"""The bytes of state files: what is written once stays readable, and what is not what was written is refused."""

from __future__ import annotations

import dataclasses
import io
import json
import struct
import zlib
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import StateError
from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.checkpoint.state_series import load, save
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.operators.interval_join import IntervalJoin
from penstock.runtime.state.files import AboutOperator, StateReader
from penstock.runtime.state.operator_state import OperatorState
from tests.effort import examples
from tests.runtime.checkpoint.programs import OPERATORS, play, tables, timers
from tests.runtime.checkpoint.test_steps import empty
from tests.runtime.operators.operators_alone import Alone

ABOUT = AboutOperator("c0ffee" + "0" * 26, "Größen", "sizes", 1, 3, 128)
GOLDEN = Path(__file__).parent / "golden"
EVENTS = [("a", 1), ("b", 22), 3, ("c", 7), ("a", 6), 9, ("e", 44), *((f"k{n}", 20 + n) for n in range(30))]
LATER = [("a", 41), 10]
CASES = ("all kinds of state", "sessions", "interval join", "undeclared keys")


def written(folder, name):
    """A snapshot and a log, and the operator."""
    operator = OPERATORS[name]
    alone = Alone(operator, tracked=True)
    state = alone.context.operator_state
    play(alone, operator, EVENTS)
    state.list("offsets").extend([("file", 7)])
    chain = save(str(folder), alone.state, state, ABOUT, (), 1)
    play(alone, operator, LATER)
    state.broadcast("rules")["a"] = (1, None)
    return save(str(folder), alone.state, state, ABOUT, chain, 2), alone


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("state")
    return folder, *written(folder, "all kinds of state")


def loaded(folder, chain, like):
    keyed, state = empty(like), OperatorState()
    load(str(folder), [chain], keyed, state, dataclasses.replace(ABOUT, subtask=0, parallelism=1))
    return keyed, state


def test_every_byte_is_as_the_documentation_says(chain):
    folder, (file, log), _ = chain
    data = (folder / file.name).read_bytes()
    magic, version, zero, length, digest = struct.unpack(">8sHHI16s", data[:32])
    assert (magic, version, zero) == (b"PENSTATE", 1, 0)
    assert blake2b(data[:16] + data[32 : 32 + length], digest_size=16).digest() == digest
    assert file == StateFile(ABOUT.operator_id, file.name, "snapshot", len(data), digest.hex(), file.keys)
    header = json.loads(data[32 : 32 + length])
    assert header["kind"] == "snapshot"
    assert header["operator"] == dataclasses.asdict(ABOUT)
    assert header["key_groups"] == [43, 85]
    assert (header["version"], header["follows"]) == (1, None)
    assert header["key"] == ["org.apache.flink.api.common.typeutils.base.StringSerializer", "Types.STRING()"]
    value = next(state for state in header["states"] if state["name"] == "value")
    assert value["kind"] == "ValueState"
    assert value["serializers"] == ["org.apache.flink.api.common.typeutils.base.IntSerializer"]
    assert len(value["types"]) == 1
    assert [timers["whole"] for timers in header["timers"]] == [True, True]
    end = 32 + length
    for first, last, offset, size, crc in [*header["sections"], header["operator_state"]]:
        assert 32 + length + offset == end
        end += size
        part = data[end - size : end]
        assert zlib.crc32(part) == crc
        if first >= 0:
            assert 0 <= first <= last < 128
            namespaces, rows, moves = decode_value(part)
            assert decode_value(namespaces)[0] is None
            assert all(len(row) == 5 for row in rows)
            assert len(moves) == 2
        else:
            assert decode_value(decode_value(part)["split", "offsets"]) == [("file", 7)]
    assert end == len(data) == 32 + length + header["bytes"]
    reader = StateReader("log", io.BytesIO((folder / log.name).read_bytes()), log.bytes, ABOUT)
    assert (reader.header.kind, reader.header.follows, reader.header.version) == ("log", file.name, 2)


@settings(max_examples=examples(300))
@given(data=st.data())
def test_one_byte_that_is_not_what_was_written_is_an_error(chain, tmp_path_factory, data):
    folder, files, alone = chain
    damaged = data.draw(st.sampled_from(files))
    content = (folder / damaged.name).read_bytes()
    place = data.draw(st.one_of(st.integers(0, 40), st.integers(0, len(content) - 1)))
    kind = data.draw(st.sampled_from(["change", "cut", "add"]))
    if kind == "change":
        changed = content[place] ^ data.draw(st.integers(1, 255))
        content = content[:place] + bytes([changed]) + content[place + 1 :]
    else:
        content = content[:place] if kind == "cut" else content + b"x" * (place + 1)
    other = tmp_path_factory.mktemp("damaged")
    for file in files:
        (other / file.name).write_bytes(content if file is damaged else (folder / file.name).read_bytes())
    with pytest.raises(StateError) as caught:
        loaded(other, files, alone.state)
    for part in (
        damaged.name,
        "'Größen'",
        ABOUT.operator_id,
        "'sizes'",
        "key groups 0 to 127",
        "execution.checkpointing.dir",
    ):
        assert part in str(caught.value) or "later one" in str(caught.value)


def test_a_file_that_is_not_there_is_an_error(chain, tmp_path):
    folder, files, alone = chain
    (tmp_path / files[0].name).write_bytes((folder / files[0].name).read_bytes())
    with pytest.raises(StateError, match=r"-1-2-[0-9a-f]{8}' of operator 'Größen' .* is not there\. Restore the file"):
        loaded(tmp_path, files, alone.state)


def test_a_file_of_a_later_version_is_an_error(chain, tmp_path):
    folder, files, alone = chain
    content = bytearray((folder / files[0].name).read_bytes())
    content[9] = 2
    (tmp_path / files[0].name).write_bytes(content)
    with pytest.raises(StateError, match=r"has version 2 of the format, and this Penstock reads up to 1\. Run the job"):
        loaded(tmp_path, files[:1], alone.state)


def test_files_that_do_not_belong_together_are_an_error(chain, tmp_path):
    folder, (first, log), alone = chain
    other = save(str(folder), alone.state, None, ABOUT, (), 9)[0]
    renamed = dataclasses.replace(other, name=first.name)
    for wrong, match in [
        ((other, log), "and not after"),
        ((first, log, log), "and not after"),
        ((log,), "begins a series that is not a snapshot"),
        ((renamed, log), "bytes"),
        ((dataclasses.replace(first, checksum="0" * 32),), "its checksum differs"),
        ((dataclasses.replace(first, operator_id="0" * 32),), "belongs to operator 'Größen'"),
    ]:
        with pytest.raises(StateError, match=match):
            loaded(folder, wrong, alone.state)


def test_a_value_whose_class_has_gone_is_an_error(tmp_path, monkeypatch):
    chain, alone = written(tmp_path, "interval join")
    assert isinstance(OPERATORS["interval join"], IntervalJoin)
    monkeypatch.delattr("penstock.runtime.operators.interval_join._Buffer")
    with pytest.raises(StateError, match=r"has a value that cannot be read: AttributeError.* still have the classes"):
        loaded(tmp_path, chain, alone.state)


@pytest.mark.parametrize("name", CASES)
def test_files_of_format_1_stay_readable(name):
    folder = GOLDEN / name.replace(" ", "_")
    described = json.loads((folder / "chain.json").read_text())
    keyed, state = loaded(folder, tuple(StateFile(**line) for line in described["chain"]), Alone(OPERATORS[name]).state)
    assert repr(shown(keyed, state)) == described["state"]


def shown(keyed, state):
    """Everything, in an order of its own."""
    held = {
        "tables": sorted(
            ((place, sorted(pairs.items(), key=repr)) for place, pairs in tables(keyed).items()), key=repr
        ),
        "timers": [timers(queue) for _, queue in keyed.queues()],
        "serializers": sorted((i.name, i.serializers) for i in keyed.infos.values() if i.types),
        "operator": sorted((place, decode_value(data)) for place, data in state.snapshot().items()),
    }
    assert len(held["tables"]) > 1
    return held


def write_golden() -> None:
    """Written once for each format, and never again."""
    for name in CASES:
        folder = GOLDEN / name.replace(" ", "_")
        folder.mkdir(parents=True)
        chain, alone = written(folder, name)
        assert [file.kind for file in chain] == ["snapshot", "log"], name
        state = repr(shown(alone.state, alone.context.operator_state))
        described = {"chain": [dataclasses.asdict(file) for file in chain], "state": state}
        (folder / "chain.json").write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n")
