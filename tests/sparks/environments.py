"""An environment per version of Spark, made once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "sparks"
LEFT_OUT = re.compile(r"pyspark|jupyterlab|ipykernel|nbclient")
"""Requirements of the tests that are not for an old Spark, or for notebooks only."""
OLDER = ("python3.11", "python3.10")
"""Pythons for a Spark before 4.0."""


class Missing(Exception):
    """What there is not."""


def python_of(version: str, package: Path) -> str:
    """The Python of a version's environment, which imports Penstock from the folder ``package``."""
    environment = FOLDER / version
    python = environment / "bin" / "python"
    ready = environment / "ready"
    wanted = "\n".join(requirements(version))
    if not ready.exists() or ready.read_text() != wanted:
        print(f"making {environment.relative_to(ROOT)}", flush=True)
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([interpreter(version), "-m", "venv", str(environment)], check=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        subprocess.run([*pip, "--upgrade", "pip", "setuptools<81", "wheel"], check=True)
        subprocess.run([*pip, "--no-compile", *wanted.split("\n")], check=True)
        ready.write_text(wanted)
    (site,) = environment.glob("lib/python3*/site-packages")
    (FOLDER / "package").mkdir(exist_ok=True)
    link = FOLDER / "package" / "penstock"  # the folder itself may have another pyspark beside it
    if not link.exists() or link.resolve() != (package / "penstock").resolve():
        link.unlink(missing_ok=True)
        os.symlink(package / "penstock", link)
    (site / "penstock.pth").write_text(f"{link.parent}\n")
    return str(python)


def interpreter(version: str) -> str:
    """A Python that the version of Spark is for."""
    if version != "3.5" or sys.version_info < (3, 12):
        return getattr(sys, "_base_executable", sys.executable)
    python = next(filter(None, map(shutil.which, OLDER)), None)
    if python is None:
        raise Missing(f"it needs one of {', '.join(OLDER)} on the PATH")
    return python


def requirements(version: str) -> list[str]:
    """What the project and its tests need, and this Spark."""
    texts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lists = [_list(texts, "dependencies"), _list(texts, "test")]
    extra = "[connect]" if tuple(map(int, version.split("."))) >= (4, 3) else ""
    return [f"pyspark{extra}=={version}.*", *(text for texts in lists for text in texts if not LEFT_OUT.match(text))]


def _list(text: str, name: str) -> list[str]:
    """The strings of a list in pyproject.toml, which Python 3.10 cannot read."""
    _, _, rest = text.partition(f"\n{name} = [\n")
    return re.findall(r'^  "([^"]+)"', rest.partition("\n]")[0], re.MULTILINE)
