"""A Python that has PyArrow and nothing else, in a place from which all that the driver runs on cannot be seen."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pyarrow
import pyspark

import penstock

ROOT = Path(__file__).resolve().parents[2]
_SCRIPT = """set -e
mount --bind "$PYARROW" "$BARE/pyarrow"
mount --bind "$PYSPARK" "$BARE/pyspark"
for folder in $HIDDEN; do mount -t tmpfs none "$folder"; done
cd "$BARE"
exec "$@"
"""


@functools.cache
def unshare() -> tuple[str, ...] | None:
    """The command that gives a process mounts of its own; None where it may not have any."""
    for command in (("unshare", "--mount"), ("unshare", "--mount", "--map-root-user")):
        try:
            mounts = [*command, "sh", "-c", "mount -t tmpfs none /mnt"]
            if subprocess.run(mounts, capture_output=True, check=False).returncode == 0:
                return command
        except OSError:
            return None
    return None


class Bare:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        venv.create(folder / "python", symlinks=True)
        self.python = str(folder / "python/bin/python")
        self.site = site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "python")}))
        packages = [Path(pyarrow.__file__).parent, Path(pyspark.__file__).parent]
        if unshare() is None:
            (site / "pyarrow").symlink_to(packages[0])
            self.spark_home = str(packages[1])
            return
        for name in ("pyarrow", "pyspark"):
            (folder / name).mkdir()
        (site / "pyarrow").symlink_to(folder / "pyarrow")
        self.spark_home = str(folder / "pyspark")

    def command(self, *command: str) -> list[str]:
        """A command as it runs where only this Python is."""
        return [*(unshare() or ()), "sh", "-c", _SCRIPT if unshare() else 'cd "$BARE" && exec "$@"', "sh", *command]

    def environment(self) -> dict[str, str]:
        mine = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "PYSPARK_PYTHON")}
        hidden = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), str(Path(penstock.__file__).parents[1])}
        return mine | {
            "BARE": str(self._folder),
            "HIDDEN": " ".join(sorted(hidden | {str(ROOT)}, key=len, reverse=True)),
            "PYARROW": str(Path(pyarrow.__file__).parent),
            "PYSPARK": str(Path(pyspark.__file__).parent),
            "PYSPARK_PYTHON": self.python,
            "SPARK_HOME": self.spark_home,
        }


if __name__ == "__main__":
    print(unshare(), sys.executable)
