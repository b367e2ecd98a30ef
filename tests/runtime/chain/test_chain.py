"""Order of life in a chain: open, records, end of input, close."""

from __future__ import annotations

import pytest

from penstock.errors import JobExecutionError
from penstock.local import LocalExecutor
from penstock.runtime.operators.elementwise import StreamFlatMap, StreamMap
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import StreamSource
from tests.job.programs import Program


class Traced:
    """A function that writes what happens to it to a file: every subtask has its own copy of the object."""

    def __init__(self, path, name, fail=None):
        self.path, self.name, self.fail = str(path), name, fail

    def note(self, what):
        with open(self.path, "a") as file:
            file.write(f"{what} {self.name}\n")
        if self.fail == what:
            raise RuntimeError(f"in {what}")

    def open(self, runtime_context):
        self.note("open")

    def close(self):
        self.note("close")

    def map(self, value):
        self.note(f"map:{value}")
        return value

    def flat_map(self, value):
        self.note(f"flat:{value}")
        yield f"{value}1"
        self.note("between")
        yield f"{value}2"

    def invoke(self, value):
        self.note(f"sink:{value}")

    def run(self, ctx):
        self.note("run")
        ctx.collect("x")
        self.note("ran")


def build(path, fail=None):
    """source -> flat -> (left -> sink, right)."""
    fail = fail or {}
    traced = {n: Traced(path, n, fail.get(n)) for n in ("source", "flat", "left", "sink", "right")}
    program = Program()
    source = program.add(StreamSource(traced["source"]))
    flat = program.add(StreamFlatMap(traced["flat"]), source)
    left = program.add(StreamMap(traced["left"]), flat)
    right = program.add(StreamMap(traced["right"]), flat)
    program.add(StreamSink(traced["sink"]), left)
    program.collect(right)
    return program


def test_open_from_the_tail_close_from_the_head_records_depth_first(tmp_path):
    trace = tmp_path / "trace"
    LocalExecutor().execute(build(trace).pipeline())
    assert trace.read_text().splitlines() == [
        "open sink",
        "open left",
        "open right",
        "open flat",
        "open source",
        "run source",
        "flat:x flat",
        "map:x1 left",
        "sink:x1 sink",
        "map:x1 right",
        "between flat",
        "map:x2 left",
        "sink:x2 sink",
        "map:x2 right",
        "ran source",
        "close source",
        "close flat",
        "close right",
        "close left",
        "close sink",
    ]


@pytest.mark.parametrize(
    "fail", [{"left": "open"}, {"left": "map:x1"}, {"sink": "sink:x2"}, {"right": "close"}, {"source": "run"}]
)
def test_what_was_opened_is_closed_after_a_failure(tmp_path, fail):
    trace = tmp_path / "trace"
    ((name, _),) = fail.items()
    with pytest.raises(JobExecutionError) as caught:
        LocalExecutor().execute(build(trace, fail).pipeline())
    position = {"source": 1, "flat": 2, "left": 3, "right": 4, "sink": 5}[name]
    assert (caught.value.operator or "").endswith(f" {position}")
    assert isinstance(caught.value.__cause__, RuntimeError)
    lines = trace.read_text().splitlines()
    opened = {x.split()[1] for x in lines if x.startswith("open")}
    closed = [x.split()[1] for x in lines if x.startswith("close")]
    assert set(closed) == opened
    assert len(closed) == len(set(closed))
