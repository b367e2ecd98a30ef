"""The checkpoint of a streaming query as files: laid out from a position, and read back."""

from __future__ import annotations

import json
import uuid

import pytest

from penstock.errors import UnsupportedError
from penstock.spark.stream_checkpoint import LAID_OUT, Checkpoint
from penstock.storage.storage import join
from penstock.storage.stores import storage_of

META = '{"batchWatermarkMs":0,"batchTimestampMs":7,"conf":{}}'


@pytest.fixture(params=["local", "memory"])
def place(request, tmp_path):
    return str(tmp_path) if request.param == "local" else f"memory://stream-checkpoint/{uuid.uuid4().hex}"


def put(folder, name, *lines):
    storage_of(folder).put(join(folder, name), "\n".join(lines).encode())


def text(folder, name):
    return storage_of(folder).get(join(folder, name)).decode()


def entry(path, batch):
    return json.dumps({"path": path, "timestamp": 5, "batchId": batch}, separators=(",", ":"))


def test_a_position_is_laid_out_as_it_was_read(place):
    old, new = join(place, "old"), join(place, "new")
    first = Checkpoint(old, None, ())
    put(old, "offsets/0", "v1", META, '{"logOffset":0}', "3", "-")
    put(old, "sources/0/0", "v1", entry("a", 0), entry("b", 0))
    put(old, "sources/1/0", "v1", "1795367883286")
    put(old, "sources/1/.0.crc", "x")
    at, seen = first.position(0)
    assert seen == ["0 " + entry("a", 0), "0 " + entry("b", 0)]
    assert at["sources"] == {"1/0": "v1\n1795367883286"}
    Checkpoint(new, at, seen)
    offsets = text(new, f"offsets/{LAID_OUT}").split("\n")
    assert offsets == ["v1", META, '{"logOffset":1}', "3", "-"]
    assert text(new, f"commits/{LAID_OUT}")
    assert text(new, "sources/0/0").split("\n") == ["v1", entry("a", 0), entry("b", 0)]
    assert text(new, "sources/0/1") == "v1"
    assert text(new, "sources/1/0") == "v1\n1795367883286"


def test_only_what_is_new_is_seen_also_in_a_log_that_was_put_together(place):
    checkpoint = Checkpoint(place, None, ())
    put(place, "offsets/0", "v1", META, '{"logOffset":0}')
    put(place, "sources/0/0", "v1", entry("a", 0))
    assert checkpoint.position(0)[1] == ["0 " + entry("a", 0)]
    put(place, "offsets/1", "v1", META, '{"logOffset":2}')
    put(place, "sources/0/1", "v1", entry("b", 1))
    put(place, "sources/0/2.compact", "v1", entry("a", 0), entry("b", 1), entry("c", 2))
    assert checkpoint.position(1)[1] == ["0 " + entry("b", 1), "0 " + entry("c", 2)]


def test_what_was_seen_is_not_seen_again(place):
    at = {"offsets": f'v1\n{META}\n{{"logOffset":7}}', "sources": {}}
    checkpoint = Checkpoint(place, at, ["0 " + entry("a", 7)])
    assert text(place, "sources/0/0") == "v1\n" + entry("a", 0)
    put(place, "offsets/2", "v1", META, '{"logOffset":2}')
    put(place, "sources/0/2", "v1", entry("b", 2))
    assert checkpoint.position(2)[1] == ["0 " + entry("b", 2)]


def test_state_of_sparks_and_other_forms_are_refused(place):
    checkpoint = Checkpoint(place, None, ())
    put(place, "offsets/0", "v2", META, "a:3")
    with pytest.raises(UnsupportedError, match="in the form 'v2'"):
        checkpoint.position(0)
    put(place, "state/metadata", "{}")
    with pytest.raises(UnsupportedError, match=r"keeps state.*key_by"):
        checkpoint.position(0)
