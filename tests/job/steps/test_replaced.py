"""A driver that another one has replaced ends, also if it has nothing to do."""

from __future__ import annotations

import time

import pytest

from penstock.common import Duration, WatermarkStrategy
from penstock.datastream.connectors import FileSource, StreamFormat
from penstock.errors import FencedError
from penstock.job.folder import owners
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.owners import Owner
from tests.job.restore.jobs import environment

NONE = WatermarkStrategy.no_watermarks()


@pytest.fixture
def impatient(monkeypatch):
    """Leases are over at once, there are no locks, and drivers look often whether they have been replaced."""
    monkeypatch.setattr(owners, "LEASE_SECONDS", -60.0)
    monkeypatch.setattr("penstock.job.folder.lease.BEAT_SECONDS", 0.05)
    monkeypatch.setattr(owners.Lock, "_lock", lambda self, file: None)


@pytest.mark.parametrize("interval", [None, 60_000])
def test_a_driver_that_is_idle_ends_when_another_one_has_its_folder(tmp_path, impatient, interval) -> None:
    inbox, seen = tmp_path / "inbox", tmp_path / "seen"
    inbox.mkdir()
    (inbox / "a").write_text("one\ntwo\n")
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(inbox))
    env = environment(tmp_path / "job", 1)
    if interval is not None:
        env.enable_checkpointing(interval)
    source = files.monitor_continuously(Duration.of_millis(10)).build()
    env.from_source(source, NONE, "inbox").uid("inbox").add_sink(lambda line: seen.touch())
    client = env.execute_async("idle")
    job = client.get_job_execution_result()
    try:
        until = time.monotonic() + 60
        while not seen.exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        with JobFolder(str(tmp_path / "job")).open("idle", Owner("idle", user="ada")) as second:
            error = job.exception(60)
            assert isinstance(error, FencedError)
            assert "was taken over by the job 'idle' of ada" in str(error)
            second.check()
    finally:
        if not job.done():
            client.cancel()
