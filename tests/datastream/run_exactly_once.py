"""Notes of run scripts whose job is killed and goes on, so that each of them counts once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from penstock.datastream.sinks import TwoPhaseCommitSink
from penstock.job.folder.lease import JobFolder
from tests.datastream.run_notes import Notes, Traced, text

_OPENED = ("open ", "initializeState ", "run ")
_CLOSED = ("close ", "dispose ")
_NEVER = 1 << 62


class ExactNotes(Notes):
    """Notes under a folder, whose sinks note a text when its step counts."""

    def __init__(self, root: str, all_attempts: bool = False) -> None:
        super().__init__(os.path.join(root, "notes"), all_attempts)
        self.sinks = os.path.join(root, "sinks")
        self.offset = 0
        for folder in (self.folder, self.sinks):
            os.makedirs(folder, exist_ok=True)

    def collect(self, stream: Any, id: str, *, traced: bool = False) -> Any:
        return stream.sink_to(ExactTraced(self, id) if traced else Exact(self, id))

    def read(self, kind: str) -> dict[tuple[str, int], list[str]]:
        """As of :class:`Notes`; of sinks what was committed, and if the job has failed what came after that."""
        if kind == "trace":
            return {task: once(lines) for task, lines in super().read(kind).items()}
        if kind != "sink":
            return super().read(kind)
        texts_of: dict[tuple[str, int], list[str]] = {}
        committed = list(self.committed())
        committed_versions = {(sink, version) for version, _, sink, _, _ in committed}
        lost = self._aborted(committed_versions) if self.failed or self.all_attempts else ()
        for _, _, sink, subtask, texts in sorted([*committed, *lost], key=lambda line: line[:2]):
            texts_of.setdefault((sink, subtask), []).extend(texts)
        return dict(sorted(texts_of.items()))

    def committed(self) -> Iterator[tuple[int, int, str, int, list[Any]]]:
        """What sinks have taken: version, 1, sink, subtask, texts."""
        for path in Path(self.sinks).glob("*.json"):
            sink, version, parts = json.loads(path.read_text())
            yield from ((version, 1, sink, subtask, texts) for subtask, texts in parts)

    def _aborted(self, committed_versions: set[tuple[str, int]]) -> Iterator[tuple[int, int, str, int, list[str]]]:
        """Of a step once, unless all attempts count."""
        for (sink, subtask), lines in super().read("aborted").items():
            known: set[int] = set()
            for version, texts in map(json.loads, lines):
                if (sink, version) in committed_versions:
                    continue
                same = version in known or _NEVER in known or (bool(known) and version == _NEVER)
                again = same and not self.all_attempts
                known.add(version)
                if not again:
                    yield (0 if version == _NEVER and self.all_attempts else version), 0, sink, subtask, texts


def once(lines: Sequence[str]) -> list[str]:
    """The trace of a task without openings after the first one, and closings before the last one."""
    opened: set[str] = set()
    kept: list[str] = []
    last = {line: place for place, line in enumerate(lines)}
    for place, line in enumerate(lines):
        again = line in opened if line.startswith(_OPENED) else line.startswith(_CLOSED) and last[line] != place
        opened.add(line)
        if not again:
            kept.append(line)
    return kept


class Exact(TwoPhaseCommitSink[Any, Any]):
    """Notes the text of every record, once its step counts: a file for each version."""

    def __init__(self, notes: Notes, id: str) -> None:
        self.notes, self.id = notes, id
        self.values: list[str] = []
        self.prepared: tuple[int, list[str]] = (_NEVER, [])

    def open(self, context: Any) -> None:
        self.place = context.get_index_of_this_subtask(), context.get_attempt_number()

    def write(self, value: Any) -> None:
        self.values.append(text(value))

    def prepare(self, version: int) -> Any:
        version += self.notes.offset  # type: ignore[attr-defined]
        self.prepared, self.values = (version, self.values), []
        return [self.place[0], self.prepared[1]] if self.prepared[1] else None

    def commit(self, committables: Sequence[Any], version: int) -> None:
        version += self.notes.offset  # type: ignore[attr-defined]
        digest = hashlib.sha256(self.id.encode()).hexdigest()[:16]
        path = Path(self.notes.sinks, f"{digest}-{version}.json")  # type: ignore[attr-defined]
        data = json.dumps([self.id, version, committables])
        if path.exists():
            assert path.read_text() == data, f"version {version} was committed twice, not with the same"
            return
        path.with_suffix(".tmp").write_text(data)
        os.replace(path.with_suffix(".tmp"), path)

    def abort(self) -> None:
        """Keep for a job that fails what is not committed."""
        version, texts = self.prepared
        for number, lost in ((version, texts), (min(version + 1, _NEVER), self.values)):
            if lost:
                self.notes.add("aborted", self.id, *self.place, json.dumps([number, lost]))


class ExactTraced(Traced, Exact):
    def __init__(self, notes: Notes, name: str) -> None:
        Traced.__init__(self, notes, name)
        Exact.__init__(self, notes, name)

    def open(self, context: Any) -> None:
        Exact.open(self, context)
        Traced.open(self, context)

    def write(self, value: Any) -> None:
        self.trace(f"{self.name} {text(value)}")
        Exact.write(self, value)


class Marks:
    """How long the notes were when versions were made."""

    def __init__(self, root: str, notes: Notes) -> None:
        self._root, self._notes = root, Path(notes.folder)

    def set(self, version: int) -> None:
        """All tasks have ended their step; its manifest comes next."""
        sizes = {path.name: path.stat().st_size for path in self._notes.iterdir()}
        self._path(version).write_text(json.dumps(sizes))

    def back(self) -> None:
        """Put the notes back to those of the newest version."""
        newest = JobFolder(os.path.join(self._root, "job")).newest()
        nothing = newest is None or newest.is_nothing
        sizes = {} if nothing else json.loads(self._path(newest.version).read_text())
        for path in self._notes.iterdir():
            if path.name in sizes:
                os.truncate(path, sizes[path.name])
            else:
                path.unlink()

    def _path(self, version: int) -> Path:
        return Path(self._root, f"mark-{version}.json")
