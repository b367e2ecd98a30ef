"""The checkpoint of a streaming query as files: laid out from a position, and read back."""

from __future__ import annotations

import json

import pytest

from penstock.errors import UnsupportedError
from penstock.spark.streams import LAID_OUT, Checkpoint

META = '{"batchWatermarkMs":0,"batchTimestampMs":7,"conf":{}}'


def put(folder, name, *lines):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))


def entry(path, batch):
    return json.dumps({"path": path, "timestamp": 5, "batchId": batch}, separators=(",", ":"))


def test_a_position_is_laid_out_as_it_was_read(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    first = Checkpoint(old, None, ())
    put(old, "offsets/0", "v1", META, '{"logOffset":0}', "3", "-")
    put(old, "sources/0/0", "v1", entry("a", 0), entry("b", 0))
    put(old, "sources/1/0", "v1", "1795367883286")
    put(old, "sources/1/.0.crc", "x")
    at, seen = first.position(0)
    assert seen == ["0 " + entry("a", 0), "0 " + entry("b", 0)]
    assert at["sources"] == {"1/0": "v1\n1795367883286"}
    Checkpoint(new, at, seen)
    offsets = (new / f"offsets/{LAID_OUT}").read_text().split("\n")
    assert offsets == ["v1", META, '{"logOffset":1}', "3", "-"]
    assert (new / f"commits/{LAID_OUT}").exists()
    assert (new / "sources/0/0").read_text().split("\n") == ["v1", entry("a", 0), entry("b", 0)]
    assert (new / "sources/0/1").read_text() == "v1"
    assert (new / "sources/1/0").read_text() == "v1\n1795367883286"


def test_only_what_is_new_is_seen_also_in_a_log_that_was_put_together(tmp_path):
    checkpoint = Checkpoint(tmp_path, None, ())
    put(tmp_path, "offsets/0", "v1", META, '{"logOffset":0}')
    put(tmp_path, "sources/0/0", "v1", entry("a", 0))
    assert checkpoint.position(0)[1] == ["0 " + entry("a", 0)]
    put(tmp_path, "offsets/1", "v1", META, '{"logOffset":2}')
    put(tmp_path, "sources/0/1", "v1", entry("b", 1))
    put(tmp_path, "sources/0/2.compact", "v1", entry("a", 0), entry("b", 1), entry("c", 2))
    assert checkpoint.position(1)[1] == ["0 " + entry("b", 1), "0 " + entry("c", 2)]


def test_what_was_seen_is_not_seen_again(tmp_path):
    at = {"offsets": f'v1\n{META}\n{{"logOffset":7}}', "sources": {}}
    checkpoint = Checkpoint(tmp_path, at, ["0 " + entry("a", 7)])
    assert (tmp_path / "sources/0/0").read_text() == "v1\n" + entry("a", 0)
    put(tmp_path, "offsets/2", "v1", META, '{"logOffset":2}')
    put(tmp_path, "sources/0/2", "v1", entry("b", 2))
    assert checkpoint.position(2)[1] == ["0 " + entry("b", 2)]


def test_state_of_sparks_and_other_forms_are_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path, None, ())
    put(tmp_path, "offsets/0", "v2", META, "a:3")
    with pytest.raises(UnsupportedError, match="in the form 'v2'"):
        checkpoint.position(0)
    (tmp_path / "state").mkdir()
    with pytest.raises(UnsupportedError, match=r"keeps state.*key_by"):
        checkpoint.position(0)
