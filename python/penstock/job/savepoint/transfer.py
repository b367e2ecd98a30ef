"""State files from one folder to another: as second names on one local file system, by the store itself, or by copying.

Files of state never change, so two names of one file are as good as two files.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterable

from penstock.storage.storage import Storage, is_local, join, sync_folder
from penstock.storage.stores import Store, abandoned

_AT_ONCE = 100  # files that a store is asked to copy with one call
_BLOCK = 4 << 20


def carry(
    source: tuple[Storage, str], target: tuple[Storage, str], names: Iterable[str], go_on: Callable[[], None]
) -> int:
    """Have files in another folder, too, unless they are there with their length. Returns bytes that were copied."""
    (_, folder), (storage, new) = source, target
    existing = {entry.path.rpartition("/")[2]: entry.size for entry in storage.list(new)}
    wanted = list(dict.fromkeys(names))
    if is_local(new):
        os.makedirs(new, exist_ok=True)
        copied = _to_local(source, new, [name for name in wanted if name not in existing], go_on)
        sync_folder(new)
        return copied
    sizes = {entry.path.rpartition("/")[2]: entry.size for entry in source[0].list(folder)}
    missing = [name for name in wanted if name not in existing or existing[name] != sizes.get(name)]
    for start in range(0, len(missing), _AT_ONCE):
        go_on()
        pairs = [(join(folder, name), join(new, name)) for name in missing[start : start + _AT_ONCE]]
        if is_local(folder) or not isinstance(storage, Store) or not storage.copied(pairs):
            for old, last in pairs:
                _through(source[0], old, storage, last, go_on)
    return sum(sizes.get(name, 0) for name in missing)


def _to_local(source: tuple[Storage, str], new: str, names: Iterable[str], go_on: Callable[[], None]) -> int:
    storage, folder = source
    copied = 0
    for name in names:
        go_on()
        old, last = join(folder, name), join(new, name)
        if is_local(folder) and _linked(old, last):
            continue
        temporary = f"{last}.{uuid.uuid4().hex}.tmp"
        try:
            with storage.read(old) as reading, open(temporary, "wb") as writing:
                shutil.copyfileobj(reading, writing, _BLOCK)
                writing.flush()
                os.fsync(writing.fileno())
                copied += writing.tell()
            os.replace(temporary, last)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
    return copied


def _linked(old: str, last: str) -> bool:
    """Whether a file could be given a second name; it then outlives a power cut, too."""
    try:
        descriptor = os.open(old, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.link(old, last)
    except FileNotFoundError:
        raise
    except FileExistsError:  # another one is taking the same savepoint
        return True
    except OSError:  # another file system, or one without links, or a file of another user
        return False
    return True


def _through(storage: Storage, old: str, target: Storage, last: str, go_on: Callable[[], None]) -> None:
    with storage.read(old) as reading:
        writing = target.writing(last)
        try:
            while block := reading.read(_BLOCK):
                go_on()
                writing.write(block)
        except BaseException:
            abandoned(writing)
            raise
        writing.close()
