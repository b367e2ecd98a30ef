"""Unpacks what a program ships to its tasks: modules on Python's path, archives in the current folder, files by
name. The driver packs one archive (``penstock.job.shipped_files``), named by its contents. The first task of a
machine that needs it unpacks it beside itself, for all others too."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.common.contexts import DistributedCache
from penstock.errors import UnknownNameError

MANIFEST, MODULES, WORK = "manifest.json", "python", "work"
_SAFE: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


@dataclass(frozen=True)
class Place(DistributedCache):
    """Where it lies on this machine."""

    root: str = ""  # the folder with all of it
    path: tuple[str, ...] = ()  # entries for Python's path
    files: Mapping[str, str] | None = None  # paths of the registered files by name
    work: str | None = None  # the folder with what was in the archives, if there was any

    def get_file(self, name: str) -> str:
        files = self.files or {}
        if name not in files:
            known = ", ".join(map(repr, sorted(files))) or "none"
            raise UnknownNameError(
                f"No file is registered under the name {name!r}; registered are: {known}. Call "
                f"register_cached_file(path, {name!r}) of the environment.",
                flink_class="java.lang.IllegalArgumentException",
            )
        return files[name]


_places: dict[str, Place] = {}
_last: list[Place] = []  # the one that was used last in this process


def place_of(name: str | None) -> Place:
    """Where an archive lies that a task of this process has unpacked; None for a program that ships nothing, and has
    nothing."""
    return _places.get(name or "", Place())


@contextlib.contextmanager
def shipped(archive: str | None) -> Iterator[None]:
    """Within the block user code finds what its program has shipped; None for a program that ships nothing."""
    place = Place() if archive is None else _unpacked(archive)
    if _last and _last[0] != place:
        _forget(_last[0])
    _last[:] = [place]
    if archive is None:
        yield
        return
    _places[os.path.basename(archive)] = place
    before = os.getcwd()
    sys.path[:0] = place.path
    try:
        if place.work is not None:
            os.chdir(place.work)
        yield
    finally:
        os.chdir(before)
        for entry in place.path:
            with contextlib.suppress(ValueError):  # user code may have changed the path
                sys.path.remove(entry)


def _forget(place: Place) -> None:
    """Forget the modules of another program, which may have the names of this one's; but for installed packages: not
    all can be loaded twice. O(modules)."""
    modules = os.path.join(place.root, MODULES, "")
    if place.root:
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and file.startswith(modules):
                del sys.modules[name]


def _unpacked(archive: str) -> Place:
    root = Path(f"{archive}.d")
    if not root.is_dir():
        _unpack(Path(archive), root)
    manifest = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
    return Place(
        str(root),
        tuple(str(root / entry) for entry in manifest["path"]),
        {name: str(root / file) for name, file in manifest["files"].items()},
        str(root / WORK) if manifest["archives"] else None,
    )


def _unpack(archive: Path, root: Path) -> None:
    """Into a folder that appears when all is in it: tasks of other processes may do the same."""
    folder = Path(tempfile.mkdtemp(prefix=root.name, dir=root.parent))
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, **_SAFE)
        for file, name in json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["archives"]:
            unpack(folder / file, folder / WORK / name)
        os.rename(folder, root)
    except OSError:
        if not root.is_dir():
            raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_archive(path: Path) -> bool:
    """Whether a file can be unpacked: a zip, under whatever name, or a tar, compressed or not."""
    return path.is_file() and (zipfile.is_zipfile(path) or tarfile.is_tarfile(path))


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a zip or a tar; what may be executed stays so."""
    folder.mkdir(parents=True, exist_ok=True)
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            tar.extractall(folder, **_SAFE)
        return
    with zipfile.ZipFile(archive) as files:
        for info in files.infolist():
            path = files.extract(info, folder)
            mode = info.external_attr >> 16 & 0o777
            if mode and not info.is_dir():
                os.chmod(path, mode | 0o600)
