"""Which files a path stands for: a file, a folder, a pattern; on any storage.

Sources of the semantics: ``NonSplittingRecursiveEnumerator``, ``DefaultFileFilter`` (Flink 1.20), ``FileInputFormat``
(Flink 1.11).
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

from penstock.errors import ConfigurationError
from penstock.runtime.io.storage import Entry, is_local, local_path, located
from penstock.runtime.io.stores import Store

_GLOB = frozenset("*?[")


def found_files(paths: tuple[str, ...], *, deep: bool = True) -> list[Entry]:
    """The files that paths stand for, in order of name within each path: files themselves; of folders the files in
    them, without those that begin with ``.`` or ``_``; a path with ``*``, ``?``, ``[…]`` or ``**`` that is no file for
    whatever fits it. On a store O(files) requests, by the thousand.

    Args:
        paths: as a user writes them.
        deep: also the files in folders below those.

    Raises:
        ConfigurationError: a path stands for nothing, or its store cannot be reached.
        UnsupportedError: it has the scheme of no store that we know.
    """
    files: dict[Entry, None] = {}
    for path in paths:
        files.update(dict.fromkeys(_local(path, deep) if is_local(path) else _on_store(path, deep)))
    return list(files)


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _not_there(path: str) -> ConfigurationError:
    looked_for = f" (looked for {str(local_path(path).absolute())!r})" if is_local(path) else ""
    return ConfigurationError(
        f"The input {path!r} does not exist{looked_for}. Check the path; on a cluster it must be visible to every "
        "machine.",
        flink_class="java.io.FileNotFoundException",
    )


def _local(path: str, deep: bool) -> list[Entry]:
    root = local_path(path)
    roots = [root] if root.exists() or not _GLOB.intersection(path) else _fitting(root)
    if not roots or not roots[0].exists():
        raise _not_there(path)
    files = (file.absolute() for each in roots for file in _files_in(each, deep))
    return [Entry(str(file), file.stat().st_size) for file in files]


def _fitting(pattern: Path) -> list[Path]:
    found = sorted(map(Path, glob.glob(str(pattern), recursive=True)))
    return [path for path in found if not _hidden(path.name)]


def _files_in(root: Path, deep: bool) -> Iterator[Path]:
    """Iterative, however deep the folders are."""
    if not root.is_dir():
        yield root
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if deep and not _hidden(name))
        files = (Path(folder, name) for name in sorted(names) if not _hidden(name))
        yield from (file for file in files if file.is_file())


def _on_store(path: str, deep: bool) -> list[Entry]:
    root = located(path)
    store = Store(root)
    files = _of_root(store, root, deep)
    if files is None and _GLOB.intersection(root):
        roots = [each for each in store.fitting(root) if not _hidden(each.rpartition("/")[2])]
        files = [file for each in roots for file in _of_root(store, each, deep) or ()] if roots else None
    if files is None:
        raise _not_there(path)
    return files


def _of_root(store: Store, root: str, deep: bool) -> list[Entry] | None:
    """A file, or those of a folder; None if it is neither."""
    size = store.size(root)
    if size is not None:
        return [Entry(root, size)]
    entries = store.list(root, deep=deep)
    names = [entry.path[len(root) + 1 :].split("/") for entry in entries]
    kept = [e for e, parts in zip(entries, names, strict=True) if e.size >= 0 and not any(map(_hidden, parts))]
    return kept if entries else None
