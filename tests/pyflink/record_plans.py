"""Records the graphs and operator IDs of the real PyFlink: ``python -m tests.pyflink.record_plans PYTHON``."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import penstock
from tests.pyflink.plans_on_pyflink import MARK
from tests.pyflink.recorded import unpacked

HERE = Path(__file__).parent


def main() -> None:
    programs = sorted(unpacked("programs").glob("*.py"))
    command = [sys.argv[1], "-u", str(HERE / "plans_on_pyflink.py"), *map(str, programs)]
    with tempfile.TemporaryDirectory() as path:
        Path(path, "penstock").symlink_to(Path(penstock.__file__).parent)  # and nothing else of what is installed here
        environment = {**os.environ, "PYTHONPATH": path}
        run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=3600, check=True)
    plans = [json.loads(line.partition(MARK)[2]) for line in run.stdout.splitlines() if MARK in line]
    lines = [json.dumps(plan, sort_keys=True, separators=(",", ":")) for plan in plans if "spec" in plan]
    with gzip.GzipFile(HERE / "plans.jsonl.gz", "wb", mtime=0) as file:
        file.write(("\n".join(lines) + "\n").encode())
    print(len(lines), "of", len(programs))


if __name__ == "__main__":
    main()
