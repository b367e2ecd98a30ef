"""Rows by number in a local SQLite file, which holds the tables and timers of state beyond memory. The file is unlinked
as soon as it is open and never needed afterwards, so it has no journal and no sync. SQLite needs no installation and
keeps to a memory limit. A read is O(log n), about 5 µs; writes are sorted and batched."""

from __future__ import annotations

import contextlib
import os
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from penstock.errors import StateError

if TYPE_CHECKING:
    import sqlite3

CHUNK = 1_000  # rows that are read or written at a time
_PRAGMAS = ("page_size=4096", "journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE", "temp_store=FILE")
_SCHEMA = (
    "create table rows (id integer primary key, data blob not null)",
    "create table timers (queue integer, time integer, id integer, data, primary key (queue, time, id)) without rowid",
)
Pairs = Sequence[tuple[int, Any]]


class RowFile:
    """Rows by number, in a file of its own."""

    def __init__(self, memory: int, folder: str | None = None) -> None:
        try:
            import sqlite3  # it is lacking where Python was built without the library
        except ImportError as error:
            raise StateError(
                f"This Python lacks the module sqlite3, which keeps state that is larger than memory: {error}. Use a "
                "Python that was built with SQLite, or set penstock.state.backend to memory."
            ) from error
        self.folder: str = folder or tempfile.gettempdir()
        self._errors = sqlite3.DatabaseError
        path = ""
        try:
            handle, path = tempfile.mkstemp(prefix="penstock-state-", suffix=".db", dir=folder)
            os.close(handle)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            with self.failures():
                for pragma in (*_PRAGMAS, f"cache_size={-max(memory >> 10, 256)}"):
                    self._db.execute(f"pragma {pragma}")
                for statement in _SCHEMA:
                    self._db.execute(statement)
        except OSError as error:
            raise _failed(self.folder, error) from error
        finally:
            if path:
                os.unlink(path)
        weakref.finalize(self, self._db.close)
        self.next_queue: Callable[[], int] = count().__next__  # a new number for a queue of timers
        self.cursor: sqlite3.Cursor = self._db.cursor()
        self.execute: Any = self.cursor.execute

    @contextlib.contextmanager
    def failures(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise _failed(self.folder, error) from error

    def query(self, statement: str, *arguments: Any) -> sqlite3.Cursor:
        """Rows in any order, read lazily: write nothing meanwhile."""
        return self._db.execute(statement, arguments)

    def get(self, number: int) -> bytes | None:
        try:
            row = self.execute("select data from rows where id=?", (number,)).fetchone()
        except self._errors as error:
            raise _failed(self.folder, error) from error
        return None if row is None else row[0]

    def get_all(self, numbers: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """The rows of these numbers that exist. Rows may be written meanwhile."""
        for start in range(0, len(numbers), CHUNK):
            some = ",".join(map(str, numbers[start : start + CHUNK]))
            with self.failures():
                rows = self._db.execute(f"select id, data from rows where id in ({some})").fetchall()
            yield from rows

    def put(self, pairs: Pairs) -> None:
        self._many("replace into rows values (?, ?)", pairs)

    def add(self, pairs: Pairs) -> tuple[int, Pairs]:
        """Insert missing rows. Returns how many existed, and those of other data, which stay."""
        existing = len(pairs) - (self._many("insert or ignore into rows values (?, ?)", pairs) if pairs else 0)
        return existing, [(number, data) for number, data in pairs if self.get(number) != data] if existing else ()

    def remove(self, numbers: Iterable[int]) -> None:
        self._many("delete from rows where id=?", [(number,) for number in numbers])

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        with self.failures():
            self._db.execute("begin")
            yield
            self._db.execute("commit")

    def chunks(self, query: str, *arguments: Any) -> Iterator[list[Any]]:
        """Rows in the order of their numbers, a few at a time, so that rows may be written meanwhile."""
        after = -1
        while True:
            with self.failures():
                rows = self._db.execute(query, (*arguments, after, CHUNK)).fetchall()
            if rows:
                yield rows
                after = rows[-1][0]
            if len(rows) < CHUNK:
                return

    def _many(self, statement: str, arguments: Sequence[Any]) -> int:
        with self.failures():
            self.cursor.executemany(statement, arguments)
        return self.cursor.rowcount


def _failed(folder: str, error: Exception) -> StateError:
    full = "full" in str(error) or getattr(error, "errno", None) == 28
    cause = "Its disk is full" if full else "It cannot be used"
    return StateError(
        f"State beyond memory is kept in a file in {folder}, and that failed: {error}. {cause}: free some space, set "
        "TMPDIR for the processes that run tasks to a folder on a larger disk, or set penstock.state.backend to memory."
    )
