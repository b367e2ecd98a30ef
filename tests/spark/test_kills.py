"""Tasks that die and are tried again leave exactly what they would have left."""

from __future__ import annotations

import pytest

from penstock.local import LocalExecutor
from penstock.runtime.io.sources import SequenceSource
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.elementwise import StreamMap
from penstock.runtime.operators.source import StreamSource
from tests.job.dying import PLACES, facts, fail, kill, leave, mortal
from tests.job.programs import Program
from tests.matrix.knobs import BUFFER, CODEC, FORM


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    result = facts(LocalExecutor(), mortal(folder / "out", folder / "marker"), folder / "out")
    assert result["names"] == ["left", "more", "right"]
    assert all(result["collected"].values())
    assert sum(not name.startswith("more/") for name in result["files"]) == 3
    assert len(result["files"]) > 3 + 2
    return result


@pytest.mark.parametrize(
    ("place", "dies"),
    [*((place, kill) for place in PLACES), ("window", leave), ("process", fail), ("close of keyed", fail)],
)
def test_nothing_is_lost_and_nothing_counts_twice(executor, tmp_path, expected, place, dies):
    marker, out = tmp_path / "marker", tmp_path / "out"
    actual = facts(executor, mortal(out, marker, place, dies), out)
    assert marker.exists()
    assert max(report.attempt for report in executor.reports) == (3 if dies is fail else 1)
    assert actual == expected


@pytest.mark.parametrize("place", ["map", "keyed", "window"])
def test_a_task_that_reads_sorted_input_is_tried_again(executor, tmp_path, place):
    marker = tmp_path / "marker"
    dying, living = mortal(tmp_path / "out", marker, place, kill), mortal(tmp_path / "expected", marker)
    for program in (dying, living):
        program.settings["execution.runtime-mode"] = "BATCH"
    actual = facts(executor, dying, tmp_path / "out")
    assert max(report.attempt for report in executor.reports) == 1
    assert actual == facts(LocalExecutor(), living, tmp_path / "expected")


class Diary:
    """Writes down what it is given, by subtask and attempt; the first attempt ends by a kill, after the last record."""

    def __init__(self, folder, dies):
        self.folder, self.dies = folder, dies

    def open(self, context):
        self.me, self.attempt = context.get_index_of_this_subtask(), context.get_attempt_number()
        self.seen = []

    def map(self, value):
        self.seen.append(value)
        return value

    def close(self):
        (self.folder / f"{self.me}-{self.attempt}").write_text(repr(self.seen))
        if self.dies and self.attempt == 0:
            kill(0, f"{self.folder}/killed-{self.me}")


@pytest.mark.parametrize("settings", [{}, {BUFFER: "1"}, {CODEC: "columns", FORM: "listed"}], ids=str)
def test_a_task_that_is_tried_again_reads_the_same_in_the_same_order(executor, tmp_path, settings):
    """Three senders on each of three edges; what comes first would otherwise depend on which answers first."""

    def diary(folder, dies):
        folder.mkdir()
        program = Program(settings=dict(settings))
        one = program.add(StreamSource(SequenceSource(0, 2999)), p=3)
        two = program.add(StreamSource(SequenceSource(3000, 3299)), p=3)
        by_key = {"source": two, "partitioner": "HASH", "spec": KeyPartition(lambda value: value)}
        edges = {"source": one, "partitioner": "SHUFFLE"}, by_key, {"source": one, "partitioner": "REBALANCE"}
        program.collect(program.add(StreamMap(Diary(folder, dies)), *edges, p=2))
        return program

    plain, killed = tmp_path / "plain", tmp_path / "killed"
    LocalExecutor().execute(diary(plain, False).pipeline())
    executor.execute(diary(killed, True).pipeline())
    for subtask in "01":
        seen = (plain / f"{subtask}-0").read_text()
        assert len(seen) > 10_000
        assert seen == (killed / f"{subtask}-0").read_text() == (killed / f"{subtask}-1").read_text()
