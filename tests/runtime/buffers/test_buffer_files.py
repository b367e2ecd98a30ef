"""Buffers in files: what is read is what was put, and a file that is not whole is refused."""

from __future__ import annotations

import random

import pytest

from penstock.runtime.buffers.buffer_files import BufferFile, forget_all
from penstock.runtime.buffers.row import Row
from penstock.runtime.config.tasks import InputEdge
from penstock.runtime.exchange.gate import InputGate


def test_any_buffer_is_read_at_any_time(tmp_path):
    draw = random.Random(7)
    buffers = [draw.randbytes(draw.choice([0, 1, 100, 1 << 20])) for _ in range(20)]
    file = BufferFile(str(tmp_path))
    assert not list(tmp_path.iterdir())  # made with the first buffer
    places = []
    for buffer in buffers:
        places.append(file.put(buffer))
        assert places[-1].read() == buffer  # while the file is open
    file.close()
    order = list(range(20))
    draw.shuffle(order)
    assert [places[index].read() for index in order] == [buffers[index] for index in order]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_buffer_for_several_receivers_is_written_once(tmp_path):
    file, buffer = BufferFile(str(tmp_path)), b"x" * 100
    assert file.put(buffer) == file.put(buffer)
    assert file.put(bytes(bytearray(buffer))).offset == 100  # equal, but another one
    file.close()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == 200


def test_a_file_that_is_not_whole(tmp_path):
    file = BufferFile(str(tmp_path))
    place = file.put(b"x" * 100)
    file.close()
    with open(place.path, "r+b") as other:
        other.truncate(60)
    with pytest.raises(OSError, match="60 bytes at 0, where a task has written 100"):
        place.read()
    forget_all(str(tmp_path))
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError):
        place.read()
    forget_all(str(tmp_path / "never"))


def test_a_full_disk_is_an_error_with_the_file(tmp_path):
    file = BufferFile(str(tmp_path))
    place = file.put(b"x")
    file._file = open("/dev/full", "wb", buffering=0)  # noqa: SIM115 - closed below
    with pytest.raises(OSError, match="No space left") as raised:
        file.put(b"y" * 100)
    assert raised.value.filename == place.path
    file.close()


@pytest.mark.parametrize("senders", [1, 3])
def test_a_gate_takes_buffers_in_files_and_others(tmp_path, senders):
    """In one order; nothing of a buffer in a file is in memory, or in the gate's own file, before it is due."""
    gate, rows = InputGate([InputEdge(0, 0, senders)], memory=1 << 10), []
    for sender in range(senders):
        file = BufferFile(str(tmp_path))
        for number in range(6):
            data = bytes([sender, number]) * 50
            row = Row(1, 0, 0, sender, number, data)
            rows.append(row._replace(data=file.put(data)) if number % 2 else row)
        file.close()
    if gate.ordered:
        arrivals = list(gate.pass_on(rows))
    else:
        for row in rows:
            gate.add(row)
        assert gate._store.held == senders * 3 * 100
        arrivals = list(gate.drain())
    expected = [bytes([sender, number]) * 50 for number in range(6) for sender in range(senders)]
    assert [arrival.data for arrival in arrivals] == expected
    gate.close()
