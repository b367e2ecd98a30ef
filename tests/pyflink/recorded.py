"""Programs written for PyFlink, recorded with what they print there: a text file each, see README.md."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PRINTS = "\n=== prints, on PyFlink 2.3.0 ===\n"


def unpacked(records: str) -> Path:
    """A folder with the programs of a folder of records, ``NAME.py``, and what each prints, ``NAME.txt``."""
    folder = Path(tempfile.mkdtemp(prefix=f"penstock-{records}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for record in sorted((HERE / records).glob("*.txt")):
        program, _, printed = record.read_text(encoding="utf-8").partition(PRINTS)
        (folder / f"{record.stem}.py").write_text(program, encoding="utf-8")
        (folder / record.name).write_text(printed, encoding="utf-8")
    return folder


def record(name: str, printed: str) -> None:
    """Record what a program prints in the place of what it printed before."""
    path = HERE / "programs" / f"{name}.txt"
    program = path.read_text(encoding="utf-8").partition(PRINTS)[0]
    path.write_text(program + PRINTS + printed, encoding="utf-8")
