"""A disk that is full where a sink keeps what waits for a commit: the error names the file."""

from __future__ import annotations

import builtins
import os
import re
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.common import Types
from penstock.common.serialization import Encoder
from penstock.connectors.kafka import sink as kafka_sink
from penstock.datastream.connectors import FileSink
from penstock.datastream.formats import CsvBulkWriters, CsvSchema
from penstock.errors import JobExecutionError
from penstock.job.commit.publication import publish_files
from penstock.job.folder.manifest import Output
from penstock.runtime.config.tasks import PendingFile
from penstock.runtime.io.pending_paths import ATTEMPT
from tests.job.restore.jobs import environment

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")

CSV = CsvSchema.builder().add_string_column("line").build()
SINKS = {
    "text": lambda stream, out: stream.write_as_text(out),
    "files": lambda stream, out: stream.sink_to(FileSink.for_row_format(out, Encoder.simple_string_encoder()).build()),
    "tables": lambda stream, out: stream.map(lambda line: (line,), Types.TUPLE([Types.STRING()])).sink_to(
        FileSink.for_bulk_format(out, CsvBulkWriters.for_schema(CSV)).build()
    ),
}


@pytest.fixture
def full(monkeypatch):
    """What tasks write for a commit is on a full disk."""
    original = builtins.open

    def opened(path, mode="r", *args, **more):
        waits = "r" not in mode and isinstance(path, str) and re.fullmatch(ATTEMPT, os.path.basename(path))
        return original("/dev/full" if waits else path, mode, *args, **more)

    monkeypatch.setattr(builtins, "open", opened)


@pytest.mark.parametrize("name", SINKS)
@pytest.mark.parametrize("steps", [True, False], ids=["in steps", "one step"])
@pytest.mark.usefixtures("full")
def test_the_file_of_a_sink_is_named(tmp_path, name, steps):
    env = environment(tmp_path / "job" if steps else None, 1)
    SINKS[name](env.from_collection(["a", "b"], Types.STRING()), str(tmp_path / "out"))
    with pytest.raises(JobExecutionError, match=rf"No space left on device: '{tmp_path}/\S+'"):
        env.execute()


def test_the_file_in_which_records_for_kafka_wait_is_named(tmp_path):
    writer: Any = kafka_sink._FileWriter.__new__(kafka_sink._FileWriter)
    writer._rows, writer._bytes = [("t", -1, 0, None, b"x" * 100, None)] * 10, 0
    writer._names = PendingFile("0", "/dev/full", "final")
    writer._file = open("/dev/full", "wb", 1 << 20)  # noqa: SIM115
    writer._context = SimpleNamespace(files=[])
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        writer.finish()


def test_the_text_file_that_grows_is_named(tmp_path):
    (tmp_path / "pending").write_text("a line\n")
    (tmp_path / "grows").symlink_to("/dev/full")
    output = Output(str(tmp_path / "pending"), str(tmp_path / "grows"), overwrite=False, at=0, size=7)
    with pytest.raises(OSError, match=rf"No space left on device: '{tmp_path}/grows'"):
        publish_files([output])
