"""What a FileSink passes on between two checkpoints: its files are those of one whose object has lived on, whichever
object runs a step, whether attempts run twice, and wherever the last step is."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.common.bulk_writer import BulkWriter, BulkWriterFactory
from penstock.common.serialization import SimpleStringEncoder
from penstock.connectors.files import file_sink, packs
from penstock.connectors.files.bulk_sink import BulkOutput
from penstock.connectors.files.file_sink import FileOutput
from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.operators.sink import StreamSink
from tests.job.commit.crashes import Buckets
from tests.job.programs import Program
from tests.job.steps.looping import FOLDER_ID, in_steps


class Lines(BulkWriterFactory[Any]):
    """A format that keeps its records until the file ends."""

    def create(self, out):
        return _Lines(out)


class _Lines(BulkWriter[Any]):
    def __init__(self, out):
        self.out, self.kept = out, []

    def add_element(self, element):
        self.kept.append(element)

    def flush(self):
        """Everything waits for the end."""

    def finish(self):
        self.out.write("".join(f"{text}\n" for text in ["begin", *self.kept, "end"]).encode())


class Sink:
    """A sink of one subtask, whose steps are run by one object or by many."""

    def __init__(self, root: Path, *, bulk: bool = False, part_size: int | None = None) -> None:
        base = str(root / "out")
        text = FileOutput(base, SimpleStringEncoder(), Buckets(), part_size)
        output = BulkOutput(base, Lines(), Buckets(), None) if bulk else text
        program = Program()
        program.add(StreamSink(output), program.source([]), p=1, name="Sink: out")
        self.deployment = in_steps(program.pipeline("passed on"), str(root / "job"))
        self.vertex = self.deployment.vertices[-1]
        self.volatile: Any = None
        self.files: dict[str, str] = {}
        (root / "out" / f".steps-{FOLDER_ID}-{self.deployment.job.job_id}").mkdir(parents=True, exist_ok=True)

    def writer(self) -> tuple[Any, OperatorContext]:
        """An object that goes on from the last step."""
        context = OperatorContext(self.deployment.job, self.vertex, self.vertex.operators[-1], 0, 0, lambda *_: None)
        writer: Any = decode_value(self.vertex.operators[-1].operator).function.writer(context)
        if self.volatile is not None:
            writer.resume(decode_value(self.volatile))
        writer.open()
        return writer, context

    def step(self, on: tuple[Any, OperatorContext], values: list[int], end: str) -> None:
        """A step that counts; ``end`` is the method that ends it."""
        writer, context = on
        context.commits, context.saves = end == "end_step", end != "flush"
        for value in values:
            writer.write(value)
        getattr(writer, end)()
        self.volatile = dumps(writer.volatile())
        for file in context.files:
            assert file.final not in self.files
            self.files[file.final] = Path(file.pending).read_text()
        context.files.clear()


steps = st.lists(
    st.tuples(
        st.lists(st.integers(0, 120), max_size=12),
        st.booleans(),  # whether it is a checkpoint
        st.booleans(),  # whether another object runs it
        st.booleans(),  # whether an attempt before it does not count
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.slow
@given(steps, st.booleans(), st.sampled_from([None, 3, 10]), st.sampled_from([1, 20, 1 << 14]), st.booleans())
@settings(
    max_examples=settings().max_examples,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
def test_files_are_those_of_an_object_that_lives_on(tmp_path_factory, script, bulk, part_size, little, ends) -> None:
    root = tmp_path_factory.mktemp("passed")
    passing, growing = Sink(root, bulk=bulk, part_size=part_size), Sink(root, bulk=bulk, part_size=part_size)
    growing.deployment = dataclasses.replace(growing.deployment, job=passing.deployment.job)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packs, "_INLINE_BYTES", little)
        patch.setattr(file_sink, "_WAITING_BYTES", 2 * little)
        on, lives = passing.writer(), growing.writer()
        for values, commits, other, twice in script:
            if twice:
                attempt, before = passing.writer(), copy.copy(passing.volatile)
                passing_files, passing.files = passing.files, {}
                passing.step(attempt, values[::2], "end_step" if commits else "pass_on")
                passing.files, passing.volatile = passing_files, before
            on = passing.writer() if other else on
            passing.step(on, values, "end_step" if commits else "pass_on")
            growing.step(lives, values, "end_step" if commits else "flush")
        end = "finish" if ends else "end_step"
        passing.step(passing.writer(), [7], end)  # a subtask may end in a step that is no checkpoint
        growing.step(lives, [7], end)
    assert passing.files == growing.files
    assert sum(text.count("\n") for text in passing.files.values()) >= 1


def test_a_pack_that_was_cut_is_an_error(tmp_path) -> None:
    sink = Sink(tmp_path)
    sink.step(sink.writer(), [*range(100)] * 100, "pass_on")
    [pack] = (path for path in (tmp_path / "job" / "prepared").rglob("*-0-*") if path.is_file())
    pack.write_bytes(pack.read_bytes()[:-1])
    with pytest.raises(OSError, match="is shorter than when it was written"):
        sink.step(sink.writer(), [1], "end_step")
    pack.unlink()
    with pytest.raises(FileNotFoundError):
        sink.step(sink.writer(), [1], "end_step")
