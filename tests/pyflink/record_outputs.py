"""Records what programs print on the real PyFlink: ``python -m tests.pyflink.record_outputs PYTHON [NAME…]``.

PYTHON is an interpreter with ``apache-flink`` from PyPI (2.3.0; Java 11 or 17). Each program of ``programs`` runs
there as it is, and the lines that it prints are written beside it. They are compared in any order: PyFlink prints as
records arrive, Penstock sink by sink.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "programs"


def record(python: str, program: Path) -> None:
    """Write the file beside a program."""
    path = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"  # Flink starts the Python of the path
    run = subprocess.run(
        [python, str(program)],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if run.returncode:
        raise SystemExit(f"{program.name} failed:\n{run.stderr}")
    program.with_suffix(".txt").write_text(run.stdout, encoding="utf-8")


def main() -> None:
    """Record those that were named, or all."""
    python, *names = sys.argv[1:]
    for program in sorted(FOLDER.glob("*.py")):
        if not names or program.stem in names:
            record(python, program)
            print(program.stem)


if __name__ == "__main__":
    main()
