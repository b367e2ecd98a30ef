"""What notes say of a job that was killed, or has failed: each text once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.datastream.run_exactly_once import ExactNotes


@pytest.mark.parametrize(("all_attempts", "texts"), [(False, ["a", "b"]), (True, ["a", "b", "b"])])
def test_what_a_failed_step_has_taken_counts_once_whoever_tried_it_again(
    tmp_path: Path, all_attempts: bool, texts: list[str]
) -> None:
    notes = ExactNotes(str(tmp_path), all_attempts)
    notes.failed = True
    Path(notes.sinks, "out-1.json").write_text(json.dumps(["out", 1, [[0, ["a"]]]]))
    for _ in range(2):
        notes.add("aborted", "out", 0, 0, json.dumps([1, ["a"]]))
        notes.add("aborted", "out", 0, 0, json.dumps([2, ["b"]]))
    assert notes.read("sink") == {("out", 0): texts}
