"""Sinks that come with Penstock: print, text files, collect. A program's own sinks are objects with ``invoke``.

Prints and collected records travel to the driver as rows. Files are written under a pending name, and only what the
driver finds in the reports of the tasks whose output counted is renamed (:func:`publish`): a failed job leaves nothing
to see.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from penstock.errors import ConfigurationError
from penstock.runtime.codec import Stamps, encode, freezer
from penstock.runtime.config import PendingFile
from penstock.runtime.context import OperatorContext
from penstock.runtime.exchange import COLLECT, PRINT, payload
from penstock.runtime.files import local_path
from penstock.runtime.text import file_text, print_text

_LINES = 2_000


class SinkWriter:
    """A sink in one subtask: ``open``, ``write`` per record, then ``finish`` or ``discard``."""

    write: Callable[[Any], None]

    def open(self) -> None:
        """Before the first record."""

    def finish(self) -> None:
        """After the last record."""

    def discard(self) -> None:
        """After a failure, instead of ``finish``: undo what can be undone."""


class BuiltinSink:
    """Base of the sinks here: frozen data, from which each subtask makes a writer."""

    def prepare(self, parallelism: int) -> BuiltinSink:
        """Called on the driver before the job starts: the sink as it travels.

        Raises:
            PenstockError: it cannot write so.
        """
        return self

    def writer(self, context: OperatorContext) -> SinkWriter:
        """The sink of one subtask."""
        raise NotImplementedError


class _Buffered(SinkWriter):
    """Hands its items over in lists of 2,000."""

    def __init__(self, make: Callable[[Any], Any], send: Callable[[list[Any]], None]) -> None:
        items: list[Any] = []

        def write(value: Any) -> None:
            items.append(make(value))
            if len(items) >= _LINES:
                self.finish()

        self._items, self._send, self.write = items, send, write

    def finish(self) -> None:
        if self._items:
            self._send(list(self._items))
            self._items.clear()


@dataclass(frozen=True)
class PrintSink(BuiltinSink):
    """Prints every record on the driver, after ``n> `` (the subtask, from 1) when there are several (Flink:
    PrintSinkFunction).

    Attributes:
        identifier: stands before the subtask: ``id> `` or ``id:n> ``.
        std_err: print to standard error.
    """

    identifier: str | None = None
    std_err: bool = False

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Lines as the driver will print them."""
        text = print_text(context.config.input_type)
        prefix = self.prefix(context.subtask, context.vertex.parallelism)

        def send(lines: list[str]) -> None:
            context.send(PRINT, payload((context.config.node, self.std_err, lines)))

        return _Buffered(lambda value: prefix + text(value), send)

    def prefix(self, subtask: int, parallelism: int) -> str:
        """What stands before each record."""
        parts = [self.identifier] if self.identifier else []
        if parallelism > 1:
            parts.append(str(subtask + 1))
        return ":".join(parts) + "> " if parts else ""


@dataclass(frozen=True)
class CollectSink(BuiltinSink):
    """Brings every record to the driver (``execute_and_collect``).

    Attributes:
        id: the key of the list in the job's result.
    """

    id: str

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Records, protected from later changes."""
        freeze = freezer(context.config.input_type) or (lambda value: value)
        none: Stamps = []

        def send(values: list[Any]) -> None:
            context.send(COLLECT, payload((self.id, encode(values, none))))

        return _Buffered(freeze, send)


@dataclass(frozen=True)
class TextSink(BuiltinSink):
    """Writes the text of every record as a line (Flink: ``writeAsText``): with parallelism 1 one file at ``path``,
    otherwise a folder with the files 1 … n. Encoding UTF-8.

    Attributes:
        path: where to write.
        overwrite: replace what is there, which must be a file, or a folder with nothing but such numbered files.
    """

    path: str
    overwrite: bool = False

    def prepare(self, parallelism: int) -> TextSink:
        """The target is free, or may be replaced; its path is made absolute."""
        target = local_path(self.path).absolute()
        self.check_target()
        return replace(self, path=str(target))

    def check_target(self) -> None:
        """The target is free, or may be replaced.

        Raises:
            ConfigurationError: it is not.
        """
        target = local_path(self.path)
        if not target.exists():
            return
        if not (target.is_file() or target.is_dir()):
            raise ConfigurationError(
                f"The output {self.path!r} is neither a file nor a folder, and a text sink replaces what it writes to. "
                "Write to a file."
            )
        if not self.overwrite:
            raise ConfigurationError(
                f"The output {self.path!r} exists already, and existing files are not overwritten. Remove it, write "
                "elsewhere, or pass the write mode OVERWRITE.",
                flink_class="java.io.IOException",
            )
        strange = [p.name for p in target.iterdir() if not p.name.isdigit()] if target.is_dir() else []
        if strange:
            raise ConfigurationError(
                f"The output folder {self.path!r} contains {sorted(strange)[0]!r}, which no text sink wrote; it is "
                "not deleted. Choose another folder, or empty this one yourself."
            )

    def writer(self, context: OperatorContext) -> SinkWriter:
        """A pending file."""
        target = local_path(self.path).absolute()
        final = target if context.vertex.parallelism == 1 else target / str(context.subtask + 1)
        folder = pending_folder(target, context.job.job_id)
        pending = folder / f"{context.config.operator_id}-{context.subtask}-{uuid.uuid4().hex}"
        return _TextFile(PendingFile(str(pending), str(final)), file_text(context.config.input_type), context.files)


def pending_folder(target: Path, job_id: str) -> Path:
    """Where the files of a job wait: a hidden folder beside the target, so that a rename is enough to publish them."""
    return target.parent / f".{target.name}.pending-{job_id}"


class _TextFile(SinkWriter):
    def __init__(self, names: PendingFile, text: Callable[[Any], str], files: list[PendingFile]) -> None:
        self._names = names
        self._text = text
        self._files = files

        self._file: Any = None

    def open(self) -> None:
        path = self._names.pending  # stays open until finish or discard
        self._file = open(path, "w", encoding="utf-8", errors="surrogatepass", newline="\n")  # noqa: SIM115

    def write(self, value: Any) -> None:  # type: ignore[override]
        self._file.write(self._text(value) + "\n")

    def finish(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._files.append(self._names)

    def discard(self) -> None:
        if self._file is not None:  # it may be what could not be opened
            with contextlib.suppress(OSError):
                self._file.close()
            with contextlib.suppress(OSError):
                os.unlink(self._names.pending)


def make_pending(targets: Iterable[str], job_id: str) -> None:
    """Make the pending folders of a job. Only the driver does, so a late task of a failed job cannot bring one back."""
    for target in targets:
        try:
            os.makedirs(pending_folder(local_path(target).absolute(), job_id))
        except OSError as error:
            raise ConfigurationError(
                f"The output {target!r} cannot be written: {error}. Choose a folder you may write to."
            ) from error


def publish(files: Iterable[PendingFile]) -> None:
    """Give the pending files of a finished job their names. A folder in a file's place, or the reverse, is replaced.

    Raises:
        ConfigurationError: a pending file is not there, as when the driver does not share the executors' file system.
    """
    ready = list(files)
    for file in ready:
        if not os.path.exists(file.pending):
            raise ConfigurationError(
                f"The sink file {file.pending!r} is not visible on the driver. Text sinks need a file system that "
                "the driver and all executors share."
            )
    for root in sorted({_root(file) for file in ready}):
        _clear(Path(root))
    for file in ready:
        os.makedirs(os.path.dirname(file.final), exist_ok=True)
        os.replace(file.pending, file.final)


def discard_pending(targets: Iterable[str], job_id: str) -> None:
    """Remove the pending folders of a job; after :func:`publish` only attempts that did not count have files there."""
    for target in targets:
        shutil.rmtree(pending_folder(local_path(target).absolute(), job_id), ignore_errors=True)


def _root(file: PendingFile) -> str:
    """The target of the sink, beside which the folder ``.<name of the target>.pending-<job>`` lies."""
    folder = Path(file.pending).parent
    return str(folder.parent / folder.name[1:].rsplit(".pending-", 1)[0])


def _clear(target: Path) -> None:
    """Make room for what replaces an earlier output (``prepare`` has refused everything else)."""
    if target.is_dir():
        for old in target.iterdir():
            if old.name.isdigit():
                old.unlink()
        with contextlib.suppress(OSError):
            target.rmdir()
    elif target.exists():
        target.unlink()
