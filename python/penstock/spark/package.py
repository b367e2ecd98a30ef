"""Penstock itself as an archive, for workers whose Python does not have it.

Spark unpacks an archive into a folder on the path of its workers, under a given name: so an archive with the files of a
package *is* the package there, native code included. It is the same to the byte whenever the files are.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import zipfile
from functools import cache
from importlib.metadata import PackageNotFoundError
from pathlib import Path

from penstock.errors import ConfigurationError
from penstock.job.shipped_files import archives
from penstock.spark.worker_probe import sources_of

PACKAGES = ("penstock", "cloudpickle")
"""What travels: this package, and the one that unpickles user functions. PyArrow is large, PySpark is Spark's own."""

VERSION = "shipped_version.txt"
"""A file that says which version it is: a package that is only unpacked has no metadata."""

_LEFT_OUT = ("__pycache__", "_stubs")
_NATIVE = (".so", ".dylib", ".pyd")
_DATE = (1980, 1, 1, 0, 0, 0)


@cache
def own_sources() -> str:
    """The hash of the Python files of this Penstock."""
    return sources_of()(str(_folder_of("penstock")))


def has_native() -> bool:
    """Whether this Penstock has native code."""
    return any(name.endswith(_NATIVE) for name in os.listdir(_folder_of("penstock")))


@cache
def archive_of(package: str, native: bool) -> Path:
    """The archive of a package, made once per process. About half a second with native code, 5 MB."""
    import penstock

    contents = _contents(_folder_of(package), native)
    if package == "penstock":
        with contextlib.suppress(PackageNotFoundError):  # a source tree that was never installed
            contents[VERSION] = penstock.__version__.encode()
    digest = hashlib.sha256()
    for name, data in contents.items():
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    target = archives() / f"{package}-{digest.hexdigest()[:16]}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, data in contents.items():
            info = zipfile.ZipInfo(name, _DATE)
            info.external_attr = 0o644 << 16
            file.writestr(info, data, zipfile.ZIP_DEFLATED, 1)
    return target


def _contents(folder: Path, native: bool) -> dict[str, bytes]:
    """The files of a package by their names within, in order."""
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        wanted = path.is_file() and path.suffix != ".pyi" and not set(_LEFT_OUT).intersection(name.parts)
        if wanted and (native or not path.name.endswith(_NATIVE)):
            files[name.as_posix()] = path.read_bytes()
    return files


def _folder_of(package: str) -> Path:
    file = importlib.import_module(package).__file__
    folder = Path(file or "").parent
    if not (folder / "__init__.py").is_file():
        raise ConfigurationError(
            f"The workers of Spark lack {package}, and it cannot be sent to them: here it is imported from {file!r}, "
            "which is not a folder. Install it on the workers, or install it here as a folder, with pip."
        )
    return folder
