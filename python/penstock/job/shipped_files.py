"""The files that a program ships to its tasks, on the driver: in one archive, named by what is in it.

Requirements are installed here, once per process: the executors need no network, but the driver's Python and platform.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from penstock.common.settings.settings import Settings
from penstock.errors import ConfigurationError
from penstock.runtime.usercode.shipped import MANIFEST, MODULES, is_archive
from penstock.storage.storage import local_path

_EXECUTABLE = 0o111


class _Contents:
    """The files of an archive, and what is said of them."""

    def __init__(self, settings: Settings) -> None:
        self.files: dict[str, Path] = {}
        self.executable: set[str] = set()
        self.path: list[str] = []
        self.archives: list[tuple[str, str]] = []
        self.cached: dict[str, str] = {}
        for index, file in enumerate(settings.python_files):
            path, folder = _existing(file, "add_python_file"), f"{MODULES}/{index}"
            self._add(f"{folder}/{path.name}", path)
            if path.is_dir() or path.suffix != ".py":
                self.path.append(f"{folder}/{path.name}")
            if path.suffix == ".py" or (path / "__init__.py").exists():  # a module or package itself
                self.path.append(folder)
        for index, archive in enumerate(settings.python_archives):
            path, target = _target(archive)
            if not is_archive(path):
                raise ConfigurationError(
                    f"add_python_archive() has {str(path)!r}, neither a zip nor a tar file. Pack it."
                )
            name = f"archives/{index}/{path.name}"
            self.files[name] = path
            self.archives.append((name, target))
        for index, (name, file, executable) in enumerate(settings.cached_files):
            path = _existing(file, "register_cached_file")
            target = self.cached[name] = f"cached/{index}/{path.name}"
            self._add(target, path)
            if executable:
                self.executable.add(target)
        if settings.python_requirements is not None:
            call = "set_python_requirements"
            name, _, packages = settings.python_requirements.partition("#")
            requirements = _existing(name, call)
            folder = _existing(packages, call) if packages else None
            self._add("requirements", _installed(requirements, requirements.read_bytes(), folder))
            self.path.append("requirements")

    def _add(self, name: str, path: Path) -> None:
        self.files.update((name if part in ("", ".") else f"{name}/{part}", file) for part, file in _files(path))

    @property
    def manifest(self) -> bytes:
        document = {"path": self.path, "archives": self.archives, "files": self.cached}
        return json.dumps(document | {"executable": sorted(self.executable)}).encode()

    def digest(self) -> str:
        """A text that changes with every name and every byte. O(bytes)."""
        digest = hashlib.sha256(self.manifest)
        for name, path in self.files.items():
            digest.update(f"\0{name}\0{os.stat(path).st_mode & _EXECUTABLE}\0{path.stat().st_size}\0".encode())
            if path.is_dir():
                continue
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()[:32]

    def write(self, target: Path) -> None:
        temporary = target.with_suffix(".tmp")
        with tarfile.open(temporary, "w", dereference=True) as tar:
            info = tarfile.TarInfo(MANIFEST)
            info.size = len(self.manifest)
            tar.addfile(info, io.BytesIO(self.manifest))
            for name, path in self.files.items():
                tar.add(path, name, recursive=False, filter=self._marked)
        os.rename(temporary, target)

    def _marked(self, info: tarfile.TarInfo) -> tarfile.TarInfo:
        if info.name in self.executable:
            info.mode |= _EXECUTABLE
        return info


def same_python(first: str, second: str) -> bool:
    """Whether two paths or commands are one Python: one program, in one folder, which may be that of an environment."""
    paths = [os.path.abspath(shutil.which(command) or command) for command in (first, second)]
    return len({(os.path.realpath(path), os.path.dirname(path)) for path in paths}) == 1


def ship(settings: Settings) -> Path | None:
    """The archive of what a program ships; None if it ships nothing. O(bytes)."""
    if not (settings.python_files or settings.python_archives or settings.cached_files or settings.python_requirements):
        return None
    contents = _Contents(settings)
    archive = archives() / f"penstock-{contents.digest()}.tar"
    if not archive.exists():
        contents.write(archive)
    return archive


@cache
def archives() -> Path:
    """The folder where archives are, as long as this process lives."""
    folder = tempfile.mkdtemp(prefix="penstock-shipped-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _existing(path: str, call: str) -> Path:
    file = local_path(path).absolute()
    if not file.exists():
        raise ConfigurationError(f"{call}() was given {path!r}, which is not there ({str(file)!r}). Correct the path.")
    return file


def _target(archive: str) -> tuple[Path, str]:
    """An archive, and the folder that it is unpacked into."""
    name, _, target = archive.partition("#")
    path = _existing(name, "add_python_archive")
    target = target or path.name
    if PurePosixPath(target).is_absolute() or ".." in PurePosixPath(target).parts:
        raise ConfigurationError(f"add_python_archive() has the folder {target!r}, which is outside. Give a name.")
    return path, target


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """(path within, file) of a file, or of all files and empty folders in a folder, without compiled modules."""
    if not path.is_dir():
        yield "", path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        here = [""] if not (folders or names) else sorted(names)
        for file in map(Path(folder).joinpath, here):
            yield file.relative_to(path).as_posix(), file


@cache
def _installed(file: Path, _: bytes, packages: Path | None) -> Path:
    """The folder with what pip has installed for a file of requirements, again if something else is in it."""
    target = Path(tempfile.mkdtemp(prefix="requirements-", dir=archives()))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--target", str(target), "--requirement", str(file)]
    if packages is not None:
        command += ["--no-index", "--find-links", str(packages)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        lines = run.stderr.strip().splitlines() or ["pip says nothing"]
        raise ConfigurationError(
            f"The requirements in {str(file)!r} cannot be installed: {lines[-1]}. Correct the file, or give a folder "
            "with its packages to set_python_requirements()."
        )
    return target
