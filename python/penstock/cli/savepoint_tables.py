"""Tables of savepoints as files: lines of JSON, CSV, Arrow's IPC stream, and Parquet."""

from __future__ import annotations

import csv
import functools
import io
import json
from collections.abc import Callable, Collection, Iterator
from datetime import date, time
from decimal import Decimal
from itertools import chain
from typing import IO, Any
from urllib.parse import quote

from penstock.errors import ConfigurationError, SavepointError
from penstock.savepoints import Savepoint, StateTable
from penstock.savepoints.flink_savepoint import SavepointOfFlink
from penstock.savepoints.table import plain
from penstock.storage.storage import join, located
from penstock.storage.stores import abandoned, storage_of

_ENDINGS = {"json": "jsonl", "csv": "csv", "arrow": "arrows", "parquet": "parquet"}


def write_table(table: StateTable, form: str, out: IO[bytes]) -> None:
    """Write a table.

    Args:
        form: ``json``, ``csv``, ``arrow`` or ``parquet``.
        out: stays open.

    Raises:
        SavepointError: a row cannot be read, or has no such form.

    Cost: linear; of a table that is ``typed`` little memory.
    """
    if form in ("arrow", "parquet"):
        _write_columns(table, form, out)
        return
    text = io.TextIOWrapper(out, "utf-8", "backslashreplace", newline="")
    try:
        _write_lines(table, form, text)
    finally:
        text.detach()


def _write_columns(table: StateTable, form: str, out: IO[bytes]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    batches = table.to_batches()
    first = next(batches)
    try:
        with pa.ipc.new_stream(out, first.schema) if form == "arrow" else pq.ParquetWriter(out, first.schema) as writer:
            for batch in chain([first], batches):
                writer.write_table(batch)
    except pa.ArrowException as error:
        raise SavepointError(f"The columns cannot be written as {form}: {error}. Use --format json.") from error


def _write_lines(table: StateTable, form: str, out: IO[str]) -> None:
    as_json = functools.partial(json.dumps, default=_text)
    if form == "json":
        for row in table:
            out.write(f"{as_json({name: plain(value) for name, value in row.items()})}\n")
        return
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(table.columns)
    for values in table.rows:  # what has parts is JSON
        cells = map(plain, values)
        lines.writerow([as_json(cell) if isinstance(cell, dict | list) else cell for cell in cells])


def _text(value: Any) -> str:
    """A text for a value that JSON has no form for."""
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else repr(value)


def export_tables(
    savepoint: Savepoint | SavepointOfFlink,
    folder: str,
    form: str,
    operators: Collection[str],
    states: Collection[str],
    refused: Callable[[SavepointError], None],
) -> Iterator[str]:
    """Write each state, and the timers, of a savepoint to a file of its own.

    Args:
        folder: a path or URL; it is made.
        form: as of :func:`write_table`.
        operators: only those with these uids, IDs or names; none for all.
        states: only those with these names, and no timers; none for all.
        refused: called with each error about a state that cannot be written.

    Returns:
        The paths of the files, each when it has been written.

    Raises:
        ConfigurationError: there is no such operator or state, or there are files in the folder.

    Cost: linear in the state; as much memory as of :func:`write_table`.
    """
    root = located(folder)
    if storage_of(root).list(root):
        raise ConfigurationError(f"There are files at {folder}, where the tables are to be. Give a new folder.")
    chosen: dict[str, str] = {}  # with a folder for each
    known: set[str | None] = set()
    for operator in savepoint.operators():
        named = {operator.operator_id, operator.uid, operator.name}
        known |= named
        if not operators or not named.isdisjoint(operators):
            part = _file_name(operator.uid or operator.operator_id)
            chosen[operator.operator_id] = part if part not in chosen.values() else operator.operator_id
    _see_there(savepoint, "operator", set(operators) - known)
    names = {operator_id: savepoint.states(operator_id) for operator_id in chosen}
    _see_there(savepoint, "state", set(states).difference(*names.values()))
    for operator_id, part in chosen.items():
        place = join(root, part)
        for name in names[operator_id]:
            if not states or name in states:
                path = join(place, "states", f"{_file_name(name)}.{_ENDINGS[form]}")
                read = functools.partial(savepoint.read, operator_id, name)
                yield from _written(read, form, path, refused)
        if not states:
            _see_whole(savepoint, operator_id, refused)
            path = join(place, f"timers.{_ENDINGS[form]}")
            yield from _written(functools.partial(_timers, savepoint, operator_id), form, path, refused)


def _see_there(savepoint: Savepoint | SavepointOfFlink, what: str, unknown: Collection[str]) -> None:
    for name in sorted(unknown):
        raise ConfigurationError(
            f"{savepoint.place} has no {what} {name!r} to export. 'penstock savepoint show' lists what there is."
        )


def _file_name(name: str) -> str:
    """A name for a file or folder, also of what a stranger has named."""
    quoted = quote(name, safe=" ")
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")


def _see_whole(
    savepoint: Savepoint | SavepointOfFlink, operator_id: str, refused: Callable[[SavepointError], None]
) -> None:
    if isinstance(savepoint, SavepointOfFlink):
        try:
            savepoint.check_whole(operator_id)
        except SavepointError as error:
            refused(error)


def _timers(savepoint: Savepoint | SavepointOfFlink, operator_id: str) -> StateTable | None:
    timers = savepoint.timers(operator_id)
    return None if next(iter(timers.rows), None) is None else timers


def _written(
    read: Callable[[], StateTable | None], form: str, path: str, refused: Callable[[SavepointError], None]
) -> Iterator[str]:
    try:
        table = read()
        if table is None:
            return
        file = storage_of(path).writing(path)
        try:
            write_table(table, form, file)
        except BaseException:
            abandoned(file)
            storage_of(path).delete([path])
            raise
        file.close()
    except SavepointError as error:
        refused(error)
        return
    yield path
