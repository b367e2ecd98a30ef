"""The checkpoint of a streaming query, laid out again at each start from the job's manifest.

A position holds Spark's own text of the offsets of a batch, and what sources have written beside it, such as when a
rate source began. The log of a source of files grows without an end: its entries are kept as splits that have ended.

Source of the semantics: ``OffsetSeqLog``, ``CommitLog``, ``CompactibleFileStreamLog`` (Spark 4.3).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from penstock.errors import UnsupportedError

LAID_OUT = 1
"""The last batch that counts as done: an empty one behind all that was read, as sources repeat their last batch."""
_COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'
_HEAD = 2
"""Lines of offsets before those of sources: a version, and Spark's own data of the batch."""


class Checkpoint:
    """The folder of a query's checkpoint. ``seen`` are entries of logs of sources of files, as of :meth:`position`."""

    def __init__(self, folder: Path, at: Mapping[str, Any] | None, seen: Iterable[str]) -> None:
        self._folder = folder
        self._logs: dict[int, int] = {}  # how far entries are known, by source
        if at is not None:
            self._lay_out(at, seen)

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
        for index, own in entries.items():
            self._write(f"sources/{index}/0", "\n".join(own))
            self._write(f"sources/{index}/{LAID_OUT}", "v1")

    def _write(self, name: str, text: str) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def position(self, batch: int) -> tuple[dict[str, Any], list[str]]:
        """The position behind a batch that is running, and the entries that logs have got with it."""
        if (self._folder / "state").exists():
            raise UnsupportedError(
                "The streaming DataFrame that from_spark() was given keeps state of Spark's own (an aggregation, "
                "dropDuplicates, a join of streams, limit()), and a job that resumes from its manifest would have lost "
                "it. Do that in the program instead: key_by() and what follows it."
            )
        text = (self._folder / "offsets" / str(batch)).read_text(encoding="utf-8")
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

    def _entries(self, index: int, newest: int) -> Iterator[str]:
        """The entries that the log of a source has got since it was last asked."""
        for number in range(self._logs.get(index, -1) + 1, newest + 1):
            plain = self._folder / "sources" / str(index) / str(number)
            path = plain if plain.exists() else plain.with_name(f"{number}.compact")  # with all that came before, too
            for line in path.read_text(encoding="utf-8").split("\n")[1:]:
                if line and json.loads(line)["batchId"] == number:
                    yield f"{index} {line}"
        self._logs[index] = newest

    def _others(self) -> Iterator[tuple[str, str]]:
        """What sources without such a log have written, by its place."""
        root, logs = self._folder / "sources", set(map(str, self._logs))
        for source in sorted(root.glob("*")):
            files = (path for path in source.rglob("*") if path.is_file() and path.name[0] != ".")
            for path in sorted(files) if source.name not in logs else ():
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def _log_offset(line: str) -> int | None:
    """How far a source of files has written its log; None for another source."""
    try:
        offset = json.loads(line)
    except ValueError:  # "-": it has not begun
        return None
    return offset["logOffset"] if isinstance(offset, dict) and offset.keys() == {"logOffset"} else None
