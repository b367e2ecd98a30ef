"""A program with what it ships to its tasks: modules, archives, requirements, files, and the Python that runs them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.common import checks
from penstock.datastream.program.configured import ConfiguredProgram


class ShippingProgram(ConfiguredProgram):
    """A program whose tasks find its files on whatever machine they run. Paths are looked at when it is executed."""

    def _also(self, setting: str, value: Any) -> None:
        known: tuple[Any, ...] = getattr(self.settings, setting)
        self.settings = replace(self.settings, **{setting: tuple(dict.fromkeys([*known, value]))})

    def add_python_file(self, file_path: str) -> None:
        """Let user functions import from a file, wherever they run.

        Args:
            file_path: a module (``.py``), a package, a folder with modules, or a zip, as it is when the program is
                executed.
        """
        self._also("python_files", _path(file_path, "add_python_file", ","))

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Unpack an archive in the folder in which user functions run: ``open("data.zip/words.txt")``.

        Args:
            archive_path: a zip or tar.
            target_dir: the folder it is unpacked into; None for one of the archive's name.
        """
        path = _path(archive_path, "add_python_archive", ",#")
        target = "" if target_dir is None else _path(target_dir, "add_python_archive", ",#")
        self._also("python_archives", f"{path}#{target}" if target else path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Let user functions import what a file of requirements names. The driver installs it by pip, once per process.

        Args:
            requirements_file_path: for pip.
            requirements_cache_dir: a folder with the packages, as ``pip download`` makes it; then no index is asked.
        """
        path = _path(requirements_file_path, "set_python_requirements", "#")
        packages = requirements_cache_dir
        cached = "" if packages is None else f"#{_path(packages, 'set_python_requirements', '#')}"
        self.settings = replace(self.settings, python_requirements=path + cached)

    def set_python_executable(self, python_exec: str) -> None:
        """Choose the Python that runs the tasks, on the Spark that Penstock starts.

        Args:
            python_exec: a path or a command that all machines have; its version is the driver's, and it has Penstock.
        """
        given = checks.text(python_exec, "set_python_executable", "path")
        self.settings = replace(self.settings, python_executable=given)

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Give tasks a file, or a folder, by a name: ``get_distributed_cache().get_file(name)`` of the runtime context.

        Args:
            file_path: of the file.
            name: by which functions ask for it; of two of one name the first stays.
            executable: whether it can be executed there.
        """
        path = _path(file_path, "register_cached_file", ",;")
        _path(name, "register_cached_file", ",;:")
        checks.boolean(executable, "register_cached_file", "executable")
        if all(name != known for known, _, _ in self.settings.cached_files):
            self._also("cached_files", (name, path, executable))


def _path(value: str, call: str, without: str) -> str:
    """A text without the characters that separate such texts in a setting."""
    checks.text(value, call, "path")
    if not value:
        checks.refuse(f"{call}() was given an empty text. Give a path or name.")
    for each in without:
        if each in value:
            checks.refuse(f"{call}() was given {value!r}, which has a {each!r} in it. Use a path or name without.")
    return value
