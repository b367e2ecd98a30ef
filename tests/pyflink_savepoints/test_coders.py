"""Values are read as PyFlink's own coders write and read them, and damaged bytes are refused."""

from __future__ import annotations

import random
import struct
from datetime import date, datetime, time
from decimal import Decimal
from pickle import UnpicklingError
from typing import Any

import pytest

from penstock.common import Instant, Row, RowKind, Types
from penstock.errors import PenstockError
from penstock.flink.pyflink.coders import coder_for
from penstock.savepoints.pyflink_pickles import loads_of_pyflink
from tests.pyflink_savepoints.golden import samples
from tests.pyflink_savepoints.samples import SAMPLES

NAMES = {it.__name__: it for it in (Decimal, Instant, Row, RowKind, Types, date, datetime, time)}
PLAIN = loads_of_pyflink(unpickle=False)
REFUSED = (IndexError, struct.error, ValueError, TypeError, UnpicklingError, PenstockError)


def reader(sample: dict[str, Any]) -> Any:
    return coder_for(eval(sample["type"], dict(NAMES)), PLAIN)


def test_samples_are_of_all_types() -> None:
    assert {(it["type"], it["value"]) for it in samples()} == {(kind, it) for kind in SAMPLES for it in SAMPLES[kind]}


@pytest.mark.parametrize("kind", SAMPLES)
def test_values_are_those_that_pyflink_reads(kind: str) -> None:
    compared = 0
    for sample in samples():
        if sample["type"] == kind:
            data = bytes.fromhex(sample["bytes"])
            value, at = reader(sample)(b"?" + data + b"?", 1)
            assert (repr(value), at) == (sample["decoded"], 1 + len(data)), sample
            compared += 1
    assert compared == 2 * len(SAMPLES[kind])


def test_bytes_that_end_too_early_are_refused() -> None:
    for sample in samples():
        data = bytes.fromhex(sample["bytes"])
        for size in range(len(data)):
            with pytest.raises(REFUSED):
                reader(sample)(data[:size], 0)


def test_damaged_bytes_are_refused_or_read() -> None:
    chosen, read = random.Random(1), 0
    for sample in samples():
        data = bytearray.fromhex(sample["bytes"])
        for _ in range(20 if data else 0):
            data[chosen.randrange(len(data))] = chosen.randrange(256)
            try:
                reader(sample)(bytes(data), 0)
                read += 1
            except REFUSED:
                pass
    assert read > 500
