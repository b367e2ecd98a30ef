"""Which files a path stands for: a file, a folder, a pattern; on any storage. As in Flink:
``NonSplittingRecursiveEnumerator``, ``DefaultFileFilter`` (1.20), ``FileInputFormat`` (1.11)."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path

from penstock.errors import ConfigurationError
from penstock.storage.storage import Dated, is_local, local_path, located
from penstock.storage.stores import Store

_GLOB = frozenset("*?[")
Skip = Callable[[str], bool]


def found_files(
    paths: tuple[str, ...], *, deep: bool = True, later: bool = False, skip: Skip | None = None
) -> list[Dated]:
    """The files that paths stand for, in order of name within each path: files themselves; of folders the files in
    them, without those that begin with ``.`` or ``_``; a path with ``*``, ``?``, ``[…]`` or ``**`` that is not a file
    for whatever fits it. On a store O(files) requests, by the thousand.

    ``deep``: also files in folders below; ``later``: files may come later that fit a pattern which none fits now;
    ``skip``: which local files in folders need not be looked at. ConfigurationError if a path stands for nothing, or
    its store cannot be reached; UnsupportedError if it has the scheme of no store that we know.
    """
    files: dict[Dated, None] = {}
    for path in paths:
        local = is_local(path)
        matches = _local(path, deep, skip) if local else _on_store(path, deep)
        if matches is None and not (later and _GLOB.intersection(path)):
            looked_for = f" (looked for {str(local_path(path).absolute())!r})" if local else ""
            raise ConfigurationError(
                f"The input {path!r} does not exist{looked_for}. Check the path; on a cluster it must be visible to "
                "every machine.",
                flink_class="java.io.FileNotFoundException",
            )
        files.update(dict.fromkeys(matches or ()))
    return list(files)


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _local(path: str, deep: bool, skip: Skip | None) -> list[Dated] | None:
    root = local_path(path)
    roots = [root]
    if not root.exists() and _GLOB.intersection(path):
        fitting = sorted(map(Path, glob.glob(str(root), recursive=True)))
        roots = [path for path in fitting if not _hidden(path.name)]
    if not roots or not roots[0].exists():
        return None
    return [file for root in roots for file in _files_in(str(root.absolute()), deep, skip)]


def _files_in(root: str, deep: bool, skip: Skip | None) -> Iterator[Dated]:
    """Iterative, however deep the folders are; one look at each file."""
    if not os.path.isdir(root):
        about = os.stat(root)
        yield Dated(root, about.st_size, about.st_mtime_ns)
        return
    pending = [root]
    while pending:
        entries: list[os.DirEntry[str]] = []
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as scanned:  # removed meanwhile, or not ours
            entries = sorted((entry for entry in scanned if not _hidden(entry.name)), key=attrgetter("name"))
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                if not (skip is not None and skip(entry.path)) and entry.is_file():
                    about = entry.stat()
                    yield Dated(entry.path, about.st_size, about.st_mtime_ns)
        if deep:
            pending += [entry.path for entry in reversed(entries) if entry.is_dir(follow_symlinks=False)]


def _on_store(path: str, deep: bool) -> list[Dated] | None:
    root = located(path)
    store = Store(root)
    files = _of_root(store, root, deep)
    if files is None and _GLOB.intersection(root):
        roots = [fitting for fitting in store.fitting(root) if not _hidden(fitting.rpartition("/")[2])]
        files = [file for root in roots for file in _of_root(store, root, deep) or ()] if roots else None
    return files


def _of_root(store: Store, root: str, deep: bool) -> list[Dated] | None:
    file = store.file(root)
    if file is not None:
        return [file]
    entries = store.dated(root, deep=deep)
    names = [entry.path[len(root) + 1 :].split("/") for entry in entries]
    kept = [e for e, parts in zip(entries, names, strict=True) if e.size >= 0 and not any(map(_hidden, parts))]
    return kept if entries else None
