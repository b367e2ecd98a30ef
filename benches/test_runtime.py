"""What a record costs on its way through the runtime: outputs, channel selectors, codecs, functions of batches."""

from __future__ import annotations

import pytest

import batch_functions
import keyed_functions
import output_kinds
import per_record
from conftest import Record

BUFFER = 2_000


@pytest.mark.parametrize("form", output_kinds.FORMS)
@pytest.mark.parametrize("kind", output_kinds.KINDS)
def test_outputs(record: Record, tiny: bool, kind: str, form: str) -> None:
    size, rounds = (300, 1) if tiny else (300_000, 5)
    seconds = output_kinds.measure(kind, form, size, rounds)
    assert min(seconds) >= 0
    record(phase="outputs", shape=kind, size=size, peer=form, seconds=seconds)


@pytest.mark.parametrize("form", keyed_functions.FORMS)
@pytest.mark.parametrize("kind", keyed_functions.KINDS)
def test_keyed_functions(record: Record, tiny: bool, kind: str, form: str) -> None:
    size, rounds = (300, 1) if tiny else (200_000, 3)
    few = keyed_functions.results(kind, form, 2_000)
    assert len(few) >= 200
    assert few == keyed_functions.results(kind, keyed_functions.FORMS[1], 2_000)
    record(
        phase="keyed functions",
        shape=kind,
        size=size,
        peer=form,
        seconds=keyed_functions.measure(kind, form, size, rounds),
    )


@pytest.mark.parametrize("way", per_record.WAYS)
@pytest.mark.parametrize("name", per_record.SELECTORS)
def test_selectors(record: Record, tiny: bool, name: str, way: str) -> None:
    size, rounds = (1_000, 1) if tiny else (500_000, 5)
    work, counted = per_record.selecting(name, way, per_record.records(name, size))
    assert work() == sum(channel * count for channel, count in enumerate(counted))
    record(phase="selectors", shape=name, size=size, peer=way, seconds=per_record.timed(work, rounds=rounds))


@pytest.mark.parametrize("codec", per_record.CODECS)
@pytest.mark.parametrize("name", per_record.TYPES)
def test_codecs(record: Record, tiny: bool, name: str, codec: str) -> None:
    size, rounds = (1_000, 1) if tiny else (100 * BUFFER, 5)
    values = [per_record.TYPES[name][1](key) for key in per_record.keys(size)]
    write, read = per_record.coding(name, codec, values, BUFFER)
    written = write()
    assert [value for some in read(written) for value in some] == values
    if codec != "pickle" and all(data[0] == 0x80 for data in written):
        return  # records of this type fall back to pickle
    facts = {"shape": name, "size": size, "peer": codec}
    record(phase="encode", seconds=per_record.timed(write, rounds=rounds), bytes=sum(map(len, written)), **facts)
    record(phase="decode", seconds=per_record.timed(read, written, rounds=rounds), **facts)


@pytest.mark.parametrize(
    ("kind", "way"), [(kind, way) for kind, work in batch_functions.KINDS.items() for way in work.ways]
)
def test_functions_of_batches(record: Record, tiny: bool, kind: str, way: str) -> None:
    size, rounds = (2_500, 1) if tiny else (500_000, 5)
    assert batch_functions.results(kind, way, 2_500) == batch_functions.results(kind, batch_functions.RECORDS, 2_500)
    seconds = batch_functions.measure(kind, way, size, rounds)
    record(phase="batches", shape=kind, size=size, peer=way, seconds=seconds)
