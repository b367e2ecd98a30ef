"""The build backend of the package: maturin, after the page of `penstock view` has been built, which git does not hold.

Sources that are packed for PyPI have the page in them, and have to. A checkout builds it with Node.js, as `make viewer`
does; where that is not possible the package is built without it, and `penstock view` says how to get it.

An interpreter or a system that Penstock does not run on is refused before anything is compiled.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import maturin
from maturin import (  # what pip asks for besides
    build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "python" / "penstock" / "viewer" / "viewer.html"
SOURCES = ROOT / "viewer"
_PACKAGES = "npm ci --no-audit --no-fund --ignore-scripts --loglevel=error"
_BUILD = "npm run --silent build"


def get_requires_for_build_wheel(*arguments: Any, **more: Any) -> list[str]:
    """What a build needs besides; the first thing that pip asks.

    Raises:
        SystemExit: Penstock does not run here.
    """
    refuse_free_threaded()
    return maturin.get_requires_for_build_wheel(*arguments, **more)


def get_requires_for_build_editable(*arguments: Any, **more: Any) -> list[str]:
    """The same for `pip install -e`.

    Raises:
        SystemExit: Penstock does not run here.
    """
    refuse_free_threaded()
    return maturin.get_requires_for_build_editable(*arguments, **more)


def refuse_free_threaded() -> None:
    """End the build for a Python without the interpreter lock, for which there are no wheels either."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        version = ".".join(map(str, sys.version_info[:2]))
        sys.exit(
            f"Penstock does not support free-threaded Python, which {sys.executable} ({version}t) is: its native code "
            f"relies on the interpreter lock. Use the usual Python {version}."
        )


def build_wheel(*arguments: Any, **more: Any) -> str:
    """A wheel, with the page if that can be built."""
    problem = make_page()
    if problem:
        print(f"WARNING: this Penstock has no page for `penstock view`: {problem}", file=sys.stderr)
    return maturin.build_wheel(*arguments, **more)


def build_sdist(*arguments: Any, **more: Any) -> str:
    """The sources, with the page.

    Raises:
        SystemExit: it cannot be built.
    """
    problem = make_page()
    if problem:
        sys.exit(f"The sources are packed with the page of `penstock view`, and it cannot be built: {problem}")
    return maturin.build_sdist(*arguments, **more)


def make_page() -> str:
    """Build the page, if it is not there; why that is not possible, or ""."""
    if PAGE.is_file():
        return ""
    if not (SOURCES / "package.json").is_file():
        return f"neither {PAGE.relative_to(ROOT)} nor what it is made of is in these sources."
    if shutil.which("npm") is None:
        return "Node.js (npm) was not found. Install it, Node.js 18 or newer, and install Penstock again."
    for command in (_PACKAGES, _BUILD):
        done = subprocess.run(command.split(), cwd=SOURCES, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip()[-500:]
            return f"`{command}` in {SOURCES} ended with status {done.returncode}: {said}"
    return "" if PAGE.is_file() else f"`{_BUILD}` has not written {PAGE}."
