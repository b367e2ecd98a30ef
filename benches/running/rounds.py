"""Runs jobs in this process, each first with tiny data, which tells what starting costs, then with real data.

    python rounds.py '[{"job": "on_penstock:maps", "arguments": {}, "tiny": 100, "data": 1000000, "rounds": 3}]' STARTED

``job`` names a function that makes the job once: ``job(data, folder)`` reads the data and lets its sinks write into the
folder. One line of JSON is printed per run: CPU seconds of JVM and Python, wall seconds, number and checksum of the
records, peak memory so far. The first run of all counts from the start of the process; STARTED is that in seconds since
1970.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import time
from typing import Any

import tree
from functions import collected, first_record


def main() -> None:
    tree.adopt()
    before, started = dict.fromkeys(tree.cpu(), 0.0), float(sys.argv[2])
    for program in json.loads(sys.argv[1]):
        module, _, function = program["job"].partition(":")
        job = getattr(importlib.import_module(module), function)(**program["arguments"])
        for data in [program["tiny"]] + program["rounds"] * [program["data"]]:
            print(json.dumps({"job": program["job"], **_timed(job, data, before, started)}), flush=True)
            before, started = tree.cpu(), time.time()


def _timed(job: Any, data: Any, before: dict[str, float], started: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        facts = job(data, folder) or {}
        wall = time.time() - started
        spent = {kind: after - before[kind] for kind, after in tree.cpu().items()}
        facts |= {"result": collected(folder), "first_record": (first_record(folder) or started) - started or None}
    return {**facts, "cpu": spent, "wall": wall, "peak_bytes": tree.peak_bytes()}


if __name__ == "__main__":
    main()
