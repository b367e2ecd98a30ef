"""Streaming queries over Spark Connect, whose micro-batches are handed over by files.

The function of ``foreachBatch`` runs in a process of the server. It writes the micro-batch to files, and waits. The
program reads these, and says by a file that they count; only then the query goes on. So a query is never ahead, and its
source may forget no more than over a Spark of this process. All files are in a folder of the query's, in the checkpoint
directory, which program and server reach::

    queries/ID/checkpoint/...       of Spark
    queries/ID/batches/17/...       the rows of batch 17; complete when Spark has marked them
    queries/ID/taken/17             batch 17 counts
    queries/ID/taken/beat-3         the program lives"""

from __future__ import annotations

import contextlib
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from penstock.errors import JobExecutionError, PenstockError, StepLostError
from penstock.spark import inside_pyspark
from penstock.spark.frames import ROW, Numbered, text_of
from penstock.spark.stream_checkpoint import Checkpoint
from penstock.spark.stream_queries import Handed, Query, triggered
from penstock.storage.storage import Entry, Storage, is_local, join
from penstock.storage.stores import configured, options_now, storage_of

QUERIES = "queries"  # name of the folder in a checkpoint directory

BEAT = 30.0  # seconds between two signs of life of the program
SILENCE = 600.0  # seconds without one after which a query ends, as its program is dead

LEAST_PAUSE, MOST_PAUSE = 0.02, 1.0  # seconds between two looks for a micro-batch; the pause grows while none comes
MOST_WAIT = 0.2  # seconds between two looks of the function on the server

_PATIENCE = 5.0  # seconds that a server gets to end a query
_PAUSES = (0.1, 0.4, 1.5)  # seconds after which a query that has ended may have written more
_TRIES = 3  # to start one, before the last
_NO_PYTHON = (
    "its server has started no Python that runs a function of foreachBatch. The log of the server says why: it may "
    "have too much to do, or its Python (PYSPARK_PYTHON) lack what Spark Connect needs, pip install 'pyspark[connect]'"
)
_COMPLETE = "_SUCCESS"
_PART = re.compile(r"part-(\d+)")


def handing(batches: str, taken: str, columns: int) -> Callable[[Any, int], None]:
    """The function that the server runs for each micro-batch. It needs nothing of Penstock there: made inside another
    one, it is pickled whole. Columns get other names, as Parquet takes no name twice, and each row its number."""
    names, number, silence, most = [f"c{index}" for index in range(columns)], ROW, SILENCE, MOST_WAIT

    def hand_over(frame: Any, batch: int) -> None:
        import time

        from pyspark.sql import functions as F

        rows = frame.toDF(*names).select("*", F.monotonically_increasing_id().alias(number))
        rows.write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "true").parquet(f"{batches}/{batch}")
        before, until, pause = None, 0.0, 0.01
        while True:
            files = frame.sparkSession.read.schema("line string").text(taken).inputFiles()  # a listing, not a job
            marks = {file.rpartition("/")[2] for file in files}
            if str(batch) in marks:
                return
            if marks != before:
                before, until = marks, time.monotonic() + silence
            elif time.monotonic() > until:
                raise RuntimeError(f"The program that reads {batches} has given no sign of life for {silence} seconds.")
            time.sleep(pause)
            pause = min(1.5 * pause, most)

    return hand_over


class ConnectQuery(Query):
    """A query on a server of Spark Connect.

    Args:
        frame: the streaming DataFrame.
        session: that of the job, in which the query runs, and which reads the micro-batches.
        folder: the checkpoint directory of the job.
        name: of the operator.
        at: where to begin; None: at the beginning.
        seen: the entries of logs up to there.
        once: whether it ends when it has read what there is now.

    Raises:
        StepLostError: the session has ended, or the server.
    """

    def __init__(
        self,
        frame: Any,
        session: Any,
        folder: str,
        name: str,
        at: Mapping[str, Any] | None,
        seen: Iterable[str],
        *,
        once: bool,
    ) -> None:
        super().__init__(name, goes_on=at is not None)
        self._session, self._fields = session, frame.schema.jsonValue()["fields"]
        query = uuid.uuid4().hex
        self._folder = join(folder, QUERIES, query)
        self._batches, self._taken = join(self._folder, "batches"), join(self._folder, "taken")
        self._storage = storage_of(folder)
        checkpoint = join(self._folder, "checkpoint")
        self._checkpoint = Checkpoint(checkpoint, at, seen)
        self._batch = self._checkpoint.next
        self._handed: Handed | None = None
        self._files: list[str] = []  # of the micro-batch
        self._error: JobExecutionError | None = None
        self._ended = self._left = False
        self._pause, self._look_at = LEAST_PAUSE, 0.0
        self._over = threading.Event()
        self._storage.put(join(self._taken, "beat-0"), b"")
        self._beats = threading.Thread(target=self._beat, args=(options_now(),), name="penstock-query", daemon=True)
        function = handing(seen_by_spark(self._batches), seen_by_spark(self._taken), len(self._fields))
        writer = inside_pyspark.rebound(frame, session).writeStream.foreachBatch(function)
        writer = writer.option("checkpointLocation", seen_by_spark(checkpoint)).queryName(f"{name} ({query[:8]})")
        try:
            self._query: Any = self._asked(lambda: _started(triggered(writer, once=once)))
        except BaseException:
            self._remove()
            raise
        self._beats.start()

    def _remove(self) -> None:
        """Remove the files, more than once: the function may still write a micro-batch when its query has ended. What a
        busy server writes later is removed at the next start."""
        for pause in _PAUSES:
            remove_tree(self._storage, self._folder)
            time.sleep(pause)
            if not self._storage.list(self._folder):
                break
        self._storage.remove_folder(self._folder.rpartition("/")[0])

    def _beat(self, options: Mapping[str, Mapping[str, Any]]) -> None:
        with configured(options):
            number = 0
            while not self._over.wait(BEAT):
                with contextlib.suppress(Exception):  # the next time may do
                    self._storage.put(join(self._taken, f"beat-{number + 1}"), b"")
                    self._storage.delete([join(self._taken, f"beat-{number}")])
                    number += 1

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """The answer of the server to a question about the query."""
        try:
            return ask()
        except Exception as error:
            text = str(error)
            if inside_pyspark.tells_session_ended(text) or inside_pyspark.is_stopped(text):
                raise StepLostError(inside_pyspark.lost(text)) from error
            raise self.failed(_NO_PYTHON if inside_pyspark.was_slow(text) else text_of(error)) from error

    def handed(self) -> Handed | None:
        self._look()
        if self._error is not None:
            raise self._error
        return self._handed

    @property
    def over(self) -> bool:
        self._look()
        return self._ended and self._error is None

    def _look(self) -> None:
        """Look for a micro-batch, now and then, and whether the query still runs."""
        if self._handed is not None or self._ended or self._left or time.monotonic() < self._look_at:
            return
        self._pause = min(1.5 * self._pause, MOST_PAUSE)
        self._look_at = time.monotonic() + self._pause
        entries = self._storage.list(join(self._batches, str(self._batch)))
        if any(entry.path.endswith(f"/{_COMPLETE}") for entry in entries):
            self._handed = self._read(entries)
        elif not self._asked(lambda: self._query.isActive):
            self._ended = True
            error = self._asked(self._query.exception)
            if error is not None:
                self._error = self.failed(inside_pyspark.query_failure(error) or text_of(error))

    def _read(self, entries: Iterable[Entry]) -> Handed:
        """The micro-batch, whose files are complete."""
        self._files = [entry.path for entry in entries if entry.size >= 0]
        parts = (_PART.match(path.rpartition("/")[2]) for path in self._files)
        partitions = {int(part[1]) for part in parts if part}
        fields = [{**field, "name": f"c{index}", "metadata": {}} for index, field in enumerate(self._fields)]
        fields.append({"name": ROW, "type": "long", "nullable": False, "metadata": {}})
        schema = inside_pyspark.struct_of({"type": "struct", "fields": fields})
        rows = self._session.read.schema(schema).parquet(seen_by_spark(join(self._batches, str(self._batch))))
        frame = Numbered(rows.toDF(*(field["name"] for field in self._fields), ROW))
        return Handed(frame, partitions, *self._checkpoint.position(self._batch))

    def go_on(self) -> None:
        if self._handed is None:
            return
        self._storage.put(join(self._taken, str(self._batch)), b"")
        self._storage.delete([*self._files, join(self._taken, str(self._batch - 1))])
        self._storage.remove_folder(join(self._batches, str(self._batch)))
        self._batch += 1
        self._handed, self._pause, self._look_at = None, LEAST_PAUSE, 0.0

    def stop(self) -> None:
        if self._left:
            return
        self._left = True
        self._over.set()

        def end() -> None:
            with contextlib.suppress(Exception):  # the session may have ended, or the server be gone
                self._query.stop()

        if not self._ended:
            ending = threading.Thread(target=end, name="penstock-query", daemon=True)
            ending.start()
            ending.join(_PATIENCE)
        self._beats.join(_PATIENCE)
        self._remove()


def _started(writer: Any) -> Any:
    """The query. A server with much to do is given more time to start the process of its function."""
    for _ in range(_TRIES):
        try:
            return writer.start()
        except Exception as error:
            if not inside_pyspark.was_slow(str(error)):
                raise
    return writer.start()


def remove_queries(folder: str) -> None:
    """Remove from a checkpoint directory what queries of a program have left that died."""
    remove_tree(storage_of(folder), join(folder, QUERIES))


def remove_tree(storage: Storage, folder: str) -> None:
    """Remove a folder with all that is in it, as far as it can be: the next start tries again."""
    with contextlib.suppress(OSError, PenstockError):
        for entry in storage.list(folder):
            if entry.size < 0:
                remove_tree(storage, entry.path)
            else:
                storage.delete([entry.path])
        storage.remove_folder(folder)


def seen_by_spark(path: str) -> str:
    """A path or URL of Penstock's as Spark reads it."""
    if path.startswith("/Volumes/"):  # of Databricks, whose Spark knows them by no scheme of files
        return path
    if is_local(path):  # not Path.as_uri(), which escapes blanks, as Hadoop does not
        return f"file://{path}"
    return f"s3a{path.removeprefix('s3')}" if path.startswith("s3://") else path
