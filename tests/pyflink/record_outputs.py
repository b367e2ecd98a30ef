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

from tests.pyflink.on_pyflink import BEGIN, END

FOLDER = Path(__file__).parent / "programs"
RUNNER = Path(__file__).parent / "on_pyflink.py"


def outputs(lines: list[str]) -> dict[str, str]:
    """The lines of each program that has come to its end."""
    found: dict[str, str] = {}
    own: list[str] = []
    for line in lines:
        if line.startswith(BEGIN):
            own = []
        elif line.startswith(END):
            found[line.removeprefix(END).strip()] = "".join(own)
        else:
            own.append(line)
    return found


def record(python: str, programs: list[Path]) -> int:
    """Write the file beside each program, and say how many there are."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    arguments = [python, "-u", str(RUNNER), *map(str, programs)]
    run = subprocess.run(arguments, env=environment, stdout=subprocess.PIPE, text=True, timeout=3600, check=False)
    found = outputs(run.stdout.splitlines(keepends=True))
    for name, text in found.items():
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
        print(name)
    return len(found)


def main() -> None:
    """Record those that were named, or all."""
    python, *names = sys.argv[1:]
    programs = [program for program in sorted(FOLDER.glob("*.py")) if not names or program.stem in names]
    if record(python, programs) < len(programs):
        raise SystemExit("Some programs have failed, see above; their files are as they were.")


if __name__ == "__main__":
    main()
