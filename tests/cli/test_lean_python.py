"""Planning and running need no module that Python is often built without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LACKING = ("_bz2", "_ctypes", "_curses", "_hashlib", "_lzma", "_sqlite3", "_ssl", "_tkinter", "_uuid", "readline")
LEAN = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({LACKING}))
runpy.run_module("penstock", run_name="__main__")
"""


@pytest.mark.parametrize("command", [("explain",), ("run", "--local")])
def test_a_python_that_lacks_libraries_is_enough(command: tuple[str, ...]) -> None:
    program = "examples/sessions.py"
    whole, lean = (
        subprocess.run(
            [sys.executable, *python, *command, program], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for python in (("-m", "penstock"), ("-c", LEAN))
    )
    assert lean.stdout == whole.stdout != ""
