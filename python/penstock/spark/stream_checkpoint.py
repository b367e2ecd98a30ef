"""The checkpoint of a streaming query: laid out from a job's manifest when a query starts, and read for the next one.

It is where Spark reads and writes it, in a temporary folder of the driver or in the checkpoint directory. Source of the
semantics: ``OffsetSeqLog``, ``CommitLog``, ``CompactibleFileStreamLog`` (Spark 4.3)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from penstock.errors import UnsupportedError
from penstock.storage.storage import join
from penstock.storage.stores import storage_of

LAID_OUT = 1
"""The last batch that counts as done: an empty one behind all that was read, as sources repeat their last batch."""
_COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'
_HEAD = 2  # lines of offsets before those of sources: a version, and Spark's own data of the batch


class Checkpoint:
    """The folder of a query's checkpoint. ``seen`` are entries of logs of sources of files, as of :meth:`position`: a
    log grows without an end, so its entries are kept as splits that have ended."""

    def __init__(self, folder: str, at: Mapping[str, Any] | None, seen: Iterable[str]) -> None:
        self._folder, self._storage = folder, storage_of(folder)
        self._logs: dict[int, int] = {}  # how far entries are known, by source
        self.next = 0
        """The number of the query's first batch."""
        if at is not None:
            self._lay_out(at, seen)
            self.next = LAID_OUT + 1

    def _lay_out(self, at: Mapping[str, Any], seen: Iterable[str]) -> None:
        lines = str(at["offsets"]).split("\n")
        logs = {index for index, line in enumerate(lines[_HEAD:]) if _log_offset(line) is not None}
        self._logs = dict.fromkeys(logs, LAID_OUT)
        self._write("metadata", json.dumps({"id": str(uuid.uuid4())}))
        for batch in range(LAID_OUT + 1):
            log = json.dumps({"logOffset": batch}, separators=(",", ":"))
            offsets = (log if index in logs else line for index, line in enumerate(lines[_HEAD:]))
            self._write(f"offsets/{batch}", "\n".join((*lines[:_HEAD], *offsets)))
            self._write(f"commits/{batch}", _COMMIT)
        for name, text in at["sources"].items():
            self._write(f"sources/{name}", text)
        entries: dict[int, list[str]] = {index: ["v1"] for index in logs}
        for line in seen:
            index, _, entry = line.partition(" ")
            entries[int(index)].append(json.dumps({**json.loads(entry), "batchId": 0}, separators=(",", ":")))
        for index, lines in entries.items():
            self._write(f"sources/{index}/0", "\n".join(lines))
            self._write(f"sources/{index}/{LAID_OUT}", "v1")

    def _write(self, name: str, text: str) -> None:
        self._storage.put(join(self._folder, name), text.encode())

    def _read(self, name: str) -> str:
        return self._storage.get(join(self._folder, name)).decode()

    def position(self, batch: int) -> tuple[dict[str, Any], list[str]]:
        """The position behind a batch that is running, and the entries that logs have got with it."""
        self.refuse_state()
        text = self._read(f"offsets/{batch}")
        lines = text.split("\n")
        if lines[0] != "v1":
            raise UnsupportedError(
                f"The streaming query writes its offsets in the form {lines[0]!r}, and Penstock reads 'v1'. Leave the "
                "setting spark.sql.streaming.queryEvolution.enableSourceEvolution out; operators are known by uid()."
            )
        seen: list[str] = []
        for index, line in enumerate(lines[_HEAD:]):
            newest = _log_offset(line)
            if newest is not None:
                seen += self._entries(index, newest)
        return {"offsets": text, "sources": dict(self._others())}, seen

    def refuse_state(self) -> None:
        """Refuse a query with state of its own. Before Spark 4.0 that is seen only when a batch has been read."""
        state = join(self._folder, "state")
        if any(entry.path == state for entry in self._storage.list(self._folder)):
            raise UnsupportedError(
                "The streaming DataFrame that from_spark() was given keeps state of Spark's own (an aggregation, "
                "dropDuplicates, a join of streams, limit()), and a job that resumes from its manifest would have lost "
                "it. Do that in the program instead: key_by() and what follows it."
            )

    def _entries(self, index: int, newest: int) -> Iterator[str]:
        """The entries that the log of a source has got since it was last asked."""
        for number in range(self._logs.get(index, -1) + 1, newest + 1):
            try:
                text = self._read(f"sources/{index}/{number}")
            except FileNotFoundError:  # one with all that came before, too
                text = self._read(f"sources/{index}/{number}.compact")
            for line in text.split("\n")[1:]:
                if line and json.loads(line)["batchId"] == number:
                    yield f"{index} {line}"
        self._logs[index] = newest

    def _others(self) -> Iterator[tuple[str, str]]:
        """The files of sources without such a log, by their place."""
        root, logs = join(self._folder, "sources"), set(map(str, self._logs))
        for entry in self._storage.list(root, deep=True):
            name = entry.path.removeprefix(f"{root}/")
            hidden = name.rpartition("/")[2].startswith(".")
            if entry.size > 0 and not hidden and name.partition("/")[0] not in logs:  # stores list folders, empty ones
                yield name, self._read(f"sources/{name}")


def _log_offset(line: str) -> int | None:
    """How far a source of files has written its log; None for another source."""
    try:
        offset = json.loads(line)
    except ValueError:  # "-": it has not begun
        return None
    return offset["logOffset"] if isinstance(offset, dict) and offset.keys() == {"logOffset"} else None
