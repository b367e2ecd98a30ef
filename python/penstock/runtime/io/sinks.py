"""Sinks that come with Penstock: print, text files, collect. A program's own sinks are objects with ``invoke``.
Prints and collected records travel to the driver as rows. Files are written under a pending name, and only what the
driver finds in the reports of the tasks whose output counted is published (``penstock.job.commit``)."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from penstock.common.settings.settings import Settings
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.errors import ConfigurationError
from penstock.runtime import native
from penstock.runtime.buffers.borders import COLLECT as COLLECTED
from penstock.runtime.buffers.borders import crossing
from penstock.runtime.buffers.buffer_size import Filling, Size, room, sizes
from penstock.runtime.buffers.codec import dumps, encode, freezer
from penstock.runtime.buffers.value_checks import checker
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.columns.layouts import compiled, print_layout, text_layout, why_uncompiled, write_columns
from penstock.runtime.config.tasks import PendingFile
from penstock.runtime.exchange.gate import COLLECT, PRINT
from penstock.runtime.io.pending_paths import attempt_name, waiting_place
from penstock.runtime.io.text import file_text, print_text
from penstock.storage.storage import is_local, join, naming, parents, real_place
from penstock.storage.stores import abandoned, storage_of

Check = Callable[[], None] | None
Columns = Callable[[ModuleType], Callable[[Any, int, int], tuple[list[Any], int, bool]] | None]
"""Makes, if it can, what makes items of the records of a native batch from one to before another: the items, the place
behind the last record that has one, and whether the one there is doubtful."""
_LINES = 2_000


class SinkWriter:
    """A sink in one subtask: ``open``, ``write`` per record, then ``finish`` or ``discard``."""

    write: Callable[[Any], None]
    room: int = 1  # how many records may be gathered for the next write_all
    timed: bool = False  # whether `timestamp`, of the records, is set before each call
    timestamp: int | None = None
    shows: ClassVar[bool] = False  # whether what it has written can be seen although the task fails

    def write_all(self, values: Sequence[Any]) -> None:
        for value in values:
            self.write(value)

    def columns(self, functions: ModuleType) -> Callable[[Any], None] | None:
        """A function that takes native batches, with the same effect as :meth:`write_all` with their objects; None if
        there is no such way. Only asked for where :meth:`BuiltinSink.why_objects` has no reason against it.
        ``timestamp`` is not set for it."""
        return None

    def taker(self, step: Callable[[Any, int], tuple[int, bool]]) -> Callable[[Any], None]:
        """A result for :meth:`columns`: it takes batches by a step, see :func:`write_columns`, and as objects where
        that is in doubt."""
        return lambda batch: write_columns(
            batch, partial(step, batch), lambda at, end: self.write_all(batch.objects(at, end))
        )

    def open(self) -> None:
        """Before the first record."""

    def finish(self) -> None:
        """After the last record."""

    def discard(self) -> None:
        """After a failure, instead of ``finish``: undo what can be undone."""

    def end_step(self) -> None:
        """After the last record of a step, if there may be more steps: finish what there is, and go on."""
        self.finish()
        self.open()

    def flush(self) -> None:
        """Instead of :meth:`end_step` after a step that makes nothing durable, if this object goes on in the next one:
        let out what needs no commit. What waits for one may grow until the next checkpoint."""
        self.end_step()

    def pass_on(self) -> None:
        """Instead of :meth:`end_step` after a step that makes nothing durable, if another object may go on, by
        :meth:`volatile`: let out what needs no commit. What waits for one may wait in files that object can read."""
        self.end_step()

    def volatile(self) -> Any:
        """After a step: small picklable data for the writer of the next one; None if it needs none."""
        return None

    def resume(self, volatile: Any) -> None:
        """Before ``open``: resume from what :meth:`volatile` has returned, in this or in another process."""


class BuiltinSink:
    """Base of the sinks here: frozen data, from which each subtask makes a writer."""

    def prepare(self, parallelism: int) -> BuiltinSink:
        """Called on the driver before the job starts: the sink as it travels. PenstockError if it cannot write so."""
        return self

    def writer(self, context: OperatorContext) -> SinkWriter:
        raise NotImplementedError

    def why_objects(self, functions: ModuleType, record_type: TypeInformation[Any] | None, settings: Settings) -> str:
        """Why records of a type do not go into it as native batches, for :meth:`SinkWriter.columns`; "" where they
        do."""
        return "this sink takes objects"


class PublishedSink(BuiltinSink):
    """Base of the sinks whose files the driver publishes when the job is committed."""

    overwrite: bool = False  # whether what is at the target is replaced
    adds: ClassVar[bool] = False  # whether the target is a folder that keeps what is in it, and gets files
    sends: ClassVar[bool] = False  # whether files are sent, by `send`, instead of getting names in the target
    passes_on: ClassVar[bool] = False  # whether its writers may leave files to those of the next step, by `pass_on`

    def place(self) -> str:
        """Where it writes: a real and absolute path (links are followed), or the URL of a store."""
        raise NotImplementedError

    def target(self) -> Path:
        """Where it writes on a local or mounted file system."""
        return Path(self.place())

    def send(
        self, files: Sequence[str], owner: str, version: int, before: int, check: Check = None, *, last: bool = False
    ) -> None:
        """Send what the files of a version hold, once, whatever has been sent of them before: it can be repeated.

        Args:
            files: all that the version has for this sink, in order of subtask. If one is gone, all have been sent.
            owner: id of the checkpoint directory, the same for all runs with it; of the run, without such a directory.
            version: of the manifest; versions are sent one after the other.
            before: how many bytes of files the versions before have sent.
            check: raises an error if another driver has the checkpoint directory; to be called before anything that
                shuts out another driver.
            last: whether no version follows.
        """
        raise NotImplementedError

    def locations(self) -> tuple[str, ...]:
        """Path or URL of the file or folder that it writes."""
        return (self.place(),)


class Buffered(SinkWriter):
    """Hands its items over in lists of 2,000, or of about a mebibyte. ``make`` makes an item of a record."""

    shows = True

    def __init__(
        self, make: Callable[[Any], Any], size: Size, send: Callable[[list[Any]], None], columns: Columns | None = None
    ) -> None:
        self._items = items = Filling(size, _LINES, first=_LINES)
        self._make, self._send, self._columns = make, send, columns

        def write(value: Any) -> None:
            items.values.append(make(value))
            if len(items.values) >= items.mark:
                self._look()

        self.write = write

    def write_all(self, values: Sequence[Any]) -> None:
        self._add_all(values, self._make)

    def _add_all(self, values: Sequence[Any], make: Callable[[Any], Any] | None) -> None:
        items, start = self._items, 0
        while start < len(values):
            end = start + items.mark - len(items.values)
            part = values[start:end]
            items.values.extend(part if make is None else map(make, part))
            start = end
            if len(items.values) >= items.mark:
                self._look()

    def columns(self, functions: ModuleType) -> Callable[[Any], None] | None:
        items_of = None if self._columns is None else self._columns(functions)
        if items_of is None:
            return None

        def step(batch: Any, at: int) -> tuple[int, bool]:
            items, at, doubtful = items_of(batch, at, len(batch))
            self._add_all(items, None)
            return at, doubtful

        return self.taker(step)

    def _look(self) -> None:
        full = self._items.full()
        self.room = room(self._items.mean, self.room)
        if full:
            self.hand_over()

    def end_step(self) -> None:
        self.hand_over()

    def finish(self) -> None:
        self.end_step()

    def hand_over(self) -> None:
        items, self._items.values = self._items.values, []
        self._items.adapt()
        self._items.mark = 1  # the next ones need not be as small, and nothing else holds them back
        if items:
            self._send(items)


@dataclass(frozen=True)
class PrintSink(BuiltinSink):
    """Prints every record on the driver (Flink: PrintSinkFunction), after ``n> `` (the subtask, from 1) when there
    are several subtasks; after ``id> `` or ``id:n> `` with an identifier."""

    identifier: str | None = None
    std_err: bool = False

    def why_objects(self, functions: ModuleType, record_type: TypeInformation[Any] | None, settings: Settings) -> str:
        if settings.types_check and checker(record_type) is not None:
            return "each record is checked against its type"
        if self._crossing(record_type, settings) is not None:
            return "each record is converted as PyFlink does on the way to Java"
        return why_uncompiled(functions, print_layout(record_type), f"native code does not show {record_type!r}")

    def writer(self, context: OperatorContext) -> SinkWriter:
        record_type = context.config.input_type
        cross, text = self._crossing(record_type, context.job.settings), print_text(record_type)
        shown = _behind(context, cross, text)
        prefix = self.prefix(context.subtask, context.vertex.parallelism)

        def lines_of(functions: ModuleType) -> Any:
            layout = compiled(functions, print_layout(record_type))
            if layout is None or not prefix:
                return layout and layout.texts

            def prefixed(batch: Any, start: int, end: int) -> tuple[list[str], int, bool]:
                texts, end, doubtful = layout.texts(batch, start, end)
                return [prefix + text for text in texts], end, doubtful

            return prefixed

        def send(lines: list[str]) -> None:
            context.send(PRINT, dumps((context.config.node, self.std_err, lines)))

        return Buffered(lambda value: prefix + shown(value), lambda lines: sum(map(len, lines)), send, lines_of)

    @staticmethod
    def _crossing(record_type: TypeInformation[Any] | None, settings: Settings) -> Callable[[Any], Any] | None:
        """The conversion of records in front of it; what is a row at the top is shown by a Python function, which
        PyFlink fuses with the one before."""
        return None if isinstance(record_type, RowTypeInfo) else crossing(record_type, settings)

    def prefix(self, subtask: int, parallelism: int) -> str:
        parts = [self.identifier] if self.identifier else []
        if parallelism > 1:
            parts.append(str(subtask + 1))
        return ":".join(parts) + "> " if parts else ""


def _behind(context: OperatorContext, cross: Callable[[Any], Any] | None, make: Callable[[Any], Any]) -> Any:
    """``make`` of values that have been checked and have crossed a border, as far as there is need."""
    check = checker(context.config.input_type) if context.job.settings.types_check else None
    if check is None:
        return make if cross is None else lambda value: make(cross(value))

    def checked(value: Any) -> Any:
        check(value)
        return make(value if cross is None else cross(value))

    return checked


@dataclass(frozen=True)
class CollectSink(BuiltinSink):
    """Brings every record to the driver (``execute_and_collect``), into the list of this key in the job's result."""

    id: str

    def writer(self, context: OperatorContext) -> SinkWriter:
        record_type, settings = context.config.input_type, context.job.settings
        freeze = freezer(record_type) or (lambda value: value)  # protects records from later changes
        make = _behind(context, crossing(record_type, settings, COLLECTED), freeze)

        def send(values: list[Any]) -> None:
            context.send(COLLECT, dumps((self.id, encode(values, []))))

        return Buffered(make, sizes(native.functions(settings.native)), send)


@dataclass(frozen=True)
class TextSink(PublishedSink):
    """Writes the text of every record as a line (Flink: ``writeAsText``): with parallelism 1 one file at ``path``,
    otherwise a folder with the files 1 … n. Encoding UTF-8. With ``overwrite`` it replaces a file, or a folder with
    nothing but such numbered files."""

    path: str
    overwrite: bool = False

    def place(self) -> str:
        return real_place(self.path)

    def prepare(self, parallelism: int) -> TextSink:
        place = self.place()
        if not is_local(place) and len(list(parents(place))) < 1:
            raise ConfigurationError(
                f"The output {self.path!r} names a whole bucket. Add a path below it, such as {place + '/counts'!r}."
            )
        return replace(self, path=place)

    def why_objects(self, functions: ModuleType, record_type: TypeInformation[Any] | None, settings: Settings) -> str:
        layout = text_layout(record_type, "\n")
        return why_uncompiled(functions, layout, f"native code does not write {record_type!r} as text")

    def writer(self, context: OperatorContext) -> SinkWriter:
        final = self.path if context.vertex.parallelism == 1 else join(self.path, str(context.subtask + 1))
        return (_TextFile if is_local(self.path) else _StoreTextFile)(self, context, final)


class _TextFile(SinkWriter):
    """A file per step: in a job of one step there is one from the beginning on, otherwise when there is a record."""

    def __init__(self, sink: TextSink, context: OperatorContext, final: str) -> None:
        self._text = file_text(context.config.input_type)
        self._type = context.config.input_type
        self._context = context
        self._folder = waiting_place(sink.path, context.job, adds=False)
        self._final = final
        self._names: PendingFile | None = None
        self._file: Any = None

    def open(self) -> None:
        if self._context.job.folder_id is None:
            self._begin()

    def _begin(self) -> Any:
        operator_id = self._context.config.operator_id
        pending = join(self._folder, attempt_name(operator_id, self._context.subtask))
        self._names = PendingFile(operator_id, pending, self._final)
        self._file = self._opened(pending)
        return self._file

    def _opened(self, path: str) -> Any:
        return open(path, "w", encoding="utf-8", errors="surrogatepass", newline="\n")

    def write(self, value: Any) -> None:  # type: ignore[override]
        self._add(self._text(value) + "\n")

    def _add(self, text: str) -> None:
        file = self._file or self._begin()
        assert self._names is not None
        with naming(self._names.pending):
            file.write(text)

    def write_all(self, values: Sequence[Any]) -> None:
        text = "".join([text + "\n" for text in map(self._text, values)])
        self._add(text)
        self.room = room(len(text) // max(len(values), 1), self.room)

    def columns(self, functions: ModuleType) -> Callable[[Any], None] | None:
        layout = compiled(functions, text_layout(self._type, "\n"))
        if layout is None:
            return None

        def step(batch: Any, at: int) -> tuple[int, bool]:
            data, at, doubtful = layout.write(batch, at, len(batch))
            self._add(data.decode())
            return at, doubtful

        return self.taker(step)

    def finish(self) -> None:
        self.end_step()

    def flush(self) -> None:
        """The file grows until its lines can be committed."""

    def end_step(self) -> None:
        if self._file is None:
            return
        assert self._names is not None
        with naming(self._names.pending):
            self._close()
        self._context.files.append(self._names)
        self._file = None

    def _close(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def discard(self) -> None:
        if self._file is not None and self._names is not None:  # it may be what could not be opened
            with contextlib.suppress(OSError):
                self._file.close()
            with contextlib.suppress(OSError):
                os.unlink(self._names.pending)


class _StoreTextFile(_TextFile):
    """On a store, which writes the file when it is closed."""

    def _opened(self, path: str) -> Any:
        self._raw = storage_of(path).writing(path)
        return io.TextIOWrapper(self._raw, encoding="utf-8", errors="surrogatepass", newline="\n")

    def _close(self) -> None:
        self._file.close()

    def discard(self) -> None:
        if self._file is not None and not self._file.closed:
            with contextlib.suppress(Exception):
                self._file.detach()
            abandoned(self._raw)
        if self._names is not None:
            with contextlib.suppress(Exception):
                storage_of(self._names.pending).delete([self._names.pending])
