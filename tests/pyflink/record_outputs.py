"""Records what programs print on the real PyFlink: ``python -m tests.pyflink.record_outputs PYTHON [NAME…]``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.pyflink.on_pyflink import BEGIN, END
from tests.pyflink.recorded import record, unpacked

RUNNER = Path(__file__).parent / "on_pyflink.py"


def outputs(lines: list[str]) -> dict[str, str]:
    """The lines of each program that has come to its end."""
    texts: dict[str, str] = {}
    output: list[str] = []
    for line in lines:
        if line.startswith(BEGIN):
            output = []
        elif line.startswith(END):
            texts[line.removeprefix(END).strip()] = "".join(output)
        else:
            output.append(line)
    return texts


def main() -> None:
    python, *names = sys.argv[1:]
    programs = [str(path) for path in sorted(unpacked("programs").glob("*.py")) if not names or path.stem in names]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    arguments = [python, "-u", str(RUNNER), *programs]
    run = subprocess.run(arguments, env=environment, stdout=subprocess.PIPE, text=True, timeout=3600, check=False)
    texts = outputs(run.stdout.splitlines(keepends=True))
    for name, text in texts.items():
        record(name, text)
        print(name)
    if len(texts) < len(programs):
        raise SystemExit("Some programs have failed, see above; their records are as they were.")


if __name__ == "__main__":
    main()
